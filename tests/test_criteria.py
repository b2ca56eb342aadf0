import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy
from sklearn.metrics import mutual_info_score
from strategies import tables
from twins import expand, loo_error, training_error, vote_error

from offsample.counts import CellCounts
from offsample.criteria import (
    CRITERIA,
    INDEX_FUNCTIONS,
    bayes_loo,
    gain_ratio,
    ginger,
    gini_error,
    index_value,
    information_gain,
    is_permissible,
    mantaras_distance,
    misclassification,
    u_statistic_error,
    weighted_ginger,
)

SCORES = {**{name: c.function for name, c in CRITERIA.items()}, "u3": lambda c: u_statistic_error(c, 3)}
EVERY = pytest.mark.parametrize("score", SCORES.values(), ids=SCORES)
EXACT = {"rel": 1e-12, "abs": 1e-12}


class TestAgainstTheSlowTwin:
    @given(tables())
    def test_error_estimates(self, counts):
        cells, rows, n_classes = CellCounts(counts), expand(counts), counts.shape[1]
        for function, twin, rule in (
            (misclassification, training_error, "bayes"),
            (gini_error, training_error, "gini"),
            (ginger, loo_error, "gini"),
            (bayes_loo, loo_error, "bayes"),
        ):
            assert function(cells) == pytest.approx(float(twin(rows, rule, n_classes)), **EXACT)

    @given(tables(max_cells=2, max_classes=4, max_count=3), st.integers(1, 8))
    def test_u_statistics(self, counts, order):
        expected = vote_error(expand(counts), order, counts.shape[1])
        assert u_statistic_error(CellCounts(counts), order) == pytest.approx(float(expected), **EXACT)

    @given(tables())
    def test_information(self, counts):
        cells = CellCounts(counts)
        x, y = np.array(expand(counts)).T
        gain = mutual_info_score(x, y) / math.log(2)
        h_x = entropy(np.bincount(x), base=2)
        h_xy = entropy(counts.ravel(), base=2)
        assert information_gain(cells) == pytest.approx(gain, abs=1e-12)
        assert gain_ratio(cells) == pytest.approx(gain / h_x if h_x > 0 else 0, abs=1e-12)
        assert mantaras_distance(cells) == pytest.approx(1 - gain / h_xy if h_xy > 0 else 0, abs=1e-12)

    @given(tables(max_classes=2), st.sampled_from(sorted(INDEX_FUNCTIONS)))
    def test_index_of_two_classes(self, counts, index):
        formula = {
            "gini": lambda z: 4 * z * (1 - z),
            "entropy": lambda z: entropy([z, 1 - z], base=2),
            "matsushita": lambda z: 2 * math.sqrt(z * (1 - z)),
            "error": lambda z: 2 * min(z, 1 - z),
        }[index]
        expected = sum(n.sum() * formula(n[1] / n.sum()) for n in counts if n.sum()) / counts.sum()
        assert index_value(CellCounts(counts), index) == pytest.approx(expected, **EXACT)


class TestKnownValues:
    """Values worked out by hand, and those on which an implementation goes wrong most easily."""

    @pytest.mark.parametrize(
        ("counts", "expected"),
        [
            ([[4, 4]], 4 / 7),  # above 1/2, never clipped
            ([[1, 1]], 1.0),
            ([[1, 0], [0, 1]], 0.5),  # a singleton counts 1/2, not 0
            ([[1, 0, 0], [2, 0, 0]], 2 / 9),
            ([[10, 0]], 0.0),
        ],
    )
    def test_ginger(self, counts, expected):
        assert ginger(CellCounts(counts)) == pytest.approx(expected, abs=1e-15)

    @pytest.mark.parametrize(
        ("counts", "expected"),
        [
            ([[4, 4]], 1.0),
            ([[4, 5], [5, 4]], 13 / 18),
            ([[2, 1, 1]], 2 / 4 + 2 / 4 * (2 / 3)),
            ([[1, 0, 0]], 2 / 3),
        ],
    )
    def test_bayes_loo(self, counts, expected):
        assert bayes_loo(CellCounts(counts)) == pytest.approx(expected, abs=1e-15)

    def test_single_cell_is_not_a_division_by_zero(self):
        cells = CellCounts([[5, 5]])
        assert information_gain(cells) == gain_ratio(cells) == 0
        assert mantaras_distance(cells) == 1
        assert mantaras_distance(CellCounts([[5, 0]])) == 0

    def test_huge_nearly_pure_cell_keeps_its_digits(self):
        cells = CellCounts([[10**9, 1]])
        assert gini_error(cells) == pytest.approx(2e9 / (10**9 + 1) ** 2, rel=1e-12)
        assert ginger(cells) == pytest.approx(2 / (10**9 + 1), rel=1e-12)

    def test_doubling_every_row_lowers_ginger(self):
        counts = np.array([[3, 2], [1, 4], [1, 0]])
        assert ginger(CellCounts(2 * counts)) < ginger(CellCounts(counts))


class TestFamily:
    @given(tables(max_count=8))
    def test_order_one_is_ginger_and_a_large_order_is_leave_one_out(self, counts):
        cells = CellCounts(counts)
        assert u_statistic_error(cells, 1) == pytest.approx(ginger(cells), **EXACT)
        assert u_statistic_error(cells, int(counts.sum())) == pytest.approx(bayes_loo(cells), **EXACT)

    @given(st.integers(0, 15), st.integers(0, 15), st.integers(1, 5))
    def test_even_orders_equal_the_odd_one_before(self, positives, negatives, half):
        # in cells that have more rows than the order
        cells = CellCounts([[positives + 2 * half, negatives + 1]])
        odd = u_statistic_error(cells, 2 * half - 1)
        assert u_statistic_error(cells, 2 * half) == pytest.approx(odd, **EXACT)

    def test_large_cells_and_orders_do_not_underflow(self):
        # 10⁶ rows: drawing 199 of them is drawing with replacement to within 10⁻³.
        from scipy.stats import binom

        error = u_statistic_error(CellCounts([[600_000, 400_000]]), 199)
        wrong = binom.cdf(99, 199, 0.6)
        assert error == pytest.approx(0.6 * wrong + 0.4 * (1 - wrong), abs=1e-4)

    def test_bad_order(self):
        with pytest.raises(ValueError, match="at least 1"):
            u_statistic_error(CellCounts([[1, 2]]), 0)


class TestInvariants:
    @EVERY
    @given(counts=tables(), random=st.randoms(use_true_random=False))
    def test_order_of_cells_and_classes(self, score, counts, random):
        cells = random.sample(range(len(counts)), len(counts))
        classes = random.sample(range(counts.shape[1]), counts.shape[1])
        assert score(CellCounts(counts[cells])) == score(CellCounts(counts))
        assert score(CellCounts(counts[:, classes])) == pytest.approx(score(CellCounts(counts)), **EXACT)

    @EVERY
    @given(counts=tables())
    def test_profile_and_split_rows_change_nothing(self, score, counts):
        once = score(CellCounts(counts, np.full(len(counts), 3)))
        split = CellCounts(np.concatenate([counts, counts]), np.repeat([1, 2], len(counts)))
        assert score(split) == pytest.approx(once, **EXACT)
        assert score(split.profile()) == pytest.approx(once, **EXACT)

    @pytest.mark.parametrize("name", [n for n, c in CRITERIA.items() if c.cell_terms is not None])
    @given(one=tables(max_classes=3), other=tables(max_classes=3))
    def test_terms_of_two_sets_of_cells_add_up(self, name, one, other):
        if one.shape[1] != other.shape[1]:
            return
        criterion = CRITERIA[name]
        one, other = CellCounts(one), CellCounts(other)
        both = CellCounts(np.concatenate([one.counts, other.counts]))

        def total(cells):
            return cells.multiplicity @ criterion.cell_terms(cells.counts)

        assert total(both) == pytest.approx(total(one) + total(other), abs=1e-9)
        entropy_of_classes = 0.0
        if name == "information_gain":
            entropy_of_classes = entropy(both.class_totals, base=2)
        assert criterion(both) == pytest.approx(entropy_of_classes + total(both) / both.n_samples, abs=1e-10)

    @given(tables())
    def test_refining_never_raises_a_training_criterion(self, counts):
        coarse = CellCounts(counts.sum(axis=0, keepdims=True))
        for name in ("misclassification", "gini_error", *INDEX_FUNCTIONS):
            assert CRITERIA[name](CellCounts(counts)) <= CRITERIA[name](coarse) + 1e-12

    def test_an_identifier_column_of_ten_million_rows(self):
        cells = CellCounts.from_table([(1, 0, 6_000_000), (0, 1, 4_000_000)])
        assert [CRITERIA[n](cells) for n in ("ginger", "bayes_loo", "gini_error")] == [0.5, 0.5, 0.0]
        codes, y = np.arange(10**6), np.arange(10**6) % 2
        profile = CellCounts.from_codes(codes, y).profile()
        assert len(profile.counts) == 2
        assert ginger(profile) == 0.5


class TestWeights:
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
    def test_equal_weights_give_ginger(self, rows):
        codes, y = np.array(rows).T
        cells = CellCounts.from_codes(codes, y, n_classes=3)
        for weight in (1.0, 0.3):
            found = weighted_ginger(codes, y, np.full(len(y), weight), n_classes=3)
            assert found == pytest.approx(ginger(cells), **EXACT)

    def test_against_the_obvious_loop(self):
        rng = np.random.default_rng(3)
        codes, y, w = rng.integers(0, 8, 30), rng.integers(0, 3, 30), rng.random(30)
        losses = []
        for i in range(30):
            others = [j for j in range(30) if j != i and codes[j] == codes[i]]
            right = sum(w[j] for j in others if y[j] == y[i])
            losses.append(1 - right / sum(w[j] for j in others) if others else 2 / 3)
        expected = np.average(losses, weights=w)
        assert weighted_ginger(codes, y, w) == pytest.approx(expected, rel=1e-12)
        assert weighted_ginger(codes, y, 7 * w) == pytest.approx(expected, rel=1e-12)

    def test_rows_of_weight_zero_do_not_exist(self):
        assert weighted_ginger([0, 0, 0], [0, 1, 1], [1.0, 1.0, 0.0]) == 1.0

    def test_bad_weights(self):
        with pytest.raises(ValueError, match="differ in shape"):
            weighted_ginger([0, 1], [0, 1], [1.0])
        with pytest.raises(ValueError, match="positive sum"):
            weighted_ginger([0, 1], [0, 1], [0.0, 0.0])

    def test_sums_of_weights_are_refused_where_rows_are_counted(self):
        cells = CellCounts([[0.5, 1.5]])
        for function in (ginger, bayes_loo, lambda c: u_statistic_error(c, 3)):
            with pytest.raises(ValueError, match="importance weights"):
                function(cells)

    @given(tables())
    def test_training_criteria_take_any_scale_of_weights(self, counts):
        for name, criterion in CRITERIA.items():
            if criterion.cell_terms is not None and not criterion.estimates_error:
                scaled = criterion(CellCounts(counts * 0.37))
                assert scaled == pytest.approx(criterion(CellCounts(counts)), abs=1e-9), name


class TestIndexFunctions:
    @pytest.mark.parametrize("name", INDEX_FUNCTIONS)
    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    def test_normalised_symmetric_concave(self, name, n_classes):
        index = INDEX_FUNCTIONS[name]
        assert index(np.full(n_classes, 1 / n_classes)) == pytest.approx(1)
        assert index(np.eye(n_classes)) == pytest.approx(0)
        rng = np.random.default_rng(0)
        p, q = rng.dirichlet(np.ones(n_classes), (2, 500))
        assert (index((p + q) / 2) >= (index(p) + index(q)) / 2 - 1e-12).all()
        assert index(p[:, ::-1]) == pytest.approx(index(p))
        assert index(p.reshape(5, 100, n_classes)).shape == (5, 100)

    def test_takes_lists(self):
        assert [float(index([0.5, 0.5])) for index in INDEX_FUNCTIONS.values()] == pytest.approx([1] * 4)

    def test_order_for_two_classes(self):
        z = np.linspace(0, 1, 999)
        p = np.stack([z, 1 - z], axis=-1)
        error, gini, bits, matsushita = (
            INDEX_FUNCTIONS[n](p) for n in ("error", "gini", "entropy", "matsushita")
        )
        assert (error <= gini + 1e-12).all()
        assert (gini <= bits + 1e-12).all()
        assert (bits <= matsushita + 1e-12).all()

    @given(tables(max_classes=2))
    def test_half_of_an_index_bounds_the_error(self, counts):
        cells = CellCounts(counts)
        for name in INDEX_FUNCTIONS:
            assert misclassification(cells) <= index_value(cells, name) / 2 + 1e-12

    def test_permissible(self):
        assert all(is_permissible(f) for f in INDEX_FUNCTIONS.values())
        assert is_permissible(lambda z: 4 * z * (1 - z))  # of one probability
        assert not is_permissible(lambda p: INDEX_FUNCTIONS["entropy"](p) * math.log(2))  # nats
        assert not is_permissible(lambda z: 2 * z * (1 - z))  # scale
        assert not is_permissible(lambda p: INDEX_FUNCTIONS["gini"](p) ** 2)  # not concave
        assert not is_permissible(lambda z: np.where(z < 0.5, 2 * z, 1 - (2 * z - 1) ** 2))  # not symmetric
        with np.errstate(divide="ignore", invalid="ignore"):
            assert not is_permissible(lambda p: -(p * np.log2(p)).sum(axis=-1))  # 0 log 0

    def test_a_function_works_where_a_name_does(self):
        cells = CellCounts([[3, 1], [2, 5]])
        by_name = index_value(cells, "gini")
        assert index_value(cells, lambda p: 2 * (1 - (p**2).sum(axis=-1))) == pytest.approx(by_name)

    def test_bad_index(self):
        cells = CellCounts([[3, 1, 1]])
        with pytest.raises(ValueError, match="unknown index 'ginni'"):
            index_value(cells, "ginni")
        with pytest.raises(ValueError, match="returned \\(1, 3\\)"):
            index_value(cells, lambda p: p * (1 - p))


def test_registry_knows_direction_and_kind():
    assert {n for n, c in CRITERIA.items() if c.estimates_error} == {"ginger", "bayes_loo"}
    higher = {n for n, c in CRITERIA.items() if c.better == "higher"}
    assert higher == {"information_gain", "gain_ratio", "auc_lpo"}
    not_additive = {n for n, c in CRITERIA.items() if c.cell_terms is None}
    assert not_additive == {
        "gain_ratio",
        "mantaras_distance",
        "log_loss_loo",
        "brier_loo",
        "auc_lpo",
    }
