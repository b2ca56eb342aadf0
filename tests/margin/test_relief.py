import margin_twin as twin
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsample.margin import Relief, margin_score


def test_by_hand():
    # Nearest hit and miss of the rows 0, 1, 2, 3: (1, 2), (0, 2), (3, 1), (2, 1).
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.5], [4.0, 0.5]]), [0, 0, 1, 1]
    relief = Relief(scale=None).fit(X, y)
    first = (4 - 1) + (1 - 1) + (1 - 4) + (9 - 4)
    assert relief.feature_weights_.tolist() == [first / 4, 1 / 4]
    assert relief.ranking_.tolist() == [1, 2]
    assert relief.score_ == pytest.approx(margin_score(X, y, np.sqrt([1, 0.2])))
    assert [history.tolist() for history in relief.history_] == [[relief.score_]]


@pytest.mark.parametrize("n_neighbors", [2, 5, 100])
def test_relieff_equals_the_twin(n_neighbors):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)), rng.integers(0, 3, 40)
    weights = Relief(n_neighbors=n_neighbors, scale=None).fit(X, y).feature_weights_
    gaps = np.abs(X[:, None] - X)
    np.testing.assert_allclose(weights, twin.relieff(gaps, y, n_neighbors, range(40)))


@pytest.mark.parametrize("n_neighbors", [1, 2])
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 4) | st.none(), st.integers(0, 8)),
        min_size=6,
        max_size=8,
    )
)
def test_categories_and_missing_values_equal_the_twin(n_neighbors, rows):
    rows = [*rows, ("a", 0, 0), ("a", 4, 8)]
    y = [i % 2 for i in range(len(rows))]
    frame = pd.DataFrame(rows, columns=["c", "x", "z"]).astype({"c": "str", "x": float})
    frame.loc[[row[0] is None for row in rows], "c"] = None
    values = [(c, x / 4 if x is not None else None, z / 8) for c, x, z in rows]
    gaps = twin.gaps_of(values, [True, False, False], squared=n_neighbors == 1)
    distances = np.sort(gaps.sum(axis=2) + np.diag([np.inf] * len(y)), axis=1)[:, :-1]
    if np.diff(distances).min() < 1e-9:
        return  # near ties are decided by rounding
    relief = Relief(n_neighbors=n_neighbors).fit(frame, y)
    every = range(len(y))
    expected = twin.relief(gaps, y, every) if n_neighbors == 1 else twin.relieff(gaps, y, n_neighbors, every)
    np.testing.assert_allclose(relief.feature_weights_, expected, atol=1e-12)


def test_first_of_equally_near_rows():
    # Row 0 has misses at distance 1 on both sides; the first in the table counts, whatever its class.
    X, y = np.array([[0.0], [-0.25], [1.0], [-1.0]]), np.array([0, 0, 2, 1])
    X = np.column_stack([X, [0, 0, 1.0, -1.0]])
    X[2, 1], X[3, 1] = 0.5, -0.5
    weights = Relief(scale=None).fit(X, y).feature_weights_
    gaps = twin.gaps_of_numbers(X)
    np.testing.assert_allclose(weights, twin.relief(gaps, y, [0, 1]))


def test_singleton_class_is_only_a_miss():
    X, y = np.array([[0.0], [1.0], [5.0], [9.0], [6.0]]), ["a", "a", "b", "b", "alone"]
    weights = Relief(scale=None).fit(X, y).feature_weights_
    assert weights == pytest.approx([((25 - 1) + (16 - 1) + (1 - 16) + (9 - 16)) / 4])
    # ReliefF: its prior counts
    gaps = np.abs(X[:, None] - X)
    expected = twin.relieff(gaps, y, 2, range(4))
    np.testing.assert_allclose(Relief(scale=None, n_neighbors=2).fit(X, y).feature_weights_, expected)


def test_drawn_rows():
    rng = np.random.default_rng(1)
    X, y = rng.random((50, 3)), rng.integers(0, 2, 50)
    few = [Relief(n_iter=10, random_state=seed).fit(X, y).feature_weights_ for seed in (0, 0, 1)]
    assert few[0].tolist() == few[1].tolist() != few[2].tolist()
    many = Relief(n_iter=100_000, random_state=0).fit(X, y).feature_weights_
    np.testing.assert_allclose(many, Relief().fit(X, y).feature_weights_, atol=0.003)


def test_invariances():
    rng = np.random.default_rng(2)
    X, y = rng.random((120, 4)), rng.integers(0, 3, 120)
    for relief in (Relief(), Relief(n_neighbors=5)):
        weights = relief.fit(X, y).feature_weights_
        rows = rng.permutation(120)
        np.testing.assert_allclose(relief.fit(X[rows], y[rows]).feature_weights_, weights)
        np.testing.assert_allclose(relief.fit(7 - 3 * X, y).feature_weights_, weights)
        renamed = relief.fit(X, np.array(["c", "a", "b"])[y]).feature_weights_
        np.testing.assert_allclose(renamed, weights)  # classes are summed in another order


def test_agrees_with_a_plain_relieff_on_many_rows():
    # More than one block, in two threads.
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    X[:, 0] += y
    weights = Relief(n_neighbors=10, n_jobs=2).fit(X, y).feature_weights_
    Z = (X - X.min(0)) / np.ptp(X, axis=0)
    gaps = np.abs(Z[:, None] - Z)
    np.testing.assert_allclose(weights, twin.relieff(gaps, y.tolist(), 10, range(300)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be at least 1, got 0"),
        ({"n_iter": 0}, "n_iter must be at least 1, got 0"),
    ],
)
def test_bad_parameters(bad, message):
    with pytest.raises(ValueError, match=message):
        Relief(**bad).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("n_neighbors", [1, 5, 100])
def test_numbers_equal_the_twin(n_neighbors):
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 4)), rng.normal(size=40)
    relief = Relief(n_neighbors=n_neighbors, scale=None).fit(X, y)
    gaps = np.abs(X[:, None] - X)
    expected = twin.rrelieff(gaps, y, n_neighbors, range(40))
    np.testing.assert_allclose(relief.feature_weights_, expected)
    assert np.isnan(relief.score_)
    assert not hasattr(relief, "classes_")


def test_numbers_of_a_table_with_categories_and_gaps():
    rng = np.random.default_rng(1)
    rows = [(str(rng.integers(0, 3)), None if rng.random() < 0.2 else rng.random()) for _ in range(30)]
    rows += [("0", 0.0), ("1", 1.0)]
    y = rng.normal(size=32)
    frame = pd.DataFrame(rows, columns=["c", "x"])
    found = Relief(n_neighbors=31).fit(frame, y).feature_weights_  # all rows, whichever of equals is nearer
    np.testing.assert_allclose(
        found, twin.rrelieff(twin.gaps_of(rows, [True, False], squared=False), y, 31, range(32))
    )


def test_what_is_a_number():
    rng = np.random.default_rng(2)
    X = rng.random((90, 2))
    for classes in (np.arange(90) % 3, np.arange(90) % 3.0, np.arange(90) // 3):
        assert len(Relief().fit(X, classes).classes_) == len(np.unique(classes))
    for numbers in (np.arange(90) / 2, np.arange(90.0)):
        relief = Relief().fit(X, np.arange(90) % 3).fit(X, numbers)
        assert not hasattr(relief, "classes_")
    with pytest.raises(
        ValueError, match=r"y has numbers from 0\.5 to 0\.5: expected finite and different ones"
    ):
        Relief().fit(X, np.full(90, 0.5))


def test_numbers_of_groups_and_drawn_rows():
    rng = np.random.default_rng(3)
    X, y = rng.random((40, 3)), rng.normal(size=40)
    once = Relief(n_neighbors=4).fit(X, y).feature_weights_
    twice = Relief(n_neighbors=8).fit(
        np.repeat(X, 2, axis=0), np.repeat(y, 2), groups=np.repeat(np.arange(40), 2)
    )
    np.testing.assert_allclose(twice.feature_weights_, once)  # no copy is a neighbour
    few = [Relief(n_iter=10, random_state=seed).fit(X, y).feature_weights_ for seed in (0, 0, 1)]
    assert few[0].tolist() == few[1].tolist() != few[2].tolist()


def test_columns_that_matter_for_a_number_come_first():
    """Friedman's first function, and a product that no column shows alone, as the authors of RReliefF say."""
    rng = np.random.default_rng(4)
    X = rng.random((600, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    weights = Relief(n_neighbors=10).fit(X, y + rng.normal(size=600)).feature_weights_
    assert set(np.argsort(-weights)[:4]) >= {0, 1, 3}
    assert min(weights[:5]) > max(weights[5:])
    sign = np.sign(X[:, 0] - 0.5) * np.sign(X[:, 1] - 0.5)
    weights = Relief(n_neighbors=10).fit(X, sign + 0.1 * rng.normal(size=600)).feature_weights_
    assert min(weights[:2]) > 5 * max(weights[2:])


def test_neighbours_by_distance_equal_the_twin():
    rng = np.random.default_rng(4)
    X, y = rng.random((40, 4)), rng.integers(0, 3, 40)
    gaps = np.abs(X[:, None] - X)
    others = [np.delete(gaps[i].sum(axis=1), i) for i in range(40)]
    limits = np.array([row.mean() - row.std() / 2 for row in others])
    relief = Relief(n_neighbors="multisurf", scale=None).fit(X, y)
    np.testing.assert_allclose(relief.feature_weights_, twin.surf(gaps, y.tolist(), limits))
    numbers = Relief(n_neighbors="multisurf", scale=None, n_features_to_select=1).fit(
        X, 3 * X[:, 2] + rng.random(40)
    )
    assert numbers.get_support(indices=True).tolist() == [2]
    with pytest.raises(ValueError, match="n_neighbors"):
        Relief(n_neighbors="near").fit(X, y)
