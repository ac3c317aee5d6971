"""How the columns of a table depend on each other given the class: structures compared by leave-one-out.

Every row is scored by the sums of all the others (leave-one-out, in closed form; for shrunk joint columns, and those
with missing values, nearly).  Where there is no closed form, bins chosen by the class, the sums are those of all folds
but the row's own.  Which rows are looked at, and the fold of each, depends on the ranks of their values (see
``row_sample``): neither the order of rows and columns, nor names of columns, categories and classes, nor units change
anything. Structures are compared, and pooled, by the log-loss of (1 − ε)·q(c | x) + ε·p(c), q ∝ p(c) Π_m p_m(x |
c)^β_m, by leave-one-out: β below 1 takes back the over-confidence of a wrong model, and the outlier rate ε is the
chance that the columns of a row carry no information about its class.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, cast

import numpy as np
from scipy.special import softmax

from ..core.family import Family
from ..core.outliers import with_outliers
from ..core.pooling import Pooled, bounded, expected_loss, penalised_loss, pooled
from ..core.stats import Stats
from ..data.arrays import Array, Codes
from ..data.column import CATEGORICAL, INTEGER, NUMBER
from ..data.frame import Frame
from ..data.printed import MadeTable, html_lines, html_table, to_table
from ..data.rows import Rows
from ..data.warn import no_warnings
from ..families import Bernoulli, Binned, Categorical, MultivariateGaussian
from ..families.counts.partition import Partition
from ..families.gaussian.missing.patterns import patterns_of
from ..families.tuning import Tuning
from ..kernels.runtime.threads import one_blas_thread
from .evaluation import MOST_COMPARED, Held
from .missing_evidence import telling_columns
from .partitions import ALPHAS, FEWEST_TREES, FIRST_TREES, described
from .row_sample import Places, distinct, keyed, repeated, some_rows
from .schema import BlockSpec, Coding, Schema

NAIVE, PARTITIONS, DENSITIES = "naive", "partitions", "densities"
MOST_ROWS = 20_000  # rows whose sums structures are compared by, where there are more
MOST_COLUMNS = 250  # numbers in a joint block; more categories than make these are left to themselves
MOST_ROOM = 1 << 23  # numbers that the sums of a joint block may take
MOST_WORK = 1e10  # products that factoring a joint block may take, for all ways in which rows have missing values
SEEN_OFTEN = 2.5  # rows a category needs more than, for a number of its own in a joint block: no sum of weights is near
BINS = 8  # of the numbers in a joint block; fewer where that would make too many columns
TIES = (1.0, 0.3, 0.0)
SHRINKAGE = 0.1  # tried with every tie; with the best, more or less of it
FREEDOM = 10.0  # of the heavier tails that settings are compared with; then normal ones with the best of them
LESS, MORE = 0.01, (0.3, 0.8)
LITTLE = 0.1  # rows: shrinkage that a prior of so many comes to is not tried any smaller
JOINT = MultivariateGaussian(tie=1.0, shrinkage=SHRINKAGE, missing="pairs", freedom=FREEDOM)
FEW_OTHERS = 10  # with fewer than 1/10 as many other columns as numeric ones, "numeric joint" is nearly "all joint"
FAR_BEHIND = 1.1  # times the log-loss of another structure: one as bad as this is not tried with other shrinkages
WIDE = 2  # times as many columns in a joint block as rows, and it is not tried
WORTH = 0.5  # rows: a structure that gains the pool less than so much log-loss on n of them, /n, is dropped from it
WORSE_BY = 0.1  # a fitted model may explain rows so much worse than those without them did, and by this share
LEAST_LIKELY = 1e-15
HEDGED = 2.0  # squared standard errors of gain at which a pool counts for half, beside the naive structure
SAYABLE = 100.0  # nats: the most that one row says for a density, or against it
SURELY = 2.0  # standard errors by which a density must be better than the naive one


@dataclass(frozen=True)
class Tried:
    """One structure with its settings: its leave-one-out log-loss, and the power that its evidence then has."""

    name: str
    settings: str
    loss: float
    power: float


@dataclass(frozen=True)
class Selection:
    """What was tried, and what was taken: the structures of the pool with their weights, and the outlier rate.

    ``loo_loss`` is the leave-one-out log-loss of the pool, on the same rows as those of the structures tried; ``loss``
    is what to expect on new rows, the cost of choosing on these included.  ``density`` names the structure that
    densities, draws and imputation belong to.  ``columns`` shows the columns dropped before, where some were to be, and
    ``trees`` the partitions in words, where these are in the pool.
    """

    tried: tuple[Tried, ...]
    pool: tuple[tuple[str, str, float], ...]
    outlier_rate: float
    loss: float
    loo_loss: float
    density: str = NAIVE
    columns: Tuning | None = None
    trees: str = ""

    def _marked(self) -> list[tuple[Tried, bool]]:
        """What was tried, and whether it is in the pool."""
        taken = {(name, settings) for name, settings, _ in self.pool}
        return [(t, (t.name, t.settings) in taken) for t in self.tried]

    def to_frame(self) -> MadeTable:
        """Return a data frame: a row for each structure tried, its settings, loss and weight, and whether it was taken.

        Returns
        -------
        data frame
            Of the library the rows came from; for plain arrays pandas where it is installed, else a dict of arrays.
        """
        each = self._marked()
        weights = {(name, settings): weight for name, settings, weight in self.pool}
        return to_table(self, {
            "structure": [t.name for t, _ in each],
            "settings": [t.settings for t, _ in each],
            "log-loss": np.array([t.loss for t, _ in each]),
            "taken": np.array([taken for _, taken in each]),
            "weight in the pool": np.array([weights.get((t.name, t.settings), 0.0) for t, _ in each]),
        })  # fmt: skip

    def _repr_html_(self) -> str:
        before = "" if self.columns is None else self.columns._repr_html_()
        rows = [
            [t.name, t.settings, f"{t.loss:.4f}", f"{t.power:.2g}", "*" if taken else ""] for t, taken in self._marked()
        ]
        table = html_table(["structure", "settings", "log-loss", "weight", "in the pool"], rows)
        return before + table + html_lines(*self._in_words())

    def _in_words(self) -> list[str]:
        weights = ", ".join(f"{name} {power:.2g}" for name, _, power in self.pool) or "none (class shares only)"
        return [
            f"pool: {weights}; outlier rate {self.outlier_rate:.2g}; leave-one-out log-loss {self.loo_loss:.4f}",
            f"expected on new rows: {self.loss:.4f}; densities and draws: {self.density}",
            *([f"partitions: {self.trees}"] if self.trees else []),
        ]

    def __repr__(self) -> str:
        rows = [f"{'structure':<24}{'settings':<44}{'log-loss':>9}{'weight':>8}"]
        for t, taken in self._marked():
            mark = " *" if taken else ""
            rows.append(f"{t.name:<24}{t.settings:<44}{t.loss:9.4f}{t.power:8.2g}{mark}")
        before = [] if self.columns is None else [repr(self.columns), ""]
        return "\n".join([*before, *rows, *self._in_words()])


@dataclass(frozen=True)
class Structure:
    """Blocks that make a model of the table; ``joint`` marks the block whose covariances are to be chosen."""

    name: str
    specs: tuple[BlockSpec, ...]
    joint: int | None = None
    trees: int | None = None  # the block of trees, whose smoothing is to be chosen
    some: bool = False  # whether it is of some columns alone

    @property
    def is_density(self) -> bool:
        """Whether it is one of the columns themselves, and not of marks for their categories or bins."""
        marked = any(c.categories or c.edges for p in self.specs for c in p.codings)
        return (
            not marked
            and self.trees is None
            and not self.some
            and not any(isinstance(p.family, Binned) and p.family.edges is None for p in self.specs)
        )


class Wanted(NamedTuple):
    """What the user wants of the choice: see ``GenerativeClassifier``."""

    structure: str = "auto"
    missing: str = "ignore"


AUTO = Wanted()


# --- the structures


def structures(schema: Schema, held: Held, wanted: Wanted = AUTO) -> list[Structure]:
    """Naive, naive with bins, numeric joint, everything joint, the same with bins, trees: those that make sense."""
    frame = held.frame
    kinds = {c.column: c.kind for c in schema.choices}
    plain = {n: p for p in schema.specs if p.reads != "missing" for n in p.columns}
    missing = tuple(p for p in schema.specs if p.reads == "missing")
    texts = _only(schema, [n for n in schema.used if plain[n].reads == "texts"])
    used = [n for n in held.keyed.in_order(schema.used) if plain[n].reads != "texts"]
    of_categories = (n for n in used if isinstance(plain[n].family, Categorical) and kinds[n] == CATEGORICAL)
    of_numbers = (n for n in used if kinds[n] in (NUMBER, INTEGER) and plain[n].family.key != "bernoulli")
    categories, numeric = dict.fromkeys(of_categories), dict.fromkeys(of_numbers)  # sets in order
    found = [Structure(NAIVE, schema.specs)]
    if wanted.structure == PARTITIONS:
        return [*found, _trees(held, used, categories, (*texts, *missing))] if used else found
    if texts and used:  # the words of a text are many, and depend on each other: they have a weight of their own
        found += [Structure("text", texts, some=True), Structure("without text", _only(schema, used), some=True)]
    rest = tuple(n for n in schema.used if n not in numeric)
    if numeric:
        bins = BlockSpec(Binned(), tuple(numeric), "numbers")
        found.append(Structure("naive, binned", (*_only(schema, rest), bins, *missing)))
    if len(numeric) > 1 and len(rest) * FEW_OTHERS >= len(numeric):
        joint = BlockSpec(JOINT, tuple(numeric), "codings", (Coding(),) * len(numeric))
        found.append(Structure("numeric joint", (*_only(schema, rest), joint, *missing), len(_only(schema, rest))))
    codings = {n: _category_coding(held, n) if n in categories else Coding() for n in used}
    edges = _quantiles(held, numeric)
    binned = {n: replace(c, edges=edges.get(n, ())) for n, c in codings.items()}
    for name, coding in (("all joint", codings), ("all joint, binned", binned if numeric else {})):
        use = {n: c for n, c in coding.items() if n not in categories or c.categories}
        width = sum(c.width for c in use.values())
        if 1 < width <= min(MOST_COLUMNS, WIDE * len(held.rows)) and width**3 * _patterns(frame, use) <= MOST_WORK:
            joint = BlockSpec(JOINT, tuple(use), "codings", tuple(use.values()))
            found.append(Structure(name, (joint, *texts, *missing), 0, some=len(use) < len(used)))
    if used and wanted.structure != DENSITIES:
        found.append(_trees(held, used, categories, (*texts, *missing)))
    telling = telling_columns(frame, used, held.rows) if wanted.missing == "auto" else []
    if telling:
        absence = BlockSpec(Bernoulli(threshold=None), tuple(telling), "missing")
        found.append(Structure("missing values", (absence,), some=True))
    return found


def _trees(held: Held, used: Sequence[str], categories: Collection[str], others: tuple[BlockSpec, ...]) -> Structure:
    """Trees on all columns but those of texts, and whose missing values are evidence by themselves."""
    return Structure(PARTITIONS, (held.partition(used, categories), *others), trees=0)


def _patterns(frame: Frame, names: Iterable[str]) -> int:
    """In how many ways rows miss some of these columns: for each, a joint block has a covariance to factor."""
    missing = [h for n in names if (h := frame.columns[n].missing()).any()]
    return len(patterns_of(np.column_stack(missing))[0]) if missing else 1


def _only(schema: Schema, names: Sequence[str]) -> tuple[BlockSpec, ...]:
    """The blocks of a schema, as far as they are about these columns."""
    specs, wanted = [], set(names)
    for spec in schema.specs:
        here = tuple(n for n in spec.columns if n in wanted)
        if here and spec.reads != "missing":
            specs.append(spec.only(here))
    return tuple(specs)


def _category_coding(held: Held, name: str) -> Coding:
    values, codes = held.frame.columns[name].categories()
    weights = held.rows.part(0, len(held.rows))[1]
    count = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(values))
    often = [v for v, n in zip(values, count, strict=True) if n > SEEN_OFTEN]
    marks = held.keyed.of_categories[name]
    return Coding(categories=tuple(sorted(often, key=marks.__getitem__)))


def _quantiles(held: Held, names: Collection[str]) -> dict[str, tuple[float, ...]]:
    """Edges of bins with equal shares of the rows, for every column."""
    if not names:
        return {}
    bins = max(2, min(BINS, MOST_COLUMNS // len(names)))
    weights = held.rows.part(0, len(held.rows))[1]
    edges = held.sorted(tuple(names)).edges("quantile", bins, held.rows.codes, weights, len(held.rows.classes))
    return dict(zip(names, edges, strict=True))


# --- the choice


@dataclass(frozen=True)
class Candidate:
    """A structure under the best of what was tried, its leave-one-out scores, and its density."""

    structure: Structure
    tried: Tried
    scores: Array  # (n, K), of the rows compared
    besides: Callable[[], Array]  # of the others looked at
    dense: tuple[BlockSpec, ...] | None = None  # its blocks under the setting of the best density, where they have one
    log_density: Array | None = None  # (n,): log p(x_i | y_i) without row i, of the rows compared


@dataclass(frozen=True)
class Proposal:
    """A schema, what is said of it, and p(c | x) of some rows without themselves: what the fitted model has to keep."""

    schema: Schema
    selection: Selection
    posterior: Array  # (n, K)

    def kept(self, posterior: Array, codes: Codes, weights: Array) -> bool:
        """Whether a model fitted to the rows explains them no worse than those without each of them did."""
        each = np.arange(len(codes))
        promised, found = (-np.log(np.maximum(P[each, codes], LEAST_LIKELY)) for P in (self.posterior, posterior))
        total = max(float(weights.sum()), 1e-300)
        return float(weights @ found) / total <= (1 + WORSE_BY) * float(weights @ promised) / total + WORSE_BY


class Guard(NamedTuple):
    """Rows of the table that a fitted model is held to: where they are, and their classes."""

    classes: Sequence[Hashable]  # that the codes and the columns of posteriors are of
    places: Places
    codes: Codes
    weights: Array


@dataclass(frozen=True)
class Proposals:
    """Schemas for a table, the best first, the class shares last; the rows they are held to; and sums made already."""

    each: tuple[Proposal, ...]
    guard: Guard | None = None
    sums: Mapping[Hashable, Stats] = field(default_factory=dict)

    def known(self, schema: Schema) -> dict[int, Stats]:
        """The sums of blocks that all rows were added up for, by the place of the block."""
        keys = {i: (p.columns, p.codings) for i, p in enumerate(schema.specs) if p.reads in ("codings", "places")}
        return {i: self.sums[key] for i, key in keys.items() if key in self.sums}


def select(schema: Schema, frame: Frame, rows: Rows, wanted: Wanted = AUTO) -> Proposals:
    """Pools of structures with the least leave-one-out loss: the schemas of their blocks, and what was tried."""
    look = some_rows(rows, MOST_ROWS)
    every_row, counts = len(look) == frame.n_rows, rows.counts()
    look, few = repeated(look, rows.some(look), MOST_COMPARED)
    if len(look) != frame.n_rows or not every_row:
        frame, rows, counts = frame.rows(look), few.with_weight(), counts[counts > 0]
    keys, first = keyed(frame, schema.used, rows), np.arange(len(rows))
    found, with_copies = distinct(keys, rows), None
    if found is not None:
        with_copies = Held(frame, rows, keys, counts)
        first, rows = found
        frame = frame.rows(first)
        keys = keyed(frame, schema.used, rows)
    held = Held(frame, rows, keys, counts, whole=found is not None)
    if not held.scored.counts().any():  # no class has two rows
        return nothing_to_compare(schema, rows, ((NAIVE, "", 1.0),))
    tried: list[Tried] = []
    best: list[Candidate] = []
    with no_warnings(), one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):  # rows far out
        for structure in structures(schema, held, wanted):
            taken, attempts = _tuned(structure, held, [] if wanted.structure == PARTITIONS else best)
            tried += attempts
            best.append(taken)
        naive = (
            None
            if with_copies is None
            else _naive_alone(schema, with_copies, float(held.labels(held.compared)[1].sum()))
        )
        dense = _densest(best, held)
        if wanted.structure == PARTITIONS and len(best) > 1:  # trees alone
            best, naive = best[1:], None
        proposed = _proposed(schema, best, dense, held, tried, naive)
    guarded = held.scored.some(held.guarded)
    places, (codes, weights) = first[held.look[held.guarded]], guarded.part(0, len(guarded))
    guard = Guard(rows.classes.labels, look[places], codes, weights)
    if not every_row:
        return Proposals(tuple(proposed), guard)
    each = [replace(f, schema=replace(f.schema, specs=tuple(held.cut(p) for p in f.schema.specs))) for f in proposed]
    return Proposals(tuple(each), guard, held.sums)


def nothing_to_compare(schema: Schema, rows: Rows, pool: tuple[tuple[str, str, float], ...] = ()) -> Proposals:
    """The schema as it is, where no structures can be compared: it promises no more than the class shares do."""
    counts = rows.counts()
    counts = counts[counts > 0]
    loss = float(-counts @ np.log(counts / counts.sum()) / counts.sum())
    return Proposals((Proposal(schema, Selection((), pool, 0.0, loss, loss), np.zeros((0, len(counts)))),))


def _tuned(structure: Structure, held: Held, others: Sequence[Candidate]) -> tuple[Candidate, list[Tried]]:
    """A structure under the best of several settings, and what was tried.

    How far tied first, less and less while that helps, then how far shrunk, with heavy tails, that no single row
    decides; then normal ones.  With p numbers and n rows that have both of a pair, correlations err by about 1/√n each:
    shrinkage of less than p/2n is tried only where that is the best, a tenth of it at a time while that gains anything,
    and none below 1/10n, a tenth of what the prior of one row comes to.
    """
    alone = [p for i, p in enumerate(structure.specs) if i not in (structure.joint, structure.trees)]
    compared, besides = slice(0, held.compared), slice(held.compared, None)
    rest = held.scores(alone, compared)
    labels, log_prior = held.labels(held.compared), held.log_prior(held.compared)
    lately: Pooled | None = None  # what was found last

    def tried(settings: str, scores: Array) -> Tried:
        nonlocal lately
        lately = pooled([scores], log_prior, *labels, start=lately)
        return Tried(structure.name, settings, lately.loss, float(lately.powers[0]))

    if structure.trees is not None:
        return _smoothed(_grown(structure, held, rest, others), held, rest, tried)
    if structure.joint is None:
        only = tried("", rest)
        dense = {"dense": structure.specs, "log_density": held.log_density(alone)} if structure.is_density else {}
        return Candidate(structure, only, rest, partial(held.scores, alone, besides), **dense), [only]  # type: ignore[arg-type]
    at, spec = structure.joint, structure.specs[structure.joint]
    many = len(held.rows.classes) * len(spec.names) ** 2 > MOST_ROOM
    joint = held.joint(replace(spec, family=replace(JOINT, pooled=many)))
    base, rows = joint.spec.family, float(labels[1].sum())
    assert isinstance(base, MultivariateGaussian)
    found: list[tuple[MultivariateGaussian, Tried, Array]] = []
    densities: list[Array] = []

    def helps(tie: float, shrinkage: float, freedom: float = FREEDOM) -> bool:
        """Try these; whether they are the best so far."""
        family = replace(base, tie=tie, shrinkage=shrinkage, freedom=freedom)
        left = joint.leave_one_out(family, compared)
        scores = bounded(left)
        settings = f"tie={tie:g}, shrinkage={shrinkage:g}" + ("" if np.isinf(freedom) else ", heavy tails")
        found.append((family, tried(settings, scores + rest), scores))
        densities.append(left.log_density[np.arange(held.compared), labels[0]])
        return best()[0] is family

    def best() -> tuple[MultivariateGaussian, Tried, Array]:
        return found[int(np.argmin([round(one.loss, 9) for _, one, _ in found]))]

    least = min(MORE[-1], len(spec.names) / (2 * joint.together))
    usual = max(SHRINKAGE, least)
    for tie in TIES if not many else TIES[:1]:
        if not helps(tie, usual):
            break
    if best()[1].loss < FAR_BEHIND * min((one.tried.loss for one in others), default=np.inf):
        for shrinkage in MORE:
            if shrinkage > usual and not helps(best()[0].tie, shrinkage):
                break
        lower, gain = usual, np.inf
        while best()[0].shrinkage == lower > LITTLE / joint.together and gain > WORTH / rows:
            lower, before = max(LESS, least) if max(LESS, least) < lower else lower / 10, best()[1].loss
            helps(best()[0].tie, lower)
            gain = before - best()[1].loss
    helps(best()[0].tie, best()[0].shrinkage, np.inf)
    taken, least_loss, scores = best()

    def with_family(family: Family) -> tuple[BlockSpec, ...]:
        return (*structure.specs[:at], replace(joint.spec, family=family), *structure.specs[at + 1 :])

    def beyond() -> Array:
        return bounded(joint.leave_one_out(taken, besides)) + held.scores(alone, besides)

    made = Candidate(replace(structure, specs=with_family(taken)), least_loss, scores + rest, beyond)
    if structure.is_density:
        densest = max(range(len(found)), key=lambda i: round(float(labels[1] @ densities[i]), 6))
        log_density = densities[densest] + held.log_density(alone)
        made = replace(made, dense=with_family(found[densest][0]), log_density=log_density)
    return made, [t for _, t, _ in found]


def _grown(structure: Structure, held: Held, rest: Array, others: Sequence[Candidate]) -> Structure:
    """The structure with its trees: of many rows a few first, and more where these gain a pool of the others anything.

    On nine real tables with 1,500 rows to compare eight trees gained 0.7 nats or more wherever all had a weight then.
    """
    at, most = structure.trees, held.growing.most_trees
    assert at is not None
    few_first = others and most == FEWEST_TREES
    trees = held.grown(structure.specs[at], FIRST_TREES if few_first else most)
    if few_first:
        labels, log_prior = held.labels(held.compared), held.log_prior(held.compared)
        scores = [one.scores for one in others]
        without = pooled(scores, log_prior, *labels, start=np.array([one.tried.power for one in others]) / len(others))
        scores.append(held.scores([trees], slice(0, held.compared)) + rest)
        found = pooled(scores, log_prior, *labels, start=without._replace(powers=np.append(without.powers, 0.0)))
        if found.loss < without.loss - WORTH / float(labels[1].sum()):
            trees = held.grown(trees, most)
    return replace(structure, specs=(*structure.specs[:at], trees, *structure.specs[at + 1 :]))


def _smoothed(
    structure: Structure, held: Held, rest: Array, tried: Callable[[str, Array], Tried]
) -> tuple[Candidate, list[Tried]]:
    """Trees under the best of several amounts of smoothing."""
    compared, besides = slice(0, held.compared), slice(held.compared, None)
    at = structure.trees
    assert at is not None
    spec, best = structure.specs[at], 0
    found: list[tuple[tuple[BlockSpec, ...], Tried, Array]] = []
    for i in range(len(ALPHAS) + 1):  # the last is beside the best of the others
        alpha = [*ALPHAS][i] if i < len(ALPHAS) else ALPHAS[[*ALPHAS][best]]
        block = replace(spec, family=replace(cast("Partition", spec.family), alpha=alpha))
        scores = held.scores([block], compared) + rest
        specs = (*structure.specs[:at], block, *structure.specs[at + 1 :])
        found.append((specs, tried(f"alpha={alpha:g}", scores), scores))
        best = int(np.argmin([round(one.loss, 9) for _, one, _ in found]))
    specs, least, scores = found[best]
    made = Candidate(replace(structure, specs=specs), least, scores, partial(held.scores, specs, besides))
    return made, [t for _, t, _ in found]


def _naive_alone(schema: Schema, held: Held, worth: float) -> Pooled:
    """The naive structure calibrated as by itself, beside copies of rows, which are worth so many rows.

    Rows that come again and again may be copies, or all the rows there are: a structure that cannot remember them is
    hardly misled by copies, and is never left for less.
    """
    (codes, weights), log_prior = held.labels(held.compared), held.log_prior(held.compared)
    scores, rows = [held.scores(schema.specs, slice(0, held.compared))], (codes, weights * (worth / weights.sum()))
    return pooled(scores, log_prior, *rows)


def _proposed(
    schema: Schema, best: list[Candidate], dense: Candidate, held: Held, tried: list[Tried], naive_alone: Pooled | None
) -> list[Proposal]:
    """Pools in the order of their expected loss: the best of every structure together, the naive one; then none.

    Those that the rows compared show to be worth it, on all rows looked at: few do not show how rare outliers
    are.
    """
    rows, log_prior = held.labels(held.compared), held.log_prior(held.compared)
    start = np.array([one.tried.power for one in best]) / len(best)
    kept, found = _worth([(one, one.scores) for one in best], log_prior, rows, start)
    scores = [one.scores for one in kept]
    alone = best[0], best[0].scores
    if held.compared < len(held.look):
        rows, log_prior = held.labels(len(held.scored)), held.log_prior()
        more = [(one, np.concatenate([one.scores, one.besides()])) for one in (*kept, best[0])]
        (kept, found), alone = _worth(more[:-1], log_prior, rows, found), more[-1]
        scores = [s for one, s in more[:-1] if one in kept]
    naive = pooled([alone[1]], log_prior, *rows)
    kept, scores, found = _hedged((kept, scores, found), (alone, naive), log_prior, rows, len(tried))
    if held.classes_compared > 1:  # rows of one class say nothing against the class shares
        found = _held_back(scores, found, log_prior, rows, len(tried))
        naive = _held_back([alone[1]], naive, log_prior, rows, 1)
    naive = naive if naive_alone is None else naive_alone
    n, each = float(rows[1].sum()), np.arange(len(rows[0]))
    none = Pooled(np.zeros(0), 0.0, float(-rows[1] @ log_prior[each, rows[0]] / n))
    pools = [(kept, scores, found, len(tried)), (best[:1], [alone[1]], naive, 1)]
    pools.sort(key=lambda pool: round(penalised_loss(pool[2], pool[3], n), 9))
    promised = [(*pool[:3], _with_lone_rows(expected_loss(*pool[2:], n), pool[2].outlier_rate, held)) for pool in pools]
    shares: tuple[list[Candidate], list[Array], Pooled, float] = ([], [], none, _with_lone_rows(none.loss, 1.0, held))
    if held.classes_compared > 1:
        worth_it = penalised_loss(naive, 1, n) < none.loss  # one structure, held back: it has less to prove
        promised = [p for p in promised if p[3] < shares[3] or (worth_it and p[2] is naive)]  # else no evidence is best
    else:
        promised = [pool for pool in promised if pool[0] == best[:1]][:1]  # rows of one class cannot compare
    return [
        Proposal(
            _schema_of(schema, members, pool, dense),
            _selection((members, some, pool), loss, held, tuple(tried), dense.structure.name),
            _posterior([s[held.guarded] for s in some], log_prior[held.guarded], pool),
        )
        for members, some, pool, loss in [*promised, shares]
    ]


def _with_lone_rows(loss: float, outlier_rate: float, held: Held) -> float:
    """The loss of the rows compared, and of those whose class has no other row: no more than outliers to any model."""
    weights = held.few.part(0, len(held.few))[1]
    lone = weights * (held.scored.part(0, len(held.scored))[1] <= 0)
    share = float(lone.sum() / weights.sum())
    if not share:
        return loss
    unexplained = float(lone @ np.log((held.counts / held.counts.sum())[held.few.codes]) / lone.sum())
    return (1 - share) * loss - share * (math.log(outlier_rate) + unexplained)


def _hedged(
    pool: tuple[list[Candidate], list[Array], Pooled],
    alone: tuple[tuple[Candidate, Array], Pooled],
    log_prior: Array,
    rows: tuple[Codes, Array],
    settings: int,
) -> tuple[list[Candidate], list[Array], Pooled]:
    """A pool between that found and the naive structure: nearer to this, the less surely it is better.

    With a gain, less what choosing has cost, of z standard errors, powers of z²/(z² + 2) of the pool's and the rest of
    the naive structure's own.
    """
    (members, scores, found), ((naive, own), plain) = pool, alone
    each = np.arange(len(rows[0]))
    gain = np.log(_posterior(scores, log_prior, found) / _posterior([own], log_prior, plain))[each, rows[0]]
    total = float(rows[1].sum())
    penalty = penalised_loss(found, settings, total) - found.loss - (penalised_loss(plain, 1, total) - plain.loss)
    share = _sure_share(gain, rows[1], penalty)
    if not share or (naive is members[0] and len(members) == 1):
        return [naive], [own], plain
    if naive not in members:
        members, scores, found = [naive, *members], [own, *scores], found._replace(powers=np.append(0.0, found.powers))
    powers = share * found.powers + np.where([one is naive for one in members], (1 - share) * plain.powers[0], 0.0)
    mixed = Pooled(powers, share * found.outlier_rate + (1 - share) * plain.outlier_rate, 0.0)
    loss = -float(rows[1] @ np.log(_posterior(scores, log_prior, mixed)[each, rows[0]])) / total
    return members, scores, mixed._replace(loss=loss)


def _sure_share(gain: Array, weights: Array, penalty: float) -> float:
    """z²/(z² + 2) of a mean gain of z standard errors, less its penalty; 0 where nothing is left of it."""
    total = float(weights.sum())
    mean = float(weights @ gain) / total
    error = math.sqrt(float(weights @ (gain - mean) ** 2)) / total
    mean -= penalty
    return mean**2 / (mean**2 + HEDGED * error**2) if mean > 0 else 0.0


def _held_back(
    scores: list[Array], found: Pooled, log_prior: Array, rows: tuple[Codes, Array], settings: int
) -> Pooled:
    """A pool nearer to the class shares, the less surely it is better than these: powers times z²/(z² + 2)."""
    codes, weights = rows
    each, total = np.arange(len(codes)), float(weights.sum())
    gain = np.log(_posterior(scores, log_prior, found)[each, codes]) - log_prior[each, codes]
    share = _sure_share(gain, weights, penalised_loss(found, settings, total) - found.loss)
    less = found._replace(powers=share * found.powers)
    return less._replace(loss=-float(weights @ np.log(_posterior(scores, log_prior, less)[each, codes])) / total)


def _selection(
    taken: tuple[list[Candidate], list[Array], Pooled],
    expected: float,
    held: Held,
    tried: tuple[Tried, ...],
    density: str,
) -> Selection:
    """What is shown of a pool, on the rows compared."""
    members, scores, pool = taken
    named = tuple((one.tried.name, one.tried.settings, float(b)) for one, b in zip(members, pool.powers, strict=True))
    if not members:
        return Selection(tried, named, 0.0, expected, pool.loss, density)
    codes, weights = held.labels(held.compared)
    posterior = _posterior([s[: held.compared] for s in scores], held.log_prior(held.compared), pool)
    loss = float(-weights @ np.log(posterior[np.arange(held.compared), codes]) / weights.sum())
    grown = [one.structure.specs[one.structure.trees] for one in members if one.structure.trees is not None]
    trees = "; ".join(described(cast("Partition", spec.family), spec.columns) for spec in grown)
    return Selection(tried, named, pool.outlier_rate, expected, loss, density, trees=trees)


def _posterior(scores: Sequence[Array], log_prior: Array, pool: Pooled) -> Array:
    """Leave-one-out p(c | x), by the pool.  # → (n, K)"""
    if not scores:
        return np.zeros((0, log_prior.shape[-1]))
    joint = log_prior + sum(b * s for b, s in zip(pool.powers, scores, strict=True))
    return with_outliers(softmax(joint, axis=1), log_prior, pool.outlier_rate)


def _densest(best: list[Candidate], held: Held) -> Candidate:
    """The structure with the best leave-one-out density; the naive one, if no other surely does."""
    weights = held.labels(held.compared)[1]
    naive = best[0]
    found, most = naive, 0.0
    for one in best[1:]:
        if one.log_density is None or naive.log_density is None:
            continue
        gain = np.clip(one.log_density - naive.log_density, -SAYABLE, SAYABLE)
        mean = float(weights @ gain / weights.sum())
        error = math.sqrt(float(weights @ (gain - mean) ** 2)) / float(weights.sum())
        if mean > max(most, SURELY * error):
            found, most = one, mean
    return found


def _schema_of(schema: Schema, members: list[Candidate], pool: Pooled, dense: Candidate) -> Schema:
    """The blocks of the density first, then those of the pool; a block that serves both is there once."""
    assert dense.dense is not None
    powers = [(one.structure.specs, float(b)) for one, b in zip(members, pool.powers, strict=True)]
    own = next((b for specs, b in powers if specs == dense.dense), 0.0)
    plain = tuple(replace(p, power=own) for p in dense.dense)
    others = tuple(replace(p, power=b) for specs, b in powers if specs != dense.dense for p in specs)
    supports = tuple(p for p in schema.specs if p.lenient)
    return replace(
        schema, specs=(*plain, *others), n_plain=len(plain), outlier_rate=pool.outlier_rate, supports=supports
    )


def _worth(
    kept: list[tuple[Candidate, Array]], log_prior: Array, rows: tuple[Codes, Array], start: Pooled | Array
) -> tuple[list[Candidate], Pooled]:
    """Powers of candidates with these scores, without those that are not worth a number of their own."""

    def fit(some: list[tuple[Candidate, Array]], start: Pooled | Array) -> Pooled:
        return pooled([scores for _, scores in some], log_prior, *rows, start=start)

    found = fit(kept, start)
    first = int(np.argmin([round(one.tried.loss, 9) for one, _ in kept]))
    alone = fit([kept[first]], np.array([kept[first][0].tried.power]))
    if alone.loss < found.loss:  # wild scores of another have led the search astray: begin without them
        again = fit(kept, alone._replace(powers=np.where(np.arange(len(kept)) == first, alone.powers, 0.0)))
        found = min(found, again, key=lambda one: one.loss)
    penalty = WORTH / float(rows[1].sum())
    size = np.array([float(rows[1] @ np.abs(s - s.mean(axis=1, keepdims=True)).mean(axis=1)) for _, s in kept])
    while len(kept) > 1:
        weak = int(np.argmin(found.powers * size))
        fewer = kept[:weak] + kept[weak + 1 :]
        without = fit(fewer, found._replace(powers=np.delete(found.powers, weak)))
        if without.loss > found.loss + penalty:
            break
        kept, found, size = fewer, without, np.delete(size, weak)
    return [one for one, _ in kept], found
