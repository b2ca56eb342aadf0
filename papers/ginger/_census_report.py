"""Figures 2 and 3 as tables beside the claims of Sec. 5.2, and as drawings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from offsample.hypotheses import RULES
from papers._claims import judged
from papers._experiments import Claim, Outcome, experiment
from papers._table import format_table
from papers.ginger._census import (
    EXCLUSIONS,
    PAPER_PROBLEMS,
    SHOWN_PROBLEMS,
    Fig2,
    Fig3,
    compare_first,
    rank_census,
)
from papers.ginger._drawing import RULE_COLORS, legend, panels
from papers.ginger._rankings import COLUMNS, PAPER_COLUMNS, RULE_NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _rows_note(n_train: int, n_test: int) -> str:
    return (
        f"{n_train:,} training and {n_test:,} test rows, one random split of a sample of 50,000 records\n"
        "(paper: the file of 2,458,285 records; sizes not stated)."
    )


def _feature_set(excluded: tuple[str, ...]) -> str:
    return "all" if not excluded else "no " + ", ".join(excluded)


def fig2_claims(result: Fig2) -> list[Claim]:
    """What Sec. 5.2 says of Fig. 2, and what we find."""
    n = len(result.results)
    as_many = n == PAPER_PROBLEMS
    claims = [
        judged(
            "attributes whose most frequent value has a share from 0.1 to 0.9",
            f"{PAPER_PROBLEMS} problems",
            f"{n} problems",
            as_many,
            "counted on other rows",
        )
    ]
    for rule in RULES:
        measured = {name: result.monotonicity[(), name, rule] for name in PAPER_COLUMNS}
        best = measured["Ginger"].n_best_of_four
        others = ", ".join(f"{m.spearman:.3f} ({name})" for name, m in measured.items() if name != "Ginger")
        claims.append(
            judged(
                f"Ginger ranks most accurately of the four, errors of the rule {RULE_NAMES[rule]}",
                "no number",
                f"nearest to sorted in {best} of {n} problems; mean Spearman correlation of score and error "
                f"{measured['Ginger'].spearman:.3f} ± {measured['Ginger'].spearman_se:.3f}, else {others}",
                2 * best > n,
                "another criterion is nearer to sorted in most problems",
            )
        )
    return claims


def fig2_text(result: Fig2) -> str:
    """Tables of Fig. 2."""
    n = len(result.results)
    measured = result.monotonicity
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
    return "\n".join(
        [
            _rows_note(result.n_train, result.n_test),
            "",
            f"Means over {n} problems. Distance: mean |curve - sorted curve|. Fall: largest fall below the",
            "running maximum. Best of: problems with the smallest distance among the paper's four criteria,",
            "and among all five.",
            format_table(header, rows),
        ]
    )


def fig3_claims(result: Fig3) -> list[Claim]:
    """What Sec. 5.2 says of Fig. 3, and what we find."""
    n_train = max(key[0] for key in result.comparisons)
    claims = []
    for name in PAPER_COLUMNS[:3]:
        for rule in RULES:
            compared = result.comparisons[n_train, (), name, rule]
            wins, losses = compared.clear_wins_losses
            better = compared.mean > 0 and wins > 3 * losses
            wins_ties_losses = "/".join(map(str, compared.wins_ties_losses))
            claims.append(
                judged(
                    f"Ginger's first feature is better than that of {name}, errors of the rule "
                    f"{RULE_NAMES[rule]}",
                    "no number",
                    f"win/tie/loss {wins_ties_losses}; error less by {compared.mean:.3f} ± "
                    f"{compared.standard_error:.3f}",
                    better,
                    "not three clear wins for a clear loss",
                )
            )
    return claims


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
    first = [
        f"{name} {sum('SERIALNO' in top for top in result.tops[n_trains[0], (), name])}" for name in COLUMNS
    ]
    header = ["train", "features", "rule", "criterion", "win/tie/loss", "clear w/l", "large w/l"]
    header += ["mean", "s.e.", "min", "max"]
    return "\n".join(
        [
            _rows_note(n_trains[0], result.n_test),
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


def plot_fig2(result: Fig2, problems: Sequence[str] = SHOWN_PROBLEMS) -> Figure:
    """Draw errors on the test rows against rank, for several problems."""
    shown = [name for name in problems if name in result.results] or list(result.results)[:5]
    figure, axes = panels(len(shown), len(COLUMNS), (11, 0.8 + 1.75 * len(shown)), sharex=True, sharey="row")
    for row, problem in enumerate(shown):
        found = result.results[problem]
        for axis, name in zip(axes[row], COLUMNS, strict=True):
            place = np.arange(1, len(found.features) + 1)
            for rule in RULES:
                axis.plot(place, found.curve(name, rule), color=RULE_COLORS[rule], lw=1.1)
            if row == 0:
                axis.set_title(name, fontsize=10)
        axes[row, 0].set_ylabel(f"{problem}\nerror on test rows")
    figure.supxlabel("place in the ranking", fontsize=9)
    legend(figure, {RULE_NAMES[rule]: {"color": RULE_COLORS[rule]} for rule in ("bayes", "gini")})
    return figure


def plot_fig3(result: Fig3) -> Figure:
    """Draw the gain of Ginger's first feature over that of each other criterion, in increasing order."""
    n_train = max(key[0] for key in result.comparisons)
    others = [name for name in COLUMNS if name != "Ginger"]
    figure, axes = panels(len(EXCLUSIONS), len(others), (11, 5), sharex=True, sharey="row")
    for row, excluded in enumerate(EXCLUSIONS):
        for axis, name in zip(axes[row], others, strict=True):
            axis.axhline(0, color="0.6", lw=0.8)
            for rule, marker in (("gini", "^"), ("bayes", ".")):
                values = np.sort(result.comparisons[n_train, excluded, name, rule].differences)
                axis.plot(np.arange(1, len(values) + 1), values, marker, color=RULE_COLORS[rule], ms=4)
            if row == 0:
                axis.set_title(f"{name} − Ginger", fontsize=10)
        axes[row, 0].set_ylabel("all features" if not excluded else f"without {', '.join(excluded)}")
    figure.supylabel("difference of the errors (positive: Ginger is better)", fontsize=9)
    figure.supxlabel("problems, by difference", fontsize=9)
    legend(
        figure,
        {
            RULE_NAMES[rule]: {"color": RULE_COLORS[rule], "marker": marker, "ls": ""}
            for rule, marker in (("bayes", "."), ("gini", "^"))
        },
    )
    return figure


@experiment("ginger.fig2", "Figure 2 (Sec. 5.2): error against rank on the census problems")
def fig2(
    problems: tuple[str, ...] | None = None, n_train: int = 25_000, directory: str | Path | None = None
) -> Outcome:
    result = rank_census(problems, n_train, directory)
    return Outcome(fig2_claims(result), fig2_text(result), {"": plot_fig2(result)})


@experiment(
    "ginger.fig3", "Figure 3 (Sec. 5.2): the feature ranked first by each criterion, against Ginger's"
)
def fig3(
    problems: tuple[str, ...] | None = None,
    n_trains: Sequence[int] = (25_000, 5_000),
    directory: str | Path | None = None,
) -> Outcome:
    result = compare_first(problems, n_trains, directory)
    return Outcome(fig3_claims(result), fig3_text(result), {"": plot_fig3(result)})
