"""Theorems 1 to 4: exact claims, and how far simulated deviations stay below the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from offsample.bounds import bayes_deviation, ginger_concentration, ginger_deviation
from offsample.hypotheses import BayesRule, GiniRule
from papers._claims import judged
from papers._experiments import Claim, Outcome, experiment
from papers._table import format_table
from papers.ginger._distributions import example_distributions, leave_one_out
from papers.ginger._drawing import legend, panels
from papers.ginger._exact import (
    all_risks_claim,
    bias_claims,
    excess_claims,
    identifier_claims,
    leave_one_out_claim,
    missing_mass_claim,
    optimality_claims,
    weak_concentration_claim,
)
from papers.ginger._rankings import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DELTA = 0.05
COLORS = ("#1f5f8b", "#c4622d", "#2c8c6c", "#8a5fbf", "#7a6a00")
MARKERS = ("o", "s", "^", "D", "v")


@dataclass(frozen=True)
class Deviations:
    """Absolute deviations in simulated samples of m rows of one distribution, one per sample.

    Attributes
    ----------
    ginger_rule : ndarray
        |Ginger - error of the Gini rule|, Theorem 2.
    ginger_mean : ndarray
        |Ginger - E[Ginger]|, Lemma 8.
    gini_mean : ndarray
        |error of the Gini rule - its mean|, Lemma 13.
    bayes_mean : ndarray
        |error of the majority rule - its mean|, Theorem 4.
    """

    name: str
    m: int
    ginger_rule: Floats
    ginger_mean: Floats
    gini_mean: Floats
    bayes_mean: Floats


def simulate(sizes: Sequence[int], n_samples: int) -> list[Deviations]:
    """Draw samples of the tested distributions, and measure all four deviations; the means are exact."""
    rng = np.random.default_rng(6)
    found = []
    for m in sizes:
        for given in example_distributions(m):
            estimate, gini, bayes = (np.empty(n_samples) for _ in range(3))
            for start in range(0, n_samples, 100):
                part = slice(start, min(start + 100, n_samples))
                tables = given.draw(m, part.stop - part.start, rng)
                estimate[part] = leave_one_out(tables, GiniRule)
                gini[part], bayes[part] = given.errors(tables, GiniRule), given.errors(tables, BayesRule)
            found.append(
                Deviations(
                    given.name,
                    m,
                    np.abs(estimate - gini),
                    np.abs(estimate - given.expected_ginger(m)),
                    np.abs(gini - given.expected_gini_error(m)),
                    np.abs(bayes - given.expected_bayes_error(m)),
                )
            )
    return found


def gini_mean_bound(m: int, delta: float = DELTA) -> float:
    """Lemma 13."""
    return float(12 * np.log(4 * m / delta) * np.sqrt(np.log(4 / delta)) / np.sqrt(2 * m) + 1 / m)


BOUNDS = {
    "ginger_rule": ("Theorem 2: |Ginger - error of the Gini rule|", lambda m: ginger_deviation(m)),
    "ginger_mean": (
        "Lemma 8: |Ginger - its mean|",
        lambda m: float(12 * np.sqrt(np.log(2 / DELTA) / (2 * m))),
    ),
    "gini_mean": ("Lemma 13: |error of the Gini rule - its mean|", gini_mean_bound),
    "bayes_mean": ("Theorem 4: |error of the majority rule - its mean|", lambda m: bayes_deviation(m)),
}


def deviation_claims(found: list[Deviations]) -> list[Claim]:
    """Whether each bound holds with probability 95 %, and how loose it is at best."""
    n_samples = len(found[0].bayes_mean)
    claims = []
    for key, (name, bound) in BOUNDS.items():
        exceeded = max(float((getattr(d, key) > bound(d.m)).mean()) for d in found)
        loosest = max(found, key=lambda d: float(np.quantile(getattr(d, key), 1 - DELTA)) / bound(d.m))
        quantile = float(np.quantile(getattr(loosest, key), 1 - DELTA))
        extra = ""
        if key == "ginger_rule":
            extra = "; above 1, hence void, until m = 113,794" * (
                ginger_deviation(113_793) > 1 > ginger_deviation(113_794)
            )
        elif key == "ginger_mean":
            sharper = max(
                float(np.quantile(d.ginger_mean, 1 - DELTA)) / ginger_concentration(d.m) for d in found
            )
            extra = f"; {1 / sharper:.1f} times with 5/(2m) for 12/m"
        elif key == "bayes_mean":
            extra = "; above 1, hence void, until m = 5.4e17" * (
                bayes_deviation(int(5.3e17)) > 1 > bayes_deviation(int(5.5e17))
            )
        claims.append(
            judged(
                f"{name} <= its bound with probability 95 %",
                f"{bound(loosest.m):.3g} at m = {loosest.m:,}",
                f"95 % quantile {quantile:.4f} there, the nearest to its bound ({loosest.name}): "
                f"{bound(loosest.m) / quantile:.0f} times too large{extra}; exceeded in {exceeded:.0%} of "
                f"{n_samples:,} samples",
                exceeded <= DELTA,
                "exceeded more often than in 5 % of the samples",
            )
        )
    ratio = {
        d.name: float(np.quantile(d.bayes_mean, 0.95) / np.quantile(d.gini_mean, 0.95))
        for d in found
        if d.m == found[-1].m and np.quantile(d.gini_mean, 0.95) > 0
    }
    name = max(ratio, key=lambda n: ratio[n])
    claims.append(
        judged(
            "Sec. 3: the error of the majority rule may be less concentrated than that of the Gini rule",
            "no number",
            f"95 % quantile of the deviation up to {ratio[name]:.1f} times as large ({name}), in "
            f"{sum(r > 1 for r in ratio.values())} of {len(ratio)} distributions larger, m = {found[-1].m:,}",
            ratio[name] > 1,
            "nowhere larger",
        )
    )
    return claims


def deviation_table(found: list[Deviations]) -> str:
    """95 % quantiles and largest deviations beside the bounds."""
    rows = []
    for d in found:
        for key, (name, bound) in BOUNDS.items():
            values = getattr(d, key)
            rows.append(
                [
                    f"{d.m:,}",
                    d.name,
                    name.split(":")[0],
                    f"{np.quantile(values, 0.95):.5f}",
                    f"{values.max():.5f}",
                    f"{bound(d.m):.3f}",
                ]
            )
    return format_table(["m", "distribution", "statement", "95 % quantile", "largest", "bound"], rows)


def plot_deviations(found: list[Deviations]) -> Figure:
    """95 % quantiles of the deviations of Theorems 2 and 4 against the number of rows, with the bounds."""
    figure, axes = panels(1, 2, (10, 4.2), sharey=True)
    sizes = np.unique([d.m for d in found])
    names = list(dict.fromkeys(d.name for d in found))
    for axis, key in zip(axes[0], ("ginger_rule", "bayes_mean"), strict=True):
        title, bound = BOUNDS[key]
        for name, color, marker in zip(names, COLORS, MARKERS, strict=True):
            quantiles = [np.quantile(getattr(d, key), 0.95) for d in found if d.name == name]
            axis.loglog(sizes, quantiles, color=color, marker=marker, ms=4, lw=1.1)
        axis.loglog(sizes, [bound(int(m)) for m in sizes], color="black", lw=1.4)
        axis.axhline(1, color="0.6", lw=0.8, ls=":")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("rows m")
    axes[0, 0].set_ylim(1e-4, 2 * BOUNDS["bayes_mean"][1](int(sizes[0])))
    axes[0, 0].set_ylabel("95 % quantile of the deviation")
    entries = {
        name: {"color": color, "marker": marker, "ms": 4}
        for name, color, marker in zip(names, COLORS, MARKERS, strict=True)
    }
    legend(figure, {**entries, "bound": {"color": "black"}}, n_columns=3)
    return figure


@experiment(
    "ginger.bounds", "Theorems 1 to 4 (Sec. 2, 3): bias, optimality and concentration, exact or simulated"
)
def bounds(sizes: Sequence[int] = (100, 400, 1600, 6400), n_samples: int = 1000) -> Outcome:
    found = simulate(sizes, n_samples)
    claims = [
        *identifier_claims(),
        leave_one_out_claim(),
        missing_mass_claim(),
        *bias_claims(),
        weak_concentration_claim(),
        all_risks_claim(),
        *optimality_claims(),
        *excess_claims(),
        *deviation_claims(found),
    ]
    text = f"{n_samples:,} samples of each size and distribution; bounds at 95 %.\n\n{deviation_table(found)}"
    return Outcome(claims, text, {"": plot_deviations(found)})
