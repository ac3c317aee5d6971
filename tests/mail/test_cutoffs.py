"""Cutoffs by cost and by tolerated ham loss hold on ham that they were not made from."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from suffit.mail.cutoffs import cutoff_by_cost, cutoff_by_loss
from suffit.mail.model import verdict
from suffit.mail.retuning import tuned as tuned_store
from suffit.mail.settings import Settings
from suffit.mail.store import Store
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


def test_the_odds_against_ham_are_those_of_the_two_probabilities():
    classes = ("ham", "newsletter", "spam")
    messages = stream(0, 80, classes=classes)
    learned = taught(messages, classes)
    settings = tuned(messages, learned)
    z = leave_one_out(*as_ids(messages, learned), learned.sums(), settings, "ham")
    differ = 0
    for (tokens, label), expected in list(zip(messages, z, strict=True))[:20]:
        learned.unlearn(tokens, label)
        found = verdict(tokens, learned.counts, learned.sums(), settings)
        assert math.log(found.probabilities["spam"] / found.probabilities["ham"]) == pytest.approx(expected, abs=1e-9)
        differ += found.compared != ("spam", "ham")
        learned.learn(tokens, label)
    assert differ > 3


@pytest.mark.parametrize("tolerance", [0.05, 0.2])
def test_the_tolerated_share_of_ham_is_lost_with_a_third_class(tmp_path, tolerance):
    """Ham that is rather a newsletter has small log-odds of spam, and may be more spam than ham for all that."""
    classes = ("ham", "newsletter", "spam")
    messages = stream(3, 400, alike=0.3, classes=("newsletter", "ham", "spam"))
    with Store.open(str(tmp_path / "s.sqlite"), write=True) as store:
        each = (SimpleNamespace(digest=f"{i:032x}", tokens=tokens) for i, (tokens, _) in enumerate(messages))
        list(store.learn_all(zip(each, [label for _, label in messages], strict=True)))
        settings = tuned_store(store, ham_loss=tolerance)
    learned = taught(messages, classes)
    z = np.array(leave_one_out(*as_ids(messages, learned), learned.sums(), settings, "ham"))
    ham = np.array([label == "ham" for _, label in messages])
    p = 1 / (1 + np.exp(-z[ham]))
    assert (p >= settings.cutoff("spam")).mean() == pytest.approx(tolerance, abs=0.01)
