"""Does a family keep the contract?  Its statistics, parameters, density, draws and sums, each looked at in turn.

All that is asked of a family is in ``core/family.py``, and for independent columns in ``elementwise/shape.py``.  What
breaks it is mostly silent: a sign in ``solve`` or a forgotten log h(x) still predicts something.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, NoReturn, TypeVar, cast

import numpy as np

from ..core.family import Family, Scorer
from ..core.model import Model
from ..core.solution import Solution
from ..core.stats import Stats
from ..data.arrays import Array, Codes, freeze
from ..data.errors import InputError
from ..data.labels import Index
from ..data.rows import Rows
from .check_density import DRAWS, log_density, sums_to_one
from .columns import IndependentColumns
from .counts.multinomial import MultinomialScorer
from .elementwise.scores import ElementwiseScorer
from .elementwise.shape import Elementwise

Found = TypeVar("Found")

N_ROWS, N_CLASSES, N_COLUMNS = 90, 3, 3
SAME = 1e-7  # relative, of scores that a law says are equal
LABELS = Index.of(tuple("abc"))


@dataclass(frozen=True)
class Case:
    """A family that is looked at, and rows for it: three classes that differ, three columns."""

    family: Family
    X: Array
    codes: Codes
    seed: int

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(f"x{j}" for j in range(self.X.shape[1]))

    def rng(self, stream: int) -> np.random.Generator:
        """Random numbers of one check, whatever the others draw."""
        return np.random.default_rng([self.seed, stream])

    def fail(self, what: str) -> NoReturn:
        """The sentence that says what is wrong."""
        raise AssertionError(f"{type(self.family).__name__}: {what}")

    def model(self, X: Array, codes: Codes, weights: Array | None = None) -> Model:
        """The sums of some rows."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Model.empty(self.family, self.columns).learn(X, Rows(LABELS, freeze(codes), weights))

    def solved(self, model: Model) -> Solution:
        """The parameters of these sums, all classes alike."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.solved(np.zeros(len(model.classes)))

    def scorer(self) -> Scorer:
        """Solved from all rows."""
        return self.solved(self.model(self.X, self.codes)).scorer


def check_family(family: Family | type[Family], seed: int = 0) -> None:
    """Check that a family keeps the contract; the first thing that is wrong is an ``AssertionError`` that says it.

    Looked at are: T(x) and the support, finite parameters (for classes that do not vary and classes without values,
    too), names, draws, that the density sums or integrates to 1 and that draws follow it, and the laws of sums:
    merging, forgetting, weights, missing values, and leave-one-out equal to a refit.

    Parameters
    ----------
    family : Family or type
        A family such as ``Gamma()``, or its class, where that can be made without arguments.
    seed : int
        For the rows and draws that it is tried on.  These are numbers that the family's support takes, and after that
        its own draws; a family with a method ``example(rng, n)`` gives n rows of its own instead.

    Returns
    -------
    None
        Where the family keeps the contract.

    Examples
    --------
    >>> import suffit
    >>> suffit.check_family(suffit.Gamma)

    """
    made = family() if isinstance(family, type) else family
    if not isinstance(made, Family):
        raise AssertionError(f"{type(made).__name__}: a family is a suffit.Family, as Elementwise is")
    case = Case(made, np.zeros((0, N_COLUMNS)), np.arange(N_ROWS, dtype=np.int32) % N_CLASSES, seed)
    _is_a_value(case)
    case = _said(_with_rows, case)
    _said(_statistics, case)
    case = _said(_tuned, case)
    for check in (_refusals, _parameters, _names, _draws):
        _said(check, case)
    case = replace(case, X=_drawn(case))
    for check in (sums_to_one, _means, _likelihood, _merging, _forgetting, _weights, _missing, _leave_one_out):
        _said(check, case)


def _said(check: Callable[[Case], Found], case: Case) -> Found:
    """What a check finds; an error that the family raises itself, with what it was asked for."""
    try:
        return check(case)
    except AssertionError:
        raise
    except Exception as error:
        return case.fail(f"{(check.__doc__ or '').rstrip('.')}: {type(error).__name__}: {error}")


def _is_a_value(case: Case) -> None:
    """A family is a frozen value with a name."""
    family, kind = case.family, type(case.family)
    if not isinstance(getattr(family, "key", None), str) or not family.key:
        case.fail('it has no name; give it key: ClassVar[str] = "…"')
    if not (is_dataclass(family) and cast("Any", kind).__dataclass_params__.frozen):
        case.fail("it can be changed after it was made; decorate it with @dataclass(frozen=True)")
    can_be_found = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
    if can_be_found and pickle.loads(pickle.dumps(family)) != family:
        case.fail("it is another one after pickling; settings must be fields that compare equal")


# --- rows to look at


def _with_rows(case: Case) -> Case:
    """Rows that the family takes: its own example, or the first kind of numbers that its support lets in."""
    rng, family = case.rng(0), case.family
    if hasattr(family, "example"):
        return replace(case, X=family.example(rng, N_ROWS))
    shape, refused = (3 * N_ROWS, N_COLUMNS), ""
    for numbers in (
        1.0 + 1.5 * rng.normal(size=shape),
        rng.gamma(3.0, size=shape),
        rng.beta(3.0, 4.0, size=shape),
        rng.poisson(4.0, size=shape).astype(np.float64),
        1.0 + rng.poisson(4.0, size=shape).astype(np.float64),
    ):
        try:
            if not isinstance(family, IndependentColumns):
                case.model(numbers[: len(case.codes)], case.codes)
            elif np.any(family.outside(numbers)):
                refused = family.support
                continue
            return replace(case, X=_by_class(numbers, case.codes, rng))
        except InputError as error:
            refused = str(error)
    return case.fail(f"it refuses all numbers tried ({refused}); give it a method example(rng, n) of n rows it takes")


def _tuned(case: Case) -> Case:
    """With what the family chooses from data fixed, so that sums of some of the rows mean the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        family = Model.first(case.family, case.columns, case.X, Rows(LABELS, freeze(case.codes))).family
    return replace(case, family=family)


def _by_class(numbers: Array, codes: Codes, rng: np.random.Generator) -> Array:
    """Rows whose classes differ: each has another stretch of the sorted numbers of every column."""
    ordered, out = np.sort(numbers, axis=0), np.empty((len(codes), numbers.shape[1]))
    n = len(codes)
    for c in range(N_CLASSES):
        for j in range(numbers.shape[1]):
            here = codes == c
            out[here, j] = rng.choice(ordered[c * n // 2 : c * n // 2 + 2 * n, j], int(here.sum()), replace=False)
    return out


def _drawn(case: Case) -> Array:
    return case.scorer().sample(case.codes, case.rng(1))


# --- one set of rows


def _statistics(case: Case) -> None:
    """T(x), outside(x) and log_base(x) are one row of numbers for each row of X."""
    family = case.family
    if not isinstance(family, IndependentColumns):
        return
    x = np.asarray(case.X, np.float64)
    n, p = x.shape
    shapes: dict[str, tuple[int, ...]] = {"outside": (n, p), "log_base": (n, p)}
    if isinstance(family, Elementwise):
        shapes = {"T": (n, p, family.order), **shapes}
    with np.errstate(all="ignore"):
        made = {name: np.asarray(getattr(family, name)(x)) for name in shapes}
        first = {name: np.asarray(getattr(family, name)(x[:7])) for name in shapes}
    for name, shape in shapes.items():
        if made[name].shape != shape:
            case.fail(f"{name}(x) of {n} × {p} numbers has the shape {made[name].shape}; it must be {shape}")
        bad = ~np.isfinite(made[name])
        if bad.any():
            at = np.argwhere(bad)[0]
            value = made[name][tuple(at)]
            case.fail(f"{name}(x) is {value} at x = {x[at[0], at[1]]:.6g}, which outside(x) lets in")
        if not np.array_equal(first[name], made[name][:7]):
            case.fail(f"{name}(x) of a row depends on the other rows; sums of batches would not add up")
    if isinstance(family, Elementwise):
        _settings_of_T(case, family)
    if made["outside"].dtype != bool:
        case.fail("outside(x) must be True or False for every value")
    with np.errstate(all="ignore"):
        if np.any(family.outside(np.full((1, p), np.nan))):
            case.fail("outside(NaN) is True; a missing value is in every support, and drops out")


def _settings_of_T(case: Case, family: Elementwise) -> None:
    """Sums can be added where ``statistic`` is equal: T(x) is then the same."""
    for name in (field.name for field in fields(family)):
        value = getattr(family, name)
        if type(value) in (int, float):
            with suppress(ValueError, TypeError), np.errstate(all="ignore"):
                other = family.having(**{name: 2 * value + 1.5})
                if other.statistic == family.statistic and not np.array_equal(other.T(case.X), family.T(case.X)):
                    case.fail(f"T(x) is another for another {name}: make that part of statistic, or sums are added")


def _refusals(case: Case) -> None:
    """Values outside the support are refused, with the name of their column."""
    if not isinstance(case.family, IndependentColumns):
        return
    for value in (-1000.5, -1.0, 0.0, 0.5, 1.0, 2.0, 1000.5):
        x = np.array(case.X[:2], np.float64)
        x[1, -1] = value
        if not case.family.outside(x)[1, -1]:
            continue
        try:
            case.model(x, case.codes[:2])
        except InputError as error:
            if repr(case.columns[-1]) not in str(error):
                case.fail(f"{value:g} is refused without the name of its column: {error}")
        else:
            case.fail(f"{value:g} is outside its support, and learned all the same")


def _parameters(case: Case) -> None:
    """solve() gives finite parameters."""
    same, gone = np.array(case.X), np.array(case.X)
    same[case.codes == 1] = same[np.argmax(case.codes == 1)]
    takes_0 = isinstance(case.family, IndependentColumns) and not case.family.outside(np.zeros((1, 1))).any()
    least = 0.0 * case.X if takes_0 else np.repeat(case.X.min(axis=0, keepdims=True), len(case.X), axis=0)
    one = np.flatnonzero((case.codes != 1) | (np.arange(len(case.codes)) == np.argmax(case.codes == 1)))
    situations = {
        "": (case.X, case.codes),
        " of a class whose rows are all equal": (same, case.codes),
        " of a class of one row": (case.X[one], case.codes[one]),
        " of columns that do not vary": (least, case.codes),
    }
    if case.scorer().takes_missing and gone.dtype.kind == "f":
        gone[case.codes == 1, 0] = np.nan
        situations[" of a class that has no value in a column"] = gone, case.codes
    for situation, (X, codes) in situations.items():
        scorer = case.solved(case.model(X, codes)).scorer
        form = scorer.form if isinstance(scorer, ElementwiseScorer) else None
        for name, value in () if form is None else (("theta", form.theta), ("A", form.A)):
            if not np.isfinite(value).all():
                case.fail(f"solve() gives {name} = {value[~np.isfinite(value)][0]}{situation}; it must be finite")
        if not np.isfinite(scorer.scores(case.X)).all():
            case.fail(f"the scores of rows in its support are not finite{situation}")


def _names(case: Case) -> None:
    """names() has a name for each statistic."""
    form = case.scorer().logistic_form()
    if len(form.names) != form.weights.shape[1]:
        each = f"{form.weights.shape[1] / len(case.columns):g} for each of {len(case.columns)} columns"
        case.fail(f"names() gives {len(form.names)} names for {form.weights.shape[1]} statistics, {each}")


def _draws(case: Case) -> None:
    """draw() gives rows that the family itself takes."""
    X = _drawn(case)
    if X.shape != case.X.shape:
        case.fail(f"draws of {case.X.shape} cells have the shape {X.shape}")
    if X.dtype.kind == "f" and not np.isfinite(X).all():
        case.fail(f"draw() gives {X[~np.isfinite(X)][0]}; draws must be finite")
    try:
        case.model(X, case.codes)
    except InputError as error:
        case.fail(f"draw() gives a value that the support refuses: {error}")


# --- the density


def _means(case: Case) -> None:
    """mean() is the mean of draws, and T(x) of draws has the mean that solve() was given."""
    scorer, sums = case.scorer(), case.model(case.X, case.codes).sums
    if not isinstance(scorer, ElementwiseScorer) or not isinstance(sums, Stats):
        return
    n, t = scorer.family.smooth(sums["n"], sums["t"])
    for c in range(N_CLASSES):
        x = scorer.sample(np.full(DRAWS, c, np.int32), case.rng(10 + c))
        T, given = scorer.family.T(x), t[c] / n[c][:, None]
        if (at := _apart(T, given)) is not None:
            case.fail(f"solve() gives parameters under which the mean of T(x) is {T.mean(axis=0)[at]:.4g}, and it was "
                      f"given t/n = {given[at]:.4g}; the two must be equal")  # fmt: skip
        if not scorer.family.mixes and (at := _apart(x, scorer.centres[c])) is not None:
            mean = x.mean(axis=0)[at]
            case.fail(f"mean() is {scorer.centres[c][at]:.4g}, where draws have a mean of {mean:.4g}")


def _apart(x: Array, mean: Array) -> tuple[int, ...] | None:
    """Where the mean of draws is not this one, whatever chance does."""
    near = np.abs(mean - x.mean(axis=0)) < 6 * (x.std(axis=0) / np.sqrt(len(x)) + 1e-300)
    return None if near.all() else tuple(np.argwhere(~near)[0])


def _likelihood(case: Case) -> None:
    """log_likelihood() of sums is that of the rows."""
    model = case.model(case.X, case.codes)
    scorer = case.solved(model).scorer
    found = scorer.log_likelihood(model.sums)
    if found is None:  # it takes the rows
        return
    each = log_density(scorer, case.X)[np.arange(len(case.codes)), case.codes]
    rows = np.bincount(case.codes, each) if len(found) > 1 else each.sum(keepdims=True)
    if not np.allclose(found, rows, rtol=SAME, atol=SAME):
        case.fail(f"log_likelihood() of the sums is {found.tolist()}, and of the rows {rows.tolist()}")


# --- the laws of sums


def _equal(case: Case, law: str, a: Model, b: Model) -> None:
    """Two models score all rows alike."""
    if a.classes != b.classes:
        case.fail(f"{law}: the classes are {a.classes} instead of {b.classes}")
    one, other = (log_density(case.solved(m).scorer, case.X) for m in (a, b))
    off = np.abs(one - other) / (1 + np.abs(other))
    if not (off <= SAME).all():
        i, c = (int(v) for v in np.argwhere(~(off <= SAME))[0])
        case.fail(f"{law}: log p of row {i} in class {b.classes[c]!r} is {one[i, c]:.8g} instead of {other[i, c]:.8g}")


def _merging(case: Case) -> None:
    """Sums of two batches add up to those of all rows."""
    X, codes = case.X, case.codes
    whole, half = case.model(X, codes), len(codes) // 3
    _equal(case, "merging two batches", case.model(X[:half], codes[:half]) + case.model(X[half:], codes[half:]), whole)
    first, last = np.flatnonzero(codes < 2), np.flatnonzero(codes == 2)
    _equal(case, "merging a new class", case.model(X[last], codes[last]) + case.model(X[first], codes[first]), whole)
    _equal(case, "rows in another order", case.model(X[::-1], codes[::-1].copy()), whole)


def _forgetting(case: Case) -> None:
    """Forgetting undoes learning."""
    X, codes = case.X, case.codes
    for what, some in (("a batch", np.arange(len(codes)) < len(codes) // 3), ("a class", codes == 1)):
        left = case.model(X, codes).forget(X[some], Rows(LABELS, freeze(codes[some])))
        _equal(case, f"forgetting {what}", left, case.model(X[~some], codes[~some]))


def _weights(case: Case) -> None:
    """A weight is a number of repetitions."""
    times = case.rng(4).integers(0, 4, len(case.codes))
    weighted = case.model(case.X, case.codes, times.astype(np.float64))
    repeated = case.model(np.repeat(case.X, times, axis=0), np.repeat(case.codes, times))
    _equal(case, "weights of 0, 1, 2 and 3 against rows that are repeated so often", weighted, repeated)


def _missing(case: Case) -> None:
    """A missing value drops out, at fit and at score."""
    if not case.scorer().takes_missing or case.X.dtype.kind != "f" or isinstance(case.scorer(), MultinomialScorer):
        return
    X, codes = np.array(case.X), case.codes
    nothing = np.full_like(X, np.nan)
    with_missing = case.model(np.concatenate([X, nothing]), np.concatenate([codes, codes]))
    _equal(case, "rows of which everything is missing, beside the others", with_missing, case.model(X, codes))
    scorer = case.scorer()
    of_nothing = scorer.scores(nothing[:1])[0]
    if not np.allclose(of_nothing, of_nothing[0], rtol=0, atol=1e-9):
        case.fail(f"a row of missing values must score all classes alike, and scores {of_nothing.tolist()}")
    if isinstance(case.family, IndependentColumns):
        X[:, 0] = np.nan
        rest = [scorer.scores(np.where(np.arange(X.shape[1]) == j, X, np.nan)) for j in range(1, X.shape[1])]
        if not np.allclose(scorer.scores(X), np.sum(rest, axis=0), rtol=1e-8, atol=1e-8):
            case.fail("a row with a missing value must score as the sum of its other columns")


def _leave_one_out(case: Case) -> None:
    """leave_one_out() is a refit on all other rows."""
    X, codes = case.X, case.codes
    model = case.model(X, codes)
    some = np.arange(0, len(codes), 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = Rows(LABELS, freeze(codes[some]))
        left = case.family.leave_one_out(X[some], rows, model.sums)
    ours = left.log_density if left.impossible is None else np.where(left.impossible > 0, -np.inf, left.log_density)
    for k, i in enumerate(some):
        rest = np.arange(len(codes)) != i
        refit = log_density(case.solved(case.model(X[rest], codes[rest])).scorer, X[i : i + 1])[0]
        off = np.abs(ours[k] - refit) / (1 + np.abs(refit))
        if not (off <= 10 * SAME).all():
            c = int(np.argmax(~(off <= 10 * SAME)))
            case.fail(
                f"leave_one_out() gives row {i} the log-density {ours[k, c]:.8g} in class {LABELS.labels[c]!r}, and a "
                f"fit without it {refit[c]:.8g}"
            )
