import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from offsample.bounds import amplification_depth
from offsample.criteria import INDEX_FUNCTIONS
from offsample.induction import StochasticTest, best_stochastic_test
from papers.stochastic_trees._amplified import amplified_tree
from papers.stochastic_trees._boosting import least_depth
from papers.stochastic_trees._geometry import (
    extreme_weights,
    is_attainable,
    least_weights,
    weighted_gini,
)
from papers.stochastic_trees._size import top_down_size


def unit_rows(rng: np.random.Generator, n: int, d: int, shift: float = 0.0) -> np.ndarray:
    X = rng.normal(size=(n, d)) + shift
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def problem(seed: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows that lean to one side or not, classes that depend on them or not, and weights."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(n_classes + 2, 40)), int(rng.integers(2, 6))
    X = unit_rows(rng, n, d, shift=rng.choice([0.0, 0.5, 3.0]))
    if rng.random() < 0.3:
        X *= rng.random((n, 1))
    y = np.digitize(X[:, 0] + rng.normal(0, rng.choice([0.1, 2.0]), n), np.linspace(-1, 1, n_classes - 1))
    y[:n_classes] = np.arange(n_classes)
    return X, y, rng.random(n) * (rng.random(n) < 0.9) + 1e-3


def slow_gain(w: np.ndarray, X: np.ndarray, y: np.ndarray, D: np.ndarray, index: str) -> float:
    """Decrease of the index, row by row."""
    D = D / D.sum()
    p = (1 + X @ w) / 2
    classes = np.unique(y)

    def term(mass: np.ndarray) -> float:
        joint = np.array([mass[y == k].sum() for k in classes]).clip(0)
        total = joint.sum()
        return float(total * INDEX_FUNCTIONS[index](joint / total)) if total > 0 else 0.0

    return term(D) - term(D * p) - term(D * (1 - p))


def gini_moments(X, y, D, n_classes):
    """a, and the contrasts c_k, by their definition."""
    mass = D / D.sum()
    onehot = (y[:, None] == np.arange(n_classes)).astype(float)
    return mass @ X, ((onehot - mass @ onehot) * mass[:, None]).T @ X


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_no_random_test_is_better_than_the_exact_one(n_classes):
    """1,500 problems, 10,000 tests each: unit vectors, and a third of them shorter."""
    rng = np.random.default_rng(n_classes)
    pool = rng.normal(size=(10_000, 5))
    shorter = np.where(np.arange(10_000) % 3 == 0, rng.random(10_000), 1.0)[:, None]
    tests = {
        d: shorter * pool[:, :d] / np.linalg.norm(pool[:, :d], axis=1, keepdims=True) for d in range(2, 6)
    }
    for seed in range(1500):
        X, y, D = problem(seed, n_classes)
        test = best_stochastic_test(X, y, D)
        a, contrasts = gini_moments(X, y, D, n_classes)
        w = tests[X.shape[1]]
        along = np.einsum("ik,ik->i", (seen := w @ contrasts.T), seen)
        gains = n_classes / (n_classes - 1) * along / (1 - (w @ a) ** 2)
        assert gains.max() <= test.gain + 1e-12


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=50)
def test_the_gain_is_that_of_the_index_row_by_row(n_classes, seed):
    X, y, D = problem(seed, n_classes)
    test = best_stochastic_test(X, y, D)
    assert slow_gain(test.weights, X, y, D, "gini") == pytest.approx(test.gain, abs=1e-12)


def test_no_grid_is_better_than_the_exact_solver_on_thousands_of_problems():
    for seed in range(2000):
        X, y, D = problem(seed)
        exact = best_stochastic_test(X, y, D).gain
        # The grid of both masses costs a hundred times as much as the others.
        for solver in ("fixed_p_search_q", "dependent", "fixed_pq")[: 3 if seed % 10 == 0 else 2]:
            gain = best_stochastic_test(X, y, D, solver=solver, epsilon=1.0).gain
            assert gain <= exact + 1e-12
            assert solver != "fixed_p_search_q" or exact - gain <= 1.0


@given(seed=st.integers(0, 10**9), epsilon=st.sampled_from([0.5, 1.0]))
@settings(max_examples=30)
def test_no_grid_is_better_than_the_exact_solver(seed, epsilon):
    X, y, D = problem(seed)
    exact = best_stochastic_test(X, y, D)
    for solver in ("fixed_pq", "fixed_p_search_q", "dependent"):
        test = best_stochastic_test(X, y, D, solver=solver, epsilon=epsilon)
        assert test.gain <= exact.gain + 1e-12
        assert np.linalg.norm(test.weights) <= 1 + 1e-9
        # P, Q and gain belong to the weights, children not exchanged.
        p = (1 + X @ test.weights) / 2
        mass = D / D.sum()
        assert test.probability == pytest.approx(mass @ p, abs=1e-12)
        assert test.positive == pytest.approx(mass @ (p * y), abs=1e-12)
        rho = mass @ y
        assert test.gain == pytest.approx(
            4 * rho * (1 - rho) - weighted_gini(test.probability, test.positive, rho), abs=1e-10
        )
    searched = best_stochastic_test(X, y, D, solver="fixed_p_search_q", epsilon=epsilon)
    assert exact.gain - searched.gain <= epsilon


def best_angle(X: np.ndarray, y: np.ndarray, D: np.ndarray, index: str) -> float:
    """Maximum over unit vectors of the plane of a and b: a dense grid, then closer around its top."""
    D = D / D.sum()
    basis = np.linalg.qr(np.stack([D @ X, (D * y) @ X]).T)[0].T
    rows, masses = X @ basis.T, np.stack([D * (y == 0), D * (y == 1)])
    shares = masses.sum(axis=1)

    def term(joint: np.ndarray) -> np.ndarray:
        total = joint.sum(axis=1)
        share = joint / np.where(total > 0, total, 1)[:, None]
        return np.where(total > 0, total * INDEX_FUNCTIONS[index](share), 0.0)

    def gains(angles: np.ndarray) -> np.ndarray:
        p = (1 + rows @ np.stack([np.cos(angles), np.sin(angles)])) / 2
        joint = np.clip((masses @ p).T, 0, shares)
        return term(shares[None])[0] - term(joint) - term(shares - joint)

    grid = np.linspace(0, np.pi, 361)
    values, step = gains(grid), grid[1]
    best = values.max()
    for i in np.argsort(values)[-3:]:
        middle, width = grid[i], step
        for _ in range(12):
            angles = middle + np.linspace(-width, width, 33)
            found = gains(angles)
            middle, width, best = angles[found.argmax()], width / 12, max(best, found.max())
    return float(best)


@pytest.mark.parametrize("index", ["gini", "entropy", "matsushita"])
def test_exact_equals_a_search_over_the_angle(index):
    # Where a child is pure, a root makes 1e-8 of the rounding of a mass, 1e-16.
    tolerance = 1e-8 if index == "matsushita" else 1e-10
    for seed in range(300):
        X, y, D = problem(seed)
        test = best_stochastic_test(X, y, D, index=index)
        assert test.gain == pytest.approx(best_angle(X, y, D, index), abs=tolerance)


@pytest.mark.parametrize("index", ["entropy", "matsushita"])
@given(seed=st.integers(0, 10**9))
@settings(max_examples=15)
def test_other_indexes_of_many_classes_beat_random_tests_and_the_gini_direction(index, seed):
    X, y, D = problem(seed, 3)
    test = best_stochastic_test(X, y, D, index=index)
    assert slow_gain(test.weights, X, y, D, index) == pytest.approx(test.gain, abs=1e-9)
    rng = np.random.default_rng(seed)
    others = [best_stochastic_test(X, y, D).weights, *unit_rows(rng, 200, X.shape[1])]
    assert max(slow_gain(w, X, y, D, index) for w in others) <= test.gain + 1e-8


def test_a_callable_index_is_as_good_as_its_name():
    X, y, D = problem(5)
    named = best_stochastic_test(X, y, D, index="entropy")
    called = best_stochastic_test(X, y, D, index=INDEX_FUNCTIONS["entropy"])
    np.testing.assert_allclose(named.weights, called.weights, atol=1e-9)


def test_more_classes_agree_with_two():
    X, y, D = problem(3)
    two = best_stochastic_test(X, y, D)
    c = (D / D.sum() * (y - (D @ y) / D.sum())) @ X
    a = D @ X / D.sum()
    assert two.gain == pytest.approx(4 * (c @ c + (a @ c) ** 2 / (1 - a @ a)), abs=1e-12)


@given(seed=st.integers(0, 10**9), bias=st.floats(0.01, 20))
def test_a_constant_column_scales_the_gain(seed, bias):
    X, y, D = problem(seed)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    plain = best_stochastic_test(X, y, D)
    padded = np.column_stack([X, np.full(len(X), bias)]) / np.sqrt(1 + bias**2)
    # The gain of a test without weight on the constant; the best one may use the constant as well.
    alone = slow_gain(np.append(plain.weights, 0), padded, y, D, "gini")
    a = D @ X / D.sum()
    lean = a @ plain.weights
    theta2 = 1 / (1 + bias**2)
    assert alone == pytest.approx(plain.gain * theta2 * (1 - lean**2) / (1 - theta2 * lean**2), rel=1e-9)
    assert best_stochastic_test(padded, y, D).gain == pytest.approx(theta2 * plain.gain, rel=1e-7, abs=1e-12)


# --- degenerate cases ---------------------------------------------------------------------------------


def check_sound(test: StochasticTest) -> None:
    assert np.isfinite(test.weights).all()
    assert np.isfinite([test.gain, test.probability]).all()
    assert np.isfinite(np.asarray(test.positive)).all()
    assert np.linalg.norm(test.weights) <= 1 + 1e-9
    assert test.gain >= 0


E = np.eye(2)
CASES = {
    "a = 0": ([E[0], -E[0], E[1], -E[1]], [1, 0, 1, 0], 0.5),
    "a = 0 and b = 0": ([E[0], -E[0]] * 2, [1, 1, 0, 0], 0.0),
    "all rows the same": ([E[0]] * 4, [1, 0, 0, 1], 0.0),
    "pure": ([E[0], E[1], -E[0], E[0]], [1, 1, 1, 1], 0.0),
    "b parallel to a": ([E[0], E[0], -E[0]], [1, 1, 0], 8 / 9),
    "zero rows": ([0 * E[0]] * 3, [0, 1, 0], 0.0),
    "opposite": ([E[0], -E[0]], [1, 0], 1.0),
    "one row": ([E[0]], [1], 0.0),
}


@pytest.mark.parametrize("solver", ["exact", "fixed_pq", "fixed_p_search_q", "dependent"])
@pytest.mark.parametrize("index", ["gini", "entropy", "matsushita"])
@pytest.mark.parametrize("case", list(CASES))
def test_degenerate_problems_have_an_answer(case, index, solver):
    X, y, gain = CASES[case]
    test = best_stochastic_test(np.array(X), y, index=index, solver=solver, epsilon=1.0)
    check_sound(test)
    if index == "gini" and (solver == "exact" or case == "b parallel to a"):
        assert test.gain == pytest.approx(gain, abs=1e-9)


def test_nearly_the_same_rows():
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-6, 1e-9):
        X = np.array([1.0, 0, 0]) + size * rng.normal(size=(20, 3))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        y = (X[:, 1] > 0).astype(int)
        check_sound(best_stochastic_test(X, y))
        check_sound(best_stochastic_test(X, y, index="matsushita"))


def test_rows_of_weight_zero_do_not_matter():
    X, y, D = problem(11)
    test = best_stochastic_test(X, y, D)
    again = best_stochastic_test(
        np.concatenate([X, X[:3]]), np.concatenate([y, [7, 8, 9]]), np.concatenate([D, np.zeros(3)])
    )
    np.testing.assert_allclose(again.weights, test.weights, atol=1e-12)


def test_sparse_rows_give_the_same_test():
    X, y, D = problem(12)
    X = X * (np.abs(X) > 0.3)
    dense, sparse = best_stochastic_test(X, y, D), best_stochastic_test(csr_matrix(X), y, D)
    np.testing.assert_allclose(sparse.weights, dense.weights, atol=1e-10)
    assert sparse.gain == pytest.approx(dense.gain, abs=1e-12)


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        pytest.param([[2.0, 0]], [1], {}, "row 0 of X has norm 2", id="row longer than 1"),
        pytest.param([[0.5, 0]], [1, 0], {}, "one class for each of 1 rows", id="more classes than rows"),
        pytest.param([[np.nan, 0]], [1], {}, "finite", id="missing number"),
        pytest.param([[0.5, 0]], [1], {"solver": "best"}, "solver must be one of", id="unknown solver"),
        pytest.param([[0.5, 0]], [1], {"epsilon": 0.0}, "epsilon must lie", id="epsilon 0"),
        pytest.param([[0.5, 0]], [1], {"sample_weight": [-1.0]}, "not negative", id="negative weight"),
        pytest.param(
            [[0.5, 0], [0.1, 0.3], [0.2, 0.2]],
            [0, 1, 2],
            {"solver": "fixed_pq"},
            "two classes",
            id="three classes for a solver of two",
        ),
        pytest.param(["a"], [1], {}, "two dimensions", id="strings"),
    ],
)
def test_rows_classes_or_options_that_no_test_can_be_found_for_are_refused(X, y, options, message):
    with pytest.raises(ValueError, match=message):
        best_stochastic_test(X, y, **options)


# --- the lemmas ---------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**9))
@example(seed=60265)  # b is nearly a multiple of a
def test_lemmas_give_weights_with_the_masses_asked_for(seed):
    X, y, D = problem(seed)
    D = D / D.sum()
    a, b, rho = D @ X, (D * y) @ X, float(D @ y)
    if np.linalg.norm(b - (a @ b) / (a @ a) * a) < 1e-6:
        return
    p, q = 0.5 + 0.2 * np.linalg.norm(a), rho / 2
    w = least_weights(p, q, rho, a, b)
    assert (1 + a @ w) / 2 == pytest.approx(p, abs=1e-9)
    assert (rho + b @ w) / 2 == pytest.approx(q, abs=1e-9)
    assert is_attainable(p, q, rho, a, b) == (np.linalg.norm(w) <= 1)
    high, low = extreme_weights(p, a, b)
    for w in (high, low):
        assert np.linalg.norm(w) == pytest.approx(1)
        assert (1 + a @ w) / 2 == pytest.approx(p, abs=1e-9)
    assert b @ high >= b @ low


def test_attainable_stays_correct_where_a_and_b_are_nearly_parallel():
    a, b = np.array([0.5, 0.0]), np.array([0.3, 1e-9])
    on_the_ellipse = (1 + a @ [0.6, 0.8]) / 2, (0.5 + b @ [0.6, 0.8]) / 2
    assert not is_attainable(on_the_ellipse[0], on_the_ellipse[1] + 1e-8, 0.5, a, b)


def test_an_unattainable_p_is_refused():
    with pytest.raises(ValueError, match="not attainable"):
        extreme_weights(0.99, [0.1, 0.0], [0.0, 0.1])


def test_weighted_gini_is_its_definition():
    p, q, rho = 0.3, 0.2, 0.4
    direct = p * 4 * (q / p) * (1 - q / p) + (1 - p) * 4 * ((rho - q) / (1 - p)) * (1 - (rho - q) / (1 - p))
    assert weighted_gini(p, q, rho) == pytest.approx(direct)
    assert weighted_gini([0.0, 1.0], [0.0, rho], rho).tolist() == pytest.approx([4 * rho * (1 - rho)] * 2)


def test_fixed_pq_breaks_its_promise_where_the_ellipse_is_thin():
    # Positives around one direction, negatives around the opposite one, tilted: a and b nearly parallel.
    angles = np.deg2rad([30, -30, 210, 150]) + np.array([0, 0, 1e-6, 1e-6])
    X, y = np.stack([np.cos(angles), np.sin(angles)], axis=1), [1, 1, 0, 0]
    D = np.array([0.15, 0.15, 0.35, 0.35])
    exact = best_stochastic_test(X, y, D)
    fixed = best_stochastic_test(X, y, D, solver="fixed_pq", epsilon=0.5)
    searched = best_stochastic_test(X, y, D, solver="fixed_p_search_q", epsilon=0.5)
    assert exact.gain == pytest.approx(0.6014, abs=5e-4)
    assert exact.gain - fixed.gain > 0.5
    assert exact.gain - searched.gain < 1e-3


# --- amplification ------------------------------------------------------------------------------------


def enumerate_tree(p: float, depth: int) -> float:
    """Probability of a leaf with more turns to the first child, leaf by leaf."""
    total = 0.0
    for leaf in range(2**depth):
        ones = leaf.bit_count()
        if 2 * ones > depth:
            total += p**ones * (1 - p) ** (depth - ones)
    return total


def test_amplified_tree_is_the_expectation_over_its_leaves():
    tree = amplified_tree([1.0, 0.0], margin=0.8, error=0.05)
    assert tree.depth <= 11
    X = np.array([[0.8, 0.1], [0.1, 0.0], [-0.9, 0.0]])
    expected = [enumerate_tree((1 + x[0]) / 2, tree.depth) for x in X]
    np.testing.assert_allclose(tree.predict_proba(X)[:, 1], expected, atol=1e-12)
    assert tree.predict(X).tolist() == [1, 1, 0]


@given(margin=st.floats(0.05, 1), error=st.floats(1e-4, 0.5))
def test_amplified_tree_keeps_its_promise(margin, error):
    tree = amplified_tree([1.0], margin, error)
    assert tree.depth % 2 == 1
    assert tree.depth >= 2 * np.log(1 / error) / margin**2
    assert tree.predict_proba([[margin], [-margin]]).min(axis=0).max() <= error
    sharp = least_depth(margin, error)
    assert sharp <= tree.depth
    from scipy.stats import binom

    assert binom.cdf(sharp // 2, sharp, (1 + margin) / 2) <= error
    assert sharp == 1 or binom.cdf(sharp // 2 - 1, sharp - 2, (1 + margin) / 2) > error


def test_amplification_refuses_nonsense():
    for margin, error in ((0.0, 0.1), (1.5, 0.1), (0.5, 0.0), (0.5, 1.0)):
        with pytest.raises(ValueError, match="must lie"):
            amplification_depth(margin, error)
    with pytest.raises(ValueError, match="norm"):
        amplified_tree([2.0], 0.5, 0.1)


# --- sizes --------------------------------------------------------------------------------------------


def test_the_recursion_behind_the_size_for_gini():
    edge, error = 0.3, 0.2
    size = top_down_size("gini", edge, error)
    index, t = 1.0, 1
    while t < size:  # the slowest decrease that Lemma B.1 allows
        index -= 4 * edge**2 * index**2 / t
        t += 1
    assert index / 2 <= error


@given(seed=st.integers(0, 10**9))
def test_the_gain_behind_the_size_for_gini(seed):
    """A test that beats chance by γ on the balanced distribution gains at least 4 γ² G²."""
    rng = np.random.default_rng(seed)
    q, alpha, beta = rng.random(3)
    edge = abs(alpha - beta) / 2
    p, joint = q * alpha + (1 - q) * beta, q * alpha
    index = 4 * q * (1 - q)
    assert index - weighted_gini(p, joint, q) >= 4 * edge**2 * index**2 - 1e-12


def test_sizes_as_printed():
    assert top_down_size("gini", 0.5, 0.5) == 1
    assert top_down_size("gini", 0.1, 0.1, constant=2.0, log=True) == pytest.approx(2 / 1e-4)
    assert top_down_size("entropy", 0.5, 0.1, log=True) == pytest.approx(4 * np.log(10) ** 2)
    assert top_down_size("matsushita", 0.5, 0.1) == pytest.approx(10**4)
    assert top_down_size("gini", 0.01, 0.01) == np.inf
    for options in (("error", 0.1, 0.1), ("gini", 0.6, 0.1), ("gini", 0.1, 0.0)):
        with pytest.raises(ValueError, match="must"):
            top_down_size(*options)
    with pytest.raises(ValueError, match="constant"):
        top_down_size("gini", 0.1, 0.1, constant=0.0)
