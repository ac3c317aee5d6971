"""Naive Bayes is ahead with few rows and logistic regression with many, on real tables (A. Ng and M. Jordan, 2001)."""

from __future__ import annotations

import pytest
from evaluate import tables
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import suffit
from suffit.comparison.matrix import TableMatrix

FOLDER = tables.data_folder()


@pytest.mark.skipif(tables.why_absent(FOLDER) is not None, reason=str(tables.why_absent(FOLDER)))
@pytest.mark.parametrize("name", ["diabetes", "credit_a", "titanic"])
def test_C2_the_two_regimes_of_ng_and_jordan(name: str):
    table = tables.read(FOLDER, name)
    rival = make_pipeline(TableMatrix(), LogisticRegression(C=1e6, max_iter=300))  # hardly any penalty, as theirs
    models = {"naive Bayes": suffit.GenerativeClassifier(structure="naive"), "logistic regression": rival}
    found = suffit.compare(table.X, table.y, models, folds=2, robustness=False)
    curves = found.curves
    gap = curves.mean("naive Bayes") - curves.mean("logistic regression")
    assert gap[0] < -0.02
    assert gap[-1] > 0.005
    (met,) = found.crossings
    assert (met.first, met.then) == ("naive Bayes", "logistic regression")
    assert curves.at[0] < met.rows < curves.at[-1]
    assert "naive Bayes needs about" in found.verdict
    assert "fewer errors up to about" in found.verdict
