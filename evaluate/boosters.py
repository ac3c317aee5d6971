"""LightGBM, XGBoost and CatBoost as their users commonly write them: default settings, their own handling of
categories and missing values.

``BOOSTERS`` is name → factory, ``PACKAGES`` name → the package that it needs, imported only where a model is fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import make_column_selector

NOMINAL = make_column_selector(dtype_exclude="number")
ABSENT = "missing"  # for CatBoost the category of a missing value: it takes strings alone
PACKAGES = {"LightGBM": "lightgbm", "XGBoost": "xgboost", "CatBoost": "catboost"}


def why_no_model(name: str) -> str | None:
    """The package that a model lacks here, in a sentence; None when it can be run."""
    package = PACKAGES.get(name)
    if package is None or find_spec(package) is not None:
        return None
    return f"{name}: no package {package}; pip install '.[evaluate]'"


class Columns(TransformerMixin, BaseEstimator):
    """A frame with the columns named 0, 1, …: some of the boosters refuse names with brackets, colons or commas.

    Examples
    --------
    >>> list(Columns().fit_transform(pd.DataFrame({"a[0]": [1.0], "b": ["x"]})))
    ['0', '1']
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Find the nominal columns."""
        self.nominal_ = [list(X).index(name) for name in NOMINAL(X)]
        return self

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """The frame with nominal columns of strings, missing values where they were."""
        named = X.set_axis([str(i) for i in range(X.shape[1])], axis=1)
        return named.assign(**{str(i): self.column(str(i), named[str(i)]) for i in self.nominal_})

    def column(self, name: str, values: pd.Series) -> pd.Series:
        return strings(values)


class Category(Columns):
    """Nominal columns as pandas' ``category``; a category not seen in the fit is missing.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.5, None], "colour": ["red", None]})
    >>> Category().fit(frame).transform(frame.assign(colour=["mauve", "red"]))["1"].tolist()
    [nan, 'red']
    """

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Find the categories of the nominal columns."""
        super().fit(X)
        self.categories_ = {str(i): categories(X.iloc[:, i]) for i in self.nominal_}
        return self

    def column(self, name: str, values: pd.Series) -> pd.Series:
        known, found = self.categories_[name], strings(values)
        return found.where(found.isin(known)).astype(pd.CategoricalDtype(known))


class Filled(Columns):
    """Nominal columns of strings in which a missing category is one of its own.

    Examples
    --------
    >>> Filled().fit_transform(pd.DataFrame({"colour": ["red", None]}))["0"].tolist()
    ['red', 'missing']
    """

    def column(self, name: str, values: pd.Series) -> pd.Series:
        return strings(values).fillna(ABSENT)


def categories(values: pd.Series) -> list[str]:
    """What is found, sorted; one that no row has where nothing is, since XGBoost refuses columns of no category."""
    return sorted(strings(values).dropna().unique()) or [ABSENT]


def strings(values: pd.Series) -> pd.Series:
    """Each value as text; what is missing stays missing."""
    return values.astype(object).where(values.notna(), None).map(str, na_action="ignore")


class Booster(ClassifierMixin, BaseEstimator):
    """A booster on a raw frame: its columns prepared, its labels as codes 0, 1, …

    ``make`` gives a fresh booster from the names of the nominal columns.
    """

    def __init__(self, columns: Columns, make: Callable[[list[str]], Any]) -> None:
        self.columns = columns
        self.make = make

    def fit(self, X: pd.DataFrame, y: NDArray[Any]) -> Self:
        """Learn the categories, the classes and the trees."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        prepared = self.columns.fit(X).transform(X)
        self.model_ = self.make([str(i) for i in self.columns.nominal_]).fit(prepared, codes)
        return self

    def predict_proba(self, X: pd.DataFrame) -> NDArray[np.float64]:
        """P(c | x), a column for each of ``classes_``."""
        return np.asarray(self.model_.predict_proba(self.columns.transform(X)), dtype=float)


def lightgbm(nominal: list[str]) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, random_state=0, verbose=-1)


def xgboost(nominal: list[str]) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(tree_method="hist", enable_categorical=True, n_jobs=1, random_state=0)


def catboost(nominal: list[str]) -> Any:
    from catboost import CatBoostClassifier

    quiet = {"verbose": False, "allow_writing_files": False}
    return CatBoostClassifier(cat_features=nominal, thread_count=1, random_seed=0, **quiet)


BOOSTERS: dict[str, Callable[[], Any]] = {
    "LightGBM": lambda: Booster(Category(), lightgbm),
    "XGBoost": lambda: Booster(Category(), xgboost),
    "CatBoost": lambda: Booster(Filled(), catboost),
}
