"""The models that are compared: ours, and those of scikit-learn behind what they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from ..data.arrays import Cells
from ..estimators.base import GenerativeEstimator
from ..estimators.gda import GaussianDiscriminantAnalysis
from ..estimators.lda import LinearDiscriminantAnalysis
from ..estimators.tables import GenerativeClassifier
from .matrix import TableMatrix

CALIBRATION_FOLDS = 3


def default_models() -> dict[str, object]:
    """Three generative models and the default model beside logistic regression, a perceptron and a linear SVM."""
    return {
        "LDA": make_pipeline(TableMatrix(fill=False), LinearDiscriminantAnalysis()),
        "QDA": make_pipeline(TableMatrix(fill=False), GaussianDiscriminantAnalysis(shrinkage="oas")),
        "naive Bayes": GenerativeClassifier(structure="naive"),
        "GenerativeClassifier": GenerativeClassifier(),
        "logistic regression": make_pipeline(TableMatrix(), LogisticRegression(max_iter=1000)),
        "perceptron": make_pipeline(TableMatrix(), _calibrated(Perceptron())),
        "linear SVM": make_pipeline(TableMatrix(), _calibrated(LinearSVC())),
    }


def read_models(models: str | Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """The models asked for, by name: "default", some of its names, or estimators of any library."""
    known = default_models()
    if isinstance(models, str):
        if models != "default":
            raise ValueError(f"compare: models={models!r}; give 'default', or a dict of names and estimators")
        return known
    if not isinstance(models, Mapping) and not hasattr(models, "fit"):
        unknown = [name for name in models if name not in known]
        if unknown:
            raise ValueError(f"compare: no model {unknown[0]!r}; the names are {', '.join(map(repr, known))}")
        return {name: known[name] for name in models}
    chosen = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    for name, model in chosen.items():
        absent = [verb for verb in ("fit", "predict_proba") if not hasattr(model, verb)]
        if absent:
            raise ValueError(
                f"compare: model {name!r} ({type(model).__name__}) has no {absent[0]}; for probabilities use "
                "sklearn.calibration.CalibratedClassifierCV(model)"
            )
    if not chosen:
        raise ValueError("compare: models is empty; give at least one")
    return chosen


def fills_missing(model: object) -> bool:
    """Whether a model sees a table whose missing values were filled."""
    return isinstance(model, Pipeline) and isinstance(model[0], TableMatrix) and model[0].fill


def adds_up(model: object) -> bool:
    """Whether a model is nothing but sums of rows as they are, so that folds can be taken away from one fit."""
    return (
        isinstance(model, Pipeline)
        and isinstance(model[0], TableMatrix)
        and not model[0].fill
        and len(model.steps) == 2
        and isinstance(model[-1], GenerativeEstimator)
    )


def fitted(model: object, X: object, y: Cells) -> Any:
    """A copy of the model fitted to these rows; probabilities calibrated on fewer folds where a class has few rows."""
    model = clone(model)
    last = model[-1] if isinstance(model, Pipeline) else model
    if isinstance(last, CalibratedClassifierCV) and last.cv == CALIBRATION_FOLDS:
        least = int(np.unique(y, return_counts=True)[1].min())
        last.set_params(cv=max(2, min(CALIBRATION_FOLDS, least)))
    return model.fit(X, y)


def _calibrated(classifier: object) -> CalibratedClassifierCV:
    return CalibratedClassifierCV(classifier, cv=CALIBRATION_FOLDS, ensemble=False)
