"""`offsample rules`: a small model that reads as rules, and the error to expect of it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from offsample._text import MAJORITY
from offsample.cli._app import command
from offsample.cli._options import Asked, guess_error
from offsample.cli._output import check_plots, draw
from offsample.cli._screen import named, print_text, say
from offsample.criteria import listed
from offsample.induction.scoring import RULE_CRITERIA

_OF_A_STEP = ("n_splits", "feature", "training_error", "estimated_error")


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


@command()
def rules(
    asked: Asked,
    kind: Annotated[
        Kind,
        typer.Option(
            help="list: if, else if, else. dnf: any of several conditions. monomial: all of several "
            "conditions. "
            "program: questions that lead to each other. committee: conditions that vote. symmetric: how "
            "many of several conditions hold."
        ),
    ] = Kind.list,
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
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --kind program: draw it into this SVG file.")
    ] = None,
) -> None:
    """Learn rules, and stop where more would not help on new rows.

    Example: offsample rules customers.parquet --target churned --kind dnf
    """
    import offsample

    if svg is not None and kind != Kind.program:
        raise ValueError(f"--svg draws a program: expected --kind program, got {kind.value}")
    check_plots(asked.source, svg=svg)
    rows = asked.rows()
    options: dict[str, Any] = {} if literals is None else {"literals": literals}
    model = getattr(offsample, _CLASSES[kind])(
        criterion=criterion,
        max_size=max_size,
        categorical_features=asked.categorical_features,
        random_state=asked.seed,
        **options,
    ).fit(rows.columns, rows.y)
    draw("plot_program", model, svg=svg)
    baseline = guess_error(rows.y)
    learned = (model.estimated_error_, *model.estimated_error_interval_)
    expected = learned if model.path_.n_splits else baseline  # without a rule it is that guess

    def result() -> dict[str, Any]:
        return {
            "target": asked.to_predict,
            "n_samples": len(rows.y),
            "n_dropped": rows.n_dropped,
            **model.to_dict(),
            "baseline_error": baseline[0],
            "estimated_error": expected[0],
            "estimated_error_interval": expected[1:],
            "path": [{name: getattr(step, name) for name in _OF_A_STEP} for step in model.path_],
        }

    def text() -> None:
        error, low, high = expected
        say(
            f"Rules that predict {named(asked.to_predict)}, learned from {len(rows.y):,} rows of "
            f"{asked.source_name}.",
            f"Expect an error of {error:.4f} on new rows (95% interval {low:.4f} to "
            f"{high:.4f}); on the rows that the rules were learned from it is "
            f"{model.path_[model.path_.n_splits].training_error:.4f}. {MAJORITY.capitalize()} is wrong in "
            f"{baseline[0]:.4f}.",
            "",
        )
        print_text(model.to_text())
        asked.say_dropped(rows.n_dropped, gap=True)

    asked.show(rows.read, result, text)
