"""P-values of splits, and the level at which few of them are expected by chance."""

import numpy as np
import pytest
from scipy.stats import hypergeom

from offsample.counts import CellCounts
from offsample.evidence import signal_evidence
from offsample.induction.evidence import ShuffleTest, level_for_share, log_p_one_cell


def test_evidence_is_that_of_the_library():
    rng = np.random.default_rng(0)
    from offsample.induction.tree import kernels

    for n_classes in (2, 4):
        for _ in range(20):
            counts = rng.integers(0, 6, (8, n_classes))
            counts = counts[counts.sum(axis=1) > 0]
            expected = signal_evidence(CellCounts(counts))
            sums, sizes = np.empty(6), counts.sum(axis=1)
            kernels.pair_sums(
                counts.astype(np.int32), sizes.astype(np.int32), np.arange(len(counts), dtype=np.int32), sums
            )
            signal, log_p = ShuffleTest(counts.sum(axis=0)).of_sums(sums)
            assert signal / counts.sum() == pytest.approx(expected.signal)
            assert np.exp(log_p) == pytest.approx(expected.p_value)
    totals = np.array([13, 22])
    left = np.array([[a, b] for a in range(14) for b in range(23) if 0 < a + b < 35])
    found = np.exp(log_p_one_cell(left, totals))
    for (a, b), p in zip(left, found, strict=True):
        law = hypergeom(35, 13, a + b)
        tail = law.sf(a - 1) if a * 35 > 13 * (a + b) else law.cdf(a)
        assert p == pytest.approx(min(1.0, 2 * tail))


def test_one_split_in_ten_may_be_spurious():
    """Simulated nodes: nulls have uniform p-values, the others small ones."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        n_null, n_real = rng.integers(5, 60, 2)
        p = np.concatenate([rng.random(n_null), rng.beta(0.1, 20, n_real)])
        is_null = np.arange(len(p)) < n_null
        tried = p <= 0.2
        level = level_for_share(p[tried], p[~tried], 0.1)
        kept = tried & (p <= level)
        shares.append((kept & is_null).sum() / max(1, kept.sum()))
    # 10 % but for chance, and not idle.
    assert np.mean(shares) < 0.1 + 2.58 * np.std(shares) / np.sqrt(400)
    assert np.mean(shares) > 0.03
