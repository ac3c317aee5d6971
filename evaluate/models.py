"""The models: suffit's own, scikit-learn's pipelines and boosters as they are commonly written.

``MODELS``, ``KNOCK_OUT``, ``TEXT`` and ``RAW_TEXT`` are name → factory; every model takes the raw frame of a table,
those of ``TEXT`` counts of words, those of ``RAW_TEXT`` texts. To add one, add a line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import discriminant_analysis, naive_bayes
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import IterativeImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import suffit

from .boosters import BOOSTERS, NOMINAL

Array = NDArray[np.float64]
NUMERIC = make_column_selector(dtype_include="number")
NEAREST, FARTHEST = 10, 5.0  # columns that predict a column, bound on the standard score predicted: see iterative()


class OneHotWithHoles(TransformerMixin, BaseEstimator):
    """A mixed frame as one float matrix in which what is missing stays missing.

    Numbers stay as they are; a column without any value in the fit is dropped. A nominal column has one indicator for
    each category seen at least ``least`` times; rarer categories share the row of zeros. Where no category is rare, the
    most frequent one is that row of zeros instead: the indicators of all categories add up to one, and a covariance of
    theirs would be singular. A missing value, and a category not seen in the fit, is NaN in all indicators of its
    column.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.5, None, 2.0], "colour": ["red", "blue", None]})
    >>> OneHotWithHoles(least=1).fit_transform(frame)
    array([[1.5, 1. ],
           [nan, 0. ],
           [2. , nan]])
    """

    def __init__(self, least: int = 5) -> None:
        self.least = least

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Find the categories of the nominal columns."""
        self.numeric_ = [name for name in NUMERIC(X) if X[name].notna().any()]
        self.known_, self.shown_ = {}, {}
        for name in NOMINAL(X):
            counts = X[name].value_counts().sort_index(kind="stable").sort_values(ascending=False, kind="stable")
            frequent = [category for category, n in counts.items() if n >= self.least]
            self.known_[name] = list(counts.index)
            self.shown_[name] = frequent[1:] if len(frequent) == len(counts) else frequent
        return self

    def transform(self, X: pd.DataFrame) -> Array:
        """The matrix: numbers first, then the indicators of each nominal column."""
        blocks = [X[self.numeric_].to_numpy(dtype=float)]
        for name, shown in self.shown_.items():
            category = X[name].to_numpy(dtype=object)
            block = (category[:, None] == np.array(shown, dtype=object)).astype(float)  # (n, categories)
            block[~X[name].isin(self.known_[name]).to_numpy()] = np.nan
            blocks.append(block)
        return np.hstack(blocks)


def dense(classifier: Any) -> Pipeline:
    """Means and standard scores for numbers, the most frequent category and one-hot for the rest."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    categories = make_pipeline(fill(), OneHotEncoder(handle_unknown="ignore", sparse_output=False))
    return make_pipeline(make_column_transformer((numbers, NUMERIC), (categories, NOMINAL)), classifier)


def categories(classifier: Any) -> Pipeline:
    """Numbers in five bins of equal counts; categories as codes from 1, where 0 is a category not seen in the fit."""
    bins = make_pipeline(SimpleImputer(), KBinsDiscretizer(5, encode="ordinal", strategy="quantile"))
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    codes = make_pipeline(fill(), encoder, FunctionTransformer(from_one))
    return make_pipeline(make_column_transformer((bins, NUMERIC), (codes, NOMINAL)), classifier)


def from_one(codes: Array) -> Array:
    return codes + 1


def fill() -> SimpleImputer:
    return SimpleImputer(strategy="most_frequent")


def missing(classifier: Any) -> Pipeline:
    """Nothing imputed: for classifiers that take NaN."""
    return make_pipeline(OneHotWithHoles(), classifier)


def pooled(classifier: Any) -> Pipeline:
    """Means for what is missing in the very columns that ``missing values`` gives: only the imputing differs."""
    return make_pipeline(OneHotWithHoles(), StandardScaler(), SimpleImputer(), classifier)


def iterative(classifier: Any) -> Pipeline:
    """Every column predicted from others, round and round, before the classifier.

    From ten others within five standard deviations: without bounds its values may run away where columns are missing
    together.
    """
    imputer = IterativeImputer(n_nearest_features=NEAREST, min_value=-FARTHEST, max_value=FARTHEST, random_state=0)
    return make_pipeline(OneHotWithHoles(), StandardScaler(), imputer, classifier)


Factory = Callable[[], Any]
MODELS: dict[str, Factory] = {
    "class shares": lambda: DummyClassifier(strategy="prior"),
    "sklearn GaussianNB": lambda: dense(naive_bayes.GaussianNB()),
    "sklearn GaussianNB, calibrated": lambda: dense(CalibratedClassifierCV(naive_bayes.GaussianNB())),
    "sklearn CategoricalNB": lambda: categories(naive_bayes.CategoricalNB()),
    "sklearn LDA": lambda: dense(discriminant_analysis.LinearDiscriminantAnalysis()),
    "sklearn LDA, shrinkage": lambda: dense(
        discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
    "sklearn LDA, calibrated": lambda: dense(
        CalibratedClassifierCV(discriminant_analysis.LinearDiscriminantAnalysis())
    ),
    "sklearn QDA": lambda: dense(discriminant_analysis.QuadraticDiscriminantAnalysis()),
    "logistic regression": lambda: dense(LogisticRegression(max_iter=1000)),
    "random forest": lambda: dense(RandomForestClassifier(100, random_state=0)),
    "gradient boosting": lambda: dense(HistGradientBoostingClassifier(random_state=0)),
    **BOOSTERS,
    "suffit GaussianNB": lambda: dense(suffit.GaussianNB()),
    "suffit GaussianNB, calibrated": lambda: dense(suffit.GaussianNB(calibrate="temperature")),
    "suffit LDA": lambda: dense(suffit.LDA()),
    "suffit LDA, shrinkage": lambda: dense(suffit.LDA(solver="lsqr", shrinkage="auto")),
    "suffit QDA": lambda: dense(suffit.QDA()),
    "suffit QDA, shrinkage": lambda: dense(suffit.GDA(shrinkage="oas")),
    "suffit GenerativeClassifier": lambda: suffit.GenerativeClassifier(),
    "suffit GenerativeClassifier, naive": lambda: suffit.GenerativeClassifier(structure="naive"),
    "suffit GenerativeClassifier, naive, calibrated": lambda: suffit.GenerativeClassifier(
        structure="naive", calibrate="temperature"
    ),
}
KNOCK_OUT: dict[str, Factory] = {
    "suffit GenerativeClassifier": MODELS["suffit GenerativeClassifier"],
    "suffit LDA, missing values": lambda: missing(suffit.LDA()),
    "suffit GDA tied, OAS, missing values": lambda: missing(suffit.GDA(tie=1, shrinkage="oas")),
    "mean + sklearn LDA": MODELS["sklearn LDA"],
    "mean, rare categories pooled + sklearn LDA": lambda: pooled(discriminant_analysis.LinearDiscriminantAnalysis()),
    "iterative + sklearn LDA": lambda: iterative(discriminant_analysis.LinearDiscriminantAnalysis()),
    "mean + logistic regression": MODELS["logistic regression"],
    "mean + random forest": MODELS["random forest"],
    "gradient boosting, missing values": lambda: missing(HistGradientBoostingClassifier(random_state=0)),
    "mean + GaussianNB, calibrated": MODELS["sklearn GaussianNB, calibrated"],
    **BOOSTERS,
}


NB = ("MultinomialNB", "ComplementNB", "BernoulliNB")
OURS = {  # settings of suffit's, in each of the three
    "": {},
    ", temperature": {"calibrate": "temperature"},
    ", isotonic": {"calibrate": "isotonic"},
    ", alpha by loo": {"alpha": "loo"},
    ", alpha by loo, temperature": {"alpha": "loo", "calibrate": "temperature"},
}
THEIRS = {"": None, ", CalibratedClassifierCV": "sigmoid", ", CalibratedClassifierCV isotonic": "isotonic"}


def word_counts(kind: str, calibrated: str | None) -> Any:
    """scikit-learn's naive Bayes, alone or calibrated."""
    plain = getattr(naive_bayes, kind)()
    return plain if calibrated is None else CalibratedClassifierCV(plain, method=calibrated)


TEXT: dict[str, Factory] = {
    "class shares": MODELS["class shares"],
    **{f"suffit {kind}{how}": partial(getattr(suffit, kind), **given) for kind in NB for how, given in OURS.items()},
    **{f"sklearn {kind}{how}": partial(word_counts, kind, given) for kind in NB for how, given in THEIRS.items()},
    "logistic regression on counts": lambda: LogisticRegression(max_iter=1000),
}


def raw_text(vectoriser: Any, model: Any) -> Pipeline:
    """A pipeline on texts as they are."""
    return make_pipeline(vectoriser, model)


RAW_TEXT: dict[str, Factory] = {  # for texts as they are: name → factory
    **{f"TextNB{how}": partial(suffit.TextNB, **given) for how, given in OURS.items()},
    **{
        f"TextNB {kind}, alpha by loo, temperature": partial(suffit.TextNB, kind, alpha="loo", calibrate="temperature")
        for kind in ("bernoulli", "complement")
    },
    "CountVectorizer + sklearn MultinomialNB": lambda: raw_text(CountVectorizer(), naive_bayes.MultinomialNB()),
    "TF-IDF + logistic regression": lambda: raw_text(TfidfVectorizer(), LogisticRegression(max_iter=1000)),
}


def named(known: Iterable[str], words: Sequence[str]) -> list[str]:
    """The models whose name holds one of the words; all of them where there is no word."""
    return [name for name in known if not words or any(word.lower() in name.lower() for word in words)]


def every() -> dict[str, Factory]:
    """All models by name."""
    return MODELS | KNOCK_OUT | TEXT | RAW_TEXT
