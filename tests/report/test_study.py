"""What the sections share: rows, classes, cells, time."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offsample.datasets import make_customers
from offsample.report._study import Options, Study


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "path", "array"])
def test_rows_and_classes_whatever_holds_them(tmp_path, kind):
    columns = {"x": [1.0, 2.0, None, 4.0] * 5, "c": ["a", "b", None, "a"] * 5, "y": ["n", None, "p", "n"] * 5}
    frame = pd.DataFrame(columns)
    frame.to_parquet(tmp_path / "t.parquet")
    array = np.array([columns["x"], columns["c"], columns["y"]], dtype=object).T
    source = {
        "dict": columns,
        "pandas": frame,
        "polars": pl.DataFrame(columns),
        "path": tmp_path / "t.parquet",
        "array": pd.DataFrame(array, columns=list(columns)),
    }[kind]
    study = Study(source, "y", Options())
    assert study.y.tolist() == ["n", "p", "n"] * 5
    assert list(study.X) == ["x", "c"]
    assert {f.name for f in study.ranking} == {"x", "c"}
    assert study.ranking.n_dropped == 5
    codes, n_cells = study.cells("c")
    assert (len(codes), n_cells) == (15, 2)
    assert study.majority_error == pytest.approx(1 / 3)


def test_the_sample_keeps_the_shares_and_columns_are_counted_on_all_rows():
    table = make_customers(5000)
    study = Study(table, "churned", Options(max_rows=1000))
    assert abs(len(study.y) - 1000) <= 1
    assert study.ranking.n_samples == 5000
    share = np.mean(table["churned"] == "yes")
    assert np.mean(study.y == "yes") == pytest.approx(share, abs=0.001)


def test_numbers_are_cut_into_equal_bins_and_missing_is_one_more():
    values = np.concatenate([np.arange(1600.0), np.full(100, np.nan)])
    study = Study({"x": values, "y": np.arange(1700) % 2}, "y", Options())
    codes, n_cells = study.cells("x")
    assert n_cells == 17
    assert np.bincount(codes).tolist() == [100] * 17


def test_ignored_columns_are_gone():
    study = Study(make_customers(300), "churned", Options(ignore=("city", "age")))
    assert not {"city", "age"} & set(study.X)
    with pytest.raises(ValueError, match="column 'town' to ignore is not in the table"):
        _ = Study(make_customers(300), "churned", Options(ignore=("town",))).ranking


def test_the_time_limit_is_noted():
    study = Study({"x": [1, 2], "y": [0, 1]}, "y", Options(time_limit=1e-9))
    assert not study.has_time_for("something")
    assert study.skipped == ["something: the time limit of 1e-09 s was reached"]
