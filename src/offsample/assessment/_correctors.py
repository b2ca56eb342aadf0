"""What the best of many configurations is worth, from losses that all of them left behind.

Each corrector takes losses (smaller is better), one row per configuration, and returns the loss to expect of
the configuration with the smallest mean. The order of configurations does not matter, nor does a
configuration that is there twice: rows that are equal are one row.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy.special import gammaln
from scipy.stats import binom, t

from offsample._ties import best_of
from offsample._typing import Booleans, Floats, Ints

__all__ = [
    "FOLD_CORRECTORS",
    "VARIANCE_FACTOR",
    "bootstrap",
    "distinct",
    "indistinguishable",
    "information",
    "left_out_fold",
    "redrawn_bootstrap",
    "share_of_choice",
    "shrinkage",
    "tibshirani",
]


# Means of the rows (or folds) left out by a bootstrap sample, a share of 1/e, vary about the mean of all by
# (1 - 1/e) / (1/e) = e - 1 times its variance: the width of the percentile interval of BBC-CV, in closed
# form.
VARIANCE_FACTOR = math.e - 1
# All bootstrap samples of up to this many folds are enumerated; of more units, some are drawn.
_ENUMERATED = 7
_TIE = 1e-12


def distinct(losses: Floats) -> Floats:
    """Leave out configurations that did exactly as another one: they are the same choice."""
    return np.unique(losses, axis=0)


def bootstrap(losses: Floats, n_draws: int = 500, seed: int = 0) -> float:
    """Bootstrap bias correction: choose on the units drawn, judge on the units left out (BBC-CV [1]_).

    A unit is a row or a fold. Configurations that tie on the units drawn share the choice. For up to seven
    units all samples are enumerated, and the result is exact; else `n_draws` are drawn from a fixed seed.

    References
    ----------
    .. [1] I. Tsamardinos, E. Greasidou, G. Borboudakis (2018). Bootstrapping the out-of-sample predictions
       for efficient and accurate cross-validation. Machine Learning 107.
    """
    losses = distinct(losses)
    n_units = losses.shape[1]
    if len(losses) == 1 or n_units == 1:
        return float(losses.mean(axis=1).min())
    if n_units <= _ENUMERATED:
        drawn, log_weights = _compositions(n_units)
        weights = np.exp(log_weights)
    else:
        rng = np.random.default_rng(seed)
        drawn = rng.multinomial(n_units, np.full(n_units, 1 / n_units), size=n_draws)
        weights = np.ones(len(drawn))
    some_left = (drawn == 0).any(axis=1)
    drawn, weights = drawn[some_left].astype(float), weights[some_left]
    left_out = (drawn == 0).astype(float)
    chosen = share_of_choice(drawn @ losses.T / n_units)
    judged = left_out @ losses.T / left_out.sum(axis=1, keepdims=True)
    return float(weights @ (chosen * judged).sum(axis=1) / weights.sum())


def redrawn_bootstrap(drawn: Floats, left_out: Floats) -> float:
    """As `bootstrap`, from losses (n_configurations, n_draws) on the rows drawn and on those left out.

    For scores that are no mean over rows, which have to be computed anew for each sample.
    """
    _, first = np.unique(drawn, axis=0, return_index=True)
    chosen = share_of_choice(drawn[first].T)
    return float((chosen * np.where(chosen > 0, left_out[first].T, 0.0)).sum(axis=1).mean())


def tibshirani(losses: Floats) -> float:
    """Correction of Tibshirani & Tibshirani [1]_: the smallest mean, plus an optimism.

    The optimism is the mean, over folds, of the loss of the best configuration less the smallest loss there:
    that of choosing by one fold. It is about right for five folds, and far too large for many small ones
    (+.10 instead of 0 for 20 folds of 10 rows of noise).

    References
    ----------
    .. [1] R. J. Tibshirani, R. Tibshirani (2009). A bias correction for the minimum error rate in
       cross-validation. Annals of Applied Statistics 3.
    """
    losses = distinct(losses)
    smallest = float(losses.mean(axis=1).min())
    return smallest + (smallest - float(losses.min(axis=0).mean()))


def left_out_fold(losses: Floats) -> float:
    """Choose by all folds but one, judge on that one, and average: nested cross-validation without a refit.

    Nearly unbiased, but with the largest variance: each judgement rests on one fold.
    """
    losses = distinct(losses)
    n_folds = losses.shape[1]
    if n_folds < 2:
        return float(losses.min())
    others = (losses.sum(axis=1, keepdims=True) - losses) / (n_folds - 1)
    return float((share_of_choice(others.T) * losses.T).sum(axis=1).mean())


def shrinkage(
    losses: Floats, n_draws: int = 2000, seed: int = 0, noise_variance: float | None = None
) -> float:
    """Order statistics of normal scores with the covariance of the fold scores, around shrunken means.

    The mean losses z of the configurations are normal about the true ones, with covariance S/K: S is the
    covariance of the K fold scores, which carries the common luck of all configurations on a fold. The true
    means spread less than z does: ``var(z) = var(true) + noise``, with noise the mean variance of the
    contrasts under S/K; so they are taken as z shrunk towards their mean by ``sqrt(1 - noise / var(z))``,
    which has the spread of the true ones. The optimism is the mean of ``true[i] - z*[i]`` for the i with the
    smallest z*, over draws z* from that normal distribution: that of a best of many correlated normal
    variables.

    Parameters
    ----------
    losses : array of shape (n_configurations, n_folds)
    n_draws, seed : int
    noise_variance : float, optional
        Variance of each score, for one score per configuration: noise is taken as independent then, which is
        the worst case, and equal scores are those of different configurations.
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


def information(
    losses: Floats, n_samples: int, n_configurations: int, majority_rate: float = 0.5, shared: bool = True
) -> float:
    """Error without the labels that the choice among so many configurations can have told, on average.

    Sec. 5.5 of [1]_ with the mean in place of the probability: ``log2(n_configurations) / H`` labels per fold
    are told, of entropy H. Those of the majority over n folds are right ``E[max(y, n - y)] / n`` of the time;
    with ``shared=False`` (or one fold) always. Solved for the error before tuning. It is what a tuner who
    codes labels into parameters can gain; a best of many that are lucky in different ways can gain more.

    References
    ----------
    .. [1] T. Scheffer (1999). Error Estimation and Model Selection.
    """
    n_folds = losses.shape[1]
    found = float(losses.mean(axis=1).min())
    rates = np.array([majority_rate, 1 - majority_rate])
    rates = rates[rates > 0]
    entropy = float(-(rates * np.log2(rates)).sum())
    if entropy == 0:
        return found
    told = min(1.0, n_folds * (math.log2(n_configurations) / entropy) / n_samples)
    y = np.arange(n_folds + 1)
    wrong = (
        float(np.minimum(y, n_folds - y) @ binom.pmf(y, n_folds, majority_rate)) / n_folds if shared else 0.0
    )
    if told == 1.0:
        return float(max(found, 1 - majority_rate))
    return float(max(found, (found - told * wrong) / (1 - told)))


FOLD_CORRECTORS = {
    "bootstrap": bootstrap,
    "shrinkage": shrinkage,
    "left_out_fold": left_out_fold,
    "tibshirani": tibshirani,
}


def indistinguishable(losses: Floats, confidence: float = 0.95) -> Booleans:
    """Configurations not worse than the best by a one-sided corrected resampled t-test, each by itself."""
    n_folds = losses.shape[1]
    best = best_of(-losses.mean(axis=1))
    worse = losses - losses[best]
    if n_folds < 2:
        return np.asarray(worse[:, 0] <= 0)
    # Nadeau & Bengio: training sets overlap, so that folds vary less than new samples would.
    error = np.sqrt(worse.var(axis=1, ddof=1) * (1 / n_folds + 1 / (n_folds - 1)))
    return np.asarray(worse.mean(axis=1) <= t.ppf(confidence, n_folds - 1) * error + _TIE)


def share_of_choice(scores: Floats) -> Floats:
    """For each row of scores, one divided among the columns with the smallest."""
    tied = scores <= scores.min(axis=1, keepdims=True) + _TIE * np.maximum(1, np.abs(scores).max())
    return np.asarray(tied / tied.sum(axis=1, keepdims=True))


def _compositions(n_units: int) -> tuple[Ints, Floats]:
    """How often each unit is drawn, in every possible bootstrap sample, and its log probability."""
    bars = np.array(list(combinations(range(2 * n_units - 1), n_units - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), 2 * n_units - 1)])
    drawn = np.diff(edges, axis=1) - 1
    log_weights = gammaln(n_units + 1) - gammaln(drawn + 1).sum(axis=1) - n_units * math.log(n_units)
    return drawn, log_weights
