import margin_twin as twin
import numpy as np
import pytest

from offsample.margin import Simba, margin_score, sigmoid


def xor(n_rows=300, n_features=6, seed=0):
    X = np.random.default_rng(seed).uniform(-1, 1, (n_rows, n_features))
    return X, np.prod(X[:, :2], axis=1) > 0


def angle(weights):
    target = np.zeros(len(weights))
    target[:2] = 1
    return np.arccos(weights @ target / np.linalg.norm(weights) / np.linalg.norm(target))


def test_equals_the_twin():
    rng = np.random.default_rng(0)
    X, y = rng.random((25, 3)), rng.integers(0, 3, 25)
    published = Simba(n_restarts=1, n_iter=60, step=1.0, batch_size=1, scale=None, random_state=5)
    simba = published.fit(X, y)
    gaps, w = twin.gaps_of_numbers(X), np.ones(3)
    random = np.random.RandomState(np.random.RandomState(5).randint(np.iinfo(np.int32).max))
    order = np.concatenate([random.permutation(25) for _ in range(3)])[:60]
    scores = [twin.score(gaps, y, w)]
    for t, i in enumerate(order, start=1):
        w = w + twin.simba_step(gaps, y, w, i)
        if t in (25, 50, 60):
            scores.append(twin.score(gaps, y, w * np.sqrt(3) / np.linalg.norm(w)))
    np.testing.assert_allclose(simba.feature_weights_, w**2 / (w**2).max())
    np.testing.assert_allclose(simba.history_[0], scores)


def test_weights_are_squares():
    X, y = xor()
    simba = Simba(scale=None, random_state=0).fit(X, y)
    assert simba.feature_weights_.max() == 1
    assert simba.feature_weights_.min() >= 0
    assert simba.score_ == pytest.approx(margin_score(X, y, np.sqrt(simba.feature_weights_)))


def test_best_restart():
    X, y = xor(100)
    simba = Simba(n_restarts=7, n_iter=250, random_state=1).fit(X, y)
    assert [len(history) for history in simba.history_] == [4] * 7
    best = max(history[-1] for history in simba.history_)
    roots = np.sqrt(simba.feature_weights_)
    assert simba.score_ * np.sqrt(6) / np.linalg.norm(roots) == pytest.approx(best)


def test_a_step_is_free_of_scale_and_number_and_never_goes_down():
    for n_rows, n_features, seed in ((40, 400, 0), (100, 6, 1), (60, 3, 2)):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(n_rows, n_features)), rng.integers(0, 2, n_rows)
        one, ten = (Simba(n_restarts=2, scale=None, random_state=0).fit(c * X, y) for c in (1, 10))
        np.testing.assert_allclose(ten.feature_weights_, one.feature_weights_, rtol=1e-6, atol=1e-9)
        for history in one.history_:
            assert history[-1] >= history[0] - 1e-9 * abs(history[0])
    again = Simba(n_restarts=1, n_iter=30, random_state=0).fit(X, y)  # half of the rows, twice the step
    assert again.history_[0][-1] > again.history_[0][0]


def test_rows_of_a_large_table_are_drawn():
    X, y = xor(900)
    simba = Simba(n_restarts=1, max_rows=300, random_state=0).fit(X, y)
    assert simba.n_rows_ == 300
    assert simba.get_support(indices=True).tolist() == [0, 1]


def test_finds_what_depends_on_two_features_together():
    for seed in range(3):
        X, y = xor(500, 10, seed)
        simba = Simba(random_state=0).fit(X, y)
        assert angle(simba.feature_weights_) < 0.25
        assert simba.get_support(indices=True).tolist() == [0, 1]


def test_neighbours_are_found_with_the_weights():
    # With equal weights throughout, as in Relief, noise keeps half of its weight.
    X, y = xor(1000, 10)
    start = margin_score(X, y, np.ones(10)) / np.sqrt(10)
    simba = Simba(scale=None, random_state=0, n_restarts=1).fit(X, y)
    assert simba.score_ / np.linalg.norm(np.sqrt(simba.feature_weights_)) > 1.5 * start


@pytest.mark.parametrize("utility", ["sigmoid", sigmoid(5.0)])
def test_other_utilities(utility):
    X, y = xor(400)
    simba = Simba(utility=utility, random_state=0, step=3.0, n_iter=1200, n_restarts=2).fit(X, y)
    assert simba.get_support(indices=True).tolist() == [0, 1]
    Z = (X - X.min(0)) / np.ptp(X, axis=0)
    assert simba.score_ == pytest.approx(margin_score(Z, y, np.sqrt(simba.feature_weights_), utility))


def test_batches():
    X, y = xor(400)
    simba = Simba(batch_size=10, step=3.0, n_iter=1200, random_state=0, n_restarts=2).fit(X, y)
    assert angle(simba.feature_weights_) < 0.2


def test_duplicates_give_no_step():
    # Every row has a twin of its class, or of the other one: nothing moves.
    X = np.repeat(np.random.default_rng(0).random((10, 3)), 2, axis=0)
    for y in (np.repeat([0, 1], 10), np.tile([0, 1], 10)):
        simba = Simba(random_state=0).fit(X, y)
        assert simba.feature_weights_.tolist() == [1, 1, 1]


def test_invariances():
    X, y = xor(100)
    simba = Simba(random_state=3, n_restarts=2)
    weights = simba.fit(X, y).feature_weights_
    np.testing.assert_allclose(simba.fit(5 - 2 * X, y).feature_weights_, weights, rtol=1e-6)
    assert simba.fit(X, np.array(["b", "a"])[y.astype(int)]).feature_weights_.tolist() == weights.tolist()
    features = [3, 1, 5, 0, 2, 4]
    np.testing.assert_allclose(simba.fit(X[:, features], y).feature_weights_, weights[features], rtol=1e-6)
    scaled = Simba(random_state=3, n_restarts=2, scale=None, step=0.5).fit(2 * X, y).feature_weights_
    same = Simba(random_state=3, n_restarts=2, scale=None, step=1.0).fit(X, y).feature_weights_
    np.testing.assert_allclose(scaled, same, rtol=1e-6)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_iter": 0}, "n_iter must be at least 1, got 0"),
        ({"n_restarts": 0}, "n_restarts must be at least 1, got 0"),
        ({"batch_size": -1}, "batch_size must be at least 1, got -1"),
        ({"step": 0.0}, "step must be 'auto', or positive and finite, got 0.0"),
        ({"utility": "zero_one"}, "has no derivative"),
        ({"utility": np.tanh}, "has no derivative"),
        ({"utility": "cubic"}, "utility must be one of"),
    ],
)
def test_bad_parameters(bad, message):
    with pytest.raises(ValueError, match=message):
        Simba(**bad).fit(*xor(20))
