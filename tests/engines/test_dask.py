"""Dask frames and arrays give the model that one table in memory gives, however they are cut and whoever dies."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from threading import Thread

import numpy as np
import pandas as pd
import pytest

import suffit
from suffit.data.errors import InputError
from suffit.engines import fit_dask, predict_dask

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
da = pytest.importorskip("dask.array")

N = 600


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Mixed columns with missing values, sorted by class: a class and a category are in some partitions only."""
    rng = np.random.default_rng(3)
    k = np.sort(rng.choice(3, N, p=[0.5, 0.45, 0.05]))
    frame = pd.DataFrame(
        {
            "size": rng.normal(k, 1.0),
            "width": rng.normal(size=N),
            "visits": rng.poisson(3 + k),
            "city": np.where(k == 2, "own", np.array(["Bern", "Chur", "Basel"])[rng.choice(3, N)]),
            "member": rng.random(N) < 0.3 + 0.2 * k,
            "outcome": np.array(["early", "late", "rare"])[k],
        }
    )
    frame["width"] += 0.8 * frame["size"]
    for name in ("size", "width", "city"):
        frame.loc[rng.random(N) < 0.1, name] = None
    return frame


def cut(frame: pd.DataFrame, edges: list[int]):
    """A Dask frame of these partitions, some of which may be empty."""
    pieces = [frame.iloc[a:b] for a, b in zip([0, *edges], [*edges, len(frame)], strict=True)]
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0], verify_meta=False)


def same_sums(one, other, rtol: float = 1e-10) -> None:
    a, b = one._model, other._model
    assert a.classes == b.classes
    assert a.counts["n"].tolist() == b.counts["n"].tolist()
    for mine, theirs in zip(*(getattr(m.sums, "parts", [m.sums]) for m in (a, b)), strict=True):
        assert mine.isclose(theirs, rtol)
        for name in {"n", "count", "part_n", "pair_n"} & mine.sums.keys():
            assert mine[name].tolist() == theirs[name].tolist()


CUTS = [[], [300], [1, 2, 299, 570], [0, 0, 600], list(range(40, 600, 40))]
JOINT = {("size", "width"): suffit.MultivariateGaussian(tie=0.4)}


@pytest.mark.parametrize("edges", CUTS, ids=str)
@pytest.mark.parametrize("settings", [{"structure": "naive"}, {"columns": JOINT}, {}], ids=["naive", "joint", "pool"])
def test_any_partitions_give_the_model_of_one_table(table, edges, settings):
    X, y = table.drop(columns="outcome"), table["outcome"]
    whole = suffit.GenerativeClassifier(**settings).fit(X, y)
    with dask.config.set(scheduler="threads"):
        model = fit_dask(whole, cut(table, edges), "outcome")  # with the same choices
    same_sums(whole, model)
    assert np.abs(whole.predict_proba(X) - model.predict_proba(X)).max() < 1e-10


def test_what_is_chosen_from_values_does_not_depend_on_the_partitions(table):
    estimator = suffit.GenerativeClassifier(structure="naive")
    models = [fit_dask(estimator, cut(table, edges), "outcome") for edges in CUTS]
    X, y = table.drop(columns="outcome"), table["outcome"]
    whole = estimator.fit(X, y)
    for model in models:
        assert str(model.schema_) == str(whole.schema_)
        same_sums(whole, model)
        assert np.abs(whole.predict_proba(X) - model.predict_proba(X)).max() < 1e-10


def test_arrays_in_chunks_of_rows_and_columns_give_the_same_model(table):
    X, y = table[["size", "width", "visits"]].to_numpy(float), table["outcome"].to_numpy(str)
    w = np.random.default_rng(0).integers(0, 3, N).astype(float)
    rows, labels, weights = da.from_array(X, chunks=(70, 2)), da.from_array(y, chunks=100), da.from_array(w, chunks=N)
    for estimator in (suffit.GaussianNB(), suffit.LinearDiscriminantAnalysis(), suffit.NaiveBayes("binned")):
        here = type(estimator)(**estimator.get_params())
        same_sums(here.fit(X, y), fit_dask(estimator, rows, labels))
        same_sums(here.fit(X, y, w), fit_dask(estimator, rows, labels, weights))
    p = predict_dask(here, rows)
    assert p.chunks == (rows.chunks[0], (3,))
    assert np.abs(p.compute() - here.predict_proba(X)).max() < 1e-12


def test_predictions_are_further_columns_and_the_types_are_known_before(table):
    X, y = table.drop(columns="outcome"), table["outcome"]
    model = suffit.GenerativeClassifier(structure="naive").fit(X, y)
    frame = predict_dask(model, cut(table, [0, 200]), keep=["visits"])
    assert list(frame.columns) == ["visits", "predicted", "p(early)", "p(late)", "p(rare)"]
    done = frame.compute()
    assert done.dtypes.tolist() == frame.dtypes.tolist()
    assert np.abs(done.iloc[:, 2:].to_numpy() - model.predict_proba(X)).max() < 1e-12
    assert done["predicted"].tolist() == model.predict(X).tolist()


def test_weights_are_a_column(table):
    w = np.random.default_rng(0).integers(0, 3, N).astype(float)
    estimator = suffit.GenerativeClassifier(structure="naive").fit(table.drop(columns="outcome"), table["outcome"], w)
    same_sums(estimator, fit_dask(estimator, cut(table.assign(w=w), [150, 400]), "outcome", "w"))


def test_what_is_wrong_is_said_with_the_partition(table):
    with pytest.raises(InputError, match=r"there is no column 'outcom'; did you mean 'outcome'\?"):
        fit_dask(suffit.GaussianNB(), cut(table, [300]), "outcom")
    odd = table[["size", "outcome"]].assign(size=lambda t: t["size"].where(t.index != 310, np.inf))
    with pytest.raises(InputError, match=r"partition 1: Input X contains infinity: column 'size'.* row 10"):
        fit_dask(suffit.GaussianNB(), cut(odd, [300]), "outcome")
    X = da.from_array(np.ones((10, 2)), chunks=5)
    with pytest.raises(InputError, match="X has 10 rows, target has 8"):
        fit_dask(suffit.GaussianNB(), X, da.from_array(np.arange(8), chunks=5))
    with pytest.raises(InputError, match="target: expected a Dask array"):
        fit_dask(suffit.GaussianNB(), X, np.arange(10))


def slowly(part: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Leaves a mark that it was here."""
    time.sleep(0.1)
    (folder / f"{os.getpid()} {part.index[0]}").touch()
    return part


def test_a_worker_that_dies_midway_changes_nothing(table, tmp_path):
    distributed = pytest.importorskip("distributed")
    whole = suffit.GenerativeClassifier(structure="naive").fit(table.drop(columns="outcome"), table["outcome"])
    rows = cut(table, list(range(25, 600, 25)))
    undisturbed = fit_dask(whole, rows, "outcome")
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        victim = next(iter(client.run(os.getpid).values()))

        def kill() -> None:
            while len(list(tmp_path.glob(f"{victim} *"))) < 4:
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)

        killer = Thread(target=kill, daemon=True)
        killer.start()
        model = fit_dask(whole, rows.map_partitions(slowly, tmp_path, meta=table.iloc[:0]), "outcome")
        killer.join(30)
        assert not killer.is_alive()
    assert 4 <= len(list(tmp_path.glob(f"{victim} *"))) < 24
    same_sums(whole, model)
    same_sums(undisturbed, model, rtol=0.0)
