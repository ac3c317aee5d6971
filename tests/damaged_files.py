"""Model files gone wrong: by accident (bytes that changed), or on purpose (other content under a right SHA-256)."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pandas as pd

import suffit
from every_estimator import X, Y
from suffit.files.container import assembled, taken_apart
from suffit.files.store import from_bytes, to_bytes

# --- small models of every kind


def table(n: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns of every kind, with missing values."""
    rng = np.random.default_rng(5)
    a = rng.normal(size=n)
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.1, np.nan, a),
            "b": rng.poisson(3, n),
            "c": pd.Series(rng.choice(["x", "y", "z", None], n), dtype="category"),
            "d": rng.random(n) < 0.3,
            "e": rng.gamma(2, 1, n),
        }
    )
    return frame, np.where(a + 0.5 * (frame["c"] == "x") + rng.normal(size=n) > 0.3, "yes", "no")


def missing_some(X: np.ndarray) -> np.ndarray:
    return np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)


MODELS: dict[str, tuple[Any, Any, Any]] = {
    "moments": (suffit.GaussianNB(calibrate="isotonic"), X, Y),
    "elementwise": (suffit.NaiveBayes("gamma"), X, Y),
    "counts": (suffit.BernoulliNB(alpha="loo", binarize=0.45), X, Y),
    "words": (suffit.ComplementNB(), X, Y),
    "categories": (suffit.CategoricalNB(), X, Y),
    "bins": (suffit.NaiveBayes(suffit.Binned([0.3, 0.6])), X, Y),
    "shared covariance": (suffit.LDA(priors=[0.2, 0.3, 0.5]), missing_some(X), Y),
    "own covariances": (suffit.GDA(), missing_some(X), Y),
    "few rows": (suffit.GDA(tie=1.0, shrinkage=0.1), np.random.default_rng(0).normal(size=(12, 64)), np.arange(12) % 2),
    "table": (suffit.GenerativeClassifier(), *table()),
    "trees": (suffit.GenerativeClassifier(structure="partitions"), *table()),
    "coded table": (suffit.GenerativeClassifier(missing="informative", calibrate="temperature"), *table()),
    "rule": (suffit.Decision(suffit.PoissonNB(), cost=1 - np.eye(3), reject=0.4), X, Y),
}


@cache
def file_of(name: str) -> bytes:
    """The model file of one of the models."""
    model, *rows = MODELS[name]
    return to_bytes(copy.copy(model).fit(*rows))


def files(names: Any = MODELS) -> dict[str, bytes]:
    """The model files of these models."""
    return {name: file_of(name) for name in names}


# --- by accident


def damaged(data: bytes, other: bytes, rng: Random) -> tuple[str, bytes]:
    """The file, damaged in one of many ways, and in which; ``other`` is another whole file."""
    how = rng.choice(list(DAMAGES))
    return how, DAMAGES[how](data, other, rng)


def _span(data: bytes, rng: Random) -> tuple[int, int]:
    """A range of bytes: short ones as often as long ones."""
    start = rng.randrange(len(data))
    return start, min(len(data), start + 1 + int(len(data) ** rng.random()))


def _flipped(data: bytes, other: bytes, rng: Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


def _replaced(data: bytes, rng: Random, content: Callable[[int], bytes]) -> bytes:
    a, b = _span(data, rng)
    return data[:a] + content(b - a) + data[b:]


def _swapped(data: bytes, other: bytes, rng: Random) -> bytes:
    a, b, c, d = sorted(rng.randrange(len(data) + 1) for _ in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _repeated(data: bytes, other: bytes, rng: Random) -> bytes:
    a, b = _span(data, rng)
    return data[:b] + data[a:b] + data[b:]


def _spliced(data: bytes, other: bytes, rng: Random) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + other[at if rng.random() < 0.5 else rng.randrange(len(other)) :]


DAMAGES: dict[str, Callable[[bytes, bytes, Random], bytes]] = {
    "bits flipped": _flipped,
    "cut off": lambda data, other, rng: data[: rng.randrange(len(data))],
    "cut off in front": lambda data, other, rng: data[1 + rng.randrange(len(data)) :],
    "bytes added": lambda data, other, rng: data + rng.randbytes(1 + rng.randrange(64)),
    "spliced": _spliced,
    "zeroed": lambda data, other, rng: _replaced(data, rng, bytes),
    "overwritten": lambda data, other, rng: _replaced(data, rng, rng.randbytes),
    "a range missing": lambda data, other, rng: _replaced(data, rng, lambda n: b""),
    "a range twice": _repeated,
    "ranges swapped": _swapped,
}


def damaged_files(n: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """n damaged files, each other than the files it was made of."""
    whole, rng = list(files().values()), Random(seed)
    for _ in range(n):
        data, other = rng.sample(whole, 2)
        how, bad = damaged(data, other, rng)
        if bad not in (data, other):
            yield how, bad


def is_refused(data: bytes) -> bool:
    """Whether loading these bytes says that they are no model file."""
    try:
        from_bytes(data, "damaged.suffit")
    except suffit.ModelFileError:
        return True
    return False


def signed(data: bytes) -> bytes:
    """The same with a right SHA-256 at the end, as anybody can put there."""
    return data[:-32] + hashlib.sha256(data[:-32]).digest()


# --- on purpose

VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 2, 3, 7, 64, 2**40, 2**70, 1e308, -1.5, 0.5, 1e-300, "", "x", "auto", "loo", [], {}),
    *("numbers", "categories", "codings", "missing", "word ", [1], [[]], {"float": "nan"}, {"float": "inf"}),
    *({"tuple": []}, {"tuple": [0, 1]}, {"bytes": ""}, {"numpy": ["<f8", 1.0]}, {"int": "9" * 30}, {"range": 2**50}),
]
NUMBERS = (np.nan, np.inf, -np.inf, -1.0, 1e300, -1e300, 0.0, 1e-300, 5e-324)

Parts = tuple[dict[str, str], Any, dict[str, np.ndarray]]


def parts(data: bytes) -> Parts:
    """The metadata, the document and the arrays of a file."""
    metadata, arrays = taken_apart(data)
    arrays = {name: a.copy() for name, a in arrays.items()}
    return metadata, json.loads(arrays.pop("document").tobytes()), arrays


def joined(metadata: dict[str, str], document: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A file of these, with a right SHA-256."""
    text = np.frombuffer(json.dumps(document).encode(), np.uint8)
    return assembled(metadata, {**arrays, "document": text})


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def _changed_value(value: Any, rng: Random) -> Any:
    if type(value) is int:
        return value + rng.choice([-1, 1, 10, -2 * value])
    if type(value) is float:
        return value * rng.choice([-1.0, 0.0, 1e10, 1e-10])
    if type(value) is bool:
        return not value
    return value + "z" if type(value) is str else copy.deepcopy(rng.choice(VALUES))


def changed_document(document: Any, rng: Random) -> Any:
    """The same with one value other, gone, doubled or moved."""
    document = copy.deepcopy(document)
    places = list(_paths(document))
    *path, key = rng.choice(places)
    parent = _at(document, tuple(path))
    how = rng.randrange(6)
    if how == 0:
        parent[key] = copy.deepcopy(rng.choice(VALUES))
    elif how == 1:
        del parent[key]
    elif how == 2:
        parent[key] = copy.deepcopy(_at(document, rng.choice(places)))
    elif how == 3 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif how == 4:
        rng.shuffle(parent) if isinstance(parent, list) else parent.update(more=copy.deepcopy(rng.choice(VALUES)))
    else:
        parent[key] = _changed_value(parent[key], rng)
    return document


def changed_arrays(arrays: dict[str, np.ndarray], rng: Random) -> dict[str, np.ndarray]:
    """The same with some numbers other, or one array of another shape or in the place of another."""
    arrays = {name: a.copy() for name, a in arrays.items()}
    name, other = rng.choice(list(arrays)), rng.choice(list(arrays))
    a, how = arrays[name], rng.randrange(6)
    if how == 0:
        arrays[name] = a.reshape(-1)[:-1] if a.size else np.ones(3)
    elif how == 1:
        arrays[name] = a[..., None]
    elif how == 2:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif a.size:
        flat = a.reshape(-1)
        for _ in range(rng.choice([1, 1, 3])):
            i = rng.randrange(flat.size)
            with np.errstate(over="ignore"):
                flat[i] = rng.choice([*NUMBERS, -flat[i], 1e6 * flat[i]]) if a.dtype.kind == "f" else rng.randrange(256)
    return arrays


def hostile_files(n: int, seed: int, names: Any = MODELS) -> Iterator[tuple[str, bytes]]:
    """n files whose content was changed by somebody who knows the format, and the models that they were."""
    made, rng = {name: parts(data) for name, data in files(names).items()}, Random(seed)
    for _ in range(n):
        name = rng.choice(list(made))
        metadata, document, arrays = made[name]
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            if rng.random() < 0.7:
                document = changed_document(document, rng)
            else:
                arrays = changed_arrays(arrays, rng)
        yield name, joined(metadata, document, arrays)


def outcome(name: str, data: bytes, thorough: bool = False) -> str:
    """What comes of a file: "refused", "predicts", or "says so" (no finite score for some row, by class and column).

    ``thorough``: a model that predicts is asked for everything else, too; it may refuse.
    """
    try:
        model = from_bytes(data, "hostile.suffit")
    except suffit.ModelFileError:
        return "refused"
    try:
        posterior = model.predict_proba(MODELS[name][1])
    except (FloatingPointError, suffit.InputError):
        return "says so"
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
    for ask in ASKED if thorough else ():
        with suppress(ValueError, ArithmeticError, AttributeError, NotImplementedError):
            ask(copy.copy(model), *MODELS[name][1:])
    return "predicts"


ASKED: tuple[Callable[[Any, Any, Any], Any], ...] = (
    lambda m, X, y: m.score_samples(X),
    lambda m, X, y: m.loo_predict_proba(X, y),
    lambda m, X, y: m.sample(3, random_state=0),
    lambda m, X, y: repr(m.explain(X)),
    lambda m, X, y: repr(m.summary(X, y)),
    lambda m, X, y: m.partial_fit(X, y).forget(X, y).predict_proba(X),
    lambda m, X, y: m.merge(m).predict_proba(X),
    lambda m, X, y: to_bytes(m.partial_fit(X, np.repeat(["other"], len(y)))),
)
