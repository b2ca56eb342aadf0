"""Boolean functions, a model whose error prior is known: Appendix G of Scheffer (1999), corrected."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp

from offsample._typing import Ints
from offsample.expected_error._binomial import log_pmf
from offsample.expected_error._labelings import log_labeling_law
from offsample.expected_error.prior import ErrorPrior

__all__ = ["all_functions_prior", "prefix_priors", "target_prior", "true_learning_curve"]


def all_functions_prior(n_attributes: int) -> ErrorPrior:
    """Prior of all functions of i bits when the target is one of them, Eq. (7.43): Bin(2^i, 1/2) / 2^i.

    Rows are uniform, and the prior does not depend on the target.

    Examples
    --------
    >>> from papers.expected_error._functions import all_functions_prior
    >>> all_functions_prior(1).mass.round(3).tolist()
    [0.25, 0.5, 0.25]
    """
    if not 0 <= n_attributes <= 20:
        raise ValueError(f"n_attributes must lie between 0 and 20, got {n_attributes}")
    n_cells = 2**n_attributes
    k = np.arange(n_cells + 1)
    logs = log_pmf(k, n_cells, np.asarray(0.5))
    prior = ErrorPrior(k / n_cells, log_mass=logs - logsumexp(logs))
    return prior._with(source="Boolean functions")


def prefix_priors(
    n_attributes: int, n_relevant: int, max_priors: int = 2000, seed: int = 0
) -> Iterator[tuple[float, ErrorPrior]]:
    """Priors of the functions of the first i bits, with their probabilities over targets of n bits.

    For i < n the prior depends on the target, and the *theorem* must be averaged over it, never the prior.
    All priors are enumerated up to `max_priors`; beyond, that many targets are drawn.

    Examples
    --------
    >>> from papers.expected_error._functions import prefix_priors
    >>> [round(weight, 4) for weight, _ in prefix_priors(1, 2)]
    [0.25, 0.5, 0.25]
    """
    if n_attributes >= n_relevant:
        yield 1.0, all_functions_prior(n_attributes)
        return
    n_cells, size = 2**n_attributes, 2 ** (n_relevant - n_attributes)
    half = size // 2
    # ε and size - ε are the same pair of errors, so only the number of cells with each smaller one counts.
    chance = np.array([comb(size, e) * (1 if 2 * e == size else 2) for e in range(half + 1)]) / 2.0**size
    if comb(n_cells + half, half) <= max_priors:
        for wrong in combinations_with_replacement(range(half + 1), n_cells):
            times = np.bincount(wrong, minlength=half + 1)
            log_ways = gammaln(n_cells + 1) - gammaln(times + 1).sum()
            yield float(np.exp(log_ways + times @ np.log(chance))), _labelled(np.array(wrong), size)
        return
    rng = np.random.default_rng(seed)
    for _ in range(max_priors):
        yield 1 / max_priors, _labelled(rng.choice(half + 1, n_cells, p=chance), size)


def _labelled(wrong: Ints, size: int) -> ErrorPrior:
    """Return the prior of cells that each take ε or size - ε errors."""
    law = log_labeling_law(np.column_stack([wrong, size - wrong]))
    seen = np.isfinite(law)
    errors = np.arange(len(law)) / (len(law) - 1)
    return ErrorPrior(errors[seen], log_mass=law[seen])._with(source="Boolean functions")


def target_prior(target: ArrayLike, n_attributes: int, n_total: int) -> tuple[ErrorPrior, float]:
    """Prior and log size of the functions of any i of b bits, for a target given as its truth table.

    The mixture (7.45) over the choices of bits. The theorem applies to the mixture, whose model has C(b, i)
    2^(2^i) members; averaging the theorem over the choices (7.52) gives the error for *one* random choice.

    Parameters
    ----------
    target : array-like of shape (2^n,)
        0 or 1 for each row of the n relevant bits; bit j of the row number is attribute j.
    n_attributes, n_total : int
        Bits used, i, and all bits, b, of which the first n are relevant.

    Examples
    --------
    >>> from papers.expected_error._functions import target_prior
    >>> prior, log_size = target_prior([0, 1], 1, 2)
    >>> prior.errors.tolist(), prior.mass.round(3).tolist(), round(log_size, 3)
    ([0.0, 0.5, 1.0], [0.125, 0.75, 0.125], 2.079)
    """
    table = np.asarray(target, dtype=np.int64)
    n = int(np.log2(len(table)))
    if len(table) != 2**n or not np.isin(table, (0, 1)).all():
        raise ValueError("target must be a truth table: 2^n values, each 0 or 1")
    if not n <= n_total or not 0 <= n_attributes <= n_total:
        raise ValueError(f"expected n_attributes and {n} relevant bits of n_total = {n_total}")
    rows = np.arange(2**n)
    scale = n_total + n  # all errors as multiples of 2^-scale, exactly
    parts: dict[int, list[float]] = {}
    for n_used in range(max(0, n_attributes - (n_total - n)), min(n, n_attributes) + 1):
        n_noise = n_attributes - n_used
        log_weight = np.log(comb(n_total - n, n_noise)) - np.log(comb(n_total, n_attributes))
        for used in combinations(range(n), n_used):
            cell = sum(((rows >> bit) & 1) << place for place, bit in enumerate(used)) + np.zeros_like(rows)
            ones = np.bincount(cell, weights=table, minlength=2**n_used).astype(np.int64)
            size = 2 ** (n - n_used)
            pairs = np.repeat(np.column_stack([ones, size - ones]), 2**n_noise, axis=0)
            law = log_labeling_law(pairs)
            unit = 2 ** (scale - n - n_noise)
            for errors in np.flatnonzero(np.isfinite(law)):
                parts.setdefault(int(errors) * unit, []).append(log_weight + law[errors])
    atoms = sorted(parts)
    logs = np.array([logsumexp(parts[atom]) for atom in atoms])
    prior = ErrorPrior(np.array(atoms) / 2.0**scale, log_mass=logs - logsumexp(logs))
    log_size = float(np.log(comb(n_total, n_attributes)) + 2**n_attributes * np.log(2))
    return prior._with(source="Boolean functions"), log_size


def true_learning_curve(n_attributes: int, n_relevant: int, n_samples: int) -> float:
    """Expected error of the table of majorities over the first i bits, for a uniform target of n bits.

    Assumes no independence: ``(1 - 2^-i)^m / 2`` for i >= n, and a vote in each cell for i < n.

    Examples
    --------
    >>> from papers.expected_error._functions import true_learning_curve
    >>> round(true_learning_curve(3, 3, 50), 6)
    0.00063
    """
    if n_attributes >= n_relevant:
        return float(0.5 * (1 - 2.0**-n_attributes) ** n_samples)
    size = 2 ** (n_relevant - n_attributes)
    shares = np.arange(size + 1) / size
    weight = np.exp(log_pmf(np.arange(size + 1), size, np.asarray(0.5)))
    rows = np.exp(log_pmf(np.arange(n_samples + 1), n_samples, np.asarray(2.0**-n_attributes)))
    error = 0.0
    for share, w in zip(shares, weight, strict=True):
        for k in np.flatnonzero(rows > 1e-15):
            votes = np.exp(log_pmf(np.arange(k + 1), int(k), np.asarray(share))) if k else np.ones(1)
            twice = 2 * np.arange(k + 1)
            one = votes[twice > k].sum() + 0.5 * votes[twice == k].sum()
            error += w * rows[k] * (one * (1 - share) + (1 - one) * share)
    return float(error)
