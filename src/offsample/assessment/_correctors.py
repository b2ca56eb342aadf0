"""What the best of many configurations is worth, from the losses of all of them.

Each corrector takes losses (smaller is better), one row per configuration and one column per unit, and
returns the loss to expect of the configuration with the smallest mean. Neither the order of configurations
nor a repeated configuration matters: equal rows count once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from scipy.special import gammaln
from scipy.stats import t

from offsample._ties import best_of
from offsample._typing import Booleans, Floats, Ints

# Means of the units left out by a bootstrap sample, a share of 1/e, vary about the mean of all by
# (1 - 1/e) / (1/e) = e - 1 times its variance: the width of the percentile interval of BBC-CV.
VARIANCE_FACTOR = math.e - 1
# All bootstrap samples of up to this many units are enumerated; of more units, some are drawn.
_ENUMERATED = 7
_AT_ONCE = 2**21  # units of all samples that are drawn at a time
_TIE = 1e-12


def distinct(losses: Floats) -> Floats:
    """Drop configurations whose losses equal those of another: they are the same choice."""
    return np.unique(losses, axis=0)


def bootstrap(losses: Floats, n_draws: int = 500, seed: int = 0, weights: Floats | None = None) -> float:
    """Bootstrap bias correction (BBC-CV): choose on the units drawn, judge on the units left out.

    Configurations that tie on the units drawn share the choice. For up to seven units all samples are
    enumerated and the result is exact; else `n_draws` are drawn from a fixed seed. Units may differ in
    their `weights`, as groups do by their rows.

    I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions for
    efficient and accurate cross-validation. Machine Learning 107.
    """
    losses = distinct(losses)
    n_units = losses.shape[1]
    if len(losses) == 1 or n_units == 1:
        return float(np.average(losses, axis=1, weights=weights).min())
    blocks: Iterable[tuple[Ints, Floats]]
    if n_units <= _ENUMERATED:
        drawn, log_weights = _compositions(n_units)
        blocks = [(drawn, np.exp(log_weights))]
    else:
        rng, chance = np.random.default_rng(seed), np.full(n_units, 1 / n_units)
        step = max(1, _AT_ONCE // n_units)
        sizes = [min(step, n_draws - begin) for begin in range(0, n_draws, step)]
        blocks = ((rng.multinomial(n_units, chance, size=size), np.ones(size)) for size in sizes)
    total = weight = 0.0
    for drawn, chances in blocks:
        some_left = (drawn == 0).any(axis=1)
        times, chances = drawn[some_left].astype(float), chances[some_left]
        left_out = (times == 0).astype(float)
        if weights is not None:
            times, left_out = times * weights, left_out * weights
        chosen = share_of_choice(times @ losses.T / times.sum(axis=1, keepdims=True))
        judged = left_out @ losses.T / left_out.sum(axis=1, keepdims=True)
        total += float(chances @ (chosen * judged).sum(axis=1))
        weight += float(chances.sum())
    return total / weight


def redrawn_bootstrap(drawn: Floats, left_out: Floats) -> float:
    """Correct like `bootstrap`, from losses (n_configurations, n_draws) of scores that are no unit means."""
    _, first = np.unique(drawn, axis=0, return_index=True)
    chosen = share_of_choice(drawn[first].T)
    return float((chosen * np.where(chosen > 0, left_out[first].T, 0.0)).sum(axis=1).mean())


def shrinkage(
    losses: Floats, n_draws: int = 2000, seed: int = 0, noise_variance: float | None = None
) -> float:
    """Order statistics of normal scores with the covariance of the fold scores, around shrunken means.

    The mean losses z of the configurations are normal about the true ones with covariance S/K, where S is the
    covariance of the K fold scores and carries what all configurations have in common on a fold. The true
    means spread less than z does: ``var(z) = var(true) + noise``, with noise the mean variance of the
    contrasts under S/K. So the true means are taken as z shrunk towards its mean by
    ``sqrt(1 - noise / var(z))``. The optimism is the mean of ``true[i] - z*[i]`` for the i with the smallest
    z*, over draws z* from that normal distribution.

    `noise_variance` is the variance of each score where a configuration has only one: noise is then taken as
    independent, the worst case, and equal scores as those of different configurations.
    """
    losses = distinct(losses) if noise_variance is None else losses
    means, n_folds = losses.mean(axis=1), losses.shape[1]
    if len(means) == 1:
        return float(means[0])
    if noise_variance is None:
        # Rows of `scale` times independent normals have the covariance S/K.
        scale = (losses - means[:, None]) / math.sqrt(n_folds * (n_folds - 1))
    else:
        scale = math.sqrt(noise_variance) * np.eye(len(means))
    noise = ((scale - scale.mean(axis=0)) ** 2).sum() / (len(means) - 1)
    spread = means.var(ddof=1)
    kept = math.sqrt(max(0.0, 1 - noise / spread)) if spread > 0 else 0.0
    true = means.mean() + kept * (means - means.mean())
    normal = np.random.default_rng(seed).normal(size=(n_draws // 2, scale.shape[1]))
    scores = true + np.concatenate([normal, -normal]) @ scale.T
    optimism = (share_of_choice(scores) * (true - scores)).sum(axis=1).mean()
    return float(means.min() + max(0.0, optimism))


def indistinguishable(losses: Floats, confidence: float = 0.95) -> Booleans:
    """Mark the configurations that a one-sided corrected t-test does not find worse than the best."""
    n_folds = losses.shape[1]
    best = best_of(-losses.mean(axis=1))
    worse = losses - losses[best]
    if n_folds < 2:
        return np.asarray(worse[:, 0] <= 0)
    # Nadeau and Bengio: training sets overlap, so folds vary less than new samples would.
    error = np.sqrt(worse.var(axis=1, ddof=1) * (1 / n_folds + 1 / (n_folds - 1)))
    return np.asarray(worse.mean(axis=1) <= t.ppf(confidence, n_folds - 1) * error + _TIE)


def share_of_choice(scores: Floats) -> Floats:
    """Divide 1 among the columns with the smallest score, in each row."""
    tied = scores <= scores.min(axis=1, keepdims=True) + _TIE * np.maximum(1, np.abs(scores).max())
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


def _compositions(n_units: int) -> tuple[Ints, Floats]:
    """Return how often each unit is drawn in every bootstrap sample, and its log probability."""
    bars = np.array(list(combinations(range(2 * n_units - 1), n_units - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), 2 * n_units - 1)])
    drawn = np.diff(edges, axis=1) - 1
    log_weights = gammaln(n_units + 1) - gammaln(drawn + 1).sum(axis=1) - n_units * math.log(n_units)
    return drawn, log_weights
