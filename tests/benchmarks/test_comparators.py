"""Criteria of others against scikit-learn and formulas written out."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import adjusted_mutual_info_score
from strategies import tables
from twins import expand

from benchmarks import _comparators
from benchmarks._comparators import adjusted_mutual_information, description_length_gain
from offsample.counts import CellCounts


@given(tables(max_count=9))
def test_adjusted_mutual_information(counts):
    x, y = np.array(expand(counts)).T
    found = adjusted_mutual_information(CellCounts(counts))
    assert found == pytest.approx(adjusted_mutual_info_score(x, y), abs=1e-9)


@given(tables())
def test_description_length(counts):
    def bits(row):
        ways = math.factorial(row.sum())
        for n in row:
            ways //= math.factorial(n)
        return math.log2(ways) + math.log2(math.comb(row.sum() + len(row) - 1, len(row) - 1))

    saved = (bits(counts.sum(axis=0)) - sum(map(bits, counts))) / counts.sum()
    assert description_length_gain(CellCounts(counts)) == pytest.approx(saved, abs=1e-10)


def test_examples_print_what_they_show():
    tried = doctest.testmod(_comparators)
    assert tried.attempted > 0
    assert tried.failed == 0
