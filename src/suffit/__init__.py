"""suffit: generative classifiers whose fitted model is a table of sums.

The public names are imported when first used, so that ``import suffit`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "GaussianNB": "estimators.naive_bayes",
    "BernoulliNB": "estimators.naive_bayes",
    "MultinomialNB": "estimators.text_counts",
    "ComplementNB": "estimators.text_counts",
    "CategoricalNB": "estimators.categorical",
    "PoissonNB": "estimators.naive_bayes",
    "NaiveBayes": "estimators.naive_bayes",
    "GaussianDiscriminantAnalysis": "estimators.discriminant",
    "LinearDiscriminantAnalysis": "estimators.lda",
    "QuadraticDiscriminantAnalysis": "estimators.qda",
    "GenerativeClassifier": "estimators.tables",
    "Decision": "estimators.decision",
    "Decisions": "decide",
    "mean_cost": "decide",
    "Bernoulli": "families",
    "Beta": "families",
    "Binned": "families",
    "Categorical": "families",
    "Exponential": "families",
    "Gamma": "families",
    "Gaussian": "families",
    "Geometric": "families",
    "LogNormal": "families",
    "Multinomial": "families",
    "MultivariateGaussian": "families",
    "Poisson": "families",
    "VonMises": "families",
    "DataWarning": "remarks",
    "LeftOutWarning": "remarks",
    "MissingValuesWarning": "remarks",
    "SingularClassWarning": "remarks",
    "TextColumnWarning": "remarks",
    "UnknownCategoryWarning": "remarks",
    "Assumptions": "assumptions",
    "check_assumptions": "assumptions",
    "Explanation": "explain",
    "Summary": "summary",
    "Family": "family",
    "register": "family",
    "Index": "stats",
    "Stats": "stats",
    "Model": "model",
    "InputError": "table",
    "normal_logpdf": "density",
    "LogisticForm": "forms",
    "set_threads": "kernels.threads",
}
_ALIASES = {
    "LDA": "LinearDiscriminantAnalysis",
    "QDA": "QuadraticDiscriminantAnalysis",
    "GDA": "GaussianDiscriminantAnalysis",
}

__all__ = [
    "GDA",
    "LDA",
    "QDA",
    "Assumptions",
    "Bernoulli",
    "BernoulliNB",
    "Beta",
    "Binned",
    "Categorical",
    "CategoricalNB",
    "ComplementNB",
    "DataWarning",
    "Decision",
    "Decisions",
    "Explanation",
    "Exponential",
    "Family",
    "Gamma",
    "Gaussian",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "Geometric",
    "Index",
    "InputError",
    "LeftOutWarning",
    "LinearDiscriminantAnalysis",
    "LogNormal",
    "LogisticForm",
    "MissingValuesWarning",
    "Model",
    "Multinomial",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "Poisson",
    "PoissonNB",
    "QuadraticDiscriminantAnalysis",
    "SingularClassWarning",
    "Stats",
    "Summary",
    "TextColumnWarning",
    "UnknownCategoryWarning",
    "VonMises",
    "check_assumptions",
    "mean_cost",
    "normal_logpdf",
    "register",
    "set_threads",
]

if TYPE_CHECKING:
    from .assumptions import Assumptions, check_assumptions
    from .decide import Decisions, mean_cost
    from .density import normal_logpdf
    from .estimators.categorical import CategoricalNB
    from .estimators.decision import Decision
    from .estimators.discriminant import GaussianDiscriminantAnalysis
    from .estimators.lda import LinearDiscriminantAnalysis
    from .estimators.naive_bayes import BernoulliNB, GaussianNB, NaiveBayes, PoissonNB
    from .estimators.qda import QuadraticDiscriminantAnalysis
    from .estimators.tables import GenerativeClassifier
    from .estimators.text_counts import ComplementNB, MultinomialNB
    from .explain import Explanation
    from .families import (
        Bernoulli,
        Beta,
        Binned,
        Categorical,
        Exponential,
        Gamma,
        Gaussian,
        Geometric,
        LogNormal,
        Multinomial,
        MultivariateGaussian,
        Poisson,
        VonMises,
    )
    from .family import Family, register
    from .forms import LogisticForm
    from .kernels.threads import set_threads
    from .model import Model
    from .remarks import (
        DataWarning,
        LeftOutWarning,
        MissingValuesWarning,
        SingularClassWarning,
        TextColumnWarning,
        UnknownCategoryWarning,
    )
    from .stats import Index, Stats
    from .summary import Summary
    from .table import InputError

    LDA = LinearDiscriminantAnalysis
    QDA = QuadraticDiscriminantAnalysis
    GDA = GaussianDiscriminantAnalysis


def __getattr__(name: str) -> Any:
    name = _ALIASES.get(name, name)
    if name not in _HOME:
        raise AttributeError(f"module 'suffit' has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
