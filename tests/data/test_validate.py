"""Reading rows, labels, weights and priors: a clear error that changes nothing."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from every_estimator import READERS
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

pytestmark = [  # few rows of a class, numbers of one decimal
    pytest.mark.filterwarnings("ignore::suffit.SingularClassWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


ragged = [[0.1, 0.2, 0.3], [0.1, 0.2]]


BAD_ROWS = {
    "no rows": (np.empty((0, 3)), Y[:0], r"0 sample\(s\)"),
    "no columns": (np.empty((24, 0)), Y, r"0 feature\(s\)"),
    "empty list": ([], [], "Expected 2D array|0 sample"),
    "1-d": (X[:, 0], Y, "Expected 2D array, got 1D"),
    "scalar": (0.5, Y, "Expected 2D array"),
    "3-d": (X[None], Y[:1], "dim 3|got 3D"),
    "ragged": (ragged, Y[:2], "inhomogeneous|2D array"),
    "complex": (X + 1j, Y, "Complex data not supported"),
    "None": (None, Y, "None|2D array"),
    "y short": (X, Y[:-1], "inconsistent numbers of samples"),
    "y 2-d": (X, np.c_[Y, Y], "1d array"),
    "y None": (X, None, "requires y to be passed"),
    "y empty": (X, [], "inconsistent numbers of samples"),
    "y continuous": (X, np.linspace(0, 1, 24), "continuous"),
    "y infinite": (X, np.r_[np.ones(23), np.inf], "infinity"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
@pytest.mark.parametrize("name", READERS)
def test_wrong_rows_are_refused(name, case):
    if name == "CategoricalNB" and case == "complex":
        pytest.skip("any category will do")
    bad_X, bad_y, match = BAD_ROWS[case]
    unfitted, known = both_states(name)
    for est in (unfitted, known):
        for method in changing(name):
            refused(est, lambda e, m=method: getattr(e, m)(bad_X, bad_y), match)
    refused(known, lambda e: e.forget(bad_X, bad_y), match)


MISSING_LABELS = {
    "None": [None, *Y[1:]],
    "None, objects": np.array([*Y[:-1], None], dtype=object),
    "NaN": np.r_[np.nan, np.ones(23)],
    "NaN, objects": np.array([*Y[:-1], np.nan], dtype=object),
    "NaN beside strings": [*Y[:-1].tolist(), np.nan],
    "pandas strings": pd.Series([*Y[:-1], None], dtype="string"),
    "pandas integers": pd.Series([*range(23), None], dtype="Int64"),
    "pandas.NA": np.array([*Y[:-1], pd.NA], dtype=object),
    "categories": pd.Series(pd.Categorical([*Y[:-1], None])),
    "polars": pl.Series([*Y[:-1].tolist(), None]),
    "dates": np.array(["2026-01-01"] * 23 + ["NaT"], dtype="M8[D]"),
}


@pytest.mark.parametrize("case", MISSING_LABELS)
@pytest.mark.parametrize("name", ["GaussianNB", "GenerativeClassifier"])
def test_missing_labels_are_refused(name, case):
    for est in both_states(name):
        for method in changing(name):
            message = refused(est, lambda e, m=method: getattr(e, m)(X, MISSING_LABELS[case]), "missing|NaN|NaT")
            assert re.search("drop|row", message), message


BAD_WEIGHTS = {
    "negative": (np.r_[1.0, -2.0, np.ones(22)], "found -2 in row 1.*forget"),
    "short": (np.ones(23), r"sample_weight.shape == \(23,\)"),
    "2-d": (np.ones((24, 1)), "sample_weight|Sample weights|1D"),
    "all zero": (np.zeros(24), "all weights are 0|at least one non-zero"),
    "NaN": (np.r_[np.nan, np.ones(23)], "sample_weight contains NaN"),
    "infinite": (np.r_[np.inf, np.ones(23)], "sample_weight contains infinity"),
    "huge": (np.r_[1.0, 2e150, np.ones(22)], r"found 2e\+150 in row 1; .*at most 1e\+100; divide"),
    "words": (["x"] * 24, "could not convert string to float|sample_weight"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
@pytest.mark.parametrize("name", [k for k in READERS if k in BATCHED])
def test_bad_weights_are_refused(name, case):
    weight, match = BAD_WEIGHTS[case]
    unfitted, known = both_states(name)
    for est in (unfitted, known):
        for method in ("fit", "partial_fit"):
            refused(est, lambda e, m=method: getattr(e, m)(X, Y, sample_weight=weight), match)
    refused(known, lambda e: e.forget(X, Y, sample_weight=weight), match)


def test_weights_of_zero_leave_their_rows_and_classes_out():
    weight = (Y != "c").astype(float)
    for name in BATCHED:
        est = clone(CORE[name]).fit(X, Y, sample_weight=weight)
        assert est.classes_.tolist() == ["a", "b"], name
        np.testing.assert_allclose(est.predict_proba(X), fitted(name, X[:16], Y[:16]).predict_proba(X), err_msg=name)


@pytest.mark.parametrize("columns", [1, 2, 4])
@pytest.mark.parametrize("name", READERS)
def test_another_number_of_columns_is_refused(name, columns):
    wrong = np.resize(X, (24, columns))
    est = both_states(name)[1]
    match = f"{columns} features.*expecting 3"
    for method in [
        "predict",
        "predict_proba",
        "predict_log_proba",
        "predict_joint_log_proba",
        "score_samples",
    ]:
        refused(est, lambda e, m=method: getattr(e, m)(wrong), match)
    for method in ["forget", "log_likelihood", "score", *(["partial_fit"] if name in BATCHED else [])]:
        refused(est, lambda e, m=method: getattr(e, m)(wrong, Y), match)


@pytest.mark.parametrize("bad", ["1-d", "3-d", "no rows", "None"])
@pytest.mark.parametrize("name", READERS)
def test_wrong_shapes_are_refused_at_predict(name, bad):
    est = both_states(name)[1]
    for method in ["predict", "predict_proba", "score_samples"]:
        refused(est, lambda e, m=method: getattr(e, m)(BAD_ROWS[bad][0]), BAD_ROWS[bad][2])


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # 24 rows are a small first batch of a table
@pytest.mark.parametrize("name", BATCHED)
def test_declared_classes(name):
    for est in both_states(name):
        refused(est, lambda e: e.partial_fit(X, Y, classes=["a", "b"]), "classes.*omit classes")
    est = clone(CORE[name]).partial_fit(X, Y, classes=["d", "c", "b", "a"])  # in any order, one without rows
    est.partial_fit(X, Y, classes=["d", "c", "b", "a"])
    assert est.classes_.tolist() == ["a", "b", "c", "d"]
    p = est.predict_proba(X)
    assert np.isfinite(p).all()
    assert (p[:, 3] == 0).all() or name == "ComplementNB"
    assert not np.isnan(est.score_samples(X)).any()
