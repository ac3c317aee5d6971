"""CSV and JSON lines in pieces of whole rows, and what is wrong with them by its row."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import suffit
from suffit.engines import fit_arrow, text_files
from suffit.engines.arrow import weights_of
from suffit.engines.sources import read_files


def read(path: Path) -> pa.Table:
    [file] = read_files(path).files
    return pa.concat_tables(file.with_types(file.schema).tables())


def test_json_lines_are_cut_at_line_ends_whatever_their_quotes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An odd number of quotes in a line is no reason to read on: no piece is longer than it must be."""
    rows = [{"size": '5" disc' if i == 3 else "tape", "n": i} for i in range(2000)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr(text_files, "PIECE", 1 << 10)
    monkeypatch.setattr(text_files, "LONGEST_ROW", 1 << 12)
    assert read(tmp_path / "t.jsonl").to_pylist() == rows


def test_the_line_that_is_no_json_is_the_one_that_is_named(tmp_path: Path):
    """Other characters that some call line ends are part of a text."""
    lines = ['{"s": "a\u2028b\x85c", "y": 1}', '{"s": "a", "y": 2}', '{"s": "a", "y": }']
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(suffit.InputError, match=r"t.jsonl, line 3: no JSON"):
        read(tmp_path / "t.jsonl")


def test_a_quote_that_is_not_closed_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_files, "PIECE", 1 << 10)
    monkeypatch.setattr(text_files, "LONGEST_ROW", 1 << 20)
    rows = ["1,a"] * 500 + ['2,"b'] + ["1,a"] * 500_000
    (tmp_path / "t.csv").write_text("n,s\n" + "\n".join(rows))
    with pytest.raises(
        suffit.InputError, match=r"t.csv, row 501 \(line 502\): .*a quote that is not closed.* within 1 MB"
    ):
        list(read_files(tmp_path / "t.csv").files[0].with_types({}).tables())


@pytest.mark.parametrize(
    ("cell", "match"),
    [
        ("", "the weight is missing"),
        ("x", "expected a weight of 0 or more, found 'x'"),
        ("-1", "expected a weight of 0 or more, found -1"),
        ("inf", "expected a weight of 0 or more, found inf"),
    ],
)
def test_a_weight_that_is_none_is_named_by_file_row_and_column(tmp_path: Path, cell: str, match: str):
    rows = [f"{i % 7},{cell if i == 30 else 1},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "t.csv").write_text("x,w,y\n" + "\n".join(rows))
    with pytest.raises(suffit.InputError, match=f"t.csv, row 31, column 'w': {match}"):
        fit_arrow(suffit.GaussianNB(), tmp_path / "t.csv", "y", sample_weight="w")


def test_weights_of_every_type_of_numbers_are_read():
    for kind in (pa.int8(), pa.float32(), pa.bool_(), pa.string(), pa.decimal128(25, 2)):
        column = pa.array(["1", "0"]) if kind == pa.string() else pa.array([1, 0]).cast(kind)
        np.testing.assert_array_equal(weights_of(pa.table({"w": column}), "w"), [1.0, 0.0])
    with pytest.raises(suffit.InputError, match="column 'w': expected weights, found values of type list"):
        weights_of(pa.table({"w": [[1], [2]]}), "w")


def test_files_without_rows_are_named(tmp_path: Path):
    for i in range(5):
        (tmp_path / f"{i}.csv").write_text("x,y\n")
    with pytest.raises(suffit.InputError, match=r"0.csv … .*4.csv \(5 files\): there are no rows with a label"):
        fit_arrow(suffit.GaussianNB(), str(tmp_path / "*.csv"), "y")
