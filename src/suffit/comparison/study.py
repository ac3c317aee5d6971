"""Models side by side on the same rows: held-out scores, error against training size, and robustness."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from ..data.arrays import Array, Cells, Codes
from ..data.frame import Template, form_to_read, read_frame, table_form
from ..data.inputs import LabelsLike, TableLike
from ..data.rows import Rows
from ..data.settings import integer
from ..data.validate import read_labels
from ..kernels.runtime.threads import one_blas_thread
from .matrix import TableMatrix, has_missing
from .models import adds_up, fills_missing, fitted, read_models
from .progress import Steps, shown
from .result import Comparison, Curves, Held
from .rows import Places, Table, at_most, check_classes, curve_sizes, folds_of, growing, noisy, padded
from .scores import SCORES, scored

SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)  # of labels, rows or cells that are tampered with
CURVE_ROWS, CURVE_TESTED, CURVE_REPEATS = 4000, 4000, 5  # the most that learning curves learn and test, and how often
ROBUST_ROWS, ROBUST_TESTED, ROBUST_REPEATS = 500, 1000, 2
FEWEST = 16  # rows that a learning curve begins with


def compare(
    X: TableLike,
    y: LabelsLike,
    models: str | Sequence[str] | Mapping[str, object] = "default",
    *,
    folds: int = 5,
    repeats: int = 1,
    curves: bool = True,
    robustness: bool = True,
    random_state: int = 0,
    progress: bool | Callable[[int, int, str], None] | None = None,
) -> Comparison:
    """Compare generative and discriminative models on the same rows, and say in words what came out.

    Parameters
    ----------
    X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        Numbers and categories, with or without missing values.
    y : array-like of shape (n_samples,)
        Labels of any kind.
    models : "default", list of str or dict of estimators
        "default": LDA, QDA, naive Bayes and GenerativeClassifier beside scikit-learn's logistic regression, perceptron
        and linear SVM, the last two calibrated for probabilities; or some of these by name.  A dict may hold any
        classifiers with ``predict_proba``; they get the table as a dict of columns or a data frame.
    folds : int
        Stratified folds that are held out in turn.
    repeats : int
        How often, with other folds each time.
    curves : bool
        Whether to measure the error against the number of rows learned, up to 4,000.
    robustness : bool
        Whether to measure the error with wrong labels, outliers and missing values among the rows learned.
    random_state : int
        The same folds and samples for the same number.
    progress : bool, function or None
        A bar on the terminal; by default where there is one.  A function is called with steps done, all steps, and
        what is being done.

    Returns
    -------
    Comparison
        ``to_frame()``, ``curves``, ``robustness``, ``confusion``, ``verdict`` and ``plot()``.

    See Also
    --------
    simulate : Data for which the best possible error is known.

    Notes
    -----
    Models of scikit-learn see numbers that are scaled and categories as indicators, missing values filled with the
    median, or with no indicator at all; LDA and QDA see the same with the missing values missing.  Folds of LDA and QDA
    are taken away from the sums of all rows, and their learning curves are one pass.

    Examples
    --------
    >>> import suffit
    >>> X, y = suffit.simulate("gaussian", separation=2.0).sample(300, random_state=0)
    >>> result = suffit.compare(X, y, ["LDA", "logistic regression"], curves=False, robustness=False)
    >>> result.held["LDA"].mean["accuracy"] > 0.8
    True
    """
    folds, repeats = integer(folds, "compare: folds", 2), integer(repeats, "compare: repeats", 1)
    chosen = read_models(models)
    frame, labels = read_frame(X), read_labels(y, "compare")
    if frame.n_rows != len(labels):
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{frame.n_rows}, {len(labels)}]")
    rows = Rows.of(labels)
    classes = np.array(rows.classes.labels, dtype=None if labels.dtype.kind != "O" else object)
    check_classes(rows.codes, classes, folds)
    study = Study(Table(frame), rows.codes, classes, form_to_read(table_form(X)), random_state)
    steps = len(chosen) * (repeats + (CURVE_REPEATS if curves else 0) + (ROBUST_REPEATS * 3 if robustness else 0))
    with shown(progress, steps) as step, _silent(), one_blas_thread():  # more of them wait for each other, mostly
        held = {name: study.held_out(model, folds, repeats, name, step) for name, model in chosen.items()}
        curve = study.learning_curves(chosen, step) if curves else None
        robust = study.robustness(chosen, step) if robustness else {}
    filled = tuple(name for name, model in chosen.items() if fills_missing(model)) if has_missing(X) else ()
    return Comparison(classes, frame.n_rows, held, curve, robust, filled, study.form)


class Study:
    """The rows, and how one model after another does on them."""

    def __init__(self, table: Table, codes: Codes, classes: Cells, form: str, seed: int) -> None:
        self.table, self.codes, self.classes, self.form, self.seed = table, codes, classes, form, seed
        self._matrix: Array | None = None

    @property
    def matrix(self) -> Array:
        """The rows as a matrix with its missing values, for models that are sums of such rows."""
        if self._matrix is None:
            self._matrix = TableMatrix(fill=False).fit_transform(dict(self.table.columns))
        return self._matrix

    def held_out(self, model: object, folds: int, repeats: int, name: str, step: Steps) -> Held:
        """The scores of every fold, and what the model decided."""
        found: dict[str, list[float]] = {score: [] for score in (*SCORES, "fit", "predict")}
        K = len(self.classes)
        confusion, P = np.zeros((K, K)), np.zeros((repeats, len(self.codes), K))
        for repeat in range(repeats):
            splits = list(folds_of(self.codes, folds, self.seed + repeat))
            P[repeat], fit, predict = self._probabilities(model, splits)
            for _, test in splits:
                for score, value in scored(P[repeat, test], self.codes[test]).items():
                    found[score].append(value)
            found["fit"].append(fit)
            found["predict"].append(predict)
            np.add.at(confusion, (self.codes, P[repeat].argmax(axis=1)), 1 / repeats)
            step(f"{name}: {folds} folds")
        return Held(found, confusion, P.mean(axis=0))

    def _probabilities(self, model: Any, splits: list[tuple[Places, Places]]) -> tuple[Array, float, float]:
        """Every row under a model that has not seen it, the seconds of a fit and of a prediction of all rows."""
        if adds_up(model):
            P = model[-1].cross_val(self.matrix, self.codes, splits).proba  # before anything is timed: it compiles
            start = time.perf_counter()
            made = clone(model[-1]).fit(self.matrix, self.codes)
            between = time.perf_counter()
            made.predict_proba(self.matrix)
            return P, between - start, time.perf_counter() - between
        P, fits, predicts = np.zeros((len(self.codes), len(self.classes))), [], 0.0
        for train, test in splits:
            start = time.perf_counter()
            made = fitted(model, self._given(self.table.rows(train)), self.codes[train])
            between = time.perf_counter()
            P[test] = self._predicted(made, self._given(self.table.rows(test)))
            fits.append(between - start)
            predicts += time.perf_counter() - between
        return P, float(np.median(fits)), predicts

    def _given(self, columns: dict[str, Any]) -> Any:
        """A table as the models get it."""
        if self.form == "dict":
            return columns
        return Template(self.form, {}).make(columns)

    def _predicted(self, model: Any, X: Any) -> Array:
        known = np.asarray(model.classes_).astype(np.int32)
        return padded(np.asarray(model.predict_proba(X)), known, len(self.classes))

    def learning_curves(self, models: Mapping[str, object], step: Steps) -> Curves:
        """The error on the same rows, of models of more and more of the others."""
        splits = []
        for repeat in range(CURVE_REPEATS):
            rng = np.random.default_rng([self.seed, repeat])
            order = growing(self.codes, np.arange(len(self.codes)), rng)
            cut = min(max(len(order) * 2 // 3, 1), CURVE_ROWS)
            test = order[cut : cut + CURVE_TESTED]
            splits.append((growing(self.codes, order[:cut], rng), test))
        sizes = curve_sizes(max(FEWEST, 4 * len(self.classes)), min(len(train) for train, _ in splits))
        errors = {name: np.full((CURVE_REPEATS, len(sizes)), np.nan) for name in models}
        losses = {name: np.full((CURVE_REPEATS, len(sizes)), np.nan) for name in models}
        for name, model in models.items():
            for r, (train, test) in enumerate(splits):
                for s, P in enumerate(self._grown(model, train, test, sizes)):
                    if P is not None:
                        found = scored(P, self.codes[test])
                        errors[name][r, s], losses[name][r, s] = 1 - found["accuracy"], found["log_loss"]
                step(f"{name}: learning curve")
        return Curves("rows learned", tuple(map(float, sizes)), errors, losses)

    def _grown(self, model: Any, train: Places, test: Places, sizes: list[int]) -> Iterator[Array | None]:
        """The probabilities of the rows tested after so many rows learned; None where a model could not be fitted."""
        if adds_up(model):
            made, before, K = clone(model[-1]), 0, len(self.classes)
            for size in sizes:
                more = train[before:size]
                made.partial_fit(self.matrix[more], self.codes[more])
                before = size
                yield padded(made.predict_proba(self.matrix[test]), made.classes_.astype(np.int32), K)
            return
        X_test = self._given(self.table.rows(test))
        for size in sizes:
            yield self._tried(model, self.table.rows(train[:size]), self.codes[train[:size]], X_test)

    def _tried(self, model: object, columns: dict[str, object], codes: Codes, X_test: object) -> Array | None:
        try:
            return self._predicted(fitted(model, self._given(columns), codes), X_test)
        except (ValueError, np.linalg.LinAlgError):  # too few rows of a class for it, say
            return None

    def robustness(self, models: Mapping[str, object], step: Steps) -> dict[str, Curves]:
        """The error with wrong labels, outliers and missing values; the last in the rows tested, too."""
        K, found = len(self.classes), {}
        for what in ("wrong labels", "outliers", "missing values"):
            errors = {name: np.full((ROBUST_REPEATS, len(SHARES)), np.nan) for name in models}
            losses = {name: np.full((ROBUST_REPEATS, len(SHARES)), np.nan) for name in models}
            for name, model in models.items():
                for r in range(ROBUST_REPEATS):
                    rng = np.random.default_rng([self.seed, 99, r])
                    order = rng.permutation(at_most(self.codes, ROBUST_ROWS + ROBUST_TESTED, rng))
                    cut = min(len(order) * 2 // 3, ROBUST_ROWS)
                    train, test = order[:cut], order[cut:]
                    for s, share in enumerate(SHARES):
                        rng = np.random.default_rng([self.seed, 99, r, s])  # the same rows for every model
                        columns, X_test, codes = self.table.rows(train), self.table.rows(test), self.codes[train]
                        if what == "wrong labels":
                            codes = noisy(codes, share, K, rng)
                        elif what == "outliers":
                            columns = self.table.with_outliers(train, share, rng)
                        else:
                            columns = self.table.with_missing(train, share, rng)
                            X_test = self.table.with_missing(test, share, rng)
                        P = self._tried(model, columns, codes, self._given(X_test))
                        if P is not None:
                            scores = scored(P, self.codes[test])
                            errors[name][r, s], losses[name][r, s] = 1 - scores["accuracy"], scores["log_loss"]
                    step(f"{name}: {what}")
            found[what] = Curves(f"share of {what}", SHARES, errors, losses)
        return found


@contextmanager
def _silent() -> Iterator[None]:
    """What models warn of in folds and small samples is not about the user's data."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
