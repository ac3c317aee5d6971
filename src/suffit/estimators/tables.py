"""One estimator for a whole table: mixed columns, missing values, and the model run backwards."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from ..core.family import Family
from ..core.model import Model
from ..core.solution import Solution
from ..core.stats import CLASS, BlockSums
from ..data.arrays import Array, Cells, Matrix, RowsOfBlocks
from ..data.column import ArrayColumn
from ..data.errors import InputError
from ..data.frame import Frame, Template, read_frame
from ..data.inputs import ClassesLike, LabelsLike, RandomState, TableLike, WeightsLike
from ..data.printed import made_for
from ..data.rows import Rows
from ..data.similar import IGNORED, SAMPLE_ROWS, UNKNOWN, some_rows, unknown_values
from ..data.validate import Prior, class_codes, common_dtype, generator, read_known_labels, read_weight
from ..data.warn import ABSENT, DataWarning, UnknownCategoryWarning, warn_once
from ..explain.parameters import BlockParameters
from ..explain.terms import Explanation
from ..families.counts.categorical import Categorical
from ..families.counts.scores import CategoricalScorer
from ..families.counts.text_scores import TextScorer, most_telling
from ..families.product import Product, ProductScorer
from ..families.tuning import Tuning
from ..kernels.runtime.threads import SMALL_MATRIX, one_blas_thread
from ..posterior.novelty import ScoredBlock
from ..tables.backwards import drawn_columns, no_values, table_columns, typical_values
from ..tables.column_family import apart, choose
from ..tables.column_family_loo import CRITERIA
from ..tables.feature_selection import columns_that_help
from ..tables.row_sample import sample
from ..tables.schema import Schema, TableRows
from ..tables.structures import NAIVE, Guard, Proposal, Proposals, Selection, Wanted, nothing_to_compare, select
from ..tables.translation import in_common
from ..text.documents import Texts
from .base import GenerativeEstimator
from .checks import check_same_classes, check_same_families, check_same_settings, declared_classes
from .fitted import OneRow

FEW_FIRST = 40  # rows of a first batch below which no structure is chosen by them, as later rows could not undo it
TOO_FEW = (
    "is too small to choose a structure: columns are taken as independent given the class, in all batches; start with "
    f"{FEW_FIRST} rows or more, or set structure='naive'"
)
UNSAID = {False: (), True: (ABSENT,)}  # remarks that are superfluous where missing values are evidence
FIXED_FIRST = ("columns", "structure", "criterion", "select", "missing", "unknown")  # settings that the first rows fix


class GenerativeClassifier(GenerativeEstimator):
    """A generative classifier for tables: numbers, categories, booleans, and missing values.

    Every column gets a family of its own, chosen from its values or set by the user, and blocks of columns are
    independent of each other given the class.  Missing values are marginalised exactly, at fit and at prediction.

    Parameters
    ----------
    columns : "auto", dict, list of pairs or Schema, default "auto"
        Which family a column has: ``{"age": Gaussian(), "city": Categorical(alpha=0.5), ("height", "weight"):
        MultivariateGaussian(), "hour": VonMises(period=24), "id": "drop"}``.  Keys are column names, tuples of names
        (a joint block), or selectors: a function of the table such as scikit-learn's ``make_column_selector``, or a
        selector of narwhals (which cannot be a key of a dict: give a list of pairs, ``[(selector, family), …]``).
        Values are family objects, their names, "auto" or "drop".  Columns not named are "auto".  The ``schema_`` of
        another model is used as it is, blocks, bins and weights included, so that models of parts of a table can be
        merged; ``criterion``, ``structure``, ``select``, ``missing`` and ``unknown`` are then its own.
    structure : {"auto", "naive", "partitions", "densities"}, default "auto"
        How columns depend on each other given the class.  "naive": not at all, beyond the joint blocks of ``columns``.
        "partitions" (where ``columns`` is "auto"): by trees alone, whose leaves are counted for each class.
        "auto" (where ``columns`` is "auto" too): several structures are compared by leave-one-out loss, and the best
        are pooled, p(c | x) = (1 − ε) q + ε p(c) with q ∝ p(c) Π_m p_m(x | c)^β_m: the weights β correct their
        over-confidence, and ε is the outlier rate, the probability that the columns of a row carry no information about
        its class.  Densities, draws and imputation are those of the structure with the best leave-one-out density,
        ``selection_.density``.  "densities": the same without trees, so that all of the model can be written as SQL.
        In ``partial_fit`` the first batch decides, if it has forty rows or more; else it is "naive".
    criterion : {"bic", "loo"}, default "bic"
        What decides between the families of a numeric column (Gaussian, log-normal, gamma; for integers Gaussian,
        Poisson, categories).  "bic": their log-likelihood given the class minus ½·log(rows) for each parameter, a
        function of the sums.  "loo": the log-likelihood of each row given its class under the sums of all other rows,
        without a penalty.  Both use the rows of ``fit``, or of the first batch, at most 20,000 of them.
    select : {"loo"} or None, default None
        "loo": columns whose removal lowers the leave-one-out loss of the (naive) model are dropped, one by one.
        ``schema_`` names them, and ``selection_`` shows the steps.
    missing : {"auto", "ignore", "informative"}, default "auto"
        Whether a missing value is marginalised ("ignore"), or is evidence too ("informative": one more binary column
        for every column).  "auto": where a structure is chosen, the columns whose missing values alone say something
        of the class, by leave-one-out, are one more structure of the pool; else "ignore".
    unknown : {"ignore", "novel", "error"}, default "ignore"
        What to do with a category never seen in training: treat it as missing (with a warning where many of a column's
        values are), give it the prior's share in every class, or raise an error.
    missing_target : {"error", "drop"}, default "error"
        What to do with rows whose label is missing.
    priors : array-like, dict or "uniform", optional
        Class prior; by default the class shares.
    prior_smoothing : float, default 0
        Added to every class count before the shares are taken (1: Laplace).
    calibrate : {"temperature", "isotonic"} or None, default None
        Calibrate the probabilities at ``fit``, on leave-one-out scores: see ``calibration_``.  After batches, call
        ``recalibrate``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    class_count_ : ndarray of shape (n_classes,)
        Rows (total weight) of each class.
    schema_ : Schema
        The kind and the family of every column, and why it was chosen.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where X was a table with names.
    n_parameters_ : int
        Number of free parameters.
    selection_ : Selection, Tuning or None
        The structures (or columns) that were tried, the weights of the pool, the outlier rate, and the log-loss to
        expect on new rows.
    calibration_ : Calibration or None
        The calibration of the probabilities, and what it does to leave-one-out scores.

    See Also
    --------
    NaiveBayes : One family for all columns.
    CategoricalNB : Columns of categories only.
    GaussianDiscriminantAnalysis : Jointly normal columns only.

    Examples
    --------
    >>> table = {"height": [1.62, 1.71, None, 1.85, 1.79, 1.90], "smoker": [True, False, False, None, True, False],
    ...          "city": ["Bern", "Bern", "Basel", "Basel", None, "Chur"]}
    >>> model = GenerativeClassifier().fit(table, ["a", "a", "a", "b", "b", "b"])
    >>> model.schema_
    column  kind         family                    reason
    height  continuous   Gaussian(prior_rows=1.0)  continuous (no alternative better by 10 nats, BIC)
    smoker  boolean      Bernoulli()               true or false
    city    categorical  Categorical()             3 categories
    >>> model.predict({"height": [1.60, 1.95], "smoker": [None, None], "city": ["Bern", "Chur"]}).tolist()
    ['a', 'b']
    """

    _parameter_constraints: ClassVar[dict[str, object]] = {
        "columns": [StrOptions({"auto"}), dict, list, Schema],
        "structure": [StrOptions({"auto", "naive", "partitions", "densities"})],
        "criterion": [StrOptions(set(CRITERIA))],
        "select": [StrOptions({"loo"}), None],
        "missing": [StrOptions({"auto", "ignore", "informative"})],
        "unknown": [StrOptions({"ignore", "novel", "error"})],
        "missing_target": [StrOptions({"error", "drop"})],
        "priors": ["array-like", None, dict, StrOptions({"uniform"})],
        "prior_smoothing": [Interval(Real, 0, None, closed="left")],
        "calibrate": [StrOptions({"temperature", "isotonic"}), None],
    }

    _accept_sparse = False
    _template: Template
    _seen: Schema  # all blocks of the model
    _plain: Schema  # those of the density, which come first
    _selection: Selection | Tuning | None

    def __init__(
        self,
        columns: Mapping[object, Family | str] | Sequence[tuple[object, Family | str]] | Schema | str = "auto",
        *,
        structure: str = "auto",
        criterion: str = "bic",
        select: str | None = None,
        missing: str = "auto",
        unknown: str = "ignore",
        missing_target: str = "error",
        priors: Prior = None,
        prior_smoothing: float = 0.0,
        calibrate: str | None = None,
    ) -> None:
        self.columns = columns
        self.structure = structure
        self.criterion = criterion
        self.select = select
        self.missing = missing
        self.unknown = unknown
        self.missing_target = missing_target
        self.priors = priors
        self.prior_smoothing = prior_smoothing
        self.calibrate = calibrate

    # --- reading

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """As scikit-learn finds them, which takes as long as reading a small table."""
        return super()._get_param_names()

    def _family(self, n_features: int) -> Family:
        return self._seen.family()

    def _read_table(self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike) -> tuple[Frame, Cells, Rows]:
        frame = read_frame(X)
        y, kept = read_known_labels(y, type(self).__name__, drop=self.missing_target == "drop")
        weight = read_weight(sample_weight, np.empty((len(kept), 0)))
        if len(kept) != frame.n_rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: [{frame.n_rows}, {len(kept)}]"
            )
        if not kept.all():
            where = np.flatnonzero(kept)
            frame, weight = frame.rows(where), None if weight is None else weight[where]
        return frame, y, Rows.of(y, weight)

    def _read_X_known(self, X: TableLike) -> TableRows:
        """A table for the fitted model: its columns by name, in any order; absent ones are missing."""
        self._check_is_fitted()
        frame = self._named(read_frame(X))
        self._say_unknown(frame)
        return self._seen.rows(frame)

    def _say_unknown(self, frame: Frame) -> None:
        """Warn where many categories of a column are none that were learned, and are left out like missing values."""
        said, sampled = [], None
        for i, spec in enumerate(self._plain.specs):
            if spec.reads != "categories" or cast(Categorical, spec.family).unknown not in (None, "ignore"):
                continue
            if sampled is None:
                sampled = frame if frame.n_rows <= SAMPLE_ROWS else frame.rows(some_rows(frame.n_rows))
            known = cast(CategoricalScorer, cast(ProductScorer, self._fitted.solution.scorer).scorers[i]).positions
            each = zip(spec.columns, known, strict=True)
            said += [unknown_values(c, sampled.columns[c], k) for c, k in each if c in sampled.columns]
        things = [text for text in said if text]
        if things:
            warn_once(UnknownCategoryWarning, UNKNOWN, things, f"{IGNORED}, or set unknown='error' to refuse them")

    def _named(self, frame: Frame) -> Frame:
        """A table with the names of the model: columns without names are taken by their place."""
        numbered = self._template.form == "array" and frame.names == tuple(map(str, range(len(frame.names))))
        if frame.like.form == "array" or numbered:
            if len(frame.columns) != self.n_features_in_:
                raise ValueError(
                    f"X has {len(frame.columns)} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_in_} features as input; columns without names must be complete and in order"
                )
            frame = replace(frame, columns=dict(zip(self._names_in, frame.columns.values(), strict=True)))
        self._say_columns(frame)
        return frame

    def _say_columns(self, frame: Frame) -> None:
        """Warn of columns that are absent or unknown; refuse a table that has none of the model's."""
        here = set(frame.names)
        absent = [name for name in self._seen.used if name not in here]
        if absent and len(absent) == len(self._seen.used):
            raise InputError(
                f"X has none of the model's columns: the model has {list(self._seen.used)[:10]}, X has "
                f"{list(frame.names)[:10]}"
            )
        extra = [name for name in frame.names if name not in self._names_in]
        if absent:
            warn_once(DataWarning, f"columns missing from X: {absent[:10]}; treated as missing values")
        if extra and not self.__dict__.get("_said_extra"):
            self._said_extra = True
            warn_once(DataWarning, f"columns of X that were not seen at fit: {extra[:10]}; they are ignored")

    # --- learning

    def fit(self, X: TableLike, y: LabelsLike | None = None, sample_weight: WeightsLike = None) -> Self:
        """Choose a family for every column and learn these rows, in place, forgetting all learned before.

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts the row twice.

        Returns
        -------
        self : object
            This estimator.
        """
        with self._unchanged_on_error(anew=True, unsaid=UNSAID[self.missing == "informative"]):
            self._take_settings()
            data, rows = self._learn_first(X, y, sample_weight, solve=True)
            if self.calibrate is not None:
                self._calibrate(data, rows, self.calibrate)
        return self

    def _learn_first(
        self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike, solve: bool, classes: ClassesLike = None
    ) -> tuple[TableRows, Rows]:
        """Learn a first batch, and return it as the model reads it."""
        if self.structure == "partitions" and not isinstance(self.columns, str | Schema):
            raise InputError("structure='partitions' chooses the blocks that columns= sets; set one of the two")
        frame, labels, rows = self._read_table(X, y, sample_weight)
        declared = () if classes is None else declared_classes(classes, rows)
        alike = rows.as_rows()  # what the weights are worth, where they are shares
        self._seen = choose(frame, alike, self.columns, X, self.missing, self.unknown, self.criterion)
        frame = self._seen.possible(frame)
        self._selection = None
        choice = bool(self._seen.used) and len(rows.classes) > 1  # whether there is anything to choose by
        if self.select == "loo" and choice and not isinstance(self.columns, Schema):
            self._seen, self._selection = columns_that_help(self._seen.plain(), frame, alike)
        self._plain = self._seen.plain()
        self._asked = {name: getattr(self, name) for name in FIXED_FIRST}
        found = Proposals(())
        open_structure = self.structure != NAIVE and isinstance(self.columns, str)
        if open_structure and not solve and len(rows) < FEW_FIRST:
            warn_once(DataWarning, f"a first batch of {len(rows)} rows {TOO_FEW}")
        elif open_structure and choice:
            found = select(self._plain, frame, alike, Wanted(self.structure, self.missing))
        elif open_structure and not self._seen.used:
            found = nothing_to_compare(self._plain, alike)
        self._template = frame.like
        self._names_in = frame.names
        self.__dict__.pop("_said_extra", None)
        if isinstance(self.columns, Schema):
            self._say_columns(frame)
        self.n_features_in_ = len(frame.names)
        if frame.like.form != "array":
            self.feature_names_in_ = np.array(frame.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        self._seen.say_dropped()
        data = self._learn_as_proposed(found, frame, rows, labels.dtype, declared)
        if solve:
            self._density_solution()  # what is to be said of the columns is said at fit; the pool waits for predictions
        return data, rows

    def _learn_as_proposed(
        self, found: Proposals, frame: Frame, rows: Rows, labels: np.dtype[np.generic], classes: Sequence[Hashable]
    ) -> TableRows:
        """Learn the rows by the first schema whose model does what leave-one-out has promised of it."""
        chosen_before, total, worth = self._selection, *(float(r.counts().sum()) for r in (rows, rows.as_rows()))
        share = total / worth if total <= 1 + 1e-9 and isinstance(self.columns, str) else 1.0  # weights that are shares
        for proposal in found.each or (None,):
            self._seen = (self._seen if proposal is None else proposal.schema).with_prior_rows(share)
            if proposal is not None:
                self._selection = replace(proposal.selection, columns=cast(Tuning | None, chosen_before))
            self._plain = self._seen.plain()
            data, columns = TableRows(self._seen, frame), self._seen.columns
            known = found.known(self._seen) if rows.weights is None else {}
            with one_blas_thread(len(columns) < SMALL_MATRIX):
                family = self._seen.family().tuned(data, rows, known)
                stats = family.collect(data, rows, known)
                family = family.tuned_on(data, rows, stats, known)
            model = Model.of(family, columns, rows, stats, classes)
            self._adopt(model, labels, np.dtype(np.float64), anew=True)
            guard = found.guard
            if proposal is None or guard is None or proposal is found.each[-1] or self._keeps(proposal, guard, data):
                break
        return data

    def _keeps(self, proposal: Proposal, guard: Guard, data: TableRows) -> bool:
        """Whether the model, fitted, explains rows as well as its leave-one-out posteriors did."""
        counts = self._fit.model.counts
        with np.errstate(divide="ignore"):
            prior = np.log(counts["n"] / counts["n"].sum())
            posterior = self._fit.solution.under(prior).posterior(data[guard.places])
        known = counts.axes[CLASS].position
        return proposal.kept(posterior[:, [known[c] for c in guard.classes]], guard.codes, guard.weights)

    def _calibrate(self, X: Matrix, rows: Rows, method: str) -> None:
        """As any model; a pool, which is calibrated already, keeps it only where it helps."""
        super()._calibrate(X, rows, method)
        calibration = self._fit.calibration
        if calibration is not None and isinstance(self._selection, Selection):
            self._fit = replace(self._fit, calibration=calibration.if_it_helps())

    def _some_rows(self, X: Matrix, rows: Rows, most: int) -> NDArray[np.int64]:
        """By what they hold, not by their order."""
        assert isinstance(X, TableRows)
        return sample(X.frame, X.schema.used, rows, most)

    def partial_fit(
        self, X: TableLike, y: LabelsLike | None = None, classes: ClassesLike = None, sample_weight: WeightsLike = None
    ) -> Self:
        """Learn one more batch, in place.  The first one fixes families and structure for all later ones.

        So it should be large, with rows of all classes: under forty rows no structure is chosen, and columns are
        independent given the class.  New classes and categories may come at any time.

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any kind.
        classes : array-like, optional
            Not needed; declares classes that may come later, and must then name all of them.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts the row twice.

        Returns
        -------
        self : object
            This estimator.
        """
        with self._unchanged_on_error(unsaid=UNSAID[self.missing == "informative"]):
            self._take_settings()
            if "_fit" not in self.__dict__:
                self._learn_first(X, y, sample_weight, solve=False, classes=classes)
                return self
            old = self._fitted
            check_same_settings(self._asked, self)
            data, labels, rows = self._read(X, y, sample_weight, self._read_X_known)
            if classes is not None:
                check_same_classes(classes, old.model.classes, old.classes)
            self._adopt(old.model.learn(data, rows), common_dtype(old.labels, labels.dtype), old.floats)
        return self

    def _read(
        self, X: TableLike, y: LabelsLike | None, sample_weight: WeightsLike, read_X: Callable[[TableLike], Matrix]
    ) -> tuple[Matrix, Cells, Rows]:
        self._check_is_fitted()
        frame, labels, rows = self._read_table(X, y, sample_weight)
        return self._seen.rows(self._named(frame)), labels, rows

    def _check_mergeable(self, other: GenerativeEstimator) -> None:
        if not isinstance(other, GenerativeClassifier):
            raise InputError(f"a GenerativeClassifier can only be merged with another one, got {type(other).__name__}")

    def _in_common(self, other: GenerativeEstimator) -> tuple[Model, Model]:
        """Under the structures of this one, as far as the sums of the other have them."""
        assert isinstance(other, GenerativeClassifier)
        mine, theirs = self._fitted.model, other._fitted.model
        if not (isinstance(mine.stats, BlockSums) and isinstance(theirs.stats, BlockSums)):
            return mine, theirs
        found = in_common(self.schema_, other.schema_, mine.stats, theirs.stats)
        if found is None:
            check_same_families(self._plain, other._plain, self._names_in, other._names_in)
            return mine, theirs
        self._seen, self._plain = found[0].schema, found[0].schema.plain()
        a, b = (
            replace(model, family=each.schema.family(), stats=each.sums)
            for model, each in zip((mine, theirs), found, strict=True)
        )
        return a, b

    # --- what was learned

    @property
    def schema_(self) -> Schema:
        """What became of every column: its kind, its family, and why."""
        blocks = cast(Product, self._model.family).blocks
        specs = tuple(replace(p, family=b.family) for p, b in zip(self._seen.specs, blocks, strict=True))
        return made_for(replace(self._seen, specs=specs), self._table_form())

    @property
    def selection_(self) -> Selection | Tuning | None:
        """The structures (or columns) that were compared by leave-one-out, and what was taken; None where none were.

        Where both were, the structures, with the columns in ``selection_.columns``.
        """
        self._check_is_fitted()
        return None if self._selection is None else made_for(self._selection, self._table_form())

    def predict_joint_log_proba(self, X: TableLike) -> Array:
        """Return log p(x, class) under the density, ``selection_.density``, as in ``score_samples``.

        Where structures are pooled, ``predict_proba`` is that of the pool, which is not a density.

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return self._density_solution().log_joint(self._read_X_known(X))

    def _pool_in_words(self) -> str:
        if not isinstance(self._selection, Selection):
            return ""
        pool = ", ".join(f"{name} (weight {weight:.2g})" for name, _, weight in self._selection.pool)
        return (
            f"posteriors are those of a pool: {pool or 'none (class shares only)'}; parameters, log-likelihood and "
            f"means are those of the density: {self._selection.density}"
        )

    def _approximate_leave_one_out(self) -> bool:
        return isinstance(self.selection_, Selection)

    def _density_model(self) -> Model:
        model, n = self._model, len(self._plain.specs)
        family = cast(Product, model.family).as_density(n).of(self._plain.columns)
        return replace(model, family=family, stats=BlockSums(cast(BlockSums, model.sums).parts[:n]))

    def _density_solution(self) -> Solution:
        """The structure of the density at full power."""
        solution = self._fitted.solution
        scorer = cast(ProductScorer, solution.scorer).as_density(len(self._plain.specs))
        return Solution(solution.classes, solution.log_prior, scorer)

    def _parameters(self) -> list[BlockParameters]:
        scorer = cast(ProductScorer, self._fitted.solution.scorer)
        return [
            BlockParameters(block.family.key, block.power, scorer.parameters_of(i))
            for i, block in enumerate(scorer.blocks_of)
            if block.power
        ]

    def _table_form(self) -> str:
        return self._template.form

    def _drawn_rows(self, n: int) -> TableRows:
        return self._rows_of(drawn_columns(self._plain, super().sample(n, random_state=0)[0]), n)

    def _rows_of(self, columns: Mapping[str, Cells], n: int) -> TableRows:
        return self._seen.rows(Frame({k: ArrayColumn(v) for k, v in columns.items()}, n, self._template))

    def _columns_of_model(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        return self._seen.table_columns

    def _columns_of_density(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        return self._plain.table_columns

    def explain(self, X: TableLike, classes: ClassesLike = None) -> Explanation:
        """Return log p(a | x)/p(b | x) of each row as the prior and what every column adds.

        What a column of texts adds is shown with the words that say most.

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        classes : pair of labels, optional
            a and b; by default the two most probable classes of each row.

        Returns
        -------
        Explanation
            The terms of every row.
        """
        found = super().explain(X, classes)
        solution = self._fitted.solution
        each = zip(self._seen.specs, cast(ProductScorer, solution.scorer).scorers, strict=True)
        texts = [(spec, cast(TextScorer, s)) for spec, s in each if spec.reads == "texts" and spec.power]
        if not texts:
            return found

        def notes(row: int, column: str) -> str:
            at = np.array([row])
            a, b, frame = found.first[at], found.second[at], cast(Frame, found.data).rows(at)
            here = [(spec, s) for spec, s in texts if spec.columns == (column,)]
            parts = [(s, s.word_terms(cast(Texts, spec.matrix(frame)), a, b), spec.power) for spec, s in here]
            return most_telling([(s, terms, power * solution.power) for s, terms, power in parts])

        return replace(found, notes=notes)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> Cells:
        """Return the names of the columns that the model uses.

        Parameters
        ----------
        input_features : object, optional
            Ignored; for compatibility with scikit-learn.

        Returns
        -------
        ndarray of str
            The names, in the order of the table.
        """
        self._check_is_fitted()
        return np.array(self._seen.used, dtype=object)

    # --- backwards

    def sample(self, n: int = 1, y: LabelsLike | None = None, random_state: RandomState = None) -> tuple[Any, Cells]:
        """Draw ``n`` rows, as a table like the one fitted.

        Dropped columns are not in it.  Integer columns have integers: where the family is continuous, the nearest to
        what was drawn.  Under ``missing="informative"`` the rows have missing values, as often as those that were
        learned.

        Parameters
        ----------
        n : int, default 1
            Number of rows.
        y : label or array-like of shape (n,), optional
            The class of all rows, or of each; by default classes are drawn from the prior.
        random_state : int, RandomState, Generator or None, default None
            Source of random numbers.

        Returns
        -------
        table : of the kind that was fitted
            The rows.
        labels : ndarray of shape (n,)
            Their classes.
        """
        parts, labels = super().sample(n, y, random_state)
        return self._template.make(drawn_columns(self._plain, parts)), labels

    def impute(
        self, X: TableLike, y: LabelsLike | None = None, how: str = "mean", random_state: RandomState = None
    ) -> Any:
        """Return the table with its missing values filled in, given the rest of the row (and its class, where given).

        Parameters
        ----------
        X : data frame, dict of columns or array-like of shape (n_samples, n_features)
        y : label or array-like of shape (n_samples,), optional
            The class of all rows, or of each; by default the posterior is used.
        how : {"mean", "draw"}, default "mean"
            "mean": numbers by their conditional mean, categories by the most probable, over the posterior of the class.
            "draw": one draw from the distribution of the missing values, integers in integer columns.
        random_state : int, RandomState, Generator or None, default None
            Source of random numbers.

        Returns
        -------
        table : of the kind that was given
            The table without missing values in the columns that the model uses.
        """
        if how not in ("mean", "draw"):
            raise ValueError(f"impute: how={how!r}: must be 'mean' or 'draw'")
        data = self._read_X_known(X)
        posterior = self._solved.posterior(data) if y is None else self._one_hot(y, data.shape[0], "impute")
        scorer = self._density_solution().scorer
        if how == "mean":
            filled = scorer.filled(data, posterior)
        else:
            rng = generator(random_state)
            edges = np.cumsum(posterior, axis=1)
            codes = (rng.random(len(edges))[:, None] * edges[:, -1:] >= edges).sum(axis=1).astype(np.int32)
            filled = scorer.drawn(data, codes, rng)
        columns = table_columns(self._plain, filled, drawn=how == "draw")
        return data.frame.filled({k: v for k, v in columns.items() if k in data.frame.columns})

    def _one_hot(self, y: LabelsLike, n: int, who: str) -> Array:
        return np.eye(len(self._model.classes))[class_codes(n, y, self._model.counts.axes[CLASS], who)]

    def _blocks_of(self, X: Matrix) -> list[ScoredBlock]:
        """The columns of these rows that the density scores together."""
        rows, scorers = cast(RowsOfBlocks, X), cast(ProductScorer, self._density_solution().scorer).scorers
        return [
            ScoredBlock(scorer, rows.part(i), apart(p.family), p.scales, p.reads == "missing")
            for i, (p, scorer) in enumerate(zip(self._plain.specs, scorers, strict=True))
        ]

    def profile(self, y: Any = None) -> Any:
        """Return the most typical values of each class, as a table with the class first.

        Means of numbers, the most probable of categories.

        Parameters
        ----------
        y : label or array-like, optional
            The classes; by default all.

        Returns
        -------
        table : of the kind that was fitted, or a dict for arrays
            One row for each class.
        """
        known = self._model.classes
        classes = list(known) if y is None else [y] if np.ndim(y) == 0 or y in known else list(y)
        posterior = self._one_hot(classes, len(classes), "profile")
        filled = self._density_solution().scorer.filled(no_values(self._plain.specs, len(classes)), posterior)
        labels = np.empty(len(classes), dtype=object)
        labels[:] = classes
        name = "class"
        while name in self._seen.used:
            name = f"({name})"
        columns = {name: labels, **table_columns(self._plain, filled)}
        form = self._template.form if self._template.form != "array" else "dict"
        types = {k: v for k, v in self._template.types.items() if k != name}
        return replace(self._template, form=form, types=types).make(columns)

    def _typical_rows(self, n: int) -> TableRows:
        scorers = cast(ProductScorer, self._density_solution().scorer).scorers
        return self._rows_of(table_columns(self._plain, typical_values(self._plain.specs, scorers, n)), n)

    def scorer(self) -> OneRow:  # type: ignore[override]
        """Return a handle for one row at a time: ``scorer()(row)`` gives p(class | row) under the model as it is now.

        A row is a dict of values by column (absent ones are missing), or all values in the order of the columns.

        Returns
        -------
        OneRow
            A callable that takes a row and returns an array of shape (n_classes,).
        """
        return OneRow(self._fitted, self._seen, self._names_in)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _repr_html_inner(self) -> str:
        shown = super()._repr_html_inner()
        return shown + self.schema_._repr_html_() if "_fit" in self.__dict__ else shown
