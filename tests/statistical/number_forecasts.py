"""How often the intervals of `size_forecast` on numbers hold what trees do on new rows.

``python -m tests.statistical.number_forecasts 20 300,1000`` draws 20 tables of 300 rows, and of 1,000, of
each law of `number_intervals` (or of those named after that), with a signal and without. It prints the share
of the forecasts in which the interval of the chosen size holds the error of that tree grown on all rows, how
many curves are prolonged, and how many of these hold the mean error of trees grown on as many, twice and four
times as many new rows, and its fall.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from offsample import TreeRegressor
from offsample.expected_error import size_forecast
from tests.statistical.number_intervals import LAWS, N_NEW, columns

SIZES, N_TRUTHS = (0, 1, 2, 4, 8, 16, 32), 10
FIRST = 7_000


def drawn(law: str, n: int, random: Any, signal: bool) -> tuple[dict[str, Any], tuple[np.ndarray, ...]]:
    """Draw a table, and its numbers with their means and variances."""
    table, mean = columns(n, random)
    return table, LAWS[law](signal * mean, random)


def error_of(tree: Any, law: str, random: Any, signal: bool) -> float:
    """Mean squared error of a tree on new rows, of which the law is known."""
    table, (_, centre, variance) = drawn(law, N_NEW, random, signal)
    return float(((tree.predict(table) - centre) ** 2 + variance).mean())


def truths(law: str, n: int, signal: bool) -> np.ndarray:
    """Mean error of trees that stop by themselves, grown on so many rows, twice and four times as many."""
    found = []
    for rows in (n, 2 * n, 4 * n):
        of = []
        for seed in range(N_TRUTHS):
            random = np.random.default_rng([FIRST + seed, rows, signal, 1])
            table, (y, _, _) = drawn(law, rows, random, signal)
            of.append(error_of(TreeRegressor(random_state=seed).fit(table, y), law, random, signal))
        found.append(np.mean(of))
    return np.array(found)


def held(law: str, n: int, seed: int, signal: bool, ahead: np.ndarray) -> tuple[float, ...]:
    """Whether the chosen size's interval holds, the curve is prolonged, holds at each point, and its fall."""
    random = np.random.default_rng([seed, n, signal])
    table, (y, _, _) = drawn(law, n, random, signal)
    found = size_forecast(table, y, sizes=SIZES, random_state=seed, task="regression")
    grower = TreeRegressor(stopping="none", max_splits=found.best.n_splits, random_state=seed)
    error = error_of(grower.fit(table, y), law, random, signal)
    size_holds = found.best.low <= error <= found.best.high
    beyond = [point for point in found.curve if not point.measured]
    if not beyond:
        return size_holds, False, *4 * [np.nan]
    points = [at.low <= truth <= at.high for at, truth in zip(beyond, ahead, strict=True)]
    low, high = found.gain_of_doubling
    return size_holds, True, *points, low <= ahead[0] - ahead[1] <= high


def main(n_seeds: str, rows: str = "300", *laws: str) -> None:
    """Print a line for each law, number of rows and signal."""
    for law in laws or LAWS:
        for n in map(int, rows.split(",")):
            for signal in (True, False):
                ahead = truths(law, n, signal)
                seeds = range(FIRST, FIRST + int(n_seeds))
                found = np.array([held(law, n, seed, signal, ahead) for seed in seeds], float)
                size, prolonged, *points = found.mean(axis=0)
                of = np.nanmean(found[:, 2:], axis=0) if prolonged else points
                told = " ".join(f"{share:.2f}" for share in of)
                what = f"{law:14} {n:>6,} rows, {'signal' if signal else 'noise':6}"
                sys.stdout.write(f"{what} size {size:.2f}, prolonged {prolonged:.2f}: {told}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
