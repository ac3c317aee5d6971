"""How the columns of a table depend on each other given the class: structures compared on rows left out.

Every row is scored by the sums of all the others (leave-one-out, in closed form).  Where there is no closed form, bins
chosen by the class and joint columns with holes, the sums are those of all folds but the row's own; which fold a row is
in depends on its values alone, so that neither the order of the rows, nor repeating a row instead of giving it weight,
nor the names of the columns change anything.
Structures are compared, and pooled, by the log-loss of p(c | x) ∝ p(c) Π_m p_m(x | c)^β_m on the rows left out: β below
1 takes back the over-confidence of a wrong model.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .families import Binned, Categorical, Gaussian, MultivariateGaussian
from .families.tuning import Tuning
from .family import Family, LeftOut
from .frame import LEVEL_KIND, NUMBER, WHOLE, Frame
from .kernels.threads import one_blas_thread
from .model import Model
from .powers import bounded, powers
from .schema import Coding, Piece, Schema
from .stats import Array
from .table import Matrix, Rows

Places = NDArray[np.int64]
Families = Sequence[MultivariateGaussian]

NAIVE = "naive"
FOLDS = 5
MOST_ROWS = 20_000  # rows that structures are compared on, where there are more
MOST_COLUMNS = 400  # numbers in a joint block; more levels than make these are left to themselves
MOST_ROOM = 1 << 23  # numbers that the sums of a joint block may take
MOST_WORK = 1e10  # products that factoring a joint block may take, for all ways in which rows have holes
SEEN_OFTEN = 3  # rows a level needs to have a number of its own in a joint block
BINS = 5
TIES = (1.0, 0.5, 0.1, 0.0)
SHRINKAGES = (0.1, 0.01, 0.3, 0.8)  # the first is tried with every tie, the others with the best
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
    """What was tried, and what was taken: the structures of the pool with their powers.

    ``columns`` shows the columns left out before, where some were to be.
    """

    tried: tuple[Tried, ...]
    pool: tuple[tuple[str, str, float], ...]
    loss: float
    columns: Tuning | None = None

    def __repr__(self) -> str:
        rows = [f"{'structure':<24}{'settings':<34}{'log-loss':>9}{'power':>8}"]
        taken = {(name, settings) for name, settings, _ in self.pool}
        for t in self.tried:
            mark = " *" if (t.name, t.settings) in taken else ""
            rows.append(f"{t.name:<24}{t.settings:<34}{t.loss:9.4f}{t.power:8.2f}{mark}")
        powers = ", ".join(f"{name} {power:.2f}" for name, _, power in self.pool)
        before = [] if self.columns is None else [repr(self.columns), ""]
        return "\n".join([*before, *rows, f"pool: {powers}; log-loss {self.loss:.4f}"])


@dataclass(frozen=True)
class Structure:
    """Pieces that make a model of the table; ``joint`` marks the piece whose covariances are to be chosen."""

    name: str
    pieces: tuple[Piece, ...]
    joint: int | None = None


# --- the structures


def structures(schema: Schema, frame: Frame, rows: Rows) -> list[Structure]:
    """Naive, naive with bins, numbers joint, everything joint, everything joint with bins: those that make sense."""
    kinds = {c.column: c.kind for c in schema.choices}
    plain = {n: p for p in schema.pieces if p.reads != "holes" for n in p.columns}
    holes = tuple(p for p in schema.pieces if p.reads == "holes")
    levels = [n for n in schema.used if isinstance(plain[n].family, Categorical) and kinds[n] == LEVEL_KIND]
    numeric = [n for n in schema.used if kinds[n] in (NUMBER, WHOLE) and plain[n].family.key != "bernoulli"]
    found = [Structure(NAIVE, schema.pieces)]
    rest = tuple(n for n in schema.used if n not in numeric)
    if numeric:
        bins = Piece(Binned(), tuple(numeric), "numbers")
        found.append(Structure("naive, binned", (*_only(schema, rest), bins, *holes)))
    if len(numeric) > 1 and rest:
        joint = Piece(_joint(), tuple(numeric), "codings", (Coding(),) * len(numeric))
        found.append(Structure("numbers joint", (*_only(schema, rest), joint, *holes), len(_only(schema, rest))))
    codings = {n: _level_coding(frame, n, rows) if n in levels else Coding() for n in schema.used}
    edges = _quantiles(frame, numeric, rows)
    binned = {n: replace(c, edges=edges.get(n, ())) for n, c in codings.items()}
    for name, coding in (("all joint", codings), ("all joint, binned", binned if numeric else {})):
        use = {n: c for n, c in coding.items() if n not in levels or c.levels}
        width = sum(len(c.names(n)) for n, c in use.items())
        if 1 < width <= MOST_COLUMNS and width**3 * _patterns(frame, use) <= MOST_WORK:
            found.append(Structure(name, (Piece(_joint(), tuple(use), "codings", tuple(use.values())), *holes), 0))
    return found


def _patterns(frame: Frame, names: Iterable[str]) -> int:
    """In how many ways rows miss some of these columns: for each, a joint block has a covariance to factor."""
    holes = np.packbits(np.column_stack([frame.columns[n].holes() for n in names]), axis=1)
    return len(np.unique(holes, axis=0))


def _only(schema: Schema, names: Sequence[str]) -> tuple[Piece, ...]:
    """The pieces of a schema, as far as they are about these columns."""
    pieces = []
    for piece in schema.pieces:
        here = tuple(n for n in piece.columns if n in names)
        if here and piece.reads != "holes":
            pieces.append(piece.only(here))
    return tuple(pieces)


def _joint() -> MultivariateGaussian:
    return MultivariateGaussian(tie=1.0, shrinkage=SHRINKAGES[0], holes="pairs")


def _scaled(piece: Piece, X: Array, rows: Rows) -> tuple[Piece, Array]:
    """A joint piece whose numbers have variance 1 within the classes, and its matrix."""
    moments = Gaussian(tie=1.0).collect(X, rows, piece.names)
    n, x, xx = (moments[name] for name in ("n", "x", "xx"))
    variance = Gaussian(tie=1.0).solved_moments(n, x, xx, np.asarray(moments.origin))[1][0]
    scale = np.sqrt(np.where(variance > 0, variance, 1.0))
    ends = np.cumsum([0, *(len(c.names(n)) for n, c in zip(piece.columns, piece.codings, strict=True))])
    each = [tuple(scale[a:b].tolist()) for a, b in pairwise(ends)]
    codings = tuple(replace(c, scales=s) for c, s in zip(piece.codings, each, strict=True))
    return replace(piece, codings=codings), X / scale


def _level_coding(frame: Frame, name: str, rows: Rows) -> Coding:
    values, codes = frame.columns[name].levels()
    weights = rows.part(0, len(rows))[1]
    count = np.bincount(codes[codes >= 0], weights[codes >= 0], minlength=len(values))
    often = [v for v, n in zip(values, count, strict=True) if n >= SEEN_OFTEN]
    return Coding(levels=tuple(sorted(often, key=str)))


def _quantiles(frame: Frame, names: Sequence[str], rows: Rows) -> dict[str, tuple[float, ...]]:
    """Edges of bins with equal shares of the rows, for every column."""
    if not names:
        return {}
    X = np.column_stack([frame.columns[n].numbers() for n in names])
    chosen = Binned(how="quantile", bins=BINS).settled(X, rows, names)
    return dict(zip(names, chosen.edges, strict=True))  # type: ignore[attr-defined]


# --- folds


def folds_of(frame: Frame, schema: Schema, rows: Rows) -> Places:
    """A fold for every row, from its values and its label.  # → (n,)"""
    mixed = np.zeros(frame.n_rows, np.uint64)
    with np.errstate(over="ignore"):
        for name in schema.used:
            column = frame.columns[name]
            if column.kind() in (NUMBER, WHOLE):
                x = column.numbers() + 0.0
                bits = np.where(np.isnan(x), np.nan, x).view(np.uint64)
            else:
                values, codes = column.levels()
                each = np.array([zlib.crc32(repr(v).encode()) for v in values] + [0], np.uint64)
                bits = each[codes]
            mixed += _scrambled(bits + np.uint64(0x9E3779B97F4A7C15))  # the same for columns in any order
        label = np.array([zlib.crc32(repr(c).encode()) for c in rows.classes.labels], np.uint64)
        mixed = _scrambled(mixed + label[rows.codes])
    return np.asarray((mixed >> np.uint64(11)) % np.uint64(FOLDS)).astype(np.int64)


def _scrambled(bits: Any) -> Any:
    """Mix the bits of whole numbers well (the finaliser of SplitMix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class Held:
    """Scores of rows under models that have not seen them, for one piece after another."""

    def __init__(self, frame: Frame, rows: Rows, folds: Places) -> None:
        self.frame, self.rows, self.folds = frame, rows, folds
        self.where = [np.flatnonzero(folds == f) for f in range(FOLDS)]
        self.tell = self._telling()
        self._kept: dict[Any, Array] = {}

    def _telling(self) -> Rows:
        """The rows with the weights they are compared by: none for a row whose class no other fold has."""
        codes, weights = self.rows.part(0, len(self.rows))
        by_fold = np.zeros((FOLDS, len(self.rows.classes)))
        np.add.at(by_fold, (self.folds, codes), weights)
        elsewhere = (by_fold.sum(axis=0) - by_fold)[self.folds, codes] > 0
        return Rows(self.rows.classes, codes, np.where(elsewhere, weights, 0.0))

    def scores(self, piece: Piece) -> Array:
        """log p(x | c) of every row, up to a constant per row.  # → (n, K)

        Each under the sums of all others; where the classes choose the bins, under bins and sums of the other folds.
        """
        key = (piece.family, piece.columns, piece.reads, piece.codings)
        if key not in self._kept:
            X = piece.matrix(self.frame)
            if isinstance(piece.family, Binned):
                self._kept[key] = self.over(self.models(piece, X), [None])[0]
            else:
                model = Model.empty(piece.family, piece.names).learn(X, self.rows)
                self._kept[key] = bounded(model.left_out(X, self.rows, np.zeros_like, one=True).left)
        return self._kept[key]

    def joint_scores(self, piece: Piece, X: Array, many: bool) -> Callable[[Families], list[Array]]:
        """The scores under several settings of a joint piece: leave-one-out, or by folds where rows have holes."""
        if np.isnan(X).any():
            models = [(_completed(model), here, x) for model, here, x in self.models(piece, X)]
            return lambda families: self.over(models, families)
        stats = replace(_joint(), pooled=many).collect(X, self.rows, piece.names)
        made: dict[float, Any] = {}

        def scores(families: Families) -> list[Array]:
            out: list[Array] = []
            for family in families:
                if family.tie not in made:
                    made[family.tie] = family.downdates(X, self.rows.one_of_each(), stats)
                out.append(bounded(LeftOut(made[family.tie].log_densities([family.shrinkage])[0])))
            return out

        return scores

    def models(self, piece: Piece, X: Matrix) -> list[tuple[Model, Places, Matrix]]:
        """For every fold: the model of all other folds, the fold's rows, and their columns."""
        out = []
        for f, here in enumerate(self.where):
            if len(here) and len(here) < len(self.folds):
                others = np.flatnonzero(self.folds != f)
                model = Model.empty(piece.family, piece.names).learn(X[others], self.rows.some(others))
                out.append((model, here, X[here]))
        return out

    def over(self, models: list[tuple[Model, Places, Matrix]], families: Sequence[Family | None]) -> list[Array]:
        """The scores of all rows under several settings of a family that keep the same sums; None: as it is."""
        out = [np.zeros((len(self.rows), len(self.rows.classes))) for _ in families]
        for model, here, X in models:
            places = np.array([self.rows.classes.position[c] for c in model.classes])
            for family, scores in zip(families, out, strict=True):
                solved = replace(model, family=family or model.family).solved(np.zeros(len(model.classes)))
                known = solved.scores(X)
                scores[here] = known.min(axis=1, keepdims=True)  # of classes that no other fold has
                scores[np.ix_(here, places)] = known
        return [bounded(LeftOut(s)) for s in out]


def _completed(model: Model) -> Model:
    """The model with rows completed once, for whatever settings are then tried."""
    family: Any = model.family
    return replace(model, stats=family.completed(model.sums, model.columns))


# --- the choice


def select(schema: Schema, frame: Frame, rows: Rows) -> tuple[Schema, Selection]:
    """The pool of structures that explains rows left out best: the schema of their pieces, and what was tried."""
    look = rows.weighty(MOST_ROWS)
    if len(look) < frame.n_rows:
        frame, rows = frame.rows(look), rows.some(look).with_weight()
    counts = rows.counts()
    with np.errstate(divide="ignore"):
        log_prior = np.log(counts / counts.sum())
    held = Held(frame, rows, folds_of(frame, schema, rows))
    if not held.tell.counts().any():
        return schema, Selection((), ((NAIVE, "", 1.0),), np.nan)
    tried: list[Tried] = []
    best: list[tuple[Structure, Array, Tried]] = []
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        for structure in structures(schema, frame, rows):
            options = _options(structure, held, log_prior)
            tried += [t for _, _, t in options]
            best.append(min(options, key=lambda option: round(option[2].loss, 9)))
    return _pooled(schema, best, log_prior, held.tell, tried)


def _options(structure: Structure, held: Held, log_prior: Array) -> list[tuple[Structure, Array, Tried]]:
    """A structure under several settings, with the scores of rows left out: how far tied first, then how far shrunk.

    Covariances are tied less and less while that helps.  With p numbers and n rows that have both of a pair,
    correlations err by about 1/√n each, and shrinkage is no less than p/2n.
    """
    alone = [held.scores(p) for i, p in enumerate(structure.pieces) if i != structure.joint]
    rest = np.sum(alone, axis=0) if alone else np.zeros((len(held.rows), len(held.rows.classes)))

    def option(pieces: tuple[Piece, ...], settings: str, scores: Array) -> tuple[Structure, Array, Tried]:
        beta, loss = powers([scores], log_prior, *held.tell.part(0, len(held.tell)))
        return replace(structure, pieces=pieces), scores, Tried(structure.name, settings, loss, float(beta[0]))

    if structure.joint is None:
        return [option(structure.pieces, "", rest)]
    at, piece = structure.joint, structure.pieces[structure.joint]
    many = len(held.rows.classes) * len(piece.names) ** 2 > MOST_ROOM
    base = replace(_joint(), pooled=many)
    piece, X = _scaled(replace(piece, family=base), piece.matrix(held.frame), held.rows)
    scores_of = held.joint_scores(piece, X, many)
    found: list[tuple[Structure, Array, Tried]] = []

    def attempt(families: Sequence[MultivariateGaussian]) -> MultivariateGaussian:
        for family, scores in zip(families, scores_of(families), strict=True):
            pieces = (*structure.pieces[:at], replace(piece, family=family), *structure.pieces[at + 1 :])
            settings = f"tie={family.tie:g}, shrinkage={family.shrinkage:g}"
            found.append(option(pieces, settings, scores + rest))
        best = min(found, key=lambda option: round(option[2].loss, 9))
        return best[0].pieces[at].family  # type: ignore[return-value]

    least = min(SHRINKAGES[-1], len(piece.names) / (2 * _seen_together(X, held.rows)))
    first, *others = dict.fromkeys(max(s, least) for s in SHRINKAGES)
    for tie in TIES if not many else TIES[:1]:
        best = attempt([replace(base, tie=tie, shrinkage=first)])
        if best.tie != tie:
            break
    attempt([replace(best, shrinkage=s) for s in others])
    return found


def _seen_together(X: Array, rows: Rows) -> float:
    """In how many rows a pair of columns is there, on average over the pairs; at least 1."""
    there, weights = ~np.isnan(X), rows.part(0, len(rows))[1]
    return max(1.0, float(weights @ there.sum(axis=1) ** 2) / X.shape[1] ** 2)


def _pooled(
    schema: Schema, best: list[tuple[Structure, Array, Tried]], log_prior: Array, rows: Rows, tried: list[Tried]
) -> tuple[Schema, Selection]:
    """Powers for the best of every structure together; those that add nothing are left out."""
    kept = best
    beta, loss = powers([s for _, s, _ in kept], log_prior, *rows.part(0, len(rows)))
    while len(kept) > 1 and beta.min() < WORTH:
        weak = int(np.argmin(beta))
        kept = [k for m, k in enumerate(kept) if m != weak]
        beta, loss = powers([s for _, s, _ in kept], log_prior, *rows.part(0, len(rows)))
    by_name = {s.name: float(b) for (s, _, _), b in zip(kept, beta, strict=True)}
    plain = tuple(replace(p, power=by_name.get(NAIVE, 0.0)) for p in schema.pieces)  # kept in any case: the density
    others = tuple(replace(p, power=by_name[s.name]) for s, _, _ in kept if s.name != NAIVE for p in s.pieces)
    pieces = (*plain, *others)
    pool = tuple((t.name, t.settings, float(b)) for (_, _, t), b in zip(kept, beta, strict=True))
    return replace(schema, pieces=pieces, n_plain=len(plain)), Selection(tuple(tried), pool, loss)
