"""How often the intervals of a column hold its squared error, its R² and its absolute error on new rows.

``python -m tests.statistical.moment_intervals 150`` draws 150 tables of each kind with an effect and as many
without: five laws of the target, 100 to 1,000 rows, and two values to one for each row. The errors are of
the very means, and medians, that were learned: expectations over the law, without draws of new rows.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.special import ndtri
from scipy.stats import t as student

from offsample._loss_intervals import judge_absolute
from offsample._squared_losses import SquaredLosses
from offsample.counts import CellNumbers

KINDS = ((100, 2), (100, 10), (100, 33), (100, 10**6), (300, 10), (1_000, 10), (1_000, 333), (1_000, 10**6))
GRID = (np.arange(2_000) + 0.5) / 2_000


def poisson(shift: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Quantiles of Poisson's law with a mean of 3 where nothing is shifted."""
    rate, k = 3 * np.exp(shift / 2), np.arange(80)
    log_share = -rate[:, None] + k * np.log(rate)[:, None] - np.cumsum(np.log(np.maximum(k, 1)))
    ends = np.cumsum(np.exp(log_share), axis=1)
    return np.array([np.searchsorted(e, q) for e, q in zip(ends, at, strict=True)], float)


def zeros(shift: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Quantiles of a law with seven zeros in ten, exponential otherwise."""
    return np.exp(shift / 2)[:, None] * -np.log(np.minimum((1 - at) / 0.3, 1.0))


def t3(shift: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Quantiles of Student's law of three degrees of freedom; those of the grid are the same for all."""
    is_grid = at.shape[1] == len(GRID)
    return shift[:, None] + (T3_GRID if is_grid else student.ppf(at, 3))


T3_GRID = student.ppf(GRID, 3)
LAWS: dict[str, Any] = {
    "normal": lambda shift, at: shift[:, None] + ndtri(at),
    "Poisson": poisson,
    "log-normal": lambda shift, at: np.exp(shift[:, None] + ndtri(at)),
    "zero-inflated": zeros,
    "t3": t3,
}


def variance_and_mean(law: str, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each value."""
    if law == "Poisson":
        return 3 * np.exp(shift / 2), 3 * np.exp(shift / 2)
    if law == "log-normal":
        return (np.e - 1) * np.exp(2 * shift + 1), np.exp(shift + 0.5)
    if law == "zero-inflated":
        return np.exp(shift) * (0.6 - 0.09), 0.3 * np.exp(shift / 2)
    return np.full(len(shift), 3.0 if law == "t3" else 1.0), shift


def held(rng: np.random.Generator, m: int, n_values: int, law: str, effect: float) -> tuple[bool, ...]:
    """Whether the intervals of the squared error, of R² and of the absolute error hold these."""
    if n_values > m:  # a new row has a value of its own, and so has every row of the sample
        code, share = np.arange(m), np.ones(1)
        y = LAWS[law](effect * rng.normal(size=m), rng.random((m, 1)))[:, 0]
        shift, seen = effect * rng.normal(size=500), np.zeros(0, int)
        share = np.full(500, 1 / 500)
    else:
        share, shift = rng.dirichlet(np.ones(n_values)), effect * rng.normal(size=n_values)
        seen, code = np.unique(rng.choice(n_values, m, p=share), return_inverse=True)
        y = LAWS[law](shift[seen[code]], rng.random((m, 1)))[:, 0]
    cells = CellNumbers(code, y)
    if np.ptp(y) == 0:
        return True, True, True
    mean, median = np.full(len(share), y.mean()), np.full(len(share), np.median(y))
    mean[seen] = cells.means[: len(seen)]
    median[seen] = [np.median(y[code == k]) for k in range(len(seen))]
    variance, centre = variance_and_mean(law, shift)
    error, blind = (share @ (variance + (centre - said) ** 2) for said in (mean, y.mean()))
    losses, level = SquaredLosses(cells), 0.95
    ends = losses.error_interval(level), losses.r2_interval(level), judge_absolute(cells, level)[1:3]
    grid = LAWS[law](shift, np.broadcast_to(GRID, (len(shift), len(GRID))))
    truth = error, 1 - error / blind, share @ np.abs(grid - median[:, None]).mean(axis=1)
    return tuple(bool(low <= one <= high) for (low, high), one in zip(ends, truth, strict=True))


def main(n_seeds: int, *only: str) -> None:
    """Print a line for each law, number of rows and of values."""
    for law in only or LAWS:
        for m, n_values in KINDS:
            rng = np.random.default_rng([1, m, n_values])
            found = np.mean(
                [held(rng, m, n_values, law, effect) for effect in (0.0, 0.5) for _ in range(n_seeds)], axis=0
            )
            values = f"{n_values:,} values" if n_values <= m else "all different"
            told = "  ".join(f"{one:.3f}" for one in found)
            sys.stdout.write(f"{law:14} {m:5,} rows  {values:>14}  squared, R², absolute: {told}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
