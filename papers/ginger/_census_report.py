"""Figures 2 and 3 as tables beside the claims of Sec. 5.2, and as drawings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from offsample.hypotheses import RULES
from papers._table import format_table
from papers.ginger._census import (
    EXCLUSIONS,
    PAPER_PROBLEMS,
    SHOWN_PROBLEMS,
    Fig2,
    Fig3,
)
from papers.ginger._rankings import (
    COLUMNS,
    PAPER_COLUMNS,
    RULE_NAMES,
)
from papers.ginger._reporting import RESULTS, RULE_COLORS, legend, pyplot, save, verdict


def _rows_note(n_train: int, n_test: int) -> str:
    return (
        f"{n_train:,} training and {n_test:,} test rows, one random split of a sample of 50,000 records\n"
        "(paper: the file of 2,458,285 records; sizes not stated)."
    )


def _feature_set(excluded: tuple[str, ...]) -> str:
    return "all" if not excluded else "no " + ", ".join(excluded)


def fig2_text(result: Fig2) -> str:
    """Tables of Fig. 2."""
    n = len(result.results)
    measured = result.monotonicity
    best = {rule: measured[(), "Ginger", rule].n_best_of_four for rule in RULES}
    rows = []
    for excluded in EXCLUSIONS:
        for rule in RULES:
            for name in COLUMNS:
                value = measured[excluded, name, rule]
                rows.append(
                    [
                        _feature_set(excluded),
                        RULE_NAMES[rule],
                        name,
                        f"{value.spearman:.3f}",
                        f"{value.spearman_se:.3f}",
                        f"{value.distance:.4f}",
                        f"{value.drop:.3f}",
                        str(value.n_best_of_four) if name in PAPER_COLUMNS else "–",
                        str(value.n_best_of_five),
                    ]
                )
    header = [
        "features",
        "rule",
        "criterion",
        "Spearman",
        "s.e.",
        "distance",
        "fall",
        "best of 4",
        "best of 5",
    ]
    claims = [
        ("number of problems", f"paper {PAPER_PROBLEMS}, here {n}", verdict(n == PAPER_PROBLEMS)),
        (
            "Ginger ranks most accurately of the four",
            f"smallest distance in {best['gini']}/{n} problems (Eq. 4), {best['bayes']}/{n} (Eq. 5)",
            verdict(all(2 * count > n for count in best.values())),
        ),
    ]
    return "\n".join(
        [
            "Figure 2: error against rank on the census problems (Sec. 5.2)",
            _rows_note(result.n_train, result.n_test),
            "",
            format_table(["paper", "here", "verdict"], claims),
            "",
            f"Means over {n} problems. Distance: mean |curve - sorted curve|. Fall: largest fall below the",
            "running maximum. Best of: problems with the smallest distance among the paper's four criteria,",
            "and among all five.",
            format_table(header, rows),
        ]
    )


def fig3_text(result: Fig3) -> str:
    """Tables of Fig. 3."""
    n = len(result.problems)
    n_trains = sorted({key[0] for key in result.comparisons}, reverse=True)
    rows, lost = [], []
    for n_train in n_trains:
        for excluded in EXCLUSIONS:
            for rule in RULES:
                for name in COLUMNS:
                    if name == "Ginger":
                        continue
                    compared = result.comparisons[n_train, excluded, name, rule]
                    rows.append(
                        [
                            f"{n_train:,}",
                            _feature_set(excluded),
                            RULE_NAMES[rule],
                            name,
                            "/".join(map(str, compared.wins_ties_losses)),
                            "/".join(map(str, compared.clear_wins_losses)),
                            "/".join(map(str, compared.large_wins_losses)),
                            f"{compared.mean:+.4f}",
                            f"{compared.standard_error:.4f}",
                            f"{compared.differences.min():+.3f}",
                            f"{compared.differences.max():+.3f}",
                        ]
                    )
                    if name in PAPER_COLUMNS and n_train == n_trains[0] and not excluded:
                        of = f"{name}, {RULE_NAMES[rule]}"
                        lost += [
                            f"{result.problems[i]} {compared.differences[i]:+.4f} ({of})"
                            for i in np.flatnonzero(compared.clear & (compared.differences < 0))
                        ]
    claims = []
    for name in PAPER_COLUMNS[:3]:
        for rule in RULES:
            compared = result.comparisons[n_trains[0], (), name, rule]
            wins, losses = compared.clear_wins_losses
            claims.append(
                (
                    f"Ginger chooses better than {name}",
                    RULE_NAMES[rule],
                    "/".join(map(str, compared.wins_ties_losses)),
                    f"{compared.mean:+.3f} ± {compared.standard_error:.3f}",
                    verdict(compared.mean > 0 and wins > 3 * losses),
                )
            )
    first = [
        f"{name} {sum('SERIALNO' in top for top in result.tops[n_trains[0], (), name])}" for name in COLUMNS
    ]
    header = ["train", "features", "rule", "criterion", "win/tie/loss", "clear w/l", "large w/l"]
    header += ["mean", "s.e.", "min", "max"]
    return "\n".join(
        [
            "Figure 3: error of each criterion's top-ranked feature minus that of Ginger's (Sec. 5.2)",
            _rows_note(n_trains[0], result.n_test),
            "",
            format_table(["paper", "rule", "win/tie/loss", "mean ± s.e.", "verdict"], claims),
            "",
            f"{n} problems; positive: Ginger is better. Clear: beyond 2 standard errors of the paired",
            "difference on the test rows. Reproduced: more than three clear wins for a clear loss, and a",
            "positive mean. Large: beyond 0.01. s.e.: over the problems, which share rows and attributes, so",
            "it describes and does not test.",
            format_table(header, rows),
            "",
            f"Problems (of {n}, {n_trains[0]:,} training rows) with SERIALNO at the top: {', '.join(first)}.",
            f"Clear losses of Ginger ({n_trains[0]:,} rows, all features): {'; '.join(lost) or 'none'}.",
        ]
    )


def plot_fig2(result: Fig2, problems: Sequence[str] = SHOWN_PROBLEMS, folder: Path = RESULTS) -> None:
    """Draw errors on the test rows against rank, for several problems."""
    plt = pyplot()
    shown = [name for name in problems if name in result.results]
    figure, axes = plt.subplots(
        len(shown),
        len(COLUMNS),
        figsize=(11, 0.8 + 1.75 * len(shown)),
        sharex=True,
        sharey="row",
        layout="constrained",
        squeeze=False,
    )
    for row, problem in enumerate(shown):
        found = result.results[problem]
        for axis, name in zip(axes[row], COLUMNS, strict=True):
            place = np.arange(1, len(found.features) + 1)
            for rule in RULES:
                axis.plot(place, found.curve(name, rule), color=RULE_COLORS[rule], lw=1.1)
            if row == 0:
                axis.set_title(name)
        axes[row, 0].set_ylabel(f"{problem}\nerror on test rows")
    figure.supxlabel("place in the ranking", fontsize=9)
    legend(
        figure,
        [plt.Line2D([], [], color=RULE_COLORS[rule], label=RULE_NAMES[rule]) for rule in ("bayes", "gini")],
    )
    save(figure, "ginger_fig2", folder)


def plot_fig3(result: Fig3, folder: Path = RESULTS) -> None:
    """Draw the gain of Ginger's first feature over that of each other criterion, in increasing order."""
    plt = pyplot()
    n_train = max(key[0] for key in result.comparisons)
    others = [name for name in COLUMNS if name != "Ginger"]
    figure, axes = plt.subplots(
        len(EXCLUSIONS), len(others), figsize=(11, 5), sharex=True, sharey="row", layout="constrained"
    )
    for row, excluded in enumerate(EXCLUSIONS):
        for axis, name in zip(axes[row], others, strict=True):
            axis.axhline(0, color="0.6", lw=0.8)
            for rule in RULES:
                values = np.sort(result.comparisons[n_train, excluded, name, rule].differences)
                axis.plot(np.arange(1, len(values) + 1), values, ".", color=RULE_COLORS[rule], ms=5)
            if row == 0:
                axis.set_title(f"{name} − Ginger")
        axes[row, 0].set_ylabel("all features" if not excluded else f"without {', '.join(excluded)}")
    figure.supylabel("difference of the errors (positive: Ginger is better)", fontsize=9)
    figure.supxlabel("problems, by difference", fontsize=9)
    legend(
        figure,
        [
            plt.Line2D([], [], color=RULE_COLORS[rule], marker=".", ls="", label=RULE_NAMES[rule])
            for rule in ("bayes", "gini")
        ],
    )
    save(figure, "ginger_fig3", folder)
