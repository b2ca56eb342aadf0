"""Files that are damaged in the middle: every engine finds out only when it reads the rows."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsample import rank_features
from offsample.tables import read_table


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"x": [1.0, 2.5, None], "y": ["a", "b", "a"]}), path, compression="none")
    return path.read_bytes()


@pytest.mark.parametrize("engine", [None, "polars"])
def test_a_file_that_is_damaged_anywhere_is_read_or_refused_by_name(tmp_path, whole, engine):
    path = tmp_path / "damaged.parquet"
    refusals = []
    for place in range(4, 160, 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        for read in (
            lambda: read_table(path, engine=engine),
            lambda: rank_features(path, "y") if engine is None else None,
        ):
            try:
                read()
            except ValueError as error:
                refusals.append(str(error))
    assert len(refusals) > 20
    # Read, but with other values: the target may have become one class.
    assert [said for said in refusals if "damaged.parquet" not in said and "target" not in said] == []


def test_a_header_that_engines_read_otherwise(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"a\rb,y\n1,no\n2,yes\n")
    for engine in (None, "polars"):
        with pytest.raises(ValueError, match=r"table\.csv' cannot be read as CSV: line 2 has 2 fields"):
            read_table(path, engine=engine)
