"""The bytes of a model file: what other readers of safetensors make of them, and the other way round."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

from damaged_files import MODELS, files
from suffit.files.container import RefusedError, assembled, parsed, taken_apart

RNG = np.random.default_rng(0)
ARRAYS = {
    "a": RNG.normal(size=(3, 4)),
    "none": np.zeros((0, 5)),
    "one": np.array(2.5),
    "bytes": np.arange(7, dtype=np.uint8),
    "small": np.arange(5, dtype="<u2").reshape(5, 1),
    "long": np.array([-1, 2**62]),
}


def test_arrays_come_back_bit_by_bit():
    metadata, arrays = taken_apart(assembled({"x": "y"}, ARRAYS))
    assert metadata == {"x": "y"}
    assert arrays.keys() == ARRAYS.keys()
    for name, a in arrays.items():
        assert (a.dtype, a.shape, a.tobytes()) == (ARRAYS[name].dtype, ARRAYS[name].shape, ARRAYS[name].tobytes())
        assert a.flags.aligned


def test_the_end_of_a_file_is_the_digest_of_all_before():
    data = assembled({}, ARRAYS)
    assert data[-32:] == hashlib.sha256(data[:-32]).digest()


@pytest.mark.parametrize("name", MODELS)
def test_other_readers_of_safetensors_read_a_model_file(name: str):
    numpy_reader = pytest.importorskip("safetensors.numpy")
    data = files([name])[name]
    theirs, (metadata, ours) = numpy_reader.load(data), taken_apart(data)
    assert theirs.pop("sha256").tobytes() == data[-32:]
    assert theirs.keys() == ours.keys()
    for key, a in ours.items():
        assert (a.dtype, a.shape) == (theirs[key].dtype, theirs[key].shape)
        np.testing.assert_array_equal(a, theirs[key])
    assert metadata["format"] == "suffit model"
    assert json.loads(theirs["document"].tobytes()).keys() == {"estimator", "axes", "families"}


def test_brackets_within_strings_are_not_depth():
    assert parsed(json.dumps({"a": "[" * 500, "b": '\\"' + "{" * 500}).encode())["a"] == "[" * 500
    with pytest.raises(RefusedError, match="nested"):
        parsed(b'{"a":"\\\\",' + b'"b":' + b"[" * 80 + b"]" * 80 + b"}")
