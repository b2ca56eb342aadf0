from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, hstack, random_array

from offsample.criteria import INDEX_FUNCTIONS
from offsample.datasets import make_oblique_xor
from offsample.induction import StochasticTreeClassifier, best_stochastic_test
from offsample.induction.oblique.thresholds import Calibration

SOFT = {"rescale": False, "lookahead": False}
PUBLISHED = {"threshold": "prior", **SOFT}


def problem(seed: int, n_classes: int = 2, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1, 5, 0.1, 1]
    y = np.digitize(X[:, 0] + 0.1 * X[:, 1] ** 2 + rng.normal(0, 0.5, n), np.linspace(-1, 2, n_classes - 1))
    y[:n_classes] = np.arange(n_classes)
    return X, y


def unit_rows(X: np.ndarray) -> np.ndarray:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


class SlowTree:
    """The algorithm of Appendix A with its misprints corrected, row by row, for two or more classes."""

    def __init__(self, X, y, max_splits, rescale):
        self.X, self.y, self.rescale = X, y, rescale
        n = len(y)
        self.leaves = {0: np.full(n, 1 / n)}
        self.tests, self.gains = [], []
        n_nodes = 1
        for _ in range(max_splits):
            options = {leaf: self.best(D) for leaf, D in self.leaves.items()}
            leaf = max(options, key=lambda i: (round(options[i][1], 12), -i))
            w, gain = options[leaf]
            if gain <= 1e-12:
                break
            D = self.leaves.pop(leaf)
            p = np.clip((1 + X @ w) / 2, 0, 1)
            self.tests.append((leaf, w, n_nodes))
            self.gains.append(gain)
            self.leaves[n_nodes], self.leaves[n_nodes + 1] = D * p, D * (1 - p)
            n_nodes += 2

    def best(self, D):
        if D.sum() <= 0:
            return None, 0.0
        test = best_stochastic_test(self.X, self.y, D)
        w = test.weights
        if self.rescale and w.any():
            steep = w / (self.rescale * np.sqrt(D @ (self.X @ w) ** 2 / D.sum()))
            w = max(w, steep, key=lambda one: round(self.gain(D, one), 10))
        return w, self.gain(D, w)

    def gain(self, D, w):
        p = np.clip((1 + self.X @ w) / 2, 0, 1)
        return self.index(D) - self.index(D * p) - self.index(D * (1 - p))

    def index(self, D):
        joint = np.array([D[self.y == k].sum() for k in np.unique(self.y)])
        return joint.sum() * INDEX_FUNCTIONS["gini"](joint / joint.sum()) if joint.sum() > 0 else 0.0

    def predict_proba(self, X):
        reach = {0: np.ones(len(X))}
        for leaf, w, child in self.tests:
            p = np.clip((1 + X @ w) / 2, 0, 1)
            r = reach.pop(leaf)
            reach[child], reach[child + 1] = r * p, r * (1 - p)
        out = 0
        for leaf, r in reach.items():
            D = self.leaves[leaf]
            purity = np.array([D[self.y == k].sum() for k in np.unique(self.y)]) / D.sum()
            out = out + r[:, None] * purity
        return out


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rescale", [False, 0.7])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=8)
def test_equals_the_slow_twin(n_classes, rescale, seed):
    X, y = problem(seed, n_classes)
    tree = StochasticTreeClassifier(max_splits=6, rescale=rescale, lookahead=False).fit(X, y)
    twin = SlowTree(unit_rows(X), y, 6, rescale)
    np.testing.assert_allclose(tree.tree_.gain, twin.gains, atol=1e-9)
    np.testing.assert_allclose(tree.predict_proba(X), twin.predict_proba(unit_rows(X)), atol=1e-7)


@pytest.mark.parametrize("options", [PUBLISHED, {"rescale": 1.5, "lookahead": False}, {}])
@given(seed=st.integers(0, 10**9), n_classes=st.integers(2, 4))
@settings(max_examples=12)
def test_identities(options, seed, n_classes):
    X, y = problem(seed, n_classes)
    tree = StochasticTreeClassifier(max_splits=12, **options).fit(X, y)
    grown = tree.tree_
    shares = np.bincount(y) / len(y)
    leaves = grown.masses[grown.leaves]
    assert leaves.sum() == pytest.approx(1, abs=1e-10)
    np.testing.assert_allclose(leaves.sum(axis=0), shares, atol=1e-10)
    sizes = leaves.sum(axis=1)
    index = sizes @ INDEX_FUNCTIONS["gini"](leaves / np.where(sizes > 0, sizes, 1)[:, None])
    assert INDEX_FUNCTIONS["gini"](shares) - grown.gain.sum() == pytest.approx(index, abs=1e-9)
    steps = [step.criterion for step in tree.path_]
    assert steps[tree.n_splits_] == pytest.approx(index, abs=1e-9)
    assert all(before >= after - 1e-12 for before, after in pairwise(steps))
    votes = tree.apply(X) @ grown.value[grown.leaves]
    np.testing.assert_allclose(votes.mean(axis=0), shares, atol=1e-9)
    np.testing.assert_allclose(tree.apply(X).sum(axis=1), 1, atol=1e-10)
    np.testing.assert_allclose(tree.apply(X).mean(axis=0), sizes, atol=1e-9)
    error = 1 - tree.score(X, y)
    assert tree.path_[tree.n_splits_].training_error == pytest.approx(error, abs=1.5 / len(y))


@pytest.mark.parametrize("rescale", [0.7, 3.0])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=10)
def test_rescaling_never_reduces_the_gain_of_the_root(rescale, seed):
    X, y = problem(seed)
    plain = StochasticTreeClassifier(max_splits=1, **PUBLISHED).fit(X, y)
    rescaled = StochasticTreeClassifier(max_splits=1, rescale=rescale, lookahead=False).fit(X, y)
    assert rescaled.tree_.gain.sum() >= plain.tree_.gain.sum() - 1e-12


def test_probabilities_are_expectations_over_sampled_paths():
    X, y = problem(2)
    tree = StochasticTreeClassifier(max_splits=5, rescale=1.0, lookahead=False).fit(X, y)
    rng = np.random.default_rng(0)
    rows, grown = unit_rows(X), tree.tree_
    split_of = {int(node): i for i, node in enumerate(grown.split_nodes)}
    n_samples = 4000
    total = np.zeros(3)
    for j in range(3):
        for _ in range(n_samples):
            node = 0
            while node in split_of:
                p = np.clip((1 + rows[j] @ grown.weights[split_of[node]]) / 2, 0, 1)
                node = int(grown.first_child[node]) + int(rng.random() >= p)
            total[j] += grown.value[node, 1]
    np.testing.assert_allclose(
        tree.predict_proba(X[:3])[:, 1], total / n_samples, atol=4 * 0.5 / np.sqrt(n_samples)
    )


# --- lookahead ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 6, 20])
def test_xor_is_found_by_second_moments(d):
    X, y = make_oblique_xor(6000, d, random_state=d)
    tree = StochasticTreeClassifier().fit(X[:4000], y[:4000])
    published = StochasticTreeClassifier(**PUBLISHED).fit(X[:4000], y[:4000])
    assert tree.tree_.second_moments[0]
    score = tree.score(X[4000:], y[4000:])
    assert score > 0.93
    assert d == 2 or score > published.score(X[4000:], y[4000:]) + 0.1
    assert tree.estimated_error_ == pytest.approx(1 - score, abs=0.02)


def test_xor_of_four_rows_that_are_exactly_balanced():
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]] * 25)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    assert StochasticTreeClassifier().fit(X, y).score(X, y) == 1
    assert StochasticTreeClassifier(**PUBLISHED).fit(X, y).n_splits_ == 0  # every linear gain is zero


def test_three_classes_by_the_size_of_a_projection():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    product = (X @ np.ones(6)) * (X @ [1, 1, 1, -1, -1, -1])
    y = np.digitize(product, [-0.3, 0.3])
    tree = StochasticTreeClassifier(threshold=0.5).fit(X[:3000], y[:3000])
    plain = StochasticTreeClassifier(threshold=0.5, **SOFT).fit(X[:3000], y[:3000])
    assert tree.tree_.second_moments[0]
    assert tree.score(X[3000:], y[3000:]) > plain.score(X[3000:], y[3000:]) + 0.1


def test_the_estimate_on_noise_is_near_chance():
    estimates = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 8)), rng.integers(0, 2, 400)
        tree = StochasticTreeClassifier().fit(X, y)
        estimates.append(tree.estimated_error_)
    # The best of 51 estimates of one half is below one half, but not by much.
    assert 0.42 < np.mean(estimates) < 0.52
    training = StochasticTreeClassifier(lookahead=False).fit(X, y)
    assert 1 - training.score(X, y) < np.mean(estimates) - 0.05


@pytest.mark.slow
def test_the_estimate_is_the_error_on_new_rows_on_average():
    differences = []
    for seed in range(24):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 15))
        X = rng.normal(size=(2300, d))
        w = rng.normal(size=(2, d)) / np.sqrt(d)
        y = (X @ w[0] + (X @ w[1]) ** 2 - 1 + rng.normal(0, 0.5, len(X)) > 0).astype(int)
        tree = StochasticTreeClassifier().fit(X[:300], y[:300])
        differences.append(1 - tree.score(X[300:], y[300:]) - tree.estimated_error_)
    assert abs(np.mean(differences)) < 0.02
    assert np.std(differences) < 0.05


# --- options ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["entropy", "matsushita", INDEX_FUNCTIONS["entropy"]])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_criteria_decrease_step_by_step(criterion, n_classes):
    X, y = problem(4, n_classes, 120)
    tree = StochasticTreeClassifier(criterion=criterion, max_splits=6, **PUBLISHED).fit(X, y)
    steps = [step.criterion for step in tree.path_]
    assert all(before > after for before, after in pairwise(steps))
    assert tree.tree_.gain[0] == pytest.approx(
        best_stochastic_test(unit_rows(X), y, index=criterion).gain, abs=1e-9
    )


def test_thresholds():
    X, y = problem(6, n=200)
    y = (y & (np.arange(200) % 4 == 0)).astype(int)  # few positives
    prior = StochasticTreeClassifier(max_splits=8, **PUBLISHED).fit(X, y)
    half = StochasticTreeClassifier(max_splits=8, threshold=0.5, **SOFT).fit(X, y)
    tuned = StochasticTreeClassifier(max_splits=8, **SOFT).fit(X, y)
    np.testing.assert_allclose(prior.thresholds_, [1 - y.mean(), y.mean()])
    assert half.predict(X).sum() < prior.predict(X).sum()
    assert tuned.score(X, y) >= max(prior.score(X, y), half.score(X, y))
    np.testing.assert_allclose(tuned.decision_function(X) > 0, tuned.predict(X) == 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_calibrated_and_decide_nothing(n_classes):
    """Soft tests say too little of three clear classes: what that loses in nats is halved at least."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(6000, 3))
    score = (
        5 * X[:, :n_classes] if n_classes == 3 else np.column_stack([0 * X[:, 0], 6 * X[:, 0] + 2 * X[:, 1]])
    )
    truth = np.exp(score - score.max(axis=1, keepdims=True))
    truth /= truth.sum(axis=1, keepdims=True)
    y = (rng.random((6000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    tree = StochasticTreeClassifier().fit(X[:1000], y[:1000])
    new, label = X[1000:], y[1000:]
    votes = tree.apply(new) @ tree.tree_.value[tree.tree_.leaves]
    p, own = tree.predict_proba(new), (np.arange(5000), label)
    lost, by_votes, least = (
        -np.log(one[own]).mean() for one in (p, np.clip(votes, 5e-4, None), truth[1000:])
    )
    assert least < lost < (by_votes + 1e-3 if n_classes == 2 else (least + by_votes) / 2)
    rated = np.array_split(np.argsort(p[:, 1]), 10)
    away = np.mean([abs(p[rows, 1].mean() - (label[rows] == 1).mean()) for rows in rated])
    assert away < (0.06 if n_classes == 2 else 0.03)  # one factor is no curve
    scores = tree.decision_function(new)
    chosen = (scores > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    assert (tree.predict(new) == chosen).all()
    shares = np.bincount(y[:1000]) / 1000
    moved = np.maximum(shares + tree._calibration.times * (votes - shares), 0.5 / 1000)
    np.testing.assert_allclose(p, moved / moved.sum(axis=1, keepdims=True), atol=1e-12)
    fixed = StochasticTreeClassifier(published=True).fit(X[:1000], y[:1000])
    np.testing.assert_allclose(
        fixed.predict_proba(new), fixed.apply(new) @ fixed.tree_.value[fixed.tree_.leaves], atol=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_factor_of_probabilities_has_the_least_loss(n_classes):
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(n_classes), 400)
    y = (rng.random((400, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    mass, shares = rng.random(400) / 400, truth.mean(axis=0)
    votes = shares + (truth - shares) / 3
    found = Calibration.of(votes[:, 1:] if n_classes == 2 else votes, y, mass, shares, 500)

    def loss(times):
        value = np.maximum(shares + times * (votes - shares), 1e-3)
        lost = -mass @ np.log((value / value.sum(axis=1, keepdims=True))[np.arange(400), y])
        return 500 * lost / mass.sum() + np.log(times) ** 2

    assert found.times == pytest.approx(3, rel=0.3)
    assert loss(found.times) <= min(map(loss, np.geomspace(0.25, 8, 21))) + 1e-12
    np.testing.assert_allclose(found.moved(shares), shares)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_default_does_not_lose_accuracy_on_unequal_classes(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 5))
    towards = X[:, 0] / np.linalg.norm(X, axis=1) + rng.normal(0, 0.1, 4000)
    y = np.digitize(towards, [0.6] if n_classes == 2 else [0.6, 0.8])  # one row in ten and fewer
    train, new = slice(0, 2000), slice(2000, None)
    majority = (y[new] == 0).mean()
    default = StochasticTreeClassifier().fit(X[train], y[train]).score(X[new], y[new])
    prior = StochasticTreeClassifier(**PUBLISHED).fit(X[train], y[train])
    assert default > majority + 0.01
    assert default > prior.score(X[new], y[new]) + 0.05


def test_the_interval_of_the_estimated_error():
    X, y = problem(6, n=300)
    tree = StochasticTreeClassifier().fit(X, y)
    low, high = tree.estimated_error_interval_
    assert 0 <= low < tree.estimated_error_ < high <= 1
    # The estimate of the path was minimised by the choice of a size: it is never larger.
    assert tree.estimated_error_ >= tree.path_[tree.n_splits_].estimated_error
    more = StochasticTreeClassifier().fit(np.tile(X, (4, 1)), np.tile(y, 4)).estimated_error_interval_
    assert more[1] - more[0] < high - low
    assert np.isnan(StochasticTreeClassifier(lookahead=False).fit(X, y).estimated_error_interval_).all()


def test_majority_leaves():
    X, y = problem(7)
    tree = StochasticTreeClassifier(leaf="majority", max_splits=6, **PUBLISHED).fit(X, y)
    assert set(np.unique(tree.tree_.value)) <= {0.0, 1.0}


def test_max_depth_and_max_splits():
    X, y = problem(8)
    assert StochasticTreeClassifier(max_splits=3, **PUBLISHED).fit(X, y).n_splits_ == 3
    assert StochasticTreeClassifier(max_depth=2, **PUBLISHED).fit(X, y).tree_.depth.max() == 2
    assert StochasticTreeClassifier(max_splits=0).fit(X, y).predict_proba(X[:1])[0, 1] == pytest.approx(
        y.mean()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "ginny"}, "criterion must be"),
        ({"leaf": "mean"}, "leaf must be one of"),
        ({"threshold": "mean"}, "threshold must be"),
        ({"threshold": 1.5}, "threshold must lie"),
        ({"scale": "rank"}, "scale must be one of"),
        ({"rescale": 0.0}, "rescale must be"),
        ({"rescale": True}, "rescale must be"),
        ({"lookahead": True}, "lookahead must be one of"),
        ({"max_splits": -1}, "max_splits must be at least 0"),
    ],
)
def test_options_out_of_range_are_refused_by_name(options, message):
    X, y = problem(9)
    with pytest.raises(ValueError, match=message):
        StochasticTreeClassifier(**options).fit(X, y)


def test_a_number_as_threshold_of_many_classes():
    X, y = problem(9, 3)
    with pytest.raises(ValueError, match="is for two classes"):
        StochasticTreeClassifier(threshold=0.3).fit(X, y)


# --- tables -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("options", [PUBLISHED, {}])
def test_sparse_rows_give_the_same_tree(scale, options):
    rng = np.random.default_rng(0)
    X = random_array((300, 12), density=0.3, random_state=rng, format="csr")
    y = (np.asarray(X.sum(axis=1)).ravel() + X[:, [0]].toarray().ravel() > 2).astype(int)
    dense = StochasticTreeClassifier(max_splits=6, scale=scale, **options).fit(X.toarray(), y)
    sparse = StochasticTreeClassifier(max_splits=6, scale=scale, **options).fit(csr_matrix(X), y)
    np.testing.assert_allclose(
        sparse.predict_proba(csr_matrix(X)), dense.predict_proba(X.toarray()), atol=1e-9
    )


def test_ten_thousand_sparse_columns():
    rng = np.random.default_rng(0)
    some, rare = (
        random_array((2000, d), density=p, random_state=rng) for d, p in ((20, 0.3), (9980, 0.0001))
    )
    X = hstack([some, rare], format="csr")
    y = (X[:, :10].sum(axis=1) > X[:, 10:20].sum(axis=1)).astype(int)
    tree = StochasticTreeClassifier(max_splits=5).fit(X[:1000], y[:1000])
    error = 1 - tree.score(X[1000:], y[1000:])
    assert error < 0.25
    assert tree.estimated_error_ == pytest.approx(error, abs=0.05)
    assert np.isfinite(tree.predict_proba(X)).all()


def test_columns_that_hold_one_row_each_are_no_evidence():
    """All rows can be told apart, and nothing is known of new ones."""
    X = random_array((500, 10_000), density=0.002, random_state=np.random.default_rng(0), format="csr")
    y = (X[:, :3000].sum(axis=1) > X[:, 3000:6000].sum(axis=1)).astype(int)
    assert StochasticTreeClassifier(max_splits=5, lookahead=False).fit(X, y).score(X, y) > 0.9
    assert StochasticTreeClassifier(max_splits=5).fit(X, y).estimated_error_ > 0.4


def test_float32_stays_float32():
    X, y = problem(10, n=500)
    wide = StochasticTreeClassifier(max_splits=8, **PUBLISHED).fit(X, y)
    narrow = StochasticTreeClassifier(max_splits=8, **PUBLISHED).fit(X.astype(np.float32), y)
    assert narrow._preparation.rows(X[:5].astype(np.float32)).matrix.dtype == np.float32
    assert narrow.tree_.masses.dtype == np.float64
    np.testing.assert_allclose(narrow.predict_proba(X.astype(np.float32)), wide.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("options", [PUBLISHED, {}, {"criterion": "matsushita"}])
def test_hostile_tables(options):
    rng = np.random.default_rng(0)
    n = 80
    y = rng.integers(0, 2, n)
    tables = {
        "constant column": np.column_stack([np.full(n, 7.1), rng.normal(size=n)]),
        "only constants": np.full((n, 2), 3.3),
        "duplicated rows": np.repeat(rng.normal(size=(4, 3)), 20, axis=0),
        "zero rows": np.where(rng.random((n, 1)) < 0.5, 0.0, rng.normal(size=(n, 3))),
        "huge": rng.normal(size=(n, 3)) * [1e300, 1e-300, 1.0],
        "huge offset": rng.normal(size=(n, 2)) + 1e12,
        "missing": np.where(rng.random((n, 3)) < 0.3, np.nan, rng.normal(size=(n, 3))),
        "column missing": np.column_stack([np.full(n, np.nan), rng.normal(size=n)]),
    }
    for name, X in tables.items():
        for scale in ("standard", "minmax"):
            tree = StochasticTreeClassifier(max_splits=6, scale=scale, **options).fit(X, y)
            probabilities = tree.predict_proba(X)
            assert np.isfinite(probabilities).all(), name
            assert ((probabilities >= 0) & (probabilities <= 1)).all(), name
            assert np.isfinite(tree.tree_.weights).all(), name


def test_a_class_of_one_row():
    X, y = problem(11, 3)
    y = np.minimum(y, 1)
    y[0] = 2
    tree = StochasticTreeClassifier(max_splits=8).fit(X, y)
    assert np.isfinite(tree.predict_proba(X)).all()
    assert tree.classes_.tolist() == [0, 1, 2]


def test_rows_unlike_those_of_training():
    X, y = problem(12)
    tree = StochasticTreeClassifier(max_splits=8).fit(X, y)
    for new in (np.zeros((1, 4)), np.full((1, 4), 1e9), X.mean(axis=0, keepdims=True)):
        p = tree.predict_proba(new)
        assert ((p >= 0) & (p <= 1)).all()


def test_weights_are_frequencies():
    X, y = problem(13)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = StochasticTreeClassifier(max_splits=8).fit(X, y, sample_weight=weight)
    repeated = StochasticTreeClassifier(max_splits=8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.n_splits_ == repeated.n_splits_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-9)


def test_tables_with_categories():
    rng = np.random.default_rng(0)
    n = 400
    table = {
        "city": rng.choice(["Rome", "Oslo", "Bonn"], n).astype(object),
        "age": rng.normal(40, 10, n),
        "plan": rng.integers(0, 3, n),
    }
    table["city"][:5] = None
    y = np.where((table["city"] == "Rome") ^ (rng.random(n) < 0.05), "yes", "no")
    tree = StochasticTreeClassifier(categorical_features=["plan"]).fit(table, y)
    assert tree.score(table, y) > 0.93
    assert tree.named_weights(0, 1)[0][0] == "city = Rome"
    assert {"plan = 0", "city = missing", "age"} <= set(tree.weight_names_)
    new = {"city": np.array(["Paris"], object), "age": np.array([50.0]), "plan": np.array([9])}
    assert np.isfinite(tree.predict_proba(new)).all()
    pd = pytest.importorskip("pandas")
    frame = StochasticTreeClassifier(categorical_features=["plan"]).fit(pd.DataFrame(table), y)
    np.testing.assert_allclose(frame.predict_proba(pd.DataFrame(table)), tree.predict_proba(table))


def test_many_values_become_sparse_columns():
    rng = np.random.default_rng(0)
    values = np.array([f"v{i}" for i in rng.integers(0, 400, 3000)])
    good = rng.random(400) < 0.5
    y = good[[int(v[1:]) for v in values]] ^ (rng.random(3000) < 0.05)
    table = {"value": values, "number": rng.normal(size=3000)}
    tree = StochasticTreeClassifier(max_splits=5).fit(table, y)
    assert tree.score(table, y) > 0.9


# --- in front of users --------------------------------------------------------------------------------


def test_text_and_plain_data():
    X, y = problem(14)
    tree = StochasticTreeClassifier(max_splits=2, **PUBLISHED).fit(X, y)
    text = tree.export_text(max_weights=2)
    assert text.splitlines()[0].startswith("all rows: 100.0% of the rows, test ")
    assert len(text.splitlines()) == tree.tree_.n_nodes
    assert "split further" in tree.export_text(max_depth=0)
    data = tree.to_dict(max_weights=2)
    assert data["share"] == pytest.approx(1)
    assert len(data["children"]) == 2
    assert len(data["weights"]) == 2
    import json

    assert json.loads(json.dumps(data)) == data


def test_plot_of_the_first_splits():
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    from offsample.plotting import plot_stochastic_tree

    X, y = problem(15)
    tree = StochasticTreeClassifier(max_splits=3, **PUBLISHED).fit(X, y)
    axes = plot_stochastic_tree(tree, max_splits=2, max_weights=3)
    assert len(axes) == 2
    assert [label.get_text() for label in axes[0].get_yticklabels()] == [
        n for n, _ in tree.named_weights(0, 3)
    ]
    assert len(axes[0].patches) == 3
    plt.close("all")
    stump = StochasticTreeClassifier(max_splits=0).fit(X, y)
    with pytest.raises(ValueError, match="no splits"):
        plot_stochastic_tree(stump)


# --- kinds of tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_published_is_the_algorithm_of_the_paper(n_classes):
    X, y = problem(9, n_classes)
    tree = StochasticTreeClassifier(published=True, max_splits=6).fit(X, y)
    twin = SlowTree(unit_rows(X), y, 6, rescale=False)
    np.testing.assert_allclose(tree.tree_.gain, twin.gains, atol=1e-9)
    np.testing.assert_allclose(tree.predict_proba(X), twin.predict_proba(unit_rows(X)), atol=1e-7)
    np.testing.assert_array_equal(tree.predict(X), tree.predict_proba(X).argmax(axis=1))


@pytest.mark.parametrize("geometry", ["offset", "covariance"])
def test_a_test_with_an_offset_row_by_row(geometry):
    """Its direction is that of the contrast of means, by the shrunken covariance of sklearn or not."""
    from sklearn.covariance import oas

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4)) @ rng.normal(size=(4, 4)) + 3
    y = (X @ [1, 1, -1, 0] + rng.normal(0, 0.5, 400) > np.quantile(X @ [1, 1, -1, 0], 0.8)).astype(int)
    tree = StochasticTreeClassifier(geometry=geometry, max_splits=1).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    lengths = np.linalg.norm(Z, axis=1)
    Z = Z / np.maximum(lengths, np.quantile(lengths, 0.95, method="inverted_cdf"))[:, None]
    w = Z[y == 1].mean(axis=0) - Z[y == 0].mean(axis=0)
    if geometry == "covariance":
        w = np.linalg.solve(oas(Z)[0], w)
    found = tree.tree_.weights[0]
    scores = Z @ (w / np.linalg.norm(w))
    steepness = 1 / (0.7 * scores.std())
    np.testing.assert_allclose(found[:-1], w / np.linalg.norm(w) * steepness, rtol=1e-4)
    # The place is the best of a grid of steps of 3/64 of a standard deviation, for a sharp test.
    place = -found[-1] / steepness

    def index(cut):
        sides = [y[scores > cut], y[scores <= cut]]
        return sum(len(side) * 4 * side.mean() * (1 - side.mean()) for side in sides if len(side))

    step = 3 / 64 * scores.std()
    assert index(place) <= min(index(place + i * step) for i in range(-20, 21)) + 1e-9
    p = np.clip((1 + Z @ found[:-1] + found[-1]) / 2, 0, 1)
    np.testing.assert_allclose(tree.apply(X)[:, 0], p, atol=1e-9)


def test_the_kind_with_the_fewest_errors_is_kept():
    """A plane away from the origin, of columns that go together, needs an offset and their covariance."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 5)) @ np.linalg.cholesky(0.97 * np.ones((5, 5)) + 0.03 * np.eye(5)).T
    side = X[:, 0] - X[:, 1]
    y = np.digitize(side, np.quantile(side, [0.3, 0.9]))
    train, new = slice(0, 600), slice(600, None)
    scores = {}
    for geometry in ("unit", "offset", "covariance", "auto"):
        tree = StochasticTreeClassifier(geometry=geometry).fit(X[train], y[train])
        scores[geometry] = tree.score(X[new], y[new])
    assert scores["covariance"] > scores["unit"] + 0.1
    assert scores["auto"] == scores["covariance"]
    assert tree.estimated_error_ == pytest.approx(1 - scores["auto"], abs=0.04)


def test_many_classes_have_more_tests():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(700, 2))
    y = (3 * X[:, 0]).astype(int) * 3 + (3 * X[:, 1]).astype(int)
    tree = StochasticTreeClassifier(geometry="offset").fit(X[:400], y[:400])
    assert len(tree.path_) > 51
    assert tree.score(X[400:], y[400:]) > 0.85
