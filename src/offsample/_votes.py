"""The majority vote of a few rows of a cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from offsample._typing import Floats, Ints


def win_probability(pool: Ints, k: int, order: int) -> Floats:
    """Probability that class k wins the vote of `order` rows of a larger pool; tied classes share it."""
    # The classes of rows drawn without replacement are independent binomials, given that their sum is
    # `order`; any success probability will do, and this one keeps every factor away from underflow.
    n_classes, size = pool.shape[1], pool.sum(axis=1)
    p = order / size
    # A class shares a tie of t + 1 with probability 1/(t + 1), the integral of s^t over [0, 1]: exact
    # by Gauss–Legendre, since at most K - 1 classes tie.
    nodes, node_weights = np.polynomial.legendre.leggauss((n_classes + 1) // 2)
    nodes, node_weights = (nodes + 1) / 2, node_weights / 2
    drawn = [_binomial(np.arange(order + 1), pool[:, [other]], p[:, None]) for other in range(n_classes)]
    ways_to_win = np.zeros(len(pool))
    for j in range(1, order + 1):
        for s, weight in zip(nodes, node_weights, strict=True):
            ways = np.zeros((len(pool), order - j + 1))
            ways[:, 0] = 1.0
            for other in range(n_classes):
                if other != k:
                    ways = _add_votes(ways, drawn[other], j, s)
            ways_to_win += weight * drawn[k][:, j] * ways[:, order - j]
    return np.asarray(ways_to_win / _binomial(order, size, p))


def _add_votes(ways: Floats, drawn: Floats, leader: int, tie: float) -> Floats:
    """Convolve with the votes of one more class: fewer than the leader's, or as many with weight `tie`."""
    width = ways.shape[1]
    result = np.zeros_like(ways)
    for i in range(min(leader + 1, width)):
        factor = drawn[:, [i]] * (tie if i == leader else 1.0)
        result[:, i:] += factor * ways[:, : width - i]
    return result


def _binomial(k: ArrayLike, n: Ints, p: Floats) -> Floats:
    """Probability of `k` successes in `n` trials; 0 where k > n."""
    k = np.asarray(k)
    inside = k <= n
    k = np.where(inside, k, 0)
    log_ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.where(inside, np.exp(log_ways + xlogy(k, p) + xlog1py(n - k, -p)), 0.0)
