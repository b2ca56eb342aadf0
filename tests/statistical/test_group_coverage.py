"""Intervals and tests whose units are groups hold their level; group_samples.py prints the whole grid."""

from __future__ import annotations

import numpy as np
import pytest
from statistical.group_samples import Case, draw, grid, measure

from offsample.evidence import signal_evidence

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
    for what in ("covered", "covered_gain"):
        covered, tolerance = share(what, set(measured) - unknowable)
        assert covered >= least
        assert covered + tolerance >= 0.95
    rejected, tolerance = share("rejected", {case for case in measured if case.error == "none"})
    assert rejected - tolerance <= 0.06
    found, _ = share("rejected", {case for case in measured if case.error == "middling"})
    assert found > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", [300, 600])
def test_groups_that_are_merged_are_tested_at_the_level_too(n_groups) -> None:
    """Large ones among many, of equal labels and one value each; merged, 11 to 18 % were signals."""
    case, random = Case(n_groups, "pareto", 40, 1, True, "none"), np.random.default_rng(5)
    p_values = np.array([signal_evidence(draw(case, random).cells).p_value for _ in range(300)])
    assert (p_values <= 0.05).mean() <= 0.06 + 2 * np.sqrt(0.05 * 0.95 / 300)
