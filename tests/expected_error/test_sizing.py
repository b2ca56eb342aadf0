import json

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from offsample import ExpectedErrorSearch, TreeClassifier
from offsample._text import digits
from offsample.expected_error import size_forecast
from offsample.expected_error.sizing import learning_curve
from offsample.plotting import plot_forecast, plot_learning_curve, plot_sizes


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": rng.normal(size=2400), "b": rng.choice(list("xyz"), 2400), "c": rng.normal(size=2400)}
    )
    signal = (X["a"] > 0) & (X["b"] != "x")
    return X, np.where(signal ^ (rng.random(2400) < 0.15), "yes", "no")


@pytest.fixture(scope="module")
def found(rows):
    X, y = rows
    return size_forecast(X[:1200], y[:1200], sizes=[0, 1, 2, 8, 64])


def test_errors_hold_on_other_rows(rows, found):
    X, y = rows
    assert found.best.n_splits == 2
    for point in found.sizes:
        tree = TreeClassifier(stopping="none", max_splits=point.n_splits).fit(X[:1200], y[:1200])
        error = (tree.predict(X[1200:]) != y[1200:]).mean()
        assert point.low - 0.03 <= error <= point.high + 0.03
    assert found.sizes[-1].training_error < found.sizes[-1].error - 0.05


def test_curve_is_measured_then_prolonged(rows, found):
    X, y = rows
    assert [p.n_rows for p in found.curve] == [75, 150, 300, 600, 1200, 2400, 4800]
    assert [p.measured for p in found.curve] == [True] * 4 + [False] * 3
    error = (TreeClassifier().fit(X[:1200], y[:1200]).predict(X[1200:]) != y[1200:]).mean()
    assert found.curve[4].low <= error <= found.curve[4].high
    assert all(p.low <= p.error <= p.high for p in found.curve)
    assert found.gain_of_doubling[0] <= found.gain_of_doubling[1]


def test_plain_values(found):
    plain = json.loads(json.dumps(found.to_dict()))
    best = found.best
    assert plain["statement"].startswith(
        f"A tree with {best.n_splits} splits should be wrong on {best.error:.1%} of new rows"
    )
    assert plain["best"] in plain["sizes"]
    assert len(found.to_frame()) == len(found.sizes)
    assert "the smallest that is about as good as the best" in repr(found)
    assert repr(found).count("projected") == 3


def test_tables_of_any_kind_give_the_same(rows):
    X, y = rows
    part = X[:200]
    frame = size_forecast(part, y[:200], sizes=[0, 2])
    columns = size_forecast({name: part[name].to_numpy() for name in part}, y[:200], sizes=[0, 2])
    assert frame == columns


def test_too_few_rows_for_a_curve_are_said_so():
    y = np.array([0, 1] * 10)
    found = size_forecast(np.arange(20.0)[:, None], y, sizes=[0])
    assert found.curve == ()
    assert found.gain_of_doubling == (0.0, 1.0)
    assert found.statement.endswith("There are too few rows to say what more of them would bring.")


@pytest.mark.parametrize(
    ("y", "sizes", "message"),
    [
        pytest.param(
            [0] * 12, [0, 1], "two classes or more with 3 rows each .* there is one", id="one class"
        ),
        pytest.param(
            [0] * 11 + [1],
            [0, 1],
            "two classes or more with 3 rows each .* class 1 has 1",
            id="class of one row",
        ),
        pytest.param([0, 1] * 6, [-1], "at least 0", id="negative size"),
        pytest.param([0, 1] * 6, [], "sizes must be", id="no size"),
    ],
)
def test_classes_or_sizes_that_cannot_be_forecast_are_refused(y, sizes, message):
    with pytest.raises(ValueError, match=message):
        size_forecast(np.arange(12.0)[:, None], y, sizes=sizes)


def test_figures(rows, found):
    X, y = rows
    search = ExpectedErrorSearch(TreeClassifier(), {"max_splits": [0, 1, 2]}).fit(X[:300], y[:300])
    ax = plot_forecast(search)
    assert ax.lines[0].get_ydata().tolist() == [f.error for f in search.forecast_]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "1", "2"]
    assert plot_sizes(found).lines[0].get_ydata().tolist() == [p.error for p in found.sizes]
    curve = plot_learning_curve(found)
    assert curve.lines[0].get_xdata().tolist() == [75, 150, 300, 600]
    plt.close("all")


def test_the_largest_tree_that_can_be_grown_is_among_the_sizes():
    rng = np.random.default_rng(0)
    a, b = rng.choice(list("uv"), 2000), rng.choice(list("xy"), 2000)
    found = size_forecast({"a": a, "b": b}, (a == "u") ^ (b == "x"), sizes=[0, 1, 2, 4, 8])
    assert [point.n_splits for point in found.sizes] == [0, 1, 2, 3]
    assert (found.best.n_splits, found.best.error) == (3, 0)


def test_sizes_for_new_groups_and_for_later_rows():
    rng = np.random.default_rng(6)
    of = rng.permutation(np.repeat(np.arange(40), 15))
    y = rng.permutation(np.arange(40) % 2)[of]
    table = {"alike": rng.normal(size=40)[of] + 0.01 * rng.normal(size=600), "coin": rng.random(600)}
    sizes = [0, 1, 64]
    assert size_forecast(table, y, sizes=sizes).best.error < 0.15
    found = size_forecast(table, y, sizes=sizes, groups=of)
    assert found.best.n_splits == 0 or found.best.low < 0.5 < found.best.high
    assert all(point.error > 0.35 for point in found.sizes)
    assert found.curve == ()  # as in a report
    assert "what more groups would bring for rows with a new group" in found.statement
    told = size_forecast(table, y, sizes=sizes, groups=of, new_rows="rows with a new 'patient'")
    assert "of rows with a new 'patient' (95%" in told.statement
    # The column turned around in the middle: what was learned before fails after.
    time, turned = np.arange(600), np.where(np.arange(600) < 300, 1, -1)
    x = rng.normal(size=600)
    later = size_forecast({"x": x}, turned * x > 0, sizes=[0, 1], n_folds=3, time=time)
    assert later.sizes[1].error > 0.5
    assert (later.curve, later.new_rows) == ((), "later rows")
    assert "what a longer time would bring for later rows" in later.statement


class _Guessing:
    """Learns nothing from few rows, as a tree whose splits must be evident: all its losses are alike."""

    def fit(self, X, y):
        self.n = len(y)
        return self

    def get_params(self, deep=False):
        return {}

    __sklearn_clone__ = lambda self: _Guessing()  # noqa: E731


def test_models_that_all_lose_alike_do_not_widen_the_others():
    """Their scatter, over next to no spread of their losses, was taken for that of all numbers of rows."""
    y, random = np.resize(["a", "b"], 3200), np.random.default_rng(0)

    def losses(model, rows):
        if model.n < 300:
            return np.full(len(rows), 0.45 + random.normal(scale=0.02))
        return 0.4 + random.normal(scale=0.5, size=len(rows))

    curve, _ = learning_curve({"a": y}, y, learner=_Guessing(), losses=losses, known=(2900, 0.4))
    wide = [p.high - p.low for p in curve if p.measured]
    assert len(wide) == 5
    assert max(wide) < 0.1  # of 300 test rows or more: 3.92 * 0.5 / sqrt(1600 * 3) is 0.03
    wider, _ = learning_curve(
        {"a": y}, y, learner=_Guessing(), losses=losses, known=(2900, 0.4), deviation_known=0.1
    )
    last = next(p for p in wider if p.n_rows == 2900)
    assert last.high - last.low == pytest.approx(0.392)


def test_of_numbers_errors_are_squared_and_have_their_units():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(900, 3))
    y = 100 * (X[:, 0] > 0) + 60 * (X[:, 1] > 0) + 20 * rng.normal(size=900)
    found = size_forecast(X, y, sizes=[0, 1, 3, 30])
    assert found.task == "regression"
    assert found.best.n_splits == 3
    # Three splits leave the noise, and none leaves all of the variance.
    assert found.best.error == pytest.approx(400, rel=0.15)
    assert found.sizes[0].error == pytest.approx(y.var(), rel=0.02)
    for point in (*found.sizes, *found.curve):
        assert point.low < point.error < point.high
    assert f"should be off by {digits(found.best.error**0.5)} on new rows" in found.statement
    assert "percentage points" not in found.statement
    hundred = size_forecast(X, 100 * y, sizes=[0, 1, 3, 30])
    assert hundred.best.error == pytest.approx(1e4 * found.best.error)
    assert hundred.curve[-1].high == pytest.approx(1e4 * found.curve[-1].high, rel=0.05)  # folds differ
