import margin_twin as twin
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from offsample.margin import Relief, _passes, _sketch, hypothesis_margin
from offsample.margin._space import Columns, make_space


def nearest_both_ways(X, y, weights, squared=True, **options):
    """Neighbours by way of a sketch, and by distances in double precision."""
    space = make_space(Columns(np.ascontiguousarray(X.T), np.zeros(X.shape[1], bool)), squared=squared)
    sketch = _sketch.make_sketch(space)
    assert sketch is not None
    rows = np.arange(len(y))
    samples = [_sketch.Sample(space, y, way, len(y), np.arange(len(y))) for way in (sketch, None)]
    return [_passes.find_nearest(sample, weights, rows, **options) for sample in samples]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["plain", "offset", "ties", "tiny", "uneven", "clusters"]),
    st.booleans(),
    st.sampled_from([None, 2, 5, 40]),
)
@settings(max_examples=60)
def test_same_neighbors_as_without(seed, shape, squared, n_neighbors):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 7)), rng.integers(0, 3, 60)
    if shape == "offset":  # in single precision all rows would be equal
        X = 1e9 + X
    elif shape == "ties":
        X = rng.integers(0, 3, (60, 7)).astype(float)
    elif shape == "tiny":
        X *= 1e-120
    elif shape == "uneven":
        X *= 10.0 ** rng.uniform(-9, 9, 7)
    elif shape == "clusters":  # nearest rows are nearer than single precision can tell
        X = np.repeat(X[:20], 3, axis=0) * (1 + 1e-9 * rng.normal(size=(60, 7)))
    weights = rng.random(7) * (rng.random(7) < 0.8) if shape != "ties" else np.ones(7)
    options = {} if n_neighbors is None else {"n_neighbors": n_neighbors, "n_classes": 3}
    quick, slow = nearest_both_ways(X, y, weights, squared, **options)
    if shape != "ties" or squared:  # whole numbers have no rounding; else nearly equal sums may differ in it
        np.testing.assert_array_equal(np.sort(quick.neighbor), np.sort(slow.neighbor))
    if n_neighbors is None:
        np.testing.assert_allclose(quick.distance, slow.distance, rtol=1e-12)


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30)
def test_limits_hold(seed, squared):
    # However far off a sum in single precision is, rows within the limits include the nearest.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 33)) * 10.0 ** rng.uniform(-3, 3, 33)
    space = make_space(Columns(np.ascontiguousarray(X.T), np.zeros(33, bool)), squared=squared)
    sketch = _sketch.make_sketch(space)
    weights = rng.random(33)
    from offsample.margin import _kernels

    scanned = np.zeros((50, 50), np.float32)
    relative = np.append(weights / weights.max(), [0, 0, 0]).astype(np.float32)
    features = np.append(np.arange(33), [0, 0, 0])
    _kernels.scan(sketch.values, squared, features, relative, np.arange(50), scanned)
    unit = np.ptp(X, axis=0).max()
    gaps = np.abs(X[:, None] - X) / unit
    exact = (gaps ** (2 if squared else 1)) @ (weights / weights.max())
    edges = np.sort(exact, axis=1)[:, [5]]
    s, t, s_above, t_above = _sketch.limits(sketch.ranges, weights / weights.max(), squared)
    surely, possibly = s * edges - t, s_above * edges + t_above
    assert (scanned[exact <= edges] <= np.broadcast_to(possibly, (50, 50))[exact <= edges]).all()
    assert (exact[scanned < surely] < np.broadcast_to(edges, (50, 50))[scanned < surely]).all()
    assert (possibly < 1.001 * edges + 1e-6).all()


def test_many_equally_near_rows():
    # Every row is in doubt: compared a few at a time.
    X, y = np.zeros((200, 3)), np.arange(200) % 2
    X[::50] = 1
    quick, slow = nearest_both_ways(X, y, np.ones(3))
    np.testing.assert_array_equal(quick.neighbor, slow.neighbor)


def test_offset_and_duplicates_through_the_door():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X[5], X[6] = X[4], X[4]
    gaps = twin.gaps_of_numbers(X)
    expected = [twin.margin(gaps, y, [1, 2, 0.5], i) for i in range(40)]
    np.testing.assert_allclose(hypothesis_margin(X + 1e6, y, [1, 2, 0.5]), expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(hypothesis_margin(X, y, [1, 2, 0.5]), expected, rtol=0, atol=1e-12)


def test_no_sketch_of_mixed_columns():
    columns = Columns(np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 1.0]]), np.array([False, True]))
    assert _sketch.make_sketch(make_space(columns)) is None
    missing = Columns(np.array([[0.0, np.nan, 2.0]]), np.array([False]))
    assert _sketch.make_sketch(make_space(missing)) is None


@pytest.mark.parametrize("n_neighbors", [1, 3])
def test_blocks_change_nothing(monkeypatch, n_neighbors):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(130, 5)), rng.integers(0, 2, 130)
    whole = Relief(n_neighbors=n_neighbors).fit(X, y).feature_weights_
    monkeypatch.setattr(_passes, "_BLOCK_ROWS", 7)
    np.testing.assert_allclose(Relief(n_neighbors=n_neighbors).fit(X, y).feature_weights_, whole, rtol=1e-12)
