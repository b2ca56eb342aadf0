"""The experiments of the tuning chapter, at small sizes."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, experiments
from papers.tuning_optimism import _examples, calibration, cross_validation, greedy, paired, theorem15
from papers.tuning_optimism._calibration import AS_IT_IS, FOLDS, JUDGES, NESTED, ROWS, judge_all
from papers.tuning_optimism._searches import PROBLEMS, Search
from papers.tuning_optimism._validation import _covered_by_normal, true_error


def test_every_table_and_figure_has_an_experiment():
    names = [name for name in experiments() if name.startswith("tuning_optimism.")]
    names = [name for name in names if ".calibration_" not in name]
    parts = ["examples", "fig5_1", "fig5_2", "greedy", "sec2_4_3", "sec2_5", "theorem15", "triple"]
    assert sorted(names) == [f"tuning_optimism.{part}" for part in parts]
    assert len([name for name in experiments() if ".calibration_" in name]) == len(PROBLEMS)


def test_sizes_that_are_not_rounded_up_are_corrected():
    verdicts = [claim.verdict for claim in theorem15().claims]
    assert verdicts == [REPRODUCED, REPRODUCED, CORRECTED, REPRODUCED, CORRECTED, CORRECTED]


def test_examples(monkeypatch):
    # Both need the data sets, and are tested below.
    monkeypatch.setattr(_examples, "entropies", list)
    monkeypatch.setattr(_examples, "statlog_costs", lambda: dict.fromkeys(("a tree", "11-NN"), (0.2, 0.6)))
    outcome = _examples.examples()
    by_claim = {claim.claim: claim for claim in outcome.claims}
    assert by_claim["Landsat: 60 labels gain 6 hits with probability"].ours == "0.9066"
    assert by_claim["Landsat: fewest labels for 6 extra hits with 90%"].verdict == REPRODUCED
    assert by_claim["DNA: bits and trials for 85 labels"].verdict == CORRECTED
    heart = by_claim["heart, k-NN, shared parameters: fewest labels for 6 extra hits with 90%"]
    assert (heart.verdict, heart.ours) == (NOT_REPRODUCED, "13")
    assert _examples.HEART.fewest(3, 0.9) == 9  # as printed, for three extra hits
    assert isinstance(outcome.figures[""], Figure)


def test_costs_of_statlog(data_dir):
    """A mistake costs 1 or 5: the mean cost lies between one and five times the error."""
    costs = _examples.statlog_costs()
    assert set(costs) == {"a tree", "11-NN"}
    assert all(0.1 < error <= cost <= 5 * error for error, cost in costs.values())


def test_entropies(data_dir, monkeypatch):
    monkeypatch.setenv("OFFSAMPLE_DATA", str(data_dir))
    printed = {claim.claim: claim for claim in _examples.entropies()}
    assert printed["diabetes: entropy of the classes"].verdict == REPRODUCED
    assert printed["Landsat: default error rate"].verdict == CORRECTED


def test_greedy_search_finds_every_label():
    rng = np.random.default_rng(0)
    setting = _examples._Setting("small", 3, 1.5, 1, 50, 30)
    gains = [_examples._tune(setting, 10, rng) for _ in range(400)]
    assert {trials for _, trials in gains} == {30}
    assert np.mean([gain for gain, _ in gains]) == pytest.approx(10 * 20 / 50, abs=0.25)
    assert greedy(50).claims[0].verdict == REPRODUCED


def test_true_error_of_the_nearer_mean():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200_000)
    X = rng.normal(size=(200_000, 3)) + 0.4 * (2 * y[:, None] - 1)
    model = np.array([1.0, 0.5, -0.2]), 0.3
    simulated = np.mean((X @ model[0] > model[1]) != y)
    assert true_error(model, 0.4) == pytest.approx(simulated, abs=0.005)


def test_the_normal_interval_of_few_rows():
    """With 2 rows of error ½: no error or two have no spread, one has .5 ± .69, and is half of them."""
    assert _covered_by_normal(2, 0.5) == pytest.approx(0.5)
    assert _covered_by_normal(10_000, 0.3) == pytest.approx(0.95, abs=0.005)


def test_cross_validation_and_paired_test():
    claims = cross_validation(25).claims
    assert len(claims) == 15
    assert claims[-1].verdict == CORRECTED
    repeated = next(c for c in claims if c.claim.startswith("40 columns: repeating"))
    assert repeated.verdict == REPRODUCED
    assert [claim.verdict for claim in paired(400).claims] == [CORRECTED, REPRODUCED, CORRECTED, REPRODUCED]


def test_calibration_of_few_searches():
    outcome = calibration("noise, trees", 3, 2)
    assert len(outcome.claims) == 6
    assert "noise, trees: 42 configurations, 200 rows, 5 folds; true error 0.5000" in outcome.tables
    assert "Tibshirani, 20 folds" in outcome.tables


def test_judging():
    """Configurations that are all equal, except by luck: the best looks better than 0.3, and is not."""
    rng = np.random.default_rng(0)
    found = [
        Search(rng.random((20, 100)) < 0.3, np.arange(100) % 5, 0.3, 0.3, rng.random(100) < 0.3, 1.0, 5.0)
        for _ in range(60)
    ]
    judged = judge_all(found, JUDGES)
    assert judged[AS_IT_IS].bias < -0.05
    assert abs(judged[ROWS].bias) < 0.02
    assert abs(judged[FOLDS].bias) < 0.03
    assert judged[NESTED].cost == 6
    assert judged[AS_IT_IS].coverage < judged[ROWS].coverage
    low, high = judged[ROWS].coverage_interval
    assert low < judged[ROWS].coverage < high or judged[ROWS].coverage == 1
    assert judged[ROWS].rmse ** 2 == pytest.approx(judged[ROWS].off.var() + judged[ROWS].bias ** 2)
