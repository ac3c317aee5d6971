"""scikit-learn's conventions: its own checks; pipelines, searches, frames, labels, containers, pickles."""

from __future__ import annotations

import copy
import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.covariance import OAS
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffit
from cases import EveryColumn
from suffit import (
    GDA,
    LDA,
    QDA,
    Bernoulli,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    GenerativeClassifier,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    VonMises,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning"),
]

DEFAULTS = {
    "GaussianNB": GaussianNB(),
    "BernoulliNB": BernoulliNB(),
    "MultinomialNB": MultinomialNB(),
    "ComplementNB": ComplementNB(),
    "CategoricalNB": CategoricalNB(),
    "PoissonNB": PoissonNB(),
    "NaiveBayes": NaiveBayes(),
    "GDA": GDA(),
    "LDA": LDA(),
    "QDA": QDA(),
    "GenerativeClassifier": GenerativeClassifier(),
}
VARIANTS = {
    **DEFAULTS,
    "BernoulliNB": BernoulliNB(binarize=0.45),
    "GaussianNB-largest": GaussianNB(floor="largest"),
    "NaiveBayes-vonmises": NaiveBayes(VonMises(period=24)),
    "NaiveBayes-poisson": NaiveBayes("poisson"),
    "NaiveBayes-exponential": NaiveBayes("exponential"),
    "NaiveBayes-geometric": NaiveBayes("geometric"),
    "NaiveBayes-bernoulli": NaiveBayes(Bernoulli(threshold=0.45)),
    "NaiveBayes-gamma": NaiveBayes("gamma"),
    "NaiveBayes-beta": NaiveBayes("beta"),
    "NaiveBayes-lognormal": NaiveBayes("lognormal"),
    "GDA-diagonal": GDA("diagonal"),
    "GDA-spherical": GDA("spherical"),
    "GDA-tied": GDA(tie=1),
    "GDA-diagonal-tied": GDA("diagonal", tie=1),
    "GDA-half": GDA(tie=0.5, shrinkage=0.1),
    "GDA-oas": GDA(shrinkage="oas"),
    "GDA-ledoit-wolf": GDA(shrinkage="ledoit-wolf"),
    "LDA-lsqr": LDA("lsqr", "auto"),
    "LDA-eigen": LDA("eigen", 0.1),
    "LDA-estimator": LDA("eigen", covariance_estimator=OAS()),
    "QDA-eigen": QDA(solver="eigen", shrinkage="auto"),
    "GenerativeClassifier-informative": GenerativeClassifier(missing="informative", unknown="novel"),
    "GenerativeClassifier-loo": GenerativeClassifier(criterion="loo", structure="naive"),
}
# the checks use negative values; as in scikit-learn, "lsqr" has no transform and an estimator bars weights
NOT_CHECKED = [*(f"NaiveBayes-{k}" for k in ("poisson", "exponential", "geometric", "gamma", "beta", "lognormal"))]
NOT_CHECKED += ["LDA-lsqr", "LDA-estimator", "NaiveBayes-bernoulli"]
CHECKED = [
    NaiveBayes("bernoulli"),
    GenerativeClassifier({EveryColumn(): "gaussian"}),
    *DEFAULTS.values(),
    *(e for k, e in VARIANTS.items() if k not in {*DEFAULTS, *NOT_CHECKED}),
]

# one decimal in (0, 1): in the support of every family, categories and counts included
rng = np.random.default_rng(1)
CODES = np.repeat([0, 1, 2], 20)
X = np.round(rng.beta(np.array([[1, 4, 7, 2], [4, 7, 1, 3], [7, 1, 4, 5]])[CODES], 4).clip(0.1, 0.9), 1)
Y = np.array(["ham", "spam", "eggs"])[CODES]
COLUMNS = ["a", "b", "c", "d"]

every = pytest.mark.parametrize("name", VARIANTS)


def make(name, **params):
    return clone(VARIANTS[name]).set_params(**params)


def same(a, b, rows=X, exact=True):
    """Both estimators answer alike."""
    compare = np.testing.assert_array_equal if exact else lambda p, q: np.testing.assert_allclose(p, q, atol=1e-9)
    compare(a.predict_proba(rows), b.predict_proba(rows))
    np.testing.assert_array_equal(a.predict(rows), b.predict(rows))
    compare(a.score_samples(rows), b.score_samples(rows))


# --- scikit-learn's own checks


@parametrize_with_checks(CHECKED)
def test_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_every_public_estimator_is_checked():
    public = {getattr(suffit, k) for k in suffit.__all__}
    public = {k for k in public if hasattr(k, "predict_proba") and hasattr(k, "fit")}
    public.remove(suffit.Decision)  # needs an estimator: test_decide.py
    assert {type(e) for e in DEFAULTS.values()} == public
    assert public == {type(e) for e in CHECKED}
    assert all(is_classifier(e) for e in VARIANTS.values())


# --- parameters, copies, pickles


@every
def test_parameters_and_clone(name):
    est = VARIANTS[name]
    params = est.get_params()
    shallow = est.get_params(deep=False)
    assert type(est)(**shallow).get_params() == params
    fitted = make(name).fit(X, Y)
    assert fitted.get_params().keys() == params.keys()
    copied = clone(fitted)
    assert not copied.__sklearn_is_fitted__()
    assert not [k for k in vars(copied) if k not in params]
    same(copied.fit(X, Y), fitted)
    assert est.set_params(prior_smoothing=0.0) is est
    with pytest.raises(ValueError, match="Invalid parameter 'nonsense'"):
        est.set_params(nonsense=1)


@every
def test_pickle_joblib_and_copies_answer_alike(name, tmp_path):
    fitted = make(name).fit(pd.DataFrame(X, columns=COLUMNS), Y)
    frame = pd.DataFrame(X, columns=COLUMNS)
    joblib.dump(fitted, tmp_path / "model")
    back = [
        *(pickle.loads(pickle.dumps(fitted, protocol=k)) for k in range(2, pickle.HIGHEST_PROTOCOL + 1)),
        joblib.load(tmp_path / "model"),
        copy.copy(fitted),
        copy.deepcopy(fitted),
    ]
    for other in back:
        same(fitted, other, frame)
        assert other.get_params().keys() == fitted.get_params().keys()
        assert other.feature_names_in_.tolist() == COLUMNS
        assert other.classes_.tolist() == fitted.classes_.tolist()
    assert pickle.dumps(back[0]) == pickle.dumps(pickle.loads(pickle.dumps(back[0])))
    if name != "LDA-estimator":
        back[0].partial_fit(frame[:5], Y[:5]).forget(frame[:5], Y[:5])
        same(fitted, back[0], frame, exact=False)


@every
def test_repr_and_html(name):
    for est in (make(name), make(name).fit(X, Y)):
        assert repr(est).startswith(type(est).__name__ + "(")
        assert type(est).__name__ in estimator_html_repr(est)
        assert type(est).__name__ in est._repr_html_()
    text = repr(make(name))
    assert repr(eval(text, {**vars(suffit), **{k: getattr(suffit, k) for k in suffit.__all__}, "OAS": OAS})) == text


@pytest.mark.parametrize("make_model", [LDA, QDA])
def test_a_covariance_estimator_stays_as_it_was_given(make_model):
    given = OAS()
    model = make_model(solver="eigen", covariance_estimator=given).fit(X, Y)
    assert model.covariance_estimator is given
    assert vars(given) == vars(OAS())


# --- pipelines, searches, ensembles


@every
def test_pipelines_and_cross_validation(name):
    piped = make_pipeline(MinMaxScaler((0.1, 0.9)), make(name)).fit(X, Y)
    scaled = MinMaxScaler((0.1, 0.9)).fit(X).transform(X)
    np.testing.assert_array_equal(piped.predict_proba(X), make(name).fit(scaled, Y).predict_proba(scaled))
    assert piped.classes_.tolist() == ["eggs", "ham", "spam"]
    p = cross_val_predict(make(name), X, Y, cv=4, method="predict_proba")
    assert p.shape == (60, 3)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (cross_val_score(make(name), X, Y, cv=3) > 0.34).all()


GRIDS = {
    "GaussianNB": {"var_smoothing": [1e-9, 1e-2], "prior_smoothing": [0, 1.0], "priors": [None, "uniform"]},
    "BernoulliNB": {"binarize": [0.3, 0.5], "alpha": [0, 1.0]},
    "MultinomialNB": {"alpha": [0, 0.5, 1.0], "fit_prior": [True, False]},
    "ComplementNB": {"norm": [True, False]},
    "CategoricalNB": {"alpha": [0, 1.0], "min_categories": [None, 3]},
    "PoissonNB": {"alpha": [0, 1.0], "prior_smoothing": [0, 1.0]},
    "NaiveBayes": {"family": ["gaussian", "gamma", VonMises(period=1.0)]},
    "GDA": {"covariance": ["full", "diagonal"], "tie": [0, 0.5, 1], "shrinkage": [None, 0.2]},
    "LDA": {"solver": ["svd", "lsqr", "eigen"], "tol": [1e-4, 1e-2]},
    "QDA": {"reg_param": [0, 0.1, 0.5]},
    "GenerativeClassifier": {"missing": ["ignore", "informative"], "prior_smoothing": [0, 1.0]},
}


@pytest.mark.parametrize("name", GRIDS)
def test_grid_search(name):
    search = GridSearchCV(make(name), GRIDS[name], cv=3, error_score="raise").fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = make(name, **search.best_params_).fit(X, Y)
    same(search.best_estimator_, best)
    piped = Pipeline([("scale", MinMaxScaler((0.1, 0.9))), ("model", make(name))])
    grid = {f"model__{k}": v[:2] for k, v in GRIDS[name].items()}
    assert GridSearchCV(piped, grid, cv=2, error_score="raise", n_jobs=1).fit(X, Y).score(X, Y) > 0.4


@every
def test_ensembles_and_calibration(name):
    votes = VotingClassifier([("it", make(name)), ("other", LogisticRegression())], voting="soft").fit(X, Y)
    expected = (make(name).fit(X, CODES_OF_Y).predict_proba(X) + votes.estimators_[1].predict_proba(X)) / 2
    np.testing.assert_allclose(votes.predict_proba(X), expected)
    calibrated = CalibratedClassifierCV(make(name), cv=3).fit(X, Y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, Y) > 0.4
    rest = OneVsRestClassifier(make(name)).fit(X, Y)
    assert rest.predict_proba(X).shape == (60, 3)


CODES_OF_Y = np.unique(Y, return_inverse=True)[1]


def test_words_through_a_vectorizer():
    texts, labels = (
        ["spam and eggs", "eggs and ham", "cheap pills now", "pills now now"],
        ["food", "food", "ad", "ad"],
    )
    for model in (MultinomialNB(), ComplementNB(), BernoulliNB()):
        piped = make_pipeline(CountVectorizer(), model).fit(texts, labels)
        assert piped.predict(["eggs", "pills pills"]).tolist() == ["food", "ad"]


# --- transform


@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_transforms_in_unions_and_column_transformers(solver):
    lda = LDA(solver, n_components=2)
    alone = clone(lda).fit(X, Y).transform(X)
    assert alone.shape == (60, 2)
    np.testing.assert_array_equal(clone(lda).fit_transform(X, Y), alone)
    union = FeatureUnion([("lda", lda), ("pca", PCA(1))]).fit(X, Y)
    np.testing.assert_array_equal(union.transform(X)[:, :2], alone)
    frame = pd.DataFrame(X, columns=COLUMNS)
    columns = ColumnTransformer([("lda", lda, ["a", "b", "c"]), ("scale", StandardScaler(), ["d"])])
    part = frame[["a", "b", "c"]]
    np.testing.assert_array_equal(columns.fit_transform(frame, Y)[:, :2], clone(lda).fit_transform(part, Y))
    names = ["lda__lineardiscriminantanalysis0", "lda__lineardiscriminantanalysis1", "scale__d"]
    assert columns.get_feature_names_out().tolist() == names
    assert make_pipeline(columns, GaussianNB()).fit(frame, Y).score(frame, Y) > 0.6


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("solver", ["svd", "eigen"])
def test_lda_set_output(solver, library):
    frame = (pd if library == "pandas" else pl).DataFrame(dict(zip(COLUMNS, X.T, strict=True)))
    lda = LDA(solver).set_output(transform=library).fit(frame, Y)
    out = lda.transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == lda.get_feature_names_out().tolist()
    assert list(out.columns) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    np.testing.assert_array_equal(out.to_numpy(), LDA(solver).fit(X, Y).transform(X))
    if library == "pandas":
        shuffled = frame.sample(frac=1, random_state=0)
        assert lda.transform(shuffled).index.tolist() == shuffled.index.tolist()


def test_only_lda_transforms():
    assert [k for k, e in DEFAULTS.items() if hasattr(e, "transform")] == ["LDA"]


# --- metadata


@pytest.mark.parametrize("name", [k for k in VARIANTS if k != "LDA-estimator"])
def test_weights_are_routed_through_a_pipeline(name):
    weight = rng.integers(0, 3, 60).astype(float)
    scaled = MinMaxScaler((0.1, 0.9)).fit(X).transform(X)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make(name).set_fit_request(sample_weight=True)
        piped = make_pipeline(MinMaxScaler((0.1, 0.9)), asks).fit(X, Y, sample_weight=weight)
        expected = make(name).fit(scaled, Y, sample_weight=weight)
        np.testing.assert_array_equal(piped.predict_proba(X), expected.predict_proba(scaled))
        assert not np.array_equal(piped.predict_proba(X), make(name).fit(scaled, Y).predict_proba(scaled))
        with pytest.raises(ValueError, match=r"sample_weight.*not explicitly set|not requested"):
            make_pipeline(MinMaxScaler(), make(name)).fit(X, Y, sample_weight=weight)
        search = GridSearchCV(
            make(name).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
            {"prior_smoothing": [0.0, 1.0]},
            cv=2,
            error_score="raise",
        )
        assert search.fit(X, Y, sample_weight=weight).best_score_ > 0.3
        requests = make(name).set_partial_fit_request(sample_weight=True, classes=False).get_metadata_routing()
        assert requests.partial_fit.requests == {"sample_weight": True, "classes": False}


def test_weights_are_refused_beside_a_covariance_estimator():
    with pytest.raises(ValueError, match="covariance_estimator does not support sample_weight"):
        make("LDA-estimator").fit(X, Y, sample_weight=np.ones(60))


# --- feature names


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("name", [k for k in VARIANTS if "GenerativeClassifier" not in k])  # takes columns by name
def test_feature_names(name, library):
    frame = library.DataFrame(dict(zip(COLUMNS, X.T, strict=True)))
    est = make(name).fit(frame, Y)
    assert est.feature_names_in_.tolist() == COLUMNS
    assert est.n_features_in_ == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = est.predict_proba(frame)
    np.testing.assert_array_equal(p, make(name).fit(X, Y).predict_proba(X))
    for method in ("predict", "predict_proba", "score_samples"):
        with pytest.raises(ValueError, match="must be in the same order"):
            getattr(est, method)(frame[COLUMNS[::-1]])
        with pytest.raises(ValueError, match=r"Feature names unseen at fit time:\n- z"):
            getattr(est, method)(frame.rename({"b": "z"}) if library is pl else frame.rename(columns={"b": "z"}))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        np.testing.assert_array_equal(est.predict_proba(X), p)
    if name != "LDA-estimator":
        for method in ("partial_fit", "forget"):
            with pytest.raises(ValueError, match="must be in the same order"):
                getattr(est, method)(frame[COLUMNS[::-1]], Y)
        est.partial_fit(frame, library.Series(Y.tolist()))
        assert est.class_count_.tolist() == [40, 40, 40]
    est.fit(X, Y)
    assert not hasattr(est, "feature_names_in_")
    with pytest.warns(UserWarning, match="fitted without feature names"):
        est.predict(frame)


# --- labels

LABELS = {
    "int": [0, 1, 2],
    "negative": [-7, -1, 3],
    "far apart": [-(10**15), 0, 10**15],
    "int8": np.array([-100, 0, 99], dtype=np.int8),
    "int16": np.array([-20000, 0, 20000], dtype=np.int16),
    "uint8": np.array([0, 128, 255], dtype=np.uint8),
    "uint64": np.array([2**63 + 1, 2**63 + 2, 2**63 + 5], dtype=np.uint64),
    "str": ["x", "long label", "ü"],
    "bytes": [b"x", b"y", b"zz"],
    "float": [0.0, 1.0, 5.0],
    "negative float": [-2.0, 0.0, 1e10],
    "object str": np.array(["x", "y", "z"], dtype=object),
    "mixed": np.array([1, "x", 2.5], dtype=object),
    "tuples": [("a", 1), ("a", 2), ("b", 1)],
    "bool": [False, True, True],
    "dates": np.array(["2026-01-01", "2026-01-02", "2025-12-31"], dtype="M8[D]"),
}


def labels_of(kind):
    values = LABELS[kind]
    if kind == "tuples":
        out = np.empty(60, dtype=object)
        out[:] = [values[c] for c in CODES]
        return out
    return np.asarray(values)[CODES]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("name", ["GaussianNB", "CategoricalNB", "LDA", "LDA-estimator", "QDA"])
def test_labels_of_any_kind(name, kind):
    y = labels_of(kind)
    est = make(name).fit(X, y)
    assert set(est.classes_.tolist()) == set(y.tolist())
    assert est.classes_.dtype.kind == y.dtype.kind
    if y.dtype.kind != "O":
        assert est.classes_.tolist() == np.unique(y).tolist()
        assert est.predict(X).dtype == y.dtype
    codes = np.array([est.classes_.tolist().index(v) for v in y.tolist()])
    plain = make(name).fit(X, codes)
    np.testing.assert_array_equal(est.predict_proba(X), plain.predict_proba(X))
    assert est.predict(X).tolist() == [est.classes_.tolist()[c] for c in plain.predict(X)]
    if kind not in ("mixed", "tuples", "bytes"):  # no kinds of scikit-learn's accuracy
        assert 0.5 < est.score(X, y) <= 1
    assert est.sample(3, y=[y.tolist()[0]] * 3, random_state=0)[1].tolist() == [y.tolist()[0]] * 3


@pytest.mark.parametrize("container", [list, pd.Series, pl.Series, lambda y: np.asarray(y)[:, None]])
def test_containers_of_labels(container):
    y = container(Y.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = GaussianNB().fit(X, y)
    same(est, GaussianNB().fit(X, Y))


# --- containers of rows


def memmap(a, tmp_path):
    joblib.dump(a, tmp_path / "rows")
    return joblib.load(tmp_path / "rows", mmap_mode="r")


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


CONTAINERS = {
    "F order": lambda a, _: np.asfortranarray(a),
    "strided": lambda a, _: np.repeat(a, 2, axis=1)[:, ::2],
    "reversed": lambda a, _: a[:, ::-1].copy()[:, ::-1],
    "read-only": lambda a, _: read_only(a),
    "memmap": memmap,
    "list": lambda a, _: a.tolist(),
    "frame": lambda a, _: pd.DataFrame(a),
    "other byte order": lambda a, _: a.astype(a.dtype.newbyteorder()),
    "masked": lambda a, _: np.ma.array(a),
}


@pytest.mark.parametrize("container", CONTAINERS)
@every
def test_containers_of_rows_give_the_same_model(name, container, tmp_path):
    rows = CONTAINERS[container](X, tmp_path)
    est = make(name).fit(rows, Y)
    plain = make(name).fit(X, Y)
    same(est, plain, exact=False)
    np.testing.assert_allclose(est.predict_proba(rows), plain.predict_proba(X), atol=1e-9)


INTEGER = 1 + rng.integers(0, 5, (60, 4)) + 3 * CODES[:, None]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "longdouble"])
@every
def test_types_of_numbers_give_the_same_model(name, dtype):
    if name == "NaiveBayes-beta":
        rows = (INTEGER / 16).astype(dtype if "float" in dtype else "float32")
    else:
        rows = INTEGER.astype(dtype)
    est, plain = make(name).fit(rows, Y), make(name).fit(rows.astype(np.float64), Y)
    tolerance = 1e-4 if rows.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(est.predict_proba(rows), plain.predict_proba(rows.astype(np.float64)), atol=tolerance)
    np.testing.assert_array_equal(est.predict(rows), plain.predict(rows.astype(np.float64)))
    assert est.predict_proba(rows).dtype == np.float64


def test_yes_and_no_as_numbers():
    rows = X > 0.4
    for name in ("GaussianNB", "BernoulliNB", "CategoricalNB", "MultinomialNB", "PoissonNB", "GDA", "LDA"):
        same(make(name).fit(rows, Y), make(name).fit(rows.astype(float), Y), rows.astype(float), exact=False)


SPARSE = {
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
    "csc_array": sparse.csc_array,
    "coo_array": sparse.coo_array,
    "int64 indices": lambda a: _with_indices(sparse.csr_array(a), np.int64),
    "duplicates": lambda a: _with_duplicates(a),
    "unsorted": lambda a: _unsorted(sparse.csr_array(a)),
    "integers": lambda a: sparse.csr_array(np.round(a * 10).astype(np.int64)),
    "float32": lambda a: sparse.csr_array(a.astype(np.float32)),
}


def _with_indices(a, dtype):
    a.indices, a.indptr = a.indices.astype(dtype), a.indptr.astype(dtype)
    return a


def _with_duplicates(a):
    i, j = np.nonzero(a)
    halves = a[i, j] / 2
    order = np.r_[np.arange(len(i)), np.arange(len(i))]
    order = order[np.argsort(i[order], kind="stable")]
    indptr = np.r_[0, np.cumsum(2 * (a != 0).sum(axis=1))]
    return sparse.csr_array((halves[order], j[order], indptr), shape=a.shape)


def _unsorted(a):
    for s, e in zip(a.indptr[:-1], a.indptr[1:], strict=True):
        a.indices[s:e], a.data[s:e] = a.indices[s:e][::-1].copy(), a.data[s:e][::-1].copy()
    a.has_sorted_indices = False
    return a


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("name", [k for k in VARIANTS if k != "CategoricalNB" and "GenerativeClassifier" not in k])
def test_sparse_equals_dense(name, kind):
    if name == "NaiveBayes-beta" and kind == "integers":
        pytest.skip("integers are no shares")
    positive = name in ("NaiveBayes-gamma", "NaiveBayes-beta", "NaiveBayes-lognormal")
    matrix = SPARSE[kind](X.copy() if positive else np.where(X > 0.3, X, 0.0))
    dense, before = matrix.toarray(), matrix.data.copy()
    est, plain = make(name).fit(matrix, Y), make(name).fit(dense, Y)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dense.dtype == np.float32 else {"rtol": 1e-8, "atol": 1e-9}
    np.testing.assert_allclose(est.predict_proba(matrix), plain.predict_proba(dense), **tolerance)
    np.testing.assert_allclose(est.predict_proba(dense), plain.predict_proba(dense), **tolerance)
    np.testing.assert_allclose(est.score_samples(matrix), plain.score_samples(dense), **tolerance)
    np.testing.assert_array_equal(matrix.data, before)
    if name != "LDA-estimator":
        est.partial_fit(matrix, Y).forget(matrix, Y)
        np.testing.assert_allclose(est.predict_proba(matrix), plain.predict_proba(dense), **tolerance)
    if hasattr(est, "transform") and est.solver != "lsqr":
        np.testing.assert_allclose(est.transform(matrix), plain.transform(dense), atol=1e-4)


@pytest.mark.parametrize("kind", SPARSE)
def test_levels_are_not_sparse(kind):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        CategoricalNB().fit(SPARSE[kind](X), Y)
    with pytest.raises(TypeError, match=r"[Ss]parse.*toarray"):
        GenerativeClassifier().fit(SPARSE[kind](X), Y)


def test_pickle_is_as_small_as_the_sums():
    """A pickle holds sums, no rows and no solution."""
    big = GaussianNB().fit(rng.normal(size=(20000, 4)), rng.integers(0, 3, 20000))
    big.predict(X)
    out = io.BytesIO()
    pickle.dump(big, out)
    assert out.tell() < 4000
