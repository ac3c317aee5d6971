"""Saving and loading: versions, files of another kind, and what cannot be written."""

from __future__ import annotations

import json
import pickle
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_selector
from sklearn.covariance import OAS
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import suffit
from cases import two
from damaged_files import file_of, joined, parts
from suffit.core.family import _registry, families
from suffit.families.elementwise import Elementwise, Natural
from suffit.files.store import VERSION, from_bytes, to_bytes

X, Y = two(60)
GOLDEN = Path(__file__).parent / "golden"


def test_a_loaded_model_is_the_one_saved(tmp_path: Path):
    model = suffit.GaussianNB().fit(X, Y)
    assert model.save(tmp_path / "model.suffit") is None
    again = suffit.load(str(tmp_path / "model.suffit"))
    assert type(again) is suffit.GaussianNB
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_file_is_about_as_small_as_a_pickle():
    rng = np.random.default_rng(0)
    y = np.arange(500) % 2
    table = pd.DataFrame(rng.normal(size=(500, 70)) + 0.2 * y[:, None], columns=[f"c{j}" for j in range(70)])
    model = suffit.GenerativeClassifier().fit(table, y)
    assert len(to_bytes(model)) < 1.2 * len(pickle.dumps(model)) < 200_000


def test_a_model_is_saved_while_another_thread_teaches_it(tmp_path: Path):
    """A file holds the model of one moment: classes, counts and sums of the same rows."""
    model = suffit.GaussianNB().fit(X, Y)
    stop = threading.Event()

    def teach() -> None:
        while not stop.is_set():
            model.partial_fit(X[:10], Y[:10])

    teacher = threading.Thread(target=teach)
    teacher.start()
    try:
        for _ in range(20):
            model.save(tmp_path / "model.suffit")
            again = suffit.load(tmp_path / "model.suffit")
            np.testing.assert_array_equal(again._model.sums["n"][:, 0], again.class_count_)
            assert (again.class_count_.sum() - len(Y)) % 10 == 0
    finally:
        stop.set()
        teacher.join()


# --- versions


def with_metadata(**changes: str) -> bytes:
    metadata, document, arrays = parts(file_of("moments"))
    return joined({**metadata, **changes}, document, arrays)


def test_a_newer_format_is_refused_in_plain_words():
    with pytest.raises(suffit.ModelFileError) as refused:
        from_bytes(with_metadata(version=str(VERSION + 1), suffit="9.9"), "new.suffit")
    assert str(refused.value) == (
        f"new.suffit: it has format version {VERSION + 1}, and this suffit ({suffit.__version__}) reads versions up to "
        f"{VERSION}; it was written by suffit 9.9, upgrade to that or a later one"
    )


@pytest.mark.parametrize("version", ["0", "-1", "1.5", "", "one", "1e3", "9" * 30, "١"])
def test_a_version_that_is_none_is_refused(version: str):
    with pytest.raises(suffit.ModelFileError, match="which is none"):
        from_bytes(with_metadata(version=version), "x")


def golden_files() -> list[Path]:
    return sorted(GOLDEN.glob("*.suffit"))


def test_there_are_files_of_every_version_of_the_format():
    assert {path.name.partition("-")[0] for path in golden_files()} == {f"v{n}" for n in range(1, VERSION + 1)}


@pytest.mark.parametrize("path", golden_files(), ids=lambda path: path.stem)
def test_files_of_every_version_load_for_ever(path: Path):
    """With the posteriors that the model had when it was saved."""
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model = suffit.load(path)
    assert type(model).__name__ == expected["estimator"]
    assert model.classes_.tolist() == expected["classes"]
    rows = expected["rows"]
    np.testing.assert_allclose(model.predict_proba(rows), expected["posteriors"], rtol=1e-9, atol=1e-12)
    labels = [model.classes_.tolist()[0]] * len(model.predict(rows))
    counts = model.class_count_.copy()
    assert model.partial_fit(rows, labels).class_count_[0] == counts[0] + len(labels)


# --- files of another kind

KINDS = {
    "nothing": b"",
    "text": b"age,income\n" + b"31,20000\n" * 20,
    "a pickle": pickle.dumps(suffit.GaussianNB().fit(X, Y)),
    "Parquet": b"PAR1" + bytes(100) + b"PAR1",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_another_kind_is_refused_by_its_name(kind: str, tmp_path: Path):
    path = tmp_path / "other.file"
    path.write_bytes(KINDS[kind])
    with pytest.raises(suffit.ModelFileError, match=r"other\.file: it"):
        suffit.load(path)


def test_safetensors_that_are_no_model_are_refused():
    with pytest.raises(suffit.ModelFileError, match="a safetensors file, but no model of suffit"):
        from_bytes(with_metadata(format="pt"), "x")


def test_a_path_without_a_file_is_an_error_of_the_system(tmp_path: Path):
    with pytest.raises(FileNotFoundError):
        suffit.load(tmp_path / "none")
    with pytest.raises(IsADirectoryError):
        suffit.load(tmp_path)
    with pytest.raises(suffit.ModelFileError, match="no regular file"):
        suffit.load("/dev/zero")


# --- what cannot be written


class Mine(suffit.GaussianNB):
    pass


def refused_estimators() -> dict[str, tuple[Any, str]]:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    selector = make_column_selector(dtype_include=float)
    clever = suffit.LDA("eigen", covariance_estimator=OAS())
    return {
        "a selector": (
            suffit.GenerativeClassifier({selector: "gaussian"}).fit(frame, Y),
            r"setting 'columns': a function cannot be written; name the columns, or fit with columns=model\.schema_",
        ),
        "an estimator": (clever.fit(X, Y), r"setting 'covariance_estimator': OAS\(\), of type OAS, cannot be written"),
        "an estimator no longer set": (
            suffit.LDA("eigen", covariance_estimator=OAS()).fit(X, Y).set_params(covariance_estimator=None),
            r"setting 'covariance_estimator': OAS\(\)",
        ),
        "another library's": (
            suffit.Decision(LogisticRegression()).fit(X, Y),
            "setting 'estimator': LogisticRegression is no estimator of suffit",
        ),
        "a series": (
            suffit.GaussianNB(priors=pd.Series([0.5, 0.5])).fit(X, Y),
            r"setting 'priors': .* of type Series, cannot be written; give it as plain values",
        ),
        "a class of the user's": (Mine().fit(X, Y), "Mine is no estimator of suffit"),
    }


@pytest.mark.parametrize("name", refused_estimators())
def test_what_cannot_be_written_is_refused_by_name(name: str, tmp_path: Path):
    model, reason = refused_estimators()[name]
    with pytest.raises(suffit.InputError, match=reason):
        model.save(tmp_path / "model.suffit")
    assert not list(tmp_path.iterdir())


def test_what_a_selector_chose_can_be_written(tmp_path: Path):
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    first = suffit.GenerativeClassifier({make_column_selector(dtype_include=float): "gaussian"}).fit(frame, Y)
    model = suffit.GenerativeClassifier(columns=first.schema_).fit(frame, Y)
    model.save(tmp_path / "model.suffit")
    np.testing.assert_array_equal(
        suffit.load(tmp_path / "model.suffit").predict_proba(frame), first.predict_proba(frame)
    )


def test_an_estimator_without_rows_is_not_saved(tmp_path: Path):
    with pytest.raises(NotFittedError):
        suffit.GaussianNB().save(tmp_path / "model.suffit")
    with pytest.raises(NotFittedError):
        suffit.Decision(suffit.GaussianNB()).save(tmp_path / "model.suffit")


# --- families of the user's


@dataclass(frozen=True)
class Rayleigh(Elementwise):
    """x > 0: log p = log x − log s² − x²/(2s²), s² = mean(x²)/2."""

    key: ClassVar[str] = "rayleigh-in-a-file"
    support: ClassVar[str] = "needs x > 0"
    limit: float = 5.0

    def outside(self, x):
        return x <= 0

    def T(self, x):
        return (x * x)[..., None]

    def solve(self, n, t):
        s2 = t[..., 0] / n / 2
        return Natural((-0.5 / s2)[..., None], np.log(s2))

    def log_base(self, x):
        return np.log(x)

    def draw(self, theta, rng):
        return np.sqrt(rng.standard_exponential(theta.shape[:-1]) / -theta[..., 0])


def test_a_family_that_is_not_registered_here_is_named(tmp_path: Path):
    rows = np.abs(X) + 0.1
    with pytest.raises(suffit.InputError, match="family Rayleigh is not registered"):
        suffit.NaiveBayes(Rayleigh()).fit(rows, Y).save(tmp_path / "model.suffit")
    suffit.register(Rayleigh)
    try:
        model = suffit.NaiveBayes(Rayleigh(limit=7.0, alpha=0.5)).fit(rows, Y)
        model.save(tmp_path / "model.suffit")
        again = suffit.load(tmp_path / "model.suffit")
        assert again.family == model.family
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    finally:
        del _registry[Rayleigh.key]
    with pytest.raises(
        suffit.ModelFileError, match=r"family 'rayleigh-in-a-file', which is not known here; import the"
    ):
        suffit.load(tmp_path / "model.suffit")


@pytest.fixture
def with_family(monkeypatch):
    """Registers families for the length of one test."""
    monkeypatch.setattr("suffit.core.family._registry", dict(families()))
    return suffit.register


@pytest.mark.parametrize(("kind", "value"), [(object, None), (object, 3.0), (Literal["own", "all"], "all")])
def test_a_setting_of_any_kind_of_a_family_of_ones_own_is_read_again(tmp_path: Path, with_family, kind, value):
    namespace = {"key": "rayleigh with", "floor": value, "__annotations__": {"floor": kind}}
    family = with_family(dataclass(frozen=True)(type("With", (Rayleigh,), namespace)))()
    suffit.NaiveBayes(family).fit(np.abs(X) + 0.1, Y).save(tmp_path / "model.suffit")
    assert suffit.load(tmp_path / "model.suffit").family == family


@pytest.mark.parametrize(("kind", "value"), [(int, 0.5), (float, None), (float, "one"), (np.ndarray, 1.0)])
def test_a_setting_that_could_not_be_read_is_not_written(tmp_path: Path, with_family, kind, value):
    namespace = {"key": "rayleigh with", "floor": value, "__annotations__": {"floor": kind}}
    model = suffit.NaiveBayes(with_family(dataclass(frozen=True)(type("With", (Rayleigh,), namespace)))())
    with pytest.raises(suffit.InputError, match=r"floor of With is .*, and annotated as .*; annotate it as it is"):
        model.fit(np.abs(X) + 0.1, Y).save(tmp_path / "model.suffit")
    assert not (tmp_path / "model.suffit").exists()


class OfIntegers(suffit.Poisson):
    key = "of integers"

    def outside(self, x):
        return super().outside(x) | (x > np.floor(x))


def test_a_family_of_integers_alone_is_filled_in_with_them_and_saved(tmp_path: Path, with_family):
    with_family(OfIntegers)
    rows = np.random.default_rng(0).poisson(3.0, (40, 2)) + np.arange(80).reshape(40, 2) % 3
    table, y = pd.DataFrame(rows, columns=["visits", "calls"]), np.arange(40) % 2
    for model in (suffit.NaiveBayes(OfIntegers()), suffit.GenerativeClassifier(columns={"visits": "of integers"})):
        model.fit(table, y).save(tmp_path / "model.suffit")
        again = suffit.load(tmp_path / "model.suffit")
        np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    filled = model.impute(table.astype(float).where(rows > 2))
    assert (filled["visits"] % 1 == 0).all()
    model.predict(filled)
