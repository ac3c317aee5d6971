"""Warnings about data: once for each fit, at the user's line, with the user's columns, and what to do about it."""

from __future__ import annotations

import linecache
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from suffit import (
    BernoulliNB,
    DataWarning,
    DroppedColumnWarning,
    GaussianNB,
    GenerativeClassifier,
    MissingValuesWarning,
)
from suffit.data import warn


def said_by(do):
    """What a call warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        do()
    return caught


def two_classes(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b"], n // 2)
    table = {
        "c": np.where(y == "a", None, rng.choice(list("xyz"), n)),
        "x": rng.normal(size=n) + (y == "b"),
        "d": rng.choice(list("uv"), n),
        "one": np.ones(n),
        "id": np.array([f"k{i}" for i in rng.permutation(n)]),
    }
    return pd.DataFrame(table), y


# --- calm


def test_fit_says_each_thing_once_and_predict_nothing_more():
    X, y = two_classes()
    caught = said_by(lambda: GenerativeClassifier().fit(X, y))
    assert [w.category for w in caught] == [DroppedColumnWarning, MissingValuesWarning]
    assert str(caught[0].message) == "columns dropped from the model: 'id': an identifier rather than a feature"
    assert str(caught[1].message).startswith("column 'c' is missing in every row of class 'a': ")
    assert "missing='informative'" in str(caught[1].message)
    model = GenerativeClassifier()
    said_by(lambda: model.fit(X, y))
    assert said_by(lambda: model.predict(X)) == []
    assert said_by(lambda: model.loo_predict_proba(X, y)) == []
    assert said_by(lambda: model.explain(X)) == []
    assert said_by(lambda: model.partial_fit(X, y).predict(X)) == []
    assert said_by(lambda: model.forget(X[:5], y[:5]).predict(X)) == []
    assert said_by(lambda: pickle.loads(pickle.dumps(model)).predict(X)) == []


def test_a_cross_validation_shows_a_warning_once_with_pythons_own_filters():
    program = """
import numpy as np, pandas as pd
from sklearn.model_selection import cross_val_score
from suffit import GenerativeClassifier
rng = np.random.default_rng(0)
y = np.repeat(["a", "b"], 100)
X = pd.DataFrame({"c": np.where(y == "a", None, rng.choice(list("xyz"), 200)), "x": rng.normal(size=200),
                  "d": rng.choice(list("uv"), 200), "id": [f"k{i}" for i in range(200)], "one": 1.0})
cross_val_score(GenerativeClassifier(structure="naive"), X, y, cv=10)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    lines = [line for line in done.stderr.splitlines() if "Warning" in line]
    assert [line.partition("Warning")[0] for line in lines] == [
        "<string>:9: DroppedColumn",
        "<string>:9: MissingValues",
    ]


def test_warnings_are_at_the_line_of_the_user_through_scikit_learn_too():
    X, y = two_classes()
    calls = {
        "fit": lambda: GenerativeClassifier().fit(X, y),
        "cross_val_score": lambda: cross_val_score(GenerativeClassifier(structure="naive"), X, y, cv=2),
        "pipeline": lambda: make_pipeline(FunctionTransformer(), GenerativeClassifier(structure="naive")).fit(X, y),
    }
    for name, call in calls.items():
        caught = said_by(call)
        assert caught
        assert all(w.filename == __file__ for w in caught)
        assert all(name in linecache.getline(w.filename, w.lineno) for w in caught)


def test_what_is_said_within_a_loop_of_pythons_own_is_at_the_line_of_the_user():
    """The blocks of a model are solved one by one, when they are first asked for."""

    program = """
from collections.abc import Sequence
class Blocks(Sequence):
    def __len__(self):
        return 1
    def __getitem__(self, i):
        warn_once(DataWarning, "solved")
        raise IndexError
"""
    ours = dict(vars(warn))  # with the name of a module of this package
    exec(program, ours)
    (caught,) = said_by(lambda: list(ours["Blocks"]()))
    assert caught.filename == __file__


@pytest.mark.parametrize("name", ["calendar", "queue", "statistics", "site"])
def test_a_module_of_the_user_may_have_the_name_of_one_of_pythons(tmp_path, name):
    X, y = two_classes()
    path = tmp_path / f"{name}.py"
    exec(compile("def fitted(model):\n    model.fit(X, y)\n", path, "exec"), own := {"__name__": name, "X": X, "y": y})
    for caught in said_by(lambda: own["fitted"](GenerativeClassifier())):
        assert (caught.filename, caught.lineno) == (str(path), 2)


def test_a_package_that_is_installed_is_no_part_of_python():
    import sysconfig

    X, y = two_classes()
    path = f"{sysconfig.get_path('stdlib')}/site-packages/ours/fits.py"
    exec(
        compile("def fitted(model):\n    model.fit(X, y)\n", path, "exec"), own := {"__name__": "ours", "X": X, "y": y}
    )
    assert {caught.filename for caught in said_by(lambda: own["fitted"](GenerativeClassifier()))} == {path}


def test_a_look_at_a_model_says_nothing():
    """An editor lists its attributes, a notebook shows it, again and again."""
    X = np.array([[1.0], [1.0], [2.0], [3.0]])
    model = GaussianNB().fit(X, [0, 0, 1, 1])
    for look in (dir, repr, lambda m: m._repr_html_(), lambda m: m.epsilon_):
        assert said_by(lambda: look(model)) == []  # noqa: B023


def test_a_new_fit_says_it_again_and_errors_stay_errors():
    X, y = two_classes()
    model = GenerativeClassifier(structure="naive")
    for _ in range(2):
        assert len(said_by(lambda: model.fit(X, y))) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error", DroppedColumnWarning)
        for _ in range(2):
            with pytest.raises(DroppedColumnWarning, match="'id'"):
                GenerativeClassifier().fit(X, y)
        with pytest.raises(DroppedColumnWarning):
            model.fit(X[:150], y[:150])
    assert model.class_count_.sum() == 200  # unchanged


def test_all_warnings_about_data_are_silenced_by_one_name():
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        GenerativeClassifier().fit(X, y).predict(X.assign(d="w"))


def test_a_class_that_does_not_vary_is_named_once_with_all_its_columns():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    X[y == 1, :2] = 5.0
    caught = said_by(lambda: GaussianNB(var_smoothing=0.0, calibrate="temperature").fit(X, y).predict(X))
    assert len(caught) == 1
    assert "class 1 does not vary in column 'x0'; class 1 does not vary in column 'x1': " in str(caught[0].message)


def test_columns_that_bins_cannot_cut_are_named_in_one_warning():
    rng = np.random.default_rng(0)
    table = {c: rng.normal(size=200) for c in "abc"}
    caught = said_by(lambda: GenerativeClassifier(dict.fromkeys(table, "binned")).fit(table, np.arange(200) % 2))
    assert len(caught) == 1
    assert "found no bin edges for column 'a'; column 'b'; column 'c': " in str(caught[0].message)


def test_informative_missing_values_need_no_warning():
    X, y = two_classes()
    caught = said_by(lambda: GenerativeClassifier(missing="informative").fit(X, y).predict(X))
    assert [w.category for w in caught] == [DroppedColumnWarning]


def test_batches_warn_when_the_model_is_first_asked_and_once():
    X, y = np.array([[1.0, np.nan], [0.0, np.nan], [1.0, 1.0], [0.0, 1.0]]), [0, 0, 1, 1]
    model = BernoulliNB()
    caught = said_by(lambda: model.partial_fit(X, y).predict(X))
    assert ["column 'x1' is missing in every row of class 0" in str(w.message) for w in caught] == [True]
    assert said_by(lambda: model.partial_fit(X, y).predict(X)) == []


# --- unknown categories


# --- text that is something else


def test_what_is_only_tried_says_nothing():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    X[0] = 1e9
    model = GaussianNB().fit(X, y)
    assert said_by(lambda: model.loo_predict_proba(X, y)) == []  # taking the first row out costs digits
    assert "few digits" in str(said_by(lambda: model.forget(X[:1], y[:1]))[0].message)
