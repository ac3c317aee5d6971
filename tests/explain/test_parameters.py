"""What was fitted, in print: the numbers are those of the rows, for every kind of model."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_iris

import suffit

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target_names[IRIS.target]


def value(model, column: str, parameter: str) -> np.ndarray:
    frame = model.parameters().to_frame()
    row = frame[(frame["column"] == column) & (frame["parameter"] == parameter)]
    assert len(row) == 1
    return row[[str(c) for c in model.classes_]].to_numpy(dtype=float)[0]


def test_means_and_deviations_are_those_of_the_classes():
    model = suffit.GaussianNB(var_smoothing=0.0).fit(X, Y)
    for column in X:
        by_class = X[column].groupby(Y)
        np.testing.assert_allclose(value(model, column, "mean"), by_class.mean())
        np.testing.assert_allclose(value(model, column, "standard deviation"), by_class.std(ddof=0))


@pytest.mark.parametrize("tie", [0.0, 1.0])
def test_covariances_are_those_of_the_classes_or_of_all(tie: float):
    model = suffit.GDA(tie=tie).fit(X, Y)
    each = np.stack([np.cov(X[c == Y].T, ddof=0) for c in model.classes_])
    if tie:
        each[:] = each.mean(axis=0)
    names = list(X)
    np.testing.assert_allclose(value(model, f"{names[1]}, {names[3]}", "covariance"), each[:, 1, 3])
    np.testing.assert_allclose(value(model, names[2], "standard deviation"), np.sqrt(each[:, 2, 2]))


@pytest.mark.parametrize("solver", ["svd", "eigen", "lsqr"])
def test_linear_discriminants_are_printed_with_their_share_of_the_variance(solver: str):
    """R's ``lda(Species ~ ., iris)``: 0.8294 1.5345 -2.2012 -2.8105, proportion of trace 0.9912 0.0088."""
    shown = suffit.LDA(solver=solver).fit(X, Y).parameters()
    printed = str(shown).partition("what separates the classes")[2].splitlines()[1:]
    if solver == "lsqr":  # which has none
        assert not printed
        return
    assert printed[0].split() == ["direction", "1", "direction", "2"]
    first = np.array([float(line.split()[-2]) for line in printed[1:5]])
    np.testing.assert_allclose(first / first[0], np.array([0.8294, 1.5345, -2.2012, -2.8105]) / 0.8294, rtol=2e-3)
    np.testing.assert_allclose([float(v) for v in printed[5].split()[-2:]], [0.9912, 0.0088], atol=5e-5)
    assert "<th>direction 1</th>" in shown._repr_html_()
    few = suffit.LDA(solver=solver).fit(X[:5], ["a", "b", "a", "b", "b"])
    assert len(str(few.parameters()).partition("what separates")[2].splitlines()) == 7
    assert "what separates" not in str(suffit.LDA(solver=solver).fit(X, ["all"] * len(X)).parameters())


def test_a_family_has_its_textbook_parameters():
    x = X.iloc[:, [0]]
    shape, _, scale = stats.gamma.fit(x[Y == "setosa"].to_numpy(), floc=0)
    model = suffit.NaiveBayes(suffit.Gamma(alpha=0)).fit(x, Y)
    np.testing.assert_allclose(value(model, x.columns[0], "shape")[0], shape, rtol=1e-5)
    np.testing.assert_allclose(value(model, x.columns[0], "rate")[0], 1 / scale, rtol=1e-5)
    a, b, _, _ = stats.beta.fit(x[Y == "setosa"].to_numpy() / 10, floc=0, fscale=1)
    model = suffit.NaiveBayes(suffit.Beta(alpha=0)).fit(x / 10, Y)
    np.testing.assert_allclose(value(model, x.columns[0], "a")[0], a, rtol=1e-5)
    np.testing.assert_allclose(value(model, x.columns[0], "b")[0], b, rtol=1e-5)
    log = np.log(x.to_numpy()[:, 0])
    model = suffit.NaiveBayes(suffit.LogNormal()).fit(x, Y)
    np.testing.assert_allclose(value(model, x.columns[0], "mean of the logarithm")[0], log[Y == "setosa"].mean())
    model = suffit.NaiveBayes(suffit.Exponential(alpha=0)).fit(x, Y)
    np.testing.assert_allclose(value(model, x.columns[0], "rate")[0], 1 / x[Y == "setosa"].to_numpy().mean())


def test_counts_rates_and_categories():
    counts, y = np.array([[1, 2], [3, 0], [0, 5]]), ["a", "a", "b"]
    np.testing.assert_allclose(value(suffit.MultinomialNB(alpha=0).fit(counts, y), "x1", "probability"), [2 / 6, 1.0])
    np.testing.assert_allclose(value(suffit.PoissonNB(alpha=0).fit(counts, y), "x0", "rate"), [2.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(value(suffit.BernoulliNB(alpha=0).fit(counts > 0, y), "x1", "probability"), [0.5, 1.0])
    model = suffit.CategoricalNB(alpha=1).fit(np.array([["u"], ["v"], ["u"]]), y)
    np.testing.assert_allclose(value(model, "x0=u", "probability"), [0.5, 2 / 3])


def test_every_block_of_a_pool_is_there_with_its_weight_in_the_columns_own_units():
    wide = X * [1.0, 1000.0, 1.0, 1e-3]
    model = suffit.GenerativeClassifier().fit(wide, Y)
    frame = model.parameters().to_frame()
    assert set(frame["weight"]) == {b.power for b in model._fitted.solution.scorer.blocks_of if b.power}
    means = frame[(frame["parameter"] == "mean")]
    for column in wide:
        here = means[means["column"] == column][list(map(str, model.classes_))].to_numpy(dtype=float)
        np.testing.assert_allclose(here, np.broadcast_to(wide[column].groupby(Y).mean(), here.shape), rtol=1e-9)
    deviations = frame[frame["parameter"] == "standard deviation"]
    spread = deviations[deviations["column"] == wide.columns[1]]["setosa"].to_numpy(dtype=float)
    assert (np.abs(spread / wide.iloc[:, 1][Y == "setosa"].std() - 1) < 0.3).all()


def test_a_mixed_table_with_missing_values_and_one_of_a_single_row():
    age = [20.5, None, 41.25, 60.0, 33.3, 71.9, 18.25, 25.75]
    table = pd.DataFrame({"age": age, "city": ["Bern", "Bern", None, "Chur", "Bern", "Chur", "Chur", "Bern"]})
    frame = suffit.GenerativeClassifier(structure="naive").fit(table, list("aabbaabb")).parameters().to_frame()
    assert {"age", "city=Bern", "city=Chur"} <= set(frame["column"])
    assert np.isfinite(frame[["a", "b"]].to_numpy(dtype=float)).all()
    assert np.isfinite(suffit.GaussianNB().fit([[1.0]], ["a"]).parameters().to_frame()["a"].astype(float)).all()


def test_the_shares_of_the_classes_come_first_and_then_block_by_block():
    shown = repr(suffit.GaussianNB().fit(X, Y).parameters()).splitlines()
    assert shown[:2] == ["GaussianNB", ""]
    assert shown[2].split() == list(suffit.GaussianNB().fit(X, Y).classes_)
    assert shown[3].split() == ["share", "of", "the", "class", "0.3333", "0.3333", "0.3333"]
    assert shown[4:6] == ["", "gaussian"]
    assert [line.split("  ")[0] for line in shown[6:8]] == ["sepal length (cm)"] * 2
    pooled = suffit.GenerativeClassifier().fit(X, Y).parameters()
    lines = repr(pooled).splitlines()
    for block in pooled.blocks[:2]:
        assert f"{block.family.replace('_', ' ')}, weight {block.weight:.2g}" in lines


def test_what_all_classes_share_is_said_once():
    shown = repr(suffit.LDA().fit(X, Y).parameters())
    line = next(line for line in shown.splitlines() if "standard deviation, all classes" in line)
    assert len(line.partition("all classes")[2].split()) == 1
    assert "standard deviation, all classes" not in repr(suffit.QDA().fit(X, Y).parameters())


def test_words_have_their_shares():
    model = suffit.TextNB(alpha=0).fit(["buy now buy", "see you now"], ["spam", "ham"])
    np.testing.assert_allclose(value(model, "buy", "probability"), [0.0, 2 / 3])
    np.testing.assert_allclose(value(model, "now", "probability"), [1 / 3, 1 / 3])
    table = pd.DataFrame({"note": ["buy now buy", "see you now"] * 30, "n": np.arange(60) % 7 + 0.5})
    mixed = suffit.GenerativeClassifier({"note": suffit.Text()}, structure="naive").fit(table, ["spam", "ham"] * 30)
    found = value(mixed, "note: buy", "probability")
    assert found[1] > 0.5 > 0.1 > found[0]


def test_heavy_tails_have_their_scales_and_degrees_of_freedom():
    wide = X * [1.0, 1000.0, 1.0, 1.0]
    family = suffit.MultivariateGaussian(freedom=4.0, tie=1.0)
    model = suffit.GenerativeClassifier({tuple(wide): family}).fit(wide, Y)
    assert value(model, "all together", "degrees of freedom").tolist() == [4.0] * 3
    normal = suffit.LDA().fit(wide, Y)
    name = X.columns[1]
    ratio = value(model, name, "scale") / value(normal, name, "standard deviation")
    np.testing.assert_allclose(ratio, 1.0, rtol=0.2)


def test_a_long_table_says_what_it_leaves():
    rng = np.random.default_rng(0)
    long = repr(suffit.LDA().fit(rng.normal(size=(60, 30)), np.arange(60) % 12).parameters())
    assert "more lines and 4 more classes: to_frame() has all" in long


def test_html_is_escaped():
    model = suffit.GaussianNB().fit(pd.DataFrame({"<b>": [1.0, 2.0, 5.0, 6.0]}), ["<i>", "<i>", "x", "x"])
    html = model.parameters()._repr_html_()
    assert "<b>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;" in html


def test_more_columns_than_rows_and_many_columns_list_no_pairs():
    rng = np.random.default_rng(0)
    model = suffit.LDA(solver="lsqr", shrinkage=0.5).fit(rng.normal(size=(20, 300)), np.arange(20) % 2)
    frame = model.parameters().to_frame()
    assert set(frame["parameter"]) == {"mean", "standard deviation"}
    assert len(frame["column"]) == 600


def test_of_partitions_the_first_tree_is_said():
    X, y = suffit.simulate("own covariances").sample(300, random_state=0)
    found = suffit.GenerativeClassifier(structure="partitions").fit(X, y).parameters()
    (block,) = found.blocks
    (leaves,) = block.found
    assert block.family == "partition"
    assert all(name.startswith("tree 0, leaf ") for name in leaves.columns)
    np.testing.assert_allclose(leaves.values.sum(axis=1), 1.0)  # a row is in one leaf of a tree
