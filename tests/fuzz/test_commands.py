"""Every verb of the command line on tables and numbers that nobody would wish for."""

from __future__ import annotations

import pytest
from commands import NOT_HERE, OF_NUMBERS, OF_TABLES, check, runs, verbs
from hypothesis import HealthCheck, given, settings

# As many as fit into half a minute in all.
N_RUNS = {
    "columns": 15,
    "report": 8,
    "forecast": 8,
    "select": 12,
    "rank": 25,
    "tree": 15,
    "rules": 15,
    "audit": 30,
    "plan": 30,
}


def test_every_verb_is_tried():
    assert verbs() == {*OF_TABLES, *OF_NUMBERS, *NOT_HERE}


@pytest.mark.parametrize("verb", [*OF_TABLES, *OF_NUMBERS])
def test_no_input_ends_in_a_traceback(verb):
    codes = []

    @settings(max_examples=N_RUNS[verb], suppress_health_check=list(HealthCheck))
    @given(run=runs(verb))
    def try_some(run):
        codes.append(check(*run))

    try_some()
    assert 0 in codes  # and not only refusals
