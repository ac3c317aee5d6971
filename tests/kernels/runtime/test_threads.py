"""Threads, forks, spawned processes, interrupts, and compiling where the disk does not help."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import suffit
from cases import two_classes

ROWS, COLUMNS = 60_000, 20


def big(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=ROWS)
    return rng.normal(size=(ROWS, COLUMNS)) + y[:, None], y


def fit_and_predict(seed: int) -> np.ndarray:
    X, y = big(seed)
    return suffit.LDA().fit(X, y).predict_proba(X[:50])


def run(script: str, **env: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True, text=True, timeout=300, env={**os.environ, **env},
    )  # fmt: skip


def test_sixteen_threads_fit_and_predict_different_models():
    expected = [fit_and_predict(seed) for seed in range(4)]
    with ThreadPoolExecutor(16) as pool:
        for i, got in enumerate(pool.map(lambda i: fit_and_predict(i % 4), range(32))):
            np.testing.assert_array_equal(got, expected[i % 4])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_can_go_on():
    before = fit_and_predict(0)  # the pool of the parent is up
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        for got in pool.map(fit_and_predict, [0, 0]):
            np.testing.assert_array_equal(got, before)


def test_a_spawned_child_computes_the_same():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(fit_and_predict, 1).result(), fit_and_predict(1))


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_runs_cross_validation(backend):
    from joblib import parallel_backend
    from sklearn.model_selection import cross_val_score

    X, y = big()
    with parallel_backend(backend, n_jobs=2):
        scores = cross_val_score(suffit.QDA(), X[:3000], y[:3000], cv=4)
    np.testing.assert_array_equal(scores, cross_val_score(suffit.QDA(), X[:3000], y[:3000], cv=4))


INTERRUPTS = """
import signal, sys, threading, time
import numpy as np, suffit
make, method = getattr(suffit, sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
y = rng.integers(0, 3, size=1_200_000)
X = rng.normal(size=(len(y), 20)) + y[:, None]
start = lambda: make().fit(X[:1000], y[:1000])
before, after = start(), getattr(start(), method)(X, y)
inside = 0
for delay in np.linspace(0.0005, 0.02, 16):
    model = start()
    timer = threading.Timer(delay, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        getattr(model, method)(X, y)
        timer.join()
        time.sleep(0.05)  # a call that was quicker is interrupted here
    except KeyboardInterrupt:
        pass
    timer.join()
    done = model.class_count_.sum() == after.class_count_.sum()
    inside += not done
    for name, sums in model._model.sums.sums.items():
        assert np.array_equal(sums, (after if done else before)._model.sums[name]), (delay, name)
print("inside", inside)
"""


@pytest.mark.parametrize(("make", "method"), [("GaussianNB", "partial_fit"), ("QDA", "fit")])
def test_an_interrupt_leaves_the_old_model_or_the_new_one(make, method):
    """In a process of its own: a signal that comes late must not stop the test run."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTS, make, method], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 0, "no interrupt fell into the call: make the data larger"


@pytest.mark.parametrize("number", [1, 3])
def test_the_number_of_threads_can_be_set_from_outside(number):
    done = run(
        "from suffit.kernels.runtime.threads import cores; print(cores())",
        SUFFIT_NUM_THREADS=str(number),
    )
    assert done.stdout.strip() == str(number)


def test_blas_threads_are_as_before_after_a_call():
    from threadpoolctl import threadpool_info

    def blas() -> list[int]:
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    before = blas()
    X, y = big()
    suffit.QDA().fit(X, y).predict_proba(X)
    assert blas() == before


def test_one_thread_is_one_thread_of_blas_too():
    from threadpoolctl import threadpool_info

    from suffit.kernels.runtime.threads import one_blas_thread

    suffit.set_threads(1)
    try:
        with one_blas_thread():
            assert {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"} == {1}
    finally:
        suffit.set_threads(None)


INTERRUPTED = """
    import signal
    import numpy as np
    from threadpoolctl import threadpool_info
    import suffit

    def interrupt(*_):
        raise KeyboardInterrupt

    def blas():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 20)), rng.integers(0, 4, 60_000)
    model = suffit.{model}()
    expected = model.fit(X, y).predict_proba(X[:50])
    before, interrupted = blas(), 0
    signal.signal(signal.SIGALRM, interrupt)
    for _ in range(250):
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(2e-6, {longest}))
            model.fit(X, y).predict_proba(X)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        assert (model.fit(X, y).predict_proba(X[:50]) == expected).all()
        assert blas() == before, blas()
    print(interrupted)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no timer that interrupts")
@pytest.mark.parametrize(("model", "longest"), [("GaussianNB", 0.004), ("LDA", 0.02)])
def test_no_interrupt_leaves_threads_that_hang_or_blas_slower(model, longest):
    done = run(INTERRUPTED.format(model=model, longest=longest))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 12


@pytest.mark.parametrize("make", [suffit.GaussianNB, lambda: suffit.NaiveBayes("lognormal"), suffit.LDA])
@pytest.mark.parametrize("row", [0, 5001])
def test_one_missing_value_makes_the_same_sums_whichever_thread_finds_it(make, row):
    rng = np.random.default_rng(0)
    X, y = np.exp(rng.normal(size=(20_000, 128))), rng.integers(0, 3, 20_000)
    X[row, 3] = np.nan
    suffit.set_threads(1)
    try:
        expected = make().fit(X, y).predict_log_proba(X[:100])
        suffit.set_threads(4)
        for _ in range(10):
            np.testing.assert_array_equal(make().fit(X, y).predict_log_proba(X[:100]), expected)
    finally:
        suffit.set_threads(None)


def test_settings_of_threads_that_are_no_numbers():
    suffit.set_threads(np.int64(2))
    suffit.set_threads(None)
    for wrong in (True, 0, 1.5, "2"):
        with pytest.raises(ValueError, match="an integer of at least 1"):
            suffit.set_threads(wrong)
    done = run("from suffit.kernels.runtime.threads import cores; print(cores())", SUFFIT_NUM_THREADS="²")
    assert int(done.stdout) >= 1


FIRST_USED_IN_WORKERS = """
    import threading
    import numpy as np
    import scipy.linalg.blas
    from threadpoolctl import threadpool_info, threadpool_limits
    import suffit

    def blas():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    def in_threads(work, n=1):
        threads = [threading.Thread(target=work) for _ in range(n)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), np.arange(300) % 2
    before = blas()
    in_threads(lambda: [suffit.LDA().fit(X, y).predict(X) for _ in range(60)], 4)
    assert blas() == before, (before, blas())

    wide, y = rng.normal(size=(1200, 300)), np.arange(1200) % 3
    answers = []
    def answer():
        models = [make().fit(wide, y) for make in (suffit.LDA, suffit.QDA, suffit.GDA)]
        answers.append([model.predict_joint_log_proba(wide) for model in models])
    answer()
    in_threads(answer)
    assert blas() == before, (before, blas())
    for in_main, in_worker in zip(*answers):
        assert np.array_equal(in_main, in_worker)

    limited = []  # what suffit does to BLAS leaves the limits of others in force, in any thread
    def limit():
        with threadpool_limits(1, user_api="blas"):
            limited.append(blas())
    in_threads(limit)
    limit()
    assert all(set(seen) == {1} for seen in limited), limited
    assert blas() == before
    print("ok")
"""


def test_worker_threads_that_come_first_leave_blas_as_it_was_and_compute_the_same_bits():
    done = run(FIRST_USED_IN_WORKERS)
    assert done.stdout.strip() == "ok", done.stderr


def test_a_blas_with_a_number_of_threads_for_each_thread_is_lowered_where_it_is_used(monkeypatch):
    """As MKL's is: a stand-in here, whose number belongs to the thread that asks."""
    import threading

    from suffit.kernels.runtime import threads

    own = threading.local()
    library = threads._Library(lambda: getattr(own, "n", 8), lambda n: setattr(own, "n", n))
    monkeypatch.setattr(threads, "_local", [library])

    def inside_and_after() -> list[int]:
        with threads.one_blas_thread():
            with threads.one_blas_thread():
                seen = [library.get()]
            seen.append(library.get())
        return [*seen, library.get()]

    with ThreadPoolExecutor(2) as pool:
        assert all(seen == [1, 1, 8] for seen in pool.map(lambda _: inside_and_after(), range(4)))
    suffit.set_threads(3)  # another crew
    try:
        seen = list(threads.in_order(lambda *_: (threading.current_thread().name, library.get()), [(0, 1)] * 64))
    finally:
        suffit.set_threads(None)
    assert all(n == 1 for name, n in seen if name.startswith("suffit_"))


def test_a_reader_never_sees_half_a_change():
    """predict_proba and classes_ of one estimator agree while another thread teaches it new classes."""
    rng = np.random.default_rng(0)
    model = suffit.GaussianNB().fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    stop, wrong = threading.Event(), []

    def read():
        x = rng.normal(size=(5, 3))
        while not stop.is_set():
            fitted = model._fitted
            if fitted.solution.posterior(x).shape[1] != len(fitted.classes):
                wrong.append("width")

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for c in range(2, 40):
        model.partial_fit(rng.normal(size=(3, 3)), np.full(3, c))
        model.predict(rng.normal(size=(2, 3)))
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    assert model.predict_proba(rng.normal(size=(1, 3))).shape == (1, 40)


def test_threads_can_be_set_while_others_fit():
    X, y = two_classes(200_000)
    errors = []

    def fit():
        try:
            for _ in range(20):
                suffit.GaussianNB().fit(X, y)
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=fit)
    thread.start()
    for n in range(60):
        suffit.set_threads(1 + n % 3)
    thread.join()
    suffit.set_threads(None)
    assert not errors
