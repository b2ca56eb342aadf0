"""Theorems 5 to 8 of the expected error analysis, in logarithms.

An atom k has error rate e_k, mass p_k and n_k = N p_k hypotheses; b, C and G are the probabilities that a
hypothesis of that error rate makes s, at least s, and more than s errors on the sample.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from offsample._typing import Floats
from offsample.expected_error._binomial import Tails, log_pmf, tail_bounds, tails

# Minima with less probability than this together are left out, and atoms that are e^-150 of the others.
_NEGLIGIBLE, _SURE = 1e-22, 50.0
_PRUNED = 150.0
_MAX_NUMBERS = 30_000_000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_N_PANELS = 12
_BLOCK = 2_000_000
_SMALL = 1000  # below this, bracketing costs more than it saves


@dataclass(frozen=True)
class Answer:
    """Posterior masses of the atoms, and the expected number of errors on the sample."""

    posterior: Floats
    n_errors: float


@dataclass(frozen=True)
class _Window:
    """Where the smallest number of errors can fall, and the atoms that matter there."""

    kept: NDArray[np.intp]
    counts: Floats
    tails: Tails  # over first … last + 1
    log_p: Floats
    log_size: float


def _loss(log_x: Floats) -> Floats:
    """``log(-log(1 - x))`` of log x."""
    with np.errstate(divide="ignore"):
        middle = np.log(-np.log1p(-np.exp(np.clip(log_x, -40.0, -1e-300))))
    return np.where(log_x < -40, log_x, np.where(log_x >= 0, np.inf, middle))


def _log_chance(log_x: Floats) -> Floats:
    """``log(1 - exp(-x))`` of log x."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(log_x < -40, log_x, np.log(-np.expm1(-np.exp(np.maximum(log_x, -40.0)))))


def _window(errors: Floats, log_p: Floats, log_size: float, m: int, *, mixture: bool) -> _Window:
    # Never take the difference of two sums log p + log N: log N may be 1e19.
    log_n = log_p + log_size

    def spent(count: int) -> tuple[float, float]:
        """Bounds on ``log(-log P(all hypotheses make at least `count` errors))``."""
        low, high = tail_bounds(errors, m, count)
        if not mixture:
            with np.errstate(over="ignore"):  # of an infinite term, SciPy before 1.15
                return float(logsumexp(log_n + low)), float(logsumexp(log_n + high))
        shares = np.array([logsumexp(log_p + _log_chance(bound)) for bound in (low, high)])
        of_all = log_size + _loss(shares)
        return float(of_all[0]), float(of_all[1])

    first, last = 0, m
    if len(errors) * m > _SMALL:
        first = _last_where(lambda count: spent(count)[1] < np.log(_NEGLIGIBLE), 0, m)
        last = max(first, _last_where(lambda count: spent(count)[0] < np.log(_SURE), first, m))
    reach = log_p + _log_chance(tail_bounds(errors, m, last + 1)[1])
    kept = np.flatnonzero(reach > reach.max() - _PRUNED)
    if len(kept) * (last + 2 - first) > _MAX_NUMBERS:
        raise ValueError(
            f"a prior of {len(errors)} atoms is too fine for n_samples = {m} and log_size = {log_size:g}: "
            "merge its error rates into fewer atoms"
        )
    counts = np.arange(first, last + 1, dtype=float)
    return _Window(kept, counts, tails(errors[kept], m, first, last + 1), log_p[kept], log_size)


def _last_where(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest number from `low` to `high` up to which a condition holds."""
    step = 1  # growing steps, because large models end at once
    while low < high and step:
        if holds(min(high, low + step)):
            low, step = min(high, low + step), 2 * step
        else:
            high, step = min(high, low + step) - 1, 0
    return bisect_left(range(high + 1), True, lo=low + 1, key=lambda count: not holds(count)) - 1


def limit(errors: Floats, log_p: Floats, m: int) -> Answer:
    """Theorem 8: the posterior for an infinite model is ``p (1 - e)^m``, normalised."""
    logs = log_p + log_pmf(np.zeros(len(errors)), m, errors)
    if not np.isfinite(logs.max()):  # every hypothesis is always wrong
        return Answer(np.exp(log_p), float(m))
    return Answer(np.exp(logs - logsumexp(logs)), 0.0)


def _mixture(window: _Window) -> tuple[Floats, Floats, Floats]:
    """Log q(s), log Q(s) and log(-log Q(s)) of the counts of a drawn hypothesis."""
    t, p = window.tails, window.log_p[:, None]
    n = len(window.counts)
    log_q = logsumexp(p + t.mass[:, :n], axis=0)
    below, at_least = logsumexp(p + t.below[:, :n], axis=0), logsumexp(p + t.at_least[:, :n], axis=0)
    with np.errstate(divide="ignore"):
        log_loss = np.where(below < -0.7, _loss(below), np.log(-np.minimum(at_least, 0.0)))
        log_big = np.where(below < -0.7, np.log1p(-np.exp(np.minimum(below, -0.1))), at_least)
    return log_q, log_big, log_loss


def _answer(kept: Floats, minimum: Floats, window: _Window, n_atoms: int) -> Answer:
    """Put the posterior of the atoms that matter among all, and average the law of the minimum."""
    posterior = np.zeros(n_atoms)
    posterior[window.kept] = kept
    return Answer(posterior, float(minimum @ window.counts))


def theorem5(errors: Floats, log_p: Floats, log_size: float, m: int) -> Answer:
    """Equation 3.1: a random hypothesis, given that it is among the best; ties are not broken."""
    window = _window(errors, log_p, log_size, m, mixture=True)
    log_q, _, log_loss = _mixture(window)
    with np.errstate(divide="ignore", over="ignore"):
        others = log_size + np.log1p(-np.exp(-log_size))  # log(N - 1)
        log_best = -np.exp(others + log_loss)
    weight = logsumexp(window.tails.mass[:, : len(log_q)] + log_best, axis=1) + window.log_p
    chance = np.exp(log_q + log_best - logsumexp(log_q + log_best))
    return _answer(np.exp(weight - logsumexp(weight)), chance, window, len(errors))


def theorem5_exact(errors: Floats, log_p: Floats, log_size: float, m: int) -> Answer:
    """Theorem 5 with ties broken at random: ``Σ_s [Q(s)^N - Q(s+1)^N] p_k b_k(s) / q(s)``."""
    window = _window(errors, log_p, log_size, m, mixture=True)
    log_q, log_big, log_loss = _mixture(window)
    with np.errstate(over="ignore", invalid="ignore"):
        reach = -np.exp(log_size + log_loss)
        minimum = np.exp(reach) * -np.expm1(-np.exp(log_size + _loss(np.minimum(log_q - log_big, 0.0))))
    minimum = np.nan_to_num(minimum)  # counts that are never reached
    used = minimum > 0
    shares = np.exp(window.log_p[:, None] + window.tails.mass[:, : len(log_q)][:, used] - log_q[used])
    return _answer(shares @ minimum[used], minimum, window, len(errors))


def _log_all_at_least(window: _Window) -> Floats:
    """Log A(s), the probability that no hypothesis makes fewer than s errors."""
    t, n = window.tails, len(window.counts)
    below, at_least = t.below[:, :n], t.at_least[:, :n]
    with np.errstate(divide="ignore", over="ignore"):
        log_loss = np.where(below < -0.7, _loss(below), np.log(-at_least))
        return np.asarray(-np.exp(window.log_size + logsumexp(window.log_p[:, None] + log_loss, axis=0)))


def theorem7(errors: Floats, log_p: Floats, log_size: float, m: int) -> Answer:
    """Equations 3.5 and 3.6: the number of ties is the same for all hypotheses among the best."""
    window = _window(errors, log_p, log_size, m, mixture=False)
    n = len(window.counts)
    log_all = _log_all_at_least(window)
    t = window.tails
    with np.errstate(invalid="ignore"):
        log_ratio = np.where(np.isneginf(t.mass[:, :n]), -np.inf, t.mass[:, :n] - t.at_least[:, :n])
    weight = logsumexp(log_ratio + log_all, axis=1) + window.log_p
    minimum = np.exp(log_all) - np.append(np.exp(log_all[1:]), 0.0)
    return _answer(np.exp(weight - logsumexp(weight)), minimum, window, len(errors))


def theorem6(errors: Floats, log_p: Floats, log_size: float, m: int) -> Answer:
    """Equation 3.4 without its sum over subsets.

    ``P(e_k) = n_k Σ_s b_k ∫ Π_l (t b_l + G_l)^(n_l - [l=k]) dt``.

    One of 1 + T tied hypotheses is drawn, and E[1/(1+T)] is the integral over t from 0 to 1 of E[t^T].
    """
    window = _window(errors, log_p, log_size, m, mixture=False)
    log_all = _log_all_at_least(window)
    t = window.tails
    with np.errstate(invalid="ignore"):
        log_r = np.where(np.isneginf(t.mass), -np.inf, t.mass - t.at_least)[:, :-1]
        log_g = np.minimum(t.at_least[:, 1:] - t.at_least[:, :-1], 0.0)
    shares = np.zeros(log_r.shape)
    reached = np.flatnonzero(log_all > -_SURE - 10)
    step = max(1, _BLOCK // (len(window.kept) * _N_PANELS * len(_NODES)))
    for start in range(0, len(reached), step):
        j = reached[start : start + step]
        shares[:, j] = np.exp(log_all[j]) * _tie_shares(
            window.log_p, log_size, np.minimum(log_r[:, j], 0.0), log_g[:, j]
        )
    return _answer(shares.sum(axis=1), shares.sum(axis=0), window, len(errors))


def _tie_shares(log_p: Floats, log_size: float, log_r: Floats, log_g: Floats) -> Floats:
    """Probability that a hypothesis of an atom (row) is chosen with s errors (column), if none makes fewer.

    ``n_k r_k ∫ e^-x / (g_k + r_k e^-x) exp(Σ_l n_l log(g_l + r_l e^-x)) dx`` with e^-x = t, r = b/C, g = G/C.
    """
    log_share = log_p[:, None] + log_r
    log_shares = logsumexp(log_share, axis=0)
    log_total = log_size + log_shares
    # With many ties the next term is 1e-19 of this one; with few there is at most one hypothesis.
    with np.errstate(invalid="ignore"):
        answer: Floats = np.exp(log_share - log_shares)
    few = log_total < np.log(_NEGLIGIBLE)
    answer[:, few] = np.exp(log_size + log_share[:, few])
    open_ = np.flatnonzero(~few & (log_total <= 45))
    if not len(open_):
        return answer
    used = np.flatnonzero((log_share[:, open_] > log_shares[open_] - 60).any(axis=1))
    here = np.ix_(used, open_)
    rate = np.exp(log_size + log_share[here])
    r, g = np.exp(log_r[here])[..., None], np.exp(log_g[here])[..., None]
    x, weight = _nodes(np.exp(log_total[open_]))
    step, decay = np.expm1(-x), np.exp(-x)
    small = r < 0.5
    kept = g + r * decay
    with np.errstate(divide="ignore", invalid="ignore"):
        # log(g + r e^-x) / r, without cancellation on either side, and where r underflows
        log_kept = np.where(small, np.log1p(np.where(small, r * step, 0.0)), np.log(kept))
        log_kept = np.where(g == 0, -x, log_kept)
        per_rate = np.where(r < 1e-17, step, log_kept / r)
        inverse = np.where(g == 0, 1.0, decay / kept)
    together = np.exp(np.einsum("ks,ksx->sx", rate, per_rate))
    answer[:, open_] = 0.0
    answer[here] = rate * np.einsum("ksx,sx->ks", inverse, weight * together)
    return answer


def _nodes(total: Floats) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on panels that grow from 1/Λ to where the integrand vanishes."""
    start = 1 / np.maximum(total, 1.0)
    end = np.where(total > 100, 78.0 * start, 50.0)
    edges = start[:, None] * (end / start)[:, None] ** np.linspace(0, 1, _N_PANELS)
    edges = np.concatenate([np.zeros((len(total), 1)), edges], axis=1)
    half = np.diff(edges, axis=1)[..., None] / 2
    x = (edges[:, :-1, None] + half) + half * _NODES
    return x.reshape(len(total), -1), (half * _WEIGHTS).reshape(len(total), -1)
