"""`offsample tree`: a decision tree, and the error to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from offsample._text import MAJORITY
from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Features,
    Ignore,
    MaxRows,
    Seed,
    TableName,
    TargetName,
    command,
    source_and_target,
    source_lines,
    source_name,
    source_of,
)
from offsample.cli._output import check_plots, draw
from offsample.cli._rows import guess_error, labelled_columns
from offsample.cli._screen import named, print_json, print_text, say
from offsample.criteria import listed
from offsample.induction.scoring import TREE_CRITERIA

_MAX_ROWS = 1_000_000


@command
def tree(
    table: TableName = None,
    target: TargetName = None,
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    criterion: Annotated[
        str,
        typer.Option(
            help=f"The measure that a split should improve: {listed(TREE_CRITERIA.values())}.", metavar="NAME"
        ),
    ] = "ginger",
    max_splits: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Make at most this many splits.")
    ] = None,
    max_rows: MaxRows = _MAX_ROWS,
    seed: Seed = 0,
    engine: EngineName = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the tree into this SVG file.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the tree into this PNG file.")
    ] = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Grow a decision tree as far as splits help on new rows.

    Example: offsample tree customers.parquet --target churned
    """
    from offsample.induction import TreeClassifier
    from offsample.tables import read_table

    source, target = source_and_target(table, target, demo)
    check_plots(source, svg, png)
    columns = dict(read_columns := read_table(source, engine=engine, max_rows=max_rows, random_state=seed))
    n_source_rows = getattr(read_columns, "n_source_rows", None)
    y, columns, n_dropped = labelled_columns(columns, target, features, ignore)
    model = TreeClassifier(
        criterion=criterion,
        max_splits=max_splits,
        categorical_features=categorical or "infer",
        random_state=seed,
    ).fit(columns, y)
    for path, kind in ((svg, "svg"), (png, "png")):
        if path is not None:
            draw("plot_tree", model, path, kind)
    result = _summary(model, y, target, n_source_rows, n_dropped)
    if as_json:
        tree = {"tree": model.to_dict(), "path": _plain_path(model)}
        print_json({**result, **source_of(read_columns), **tree})
    else:
        _print_tree(result, model, source_name(table))
        say(*source_lines(read_columns))


def _summary(model: Any, y: Any, target: str, n_source_rows: int | None, n_dropped: int) -> dict[str, Any]:
    baseline, *ends = guess_error(y)
    # A tree without a split is that guess, and has its error.
    error, (low, high) = (
        (model.estimated_error_, model.estimated_error_interval_) if model.n_splits_ else (baseline, ends)
    )
    importances = zip(model._encoder.names, model.feature_importances_.tolist(), strict=True)
    return {
        "target": target,
        "criterion": model.criterion,
        "n_samples": len(y),
        "n_source_rows": len(y) + n_dropped if n_source_rows is None else n_source_rows,
        "n_dropped": n_dropped,
        "n_splits": model.n_splits_,
        "n_leaves": model.tree_.n_leaves,
        "baseline_error": baseline,
        "training_error": model.path_[model.n_splits_].training_error,
        "estimated_error": error,
        "low": low,
        "high": high,
        "importances": {str(name): share for name, share in importances if share > 0},
    }


def _plain_path(model: Any) -> list[dict[str, Any]]:
    names = ("n_splits", "feature", "criterion", "training_error", "estimated_error", "corrected")
    return [{name: getattr(step, name) for name in names} for step in model.path_]


def _print_tree(result: dict[str, Any], model: Any, source: str) -> None:
    n_rows, n_source_rows = result["n_samples"], result["n_source_rows"]
    rows = f"{n_rows:,} rows" if n_source_rows <= n_rows else f"{n_rows:,} of {n_source_rows:,} rows"
    n_leaves = result["n_leaves"]
    size = "does not split: no split would help on new rows" if n_leaves == 1 else f"has {n_leaves:,} leaves"
    say(
        f"A tree that predicts {named(result['target'])}, grown on {rows} of {source}. It {size}.",
        f"Expect an error of {result['estimated_error']:.4f} on new rows (95% interval {result['low']:.4f} "
        f"to {result['high']:.4f}); on the rows that the tree was grown on it is "
        f"{result['training_error']:.4f}. {MAJORITY.capitalize()} is wrong in "
        f"{result['baseline_error']:.4f}.",
        "",
    )
    print_text(model.export_text())
    if result["importances"]:
        ranked = sorted(result["importances"].items(), key=lambda item: -item[1])
        shares = [f"{named(name)} {share:.0%}" for name, share in ranked if share >= 0.005]
        few = len(ranked) - len(shares)
        others = [f"{few} other{'s' * (few > 1)} less than 1%"] if few else []
        say("", f"What each column contributes: {', '.join(shares + others)}.")
    if result["n_dropped"]:
        say(f"{result['n_dropped']:,} rows without {named(result['target'])} were left out.")
