"""How the columns of a table depend on each other given the class: structures compared on rows left out.

Every row is scored by the sums of all the others (leave-one-out, in closed form; for shrunk joint columns, and those
with holes, nearly).  Where there is no closed form, bins chosen by the class, the sums are those of all folds but the
row's own.  Which rows are looked at, and the fold of each, depends on the ranks of their values (see ``row_sample``):
neither the order of rows and columns, nor names of columns, categories and classes, nor units change anything.
Structures are compared, and pooled, by the log-loss of (1 − ε)·q(c | x) + ε·p(c), q ∝ p(c) Π_m p_m(x | c)^β_m, on the
rows left out: β below 1 takes back the over-confidence of a wrong model, and the lapse ε is the chance that a row is an
exception, whose columns say nothing of its class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .families import Binned, Categorical, MultivariateGaussian
from .families.holes import patterns_of
from .families.tuning import Tuning
from .frame import Frame
from .held_rows import Held
from .kernels.threads import one_blas_thread
from .powers import Pooled, pooled
from .row_sample import keyed, some_rows
from .schema import Coding, Piece, Schema
from .series import LEVEL_KIND, NUMBER, WHOLE
from .stats import Array, Stats
from .table import Codes, Rows

NAIVE = "naive"
MOST_ROWS = 20_000  # rows whose sums structures are compared by, where there are more
MOST_COLUMNS = 250  # numbers in a joint block; more levels than make these are left to themselves
MOST_ROOM = 1 << 23  # numbers that the sums of a joint block may take
MOST_WORK = 1e10  # products that factoring a joint block may take, for all ways in which rows have holes
SEEN_OFTEN = 2.5  # rows a level needs more than, for a number of its own in a joint block: no sum of weights is near
BINS = 8  # of the numbers in a joint block; fewer where that would make too many columns
TIES = (1.0, 0.3, 0.0)
SHRINKAGE = 0.1  # tried with every tie; with the best, more or less of it
FREEDOM = 10.0  # of the heavier tails that settings are compared with; then normal ones with the best of them
LESS, MORE = 0.01, (0.3, 0.8)
FEW_OTHERS = 10  # times fewer columns that are no numbers make no difference between numbers joint and all joint
FAR_BEHIND = 1.1  # times the log-loss of another structure: one as bad as this is not tried with other shrinkages
WORTH = 0.02  # a structure with less power than this in the pool is left out of it


@dataclass(frozen=True)
class Tried:
    """One structure with its settings, and its log-loss on rows left out, tempered."""

    name: str
    settings: str
    loss: float
    power: float


@dataclass(frozen=True)
class Selection:
    """What was tried, and what was taken: the structures of the pool with their powers, and the lapse.

    ``columns`` shows the columns left out before, where some were to be.
    """

    tried: tuple[Tried, ...]
    pool: tuple[tuple[str, str, float], ...]
    lapse: float
    loss: float
    columns: Tuning | None = None

    def __repr__(self) -> str:
        rows = [f"{'structure':<24}{'settings':<44}{'log-loss':>9}{'power':>8}"]
        taken = {(name, settings) for name, settings, _ in self.pool}
        for t in self.tried:
            mark = " *" if (t.name, t.settings) in taken else ""
            rows.append(f"{t.name:<24}{t.settings:<44}{t.loss:9.4f}{t.power:8.2f}{mark}")
        powers = ", ".join(f"{name} {power:.2f}" for name, _, power in self.pool)
        before = [] if self.columns is None else [repr(self.columns), ""]
        return "\n".join([*before, *rows, f"pool: {powers}; lapse {self.lapse:.2g}; log-loss {self.loss:.4f}"])


@dataclass(frozen=True)
class Structure:
    """Pieces that make a model of the table; ``joint`` marks the piece whose covariances are to be chosen."""

    name: str
    pieces: tuple[Piece, ...]
    joint: int | None = None


# --- the structures


def structures(schema: Schema, held: Held) -> list[Structure]:
    """Naive, naive with bins, numbers joint, everything joint, everything joint with bins: those that make sense."""
    frame = held.frame
    kinds = {c.column: c.kind for c in schema.choices}
    plain = {n: p for p in schema.pieces if p.reads != "holes" for n in p.columns}
    holes = tuple(p for p in schema.pieces if p.reads == "holes")
    used = held.keyed.in_order(schema.used)
    levels = [n for n in used if isinstance(plain[n].family, Categorical) and kinds[n] == LEVEL_KIND]
    numeric = [n for n in used if kinds[n] in (NUMBER, WHOLE) and plain[n].family.key != "bernoulli"]
    found = [Structure(NAIVE, schema.pieces)]
    rest = tuple(n for n in schema.used if n not in numeric)
    if numeric:
        bins = Piece(Binned(), tuple(numeric), "numbers")
        found.append(Structure("naive, binned", (*_only(schema, rest), bins, *holes)))
    if len(numeric) > 1 and len(rest) * FEW_OTHERS >= len(numeric):
        joint = Piece(_joint(), tuple(numeric), "codings", (Coding(),) * len(numeric))
        found.append(Structure("numbers joint", (*_only(schema, rest), joint, *holes), len(_only(schema, rest))))
    codings = {n: _level_coding(held, n) if n in levels else Coding() for n in used}
    edges = _quantiles(held, numeric)
    binned = {n: replace(c, edges=edges.get(n, ())) for n, c in codings.items()}
    for name, coding in (("all joint", codings), ("all joint, binned", binned if numeric else {})):
        use = {n: c for n, c in coding.items() if n not in levels or c.levels}
        width = sum(c.width for c in use.values())
        if 1 < width <= MOST_COLUMNS and width**3 * _patterns(frame, use) <= MOST_WORK:
            found.append(Structure(name, (Piece(_joint(), tuple(use), "codings", tuple(use.values())), *holes), 0))
    return found


def _patterns(frame: Frame, names: Iterable[str]) -> int:
    """In how many ways rows miss some of these columns: for each, a joint block has a covariance to factor."""
    holes = [h for n in names if (h := frame.columns[n].holes()).any()]
    return len(patterns_of(np.column_stack(holes))[0]) if holes else 1


def _only(schema: Schema, names: Sequence[str]) -> tuple[Piece, ...]:
    """The pieces of a schema, as far as they are about these columns."""
    pieces = []
    for piece in schema.pieces:
        here = tuple(n for n in piece.columns if n in names)
        if here and piece.reads != "holes":
            pieces.append(piece.only(here))
    return tuple(pieces)


def _joint() -> MultivariateGaussian:
    return MultivariateGaussian(tie=1.0, shrinkage=SHRINKAGE, holes="pairs", freedom=FREEDOM)


def _level_coding(held: Held, name: str) -> Coding:
    values, codes = held.frame.columns[name].levels()
    weights = held.rows.part(0, len(held.rows))[1]
    count = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(values))
    often = [v for v, n in zip(values, count, strict=True) if n > SEEN_OFTEN]
    marks = held.keyed.of_categories[name]
    return Coding(levels=tuple(sorted(often, key=lambda v: marks[v])))


def _quantiles(held: Held, names: Sequence[str]) -> dict[str, tuple[float, ...]]:
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
    """A structure under the best of what was tried, and the scores of rows left out of it."""

    structure: Structure
    tried: Tried
    scores: Array  # (n, K), of the rows compared
    besides: Callable[[], Array]  # of the others looked at


def select(schema: Schema, frame: Frame, rows: Rows) -> tuple[Schema, Selection, dict[int, Stats]]:
    """The pool of structures that explains rows left out best: the schema of their pieces, and what was tried.

    And the sums of pieces that all rows were added up for, by the place of the piece.
    """
    look = some_rows(rows, MOST_ROWS)
    every_row, counts = len(look) == frame.n_rows, rows.counts()
    if not every_row:
        frame, rows = frame.rows(look), rows.some(look)
        rows, counts = rows.with_weight(), counts[rows.counts() > 0]
    with np.errstate(divide="ignore"):
        log_prior = np.log(counts / counts.sum())
    held = Held(frame, rows, keyed(frame, schema.used, rows), counts)
    if not held.tell.counts().any():
        return schema, Selection((), ((NAIVE, "", 1.0),), 0.0, np.nan), {}
    tried: list[Tried] = []
    best: list[Candidate] = []
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        for structure in structures(schema, held):
            so_far = min((t.loss for t in tried), default=np.inf)
            taken, attempts = _settled(structure, held, log_prior, so_far)
            tried += attempts
            best.append(taken)
        found, selection = _pooled(schema, best, log_prior, held, tried)
    if every_row:
        found = replace(found, pieces=tuple(held.cut(p) for p in found.pieces))
    places = {(p.columns, p.codings): i for i, p in enumerate(found.pieces) if p.reads == "codings" and every_row}
    return found, selection, {places[key]: sums for key, sums in held.sums.items() if key in places}


def _settled(structure: Structure, held: Held, log_prior: Array, so_far: float) -> tuple[Candidate, list[Tried]]:
    """A structure under the best of several settings, and what was tried.

    How far tied first, less and less while that helps, then how far shrunk, with heavy tails, that no single row
    decides; then normal ones.  With p numbers and n rows that have both of a pair, correlations err by about 1/√n each,
    and shrinkage is no less than p/2n.
    """
    alone = [p for i, p in enumerate(structure.pieces) if i != structure.joint]
    compared, besides = slice(0, held.compared), slice(held.compared, None)
    rest = held.scores(alone, compared)
    told = held.told(held.compared)
    lately: Pooled | None = None  # what was found last

    def tried(settings: str, scores: Array) -> Tried:
        nonlocal lately
        lately = pooled([scores], log_prior, *told, start=lately)
        return Tried(structure.name, settings, lately.loss, float(lately.powers[0]))

    if structure.joint is None:
        only = tried("", rest)
        return Candidate(structure, only, rest, lambda: held.scores(alone, besides)), [only]
    at, piece = structure.joint, structure.pieces[structure.joint]
    many = len(held.rows.classes) * len(piece.names) ** 2 > MOST_ROOM
    base = replace(_joint(), pooled=many)
    joint = held.joint(replace(piece, family=base))
    found: list[tuple[MultivariateGaussian, Tried, Array]] = []

    def helps(tie: float, shrinkage: float, freedom: float = FREEDOM) -> bool:
        """Try these; whether they are the best so far."""
        family = replace(base, tie=tie, shrinkage=shrinkage, freedom=freedom)
        scores = joint.left_out(family, compared)
        settings = f"tie={tie:g}, shrinkage={shrinkage:g}" + ("" if np.isinf(freedom) else ", heavy tails")
        found.append((family, tried(settings, scores + rest), scores))
        return best()[0] is family

    def best() -> tuple[MultivariateGaussian, Tried, Array]:
        return min(found, key=lambda one: round(one[1].loss, 9))

    least = min(MORE[-1], len(piece.names) / (2 * joint.together))
    usual = max(SHRINKAGE, least)
    for tie in TIES if not many else TIES[:1]:
        if not helps(tie, usual):
            break
    if best()[1].loss < FAR_BEHIND * so_far:
        for shrinkage in MORE:
            if shrinkage > usual and not helps(best()[0].tie, shrinkage):
                break
        if best()[0].shrinkage == usual > least:
            helps(best()[0].tie, max(LESS, least))
    helps(best()[0].tie, best()[0].shrinkage, np.inf)
    taken, least_loss, scores = best()
    pieces = (*structure.pieces[:at], replace(joint.piece, family=taken), *structure.pieces[at + 1 :])

    def others() -> Array:
        return joint.left_out(taken, besides) + held.scores(alone, besides)

    return Candidate(replace(structure, pieces=pieces), least_loss, scores + rest, others), [t for _, t, _ in found]


def _pooled(
    schema: Schema, best: list[Candidate], log_prior: Array, held: Held, tried: list[Tried]
) -> tuple[Schema, Selection]:
    """Powers for the best of every structure together; those that add nothing are left out.

    Those that the rows compared show to be worth it, on all rows looked at: few do not tell how rare a lapse is.
    """
    start: Any = np.array([one.tried.power for one in best]) / len(best)
    kept, found = _worth([(one, one.scores) for one in best], log_prior, held.told(held.compared), start)
    if held.compared < len(held.look):
        more = [(one, np.concatenate([one.scores, one.besides()])) for one in kept]
        kept, found = _worth(more, log_prior, held.told(len(held.tell)), found)
    beta, lapse, loss = found
    by_name = {one.structure.name: float(b) for one, b in zip(kept, beta, strict=True)}
    plain = tuple(replace(p, power=by_name.get(NAIVE, 0.0)) for p in schema.pieces)  # kept in any case: the density
    joined = [one.structure for one in kept if one.structure.name != NAIVE]
    others = tuple(replace(p, power=by_name[structure.name]) for structure in joined for p in structure.pieces)
    pieces = (*plain, *others)
    pool = tuple((one.tried.name, one.tried.settings, float(b)) for one, b in zip(kept, beta, strict=True))
    taken = replace(schema, pieces=pieces, n_plain=len(plain), lapse=lapse)
    return taken, Selection(tuple(tried), pool, lapse, loss)


def _worth(
    kept: list[tuple[Candidate, Array]], log_prior: Array, rows: tuple[Codes, Array], start: Any
) -> tuple[list[Candidate], Pooled]:
    """Powers of candidates with these scores, without those that have next to none."""

    def fit(some: list[tuple[Candidate, Array]], start: Any) -> Pooled:
        return pooled([scores for _, scores in some], log_prior, *rows, start=start)

    found = fit(kept, start)
    first = min(range(len(kept)), key=lambda m: round(kept[m][0].tried.loss, 9))
    alone = fit([kept[first]], np.array([kept[first][0].tried.power]))
    if alone.loss < found.loss:  # wild scores of another have led the search astray: begin without them
        again = fit(kept, alone._replace(powers=np.where(np.arange(len(kept)) == first, alone.powers, 0.0)))
        found = min(found, again, key=lambda one: one.loss)
    while len(kept) > 1 and found.powers.min() < WORTH:
        weak = int(np.argmin(found.powers))
        kept = [k for m, k in enumerate(kept) if m != weak]
        found = fit(kept, found._replace(powers=np.delete(found.powers, weak)))
    return [one for one, _ in kept], found
