"""Decision trees by four criteria: Figures 4 and 5 of Sabato & Shalev-Shwartz (2008), Sec. 5.3.

Run ``python -m papers.ginger_trees [--problems N] [--train M] [--splits S] [--figures FOLDER]``. Training and
test error against the number of splits are printed for some problems, and for all the difference of the least
test errors; both are written to ``papers/results/ginger_trees.txt``. Both figures are drawn into a folder, as
PNG and SVG.

What the paper leaves open, and what we do:

- *Rows.* The paper does not say how many. We train on a random part of one half of our sample of 50,000
  records, and test on the other half.
- *Columns.* All other attributes but the household's serial number, which makes every leaf a single row; and
  not those that are nearly copies of the target: whose values tell it with a training error below 1 %.
- *Error.* Of the majority of a leaf; a tie, and a value that was not seen at its node, count one half.
- *Ties and going on.* Of equal splits that of the older leaf, then the first column. Growing goes on where a
  criterion worsens, to the same number of splits for all.
- *Least test error* is what the paper compares: the number of splits is chosen by looking at the test rows.
  Beside it stands a tree that looks at the training rows only: the default of `TreeClassifier`.

References
----------
S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from offsample.counts import CellCounts
from offsample.criteria import misclassification
from offsample.hypotheses import BayesRule
from offsample.induction import TreeClassifier
from papers._table import format_table
from papers.ginger import RESULTS, Census, census_split, load_census

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Curves", "error_curve", "grow_problem", "main", "plot_differences", "plot_errors", "save_figures"]

Floats = NDArray[np.float64]

CRITERIA = {"IG": "information_gain", "IGR": "gain_ratio", "Gini": "gini", "Ginger": "ginger"}
_COPY_ERROR = 0.01
_COLORS = {"IG": "tab:purple", "IGR": "tab:green", "Gini": "tab:orange", "Ginger": "tab:blue"}
_SHOWN = (0, 1, 2, 5, 10, 20, 30, 40)


@dataclass(frozen=True)
class Curves:
    """Errors of the trees for one problem.

    Attributes
    ----------
    training, test : dict
        Per criterion the errors after 0, 1, 2, … splits.
    automatic : float
        Test error of the tree that stops by itself.
    """

    problem: str
    training: dict[str, Floats]
    test: dict[str, Floats]
    automatic: float


def grow_problem(census: Census, problem: str, n_train: int, max_splits: int, seed: int = 0) -> Curves:
    """Grow a tree by each criterion, and follow its errors."""
    train, test = census_split(census, n_train, seed)
    y = census.labels(problem)
    names = [name for name in census.codes if name not in (problem, "SERIALNO")]
    names = [name for name in names if not _is_copy(census.codes[name][train], y[train])]
    X = np.column_stack([census.codes[name] for name in names])
    training, held_out = {}, {}
    for name, criterion in CRITERIA.items():
        tree = TreeClassifier(
            criterion=criterion,
            stopping="none",
            min_gain=-np.inf,
            max_splits=max_splits,
            categorical_features="all",
            categorical_split="multiway",
            unseen="uniform",
            shrinkage=None,
        ).fit(X[train], y[train])
        training[name] = np.array([step.training_error for step in tree.path_])
        held_out[name] = error_curve(tree, X[test], y[test])
    automatic = TreeClassifier(categorical_features="all").fit(X[train], y[train])
    return Curves(problem, training, held_out, 1 - automatic.score(X[test], y[test]))


def _is_copy(codes: NDArray[np.int32], y: NDArray[np.int64]) -> bool:
    cells = CellCounts.from_codes(codes, y, n_classes=2)
    # A column of single rows tells everything of the training rows, and is no copy.
    return misclassification(cells) < _COPY_ERROR and cells.missing_mass() < _COPY_ERROR


def error_curve(tree: TreeClassifier, X: NDArray[np.int32], y: NDArray[np.int64]) -> Floats:
    """Error of the majority rule on some rows after 0, 1, 2, … splits; an unseen value counts one half."""
    flat = tree.tree_
    value = BayesRule.from_counts(flat.counts)
    last = tree.apply(X)
    # The node of each row at each depth: children of one split are numbered in the order of the splits.
    ancestors = np.full((len(X), int(flat.depth.max()) + 1), -1, np.int32)
    node = last.copy()
    while (node >= 0).any():
        active = np.flatnonzero(node >= 0)
        ancestors[active, flat.depth[node[active]]] = node[active]
        node[active] = flat.parent[node[active]]
    loss = 1 - value[0, y]
    curve = [loss.mean()]
    split_nodes = np.flatnonzero(flat.feature >= 0)
    for parent in split_nodes[np.argsort(flat.first_child[split_nodes])]:
        depth = int(flat.depth[parent])
        here = np.flatnonzero(ancestors[:, depth] == parent)
        child = ancestors[here, depth + 1]
        loss[here] = np.where(child >= 0, 1 - value[child, y[here]], 0.5)
        curve.append(loss.mean())
    return np.array(curve)


def report(curves: list[Curves], n_train: int) -> str:
    """Both figures as text."""
    parts = [f"{len(curves)} problems, {n_train:,} training rows\n"]
    for result in curves[:4]:
        rows = []
        for name in ("Gini", "IGR", "Ginger"):
            for kind, errors in (("training", result.training[name]), ("test", result.test[name])):
                picked = [f"{errors[n]:.3f}" if n < len(errors) else "-" for n in _SHOWN]
                rows.append([name, kind, *picked])
        parts.append(f"Figure 4, {result.problem}: error after so many splits")
        parts.append(format_table(["criterion", "rows", *map(str, _SHOWN)], rows) + "\n")
    rows = []
    for result in curves:
        least = {name: result.test[name].min() for name in CRITERIA}
        differences = [f"{least[name] - least['Ginger']:+.4f}" for name in ("IG", "IGR", "Gini")]
        rows.append([result.problem, f"{least['Ginger']:.4f}", *differences, f"{result.automatic:.4f}"])
    parts.append("Figure 5: least test error of Ginger, and by how much that of the others is larger")
    parts.append(format_table(["problem", "Ginger", "IG", "IGR", "Gini", "default tree"], rows) + "\n")
    for name in ("IG", "IGR", "Gini"):
        gap = np.array([result.test[name].min() - result.test["Ginger"].min() for result in curves])
        parts.append(
            f"{name}: Ginger is better in {np.sum(gap > 1e-9)}, worse in {np.sum(gap < -1e-9)} of {len(gap)} "
            f"problems; mean difference {gap.mean():+.4f}"
        )
    return "\n".join(parts)


def plot_errors(curves: list[Curves]) -> Figure:
    """Figure 4: training and test error against the number of splits, a panel per problem."""
    figure, axes = _panels(len(curves), width=4.2, height=3.2)
    for ax, result in zip(axes, curves, strict=True):
        for name in ("Gini", "IGR", "Ginger"):
            color = _COLORS[name]
            ax.plot(result.test[name], color=color, label=name)
            ax.plot(result.training[name], color=color, linestyle=":")
        ax.axhline(result.automatic, color="0.4", linewidth=0.8, linestyle="--", label="default tree")
        ax.set_title(result.problem, fontsize=10)
        ax.set_xlabel("splits")
        ax.set_ylim(bottom=0)
    axes[0].set_ylabel("error (solid: test, dotted: training)")
    axes[0].legend(frameon=False, fontsize=8)
    return figure


def plot_differences(curves: list[Curves]) -> Figure:
    """Figure 5: least test error of a criterion less that of Ginger, in order; above 0 Ginger is better."""
    others = [name for name in CRITERIA if name != "Ginger"]
    figure, axes = _panels(len(others), width=4.2, height=3.2)
    for ax, name in zip(axes, others, strict=True):
        gap = np.sort([result.test[name].min() - result.test["Ginger"].min() for result in curves])
        ax.bar(
            np.arange(len(gap)), gap, width=1.0, color=np.where(gap >= 0, _COLORS["Ginger"], _COLORS[name])
        )
        ax.axhline(0, color="0.2", linewidth=0.8)
        ax.set_title(
            f"{name} less Ginger: {np.sum(gap > 1e-9)} above, {np.sum(gap < -1e-9)} below 0", fontsize=10
        )
        ax.set_xlabel("problems, in order")
    low, high = (limit(ax.get_ylim()[i] for ax in axes) for i, limit in enumerate((min, max)))
    for ax in axes:
        ax.set_ylim(low, high)
    axes[0].set_ylabel("difference of least test errors")
    return figure


def _panels(n: int, width: float, height: float) -> tuple[Figure, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n, height), layout="constrained")
    axes = figure.subplots(1, n, squeeze=False)[0].tolist()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save_figures(curves: list[Curves], folder: Path) -> None:
    """Draw both figures, as PNG and SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in (("figure4", plot_errors(curves[:4])), ("figure5", plot_differences(curves))):
        for kind in ("png", "svg"):
            figure.savefig(folder / f"ginger_trees_{name}.{kind}", dpi=150)


def main(arguments: list[str] | None = None) -> None:
    """Print and write both figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--problems", type=int, default=62)
    parser.add_argument("--train", type=int, default=5000)
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--figures", type=Path, help="folder to draw both figures into")
    options = parser.parse_args(arguments)
    census = load_census()
    curves = []
    for problem in list(census.problems)[: options.problems]:
        curves.append(grow_problem(census, problem, options.train, options.splits))
        print(problem, file=sys.stderr, flush=True)
    text = report(curves, options.train)
    print(text)
    if options.figures is not None:
        save_figures(curves, options.figures)
    (RESULTS / "ginger_trees.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
