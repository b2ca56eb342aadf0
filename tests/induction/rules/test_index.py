"""Indexes of conditions count as plain Boolean arrays do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from offsample.induction.rules.index import BitIndex, InvertedIndex


@st.composite
def samples(draw):
    n_rows, n_tests = draw(st.integers(1, 200)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    truth = rng.random((n_tests, n_rows)) < draw(st.sampled_from([0.05, 0.5, 0.95]))
    n_groups = draw(st.integers(1, 5))
    group = rng.integers(-1, n_groups, n_rows).astype(np.int32)
    if draw(st.booleans()):  # leave whole words empty
        group[: n_rows // 2] = -1
    return truth, group, n_groups


@given(samples())
@settings(max_examples=60, deadline=None)
def test_both_indexes_count_as_plain_arrays_do(sample):
    truth, group, n_groups = sample
    n_tests, _ = truth.shape
    single = [[int((row & (group == g)).sum()) for row in truth] for g in range(n_groups)]
    pairs = np.zeros((n_groups, n_tests, n_tests), int)
    for g in range(n_groups):
        for a in range(n_tests):
            for b in range(a + 1, n_tests):
                pairs[g, a, b] = (truth[a] & truth[b] & (group == g)).sum()
    for index in (BitIndex(truth), InvertedIndex(csr_array(truth.T))):
        assert index.counts(group, n_groups).tolist() == single
        np.testing.assert_array_equal(index.pair_counts(group, n_groups, 0, n_tests), pairs)
        part = index.pair_counts(group, n_groups, n_tests // 2, n_tests)
        np.testing.assert_array_equal(part, pairs[:, n_tests // 2 :])
        for test in range(n_tests):
            np.testing.assert_array_equal(index.truth(test), truth[test])
            np.testing.assert_array_equal(index.truth(test + n_tests), ~truth[test])
        np.testing.assert_array_equal(index.bits(), BitIndex(truth).bits())


def test_too_large_for_bits():
    index = InvertedIndex(csr_array((200_000, 100_000)))
    with pytest.raises(ValueError, match="as bits"):
        index.bits()
