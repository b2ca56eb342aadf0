"""Columns of known worth planted in real tables."""

import numpy as np
import pandas as pd
import pytest

from offsample import rank_features


@pytest.mark.parametrize("name", ["adult", "german_credit", "mushroom", "amazon_employee_access"])
def test_identifiers_and_noise_end_below_a_signal_of_500_values(name, data_dir):
    table = pd.read_parquet(data_dir / f"{name}.parquet").drop(columns="split", errors="ignore")
    rng = np.random.default_rng(5)
    table = table.sample(frac=1, random_state=5).reset_index(drop=True)  # some files are sorted by class
    n = len(table)
    positive = (table["target"] == table["target"].mode()[0]).to_numpy()
    # 500 values, each mostly of one class: known for three rows in four, arbitrary for the fourth.
    own = np.where(positive, rng.integers(0, 250, n), rng.integers(250, 500, n))
    known = rng.random(n) < 0.75
    table["planted_signal"] = pd.Categorical(np.where(known, own, rng.integers(0, 500, n)))
    table["planted_row_id"] = np.arange(n)
    table["planted_key"] = [f"k{i}" for i in rng.permutation(n)]
    table["planted_noise"] = pd.Categorical(rng.integers(0, 1000, n).astype(str))

    ranking = rank_features(table, "target")
    order = [feature.name for feature in ranking]
    assert order.index("planted_signal") <= 2
    significant = [feature.name for feature in ranking if feature.significant]
    assert {"planted_row_id", "planted_key", "planted_noise"}.isdisjoint(significant)
    assert all(order.index(f"planted_{p}") >= len(significant) for p in ("row_id", "key", "noise"))
    # while on the sample the identifier is perfect
    assert ranking["planted_key"].training_error == 0
