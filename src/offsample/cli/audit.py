"""How far to trust a score, on the command line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from offsample.cli._app import command
from offsample.cli._options import AsJson, option
from offsample.cli._screen import print_json, say


@command()
def audit(
    scores: Annotated[
        str | None,
        typer.Argument(
            metavar="SCORES",
            help="A CSV file with a header, one line for each configuration that you tried and one column "
            "for "
            "each fold; - reads it from standard input.",
        ),
    ] = None,
    accuracy: Annotated[
        float | None, option("SHARE", "Instead of a file: the accuracy that was reported.")
    ] = None,
    error: Annotated[float | None, option("SHARE", "Or the error rate that was reported.")] = None,
    n_test: Annotated[int | None, option("ROWS", "Number of rows that it was measured on.")] = None,
    configurations: Annotated[
        float, option("NUMBER", "How many models or settings were tried on these rows.")
    ] = 1,
    baseline: Annotated[
        float | None,
        option("SHARE", "The score of a mere guess; by default that of picking a class at random."),
    ] = None,
    classes: Annotated[int, option("NUMBER", "Number of classes to guess from.")] = 2,
    lower_is_better: Annotated[
        bool, option("--lower-is-better", "The scores in the file are errors or losses.")
    ] = False,
    confidence: Annotated[float, option("SHARE", "How often an interval should hold the true score.")] = 0.95,
    as_json: AsJson = False,
    group: Annotated[str | None, option("COLUMN", "", hidden=True)] = None,
    time: Annotated[str | None, option("COLUMN", "", hidden=True)] = None,
) -> None:
    """Say what the best of many scores is really worth on new rows.

    The best score of many tries is partly luck. Give the scores of all tries, or the best score with the
    number of tries.

    Examples: offsample audit scores.csv;
    offsample audit --n-test 1186 --accuracy .924 --configurations 64
    """
    from offsample.assessment import trust_in_score

    if group or time:
        raise ValueError(
            f"{'--group' if group else '--time'} names a column of rows, and scores have none: score folds "
            "of whole groups (or of later rows), and give their number for --n-test; or use Python"
        )
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
        say(*trust.sentences)
