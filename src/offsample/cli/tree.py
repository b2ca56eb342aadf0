"""`offsample tree`: a decision tree, and the error to expect of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from offsample.cli._app import (
    AsJson,
    Categorical,
    Demo,
    EngineName,
    Features,
    Ignore,
    TableName,
    TargetName,
    command,
    draw,
    print_json,
    source_and_target,
    source_lines,
    source_of,
)
from offsample.cli._rows import labelled_columns
from offsample.induction._scoring import NAMES

_MAX_ROWS = 1_000_000


@command
def tree(
    table: TableName = None,
    target: TargetName = None,
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    criterion: Annotated[
        str, typer.Option(help=f"What a split should improve: {', '.join(NAMES)}.", metavar="NAME")
    ] = "ginger",
    max_splits: Annotated[int | None, typer.Option(help="Largest number of splits.")] = None,
    max_rows: Annotated[int, typer.Option(help="Of a larger table, a random sample of so many.")] = _MAX_ROWS,
    seed: Annotated[int, typer.Option(help="Of the sample, and of what is random in the tree.")] = 0,
    engine: EngineName = None,
    svg: Annotated[Path | None, typer.Option(help="Draw the tree into this SVG file.")] = None,
    png: Annotated[Path | None, typer.Option(help="Draw the tree into this PNG file.")] = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Grow a decision tree that stops where more splits would not help on new rows.

    Example: offsample tree customers.parquet --target churned
    """
    from offsample.induction import TreeClassifier
    from offsample.tables import read_table

    source, target = source_and_target(table, target, demo)
    columns = dict(read_columns := read_table(source, engine=engine, max_rows=max_rows, random_state=seed))
    n_source_rows = getattr(read_columns, "n_source_rows", None)
    y, columns, n_dropped = labelled_columns(columns, target, features, ignore)
    model = TreeClassifier(
        criterion=criterion,
        max_splits=max_splits,
        categorical_features=categorical or "infer",
        random_state=seed,
    ).fit(columns, y)
    for path in (svg, png):
        if path is not None:
            draw("plot_tree", model, path)
    result = _summary(model, y, target, n_source_rows, n_dropped)
    if as_json:
        tree = {"tree": model.to_dict(), "path": _plain_path(model)}
        print_json({**result, **source_of(read_columns), **tree})
    else:
        typer.echo("\n".join([_text(result, model), *source_lines(read_columns)]))


def _summary(model: Any, y: Any, target: str, n_source_rows: int | None, n_dropped: int) -> dict[str, Any]:
    low, high = model.estimated_error_interval_
    importances = zip(model._encoder.names, model.feature_importances_.tolist(), strict=True)
    return {
        "target": target,
        "criterion": model.criterion,
        "n_samples": len(y),
        "n_source_rows": len(y) + n_dropped if n_source_rows is None else n_source_rows,
        "n_dropped": n_dropped,
        "n_splits": model.n_splits_,
        "n_leaves": model.tree_.n_leaves,
        "baseline_error": model.path_[0].estimated_error,
        "training_error": model.path_[model.n_splits_].training_error,
        "estimated_error": model.estimated_error_,
        "low": low,
        "high": high,
        "importances": {str(name): share for name, share in importances if share > 0},
    }


def _plain_path(model: Any) -> list[dict[str, Any]]:
    names = ("n_splits", "feature", "criterion", "training_error", "estimated_error", "corrected")
    return [{name: getattr(step, name) for name in names} for step in model.path_]


def _text(result: dict[str, Any], model: Any) -> str:
    of = f" of {result['n_source_rows']:,}" if result["n_source_rows"] > result["n_samples"] else ""
    lines = [
        f"{result['n_samples']:,} rows{of}, {result['n_leaves']} leaves. Error to expect in predicting "
        f"{result['target']} on new rows: {result['estimated_error']:.4f} "
        f"(95% interval {result['low']:.4f}–{result['high']:.4f});",
        f"without any column {result['baseline_error']:.4f}, on the sample {result['training_error']:.4f}.",
        "",
        model.export_text(),
    ]
    if result["importances"]:
        ranked = sorted(result["importances"].items(), key=lambda item: -item[1])
        shares = ", ".join(f"{name} {share:.0%}" for name, share in ranked)
        lines += ["", f"Share in the decrease of the error: {shares}."]
    if result["n_dropped"]:
        lines.append(f"{result['n_dropped']:,} rows without {result['target']} were left out.")
    return "\n".join(lines)
