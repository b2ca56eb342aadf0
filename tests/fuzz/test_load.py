"""Report after report in one process."""

import pytest

from benchmarks.load import many_reports


@pytest.mark.slow
def test_reports_leave_nothing_behind():
    objects = [n for _, _, n in many_reports(40)]
    assert objects[-1] - objects[-6] < 100  # of 20 reports; one alone has thousands
