"""The picture of one tree: its bars are the rows that get there, its words the cuts."""

import matplotlib
import numpy as np
import pytest

import suffit

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from suffit import figures

N = 400


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    age, city = rng.integers(18, 80, N).astype(float), rng.choice(["Basel", "Bern", "Chur"], N)
    y = np.where((age < 40) ^ (city == "Bern"), "yes", "no")
    return suffit.GenerativeClassifier(structure="partitions").fit({"age": age, "city": city}, y), y


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def texts(ax):
    return [t.get_text().strip() for t in ax.texts]


def test_the_root_has_all_rows_and_the_shares_of_the_classes(fitted, ax):
    model, y = fitted
    assert figures.tree(model, ax=ax) is ax
    assert texts(ax)[0] == str(N)
    widths = [bar.get_width() for bar in ax.patches[:2]]
    np.testing.assert_allclose(widths[0] / sum(widths), (y == "no").mean())
    assert len({bar.get_hatch() for bar in ax.patches[:2]}) == 2  # told apart without colours


def test_conditions_name_columns_values_and_categories(fitted, ax):
    model, _ = fitted
    seen = [t for i in range(6) for t in texts(figures.tree(model, i, ax=plt.figure().subplots()))]
    plt.close("all")
    assert any(t.startswith("age < ") for t in seen)
    assert any(t.startswith("age ≥ ") for t in seen)
    assert "city: Bern" in seen
    counts = [float(t.split()[0]) for t in texts(figures.tree(model, 0, depth=1, ax=ax)) if t[0].isdigit()]
    assert counts[0] == sum(counts[1:]) == N  # no value is missing: every row goes to one side


def test_depth_is_how_many_cuts_are_drawn_and_dots_say_that_there_are_more(fitted, ax):
    model, _ = fitted
    few = texts(figures.tree(model, depth=1, ax=ax))
    assert len(few) == 5  # three numbers of rows, and two conditions
    assert any(t.endswith("…") for t in few)


def test_what_has_no_trees_is_refused(fitted):
    model, _ = fitted
    with pytest.raises(suffit.InputError, match="trees 0 to 127"):
        figures.tree(model, 128)
    with pytest.raises(suffit.InputError, match="structure='partitions'"):
        figures.tree(suffit.GenerativeClassifier(structure="naive").fit({"x": [1.0, 2.0, 3.0, 4.0]}, [0, 0, 1, 1]))
    with pytest.raises(suffit.InputError, match="use GenerativeClassifier"):
        figures.tree(suffit.LDA().fit([[1.0], [2.0], [3.0], [4.5]], [0, 0, 1, 1]))
