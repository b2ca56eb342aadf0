"""Which columns predict the target off the sample, and how sure that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import ndtri

from offsample._checks import check_confidence
from offsample._deadline import OutOfTime, time_is_up
from offsample._frames import make_frame
from offsample._partitions import LazyErrors, Partitions, one_cell, partition
from offsample._ties import rounded
from offsample._typing import Booleans, Floats
from offsample._unit_intervals import interval_is_known
from offsample.criteria import CRITERIA, Criterion, RuleName, error_interval
from offsample.evidence import choose_refinement, signal_evidence
from offsample.hypotheses import RULES, left_out_error
from offsample.intervals import gain_interval
from offsample.tables import Column, ColumnError, Source, open_table
from offsample.tables._base import NO_COLUMNS

__all__ = ["RankedFeature", "Ranking", "rank_features"]

Order = Literal["auto", "estimate", "lower_bound"]
ORDERS: tuple[Order, ...] = get_args(Order)

# Columns are ordered by gain where noise would show their evidence in one of a hundred tables at most; below
# that, by evidence: a large gain that is not beyond doubt is rather the chance of a column with rare values.
_DOUBT = 0.01


@dataclass(frozen=True)
class RankedFeature:
    """What one column is worth.

    All errors are of the rule that predicts from the column alone: with the class frequencies of the row's
    value or bin (criterion "bayes_loo": their majority).

    Attributes
    ----------
    name : str
    kind : {"categorical", "numeric"}
    n_values : int or None
        Distinct values, a missing one included; None where an engine would need another pass to count them.
    n_missing : int
        Rows where it is missing: a value of its own.
    n_cells : int
        Values or bins that the estimate rests on.
    score : float
        Value of the criterion.
    error : float
        Estimated error off the sample: Ginger, or the leave-one-out error of the majority. Where a numeric
        column was cut in several ways, it is corrected for the choice (see `evidence.choose_refinement`).
    low, high : float
        Interval for that error. It is right for each column; the error of the column that turns out
        best of many is rather in its upper half.
    training_error : float
        Error on the sample.
    optimism : float
        ``error - training_error``.
    missing_mass : float
        Estimated probability that a new row has a value not seen before.
    gain, gain_low : float
        ``baseline_error - error``, and its lower confidence limit.
    expected_gain : float
        The gain, shrunk for having been looked at among p columns: times ``max(0, 1 - ln(p) / z²)``, with z
        the normal quantile of the p-value. Never below 0 and never above a positive gain.
    p_value : float
        Of independence of column and target, whatever the number of its values.
    significant : bool
        Whether the column survives a false-discovery control over all columns.
    interval_is_known : bool
        False where rows come in fewer than ten groups (or parts of the time), or most of the error is on
        values that one group has alone: then nobody can say how far the estimate may be off.
    """

    name: Any
    kind: Literal["categorical", "numeric"]
    n_values: int | None
    n_missing: int
    n_cells: int
    score: float
    error: float
    low: float
    high: float
    training_error: float
    optimism: float
    missing_mass: float
    gain: float
    gain_low: float
    expected_gain: float
    p_value: float
    significant: bool
    interval_is_known: bool = True

    @property
    def n_present_values(self) -> int | None:
        """Distinct values without the missing one."""
        return None if self.n_values is None else self.n_values - (self.n_missing > 0)


@dataclass(frozen=True, repr=False)
class Ranking:
    """Columns in order, the best first.

    Attributes
    ----------
    features : tuple of RankedFeature
    baseline_error : float
        Estimated error of the same rule without any column.
    n_samples : int
    n_dropped : int
        Rows left out because their target is missing.
    classes : tuple
    criterion, order : str
    confidence : float
    source : Source or None
        The files that were read, and their rows; None for a table that was handed over.
    left_out : tuple of str
        A sentence for each column that could not be read.
    new_rows : str
        What the errors are for: "new rows", "rows with a new 'customer'", "later rows".
    """

    features: tuple[RankedFeature, ...]
    baseline_error: float
    n_samples: int
    n_dropped: int
    classes: tuple[Any, ...]
    criterion: str
    order: str
    confidence: float
    source: Source | None = None
    left_out: tuple[str, ...] = ()
    new_rows: str = "new rows"

    def __iter__(self) -> Iterator[RankedFeature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: Any) -> RankedFeature:
        for feature in self.features:
            if feature.name == name:
                return feature
        raise KeyError(f"{name!r} is not among the {len(self)} ranked columns")

    def to_frame(self) -> Any:
        """One row per column, in order, as a dataframe of the library that is installed."""
        names = [field.name for field in fields(RankedFeature)]
        return make_frame({name: [getattr(feature, name) for feature in self] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        from offsample._ranking_shown import ranking_text

        return ranking_text(self)

    def _repr_html_(self) -> str:
        from offsample._ranking_shown import ranking_html

        return ranking_html(self)


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
        A name in `criteria.CRITERIA`. "ginger" and "bayes_loo" estimate the error off the sample; the
        others are there for comparison, and say nothing of new rows.
    order : {"auto", "estimate", "lower_bound"}
        "estimate" sorts by the criterion, "lower_bound" by the lower limit of the gain. "auto" puts the
        columns first whose signal is beyond doubt (p-value below 0.01 / number of columns), by
        `expected_gain`, and the others after them by p-value: the estimate alone is noisy for columns with
        many rare values, so that one of many noise columns may come out on top. For criteria that do not
        estimate the error off the sample, "auto" is "estimate".
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
        strictly earlier ones (the prequential error), with `group` from earlier rows of other groups.

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
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {sorted(CRITERIA)}, got {criterion!r}")
    chosen = CRITERIA[criterion]
    rule = chosen.reported_rule
    with open_table(
        table,
        target,
        features,
        categorical_features=categorical_features,
        engine=engine,
        group=group,
        time=time,
    ) as source:
        baseline = left_out_error(one_cell(source), RULES[rule])
        judged: list[RankedFeature] = []
        unread: list[Exception] = []
        for i, column in enumerate(_with_progress(source.columns, progress)):
            if judged and time_is_up():
                unread.append(
                    OutOfTime(f"{len(source.columns) - i:,} columns: no time was left to count them")
                )
                break
            try:
                ways = partition(source, column, numeric)
            except ColumnError as error:
                unread.append(error)
                continue
            judged.append(_judge(ways, column, chosen, rule, confidence, baseline))
        if not judged:
            raise unread[0] if unread else ValueError(NO_COLUMNS)
        return Ranking(
            features=_sort(_compare(judged, confidence), chosen, order),
            baseline_error=baseline,
            n_samples=source.n_rows,
            n_dropped=source.n_dropped,
            classes=source.classes,
            criterion=criterion,
            order=order,
            confidence=confidence,
            source=source.source,
            left_out=tuple(map(str, unread)),
            new_rows=source.units.new_rows,
        )


def _with_progress(columns: Sequence[Column], progress: bool) -> Iterable[Column]:
    if not progress:
        return columns
    from rich.console import Console
    from rich.progress import track

    return track(columns, "Counting columns", console=Console(stderr=True), transient=True)


def _judge(
    partitions: Partitions,
    column: Column,
    criterion: Criterion,
    rule: RuleName,
    confidence: float,
    baseline: float,
) -> RankedFeature:
    """All that can be said of a column by itself; what depends on the others is filled in later."""
    candidates = partitions.candidates
    evidence = [signal_evidence(cells) for cells in candidates]
    errors = LazyErrors(candidates, RULES[rule])
    n_tried = len(candidates)
    chosen, error = choose_refinement(evidence, errors)
    cells = candidates[chosen]
    level = 1 - (1 - confidence) / n_tried
    correction = error - errors[chosen]
    by_value = cells.profile()
    training = float(by_value.multiplicity @ RULES[rule].training_terms(by_value.counts)) / cells.n_samples
    low, high = error_interval(cells, rule, level)
    return RankedFeature(
        name=column.name,
        kind=column.kind,
        n_values=partitions.n_values,
        n_missing=partitions.n_missing,
        n_cells=cells.n_cells,
        score=error if criterion.estimates_error else criterion(cells),
        error=error,
        low=min(low + correction, error),
        high=min(high + correction, 1.0),
        training_error=training,
        optimism=error - training,
        missing_mass=cells.missing_mass(),
        gain=baseline - error,
        gain_low=gain_interval(cells, rule, level)[0] - correction,
        expected_gain=0.0,
        p_value=min(1.0, n_tried * min(e.p_value for e in evidence)),
        significant=False,
        interval_is_known=interval_is_known(cells, RULES[rule]),
    )


def _shrink(gain: float, p_value: float, n_tried: int) -> float:
    """Part of a gain that is left when it was looked at among `n_tried`; 0 where there is no evidence."""
    if gain <= 0 or p_value >= 0.5:
        return 0.0
    z = -float(ndtri(max(p_value, 1e-300)))
    return gain * max(0.0, 1 - float(np.log(n_tried)) / z**2)


def _compare(judged: list[RankedFeature], confidence: float) -> list[RankedFeature]:
    """Fill in what depends on how many columns there are."""
    significant = _discoveries(np.array([f.p_value for f in judged]), 1 - confidence)
    return [
        replace(f, expected_gain=_shrink(f.gain, f.p_value, len(judged)), significant=bool(found))
        for f, found in zip(judged, significant, strict=True)
    ]


def _discoveries(p_values: Floats, rate: float) -> Booleans:
    """Which hypotheses the procedure of Benjamini & Hochberg (1995) rejects."""
    n = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(rounded(ordered) <= rounded(rate * np.arange(1, n + 1) / n))
    threshold = ordered[passing[-1]] if len(passing) else -1.0
    return np.asarray(p_values <= threshold)


def _sort(ranked: list[RankedFeature], criterion: Criterion, order: Order) -> tuple[RankedFeature, ...]:
    sign = 1 if criterion.better == "lower" else -1
    if order == "lower_bound":
        return tuple(sorted(ranked, key=lambda f: -rounded(f.gain_low)))
    if order == "estimate" or not criterion.estimates_error:
        return tuple(sorted(ranked, key=lambda f: sign * rounded(f.score)))
    limit = _DOUBT / max(1, len(ranked))
    return tuple(
        sorted(
            ranked,
            key=lambda f: (
                f.p_value > limit,
                rounded(-f.expected_gain if f.p_value <= limit else f.p_value),
                -rounded(f.gain),
            ),
        )
    )
