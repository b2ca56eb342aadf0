from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

from offsample.counts import CellCounts
from offsample.criteria import INDEX_FUNCTIONS, index_value
from papers.index_criteria._decreases import relative_decrease, set_cover_decrease, set_cover_decrease_bound


class TestRelativeDecrease:
    @given(tables(max_classes=3), st.sampled_from(sorted(INDEX_FUNCTIONS)))
    def test_product_along_refinements(self, counts, index):
        """I(last) = I(first) times the product of 1 - ρ, each from the partition before it."""
        steps = [CellCounts(np.vstack([counts[:i], counts[i:].sum(axis=0)])) for i in range(len(counts))]
        remaining = index_value(steps[0], index)
        for before, after in pairwise(steps):
            remaining *= 1 - relative_decrease(before, after, index)
        assert remaining == pytest.approx(index_value(steps[-1], index), abs=1e-12)

    def test_pure_before(self):
        assert relative_decrease(CellCounts([[4, 0]]), CellCounts([[1, 0], [3, 0]])) == 0

    def test_not_the_same_sample(self):
        with pytest.raises(ValueError, match="same sample"):
            relative_decrease(CellCounts([[4, 4]]), CellCounts([[4, 3]]))


class TestSetCover:
    @pytest.mark.parametrize("index", ["matsushita", "entropy", "gini", "error"])
    def test_closed_forms_equal_the_counts(self, index):
        for s in range(1, 12):
            for s1 in range(s + 1):
                # One negative row and s positives; the test splits off s - s1 of them.
                before, after = CellCounts([[1, s]]), CellCounts([[1, s1], [0, s - s1]])
                found = relative_decrease(before, after, index)
                assert set_cover_decrease(s, s1, index) == pytest.approx(found, abs=1e-12)

    @pytest.mark.parametrize("index", ["matsushita", "entropy", "gini"])
    def test_lower_bounds_hold_and_decrease_falls_with_what_is_left(self, index):
        for s in range(1, 40):
            decreases = [set_cover_decrease(s, s1, index) for s1 in range(s + 1)]
            assert (np.diff(decreases) < 0).all()  # so the greedy cover and the index choose alike
            for c in range(1, s + 1):
                left = int(np.floor(s * (1 - 1 / c) + 1e-12))
                printed = set_cover_decrease_bound(s, c, index)
                sharp = set_cover_decrease_bound(s, c, index, sharp=True)
                assert printed <= sharp + 1e-12
                assert sharp <= decreases[left] + 1e-12

    def test_order_of_the_criteria(self):
        for s, c in product((2, 10, 100, 1000), (1, 3, 20)):
            matsushita, entropy, gini = (
                set_cover_decrease_bound(s, c, i) for i in ("matsushita", "entropy", "gini")
            )
            assert matsushita > entropy
            assert gini <= matsushita
            assert s < 10 or gini < entropy

    def test_error_is_blind_until_the_last_element(self):
        assert [set_cover_decrease(5, s1, "error") for s1 in range(6)] == [1, 0, 0, 0, 0, 0]
        with pytest.raises(ValueError, match="must be one of"):
            set_cover_decrease_bound(5, 2, "error")

    def test_more_uncovered_than_there_are_an_unknown_index_and_no_element_are_refused(self):
        with pytest.raises(ValueError, match="n_uncovered"):
            set_cover_decrease(3, 4)
        with pytest.raises(ValueError, match="index must be"):
            set_cover_decrease(3, 2, "twoing")
        with pytest.raises(ValueError, match="at least 1"):
            set_cover_decrease_bound(0, 2)
