"""Intervals and tests whose units are groups hold their level; group_samples.py prints the whole grid."""

from __future__ import annotations

import numpy as np
import pytest
from statistical.group_samples import Case, grid, measure

N_SAMPLES = 12


@pytest.mark.slow
@pytest.mark.parametrize(("n_groups", "least"), [(10, 0.90), (30, 0.93), (100, 0.93)])
def test_intervals_cover_and_noise_is_not_called_a_signal(n_groups, least) -> None:
    measured = {case: measure(case, N_SAMPLES, seed=2) for case in grid(n_groups)}

    def share(what: str, of: dict[Case, float]) -> tuple[float, float]:
        """Mean over the cases, and three standard errors of it."""
        shares = [getattr(measured[case], what) for case in of]
        mean = float(np.mean(shares))
        return mean, 3 * np.sqrt(mean * (1 - mean) / (N_SAMPLES * len(shares)))

    # Few groups with a value of their own each: most of the error is on values not seen, and it is said.
    unknowable = {case for case, seen in measured.items() if seen.known < 0.5}
    assert all(case.n_values == 40 or case.error == "small" for case in unknowable)
    covered, tolerance = share("covered", set(measured) - unknowable)
    assert covered >= least
    assert covered + tolerance >= 0.95
    rejected, tolerance = share("rejected", {case for case in measured if case.error == "none"})
    assert rejected - tolerance <= 0.06
    found, _ = share("rejected", {case for case in measured if case.error == "middling"})
    assert found > 0.15
