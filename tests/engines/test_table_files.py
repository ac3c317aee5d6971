"""Files of tables a few megabytes at a time: what has been read does not stay in memory."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

from suffit.engines.sources import Batches, read_files


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 MB in row groups of a quarter of one, which cannot be compressed."""
    path = tmp_path_factory.mktemp("large") / "t.parquet"
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.random(1_000_000) for j in range(6)})
    parquet.write_table(table, path, row_group_size=5_000, compression="none", use_dictionary=False)
    return path


@pytest.mark.parametrize("source", ["file", "dataset"])
@pytest.mark.parametrize("pause", [0.0, 0.002])
def test_parquet_is_read_in_bounded_memory(large: Path, source: str, pause: float):
    """However slow the reader is: what it has not asked for does not wait in memory."""
    before, most, rows = pa.total_allocated_bytes(), 0, 0
    tables = read_files(large).tables() if source == "file" else Batches(dataset.dataset(large)).tables()
    for table in tables:
        rows += table.num_rows
        time.sleep(pause)
        most = max(most, pa.total_allocated_bytes() - before)
    assert rows == 1_000_000
    assert most < large.stat().st_size / 2
