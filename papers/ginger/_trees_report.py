"""Figures 4 and 5 as tables beside the claims of Sec. 5.3, and as drawings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from papers._claims import judged
from papers._experiments import Claim, Outcome, experiment
from papers._table import format_table
from papers.ginger._census import SHOWN_PROBLEMS
from papers.ginger._drawing import legend, panels
from papers.ginger._rankings import Floats
from papers.ginger._trees import TREE_CRITERIA, Curves, grow_problems

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = {"IG": "#8a5fbf", "IGR": "#2c8c6c", "Gini": "#c4622d", "Ginger": "#1f5f8b"}
OTHERS = ("IG", "IGR", "Gini")
_SHOWN_SPLITS = (0, 1, 2, 5, 10, 20, 40, 70, 100)
_EARLY, _MIDDLE = 10, 40


def at_split(errors: Floats, n_splits: int) -> float:
    """Error after so many splits, or after the last one of a tree that had fewer."""
    return float(errors[min(n_splits, len(errors) - 1)])


def mean_and_error(values: Floats) -> tuple[float, float]:
    """Mean over the problems and its standard error; they share rows and attributes, so it describes."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _text(values: Floats) -> str:
    return "{:.3f} ± {:.3f}".format(*mean_and_error(values))


def fig4_claims(curves: list[Curves]) -> list[Claim]:
    """What Sec. 5.3 says of Fig. 4, over all problems and not only those drawn."""
    n = len(curves)
    n_splits = max(len(result.test["Gini"]) for result in curves) - 1

    def over_problems(kind: str, name: str, n_splits: int) -> Floats:
        return np.array([at_split(getattr(result, kind)[name], n_splits) for result in curves])

    alike = np.array(
        [
            max(abs(at_split(c.test["IG"], k) - at_split(c.test["Gini"], k)) for k in _SHOWN_SPLITS)
            for c in curves
        ]
    )
    n_alike = int((alike <= 0.01).sum())
    fast = {name: over_problems("training", name, _EARLY) for name in ("Gini", "IGR", "Ginger")}
    n_fastest = int((fast["Gini"] <= np.minimum(fast["IGR"], fast["Ginger"]) + 1e-12).sum())
    gini_fast = fast["Gini"].mean() < min(fast["IGR"].mean(), fast["Ginger"].mean()) and 2 * n_fastest > n
    gap = {
        name: over_problems("test", name, _MIDDLE) - over_problems("training", name, _MIDDLE)
        for name in ("Gini", "Ginger")
    }
    early = over_problems("test", "Ginger", _EARLY) - over_problems("training", "Ginger", _EARLY)
    test = {name: over_problems("test", name, _EARLY) for name in ("Gini", "Ginger")}
    severe = gap["Gini"].mean() > 2 * gap["Ginger"].mean()
    close = early.mean() < 0.02 and test["Ginger"].mean() < test["Gini"].mean()
    risen = {
        name: np.array([result.test[name][-1] - result.test[name].min() for result in curves])
        for name in TREE_CRITERIA
    }
    all_rise = all(mean > 2 * error for mean, error in map(mean_and_error, risen.values()))
    less = least_differences(curves, "IGR")
    won, lost = int((less > 1e-9).sum()), int((less < -1e-9).sum())
    return [
        judged(
            "IG behaves almost as Gini does, and is left out",
            "no number",
            f"test errors after up to {n_splits} splits within 0.01 of each other in {n_alike} of "
            f"{n} problems; largest difference {_text(alike)}",
            10 * n_alike >= 8 * n,
            "in more than a fifth of the problems the two grow different trees",
        ),
        judged(
            "the training error falls fastest by Gini",
            "no number",
            f"after {_EARLY} splits {_text(fast['Gini'])} (Gini), {_text(fast['IGR'])} (IGR), "
            f"{_text(fast['Ginger'])} (Ginger); Gini least in {n_fastest} of {n} problems",
            gini_fast,
            "another criterion is as fast",
        ),
        judged(
            "the trees by Gini overfit severely",
            "no number",
            f"test less training error after {_MIDDLE} splits {_text(gap['Gini'])}, by Ginger "
            f"{_text(gap['Ginger'])}",
            severe,
            "their gap is not twice that of Ginger",
        ),
        judged(
            "by Ginger the test error is much smaller, and near the training error while splits are few",
            "no number",
            f"after {_EARLY} splits {_text(test['Ginger'])} against {_text(test['Gini'])} by Gini; "
            f"{_text(early)} above the training error",
            close,
            "its gap is above 0.02, or its test error no smaller than that of Gini",
        ),
        judged(
            "after many splits all criteria overfit",
            "no number",
            f"last test error (up to {n_splits} splits) less the least: "
            + ", ".join(f"{_text(values)} ({name})" for name, values in risen.items()),
            all_rise,
            "some criterion has not risen by two standard errors",
        ),
        judged(
            "IGR and Ginger both do well, each ahead on some problems",
            "no number",
            f"least test error smaller by Ginger in {won}, by IGR in {lost} of {n} problems",
            won > 0 and lost > 0,
            "one of them is never ahead",
        ),
    ]


def least_differences(curves: list[Curves], name: str) -> Floats:
    """Least test error of a criterion less that of Ginger, per problem."""
    return np.array([result.test[name].min() - result.test["Ginger"].min() for result in curves])


def fig5_claims(curves: list[Curves]) -> list[Claim]:
    """What Sec. 5.3 says of Fig. 5."""
    claims = []
    for name in OTHERS:
        less = least_differences(curves, name)
        won, lost = int((less > 1e-9).sum()), int((less < -1e-9).sum())
        found = f"better in {won}, worse in {lost} of {len(less)} problems; mean difference {_text(less)}"
        if name == "IGR":
            statement, holds = "trees by Ginger beat those by IGR in most cases", 2 * won > len(less)
        else:
            statement, holds = f"trees by Ginger beat those by {name}", less.mean() > 0 and won > 3 * lost
        otherwise = "not more than half of the problems, or not three wins for a loss"
        claims.append(judged(statement, "no number", found, holds, otherwise))
    return claims


def _note(curves: list[Curves], n_train: int) -> str:
    return (
        f"{len(curves)} problems, {n_train:,} training and 25,000 test rows of a sample of 50,000 records\n"
        "(paper: 62 problems; sizes not stated)."
    )


def fig4_text(curves: list[Curves], n_train: int) -> str:
    """Table of Fig. 4."""
    parts = [_note(curves, n_train), "± over the problems. Error after so many splits:", ""]
    for result in shown(curves):
        rows = []
        for name in ("Gini", "IGR", "Ginger"):
            for kind, errors in (("training", result.training[name]), ("test", result.test[name])):
                picked = [f"{errors[n]:.3f}" if n < len(errors) else "-" for n in _SHOWN_SPLITS]
                rows.append([name, kind, *picked])
        parts += [result.problem, format_table(["criterion", "rows", *map(str, _SHOWN_SPLITS)], rows), ""]
    return "\n".join(parts)


def fig5_text(curves: list[Curves], n_train: int) -> str:
    """Table of Fig. 5."""
    rows = []
    for i, result in enumerate(curves):
        differences = [f"{least_differences(curves, name)[i]:+.4f}" for name in OTHERS]
        rows.append(
            [result.problem, f"{result.test['Ginger'].min():.4f}", *differences, f"{result.automatic:.4f}"]
        )
    return "\n".join(
        [
            _note(curves, n_train),
            "Least test error by Ginger, by how much that of the others is larger, and the test error of the",
            "tree that stops by the training rows alone.",
            "",
            format_table(["problem", "Ginger", *OTHERS, "default tree"], rows),
        ]
    )


def shown(curves: list[Curves]) -> list[Curves]:
    """The problems that are drawn: those of Fig. 2 where they are there."""
    return [result for result in curves if result.problem in SHOWN_PROBLEMS] or curves[:4]


def plot_fig4(curves: list[Curves]) -> Figure:
    """Training and test error against the number of splits: a row per problem, a column per criterion."""
    names = ("Gini", "IGR", "Ginger")
    drawn = shown(curves)
    figure, axes = panels(len(drawn), len(names), (9, 0.8 + 1.75 * len(drawn)), sharex=True, sharey="row")
    for row, result in enumerate(drawn):
        for axis, name in zip(axes[row], names, strict=True):
            axis.plot(result.training[name], color="#c4622d", lw=1.2)
            axis.plot(result.test[name], color="#1f5f8b", ls="--", lw=1.2)
            axis.axhline(result.automatic, color="0.5", lw=0.8, ls=":")
            axis.set_xscale("symlog", linthresh=10)
            axis.set_xticks([0, 5, 10, 100], ["0", "5", "10", "100"])
            axis.set_xticks([], minor=True)
            axis.set_ylim(bottom=0)
            if row == 0:
                axis.set_title(name, fontsize=10)
        axes[row, 0].set_ylabel(f"{result.problem}\nerror")
    figure.supxlabel("splits", fontsize=9)
    legend(
        figure,
        {
            "training rows": {"color": "#c4622d"},
            "test rows": {"color": "#1f5f8b", "ls": "--"},
            "test rows, tree that stops by itself": {"color": "0.5", "ls": ":"},
        },
    )
    return figure


def plot_fig5(curves: list[Curves]) -> Figure:
    """Least test error of a criterion less that of Ginger, in order; above 0 Ginger is better."""
    figure, axes = panels(1, len(OTHERS), (10, 3.4), sharey=True)
    for axis, name in zip(axes[0], OTHERS, strict=True):
        less = np.sort(least_differences(curves, name))
        colors = np.where(less >= 0, COLORS["Ginger"], COLORS["Gini"])
        axis.bar(np.arange(1, len(less) + 1), less, width=1.0, color=colors)
        axis.axhline(0, color="0.2", lw=0.8)
        axis.set_title(
            f"{name} − Ginger: {(less > 1e-9).sum()} above, {(less < -1e-9).sum()} below 0", fontsize=10
        )
        axis.set_xlabel("problems, by difference")
    axes[0, 0].set_ylabel("difference of the least test errors")
    return figure


@experiment(
    "ginger.fig4", "Figure 4 (Sec. 5.3): training and test error of trees against the number of splits"
)
def fig4(
    problems: tuple[str, ...] | None = None,
    n_train: int = 5000,
    max_splits: int = 100,
    directory: str | Path | None = None,
) -> Outcome:
    curves = grow_problems(problems, n_train, max_splits, directory)
    return Outcome(fig4_claims(curves), fig4_text(curves, n_train), {"": plot_fig4(curves)})


@experiment(
    "ginger.fig5", "Figure 5 (Sec. 5.3): least test error of trees by each criterion, against Ginger's"
)
def fig5(
    problems: tuple[str, ...] | None = None,
    n_train: int = 5000,
    max_splits: int = 100,
    directory: str | Path | None = None,
) -> Outcome:
    curves = grow_problems(problems, n_train, max_splits, directory)
    return Outcome(fig5_claims(curves), fig5_text(curves, n_train), {"": plot_fig5(curves)})
