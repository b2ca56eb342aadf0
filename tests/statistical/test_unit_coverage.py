"""Intervals in time and of crossed groups hold what they claim; unit_samples.py prints the whole grid."""

from __future__ import annotations

import numpy as np
import pytest
from statistical.unit_samples import (
    TimedGroups,
    crossed_grid,
    measure_crossed,
    measure_timed_groups,
    measure_times,
    time_grid,
    timed_groups_grid,
)

N_SAMPLES = 10


def share(measured, what: str) -> tuple[float, float]:
    """Mean over the cases, and three standard errors of it."""
    mean = float(np.mean([getattr(one, what) for one in measured]))
    return mean, 3 * np.sqrt(mean * (1 - mean) / (N_SAMPLES * len(measured)))


@pytest.mark.slow
def test_intervals_in_time_cover_the_mean_over_that_time_and_no_drifting_future() -> None:
    measured = {case: measure_times(case, N_SAMPLES, seed=3) for case in time_grid() if case.ties == 5}
    for drift in ("none", "steady", "jumps"):
        covered, _ = share([seen for case, seen in measured.items() if case.drift == drift], "covered")
        assert covered >= 0.93
    rejected, tolerance = share(
        [seen for case, seen in measured.items() if case.error == "noise"], "rejected"
    )
    assert rejected - tolerance <= 0.06
    # What is said of it in the guide: classes that move on are not foreseen.
    drifting = [seen for case, seen in measured.items() if case.drift == "steady" and case.n_rows == 1000]
    assert share(drifting, "next_covered")[0] < 0.5


@pytest.mark.slow
def test_intervals_of_crossed_groups_cover_new_users_with_new_items() -> None:
    measured = {case: measure_crossed(case, N_SAMPLES, seed=3) for case in crossed_grid()}
    for n_items in (12, 30):
        for constant in ("user", "item", "row"):
            kind = [
                one for case, one in measured.items() if (case.n_items, case.constant) == (n_items, constant)
            ]
            covered, tolerance = share(kind, "covered")
            assert covered >= 0.90
            assert covered + tolerance >= 0.95
    rejected, tolerance = share(
        [seen for case, seen in measured.items() if case.error == "noise"], "rejected"
    )
    assert rejected - tolerance <= 0.06
    found, _ = share([seen for case, seen in measured.items() if case.error == "middling"], "rejected")
    assert found > 0.7


@pytest.mark.slow
def test_intervals_of_groups_in_time_cover_later_rows_of_new_groups() -> None:
    grid = [case for case in timed_groups_grid() if case.n_groups < 100]
    measured = {case: measure_timed_groups(case, N_SAMPLES, seed=3) for case in grid}
    for n_groups, least in ((10, 0.90), (30, 0.93)):
        covered, tolerance = share(
            [one for case, one in measured.items() if case.n_groups == n_groups], "covered"
        )
        assert covered >= least
        assert covered + tolerance >= 0.95
    rejected, tolerance = share([one for case, one in measured.items() if case.error == "noise"], "rejected")
    assert rejected - tolerance <= 0.06


@pytest.mark.slow
def test_groups_that_differ_vary_together_in_time_too() -> None:
    """Two groups that change what is said of each other: without such pairs, 85 % and 88 % held."""
    for constant in (False, True):
        case = TimedGroups(10, "mixed", 2.0, constant, "noise")
        assert measure_timed_groups(case, 80, seed=5).covered >= 0.92
