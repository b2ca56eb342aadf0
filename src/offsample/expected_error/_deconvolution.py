"""Error rates behind observed counts of errors."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, logsumexp

from offsample._typing import Floats, Ints
from offsample.expected_error._binomial import log_pmf


def npmle(counts: Ints, mass: Floats, n_rows: int, n_atoms: int, max_iter: int) -> tuple[Floats, Floats]:
    """Find the mixing law on a grid with the largest likelihood of the observed counts, by EM."""
    grid = np.linspace(0.0, 1.0, n_atoms)
    log_likelihood = log_pmf(counts[None, :], n_rows, grid[:, None])
    # EM divides by the sum of a column, which may be scaled freely.
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=0))
    weights = np.full(n_atoms, 1 / n_atoms)
    for _ in range(max_iter):
        mixture = weights @ likelihood
        new = weights * (likelihood @ (mass / mixture))
        moved = float(np.abs(new - weights).max())
        weights = new
        if moved < 1e-9:
            break
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    kept = np.isfinite(logs)
    return grid[kept], logs[kept] - logsumexp(logs[kept])


def beta_by_moments(counts: Ints, mass: Floats, n_rows: int, n_atoms: int) -> tuple[Floats, Floats]:
    """Fit the beta law with the unbiased mean and variance of the error rates; a point if there is none."""
    mean = float(mass @ counts) / n_rows
    second = float(mass @ (counts * (counts - 1.0))) / (n_rows * max(1, n_rows - 1))
    variance = second - mean**2
    if n_rows < 2 or not 0 < mean < 1 or variance <= 0 or variance >= mean * (1 - mean):
        return np.array([min(max(mean, 0.0), 1.0)]), np.array([0.0])
    size = mean * (1 - mean) / variance - 1
    a, b = mean * size, (1 - mean) * size
    grid = (np.arange(n_atoms) + 0.5) / n_atoms
    logs = (a - 1) * np.log(grid) + (b - 1) * np.log1p(-grid) - betaln(a, b)
    return grid, logs - logsumexp(logs)
