"""`offsample rules`: a small model that reads as rules, and the error to expect of it."""

from __future__ import annotations

from enum import StrEnum
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

_MAX_ROWS = 1_000_000


class Kind(StrEnum):
    """What the rules make up."""

    list = "list"
    dnf = "dnf"
    monomial = "monomial"
    program = "program"
    committee = "committee"
    symmetric = "symmetric"


_CLASSES = {
    Kind.list: "DecisionListClassifier",
    Kind.dnf: "DNFClassifier",
    Kind.monomial: "MonomialClassifier",
    Kind.program: "BranchingProgramClassifier",
    Kind.committee: "CommitteeClassifier",
    Kind.symmetric: "SymmetricFunctionClassifier",
}


@command
def rules(
    table: TableName = None,
    target: TargetName = None,
    kind: Annotated[Kind, typer.Option(help="What the rules make up.")] = Kind.list,
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    criterion: Annotated[
        str, typer.Option(help="What a rule should improve: ginger, gini, entropy, …", metavar="NAME")
    ] = "ginger",
    literals: Annotated[int | None, typer.Option(help="Largest number of tests in a rule.")] = None,
    max_size: Annotated[int | None, typer.Option(help="Largest number of rules, tests or nodes.")] = None,
    max_rows: Annotated[int, typer.Option(help="Of a larger table, a random sample of so many.")] = _MAX_ROWS,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    engine: EngineName = None,
    svg: Annotated[Path | None, typer.Option(help="Draw a program into this SVG file.")] = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Learn a small model that reads as rules, and stops where more would not help on new rows.

    Example: offsample rules customers.parquet --target churned --kind dnf
    """
    import offsample
    from offsample.tables import read_table

    if svg is not None and kind != Kind.program:
        raise ValueError(f"--svg draws a program: expected --kind program, got {kind.value}")
    source, target = source_and_target(table, target, demo)
    read = read_table(source, engine=engine, max_rows=max_rows, random_state=seed)
    y, columns, n_dropped = labelled_columns(dict(read), target, features, ignore)
    options: dict[str, Any] = {} if literals is None else {"literals": literals}
    model = getattr(offsample, _CLASSES[kind])(
        criterion=criterion,
        max_size=max_size,
        categorical_features=categorical or "infer",
        random_state=seed,
        **options,
    ).fit(columns, y)
    if svg is not None:
        draw("plot_program", model, svg)
    if as_json:
        path = [
            {
                name: getattr(step, name)
                for name in ("n_splits", "feature", "training_error", "estimated_error")
            }
            for step in model.path_
        ]
        about = {"target": target, "n_samples": len(y), "n_dropped": n_dropped, **source_of(read)}
        print_json({**about, **model.to_dict(), "path": path})
    else:
        typer.echo("\n".join([_text(model, target, len(y), n_dropped), *source_lines(read)]))


def _text(model: Any, target: str, n_rows: int, n_dropped: int) -> str:
    low, high = model.estimated_error_interval_
    lines = [
        f"{n_rows:,} rows. Error to expect in predicting {target} on new rows: {model.estimated_error_:.4f} "
        f"(95% interval {low:.4f}–{high:.4f});",
        f"without any rule {model.path_[0].estimated_error:.4f}, "
        f"on the sample {model.path_[model.size_].training_error:.4f}.",
        "",
        model.to_text(),
    ]
    if n_dropped:
        lines += ["", f"{n_dropped:,} rows without {target} were left out."]
    return "\n".join(lines)
