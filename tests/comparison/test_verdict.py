"""The verdict of a comparison says no more than the folds show."""

from __future__ import annotations

import pytest

from suffit.comparison.verdict import verdict


def held(**scores: tuple[float, float]) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Means of models by name, (log-loss, accuracy), with standard errors of 0.01."""
    error = {"log_loss": 0.01, "accuracy": 0.01}
    return {name: ({"log_loss": loss, "accuracy": right}, error) for name, (loss, right) in scores.items()}


def test_a_model_is_the_most_accurate_only_where_folds_vary_by_less():
    near = verdict(held(LDA=(0.30, 0.850), QDA=(0.35, 0.853)), None, ())
    assert "The most accurate" not in near
    assert near.endswith("clearly behind. No clear difference in accuracy: LDA 85.0% right, QDA 85.3%.")
    far = verdict(held(LDA=(0.30, 0.850), QDA=(0.31, 0.950)), None, ())
    assert far.endswith("(no clear difference). The most accurate is QDA, 95.0% right (LDA 85.0%).")


@pytest.mark.filterwarnings("error")
def test_one_fold_shows_no_clear_difference():
    means = {name: (scores, dict.fromkeys(scores, float("nan"))) for name, (scores, _) in
             held(LDA=(0.30, 0.850), QDA=(0.90, 0.953)).items()}  # fmt: skip
    assert verdict(means, None, ()).count("o clear difference") == 2
