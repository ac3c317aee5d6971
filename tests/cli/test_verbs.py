"""Every verb does what its help says, on files of every kind, and says what is wrong in one line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numba import njit
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

import suffit as package
from suffit.cli.main import app

VERBS = [command.callback.__name__ for command in app.registered_commands]


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def read_json(text: str) -> Any:
    """As every reader but Python's takes it: without NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("verb", [v for v in VERBS if v not in ("warm", "demo", "mail")])
def test_the_example_in_the_help_runs(suffit, verb):
    text = suffit(f"{verb} --help").stdout
    examples = re.findall(r"^ +suffit (.*(?:\n {4,}.*)*)$", text.partition("Example:")[2], flags=re.M)
    assert len(examples) >= 1, text
    for example in examples:
        suffit(re.sub(r"\s+", " ", example.partition("\n\n")[0]))


def test_warm_compiles_and_says_where(suffit, monkeypatch):
    done: list[str] = []
    monkeypatch.setattr("suffit.warm.steps", lambda: iter([("one", lambda: done.append("one"))]))
    assert "suffit warm" in suffit("warm --help").stdout
    warm = suffit("warm")
    assert "everything is compiled already" in warm.stdout
    assert warm.stderr == ""  # a bar on a terminal alone
    assert done == ["one"]


@pytest.mark.parametrize(("options", "times"), [("", 1), ("--quiet", 0)])
def test_what_was_compiled_is_said_once(suffit, monkeypatch, options, times):
    def more(x):
        return x + 1.0

    more.__module__ = "suffit.kernels.made"
    kernel = njit(more)
    monkeypatch.setattr("suffit.warm.steps", lambda: iter([("one", lambda: kernel(1.0))]))
    warm = suffit(f"warm {options}")
    assert "already" not in warm.stdout
    assert warm.output.count("compiled 1 kernel ") == times


def test_alone_it_prints_help_and_its_version(suffit):
    text = suffit("").stdout
    assert all(verb in text for verb in VERBS)
    assert "Exit codes: 0 done; 1 something is wrong" in " ".join(text.split())
    assert suffit("--version").stdout.strip() == f"suffit {package.__version__}"
    assert "complet" in text  # of the shell
    suffit("nonsense", code=2)
    suffit("fit train.csv", code=2)  # without its target


def test_predictions_are_those_of_the_model(suffit):
    text = suffit("predict income.suffit new.csv").stdout
    found, given = read(text), read(Path("new.csv").read_text())
    model = package.load("income.suffit")
    types = {"age": pa.float64(), "hours": pa.float64(), "city": pa.string(), "member": pa.bool_()}
    options = arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=True)
    P = model.predict_proba(arrow_csv.read_csv("new.csv", convert_options=options))
    np.testing.assert_allclose([float(row["p(high)"]) for row in found], P[:, 0], atol=1e-12)
    assert [row["predicted"] for row in found] == model.classes_[P.argmax(1)].tolist()
    assert [{k: row[k] for k in given[0]} for row in found] == given  # cells as they were written
    only = read(suffit("predict income.suffit new.csv --keep city").stdout)
    assert list(only[0]) == ["city", "predicted", "p(high)", "p(low)"]


@pytest.mark.parametrize("out", ["p.csv", "p.tsv", "p.csv.gz", "p.jsonl", "p.parquet", "p.arrow", "p.csv.zst"])
def test_predictions_as_every_kind_of_file(suffit, out):
    expected = [float(row["p(low)"]) for row in read(suffit("predict income.suffit new.csv").stdout)]
    suffit(f"predict income.suffit new.csv -o {out}")
    if out.endswith("parquet"):
        found = parquet.read_table(out)["p(low)"].to_pylist()
    elif out.endswith("arrow"):
        found = feather.read_table(out)["p(low)"].to_pylist()
    elif out.endswith("jsonl"):
        found = [read_json(line)["p(low)"] for line in Path(out).read_text().splitlines()]
    else:
        raw = pa.input_stream(out).read() if not out.endswith("gz") else gzip.decompress(Path(out).read_bytes())
        delimiter = "\t" if out.endswith("tsv") else ","
        found = [float(row["p(low)"]) for row in csv.DictReader(io.StringIO(raw.decode()), delimiter=delimiter)]
    np.testing.assert_allclose(found, expected)
    assert [p.name for p in Path().iterdir() if p.name.endswith(".tmp")] == []


@pytest.mark.parametrize("out", ["p.parquet", "p.arrow", "p.jsonl"])
@pytest.mark.parametrize("source", ["new.csv", "new.jsonl"])
def test_columns_beside_predictions_are_of_the_types_that_a_fit_reads(suffit, source, out):
    beside = {"age": [41, None], "hours": [40.5, 38], "city": ["Bern", "NA"], "member": [True, None],
              "id": [7, 8], "code": ["007", "12"], "share": [0.5, 1], "name": ["a b", None]}  # fmt: skip
    rows = [dict(zip(beside, cells, strict=True)) for cells in zip(*beside.values(), strict=True)]
    if source == "new.csv":
        Path(source).write_text(
            "age,hours,city,member,id,code,share,name\n41,40.5,Bern,true,7,007,0.5,a b\n,38,NA,,8,12,1,\n"
        )
        beside["city"][1] = None
    else:
        Path(source).write_text("".join(json.dumps(row) + "\n" for row in rows))
    suffit(f"predict income.suffit {source} -o {out}")
    if out == "p.jsonl":
        lines = [read_json(line) for line in Path(out).read_text().splitlines()]
        assert {name: [line[name] for line in lines] for name in beside} == beside
        return
    table = (parquet if out == "p.parquet" else feather).read_table(out)
    assert table.select(list(beside)).to_pydict() == beside
    kinds = {"age": "int64", "hours": "double", "member": "bool", "id": "int64", "code": "string", "share": "double"}
    assert {name: str(table.schema.field(name).type) for name in kinds} == kinds


def test_a_cell_that_is_not_of_the_type_of_its_column_is_named(suffit, monkeypatch):
    """Where a file is longer than what is looked at; CSV is written as it is found."""
    monkeypatch.setattr("suffit.engines.text_files.PLACES", 2)
    monkeypatch.setattr("suffit.engines.text_files.BYTES_AT_EACH", 200)
    rows = ["1", *[str(i) for i in range(2, 2000)], "1e3", *[str(i) for i in range(2000)]]
    Path("long.csv").write_text("id,age\n" + "".join(f"{cell},40\n" for cell in rows))
    suffit("predict income.suffit long.csv -o p.csv")
    said = suffit("predict income.suffit long.csv -o p.parquet", code=1).stderr
    assert "long.csv, row 2000, column 'id': expected an integer, as in the other rows, found '1e3'" in said
    assert not Path("p.parquet").exists()


def test_standard_input_and_output(suffit):
    expected = suffit("predict income.suffit new.csv").stdout
    data = Path("new.csv").read_bytes()
    assert suffit("predict income.suffit -", input=data).stdout == expected
    assert suffit("predict income.suffit - --to csv -o -", input=gzip.compress(data)).stdout == expected
    lines = suffit("predict income.suffit - --json", input=data).stdout.splitlines()
    assert read_json(lines[0])["predicted"] == read(expected)[0]["predicted"]
    suffit("fit - -t income -o piped.suffit", input=Path("train.csv").read_bytes())
    piped, model = package.load("piped.suffit"), package.load("income.suffit")
    np.testing.assert_array_equal(piped.class_count_, model.class_count_)


def test_evaluate_finds_the_labels_and_counts(suffit):
    found = read_json(suffit("evaluate income.suffit test.csv --json").stdout)
    rows = read(suffit("predict income.suffit test.csv").stdout)
    assert found["rows"] == len(rows)
    assert found["accuracy"] == np.mean([row["predicted"] == row["income"] for row in rows])
    loss = -np.mean([np.log(float(row[f"p({row['income']})"])) for row in rows])
    assert found["log_loss"] == pytest.approx(loss, rel=1e-9)
    assert 0 < found["log_loss"] < found["log_loss_of_class_shares"]
    text = suffit("evaluate income.suffit test.csv").stdout
    assert "calibration error" in text
    suffit("evaluate income.suffit new.csv", code=1)  # no labels there


def test_why_the_column_of_the_labels_is_not_clear(suffit):
    header, *lines = Path("test.csv").read_text().splitlines()
    Path("other.csv").write_text("\n".join([header, *(line.rpartition(",")[0] + ",new" for line in lines)]) + "\n")
    Path("twice.csv").write_text("\n".join([f"{header},again", *(line + line[line.rindex(",") :] for line in lines)]))
    clear = "suffit: error: the column of the labels is not clear: "
    assert f"{clear}none of 'income' has classes of the model" in suffit("update income.suffit other.csv", 1).stderr
    said = suffit("evaluate income.suffit twice.csv", 1).stderr
    assert (
        said == f"{clear}more than one of 'income', 'again' has classes of the model; say which it is with --target\n"
    )
    assert "no column beside those of the model" in suffit("evaluate income.suffit new.csv", 1).stderr
    suffit("update income.suffit other.csv --target income")


def test_explain_adds_up(suffit):
    (found,) = read_json(suffit("explain income.suffit new.csv -r 2 --json").stdout)
    assert sum(found["terms"].values()) == pytest.approx(found["log_odds"], abs=1e-9)
    assert "rather than" in suffit("explain income.suffit new.csv -r 2 -r 1").stdout
    assert "--row 99: there are 21 rows" in suffit("explain income.suffit new.csv -r 99", code=1).stderr


def test_show_names_columns_families_and_structures(suffit):
    text = suffit("show income.suffit").stdout
    for word in ("GenerativeClassifier, 300 rows", "hours", "continuous", "Categorical()", "Structures pooled"):
        assert word in text
    found = read_json(suffit("show income.suffit --json").stdout)
    assert [c["column"] for c in found["columns"]] == ["age", "hours", "city", "member"]


def test_merge_update_and_forget_are_fits_of_the_rows(suffit):
    suffit("merge income.suffit more.suffit -o both.suffit")
    suffit("update income.suffit more.csv -o updated.suffit")
    both, updated = package.load("both.suffit"), package.load("updated.suffit")
    X = arrow_csv.read_csv("test.csv").drop_columns(["income"])
    np.testing.assert_allclose(both.predict_proba(X), updated.predict_proba(X), atol=1e-10)
    assert both.class_count_.sum() == 380
    before = package.load("income.suffit").predict_proba(X)
    suffit("forget updated.suffit more.csv")
    np.testing.assert_allclose(package.load("updated.suffit").predict_proba(X), before, atol=1e-8)
    Path("never.csv").write_text("age,hours,city,member,income\n30,40,Bern,true,low\n30,40,Bern,true,middling\n")
    said = suffit("forget income.suffit never.csv", code=1).stderr
    assert "class 'middling' was never learned" in said
    np.testing.assert_array_equal(package.load("income.suffit").predict_proba(X), before)


def test_decisions_depend_on_costs(suffit):
    cheap = read(suffit("decide income.suffit new.csv --cost high:low=1 --cost low:high=1").stdout)
    dear = read(suffit("decide income.suffit new.csv --cost high:low=30 --cost low:high=1").stdout)
    assert sum(r["decision"] == "high" for r in dear) > sum(r["decision"] == "high" for r in cheap)
    rejected = read(suffit("decide income.suffit new.csv --reject 0.05").stdout)
    assert {"", "high", "low"} >= {row["decision"] for row in rejected} > {""}
    assert (
        "expected true:decided=cost, such as high:low=5" in suffit("decide income.suffit new.csv --cost x=1", 1).stderr
    )


def test_impute_fills_what_is_missing_and_nothing_else(suffit):
    given, filled = read(Path("new.csv").read_text()), read(suffit("impute income.suffit new.csv").stdout)
    assert any("" in row.values() for row in given)
    for before, after in zip(given, filled, strict=True):
        assert "" not in after.values()
        assert {k: v for k, v in before.items() if v} == {k: after[k] for k, v in before.items() if v}
    a, b = (suffit("impute income.suffit new.csv --draw --seed 3").stdout for _ in range(2))
    assert a == b != suffit("impute income.suffit new.csv --draw --seed 4").stdout


def test_sample_draws_rows_of_a_class(suffit):
    found = read(suffit("sample income.suffit -n 5 --class low --target income --seed 1").stdout)
    assert [row["income"] for row in found] == ["low"] * 5
    assert {row["city"] for row in found} <= {"Bern", "Chur", "Basel, BS"}
    assert "no such class; the classes are high, low" in suffit("sample income.suffit --class mid", code=1).stderr


def test_columns_and_their_families(suffit):
    suffit("fit train.csv -t income --columns age=gamma --columns city=drop --structure naive -o c.suffit")
    schema = package.load("c.suffit").schema_
    assert schema.keys()["age"] == "gamma"
    assert "city" not in schema.used
    assert "expected name=family" in suffit("fit train.csv -t income --columns age", code=1).stderr


def test_every_structure_of_the_class_can_be_asked_for(suffit):
    allowed = package.GenerativeClassifier._parameter_constraints["structure"][0].options
    for structure in sorted(allowed):
        suffit(f"fit train.csv -t income --structure {structure} -o s.suffit")
        assert package.load("s.suffit").structure == structure
    assert "partitions" in suffit("fit train.csv -t income --structure nonsense", code=2).stderr


BAD = {
    "fit train.csv -t incme": "there is no column 'incme'; did you mean 'income'? the columns are 'age', 'hours'",
    "fit . -t income": ".: is a directory; give files, or all of a kind as './*.csv'",
    "fit tain.csv -t income": "tain.csv: no such file; did you mean 'train.csv'?",
    "fit *.parquet -t income": "*.parquet: no file matches",
    "fit empty.csv -t income": "empty.csv: the file is empty; expected a header line, then rows",
    "fit ragged.csv -t income": "ragged.csv, row 301 (line 302): 3 cells, expected 5 as in the header",
    "fit latin.csv -t income": "latin.csv, row 301 (line 302): byte 0xfc is not UTF-8 text; give the encoding",
    "fit changed.csv -t income": "changed.csv, row 301 (line 302), column 'age': expected a number",
    "fit unlabelled.csv -t income": "unlabelled.csv, row 301, column 'income': the label is missing; fill it in",
    "fit header.csv -t income": "there are no rows with a label",
    "predict income.suffit header.csv -o c.csv": "header.csv: there are no rows",
    "evaluate income.suffit header.csv": "header.csv: there are no rows",
    "evaluate income.suffit header.csv -t income": "header.csv: there are no rows",
    "compare header.csv -t income": "header.csv: there are no rows",
    "update income.suffit header.csv -o c.suffit": "header.csv: there are no rows",
    "forget income.suffit header.csv -t income -o c.suffit": "header.csv: there are no rows",
    "report income.suffit header.csv -o c.suffit": "header.csv: there are no rows",
    "explain income.suffit header.csv": "header.csv: there are no rows",
    "impute income.suffit header.csv -o c.csv": "header.csv: there are no rows",
    "fit train.csv -t income --weight income": "column 'income' is named twice; the labels, the weights",
    "update income.suffit more.csv --weight income -o c.suffit": "column 'income' is named twice",
    "fit train.csv -t income -o no/such/folder/m.suffit": "no/such/folder/m.suffit: there is no folder",
    "predict income.suffit new.csv -o .": ".: unknown kind of file; use an ending such as .csv",
    "fit train.csv -t income --encoding nonsense": "--encoding nonsense: unknown",
    "fit train.csv -t income --columns age=gausian": "gausian",
    "predict train.csv income.suffit": "train.csv: its content does not have the SHA-256 at its end: it is no model of "
    "suffit; the model that 'suffit fit' has written comes first, then the rows",
    "show picture.png": "picture.png: its content does not have the SHA-256 at its end: it is no model of suffit",
    "show cut.suffit": "cut.suffit: its content does not have the SHA-256 at its end: it is damaged",
    "show empty.csv": "empty.csv: it has 0 bytes, too few for a model file",
    "fit income.suffit -t income": "income.suffit: is a model, not a file of rows; 'suffit show' says what is in it, "
    "'suffit merge' adds it to others",
    "fit income.suffit.gz -t income": "income.suffit.gz: is a model, not a file of rows",
    "evaluate income.suffit income.suffit": "income.suffit: is a model, not a file of rows",
    "fit picture.png -t income": r"picture.png: is no text, and neither Parquet nor Arrow: it begins with b'\x89PNG",
    "predict income.suffit archive.tar.gz": "archive.tar.gz: is no text, and neither Parquet nor Arrow: it begins with",
    "fit wide.csv -t income": "--encoding utf-16-le",
    "show nothing.suffit": "nothing.suffit: No such file or directory",
    "predict income.suffit wrong.csv": "wrong.csv, row 2, column 'hours': expected a number, as at fit, found 'many'",
    "predict income.suffit other.csv": "other.csv: X has none of the model's columns",
    "merge income.suffit apart.suffit -o c.suffit": "to merge, fit the second model with",
    "evaluate income.suffit strange.csv": "strange.csv, row 1, column 'income': class 'middling' was never learned",
}  # fmt: skip


@pytest.mark.parametrize(("command", "said"), BAD.items(), ids=BAD)
def test_what_is_wrong_is_one_line(suffit, command, said):
    train = Path("train.csv").read_bytes()
    Path("empty.csv").write_bytes(b"")
    Path("header.csv").write_bytes(train.partition(b"\n")[0] + b"\n")
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)))
    Path("cut.suffit").write_bytes(Path("income.suffit").read_bytes()[:-1])
    Path("income.suffit.gz").write_bytes(gzip.compress(Path("income.suffit").read_bytes()))
    with tarfile.open("archive.tar.gz", "w:gz") as archive:
        archive.add("train.csv")
    Path("wide.csv").write_bytes(train.decode().encode("utf-16-le"))
    Path("ragged.csv").write_bytes(train + b"1,2,3\n")
    Path("latin.csv").write_bytes(train + b"30,40,Z\xfcrich,true,low\n")
    Path("changed.csv").write_bytes(train + b"old,40,Bern,true,low\n")
    Path("unlabelled.csv").write_bytes(train + b"30,40,Bern,true,\n")
    Path("wrong.csv").write_text("age,hours,city,member\n30,40,Bern,true\n30,many,Bern,true\n")
    Path("other.csv").write_text("a,b\n1,2\n")
    Path("strange.csv").write_text("age,hours,city,member,income\n30,40,Bern,true,middling\n30,40,Bern,true,low\n")
    if "apart" in command:
        suffit("fit more.csv -t income --columns age=gamma -o apart.suffit")
    done = suffit(command, code=1)
    lines = done.stderr.strip().splitlines()
    assert lines[-1].startswith(f"suffit: error: {said}") or said in lines[-1]
    assert "Traceback" not in done.output
    assert not Path("c.suffit").exists()
    assert not Path("model.suffit").exists()


def test_other_encodings_line_ends_separators_and_a_mark_of_order(suffit):
    text = Path("train.csv").read_text(encoding="utf-8").replace("Basel, BS", "Zürich")
    expected = None
    for name, raw in {
        "plain": text.encode(),
        "windows": text.replace("\n", "\r\n").encode("utf-8-sig"),
        "wide": text.encode("utf-16"),
        "latin": text.encode("latin-1"),
        "semicolons": text.replace(",", ";").encode(),
    }.items():
        Path(f"{name}.csv").write_bytes(raw)
        suffit(f"fit {name}.csv -t income -o {name}.suffit" + (" --encoding latin-1" if name == "latin" else ""))
        found = read_json(suffit(f"show {name}.suffit --json").stdout)
        expected = expected or found
        assert found == expected, name


def test_decimals_after_a_comma(suffit):
    """The same model, predictions and errors as with points."""
    for name in ("train", "new"):
        cells = [row.values() for row in read(Path(f"{name}.csv").read_text())]
        lines = [";".join(re.sub(r"^(\d+)\.(\d+)$", r"\1,\2", cell) for cell in row) for row in cells]
        head = Path(f"{name}.csv").read_text().partition("\n")[0].replace(",", ";")
        Path(f"{name}-comma.csv").write_text("\n".join([head, *lines]))
    suffit("fit train-comma.csv -t income --decimal , -o comma.suffit")
    assert read_json(suffit("show comma.suffit --json").stdout) == read_json(suffit("show income.suffit --json").stdout)
    for how in ("predict", "impute"):
        points = suffit(f"{how} income.suffit new.csv --json").stdout
        assert suffit(f"{how} comma.suffit new-comma.csv --decimal , --json").stdout == points
    said = suffit("predict comma.suffit new.csv --decimal ,", code=1).stderr
    assert re.search(r"new.csv, row 1, column 'hours': expected a number, as at fit, found '\d+\.\d'", said)
    assert "--decimal ," in suffit("fit train-comma.csv -t income -o text.suffit").stderr


def test_a_traceback_only_with_debug(suffit):
    done = suffit("show nothing.suffit --debug", code=1)
    assert isinstance(done.exception, OSError)


def test_a_model_of_text_codes_reads_them_as_text(suffit):
    """'1' was a category among words: it is one in a file that has no words, too."""
    Path("codes.csv").write_text("code,y\n" + "".join(f"{c},{'ab'[c in ('1', 'x')]}\n" for c in "12xz" * 20))
    suffit("fit codes.csv -t y -o codes.suffit --text code")
    Path("one.csv").write_text("code\n1\n2\n")
    assert [row["predicted"] for row in read(suffit("predict codes.suffit one.csv").stdout)] == ["b", "a"]


def test_json_lines_in_and_out_keep_their_values(suffit):
    rows = [{"id": 7, "age": 41, "hours": 40, "city": "Bern", "member": True}, {"id": 8, "age": None, "hours": 38.5}]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = [read_json(line) for line in suffit("predict income.suffit in.jsonl --json").stdout.splitlines()]
    assert [{k: v for k, v in row.items() if k in ("id", "age", "hours")} for row in found] == [
        {"id": 7, "age": 41, "hours": 40.0},
        {"id": 8, "age": None, "hours": 38.5},
    ]
    csv_rows = read(suffit("predict income.suffit in.jsonl").stdout)
    assert csv_rows[1]["predicted"] == found[1]["predicted"]


def test_numbers_that_json_does_not_have_are_null(suffit):
    """The standard error of one fold, and NaN in a file that has it."""
    found = read_json(suffit("compare train.csv --target income --quick -m LDA --folds 2 --json").stdout)
    assert found["models"]["LDA"]["standard_error"]["fit"] is None
    parquet.write_table(pa.table({"age": [40.0], "far": [np.inf], "none": [np.nan]}), "n.parquet")
    (line,) = suffit("predict income.suffit n.parquet --json").stdout.splitlines()
    assert {k: v for k, v in read_json(line).items() if k in ("age", "far", "none")} == {
        "age": 40.0,
        "far": None,
        "none": None,
    }


def test_integer_labels_stay_integers(suffit):
    Path("n.csv").write_text("x,y\n" + "".join(f"{i % 7 + 3 * (i % 2)},{i % 2}\n" for i in range(80)))
    suffit("fit n.csv -t y -o n.suffit")
    assert package.load("n.suffit").classes_.tolist() == [0, 1]
    found = read_json(suffit("evaluate n.suffit n.csv --json").stdout)
    assert found["rows"] == 80
    suffit("update n.suffit n.csv")
    assert package.load("n.suffit").class_count_.sum() == 160


def test_models_are_compared_on_files(suffit):
    shown = suffit("compare train.csv --target income --quick -m LDA -m 'logistic regression' --folds 3").stdout
    assert "has the lowest log-loss" in shown
    assert "logistic regression" in shown
    found = read_json(suffit("compare train.csv --target income --quick -m LDA --folds 2 --json").stdout)
    assert 0.5 < found["models"]["LDA"]["mean"]["accuracy"] <= 1.0
    pytest.importorskip("matplotlib")
    suffit("compare train.csv --target income --quick -m LDA --folds 2 --picture compared.svg")
    assert Path("compared.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_report_writes_a_page_and_says_its_answer(suffit):
    done = suffit("report income.suffit train.csv -o page.html --quick")
    page = Path("page.html").read_text(encoding="utf-8")
    assert done.stdout.startswith("How good        It finds the right class for")
    assert "report → page.html" in done.stderr
    assert "How well income is predicted" in page
    assert "Scores are leave-one-out: the model&#x27;s sums are those of these rows" in page
    assert "suffit report income.suffit train.csv --target income --output page.html" in page
    suffit("report income.suffit test.csv -o new.html --quick --quiet --title 'In June'")
    assert "Scores are held-out" in Path("new.html").read_text(encoding="utf-8")
    assert "<title>In June</title>" in Path("new.html").read_text(encoding="utf-8")


def test_report_refuses_a_folder_that_is_not_there_and_rows_without_labels(suffit):
    assert "nowhere" in suffit("report income.suffit train.csv -o nowhere/page.html", code=1).stderr
    assert "the column of the labels is not clear" in suffit("report income.suffit new.csv", code=1).stderr
    assert not Path("report.html").exists()


@pytest.fixture
def others(suffit):
    """Models of other kinds: of a matrix's columns, of texts, and a rule of decisions around each kind."""
    table = arrow_csv.read_csv("train.csv", convert_options=arrow_csv.ConvertOptions(strings_can_be_null=True))
    y, numbers = np.array(table["income"].to_pylist()), table.select(["age", "hours"])
    package.LDA().fit(numbers, y).save("lda.suffit")
    package.TextNB().fit(["a b b", "c d"], ["u", "v"]).save("text.suffit")
    package.Decision(package.LDA(), reject=0.1).fit(numbers, y).save("rule.suffit")
    package.Decision(package.GenerativeClassifier()).fit(table.drop_columns(["income"]), y).save("mixed.suffit")
    return suffit


def test_models_of_other_kinds_are_shown_drawn_from_and_learn_by_name(others):
    text = others("show lda.suffit").stdout
    assert "LinearDiscriminantAnalysis, 300 rows" in text
    assert "standard deviation" in text
    assert list(read(others("sample lda.suffit -n 1").stdout)[0]) == ["age", "hours", "class"]
    assert "TextNB, 2 rows" in others("show text.suffit").stdout
    assert list(read(others("sample text.suffit -n 1").stdout)[0]) == ["text", "class"]
    others("update lda.suffit more.csv -o updated.suffit")  # which has other columns, too
    assert package.load("updated.suffit").class_count_.sum() == 380
    others("fit more.csv -t income --like lda.suffit -o like.suffit")
    others("merge lda.suffit like.suffit -o both.suffit")
    X = arrow_csv.read_csv("test.csv").select(["age", "hours"])
    both, updated = (package.load(f"{name}.suffit").predict_proba(X) for name in ("both", "updated"))
    np.testing.assert_allclose(both, updated, atol=1e-10)


def test_rows_drawn_from_a_model_of_an_array_have_the_names_of_their_columns(suffit):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    X = np.c_[np.ones(60), rng.normal(size=(60, 2)) * [1, 100] + y[:, None]]
    package.GenerativeClassifier(structure="naive").fit(X, y).save("array.suffit")
    rows = read(suffit("sample array.suffit -n 50 --seed 0").stdout)
    assert list(rows[0]) == ["x1", "x2", "class"]
    assert np.std([float(row["x2"]) for row in rows]) > 20 > 5 > np.std([float(row["x1"]) for row in rows])


def test_a_rule_of_decisions_predicts_decides_and_is_shown(others):
    text = others("show rule.suffit").stdout
    assert "Decision: reject=0.1" in text
    assert "LinearDiscriminantAnalysis, 300 rows" in text
    assert read_json(others("show mixed.suffit --json").stdout)["kind"] == "GenerativeClassifier"
    decided = read(others("decide rule.suffit test.csv").stdout)
    assert {row["decision"] for row in decided} == {"", "high", "low"}
    assert read(others("predict mixed.suffit new.csv").stdout)[0]["predicted"] in ("high", "low")
    assert read_json(others("evaluate mixed.suffit test.csv --json").stdout)["rows"] == 120


@pytest.mark.parametrize(
    "command",
    ["update rule.suffit more.csv", "forget rule.suffit more.csv", "merge rule.suffit rule.suffit -o c.suffit",
     "fit more.csv -t income --like rule.suffit -o c.suffit", "sample rule.suffit", "explain rule.suffit new.csv"],
)  # fmt: skip
def test_what_a_rule_of_decisions_cannot_do_is_one_line(others, command):
    assert "rule.suffit: a Decision, which predicts and decides, and has no sums" in others(command, code=1).stderr


def test_options_of_decide_are_refused_where_the_model_has_a_rule(others):
    said = others("decide rule.suffit new.csv --reject 0.2", code=1).stderr
    assert "a rule of its own; decide without --cost" in said


def test_one_model_alone_is_not_merged(suffit):
    assert "one model alone, expected two or more" in suffit("merge income.suffit -o c.suffit", code=1).stderr


def test_a_picture_that_cannot_be_drawn_is_refused_before_the_work(suffit, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("suffit.cli.comparing.compared", lambda *_: pytest.fail("it has begun"))
    said = suffit("compare train.csv -t income --quick -p compared.xyz", code=1).stderr
    assert "compared.xyz: unknown kind of picture; use an ending such as .svg" in said
    assert "no/folder" in suffit("compare train.csv -t income --quick -p no/folder/c.svg", code=1).stderr


def test_the_demo_needs_a_folder_before_it_begins(suffit, monkeypatch):
    Path("file").write_text("")
    monkeypatch.setattr("suffit.cli.demo.penguins", lambda: pytest.fail("it has begun"))
    assert "file/demo: " in suffit("demo -o file/demo", code=1).stderr
