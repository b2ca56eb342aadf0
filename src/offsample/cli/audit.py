"""How far to trust a score, on the command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from offsample.cli._app import AsJson, command, print_json

__all__ = ["audit"]


@command
def audit(
    scores: Annotated[
        str | None,
        typer.Argument(
            help="CSV file of scores: a header, a line per configuration, a column per fold; - for standard "
            "input."
        ),
    ] = None,
    accuracy: Annotated[float | None, typer.Option(help="Accuracy that was reported.")] = None,
    error: Annotated[float | None, typer.Option(help="Error rate that was reported, instead.")] = None,
    n_test: Annotated[int | None, typer.Option("--n-test", help="Rows that it was measured on.")] = None,
    configurations: Annotated[float, typer.Option(help="How many were tried on these rows.")] = 1,
    baseline: Annotated[
        float | None, typer.Option(help="Score of a rule that knows nothing; by default of guessing a class.")
    ] = None,
    classes: Annotated[int, typer.Option(help="Number of classes.")] = 2,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="The scores in the file are errors or losses.")
    ] = False,
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Say what the best score of many is worth on new rows.

    Examples: offsample audit scores.csv;
    offsample audit --n-test 1186 --accuracy .924 --configurations 64
    """
    from offsample.assessment import trust_in_score

    if sum(value is not None for value in (scores, accuracy, error)) != 1:
        raise ValueError("give one of: a file of scores, --accuracy, --error")
    if scores is None:
        trust = trust_in_score(
            accuracy if accuracy is not None else error,
            n_test=n_test,
            n_configurations=configurations,
            greater_is_better=accuracy is not None,
            baseline=baseline,
            n_classes=classes,
            confidence=confidence,
        )
    else:
        trust = trust_in_score(
            scores=sys.stdin if scores == "-" else scores,
            n_test=n_test,
            greater_is_better=not lower_is_better,
            baseline=baseline,
            confidence=confidence,
        )
    if as_json:
        print_json(trust.to_dict())
    else:
        typer.echo("\n".join(trust.sentences))
