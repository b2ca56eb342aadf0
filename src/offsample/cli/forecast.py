"""`offsample forecast`: how big a model, how many rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from offsample._text import Field, digits, fit_table
from offsample.cli._app import command
from offsample.cli._options import Asked, AskedTask, option
from offsample.cli._screen import named, print_table, say, screen_encoding, screen_width
from offsample.cli.plan import condition
from offsample.ranking import assumed

if TYPE_CHECKING:
    from offsample.assessment import HoldoutPlan
    from offsample.expected_error import SizeForecast

# How well the error of the finished tree should be known: to a tenth of it, or half a point.
_SHARE_OF_ERROR, _LEAST_PRECISION = 0.1, 0.005


@command(without=("features", "categorical"), max_rows=100_000)
def forecast(
    asked: Asked,
    sizes: Annotated[
        list[int] | None, option("--splits NUMBER", "Try trees with this number of splits. May be repeated.")
    ] = None,
    task: AskedTask = "auto",
) -> None:
    """Say how large a tree should be, and whether more rows help.

    Example: offsample forecast customers.parquet --target churned
    """
    from offsample.expected_error.sizing import size_forecast

    rows = asked.rows(task=task)
    options: dict[str, Any] = {"sizes": sizes} if sizes else {}
    taken = None if task != "auto" else assumed(rows.is_numeric, np.unique(rows.y).tolist(), asked.to_predict)
    found = size_forecast(
        rows.columns,
        rows.y,
        random_state=asked.seed,
        groups=rows.group,
        time=rows.time,
        new_rows=asked.units.new_rows,
        task="regression" if rows.is_numeric else "classification",
        **options,
    )
    plan = None if rows.units or rows.is_numeric else _plan(found)  # which is for independent rows

    def result() -> dict[str, Any]:
        holdout = plan.to_dict() if plan and plan.feasible else None
        about = {"target": asked.to_predict, "holdout": holdout, "n_units": rows.n_units}
        about["assumed"] = taken
        return {**found.to_dict(), **about}

    def text() -> None:
        what = f"share of {found.new_rows} for which a tree would be wrong about {named(asked.to_predict)}"
        if rows.is_numeric:
            of = named(asked.to_predict)
            what = f"root of the mean squared error of a tree about {of}, on {found.new_rows}"
        if taken:
            say(f"{taken.replace('(task ', '(--task ')}.")
        say(f"{found.n_rows:,} rows of {asked.source_name}. The error is the {what}.", "")
        print_table(_lines(found.sizes, "splits", "n_splits", found.best, rows.is_numeric))
        if found.curve:
            say("")
            print_table(_lines(found.curve, "rows", "n_rows", None, rows.is_numeric))
        say("", found.statement)
        rows.say_units()
        if plan and found.best.n_splits:
            say(_check(found, plan))
        asked.say_dropped(rows.n_dropped)

    asked.show(rows, result, text)


def _plan(found: SizeForecast) -> HoldoutPlan:
    """Rows to hold out to check the error of the chosen tree: as many as help, a fifth at most."""
    from offsample.assessment import plan_holdout

    error = min(found.best.error, 0.5)
    wanted = max(_SHARE_OF_ERROR * error, _LEAST_PRECISION)
    enough = plan_holdout(None, 1, wanted, expected_error=error).n_test
    fifth = plan_holdout(found.n_rows, 1, expected_error=error)
    if fifth.n_test <= enough:
        return fifth
    return plan_holdout(found.n_rows, 1, n_test=enough, expected_error=error)


def _check(found: SizeForecast, plan: HoldoutPlan) -> str:
    if not plan.feasible:
        return "There are too few rows to hold some out for a test: rely on the interval above."
    return (
        f"To test the finished tree on rows that it has not seen, hold out {plan.n_test:,} of the "
        f"{found.n_rows:,} rows: with 95% confidence its error on new rows will be at most "
        f"{100 * plan.precision:.1f} percentage points above its error on them{condition(plan)}."
    )


def _lines(points: Any, title: str, name: str, best: Any, of_numbers: bool) -> list[str]:
    notes = [
        "projected" if name == "n_rows" and not point.measured
        else "the smallest that is about as good as the best" if point is best
        else ""
        for point in points
    ]  # fmt: skip

    def written(error: float) -> str:
        return digits(error**0.5) if of_numbers else f"{error:.4f}"

    fields = [
        Field(title, [f"{getattr(point, name):,}" for point in points]),
        Field("error", [written(point.error) for point in points]),
        Field("95% interval", [f"{written(point.low)}–{written(point.high)}" for point in points]),
        Field("", notes, right=False, rank=1),
    ]
    return fit_table(fields, screen_width(), screen_encoding())
