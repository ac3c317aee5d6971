"""Cutoffs by cost and by tolerated ham loss hold on ham that they were not made from."""

from __future__ import annotations

import numpy as np
import pytest

from suffit.mail.cutoffs import cutoff_by_cost, cutoff_by_loss
from suffit.mail.model import verdict
from suffit.mail.settings import Settings
from suffit.mail.tuning import leave_one_out

from .test_tuning import as_ids, stream, taught, tuned


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 0.002])
@pytest.mark.parametrize("draw", [lambda rng, n: rng.logistic(-5, 1, n), lambda rng, n: rng.normal(-4, 2, n)])
def test_about_the_tolerated_share_is_lost(draw, tolerance):
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(50):
        cutoff = cutoff_by_loss(draw(rng, 1_000).tolist(), tolerance)
        p = 1 / (1 + np.exp(-draw(rng, 4_000)))
        shares.append((p >= cutoff).mean())
    assert tolerance / 4 < np.mean(shares) < 1.5 * tolerance


def test_scores_all_alike_are_not_called_spam():
    assert cutoff_by_loss([-3.0] * 100, 0.2) > 1 / (1 + np.exp(3.0))


def test_what_makes_no_sense_is_refused():
    for wrong in (0.0, 1.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            cutoff_by_loss([0.0] * 100, wrong)
    with pytest.raises(ValueError, match="found 3"):
        cutoff_by_loss([0.0] * 3, 0.01)
    with pytest.raises(ValueError, match="above 0"):
        cutoff_by_cost(0)


@pytest.mark.parametrize("classes", [("ham", "spam"), ("ham", "newsletter", "spam")])
def test_leave_one_out_is_the_verdict_after_unlearning(classes):
    messages = stream(0, 80, classes=classes)
    learned = taught(messages, classes)
    settings = tuned(messages, learned)
    z = leave_one_out(*as_ids(messages, learned), learned.sums(), settings)
    assert settings != Settings()
    for (tokens, label), expected in list(zip(messages, z, strict=True))[:20]:
        learned.unlearn(tokens, label)
        assert verdict(tokens, learned.counts, learned.sums(), settings).log_odds == pytest.approx(expected, abs=1e-9)
        learned.learn(tokens, label)
