"""Settings that are none, clash, or are priors of other classes: refused by name."""

from __future__ import annotations

import inspect
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import EmpiricalCovariance

import suffit
from every_estimator import DEFAULTS
from refusals import (
    BATCHED,
    CORE,
    X,
    Y,
    both_states,
    changing,
    fitted,
    refused,
)
from suffit import (
    GDA,
    LDA,
    QDA,
    Bernoulli,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Gamma,
    Gaussian,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    VonMises,
)

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


PRIOR = [42, "flat", "Uniform"]


SMOOTHED = {
    "alpha": [
        -1,
        "much",
        None,
        np.nan,
        [1.0, -1.0, 1.0],
        [1.0, 1.0],
        [np.nan, 1.0, 1.0],
        [np.inf, 1.0, 1.0],
        [],
    ],
    "fit_prior": ["yes", 2, None],
    "class_prior": [42, "flat"],
    "prior_smoothing": [-1, "some", None, np.nan],
}


FORCED = {**SMOOTHED, "force_alpha": ["yes", 2, None]}


BAD_SETTINGS = {
    GaussianNB: {
        "priors": PRIOR,
        "var_smoothing": [-1, "some", None, np.nan],
        "floor": ["row", 1, None],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    BernoulliNB: {**FORCED, "binarize": ["yes", -1, np.nan]},
    MultinomialNB: {**FORCED, "input": ["words", None, 1]},
    ComplementNB: {**FORCED, "input": ["words", None, 1], "norm": ["yes", 2, None]},
    CategoricalNB: {
        **FORCED,
        "alpha": [-1, "much", [1.0, 1.0, 1.0]],
        "min_categories": [0, -1, 2.5, "two", [2, 2]],
    },
    PoissonNB: {**SMOOTHED},
    NaiveBayes: {
        "family": ["cauchy", "multinomial", "categorical", "multivariate_gaussian", 3, None, Gaussian],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    GDA: {
        "covariance": ["round", None, 1],
        "tie": [-0.1, 1.1, "half", None, np.nan],
        "shrinkage": [-0.1, 1.1, "auto", np.nan],
        "denominator": ["n", None, 1],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    LDA: {
        "solver": ["qr", None, 1],
        "shrinkage": [-0.1, 1.1, "oas", np.nan],
        "priors": PRIOR,
        "n_components": [0, -1, 1.5, "all", 3],
        "store_covariance": ["yes", None],
        "tol": [-1, "small", None, np.nan],
        "covariance_estimator": [3, "oas"],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    QDA: {
        "solver": ["lsqr", None, 1],
        "shrinkage": [-0.1, 1.1, "oas", np.nan],
        "priors": PRIOR,
        "reg_param": [-0.1, 1.1, "some", None, np.nan],
        "store_covariance": ["yes", None],
        "tol": [-1, "small", None, np.nan],
        "covariance_estimator": [3, "oas"],
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
    GenerativeClassifier: {
        "structure": ["some", 1, None],
        "columns": ["all", None, 3, ["x0"]],
        "missing": ["drop", None, 1],
        "unknown": ["drop", None, 1],
        "missing_target": ["ignore", None, 1],
        "priors": PRIOR,
        "prior_smoothing": SMOOTHED["prior_smoothing"],
    },
}


for bad in BAD_SETTINGS.values():
    bad["calibrate"] = ["platt", True, 1]


BAD_SETTINGS[GenerativeClassifier]["select"] = ["best", True, 1]


BAD_SETTINGS[GenerativeClassifier]["criterion"] = ["aic", True, None]


@pytest.mark.parametrize("make", BAD_SETTINGS)
def test_every_setting_is_tried(make):
    assert set(BAD_SETTINGS[make]) == set(inspect.signature(make).parameters)


@pytest.mark.parametrize(("make", "setting"), [(make, k) for make, table in BAD_SETTINGS.items() for k in table])
def test_unknown_settings_are_refused(make, setting):
    methods = ["fit"] if setting in ("n_components", "covariance_estimator") else ["fit", "partial_fit"]
    for est in (make(), make().fit(X, Y)):
        for value in BAD_SETTINGS[make][setting]:
            est.set_params(**{setting: value})
            for method in methods:
                message = refused(est, lambda e, m=method: getattr(e, m)(X, Y))
                assert setting in message or setting.rstrip("s") in message, (value, message)


SETTINGS_THAT_CLASH = [
    (GDA("diagonal", shrinkage="oas"), "needs covariance='full'.*use a number", ValueError),
    (GDA("spherical", shrinkage="ledoit-wolf"), "needs covariance='full'.*use a number", ValueError),
    (LDA(shrinkage="auto"), "shrinkage not supported with 'svd'", NotImplementedError),
    (LDA(shrinkage=0.5), "use solver='eigen'", NotImplementedError),
    (QDA(shrinkage=0.5), "use solver='eigen'", NotImplementedError),
    (LDA(covariance_estimator=EmpiricalCovariance()), "not supported with svd", ValueError),
    (QDA(covariance_estimator=EmpiricalCovariance()), "Try solver='eigen'", ValueError),
    (LDA("lsqr", 0.1, covariance_estimator=EmpiricalCovariance()), "Only one of the two", ValueError),
    (
        QDA(solver="eigen", shrinkage=0.1, covariance_estimator=EmpiricalCovariance()),
        "Only one of the two",
        ValueError,
    ),
]


@pytest.mark.parametrize(("est", "match", "error"), SETTINGS_THAT_CLASH)
def test_settings_that_clash_are_refused(est, match, error):
    refused(clone(est), lambda e: e.fit(X, Y), match, error)


@pytest.mark.parametrize("name", ["LDA-estimator", "QDA-estimator"])
def test_a_covariance_estimator_takes_neither_weights_nor_batches(name):
    for est in both_states(name):
        refused(est, lambda e: e.fit(X, Y, np.ones(24)), "use one of the two")
        refused(est, lambda e: e.partial_fit(X, Y), "use fit, or shrinkage")


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: VonMises(period=0), "period"),
        (lambda: VonMises(period=-24), "period"),
        (lambda: VonMises(period=np.nan), "period"),
        (lambda: Gamma(alpha=-1), "alpha"),
        (lambda: Bernoulli(alpha=-0.5), "alpha"),
        (lambda: Gaussian(tie=2), "tie"),
        (lambda: Gaussian(shrinkage=-1), "shrinkage"),
        (lambda: Gaussian(smoothing=-1), "smoothing"),
        (lambda: Gaussian(floor="row"), "floor"),
    ],
)
def test_bad_settings_of_family_objects_are_refused(make, name):
    """When the family is made or when it is fitted, but not by numbers that mean nothing."""
    with pytest.raises((ValueError, TypeError), match=name):
        NaiveBayes(make()).fit(X, Y)


BAD_PRIORS = {
    "short": ([0.5, 0.5], "2 priors, 3 classes"),
    "long": ([0.25] * 4, "4 priors, 3 classes"),
    "negative": ([-0.1, 0.6, 0.5], "non-negative, found -0.1"),
    "unknown label": ({"a": 0.5, "b": 0.25, "z": 0.25}, "'z'.*classes.*'a'"),
    "label missing": ({"a": 0.5, "b": 0.5}, "'c'.*classes"),
    "label too many": ({"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}, "'d'.*classes"),
    "NaN": ([np.nan, 0.5, 0.5], "nan|NaN"),
    "all zero": ([0.0, 0.0, 0.0], "0"),
    "infinite": ([np.inf, 0.0, 0.0], "inf"),
    "words": (["much", "some", "none"], "much"),
    "number": (1.0, "1 priors, 3 classes|number of classes"),
    "word": ("flat", "'flat'"),
    "nested": ([[0.2, 0.3, 0.5]] * 2, "6 priors, 3 classes"),
    "None inside": ([None, 0.5, 0.5], "None|nan"),
}


def prior_setting(name):
    return "priors" if "priors" in CORE[name].get_params() else "class_prior"


@pytest.mark.parametrize("case", BAD_PRIORS)
@pytest.mark.parametrize("name", ["GaussianNB", "MultinomialNB", "LDA-lsqr", "GenerativeClassifier"])
def test_bad_priors_are_refused(name, case):
    prior, match = BAD_PRIORS[case]
    unfitted, known = both_states(name)
    refused(known, lambda e: e.with_prior(prior), match)
    if case in ("word", "number"):
        match = prior_setting(name)  # refused as a setting
    for est in (unfitted, known):
        est.set_params(**{prior_setting(name): prior})
        batches = est is unfitted or name not in ("LDA-lsqr", "LDA-eigen")  # with priors they keep other sums
        for method in changing(name) if batches else ["fit"]:
            refused(est, lambda e, m=method: getattr(e, m)(X, Y), match)


@pytest.mark.parametrize("how", ["setting", "with_prior"])
@pytest.mark.parametrize("name", [k for k in CORE if k in DEFAULTS])
def test_priors_that_do_not_sum_to_one(name, how):
    """Refused, or the answer is that of the shares they stand for, densities included."""
    wrong = np.array([2.0, 1.0, 1.0])
    make = {
        "setting": lambda p: fitted(name, **{prior_setting(name): p}),
        "with_prior": lambda p: fitted(name).with_prior(p),
    }[how]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            est = make(wrong)
        except ValueError as error:
            assert re.search("sum of the priors.*found 4", str(error))  # noqa: PT017
            return
    reference = make(wrong / 4)
    np.testing.assert_allclose(est.predict_proba(X), reference.predict_proba(X))
    np.testing.assert_allclose(est.predict_joint_log_proba(X), reference.predict_joint_log_proba(X))
    np.testing.assert_allclose(est.score_samples(X), reference.score_samples(X))


@pytest.mark.parametrize("name", [k for k in BATCHED if k in DEFAULTS])
def test_a_prior_that_fits_no_longer_stops_a_new_class(name):
    est = clone(CORE[name]).set_params(**{prior_setting(name): [0.4, 0.6]}).fit(X[:16], Y[:16])
    est._probe = X
    refused(est, lambda e: e.partial_fit(X, Y), "2 priors, 3 classes")


def test_with_prior_of_complement_takes_no_part_in_predictions():
    batch = ComplementNB().partial_fit(X, Y)  # not solved yet
    for est in (batch, fitted("ComplementNB")):
        new = est.with_prior([0.998, 0.001, 0.001])
        np.testing.assert_allclose(new.predict_proba(X), fitted("ComplementNB").predict_proba(X))
        np.testing.assert_allclose(np.exp(new.class_log_prior_), [0.998, 0.001, 0.001])


def test_every_public_estimator_is_here():
    public = {getattr(suffit, k) for k in suffit.__all__ if hasattr(getattr(suffit, k), "predict_proba")}
    public -= {suffit.Decision, suffit.TextNB}  # around an estimator: test_decide.py; takes texts: test_texts.py
    assert {type(e) for e in CORE.values()} == {k for k in public if hasattr(k, "fit")} == set(BAD_SETTINGS)
