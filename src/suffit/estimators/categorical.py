"""Naive Bayes on columns of categories."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags, check_array
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.family import Family
from ..core.stats import Stats
from ..data.arrays import Array, Cells, Matrix
from ..data.column import ArrayColumn
from ..data.errors import InputError
from ..data.frame import check_unique, frame_names, is_frame, refuse_list_of_texts
from ..data.inputs import TableLike
from ..data.similar import IGNORED, SAMPLE_ROWS, UNKNOWN, some_rows, unknown_values
from ..data.validate import Prior, column_names
from ..data.warn import UnknownCategoryWarning, warn_once
from ..families import Categorical
from ..families.counts.categorical import category_tables
from ..families.counts.scores import CategoricalScorer
from .smoothed import NON_NEGATIVE, SmoothedNB


class CategoricalNB(SmoothedNB):
    """Categorical naive Bayes: columns of categories of any kind, with their conditional probability tables.

    A category never seen, and a missing value (NaN, None), drop out of the sum.  A column of integers 0 … max has
    max + 1 categories, as in scikit-learn.

    Parameters
    ----------
    alpha : float, "loo" or "evidence", default 1.0
        P(category | class) = (rows at the category + α)/(rows + α·categories).  "loo" and "evidence" choose it as in
        :class:`BernoulliNB`.
    force_alpha : bool, default True
        False raises α to at least 1e-10.
    fit_prior : bool, default True
        Whether the class prior is the class shares; otherwise it is uniform.
    class_prior : array-like or dict, optional
        The class prior, instead.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken.
    min_categories : int or array-like of shape (n_features,), optional
        The least number of categories of a column of integers.
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
        log p(class).
    categories_ : list of ndarray
        The categories of each column.
    n_categories_ : ndarray of shape (n_features_in_,)
        Number of categories of each column.
    category_count_ : list of ndarray of shape (n_classes, n_categories)
        Rows at each category in each class, one table per column.
    feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        log P(category | class), one table per column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X was a table with names.
    n_parameters_ : int
        Number of free parameters.
    selection_ : Tuning or None
        What was tried to tune settings, and what was taken.
    calibration_ : Calibration or None
        The calibration of the probabilities, and what it does to leave-one-out scores.

    See Also
    --------
    GenerativeClassifier : Tables with numbers, too.
    Binned : Numeric columns in bins.

    Examples
    --------
    >>> X = [["red", "S"], ["red", "M"], ["blue", "M"], ["green", None]]
    >>> model = CategoricalNB().fit(X, ["no", "no", "yes", "yes"])
    >>> model.categories_[0].tolist(), model.predict([["blue", "XXL"]]).tolist()
    (['blue', 'green', 'red'], ['yes'])
    """

    _accept_sparse = False
    _parameter_constraints: ClassVar[dict[str, object]] = {
        **SmoothedNB._parameter_constraints,
        "alpha": [NON_NEGATIVE, StrOptions({"loo", "evidence"})],
        "min_categories": [None, "array-like", Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        alpha: float | str | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Prior = None,
        min_categories: int | ArrayLike | None = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    def _family(self, n_features: int) -> Family:
        least = self.min_categories
        if least is not None:
            least = np.asarray(least)
            if not np.issubdtype(least.dtype, np.integer):
                raise ValueError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
            if least.ndim and least.shape != (n_features,):
                raise ValueError(
                    f"'min_categories' should have shape ({n_features},) when an array-like is provided. Got "
                    f"{least.shape} instead."
                )
            least = tuple(least.tolist()) if least.ndim else int(least)
        alpha = self._check_alpha(n_features)
        return Categorical(alpha=alpha if isinstance(alpha, str) else float(alpha), least_categories=least)

    def _read_X(self, X: Any) -> Cells:
        given = X
        if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "iu" and X.size:
            return X
        refuse_list_of_texts(X)
        if isinstance(X, (list, tuple)):
            cells = np.array(X, dtype=object)
            numbers = cells.ndim != 2 or all(isinstance(v, (Real, type(None))) for v in cells.reshape(-1))
            X = np.array(X) if numbers and not (cells == None).any() else cells  # noqa: E711  (elementwise)
            if X.dtype.kind == "f" and all(isinstance(v, Integral) for v in cells.reshape(-1)):
                X = cells  # some are int64 alone, some uint64 alone
        elif is_frame(X):
            check_unique(frame_names(X))
            X = _cells(X)
        if getattr(X, "dtype", None) is not None and X.dtype.kind in "OUS":
            if X.ndim != 2 or 0 in X.shape:
                check_array(
                    X, dtype=None, ensure_all_finite=False, estimator=self, input_name="X"
                )  # the usual words for a wrong shape
            _check_cells(X, column_names(given, X.shape[1]))
            return X
        X = check_array(X, dtype=None, accept_sparse=False, ensure_all_finite=False, estimator=self, input_name="X")
        if X.dtype.kind == "f" and np.isinf(X).any():
            i, j = (int(v) for v in np.argwhere(np.isinf(X))[0])
            raise InputError(
                f"Input X contains infinity: column 'x{j}', row {i}; replace it by a category, or by NaN for missing"
            )
        return X

    def _read_X_known(self, X: TableLike) -> Matrix:
        read = cast("Cells", super()._read_X_known(X))
        scorer = self._scorer()
        if scorer.low is None or read.dtype.kind not in "iu":  # integers among integers are quick, and rarely misread
            few = read[some_rows(len(read))] if len(read) > SAMPLE_ROWS else read
            each = zip(self._model.columns, few.T, scorer.positions, strict=True)
            odd = [(name, x, known) for name, x, known in each if not known.keys() >= set(x.tolist())]
            said = [unknown_values(name, ArrayColumn(x), known) for name, x, known in odd]
            if any(said):
                warn_once(UnknownCategoryWarning, UNKNOWN, [text for text in said if text], IGNORED)
        return read

    def _read_X_more(self, X: TableLike) -> Matrix:
        return super()._read_X_known(X)

    def _scorer(self) -> CategoricalScorer:
        return cast("CategoricalScorer", self._solved.scorer)

    def _typical_rows(self, n: int) -> Matrix:
        missing = np.full((n, len(self._model.columns)), None, dtype=object)
        return self._scorer().filled(missing, np.eye(n, len(self._model.classes)))

    @property
    def categories_(self) -> list[Cells]:
        """The categories of each column."""
        out = []
        for categories in self._scorer().categories:
            kinds = {type(v) for v in categories}
            values: Cells = np.array(categories) if len(kinds) <= 1 else np.empty(0)
            if len(kinds) > 1 or (kinds == {int} and values.dtype.kind == "f"):  # no type of NumPy holds them all
                objects = np.empty(len(categories), dtype=object)
                objects[:] = categories
                values = objects
            out.append(values)
        return out

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of categories of each column."""
        return np.array([len(v) for v in self._scorer().categories])

    @property
    def category_count_(self) -> list[Array]:
        """Rows at each category in each class, one table per column."""
        return category_tables(cast("Stats", self._model.sums), self._scorer().categories)

    @property
    def feature_log_prob_(self) -> list[Array]:
        """log P(category | class), one table per column."""
        scorer = self._scorer()
        return [np.where(z > 0, -np.inf, t) for t, z in zip(scorer.tables, scorer.never, strict=True)]

    @property
    def feature_count_(self) -> Array:
        """Not there: the counts of categorical columns are in ``category_count_``."""
        raise AttributeError("CategoricalNB has category_count_, one table per column, instead of feature_count_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        return tags


def _cells(frame: Any) -> Cells:
    """A data frame as an array of its cells: numbers where all columns are, else Python values."""
    import narwhals as nw

    native = nw.from_native(frame, eager_only=True)
    columns = [column.to_numpy() for column in native.iter_columns()]
    if columns and all(c.dtype.kind in "iu" for c in columns):
        return np.column_stack(columns)
    out = np.empty((len(native), len(columns)), dtype=object)
    for j, column in enumerate(native.iter_columns()):
        out[:, j] = column.to_list()
    return out


def _check_cells(X: Cells, columns: Sequence[str]) -> None:
    """Refuse cells that are no categories: lists and the like, and infinities."""
    if X.dtype.kind != "O":
        return
    for i, row in enumerate(X):
        for j, v in enumerate(row):
            if isinstance(v, float) and np.isinf(v):
                raise InputError(
                    f"Input X contains infinity: column {columns[j]!r}, row {i}; "
                    "replace it by a category, or by None for missing"
                )
            try:
                hash(v)
            except TypeError as error:
                raise InputError(
                    f"column {columns[j]!r}: a category must be a single value, found {type(v).__name__} in row {i}; "
                    f"make it one value per cell. argument must be a string or a number ({error})"
                ) from None
