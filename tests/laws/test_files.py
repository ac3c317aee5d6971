"""A model that was saved and loaded is the whole model: everything it can be asked has the same answer, bit by bit."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import suffit
from cases import ESTIMATORS, FAMILIES, assert_identical, rather_wide, with_holes
from every_estimator import VARIANTS, X, Y
from suffit.core.family import families

CASES = {**FAMILIES, **ESTIMATORS}
RNG = np.random.default_rng(7)
QUESTIONS = {
    "posterior": lambda m, X, y: m.predict_proba(X),
    "labels": lambda m, X, y: m.predict(X),
    "density": lambda m, X, y: m.score_samples(X),
    "joint": lambda m, X, y: m.predict_joint_log_proba(X),
    "leave-one-out": lambda m, X, y: m.loo_predict_proba(X, y),
    "explanation": lambda m, X, y: repr(m.explain(X)),
    "summary": lambda m, X, y: repr(m.summary()),
    "selection": lambda m, X, y: repr(m.selection_),
    "calibration": lambda m, X, y: repr(m.calibration_),
    "schema": lambda m, X, y: repr(m.schema_),
    "parameters": lambda m, X, y: m.n_parameters_,
    "draws": lambda m, X, y: m.sample(5, random_state=0),
    "settings": lambda m, X, y: repr(m.get_params()),
    "uniform prior": lambda m, X, y: m.with_prior("uniform").predict_proba(X),
    "novelty": lambda m, X, y: m.novelty(X),
    "decisions": lambda m, X, y: m.decide(X, reject=0.3).labels,
    "assumptions": lambda m, X, y: repr(suffit.check_assumptions(m, X, y)),
}
CHANGES = {
    "learned": lambda m, X, y: m.partial_fit(X, y),
    "learned, with weights": lambda m, X, y: m.partial_fit(X, y, sample_weight=np.linspace(0.5, 2.0, len(y))),
    "a new class": lambda m, X, y: m.partial_fit(X[:4], np.repeat(np.array(["zebra"]), 4)),
    "forgotten": lambda m, X, y: m.forget(X[:3], y[:3]),
    "merged": lambda m, X, y: m.merge(m),
    "faded": lambda m, X, y: m.decay(0.5),
    "calibrated": lambda m, X, y: m.recalibrate(X, y),
    "fitted anew": lambda m, X, y: m.fit(X, y),
}


def loaded(model: Any, folder: Path) -> Any:
    model.save(folder / "model.suffit")
    return suffit.load(folder / "model.suffit")


def answer(ask: Any, model: Any, *given: Any) -> Any:
    """What a question gives, or what is wrong with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ask(copy.copy(model), *given)
        except (ValueError, AttributeError, TypeError, NotImplementedError) as error:
            return f"{type(error).__name__}: {error}"


def assert_equal(a: Any, b: Any, what: str) -> None:
    assert type(a) is type(b), f"{what}: {a!r:.200} and {b!r:.200}"
    if isinstance(a, tuple | list):
        assert len(a) == len(b), what
        for x, z in zip(a, b, strict=True):
            assert_equal(x, z, what)
    elif hasattr(a, "_fit"):
        assert_identical(a, b)
    elif isinstance(a, pl.DataFrame | pa.Table):
        assert a.equals(b), what
    elif isinstance(a, dict):
        assert a.keys() == b.keys(), what
        assert_equal(list(a.values()), list(b.values()), what)
    elif isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b)
    elif isinstance(a, str):
        assert a == b, what
    elif what == "leave-one-out":  # products of matrices, whose last bit depends on where in memory they lie
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)
    else:
        np.testing.assert_array_equal(a, b, err_msg=what)


def assert_same_model(a: Any, b: Any, X: Any, y: Any) -> None:
    """Every question has the same answer, before and after every change."""
    assert type(a) is type(b)
    assert a.__dict__.keys() - {"_total"} == b.__dict__.keys() - {"_total"}
    assert_identical(a, b)
    for what, ask in QUESTIONS.items():
        assert_equal(answer(ask, a, X, y), answer(ask, b, X, y), what)
    for what, change in CHANGES.items():
        assert_equal(answer(change, a, X, y), answer(change, b, X, y), what)


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([len(name), 3])
    return CASES[name].draw(rng, 40), np.array(["ant", "bee", "cat"])[np.arange(40) % 3]


def writable(name: str, X: Any, y: Any) -> Any:
    """An estimator of a case, without selectors, which cannot be written."""
    model = CASES[name].make()
    columns = getattr(model, "columns", None)
    if isinstance(columns, dict) and any(map(callable, columns)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.set_params(columns=copy.copy(model).fit(X, y).schema_)
    return model


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # rows are few, and some questions are odd
@pytest.mark.parametrize("name", CASES)
def test_a_loaded_model_answers_as_the_one_saved(name: str, tmp_path: Path):
    """With missing values and weights, and with a class that was declared and has no rows."""
    X, y = rows_of(name)
    X = with_holes(X, 3)
    model = writable(name, X, y).fit(X, y, np.linspace(0.5, 3.0, len(y)))
    assert_same_model(model, loaded(model, tmp_path), X, y)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # rows are few
@pytest.mark.parametrize("name", CASES)
def test_a_model_of_batches_answers_as_the_one_saved(name: str, tmp_path: Path):
    """With a class that was declared and has no rows, rows forgotten, and batches that wait."""
    X, y = rows_of(name)
    model = writable(name, X, y).partial_fit(X, y, classes=["ant", "bee", "cat", "yak"])
    model.forget(X[:2], y[:2])
    model.partial_fit(X[:2], y[:2])
    again = loaded(model, tmp_path)
    assert_identical(model, again)
    for what in ("posterior", "labels", "density", "leave-one-out"):
        assert_equal(answer(QUESTIONS[what], model, X, y), answer(QUESTIONS[what], again, X, y), what)
    for what in ("learned", "a new class", "forgotten"):
        assert_equal(answer(CHANGES[what], model, X, y), answer(CHANGES[what], again, X, y), what)


ODD_ROWS = {
    "one row of a class": lambda X: X[:3],
    "rows that are all equal": lambda X: X[[0] * 6],
    "a class that does not vary": lambda X: X[[0, 1, 2, 0, 4, 5, 0, 7, 8]],
    "columns without values": lambda X: np.where(np.arange(X.shape[1]) == 0, np.nan, X)[:12],
    "hardly any values": lambda X: with_holes(X, 1, 0.9)[:12],
}


@pytest.mark.filterwarnings("ignore")  # there is much to be said of such rows
@pytest.mark.parametrize("rows", ODD_ROWS)
def test_whatever_can_predict_can_be_saved(rows: str, tmp_path: Path):
    """Data that do not vary, and data that are hardly there, in every case."""
    saved = 0
    for name in CASES:
        X, y = rows_of(name)
        X = ODD_ROWS[rows](X)
        try:
            model = writable(name, X, y[: len(X)]).partial_fit(X, y[: len(X)])
            expected = model.predict_proba(X)
        except (ValueError, TypeError):  # no rows for this one
            continue
        np.testing.assert_array_equal(loaded(model, tmp_path).predict_proba(X), expected, err_msg=name)
        saved += 1
    assert saved > 30


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e-150, 1e150])
def test_rows_of_any_scale_can_be_saved(scale: float, tmp_path: Path):
    X, y = rows_of("gaussian")
    makes = (suffit.GaussianNB, suffit.LDA, suffit.QDA, suffit.GDA, suffit.GenerativeClassifier)
    for make in (
        *makes,
        lambda: suffit.NaiveBayes("exponential"),
        lambda: suffit.NaiveBayes("gamma"),
        suffit.PoissonNB,
    ):
        try:
            model = make().fit(np.abs(scale * X), y)
            expected = model.predict_proba(np.abs(scale * X))
        except (ValueError, ArithmeticError):  # squares that are no numbers
            continue
        np.testing.assert_array_equal(loaded(model, tmp_path).predict_proba(np.abs(scale * X)), expected)


def test_every_family_goes_through_a_file():
    kinds = {type(m.fit(*rows_of(n))._model.family).key for n, m in ((n, c.make()) for n, c in FAMILIES.items())}
    assert kinds - {"product"} | {"partition"} == set(families())  # a partition is part of a product


def table(n: int = 120) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    a = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.poisson(3, n),
            "c": pd.Series(rng.choice(["x", "y", "z", None], n), dtype="category"),
            "d": rng.random(n) < 0.3,
            "e": rng.gamma(2, 1, n),
            "when": pd.Series(pd.date_range("2020", periods=n)),
        }
    )
    return frame, np.where(a + 0.5 * (frame["c"] == "x") + rng.normal(size=n) > 0.3, "yes", "no")


TABLES = {
    "pool": (lambda: suffit.GenerativeClassifier(), lambda t: t),
    "pool, informative": (lambda: suffit.GenerativeClassifier(missing="informative", unknown="novel"), lambda t: t),
    "isotonic": (lambda: suffit.GenerativeClassifier(calibrate="isotonic", prior_smoothing=1.0), lambda t: t),
    "columns that help": (lambda: suffit.GenerativeClassifier(select="loo", structure="naive"), lambda t: t),
    "both": (lambda: suffit.GenerativeClassifier(select="loo"), lambda t: t),
    "by name": (
        lambda: suffit.GenerativeClassifier(
            {("a", "e"): suffit.MultivariateGaussian(tie=0.5, missing="pairs"), "b": "drop"}
        ),
        lambda t: t,
    ),
    "pairs": (lambda: suffit.GenerativeClassifier([("a", "gaussian"), ("b", suffit.Poisson(alpha=0.5))]), lambda t: t),
    "polars": (lambda: suffit.GenerativeClassifier(), lambda t: pl.from_pandas(t)),
    "pyarrow": (lambda: suffit.GenerativeClassifier(), lambda t: pa.Table.from_pandas(t)),
    "dict": (lambda: suffit.GenerativeClassifier(), lambda t: {k: t[k].tolist() for k in "abde"}),
}


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # columns of dates are dropped
@pytest.mark.parametrize("name", TABLES)
def test_a_loaded_model_of_a_table_answers_as_the_one_saved(name: str, tmp_path: Path):
    make, convert = TABLES[name]
    frame, y = table()
    X = convert(frame)
    model = make().fit(X, y)
    again = loaded(model, tmp_path)
    assert_same_model(model, again, X, y)
    assert again.schema_ == model.schema_
    assert again._template.form == model._template.form


OTHERS: dict[str, tuple[Any, Any, Any]] = {
    "smoothing by leave-one-out": (suffit.BernoulliNB(alpha="loo", binarize=0.45), X, Y),
    "smoothing by evidence": (suffit.MultinomialNB(alpha="evidence"), X, Y),
    "temperature": (suffit.GaussianNB(calibrate="temperature"), X, Y),
    "isotonic": (suffit.GaussianNB(calibrate="isotonic"), X, Y),
    "prior by class": (suffit.GaussianNB(priors={"ham": 0.2, "spam": 0.3, "eggs": 0.5}), X, Y),
    "prior as array": (suffit.GDA(priors=np.array([0.2, 0.3, 0.5])), X, Y),
    "covariances by leave-one-out": (suffit.GDA(tie="loo", shrinkage="loo"), X, Y),
    "structure by leave-one-out": (suffit.GDA("auto"), X, Y),
    "float32": (suffit.GaussianNB(), X.astype(np.float32), Y),
    "sparse": (suffit.MultinomialNB(), sparse.csr_matrix(np.round(10 * X)), Y),
    "sequences of words": (suffit.MultinomialNB(input="sequences"), [[0, 1], [4], [2, 2, 7]] * 6, np.arange(18) % 3),
    "chosen bins": (suffit.NaiveBayes(suffit.Binned()), X, Y),
    "smoothing by column": (suffit.MultinomialNB(alpha=np.array([0.1, 0.2, 0.3, 0.4])), X, Y),
    "least categories": (
        suffit.CategoricalNB(min_categories=[9, 9]),
        np.arange(20).reshape(10, 2) % 5,
        np.arange(10) % 2,
    ),
    "names": (suffit.LDA(), pd.DataFrame(X, columns=list("abcd")), Y),
    "few rows of many columns": (suffit.GDA(), rather_wide(RNG, 20), np.arange(20) % 2),
}


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # rows are few
@pytest.mark.parametrize("name", OTHERS)
def test_what_was_chosen_from_data_comes_back(name: str, tmp_path: Path):
    model, X, y = OTHERS[name]
    model = copy.copy(model).fit(X, y)
    assert_same_model(model, loaded(model, tmp_path), X, y)


@pytest.mark.filterwarnings("ignore::suffit.DataWarning")  # rows are few
@pytest.mark.parametrize("name", [n for n in VARIANTS if n != "LDA-estimator"])
def test_a_loaded_model_is_written_as_the_same_bytes(name: str, tmp_path: Path):
    """So everything that a file holds is there again, in every setting of every estimator."""
    model = copy.copy(VARIANTS[name]).fit(X, Y)
    again = loaded(model, tmp_path)
    again.save(tmp_path / "again.suffit")
    assert (tmp_path / "again.suffit").read_bytes() == (tmp_path / "model.suffit").read_bytes()


def test_few_rows_with_missing_values_come_back(tmp_path: Path):
    """Which are kept as they are."""
    X, y = with_holes(rather_wide(RNG, 20), 1), np.arange(20) % 2
    model = suffit.LDA().fit(X, y)
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_identical(again.partial_fit(X + 1, y).forget(X[:3], y[:3]), model.partial_fit(X + 1, y).forget(X[:3], y[:3]))


def test_a_decision_rule_comes_back_with_its_estimator(tmp_path: Path):
    rule = suffit.Decision(suffit.GaussianNB(), cost=1 - np.eye(3), reject=0.3, prior="uniform", reject_label="?")
    again = loaded(rule.fit(X, Y), tmp_path)
    np.testing.assert_array_equal(again.predict(X), rule.predict(X))
    np.testing.assert_array_equal(again.class_share_, rule.class_share_)
    assert repr(again) == repr(rule)
    given = suffit.Decision(suffit.GaussianNB().fit(X, Y), threshold={"ham": 0.5, "spam": 0.4, "eggs": 0.3})
    np.testing.assert_array_equal(loaded(given, tmp_path).predict(X), given.predict(X))


def test_what_was_said_is_not_said_again(tmp_path: Path):
    with pytest.warns(suffit.SingularClassWarning):
        model = suffit.GDA().fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba([[0.5]]), model.predict_proba([[0.5]]))


def test_what_was_not_said_yet_is_said_when_the_model_is_used(tmp_path: Path):
    """Batches are solved when asked for: neither saving nor loading says anything in their place."""
    model = suffit.GDA().partial_fit([[0.0], [0.0], [1.0], [2.0]], [0, 0, 1, 1])
    again = loaded(model, tmp_path)
    for one in (model, again):
        with pytest.warns(suffit.SingularClassWarning):
            one.predict([[0.5]])


def test_settings_changed_since_the_fit_wait_for_the_next_one(tmp_path: Path):
    model = suffit.GaussianNB().fit(X, Y).set_params(priors=[0.2, 0.3, 0.5], var_smoothing=0.1)
    again = loaded(model, tmp_path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert_identical(again.partial_fit(X, Y), model.partial_fit(X, Y))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
