"""suffit: generative classifiers whose fitted model is a table of sums.

The public names are imported when first used, so that ``import suffit`` stays light.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, which takes longer to load than the client of the mail filter has
__version__ = "0.1.0"

_HOME = {
    "GaussianNB": "estimators.naive_bayes",
    "BernoulliNB": "estimators.naive_bayes",
    "MultinomialNB": "estimators.text",
    "ComplementNB": "estimators.text",
    "TextNB": "estimators.texts",
    "WordCounts": "estimators.word_counts",
    "CategoricalNB": "estimators.categorical",
    "PoissonNB": "estimators.naive_bayes",
    "NaiveBayes": "estimators.naive_bayes",
    "GaussianDiscriminantAnalysis": "estimators.gda",
    "LinearDiscriminantAnalysis": "estimators.lda",
    "QuadraticDiscriminantAnalysis": "estimators.qda",
    "GenerativeClassifier": "estimators.tables",
    "Decision": "estimators.decision",
    "Drift": "estimators.drift",
    "drift": "estimators.drift",
    "Decisions": "posterior.decide",
    "mean_cost": "posterior.decide",
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
    "Text": "families",
    "VonMises": "families",
    "DataWarning": "data.warn",
    "DroppedColumnWarning": "data.warn",
    "MissingValuesWarning": "data.warn",
    "SingularClassWarning": "data.warn",
    "TextColumnWarning": "data.warn",
    "UnknownCategoryWarning": "data.warn",
    "Assumptions": "explain.assumptions",
    "check_assumptions": "explain.assumptions",
    "Explanation": "explain.terms",
    "Summary": "explain.summary",
    "Parameters": "explain.parameters",
    "Family": "core.family",
    "check_family": "families.check",
    "register": "core.family",
    "Index": "data.labels",
    "Stats": "core.stats",
    "Model": "core.model",
    "InputError": "data.errors",
    "ModelFileError": "data.errors",
    "load": "files.store",
    "normal_logpdf": "explain.density",
    "Comparison": "comparison.result",
    "compare": "comparison.study",
    "Truth": "comparison.simulate",
    "simulate": "comparison.simulate",
    "Report": "reports.report",
    "report": "reports.report",
    "LogisticForm": "core.logistic",
    "set_threads": "kernels.runtime.threads",
    "warm_up": "warm",
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
    "Comparison",
    "ComplementNB",
    "DataWarning",
    "Decision",
    "Decisions",
    "Drift",
    "DroppedColumnWarning",
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
    "LinearDiscriminantAnalysis",
    "LogNormal",
    "LogisticForm",
    "MissingValuesWarning",
    "Model",
    "ModelFileError",
    "Multinomial",
    "MultinomialNB",
    "MultivariateGaussian",
    "NaiveBayes",
    "Parameters",
    "Poisson",
    "PoissonNB",
    "QuadraticDiscriminantAnalysis",
    "Report",
    "SingularClassWarning",
    "Stats",
    "Summary",
    "Text",
    "TextColumnWarning",
    "TextNB",
    "Truth",
    "UnknownCategoryWarning",
    "VonMises",
    "WordCounts",
    "check_assumptions",
    "check_family",
    "compare",
    "drift",
    "load",
    "mean_cost",
    "normal_logpdf",
    "register",
    "report",
    "set_threads",
    "simulate",
    "warm_up",
]

if TYPE_CHECKING:
    from typing import Any

    from .comparison.result import Comparison
    from .comparison.simulate import Truth, simulate
    from .comparison.study import compare
    from .core.family import Family, register
    from .core.logistic import LogisticForm
    from .core.model import Model
    from .core.stats import Stats
    from .data.errors import InputError, ModelFileError
    from .data.labels import Index
    from .data.warn import (
        DataWarning,
        DroppedColumnWarning,
        MissingValuesWarning,
        SingularClassWarning,
        TextColumnWarning,
        UnknownCategoryWarning,
    )
    from .estimators.categorical import CategoricalNB
    from .estimators.decision import Decision
    from .estimators.drift import Drift, drift
    from .estimators.gda import GaussianDiscriminantAnalysis
    from .estimators.lda import LinearDiscriminantAnalysis
    from .estimators.naive_bayes import BernoulliNB, GaussianNB, NaiveBayes, PoissonNB
    from .estimators.qda import QuadraticDiscriminantAnalysis
    from .estimators.tables import GenerativeClassifier
    from .estimators.text import ComplementNB, MultinomialNB
    from .estimators.texts import TextNB
    from .estimators.word_counts import WordCounts
    from .explain.assumptions import Assumptions, check_assumptions
    from .explain.density import normal_logpdf
    from .explain.parameters import Parameters
    from .explain.summary import Summary
    from .explain.terms import Explanation
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
        Text,
        VonMises,
    )
    from .families.check import check_family
    from .files.store import load
    from .kernels.runtime.threads import set_threads
    from .posterior.decide import Decisions, mean_cost
    from .reports.report import Report, report
    from .warm import warm_up

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
