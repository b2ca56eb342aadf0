"""Sec. 7.1: the expected error analysis with a cost for each kind of error."""

from __future__ import annotations

from itertools import product

import numpy as np

from offsample._typing import Floats
from offsample.expected_error import ErrorPrior, expected_error
from papers._claims import judged
from papers._experiments import Outcome, experiment
from papers._table import format_table

__all__ = ["expected_cost", "linear_costs"]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)  # exact for up to 48 hypotheses


def expected_cost(missed: Floats, false: Floats, costs: tuple[int, int], m: int) -> float:
    """Expected cost per row of a hypothesis with the least cost on m rows, ties broken at random.

    Theorem 6 with another law in place of the binomial: a row costs `costs[0]` with the probability that a
    hypothesis misses a positive one, `costs[1]` with that of a false alarm, and nothing otherwise.

    Parameters
    ----------
    missed, false : array of shape (N,)
        Probabilities of the two kinds of errors, for each of at most 48 hypotheses.
    costs : tuple of two int
    m : int

    Examples
    --------
    One of two hypotheses errs in half of the rows, the other never; from one row they tie half the time:

    >>> import numpy as np
    >>> from papers.expected_error._linear_costs import expected_cost
    >>> round(expected_cost(np.array([0.0, 0.5]), np.zeros(2), (1, 1), 1), 6)
    0.125
    """
    row = np.zeros((len(missed), max(costs) + 1))
    row[:, 0] = 1 - missed - false
    row[:, costs[0]] += missed
    row[:, costs[1]] += false
    law = np.ones((len(missed), 1))
    for _ in range(m):
        law = np.array([np.convolve(one, of_row) for one, of_row in zip(law, row, strict=True)])
    more = np.clip(1 - np.cumsum(law, axis=1), 0.0, 1.0)
    true = costs[0] * missed + costs[1] * false
    t = (_NODES + 1) / 2
    factors = t[:, None, None] * law + more  # (node, hypothesis, cost)
    cost = 0.0
    for k in range(len(missed)):
        others = np.delete(factors, k, axis=1).prod(axis=1)
        cost += float(true[k] * (law[k] @ (_WEIGHTS / 2 @ others)))
    return cost


def _least_costs(costs: Floats, true: Floats) -> Floats:
    """Mean true cost of the hypotheses with the least cost on a sample, of each row of samples."""
    least = costs == costs.min(axis=1, keepdims=True)
    return np.asarray((least * true).sum(axis=1) / least.sum(axis=1))


@experiment("expected_error.linear_costs", "Sec. 7.1: the analysis for linear costs")
def linear_costs(n_samples: int = 20_000, sizes: tuple[int, ...] = (5, 20, 50)) -> Outcome:
    """All 16 functions of two bits; a miss costs five false alarms; samples shared and not."""
    functions = np.array(list(product((0, 1), repeat=4)))
    positive = np.array([0.05, 0.1, 0.25, 0.8])  # by point
    missed, false = (1 - functions) @ positive / 4, functions @ (1 - positive) / 4
    rows, off, same, gap = [], 0.0, 0.0, 0.0
    rng = np.random.default_rng(0)
    for costs in ((1, 1), (5, 1)):
        true = costs[0] * missed + costs[1] * false
        for m in sizes:
            predicted = expected_cost(missed, false, costs, m)
            kinds = rng.multinomial(m, np.column_stack([missed, false, 1 - missed - false]), (n_samples, 16))
            apart = _least_costs(kinds[:, :, 0] * costs[0] + kinds[:, :, 1] * costs[1], true)
            cells = np.column_stack([positive, 1 - positive]).ravel() / 4
            drawn = rng.multinomial(m, cells, n_samples).reshape(n_samples, 4, 2)
            together = drawn[:, :, 0] @ (1 - functions).T * costs[0] + drawn[:, :, 1] @ functions.T * costs[1]
            shared = _least_costs(together, true)
            errors = [found.std(ddof=1) / np.sqrt(n_samples) for found in (apart, shared)]
            off = max(off, abs(predicted - apart.mean()) / errors[0])
            gap = max(gap, abs(predicted / shared.mean() - 1))
            if costs == (1, 1):
                rates, times = np.unique(np.round(true, 12), return_counts=True)
                prior = ErrorPrior(rates, log_mass=np.log(times / 16))
                same = max(same, abs(expected_error(prior, np.log(16), m).mean - predicted))
            shown = [f"{f.mean():.4f} ± {e:.4f}" for f, e in zip((apart, shared), errors, strict=True)]
            rows.append([f"{costs[0]} and {costs[1]}", m, f"{predicted:.4f}", *shown, f"{true.min():.4f}"])
    claims = [
        judged(
            "there is a similar solution for linear costs, with the law of the loss in place of the binomial",
            "no number",
            f"within {off:.1f} standard errors of {n_samples:,} samples where hypotheses have samples of "
            f"their own; with equal costs, Theorem 6 to {same:.0e}",
            off < 3.5 and same < 1e-9,
            "simulated costs are others",
        ),
        judged(
            "so that the expected cost of learning is known (Assumption 1: as if samples were independent)",
            "no number",
            f"up to {gap:.0%} from learning from one sample",
            gap < 0.1,
            "all hypotheses are judged on the same rows, which the analysis leaves out",
        ),
    ]
    header = ["a miss, a false alarm", "m", "predicted", "own samples", "one sample", "least of all"]
    return Outcome(claims, format_table(header, rows))
