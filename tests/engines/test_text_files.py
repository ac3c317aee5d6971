"""CSV and JSON lines in chunks of whole rows, and what is wrong with them by its row."""

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
    """An odd number of quotes in a line is no reason to read on: no chunk is longer than it must be."""
    rows = [{"size": '5" disc' if i == 3 else "tape", "n": i} for i in range(2000)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setattr(text_files, "CHUNK", 1 << 10)
    monkeypatch.setattr(text_files, "LONGEST_ROW", 1 << 12)
    assert read(tmp_path / "t.jsonl").to_pylist() == rows


def test_the_line_that_is_no_json_is_the_one_that_is_named(tmp_path: Path):
    """Other characters that some call line ends are part of a text."""
    lines = ['{"s": "a\u2028b\x85c", "y": 1}', '{"s": "a", "y": 2}', '{"s": "a", "y": }']
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(suffit.InputError, match=r"t.jsonl, line 3: no JSON"):
        read(tmp_path / "t.jsonl")


def test_a_quote_that_is_not_closed_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_files, "CHUNK", 1 << 10)
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
        ("x", "expected a weight from 0 to 1e.100, found 'x'"),
        ("-1", "expected a weight from 0 to 1e.100, found -1"),
        ("1e150", "expected a weight from 0 to 1e.100, found 1e.150"),
        ("inf", "expected a weight from 0 to 1e.100, found inf"),
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


HALF = [f"{i % 7 if i < 60 else 'pq'[i % 2]},{i % 5},{'uv'[i % 2]}" for i in range(120)]
SORTED = ["2"] * 30 + ["3"] * 30 + ["4"] * 30 + ["5more"] * 30


@pytest.mark.parametrize("rows", [HALF, HALF[60:] + HALF[:60]], ids=["then words", "then numbers"])
def test_a_column_that_changes_type_half_way_is_named_with_its_row(tmp_path: Path, rows: list[str]):
    """Few numbers may be codes of categories, but not where they stop at one row and words begin."""
    (tmp_path / "t.csv").write_text("a,b,y\n" + "\n".join(rows))
    row = 61 if rows is HALF else 1
    with pytest.raises(suffit.InputError, match=rf"t.csv, row {row} \(.*, column 'a': expected a number.*--text 'a'"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")
    assert fit_arrow(suffit.GenerativeClassifier(), read_files(tmp_path / "t.csv", text=["a"]), "y").classes_.size == 2


@pytest.mark.parametrize("cells", [SORTED, ["2", "3", "5more", "4"] * 30])
def test_categories_that_are_mostly_numbers_stay_categories_sorted_or_not(tmp_path: Path, cells: list[str]):
    (tmp_path / "t.csv").write_text("doors,y\n" + "\n".join(f"{c},{'uv'[i % 2]}" for i, c in enumerate(cells)))
    model = fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")
    assert model.schema_.choices[0].kind == "categorical"


@pytest.mark.parametrize("cell", ["1_000", "٣", "old"])
def test_what_is_a_number_for_python_alone_is_a_word_among_numbers(tmp_path: Path, cell: str):
    rows = [f"{cell if i == 200 else np.sin(i)},{'ab'[i % 2]}" for i in range(300)]
    (tmp_path / "t.csv").write_text("x,y\n" + "\n".join(rows), encoding="utf-8")
    with pytest.raises(suffit.InputError, match=f"t.csv, row 201 .*column 'x': expected a number.*found '{cell}'"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")


def test_a_first_row_without_end_is_said_to_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_files, "BYTES_AT_EACH", 1 << 10)
    monkeypatch.setattr(text_files, "LONGEST_ROW", 1 << 20)
    (tmp_path / "t.csv").write_text("x,y\n" + "7" * (1 << 21) + ",a\n")
    with pytest.raises(suffit.InputError, match=r"t.csv, row 1 \(line 2\): .* does not end within 1 MB"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")


def test_line_ends_of_old_are_said(tmp_path: Path):
    (tmp_path / "t.csv").write_bytes(b"x,y\r1,a\r2,b\r")
    with pytest.raises(suffit.InputError, match=r"t.csv, header: .*lines must end in LF or CRLF"):
        read(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("odd", "match"),
    [
        ('{"a": "x", "y": "v"}', "line 31, column 'a': expected a number, as in the lines before, found 'x'"),
        ('{"a": [3], "y": "v"}', r"line 31, column 'a': expected a number, as in the lines before, found \[3\]"),
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "line 31: more than 64 values inside each other"),
        ("[" * 50_000, "line 31: more than 64 values inside each other"),
        ('{"a": ' * 50_000 + "1" + "}" * 50_000, "line 31: more than 64 values inside each other"),
    ],
    ids=["text", "list", "deep lists", "open lists", "deep objects"],
)
def test_what_is_wrong_with_a_line_of_json_is_said_with_its_line(tmp_path: Path, odd: str, match: str):
    """Arrow's reader goes as deep as the values do, and ends the process there."""
    (tmp_path / "t.jsonl").write_text('{"a": 1, "y": "u"}\n' * 30 + odd + '\n{"a": 3, "y": "v"}\n')
    with pytest.raises(suffit.InputError, match=f"t.jsonl, {match}"):
        read(tmp_path / "t.jsonl")


def test_brackets_inside_text_have_no_depth(tmp_path: Path):
    rows = [{"s": "[{" * 200 + '\\"', "y": 1}, {"s": "a", "y": 2}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert read(tmp_path / "t.jsonl").to_pylist() == rows


def test_values_inside_values_are_refused_by_the_name_of_their_column(tmp_path: Path):
    (tmp_path / "t.jsonl").write_text('{"a": {"b": 1}, "y": "u"}\n{"a": {"b": 2}, "y": "v"}\n' * 20)
    with pytest.raises(suffit.InputError, match=r"column 'a': a category must be a single value"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.jsonl", "y")


def test_a_table_of_labels_alone_is_said_to_be_one(tmp_path: Path):
    (tmp_path / "t.csv").write_text("y\na\nb\n")
    with pytest.raises(suffit.InputError, match=r"t.csv: no column beside 'y'; a fit needs at least one"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")


def test_decimals_after_a_comma_are_read_where_that_is_said(tmp_path: Path):
    rows = [f"{i % 7},{i % 5};{'ab'[i % 7 > 3]}" for i in range(80)]
    (tmp_path / "t.csv").write_text("x;y\n" + "\n".join(rows))
    [file] = read_files(tmp_path / "t.csv", decimal=",").files
    assert {name: str(kind) for name, kind in file.schema.items()} == {"x": "double", "y": "string"}
    with pytest.warns(suffit.TextColumnWarning, match=r"column 'x' looks like numbers: .*\(in a file: --decimal ,\)"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "t.csv", "y")
    model = fit_arrow(suffit.GenerativeClassifier(), read_files(tmp_path / "t.csv", decimal=","), "y")
    assert model.schema_.choices[0].kind == "continuous"
    (tmp_path / "t.csv").write_text("x;y\n" + "\n".join([*rows, "3.5;a"]))
    with pytest.raises(suffit.InputError, match=r"t.csv, row 81 \(line 82\), column 'x': expected a number, .*'3.5'"):
        fit_arrow(suffit.GenerativeClassifier(), read_files(tmp_path / "t.csv", decimal=","), "y")
    with pytest.raises(suffit.InputError, match="decimal=';'"):
        read_files(tmp_path / "t.csv", decimal=";")
