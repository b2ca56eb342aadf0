"""Indexes of conditions count as plain Boolean arrays do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from offsample.induction.rules import search
from offsample.induction.rules.index import BitIndex, InvertedIndex
from offsample.induction.rules.partition import Sample
from offsample.induction.rules.search import ConjunctionSearch, _Scores
from offsample.induction.scoring import Scoring


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


def test_a_beam_that_keeps_all_finds_the_pairs_that_all_pairs_are(monkeypatch):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    truth = random.random((6, 300)) < np.where(y, 0.6, 0.4)
    scoring = Scoring.of("ginger", "uniform").at(np.bincount(y))
    sample = Sample(BitIndex(truth), y, 2, scoring, np.zeros(6), np.ones(300, bool), by_evidence=False)
    inside = random.random(300) < 0.8
    totals = np.bincount(y[inside], minlength=2)
    both = [*truth, *~truth]
    sets = [(a,) for a in range(12)]
    sets += [(a, b) for a in range(12) for b in range(a + 1, 12) if b - a != 6]
    counts = [np.bincount(y[inside & np.all([both[i] for i in one], axis=0)], minlength=2) for one in sets]
    for most_tried, most_looked_up in ((10**6, 10**6), (0, 10**6), (0, 0)):
        monkeypatch.setattr(search, "_MAX_TRIED", most_tried)
        made = _Scores.up_to.__func__
        monkeypatch.setattr(
            _Scores, "up_to", classmethod(lambda cls, *a, n=most_looked_up, f=made: f(cls, *a[:2], n))
        )
        found = ConjunctionSearch(sample, 2).best(inside, totals, lambda true: true @ [1.0, -2.0] + 0.125)
        names = [found.at(i) for i in range(len(found.score))]
        assert names == sorted(set(names), key=lambda one: (len(one), one))
        for name, true, score in zip(names, found.counts, found.score, strict=True):
            assert true.tolist() == counts[sets.index(name)].tolist()
            assert score == true @ [1.0, -2.0] + 0.125
        assert found.score.max() == max(true @ [1.0, -2.0] + 0.125 for true in counts)
        assert len(names) > 64
