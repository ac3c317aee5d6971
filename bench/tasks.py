"""The tasks: the same job by suffit and by a peer, on the same data, with the ratio that suffit promises."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import sklearn.discriminant_analysis as peer_da
import sklearn.naive_bayes as peer_nb
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import suffit

warnings.simplefilter("ignore")


@dataclass(frozen=True)
class Task:
    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    floor: float  # the least ratio promised
    limit: str = ""  # what bounds it: read2, dsyrk, dgemm
    work: float = 0.0  # in the unit of the limit: GB, Gflop
    same: Callable[[], float] | None = None  # the largest difference between the two answers
    tolerance: float = 1e-8
    repeats: float = 1.0  # how often the peer would have to do what is timed: a sample of its work, scaled up
    room: float | None = None  # bytes that a call may take beyond the data, at its peak

    @property
    def spins(self) -> bool:
        """Whether a side multiplies matrices on BLAS threads, which spin for a while after they have nothing to do."""
        return any(word in self.name for word in ("LDA", "QDA", "GDA"))


@cache
def gaussian(n: int, p: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, size=n)
    X = np.empty((n, p))
    centres = rng.normal(size=(k, p)) * 0.3
    for a in range(0, n, 100_000):
        part = slice(a, min(a + 100_000, n))
        X[part] = rng.standard_normal((len(y[part]), p)) + centres[y[part]]
    return X, y


@cache
def categories(n: int, p: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 16, size=(n, p)), rng.integers(0, k, size=n)


@cache
def words(n: int, v: int, k: int) -> tuple[Any, np.ndarray]:
    """About 100 different words in a document, drawn from a vocabulary of Zipf shape."""
    rng = np.random.default_rng(0)
    share = 1 / np.arange(1, v + 1) ** 0.9
    edges = np.cumsum(share / share.sum())
    at = np.searchsorted(edges, rng.random(n * 130)).clip(0, v - 1).astype(np.int32)
    X = sparse.csr_matrix((np.ones(n * 130), at, np.arange(0, n * 130 + 1, 130)), shape=(n, v))
    X.sum_duplicates()
    return X, rng.integers(0, k, size=n)


@cache
def texts(megabytes: float, k: int) -> tuple[list[str], np.ndarray]:
    """Texts of 170 words each, drawn from 100,000 of Zipf shape; a fifth of them shifted with the class."""
    rng = np.random.default_rng(0)
    v, n = 100_000, int(megabytes * 1e6 / (170 * 7.2))
    letters = np.array(list("etaoinshrdlucmfwypvbgkjqxz"))
    vocabulary = np.array(["".join(letters[rng.integers(0, 26, m)]) for m in rng.integers(2, 11, v)], dtype=object)
    share = 1 / np.arange(1, v + 1) ** 1.05
    edges, y = np.cumsum(share / share.sum()), rng.integers(0, k, size=n)
    found: list[str] = []
    for a in range(0, n, 2_000):
        at = np.searchsorted(edges, rng.random((len(y[a : a + 2_000]), 170))).clip(0, v - 1)
        moved = (at + 37 * (y[a : a + 2_000, None] + 1)) % v
        at = np.where(rng.random(at.shape) < 0.2, moved, at)
        found += [f"{' '.join(row).capitalize()}." for row in vocabulary[at].tolist()]
    return found, y


ROOM = 20e6  # bytes that a fit may take beyond the data, and a prediction beyond its answer


def pair(
    name: str, ours: Any, peer: Any, X: Any, y: Any, least_fit: float, least_predict: float, **limit: Any
) -> Iterator[Task]:
    """Fit and predict_proba of one model; and predict, which has no table of probabilities to fill."""

    def difference() -> float:
        return apart(ours, peer, X[:2000])

    size = (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes) / 1e9
    ours.fit(X, y)
    peer.fit(X, y)
    if least_fit:
        yield Task(f"{name} fit", lambda: ours.fit(X, y), lambda: peer.fit(X, y), least_fit, same=difference,
                   **{"limit": "read2", "work": size, "room": ROOM, **limit.get("fit", {})})  # fmt: skip
    if least_predict:
        more: dict[str, Any] = {"same": difference, "limit": "read2", "work": size, **limit.get("predict", {})}
        room = ROOM + 8 * X.shape[0] * len(ours.classes_)
        yield Task(f"{name} predict_proba", lambda: ours.predict_proba(X), lambda: peer.predict_proba(X), least_predict,
                   room=room, **more)  # fmt: skip
        yield Task(f"{name} predict", lambda: ours.predict(X), lambda: peer.predict(X), round(0.7 * least_predict, 1),
                   room=ROOM + 8 * X.shape[0], **more)  # fmt: skip


def apart(ours: Any, peer: Any, X: Any) -> float:
    """The largest difference between the probabilities that two fitted models give."""
    return float(np.abs(ours.predict_proba(X) - peer.predict_proba(X)).max())


def one_by_one(handle: Any, peer: Any, X: np.ndarray) -> float:
    """The same for a handle that takes one row at a time."""
    return float(np.abs(np.array([handle(x) for x in X]) - peer.predict_proba(X)).max())


def dense(scale: float) -> Iterator[Task]:
    for n, p, k, fit, predict in ((1_000_000, 50, 2, 25, 16), (1_000_000, 50, 10, 25, 20), (100_000, 500, 10, 12, 0)):
        X, y = gaussian(int(n * scale), p, k)
        yield from pair(
            f"GaussianNB {n:,}×{p}, {k} classes", suffit.GaussianNB(), peer_nb.GaussianNB(), X, y, fit, predict
        )
    for n, p in ((1_000_000, 50), (200_000, 100)):
        X, y = gaussian(int(n * scale), p, 10)
        syrk = {"limit": "dsyrk", "work": len(X) * p * p / 1e9}
        for solver, least in (("svd", 33), ("lsqr", 8)):
            peer = peer_da.LinearDiscriminantAnalysis(solver=solver)
            ours = suffit.LinearDiscriminantAnalysis(solver=solver)
            name = f"LDA {n:,}×{p}, 10 classes, against {solver}"
            yield from pair(name, ours, peer, X, y, least, 2 if solver == "lsqr" else 0, fit=syrk)
        for solver, least in (("svd", 13), ("eigen", 5)):
            peer, ours = peer_da.QuadraticDiscriminantAnalysis(solver=solver), suffit.QDA(solver=solver)
            gemm = {"limit": "dgemm", "work": len(X) * 10 * p * p / 1e9}  # a triangle: half of 2·n·k·p²
            name = f"QDA {n:,}×{p}, 10 classes, against {solver}"
            yield from pair(name, ours, peer, X, y, least, 2.5 if solver == "eigen" else 0, fit=syrk, predict=gemm)


def wide(scale: float) -> Iterator[Task]:
    """Fewer rows than columns; scikit-learn's QDA refuses them, or forms p × p covariances as its lsqr and eigen do."""
    lda, qda = peer_da.LinearDiscriminantAnalysis, peer_da.QuadraticDiscriminantAnalysis
    for n, p in ((6, 3000), (6, 6000), (60, 20_000), (200, 5000)):
        X, y = gaussian(n, p, 2)
        room = {"room": ROOM + 10 * X.nbytes}
        yield from pair(f"LDA {n}×{p:,}, fewer rows than columns", suffit.LDA(), lda(), X, y, 1, 1, fit=room)
    X, y = gaussian(40, 1000, 2)
    for name, ours, peer in (
        ("LDA shrunk", suffit.LDA(solver="lsqr", shrinkage=0.1), lda(solver="lsqr", shrinkage=0.1)),
        ("LDA eigen", suffit.LDA(solver="eigen", shrinkage=0.1), lda(solver="eigen", shrinkage=0.1)),
        ("QDA shrunk", suffit.QDA(solver="eigen", shrinkage=0.1), qda(solver="eigen", shrinkage=0.1)),
    ):
        yield from pair(f"{name} 40×1,000, fewer rows than columns", ours, peer, X, y, 5, 1)


def counts(scale: float) -> Iterator[Task]:
    X, y = categories(int(1_000_000 * scale), 20, 10)
    name = "CategoricalNB 1,000,000×20, 16 categories, 10 classes"
    yield from pair(name, suffit.CategoricalNB(), peer_nb.CategoricalNB(), X, y, 30, 11)
    for k in (2, 20):
        S, y = words(int(200_000 * scale), 100_000, k)
        for model in ("BernoulliNB", "MultinomialNB", "ComplementNB"):
            name = f"{model} 200,000×100,000 CSR, {k} classes"
            yield from pair(name, getattr(suffit, model)(), getattr(peer_nb, model)(), S, y, 2.5, 1.8)


def raw_texts(scale: float) -> Iterator[Task]:
    """Raw texts against scikit-learn's vectorisers and its MultinomialNB: with a vocabulary, and hashed."""
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    for k in (2, 20):
        X, y = texts(100 * scale, k)
        for name, ours, vectoriser, least in (
            ("exact vocabulary", suffit.TextNB(), CountVectorizer(), 12),
            ("hashed", suffit.TextNB(hashing=2**20), HashingVectorizer(alternate_sign=False, norm=None), 30),
        ):
            peer = make_pipeline(vectoriser, peer_nb.MultinomialNB())

            def difference(ours: Any = ours, peer: Any = peer, X: list = X, y: np.ndarray = y) -> float:
                ours.fit(X[:2000], y[:2000])
                peer.fit(X[:2000], y[:2000])
                return float((ours.predict(X[:500]) != peer.predict(X[:500])).mean())

            name = f"TextNB, 100 MB of text, {k} classes, {name}"
            fit = partial(ours.fit, X, y), partial(peer.fit, X, y)
            yield Task(f"{name}, fit", *fit, least, same=difference, tolerance=0.01)
            ours.fit(X, y)
            peer.fit(X, y)
            yield Task(f"{name}, predict", partial(ours.predict, X), partial(peer.predict, X), least)


def small(scale: float) -> Iterator[Task]:
    X, y = gaussian(150, 4, 3)
    for name, ours, peer in (
        ("GaussianNB", suffit.GaussianNB(), peer_nb.GaussianNB()),
        ("LDA", suffit.LDA(), peer_da.LinearDiscriminantAnalysis()),
        ("QDA", suffit.QDA(), peer_da.QuadraticDiscriminantAnalysis()),
    ):
        ours.fit(X, y)
        peer.fit(X, y)
        one = X[:1].copy()
        same = lambda o=ours, q=peer: apart(o, q, X)  # noqa: E731
        yield Task(f"{name} 150×4 fit", lambda o=ours: o.fit(X, y), lambda o=peer: o.fit(X, y), 1, same=same)
        yield Task(
            f"{name} 150×4 predict, one row",
            lambda o=ours, x=one: o.predict(x),
            lambda o=peer, x=one: o.predict(x),
            1,
            same=same,
        )


def rows(scale: float) -> Iterator[Task]:
    X, y = gaussian(5000, 50, 2)
    for name, ours, peer in (
        ("GaussianNB", suffit.GaussianNB(), peer_nb.GaussianNB()),
        ("MultinomialNB", suffit.MultinomialNB(), peer_nb.MultinomialNB()),
    ):
        data = np.abs(X)
        ours.fit(data, y)
        peer.fit(data, y)
        one, row, handle = data[:1].copy(), data[0].copy(), ours.scorer()
        by_peer = lambda o=peer, x=one: o.predict_proba(x)  # noqa: E731
        same = lambda o=ours, q=peer, A=data: apart(o, q, A[:200])  # noqa: E731
        yield Task(f"{name} one row, predict_proba", lambda o=ours, x=one: o.predict_proba(x), by_peer, 10, same=same)
        yield Task(f"{name} one row, scorer()", lambda h=handle, x=row: h(x), by_peer, 50,
                   same=lambda h=handle, q=peer, A=data: one_by_one(h, q, A[:200]))  # fmt: skip


def after_batches(ours: Any, peer: Any, X: Any, y: np.ndarray, size: int) -> float:
    """The difference after a hundred rows and thirty batches."""
    models = clone(ours), clone(peer)
    models[0].partial_fit(X[:100], y[:100])
    models[1].partial_fit(X[:100], y[:100], classes=[0, 1])
    for i in range(30):
        for model in models:
            model.partial_fit(X[i * size : (i + 1) * size], y[i * size : (i + 1) * size])
    return apart(*models, X[:500])


def batches(scale: float) -> Iterator[Task]:
    """Streams long enough that waking up from the pause between two measurements does not matter.

    scikit-learn adds a share of the last batch's variance, and we of all rows': probabilities agree to that.
    """
    X, y = gaussian(200_000, 50, 2)
    long = 1.0 if scale == 1.0 else 0.2
    for size, times, floor in ((1, int(2000 * long), 50), (100, int(1000 * long), 50), (10_000, 20, 8)):
        ours = suffit.GaussianNB().partial_fit(X[:100], y[:100])
        peer = peer_nb.GaussianNB().partial_fit(X[:100], y[:100], classes=[0, 1])

        def feed(model: Any, size: int = size, times: int = times) -> Any:
            for i in range(times):
                model.partial_fit(X[i * size : (i + 1) * size], y[i * size : (i + 1) * size])
            return model.class_count_

        name = f"GaussianNB partial_fit, batches of {size:,}"
        same = lambda o=ours, q=peer, s=size: after_batches(o, q, X, y, min(s, 5000))  # noqa: E731
        yield Task(name, lambda m=ours, f=feed: f(m), lambda m=peer, f=feed: f(m), floor, same=same, tolerance=1e-6)
    S, labels = words(20_000, 100_000, 2)
    for size, times, floor in ((1, int(500 * long), 50), (100, int(200 * long), 20)):
        ours = suffit.MultinomialNB().partial_fit(S[:100], labels[:100])
        peer = peer_nb.MultinomialNB().partial_fit(S[:100], labels[:100], classes=[0, 1])
        parts = [(S[i * size : (i + 1) * size], labels[i * size : (i + 1) * size]) for i in range(times)]

        def feed_parts(model: Any, parts: list = parts) -> Any:
            for a, b in parts:
                model.partial_fit(a, b)
            return model.class_count_

        name = f"MultinomialNB partial_fit, 100,000 words, batches of {size}"
        same = lambda o=ours, q=peer, s=size: after_batches(o, q, S, labels, s)  # noqa: E731
        yield Task(name, lambda m=ours, f=feed_parts: f(m), lambda m=peer, f=feed_parts: f(m), floor, same=same)


def stream(scale: float) -> Iterator[Task]:
    """River learns one row at a time; its rows are dictionaries, made beforehand."""
    if importlib.util.find_spec("river") is None:
        return
    from river import naive_bayes as river

    X, y = gaussian(2000, 50, 2)
    rows = [(dict(enumerate(row)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    ours = suffit.GaussianNB().partial_fit(X[:100], y[:100])
    theirs = river.GaussianNB()

    def feed() -> Any:
        for i in range(len(X)):
            ours.partial_fit(X[i : i + 1], y[i : i + 1])
        return ours.class_count_

    def learn() -> None:
        for row, label in rows:
            theirs.learn_one(row, label)

    yield Task("GaussianNB partial_fit, batches of 1, against river's learn_one", feed, learn, 1)


def missing(scale: float) -> Iterator[Task]:
    """Our own fit with 10 % of the cells missing, against our own without: half as fast at worst."""
    X, y = gaussian(int(1_000_000 * scale), 50, 2)
    gaps = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    model = suffit.GaussianNB()
    name = "GaussianNB fit with 10 % NaN, against our own without"
    yield Task(name, lambda: model.fit(gaps, y), lambda: model.fit(X, y), 0.5, "read2", X.nbytes / 1e9)


def tables(scale: float) -> Iterator[Task]:
    """A mixed polars frame with 5 % nulls: 10 floats, 5 counts, 5 booleans, 10 columns of text."""
    if importlib.util.find_spec("polars") is None:
        return
    frame, y = mixed(int(1_000_000 * scale))
    peer = usual_pipeline(frame.columns).fit(frame, y)
    ours = suffit.GenerativeClassifier(structure="naive").fit(frame, y)
    name = "GenerativeClassifier, naive, polars 1,000,000×30 with 5 % nulls,"
    yield Task(f"{name} fit", lambda: ours.fit(frame, y), lambda: peer.fit(frame, y), 1.0)
    yield Task(f"{name} predict_proba", lambda: ours.predict_proba(frame), lambda: peer.predict_proba(frame), 1.0)


def usual_pipeline(columns: list[str]) -> Any:
    """What a user of scikit-learn would write for such a table."""
    numbers, text = ([c for c in columns if c[0] in kinds] for kinds in ("fib", "s"))
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=60, encoded_missing_value=61)
    scaled = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(ColumnTransformer([("n", scaled, numbers), ("s", codes, text)]), peer_nb.GaussianNB())


def model_files(scale: float) -> Iterator[Task]:
    """The models of a mixed table in files: ours is compared with its digest, put on the disk, and tried when read."""
    if importlib.util.find_spec("polars") is None:
        return
    import joblib

    frame, y = mixed(20_000)
    peer, ours = usual_pipeline(frame.columns).fit(frame, y), suffit.GenerativeClassifier(structure="naive")
    ours.fit(frame, y)
    folder = tempfile.mkdtemp(prefix="suffit-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    mine, theirs = os.path.join(folder, "model.suffit"), os.path.join(folder, "model.joblib")

    def same() -> float:
        ours.save(mine)
        joblib.dump(peer, theirs)
        return float(np.abs(suffit.load(mine).predict_proba(frame) - ours.predict_proba(frame)).max())

    name = "GenerativeClassifier, naive, of 30 mixed columns, model file:"
    against = "against joblib's of a pipeline"
    yield Task(f"{name} save, {against}", lambda: ours.save(mine), lambda: joblib.dump(peer, theirs), 0.2, same=same)
    yield Task(f"{name} load, {against}", lambda: suffit.load(mine), lambda: joblib.load(theirs), 0.25, same=same)


@cache
def mixed(n: int) -> tuple[Any, np.ndarray]:
    import polars as pl

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=n)
    columns: dict[str, Any] = {f"f{j}": rng.normal(size=n) + 0.1 * j * y for j in range(10)}
    columns |= {f"i{j}": rng.poisson(3 + 0.2 * j * y) for j in range(5)}
    columns |= {f"b{j}": rng.random(n) < 0.3 + 0.1 * y for j in range(5)}
    for j in range(10):
        names = np.array([f"category {k}" for k in range(5 * (j + 1))])
        columns[f"s{j}"] = names[rng.integers(0, len(names), size=n)]
    frame = pl.DataFrame(columns)
    gaps = {c: pl.Series(rng.random(n) < 0.05) for c in frame.columns}
    return frame.with_columns([pl.when(gaps[c]).then(None).otherwise(pl.col(c)).alias(c) for c in frame.columns]), y


REFITS = 20  # of the 2,000 that leaving out every row by hand would take: their time counts a hundredfold


def leave_one_out(scale: float) -> Iterator[Task]:
    """Every one of 2,000 rows under the model of all others, against refitting: by scikit-learn, or by ourselves."""
    X, y = gaussian(2000, 20, 3)
    C, of_levels = categories(2000, 20, 3)
    lda, qda = peer_da.LinearDiscriminantAnalysis, peer_da.QuadraticDiscriminantAnalysis
    gamma = suffit.NaiveBayes("gamma")
    for name, ours, peer, A, b in (
        ("GaussianNB", suffit.GaussianNB(), peer_nb.GaussianNB(), X, y),
        ("LDA", suffit.LDA(), lda(), X, y),
        ("QDA", suffit.QDA(), qda(), X, y),
        ("GDA, tied and shrunk, our own refits", suffit.GDA(tie=0.5, shrinkage=0.1), None, X, y),
        ("GDA, Ledoit–Wolf, our own refits", suffit.GDA(shrinkage="ledoit-wolf"), None, X, y),
        ("MultinomialNB", suffit.MultinomialNB(), peer_nb.MultinomialNB(), C, of_levels),
        ("CategoricalNB", suffit.CategoricalNB(), peer_nb.CategoricalNB(min_categories=16), C, of_levels),
        ("gamma columns, our own refits", gamma, None, np.exp(X), y),
    ):
        yield left_out_task(f"{name} 2,000×20, leave-one-out (refits: {REFITS} timed, ×{2000 // REFITS})",
                            ours.fit(A, b), clone(ours if peer is None else peer), A, b)  # fmt: skip
    gaps = np.where(np.random.default_rng(0).random((2000, 8)) < 0.1, np.nan, X[:, :8])
    for name, ours in (("LDA", suffit.LDA()), ("QDA", suffit.QDA())):
        title = f"{name} 2,000×8 with 10 % NaN, leave-one-out (our own refits: {REFITS} timed, ×{2000 // REFITS})"
        yield left_out_task(title, ours.fit(gaps, y), clone(ours), gaps, y, floor=10)


def left_out_task(name: str, ours: Any, peer: Any, X: np.ndarray, y: np.ndarray, floor: float = 50) -> Task:
    """One model; the refits that are timed are checked against its answer."""
    some = np.linspace(0, len(y) - 1, REFITS).astype(int)

    def refits() -> np.ndarray:
        every, out = np.arange(len(y)), []
        for i in some:
            rest = every != i
            out.append(peer.fit(X[rest], y[rest]).predict_proba(X[i : i + 1])[0])
        return np.array(out)

    return Task(
        name,
        lambda: ours.loo_predict_proba(X, y),
        refits,
        floor,
        same=lambda: float(np.abs(refits() - ours.loo_predict_proba(X, y)[some]).max()),
        repeats=len(y) / REFITS,
    )


def databases(scale: float) -> Iterator[Task]:
    """Sums computed inside DuckDB, against reading the table out of it and fitting in memory."""
    if importlib.util.find_spec("duckdb") is None:
        return
    from suffit.engines import fit_sql

    n = int(2_000_000 * scale)

    def read_out(estimator: Any, table: str) -> Any:
        found = database(n).sql(f"SELECT * FROM {table}").to_arrow_table()
        return estimator.fit(found.drop_columns(["y"]), found["y"])

    def pushed_down(estimator: Any, table: str) -> Any:
        return fit_sql(database(n), f"SELECT * FROM {table}", target="y", estimator=estimator)

    naive = suffit.GenerativeClassifier(structure="naive")
    for name, estimator, table, floor in (
        ("GaussianNB 2,000,000×10", suffit.GaussianNB(), "numbers", 1.2),
        ("LDA 2,000,000×10", suffit.LDA(), "numbers", 1.0),
        ("GenerativeClassifier, naive, 2,000,000×10 with 10 % nulls", naive, "mixed", 1.5),
    ):
        yield Task(
            f"{name} fit in DuckDB, against reading it out",
            lambda e=estimator, t=table: pushed_down(clone(e), t),
            lambda e=estimator, t=table: read_out(clone(e), t),
            floor,
        )


@cache
def database(n: int) -> Any:
    import duckdb

    db = duckdb.connect()
    label = "CASE WHEN random() < 0.5 THEN 'a' WHEN random() < 0.5 THEN 'b' ELSE 'c' END AS y"
    numbers = ", ".join(f"random() * {j + 1} AS x{j}" for j in range(10))
    gaps = [f"CASE WHEN random() < 0.9 THEN random() * {j + 1} END AS x{j}" for j in range(5)]
    words = [
        f"CASE WHEN random() < 0.9 THEN 'category ' || CAST(random() * 20 AS INTEGER) END AS s{j}" for j in range(5)
    ]
    db.execute("SELECT setseed(0.5)")
    db.execute(f"CREATE TABLE numbers AS SELECT {label}, {numbers} FROM range({n})")
    db.execute(f"CREATE TABLE mixed AS SELECT {label}, {', '.join([*gaps, *words])} FROM range({n})")
    return db


def dask_arrays(scale: float) -> Iterator[Task]:
    """A Dask array in 20 chunks, against dask-ml's GaussianNB on the same scheduler."""
    if importlib.util.find_spec("dask_ml") is None:
        return
    import dask
    import dask.array as da
    from dask_ml.naive_bayes import GaussianNB

    from suffit.engines import fit_dask

    X, y = gaussian(int(1_000_000 * scale), 50, 2)
    rows, labels = da.from_array(X, chunks=(len(X) // 20, 50)), da.from_array(y, chunks=len(X) // 20)
    ours = suffit.GaussianNB(var_smoothing=0.0)

    def peer() -> Any:
        model = GaussianNB().fit(rows, labels)
        return dask.compute(model.theta_, model.sigma_)

    def same() -> float:
        model = fit_dask(ours, rows, labels)
        return max(float(np.abs(a - b).max()) for a, b in zip((model.theta_, model.var_), peer(), strict=True))

    name = "GaussianNB 1,000,000×50 fit in Dask, against dask-ml's"
    yield Task(name, lambda: fit_dask(ours, rows, labels), peer, 4, same=same)


def spark_frames(scale: float) -> Iterator[Task]:
    """A cached Spark frame, against MLlib's NaiveBayes in the same local session."""
    java = os.environ.get("JAVA_HOME") or shutil.which("java")
    if importlib.util.find_spec("pyspark") is None or java is None:
        return
    from suffit.engines import fit_spark

    frame = partial(spark_frame, int(1_000_000 * scale), 20)
    ours = suffit.GaussianNB(var_smoothing=0.0)

    def peer() -> Any:
        from pyspark.ml.classification import NaiveBayes
        from pyspark.ml.feature import VectorAssembler

        columns = [name for name in frame().columns if name != "y"]
        vectors = VectorAssembler(inputCols=columns, outputCol="features").transform(frame())
        return NaiveBayes(modelType="gaussian", labelCol="y", featuresCol="features").fit(vectors)

    def same() -> float:
        model, other = fit_spark(ours, frame(), "y"), peer()
        each = zip((model.theta_, model.var_), (other.theta, other.sigma), strict=True)
        return max(float(np.abs(a - b.toArray()).max()) for a, b in each)

    name = "GaussianNB 1,000,000×20 fit in Spark, against MLlib's"
    yield Task(name, lambda: fit_spark(ours, frame(), "y"), peer, 1, same=same)


@cache
def spark_frame(n: int, p: int) -> Any:
    from pyspark.sql import SparkSession, functions

    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "3g"}
    builder = SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    session = builder.config(map=quiet).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    y = functions.col("id") % 3
    columns = [(functions.randn(j) + y * 0.3).alias(f"x{j}") for j in range(p)]
    frame = session.range(n, numPartitions=4).select(y.cast("double").alias("y"), *columns).cache()
    frame.count()
    return frame


GROUPS = (
    *(dense, wide, counts, raw_texts, small, rows, batches, stream, missing, tables, leave_one_out),
    *(model_files, databases, dask_arrays, spark_frames),
)
