"""Whatever finite comes in: a posterior, never NaN."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils import get_tags

from cases import FAMILIES
from refusals import (
    BATCHED,
    CORE,
    VARIANTS,
    X,
    Y,
    fitted,
)
from suffit import (
    GDA,
    LDA,
    InputError,
)
from suffit.data.validate import MOST_WEIGHT

pytestmark = [  # classes that do not vary
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_constant_column(name):
    wide = np.c_[X, np.full(24, 0.25)]
    est = fitted(name, wide)
    assert np.isfinite(est.predict_proba(wide)).all()
    assert not np.isnan(est.score_samples(wide)).any()
    gaussian = get_tags(est).input_tags.sparse and ("GDA" in name or "DA" in name or "Gaussian" in name)
    if gaussian and est.get_params().get("shrinkage") is None and "reg" not in name and "spherical" not in name:
        np.testing.assert_allclose(est.predict_proba(wide), fitted(name).predict_proba(X), atol=1e-9)
        if "largest" in name:
            return  # scikit-learn's rule gives a constant column a variance
        off = np.c_[X, np.full(24, 7.25)]
        np.testing.assert_allclose(est.predict_proba(off), est.predict_proba(wide), atol=1e-9)


FAMILY_OF = {"PoissonNB": "poisson", "MultinomialNB": "poisson", "ComplementNB": "poisson"}


def inside(name, values):
    """Values moved into the support of the estimator."""
    a = np.asarray(values, dtype=np.float64)
    row = FAMILIES.get(FAMILY_OF.get(name.split("-")[0], name.removeprefix("NaiveBayes-")))
    if row is None or not row.outside:
        return a
    least = 0.0 if row.takes_zero else 1e-300
    most = 1 - 1e-16 if row.support[1] == 1 else np.inf
    return np.clip(np.abs(a), least, most)


def proper(est, rows):
    """A posterior is finite and sums to 1; no NaN among logarithms and densities."""
    p = est.predict_proba(rows)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    assert ((p >= 0) & (p <= 1)).all()
    log_p = est.predict_log_proba(rows)
    assert not np.isnan(log_p).any()
    np.testing.assert_allclose(np.exp(log_p), p, atol=1e-9)
    assert not np.isnan(est.predict_joint_log_proba(rows)).any()
    density = est.score_samples(rows)
    assert not np.isnan(density).any()
    chosen = [est.classes_.tolist().index(label) for label in est.predict(rows)]
    np.testing.assert_allclose(log_p[np.arange(len(p)), chosen], log_p.max(axis=1), rtol=1e-9, atol=1e-9)


def quick(n):
    return settings(
        max_examples=n,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


anything = st.floats(-1e300, 1e300, allow_subnormal=False)


magnitudes = st.builds(lambda s, e: s * 10.0**e, st.sampled_from([-1.0, 1.0]), st.integers(-300, 300))


@pytest.mark.filterwarnings("ignore::suffit.UnknownCategoryWarning")  # most numbers are no known category
@pytest.mark.parametrize("name", VARIANTS)
def test_any_finite_row_has_a_posterior(name):
    est = fitted(name)

    @quick(12)
    @given(st.lists(st.tuples(*[anything | magnitudes] * 3), min_size=1, max_size=6))
    @example([(1e300, -1e300, 1e300)])
    @example([(1e300, 1e160, 1e-300), (0.5, 0.5, 0.5), (1e155, 0.0, 0.0)])
    def check(rows):
        proper(est, inside(name, rows))

    check()


SCALES = [(k, scale) for scale in (1e-150, 1.0, 1e150) for k in (VARIANTS if scale == 1.0 else CORE)]


@st.composite
def training_data(draw):
    """Small integers times a scale, some columns constant, classes of any size from one row."""
    p = draw(st.integers(1, 5))
    y = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=10))
    y[:3] = ["a", "b", "a"][: len(y)]
    cells = st.integers(-5, 5)
    rows = np.array([draw(st.tuples(*[cells] * p)) for _ in y], dtype=float)
    constant = draw(st.lists(st.booleans(), min_size=p, max_size=p))
    rows[:, constant] = rows[0, constant]
    return rows, y


@pytest.mark.filterwarnings("ignore::UserWarning:sklearn")  # an estimator of covariances sees one row of a class
@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # constant columns, numbers that are no known category
@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_any_finite_training_data_give_a_posterior(name, scale):
    @quick(12)
    @given(training_data())
    @example((np.zeros((4, 2)), list("abab")))
    @example((np.ones((3, 1)), list("aba")))
    @example((np.arange(15.0).reshape(3, 5), list("aba")))
    def check(data):
        rows, y = data
        rows = inside(name, rows / 7 if "beta" in name else rows) * (1 if "beta" in name else scale)
        rows = inside(name, rows)
        try:
            est = fitted(name, rows, y)
        except InputError as error:
            if name == "GenerativeClassifier":
                assert "no column can be used" in str(error)  # noqa: PT017  (all columns are constant)
                return
            assert "rescale" in str(error)  # noqa: PT017  (fourth powers overflow: a clear answer)
            assert "auto" in name or "eigen" in name or "ledoit-wolf" in name
            return
        except ValueError as error:
            assert "more than the number of classes" in str(error)  # noqa: PT017
            return
        proper(est, rows)
        proper(est, inside(name, np.r_[rows * 1e3, rows + 1, np.full((1, rows.shape[1]), 1e300)]))

    check()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("calibrate", [None, "temperature", "isotonic"])
@pytest.mark.parametrize("weight", [1e-300, 1e-100, 1e50, MOST_WEIGHT / 10])
@pytest.mark.parametrize("name", BATCHED)
def test_weights_of_any_size_give_a_posterior(name, weight, calibrate):
    est = clone(CORE[name])
    if calibrate:
        est.set_params(calibrate=calibrate)
    weights = weight * np.linspace(1, 10, len(X))
    proper(est.fit(X, Y, sample_weight=weights), X)
    weights[::3] = 1e-300
    proper(est.fit(X, Y, sample_weight=weights), X)


@pytest.mark.parametrize(("name", "scale"), SCALES)
def test_far_rows_do_not_depend_on_their_batch(name, scale):
    """The posterior of a row is the same alone and beside rows that are further out."""
    scale = 1.0 if "beta" in name or "Categorical" in name else scale
    try:
        est = fitted(name, X * scale)
    except InputError as error:
        assert "rescale" in str(error)  # noqa: PT017
        return
    far = np.array([0.3, 3.0, 1e5, 1e8, 1e40, 1e100, 1e140])[:, None] * [1.0, -2.0, 0.5] * scale
    rows = inside(name, np.r_[far, [[1e300, 3e299, 1e299]], X * scale])
    alone = np.concatenate([est.predict_proba(rows[i : i + 1]) for i in range(len(rows))])
    np.testing.assert_allclose(est.predict_proba(rows), alone, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize(
    "name",
    [k for k, e in VARIANTS.items() if isinstance(e, LDA) or (isinstance(e, GDA) and e.tie == 1)],
)
def test_a_linear_boundary_has_its_sides_however_far_out(name, scale):
    """One column, "b" right of "a": far right is "b" and far left "a", at any scale."""
    x = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])[:, None] * scale
    for labels in (list("aaabbb"), list("bbbaaa")):
        try:
            est = clone(VARIANTS[name]).fit(x, labels)
        except InputError as error:
            assert "rescale" in str(error)  # noqa: PT017
            return
        for far in (10 * scale, 1e5 * scale, 1e155, 1e200, 1e300):
            assert est.predict([[-far], [far]]).tolist() == [labels[0], labels[-1]], far
            np.testing.assert_allclose(est.predict_proba([[far]]).max(), 1)
