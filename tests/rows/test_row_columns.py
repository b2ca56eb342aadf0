"""Codes of values, with and without sorting."""

from __future__ import annotations

import numpy as np
import pytest

from offsample.rows._columns import codes_of

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 3, 2],
        [True, False, True],
        [-5, 10**17, -5, 0],
        [0, 2**63 - 1, -(2**63)],
        [2**60 + 1, 2**60, 2**60 + 1],
        [1.0, NAN, 3.0, NAN, 1.0],
        [NAN, NAN],
        [0.5, 0.25, NAN, 0.5],
        [INF, 1.0, -INF, INF],
        [INF, INF],
        [0.0, -0.0, 1.0],
        ["b", "a", "b"],
        np.array(["2020-01-02", "2020-01-01", "NaT", "2020-01-02"], "datetime64[D]"),
        [],
    ],
)
def test_codes_are_those_of_sorted_values(values) -> None:
    column = np.array(values) if len(values) else np.zeros(0)
    codes = codes_of(column)
    assert codes.dtype == np.int64
    assert codes.tolist() == np.unique(column, return_inverse=True)[1].tolist()
