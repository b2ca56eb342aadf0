"""Lines in the leaves of trees of numbers, against fitting each without each row."""

import pickle
import sqlite3

import numpy as np
import pytest

from offsample import TreeRegressor
from offsample.export import to_python, to_sql
from offsample.induction.tree.lines import best_line


def left_out(x, y, i):
    """Error of the line, or of the mean, that has not seen row i."""
    rest = np.arange(len(y)) != i
    if x is None:
        return y[i] - y[rest].mean()
    return y[i] - np.polyval(np.polyfit(x[rest], y[rest], 1), x[i])


def test_the_best_line_is_that_of_left_out_rows():
    rng = np.random.default_rng(0)
    n_lines = 0
    for _ in range(30):
        n, p = int(rng.integers(8, 20)), int(rng.integers(1, 4))
        X, y = rng.normal(size=(n, p)), rng.normal(size=n)
        y += X[:, 0] * rng.choice([0.0, 2.0])
        errors = [sum(left_out(x, y, i) ** 2 for i in range(n)) for x in (*X.T, None)]
        line = best_line(X, y, np.arange(p))
        best = int(np.argmin(errors[:-1]))
        assert (line is not None) == (errors[best] * (1 + 2 * np.log(p) / n) < errors[-1])
        if line is not None:
            n_lines += 1
            slope, at_zero = np.polyfit(X[:, best], y, 1)
            assert line.column == best
            assert line.slope == pytest.approx(slope)
            assert y.mean() - slope * line.center == pytest.approx(at_zero)
    assert 5 < n_lines < 30


def drawn(n, seed, *, signal=True):
    rng = np.random.default_rng(seed)
    table = {"kind": np.array(list("ab"))[rng.integers(0, 2, n)], "x": rng.normal(size=n)}
    table["other"] = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    mean = np.where(table["kind"] == "a", 4 + 3 * table["x"], -4 - 2 * table["x"])
    return table, signal * mean + 0.5 * rng.normal(size=n)


@pytest.fixture(scope="module")
def tree():
    return TreeRegressor(leaf="linear").fit(*drawn(200, 0))


def test_lines_where_numbers_lie_on_some_and_none_for_noise(tree):
    new, y = drawn(1_000, 1)
    error, low, high = np.mean((tree.predict(new) - y) ** 2), *tree.estimated_error_interval_
    assert low < error < high
    of_means = np.mean((TreeRegressor().fit(*drawn(200, 0)).predict(new) - y) ** 2)
    assert error < 0.3 < 0.4 < of_means  # the noise has a variance of 0.25
    ends = tree.predict_interval(new)
    assert 0.9 < np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) < 0.99
    noise = TreeRegressor(leaf="linear").fit(*drawn(200, 6, signal=False))
    assert noise.tree_.lines is None
    assert noise.n_splits_ == 0


def test_what_is_said_of_a_leaf_is_what_it_predicts(tree):
    table, _ = drawn(50, 3)
    table["x"][0], table["x"][1] = np.nan, 1e9
    nodes = {}
    todo = [tree.to_dict()]
    while todo:
        node = todo.pop()
        nodes[node["node"]] = node
        todo += node.get("children", [])
    for i, (leaf, said) in enumerate(zip(tree.apply(table), tree.predict(table), strict=True)):
        line = nodes[leaf]["line"]
        x = np.clip(table[line["column"]][i], line["low"], line["high"])
        by_hand = nodes[leaf]["prediction"] + (0.0 if np.isnan(x) else line["slope"] * (x - line["center"]))
        assert said == pytest.approx(by_hand)
    assert "(x " in tree.to_text()
    seen, y = drawn(200, 0)
    about, at = y - tree.predict(seen), tree.apply(seen)
    for leaf in np.unique(at):  # not about their mean, from which they are ten times as far
        assert nodes[leaf]["deviation"] == pytest.approx(about[at == leaf].std())
    assert (tree.staged_predict(table)[-1] == tree.predict(table)).all()
    assert (pickle.loads(pickle.dumps(tree)).predict(table) == tree.predict(table)).all()


def test_lines_are_written_to_the_last_bit(tree):
    table, _ = drawn(300, 7)
    table["x"][:5], table["x"][5:9] = np.nan, [1e9, -1e9, np.inf, -np.inf]
    rows = [
        dict(zip(table, row, strict=True))
        for row in zip(*map(np.ndarray.tolist, table.values()), strict=True)
    ]
    module: dict = {}
    exec(to_python(tree), module)
    assert [module["predict"](row) for row in rows] == tree.predict(table).tolist()
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (kind TEXT, x REAL, other REAL)")
    database.executemany("INSERT INTO t VALUES (:kind, :x, :other)", rows)
    said = [row[0] for row in database.execute(to_sql(tree, "sqlite", table="t"))]
    assert said == tree.predict(table).tolist()
    engine = pytest.importorskip("duckdb").connect()
    engine.register("t", pytest.importorskip("pandas").DataFrame(table))
    assert engine.sql(to_sql(tree, table="t")).fetchnumpy()["prediction"].tolist() == said


def test_weights_repeat_rows_and_groups_are_left_out():
    table, y = drawn(60, 4)
    times = np.random.default_rng(5).integers(1, 4, 60)
    again = {name: np.repeat(values, times) for name, values in table.items()}
    one = TreeRegressor(leaf="linear").fit(table, y, sample_weight=times)
    other = TreeRegressor(leaf="linear").fit(again, np.repeat(y, times))
    assert one.predict(table) == pytest.approx(other.predict(table))
    grouped = TreeRegressor(leaf="linear").fit(table, y, groups=np.repeat(np.arange(30), 2))
    assert grouped.estimated_error_ > 0
    kept = TreeRegressor(leaf="linear", stopping="none", max_size=2).fit(table, y)
    assert kept.size_ == 2
    assert kept.tree_.lines is not None
