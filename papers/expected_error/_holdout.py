"""Figures 4.1 and 4.2: choosing the number of attributes by hold-out, by Theorem 14."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from offsample.expected_error import ErrorPrior, expected_error, holdout_selection
from papers._experiments import Claim, Outcome, experiment, verdict
from papers._table import format_table
from papers.expected_error._drawing import finished, new_figure, plot_curves
from papers.expected_error._functions import all_functions_prior, true_learning_curve

__all__ = ["fig4_1", "fig4_2", "models_of"]

Floats = NDArray[np.float64]

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
PROBLEMS = ((4, 30), (4, 50), (5, 50), (5, 100))


def models_of(target: NDArray[np.int64], n_total: int) -> tuple[list[ErrorPrior], list[float]]:
    """Priors and log sizes of the functions of the first 1, 2, …, n_total attributes, for one target."""
    n_relevant = int(np.log2(len(target)))
    priors = []
    for i in range(1, n_total + 1):
        if i >= n_relevant:
            priors.append(all_functions_prior(i))
            continue
        ones = np.bincount(np.arange(len(target)) % 2**i, weights=target).astype(np.int64)
        counts = np.column_stack([ones, len(target) // 2**i - ones])
        priors.append(ErrorPrior.from_partitions([counts], drawn=False))
    return priors, [2**i * np.log(2) for i in range(1, n_total + 1)]


def _over_targets(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))


@experiment("expected_error.fig4_1", "Figure 4.1: hold-out selection against learning with all attributes")
def fig4_1(n_targets: int = 10) -> Outcome:
    """No irrelevant attributes: the split that hold-out selection does best with, and learning without it."""
    rng = np.random.default_rng(0)
    chosen: dict[tuple[int, int], list[tuple[float, float]]] = {}
    alone = {}
    for n, m in PROBLEMS:
        drawn = [models_of(rng.integers(0, 2, 2**n), n) for _ in range(n_targets)]
        chosen[n, m] = [
            _over_targets([
                holdout_selection(p, s, m - round(m * share), round(m * share)).mean for p, s in drawn
            ])
            for share in SHARES
        ]  # fmt: skip
        alone[n, m] = expected_error(all_functions_prior(n), 2**n * np.log(2), m).mean
    best = {key: SHARES[int(np.argmin([e for e, _ in values]))] for key, values in chosen.items()}
    worse = all(min(e for e, _ in values) > alone[key] for key, values in chosen.items())
    varies = len(set(best.values())) > 1
    claims = [
        Claim(
            "the best split is not fixed: it varies with the attributes and the sample",
            "no number",
            ", ".join(f"n = {n}, m = {m}: {share:.0%} held out" for (n, m), share in best.items()),
            verdict(varies),
            "" if varies else "the same share of a grid of nine is best everywhere",
        ),
        Claim(
            "selection is worse than learning with all attributes, at every split",
            "no number",
            "; ".join(f"{min(e for e, _ in v):.3f} against {alone[k]:.3f}" for k, v in chosen.items()),
            verdict(worse),
            "" if worse else "at some split it is better",
        ),
    ]
    rows = [
        [n, m, *(f"{e:.3f} ± {s:.3f}" for e, s in chosen[n, m]), f"{alone[n, m]:.3f}"] for n, m in PROBLEMS
    ]
    table = format_table(["n", "m", *(f"{s:.0%}" for s in SHARES), "all attributes"], rows)
    figure, axes = new_figure(len(PROBLEMS), width=12, height=3.6)
    for ax, (n, m) in zip(axes, PROBLEMS, strict=True):
        e, s = np.array(chosen[n, m]).T
        plot_curves(ax, SHARES, {"hold-out selection": e}, {"hold-out selection": s})
        ax.axhline(alone[n, m], color="#0072B2", linestyle="--", label="all attributes")
        finished(ax, "share held out", "expected error", title=f"{n} attributes, m = {m}")
    note = (
        f"Share of the rows held out; mean of {n_targets} targets, which the last column does not depend on."
    )
    return Outcome(claims, f"{table}\n{note}", {"": figure})


@experiment("expected_error.fig4_2", "Figure 4.2: hold-out selection with irrelevant attributes, m = 100")
def fig4_2(n_targets: int = 10, n_relevant: int = 3, m: int = 100, n_holdout: int = 30) -> Outcome:
    """Three relevant attributes among more and more."""
    rng = np.random.default_rng(0)
    totals = range(3, 8)
    targets = [rng.integers(0, 2, 2**n_relevant) for _ in range(n_targets)]
    chosen = np.array([
        _over_targets([
            holdout_selection(*models_of(target, total), m - n_holdout, n_holdout).mean for target in targets
        ])
        for total in totals
    ])  # fmt: skip
    alone = np.array([expected_error(all_functions_prior(t), 2**t * np.log(2), m).mean for t in totals])
    truth = np.array([true_learning_curve(t, n_relevant, m) for t in totals])
    flat = float(np.ptp(chosen[:, 0]))
    rise = float(alone[-1] - alone[0])
    claims = [
        Claim(
            "with selection the error hardly depends on the number of attributes "
            "(criterion: a tenth of the rise without)",
            "no number",
            f"range {flat:.4f}",
            verdict(flat < 0.1 * rise),
            "" if flat < 0.1 * rise else "it does",
        ),
        Claim(
            "without selection it rises dramatically",
            "no number",
            f"from {alone[0]:.4f} to {alone[-1]:.3f} (truth {truth[-1]:.3f})",
            verdict(rise > 0.1),
            "" if rise > 0.1 else "it does not",
        ),
    ]
    rows = [
        [t, f"{e:.4f} ± {s:.4f}", f"{a:.4f}", f"{w:.4f}"]
        for t, (e, s), a, w in zip(totals, chosen, alone, truth, strict=True)
    ]
    header = ["attributes, 3 relevant", "hold-out selection", "all attributes", "truth of all"]
    figure, ax = new_figure()
    plot_curves(
        ax, list(totals),
        {"hold-out selection": chosen[:, 0], "all attributes": alone, "all attributes, truth": truth},
        {"hold-out selection": chosen[:, 1]},
    )  # fmt: skip
    finished(ax, f"attributes, {n_relevant} of them relevant", f"expected error, m = {m}")
    note = f"{n_holdout} rows held out (not printed); mean of {n_targets} targets."
    return Outcome(claims, f"{format_table(header, rows)}\n{note}", {"": figure})
