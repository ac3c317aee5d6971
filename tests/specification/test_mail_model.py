"""M2 and M4: verdicts of Bernoulli and multinomial models with probabilities that hold, and the words that decided."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from suffit import BernoulliNB, MultinomialNB
from suffit.mail.message import read_message
from suffit.mail.model import verdict
from suffit.mail.online import OnlineFilter
from suffit.mail.settings import Settings

GOODS = ["pills", "watches", "loans", "casino", "diploma", "software"]
WORK = ["meeting", "draft", "kernel", "invoice", "review", "holiday"]
COMMON = "please find the list below and tell me what you think about it today".split()  # noqa: SIM905


def mail(draw: random.Random, spam: bool) -> bytes:
    """A message that talks of goods or of work, and sometimes a little of both."""
    own, other = (GOODS, WORK) if spam else (WORK, GOODS)
    words = [
        *draw.choices(own, k=4),
        *draw.choices(COMMON, k=12),
        *(draw.choices(other, k=2) if draw.random() < 0.3 else []),
    ]
    draw.shuffle(words)
    host = f"{'shop' if spam else 'office'}{draw.randrange(20)}.example"
    lines = [
        f"Received: from mail.{host} by mx.example.net; Mon, 1 Jan 2024 10:00:00 +0000",
        f"From: {draw.choice(['Ann', 'Bob', 'Cleo'])} <me@{host}>",
        f"Subject: {draw.choice(own)} {draw.choice(COMMON)}",
        "",
        " ".join(words),
    ]
    return "\n".join(lines).encode()


@pytest.fixture(scope="module")
def trained() -> OnlineFilter:
    draw, online = random.Random(0), OnlineFilter()
    for _ in range(400):
        spam = draw.random() < 0.5
        online.feedback(read_message(mail(draw, spam)).tokens, "spam" if spam else "ham")
    online.tune()
    return online


def test_M2_spam_ham_and_unsure(trained):
    draw = random.Random(1)
    assert trained.judge(read_message(mail(draw, True)).tokens).label == "spam"
    assert trained.judge(read_message(mail(draw, False)).tokens).label == "ham"
    unlike_any = trained.judge(read_message(b"Subject: zzz\n\nqqq").tokens)
    assert unlike_any.label == "unsure"
    assert OnlineFilter().judge(read_message(mail(draw, True)).tokens).label == "unsure"


def test_M2_a_probability_means_what_it_says(trained):
    draw = random.Random(2)
    truth = [draw.random() < 0.5 for _ in range(400)]
    p = np.array([trained.judge(read_message(mail(draw, spam)).tokens).probability for spam in truth])
    assert abs(p.mean() - np.mean(truth)) < 0.03
    assert np.mean((p > 0.5) == truth) > 0.97
    assert not np.any((p >= 0.99) & ~np.array(truth))


@pytest.mark.parametrize(("event", "estimator"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)])
def test_M2_both_models_with_smoothing(trained, event, estimator):
    """The plain models are the package's own on the matrix of present tokens, whatever the smoothing."""
    draw, learned = random.Random(3), OnlineFilter()
    messages = [(read_message(mail(draw, i % 2 == 0)).tokens, "spam" if i % 2 == 0 else "ham") for i in range(60)]
    for tokens, label in messages:
        learned.learned.learn(tokens, label)
    counts, sums = learned.learned.counts, learned.learned.sums(spectrum=True)
    X = np.array([[token in tokens for token in counts] for tokens, _ in messages], dtype=float)
    for alpha in (0.05, 1.0):
        log_p = estimator(alpha=alpha).fit(X, [label for _, label in messages]).predict_log_proba(X)
        for (tokens, _), row in zip(messages[:10], log_p, strict=False):
            found = verdict(tokens, counts, sums, Settings.naive(event, alpha))
            assert found.log_odds == pytest.approx(row[1] - row[0], abs=1e-10)


def test_M4_why_the_words_and_headers_that_decided(trained):
    draw = random.Random(4)
    found = trained.judge(read_message(mail(draw, True)).tokens)
    assert math.fsum([found.intercept, *(term for _, term in found.terms)]) == found.log_odds
    assert math.log(found.probability / (1 - found.probability)) == pytest.approx(found.log_odds, abs=1e-9)
    sizes = [abs(term) for _, term in found.terms]
    assert sizes == sorted(sizes, reverse=True)
    strongest = " ".join(token for token, term in found.terms[:10] if term > 0)
    assert any(word in strongest for word in GOODS)
    tags = {token.partition(":")[0] for token, _ in found.terms if ":" in token}
    assert {"received", "from", "subject"} & tags
