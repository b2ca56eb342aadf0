"""Text that says numbers, dates and times: read alike in Python and on every engine, and codes left alone."""

import random

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from offsample import TreeClassifier, rank_features
from offsample.export import to_python, to_sql
from offsample.tables import TableEncoder, describe_columns, read_table
from offsample.tables._meaning import recognised
from offsample.tables._ways import DateWay, EpochWay, NumberWay, TimeWay
from tests.tables.labelled_columns import KEPT, READ, verdict

ODD = [
    "",
    "-",
    "N/A",
    "abc",
    "1.2.3",
    "12",
    "1,5",
    "(3)",
    "1 2",
    "0x1f",
    "--5",
    "5-",
    "1e5",
    "1e",
    "٣",
    "１２",
]
WAYS = {
    NumberWay(): ["12", "-3.5", "1e5", "inf", "+4", ".5", "5.", "1_000", " 7 ", "-INF"],
    NumberWay(".", ",", "$"): ["$1,234.50", "-$3", "($12.25)", "$1,23", "$ 5", "5", "$-8", "$0.5", "$.5"],
    NumberWay(",", ".", "", "kg"): ["1.234,5 kg", "12kg", "-3,5 KGs", "1.2 kg", "0,5kg", "(4 kg)"],
    NumberWay(",", " ", "", "€"): ["1 234,5 €", "12\u00a0345€", "−3 €", "1\u202f000 €"],
    NumberWay(".", "'", "chf"): ["CHF 1'234.50", "chf5", "CHF 1'23"],
    DateWay("dmy", "/"): [
        "31/12/2024", "29/02/2023", "29/02/2024 10:30", "1/2/2024 11:59:59.25 PM", "1/2/2024 10:00+02:00",
        "1/2/2024 10:00 -0530", "1/13/2024", "1/1/2024 25:00", "1/1/2024 12:00 am", "0/1/2024", "1-1-2024",
        "31/04/1999", "29/2/1900", "29/2/2000", "1/1/2024 10:61", "1/1/2024, 9:05:61",
    ],
    DateWay(): ["2024-02-29T10:00:00Z", "1850-01-01", "0000-01-01", "2024-2-3", "2024-01-01 13:00 pm"],
    DateWay("dby", " "): ["3 March 2024", "12 sept 2023 9:30", "1 foo 2024", "31 Apr 2020", "1 May. 2020"],
    DateWay("bdy", " "): ["March 3, 2024", "Dec 31 1999, 9:30 pm", "Feb 30, 2020"],
    DateWay("dmY", "."): ["31.12.99", "1.2.68", "1.2.69"],
    DateWay("ymd", ""): ["20240229", "20230229", "2024022", "20240101 10:30", "18500101", "20241301"],
    DateWay("ym", "-"): ["2024-05", "2024-13", "2024-00"],
    TimeWay(): ["9:30", "23:59:59", "24:00", "12:30 am", "1:05 p.m.", "0:10 pm", "9:60"],
}  # fmt: skip


def random_texts(rng, n=150):
    """Texts of the characters that such texts have."""
    pieces = [*"$€,./-: 10()+TZ", "23", "2024", "kg", "am", "Mar"]
    return ["".join(rng.choices(pieces, k=rng.randrange(1, 8))) for _ in range(n)]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_engines_read_what_python_reads(way):
    texts = [*WAYS[way], *ODD, *random_texts(random.Random(str(way)))]
    expected = way.parse(texts)
    assert np.isfinite(expected).sum() >= 1
    for frame in (pl.LazyFrame({"v": [*texts, None]}), duckdb.from_df(pd.DataFrame({"v": [*texts, None]}))):
        read = way.on_engine(nw.from_native(frame), "v", "n").collect()["n"].to_list()
        found = np.array([np.nan if number is None else number for number in read], float)
        np.testing.assert_array_equal(found, [*expected, np.nan])


@pytest.mark.parametrize("name", [*READ, *KEPT])
def test_columns_as_people_store_them(name):
    """Of 70 kinds, six in ten such that a hasty reader converts them; see `labelled_columns`."""
    assert verdict(name, seed=1000) == "right"


def way_of(texts, name="v"):
    return recognised(np.array(texts, object), name)[1]


def test_the_reason_is_said():
    assert "begin with a zero" in way_of(["01234", "90210"] * 20).why
    assert "different units ($, €)" in way_of(["$5", "€7"] * 20).why
    assert "day-first or month-first" in way_of(["01/02/2020", "03/04/2021"] * 20).why
    assert "90% of it reads as numbers" in way_of(["1.5"] * 90 + ["words"] * 10).why
    found = way_of(["1.5"] * 97 + ["words"] * 3 + ["N/A"] * 50)
    assert (found.n_texts, found.n_read, found.way) == (100, 97, NumberWay())
    assert way_of(["1.2", "3.4"] * 20, "app_version").way is None


def test_a_mark_is_named_only_if_it_is_there():
    assert way_of(["12,50 €", "3,5 €"] * 20).why == "numbers, in €, decimal comma"
    assert way_of(["1.200,50 €", "3,5 €"] * 20).why == "numbers, in €, decimal comma, thousands by '.'"
    assert way_of(["1 200,50", "3,5"] * 20).why == "numbers, decimal comma, thousands by ' '"


def test_two_ways_that_disagree_are_none():
    """1.234 among numbers with decimal commas is a thousand; among those of a program it is not."""
    assert way_of(["1.234", "2.345"] * 20).way == NumberWay()
    assert way_of(["1.234,5", "2.345", "1,5"] * 20).way == NumberWay(",", ".")
    assert "may be" in way_of(["1.234"] * 97 + ["1,5"] * 3).why


def test_three_digits_after_every_point_may_be_thousands():
    """850 € beside 1.234 €: a thousandth of the price would be a wrong conversion."""
    euros = ["850 €", "1.234 €", "2.750 €", "999 €"] * 20
    assert way_of(euros).way is None
    assert "number:point or number:comma" in way_of(euros).why
    assert way_of(["850", "1.234", "27.500"] * 20).way is None
    assert way_of(["1.459 €", "1.234 €"] * 20).way is None  # fuel, or rent
    read = {say: recognised(np.array(euros, object), "v", say)[0] for say in ("number:point", "number:comma")}
    assert read["number:point"][:4].tolist() == [850, 1.234, 2.75, 999]
    assert read["number:comma"][:4].tolist() == [850, 1234, 2750, 999]
    for decided in ("0.125 €", "1.50 €", "1234 €", "1234.500 €", "-0.500 €"):
        assert way_of([*euros, *[decided] * 3]).way == NumberWay(".", "", "", "€")
    for plain in (["0.125", "1.500", "120"], ["1.500", "2.125", "3"], ["1.500", "2.12", "120"]):
        assert way_of(plain * 20).way == NumberWay()


def test_seconds_since_1970_only_where_the_name_says_so():
    seconds = np.arange(1_600_000_000, 1_600_000_400)
    assert recognised(seconds, "created_at")[0].dtype == "M8[us]"
    assert recognised(seconds * 1000, "timestamp")[0][0] == np.datetime64("2020-09-13T12:26:40")
    assert recognised(seconds, "customer")[0].dtype.kind == "i"
    assert recognised(seconds - 1_500_000_000, "created_at")[0].dtype.kind == "i"
    assert recognised(np.arange(1900, 2000), "date")[0].dtype.kind == "i"


def test_days_of_eight_digits_where_the_user_says_so(tmp_path):
    days = np.array([20190509, 20210822, 20200229, 20200230])
    known = np.array(["2019-05-09", "2021-08-22", "2020-02-29", "NaT"], "M8[us]")
    for stored in (days, days.astype(str).astype(object), days.astype(float)):
        assert recognised(stored, "day")[0] is stored
        for say in ("date", "date:ymd"):
            np.testing.assert_array_equal(recognised(stored, "day", say)[0], known)
    with pytest.raises(ValueError, match="cannot be read as date"):
        recognised(days + 99_000_000, "day", "date")
    table = pd.DataFrame({"day": np.tile(days[:3], 40), "y": np.tile(["a", "b", "a"], 40)})
    table.to_csv(tmp_path / "t.csv", index=False)
    for source in (table, pl.LazyFrame(table), tmp_path / "t.csv"):
        assert rank_features(source, "y", types={"day": "date"})["day"].kind == "numeric"
    for frame in (pl.LazyFrame({"v": days}), duckdb.from_df(pd.DataFrame({"v": days}))):
        read = EpochWay("ymd").on_engine(nw.from_native(frame), "v", "n").collect()["n"].to_list()
        assert [pd.NaT if one is None else pd.Timestamp(one, unit="us") for one in read] == [
            *pd.to_datetime(known)
        ]


@pytest.fixture(scope="module")
def orders():
    random = np.random.default_rng(0)
    late = random.random(600) < 0.5
    price = random.uniform(1, 900, 600) + 700 * late
    day = np.datetime64("2020-01-01") + random.integers(0, 700, 600)
    return {
        "price": [f"${one:,.2f}" for one in price],
        "day": [f"{str(one)[8:10]}/{str(one)[5:7]}/{str(one)[:4]}" for one in day],
        "zip": [f"{one:05d}" for one in random.integers(0, 99999, 600)],
        "y": np.where(late, "late", "early").tolist(),
    }


def test_a_model_reads_new_rows_in_the_same_way(orders):
    X = {name: orders[name] for name in ("price", "day")}
    model = TreeClassifier().fit(X, orders["y"])
    assert "price <= " in model.to_text()
    new = {"price": ["$1,500.00", "$2", "1500", None, "a lot"], "day": ["01/02/2021"] * 5}
    with pytest.warns(UserWarning, match="column 'price': 1 of 4 values cannot be read.*'a lot'"):
        shares = model.predict_proba(new)
    assert model.classes_[shares[:2].argmax(axis=1)].tolist() == ["late", "early"]
    assert (shares[2] == shares[0]).all()  # a number as programs write it
    assert (shares[4] == shares[3]).all()  # what cannot be read is missing
    stored = {"price": [1500.0, 2.0], "day": np.array(["2021-02-01", "2021-02-01"], "M8[D]")}
    assert (model.predict_proba(stored) == shares[:2]).all()
    for write in (to_sql, to_python):
        with pytest.raises(ValueError, match="column 'price' was read as what its text says"):
            write(model)


def test_whole_numbers_beside_none_are_moments_too():
    """Python's list, of which numpy makes objects: a user's word was ignored there."""
    encoder = TableEncoder(types={"day": "date"}).fit({"day": [1_600_000_000, None, 1_610_000_000] * 5})
    assert list(encoder.quantities) == ["moment"]
    (found,) = encoder.transform({"day": [1_600_000_000, None]})
    np.testing.assert_array_equal(found.values, [1.6e15, np.nan])


def test_types_overrule(orders):
    assert rank_features(orders, "y", types={"zip": "number"})["zip"].kind == "numeric"
    assert rank_features(orders, "y", types={"price": "category"})["price"].kind == "categorical"
    encoder = TableEncoder(types={"d": "date:mdy"}).fit({"d": ["01/02/2020", "03/04/2020"]})
    assert next(encoder.transform({"d": ["01/02/2020"]})).values == np.datetime64("2020-01-02", "us").astype(
        float
    )
    comma = next(TableEncoder(types={"d": "number:comma"}).fit_transform({"d": ["1,234", "2,500"]}))
    assert comma.values.tolist() == [1.234, 2.5]
    with pytest.raises(ValueError, match="type 'money' of column 'price' is not known"):
        rank_features(orders, "y", types={"price": "money"})
    with pytest.raises(ValueError, match="column 'y' cannot be read as date"):
        TableEncoder(types={"y": "date"}).fit({"y": orders["y"]})
    with pytest.raises(ValueError, match=r"date:s or date:ms|dbY"):
        TableEncoder(types={"y": "date:ybd"})


@pytest.mark.parametrize("of", [dict, pd.DataFrame, pl.LazyFrame])
def test_numbers_are_dates_in_a_unit_or_refused(of):
    """Whole numbers that a user calls dates: 2021-05-10 in four units, and two that are in none."""
    moment = np.datetime64("2021-05-10")
    for unit in ("s", "ms", "us", "ns"):
        numbers = moment.astype(f"datetime64[{unit}]").astype(np.int64) + np.arange(3)
        (column,) = TableEncoder(types={"when": "date"}).fit_transform({"when": numbers})
        assert column.values[0] == moment.astype("datetime64[us]").astype(float)
    for number, wish in ((20211310, "date"), (2021, "date:dmy")):
        table = {"when": [number] * 4, "y": [0, 1] * 2}
        with pytest.raises(ValueError, match=f"'when' cannot be read as {wish}: .* are such as {number}"):
            rank_features(of(table), "y", types={"when": wish})


def test_codes_with_an_e_are_the_same_in_every_file(tmp_path):
    codes = pd.DataFrame({"code": [f"{i}E{i % 9}" for i in range(90)], "y": [0, 1] * 45})
    codes["size"] = [f"{i}.5" if i else "1E5" for i in range(90)]
    codes.to_csv(tmp_path / "t.csv", index=False)
    codes.to_parquet(tmp_path / "t.parquet")
    for path in (tmp_path / "t.csv", tmp_path / "t.parquet"):
        for engine in (None, "duckdb"):
            ranking = rank_features(path, "y", engine=engine)
            assert (ranking["code"].kind, ranking["size"].kind) == ("categorical", "numeric")


@pytest.mark.parametrize("source", ["pandas", "polars", "duckdb", "parquet", "csv", "csv on duckdb"])
def test_the_same_wherever_it_is_stored(orders, tmp_path, source):
    table, frame = rank_features(orders, "y"), pd.DataFrame(orders)
    path, engine = tmp_path / ("t.parquet" if source == "parquet" else "t.csv"), None
    frame.to_parquet(path) if source == "parquet" else frame.to_csv(path, index=False)
    held = {"pandas": frame, "polars": pl.LazyFrame(orders), "duckdb": duckdb.from_df(frame)}.get(
        source, path
    )
    engine = "duckdb" if source.endswith("on duckdb") else None
    other = rank_features(held, "y", engine=engine)
    assert [(f.name, f.kind, f.error, f.n_missing) for f in other] == [
        (f.name, f.kind, f.error, f.n_missing) for f in table
    ]
    assert other["day"].kind == other["price"].kind == "numeric"
    assert other["zip"].kind == "categorical"


def test_described():
    table = {
        "note": [f"the parcel number {i} came in the end" for i in range(40)],
        "back": ["Ja", "Nein"] * 20,
        "paid": ["12 %", "5 %", "N/A", "free"] * 2 + ["7 %"] * 32,
        "tags": [["a"]] * 40,
        "many": np.arange(40) / 3,
    }
    found = {one.name: one for one in describe_columns(table, {"many": "category"})}
    kinds = {name: one.kind for name, one in found.items()}
    assert kinds == dict(zip(table, ["text", "boolean", "category", "left out", "category"], strict=True))
    assert "95%" in found["paid"].why
    assert found["back"].examples == ("Ja", "Nein")


def test_an_empty_text_is_missing_as_in_a_file_of_csv():
    """Whole numbers in text are codes, whether what is missing is null or an empty text."""
    codes = [str(20_000 + i) for i in range(60)]
    found = [recognised(np.array([*codes, none], object), "income")[1].why for none in (None, "", "n/a")]
    assert found[0] == found[1] == "whole numbers that are stored as text: taken for codes"
    assert found[2] == "numbers"


def test_what_a_user_may_say_of_dates_is_said():
    unclear = [f"{1 + i % 12:02d}/{1 + i % 7:02d}/2024" for i in range(40)]
    short = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.24" for i in range(40)]
    told = [recognised(np.array(unclear), "d", asked)[1] for asked in ("", "date", "date:mdy")]
    assert [one.way is None for one in told] == [True, False, False]
    for one in told[:2]:
        assert "no day is above 12; say date:dmy or date:mdy" in one.why
    assert told[2].why == "dates, month first"
    assert "say date:dmY or date:mdY" in recognised(np.array(short), "d")[1].why


def test_text_that_zstandard_compressed(tmp_path):
    with pa.output_stream(str(tmp_path / "t.csv.zst"), compression="zstd") as file:
        file.write(b"a,b\n1,x\n2,y\n")
    assert read_table(tmp_path / "t.csv.zst")["a"].tolist() == [1, 2]


def test_a_column_without_a_name_is_not_written_as_sql():
    model = TreeClassifier().fit({"": [0.0, 1.0] * 40}, ["a", "b"] * 40)
    with pytest.raises(ValueError, match="has no name"):
        to_sql(model)
