import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offsample.tables import EncodedTable, TableEncoder, read_blocks, read_table

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


PRICES = [f"${number:,.2f}" for number in np.linspace(1, 5000, 50)]
DAYS = [f"{day:02d}/{month:02d}/2023" for month in range(1, 13) for day in (1, 9, 20, 28)]
ON_A_DAY = 1_675_123_200_000_000.0  # microseconds of January 31st, 2023


@pytest.mark.parametrize(
    ("fitted", "new", "codes"),
    [
        (PRICES, ["$1,600.00", "n/a", None], [1600, np.nan, np.nan]),
        (PRICES, ["1600.00", ""], [1600, np.nan]),
        (PRICES, [1600.0, True], [1600, 1]),
        ([30.0, 40.0], ["30", "n/a"], [30, np.nan]),
        ([30.0, 40.0], [True, "FALSE"], [1, 0]),
        (["A1", "7", "12"], [7, 12.0, 99], [1, 0, 4]),
        (["A1", "7", "12"], [7, "A1", ""], [1, 2, 3]),
        (["007", "7a"], [7], [3]),  # "7" is another code than "007"
        ([True, False], ["TRUE", "false", "maybe"], [1, 0, 3]),
        ([True, False], [1, 0.0, None], [1, 0, 2]),
        (["TRUE", "FALSE"], [True, False], [1, 0]),
        (["TRUE", "FALSE"], ["true", 0], [1, 0]),
        (DAYS, ["31/01/2023", "2023-01-31"], [ON_A_DAY, ON_A_DAY]),
        (DAYS, np.array(["2023-01-31"], "datetime64[s]"), [ON_A_DAY]),
        (DAYS, [1_675_123_200], [ON_A_DAY]),
        (DAYS, ["1675123200", "2023-01-31"], [ON_A_DAY] * 2),
        (DAYS, [1_675_123_200, 1_675_123_200_000, 1_675_123_200_000_000], [ON_A_DAY] * 3),
        (np.array(["2023-01-01"] * 3, "datetime64[D]"), [1_675_123_200_000], [ON_A_DAY]),
    ],
)
def test_a_column_is_read_as_what_it_was(fitted, new, codes):
    (column,) = TableEncoder().fit({"c": fitted}).transform({"c": new})
    np.testing.assert_array_equal(column.values, codes)
    assert column.unread is None


@pytest.mark.parametrize(
    ("fitted", "new", "said"),
    [
        (PRICES, ["1.600,00 €"] * 3, r"3 of 3 values cannot be read as numbers, in \$.*such as '1.600,00 €'"),
        (
            DAYS,
            ["01/31/2023", "02/28/2023", "03/02/2023"],
            "2 of 3 values cannot be read as dates, day first",
        ),
        (DAYS, [5], "1 of 1 values cannot be read as dates"),
        ([30.0, 40.0], np.array(["2023-01-31"], "datetime64[D]"), "cannot be read as numbers"),
        ([30.0, 40.0], ["60,5", "1,234", "30 %"], "3 of 3 values cannot be read as numbers"),
        (np.array(["2023-01-01"] * 3, "datetime64[D]"), ["31/01/2023"] * 2, "2 of 2 values cannot be read"),
    ],
)
def test_what_is_mostly_something_else_is_missing_and_said(fitted, new, said):
    """Whatever else is in the column: an error would depend on the rows that come together."""
    with pytest.warns(UserWarning, match=rf"{said}.*convert the column to the type that it had"):
        (column,) = TableEncoder().fit({"c": fitted}).transform({"c": new})
    np.testing.assert_array_equal(np.isnan(column.values), column.unread)


def test_numbers_in_the_place_of_names_are_refused():
    with pytest.raises(ValueError, match=r"column 'c' is numeric here, such as 1.5, but was categorical"):
        list(TableEncoder().fit({"c": ["Rome", "Oslo"]}).transform({"c": [1.5]}))


def test_few_values_that_cannot_be_read_are_said():
    with pytest.warns(UserWarning, match="column 'c': 1 of 3 values cannot be read .* such as 'call us'"):
        (column,) = TableEncoder().fit({"c": PRICES}).transform({"c": ["$1", "call us", None, "$2"]})
    assert column.unread.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(column.values, [1, np.nan, np.nan, 2])


def test_rows_are_the_same_in_every_file(tmp_path):
    """Fitted to CSV, which says of no column what it is."""
    rows = {
        "flag": ["TRUE", "FALSE", "TRUE"] * 20,
        "dept": ["007", "100", "101"] * 20,
        "price": [f"{number}.{number % 9}00,50" for number in range(10, 70)],
        "day": [f"{1 + i % 28:02d}/{1 + i % 12:02d}/2023" for i in range(60)],
    }
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "all.csv", index=False)
    known = EncodedTable.of(read_table(tmp_path / "all.csv"))
    few = frame[frame["dept"] != "007"].head(4).assign(price=["1.500", "2.500", "3.250", "n/a"])
    few.to_csv(tmp_path / "few.csv", index=False)
    few.to_parquet(tmp_path / "few.parquet")
    few.to_feather(tmp_path / "few.feather")
    few.to_json(tmp_path / "few.jsonl", orient="records", lines=True)
    few.to_excel(tmp_path / "few.xlsx", index=False)
    with closing(sqlite3.connect(tmp_path / "few.sqlite")) as database:
        few.assign(flag=few["flag"] == "TRUE").to_sql("few", database, index=False)
    found = {}
    for path in sorted(tmp_path.glob("few.*")):
        (block,) = read_blocks(path, as_text=known.texts)
        found[path.suffix] = known.encode(block)
    assert len(found) == 6
    for table in found.values():
        np.testing.assert_array_equal(table["flag"], [0, 1, 0, 1])
        np.testing.assert_array_equal(table["dept"], [1, 2, 1, 2])
        np.testing.assert_array_equal(table["price"], [1500, 2500, 3250, np.nan])
        np.testing.assert_array_equal(table["day"], found[".csv"]["day"])
    assert np.isfinite(found[".csv"]["day"]).all()
