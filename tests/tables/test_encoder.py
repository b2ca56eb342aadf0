import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offsample.tables import TableEncoder

COLUMNS = {"s": ["b", "a", None, "c"], "n": [1.5, None, 2.0, 3.0], "t": [True, False, True, True]}


def tables():
    pandas = pd.DataFrame(COLUMNS)
    array = np.empty((4, 3), object)
    for j, values in enumerate(COLUMNS.values()):
        array[:, j] = values
    return {
        "dict": COLUMNS,
        "pandas": pandas,
        "category": pandas.astype({"s": "category"}),
        "polars": pl.DataFrame(COLUMNS),
        "pyarrow": pa.table(COLUMNS),
        "array": array,
    }


@pytest.mark.parametrize("name", tables())
def test_codes_do_not_depend_on_the_library(name):
    encoder = TableEncoder()
    columns = list(encoder.fit_transform(tables()[name]))
    assert encoder.kinds == ["categorical", "numeric", "categorical"]
    assert columns[0].values.tolist() == [1, 0, 3, 2]
    np.testing.assert_array_equal(columns[1].values, [1.5, np.nan, 2, 3])
    assert columns[2].values.tolist() == [1, 0, 1, 1]
    for first, second in zip(columns, encoder.transform(tables()[name]), strict=True):
        np.testing.assert_array_equal(first.values, second.values)


def test_unseen_missing_and_column_choice():
    encoder = TableEncoder().fit(tables()["pandas"])
    new = pl.DataFrame({"s": ["z", None, "a"], "n": [1, None, 2]})
    s, n = encoder.transform(new, only={"s", "n"})
    assert s.values.tolist() == [4, 3, 0]
    np.testing.assert_array_equal(n.values, [1, np.nan, 2])
    with pytest.raises(ValueError, match="feature 't' is not a column"):
        list(encoder.transform(new))


def test_a_column_without_values_says_nothing_of_its_kind():
    encoder = TableEncoder().fit(tables()["pandas"])
    (s,) = encoder.transform(pd.DataFrame({"s": [np.nan, np.nan]}), only={"s"})
    assert s.values.tolist() == [3, 3]


def test_declared_columns_may_hold_numbers():
    encoder = TableEncoder(["x0"])
    first, second = encoder.fit_transform(np.array([[3, 1], [1, 1], [3, 2]]))
    assert first.values.tolist() == [1, 0, 1]
    assert second.kind == "numeric"
    (first, _) = encoder.transform(np.array([[1.0, 5.0]]))  # the same number in another type
    assert first.values.tolist() == [0]


@pytest.mark.parametrize("categorical", ["some", ["nowhere"], np.array([True])])
def test_a_bad_declaration_is_named(categorical):
    with pytest.raises(ValueError, match="categorical"):
        TableEncoder(categorical).fit(COLUMNS)


def test_loads_without_pandas():
    blob = pickle.dumps(TableEncoder().fit(tables()["pandas"]))
    code = (
        f"import pickle, sys; encoder = pickle.loads({blob!r}); print(encoder.kinds, 'pandas' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found == "['categorical', 'numeric', 'categorical'] False\n"
