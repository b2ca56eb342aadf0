from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from strategies import tables

from offsample.counts import CellCounts
from offsample.criteria import ginger
from offsample.evidence import signal_evidence


@given(tables())
def test_signal_is_ginger_with_singletons_at_the_baseline(counts):
    cells = CellCounts(counts)
    if cells.n_samples < 4 or cells.class_totals.max() == cells.n_samples:
        assert signal_evidence(cells).signal == 0
        return
    baseline = ginger(CellCounts(cells.class_totals[None]))
    unseen = 1 - 1 / cells.n_classes
    expected = baseline - ginger(cells) + cells.missing_mass() * (unseen - baseline)
    if cells.n_cells > 1:
        assert signal_evidence(cells).signal == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=6), st.data())
def test_moments_equal_those_of_all_shuffles(codes, data):
    y = data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes)))
    signals = np.array(
        [signal_evidence(CellCounts.from_codes(codes, list(s), n_classes=3)).signal for s in permutations(y)]
    )
    evidence = signal_evidence(CellCounts.from_codes(codes, y, n_classes=3))
    assert signals.mean() == pytest.approx(0, abs=1e-12)
    assert evidence.deviation == pytest.approx(signals.std(), abs=1e-7)


def test_no_evidence_without_pairs_or_cells():
    assert signal_evidence(CellCounts([[1, 0], [0, 1]], [50, 50])).p_value == 1
    assert signal_evidence(CellCounts([[30, 20]])).p_value == 1
    assert signal_evidence(CellCounts([[3, 0], [5, 0]])).p_value == 1


def test_a_billion_rows():
    cells = CellCounts([[250_000_000, 249_990_000], [249_990_000, 250_020_000]])
    assert signal_evidence(cells).p_value == pytest.approx(
        chi2_contingency(cells.counts, correction=False).pvalue, rel=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 5, 40, 300, 1500])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.1, 0.9), (0.2, 0.3, 0.5)])
def test_p_values_are_uniform_without_a_signal(n_values, rates):
    """4,000 shuffled samples of 600 rows: the law is right in the middle and in the tail."""
    rng = np.random.default_rng(n_values)
    weights = rng.dirichlet(np.ones(n_values))
    codes = rng.choice(n_values, (4000, 600), p=weights)
    y = rng.choice(len(rates), (4000, 600), p=rates)
    p_values = np.array(
        [
            signal_evidence(CellCounts.from_codes(c, labels, n_classes=len(rates))).p_value
            for c, labels in zip(codes, y, strict=True)
        ]
    )
    for level in (0.01, 0.05, 0.2, 0.5):
        noise = 4 * np.sqrt(level * (1 - level) / 4000)
        assert np.mean(p_values <= level) == pytest.approx(level, abs=noise + 0.2 * level)


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 5, 40, 300, 1500])
def test_tail_with_few_rows_of_a_class(n_values):
    """About 18 rows of the rarer class in 600: small p-values are right within a factor of 2.5."""
    rng = np.random.default_rng(n_values)
    weights = rng.dirichlet(np.ones(n_values))
    codes = rng.choice(n_values, (4000, 600), p=weights)
    y = rng.random((4000, 600)) < 0.03
    p_values = np.array(
        [signal_evidence(CellCounts.from_codes(*sample)).p_value for sample in zip(codes, y, strict=True)]
    )
    assert np.mean(p_values <= 0.05) <= 0.08
    assert np.mean(p_values <= 0.01) <= 0.025
