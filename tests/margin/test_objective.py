import math

import margin_twin as twin
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.bounds import nearest_neighbor_bound
from offsample.margin import _passes, hypothesis_margin, margin_error, margin_score, sample_margin, sigmoid
from offsample.margin._utility import as_utility
from offsample.margin.objective import _as_weights, _read

# Multiples of 1/4: every sum is exact, so that ties are ties in any order of summation.
QUARTERS = st.integers(-8, 8).map(lambda k: k / 4)


def margin_gradient(X, y, weights, utility="linear"):
    """The gradient of `margin_score`, Eq. (3) of the paper: the sum of the steps of Simba."""
    sample = _read(X, y, None)[0]
    w, worth, n_rows = _as_weights(weights, sample), as_utility(utility), len(sample.labels)
    blocks = _passes.over_blocks(
        lambda rows: _passes.gradient(sample, w, rows, worth), np.arange(n_rows), n_rows, n_threads=1
    )
    return np.asarray(sum(blocks, np.zeros(len(w))))


@st.composite
def samples(draw, max_rows=9, max_features=4, max_classes=3, values=QUARTERS):
    n, d = draw(st.integers(3, max_rows)), draw(st.integers(1, max_features))
    X = draw(st.lists(st.lists(values, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(
        st.lists(st.integers(0, max_classes - 1), min_size=n, max_size=n).filter(lambda y: len(set(y)) > 1)
    )
    w = draw(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]), min_size=d, max_size=d))
    return X, np.array(y), np.array(w)


@pytest.fixture
def normal():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, rng.integers(0, 3, 60), rng.uniform(0.2, 2, 5)


def test_by_hand():
    # Three classes on a line: the nearest miss of the row at 3 is of class 2, not of class 0.
    X, y = np.array([[0.0], [1.0], [3.0], [5.0], [4.5], [9.0]]), [0, 0, 1, 1, 2, 2]
    assert hypothesis_margin(X, y, [1]).tolist() == [1.0, 0.5, -0.25, -0.75, -2.0, -0.25]
    assert margin_score(X, y, [1]) == -1.75
    assert margin_score(X, y, [2]) == -3.5  # the norm is of w x, not of sqrt(w) x
    assert margin_score(X, y, [1], "zero_one") == 2
    assert margin_score(X, y, [1], lambda t: t**2) == pytest.approx(1 + 0.25 + 2 * 0.0625 + 0.5625 + 4)


def test_duplicates_and_contradictions_by_hand():
    X, y = [[0.0], [0.0], [2.0], [2.0]], [0, 0, 1, 0]
    # Rows 0 and 1 have a hit at 0; rows 2 and 3 have a miss at 0, and row 2 is the only one of its class.
    margin = hypothesis_margin(X, y, [1.0])
    assert margin[[0, 1, 3]].tolist() == [1.0, 1.0, -1.0]
    assert math.isnan(margin[2])
    assert margin_score(X, y, [1.0]) == 1.0
    assert margin_gradient(X, y, [1.0]).tolist() == [1.0]


def test_empty_set():
    X, y = np.random.default_rng(0).normal(size=(10, 3)), [0, 1] * 5
    zero = np.zeros(3)
    assert margin_score(X, y, zero) == 0
    assert margin_score(X, y, zero, "zero_one") == 0
    assert margin_score(X, y, zero, "sigmoid") == 5
    assert margin_gradient(X, y, zero).tolist() == [0, 0, 0]


@given(samples())
def test_equals_the_twin(sample):
    X, y, w = sample
    gaps = twin.gaps_of_numbers(np.array(X))
    expected = [twin.margin(gaps, y, w, i) for i in range(len(y))]
    np.testing.assert_allclose(hypothesis_margin(X, y, w), expected, rtol=1e-13, atol=1e-13)
    assert margin_score(X, y, w, "zero_one") == twin.score(gaps, y, w, lambda t: t > 0)
    soft = twin.score(gaps, y, w, lambda t: 1 / (1 + math.exp(-2 * t)))
    assert margin_score(X, y, w, sigmoid(2.0)) == pytest.approx(soft)


CITIES = st.sampled_from(["Oslo", "Rome", "Bonn", None])


@given(
    st.lists(st.tuples(CITIES, QUARTERS | st.none(), st.integers(0, 1)), min_size=4, max_size=8),
    st.lists(st.integers(0, 1), min_size=8, max_size=8),
    st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=3, max_size=3),
)
def test_categories_and_missing_values_equal_the_twin(rows, y, w):
    y = y[: len(rows)]
    table = {
        "city": pl.Series([row[0] for row in rows], dtype=pl.String),
        "age": pl.Series([row[1] for row in rows], dtype=pl.Float64),
        "plan": pl.Series([str(row[2]) for row in rows], dtype=pl.Categorical),
    }
    gaps = twin.gaps_of(rows, [True, False, True])
    expected = [twin.margin(gaps, y, w, i) for i in range(len(y))]
    frame = pl.DataFrame(table)
    np.testing.assert_allclose(hypothesis_margin(frame, y, w), expected, rtol=1e-12, atol=1e-7)
    np.testing.assert_array_equal(hypothesis_margin(frame.to_pandas(), y, w), hypothesis_margin(frame, y, w))


def test_reference(normal):
    X, y, w = normal
    margin = hypothesis_margin(X[:20], y[:20], w, reference=(X[20:], y[20:]))
    for i in range(20):
        rows = [i, *range(20, 60)]
        gaps = twin.gaps_of_numbers(X[rows])
        assert margin[i] == pytest.approx(twin.margin(gaps, y[rows], w, 0))
    # A row of the reference is its own nearest hit: erratum of Theorem 1, the margin is never negative.
    own = hypothesis_margin(X, y, w, reference=(X, y))
    assert (own >= 0).all()
    unknown = hypothesis_margin(X[:2], ["new", "0"], w, reference=(X, y.astype(str)))
    assert np.isnan(unknown[0])
    assert not np.isnan(unknown[1])


def test_unseen_category_differs_from_all():
    known = pd.DataFrame({"c": ["a", "a", "b"], "x": [0.0, 1.0, 3.0]})
    new = pd.DataFrame({"c": ["z"], "x": [0.0]})
    margin = hypothesis_margin(new, [1], [1.0, 0.0], reference=(known, [0, 0, 1]))
    assert margin.tolist() == [0.0]


@pytest.mark.parametrize("utility", ["linear", "sigmoid", sigmoid(7.0)])
def test_gradient_equals_finite_differences(normal, utility):
    X, y, w = normal
    gradient = margin_gradient(X, y, w, utility)
    for f in range(len(w)):
        step = np.zeros(len(w))
        step[f] = 1e-6
        slope = (margin_score(X, y, w + step, utility) - margin_score(X, y, w - step, utility)) / 2e-6
        assert gradient[f] == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_euler(normal):
    X, y, w = normal
    assert w @ margin_gradient(X, y, w) == pytest.approx(margin_score(X, y, w))


def test_invariances(normal):
    X, y, w = normal
    value = margin_score(X, y, w)
    rows, features = np.random.default_rng(1).permutation(60), [3, 1, 4, 0, 2]
    assert margin_score(X[rows], y[rows], w) == pytest.approx(value)
    assert margin_score(X[:, features], y, w[features]) == pytest.approx(value)
    assert margin_score(X, np.array(["c", "a", "b"])[y], w) == value
    assert margin_score(X + 1e3, y, w) == pytest.approx(value, rel=1e-9)
    assert margin_score(X, y, -w) == value
    assert margin_score(3 * X, y, w) == pytest.approx(3 * value)
    assert margin_score(X, y, 3 * w) == pytest.approx(3 * value)
    assert margin_score(X * w, y, np.ones(5)) == pytest.approx(value)
    constant = np.column_stack([X, np.full(60, 7.0)])
    assert margin_score(constant, y, [*w, 1]) == value
    assert margin_gradient(constant, y, [*w, 1])[-1] == 0


def test_many_blocks():
    # More rows than a block, and more than a tile of a column.
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 9, (700, 2)) / 8, rng.integers(0, 2, 700)
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(distances, np.inf)
    same = y[:, None] == y
    expected = (np.where(same, np.inf, distances).min(1) - np.where(same, distances, np.inf).min(1)) / 2
    np.testing.assert_allclose(hypothesis_margin(X, y, [1, 1]), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        pytest.param(
            [1, 1, 1, 1], r"weights has shape \(4,\): expected one for each of 5 features", id="one too few"
        ),
        pytest.param([1, 1, np.nan, 1, 1], "weights has nan: expected finite numbers", id="missing"),
    ],
)
def test_weights_that_do_not_fit_the_columns_are_refused(normal, weights, message):
    X, y, _ = normal
    with pytest.raises(ValueError, match=message):
        margin_score(X, y, weights)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        pytest.param(
            np.zeros((60, 1)), [0] * 59, "X has 60 rows, but y has 59", id="fewer classes than rows"
        ),
        pytest.param(np.zeros((3, 1)), ["a", None, "b"], "y is missing in row 1", id="class missing"),
        pytest.param(
            [[0, 0], [1, 1], [2, np.inf]], [0, 0, 1], "'x1' has inf in row 2: expected finite", id="infinite"
        ),
        pytest.param(
            [[-1e308], [0], [1e308]], [0, 0, 1], "'x0' ranges over more than 1e", id="range overflows"
        ),
        pytest.param([0.0, 1.0], [0, 1], "X has 1 dimensions", id="one dimension"),
    ],
)
def test_rows_without_distances_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        margin_score(X, y, np.ones(np.shape(X)[-1]))


def test_unknown_and_flat_utilities_are_refused(normal):
    with pytest.raises(ValueError, match="utility must be one of"):
        margin_score(*normal, "quadratic")
    with pytest.raises(ValueError, match="has no derivative: expected 'linear'"):
        margin_gradient(*normal, "zero_one")
    with pytest.raises(ValueError, match="beta must be positive"):
        sigmoid(0.0)


def test_sample_margins_are_distances_to_the_border_and_no_smaller_than_hypothesis_margins():
    rng = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, 401)] * 2), axis=-1).reshape(-1, 2)
    for _ in range(3):
        X, y, w = rng.normal(size=(10, 2)), rng.integers(0, 3, 10), rng.uniform(0.5, 2, 2)
        margins, lower = sample_margin(X, y, w), hypothesis_margin(X, y, w)
        np.testing.assert_array_equal(np.isnan(margins), np.isnan(lower))
        for i in np.flatnonzero(~np.isnan(margins)):
            points, own = np.delete(X * w, i, axis=0), np.delete(y, i)
            said = own[((grid[:, None] + X[i] * w - points) ** 2).sum(axis=2).argmin(axis=1)] == y[i]
            is_right = bool(said[len(grid) // 2])
            distance = np.linalg.norm(grid[said != is_right], axis=1).min(initial=np.inf)
            assert (margins[i] > 0) == is_right == (lower[i] > 0)
            assert abs(margins[i]) >= abs(lower[i]) - 1e-9  # Lemma 1
            if distance < 4:
                assert distance - 0.03 < abs(margins[i]) < distance + 1e-9
    with pytest.raises(ValueError, match="column 0 has categories or missing values: expected numbers"):
        sample_margin({"a": ["u", "v"]}, [0, 1], [1])


def test_margin_error_is_the_share_of_the_definition():
    rng = np.random.default_rng(1)
    X, y = rng.random((60, 3)), rng.integers(0, 2, 60)
    X[1], y[:2] = X[0], [0, 1]  # one place, two classes: the rule is wrong on one of them
    w = np.array([1.0, 2.0, 0.0])
    distance = np.sqrt((((X[:, None] - X) * w) ** 2).sum(axis=2))
    enemy = np.where(y[:, None] != y, distance, np.inf).min(axis=1)
    for gamma in (1e-9, 0.05, 0.2):
        share = margin_error(X, y, w, gamma)
        assert share == np.mean(enemy / 2 < gamma)
        margins = hypothesis_margin(X, y, w)
        assert margin_error(X, y, w, gamma, leave_one_out=True) == np.mean(margins < gamma)
    assert nearest_neighbor_bound(share, 60, 3, 2, radius=1.0, margin=0.2) == np.inf
    with pytest.raises(ValueError, match="margin must be positive and finite, got 0"):
        margin_error(X, y, w, 0.0)
