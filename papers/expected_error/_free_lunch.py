"""Averaged over all targets: Corollary 3 on the order of hypotheses, Theorem 9 on learners."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement, product
from math import factorial

import numpy as np
from numpy.typing import NDArray

from papers._claims import judged, misprinted
from papers._experiments import Claim, Outcome, experiment, unavailable, verdict
from papers._table import format_table

__all__ = ["corollary3", "learners_over_all_targets", "off_sample_errors", "theorem9"]

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


def learners_over_all_targets(n_bits: int, n_rows: int, *, repeat: bool) -> dict[str, float]:
    """Error of learners of functions of one bit, averaged over all targets, samples and ties.

    Points are uniform, and may be drawn again if `repeat`. "fewest errors" counts each row of the sample,
    "fewest wrong points" a point once however often it was drawn; "leave-one-out" chooses between constants
    and functions of one bit by the rows left out, and then the fewest errors.
    """
    n_points = 2**n_bits
    points = np.array(list(product((0, 1), repeat=n_bits)))
    targets = np.array(list(product((0, 1), repeat=n_points)))
    single = np.vstack([points.T, 1 - points.T])
    functions = np.vstack([np.zeros((1, n_points), int), np.ones((1, n_points), int), single])
    constants = np.arange(len(functions)) < 2
    every = np.ones(len(functions), bool)
    wrong = (targets[:, None] != functions).astype(float)

    def best(counts: NDArray[np.int64], model: NDArray[np.bool_]) -> NDArray[np.float64]:
        errors = np.where(model, wrong @ counts, np.inf)
        least = errors == errors.min(axis=1, keepdims=True)
        return np.asarray(least / least.sum(axis=1, keepdims=True))  # probability of each function

    found = dict.fromkeys(("fewest errors", "fewest wrong points", "constants", "leave-one-out"), 0.0)
    total = 0.0
    drawn = combinations_with_replacement if repeat else combinations
    for sample in drawn(range(n_points), n_rows):
        counts = np.bincount(sample, minlength=n_points)
        ways = factorial(n_rows) / np.prod([factorial(int(k)) for k in counts])
        left_out = np.zeros((2, len(targets)))
        for point in np.flatnonzero(counts):
            others = counts - (np.arange(n_points) == point)
            for row, model in enumerate((constants, every)):
                left_out[row] += counts[point] * (wrong[:, :, point] * best(others, model)).sum(axis=1)
        larger = left_out[1] < left_out[0] - 1e-9
        chosen = {
            "fewest errors": best(counts, every),
            "fewest wrong points": best((counts > 0).astype(int), every),
            "constants": best(counts, constants),
            "leave-one-out": np.where(larger[:, None], best(counts, every), best(counts, constants)),
        }
        for name, chance in chosen.items():
            found[name] += ways * float((chance * wrong.mean(axis=2)).sum(axis=1).mean())
        total += ways
    return {name: error / total for name, error in found.items()}


@experiment(
    "expected_error.theorem9", "Theorem 9: no learner beats one that minimises its errors, on average"
)
def theorem9(n_bits: int = 3, sizes: tuple[int, ...] = (2, 4, 5, 6)) -> Outcome:
    """All 256 targets of three bits, all samples; functions of at most one bit."""
    rows, gaps = [], {}
    for repeat in (False, True):
        for n_rows in sizes:
            found = learners_over_all_targets(n_bits, n_rows, repeat=repeat)
            least = found.pop("fewest errors")
            gaps[repeat, n_rows] = {name: error - least for name, error in found.items()}
            shown = [f"{error:.5f}" for error in (least, *found.values())]
            rows.append(["again" if repeat else "once", n_rows, *shown])
    once = min(min(gap.values()) for (repeat, _), gap in gaps.items() if not repeat)
    others = min(gap[name] for gap in gaps.values() for name in ("constants", "leave-one-out"))
    worst = min(gap["fewest wrong points"] for gap in gaps.values())
    claims = [
        misprinted(
            "averaged over targets, no learner with as many errors on the sample or more has a smaller error",
            "≤",
            f"points drawn once: {once:+.1e} or more; drawn again: {worst:+.5f} for the learner that counts "
            "a point once",
            printed_fails=worst < -1e-9,
            corrected_holds=once > -1e-12,
            correction="the proof counts the points of the sample, the learner its rows: they agree where no "
            "point is drawn twice",
        ),
        judged(
            "so cross-validation that chooses a smaller model is no help without a prior",
            "no number",
            f"constants, and leave-one-out between them and one bit: {others:+.5f} or more",
            others > -1e-12,
            "it is a help",
        ),
    ]
    header = ["points", "rows", "fewest errors", "fewest wrong points", "constants", "leave-one-out"]
    return Outcome(claims, format_table(header, rows))
