"""Corollary 3: averaged over all targets, no order of the hypotheses is better than another."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from papers._experiments import Claim, Outcome, experiment, unavailable, verdict
from papers._table import format_table

__all__ = ["corollary3", "off_sample_errors"]

unavailable(
    "expected_error.fig2_1",
    "Figure 2.1: relation between PAC and identification in the limit",
    "a diagram of classes of languages, without numbers.",
)
unavailable(
    "expected_error.fig2_2",
    "Figure 2.2: two orders of the same hypotheses",
    "an illustration; what it stands for is checked in expected_error.corollary3.",
)


def off_sample_errors(orders: dict[str, NDArray[np.int64]], n_seen: int) -> dict[str, float]:
    """Error on the points not seen of the first consistent function, averaged over all targets.

    Functions of the points are rows of an order; the first `n_seen` points are the sample.
    """
    found = dict.fromkeys(orders, 0.0)
    targets = next(iter(orders.values()))
    for name, order in orders.items():
        for target in targets:
            fits = (order[:, :n_seen] == target[:n_seen]).all(axis=1)
            found[name] += float((order[fits.argmax(), n_seen:] != target[n_seen:]).mean()) / len(targets)
    return found


@experiment("expected_error.corollary3", "Corollary 3: Occam's razor is no better than any other order")
def corollary3(n_bits: int = 3) -> Outcome:
    """All targets of three bits; the simplest, the most complex and a random order of hypotheses."""
    every = np.array(list(product((0, 1), repeat=2**n_bits)))
    # Attributes that a function depends on: those that change it somewhere
    used = sum(
        (every != every[:, np.arange(2**n_bits) ^ (1 << bit)]).any(axis=1).astype(int)
        for bit in range(n_bits)
    )
    orders = {
        "fewest attributes first": every[np.argsort(used, kind="stable")],
        "most attributes first": every[np.argsort(-used, kind="stable")],
        "random order": every[np.random.default_rng(0).permutation(len(every))],
    }
    rows, worst, simple = [], 0.0, {}
    for n_seen in (2, 4, 6):
        found = off_sample_errors(orders, n_seen)
        worst = max(worst, *(abs(error - 0.5) for error in found.values()))
        rows.append([n_seen, *(f"{error:.4f}" for error in found.values())])
        few = every[used <= 1]
        simple[n_seen] = [
            np.mean([
                (order[(order[:, :n_seen] == t[:n_seen]).all(1).argmax(), n_seen:] != t[n_seen:]).mean()
                for t in few
            ])
            for order in orders.values()
        ]  # fmt: skip
    helps = all(errors[0] < min(errors[1:]) for errors in simple.values())
    claims = [
        Claim(
            "averaged over all targets, the order of consistent hypotheses does not matter",
            "equal errors",
            f"off-sample error ½, to {worst:.0e}",
            verdict(worst < 1e-12),
            "" if worst < 1e-12 else "it does",
        ),
        Claim(
            "with a prior that prefers what comes first it does (Sec. 4.2)",
            "no number",
            "targets of at most one attribute: "
            + "; ".join(
                f"{errors[0]:.2f} against {errors[1]:.2f} and {errors[2]:.2f} from {n} points"
                for n, errors in simple.items()
            ),
            verdict(helps),
            "" if helps else "it does not",
        ),
    ]
    return Outcome(claims, format_table(["points seen", *orders], rows))
