"""Standard input is read from its beginning by each who opens it, as far as it is kept."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

import suffit
from suffit.engines import streams
from suffit.engines.streams import Input


def test_two_readers_of_standard_input_do_not_disturb_each_other(monkeypatch):
    data = bytes(range(256)) * 40
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    first, second = Input("-").open(), Input("-").open()
    assert first.read(100) == data[:100]
    assert second.read(5000) == data[:5000]
    assert first.read() == data[100:]
    assert second.read() == data[5000:]


def test_what_is_no_longer_kept_cannot_be_read_again(monkeypatch):
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x" * 5000)))
    monkeypatch.setattr(streams, "HELD", 1000)
    with Input("-").open() as stream:
        assert len(stream.read()) == 5000
    with pytest.raises(suffit.InputError, match="standard input can be read only once"):
        Input("-").open().read()
