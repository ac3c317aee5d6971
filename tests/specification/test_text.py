"""N3, N4 and N9 from texts: a word that was never seen, words counted by the formula, and a large vocabulary."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffit import MultinomialNB, TextNB

TEXTS = ["buy buy pills now", "cheap pills", "lunch now", "see you at lunch", "pills"]
Y = np.array(["spam", "spam", "ham", "ham", "spam"])
WORDS = sorted({w for t in TEXTS for w in t.split()})


@pytest.mark.parametrize("model", ["multinomial", "bernoulli", "complement"])
@pytest.mark.parametrize("alpha", [0.0, 1e-9, 1.0])
@pytest.mark.parametrize("text", ["atml", "buy", "lunch", "buy lunch atml", "buy lunch", ""])
def test_N3_words_never_seen_or_seen_in_one_class_leave_a_finite_posterior(model, alpha, text):
    p = TextNB(model, alpha=alpha).fit(TEXTS, Y).predict_proba([text])
    assert np.isfinite(p).all()
    assert_allclose(p.sum(), 1.0)


def test_N3_a_word_never_seen_leaves_the_prior():
    assert_allclose(TextNB().fit(TEXTS, Y).predict_proba(["atml"]), [[2 / 5, 3 / 5]])


@pytest.mark.parametrize("alpha", [0.5, 1.0, 3.0])
def test_N4_word_probabilities_from_text_by_the_formula(alpha):
    model = TextNB(alpha=alpha).fit(TEXTS, Y)
    for c, log_phi in zip(("ham", "spam"), model.feature_log_prob_, strict=True):
        count = Counter(w for t, y in zip(TEXTS, Y, strict=True) if y == c for w in t.split())
        want = [(count[w] + alpha) / (count.total() + alpha * len(WORDS)) for w in WORDS]
        assert_allclose(np.exp(log_phi), want, rtol=1e-13)


def test_N4_texts_sequences_and_counts_are_the_same_model():
    ids = [[WORDS.index(w) for w in t.split()] for t in TEXTS]
    counts = np.array([[t.split().count(w) for w in WORDS] for t in TEXTS])
    of_text = TextNB().fit(TEXTS, Y)
    assert of_text.get_feature_names_out().tolist() == WORDS
    p = of_text.predict_proba(TEXTS)
    assert_allclose(MultinomialNB(input="sequences").fit(ids, Y).predict_proba(ids), p, rtol=1e-12)
    assert_allclose(MultinomialNB().fit(counts, Y).predict_proba(counts), p, rtol=1e-12)


def test_N9_a_vocabulary_of_more_than_50_000_words_comes_from_the_training_texts():
    vocabulary = np.array([f"w{i:x}" for i in range(60_000)])
    texts = [" ".join(vocabulary[i : i + 60]) for i in range(0, 60_000, 30)]
    y = np.arange(len(texts)) % 3
    for name in ("bernoulli", "multinomial"):
        model = TextNB(name).fit(texts, y)
        assert list(model.vocabulary_) == sorted(vocabulary.tolist())
        doubled = [f"{t} {t.split()[0]}" for t in texts[:5]]  # a message becomes presence, or counts
        same = model.predict_joint_log_proba(doubled) == model.predict_joint_log_proba(texts[:5])
        assert same.all() == (name == "bernoulli")
        assert_array_equal(model.predict(texts), y)
