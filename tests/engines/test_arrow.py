"""Record batches, datasets and files of every kind: the same model as from one table in memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, feather, parquet

import suffit
from suffit.engines.arrow import fit_arrow, predict_arrow
from suffit.engines.sources import read_ahead, read_files

N = 900


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(11)
    k = np.sort(rng.choice(3, N, p=[0.5, 0.45, 0.05]))  # by class: a look at the first rows would see one of them
    columns = {
        "size": rng.normal(size=N) + k,
        "visits": rng.poisson(3 + k),
        "city": np.array(["Bern", "Chur", "Basel, BS", 'a "b"'])[rng.choice(4, N)],
        "member": rng.random(N) < 0.3 + 0.2 * k,
        "outcome": np.array(["early", "late", "rare"])[k],
    }
    frame = pd.DataFrame(columns)
    frame["visits"] = frame["visits"].astype("Int64")
    for name in ("size", "visits", "city"):
        frame.loc[rng.random(N) < 0.06, name] = None
    return pa.Table.from_pandas(frame, preserve_index=False)


@pytest.fixture(scope="module")
def whole(table: pa.Table) -> suffit.GenerativeClassifier:
    return suffit.GenerativeClassifier().fit(table.drop_columns(["outcome"]), table["outcome"])


def written(table: pa.Table, kind: str, folder: Path) -> object:
    """The table as a source of some kind."""
    thirds = [table.slice(i, N // 3) for i in range(0, N, N // 3)]
    if kind == "batches":
        return iter(table.to_batches(70))
    if kind == "reader":
        return table.to_reader(70)
    if kind == "table":
        return table
    if kind == "dataset":
        for i, part in enumerate(thirds):
            parquet.write_table(part, folder / f"{i}.parquet", row_group_size=50)
        return dataset.dataset(folder, format="parquet")
    if kind == "parquet":
        parquet.write_table(table, folder / "t.parquet", row_group_size=100)
        return folder / "t.parquet"
    if kind == "ipc":
        feather.write_feather(table, folder / "t.arrow", compression="zstd", chunksize=64)
        return str(folder / "t.arrow")
    if kind == "stream":
        with pa.ipc.new_stream(folder / "t.arrows", table.schema) as out:
            out.write_table(table, 64)
        return folder / "t.arrows"
    if kind in ("csv", "glob"):
        for i, part in enumerate(thirds):
            csv.write_csv(part, folder / f"{i}.csv")
        return str(folder / "*.csv") if kind == "glob" else [folder / f"{i}.csv" for i in range(3)]
    if kind == "tsv.gz":
        csv.write_csv(table, folder / "t.tsv", csv.WriteOptions(delimiter="\t"))
        (folder / "t.tsv.gz").write_bytes(gzip.compress((folder / "t.tsv").read_bytes()))
        return folder / "t.tsv.gz"
    if kind == "csv.zst":
        with pa.CompressedOutputStream(str(folder / "t.csv.zst"), "zstd") as out:
            csv.write_csv(table, out)
        return folder / "t.csv.zst"
    lines = table.to_pandas().to_json(orient="records", lines=True)
    (folder / "t.jsonl").write_text(lines, encoding="utf-8")
    return folder / "t.jsonl"


TEXT_KINDS = ["csv", "glob", "tsv.gz", "csv.zst", "jsonl"]
KINDS = ["batches", "reader", "table", "dataset", "parquet", "ipc", "stream", *TEXT_KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_every_source_gives_the_model_of_one_table(table, whole, kind, tmp_path):
    source = written(table, kind, tmp_path)
    seen: list[int] = []
    model = fit_arrow(suffit.GenerativeClassifier(), source, "outcome", progress=seen.append)
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    rows = table.drop_columns(["outcome"])
    np.testing.assert_allclose(model.predict_proba(rows), whole.predict_proba(rows), rtol=0, atol=1e-10)
    assert [c.kind for c in model.schema_.choices] == [c.kind for c in whole.schema_.choices]
    assert seen[-1] == N
    if kind not in ("batches", "reader"):
        added = pa.concat_tables(predict_arrow(model, source, keep=["city"]), promote_options="permissive")
        assert added.column_names == ["city", "predicted", "p(early)", "p(late)", "p(rare)"]
        np.testing.assert_allclose(added["p(late)"].to_numpy(), whole.predict_proba(rows)[:, 1], atol=1e-10)


def test_a_file_larger_than_the_places_looked_at_is_the_same_fit(table, tmp_path, monkeypatch):
    """Chunks are cut at line ends that are outside quotes, and those looked at first begin anywhere."""
    csv.write_csv(table, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text(encoding="utf-8").replace("Basel, BS", "Basel\nBS")
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    expected = fit_arrow(suffit.GenerativeClassifier(structure="naive"), tmp_path / "t.csv", "outcome")
    for name, value in {"CHUNK": 700, "BYTES_AT_EACH": 400, "PLACES": 16}.items():
        monkeypatch.setattr(f"suffit.engines.text_files.{name}", value)
    model = fit_arrow(suffit.GenerativeClassifier(structure="naive"), tmp_path / "t.csv", "outcome")
    np.testing.assert_array_equal(model.class_count_, expected.class_count_)
    rows = table.drop_columns(["outcome"])
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(rows), atol=0.05)


def test_weights_and_another_estimator():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    columns = {"a": rng.normal(size=300) + y, "b": rng.normal(size=300), "w": rng.integers(0, 3, 300), "y": y}
    data = pa.table(columns)
    model = fit_arrow(suffit.LDA(), data.to_batches(37), "y", sample_weight="w")
    X = np.column_stack([columns["a"], columns["b"]])
    expected = suffit.LDA().fit(X, y, sample_weight=columns["w"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.class_count_, expected.class_count_)


def test_a_fitted_model_keeps_its_choices_and_needs_no_look(table, whole):
    model = fit_arrow(whole, table.to_batches(100), "outcome")
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    assert repr(model.schema_) == repr(whole.schema_)


HEAD = "age,city,y\n"
ROWS = "".join(f"{20 + i % 40},{'Bern' if i % 3 else 'Chur'},{'ab'[i % 2]}\n" for i in range(200))
BAD = {
    "a cell of another type": (HEAD + ROWS + "old,Bern,a\n", r"row 201 \(line 202\), column 'age': expected a number"),
    "a row too long": (HEAD + ROWS + "1,2,3,4\n", r"row 201 \(line 202\): 4 cells, expected 3"),
    "a row too short": (HEAD + ROWS + "1,a\n", r"row 201 \(line 202\): 2 cells, expected 3"),
    "a missing label": (HEAD + ROWS + "31,Bern,\n", r"row 201, column 'y': the label is missing; fill it in"),
    "an infinite value": (HEAD + ROWS + "inf,Bern,a\n", r"row 201, Input X contains infinity: column 'age'"),
    "another encoding": ((HEAD + ROWS).encode() + b"1,Z\xfcrich,a\n", r"row 201 \(line 202\): byte 0xfc is not UTF-8"),
    "an empty file": ("", "the file is empty; expected a header line"),
    "a header alone": (HEAD, "no rows"),
    "a column twice": ("a,a,y\n1,2,b\n", "column 'a' occurs 2 times"),
    "another name": ("age,city,label\n1,Bern,a\n", "there is no column 'y'; the columns are 'age', 'city', 'label'"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_what_is_wrong_with_a_file_is_one_line(text, said, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(suffit.InputError, match=said) as error:
        fit_arrow(suffit.GenerativeClassifier(structure="naive"), path, "y")
    assert "\n" not in str(error.value)
    if "columns are" not in said and said != "no rows":
        assert str(path) in str(error.value)


def test_a_column_that_changes_its_type_where_nobody_looked(tmp_path, monkeypatch):
    monkeypatch.setattr("suffit.engines.text_files.BYTES_AT_EACH", 300)
    monkeypatch.setattr("suffit.engines.text_files.PLACES", 4)
    path = tmp_path / "people.csv"
    path.write_text(HEAD + ROWS * 6 + "old,Bern,a\n" + ROWS * 6)
    with pytest.raises(suffit.InputError, match=r"people.csv, row 1201 \(line 1202\), column 'age': expected a number"):
        fit_arrow(suffit.GenerativeClassifier(structure="naive"), path, "y")
    path.write_text(HEAD + ROWS * 6 + "31.5,Bern,a\n" + ROWS * 6)  # integers with a fraction among them are numbers
    model = fit_arrow(suffit.GenerativeClassifier(structure="naive"), path, "y")
    assert model.class_count_.sum() == 2401


@pytest.mark.filterwarnings("ignore::suffit.TextColumnWarning")  # 'old' among ages is what is asked for
def test_the_way_out_works(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes((HEAD + ROWS).encode() + "old,Zürich,a\n".encode("latin-1"))
    for options in ({"missing": ["old"]}, {"text": ["age"]}):
        source = read_files(path, encoding="latin-1", **options)
        model = fit_arrow(suffit.GenerativeClassifier(structure="naive"), source, "y")
        assert model.class_count_.sum() == 201


def test_a_directory_a_glob_without_files_and_a_name_misspelled(tmp_path):
    (tmp_path / "people.csv").write_text(HEAD + ROWS)
    for path, said in {
        tmp_path: "is a directory; give files, or all of a kind as '.*[*].csv'",
        tmp_path / "*.parquet": "no file matches",
        tmp_path / "poeple.csv": "no such file; did you mean '.*people.csv'?",
    }.items():
        with pytest.raises(suffit.InputError, match=said):
            fit_arrow(suffit.GenerativeClassifier(), path, "y")
    (tmp_path / "no.parquet").write_text(HEAD)
    with pytest.raises(suffit.InputError, match="no Parquet file, or a damaged one"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "no.parquet", "y")
    (tmp_path / "list.json").write_text('[{"a": 1}]')
    with pytest.raises(suffit.InputError, match="a JSON array; expected JSON lines"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "list.json", "y")
    (tmp_path / "l.jsonl").write_text('{"a": 1, "y": "b"}\n' * 20 + "{oops\n")
    with pytest.raises(suffit.InputError, match="line 21: no JSON"):
        fit_arrow(suffit.GenerativeClassifier(), tmp_path / "l.jsonl", "y")


def test_reading_ahead_ends_with_its_reader_and_hands_errors_on():
    made = []

    def items():
        for i in range(1000):
            made.append(i)
            yield i
        raise AssertionError("not reached")

    first = read_ahead(items())
    assert [next(first), next(first)] == [0, 1]
    first.close()
    assert len(made) < 10

    def broken():
        yield 1
        raise ValueError("here")

    with pytest.raises(ValueError, match="here"):
        list(read_ahead(broken()))


def test_files_of_text_are_read_by_the_types_of_a_fitted_model(tmp_path: Path):
    """Codes that look like numbers are the categories that they were, and labels the classes that they were."""
    rng = np.random.default_rng(0)
    code, label = rng.choice(["8000", "3000", "x12"], 120), rng.choice(["0", "1"], 120)
    X = pa.table({"code": code, "x": rng.normal(size=120) + (label == "1")})
    model = suffit.GenerativeClassifier(structure="naive").fit(X, label)
    digits = X.filter(pa.array(code != "x12"))
    csv.write_csv(digits.append_column("y", pa.array(label[code != "x12"])), tmp_path / "t.csv")
    again = fit_arrow(model, tmp_path / "t.csv", target="y")
    assert again.classes_.tolist() == ["0", "1"]
    assert again._model.sums.isclose(
        suffit.GenerativeClassifier(columns=model.schema_).fit(digits, label[code != "x12"])._model.sums
    )
    [predicted] = predict_arrow(model, tmp_path / "t.csv", keep=[])
    np.testing.assert_array_equal(predicted["p(1)"], model.predict_proba(digits)[:, 1])


def test_a_dataset_in_folders_by_class_has_its_classes(table: pa.Table, whole, tmp_path: Path):
    """The labels are names of folders, and in no file."""
    partitioning = dataset.partitioning(pa.schema([("outcome", pa.string())]), flavor="hive")
    dataset.write_dataset(table, tmp_path, format="parquet", partitioning=partitioning)
    rows = dataset.dataset(tmp_path, format="parquet", partitioning=partitioning)
    model = fit_arrow(suffit.GenerativeClassifier(), rows, "outcome")
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    X = table.drop_columns(["outcome"])
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-10)
