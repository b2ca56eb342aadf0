"""Planning a hold-out set on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from offsample._text import percentage
from offsample.cli._app import command
from offsample.cli._options import AsJson, option
from offsample.cli._screen import print_json, say

if TYPE_CHECKING:
    from offsample.assessment import HoldoutPlan

_BILLION = 1e9
# Models that differ by more are told apart without a plan.
_COARSEST = 0.1


@command()
def plan(
    rows: Annotated[int | None, option("ROWS", "How many rows you have in all.")] = None,
    n_test: Annotated[int | None, option("ROWS", "Rows that you want to hold out.")] = None,
    configurations: Annotated[
        float | None, option("NUMBER", "How many models or settings you want to compare.")
    ] = None,
    precision: Annotated[
        float | None,
        option("SHARE", "How far the winner may fall short of its score: 0.02 is two percentage points."),
    ] = None,
    expected_error: Annotated[
        float | None,
        option("SHARE", "The error that you expect on the test rows. A small one needs fewer of them."),
    ] = None,
    confidence: Annotated[float, option("SHARE", "How often the promise should hold.")] = 0.95,
    as_json: AsJson = False,
) -> None:
    """Say how many rows to hold out for testing.

    Or how many models they can compare, or how precisely.

    Give two of --rows (or --n-test), --configurations and --precision; the third is worked out. With --rows
    and --configurations alone, a fifth of the rows is held out, and 30 at least. With all three of --rows,
    --configurations and --precision, the answer is how many rows to hold out.

    Example: offsample plan --rows 10000 --configurations 64 --precision .03
    """
    from offsample.assessment import plan_holdout

    sizes = rows if n_test is None else n_test
    missing = [sizes, configurations, precision].count(None)
    if missing > 1 or (n_test is not None and not missing):
        raise ValueError(
            f"give two of --n-test (or --rows), --configurations and --precision, got {3 - missing}"
        )
    found = plan_holdout(
        rows, configurations, precision, n_test=n_test, confidence=confidence, expected_error=expected_error
    )
    if as_json:
        print_json(found.to_dict())
        return
    if found.feasible:
        say(*_advice(found, rows))
        return
    say(_obstacle(found, rows, found.precision if precision is None else precision), _WITHOUT)
    if rows is not None and configurations is not None and found.solved_for == "n_test":
        other = plan_holdout(rows, configurations, confidence=confidence, expected_error=expected_error)
        if other.feasible and other.precision <= _COARSEST:
            say(f"Or hold out {other.n_test:,} rows and be content with {_points(other.precision)}.")
        else:
            say("Or gather more rows: a held-out part of so few cannot tell.")


_WITHOUT = (
    "Cross-validate on all rows instead, and let `offsample audit` correct the scores for the number of "
    "configurations that you tried."
)


def _advice(found: HoldoutPlan, rows: int | None) -> list[str]:
    if found.n_train is None:
        sentences = [f"Test on {found.n_test:,} rows that no model has seen."]
    else:
        sentences = [
            f"Hold out {found.n_test:,} of the {rows:,} rows for testing and train on the other "
            f"{found.n_train:,}."
        ]
        if found.n_train < found.n_test:
            sentences.append("That leaves fewer rows to train on than to test on.")
    n = found.n_configurations
    if found.solved_for == "n_configurations":
        many = "as many" if n > _BILLION else f"up to {n:,.0f}"
        as_like = " as you like" if n > _BILLION else ""
        sentences.append(f"You can compare {many} configuration{'s' * (n != 1)}{as_like} on them.")
    which = "the model" if n == 1 else "the best configuration" if n > _BILLION else _best_of(n)
    sentences.append(
        f"With {percentage(found.confidence)} confidence, the error of {which} on new rows will be at most "
        f"{_points(found.precision)} above its error on the test rows{condition(found)}."
    )
    if found.solved_for == "precision" and found.precision > _COARSEST:
        sentences.append(f"That is too coarse to go by: so few test rows cannot tell. {_WITHOUT}")
    return sentences


def condition(found: HoldoutPlan) -> str:
    """What a promise that rests on an expected error supposes."""
    if found.expected_error is None:
        return ""
    return f", if that turns out to be {100 * found.expected_error:.3g}%, as expected" + (
        " (or less)" if found.expected_error < 0.5 else ""
    )


def _obstacle(found: HoldoutPlan, rows: int | None, wanted: float) -> str:
    n, test = found.n_configurations, f"{found.n_test:,} test row{'s' * (found.n_test != 1)}"
    few = f"{test} {'is' if found.n_test == 1 else 'are'} too few to know the error of"
    if n < 1:
        return f"{few} even one model to within {_points(wanted)}."
    if found.solved_for == "n_test":
        return (
            f"To know the error of {_best_of(n)} to within {_points(wanted)} takes {test}, and as many "
            f"to train on: there are only {rows:,} rows."
        )
    if found.n_train == 0:
        return "No rows would be left to train on."
    if found.n_train is not None and found.precision < 0.5:
        return f"{rows:,} rows are too few to hold some of them out."
    return f"{few} {_best_of(n)}."


def _best_of(n_configurations: float) -> str:
    return "a model" if n_configurations == 1 else f"the best of {n_configurations:,.0f} configurations"


def _points(share: float) -> str:
    """A difference of shares in percentage points, with two digits that count."""
    text = f"{100 * share:.2g}"
    return f"{text} percentage point{'s' * (text != '1')}"
