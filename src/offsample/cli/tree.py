"""`offsample tree`: a decision tree, and the error to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np

from offsample.cli._app import command
from offsample.cli._costs import Cost, Costs, Positive, cost_matrix
from offsample.cli._options import Asked, AskedTask, Expected, Rows, option
from offsample.cli._output import check_plot, draw
from offsample.cli._screen import named, print_model, say
from offsample.criteria import listed
from offsample.induction.scoring import TREE_CRITERIA
from offsample.ranking import assumed

_OF_A_STEP = ("n_splits", "feature", "criterion", "training_error", "estimated_error", "corrected")


@command()
def tree(
    asked: Asked,
    criterion: Annotated[
        str,
        option(
            "NAME",
            f"The measure that a split should improve: {listed(TREE_CRITERIA.values())}. Of a number: ginger "
            "(variance_loo) or squared_error_loo.",
        ),
    ] = "ginger",
    costs: Costs = None,
    positive: Positive = None,
    task: AskedTask = "auto",
    max_splits: Annotated[int | None, option("NUMBER", "Make at most this many splits.")] = None,
    svg: Annotated[Path | None, option("FILE", "Draw the tree into this SVG file.")] = None,
) -> None:
    """Grow a decision tree as far as splits help on new rows.

    Example: offsample tree customers.parquet --target churned
    """
    from offsample.induction import TreeClassifier, TreeRegressor

    check_plot(asked.source, svg)
    rows = asked.rows(task=task)
    learner: Any = TreeRegressor if rows.is_numeric else TreeClassifier
    matrix = cost_matrix(costs, positive, rows)
    model = rows.fit(
        learner(
            criterion=criterion,
            max_splits=max_splits,
            categorical_features=asked.categorical_features,
            random_state=asked.seed,
            **({} if matrix is None else {"costs": matrix}),
        )
    )
    draw("plot_tree", model, svg)
    expected = Expected.of(model, rows, asked)
    cost = None if matrix is None else Cost.of(model, rows, matrix, asked.seed)
    taken = None if task != "auto" else assumed(rows.is_numeric, np.unique(rows.y).tolist(), asked.to_predict)
    result = {"target": asked.to_predict, "assumed": taken, **_summary(model, rows, expected)}
    path = [{name: getattr(step, name) for name in _OF_A_STEP} for step in model.path_]
    asked.show(
        rows,
        lambda: {**result, "tree": model.to_dict(), "path": path} | ({} if cost is None else cost._asdict()),
        lambda: _print_tree(result, model, asked, rows, expected, cost),
    )


def _summary(model: Any, rows: Rows, expected: Expected) -> dict[str, Any]:
    error, low, high, baseline, new_rows, seen, unsplit = expected
    importances = zip(model._encoder.names, model.feature_importances_.tolist(), strict=True)
    return {
        "task": "regression" if rows.is_numeric else "classification",
        "criterion": model.criterion,
        "n_samples": len(rows.y),
        "n_source_rows": rows.n_source_rows,
        "n_dropped": rows.n_dropped,
        "n_splits": model.n_splits_,
        "n_leaves": model.tree_.n_leaves,
        "baseline_error": baseline,
        "unsplit_error": baseline if unsplit is None else unsplit,
        "training_error": model.path_[model.n_splits_].training_error if seen is None else seen,
        "estimated_error": error,
        "low": low,
        "high": high,
        "new_rows": new_rows,
        "n_units": rows.n_units,
        "importances": {str(name): share for name, share in importances if share > 0},
    }


def _print_tree(
    result: dict[str, Any], model: Any, asked: Asked, read: Rows, expected: Expected, cost: Cost | None
) -> None:
    if result["assumed"]:
        say(f"{result['assumed'].replace('(task ', '(--task ')}.")
    n_rows, n_source_rows, whom = result["n_samples"], result["n_source_rows"], result["new_rows"]
    rows = f"{n_rows:,} rows" if n_source_rows <= n_rows else f"{n_rows:,} of {n_source_rows:,} rows"
    n_leaves = result["n_leaves"]
    size = f"does not split: no split would help on {whom}" if n_leaves == 1 else f"has {n_leaves:,} leaves"
    say(
        f"A tree that predicts {named(asked.to_predict)}, grown on {rows} of {asked.source_name}. It {size}.",
        expected.sentence(model, "the tree was grown on"),
        *([] if cost is None else [cost.sentence]),
    )
    read.say_units()
    say("")
    print_model(model.to_text())
    if result["importances"]:
        ranked = sorted(result["importances"].items(), key=lambda item: -item[1])
        shares = [f"{named(name)} {share:.0%}" for name, share in ranked if share >= 0.005]
        few = len(ranked) - len(shares)
        others = [f"{few} other{'s' * (few > 1)} less than 1%"] if few else []
        say("", f"What each column contributes: {', '.join(shares + others)}.")
    asked.say_dropped(result["n_dropped"])
