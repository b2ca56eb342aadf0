"""Two columns of one name: one sentence that names it, wherever a dataframe comes in."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import offsample
from offsample.expected_error import size_forecast
from offsample.margin import sufficient_columns
from offsample.tables import read_table

Y = np.random.default_rng(0).integers(0, 2, 40)
TABLES = {
    "pandas": pd.DataFrame(np.column_stack([Y, Y, Y]), columns=["same", "other", "same"]),
    "pyarrow": pa.table([pa.array(Y)] * 3, names=["same", "other", "same"]),
}
DOORS = {
    "rank_features": lambda table: offsample.rank_features(table, "other"),
    "report": lambda table: offsample.report(table, "other", fast=True),
    "read_table": read_table,
    "sufficient_columns": lambda table: sufficient_columns(table, Y),
    "size_forecast": lambda table: size_forecast(table, Y),
    "audit_search": offsample.audit_search,
    **{
        name: lambda table, name=name: getattr(offsample, name)().fit(table, Y)
        for name in (
            "TreeClassifier", "DecisionListClassifier", "StochasticTreeClassifier", "FeatureRanker", "Relief",
            "BoostedPerceptronClassifier",
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("door", DOORS)
def test_the_name_is_said(kind, door):
    with pytest.raises(
        ValueError, match=r"^2 columns are named 'same': expected different names; rename one$"
    ):
        DOORS[door](TABLES[kind])


@pytest.mark.parametrize("read", [read_table, lambda query: offsample.rank_features(query, "y")])
def test_a_query_with_two_columns_of_one_name_is_refused(tmp_path, monkeypatch, read):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"word": ["a", "b"] * 20, "y": [0, 1] * 20}).to_csv("t.csv", index=False)
    with pytest.raises(
        ValueError, match=r"^2 columns are named 'word': expected different names; rename one$"
    ):
        read("SELECT 1 AS word, word, y FROM 't.csv'")
