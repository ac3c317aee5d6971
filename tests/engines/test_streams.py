"""Standard input and pipes are read from their beginning by each who opens them, as far as it is kept."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import suffit
from suffit.engines import fit_arrow, streams
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_a_pipe_with_a_name_is_a_file_that_is_read_once(tmp_path: Path, kind: str):
    """As in suffit fit <(…): the first bytes, by which its kind is found, are not lost."""
    rows = pa.table({"x": np.r_[np.arange(50.0), np.arange(50.0) + 100], "class": ["a", "b"] * 50})
    if kind == "parquet":
        parquet.write_table(rows, tmp_path / "made")
    elif kind == "csv":
        csv.write_csv(rows, tmp_path / "made")
    else:
        (tmp_path / "made").write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / "made").read_bytes()))
    writer.start()
    model = fit_arrow(suffit.GaussianNB(), tmp_path / "pipe", target="class")
    writer.join()
    np.testing.assert_array_equal(model.class_count_, [50, 50])
    np.testing.assert_allclose(model.theta_, fit_arrow(suffit.GaussianNB(), tmp_path / "made", target="class").theta_)
