"""Naive Bayes on raw texts: scikit-learn's pipeline without a vectoriser, and what only sums can do."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import suffit
from suffit import InputError, TextNB
from suffit.data.errors import NotLearnedError

RNG = np.random.default_rng(5)
VOCABULARY = np.array([f"{stem}{i}" for i, stem in enumerate(["Haus", "été", "spam", "ham_"] * 60)])


def corpus(n: int = 150, k: int = 3, seed: int = 0) -> tuple[list[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    texts = [" ".join(VOCABULARY[(rng.zipf(1.4, rng.poisson(12)) * (c + 1)) % 240]) for c in y]
    return texts, np.array(["ant", "bee", "cat", "dog"])[y]


TEXTS, Y = corpus()
NEW = [*corpus(40, seed=1)[0], "", "words that nobody ever wrote"]
OTHERS = {
    "multinomial": naive_bayes.MultinomialNB,
    "bernoulli": naive_bayes.BernoulliNB,
    "complement": naive_bayes.ComplementNB,
}
every_model = pytest.mark.parametrize("model", OTHERS)


@every_model
@pytest.mark.parametrize(
    "settings",
    [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 4)}, {"stop_words": ["spam2", "haus0"]}],
    ids=str,
)
def test_probabilities_are_those_of_scikit_learns_pipeline(model, settings):
    other = make_pipeline(CountVectorizer(**settings), OTHERS[model](alpha=0.7)).fit(TEXTS, Y)
    ours = TextNB(model, alpha=0.7, **settings).fit(TEXTS, Y)
    np.testing.assert_allclose(ours.predict_proba(NEW), other.predict_proba(NEW), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(NEW), other.predict(NEW))
    assert ours.get_feature_names_out().tolist() == other[0].get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.feature_count_, other[1].feature_count_)
    np.testing.assert_allclose(ours.feature_log_prob_, other[1].feature_log_prob_)


@every_model
@pytest.mark.parametrize("settings", [{}, {"min_count": 3}, {"alpha": 0.0}, {"hashing": 64}], ids=str)
def test_leave_one_out_is_a_refit_without_the_words_that_went_with_the_text(model, settings):
    texts = [*TEXTS, "", "lonely words"]
    y = np.array([*Y, "ant", "bee"])
    w = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y))
    ours = TextNB(model, **settings).fit(texts, y, sample_weight=w)
    left = ours.loo_log_joint(texts, y, sample_weight=w)
    for i in [*range(0, len(texts), 13), len(texts) - 2, len(texts) - 1]:
        rest = [j for j in range(len(texts)) if j != i]
        refit = TextNB(model, **settings).fit([texts[j] for j in rest], y[rest], sample_weight=w[rest])
        one = refit._read_X_known([texts[i]])
        np.testing.assert_allclose(left[i], refit._solved.log_joint(one)[0], rtol=1e-9, atol=1e-9, err_msg=str(i))


@every_model
def test_batches_merging_and_forgetting_are_exact(model):
    whole = TextNB(model).fit(TEXTS, Y)
    half, rest = TextNB(model).fit(TEXTS[:70], Y[:70]), TextNB(model).fit(TEXTS[70:], Y[70:])
    batches = TextNB(model)
    for a in range(0, len(TEXTS), 37):
        batches.partial_fit(TEXTS[a : a + 37], Y[a : a + 37])
    for other in (half + rest, batches):
        assert list(other.vocabulary_) == list(whole.vocabulary_)
        np.testing.assert_array_equal(other.feature_count_, whole.feature_count_)
        np.testing.assert_array_equal(other.predict_proba(NEW), whole.predict_proba(NEW))
    whole.forget(TEXTS[:70], Y[:70])
    assert list(whole.vocabulary_) == list(rest.vocabulary_)  # words that were in those alone are gone
    np.testing.assert_array_equal(whole.feature_count_, rest.feature_count_)


def test_new_classes_and_words_come_with_a_batch():
    model = TextNB().fit(["one two"], ["a"]).partial_fit(["three four"], ["b"])
    assert model.classes_.tolist() == ["a", "b"]
    assert list(model.vocabulary_) == ["four", "one", "three", "two"]
    assert model.predict(["three", "two"]).tolist() == ["b", "a"]


def test_texts_that_were_not_learned_are_not_forgotten():
    model = TextNB().fit(TEXTS, Y)
    with pytest.raises(NotLearnedError, match="the word 'never' would be left with impossible counts"):
        model.forget(["never seen"], ["ant"])
    with pytest.raises(InputError, match="class 'zebra' was never learned"):
        model.forget(TEXTS[:1], ["zebra"])


@every_model
def test_a_missing_text_says_nothing(model):
    plain = TextNB(model).fit(TEXTS, Y)
    gone = TextNB(model).fit([*TEXTS, None, np.nan], [*Y, "ant", "bee"])
    np.testing.assert_array_equal(gone.feature_count_, plain.feature_count_)
    np.testing.assert_allclose(gone.feature_log_prob_, plain.feature_log_prob_)
    prior = np.full(3, 1 / 3) if model == "complement" else np.exp(plain.class_log_prior_)
    np.testing.assert_allclose(plain.predict_proba([None, "ant"])[0], prior)
    assert "nan" not in gone.vocabulary_
    assert gone.class_count_.sum() == len(TEXTS) + 2


def test_words_below_min_count_are_ignored_until_they_have_enough():
    model = TextNB(min_count=2).fit(["common rare", "common"], ["a", "b"])
    np.testing.assert_allclose(model.predict_proba(["rare"]), [[0.5, 0.5]])
    assert model.n_parameters_ == 1
    model.partial_fit(["rare"], ["a"])
    assert model.predict_proba(["rare"])[0, 0] > 0.7


@pytest.mark.parametrize("alpha", ["loo", "evidence"])
@every_model
def test_alpha_is_chosen(model, alpha):
    chosen = TextNB(model, alpha=alpha).fit(TEXTS, Y)
    least = min(t.loss for t in chosen.selection_.tried)
    assert chosen.selection_.taken.loss == pytest.approx(least, rel=1e-4)
    taken = chosen.selection_.taken.settings["alpha"]
    fixed = TextNB(model, alpha=taken).fit(TEXTS, Y)
    np.testing.assert_array_equal(chosen.predict_proba(NEW), fixed.predict_proba(NEW))


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
@every_model
def test_probabilities_are_calibrated(model, method):
    y = np.where(np.random.default_rng(1).random(len(Y)) < 0.3, np.roll(Y, 1), Y)  # some labels are wrong
    calibrated = TextNB(model, calibrate=method).fit(TEXTS, y)
    report = calibrated.calibration_
    assert report.log_loss_after <= report.log_loss_before
    np.testing.assert_allclose(calibrated.predict_proba(NEW).sum(axis=1), 1.0)
    if method == "temperature":
        found = calibrated.explain(NEW)
        np.testing.assert_allclose(found.total, np.log(found.probability[:, 0] / found.probability[:, 1]), rtol=1e-6)


@every_model
def test_explanations_name_the_words_and_add_up(model):
    ours = TextNB(model).fit(TEXTS, Y)
    found = ours.explain(NEW, classes=("ant", "bee"))
    p = ours.predict_log_proba(NEW)
    np.testing.assert_allclose(found.total, p[:, 0] - p[:, 1], rtol=1e-9, atol=1e-9)
    terms = dict(found.terms(0))
    words = [w for w in CountVectorizer().build_analyzer()(NEW[0]) if w in ours.vocabulary_]
    assert {t.partition(" = ")[0] for t in terms} - {"prior", "an empty text"} == set(words)
    assert words[0] in ours.why(NEW[0], n=50)
    assert VOCABULARY[0].lower() in repr(ours.summary().__dict__) or "haus" in repr(ours.summary())
    assert ours.logistic_form().names[:2] == tuple(list(ours.vocabulary_)[:2])


def test_a_nomogram_names_the_words():
    pytest.importorskip("matplotlib")
    axes = TextNB().fit(TEXTS, Y).nomogram(NEW)
    shown = " ".join(t.get_text() for t in [*axes.texts, *axes.get_yticklabels()])
    assert any(word.lower() in shown for word in VOCABULARY)


@every_model
def test_a_saved_model_is_the_same_model(model, tmp_path):
    ours = TextNB(model, alpha="loo", stop_words=["haus0"], ngram_range=[1, 2]).fit(TEXTS, Y)
    ours.save(tmp_path / "m.suffit")
    for again in (suffit.load(tmp_path / "m.suffit"), pickle.loads(pickle.dumps(ours))):
        np.testing.assert_array_equal(again.predict_proba(NEW), ours.predict_proba(NEW))
        again.partial_fit(["a new text"], ["dog"])
        assert again.classes_.tolist() == ["ant", "bee", "cat", "dog"]


def test_columns_of_any_library_are_texts():
    expected = TextNB().fit(TEXTS, Y).predict_proba(NEW)
    for form in (np.array, pd.Series, pa.array, lambda v: pl.Series("t", v), lambda v: pd.DataFrame({"t": v})):
        np.testing.assert_array_equal(TextNB().fit(form(TEXTS), Y).predict_proba(form(NEW)), expected)


def test_results_do_not_depend_on_threads():
    texts, y = corpus(3_000, seed=4)
    texts = [t * 40 for t in texts]
    w = np.random.default_rng(0).random(len(y))
    try:
        suffit.set_threads(1)
        one = TextNB().fit(texts, y, sample_weight=w)
        p = one.predict_proba(texts)
    finally:
        suffit.set_threads(None)
    two = TextNB().fit(texts, y, sample_weight=w)
    np.testing.assert_array_equal(one.feature_count_, two.feature_count_)
    np.testing.assert_array_equal(p, two.predict_proba(texts))


def test_hashing_bounds_memory_and_keeps_predictions():
    texts, y = corpus(600, seed=2)
    exact, hashed = (TextNB(hashing=n).fit(texts[:400], y[:400]) for n in (None, 1 << 16))
    assert hashed.feature_count_.shape == (3, 1 << 16)
    np.testing.assert_allclose(hashed.feature_count_.sum(axis=1), exact.feature_count_.sum(axis=1))
    assert abs(hashed.score(texts[400:], y[400:]) - exact.score(texts[400:], y[400:])) < 0.03
    assert hashed.get_feature_names_out()[5] == "hash 5"
    with pytest.raises(InputError, match="vocabulary of single words"):
        hashed.sample(3)


# --- scikit-learn's conventions


def test_parameters_clones_pipelines_and_grids():
    model = TextNB("bernoulli", alpha=0.3, stop_words="english")
    assert clone(model).get_params() == model.get_params()
    assert repr(eval(repr(model), {"TextNB": TextNB})) == repr(model)
    pipeline = make_pipeline(FunctionTransformer(lambda texts: [t.replace("0", "") for t in texts]), TextNB())
    assert cross_val_score(pipeline, TEXTS, Y, cv=3).mean() > 0.5
    grid = GridSearchCV(TextNB(), {"alpha": [0.1, 1.0], "model": ["multinomial", "complement"]}, cv=3).fit(TEXTS, Y)
    assert grid.best_estimator_.predict(NEW).shape == (len(NEW),)
    tags = model.__sklearn_tags__().input_tags
    assert tags.string
    assert not tags.two_d_array


def test_fit_changes_nothing_on_an_error_and_returns_itself():
    model = TextNB()
    assert model.fit(TEXTS, Y) is model
    before = model.predict_proba(NEW)
    with pytest.raises(InputError, match="row 1 holds 3"):
        model.fit(["a", 3], ["x", "y"])
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(["a", "b"], ["x"])


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "poisson"},
        {"alpha": -1},
        {"alpha": [1.0, 2.0]},
        {"analyzer": "sentence"},
        {"ngram_range": (2, 1)},
        {"ngram_range": (0, 1)},
        {"ngram_range": 2},
        {"min_count": -1},
        {"stop_words": "klingon"},
        {"hashing": 0},
        {"lowercase": "yes"},
    ],
    ids=str,
)
def test_settings_that_cannot_be_are_refused(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))}"):
        TextNB(**settings).fit(TEXTS, Y)


def test_texts_without_any_word_are_no_error():
    for model in OTHERS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ours = TextNB(model).fit(["", "a", "!"], ["x", "x", "y"])
        assert len(ours.vocabulary_) == 0
        assert np.isfinite(ours.predict_proba(["", "words"])).all()
        ours.partial_fit(["now words", "and words"], ["y", "z"])
        assert list(ours.vocabulary_) == ["and", "now", "words"]


def test_a_draw_is_a_text_of_its_class():
    model = TextNB().fit(["aa bb cc " * 5, "dd ee ff " * 5], ["x", "y"])
    texts, labels = model.sample(200, random_state=0)
    assert (model.predict(texts) == labels).mean() > 0.95
    np.testing.assert_array_equal(model.scorer()("aa bb"), model.predict_proba(["aa bb"])[0])


# --- those who want the matrix


@pytest.mark.parametrize(
    "settings", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (2, 3)}], ids=str
)
def test_word_counts_are_the_matrix_of_count_vectorizer(settings):
    ours, theirs = suffit.WordCounts(**settings).fit(TEXTS), CountVectorizer(**settings).fit(TEXTS)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(ours.transform(NEW).toarray(), theirs.transform(NEW).toarray())
    piped = make_pipeline(clone(ours), naive_bayes.MultinomialNB()).fit(TEXTS, Y)
    np.testing.assert_allclose(piped.predict_proba(NEW), TextNB(**settings).fit(TEXTS, Y).predict_proba(NEW))


def test_word_counts_with_other_settings():
    counts = suffit.WordCounts(min_count=3, binary=True).fit(TEXTS)
    X = CountVectorizer().fit_transform(TEXTS)
    assert len(counts.vocabulary_) == (np.asarray(X.sum(axis=0)) >= 3).sum()
    assert counts.transform([*NEW, None]).max() == 1
    assert suffit.WordCounts(hashing=32).fit_transform(TEXTS).shape == (len(TEXTS), 32)
    with pytest.raises(ValueError, match="not fitted"):
        suffit.WordCounts().transform(TEXTS)


@pytest.mark.parametrize("model", [suffit.MultinomialNB(), suffit.ComplementNB(), suffit.BernoulliNB()], ids=str)
def test_names_of_a_vectoriser_are_used_in_explanations(model, tmp_path):
    vectoriser = CountVectorizer()
    X = vectoriser.fit_transform(TEXTS)
    model = clone(model).fit(X, Y, feature_names=vectoriser.get_feature_names_out())
    word = vectoriser.build_analyzer()(TEXTS[0])[0]
    assert f"{word} = " in model.why(X[:1], n=50)
    assert any(name in repr(model.summary()) for name in vectoriser.get_feature_names_out())
    model.save(tmp_path / "m.suffit")
    model.partial_fit(X[:9], Y[:9])
    for other in (model, suffit.load(tmp_path / "m.suffit")):
        assert f"{word} = " in other.why(X[:1], n=50)
    with pytest.raises(ValueError, match=f"feature_names: X has {X.shape[1]} columns, and there are 2"):
        model.fit(X, Y, feature_names=["a", "b"])
    assert f"{word} = " in model.why(X[:1], n=50)
