"""Errors that lists state of themselves, against those on rows held out, on real tables."""

import numpy as np
import pytest

from offsample.datasets import load
from offsample.induction import DecisionListClassifier

TABLES = (
    "heart_statlog",
    "heart_hungarian",
    "breast_wisconsin",
    "breast_cancer_ljubljana",
    "vote",
    "haberman",
    "hepatitis",
    "tic_tac_toe",
)
N_SPLITS = 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"strategy": "consistent"}, {"strategy": "cover", "min_coverage": 5}, {}], ids=str
)
def test_lists_state_their_error(options, data_dir, monkeypatch):
    """On average right to 3 % of the rows, and the interval has the error about as often as it says.

    Half of the rows are held out, and their error has a spread of its own, which is added to the interval's.
    """
    monkeypatch.setenv("OFFSAMPLE_DATA", str(data_dir))
    bias, inside = [], []
    for name in TABLES:
        data = load(name)
        y = np.asarray(data.y).astype(str)
        for split in range(N_SPLITS):
            order = np.random.default_rng(500 + split).permutation(len(y))
            learn, test = order[: len(y) // 2], order[len(y) // 2 :]
            model = DecisionListClassifier(**options).fit(data.X.iloc[learn], y[learn])
            error = 1 - model.score(data.X.iloc[test], y[test])
            bias.append(model.estimated_error_ - error)
            low, high = model.estimated_error_interval_
            half = 1.96 * np.sqrt(max(error * (1 - error), 1 / len(test)) / len(test))
            below, above = model.estimated_error_ - low, high - model.estimated_error_
            inside.append(-np.hypot(above, half) <= bias[-1] <= np.hypot(below, half))
    assert abs(np.mean(bias)) < 0.03
    assert np.mean(inside) >= 0.8  # of 16
