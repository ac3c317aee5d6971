"""Files of tables a few megabytes at a time: what has been read does not stay in memory."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, feather, parquet

from suffit.data.errors import InputError
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


@pytest.mark.parametrize("named", ["t.csv", "t.jsonl", "t.arrow", "t.parquet"])
@pytest.mark.parametrize("stored", ["parquet", "arrow", "jsonl"])
def test_a_file_that_is_another_kind_than_its_name_says_is_refused_with_the_kind_it_is(tmp_path, named, stored):
    """Parquet named .csv was once taken for text in another encoding."""
    path, table = tmp_path / named, pa.table({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
    if stored == "parquet":
        parquet.write_table(table, path)
    elif stored == "arrow":
        feather.write_feather(table, path, compression="uncompressed")
    else:
        path.write_text('{"x": 1.0, "y": "a"}\n{"x": 2.0, "y": "b"}\n')
    if named.endswith(stored):
        assert sum(table.num_rows for table in read_files(path).tables()) >= 2
        return
    with pytest.raises(InputError, match=rf"{named}: .* first bytes, not .*kind='{stored}' \(--format {stored}\)"):
        list(read_files(path).tables())
    assert sum(table.num_rows for table in read_files(path, kind=stored).tables()) >= 2


@pytest.mark.parametrize("named", ["t.parquet", "t.arrow"])
def test_text_that_is_named_as_a_binary_table_is_refused_with_the_way_out(tmp_path, named):
    (tmp_path / named).write_text("x,y\n1.0,a\n2.0,b\n")
    with pytest.raises(InputError, match=r"if it holds text, read it with kind='csv' \(--format csv\)"):
        list(read_files(tmp_path / named).tables())
