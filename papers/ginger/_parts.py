"""Lemmas 9 and 14 to 16, and the three sets of values of Theorem 4 (Sec. 4.2 to 4.4)."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import bdtr
from scipy.stats import binom

from offsample.hypotheses import BayesRule
from papers._claims import judged
from papers._experiments import Claim
from papers.ginger._distributions import Distribution, all_tables, random_distributions, uniform, vote_error

_ROUNDING = 1e-12


def compensated_concentration() -> Claim:
    """Lemma 9: f is a mean of m coins (c = 1) but on the likeliest set of probability δ, exactly."""
    worst = 0.0
    for m, delta, b in product((10, 100, 1000), (0.001, 0.01, 0.05, 0.2), (0.0, 0.1, 1.0)):
        k = np.arange(m + 1)
        probability = binom.pmf(k, m, 0.5)
        g = k / m
        bound = (np.sqrt(np.log(2 / delta)) + b * np.sqrt(2)) / np.sqrt(2 * m)
        # Where f is another function: as many of the samples nearest to the mean as δ allows, so that
        # those in which g is far are added to them; f is moved as far as Eq. (23) allows.
        near = np.argsort(np.abs(g - 0.5), kind="stable")
        moved = near[np.cumsum(probability[near]) <= delta]
        moved = moved if len(moved) else near[np.argsort(-probability[near])][-1:]
        if (mass := float(probability[moved].sum())) > delta:
            continue
        f = g.copy()
        f[moved] += b / np.sqrt(m) / mass
        exceeded = float(probability[np.abs(f - probability @ f) > bound + _ROUNDING].sum())
        worst = max(worst, exceeded / (2 * delta))
    return judged(
        "Lemma 9: if f is g, of bounded differences c/m, with probability 1 - δ, and their means differ by "
        "b/√m, then |f - its mean| <= (c√ln(2/δ) + b√2)/√(2m) with probability 1 - 2δ",
        "2δ",
        f"exceeded with at most {worst:.3f} times 2δ: means of coins, moved as far as b allows on a set of "
        "probability up to δ, exactly",
        worst <= 1,
        "exceeded more often",
    )


def missing_masses() -> Claim:
    """Lemma 14: E[M_k] goes to 0 where the values stay the same, infinitely many or not."""
    v = np.arange(1, 2_000_001, dtype=float)
    tail = 6 / (np.pi * v) ** 2  # what is left of the infinitely many weighs 3e-7
    fixed = Distribution("p ∝ 1/v²", tail, np.zeros(len(v)))
    sizes, ks = (10, 1000, 100_000), (0, 1, 5)
    found = np.array([[_seen(fixed, m, k) for m in sizes] for k in ks])
    growing = [_seen(uniform("m values", m, 0.0), m, 0) for m in sizes]
    falls = bool((np.diff(found[:2], axis=1) < 0).all() and (found[:, -1] < 0.005).all())
    return judged(
        "Lemma 14: E[M_k], the mass of the values seen k times, goes to 0 for each k if V is countable",
        "limit 0",
        "infinitely many values, p ∝ 1/v², m = 10, 1,000, 100,000: "
        + "; ".join(
            f"k = {k}: {', '.join(f'{one:.4f}' for one in row)}" for k, row in zip(ks, found, strict=True)
        )
        + f". Not if the values grow with m: of m equally likely ones {growing[-1]:.3f} stay unseen",
        falls and growing[-1] > 0.3,
        "it does not fall",
    )


def _seen(given: Distribution, m: int, k: int) -> float:
    return float(given.values @ binom.pmf(k, m, given.values))


def rare_values(max_rows: int = 6, n_values: int = 3) -> Claim:
    """Lemma 15: by how much one changed row changes the error of the majority rule of rare values."""
    rng = np.random.default_rng(2)
    given = [
        *random_distributions(40, n_values, rng),
        *(uniform("", n_values, np.array([q, 1 - q, q])) for q in (0.0, 0.2, 0.5)),
    ]
    largest = 0.0
    for m in range(1, max_rows + 1):
        tables = all_tables(n_values, m)
        keys = list(map(tuple, tables.reshape(-1, 2 * n_values)))
        place = {key: i for i, key in enumerate(keys)}
        pairs = []
        for i, key in enumerate(keys):
            for out, into in product(range(2 * n_values), repeat=2):
                if key[out] and out != into:
                    changed = list(key)
                    changed[out] -= 1
                    changed[into] += 1
                    pairs.append((i, place[tuple(changed)]))
        one, other = np.array(pairs).T
        for distribution in given:
            errors = distribution.errors(tables, BayesRule)
            step = float(np.abs(errors[one] - errors[other]).max())
            largest = max(largest, step / (2 * float(distribution.values.max())))
    m, delta = np.geomspace(10, 1e20, 2001), 0.05
    bound = 12 * np.log(2 * m / delta) * m ** (-1 / 6) * np.sqrt(0.5 * np.log(2 / delta))
    return judged(
        "Lemma 15: |ℓ₁ - its mean| <= 12 ln(2m/δ) m^(-1/6) sqrt(½ ln(2/δ)), as one changed row changes the "
        "error of values of probability <= p by at most 2p",
        "2p",
        f"at most {2 * largest:.3f} p, all samples of up to {max_rows} rows and {n_values} values, "
        f"{len(given)} distributions; the bound exceeds 1, and cannot fail, until m = {m[bound > 1][-1]:.0e}",
        largest <= 1,
        "a larger change was found",
    )


def medium_values(m: int = 1_000_000, delta: float = 0.05, n_samples: int = 20_000) -> Claim:
    """Lemma 16: the error of values of medium probability given the counts, where a vote is a gamble."""
    low, high = (6 * np.log(2 * m / delta) * m**power for power in (-2 / 3, -1 / 2))
    rng = np.random.default_rng(0)
    bound = np.sqrt(3 * np.log(2 * m / delta) * np.log(2 / delta)) / m**0.25
    worst = 0.0
    for p in (high, np.sqrt(low * high), low * (1 + 1e-9)):
        n, rows = int(1 / p), round(m * p)
        for q in 0.5 + np.array([0.25, 0.5, 1.0]) / np.sqrt(rows):
            below = float(bdtr(np.ceil(rows / 2) - 1, rows, q))
            tie = float(bdtr(rows // 2, rows, q)) - below
            drawn = rng.multinomial(n, [1 - below - tie, below, tie], size=n_samples)
            error = p * drawn @ np.array([1 - q, q, 0.5])
            mean = n * p * float(vote_error(np.array([rows]), q)[0])
            worst = max(worst, float(np.quantile(np.abs(error - mean), 1 - delta)))
    return judged(
        "Lemma 16: |ℓ₂ - its mean given the counts| <= sqrt(3 ln(2m/δ) ln(2/δ)) m^(-1/4), probability 1 - δ",
        f"{bound:.3f} at m = {m:,}, δ = {delta}",
        f"95 % quantile at most {worst:.4f}: equally likely values from the rarest to the most likely of V₂, "
        f"q up to ½ + 1/√c, {n_samples:,} samples",
        worst <= bound,
        "exceeded more often than δ",
    )


def three_sets(delta: float = 0.05) -> Claim:
    """Sec. 4.4: V₁, V₂ and V₃ partition the values; from which m on the last two may hold any."""
    m = np.arange(2, 20_001, dtype=float)
    log = 6 * np.log(2 * m / delta)
    second, third = log * m ** (-2 / 3), log * m ** (-1 / 2)
    return judged(
        "Sec. 4.4: V₁, V₂, V₃ partition the values by p_v",
        "no number",
        f"their borders are in order at every m up to 20,000; δ = {delta}: V₂ is empty up to m = "
        f"{m[second >= 1][-1]:.0f}, V₃ up to {m[third >= 1][-1]:,.0f}, where the borders exceed 1. That the "
        "four parts bound the whole is the triangle inequality, which cannot fail",
        bool((second <= third).all()),
        "they overlap",
    )
