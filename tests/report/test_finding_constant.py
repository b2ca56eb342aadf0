import numpy as np

from offsample.report._study import Options, Study
from offsample.report.findings import constant


def test_one_value_or_none_at_all():
    n = 40
    table = {
        "one": ["a"] * n,
        "number": [3.5] * n,
        "missing": [None] * n,
        "nan": np.full(n, np.nan),
        "rare": ["a"] * (n - 1) + ["b"],
        "sometimes missing": ["a"] * (n - 1) + [None],
        "y": ["n", "p"] * (n // 2),
    }
    found = constant.find(Study(table, "y", Options()))
    assert set(found) == {"one", "number", "missing", "nan"}
    assert found["one"].message == "one has the same value in every row."
    assert found["missing"].message == "missing has no value in any row."
