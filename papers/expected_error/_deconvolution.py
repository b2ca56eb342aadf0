"""The true error rates behind the counts of errors on a sample."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.special import betaln, logsumexp

from offsample._typing import Floats, Ints
from offsample.expected_error import ErrorPrior
from offsample.expected_error._binomial import log_pmf


def deconvolved(
    prior: ErrorPrior,
    method: Literal["npmle", "moments"] = "npmle",
    *,
    n_atoms: int = 201,
    max_iter: int = 500,
) -> ErrorPrior:
    """Estimate the true error rates, about which the counts of a plug-in prior scatter binomially.

    Parameters
    ----------
    prior : ErrorPrior
    method : {"npmle", "moments"}
        "npmle": the mixture of binomials with the largest likelihood, by EM on a grid of rates.
        "moments": the beta law with the unbiased moments ``E s/m`` and ``E s(s-1)/(m(m-1))``.
    n_atoms : int
        Size of the grid.
    max_iter : int
        Steps of EM, which ends when no mass changes by 1e-9.
    """
    if prior.n_rows is None:
        raise ValueError("the prior holds true error rates, not counts: there is nothing to deconvolve")
    counts = np.rint(prior.errors * prior.n_rows).astype(np.int64)
    if method == "npmle":
        atoms, logs = _npmle(counts, prior.mass, prior.n_rows, n_atoms, max_iter)
    elif method == "moments":
        atoms, logs = _beta_by_moments(counts, prior.mass, prior.n_rows, n_atoms)
    else:
        raise ValueError(f"method must be 'npmle' or 'moments', got {method!r}")
    return ErrorPrior(atoms, log_mass=logs)._with(
        source=f"{prior.source}, deconvolved by {method}", n_draws=prior.n_draws
    )


def _npmle(counts: Ints, mass: Floats, n_rows: int, n_atoms: int, max_iter: int) -> tuple[Floats, Floats]:
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


def _beta_by_moments(counts: Ints, mass: Floats, n_rows: int, n_atoms: int) -> tuple[Floats, Floats]:
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
