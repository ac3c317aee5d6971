"""The model: class counts and blocks of sums, that learn, forget, add up, and are solved when asked."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, Matrix, freeze
from ..data.errors import InputError, NotLearnedError
from ..data.labels import Index
from ..data.rows import Rows
from ..data.warn import no_warnings
from ..kernels.runtime.threads import SMALL_MATRIX, one_blas_thread
from .family import EMPTIED, Family
from .leave_one_out import LooRows, LooScores
from .solution import Solution
from .stats import CLASS, FEATURE, Stats, Sums, layout

CLASS_COUNTS = layout("class-counts", {"n": (CLASS,)})
FADED = 1e-100  # rows, categories and patterns that decay leaves with less weight than this are gone


@dataclass(frozen=True)
class Model:
    """How the columns are distributed given the class, as sums; frozen: its methods return new models.

    Nothing smoothed is stored: ``solved`` adds the prior's pseudo-sums and returns a :class:`Solution`.

    Parameters
    ----------
    family : Family
        Which sums are kept of which columns, and how they are solved.
    counts : Stats
        Rows of each class.
    stats : Stats or BlockSums, optional
        The sums of the family; None before any row.
    pinned : frozenset
        Classes that stay even without rows.

    Attributes
    ----------
    classes : tuple
        The labels, in canonical order.
    columns : sequence of str
        The names of the columns.
    sums : Stats or BlockSums
        The sums; an error where nothing has been learned yet.

    See Also
    --------
    Stats : The sums.
    Family : How they are collected and solved.

    Examples
    --------
    >>> from suffit.families import Gaussian
    >>> from suffit.data.rows import Rows
    >>> X, rows = np.array([[1.0], [2.0], [4.0]]), Rows(Index.of("ab"), np.array([0, 0, 1], np.int32))
    >>> family = Gaussian(smoothing=1e-9)
    >>> model = Model.of(family, ["x"], rows, family.collect(X, rows))
    >>> model.counts["n"].tolist(), (model + model).counts["n"].tolist()
    ([2.0, 1.0], [4.0, 2.0])
    """

    family: Family
    counts: Stats
    stats: Sums | None = None  # Stats, or a BlockSums of them where there are several blocks; None before any row
    pinned: frozenset[Hashable] = frozenset()  # classes that stay even without rows

    @classmethod
    def empty(cls, family: Family, columns: Sequence[str], classes: Sequence[Hashable] = ()) -> Model:
        """A model that has seen nothing yet; ``classes`` are there from the start."""
        index = Index.of(classes)
        counts = Stats(CLASS_COUNTS, {CLASS: index}, {"n": np.zeros(len(index))})
        return cls(family.of(columns), counts, None, frozenset(classes))

    @property
    def columns(self) -> Sequence[str]:
        """The names of the columns."""
        return self.family.columns

    @property
    def sums(self) -> Sums:
        """The sums; refused where nothing has been learned yet."""
        if self.stats is None:
            raise InputError("the model has learned no rows yet")
        return self.stats

    @property
    def classes(self) -> tuple[Hashable, ...]:
        """The labels, in canonical order."""
        return tuple(self.counts.axes[CLASS].labels)

    @classmethod
    def of(
        cls, family: Family, columns: Sequence[str], rows: Rows, stats: Sums, classes: Sequence[Hashable] = ()
    ) -> Model:
        """The model of rows, from their sums; ``classes`` are there even without any."""
        counts = Stats(CLASS_COUNTS, {CLASS: rows.classes}, {"n": rows.counts()})
        model = cls(family.of(columns), counts, stats)._without_empty()
        return cls.empty(family, columns, classes) + model if len(classes) else model

    @classmethod
    def first(
        cls, family: Family, columns: Sequence[str], X: Matrix, rows: Rows, classes: Sequence[Hashable] = ()
    ) -> Model:
        """The model of first rows, which choose what the family leaves open and are added up once."""
        family = family.of(columns)
        if family.is_tuned:
            return cls.of(family, columns, rows, family.collect(X, rows), classes)
        with one_blas_thread(len(columns) < SMALL_MATRIX):
            family = family.tuned(X, rows).of(columns)
            stats = family.collect(X, rows)
            family = family.tuned_on(X, rows, stats)
        return cls.of(family, columns, rows, stats, classes)

    def collected(self, X: Matrix, rows: Rows) -> Model:
        """A model of these rows alone, with the same settings."""
        return replace(Model.of(self.family, self.columns, rows, self.family.collect(X, rows)), pinned=self.pinned)

    def learn(self, X: Matrix, rows: Rows) -> Model:
        """The model with these rows added; the first ones tune the family."""
        if self.stats is None:
            return self + replace(Model.first(self.family, self.columns, X, rows), pinned=self.pinned)
        return self + self.collected(X, rows)

    def forget(self, X: Matrix, rows: Rows) -> Model:
        """The model with these rows taken away; refused where it cannot have learned them."""
        return self - self.collected(X, rows)

    def __add__(self, other: Model) -> Model:
        self._check_alike(other)
        family = self.family.tuned_as(other.family)
        if self.stats is None and not self.pinned:
            return replace(other, family=family.of(other.columns))
        stats = self.stats if other.stats is None else other.stats if self.stats is None else self.stats + other.stats
        counts = self.counts + other.counts
        if stats is not None:
            stats = stats.on({**stats.axes, CLASS: counts.axes[CLASS]})
        # an axis that grows (word ids) brings its column names with it
        family = family.of(max(self.columns, other.columns, key=len))
        return replace(self, family=family, counts=counts, stats=stats, pinned=self.pinned | other.pinned)

    def __sub__(self, other: Model) -> Model:
        self._check_alike(other)
        unknown = [c for c in other.classes if c not in self.counts.axes[CLASS].position]
        if unknown:
            raise InputError(f"forget: class {unknown[0]!r} was never learned; the classes are {list(self.classes)}")
        if other.stats is None or self.stats is None:
            return self
        before, counts, stats = self.counts, self.counts - other.counts, self.stats - other.stats
        short = counts["n"] < -EMPTIED * before["n"]
        if short.any():
            c = int(np.argmax(short))
            gone = other.counts.on(before.axes)["n"][c]
            raise NotLearnedError(f"class {self.classes[c]!r} has learned rows of weight {before['n'][c]:g}", gone)
        self.family.check_forgotten(self.stats.like(stats), stats)
        stats = self.family.without_rounding(self.stats.like(stats), stats.without_residue(self.stats, EMPTIED))
        after = replace(self, counts=counts.without_residue(before, EMPTIED), stats=stats)
        words = stats.axes.get(FEATURE, self.columns)
        if len(words) < len(self.columns):  # as the last document with them went
            after = replace(after, family=self.family.of(self.columns[: len(words)]))
        return after._without_empty()

    def __mul__(self, factor: float) -> Model:
        return replace(self, counts=self.counts * factor, stats=None if self.stats is None else self.stats * factor)

    __rmul__ = __mul__

    def decayed(self, factor: float) -> Model:
        """The model with the weight of every row times ``factor``; what has faded away is gone, as if forgotten.

        Its sums go with it, before they lose their digits in the smallest of numbers.
        """
        less = self * factor
        faint = frozenset(c for c, n in zip(self.classes, less.counts["n"], strict=True) if n < FADED)
        if faint:
            axes = less.counts.axes
            stay = [i for i, c in enumerate(self.classes) if c not in faint]
            stats = less.sums.take(CLASS, stay)
            stats = stats.on({**stats.axes, **axes})  # 0 for what has faded
            less = replace(less, counts=less.counts.take(CLASS, stay).on(axes), stats=stats)
        return replace(less, stats=less.sums.without_traces(FADED))._without_empty()

    def _check_alike(self, other: Model) -> None:
        mine, theirs = self.family.tuned_as(other.family), other.family.tuned_as(self.family)
        if mine.statistic != theirs.statistic:
            raise InputError(f"these models keep different sums and cannot be combined: {mine.difference(theirs)}")

    def _without_empty(self) -> Model:
        """Classes and categories without rows are gone, so that forgetting undoes learning."""
        labels = self.counts.axes[CLASS].labels
        stay = [i for i, (c, n) in enumerate(zip(labels, self.counts["n"], strict=True)) if n > 0 or c in self.pinned]
        counts, stats = self.counts, self.stats
        if len(stay) < len(labels):
            counts = counts.take(CLASS, stay)
            stats = None if stats is None else stats.take(CLASS, stay)
        return replace(self, counts=counts, stats=None if stats is None else stats.trimmed())

    def leave_one_out(
        self, X: Matrix, rows: Rows, prior: Callable[[Array], Array], one: bool = False, nearly: bool = False
    ) -> LooRows:
        """Every row under the model without it; ``prior(n)`` is log p(c) from class counts (n, K).

        ``one``: a row of weight 3 is three rows, of which one is left out.  ``nearly``: about that, where there is no
        closed form (joint columns with missing values).
        """
        rows = self._known(rows)
        gone = rows.one_of_each() if one else rows
        codes, weights = gone.part(0, len(rows))
        n = np.repeat(self.counts["n"][None], len(rows), axis=0)
        each = np.arange(len(rows))
        short = weights > n[each, codes] * (1 + EMPTIED)
        if short.any():
            i = int(np.argmax(short))
            raise InputError(
                f"leave-one-out: class {self.classes[codes[i]]!r} has learned less than the weight of row {i}, found "
                f"{weights[i]:g}; give rows that were learned, with the weights they had"
            )
        n[each, codes] -= weights
        n[np.abs(n) <= EMPTIED * self.counts["n"]] = 0.0
        if not n.any(axis=1).all():
            i = int(np.argmin(n.any(axis=1)))
            raise InputError(f"leave-one-out: row {i} is the only one that was learned (n_samples=1); learn more rows")
        with one_blas_thread(len(self.family.columns) < SMALL_MATRIX):
            find = self.family.approximate_leave_one_out if nearly else self.family.leave_one_out
            left = find(X, gone, self.sums)
        left, scores = self._finite(left, n > 0, X, gone)
        return LooRows(left, prior(n), rows, scores, self.family.outlier_rate)

    def _finite(self, left: LooScores, known: NDArray[np.bool_], X: Matrix, gone: Rows) -> tuple[LooScores, Array]:
        """The scores without NaN, and with a finite maximum in every row: of rows too far out by solving without them.

        ``known``: the classes that have other rows.  A score that is NaN then, too, is an error.
        """
        density = np.where(known, left.log_density, -np.inf)
        lost = np.flatnonzero(~np.isfinite(density.max(axis=1, initial=-np.inf)) & known.any(axis=1))
        if not len(lost):
            return left, left.log_density
        scores, family = left.log_density.copy(), self.family.solvable(self.sums)
        with no_warnings():
            for i in lost.tolist():
                rest, one = self.family.sums_without(X, gone, i, self.sums)
                no_prior = np.where(known[i], 0.0, -np.inf)
                scores[i] = Solution(self.classes, no_prior, family.scorer(rest)).scores(one, first_row=i)[0]
        return left._replace(log_density=np.where(np.isnan(density), -np.inf, left.log_density)), scores

    def check_learned(self, X: Matrix, rows: Rows) -> None:
        """Refuse rows that cannot all have been learned: what a forgetting of them would refuse."""
        self._known(rows)
        try:
            with no_warnings():
                self.forget(X, rows)
        except NotLearnedError as error:
            raise error.of_leave_one_out() from None

    def _known(self, rows: Rows) -> Rows:
        """The same rows with codes into the classes of the model."""
        if rows.classes is self.counts.axes[CLASS]:  # it is the model of these rows
            return rows
        _, weights = rows.part(0, len(rows))
        used = rows.classes.take(np.unique(rows.codes[weights > 0]))
        unknown = [c for c in used.labels if c not in self.counts.axes[CLASS].position]
        if unknown:
            raise InputError(
                f"leave-one-out: class {unknown[0]!r} was never learned; the classes are {list(self.classes)}"
            )
        place = self.counts.axes[CLASS].positions_of(rows.classes).astype(np.int32)
        return Rows(self.counts.axes[CLASS], freeze(np.maximum(place[rows.codes], 0)), rows.weights)  # −1: weight 0

    def solved(self, log_prior: Array, power: float = 1.0, outlier_rate: float | None = None) -> Solution:
        """Parameters from sums; ready to score.  The outlier rate is the family's own where none is given."""
        with one_blas_thread(len(self.family.columns) < SMALL_MATRIX):
            scorer = self.family.scorer(self.sums)
        outlier_rate = self.family.outlier_rate if outlier_rate is None else outlier_rate
        return Solution(self.classes, log_prior, scorer, power, outlier_rate)
