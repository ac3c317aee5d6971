"""Models side by side: the scores are those of models that have not seen the rows, whatever kind of table it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Perceptron
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

import suffit
from suffit.comparison.crossings import crossing
from suffit.comparison.matrix import TableMatrix
from suffit.comparison.models import default_models
from suffit.comparison.result import Curves
from suffit.comparison.rows import growing
from suffit.comparison.scores import scored

QUICK = {"curves": False, "robustness": False}


def mixed(n: int = 200, seed: int = 0, missing: float = 0.0):
    X, y = suffit.simulate("mixed", separation=3.0).sample(n, random_state=seed)
    frame, rng = pd.DataFrame(dict(X)), np.random.default_rng(seed)
    frame["city"] = frame["city"].astype(object)
    return frame.mask(rng.random(frame.shape) < missing), np.where(y == 1, "sick", "well")


def test_C1_every_default_model_is_scored_on_a_mixed_table():
    X, y = mixed()
    found = suffit.compare(X, y, **QUICK)
    assert list(found.held) == list(default_models())
    frame = found.to_frame()
    assert frame["accuracy"].between(0.75, 1.0).all()
    assert frame["roc_auc"].between(0.8, 1.0).all()
    assert (frame["log_loss"] > 0).all()
    assert (frame["fit seconds"] > 0).all()
    assert (frame["accuracy ±"] > 0).all()


def test_C1_folds_from_subtracted_sums_are_those_of_refits():
    X, y = suffit.simulate("gaussian", columns=3).sample(150, random_state=0)
    found = suffit.compare(X, y, ["LDA", "QDA"], **QUICK)
    for name in ("LDA", "QDA"):
        model, P = default_models()[name][-1], np.zeros((len(y), 2))
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            P[test] = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        np.testing.assert_allclose(found.held[name].proba, P, atol=1e-9)


def test_C1_a_learning_curve_from_growing_sums_is_that_of_refits():
    X, y = suffit.simulate("gaussian", columns=3, separation=1.5).sample(240, random_state=0)
    found = suffit.compare(X, y, {"LDA": default_models()["LDA"], "again": suffit.LDA()}, robustness=False)
    assert found.curves is not None
    np.testing.assert_allclose(found.curves.errors["LDA"], found.curves.errors["again"], atol=1e-12)
    assert found.curves.at[0] == 16
    assert found.curves.at[-1] == 160


def test_C2_lda_is_ahead_of_logistic_regression_with_few_rows():
    X, y = suffit.simulate("gaussian", columns=10, separation=2.5).sample(3000, random_state=0)
    found = suffit.compare(X, y, ["LDA", "logistic regression"], robustness=False)
    few, at = slice(0, 3), found.curves
    assert at.mean("LDA")[few].mean() < at.mean("logistic regression")[few].mean() + 0.005
    assert "LDA needs about" in found.verdict


def test_C9_robustness_is_measured_for_wrong_labels_outliers_and_missing_values():
    X, y = mixed(150)
    found = suffit.compare(X, y, ["LDA", "naive Bayes", "logistic regression"], curves=False)
    assert list(found.robustness) == ["wrong labels", "outliers", "missing values"]
    for curves in found.robustness.values():
        assert curves.at == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
        for name in curves.errors:
            mean = curves.mean(name)
            assert mean.shape == (6,)
            assert np.isfinite(mean).all()
    worst = found.robustness["wrong labels"].mean("logistic regression")
    assert worst[-1] > worst[0] + 0.1


def test_it_is_said_which_models_saw_filled_values():
    X, y = mixed(missing=0.2)
    found = suffit.compare(X, y, ["LDA", "logistic regression", "GenerativeClassifier"], **QUICK)
    assert found.filled == ("logistic regression",)
    assert "Missing values were filled for logistic regression" in found.verdict
    assert "logistic regression*" in repr(found)
    whole = suffit.compare(*mixed(), ["LDA", "logistic regression"], **QUICK)
    assert whole.filled == ()
    assert "*" not in repr(whole)


def test_any_estimator_may_be_compared():
    X, y = suffit.simulate("gaussian").sample(100, random_state=0)
    found = suffit.compare(
        X, y, {"guess": DummyClassifier(), "theirs": GaussianNB(), "ours": suffit.GaussianNB()}, **QUICK
    )
    assert found.held["guess"].mean["accuracy"] < found.held["theirs"].mean["accuracy"]
    np.testing.assert_allclose(found.held["theirs"].proba, found.held["ours"].proba, atol=1e-6)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict", "array"])
def test_any_table_will_do(kind: str):
    frame, y = mixed(80)
    made = {
        "pandas": lambda: frame,
        "polars": lambda: pytest.importorskip("polars").from_pandas(frame),
        "pyarrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(frame),
        "dict": lambda: {name: frame[name].to_numpy() for name in frame},
        "array": lambda: frame.to_numpy(dtype=object),
    }[kind]()
    found = suffit.compare(made, y, ["LDA", "naive Bayes", "logistic regression"], **QUICK)
    assert all(held.mean["accuracy"] > 0.7 for held in found.held.values())
    assert len(found.to_frame()["model"]) == 3


def test_more_than_two_classes_and_confusions():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + 3.0 * np.column_stack([y == 1, y == 2])
    found = suffit.compare(X, np.array(list("abc"))[y], ["LDA", "linear SVM"], **QUICK)
    for held in found.held.values():
        assert held.confusion.sum() == 150
        np.testing.assert_array_equal(held.confusion.sum(axis=1), [50, 50, 50])
    table = found.confusion["LDA"]
    assert list(table["true class"]) == ["a", "b", "c"]


def test_folds_and_samples_are_the_same_for_the_same_number():
    X, y = mixed(90)
    a, b = (suffit.compare(X, y, ["naive Bayes"], curves=False, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(a.held["naive Bayes"].proba, b.held["naive Bayes"].proba)
    for what, curves in a.robustness.items():
        np.testing.assert_array_equal(curves.errors["naive Bayes"], b.robustness[what].errors["naive Bayes"])


def test_every_class_is_among_the_first_rows_of_a_learning_curve():
    codes = np.array([0] * 90 + [1] * 6 + [2] * 4, np.int32)
    order = growing(codes, np.arange(100), np.random.default_rng(0))
    assert sorted(order.tolist()) == list(range(100))
    assert sorted(np.bincount(codes[order[:6]]).tolist()) == [2, 2, 2]
    np.testing.assert_allclose(np.bincount(codes[order[:50]]) / 50, [0.9, 0.06, 0.04], atol=0.05)


def test_a_model_that_cannot_be_fitted_on_few_rows_leaves_a_gap_in_its_curve():
    class Choosy(GaussianNB):
        def fit(self, X, y):
            if len(y) < 40:
                raise ValueError("too few")
            return super().fit(X, y)

    X, y = suffit.simulate("gaussian").sample(150, random_state=0)
    found = suffit.compare(X, y, {"choosy": Choosy(), "LDA": default_models()["LDA"]}, folds=2, robustness=False)
    errors = found.curves.mean("choosy")
    assert np.isnan(errors[0])
    assert np.isfinite(errors[-1])
    assert "choosy" in repr(found)


def test_progress_is_told_step_by_step():
    X, y = suffit.simulate("gaussian").sample(60, random_state=0)
    said = []
    suffit.compare(X, y, ["LDA"], repeats=2, progress=lambda done, steps, what: said.append((done, steps, what)))
    assert [done for done, _, _ in said] == list(range(1, len(said) + 1))
    assert said[-1][0] == said[-1][1]


def test_the_verdict_names_the_best_and_html_is_escaped():
    X, y = suffit.simulate("gaussian").sample(80, random_state=0)
    found = suffit.compare(X, y, {"<b>": suffit.LDA(), "QDA": suffit.QDA()}, **QUICK)
    assert "has the lowest log-loss" in found.verdict
    assert "<b>" not in found._repr_html_()
    assert "&lt;b&gt;" in found._repr_html_()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": "all"}, "'default'"),
        ({"models": ["LDA", "XGB"]}, "no model 'XGB'"),
        ({"models": {"p": Perceptron()}}, "CalibratedClassifierCV"),
        ({"models": {}}, "empty"),
        ({"folds": 1}, "folds"),
        ({"y": ["a"] * 40}, "one class"),
        ({"y": ["a"] * 39 + ["b"]}, "class 'b' has 1 rows.*drop the class"),
        ({"y": ["a"] * 37 + ["b"] * 3}, "set folds to at most 3"),
        ({"y": ["a"] * 20 + ["b"] * 19}, "inconsistent numbers of samples"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(change, words):
    X, y = suffit.simulate("gaussian").sample(40, random_state=0)
    with pytest.raises(ValueError, match=words):
        suffit.compare(X, **{"y": np.where(y, "a", "b"), **QUICK, **change})


def test_the_pictures_show_every_model():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    X, y = suffit.simulate("gaussian").sample(90, random_state=0)
    figure = suffit.compare(X, y, ["LDA", "logistic regression"]).plot()
    drawn = [ax for ax in figure.axes if ax.axison]
    assert len(drawn) == 5
    assert [t.get_text() for t in drawn[1].get_legend().get_texts()] == ["LDA", "logistic regression"]
    assert all(ax.get_xlabel() for ax in drawn)


def test_C1_folds_from_sums_are_those_of_refits_with_categories_and_missing_values():
    X, y = mixed(200, missing=0.15)
    found = suffit.compare(X, y, ["LDA", "QDA"], **QUICK)
    matrix = TableMatrix(fill=False).fit_transform(X)
    codes = (y == "well").astype(int)
    for name in ("LDA", "QDA"):
        model, P = default_models()[name][-1], np.zeros((len(y), 2))
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(matrix, codes):
            P[test] = clone(model).fit(matrix[train], codes[train]).predict_proba(matrix[test])
        np.testing.assert_allclose(found.held[name].proba, P, atol=1e-6)


def test_scores_are_those_of_scikit_learn_with_two_classes_and_with_more():
    rng = np.random.default_rng(0)
    for K in (2, 3):
        y = np.arange(150) % K
        P = rng.dirichlet(np.ones(K), 150) + 0.5 * np.eye(K)[y]
        P /= P.sum(axis=1, keepdims=True)
        found = scored(P, y.astype(np.int32))
        assert found["accuracy"] == pytest.approx(accuracy_score(y, P.argmax(axis=1)))
        assert found["log_loss"] == pytest.approx(log_loss(y, P))
        area = roc_auc_score(y, P[:, 1]) if K == 2 else roc_auc_score(y, P, multi_class="ovr")
        assert found["roc_auc"] == pytest.approx(area)
        brier = ((P - np.eye(K)[y]) ** 2).sum(axis=1).mean()
        assert found["brier"] == pytest.approx(brier)


def test_curves_cross_where_one_model_is_clearly_ahead_at_either_end():
    def curves(a: list[float], b: list[float]) -> Curves:
        each = {name: np.array([mean, mean]) + np.array([[0.001], [-0.001]]) for name, mean in (("a", a), ("b", b))}
        return Curves("rows learned", (10.0, 100.0, 1000.0, 10000.0), each, each)

    met = crossing(curves([0.3, 0.25, 0.2, 0.19], [0.4, 0.35, 0.1, 0.09]), "a", "b")
    assert (met.first, met.then) == ("a", "b")
    assert met.rows == pytest.approx(10 ** (2 + 0.5))
    assert met.error == pytest.approx(0.225)
    met = crossing(curves([0.4, 0.2, 0.2, 0.1], [0.3, 0.2, 0.2, 0.2]), "a", "b")
    assert (met.first, met.then) == ("b", "a")
    assert met.rows == pytest.approx(100.0)  # equal from there on; a is ahead in the end
    assert crossing(curves([0.3, 0.2, 0.2, 0.2], [0.4, 0.3, 0.3, 0.3]), "a", "b") is None
    assert crossing(curves([0.3, 0.2, 0.2, 0.2], [0.4, 0.3, 0.2, 0.1995]), "a", "b") is None  # no clear end


def test_every_curve_is_a_frame_and_a_picture():
    figures = pytest.importorskip("suffit.figures")
    X, y = mixed(120)
    found = suffit.compare(X, y, ["LDA", "naive Bayes"])
    for what in ("learning curves", "wrong labels", "outliers", "missing values"):
        frame = found.to_frame(what)
        assert set(frame["model"]) == {"LDA", "naive Bayes"}
        assert {"error", "error ±", "log_loss", "log_loss ±"} <= set(frame.columns)
    shares = found.to_frame("outliers")
    at = shares[(shares["model"] == "LDA")]["error"].to_numpy()
    np.testing.assert_array_equal(at, found.robustness["outliers"].mean("LDA"))
    with pytest.raises(ValueError, match="there are 'scores', 'learning curves'"):
        found.to_frame("labels")
    assert [*figures.scores(found, "brier").get_yticklabels()][-1].get_text() in found.held
    drawn = figures.learning_curves(found, "log_loss")
    np.testing.assert_array_equal(drawn.lines[0].get_ydata(), found.curves.mean("LDA", "log_loss"))
    for wrong in (lambda: figures.scores(found, "f1"), lambda: figures.robustness(found, "noise"),
                  lambda: figures.learning_curves(found, "f1")):  # fmt: skip
        with pytest.raises(suffit.InputError):
            wrong()
    bare = suffit.compare(X, y, ["LDA"], **QUICK)
    with pytest.raises(suffit.InputError, match="curves=True"):
        figures.learning_curves(bare)
    assert "predict" in repr(bare).splitlines()[0]
