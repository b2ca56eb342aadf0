"""Which columns predict the target off the sample, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from offsample._checks import check_confidence
from offsample._deadline import OutOfTime, time_is_up
from offsample._judged import Computed, OfClasses, errors_alone, judge
from offsample._losses import class_of_interest, rare_class
from offsample._partitions import one_cell, partition
from offsample._ranked import RankedFeature, Ranking, doubt_of
from offsample._squared_losses import few_decide
from offsample._ties import rounded
from offsample.counts import CellNumbers
from offsample.criteria import CRITERIA, NUMERIC_CRITERIA, Criterion, find_criterion, numeric_criterion
from offsample.evidence import discoveries, shrunk_gain
from offsample.hypotheses import RULES, left_out_error
from offsample.tables import Column, ColumnError, Table, Task, open_table
from offsample.tables._base import NO_COLUMNS, is_number
from offsample.tables._meaning import recognised
from offsample.tables._targets import MOST_CLASSES, check_task
from offsample.tables._ways import NumberWay

__all__ = ["RankedFeature", "Ranking", "rank_features"]

Order = Literal["auto", "estimate", "lower_bound"]
ORDERS: tuple[Order, ...] = get_args(Order)

_TO_COMPARE = 1e7  # values of all rows, at most, to look for equal ones: more would take longer than to rank


def rank_features(
    table: Any,
    target: Any,
    *,
    features: Sequence[Any] | None = None,
    criterion: str = "ginger",
    order: Order = "auto",
    confidence: float = 0.95,
    numeric: Literal["auto", "distinct"] | int = "auto",
    categorical_features: Collection[Any] | Literal["infer", "all"] = "infer",
    engine: str | None = None,
    progress: bool = False,
    group: Any = None,
    time: Any = None,
    costs: ArrayLike | Mapping[str, float] | None = None,
    positive: Any = None,
    task: Task = "auto",
    types: Mapping[Any, str] | None = None,
) -> Ranking:
    """Rank the columns of a table by the error to expect, on new rows, of predicting from one of them.

    With `group` or `time`, on rows of new groups, or on later ones.

    Parameters
    ----------
    table : array, dict of columns, dataframe, relation or path
        Anything that `tables.open_table` reads: pandas, polars, pyarrow, DuckDB, PySpark, Dask, ibis, or the
        path of Parquet or CSV files. A table on an engine is counted there, in one pass per column.
    target : name or array-like
        The column to predict. Rows where it is missing are left out.
    features : list of names, optional
        Columns to rank; by default all but the target.
    criterion : str
        A name in `criteria.CRITERIA`. "ginger" and "bayes_loo" estimate the error off the sample;
        "log_loss_loo", "brier_loo" and "auc_lpo" other losses, and the order of the rows, on new rows too.
        The others are there for comparison, and say nothing of new rows.
    order : {"auto", "estimate", "lower_bound"}
        "estimate" sorts by the criterion, "lower_bound" by the lower limit of the gain. "auto" puts the
        columns first whose signal is beyond doubt (p-value below 0.01 / number of columns), by
        `expected_gain`, and the others after them by p-value: the estimate alone is noisy for columns with
        many rare values, so that one of many noise columns may come out on top. By another loss the first
        are sorted by their score, of equals by evidence, and in all orders but "estimate" columns without
        evidence come last. For criteria of the sample itself, "auto" is "estimate".
    confidence : float
        Of the intervals; 1 - confidence is the false-discovery rate.
    numeric : {"auto", "distinct"} or int
        How to partition numeric columns. "auto" cuts them at quantiles into 2 bins, or into 4, 8, …, 1024
        where these say more beyond doubt, and corrects error, interval and p-value for the choice; up to 32
        numbers that repeat are values. "distinct" makes each number a value of its own; an integer is a
        number of bins.
    categorical_features : "infer", "all" or list of names
        Columns to read as categorical although they hold numbers; text and categories always are.
    engine : {"duckdb", "polars", "dask", "spark"}, optional
        What counts; see `tables.open_table`.
    progress : bool
        Whether to show a bar on standard error.
    group : name, list of names, or array-like of shape (n_samples,), optional
        Rows that belong together, such as those of one customer. Every row is predicted from other groups
        only, and groups are what intervals and p-values count. Of columns that lie within each other the
        coarsest counts; with columns that cross, such as users and items, a row is predicted from rows
        that share neither. A group is no feature.
    time : name, or array-like of shape (n_samples,), optional
        When a row was made: a number, a date, or a text that sorts by time. Every row is predicted from
        strictly earlier ones (the prequential error), with `group` from earlier rows of other groups. Of a
        date the parts that come again are columns: month from 400 days on, weekday from two weeks on, and
        hour from two days on, in UTC, such as "when: weekday".
    costs : array-like of shape (n_classes, n_classes), or dict, optional
        Rank by the cost per new row of the class that is cheapest given the column (`criteria.cost_loo`):
        ``costs[true, predicted]``, classes in the order of `Ranking.classes`, or ``{"fn": 10, "fp": 1}``.
    positive : object, optional
        The class that "fn" and "fp" speak of; by default the rarer of two, of equals the second. Of more
        classes than two, the one whose AUC against the rest is meant, by default the mean over all; p-values
        of such a ranking, or by "fn" and "fp", are of this class against the rest, too.
    task : {"auto", "classification", "regression"}
        Whether the target is classes or a number. "auto": text, Booleans, categories and whole numbers of at
        most 20 different values are classes, other numbers are numbers; `Ranking.assumed` says so where it
        could be either. For a number, errors are mean squared errors of the mean of the rows with the same
        value, `RankedFeature.r2` is the share of the variance explained on new rows, and the criteria are
        "ginger" (the same as "variance_loo"), "squared_error_loo", "r2_loo" and "absolute_error_loo": what
        the median of the rows with the same value is off by, for which rows come back from an engine.
    types : dict from names to types, optional
        What columns are, where that is not to be found out from their text: "number", "date", "time",
        "category" or "text", or how they are written, such as "date:dmy" or "number:comma".

    Returns
    -------
    Ranking

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.

    Examples
    --------
    >>> from offsample import rank_features
    >>> table = {
    ...     "customer": [f"c{i}" for i in range(200)],
    ...     "plan": ["basic", "pro"] * 100,
    ...     "churned": ["no", "yes"] * 90 + ["yes", "no"] * 10,
    ... }
    >>> ranking = rank_features(table, "churned")
    >>> [(f.name, round(f.error, 3), round(f.training_error, 3)) for f in ranking]
    [('plan', 0.182, 0.18), ('customer', 0.5, 0.0)]
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(map(repr, ORDERS))}, got {order!r}")
    check_confidence(confidence)
    if isinstance(numeric, str) and numeric not in ("auto", "distinct"):
        raise ValueError(f"numeric must be 'auto', 'distinct' or a number of bins, got {numeric!r}")
    check_task(task)
    if criterion in CRITERIA or criterion not in NUMERIC_CRITERIA:
        find_criterion(criterion, None if costs is None else np.eye(2))  # is there one, before any work
    with open_table(
        table,
        target,
        features,
        categorical_features=categorical_features,
        engine=engine,
        group=group,
        time=time,
        task=task,
        types=types,
    ) as source:
        of_interest, rare, baseline, alone, without = None, None, 0.0, tuple[float, ...](), None
        by_rows, few, kind = False, None, None
        if source.is_numeric:
            chosen = numeric_criterion(criterion, costs, positive)
            if by_rows := chosen.judge is not None:
                if source.in_units:
                    raise ValueError(
                        f"criterion {criterion!r} leaves single rows out: with group or time, ask for "
                        "'squared_error_loo', or for a report, which shows the absolute error of its model"
                    )
                rows = source.unit_rows(None)
                without = chosen(CellNumbers(rows.values, rows.y))  # type: ignore[arg-type]
        else:
            of_interest = class_of_interest(source.classes, source.class_totals, positive)
            rare = rare_class(source.class_totals) if of_interest is None else None
            chosen = find_criterion(criterion, costs, len(source.classes), of_interest)
            blind = one_cell(source)
            baseline = left_out_error(blind, RULES[chosen.reported_rule])
            kind = OfClasses(chosen.reported_rule, baseline)
            alone = errors_alone(kind, blind)
            without = chosen(blind) if chosen.judge else None
        judged: list[RankedFeature] = []
        computed = Computed()
        unread: list[Exception] = []
        for i, column in enumerate(_with_progress(source.columns, progress)):
            if judged and time_is_up():
                unread.append(
                    OutOfTime(f"{len(source.columns) - i:,} columns: no time was left to count them")
                )
                break
            try:
                ways = partition(source, column, numeric, by_rows=by_rows)
            except ColumnError as error:
                unread.append(error)
                continue
            if source.is_numeric:
                few = few or few_decide(source.n_rows, ways.candidates[0].n_alike)
            judged.append(judge(ways, column, chosen, kind, confidence, computed))
        if not judged:
            raise unread[0] if unread else ValueError(NO_COLUMNS)
        if source.is_numeric:
            baseline = judged[0].error + judged[0].gain if without is None else without
        # What errors are compared in units of: a squared error has those of the target.
        scale = (by_rows and without) or (source.is_numeric and baseline) or 1.0
        return Ranking(
            features=_sort(_compare(judged, confidence), chosen, order, scale),
            baseline_error=baseline,
            n_samples=source.n_rows,
            n_dropped=source.n_dropped,
            classes=source.classes,
            criterion=chosen.name,
            order=order,
            confidence=confidence,
            source=source.source,
            left_out=tuple(map(str, unread)),
            new_rows=source.units.new_rows,
            crossed=source.units.group_names if len(alone) == len(source.units.groups) else (),
            baselines_alone=alone if len(alone) == len(source.units.groups) else (),
            baseline_score=without,
            positive=None if of_interest is None else source.classes[of_interest],
            task="regression" if source.is_numeric else "classification",
            few_decide=few,
            rare_class=None if rare is None else source.classes[rare],
            assumed=assumed(source.is_numeric, source.classes, target) if task == "auto" else None,
            **_repeats(source, [feature.name for feature in judged]),
        )


def _repeats(source: Table, names: list[Any]) -> dict[str, int]:
    """Count rows that equal an earlier one in some columns, where there is time and room for it."""
    if len(names) * source.n_rows > _TO_COMPARE or time_is_up():
        return {}
    try:
        distinct, different = source.n_distinct(names)
    except (ValueError, RuntimeError):  # such as an engine that has no room for all rows
        return {}
    return {"n_duplicates": source.n_rows - distinct, "n_conflicting": distinct - different}


def assumed(is_numeric: bool, classes: Sequence[Any], target: Any) -> str | None:
    """What the target was taken for, where it could be classes or a number."""
    name = target if isinstance(target, str) else "the target"
    if is_numeric:
        return f"{name} is taken as a number (task regression; classification takes each value as a class)"
    n = len(classes)
    reads = n > 2 and all(is_number(label) for label in classes)
    if n > MOST_CLASSES and not reads:  # text such as "57%"
        found = recognised(np.array(classes, object), name)[1]
        reads = isinstance(found.way, NumberWay) or found.why.startswith("whole numbers")
    if reads:
        return f"{name} is taken as {n} classes (task classification; regression takes it as a number)"
    return None


def _with_progress(columns: Sequence[Column], progress: bool) -> Iterable[Column]:
    if not progress:
        return columns
    from rich.console import Console
    from rich.progress import track

    return track(columns, "Counting columns", console=Console(stderr=True), transient=True)


def _compare(judged: list[RankedFeature], confidence: float) -> list[RankedFeature]:
    """Fill in what depends on how many columns there are."""
    significant = discoveries(np.array([f.p_value for f in judged]), 1 - confidence)
    return [
        replace(f, expected_gain=shrunk_gain(f.gain, f.p_value, len(judged)), significant=bool(found))
        for f, found in zip(judged, significant, strict=True)
    ]


def _sort(
    ranked: list[RankedFeature], criterion: Criterion, order: Order, scale: float
) -> tuple[RankedFeature, ...]:
    sign = 1 if criterion.better == "lower" else -1
    if order == "lower_bound":  # of a loss, no gain is certain without evidence
        by_loss = criterion.judge is not None
        return tuple(
            sorted(ranked, key=lambda f: (by_loss and not f.significant, -rounded(f.gain_low, scale)))
        )
    if order == "estimate" or not (criterion.estimates_error or criterion.judge):
        unit = 1.0 if criterion.better == "higher" else scale
        return tuple(sorted(ranked, key=lambda f: sign * rounded(f.score, unit)))
    limit = doubt_of(len(ranked))
    return tuple(
        sorted(
            ranked,
            key=lambda f: (
                f.p_value > limit,
                rounded(
                    f.p_value
                    if f.p_value > limit
                    else sign * f.score / scale
                    if criterion.judge
                    else -f.expected_gain / scale
                ),
                -rounded(f.gain, scale),
                rounded(np.log(max(f.p_value, 1e-300)), 1000.0),  # where no column changes a decision
            ),
        )
    )
