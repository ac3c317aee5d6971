"""The report: honest scores, every estimator, awkward rows, and a page that is harmless whatever is in the table."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.covariance import OAS

import suffit
from report_pages import ATTACK, QUOTED, hostile, mixed, page_of
from suffit import GDA, LDA, QDA, CategoricalNB, GaussianNB, GenerativeClassifier, MultinomialNB, TextNB
from suffit.reports.html import LONGEST, bar, short, table, tag
from suffit.reports.rows import read_rows, were_learned
from suffit.reports.scores import Scores
from suffit.reports.subsets import worst_subsets

X, Y = mixed(240)
CODES = (Y == "yes").astype(int)
NUMBERS = np.column_stack([X["hours"], X["age"].fillna(40.0), X["hours"] ** 2])


@pytest.fixture(scope="module")
def model() -> GenerativeClassifier:
    return GenerativeClassifier(structure="naive").fit(X, Y)


# --- what the scores are of


def test_learned_rows_are_found_by_their_sums_and_scored_without_themselves(model: GenerativeClassifier):
    report = suffit.report(model, X, Y, compare=False)
    P = model.loo_predict_proba(X, Y)
    right = model.classes_[P.argmax(axis=1)] == Y
    assert report.how == "leave-one-out"
    assert report.scores["accuracy"] == pytest.approx(right.mean())
    order = np.random.default_rng(1).permutation(len(X))
    assert suffit.report(model, X.iloc[order], Y[order], compare=False).how == "leave-one-out"
    assert f"{right.mean():.1%}".replace("%", "\u00a0%") in report.answers["How good"]


def test_other_rows_are_new_ones(model: GenerativeClassifier):
    new, labels = mixed(100, 5)
    report = suffit.report(model, new, labels, compare=False)
    assert report.how == "held-out"
    assert report.scores["accuracy"] == pytest.approx((model.predict(new) == labels).mean())
    assert "are not those of the rows given here" in page_of(report).text
    changed = X.copy()
    changed.loc[0, "hours"] += 5.0
    swapped = Y.copy()
    yes, no = np.flatnonzero(Y == "yes")[0], np.flatnonzero(Y == "no")[0]
    swapped[[yes, no]] = Y[[no, yes]]
    rows = [(changed, Y), (X, swapped), (X.iloc[1:], Y[1:]), (pd.concat([X, X]), np.concatenate([Y, Y]))]
    for other, y in rows:
        assert not were_learned(model, read_rows(model, other, y))


def test_whoever_knows_may_say_whether_rows_were_learned(model: GenerativeClassifier):
    part = suffit.report(model, X[:60], Y[:60], learned=True, compare=False)
    P = model.loo_predict_proba(X, Y)[:60]
    assert part.how == "leave-one-out"
    assert part.scores["accuracy"] == pytest.approx((model.classes_[P.argmax(axis=1)] == Y[:60]).mean())
    assert "is said to have learned these rows" in page_of(part).text
    said = suffit.report(model, X, Y, learned=False, compare=False)
    assert said.how == "held-out"
    assert "are said to be new" in page_of(said).text


def test_rows_that_cannot_be_taken_out_are_scored_in_folds():
    report = suffit.report(LDA("eigen", covariance_estimator=OAS()).fit(NUMBERS, Y), NUMBERS, Y, compare=False)
    assert report.how == "folds"
    assert "copies of it were fitted to the other folds" in page_of(report).text


def test_a_model_that_knows_nothing_is_said_to(model: GenerativeClassifier):
    noise = pd.DataFrame({"x": np.random.default_rng(0).normal(size=300)})
    y = np.random.default_rng(1).choice(["a", "b"], 300)
    report = suffit.report(GenerativeClassifier().fit(noise, y), noise, y, compare=False)
    assert report.answers["How good"].startswith("It is no better than knowing the class shares alone.")
    assert "no better" not in suffit.report(model, X, Y, compare=False).answers["How good"]


def test_what_matters_is_measured_on_rows_the_model_has_not_learned():
    """A column of names, each of which comes once, tells the classes of learned rows apart, and of no others."""
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 200)
    names = np.array([f"name{i % 100}" for i in range(200)])
    table = pd.DataFrame({"who": names, "x": rng.normal(np.where(y == "a", 0.0, 1.5), 1.0)})
    model = GenerativeClassifier(columns={"who": "categorical"}, structure="naive").fit(table, y)
    without = model.predict_proba(table.assign(who=None))
    fitted = (model.predict(table) == y).mean() - (model.classes_[without.argmax(axis=1)] == y).mean()
    assert fitted > 0.05
    assert suffit.report(model, table, y, compare=False).answers["What matters"].startswith("x matters most")


# --- every estimator


TEXTS = ["win free money now", "free prize, claim <b>now</b>", "lunch at noon?", "see you at lunch"] * 5
KINDS = np.array(["spam", "spam", "ham", "ham"] * 5)
COUNTS = sparse.csr_array(np.random.default_rng(0).poisson(1 + CODES[:, None] * np.array([[0, 1, 2]])))
ESTIMATORS = {
    "GenerativeClassifier": (GenerativeClassifier(), X, Y),
    "informative": (GenerativeClassifier(missing="informative", calibrate="isotonic"), X, Y),
    "LDA": (LDA(), NUMBERS, Y),
    "LDA of a frame": (LDA(), X[["age", "hours"]], Y),
    "QDA": (QDA(), NUMBERS, Y),
    "GDA": (GDA(tie="loo"), NUMBERS, Y),
    "GaussianNB": (GaussianNB(calibrate="temperature"), NUMBERS, CODES),
    "CategoricalNB": (CategoricalNB(), X[["city"]], Y),
    "MultinomialNB": (MultinomialNB(), COUNTS, Y),
    "TextNB": (TextNB(), TEXTS, KINDS),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_a_report(name: str):
    estimator, rows, y = ESTIMATORS[name]
    report = suffit.report(estimator.fit(rows, y), rows, y, compare=False)
    page = page_of(report)
    assert report.how == "leave-one-out"
    assert set(report.answers) == {"How good", "Where it fails", "How sure", "What matters"}
    assert "nan" not in page.text.lower().split()


def test_models_are_compared_beside_the_one_at_hand(model: GenerativeClassifier, tmp_path: Path):
    steps: list[tuple[int, int]] = []
    path = tmp_path / "report.html"
    report = suffit.report(model, X, Y, path, progress=lambda done, steps_, what: steps.append((done, steps_)))
    text = page_of(report).text
    assert (
        "logistic regression" in report.answers["Beside others"] or "models fitted" in report.answers["Beside others"]
    )
    assert "this model" in text
    assert [done for done, _ in steps] == list(range(1, len(steps) + 1))
    assert steps[-1][0] <= steps[-1][1]
    assert path.read_text(encoding="utf-8") == report.html
    assert "this model" in page_of(suffit.report(LDA().fit(NUMBERS, Y), NUMBERS, Y)).text


# --- awkward rows


def test_a_model_from_a_file_has_the_same_report(model: GenerativeClassifier, tmp_path: Path):
    model.save(tmp_path / "model.suffit")
    again = suffit.load(tmp_path / "model.suffit")
    assert suffit.report(again, X, Y, compare=False).answers == suffit.report(model, X, Y, compare=False).answers


def test_labels_that_are_missing_or_were_never_learned_are_said(model: GenerativeClassifier):
    new, labels = mixed(60, 7)
    given = labels.astype(object)
    given[:3], given[3:8] = None, "maybe"
    report = suffit.report(model, new, given, compare=False)
    text = page_of(report).text
    row = int(re.search(r"Row (\d+): (\w+), taken for (\w+)", text)[1])
    assert given[row - 1] not in (None, "maybe", model.predict(new)[row - 1])
    assert "3 rows without a label take no part" in text
    assert "5 rows have a label that the model never learned: 'maybe' (5)" in text
    assert report.scores["accuracy"] == pytest.approx((model.predict(new[8:]) == labels[8:]).mean())
    with pytest.raises(suffit.InputError, match="no label of y is a class of the model; y has"):
        suffit.report(model, new, ["maybe"] * 60)


def test_one_class_leaves_nothing_to_decide():
    report = suffit.report(GaussianNB().fit(NUMBERS, ["only"] * len(NUMBERS)), NUMBERS, ["only"] * len(NUMBERS))
    assert report.scores == {}
    assert "nothing to decide" in report.answers["How good"]
    page_of(report)


def test_rows_of_one_class_alone_can_be_scored(model: GenerativeClassifier):
    new, labels = mixed(60, 7)
    page = page_of(suffit.report(model, new[labels == "yes"], labels[labels == "yes"]))
    assert "No row here has the class no" in page.text


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_few_rows_and_columns_that_say_nothing_have_a_report():
    table = {"constant": [1.0] * 6, "empty": [None] * 6, "x": [1.0, 2.0, None, 7.0, 8.0, 9.0], "id": list("abcdef")}
    y = ["a", "a", "a", "b", "b", "c"]
    text = page_of(suffit.report(GenerativeClassifier().fit(table, y), table, y)).text
    assert "The same value in every row: constant." in text
    assert "No value at all: empty." in text
    assert "Few rows of a class: a (3), b (2) and c (1)" in text


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")
def test_a_table_without_a_useful_column_has_a_report():
    table, y = {"constant": [1.0] * 8}, ["a", "b"] * 4
    report = suffit.report(GenerativeClassifier().fit(table, y), table, y)
    assert "No column is used" in report.answers["What matters"]
    page_of(report)


def test_many_classes_are_listed_by_their_confusions():
    rng = np.random.default_rng(0)
    y = np.arange(600) % 20
    numbers = rng.normal(y[:, None] + np.zeros((1, 3)), 1.0)
    text = page_of(suffit.report(LDA().fit(numbers, y), numbers, y, compare=False)).text
    assert "The most frequent confusions of 20 classes" in text
    assert "20 classes are too many for one picture" in text


def test_many_rows_are_sampled_which_the_page_says(model: GenerativeClassifier):
    report = suffit.report(model, X, Y, compare=False, most_rows=100)
    assert "each of 100 of the 240 rows (a sample with the classes at their shares)" in page_of(report).text
    assert report.how == "leave-one-out"


def test_rows_without_a_closed_form_are_fewer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("suffit.reports.scores.MOST_WITHOUT_CLOSED_FORM", 50)
    gaps = X[["age", "hours"]]
    text = page_of(suffit.report(LDA().fit(gaps, Y), gaps, Y, compare=False)).text
    assert "each of 50 of the 240 rows" in text
    whole = page_of(suffit.report(LDA().fit(NUMBERS, Y), NUMBERS, Y, compare=False)).text
    assert "each of the 240 rows" in whole


def test_wrong_use_is_refused(model: GenerativeClassifier, tmp_path: Path):
    with pytest.raises(TypeError, match="a fitted estimator of suffit, got str"):
        suffit.report("model", X, Y)
    with pytest.raises(suffit.InputError, match="every label is missing"):
        suffit.report(model, X, [None] * len(X))
    with pytest.raises(ValueError, match="X has 240 rows and y 10 labels"):
        suffit.report(model, X, Y[:10])
    with pytest.raises(OSError, match="the report was not saved"):
        suffit.report(model, X, Y, tmp_path / "nowhere" / "report.html", compare=False)


def test_without_matplotlib_the_page_has_its_tables(model: GenerativeClassifier, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    page = page_of(suffit.report(model, X, Y, compare=False))
    assert "Figures need matplotlib, which is not installed here" in page.text
    assert not page.named("figure")


# --- whatever is in the table


def test_nothing_in_a_table_becomes_part_of_the_page():
    table, y = hostile()
    report = suffit.report(GenerativeClassifier().fit(table, y), table, pd.Series(y, name=ATTACK), title=QUOTED)
    page = page_of(report)
    assert ATTACK in page.text
    assert QUOTED in page.text
    assert len([name for name, _ in page.elements if name == "title"]) == 1
    assert "\x00" not in report.html
    texts = [f"{ATTACK} {word}" for word in TEXTS]
    page_of(suffit.report(TextNB().fit(texts, KINDS), texts, KINDS))


def test_tags_escape_everything_but_tags():
    assert tag("p", "<", tag("b", "&"), title='"<') == '<p title="&quot;&lt;">&lt;<b>&amp;</b></p>'
    assert tag("p", None, id=None) == "<p></p>"
    assert "&lt;i&gt;" in table("<i>", ["a"], [["b"]])
    assert "width:100.0%" in bar(7.0, "x")
    assert len(short("x" * 500)) == LONGEST
    assert "\ud800" not in tag("p", "\ud800\x01")


# --- where a model fails


def test_groups_with_more_errors_are_found_and_chance_is_not():
    rng = np.random.default_rng(0)
    n = 1000
    frame = read_rows(GaussianNB().fit([[0.0], [1.0]], [0, 1]), {"g": rng.choice(list("abcd"), n), "x": rng.random(n)},
                      np.zeros(n, int)).frame  # fmt: skip
    assert frame is not None
    group = frame.columns["g"].cells() == "c"
    wrong = (rng.random(n) < np.where(group, 0.5, 0.1)).astype(float)
    found = worst_subsets(frame, ["g", "x"], wrong)
    assert [(f.column, f.what, f.rows) for f in found] == [("g", "= c", int(group.sum()))]
    by_chance = [worst_subsets(frame, ["g", "x"], (np.random.default_rng(s).random(n) < 0.2) * 1.0) for s in range(40)]
    assert sum(map(bool, by_chance)) <= 6


def test_scores_beside_guessing():
    P = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3]])
    s = Scores("held-out", np.arange(4), P, np.array([0, 0, 1, 1], np.int32))
    assert s.mean["accuracy"] == 0.75
    assert s.guess["accuracy"] == 0.5
    assert s.guess["log_loss"] == pytest.approx(np.log(2))
    assert s.confusion.tolist() == [[2, 0], [1, 1]]
    assert s.sure == (0.25, 1.0)


def test_terms_of_a_misclassified_row_add_up_to_the_probability_it_is_scored_with(model: GenerativeClassifier):
    report = suffit.report(model, X, Y, compare=False)
    P = model.loo_predict_proba(X, Y)
    row, given = re.search(r"Row (\d+): \w+, taken for \w+ with (\d+)", page_of(report).text).groups()
    assert round(100 * P[int(row) - 1].max()) == int(given)
    together = re.findall(r"together \s*([+-][\d.]+)", page_of(report).text)
    p = P[int(row) - 1].max()
    assert float(together[0]) == pytest.approx(np.log(p / (1 - p)), abs=0.006)
