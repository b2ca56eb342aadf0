"""`offsample rules`: a small model that reads as rules, and the error to expect of it."""

from __future__ import annotations

from enum import StrEnum
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
from offsample.induction.scoring import RULE_CRITERIA

_MAX_ROWS = 1_000_000


class Kind(StrEnum):
    """What form the rules take."""

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
    kind: Annotated[
        Kind,
        typer.Option(
            help="list: if, else if, else. dnf: any of several conditions. monomial: all of several "
            "conditions. "
            "program: questions that lead to each other. committee: conditions that vote. symmetric: how "
            "many of several conditions hold."
        ),
    ] = Kind.list,
    features: Features = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    criterion: Annotated[
        str,
        typer.Option(
            help=f"The measure that a rule should improve: {listed(RULE_CRITERIA.values())}.", metavar="NAME"
        ),
    ] = "ginger",
    literals: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Combine at most this many conditions in one rule.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Learn at most this many rules.")
    ] = None,
    max_rows: MaxRows = _MAX_ROWS,
    seed: Seed = 0,
    engine: EngineName = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --kind program: draw it into this SVG file.")
    ] = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Learn rules, and stop where more would not help on new rows.

    Example: offsample rules customers.parquet --target churned --kind dnf
    """
    import offsample
    from offsample.tables import read_table

    if svg is not None and kind != Kind.program:
        raise ValueError(f"--svg draws a program: expected --kind program, got {kind.value}")
    source, target = source_and_target(table, target, demo)
    check_plots(source, svg)
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
        draw("plot_program", model, svg, "svg")
    baseline = guess_error(y)
    learned = (model.estimated_error_, *model.estimated_error_interval_)
    expected = learned if model.path_.n_splits else baseline  # without a rule it is that guess
    if as_json:
        path = [
            {
                name: getattr(step, name)
                for name in ("n_splits", "feature", "training_error", "estimated_error")
            }
            for step in model.path_
        ]
        about = {"target": target, "n_samples": len(y), "n_dropped": n_dropped, **source_of(read)}
        errors = {
            "baseline_error": baseline[0],
            "estimated_error": expected[0],
            "estimated_error_interval": expected[1:],
        }
        print_json({**about, **model.to_dict(), **errors, "path": path})
    else:
        rows = f"{len(y):,} rows of {source_name(table)}"
        _print_rules(model, named(target), rows, expected, baseline[0])
        if n_dropped:
            say("", f"{n_dropped:,} rows without {named(target)} were left out.")
        say(*source_lines(read))


def _print_rules(model: Any, target: str, rows: str, expected: tuple[float, ...], baseline: float) -> None:
    error, low, high = expected
    say(
        f"Rules that predict {target}, learned from {rows}.",
        f"Expect an error of {error:.4f} on new rows (95% interval {low:.4f} to "
        f"{high:.4f}); on the rows that the rules were learned from it is "
        f"{model.path_[model.path_.n_splits].training_error:.4f}. {MAJORITY.capitalize()} is wrong in "
        f"{baseline:.4f}.",
        "",
    )
    print_text(model.to_text())
