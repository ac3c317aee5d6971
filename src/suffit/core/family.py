"""The contract of a family, what a solved family can do, and the registry of families.

A family is a frozen object holding settings (smoothing, thresholds).  It knows how to ``collect`` sums from
rows and how to solve sums into a :class:`Scorer`.  Everything is one formula,

    log p(x | c) = T(x)·Θ_c − A_c + log h(x),

so the posterior is logistic in T(x) whatever the family.
"""

from __future__ import annotations

import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Generic, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ..data.arrays import Array, Codes, Csr, Matrix, csr, is_sparse
from ..data.errors import check_finite
from ..data.rows import Rows
from ..data.validate import UNNAMED, OfColumns
from ..data.warn import no_warnings
from ..kernels.runtime.threads import READ_CELLS, entry_blocks, every, row_blocks
from .leave_one_out import LooScores
from .logistic import LogisticForm
from .stats import Stats, Sums

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EMPTIED = 1e-9  # a count that a subtraction leaves below this share of what it was is 0


# Kinds of columns that a family may ask to be chosen for: integers; numbers above 0; any other numbers, too.
CANDIDATE_KINDS = INTEGER, POSITIVE, CONTINUOUS = "integer", "positive", "continuous"


Data = TypeVar("Data", bound=Matrix)  # the rows that a family takes
SumsT = TypeVar("SumsT", bound=Sums)  # and what it keeps of them


Between = Callable[[int, int], Array]  # of two classes a, b: E_a[part_j] − E_b[part_j] of every column of the model


class Terms(NamedTuple):
    """log p(x | a) − log p(x | b) of every row as a sum: what each column adds, and what belongs to none of them."""

    columns: Array | Csr  # (n, p); CSR for sparse rows, then without what a row of zeros would add
    rest: Array  # (n,)
    never: Terms | None = None  # where smoothing is 0: events of probability 0 under a, less those under b


class ParameterValues(NamedTuple):
    """One parameter of several columns (or of a category, or a pair of columns, of each) in every class."""

    name: str
    columns: Sequence[str]
    values: Array  # (K, len(columns))


class Scorer(ABC, Generic[Data, SumsT]):
    """A solved family: log p(x | c) of every class, and the model read backwards."""

    key: str = "the family"  # as errors call it
    n_parameters: int
    takes_missing: bool = False  # whether a NaN is a missing value that drops out
    comparable: bool = True  # whether the densities of any two rows can be compared
    columns: Sequence[str] = UNNAMED  # the names of its columns

    n_classes: int
    cells: int = READ_CELLS  # size of the row blocks that scoring goes by
    scores_at_once: int = 1 << 16  # rows × classes, where the scores are not what is asked for

    @abstractmethod
    def score_rows(self, X: Data, start: int, stop: int, out: Array) -> None:
        """log p(x | c) − log h(x) of the rows [start, stop), up to a constant per row.  # out: (stop − start, K)"""

    def blocks(self, X: Data) -> list[tuple[int, int]]:
        """The row ranges that scoring goes by."""
        return entry_blocks(X.indptr) if is_sparse(X) else row_blocks(X.shape[0], X.shape[1], self.cells)

    def scores(self, X: Data) -> Array:
        """The scores of all rows.  # → (n, K)"""
        X = cast("Data", csr(X)) if is_sparse(X) else X
        out = np.empty((X.shape[0], self.n_classes))
        every(lambda a, b: self.score_rows(X, a, b, out[a:b]), self.blocks(X))
        return out

    def surely_valid(self, X: Data) -> bool:
        """Whether a quick look shows that these dense rows can be scored; False: look properly."""
        return False

    def row_kernel(self, log_prior: Array) -> tuple[Callable[..., object] | None, tuple[Array, ...]]:
        """A compiled posterior of one dense row, kernel(row, *parameters, out), and its parameters; or None."""
        return None, ()

    def log_base(self, X: Data) -> Array:
        """What ``scores`` leaves out of log p(x | c): log h(x), the same for all classes.  # → (n,)"""
        return np.zeros(X.shape[0])

    limited: bool = False  # whether some class gives an event probability 0, so that posteriors are limits

    def impossible_rows(self, X: Data, start: int, stop: int, out: Array) -> None:
        """How many events of probability 0 each class would have to explain.  # out: (stop − start, K)

        With smoothing α → 0 an event of probability 0 costs log α.  The limit of the posterior goes to the
        classes with the fewest such events; ``scores`` holds the finite rest of the logarithms.

        Wherever the package counts such events it is for N3 of the specification (tests/specification): with α = 0 the
        answer is the limit, or a clear error, never NaN.  Predictions, leave-one-out, explanations, forms and
        summaries give the limit; SQL and ``to_sklearn``, which cannot write it down, an error.
        """
        out[:] = 0.0

    def impossible(self, X: Data) -> Array | None:
        """The events of all rows; None: there are none.  # → (n, K)"""
        if not self.limited:
            return None
        X = cast("Data", csr(X)) if is_sparse(X) else X
        out = np.empty((X.shape[0], self.n_classes))
        every(lambda a, b: self.impossible_rows(X, a, b, out[a:b]), self.blocks(X))
        return out

    @abstractmethod
    def sample(self, codes: Codes, rng: np.random.Generator) -> Data:
        """One row drawn from the class of each code.  # (n,) → (n, p)"""

    @property
    def centres(self) -> Array:
        """The mean of every column in every class.  # → (K, p)"""
        raise NotImplementedError(f"{type(self).__name__} has no means")

    def typical(self, n: int) -> Array:
        """The means of the first n classes, as rows that can be scored.  # → (n, p)"""
        return self.centres[:n]

    def parameters(self) -> list[ParameterValues]:
        """What was fitted, by the names that textbooks have for it."""
        return [ParameterValues("mean", self.columns, self.centres)]

    def filled(self, X: Data, posterior: Array) -> Data:
        """Missing values as their means given the rest of the row, mixed over the classes.  # (n, K) → (n, p)"""
        x = np.asarray(X)
        return cast("Data", np.where(np.isnan(x), posterior @ self.centres, x))

    def drawn(self, X: Data, codes: Codes, rng: np.random.Generator) -> Data:
        """Missing values drawn given the rest of the row and its class."""
        x = np.asarray(X)
        return cast("Data", np.where(np.isnan(x), np.asarray(self.sample(codes, rng)), x))

    @abstractmethod
    def logistic_form(self) -> LogisticForm:
        """The scores as functions linear in T(x)."""

    additive: bool = True  # whether what a column adds to log-odds depends on its own value alone

    def parts(self, X: Data, a: Codes, b: Codes) -> Terms:
        """log p(x | a) − log p(x | b) column by column, a and b the codes of two classes for each row.

        A missing value adds 0.  The terms sum to the difference of the scores.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what each column adds")

    def log_likelihood(self, stats: SumsT) -> Array | None:
        """Σ log p(x | c) over the rows summed, t·Θ_c − n·A_c, of each class or in all; None: it takes the rows.

        # → (K,) or (1,)
        """
        return None

    def separation(self, stats: SumsT) -> Between:
        """How far every column of the model separates two classes, as a function of these."""
        raise NotImplementedError(f"{type(self).__name__} does not say how its columns separate classes")

    def check(self, X: Data) -> None:
        """Refuse rows outside the support; families whose scores show it by themselves need no check."""

    def check_cells(self, X: Data, rows: NDArray[np.int64]) -> None:
        """Refuse infinities, and missing values where the model takes none, by the number of the row."""
        x = np.asarray(X)
        if x.dtype.kind == "f":
            for i, row in enumerate(rows):
                check_finite(x[i : i + 1], self.columns, int(row), missing=self.takes_missing)

    def undefined(self, X: Data) -> tuple[str, int, str | None]:
        """The family, the class and the column (None: several) that make the score of this one row NaN."""
        nan = np.isnan(self.scores(X)[0])
        c, other = (np.array([at], np.int32) for at in (nan.argmax(), nan.argmin()))
        with np.errstate(all="ignore"):
            terms = self.parts(X, c, other).columns
        found = np.flatnonzero(np.isnan(terms.toarray() if is_sparse(terms) else terms)[0])
        return self.key, int(c[0]), self.columns[found[0]] if len(found) else None

    def drawn_in(self, X: Data) -> Data:
        """Rows too far out to be scored, moved along their ray to where they can be; others unchanged."""
        return X


class Running(ABC):
    """Sums that small batches are added to at once, on the axes of a model's sums; never seen outside."""

    @abstractmethod
    def add(self, X: Matrix, y: NDArray[np.integer]) -> bool:
        """Add rows with their integer labels; False, and nothing added, where they need a closer look."""

    @abstractmethod
    def sums(self) -> tuple[Array, Stats]:
        """Rows of each class, and the sums of the family."""


class Family(OfColumns, ABC, Generic[Data, SumsT]):
    """How a block of columns is distributed given the class: the contract of a family.

    A family is a frozen object with settings.  It must have ``collect`` and ``scorer``; everything else has a default.
    ``suffit.check_family`` checks all that is asked here; where a family refuses plain numbers, a method
    ``example(rng, n)`` gives it n rows to check with.

    Attributes
    ----------
    key : str
        The name of the family.
    statistic : tuple
        What the sums mean: two models can be added where it is equal.  Smoothing is not part of it.
    is_tuned : bool
        Whether nothing is left to choose from data.
    outlier_rate : float
        The probability that the columns of a row carry no information about its class.
    columns : sequence of str
        The names of its columns, which ``of`` sets; no setting.

    See Also
    --------
    check_family : Checks a family against this contract.
    register : Makes a family known by its key.
    Poisson : A family of independent columns, about ten lines.

    Examples
    --------
    >>> from suffit import Poisson
    >>> isinstance(Poisson(alpha=0.5), Family), Poisson.key
    (True, 'poisson')
    """

    key: ClassVar[str]
    outlier_rate: ClassVar[float] = 0.0  # the chance that the columns of a row say nothing of its class
    candidate_for: ClassVar[tuple[str, ...]] = ()  # kinds of columns it may be chosen for: see CANDIDATE_KINDS

    if TYPE_CHECKING:

        @property
        def is_tuned(self) -> bool:
            """Whether nothing is left to choose from data: neither ``tuned`` nor ``tuned_on`` need be called."""

    else:
        is_tuned = True

        def __init_subclass__(cls) -> None:
            super().__init_subclass__()
            if not vars(cls).keys().isdisjoint({"tuned", "tuned_on"}) and "is_tuned" not in vars(cls):
                cls.is_tuned = False  # a way to choose of its own, that says nothing of when it is done

    def having(self, **settings: object) -> Self:
        """The family of the same columns with other settings."""
        return cast("Self", replace(cast("DataclassInstance", self), **settings)).of(self.columns)

    @property
    def statistic(self) -> tuple[object, ...]:
        """What the sums mean.  Two models can be added when this is equal; smoothing is no part of it."""
        return (self.key,)

    def difference(self, other: Family) -> str:
        """In words, how the sums of two families differ whose ``statistic`` is not equal."""
        return " and ".join(textwrap.shorten(repr(family), 100, placeholder="…") for family in (self, other))

    def tuned(self, X: Data, rows: Rows) -> Family:
        """The family with what it must choose before rows can be counted (edges of bins) chosen by these rows."""
        return self

    def tuned_on(self, X: Data, rows: Rows, stats: SumsT) -> Family:
        """The family with what it chooses by scoring rows under their sums (smoothing, shrinkage) chosen by these."""
        return self

    def tuned_as(self, other: Family) -> Family:
        """The family with what it must choose from data fixed as ``other`` has it; itself where nothing is open."""
        return self

    @abstractmethod
    def collect(self, X: Data, rows: Rows) -> SumsT:
        """The sums of these rows.  Refuses values outside the support, naming the column."""

    @abstractmethod
    def scorer(self, stats: SumsT) -> Scorer[Data, SumsT]:
        """Solve sums (+ pseudo-sums) into parameters, ready to score."""

    def leave_one_out(self, X: Data, rows: Rows, stats: SumsT) -> LooScores:
        """Every row under the sums without it; ``rows`` are among those summed, on the classes of ``stats``.

        Here by solving the sums of all the others anew for every row; shapes with a closed form have it instead.
        """
        return self.solved_without(X, rows, stats)

    def approximate_leave_one_out(self, X: Data, rows: Rows, stats: SumsT) -> LooScores:
        """As ``leave_one_out``, or about that where it would take much longer than a fit: to calibrate by."""
        return self.leave_one_out(X, rows, stats)

    def solved_without(self, X: Data, rows: Rows, stats: SumsT) -> LooScores:
        """``leave_one_out`` by solving the sums of all other rows, one row after another; what all sums chose stays."""
        family: Family[Data, SumsT] = self.solvable(stats)
        density, impossible = [], []
        with no_warnings():
            for i in range(len(rows)):
                rest, one = self.sums_without(X, rows, i, stats)
                scorer = family.scorer(rest)
                density.append(scorer.scores(one)[0] + scorer.log_base(one)[0])
                impossible.append(scorer.impossible(one))
        some = [np.zeros((1, len(d))) if z is None else z for d, z in zip(density, impossible, strict=True)]
        never = None if all(z is None for z in impossible) else np.concatenate(some)
        return LooScores(np.array(density).reshape(len(rows), -1), never)

    def sums_without(self, X: Data, rows: Rows, i: int, stats: SumsT) -> tuple[SumsT, Data]:
        """The sums of all rows but row i, and that row as far as they know its columns."""
        one = cast("Data", X[i : i + 1])
        rest = stats - self.collect(one, rows.some(np.array([i])))
        rest = self.without_rounding(stats.like(rest), rest.without_residue(stats, EMPTIED))
        return rest.trimmed(), self.known_part(one, rest)

    def may_warn(self, stats: SumsT) -> bool:
        """Whether solving these sums may warn or refuse: a fit then solves at once, else when first asked."""
        return False

    def solvable(self, stats: SumsT) -> Family[Data, SumsT]:
        """The family with what it chooses from sums chosen by these; itself where there is nothing to choose."""
        return self

    def surely_valid(self, X: Data) -> bool:
        """Whether a quick look shows that ``collect`` will take these rows; False: look properly."""
        return False

    def running(self, stats: SumsT) -> Running | None:
        """Running sums beside these; None where a family has none, and rows are kept to be added up together."""
        return None

    def without_rounding(self, before: SumsT, after: SumsT) -> SumsT:
        """Sums after a subtraction, with squares that are no more than the rounding of those before made 0."""
        return after

    def known_part(self, X: Data, stats: SumsT) -> Data:
        """The columns of X that these sums have: all, but where words come and go."""
        return X

    def check_forgotten(self, before: SumsT, after: SumsT) -> None:
        """Refuse a subtraction that cannot have been a forgetting: sums no set of rows could have."""


_registry: dict[str, type[Family]] = {}


def register(family: type[Family]) -> type[Family]:
    """Class decorator: make a family known by its key, so that settings can name it.

    Parameters
    ----------
    family : type
        A subclass of :class:`Family` with a ``key``.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> sorted(families())[:4]
    ['bernoulli', 'beta', 'binned', 'categorical']
    """
    key = family.key
    unknown = set(family.candidate_for) - set(CANDIDATE_KINDS)
    if unknown:
        raise ValueError(
            f"{key}: candidate_for is {family.candidate_for!r}; the kinds are {', '.join(CANDIDATE_KINDS)}"
        )
    if _registry.get(key, family).__qualname__ != family.__qualname__:
        raise ValueError(f"a family named {key!r} is registered already")
    _registry[key] = family
    return family


def families() -> dict[str, type[Family]]:
    """All registered families by key."""
    from .. import families as _builtin  # noqa: F401  (importing registers them)

    return dict(_registry)


def family_named(key: str) -> type[Family]:
    """The registered family of this name."""
    known = families()
    if key not in known:
        raise ValueError(f"unknown family {key!r}; known: {', '.join(sorted(known))}")
    return known[key]
