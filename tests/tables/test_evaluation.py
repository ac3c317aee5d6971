"""Blocks of a table compared on rows that are not theirs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from suffit import Binned
from suffit.data.frame import read_frame
from suffit.data.rows import Rows
from suffit.tables.evaluation import Held
from suffit.tables.row_sample import keyed
from suffit.tables.schema import BlockSpec


def test_two_kinds_of_bins_of_the_same_columns_have_edges_of_their_own():
    rng = np.random.default_rng(0)
    frame, rows = read_frame(pd.DataFrame({"x": rng.normal(size=9_000)})), Rows.of(np.arange(9_000) % 2)
    held = Held(frame, rows, keyed(frame, ["x"], rows), rows.counts())
    few, many = (BlockSpec(Binned(how="quantile", bins=b), ("x",), "numbers") for b in (3, 8))
    for spec in (few, many):
        held.scores([spec], slice(0, held.compared))
    assert [len(held.cut(spec).family.edges[0]) for spec in (few, many)] == [2, 7]
