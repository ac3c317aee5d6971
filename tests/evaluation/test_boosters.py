"""Boosters: frames prepared as each takes them, skipped where their package is absent, named in the report."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from evaluate import boosters, folds, models, report, run, show, summaries, tables

SIZE = "size[cm], <old>"  # a name that XGBoost and LightGBM refuse
FRAME = pd.DataFrame(
    {SIZE: [1.5, np.nan, 3.0, 4.0], "colour": ["red", None, "blue", "red"], "wet": [True, False, None, True]}
)
NEW = pd.DataFrame({SIZE: [2.0, 1.0], "colour": ["mauve", "red"], "wet": [False, None]})


class Shares:
    """Stands for a booster: remembers what it is given, and answers the shares of the codes."""

    def __init__(self, nominal):
        self.nominal = nominal

    def fit(self, X, codes):
        self.X, self.codes = X, codes
        return self

    def predict_proba(self, X):
        self.asked = X
        return np.tile(np.bincount(self.codes) / len(self.codes), (len(X), 1))


def test_categories_are_those_of_the_fit_and_missing_values_stay():
    category = boosters.Category().fit(FRAME)
    learned, asked = category.transform(FRAME), category.transform(NEW)
    assert list(learned) == ["0", "1", "2"]
    assert learned["0"].isna().tolist() == [False, True, False, False]
    assert learned["1"].cat.categories.tolist() == asked["1"].cat.categories.tolist() == ["blue", "red"]
    assert learned["1"].isna().tolist() == [False, True, False, False]
    assert asked["1"].isna().tolist() == [True, False]  # not seen in the fit
    assert learned["2"].cat.categories.tolist() == ["False", "True"]


def test_a_missing_category_is_one_of_its_own_and_numbers_stay_missing():
    filled = boosters.Filled().fit(FRAME)
    assert filled.transform(FRAME)["1"].tolist() == ["red", "missing", "blue", "red"]
    assert filled.transform(FRAME)["2"].tolist() == ["True", "False", "missing", "True"]
    assert filled.transform(FRAME)["0"].isna().tolist() == [False, True, False, False]
    assert filled.transform(NEW)["1"].tolist() == ["mauve", "red"]


@pytest.mark.parametrize("columns", [boosters.Category, boosters.Filled])
def test_the_frame_given_is_not_changed(columns):
    before = FRAME.copy()
    columns().fit_transform(FRAME)
    pd.testing.assert_frame_equal(FRAME, before)


def test_labels_are_codes_and_answers_are_by_class():
    model = boosters.Booster(boosters.Filled(), Shares).fit(FRAME, np.array(["y", "n", "y", "y"]))
    assert model.model_.nominal == ["1", "2"]
    assert model.model_.codes.tolist() == [1, 0, 1, 1]
    assert model.predict_proba(NEW).tolist() == [[0.25, 0.75]] * 2
    assert model.classes_.tolist() == ["n", "y"]
    assert model.model_.asked["1"].tolist() == ["mauve", "red"]


@pytest.mark.parametrize("name", list(boosters.BOOSTERS))
def test_odd_names_and_a_category_not_seen(name):
    """Names with brackets, columns of booleans and of nothing, few rows in a class: fitted, and never in an error."""
    pytest.importorskip(boosters.PACKAGES[name])
    learn = pd.concat([FRAME] * 5, ignore_index=True).assign(nothing=None)
    both = pd.concat([learn, NEW.assign(nothing="at last")], ignore_index=True)
    table = tables.Table("t", both, np.array([*["a", "b", "a", "c"] * 5, "a", "b"]), len(both))
    (row,) = folds.run_fold(table, 0.0, np.arange(20), np.array([20, 21]), [name])
    assert row["error"] == ""
    assert row["log_loss"] < 3


def test_a_model_without_its_package_is_skipped_with_a_line(tmp_path, monkeypatch, capsys):
    home = tmp_path / "data" / "tables" / "tiny"
    home.mkdir(parents=True)
    (home / "tiny.csv").write_text("a,class\n" + "1,x\n2,y\n" * 10)
    monkeypatch.setenv("SUFFIT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(run, "PROCESSES", 1)
    monkeypatch.setattr(folds, "warm", lambda name: None)
    monkeypatch.setitem(boosters.PACKAGES, "LightGBM", "no_such_package")
    assert run.main(["tables", "--models", "lightgbm"]) == 0
    assert "skipped: LightGBM: no package no_such_package; pip install '.[evaluate]'" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()
    assert run.main(["tables", "--models", "lightgbm", "class shares"]) == 0
    out = capsys.readouterr().out
    assert "skipped: LightGBM" in out
    assert "1 tables of at most 10,000 rows, 1 models" in out


def test_boosters_are_models_of_both_runs_and_imported_where_used():
    assert set(boosters.PACKAGES) == set(boosters.BOOSTERS) <= set(models.MODELS) & set(models.KNOCK_OUT)
    code = f"import sys, evaluate.run; print(set(sys.modules) & {set(boosters.PACKAGES.values())})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tables.ROOT)
    assert found.stdout.strip() == "set()"


def results(losses):
    """Results from {(model, table): log-loss}."""
    rows = [
        {"table": table, "share": 0.0, "model": model, "log_loss": loss, "accuracy": 1 - loss, "brier": loss,
         "ece": loss, "fit": 1.0, "predict": 1.0, "failed": 0, "folds": 10, "error": ""}
        for (model, table), loss in losses.items()
    ]  # fmt: skip
    return {"rows": rows, "tables": {table: {} for _, table in losses}}


LOSSES = {
    ("random forest", "a"): 0.3, ("random forest", "b"): 0.5, ("gradient boosting", "a"): 0.4,
    ("gradient boosting", "b"): 0.5, ("LightGBM", "a"): 0.1, ("LightGBM", "b"): 0.5, ("CatBoost", "a"): 0.01,
}  # fmt: skip


def test_readme_names_the_best_of_boosting():
    lines = report.readme_table(results(LOSSES))
    assert [line.split(" |")[0] for line in lines[2:]] == ["| random forest", "| LightGBM"]
    assert lines[3].startswith("| LightGBM | 0.300 | 70.0% |")


def test_a_model_that_was_not_run_on_every_table_is_in_no_average():
    result = results(LOSSES)
    rows = result["rows"]
    made = {
        "settings": {"most": 9, "repeats": 1, "folds": 5},
        "versions": dict.fromkeys(["LightGBM", "sklearn", "python"], "7"),
    }
    lines = report.how({**result, **made, "tables": {}})
    assert "LightGBM 7, Python 7" in lines[0]
    assert lines[1] == "In no average, since not run on every table: CatBoost."
    assert len(lines) == 2
    with_ours = results({**LOSSES, (report.OURS, "a"): 0.2, (report.OURS, "b"): 0.1})
    assert report.how({**with_ours, **made, "tables": {}})[2] == (
        "CatBoost on 1 of them, suffit GenerativeClassifier there in brackets: "
        "log-loss 0.010 (0.200), median 0.010 (0.200), accuracy 99.00% (80.00%)."
    )
    assert {row["model"] for row in summaries.complete(rows)} == {"random forest", "gradient boosting", "LightGBM"}
    assert summaries.complete([]) == []
    later = [{**row, "share": 0.5} for row in rows if row["model"] != "LightGBM"]
    assert "LightGBM" not in {row["model"] for row in summaries.complete(rows + later)}


def test_show_prints_means_and_medians_and_says_what_is_left_out(tmp_path, capsys):
    path = tmp_path / "some.json"
    path.write_text(json.dumps(results(LOSSES)))
    assert run.main(["show", str(path)]) == 0
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if "LightGBM" in line)
    assert line.replace("│", " ").split()[:7] == ["LightGBM", "0.3000", "0.3000", "70.00%", "0.3000", "0.3000", "1.50"]
    assert "2 tables" in out
    assert "left out, since not run on all tables: CatBoost (not on b)" in out
    assert run.main(["show", str(path), "--common", "--models", "boost", "lightgbm"]) == 0
    out = capsys.readouterr().out
    assert "1 tables" in out
    assert [word in out for word in ("CatBoost", "LightGBM", "random forest", "left out")] == [True, True, False, False]
    assert show.not_run(results(LOSSES), ["b"], ["LightGBM", "CatBoost"]) == {"CatBoost": ["b"]}
    with pytest.raises(SystemExit, match="no file"):
        run.main(["show", str(tmp_path / "none.json")])
