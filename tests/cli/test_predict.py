"""The model of a page, saved and asked about other rows: it says what the report's estimator says."""

from __future__ import annotations

import io
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import offsample
from offsample import TreeClassifier
from offsample.cli import app
from offsample.datasets import make_customers
from offsample.export import to_python, to_sql
from offsample.induction.forms import Case, Column, Condition
from offsample.report import load_model, save_model, scored
from offsample.report._estimator import ReportedClassifier
from offsample.report._saved import _joined, conditions
from offsample.tables import read_blocks
from offsample.tables._imposed import UnreadWarning

ORIGIN = {"offsample": offsample.__version__, "target": "y", "table": "t", "new_rows": "new rows"}


def run(*words, code=0):
    result = CliRunner().invoke(app, list(map(str, words)), env={"COLUMNS": "80"})
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A report with its page, its model, and rows some of whose cities are new."""
    folder = tmp_path_factory.mktemp("saved")
    table = pd.DataFrame(make_customers())
    table.to_parquet(folder / "customers.parquet")
    new = table.drop(columns="churned")
    new.loc[new.index[:4], "city"] = "Atlantis"
    new.loc[new.index[4:7], "city"] = None
    new.to_parquet(folder / "new.parquet")
    new.to_csv(folder / "new.csv", index=False)
    run("report", folder / "customers.parquet", "--target", "churned", "--fast", "--save",
        folder / "model.joblib", "-o", folder / "page.html")  # fmt: skip
    return folder


@pytest.mark.parametrize("name", ["new.parquet", "new.csv"])
@pytest.mark.parametrize("output", ["scored.parquet", "scored.csv"])
def test_rows_are_predicted_as_by_the_estimator(folder, tmp_path, name, output):
    result = run("predict", folder / "model.joblib", folder / name, "-o", tmp_path / output)
    model, new = joblib.load(folder / "model.joblib"), pd.read_parquet(folder / "new.parquet")
    read = {"scored.parquet": pd.read_parquet, "scored.csv": pd.read_csv}[output](tmp_path / output)
    assert list(read.columns) == [*new.columns, "prediction", "p_no", "p_yes", "decided_by", "unseen"]
    assert (read["prediction"] == model.predict(new)).all()
    np.testing.assert_allclose(read[["p_no", "p_yes"]], model.predict_proba(new), rtol=1e-12)
    assert read["unseen"].fillna("").tolist() == ["city"] * 4 + [""] * (len(new) - 4)
    assert "4 rows have a value that the model has never seen" in result.stderr
    assert list(tmp_path.iterdir()) == [tmp_path / output]


def test_the_page_names_the_file_by_its_digest(folder):
    _, digest = load_model(folder / "model.joblib")
    assert digest in (folder / "page.html").read_text(encoding="utf-8")
    assert f"SHA-256 {digest[:16]}" in run("predict", folder / "model.joblib", folder / "new.csv").stderr


def test_what_decided_names_no_value_that_a_page_does_not_name():
    """Four rows of a value are people: what the model knows of them is not written into every scored file."""
    random = np.random.default_rng(0)
    city = np.concatenate(
        [np.repeat([f"rare{i}" for i in range(40)], 4), random.choice(["Rome", "Oslo"], 740)]
    )
    y = np.where(np.char.startswith(city, "rare") | (city == "Rome"), "yes", "no")
    table = {"city": city, "noise": random.normal(size=900), "y": y}
    shown = {}
    for rows in (False, True):
        known = offsample.report(table, "y", fast=True, reference=False, known=["city"], show_rows=rows)
        shown[rows] = scored(known.estimator, table)["decided_by"]
    assert any("Rome" in text or "Oslo" in text for text in shown[False])
    assert not any("rare0" in text or "rare1" in text for text in shown[False])
    assert any("rare0" in text for text in shown[True])


def test_what_decided_is_true_of_the_rows_and_of_no_others():
    random = np.random.default_rng(0)
    n = 1500
    table = {
        "age": np.where(random.random(n) < 0.1, np.nan, random.normal(50, 20, n)),
        "city": random.choice(["Rome", "Oslo", "Bonn", None], n),
        "when": np.datetime64("2024-01-01") + random.integers(0, 700, n).astype("timedelta64[D]"),
    }
    late = table["when"] > np.datetime64("2025-01-01")
    y = np.where((table["age"] > 45) ^ late, "yes", "no")
    y[random.random(n) < 0.05] = "no"
    model = offsample.report({**table, "y": y}, target="y", fast=True, reference=False).estimator
    said = scored(model, table)["decided_by"]
    assert len(set(said)) > 2
    frame = pd.DataFrame(table)
    for text in set(said):
        holds = np.ones(n, bool)
        for part in text.split(" and "):
            part = part.removeprefix("(").removesuffix(")")
            column, sign, value = part.removesuffix(" or missing").split(" ", 2)
            values = frame[column]
            if sign == "is":
                true = values.isna() == (value == "missing")
            elif sign in ("<=", ">"):
                limit = pd.Timestamp(value) if column == "when" else float(value)
                true = (values <= limit if sign == "<=" else values > limit) & values.notna()
            else:
                listed = value.removeprefix("in ").strip("{}").split(", ")
                true = (values.isin(listed) == (sign == "in")) & values.notna()
            holds &= true | (values.isna() & part.endswith(" or missing"))
        assert (holds == (said == text)).mean() > 0.999  # thresholds are shown with six digits
    assert any("when <= 20" in text for text in said)


def test_conditions_on_one_column_become_one():
    table = {"x": np.arange(400.0), "city": np.tile(list("abcd"), 100)}
    y = (table["x"] > 100) & (table["x"] < 300)
    tree = offsample.TreeClassifier(stopping="none", max_splits=3).fit({"x": table["x"]}, y)
    texts = conditions(tree._form().cell).values()
    assert all(text.count("x >") <= 1 and text.count("x <=") <= 1 for text in texts)
    assert len(_joined(())) == 0


def test_what_may_be_missing_is_in_parentheses_beside_others():
    tests = (
        Condition(Column("x", "number"), "at_most", 5.0, True),
        Condition(Column("city", "name"), "in", ("a",), False),
    )
    assert conditions(Case(((tests, 0),), 1))[0] == "(x <= 5 or missing) and city in {a}"
    assert conditions(Case(((tests[:1], 0),), 1))[0] == "x <= 5 or missing"


def test_a_table_is_no_model(tmp_path):
    (tmp_path / "t.csv").write_text("cid,price\n1,2\n", encoding="utf-8")  # which a pickle may begin with
    told = run("predict", tmp_path / "t.csv", tmp_path / "t.csv", "-o", tmp_path / "o.csv", code=2).stderr
    assert "it cannot be read as one" in " ".join(told.split())
    (tmp_path / "x.joblib").write_bytes(b"xy")  # as zlib begins
    told = run("predict", tmp_path / "x.joblib", tmp_path / "t.csv", "-o", tmp_path / "o.csv", code=2).stderr
    assert "it cannot be read as one" in " ".join(told.split())


def test_blocks_of_any_size_are_the_table(folder):
    whole = pd.read_parquet(folder / "new.parquet")
    blocks = list(read_blocks(folder / "new.parquet", 333))
    assert len(blocks) > 2
    pd.testing.assert_frame_equal(pd.concat([b.to_pandas() for b in blocks], ignore_index=True), whole)


def test_parts_of_a_time_are_made_of_it(tmp_path):
    random = np.random.default_rng(1)
    day = np.datetime64("2024-01-01") + np.arange(900).astype("timedelta64[D]")
    weekend = ((day.astype("datetime64[D]").astype(int) + 3) % 7) >= 5
    table = pd.DataFrame(
        {"day": day, "x": random.normal(size=900), "y": weekend ^ (random.random(900) < 0.1)}
    )
    report = offsample.report(table, target="y", time="day", fast=True)
    report = save_model(report, tmp_path / "m.joblib")
    model, _ = load_model(tmp_path / "m.joblib")
    table.drop(columns="y").to_parquet(tmp_path / "new.parquet")
    run("predict", tmp_path / "m.joblib", tmp_path / "new.parquet", "-o", tmp_path / "s.parquet")
    found = pd.read_parquet(tmp_path / "s.parquet")
    assert (found["prediction"] == model.predict(table)).all()
    assert (found["prediction"] == weekend).mean() > 0.9


def test_no_rows_and_no_signal(folder, tmp_path):
    (tmp_path / "none.csv").write_text((folder / "new.csv").read_text().splitlines()[0] + "\n")
    result = run("predict", folder / "model.joblib", tmp_path / "none.csv", "-o", tmp_path / "s.csv")
    assert "0 rows" in result.stderr
    random = np.random.default_rng(0)
    noise = {"x": random.normal(size=200), "y": random.choice(["a", "b"], 200)}
    save_model(offsample.report(noise, target="y", fast=True), tmp_path / "m.joblib")
    pd.DataFrame({"x": [1.0, 2.0]}).to_csv(tmp_path / "two.csv", index=False)
    run("predict", tmp_path / "m.joblib", tmp_path / "two.csv", "-o", tmp_path / "s.csv")
    assert pd.read_csv(tmp_path / "s.csv")["decided_by"].tolist() == ["any row"] * 2


def test_numbers_are_predicted_too(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"size": random.uniform(0, 100, 600), "town": random.choice(list("abc"), 600)})
    table["price"] = 50 * (table["size"] > 40) + 20 * (table["town"] == "a") + random.normal(0, 3, 600)
    table.to_parquet(tmp_path / "t.parquet")
    run("report", tmp_path / "t.parquet", "--target", "price", "--fast", "--save", tmp_path / "m.joblib",
        "-o", tmp_path / "r.html")  # fmt: skip
    result = run("predict", tmp_path / "m.joblib", tmp_path / "t.parquet", "-o", tmp_path / "s.parquet")
    found = pd.read_parquet(tmp_path / "s.parquet")
    np.testing.assert_array_equal(found["prediction"], joblib.load(tmp_path / "m.joblib").predict(table))
    assert np.corrcoef(found["prediction"], table["price"])[0, 1] > 0.9
    assert found.groupby("decided_by")["prediction"].nunique().max() == 1
    assert "600 rows, price predicted for new rows: mean" in result.stderr
    assert not {"low", "high"} & {*found}
    run(
        "predict",
        tmp_path / "m.joblib",
        tmp_path / "t.parquet",
        "-o",
        tmp_path / "s.csv",
        "--interval",
        "80%",
    )
    ends = pd.read_csv(tmp_path / "s.csv")[["low", "high"]].to_numpy()
    model = joblib.load(tmp_path / "m.joblib")
    np.testing.assert_allclose(ends, model.predict_interval(table, 0.8), rtol=1e-12)
    new = random.uniform(0, 100, 4000), random.choice(list("abc"), 4000)
    price = 50 * (new[0] > 40) + 20 * (new[1] == "a") + random.normal(0, 3, 4000)
    low, high = model.predict_interval({"size": new[0], "town": new[1]}, 0.8).T
    assert 0.77 < np.mean((low <= price) & (price <= high)) < 0.88
    for share, told in (("wide", "a share such as"), ("1.5", "confidence must be above 0 and below 1")):
        args = ("-o", tmp_path / "s.csv", "--interval", share)
        assert told in run("predict", tmp_path / "m.joblib", tmp_path / "t.parquet", *args, code=2).stderr


def test_what_cannot_be_done_is_said(folder, tmp_path):
    model, new = folder / "model.joblib", folder / "new.csv"
    out = tmp_path / "s.csv"
    pd.DataFrame({"town": ["Rome"]}).to_csv(tmp_path / "t.csv", index=False)
    assert "'city'" in run("predict", model, tmp_path / "t.csv", "-o", out, code=2).stderr
    pd.DataFrame({"city": ["Rome"], "unseen": [1]}).to_csv(tmp_path / "u.csv", index=False)
    assert "--prefix" in run("predict", model, tmp_path / "u.csv", "-o", out, code=2).stderr
    run("predict", model, tmp_path / "u.csv", "--prefix", "offsample_", "-o", out)
    assert "offsample_unseen" in out.read_text()
    assert "predicts classes" in run("predict", model, new, "-o", out, "--interval", ".9", code=2).stderr
    assert "no model" in run("predict", new, new, "-o", tmp_path / "v.csv", code=2).stderr
    assert "there is no file" in run("predict", tmp_path / "x", new, "-o", out, code=2).stderr
    joblib.dump([1], tmp_path / "list.joblib")
    assert "holds a list" in run("predict", tmp_path / "list.joblib", new, "-o", out, code=2).stderr
    old = joblib.load(model)
    old.origin_["offsample"] = "0.0.9"
    joblib.dump(old, tmp_path / "old.joblib")
    assert "make the report again" in run("predict", tmp_path / "old.joblib", new, "-o", out, code=2).stderr
    assert ".joblib" in run("report", "--demo", "--save", tmp_path / "m.pkl", code=2).stderr
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]


def test_standard_output_is_csv_and_nothing_else(folder):
    read = pd.read_csv(io.StringIO(run("predict", folder / "model.joblib", folder / "new.csv").stdout))
    assert len(read) == 5000
    assert read.columns[-1] == "unseen"


@pytest.fixture(scope="module")
def by_weekday(tmp_path_factory):
    """A saved model of a price and the weekday of a date, both of which were text."""
    random, n = np.random.default_rng(0), 600
    day, price = random.integers(0, 700, n), random.gamma(2, 600, n)
    dates = pd.Series(np.datetime64("2023-01-01") + day.astype("timedelta64[D]"))
    table = {"when": dates.dt.strftime("%d/%m/%Y"), "price": [f"${one:,.2f}" for one in price]}
    model = ReportedClassifier(TreeClassifier(), ["when: weekday", "price"], types={"when": "date:dmy"})
    model.fit(table, np.where((dates.dt.day_of_week >= 5) | (price > 2000), "yes", "no"))
    model.origin_ = ORIGIN
    path = tmp_path_factory.mktemp("made") / "model.joblib"
    joblib.dump(model, path)
    return model, path


def test_values_that_cannot_be_read_are_counted_and_named(by_weekday, tmp_path):
    _, path = by_weekday
    new = {"when": ["24/02/2024", "02/24/2024", "2024-02-24"], "price": ["$3", "1,5 €", "n/a"]}
    new["other"] = ["18:57:00", "09:00:30", "10:10:10"]
    pd.DataFrame(new).to_csv(tmp_path / "new.csv", index=False)
    told = run("predict", path, tmp_path / "new.csv", "-o", tmp_path / "scored.csv").stderr
    assert "price: 1 row has a value that cannot be read" in told
    assert "when: 1 row has a value that cannot be read" in told
    assert "never seen" not in told
    scores = pd.read_csv(tmp_path / "scored.csv", keep_default_na=False)
    assert scores["unseen"].tolist() == ["", "when (not read), price (not read)", ""]
    assert scores["other"].tolist() == new["other"]  # as it was
    assert scores["prediction"][[0, 2]].tolist() == ["yes", "yes"]  # a Saturday, either way


def test_a_file_of_values_that_cannot_be_read_is_warned_of_even_if_quiet(by_weekday, tmp_path):
    model, path = by_weekday
    table = {"when": ["02/24/2024"] * 3, "price": ["$3", "$3", "3 kg"]}
    pd.DataFrame(table).to_csv(tmp_path / "new.csv", index=False)
    told = run("predict", path, tmp_path / "new.csv", "-q", "-o", tmp_path / "scored.csv").stderr
    assert "Warning: 3 of 3 values of when cannot be read as the model does" in " ".join(told.split())
    assert "of price" not in told
    table["price"][2] = "$3"
    with pytest.warns(UnreadWarning, match=r"'when': 3 of 3 values cannot be read as dates, day first"):
        assert model.predict(table).tolist() == ["no"] * 3
    assert pd.read_csv(tmp_path / "scored.csv")["prediction"].tolist() == ["no"] * 3


def test_a_row_is_read_the_same_whatever_is_beside_it(by_weekday):
    model, _ = by_weekday
    table = {"when": ["24/02/2024", "2024-02-24", "1708732800", "junk", "25.2.2024", None],
             "price": ["$3,000", "3000", "3,5", "3 kg", "$3.000,5", "-"]}  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnreadWarning)
        whole = model._encoded(table)
        for i in range(6):
            one = model._encoded({name: values[i : i + 1] for name, values in table.items()})
            for name in whole:
                np.testing.assert_array_equal(one[name], whole[name][[i]], err_msg=f"{name} {i}")
    np.testing.assert_array_equal(whole["price"], [3000, 3000, np.nan, np.nan, np.nan, np.nan])
    assert whole["when: weekday"].tolist()[:3] == [2] * 3  # Saturday, of Fri, Mon, Sat, …


@pytest.fixture(scope="module")
def of_every_type():
    random, n = np.random.default_rng(0), 900
    table = {
        "x": random.normal(size=n),
        "day": np.datetime64("2022-01-01") + random.integers(0, 900, n).astype("timedelta64[D]"),
        "is_new": random.random(n) < 0.5,
        "city": random.choice(["Bonn", "Oslo"], n),
        "took": random.integers(0, 1000, n).astype("timedelta64[s]"),
        "comment": np.where(random.random(n) < 0.5, "send me a refund", "thank you all"),
    }
    columns = [*list(table)[:-1], "day: weekday", "comment mentions refund"]
    model = ReportedClassifier(TreeClassifier(max_splits=20, stopping="none"), columns)
    return model.fit(table, random.choice(["no", "yes"], n)), list(table)


@pytest.mark.parametrize("missing", [
    [], [None], [np.nan], np.array([np.nan]), np.array([None, None], object),
    pd.Series([pd.NA]), pd.Series([pd.NaT]), pd.Series([None], dtype="string"),
    pd.Series([None], dtype="category"), pd.Series([None], dtype="boolean"),
    pl.Series([None]), pl.Series([None], dtype=pl.Float64), pl.Series([], dtype=pl.String),
    pl.Series([None], dtype=pl.String), pa.array([None]), pa.array([None], pa.string()),
    pa.array([None], pa.timestamp("us")), pa.array([], pa.float64()),
])  # fmt: skip
def test_columns_of_which_every_value_is_missing_are_read(of_every_type, missing):
    model, names = of_every_type
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    table = dict.fromkeys(names, missing)
    own = frames.get(type(missing).__module__.split(".")[0])
    for one in [table] if own is None else [table, own(table)]:
        assert len(model.predict(one)) == len(missing)
        assert set(scored(model, one)["unseen"]) <= {""}


@pytest.mark.parametrize("n", [0, 2])
def test_files_without_a_row_or_a_value_are_predicted(of_every_type, tmp_path, n):
    model, names = of_every_type
    model.origin_ = ORIGIN
    joblib.dump(model, tmp_path / "m.joblib")
    pd.DataFrame({name: np.full(n, np.nan) for name in names}).to_csv(tmp_path / "n.csv", index=False)
    assert f"{n} rows" in run("predict", tmp_path / "m.joblib", tmp_path / "n.csv").stderr


@pytest.mark.parametrize("write", [to_sql, to_python])
def test_a_model_of_what_no_table_has_is_not_written(by_weekday, write):
    with pytest.raises(ValueError, match=r"column 'when' was read as what its text says"):
        write(by_weekday[0])
