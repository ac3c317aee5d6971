"""SPEC rows N1–N6, N8, N10 and C3: naive Bayes against formulas by hand, limits and refits."""

from __future__ import annotations

import math
import warnings

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logsumexp, softmax
from scipy.stats import bernoulli, norm
from sklearn.base import clone

import suffit
from suffit import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB

ALPHAS = [0.0, 1e-3, 0.5, 1.0, 7.25]


def binary_data(seed=0, sizes=(9, 14, 6), p=5):
    """Presence of p words in rows of three classes; every word is both present and absent in every class."""
    rng = np.random.default_rng(seed)
    share = rng.uniform(0.25, 0.75, (len(sizes), p))
    parts = [(rng.random((n, p)) < share[c]).astype(int) for c, n in enumerate(sizes)]
    for part in parts:
        part[0], part[1] = 0, 1
    return np.concatenate(parts), np.repeat(np.array(["x", "y", "z"])[: len(sizes)], sizes)


def count_data(seed=0, sizes=(9, 14, 6), p=5):
    """Word counts; every word occurs in every class."""
    rng = np.random.default_rng(seed)
    rate = rng.uniform(0.3, 2.5, (len(sizes), p))
    parts = [rng.poisson(rate[c], (n, p)) for c, n in enumerate(sizes)]
    for part in parts:
        part[0] += 1
    return np.concatenate(parts), np.repeat(np.array(["x", "y", "z"])[: len(sizes)], sizes)


def by_class(X, y, f):
    return np.array([f(X[y == c]) for c in np.unique(y)])


# --- N1


def test_N1_phi_is_the_share_of_rows_in_which_the_word_is_present():
    X, y = binary_data()
    model = BernoulliNB(alpha=0).fit(X, y)
    shares = by_class(X, y, lambda rows: rows.mean(axis=0))
    assert_allclose(np.exp(model.feature_log_prob_), shares, rtol=1e-14)
    assert_array_equal(model.feature_count_, by_class(X, y, lambda rows: rows.sum(axis=0)))


def test_N1_absent_words_count_too():
    X, y = binary_data(1)
    model = BernoulliNB(alpha=0).fit(X, y)
    phi = by_class(X, y, lambda rows: rows.mean(axis=0))
    prior = np.log(by_class(X, y, len) / len(y))
    joint = np.stack([bernoulli(f).logpmf(X).sum(axis=1) for f in phi], axis=1) + prior
    assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-13)
    assert_allclose(model.predict_proba(X), softmax(joint, axis=1), rtol=1e-12)
    nothing = np.zeros((1, X.shape[1]), dtype=int)  # an empty message is evidence as well
    by_hand = softmax(np.log1p(-phi).sum(axis=1) + prior)
    assert_allclose(model.predict_proba(nothing)[0], by_hand, rtol=1e-12)
    assert np.abs(by_hand - np.exp(prior)).max() > 0.01


def test_N1_presence_is_any_count_above_the_threshold():
    X, y = count_data(2)
    present = BernoulliNB().fit((X > 0).astype(int), y)
    assert_array_equal(BernoulliNB().fit(X, y).predict_proba(X), present.predict_proba((X > 0).astype(int)))
    assert_array_equal(BernoulliNB(binarize=1.5).fit(X, y).feature_count_, by_class(X > 1.5, y, lambda r: r.sum(0)))


# --- N2


@pytest.mark.parametrize("alpha", ALPHAS)
def test_N2_bernoulli_smoothing(alpha):
    X, y = binary_data(3)
    phi = by_class(X, y, lambda rows: (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha))
    model = BernoulliNB(alpha=alpha).fit(X, y)
    assert_allclose(np.exp(model.feature_log_prob_), phi, rtol=1e-14)
    joint = np.stack([bernoulli(f).logpmf(X).sum(axis=1) for f in phi], axis=1)
    assert_allclose(model.predict_joint_log_proba(X) - model.class_log_prior_, joint, rtol=1e-12)


def test_N2_laplace_is_count_plus_one_over_rows_plus_two():
    model = BernoulliNB(alpha=1).fit([[1, 0], [1, 0], [1, 1], [0, 0]], ["a", "a", "a", "b"])
    assert_allclose(np.exp(model.feature_log_prob_), [[4 / 5, 2 / 5], [1 / 3, 1 / 3]], rtol=1e-15)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_N2_categorical_smoothing_over_k_outcomes(alpha):
    rng = np.random.default_rng(4)
    X, y = rng.integers(0, 4, (60, 2)), rng.integers(0, 2, 60)
    model = CategoricalNB(alpha=alpha).fit(X, y)
    for j, table in enumerate(model.feature_log_prob_):
        for c in (0, 1):
            column = X[y == c, j]
            want = [((column == v).sum() + alpha) / (len(column) + 4 * alpha) for v in range(4)]
            assert_allclose(np.exp(table[c]), want, rtol=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_N2_multinomial_smoothing_over_the_vocabulary(alpha):
    X, y = count_data(5)
    phi = by_class(X, y, lambda rows: (rows.sum(axis=0) + alpha) / (rows.sum() + alpha * X.shape[1]))
    assert_allclose(np.exp(MultinomialNB(alpha=alpha).fit(X, y).feature_log_prob_), phi, rtol=1e-13)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_N2_poisson_smoothing_by_pseudo_rows_at_the_mean(alpha):
    X, y = count_data(6)
    rate = by_class(X, y, lambda rows: (rows.sum(axis=0) + alpha * X.mean(axis=0)) / (len(rows) + alpha))
    assert_allclose(PoissonNB(alpha=alpha).fit(X, y).rate_, rate, rtol=1e-13)


@pytest.mark.parametrize("make", [BernoulliNB, MultinomialNB])
def test_N2_alpha_by_column(make):
    X, y = binary_data(7)
    alpha = np.array([0.1, 1.0, 2.0, 3.5, 10.0])
    total = (lambda rows: len(rows) + 2 * alpha) if make is BernoulliNB else (lambda rows: rows.sum() + alpha.sum())
    want = by_class(X, y, lambda rows: (rows.sum(axis=0) + alpha) / total(rows))
    assert_allclose(np.exp(make(alpha=alpha).fit(X, y).feature_log_prob_), want, rtol=1e-14)


SMOOTHABLE = [
    BernoulliNB(),
    MultinomialNB(),
    ComplementNB(),
    CategoricalNB(),
    PoissonNB(),
    GaussianNB(),
    suffit.GDA(),
    suffit.NaiveBayes("gamma"),
]


@pytest.mark.parametrize("model", SMOOTHABLE, ids=lambda m: type(m).__name__)
def test_N2_class_prior_smoothed_on_request(model):
    X, y = count_data(8)
    X = X + 1
    N = by_class(X, y, len)
    for smoothing in (0.0, 1.0, 2.5):
        fitted = clone(model).set_params(prior_smoothing=smoothing).fit(X, y)
        want = (N + smoothing) / (len(y) + 3 * smoothing)
        assert_allclose(prior_of(fitted), want, rtol=1e-14)


def prior_of(model):
    for name in ("class_prior_", "priors_"):
        if hasattr(model, name):
            return getattr(model, name)
    if hasattr(model, "class_log_prior_"):
        return np.exp(model.class_log_prior_)
    return np.exp(model._solved.log_prior)


@pytest.mark.parametrize("make", [BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB])
def test_N2_negative_alpha_is_refused(make):
    with pytest.raises(ValueError, match="alpha"):
        make(alpha=-0.5).fit([[1, 0], [0, 1]], [0, 1])


# --- N3

HAM, SPAM = "ham", "spam"
WORDS = ["hello", "free", "meeting", "the", "atml"]  # atml: in no message; free: spam only; meeting: ham only
MESSAGES = np.array(
    [
        [1, 0, 2, 1, 0],
        [0, 0, 1, 1, 0],
        [1, 0, 0, 2, 0],
        [0, 3, 0, 1, 0],
        [1, 1, 0, 1, 0],
    ]
)
KINDS = np.array([HAM, HAM, HAM, SPAM, SPAM])
QUESTIONS = np.array(
    [
        [0, 0, 0, 0, 1],  # only the word never seen
        [0, 1, 0, 0, 0],  # seen in spam only
        [0, 0, 1, 0, 0],  # seen in ham only
        [0, 1, 1, 0, 0],  # one of each
        [0, 1, 1, 0, 1],  # one of each and the word never seen
        [1, 1, 1, 1, 1],
        [0, 2, 1, 0, 0],
        [0, 0, 0, 0, 0],
    ]
)
COUNT_MODELS = [BernoulliNB, MultinomialNB, ComplementNB, CategoricalNB, PoissonNB]


def quietly(f):
    """The value of f(), any warning being an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return f()


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-10, 0.5, 1.0])
@pytest.mark.parametrize("make", COUNT_MODELS)
def test_N3_posterior_is_finite_and_sums_to_one(make, alpha):
    model = quietly(lambda: make(alpha=alpha).fit(MESSAGES, KINDS))
    for method in (model.predict_proba, lambda Q: np.exp(model.predict_log_proba(Q))):
        posterior = quietly(lambda method=method: method(QUESTIONS))
        assert np.isfinite(posterior).all()
        assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)
    assert not np.isnan(quietly(lambda: model.predict_joint_log_proba(QUESTIONS))).any()


@pytest.mark.parametrize("norm", [False, True])
def test_N3_posterior_of_the_complement_is_finite(norm):
    model = quietly(lambda: ComplementNB(alpha=0, norm=norm).fit(MESSAGES, KINDS))
    posterior = quietly(lambda: model.predict_proba(QUESTIONS))
    assert np.isfinite(posterior).all()
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)


@pytest.mark.parametrize("make", COUNT_MODELS)
def test_N3_alpha_0_is_the_limit(make):
    """α = 1e-200 differs from the limit by less than the rounding of a double."""
    limit = quietly(lambda: make(alpha=0).fit(MESSAGES, KINDS).predict_proba(QUESTIONS))
    near = make(alpha=1e-200).fit(MESSAGES, KINDS).predict_proba(QUESTIONS)
    assert_allclose(limit, near, rtol=1e-11, atol=1e-100)
    coarse = make(alpha=1e-9).fit(MESSAGES, KINDS).predict_proba(QUESTIONS)
    assert_allclose(limit, coarse, rtol=0, atol=1e-6)


def exact_bernoulli(x, n, total, mean, alpha):
    present = (total + alpha) / (n + 2 * alpha)
    return mp.log(present if x > 0 else (n - total + alpha) / (n + 2 * alpha))


def exact_poisson(x, n, total, mean, alpha):
    rate = (total + alpha * mean) / (n + alpha)
    return x * mp.log(rate) - rate


def exact_geometric(x, n, total, mean, alpha):
    expected = (total + alpha * mean) / (n + alpha)
    return x * mp.log(expected / (1 + expected)) - mp.log(1 + expected)


EXACT = {
    suffit.Bernoulli: exact_bernoulli,
    suffit.Poisson: exact_poisson,
    suffit.Geometric: exact_geometric,
}


def exact_posterior(family, X, y, Q, alpha):
    """The smoothed posterior in 250 digits, from the data; α may be as small as 1e-100."""
    counts = np.where(X > 0, 1, 0) if family is suffit.Bernoulli else X
    with mp.workdps(250):
        alpha, out = mp.mpf(alpha), []
        for row in Q.tolist():
            joint = []
            for c in np.unique(y):
                rows, n = counts[y == c], int((y == c).sum())
                log_p = mp.log(n)
                for j, x in enumerate(row):
                    mean = mp.mpf(int(counts[:, j].sum())) / len(counts)
                    log_p += EXACT[family](x, n, mp.mpf(int(rows[:, j].sum())), mean, alpha)
                joint.append(log_p)
            weights = [mp.exp(v - max(joint)) for v in joint]
            out.append([float(w / mp.fsum(weights)) for w in weights])
    return np.array(out)


def one_sided_counts(seed):
    """Counts in three classes, each lacking one column that the others have, some columns never 0."""
    rng = np.random.default_rng(seed)
    X = rng.poisson([5.0, 0.5, 2.0, 1.0], (12, 4))
    y = np.repeat([0, 1, 2], 4)
    X[y == 0, 0], X[y == 1, 1], X[y == 2, 2] = 0, 0, 0
    X[y == 0, 1] += 1
    X[y == 1, 0] += 3
    return X, y, rng.integers(0, 3, (20, 4))


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("seed", range(3))
def test_N3_alpha_0_is_the_limit_whatever_the_columns(family, seed):
    """Impossible words in columns of different frequency: the limit weighs them by column."""
    X, y, Q = one_sided_counts(seed)
    limit = quietly(lambda: suffit.NaiveBayes(family(alpha=0.0)).fit(X, y).predict_proba(Q))
    assert_allclose(limit, exact_posterior(family, X, y, Q, 1e-100), rtol=1e-10, atol=1e-90)


@pytest.mark.parametrize("alpha", [1e-100, 1e-20, 1e-10, 1e-4])
@pytest.mark.parametrize("family", EXACT)
def test_N3_a_tiny_alpha_keeps_its_digits(family, alpha):
    """α far below the counts is not lost beside them, neither for presence nor for absence."""
    X, y, Q = one_sided_counts(3)
    got = suffit.NaiveBayes(family(alpha=alpha)).fit(X, y).predict_proba(Q)
    assert_allclose(got, exact_posterior(family, X, y, Q, alpha), rtol=1e-11, atol=1e-300)


def test_N3_poisson_alpha_0_limit_by_hand():
    """Each class lacks one word, of rates 30 and 1: p(1 | λ→0) ∝ α·(pooled mean)/N."""
    X, y = np.array([[0, 50], [0, 70], [3, 0], [1, 0]]), [0, 0, 1, 1]
    log_odds = (-60 + math.log(60)) + math.log(1.0 / 2) - ((-2 + math.log(2)) + math.log(30.0 / 2))
    got = PoissonNB(alpha=0).fit(X, y).predict_log_proba([[1, 1]])[0]
    assert got[0] - got[1] == pytest.approx(log_odds, rel=1e-12)


def test_N3_bernoulli_alpha_0_limits_by_hand():
    model = BernoulliNB(alpha=0).fit(MESSAGES, KINDS)
    posterior = model.predict_proba(QUESTIONS)
    assert posterior[1].tolist() == [1.0, 0.0] or posterior[1].tolist() == [0.0, 1.0]
    assert model.predict(QUESTIONS)[1] == SPAM
    # one word of each kind: ham lacks 'free' and has 'meeting' in 2 of 3; spam lacks 'meeting', 'free' always, and
    # 'the' (absent) is impossible for both; so both have two impossible words and the finite rest decides
    ham = math.log(3 / 5) + math.log(1 / 3) + math.log(1 / 3) + math.log(2 / 3) + math.log(1 / 3)
    spam = math.log(2 / 5) + math.log(1 / 2) + math.log(1 / 2) + math.log(1) + math.log(1 / 2)
    assert posterior[3, 0] == pytest.approx(1 / (1 + math.exp(spam - ham)), rel=1e-12)


def test_N3_a_never_seen_word_alone_leaves_the_prior_of_a_multinomial():
    for alpha in (0.0, 1e-3):
        model = MultinomialNB(alpha=alpha).fit(MESSAGES[[0, 1, 3, 4]], KINDS[[0, 1, 3, 4]])
        words = MESSAGES[[0, 1]].sum(), MESSAGES[[3, 4]].sum()
        want = np.array([1 / (words[0] + 5 * alpha), 1 / (words[1] + 5 * alpha)])
        assert_allclose(model.predict_proba([[0, 0, 0, 0, 1]])[0], want / want.sum(), rtol=1e-12)


def test_N3_normed_complement_at_alpha_0_is_the_limit():
    """As α → 0 a word of one class only takes all the weight of that class, shared among such words."""
    X = np.array([[3, 1, 0, 2, 0, 5, 0, 0], [0, 1, 4, 2, 1, 0, 2, 7], [1, 2, 1, 1, 1, 0, 0, 0]])
    model = quietly(lambda: ComplementNB(alpha=0, norm=True).fit(X, ["a", "b", "c"]))
    got = quietly(lambda: model.predict_proba(np.eye(8)))  # word 5 is only in a, words 6 and 7 only in b
    weights = np.zeros((3, 8))
    weights[0, 5], weights[1, 6], weights[1, 7] = 1.0, 0.5, 0.5
    others = (X[0] + X[1]) / (X[0] + X[1]).sum()
    weights[2] = np.log(others) / np.log(others).sum()
    assert_allclose(got, softmax(weights.T, axis=1), rtol=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_N3_categorical_level_of_one_class_only(alpha):
    X = [["free", "s"], ["free", "m"], ["meeting", "m"], ["lunch", "s"]]
    model = quietly(lambda: CategoricalNB(alpha=alpha).fit(X, [SPAM, SPAM, HAM, HAM]))
    Q = [["free", "s"], ["meeting", "m"], ["atml", "s"], ["atml", "atml"]]
    with pytest.warns(suffit.UnknownCategoryWarning, match="atml"):
        posterior = model.predict_proba(Q)
    assert np.isfinite(posterior).all()
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)
    ham_share = [alpha / (2 + 3 * alpha), (1 + alpha) / (2 + 3 * alpha)]  # of 'free' and of 'meeting'
    spam_share = [(2 + alpha) / (2 + 3 * alpha), alpha / (2 + 3 * alpha)]
    want = np.array(ham_share) / (np.array(ham_share) + spam_share)
    assert_allclose(posterior[:2, 0], want, rtol=1e-13)
    assert posterior[2:].tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_N3_gaussian_class_that_never_varies_is_finite():
    X = np.array([[1.0, 0.0], [1.0, 2.0], [3.0, 1.0], [4.0, 5.0]])
    posterior = quietly(lambda: GaussianNB().fit(X, [0, 0, 1, 1]).predict_proba([[1.0, 1.0], [1.1, 1.0], [1e200, 0]]))
    assert np.isfinite(posterior).all()
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-14)
    assert posterior[:, 0].round(6).tolist() == [1.0, 0.0, 0.0]


# --- N4

DOCUMENTS = [[0, 0, 1], [2, 1, 0, 4], [], [2, 2, 2, 3], [3], [4, 4, 4, 4, 0, 1]]
TOPICS = np.array(["a", "b", "a", "b", "a", "b"])


def counted(documents, width=5):
    return np.array([np.bincount(np.asarray(d, dtype=int), minlength=width) for d in documents])


@pytest.mark.parametrize("alpha", [0.3, 1.0, 4.0])
def test_N4_word_probabilities_by_the_formula(alpha):
    model = MultinomialNB(alpha=alpha, input="sequences").fit(DOCUMENTS, TOPICS)
    for i, c in enumerate("ab"):
        words = [w for d, topic in zip(DOCUMENTS, TOPICS, strict=True) if topic == c for w in d]
        want = [(words.count(w) + alpha) / (len(words) + alpha * 5) for w in range(5)]
        assert_allclose(np.exp(model.feature_log_prob_[i]), want, rtol=1e-14)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
def test_N4_sequences_equal_counts(make):
    from_words = make(input="sequences").fit(DOCUMENTS, TOPICS)
    from_counts = make().fit(counted(DOCUMENTS), TOPICS)
    from_sparse = make().fit(sparse.csr_matrix(counted(DOCUMENTS)), TOPICS)
    questions = [[4], [], [0, 0, 0, 2, 2], [3, 1]]
    want = from_counts.predict_proba(counted(questions))
    assert_allclose(from_words.predict_proba(questions), want, rtol=1e-14)
    assert_allclose(from_sparse.predict_proba(sparse.csr_matrix(counted(questions))), want, rtol=1e-14)
    assert_array_equal(from_words.feature_count_, from_counts.feature_count_)


def test_N4_a_document_is_the_product_of_its_words_in_any_order():
    model = MultinomialNB(input="sequences").fit(DOCUMENTS, TOPICS)
    document = [4, 0, 0, 3]
    want = model.feature_log_prob_[:, document].sum(axis=1) + model.class_log_prior_
    assert_allclose(model.predict_joint_log_proba([document])[0], want, rtol=1e-14)
    assert_allclose(model.predict_joint_log_proba([document[::-1]])[0], want, rtol=1e-14)


def test_N4_arrays_and_ids_beyond_the_vocabulary():
    model = MultinomialNB(input="sequences").fit([np.array(d, dtype=np.int32) for d in DOCUMENTS], TOPICS)
    assert_array_equal(model.predict_proba([[0, 2, 77]]), model.predict_proba([[0, 2]]))


def test_N4_the_vocabulary_grows_with_the_batches():
    model = MultinomialNB(input="sequences").partial_fit([[0, 1], [1]], ["a", "b"])
    assert model.feature_log_prob_.shape == (2, 2)
    model.partial_fit([[6, 6, 1], [3]], ["b", "a"])
    whole = MultinomialNB(input="sequences").fit([[0, 1], [1], [6, 6, 1], [3]], ["a", "b", "b", "a"])
    assert_array_equal(model.feature_log_prob_, whole.feature_log_prob_)
    assert model.feature_log_prob_.shape == (2, 7)
    assert_array_equal(model.predict_proba([[6], [0, 3]]), whole.predict_proba([[6], [0, 3]]))


@pytest.mark.parametrize("bad", [[[0, -1]], [[0.5, 1.0]], [[[0], [1]]], "text"])
def test_N4_what_is_no_sequence_of_ids_is_refused(bad):
    with pytest.raises(ValueError):
        MultinomialNB(input="sequences").fit(bad, ["a"] * len(bad))


# --- N5


def flats():
    columns = {
        "city": ["Rome", "Oslo", "Rome", "Kyiv", "Oslo", "Rome", "Kyiv", "Rome", "Oslo"],
        "size": ["S", "S", "M", "L", "M", "S", "L", "L", "S"],
    }
    return pd.DataFrame(columns), np.array(["sold", "let", "sold", "empty", "let", "let", "empty", "sold", "sold"])


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_N5_tables_of_string_levels_by_hand(alpha):
    frame, y = flats()
    model = CategoricalNB(alpha=alpha).fit(frame, y)
    assert model.classes_.tolist() == ["empty", "let", "sold"]
    assert [categories.tolist() for categories in model.categories_] == [["Kyiv", "Oslo", "Rome"], ["L", "M", "S"]]
    for j, name in enumerate(frame.columns):
        for c, label in enumerate(model.classes_):
            rows = frame[name][y == label]
            want = [((rows == v).sum() + alpha) / (len(rows) + 3 * alpha) for v in model.categories_[j]]
            assert_allclose(np.exp(model.feature_log_prob_[j][c]), want, rtol=1e-14)
            assert model.category_count_[j][c].tolist() == [(rows == v).sum() for v in model.categories_[j]]


def test_N5_posterior_is_the_product_of_the_tables():
    frame, y = flats()
    model = CategoricalNB(alpha=0.7).fit(frame, y)
    for city, size in (("Rome", "L"), ("Oslo", "S"), ("Kyiv", "M")):
        score = []
        for label in model.classes_:
            rows = frame[y == label]
            n = len(rows)
            table = [((rows[f] == v).sum() + 0.7) / (n + 2.1) for f, v in (("city", city), ("size", size))]
            score.append(n / len(y) * table[0] * table[1])
        row = pd.DataFrame({"city": [city], "size": [size]})
        assert_allclose(model.predict_proba(row)[0], np.array(score) / sum(score), rtol=1e-13)


def test_N5_unseen_and_missing_levels_are_left_out():
    frame, y = flats()
    both = CategoricalNB().fit(frame, y)
    city_only = CategoricalNB().fit(frame[["city"]], y)
    for unknown in ("XXL", None, float("nan")):
        row = pd.DataFrame({"city": ["Oslo"], "size": [unknown]}, dtype=object)
        assert_allclose(both.predict_proba(row), city_only.predict_proba(pd.DataFrame({"city": ["Oslo"]})), rtol=1e-14)


def test_N5_levels_are_whatever_the_column_holds():
    cells = np.empty((4, 2), dtype=object)
    cells[:, 0] = [True, "yes", 3, ("a", 1)]
    cells[:, 1] = [1.5, 1.5, -2, "x"]
    model = CategoricalNB(alpha=0).fit(cells, [0, 0, 1, 1])
    assert {*model.categories_[0]} == {True, "yes", 3, ("a", 1)}
    posterior = model.predict_proba(cells)
    assert posterior.tolist() == [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]


def test_N5_string_levels_equal_integer_codes():
    rng = np.random.default_rng(9)
    codes, y = rng.integers(0, 3, (50, 4)), rng.integers(0, 4, 50)
    codes[:3] = [[0] * 4, [1] * 4, [2] * 4]
    words = np.array(["ant", "bee", "cow"])[codes]
    assert_allclose(
        CategoricalNB().fit(words, y).predict_proba(words),
        CategoricalNB().fit(codes, y).predict_proba(codes),
        rtol=1e-14,
    )


# --- N6


def test_N6_mean_and_variance_of_each_feature_in_each_class():
    rng = np.random.default_rng(10)
    X, y = rng.normal([0, 5, -3], [1, 2, 0.5], (40, 3)), rng.integers(0, 3, 40)
    model = GaussianNB(var_smoothing=0).fit(X, y)
    means, variances = by_class(X, y, lambda r: r.mean(axis=0)), by_class(X, y, lambda r: r.var(axis=0))
    assert_allclose(model.theta_, means, rtol=1e-13)
    assert_allclose(model.var_, variances, rtol=1e-13)
    joint = np.stack([norm(m, v**0.5).logpdf(X).sum(axis=1) for m, v in zip(means, variances, strict=True)], axis=1)
    joint += np.log(by_class(X, y, len) / 40)
    assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-12)
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-12)


def test_N6_the_boundary_is_not_linear():
    """One feature, equal means, variances 1 and 9: the narrow class holds an interval, the wide one both sides."""
    narrow, wide = np.array([-1.0, 1.0]), np.array([-3.0, 3.0])
    X, y = np.concatenate([narrow, wide])[:, None], ["narrow", "narrow", "wide", "wide"]
    model = GaussianNB(var_smoothing=0).fit(X, y)
    edge = math.sqrt(math.log(9) / (1 - 1 / 9))  # x²/2·(1 − 1/9) = ½ log 9
    assert model.predict([[-5.0], [0.0], [5.0]]).tolist() == ["wide", "narrow", "wide"]
    assert_allclose(model.predict_proba([[-edge], [edge]]), 0.5, rtol=0, atol=1e-14)
    pair = model.logistic_form().pair("narrow", "wide")
    assert_allclose(pair.quadratic, [-0.5 * (1 - 1 / 9)], rtol=1e-14)


# --- N8


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_N8_log_odds_of_binary_features_by_hand(alpha):
    X, y = binary_data(11, sizes=(12, 20))
    model = BernoulliNB(alpha=alpha).fit(X, y)
    p = by_class(X, y, lambda rows: (rows.sum(axis=0) + alpha) / (len(rows) + 2 * alpha))  # P(x_j = 1 | c)
    a1 = np.log(p[1] / p[0])
    a0 = np.log((1 - p[1]) / (1 - p[0]))
    intercept = a0.sum() + math.log(20 / 12)
    pair = model.logistic_form().pair("y", "x")
    assert_allclose(pair.weights, a1 - a0, rtol=1e-12, atol=1e-14)
    assert pair.intercept == pytest.approx(intercept, rel=1e-12)
    odds = X @ (a1 - a0) + intercept
    assert_allclose(pair(X), odds, rtol=1e-11, atol=1e-13)
    assert_allclose(model.predict_proba(X)[:, 1], expit(odds), rtol=1e-12)


def test_N8_categorical_features_are_linear_in_their_one_hot_coding():
    frame, y = flats()
    model = CategoricalNB().fit(frame, y)
    form = model.logistic_form()
    assert form.names == ("city=Kyiv", "city=Oslo", "city=Rome", "size=L", "size=M", "size=S")
    one_hot = np.column_stack([frame[f] == v for f, v in (name.split("=") for name in form.names)]).astype(float)
    tables = np.concatenate(model.feature_log_prob_, axis=1)
    for a, b in (("let", "sold"), ("sold", "empty")):
        i, j = (model.classes_.tolist().index(label) for label in (a, b))
        pair = form.pair(a, b)
        assert_allclose(pair.weights, tables[i] - tables[j], rtol=1e-13)
        assert pair.intercept == pytest.approx(math.log((y == a).sum() / (y == b).sum()), abs=1e-14)
        log_proba = model.predict_log_proba(frame)
        assert_allclose(one_hot @ pair.weights + pair.intercept, log_proba[:, i] - log_proba[:, j], atol=1e-13)
        assert_allclose(pair(frame.to_numpy(dtype=object)), log_proba[:, i] - log_proba[:, j], atol=1e-13)


def test_N8_two_levels_agree_with_the_bernoulli_form():
    X, y = binary_data(12, sizes=(10, 15))
    bernoulli_form = BernoulliNB().fit(X, y).logistic_form().pair("y", "x")
    categorical = CategoricalNB().fit(X, y).logistic_form().pair("y", "x")
    a0, a1 = categorical.weights.reshape(-1, 2).T
    assert_allclose(a1 - a0, bernoulli_form.weights, rtol=1e-12, atol=1e-14)
    assert a0.sum() + categorical.intercept == pytest.approx(bernoulli_form.intercept, rel=1e-12)


# --- N10

ONLINE = [
    BernoulliNB(),
    BernoulliNB(alpha=0),
    MultinomialNB(alpha=0.3),
    ComplementNB(),
    CategoricalNB(),
    PoissonNB(),
    GaussianNB(),
]


def in_batches(model, X, y, size):
    model = clone(model)
    for start in range(0, len(y), size):
        model.partial_fit(X[start : start + size], y[start : start + size])
    return model


@pytest.mark.parametrize("size", [1, 4, 11])
@pytest.mark.parametrize("model", ONLINE, ids=str)
def test_N10_row_by_row_and_batches_equal_a_fit(model, size):
    X, y = count_data(13)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    whole, online = clone(model).fit(X, y), in_batches(model, X, y, size)
    assert_array_equal(online.class_count_, whole.class_count_)
    assert online.classes_.tolist() == ["x", "y", "z"]
    if isinstance(model, CategoricalNB):
        for a, b in zip(online.category_count_, whole.category_count_, strict=True):
            assert_array_equal(a, b)
    elif isinstance(model, GaussianNB):
        assert_allclose(online.theta_, whole.theta_, rtol=1e-13)
        assert_allclose(online.var_, whole.var_, rtol=1e-13)
    else:
        assert_array_equal(online.feature_count_, whole.feature_count_)
    assert_allclose(online.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("make", [BernoulliNB, MultinomialNB, ComplementNB, PoissonNB, GaussianNB])
def test_N10_sparse_batches_equal_a_dense_fit(make):
    X, y = count_data(14)
    whole, online = make().fit(X, y), in_batches(make(), sparse.csr_matrix(X.astype(float)), y, 6)
    assert_allclose(online.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("model", ONLINE, ids=str)
def test_N10_weighted_batches_equal_a_weighted_fit(model):
    X, y = count_data(15)
    weight = np.random.default_rng(1).integers(1, 4, len(y))
    online = clone(model)
    for part in (slice(0, 10), slice(10, 20), slice(20, None)):
        online.partial_fit(X[part], y[part], sample_weight=weight[part])
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(online.predict_log_proba(X), repeated.predict_log_proba(X), rtol=1e-11, atol=1e-13)


def test_N10_levels_that_come_later():
    frame, y = flats()
    cells = frame.to_numpy(dtype=object)
    online = in_batches(CategoricalNB(), cells, y, 1)
    whole = CategoricalNB().fit(cells, y)
    assert_allclose(online.predict_proba(cells), whole.predict_proba(cells), rtol=1e-14)
    assert [v.tolist() for v in online.categories_] == [v.tolist() for v in whole.categories_]


# --- C3

UNTOUCHED = {
    "bernoulli": (BernoulliNB(), "feature_log_prob_"),
    "multinomial": (MultinomialNB(), "feature_log_prob_"),
    "poisson": (PoissonNB(alpha=0), "rate_"),
    "gaussian": (GaussianNB(var_smoothing=0), "var_"),
    "gaussian means": (GaussianNB(), "theta_"),
    "quadratic": (suffit.GDA(), "covariance_"),
    "quadratic means": (suffit.QDA(), "means_"),
    "linear means": (suffit.LDA(), "means_"),
}


@pytest.mark.parametrize("key", UNTOUCHED)
def test_C3_adding_a_class_leaves_the_others_untouched(key):
    model, attribute = UNTOUCHED[key]
    X, y = count_data(16, sizes=(12, 14, 15), p=3)
    X = X + np.random.default_rng(0).integers(0, 3, X.shape)
    old = y != "y"  # the class that comes later sorts between the two that are there
    grown = clone(model).fit(X[old], y[old])
    before = getattr(grown, attribute).copy()
    grown.partial_fit(X[~old], y[~old])
    after, whole = getattr(grown, attribute), clone(model).fit(X, y)
    assert grown.classes_.tolist() == ["x", "y", "z"]
    assert_array_equal(after[[0, 2]], before)  # bit for bit
    assert_allclose(after, getattr(whole, attribute), rtol=1e-13, atol=1e-15)
    assert_allclose(grown.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10, atol=1e-12)


def test_C3_categorical_tables_of_the_other_classes_stay():
    rng = np.random.default_rng(17)
    X, y = rng.integers(0, 3, (45, 2)), np.repeat([0, 1, 2], 15)
    X[:3] = X[15:18] = X[30:33] = [[0, 0], [1, 1], [2, 2]]
    grown = CategoricalNB().fit(X[y < 2], y[y < 2])
    before = grown.feature_log_prob_
    grown.partial_fit(X[y == 2], y[y == 2])
    whole = CategoricalNB().fit(X, y)
    for old, new, all_at_once in zip(before, grown.feature_log_prob_, whole.feature_log_prob_, strict=True):
        assert_array_equal(new[:2], old)
        assert_array_equal(new, all_at_once)


@pytest.mark.parametrize("model", [*ONLINE, suffit.GDA(), suffit.GDA(tie=1), suffit.LDA(), suffit.QDA()], ids=str)
def test_C3_a_class_added_later_equals_one_from_the_start(model):
    X, y = count_data(18, sizes=(12, 14, 15), p=3)
    X = X + np.random.default_rng(1).integers(0, 3, X.shape)
    grown = clone(model).fit(X[y != "x"], y[y != "x"]).partial_fit(X[y == "x"], y[y == "x"])
    merged = clone(model).fit(X[y == "z"], y[y == "z"]) if not isinstance(model, suffit.QDA) else None
    whole = clone(model).fit(X, y)
    assert_allclose(grown.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10, atol=1e-12)
    if merged is not None:
        merged = merged.merge(clone(model).fit(X[y != "z"], y[y != "z"]))
        assert_allclose(merged.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-10, atol=1e-12)
