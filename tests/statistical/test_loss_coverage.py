"""Intervals of losses and AUCs hold what they are for, rows, groups and times; loss_samples.py has all."""

from __future__ import annotations

import numpy as np
import pytest
from statistical.loss_samples import NAMES, grid, measure

from offsample.counts import CellCounts
from offsample.evidence import signal_evidence


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_samples"), [("rows", 16), ("groups", 8), ("times", 8)])
def test_intervals_cover(kind, n_samples) -> None:
    cases = list(grid(kind))
    measured = [measure(case, n_samples, seed=3) for case in cases]
    covered = np.mean([one.covered for one in measured], axis=0)
    tolerance = 3 * np.sqrt(covered * (1 - covered) / (n_samples * len(cases)))
    assert (covered >= 0.93).all(), dict(zip(NAMES, covered, strict=True))
    assert (covered + tolerance >= 0.95).all()
    gains = np.mean([one.gain_covered for one in measured], axis=0)
    assert (gains[:2] >= 0.93).all()
    assert gains[2] >= 0.9
    bias = [one.bias for one, case in zip(measured, cases, strict=True) if case.n_positives == 100]
    assert abs(np.mean(bias)) < (0.01 if kind != "times" else 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 3, 10, 40, 200])
def test_ten_rows_of_a_class_are_not_taken_for_a_signal(n_values) -> None:
    """The one test of a signal, of the right size at 98:2 with ten positives."""
    random = np.random.default_rng(n_values)
    p_values = []
    for _ in range(2000):
        value, label = random.integers(0, n_values, 500), random.random(500) < 0.02
        if label.any():
            cells = CellCounts.from_codes(value, label.astype(int), n_classes=2)
            p_values.append(signal_evidence(cells).p_value)
    share = float(np.mean(np.array(p_values) <= 0.05))
    assert share - 3 * np.sqrt(share * (1 - share) / 2000) <= 0.06
