"""Friedman's six settings are drawn as defined, and the table in docs/tuning.md is that of the results."""

from __future__ import annotations

import json

import numpy as np
import pytest
from evaluate import friedman, run


@pytest.mark.parametrize("p", friedman.COLUMNS)
def test_the_distributions_are_as_the_paper_has_them(p: int) -> None:
    mean, variance = {}, {}
    for setting in friedman.SETTINGS:
        mean[setting], variance[setting] = friedman.distribution(setting, p)
        assert not mean[setting][0].any()
    distance = lambda s, c: float(np.sqrt((mean[s][c] ** 2).sum()))  # noqa: E731
    assert [distance(1, 1), distance(1, 2), distance(2, 1), distance(2, 2)] == [3.0, 3.0, 3.0, 4.0]
    assert (variance[2] / variance[1])[:, 0].tolist() == [1.0, 2.0, 3.0]
    for s in (3, 4):
        assert variance[s].max() / variance[s].min() == pytest.approx(100.0)
        assert (variance[s] == variance[s][0]).all()
    apart = {s: np.abs(mean[s][1]) / np.sqrt(variance[s][0]) for s in (3, 4)}  # in standard deviations
    assert (np.diff(apart[3]) < 0).all()
    assert (np.diff(apart[4]) > 0).all()
    assert not mean[5].any()
    assert (variance[5] == variance[6]).all()
    assert variance[5][2].max() / variance[5][2].min() == pytest.approx((p + 1) ** 2)
    assert distance(6, 1) == pytest.approx(14.0)
    assert (mean[6][2] == mean[6][1] * np.resize([-1.0, 1.0], p)).all()


def test_rows_come_from_their_distributions() -> None:
    X, y = friedman.draw(6, 10, 60_000, np.random.default_rng(0))
    mean, variance = friedman.distribution(6, 10)
    for c in range(3):
        np.testing.assert_allclose(X[y == c].mean(axis=0), mean[c], atol=0.3)
        np.testing.assert_allclose(X[y == c].var(axis=0), variance[c], rtol=0.05)


def test_a_run_writes_results_and_the_table(tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "tuning.md").write_text("before\n<!-- friedman -->\nold\n<!-- /friedman -->\nafter\n")
    monkeypatch.setattr(friedman, "PAGE", tmp_path / "tuning.md")
    monkeypatch.setattr(friedman, "RESULT", tmp_path / "results" / "friedman.json")
    monkeypatch.setattr(friedman, "COLUMNS", (6,))
    assert run.main(["friedman", "--repeats", "2"]) == 0
    result = json.loads((tmp_path / "results" / "friedman.json").read_text())
    assert len(result["rows"]) == len(friedman.SETTINGS) * (len(friedman.MODELS) + 1)
    page = (tmp_path / "tuning.md").read_text()
    assert page.startswith("before\n<!-- friedman -->\nShare of 500 fresh rows")
    assert page.endswith("<!-- /friedman -->\nafter\n")
    assert "| **mean** |" in capsys.readouterr().out


def test_tie_and_shrinkage_by_leave_one_out_beat_lda_and_qda() -> None:
    """Averaged over the settings: in the results that the page shows, and in a few training sets drawn here."""
    result = json.loads(friedman.RESULT.read_text())
    assert result["repeats"] >= 30
    assert "\n".join(friedman.table(result)) in friedman.PAGE.read_text(encoding="utf-8")
    shown: dict[str, list[float]] = {}
    for row in result["rows"]:
        shown.setdefault(row["model"], []).append(row["error"])
    drawn: dict[str, list[float]] = {}
    for setting in friedman.SETTINGS:
        for name, error in friedman.errors(setting, 10, 1000):
            drawn.setdefault(name, []).append(error)
    for errors in (shown, drawn):
        ours = np.mean(errors["GDA(tie='loo', shrinkage='loo')"])
        assert ours < 0.75 * min(np.mean(errors["LDA"]), np.mean(errors["QDA"]))
