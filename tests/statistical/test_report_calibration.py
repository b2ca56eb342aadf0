"""The verdict's interval against rows that were held out."""

import numpy as np
import pandas as pd
import pytest

from offsample.report._study import Options, Study
from offsample.report.sections import _choice, model

NAMES = [
    "adult", "amazon_employee_access", "anneal", "balance_scale", "breast_wisconsin", "car", "cmc",
    "german_credit", "heart_statlog", "hypothyroid", "internet_usage", "ionosphere", "kdd_census_income",
    "mushroom", "nursery", "optdigits", "page_blocks", "pendigits", "pima", "satimage", "sick", "splice",
    "tic_tac_toe", "vowel",
]  # fmt: skip


@pytest.mark.slow
def test_the_interval_contains_the_held_out_error(data_dir):
    inside, estimates, errors = [], [], []
    for name in NAMES:
        table = pd.read_parquet(data_dir / f"{name}.parquet").drop(columns="split", errors="ignore")
        table = table.sample(min(len(table), 8000), random_state=2)
        half = np.random.default_rng(2).permutation(len(table)) < len(table) // 2
        study = Study(table[half], "target", Options(fast=True))
        choice = _choice.choose(study, list(study.X))
        section = model.describe(study, choice)
        rest = table[~half]
        predicted = choice.model.predict({column: rest[column] for column in study.X})
        error = np.mean(predicted != rest["target"].astype(str).to_numpy())
        inside.append(section.low <= error <= section.high)
        estimates.append(section.error)
        errors.append(error)
    missed = [name for name, ok in zip(NAMES, inside, strict=True) if not ok]
    assert np.mean(inside) >= 0.9, missed
    assert np.mean(estimates) == pytest.approx(np.mean(errors), abs=0.01)
