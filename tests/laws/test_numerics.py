"""Hard numbers: offsets, tiny and huge scales, far points, singular classes, and bounded memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse

import suffit
from cases import FAMILIES
from suffit import SingularClassWarning

GAUSSIAN = {
    "GaussianNB": lambda: suffit.GaussianNB(),
    "LDA": lambda: suffit.LDA(),
    "LDA-eigen": lambda: suffit.LDA(solver="eigen", shrinkage=0.1),
    "QDA": lambda: suffit.QDA(),
    "GDA-tied": lambda: suffit.GDA(tie=0.5),
    "GDA-diagonal": lambda: suffit.GDA("diagonal"),
    "GDA-spherical-shared": lambda: suffit.GDA("spherical", tie=1),
    "GDA-oas": lambda: suffit.GDA(shrinkage="oas"),
    "GDA-ledoit-wolf": lambda: suffit.GDA(shrinkage="ledoit-wolf"),
}
every_gaussian = pytest.mark.parametrize("make", GAUSSIAN.values(), ids=GAUSSIAN.keys())


def three_classes(seed: int = 0, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 3)) @ np.array([[1, 0.4, 0], [0, 1, 0.2], [0, 0, 0.7]])
    return X + np.array([[0, 0, 0], [1, 0.5, 0], [0.2, -1, 1]])[y], y


@every_gaussian
@pytest.mark.parametrize(
    ("dtype", "offset"), [(np.float64, 10.0**e) for e in range(9)] + [(np.float32, 10.0**e) for e in range(7)]
)
def test_an_offset_does_not_change_the_posterior(make, dtype, offset):
    X, y = three_classes()
    moved = (X + offset).astype(dtype)
    centred = moved.astype(np.float64) - offset  # the copy that was stored, exactly
    a, b = make().fit(moved, y), make().fit(centred, y)
    np.testing.assert_allclose(a.predict_proba(moved), b.predict_proba(centred), atol=1e-6)


@pytest.mark.parametrize("name", ["QDA", "GDA-diagonal", "GDA-oas", "GDA-ledoit-wolf"])  # own covariances
def test_a_far_third_class_does_not_blur_two_near_ones(name):
    make = GAUSSIAN[name]
    X, y = three_classes(1)
    X = X + np.where((y == 2)[:, None], 1e7, 0.0)
    near = y != 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularClassWarning)
        three, two = make().fit(X, y), make().fit(X[near], y[near])
    a = three.predict_proba(X[near])[:, :2]
    np.testing.assert_allclose(a / a.sum(axis=1, keepdims=True), two.predict_proba(X[near]), atol=1e-6)


def test_shared_scores_are_exact_beside_a_far_class():
    """Scores relative to the nearest mean: error ε·r, where squared distances have ε·r²."""
    from mpmath import mp, mpf

    means = np.array([[0.0, 0.0], [1.0, 0.5], [1e7, 1e7]])
    scorer = suffit.families.gaussian.joint.SharedScorer(means, np.eye(2), np.eye(2), 0.0, 2, ("a", "b"), 0)
    x = np.array([[0.3, 0.4], [0.9, 0.1], [3e6, -2e6]])
    s = scorer.scores(x)
    with mp.workdps(40):
        for i, row in enumerate(x):
            d = [sum((mpf(v) - mpf(m)) ** 2 for v, m in zip(row, mean, strict=True)) / 2 for mean in means]
            assert abs((s[i, 1] - s[i, 0]) - (d[0] - d[1])) <= 1e-9 * max(1, abs(d[0] - d[1]))


@pytest.mark.parametrize("place", [0.0, 1.0, 1000.0])
def test_a_tiny_spread_beside_far_means_keeps_its_digits(place):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 500)
    X = (place + y + 1e-6 * rng.normal(size=1000))[:, None]
    for model in (
        suffit.GaussianNB(var_smoothing=0).fit(X, y),
        suffit.GDA("diagonal").fit(X, y),
        suffit.QDA().fit(X, y),
    ):
        var = model.var_ if hasattr(model, "var_") else np.array(list(model._scorer().covariances())).reshape(2, 1)
        for c in (0, 1):
            exact = np.var((X[y == c] - X[y == c][0]).astype(np.longdouble))
            assert abs(var[c, 0] / exact - 1) < 1e-9


def test_a_useful_feature_of_small_scale_beside_large_noise():
    from sklearn.naive_bayes import GaussianNB as Peer

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=4000)
    X = np.c_[(rng.normal(size=4000) + 6 * y) * 1e-6, rng.normal(size=4000) * 1e4]
    assert suffit.GaussianNB().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) > 0.995
    assert Peer().fit(X[:2000], y[:2000]).score(X[2000:], y[2000:]) < 0.6  # the reason for the default


@every_gaussian
@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1e30, 1e150])
def test_the_unit_of_measurement_does_not_matter(make, scale):
    X, y = three_classes()
    if scale in (1e150, 1e-150) and "ledoit" in str(make().get_params().get("shrinkage")):
        with pytest.raises(suffit.InputError, match="rescale"):  # fourth powers lie beyond double precision
            make().fit(X * scale, y)
        return
    a, b = make().fit(X, y), make().fit(X * scale, y)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X * scale), atol=1e-9)


@every_gaussian
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("size", [1e10, 1e100, 1e200, 1e300])
def test_points_at_any_distance_have_a_posterior(make, scale, size):
    if scale != 1.0 and "ledoit" in str(make().get_params().get("shrinkage")):
        return  # refused at fit: see above
    X, y = three_classes()
    model = make().fit(X * scale, y)
    rng = np.random.default_rng(1)
    far = rng.choice([-1.0, 1.0], size=(40, 3)) * rng.uniform(0.1, 1, size=(40, 3)) * size
    p = model.predict_proba(far)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert not np.isnan(model.predict_log_proba(far)).any()
    assert not np.isnan(model.score_samples(far)).any()
    assert model.predict(far).tolist() == right_class(model, far).tolist()


def right_class(model, far: np.ndarray) -> np.ndarray:
    """The class with the largest score, in exact rational arithmetic from the solved parameters."""
    from mpmath import matrix, mp, mpf

    scorer = model._scorer()
    with mp.workdps(700):
        best = []
        precisions = [mp.inverse(matrix([[mpf(v) for v in r] for r in cov])) for cov in scorer.covariances()]
        log_dets = [mp.log(mp.det(matrix([[mpf(v) for v in r] for r in cov]))) for cov in scorer.covariances()]
        for x in far:
            scores = []
            for c, mean in enumerate(scorer.means):
                d = matrix([mpf(a) - mpf(b) for a, b in zip(x, mean, strict=True)])
                q = (d.T * precisions[c] * d)[0]
                scores.append(-(q + log_dets[c]) / 2 + mpf(model._solved.log_prior[c]))
            best.append(max(range(len(scores)), key=scores.__getitem__))
    return model.classes_[best]


@pytest.mark.parametrize("family", [k for k, row in FAMILIES.items() if row.support == (0, np.inf)])
def test_far_counts_and_amounts_have_a_posterior(family):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200)
    X = rng.poisson(2 + 3 * y[:, None], size=(200, 2)) + 1.0
    p = suffit.NaiveBayes(family).fit(X, y).predict_proba(np.array([[1e300, 1e300], [1e300, 1.0], [1e-300, 1e-300]]))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if family != "lognormal":  # quadratic in log x: the far end belongs to the wider class
        assert p[0].argmax() == 1  # more of everything


@pytest.mark.parametrize("make", [GAUSSIAN[k] for k in ("QDA", "GDA-tied", "GDA-ledoit-wolf", "GDA-oas")])
def test_a_singular_class_is_answered_with_a_warning_that_names_it(make):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 6)), rng.normal(size=(3, 6)) + 4])
    y = np.array(["many"] * 40 + ["few"] * 3)
    if make().get_params().get("tie") or make().get_params().get("shrinkage"):
        model = make().fit(X, y)
    else:
        with pytest.warns(SingularClassWarning, match="'few'"):
            model = make().fit(X, y)
    assert model.score(X, y) == 1.0
    assert np.isfinite(model.predict_proba(rng.normal(size=(50, 6)) * 100)).all()


def test_singular_cases_never_crash():
    rng = np.random.default_rng(0)
    base = rng.normal(size=(30, 2))
    collinear = np.c_[base, base.sum(axis=1), np.full(30, 7.0)]
    y = np.arange(30) % 3
    one_row = np.r_[y[:-1], 9]
    for make in GAUSSIAN.values():
        for labels in (y, one_row):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = make().fit(collinear, labels)
                p = model.predict_proba(collinear * 3)
            assert np.isfinite(p).all()
            assert all(issubclass(w.category, SingularClassWarning) for w in caught)


def test_a_constant_column_says_nothing():
    X, y = three_classes()
    for value in (0.0, 0.1, 1e9):
        padded = np.c_[X, np.full(len(X), value)]
        for make in GAUSSIAN.values():
            if "spherical" in str(make().get_params().get("covariance")) or make().get_params().get("shrinkage"):
                continue  # the constant column lowers the mean variance that all columns share
            a, b = make().fit(X, y), make().fit(padded, y)
            np.testing.assert_allclose(b.predict_proba(padded), a.predict_proba(X), atol=1e-7)


@every_gaussian
def test_sparse_input_equals_dense(make):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((300, 5)) < 0.5, 0.0, rng.normal(size=(300, 5)) + 2)
    y = rng.integers(0, 3, size=300)
    dense = make().fit(X, y)
    for convert in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array):
        model = make().fit(convert(X), y)
        np.testing.assert_allclose(model._scorer().means, dense._scorer().means, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(model.predict_proba(convert(X)), dense.predict_proba(X), atol=1e-10)
        np.testing.assert_allclose(model.predict_proba(X), dense.predict_proba(X), atol=1e-10)


def test_wide_sparse_data_are_never_made_dense():
    """20 000 rows of 200 000 columns would be 32 GB dense."""
    rng = np.random.default_rng(0)
    X = sparse.random(20_000, 200_000, density=2e-5, random_state=rng, format="csr")
    y = rng.integers(0, 2, size=20_000)
    for model in (suffit.GaussianNB(), suffit.BernoulliNB(), suffit.MultinomialNB(), suffit.ComplementNB()):
        assert np.isfinite(model.fit(X, y).predict_proba(X[:100])).all()


MEMORY = """
import json, sys, numpy as np, suffit
def peak():
    return int(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1]) * 1024
def reset():
    open('/proc/self/clear_refs', 'w').write('5')
rng = np.random.default_rng(0)
X = np.empty((2_000_000, 50))
for i in range(0, len(X), 100_000):
    X[i:i + 100_000] = rng.standard_normal((100_000, 50))
y = rng.integers(0, 4, size=len(X))
out = {}
for name in sys.argv[1:]:
    make = eval('suffit.' + name)
    make().fit(X[:2000], y[:2000]).predict_proba(X[:2000])
    reset(); before = peak()
    model = make().fit(X, y)
    fit = peak() - before
    reset(); before = peak()
    p = model.predict_proba(X)
    out[name] = (fit, peak() - before - p.nbytes)
    del p
print(json.dumps(out))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read from /proc")
def test_memory_beyond_input_and_output_is_bounded():
    names = ["GaussianNB", "LDA", "QDA"]
    done = subprocess.run([sys.executable, "-c", MEMORY, *names], capture_output=True, text=True, check=True)
    for name, (fit, predict) in json.loads(done.stdout).items():
        assert fit <= 64e6, f"{name}: fit of 2M×50 took {fit / 1e6:.0f} MB beyond the input"
        assert predict <= 64e6, f"{name}: predict_proba of 2M×50 took {predict / 1e6:.0f} MB beyond input and output"


@pytest.mark.parametrize(("name", "tables"), [("BernoulliNB", 2), ("MultinomialNB", 1), ("ComplementNB", 1)])
def test_the_first_predict_on_many_words_takes_little_more_than_its_tables(name, tables):
    rng = np.random.default_rng(0)
    X = sparse.random_array((2000, 100_000), density=5e-4, format="csr", random_state=rng)
    model = getattr(suffit, name)().fit(X, np.arange(2000) % 20)
    tracemalloc.start()
    try:
        model.predict_proba(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    table = 20 * 100_000 * 8
    assert peak <= tables * table + 20e6, f"{peak / 1e6:.0f} MB, with {tables} tables of {table / 1e6:.0f}"
