"""The verdict for new groups against groups that were held out, and what is suspected unasked."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from statistical.new_rows import REAL, Table, copied_noise, held_out, panel, patients, real

from offsample import report

N_SPLITS = 6


@pytest.mark.slow
def test_errors_on_groups_held_out_are_in_the_interval() -> None:
    made = [make(seed) for make in (patients, copied_noise, panel) for seed in range(N_SPLITS)]
    found = [held_out(table, seed) for seed, table in enumerate(made)]
    assert np.mean([one.is_inside for one in found]) >= 0.9
    # By rows, patients would be told apart: the same learner errs on new rows of known ones far less.
    assert np.mean([one.known_error for one in found[:N_SPLITS]]) < 0.2
    assert np.mean([one.error for one in found[:N_SPLITS]]) > 0.4


@pytest.mark.slow
def test_the_same_of_real_tables(data_dir) -> None:
    found = {(name, seed): held_out(real(name, data_dir), seed) for name in REAL for seed in (5, 6)}
    missed = [key for key, one in found.items() if not one.is_inside]
    assert len(missed) <= 1, missed


@pytest.mark.parametrize("numbered", [False, True])
def test_patients_are_suspected_unasked(numbered) -> None:
    table = patients(3, numbered=numbered)
    found = report(table.frame, table.target, fast=True)
    assert found.verdict.error < 0.2
    assert found.rows.suspected_groups == ("patient",)
    assert found.verdict.asked[0].error > 0.4


def test_copies_are_left_out_together_and_an_identifier_ranks_last() -> None:
    noise = copied_noise(3).frame.drop(columns="copy")
    found = report(noise, "y", fast=True)
    assert found.rows.n_duplicates == 1200
    assert found.rows.copies_left_out
    assert found.verdict.low < 0.5 < found.verdict.high + 0.02
    kept = report(noise, "y", fast=True, copies="keep")
    assert kept.verdict.error < 0.35

    table = _twice(panel(0))
    found = report(table.frame, table.target, fast=True)
    assert found.rows.copies_left_out
    assert "key" not in found.verdict.columns
    assert found.columns.columns[0].name != "key"


def _twice(table: Table) -> Table:
    frame = table.frame.assign(key=[f"k{i}" for i in range(len(table.frame))])
    return Table(pd.concat([frame, frame], ignore_index=True), table.target)
