"""Is what a ranking says of its columns true on fresh rows? 200 tables, fixed seeds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from offsample import rank_features
from offsample.counts import CellCounts
from offsample.hypotheses import GiniRule
from papers.ginger._distributions import generalization_error
from tests.statistical.shares import most

N_TABLES = 200
N_ROWS = 400
CARDINALITIES = [2, 5, 20, 60, 150, 300]


def make_table(seed: int):
    """Six categorical columns of known distribution, each with a signal of its own strength (two: none)."""
    rng = np.random.default_rng(seed)
    strengths = rng.permutation([0.0, 0.0, 0.4, 0.7, 1.0, 1.3])
    n_fresh = 30_000  # whose share of errors has a standard error of .003
    effects = [rng.normal(0, s, c) for s, c in zip(strengths, CARDINALITIES, strict=True)]
    codes = [rng.integers(0, c, N_ROWS + n_fresh) for c in CARDINALITIES]
    log_odds = sum(effect[code] for effect, code in zip(effects, codes, strict=True))
    y = rng.random(N_ROWS + n_fresh) < 1 / (1 + np.exp(-log_odds))
    return codes, y.astype(int)


def fresh_error(code: np.ndarray, y: np.ndarray, n_values: int) -> float:
    """Error of the Gini rule learned from the first rows, on all the others."""
    counts, fresh = (
        np.bincount(2 * code[rows] + y[rows], minlength=2 * n_values).reshape(-1, 2)
        for rows in (slice(N_ROWS), slice(N_ROWS, None))
    )
    size = fresh.sum(axis=1)
    classes = fresh / np.maximum(size, 1)[:, None]
    classes[size == 0] = 0.5
    return generalization_error(GiniRule.from_counts(counts), size / size.sum(), classes)


@pytest.fixture(scope="module")
def outcomes():
    """Per table: for every column (low, error on fresh rows, high), the best one first; gains likewise."""
    rows, gains = [], []
    for seed in range(N_TABLES):
        codes, y = make_table(seed)
        table = {str(i): code[:N_ROWS].astype(str) for i, code in enumerate(codes)}
        ranking = rank_features(table, y[:N_ROWS])
        errors = {f.name: fresh_error(codes[int(f.name)], y, CARDINALITIES[int(f.name)]) for f in ranking}
        rows.append([(f.low, errors[f.name], f.high) for f in ranking])
        baseline = fresh_error(np.zeros(len(y), int), y, 1)
        gains.append([(f.gain_low, baseline - errors[f.name], f.expected_gain) for f in ranking])
    return np.array(rows), np.array(gains)


@pytest.mark.slow
def test_intervals_hold_the_error_of_every_column(outcomes):
    low, error, high = np.moveaxis(outcomes[0], -1, 0)
    assert 0.93 <= np.mean((low <= error) & (error <= high)) <= 0.99


@pytest.mark.slow
def test_interval_of_the_best_column(outcomes):
    """Having been chosen costs little here: the order is by shrunken gain."""
    low, error, high = outcomes[0][:, 0].T
    assert 0.90 <= np.mean((low <= error) & (error <= high)) <= 0.995


@pytest.mark.slow
def test_lower_limit_of_the_gain(outcomes):
    gain_low, gain, _ = np.moveaxis(outcomes[1], -1, 0)
    assert np.mean(gain_low <= gain) >= 0.96


@pytest.mark.slow
def test_expected_gain_of_the_best_column_is_its_gain(outcomes):
    _, gain, expected = outcomes[1][:, 0].T
    difference = expected - gain
    assert abs(difference.mean()) < 0.01
    assert gain.mean() > 0.04


@cache
def n_alarms(n_rows: int, n_tables: int = N_TABLES // 2) -> int:
    """Tables of ten noise columns, numeric and categorical, of which some is significant."""
    false_alarms = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        table = {f"n{i}": rng.normal(size=n_rows) for i in range(5)}
        values = {f"c{i}": rng.integers(0, 2 + i * n_rows // 8, n_rows) for i in range(5)}
        ranking = rank_features(table | values, rng.integers(0, 2, n_rows), categorical_features=list(values))
        false_alarms += any(f.significant for f in ranking)
    return false_alarms


@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [60, 400, 3000])
def test_noise_is_not_called_a_signal(n_rows):
    """In at most 5 % of the tables: of 17 %, a hundred would fail nine times of ten."""
    assert n_alarms(n_rows) <= most(N_TABLES // 2, 0.05, 0.002)


@pytest.mark.slow
def test_noise_of_few_and_many_rows_is_not_called_a_signal():
    """Together: of 12 %, 300 tables would fail nine times of ten; 200 of one number of rows, of 13 %."""
    assert sum(map(n_alarms, (60, 400, 3000))) <= most(3 * (N_TABLES // 2), 0.05, 0.002)


@pytest.mark.parametrize(
    ("n_rows", "rare", "ties"),
    [(50, 0.5, False), (100, 0.5, False), (100, 0.2, False), (100, 0.5, True), (1000, 0.5, False),
     (1000, 0.1, True)],
)  # fmt: skip
def test_noise_in_numbers_has_no_gain_on_average(n_rows, rare, ties):
    """The mean gain of any cut is 0 over shuffles of the classes; the cut with the best p-value gained .015
    at 100 rows and .0045 at 1,000."""
    rng = np.random.default_rng(n_rows)
    X = rng.exponential(n_rows / 3, (n_rows, 300))
    ranking = rank_features(np.floor(X) if ties else X, np.arange(n_rows) < rare * n_rows)
    gains = np.array([f.gain for f in ranking])
    assert abs(gains.mean()) <= 3 * gains.std() / np.sqrt(300) + 0.05 / n_rows
    p_values = np.array([f.p_value for f in ranking])
    for level in (0.01, 0.05):
        assert np.mean(p_values <= level) <= level + 3 * np.sqrt(level * (1 - level) / 300)


def monotone(x: np.ndarray) -> np.ndarray:
    return x


def wave(x: np.ndarray) -> np.ndarray:
    return np.sqrt(2) * np.sin(8 * np.pi * ndtr(x))


def numeric_outcome(seed: int, n_rows: int, log_odds) -> tuple[float, float, float, float]:
    """Error on fresh rows of a numeric column as it was cut; then error, low and high as reported."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n_rows)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds(x)))).astype(int)
    feature = rank_features({"x": x}, y)["x"]
    edges = np.quantile(x, np.arange(1, feature.n_cells) / feature.n_cells, method="inverted_cdf")
    counts = CellCounts.from_codes(np.searchsorted(edges, x), y, feature.n_cells, 2).counts
    fresh = ndtri((np.arange(20_000) + 0.5) / 20_000)
    q = GiniRule.from_counts(counts)[np.searchsorted(edges, fresh), 1]
    p = 1 / (1 + np.exp(-log_odds(fresh)))
    return float(np.mean(p * (1 - q) + (1 - p) * q)), feature.error, feature.low, feature.high


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "strength"), [(monotone, 3), (monotone, 22), (wave, 8), (wave, 16)])
@pytest.mark.parametrize("n_rows", [128, 512])
def test_error_of_a_numeric_column_pays_for_the_choice_of_bins(shape, strength, n_rows):
    """Signals of so many standard deviations of a log-odds, where some cuts are taken in some tables only."""

    def log_odds(x: np.ndarray) -> np.ndarray:
        return strength * shape(x) / np.sqrt(n_rows)

    outcomes = [numeric_outcome(seed, n_rows, log_odds) for seed in range(300)]
    fresh, error, low, high = np.array(outcomes).T
    bias = error - fresh
    assert abs(bias.mean()) <= 3 * bias.std() / np.sqrt(300) + 0.3 / n_rows
    assert np.mean((low <= fresh) & (fresh <= high)) >= 0.93
    if strength == 22:
        assert np.mean((low <= fresh) & (fresh <= high)) <= 0.999
