"""The model of the mail filter: exact where naive Bayes is, bounded where little is known, additive always."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffit import BernoulliNB, MultinomialNB
from suffit.mail.learned import Learned
from suffit.mail.message import read_message
from suffit.mail.model import Sums, label_of, part_of, verdict
from suffit.mail.settings import PARTS, Settings

EMPTY = Sums(("ham", "spam"), (0, 0), (0, 0), 0)
WORDS = [f"w{i}" for i in range(8)] + [f"subject:w{i}" for i in range(8)]


def some_messages(seed: int, classes: tuple[str, ...], n: int = 40) -> list[tuple[list[str], str]]:
    """Sets of words, each class with its own shares."""
    draw = random.Random(seed)
    shares = {name: [draw.uniform(0.05, 0.9) for _ in WORDS] for name in classes}
    labels = [*classes, *(draw.choice(classes) for _ in range(n))]
    return [([w for w, p in zip(WORDS, shares[name], strict=True) if draw.random() < p], name) for name in labels]


def learned_from(messages: list[tuple[list[str], str]], classes: tuple[str, ...] = ("ham", "spam")) -> Learned:
    learned = Learned(classes)
    for tokens, label in messages:
        learned.learn(tokens, label)
    return learned


@pytest.mark.parametrize("classes", [("ham", "spam"), ("ham", "newsletter", "phishing", "spam")])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 3.5])
@pytest.mark.parametrize(("event", "estimator"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB)])
def test_naive_settings_give_the_log_odds_of_naive_bayes(event, estimator, alpha, classes):
    messages = some_messages(3, classes)
    learned = learned_from(messages, classes)
    known = sorted(learned.counts)
    X = np.array([[token in tokens for token in known] for tokens, _ in messages], dtype=float)
    model = estimator(alpha=alpha).fit(X, [label for _, label in messages])
    expected = model.predict_log_proba(X)
    sums, settings = learned.sums(spectrum=True), Settings.naive(event, alpha)
    for (tokens, _), row in zip(messages, expected, strict=True):
        found = verdict([*tokens, "never-seen"], learned.counts, sums, settings)
        one, other = (list(model.classes_).index(name) for name in found.compared)
        assert found.log_odds == pytest.approx(row[one] - row[other], abs=1e-10)
        assert list(found.probabilities.values()) == pytest.approx(np.exp(row), abs=1e-10)


@pytest.mark.parametrize("classes", [("ham", "spam"), ("ham", "newsletter", "spam"), ("personal", "work")])
@pytest.mark.parametrize("settings", [Settings(), Settings(threshold=0.5, exponent=0.7), Settings.naive("bernoulli")])
def test_terms_and_intercept_sum_exactly_to_the_log_odds(settings, classes):
    messages = some_messages(5, classes)
    learned = learned_from(messages, classes)
    for tokens, _ in messages:
        found = verdict(tokens, learned.counts, learned.sums(spectrum=True), settings)
        assert math.fsum([found.intercept, *(term for _, term in found.terms)]) == found.log_odds
        p, q = (found.probabilities[name] for name in found.compared)
        assert math.log(p / q) == pytest.approx(found.log_odds, abs=1e-9)
        assert math.fsum(found.probabilities.values()) == pytest.approx(1)


def test_spam_is_decided_against_ham_whatever_other_classes_there_are():
    """The cutoff of spam is the price of a lost ham: what might be a newsletter does not make it unsure."""
    settings = Settings()
    for spam in (0.9, 0.98, math.nextafter(0.99, 0), 0.99, math.nextafter(0.99, 1), 1.0):
        assert label_of({"ham": 1 - spam, "spam": spam}, settings) == ("spam" if spam >= 0.99 else "unsure")
    for ham in (0.79, 0.8, 0.9):
        assert label_of({"ham": ham, "spam": 1 - ham}, settings) == ("ham" if ham >= 0.8 else "unsure")
    three = [(0.0005, 0.95, "spam"), (0.0005, 0.89, "unsure"), (0.02, 0.95, "unsure"), (0.001, 0.4, "unsure")]
    for ham, spam, label in three:
        assert label_of({"ham": ham, "spam": spam, "newsletter": 1 - ham - spam}, settings) == label
    assert label_of({"ham": 0.5, "spam": 0.01, "newsletter": 0.49}, settings) == "unsure"
    assert label_of({"ham": 0.04, "spam": 0.02, "newsletter": 0.94}, settings) == "newsletter"
    cheap = Settings(cutoffs={"ham": 0.8, "spam": 0.75})
    assert label_of({"ham": 0.01, "spam": 0.76, "newsletter": 0.23}, cheap) == "spam"
    assert label_of({"personal": 0.03, "spam": 0.97}, settings) == "unsure"


def test_nothing_learned_is_unsure_and_says_so():
    found = verdict(["cheap", "subject:pills"], {}, EMPTY)
    assert (found.label, found.probability, found.terms) == ("unsure", 0.5, [])
    assert found.interval[0] < 0.01
    assert found.interval[1] > 0.99


def test_one_message_of_each_class_points_the_way_and_is_not_sure():
    learned = Learned()
    pills, meeting = [f"pill{i}" for i in range(200)], [f"meeting{i}" for i in range(200)]
    learned.learn(pills, "spam")
    learned.learn(meeting, "ham")
    like_spam, like_ham = (verdict(tokens, learned.counts, learned.sums()) for tokens in (pills, meeting))
    assert 0.5 < like_spam.probability < 0.99
    assert like_spam.label == "unsure"
    assert like_ham.probability == pytest.approx(1 - like_spam.probability)
    wide = like_spam.interval[1] - like_spam.interval[0]
    for _ in range(30):
        learned.learn(pills, "spam")
        learned.learn(meeting, "ham")
    sure = verdict(pills, learned.counts, learned.sums())
    assert sure.interval[1] - sure.interval[0] < wide / 5


def test_a_class_of_which_nothing_was_learned_is_not_held_against_any_token():
    learned = Learned()
    for _ in range(20):
        learned.learn(["cheap", "pills", "subject:offer"], "spam")
    assert verdict(["cheap", "pills"], learned.counts, learned.sums()).label == "unsure"


def test_a_message_ten_times_as_long_is_not_ten_times_as_sure():
    learned = learned_from([([f"s{i}" for i in range(500)], "spam"), ([f"h{i}" for i in range(500)], "ham")] * 50)
    short, long = (verdict([f"s{i}" for i in range(n)], learned.counts, learned.sums()) for n in (50, 500))
    assert short.log_odds < long.log_odds < 1.5 * short.log_odds


def test_without_a_class_called_spam_the_two_most_probable_are_compared():
    messages = [(["invoice"], "work"), (["party"], "personal"), (["sale"], "shops")]
    learned = learned_from(messages, ("work", "personal", "shops"))
    found = verdict(["party"], learned.counts, learned.sums(), Settings.naive(alpha=0.01))
    assert found.compared[0] == "personal"
    assert found.label == "personal"
    assert found.probability == found.probabilities["personal"]


def test_settings_survive_json_and_refuse_what_makes_no_sense():
    settings = Settings(
        alpha=(0.25, 0.5, 0.5), weights=(1.0, 0.5, 0.25), cutoffs={"spam": 0.9}, intercepts={"spam": -0.5}
    )
    assert Settings.from_json(settings.to_json()) == settings
    assert json.loads(settings.to_json())["alpha"] == [0.25, 0.5, 0.5]
    for wrong in ({"event": "poisson"}, {"alpha": (0.0, 1.0, 1.0)}, {"weights": (1.0,)}, {"cutoffs": {"spam": 1.5}}):
        with pytest.raises(ValueError, match="found"):
            Settings(**wrong)


def test_tags_tell_the_parts_of_a_message():
    assert {part_of(token) for token in ("received:x.org", "x-copyright:all", "no:date")} == {0}
    assert {part_of(token) for token in ("subject:x", "from:ann", "reply-to:@x.org")} == {1}
    assert {part_of(token) for token in ("word", "url:.com", "hidden:word")} == {2}


MESSAGES = st.lists(
    st.tuples(st.sets(st.sampled_from(WORDS)).map(sorted), st.sampled_from(["ham", "spam"])), max_size=12
)


def state(learned: Learned) -> tuple[object, ...]:
    return learned.counts, learned.sums()


@given(MESSAGES, MESSAGES)
def test_unlearning_undoes_learning(kept, gone):
    learned = learned_from([*kept, *gone])
    for tokens, label in gone:
        learned.unlearn(tokens, label)
    assert state(learned) == state(learned_from(kept))


@given(MESSAGES, st.randoms(use_true_random=False))
def test_order_does_not_matter(messages, draw):
    again = draw.sample(messages, len(messages))
    assert state(learned_from(messages)) == state(learned_from(again))
    for tokens, _ in messages[:2]:
        one, other = (verdict(tokens, x.counts, x.sums()) for x in (learned_from(messages), learned_from(again)))
        assert one == other


@given(MESSAGES, MESSAGES)
def test_merging_is_learning_all(some, others):
    assert state(learned_from(some) + learned_from(others)) == state(learned_from([*some, *others]))


def test_what_was_never_learned_cannot_be_unlearned():
    learned = learned_from([(["a"], "ham"), (["b"], "spam")])
    for tokens, label in ((["b"], "ham"), (["c"], "spam")):
        with pytest.raises(ValueError, match="never learned"):
            learned.unlearn(tokens, label)
    with pytest.raises(ValueError, match="no class 'junk'"):
        learned.learn(["a"], "junk")
    with pytest.raises(ValueError, match="classes"):
        _ = learned + Learned(("ham", "junk"))


def test_every_token_of_a_text_is_of_the_body():
    text = b"""Content-Type: text/html; charset=utf-8\nContent-Disposition: inline; filename=a.html

    <p>BUY NOW $99 at http://a.example/x, write to me@b.example 123456 abcdefghijklmnopqrstuvwxyzabcdef Me<b>xxxx</b>!
    <a href="http://1.2.3.4/">x</a><div style="display:none">secret words</div>
    caf\xc3\xa9 \xe4\xbd\xa0\xe5\xa5\xbd</p>"""
    tokens = [token for token in read_message(text).tokens if not token.startswith("no:")]
    assert len(tokens) > 20
    assert {token for token in tokens if PARTS[part_of(token)] != "body"} == set()


def test_a_verdict_needs_the_standard_library_alone():
    script = (
        "import sys; from suffit.mail.model import verdict, Sums; from suffit.mail.learned import Learned; "
        "verdict(['a'], {'a': (0, 3)}, Sums(('ham', 'spam'), (3, 3), (3, 3), 2)); "
        "print([m for m in ('numpy', 'numba', 'scipy', 'sklearn', 'pandas', 'typer', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("n", [1, 3, 30])
def test_the_interval_holds_the_probability(n: int):
    """Also where a class has few messages, the others have many, and all that a message says is of that class."""
    learned = Learned(("ham", "spam", "newsletter"))

    def tokens(words: str) -> list[str]:
        return [f"{tag}{words}{k}" for tag in ("received:", "subject:", "") for k in range(150)]

    for i in range(300):
        learned.learn([*tokens(learned.classes[i % 2]), f"own{i}"], learned.classes[i % 2])
    for i in range(n):
        learned.learn([*tokens("newsletter"), f"news{i}"], "newsletter")
    for words in (*learned.classes, "other"):
        found = verdict(tokens(words), learned.counts, learned.sums())
        assert found.interval[0] <= found.probability <= found.interval[1], (words, found.interval, found.probability)
