"""The evaluation: metrics by hand, tables read as written, what fails is scored and said, a run from end to end."""

from __future__ import annotations

import io
import json
import math
import tarfile

import numpy as np
import pandas as pd
import pytest
from evaluate import boosters, folds, metrics, models, notes, report, run, summaries, tables, text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder with two small tables, one of them with strings and missing values; results go there, too."""
    rng = np.random.default_rng(0)
    for name in ("plain", "mixed"):
        home = tmp_path / "data" / "tables" / name
        home.mkdir(parents=True)
        lines = ["size,colour,class"]
        for i in range(60):
            c = i % 2
            size = "" if name == "mixed" and i % 9 == 0 else f"{rng.normal(3 * c):.3f}"
            colour = rng.choice(["red", "blue"], p=[0.3, 0.7] if c else [0.6, 0.4]) if name == "mixed" else f"{i % 5}"
            lines.append(f"{size},{colour},{'no' if c else 'yes'}")
        (home / f"{name}.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.setenv("SUFFIT_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(folds, "warm", lambda name: None)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(report, "PAGE", tmp_path / "evaluation.md")
    monkeypatch.setattr(report, "README", tmp_path / "README.md")
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    return tmp_path / "data"


def write(home, name, text):
    home.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)


class TestMetrics:
    P = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.6, 0.4, 0.0], [0.1, 0.2, 0.7]])
    c = np.array([0, 1, 1, 0])

    def test_accuracy(self):
        assert metrics.accuracy(self.P, self.c) == 0.5

    def test_log_loss(self):
        by_hand = -(math.log(0.9) + math.log(0.5) + math.log(0.4) + math.log(0.1)) / 4
        assert metrics.log_loss(self.P, self.c) == pytest.approx(by_hand, rel=1e-14)

    def test_log_loss_of_a_probability_of_nothing(self):
        assert metrics.log_loss(self.P[:1], np.array([2])) == pytest.approx(15 * math.log(10), rel=1e-14)

    def test_brier(self):
        rows = [0.01 + 0.01, 0.04 + 0.25 + 0.09, 0.36 + 0.36, 0.81 + 0.04 + 0.49]
        assert metrics.brier(self.P, self.c) == pytest.approx(sum(rows) / 4, rel=1e-14)

    def test_ece_of_rows_alone_in_their_bins(self):
        gaps = [abs(1 - 0.9), abs(1 - 0.5), abs(0 - 0.6), abs(0 - 0.7)]
        assert metrics.expected_calibration_error(self.P, self.c) == pytest.approx(sum(gaps) / 4, rel=1e-14)

    def test_ece_of_rows_that_share_a_bin(self):
        P = np.array([[0.81, 0.19], [0.85, 0.15], [0.83, 0.17], [0.55, 0.45]])  # three in (12/15, 13/15]
        three = abs(2 / 3 - (0.81 + 0.85 + 0.83) / 3)
        assert metrics.expected_calibration_error(P, np.array([0, 0, 1, 0])) == pytest.approx(
            0.75 * three + 0.25 * 0.45, rel=1e-12
        )

    def test_ece_at_the_edges(self):
        assert metrics.expected_calibration_error(np.array([[1.0, 0.0]]), np.array([0])) == 0
        assert metrics.expected_calibration_error(np.array([[1.0, 0.0]]), np.array([1])) == 1

    def test_log_loss_and_brier_as_in_scikit_learn(self):
        from sklearn.metrics import log_loss

        assert metrics.log_loss(self.P, self.c) == pytest.approx(log_loss(self.c, self.P, labels=[0, 1, 2]), rel=1e-12)


class TestTables:
    def test_read(self, tmp_path):
        text = "n,count,word,class\n1.5,1,NA,1\n,2,,2\n-2,3,?,1\n4,4,x,\n"
        write(tmp_path / "tables" / "tiny", "tiny.csv", text)
        table = tables.read(tmp_path, "tiny")
        assert table.y.tolist() == ["1", "2", "1"]  # strings; the row without a class is left out
        assert table.X["n"].tolist()[::2] == [1.5, -2.0]
        assert table.X["count"].tolist() == [1, 2, 3]
        assert table.X["word"].tolist()[::2] == ["NA", "?"]  # only an empty field is missing
        assert table.X.isna().to_numpy().tolist() == [[False] * 3, [True, False, True], [False] * 3]
        assert table.facts == {
            "rows": 3, "rows_in_file": 3, "columns": 3, "numeric": 2, "classes": 2, "missing": pytest.approx(2 / 9),
        }  # fmt: skip

    def test_train_and_test_are_read_as_one(self, tmp_path):
        write(tmp_path / "tables" / "adult", "adult_train.csv", "a,c\n1,x\n2,y\n")
        write(tmp_path / "tables" / "adult", "adult_test.csv", "a,c\n3,x\n")
        table = tables.read(tmp_path, "adult")
        assert (table.X["a"].tolist(), table.y.tolist()) == ([1, 2, 3], ["x", "y", "x"])

    def test_class_not_last_and_identifiers_dropped(self, tmp_path):
        write(tmp_path / "tables" / "titanic", "titanic.csv", "Id,Survived,Sex\n1,0,male\n2,1,female\n")
        write(tmp_path / "tables" / "splice", "splice.csv", "Instance_name,a,Class\nq,A,N\nr,C,EI\n")
        titanic, splice = (tables.read(tmp_path, name) for name in ("titanic", "splice"))
        assert (titanic.y.tolist(), list(titanic.X)) == (["0", "1"], ["Id", "Sex"])
        assert (splice.y.tolist(), list(splice.X)) == (["N", "EI"], ["a"])

    def test_names_are_those_of_folders_with_a_table(self, folder):
        (folder / "tables" / "empty").mkdir()
        (folder / "tables" / "notes.txt").write_text("")
        assert tables.names(folder) == ["mixed", "plain"]

    def test_cut_keeps_the_shares_and_the_rare(self):
        y = np.repeat(["common", "rare"], [997, 3])
        table = tables.Table("t", pd.DataFrame({"a": np.arange(1000)}), y, 1000)
        small = tables.cut(table, 100)
        assert np.unique(small.y, return_counts=True)[1].tolist() == [100, 3]
        assert small.X["a"].is_monotonic_increasing
        assert small.X.equals(tables.cut(table, 100).X)
        assert tables.cut(table, 1000) is table

    def test_knock_out_takes_its_share_and_only_more(self):
        table = tables.Table(
            "t", pd.DataFrame({"a": np.arange(4000), "b": ["u", "v"] * 2000}), np.array(["c"] * 4000), 0
        )
        less, more = (tables.knock_out(table, share).X.isna().to_numpy() for share in (0.1, 0.5))
        assert less.mean() == pytest.approx(0.1, abs=0.02)
        assert more.mean() == pytest.approx(0.5, abs=0.02)
        assert not (less & ~more).any()
        assert tables.knock_out(table, 0.0).X.equals(table.X)


class TestOneHotWithHoles:
    frame = pd.DataFrame({"size": [1.0, None, 3.0, 4.0, 5.0], "colour": ["red", "blue", None, "red", "green"]})

    def test_holes_stay_and_the_most_frequent_level_is_dropped(self):
        nan = np.nan
        want = [[1, 0, 0], [nan, 1, 0], [3, nan, nan], [4, 0, 0], [5, 0, 1]]  # size, blue, green
        assert np.array_equal(models.OneHotWithHoles(least=1).fit_transform(self.frame), want, equal_nan=True)

    def test_rare_levels_are_the_row_of_zeros(self):
        want = [[1, 1], [np.nan, 0], [3, np.nan], [4, 1], [5, 0]]  # size, red
        assert np.array_equal(models.OneHotWithHoles(least=2).fit_transform(self.frame), want, equal_nan=True)

    def test_a_level_not_seen_is_missing(self):
        encoder = models.OneHotWithHoles(least=1).fit(self.frame)
        new = pd.DataFrame({"size": [2.0], "colour": ["mauve"]})
        assert np.array_equal(encoder.transform(new), [[2, np.nan, np.nan]], equal_nan=True)

    def test_indicators_are_not_singular(self):
        colours = pd.DataFrame({"a": list("uvwx") * 20, "b": list("ppqqr") * 16})
        matrix = models.OneHotWithHoles().fit_transform(colours)
        assert np.linalg.matrix_rank(np.cov(matrix.T)) == matrix.shape[1] == 5

    def test_only_numbers(self):
        assert models.OneHotWithHoles().fit_transform(self.frame[["size"]]).shape == (5, 1)


class Broken:
    """Fits nothing."""

    def fit(self, X, y):
        raise ValueError("no way\nat all")


class NotFinite:
    """Probabilities that are none."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)


@pytest.mark.parametrize(("model", "why"), [(Broken, "ValueError: no way at all"), (NotFinite, "sum to 1")])
def test_a_model_that_fails_is_scored_as_the_class_shares(monkeypatch, model, why):
    monkeypatch.setitem(models.MODELS, "failing", model)
    table = tables.Table("t", pd.DataFrame({"a": np.arange(8.0)}), np.array(list("xxxyxxxy")), 8)
    (row,) = folds.run_fold(table, 0.0, np.arange(4), np.arange(4, 8), ["failing"])
    assert why in row["error"]
    assert row["log_loss"] == pytest.approx(-(3 * math.log(0.75) + math.log(0.25)) / 4)
    assert row["accuracy"] == 0.75


def test_a_class_that_was_not_learned_has_probability_nothing():
    table = tables.Table("t", pd.DataFrame({"a": np.arange(6.0)}), np.array(list("xyxyzz")), 6)
    (row,) = folds.run_fold(table, 0.0, np.arange(4), np.array([4, 5]), ["class shares"])
    assert row["error"] == ""
    assert row["log_loss"] == pytest.approx(15 * math.log(10))


@pytest.mark.parametrize("name", list(models.MODELS | models.KNOCK_OUT))
def test_every_model_takes_a_mixed_frame(name, folder):
    """With strings, missing values, a category not seen in the fit and a column that is all missing."""
    pytest.importorskip(boosters.PACKAGES.get(name, "sklearn"))
    table = tables.read(folder, "mixed")
    table.X["nothing"] = np.nan
    table.X.loc[59, "colour"] = "new"
    (row,) = folds.run_fold(table, 0.0, np.arange(45), np.arange(45, 60), [name])
    refuses = name == "sklearn QDA"  # a singular covariance
    assert row["error"] == "" or refuses
    assert row["log_loss"] < 1 or name == "class shares" or "QDA" in name


def test_the_reason_when_there_is_no_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SUFFIT_DATA", str(tmp_path / "nowhere"))
    assert run.main(["tables", "--quick"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("skipped: no folder")
    assert "SUFFIT_DATA" in out


def test_the_reason_when_the_folder_is_empty(tmp_path, monkeypatch, capsys):
    (tmp_path / "tables").mkdir()
    monkeypatch.setenv("SUFFIT_DATA", str(tmp_path))
    assert run.main(["tables"]) == 0
    assert capsys.readouterr().out.startswith("skipped: no table")


def test_a_run_from_end_to_end(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "PROCESSES", 1)
    monkeypatch.delitem(models.MODELS, "suffit GaussianNB, calibrated")  # whose name holds the other's
    monkeypatch.setitem(models.MODELS, "suffit Broken", Broken)
    words = ["--quick", "--models", "suffit gaussiannb", "class shares", "broken"]
    assert run.main(["tables", *words]) == 0
    result = json.loads((tmp_path / "results" / "tables-quick.json").read_text())
    rows = {(row["table"], row["model"]): row for row in result["rows"]}
    assert len(rows) == 6
    for table in ("plain", "mixed"):
        assert rows[table, "suffit GaussianNB"]["log_loss"] < rows[table, "class shares"]["log_loss"]
        assert rows[table, "suffit GaussianNB"]["accuracy"] > 0.8
        assert rows[table, "class shares"]["log_loss"] == pytest.approx(math.log(2))
        assert rows[table, "suffit Broken"]["failed"] == 5
        assert rows[table, "suffit Broken"]["log_loss"] == rows[table, "class shares"]["log_loss"]
    table = report.summary(result["rows"])
    assert table.index[0] == "suffit GaussianNB"
    assert table["rank_loss"].tolist() == [1, 2.5, 2.5]
    assert table["wins_loss"].tolist() == [2, 0, 0]
    assert "2 tables" in capsys.readouterr().out
    page = report.page(result, None)
    assert "suffit Broken: every table. `ValueError: no way at all`" in page


def test_a_second_run_of_one_table_keeps_the_other(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "PROCESSES", 1)
    monkeypatch.delitem(models.MODELS, "suffit GaussianNB, calibrated")  # whose name holds the other's
    run.main(["tables", "--quick", "--models", "class shares"])
    run.main(["tables", "--quick", "--models", "suffit gaussiannb", "--tables", "plain"])
    result = json.loads((tmp_path / "results" / "tables-quick.json").read_text())
    assert [(row["table"], row["model"]) for row in result["rows"]] == [
        ("mixed", "class shares"), ("plain", "class shares"), ("plain", "suffit GaussianNB"),
    ]  # fmt: skip


def test_an_interrupted_run_keeps_what_it_has_and_is_gone_on_with(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "PROCESSES", 1)
    read, asked = tables.read, []

    def interrupted(home, name):
        asked.append(name)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return read(home, name)

    monkeypatch.setattr(tables, "read", interrupted)
    words = ["tables", "--quick", "--models", "class shares"]
    with pytest.raises(KeyboardInterrupt):
        run.main(words)
    first = json.loads((tmp_path / "results" / "tables-quick.json").read_text())
    assert list(first["tables"]) == ["mixed"]
    capsys.readouterr()
    run.main([*words, "--resume"])
    assert asked == ["mixed", "plain", "plain"]  # the finished one is not run again
    both = json.loads((tmp_path / "results" / "tables-quick.json").read_text())
    assert [row["table"] for row in both["rows"]] == ["mixed", "plain"]
    assert both["rows"][0] == first["rows"][0]
    assert "not yet run with all models: mixed, plain" in capsys.readouterr().out


class Slow(Broken):
    def fit(self, X, y):
        while True:
            pass


def test_a_model_that_does_not_end_is_too_slow_and_its_tables_are_in_no_average(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "PROCESSES", 1)
    monkeypatch.setattr(folds, "LIMIT", 0.05)
    monkeypatch.setitem(models.MODELS, "suffit Slow", Slow)
    run.main(["tables", "--quick", "--models", "class shares"])
    run.main(["tables", "--quick", "--models", "suffit slow", "--tables", "plain"])
    result = json.loads((tmp_path / "results" / "tables-quick.json").read_text())
    late = [row for row in result["rows"] if row["model"] == "suffit Slow"]
    assert [(row["table"], row["failed"]) for row in late] == [("plain", 5)]
    assert late[0]["error"] == "too slow: more than 0.05 s for one fold"
    assert report.too_slow(result["rows"]) == ["plain"]
    whole = next(row for row in result["rows"] if row["table"] == "mixed")
    assert report.summary(result["rows"])["log_loss"].tolist() == [whole["log_loss"]]
    page = report.page(result, None)
    assert "for a fold there: plain." in page
    assert "suffit Slow: plain. `too slow: more than 0.05 s for one fold`" in page


def test_knock_out(folder, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(run, "PROCESSES", 1)
    words = ["--quick", "--models", "mean + sklearn lda", "logistic", "--knock-out", "0.4", "--report"]
    assert run.main(["tables", *words]) == 0
    rows = json.loads((tmp_path / "results" / "knock-out-quick.json").read_text())["rows"]
    assert {row["share"] for row in rows} == {0.0, 0.4}
    whole, with_missing = (report.summary(rows, share)["log_loss"].mean() for share in (0.0, 0.4))
    assert whole < with_missing
    assert (tmp_path / "evaluation-knock-out.png").exists()
    assert "## Cells knocked out" in (tmp_path / "evaluation.md").read_text()


def rows_of(losses, fit=1.0):
    """Rows of results from {(model, table, share): log-loss}; accuracy is 1 minus it."""
    return [
        {"table": table, "share": share, "model": model, "log_loss": loss, "accuracy": 1 - loss, "fit": fit}
        for (model, table, share), loss in losses.items()
    ]


def test_against_counts_tables_and_averages_differences():
    mine = rows_of({("mine", "a", 0.0): 0.1, ("mine", "b", 0.0): 0.5, ("mine", "c", 0.0): 0.2}, fit=3.0)
    other = rows_of({("other", "a", 0.0): 0.4, ("other", "b", 0.0): 0.4, ("other", "c", 0.0): 0.2})
    row = summaries.against(mine + other, "mine").loc["other"]
    assert (row["better"], row["righter"], row["as_right"], row["time"]) == (1, 1, 1, 3)
    assert row["loss_mean"] == pytest.approx((-0.3 + 0.1 + 0) / 3)
    assert row["loss_median"] == 0
    assert row["right_mean"] == pytest.approx((0.3 - 0.1 + 0) / 3)


def test_tables_behind_logistic_regression_are_named_with_the_gap():
    losses = {(notes.OURS, "labor", 0.0): 0.5, (notes.OURS, "b", 0.0): 0.1}
    losses |= {("logistic regression", "labor", 0.0): 0.2, ("logistic regression", "b", 0.0): 0.3}
    lines = notes.behind({"rows": rows_of(losses)})
    assert [line for line in lines if line.startswith("| b ")] == []
    assert lines[-1].startswith("| labor | 0.500 | 0.200 | +0.300 | the smallest table")


def test_what_missing_values_cost_is_counted_against_the_model_itself():
    exact, mean = report.EXACT[0], report.IMPUTED[0]
    losses = {(exact, "a", 0.0): 0.3, (exact, "a", 0.5): 0.4, (exact, "b", 0.0): 0.3, (exact, "b", 0.5): 0.35}
    losses |= {(mean, "a", 0.0): 0.1, (mean, "a", 0.5): 0.35, (mean, "b", 0.0): 0.4, (mean, "b", 0.5): 0.6}
    result = {"rows": rows_of(losses), "tables": {"a": {}, "b": {}}}
    assert summaries.lost(result["rows"]).loc[(exact, "a"), 0.5] == pytest.approx(0.1)
    assert f"| {mean} | +0.225 (+0.225) |" in report.losses(result)
    assert report.duels(result)[-1] == f"| {exact} | {mean} | 50% | 1 | -0.100 | -0.100 | 2 |"  # lower on b only


def test_the_page_is_made_from_full_results_where_there_are_any(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    assert report.latest(False) is None
    (tmp_path / "tables-quick.json").write_text('{"run": "quick"}')
    assert report.latest(False) == {"run": "quick"}
    (tmp_path / "tables.json").write_text('{"run": "full"}')
    assert report.latest(False) == {"run": "full"}
    assert report.latest(True) is None


def test_names_that_are_not_there(folder):
    with pytest.raises(SystemExit, match="no table nowhere"):
        run.main(["tables", "--tables", "nowhere"])
    with pytest.raises(SystemExit, match="no model"):
        run.main(["tables", "--models", "nothing like it"])


MAIL = {
    "ham/1": b"Subject: lunch\nContent-Type: text/plain; charset=nonsense\n\ncaf\xe9 at noon\n",
    "hard_ham/2": b"Subject: =?utf-8?q?minutes?=\n\nof the meeting\n",
    "spam/3": b"Subject: win\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
    b"--x\nContent-Type: text/html\nContent-Transfer-Encoding: base64\n\nPGI+bW9uZXk8L2I+\n"
    b"--x\nContent-Type: image/png\n\nnot a word\n--x--\n",
    "spam/cmds": b"mv 1 2",
    "SOURCE.txt": b"where it is from",
}


class TestText:
    @pytest.fixture
    def data(self, tmp_path, monkeypatch):
        """Messages whose words tell, and a small archive of mail."""
        rng = np.random.default_rng(0)
        words = {"ham": ["lunch", "home", "soon", "the"], "spam": ["win", "money", "now", "the"]}
        lines = [f"{c}\t{' '.join(rng.choice(words[c], 4))}" for c in ["ham", "ham", "spam"] * 15]
        write(tmp_path / "data" / "sms_spam", "SMSSpamCollection", "\n".join(lines) + "\n")
        with tarfile.open(tmp_path / "data" / "spamassassin.tar.gz", "w:gz") as archive:
            for name, raw in MAIL.items():
                member = tarfile.TarInfo(f"spamassassin/{name}")
                member.size = len(raw)
                archive.addfile(member, io.BytesIO(raw))
        monkeypatch.setenv("SUFFIT_DATA", str(tmp_path / "data"))
        monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
        monkeypatch.setattr(report, "PAGE", tmp_path / "evaluation.md")
        monkeypatch.setattr(report, "README", tmp_path / "README.md")
        monkeypatch.setattr(report, "FIGURES", tmp_path)
        return tmp_path / "data"

    def test_messages_are_label_and_text(self, data):
        texts = text.read_messages(data)
        assert len(texts.texts) == 45
        assert texts.facts(2) == {"rows": 45, "classes": {"ham": 30, "spam": 15}, "repeats": 2}
        assert not any("\t" in line or "ham" in line for line in texts.texts)

    def test_mail_is_subject_and_the_text_of_its_parts(self, data):
        mail = text.read_mail(data)
        assert mail.y.tolist() == ["ham", "ham", "spam"]
        assert mail.texts[0].split() == ["lunch", "café", "at", "noon"]
        assert "of the meeting" in mail.texts[1]
        assert mail.texts[2].split() == ["win", "<b>money</b>"]  # decoded, and nothing of the image

    def test_a_run_from_end_to_end(self, data, tmp_path, capsys):
        assert run.main(["text", "--texts", "sms", "--repeats", "1", "--report"]) == 0
        result = json.loads((tmp_path / "results" / "text.json").read_text())
        rows = {row["model"]: row for row in result["rows"]}
        assert list(rows) == [*models.TEXT, *models.RAW_TEXT]
        assert rows["TextNB"]["log_loss"] == pytest.approx(rows["suffit MultinomialNB"]["log_loss"], abs=1e-9)
        assert not [(row["model"], row["error"]) for row in rows.values() if row["failed"]]
        for kind in models.NB:
            ours, theirs = rows[f"suffit {kind}"], rows[f"sklearn {kind}"]
            for metric in ("accuracy", "log_loss", "brier", "ece"):
                assert ours[metric] == pytest.approx(theirs[metric], abs=1e-9)
            assert ours["accuracy"] > rows["class shares"]["accuracy"] == pytest.approx(2 / 3)
        page = (tmp_path / "evaluation.md").read_text()
        assert "## Text" in page
        assert "### sms: 45 texts (ham 30, spam 15), 1 × 5 folds" in page
        ece = rows["suffit BernoulliNB"]["ece"], rows["suffit BernoulliNB, temperature"]["ece"]
        assert f"- BernoulliNB: {ece[0]:.4f} → {ece[1]:.4f} (temperature)" in page
        assert "| suffit BernoulliNB |" in capsys.readouterr().out
        assert report.page(None, None, None).strip() == "# Evaluation on real tables"

    def test_the_best_is_bold_and_class_shares_are_not_in_the_race(self):
        row = {"table": "sms", "accuracy": 0.5, "log_loss": 1.0, "brier": 1.0, "ece": 0.2, "fit": 0.0123}
        rows = [{**row, "model": "class shares", "ece": 0.0}, {**row, "model": "a", "log_loss": 0.5}]
        lines = text.table({"rows": [*rows, {**row, "model": "b", "fit": None}]}, "sms")
        assert lines[2:] == [
            "| class shares | **50.00%** | 1.0000 | **1.0000** | 0.0000 | 12 ms |",
            "| a | **50.00%** | **0.5000** | **1.0000** | **0.2000** | 12 ms |",
            "| b | **50.00%** | 1.0000 | **1.0000** | **0.2000** | too slow |",
        ]

    def test_a_second_run_keeps_the_other_texts(self, data, tmp_path, monkeypatch):
        monkeypatch.setattr(models, "TEXT", {"class shares": models.TEXT["class shares"]})
        monkeypatch.setattr(models, "RAW_TEXT", {})
        monkeypatch.delitem(text.READERS, "made")
        monkeypatch.setattr(text, "table", lambda result, name: [])
        run.main(["text", "--texts", "sms", "--repeats", "1"])
        mail = text.Texts("mail", ["one two", "two three", "four"] * 10, np.array(["ham", "ham", "spam"] * 10))
        monkeypatch.setitem(text.READERS, "mail", lambda folder: mail)
        run.main(["text", "--texts", "mail", "--repeats", "1"])
        result = json.loads((tmp_path / "results" / "text.json").read_text())
        assert [(row["table"], row["folds"]) for row in result["rows"]] == [("mail", 5), ("sms", 5)]
        assert list(result["tables"]) == ["mail", "sms"]

    def test_what_is_absent_is_skipped_with_a_reason(self, data, tmp_path, monkeypatch, capsys):
        monkeypatch.setattr(models, "TEXT", {"class shares": models.TEXT["class shares"]})
        monkeypatch.setattr(models, "RAW_TEXT", {})
        monkeypatch.delitem(text.READERS, "made")
        monkeypatch.setattr(text, "table", lambda result, name: ["ran"])
        (data / "spamassassin.tar.gz").unlink()
        assert run.main(["text", "--repeats", "1"]) == 0
        out = capsys.readouterr().out
        assert out.startswith("skipped: no file")
        assert "holds spamassassin.tar.gz" in out
        assert "ran" in out
        monkeypatch.setenv("SUFFIT_DATA", str(tmp_path / "nowhere"))
        assert run.main(["text"]) == 0
        assert capsys.readouterr().out.count("skipped: no file") == 2


def test_the_figures_of_readme_are_those_of_the_last_run():
    table = "\n".join(report.readme_table(report.latest(False)))
    assert f"<!-- evaluation -->\n{table}\n<!-- /evaluation -->" in report.README.read_text(encoding="utf-8")
    assert "suffit GenerativeClassifier" in table


def test_readme_gets_the_table_between_its_marks(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(report, "FIGURES", tmp_path)
    monkeypatch.setattr(report, "README", tmp_path / "README.md")
    report.README.write_text("before\n<!-- evaluation -->\nold\n<!-- /evaluation -->\nafter\n", encoding="utf-8")
    report.write()
    text = report.README.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- evaluation -->\n| | log-loss")
    assert text.endswith("|\n<!-- /evaluation -->\nafter\n")
    assert "old" not in text
