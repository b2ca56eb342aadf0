"""Figures 4 and 5 as tables beside the claims of Sec. 5.3, and as drawings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from papers._claims import above, judged, share
from papers._experiments import Claim, Outcome, experiment
from papers._table import format_table
from papers.ginger._census import SHOWN_PROBLEMS
from papers.ginger._drawing import legend, panels
from papers.ginger._rankings import Floats
from papers.ginger._trees import SOME_ATTRIBUTES, TREE_CRITERIA, Curves, grow_problems

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


def fig4_claims(curves: list[Curves], variant: str) -> list[Claim]:
    """What Sec. 5.3 says of Fig. 4, over all problems and not only those drawn."""
    n = len(curves)
    n_splits = max(len(errors) for result in curves for errors in result.test.values()) - 1

    def over_problems(kind: str, name: str, n_splits: int) -> Floats:
        return np.array([at_split(getattr(result, kind)[name], n_splits) for result in curves])

    def gap(name: str, n_splits: int) -> Floats:
        return over_problems("test", name, n_splits) - over_problems("training", name, n_splits)

    alike = np.array(
        [
            max(abs(at_split(c.test["IG"], k) - at_split(c.test["Gini"], k)) for k in _SHOWN_SPLITS)
            for c in curves
        ]
    )
    n_alike = int((alike <= 0.01).sum())
    fast = {name: over_problems("training", name, _EARLY) for name in ("Gini", "IGR", "Ginger")}
    behind = _nearer(*(fast[name] - fast["Gini"] for name in ("IGR", "Ginger")))
    late = {name: gap(name, _MIDDLE) for name in ("Gini", "Ginger")}
    early = {name: gap(name, _EARLY) for name in ("Gini", "Ginger")}
    test = {name: over_problems("test", name, _EARLY) for name in ("Gini", "Ginger")}
    risen = {
        name: np.array([result.test[name][-1] - result.test[name].min() for result in curves])
        for name in TREE_CRITERIA
    }
    less = least_differences(curves, "IGR")
    won, lost = int((less > 1e-9).sum()), int((less < -1e-9).sum())
    return [
        share(
            f"IG behaves almost as Gini does, and is left out; {variant} (criterion: 8 of 10 problems)",
            "no number",
            f"test errors after up to {n_splits} splits within 0.01 of each other in {n_alike} of "
            f"{n} problems; largest difference {_text(alike)}",
            (n_alike, n),
            0.8,
            "in more than a fifth of the problems the two grow different trees",
        ),
        above(
            f"the training error falls fastest by Gini; {variant}",
            "no number",
            mean_and_error(behind),
            ours=f"after {_EARLY} splits {_text(fast['Gini'])} (Gini), {_text(fast['IGR'])} (IGR), "
            f"{_text(fast['Ginger'])} (Ginger); Gini less by {_text(behind)} than the next",
            otherwise="another criterion is faster",
        ),
        above(
            f"the trees by Gini overfit severely (criterion: twice the gap of Ginger); {variant}",
            "no number",
            mean_and_error(late["Gini"] - 2 * late["Ginger"]),
            ours=f"test less training error after {_MIDDLE} splits {_text(late['Gini'])}, by Ginger "
            f"{_text(late['Ginger'])}; above twice as much by {_text(late['Gini'] - 2 * late['Ginger'])}",
            otherwise="their gap is not twice that of Ginger",
        ),
        above(
            f"by Ginger the test error is much smaller while splits are few; {variant}",
            "no number",
            mean_and_error(test["Gini"] - test["Ginger"]),
            ours=f"after {_EARLY} splits {_text(test['Ginger'])} against {_text(test['Gini'])} by Gini: less "
            f"by {_text(test['Gini'] - test['Ginger'])}",
            otherwise="it is no smaller than that of Gini",
        ),
        above(
            f"by Ginger it stays near the training error, unlike by Gini; {variant}",
            "no number",
            mean_and_error(early["Gini"] - early["Ginger"]),
            ours=f"test less training error after {_EARLY} splits {_text(early['Ginger'])}, by Gini "
            f"{_text(early['Gini'])}: less by {_text(early['Gini'] - early['Ginger'])}",
            otherwise="its gap is that of Gini or more",
        ),
        above(
            f"after many splits all criteria overfit; {variant}",
            "no number",
            mean_and_error(_nearer(*risen.values())),
            ours=f"last test error (up to {n_splits} splits) less the least: "
            + ", ".join(f"{_text(values)} ({name})" for name, values in risen.items()),
            otherwise="by some criterion no test error has risen",
        ),
        judged(
            f"IGR and Ginger both do well, each ahead on some problems; {variant}",
            "no number",
            f"least test error smaller by Ginger in {won}, by IGR in {lost} of {n} problems",
            won > 0 and lost > 0,
            "one of them is never ahead",
        ),
    ]


def _nearer(*differences: Floats) -> Floats:
    """The difference with the fewest standard errors between it and 0."""
    return min(differences, key=lambda values: values.mean() / max(mean_and_error(values)[1], 1e-300))


def least_differences(curves: list[Curves], name: str) -> Floats:
    """Least test error of a criterion less that of Ginger, per problem."""
    return np.array([result.test[name].min() - result.test["Ginger"].min() for result in curves])


def fig5_claims(curves: list[Curves], variant: str) -> list[Claim]:
    """What Sec. 5.3 says of Fig. 5."""
    claims = []
    for name in OTHERS:
        less = least_differences(curves, name)
        won, lost = int((less > 1e-9).sum()), int((less < -1e-9).sum())
        found = f"better in {won}, worse in {lost} of {len(less)} problems; mean difference {_text(less)}"
        if name == "IGR":
            statement = f"trees by Ginger beat those by IGR in most cases; {variant}"
            few = "not in more than half of the problems"
            claims.append(share(statement, "no number", found, (won, len(less)), 0.5, few))
        else:
            statement = f"trees by Ginger beat those by {name}; {variant}"
            claims.append(above(statement, "no number", mean_and_error(less), ours=found))
    return claims


def _note(curves: list[Curves], n_train: int) -> str:
    return (
        f"{len(curves)} problems, {n_train:,} training and 25,000 test rows of a sample of 50,000 records\n"
        f"(paper: 62 problems; sizes not stated). Table and figure: {SOME_ATTRIBUTES}."
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
            # Every split up to 20, then every fifth: more cannot be seen.
            splits = np.array([k for k in range(len(result.test[name])) if k <= 20 or k % 5 == 0])
            axis.plot(splits, result.training[name][splits], color="#c4622d", lw=1.2)
            axis.plot(splits, result.test[name][splits], color="#1f5f8b", ls="--", lw=1.2)
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
    found = grow_problems(problems, n_train, max_splits, directory)
    claims = [claim for variant, curves in found.items() for claim in fig4_claims(curves, variant)]
    curves = found[SOME_ATTRIBUTES]
    return Outcome(claims, fig4_text(curves, n_train), {"": plot_fig4(curves)})


@experiment(
    "ginger.fig5", "Figure 5 (Sec. 5.3): least test error of trees by each criterion, against Ginger's"
)
def fig5(
    problems: tuple[str, ...] | None = None,
    n_train: int = 5000,
    max_splits: int = 100,
    directory: str | Path | None = None,
) -> Outcome:
    found = grow_problems(problems, n_train, max_splits, directory)
    claims = [claim for variant, curves in found.items() for claim in fig5_claims(curves, variant)]
    curves = found[SOME_ATTRIBUTES]
    return Outcome(claims, fig5_text(curves, n_train), {"": plot_fig5(curves)})
