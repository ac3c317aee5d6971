"""A family knows what its columns are called, however it comes to be there."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import suffit
from suffit.core.model import Model
from suffit.data.labels import Index
from suffit.data.rows import Rows
from suffit.data.validate import UNNAMED
from suffit.families import Bernoulli, Binned, Gamma, Gaussian, LogNormal, MultivariateGaussian, Poisson
from suffit.families.gaussian.auto import AnyGaussian

NAMES = ("height", "weight")
X = np.random.default_rng(0).gamma(3.0, 2.0, (40, 2)).round(2) + 0.01
ROWS = Rows(Index.of("ab"), np.arange(40, dtype=np.int32) % 2)


@pytest.mark.parametrize(
    "family",
    [
        Poisson(),
        Poisson(alpha="loo"),
        Bernoulli(alpha="evidence"),
        Binned(how="quantile"),
        Gamma(),
        LogNormal(),
        MultivariateGaussian(tie="loo", shrinkage="loo"),
        AnyGaussian(),
    ],
    ids=repr,
)
def test_a_model_and_whatever_is_made_of_it_have_the_names(family):
    x = np.round(X) if isinstance(family, Poisson) else X
    model = Model.first(family, NAMES, x, ROWS)
    others = [
        model.learn(x, ROWS),
        Model.empty(family, NAMES).learn(x, ROWS),
        model.forget(x[:3], ROWS.some(np.arange(3))),
        model * 0.5,
        model + replace(model, family=replace(model.family)),
    ]
    for one in (model, *others):
        assert one.family.columns == NAMES
        scorer = one.solved(np.log([0.5, 0.5])).scorer
        assert tuple(scorer.columns) == NAMES
        assert all(any(name in c for name in NAMES) for p in scorer.parameters() for c in p.columns)
    assert family.columns is UNNAMED  # what the user holds stays as it is


def test_other_settings_of_the_same_columns():
    family = Poisson(alpha=2.0).of(NAMES)
    assert family.having(alpha=1.0) == Poisson(alpha=1.0)
    assert family.having(alpha=1.0).columns is NAMES
    assert family.of(NAMES) is family


def test_names_are_no_setting():
    family = Gaussian().of(NAMES)
    assert family == Gaussian()
    assert hash(family) == hash(Gaussian())
    assert repr(family) == repr(Gaussian())
    assert family.statistic == Gaussian().statistic
    assert pickle.loads(pickle.dumps(family)).columns == NAMES


def test_a_family_that_nobody_has_named_the_columns_of_says_which_it_is():
    with pytest.raises(suffit.InputError, match=r"column 'x1': poisson needs x ≥ 0 .* found -3.0 in row 5"):
        Poisson().collect(np.where(np.arange(80).reshape(40, 2) == 11, -3.0, 1.0), ROWS)
    assert list(UNNAMED) == []


def test_a_family_that_is_made_anew_by_dataclasses_has_the_names_of_its_model():
    @dataclass(frozen=True)
    class Doubled(Poisson):
        key: ClassVar[str] = "doubled"
        unit: float = 1.0

        @property
        def is_tuned(self):
            return self.unit != 1.0

        def tuned(self, X, rows):
            return replace(self, unit=2.0)

    model = Model.first(Doubled(), NAMES, np.round(X), ROWS)
    with pytest.raises(suffit.InputError, match="column 'weight': doubled"):
        model.learn(np.array([[1.0, -1.0]]), Rows(Index.of("a"), np.zeros(1, np.int32)))


def test_blocks_of_a_table_name_their_own_columns():
    table = {"n": np.round(X[:, 0]), "x": X[:, 1]}
    model = suffit.GenerativeClassifier(columns={"n": Poisson(), "x": Gamma()}).fit(table, np.array(list("ab") * 20))
    found = {block.columns: block.family.columns for block in model._model.family.blocks}
    assert found
    assert all(names == own for own, names in found.items())
    with pytest.raises(suffit.InputError, match="column 'x': gamma needs x > 0"):
        model.predict({"n": [1.0], "x": [-1.0]})


@pytest.mark.parametrize("body", [{"columns": 3}, {"__annotations__": {"columns": int}}])
def test_a_setting_cannot_be_called_as_the_names_are(body):
    with pytest.raises(TypeError, match=r"Ranked\.columns: these are the names of its columns; call the setting other"):
        type("Ranked", (Poisson,), body)


def test_settings_in_slots_are_refused_where_they_would_be_lost():
    with pytest.raises(TypeError, match=r"Ranked: what it holds must be in its __dict__; leave slots=True away"):

        @dataclass(frozen=True, slots=True)
        class Ranked(Poisson):
            floor: float = 2.0
