"""SQL and Python that are written of a model predict what the model predicts."""

from __future__ import annotations

import datetime as dt
import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from offsample import (
    BoostedPerceptronClassifier,
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
    report,
)
from offsample.datasets import make_oblique_xor
from offsample.export import to_python, to_sql
from offsample.report._estimator import ReportedClassifier
from tests.exported import LEARNERS, TABLE, check, features, fitted, hostile, types


@pytest.fixture(scope="module")
def columns():
    return hostile()


@pytest.fixture(scope="module", params=LEARNERS)
def model(request, columns):
    return fitted(request.param, columns)


def created(quote, place):
    """Statement that makes the table."""
    named = [f"{quote}{name.replace(quote, 2 * quote)}{quote} {kind}" for name, kind in types(place).items()]
    return f"CREATE TABLE {quote}{TABLE.replace(quote, 2 * quote)}{quote} ({', '.join(named)})"


@pytest.fixture(scope="module")
def duck(columns):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with duckdb.connect() as connection:
        connection.execute(created('"', 0))
        connection.register("given", pa.table({f"c{i}": pa.array(v) for i, v in enumerate(columns.values())}))
        connection.execute(f"INSERT INTO {QUOTED} SELECT * FROM given")
        yield connection


@pytest.fixture(scope="module")
def lite(columns):
    connection = sqlite3.connect(":memory:")
    connection.execute(created("`", 2))
    rows = [
        [str(one) if hasattr(one, "year") else one for one in row]
        for row in zip(*columns.values(), strict=True)
    ]
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO `{TABLE.replace('`', '``')}` VALUES ({marks})", rows)
    yield connection
    connection.close()


def test_duckdb(model, columns, duck):
    check(model, columns, duck.execute(to_sql(model, "duckdb", TABLE)).fetchall())


def test_sqlite(model, columns, lite):
    check(model, columns, lite.execute(to_sql(model, "sqlite", TABLE)).fetchall())


def test_python(model, columns):
    written = {}
    exec(to_python(model), written)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    shares = written.get("predict_proba", lambda _: ())  # numbers have none
    assert written.get("CLASSES", []) == list(getattr(model, "classes_", ()))
    check(model, columns, [(written["predict"](row), *shares(row), row["id"]) for row in rows])


def test_the_expression_alone_is_the_prediction(model, columns, duck, lite):
    expected = model.predict(features(columns)).tolist()
    for connection, dialect, quote in ((duck, "duckdb", '"'), (lite, "sqlite", "`")):
        table = f"{quote}{TABLE.replace(quote, 2 * quote)}{quote}"
        found = connection.execute(f"SELECT {to_sql(model, dialect)} FROM {table}").fetchall()
        assert [row[0] for row in found] == expected


def postgres_program(name):
    found = shutil.which(name) or next(iter(sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))), None)
    return found or pytest.skip(f"PostgreSQL's {name} is not installed")


@pytest.fixture(scope="module")
def psql(columns):
    """Function that runs SQL in a PostgreSQL of our own, on loopback, and returns what it prints."""
    postgres, initdb, client = map(postgres_program, ("postgres", "initdb", "psql"))
    user = {}
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        try:
            owner = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
        user = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    folder = Path(tempfile.mkdtemp(prefix="offsample-postgres-"))
    if user:
        os.chown(folder, user["user"], user["group"])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
    data = str(folder / "data")
    made = [initdb, "-D", data, "-U", "offsample", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(made, check=True, **quiet)
    options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off", "jit": "off"}
    given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    server = subprocess.Popen([postgres, "-D", data, "-p", port, *given], **quiet)

    connection = ["-h", "127.0.0.1", "-p", port, "-U", "offsample", "-d", "postgres"]

    def run(sql):
        command = [client, "-X", "-q", "-v", "ON_ERROR_STOP=1", *connection, "-f", "-"]
        done = subprocess.run(command, input=sql, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr[:2000]
        return done.stdout

    try:
        for _ in range(600):
            if subprocess.run([client, *connection, "-c", ""], **quiet).returncode == 0:
                break
            time.sleep(0.1)
        rows = "\n".join("\t".join(map(copied, row)) for row in zip(*columns.values(), strict=True))
        run(f"{created(chr(34), 1)};\nCOPY {QUOTED} FROM STDIN;\n{rows}\n\\.\n")
        yield run
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder)


QUOTED = '"' + TABLE.replace('"', '""') + '"'
ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def copied(value):
    """A value as COPY reads it."""
    return "\\N" if value is None else "".join(ESCAPES.get(c, c) for c in str(value))


def test_postgres(model, columns, psql):
    kinds = {int: int, float: float, bool: lambda text: text == "t"}
    said = [*getattr(model, "classes_", np.zeros(0)).tolist(), 0.0][0]  # a class, or a number
    make = kinds.get(type(said), lambda text: text.replace("\\\\", "\\"))
    sql = to_sql(model, "postgres", TABLE)
    fields = [line.split("\t") for line in psql(f"COPY ({sql}) TO STDOUT;").splitlines()]
    # Rows stand in a table of PostgreSQL where there was room for them.
    assert [row[-1] for row in fields] == psql(f"COPY (SELECT id FROM {QUOTED}) TO STDOUT;").split()
    fields.sort(key=lambda row: int(row[-1]))
    n = len(getattr(model, "classes_", ()))
    check(model, columns, [(make(row[0]), *row[1 : n + 1], int(row[-1])) for row in fields])


def source(model):
    written = {}
    exec(to_python(model), written)
    return written


def answers(model, dialect, table):
    """Predictions of the rows of a table of text and numbers in a database of its own, and in Python."""
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    quote = '"' if dialect == "duckdb" else "`"
    kinds = ["DOUBLE" if isinstance(values[0], float) else "TEXT" for values in table.values()]
    given = zip(table, kinds, strict=True)
    names = ", ".join(f"{quote}{name.replace(quote, 2 * quote)}{quote} {kind}" for name, kind in given)
    connection.execute(f"CREATE TABLE t ({names})")
    rows = list(zip(*table.values(), strict=True))
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(table))})", rows)
    found = [row[0] for row in connection.execute(to_sql(model, dialect, "t")).fetchall()]
    connection.close()
    predict = source(model)["predict"]
    assert [predict(dict(zip(table, row, strict=True))) for row in rows] == found
    return found


def test_dates_that_sqlite_can_only_store_as_text():
    days = [dt.datetime(2020, 1, 1) + dt.timedelta(hours=37 * i, microseconds=250_000) for i in range(400)]
    zones = ["", "Z", "+02:00"]
    texts = [f"{day.isoformat(sep=' T'[i % 2])}{zones[i % 3]}" for i, day in enumerate(days)]
    y = [day.weekday() > 4 for day in days]
    model = ReportedClassifier(TreeClassifier(), ["day", "day: weekday"]).fit({"day": texts}, y)
    texts += [
        "2021-02-30",
        "2021-02-28",
        "2020-03-01 12:00",
        "1969-12-31 23:59:59.9999",
        "25:00",
        "2020",
        "now",
    ]
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE t (day TEXT)")
        connection.executemany("INSERT INTO t VALUES (?)", [(one,) for one in [*texts, "", None]])
        found = [row[1:3] for row in connection.execute(to_sql(model, "sqlite", "t")).fetchall()]
    with pytest.warns(UserWarning, match="cannot be read as dates"):
        shares = model.predict_proba({"day": [*texts, "", None]})
    assert len(np.unique(shares, axis=0)) > 2
    np.testing.assert_allclose(found, shares, rtol=0, atol=1e-12)
    for dialect in ("duckdb", "postgres"):
        with pytest.raises(ValueError, match="column 'day' was read as what its text says"):
            to_sql(model, dialect)


def test_the_estimator_of_a_report(columns):
    table = {name: values[:1500] for name, values in columns.items() if name in ("day", "whole\nnumber")}
    table["ward"] = ["north", "south", None] * 500
    late = np.array([1 if one is None else one.year for one in table["day"]]) > 1990
    table["sick"] = late ^ (np.arange(1500) % 3 == 1)
    model = report(table, "sick", fast=True).estimator
    assert {"day", "ward"} <= {*model.feature_names_in_}
    with duckdb.connect() as connection:
        given = pd.DataFrame(table).astype({"whole\nnumber": "Int64"})
        given["day"] = pd.to_datetime(given["day"])
        connection.register("given", given)
        found = connection.execute(to_sql(model, table="given")).fetchall()
    assert [row[0] for row in found] == model.predict(table).tolist()
    np.testing.assert_allclose([row[1:3] for row in found], model.predict_proba(table), rtol=0, atol=1e-12)
    written, names = source(model), list(table)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*table.values(), strict=True)]
    assert [written["predict"](row) for row in rows] == model.predict(table).tolist()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_a_chain_of_hundreds_of_splits(sign, dialect):
    x, y = sign * np.arange(600.0), np.arange(600) % 2
    tree = TreeClassifier(criterion="gini", stopping="none", min_gain=-1.0, shrinkage=None).fit(x[:, None], y)
    assert tree.tree_.depth.max() == 599
    assert answers(tree, dialect, {"x0": x.tolist()}) == y.tolist()


def test_thresholds_that_sqlite_reads_with_another_last_bit():
    """A number and its neighbour, between which a tree cuts at the lower one."""
    lite, random = sqlite3.connect(":memory:"), np.random.default_rng(0)
    numbers = [float(x) for x in random.random(4000) * 10.0 ** random.integers(-5, 8, 4000)]
    odd = [x for x in numbers if lite.execute(f"SELECT {x!r}").fetchone()[0] != x]
    lite.close()
    if not odd:
        pytest.skip("this SQLite reads all these numbers to the last bit")
    for x in odd:
        values = [x, float(np.nextafter(x, np.inf))] * 20
        tree = TreeClassifier(min_gain=-1.0, stopping="none").fit(
            np.array(values)[:, None], ["low", "high"] * 20
        )
        assert answers(tree, "sqlite", {"x0": values}) == ["low", "high"] * 20


@pytest.mark.parametrize("name", ["", "a.b", "offsample", "offsample_rows", "%s", "{0}", "[x]", "t"])
def test_a_column_of_any_name(name):
    table = {name: ["a", "b", None] * 20, "other": [1.0] * 60}
    tree = TreeClassifier().fit(table, ["yes", "no", "no"] * 20)
    for dialect in ("duckdb", "sqlite") if name else ("sqlite",):
        assert answers(tree, dialect, table) == ["yes", "no", "no"] * 20


def test_names_that_differ_in_case_only():
    table = {"a": ["x", "y"] * 20, "A": ["x"] * 40}
    tree = TreeClassifier().fit(table, [1, 2] * 20)
    assert '"a"' in to_sql(tree, "postgres")
    for dialect in ("duckdb", "sqlite", "spark"):
        with pytest.raises(ValueError, match=r"'A' and 'a' differ in case only"):
            to_sql(tree, dialect)


def test_names_of_probabilities_are_different():
    tree = TreeClassifier().fit({"x": ["a", "b", "c"] * 20}, ["no", "No", "no_"] * 20)
    sql = to_sql(tree, table="t")
    assert [name for name in ("probability_No", "probability_no_", "probability_no__") if f'"{name}"' in sql]
    assert len({part.split('"')[1].lower() for part in sql.split(" AS ")[1:] if part[0] == '"'}) == 4


def test_no_missing_column_is_taken_for_text():
    tree = TreeClassifier().fit({"x": ["a", "b"] * 20}, [1, 2] * 20)
    lite = sqlite3.connect(":memory:")
    lite.execute("CREATE TABLE t (y)")
    for sql in (to_sql(tree, "sqlite", "t"), f"SELECT {to_sql(tree, 'sqlite')} FROM t"):
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            lite.execute(sql)
    lite.close()


def test_a_table_of_a_schema_is_quoted_part_by_part():
    tree = TreeClassifier().fit({"x": ["a", "b"] * 20}, [1, 2] * 20)
    assert 'FROM "a""b"."c.d" AS' in to_sql(tree, "postgres", ('a"b', "c.d"))


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_nan_is_above_no_number(dialect):
    table = {"x": [0.0, 1.0, float("nan")] * 20}
    model = DNFClassifier().fit(table, ["no", "yes", "no"] * 20)
    assert "x = 1" in model.to_text()
    assert answers(model, dialect, table) == ["no", "yes", "no"] * 20


def test_rules_of_sparse_data():
    X = sparse.random_array((300, 5), density=0.4, rng=np.random.default_rng(0), format="csr")
    dense = X.toarray()
    y = np.where((dense[:, 1] != 0) & (dense[:, 3] == 0), "yes", "no")
    model = DecisionListClassifier().fit(X, y)
    table = {f"x{j}": dense[:, j].tolist() for j in range(5)}
    assert answers(model, "duckdb", table) == answers(model, "sqlite", table) == y.tolist()


def test_an_oblique_tree_of_an_array_and_one_that_has_no_split():
    X, y = make_oblique_xor(600, n_features=4, random_state=0)
    X[::7, 0] = np.nan
    for model in (StochasticTreeClassifier(max_splits=20), StochasticTreeClassifier(max_splits=0)):
        model.fit(X, y)
        expected = model.predict(X).tolist()
        assert answers(model, "duckdb", {f"x{j}": X[:, j].tolist() for j in range(4)}) == expected


def test_an_oblique_tree_of_more_values_than_are_filled_in():
    """Beyond 256 values the matrix is sparse, and a missing number is no entry."""
    random = np.random.default_rng(0)
    name, number = random.integers(0, 300, 3000), random.normal(5, 1, 3000)
    table = {
        "name": [f"n{i}" for i in name],
        "number": np.where(random.random(3000) < 0.1, np.nan, number).tolist(),
    }
    model = StochasticTreeClassifier(max_splits=2, lookahead=False).fit(table, (name > 150) ^ (number > 5.5))
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)][:300]
    proba, few = source(model)["predict_proba"], {one: values[:300] for one, values in table.items()}
    np.testing.assert_allclose([proba(row) for row in rows], model.predict_proba(few), rtol=0, atol=1e-12)


def test_what_python_takes_for_missing_and_for_no_number():
    table = {"x": [1.0, 2.0, np.nan, 4.0] * 20}
    tree = TreeClassifier().fit(table, [0, 0, 1, 2] * 20)
    predict = source(tree)["predict"]
    assert [predict({"x": one}) for one in (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT)] == [1] * 5
    assert predict({"x": np.int64(4), "other": "ignored"}) == 2
    for wrong in ("4", True):
        with pytest.raises(TypeError, match="no number"):
            predict({"x": wrong})
    with pytest.raises(KeyError, match="x"):
        predict({})


def test_errors_say_what_is_expected():
    with pytest.raises(TypeError, match=r"BoostedPerceptronClassifier cannot be written .* expected a tree"):
        to_sql(BoostedPerceptronClassifier())
    with pytest.raises(NotFittedError):
        to_python(TreeClassifier())
    tree = TreeClassifier(categorical_features="all").fit(
        {"day": [dt.date(2020, 1, 1), dt.date(2020, 1, 2)] * 20}, [1, 2] * 20
    )
    with pytest.raises(
        ValueError, match="dialect must be one of duckdb, postgres, sqlite, spark, got 'mysql'"
    ):
        to_sql(tree, "mysql")
    for write in (to_sql, to_python):
        with pytest.raises(ValueError, match="is of type date, which cannot be written"):
            write(tree)
