"""Settings tuned on learned messages: leave-one-out is a refit, probabilities hold on new ones, labels may be wrong."""

from __future__ import annotations

import random

import numpy as np
import pytest

from suffit.mail.learned import Learned
from suffit.mail.model import part_of, verdict
from suffit.mail.online import OnlineFilter
from suffit.mail.settings import Settings
from suffit.mail.tuning import features_of, sample_of, tune

Messages = list[tuple[tuple[str, ...], str]]


def stream(
    seed: int, n: int, alike: float = 0.0, wrong: float = 0.0, classes: tuple[str, ...] = ("ham", "spam")
) -> Messages:
    """Messages of words common to all, words of the class's topics and some of others', and one of their own.

    A share `alike` looks like the last class in everything; a share `wrong` is told with another class.
    """
    draw = random.Random(seed)
    found = []
    for i in range(n):
        label = classes[-1] if draw.random() < 0.4 else draw.choice(classes[:-1])
        like = classes[-1] if draw.random() < alike else label
        topic = draw.randrange(12)

        def of(share: float, like: str = like) -> str:
            return draw.choice(classes) if draw.random() < share else like

        tokens = {f"w{int(300 * draw.random() ** 2)}" for _ in range(draw.randrange(5, 60))}
        tokens |= {f"{of(0.15)}{topic}-{int(40 * draw.random() ** 2)}" for _ in range(draw.randrange(2, 25))}
        tokens |= {f"received:{of(0.1)}{draw.randrange(30)}", f"subject:{of(0.3)}{draw.randrange(60)}", f"own{i}"}
        told = label if draw.random() >= wrong else draw.choice([c for c in classes if c != label])
        found.append((tuple(sorted(tokens)), told))
    return found


def taught(messages: Messages, classes: tuple[str, ...] = ("ham", "spam")) -> Learned:
    learned = Learned(classes)
    for tokens, label in messages:
        learned.learn(tokens, label)
    return learned


def as_ids(
    messages: Messages, learned: Learned
) -> tuple[list[tuple[int, list[int]]], list[tuple[int, ...]], list[int]]:
    ids = {token: i for i, token in enumerate(learned.counts)}
    sample = [(learned.classes.index(label), [ids[token] for token in tokens]) for tokens, label in messages]
    return sample, list(learned.counts.values()), [part_of(token) for token in ids]


def tuned(messages: Messages, learned: Learned) -> Settings:
    return tune(*as_ids(messages, learned), learned.sums())


@pytest.mark.parametrize("classes", [("ham", "spam"), ("ham", "newsletter", "spam")])
def test_evidence_without_a_message_is_that_of_a_refit_without_it(classes):
    messages = stream(0, 60, classes=classes)
    learned = taught(messages, classes)
    sample = sample_of(*as_ids(messages, learned), learned.sums())
    plain = Settings(weights=(1.0, 1.0, 1.0), alpha=(0.1,) * 3, messages=0.0, covariance=((0.0,) * 4,) * 4)
    features = features_of(sample, 0.1, plain)
    for i, (tokens, label) in enumerate(messages[:20]):
        learned.unlearn(tokens, label)
        found = verdict(tokens, learned.counts, learned.sums(), plain)
        one, other = (classes.index(name) for name in found.compared)
        assert features[i, one].sum() - features[i, other].sum() == pytest.approx(found.log_odds, abs=1e-10)
        learned.learn(tokens, label)


def test_messages_that_were_not_learned_are_scored_as_they_are():
    messages, others = stream(0, 60), stream(1, 10)
    learned = taught(messages)
    known = [(tuple(token for token in tokens if token in learned.counts), label) for tokens, label in others]
    sample, counts, parts = as_ids(known, learned)
    found = sample_of([], counts, parts, learned.sums(), sample)
    plain = Settings(weights=(1.0, 1.0, 1.0), alpha=(0.1,) * 3, messages=0.0, covariance=((0.0,) * 4,) * 4)
    features = features_of(found, 0.1, plain)
    for (tokens, _), row in zip(others, features, strict=True):
        expected = verdict(tokens, learned.counts, learned.sums(), plain).log_odds
        assert row[1].sum() - row[0].sum() == pytest.approx(expected, abs=1e-10)


def test_probabilities_mean_what_they_say_on_messages_that_were_not_learned():
    messages, new = stream(1, 800), stream(2, 800)
    learned = taught(messages)
    settings = tuned(messages, learned)
    assert settings.tuned_on == 800
    found = [verdict(tokens, learned.counts, learned.sums(), settings) for tokens, _ in new]
    p, spam = np.array([v.probability for v in found]), np.array([label == "spam" for _, label in new])
    for lower, upper in ((0.0, 0.2), (0.2, 0.8), (0.8, 1.0)):
        here = (p >= lower) & (p <= upper)
        assert abs(p[here].mean() - spam[here].mean()) < 0.02 + 2 * np.sqrt(0.25 / here.sum())
    assert sum(v.label == "spam" and label == "ham" for v, (_, label) in zip(found, new, strict=True)) <= 2


def test_a_few_wrong_labels_are_found_out_and_do_not_make_it_unsure():
    new = stream(4, 400)
    shares = []
    for wrong in (0.0, 0.02):
        messages = stream(3, 1_000, wrong=wrong)
        learned = taught(messages)
        settings = tuned(messages, learned)
        assert abs(settings.label_errors - wrong) < 0.01
        found = [verdict(t, learned.counts, learned.sums(), settings).label != "unsure" for t, _ in new]
        shares.append(np.mean(found))
    assert shares[1] > 0.8 * shares[0]


def test_ham_that_looks_like_spam_in_every_way_makes_it_unsure():
    messages, new = stream(5, 1_000, alike=0.1), stream(6, 400, alike=0.1)
    learned = taught(messages)
    settings = tuned(messages, learned)
    found = [verdict(t, learned.counts, learned.sums(), settings).label for t, _ in new]
    lost = sum(label == "spam" and told == "ham" for label, (_, told) in zip(found, new, strict=True))
    assert lost <= 2


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [(("a",), "spam")] * 30,
        [((), "ham"), ((), "spam")] * 10,
        [(("same", "subject:same"), "ham"), (("same", "subject:same"), "spam")] * 30,
        [(("h", "received:h"), "ham"), (("s", "received:s"), "spam")] * 200,
        [(("x",), "ham")] * 4 + [(("y",), "spam")] * 1_000,
    ],
    ids=["nothing", "one class", "no tokens", "all alike", "separable", "few ham"],
)
def test_tuning_holds_on_messages_that_do_not_vary(messages):
    learned = taught(messages)
    settings = tuned(messages, learned)
    assert all(np.isfinite(settings.weights))
    assert min(settings.weights) >= 0
    for tokens, label in [*messages[:2], ((), "ham")]:
        found = verdict(tokens, learned.counts, learned.sums(), settings)
        assert 0 < found.probability < 1
        assert found.label in (label, "unsure")


def test_the_order_of_messages_changes_nothing_but_rounding():
    messages = stream(5, 200)
    again = random.Random(0).sample(messages, len(messages))
    one, other = (tuned(m, taught(m)) for m in (messages, again))
    assert one.alpha == other.alpha
    assert one.weights == pytest.approx(other.weights, abs=1e-4)


def test_more_than_two_classes_are_told_apart():
    classes = ("ham", "newsletter", "phishing")
    messages, new = stream(6, 600, classes=classes), stream(7, 200, classes=classes)
    learned = taught(messages, classes)
    settings = tuned(messages, learned)
    found = [verdict(t, learned.counts, learned.sums(), settings).probabilities for t, _ in new]
    assert np.mean([max(p, key=p.__getitem__) == label for p, (_, label) in zip(found, new, strict=True)]) > 0.85


@pytest.mark.parametrize("train", ["everything", "error", "boundary"])
def test_a_filter_that_learns_as_messages_come_gets_better(train):
    online, right = OnlineFilter(train=train), []
    for tokens, label in stream(8, 500):
        found = online.judge(tokens)
        right.append((found.probability > 0.5) == (label == "spam"))
        online.feedback(tokens, label, found)
    assert np.mean(right[250:]) > 0.93
    n = sum(online.learned.messages)
    assert n == 500 if train == "everything" else n < 500


def test_training_modes_are_named_in_the_error():
    with pytest.raises(ValueError, match="everything, error, boundary"):
        OnlineFilter(train="sometimes")


def test_settings_are_tuned_at_growing_intervals(monkeypatch):
    calls = []
    monkeypatch.setattr("suffit.mail.online.tune", lambda *a: calls.append(len(a[0])) or a[4])
    online = OnlineFilter()
    for tokens, label in stream(9, 170):
        online.feedback(tokens, label)
    assert calls == [20, 40, 80, 160]
