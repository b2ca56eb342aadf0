"""Every column: what it is worth on new rows, and what to be wary of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from offsample.ranking import RankedFeature
from offsample.report._metrics import Score
from offsample.report._study import Study
from offsample.report.findings import Finding, term_of
from offsample.report.sections import pictures
from offsample.report.sections.pictures import Picture
from offsample.tables import columns_of

# Of more columns than this, half as many are listed: the best, and as many of the quarantined.
MOST_COLUMNS = 100


@dataclass(frozen=True)
class Column:
    """One column by itself.

    Errors are of predicting a class as often as it occurs with the row's value or bin (the Gini rule).
    """

    name: str
    kind: Literal["categorical", "numeric"]
    n_values: int | None  # distinct values other than missing, where they were counted
    n_missing: int
    error: float  # off the sample, estimated, with its interval
    low: float
    high: float
    training_error: float
    optimism: float  # error - training_error
    missing_mass: float  # estimated probability that a new row has a value not seen before
    expected_gain: float  # over no column on new rows, by the report's metric, shrunk for having been chosen
    p_value: float  # of independence of column and target
    significant: bool  # after false-discovery control
    finding: str | None  # code of the finding about it, if any
    quarantined: bool  # whether models are judged without it
    auc: float | None = None  # off the sample, of ordering rows by the class of interest; of two classes
    score: Score | None = None  # by another metric of the report than the error, with its interval
    training_r2: float | None = None  # of a target of numbers, in the rows that were learned from
    off_by: Score | None = None  # of the median of rows with its value, where a few rows decide all squares
    training_off_by: float | None = None
    interval_is_known: bool = True  # or whether too few groups, or times, say it, or values of one alone

    @property
    def is_quiet(self) -> bool:
        """Whether it is drawn as saying nothing; a copy of such a column says nothing, too."""
        is_copy = self.finding == "near-copy" and not self.significant
        return is_copy or (self.finding is not None and term_of(self.finding).is_quiet)


@dataclass(frozen=True)
class Columns:
    """All columns, the best first."""

    columns: tuple[Column, ...]
    findings: tuple[Finding, ...]
    baseline_error: float  # of the same rule without any column
    n_rows: int  # all rows of the table that have a target: columns are counted exactly
    confidence: float  # of the intervals
    baseline_score: float | None = None  # without any column, where columns have a score
    pictures: tuple[Picture, ...] = ()  # of the columns that are listed on the page
    n_made: int = 0  # columns that are made of others: parts of dates, words of text
    baseline_off_by: float | None = None  # of the median of all rows, where columns are ordered by theirs
    # Whole numbers that are read as categories, as neighbours have no more in common than any two.
    codes: tuple[str, ...] = ()
    followed: str | None = None  # the class whose share they show; None for the mean of a target of numbers


def describe(study: Study) -> Columns:
    """Gather what was counted and found, column by column."""
    ranking, medians = study.ranking, study.by_medians
    of_rows = {finding.column: finding for finding in reversed(study.of_rows)}
    columns = tuple(
        _column(f, study.findings.get(f.name) or of_rows.get(str(f.name)), study) for f in ranking
    )
    ordered = tuple(study.findings[f.name] for f in ranking if f.name in study.findings)
    names = {column.name for column in listed(columns)}
    return Columns(
        columns,
        (*ordered, *study.of_rows),
        ranking.baseline_error,
        ranking.n_samples,
        ranking.confidence,
        study.columns_base,
        pictures.describe(
            study, [f.name for f in ranking if str(f.name) in names and f.name in study.encoded]
        ),
        sum(f.name not in columns_of(study._read) for f in ranking),
        None if medians is None else medians.baseline_error,
        tuple(str(name) for name in study.categories if name not in study.options.categorical_features),
        None if study.task == "regression" else str(study.classes[pictures.followed(study)]),
    )


def listed(columns: Sequence[Column]) -> list[Column]:
    """List all columns; of too many the quarantined and the best, in their order."""
    if len(columns) <= MOST_COLUMNS:
        return list(columns)
    room = dict.fromkeys((True, False), MOST_COLUMNS // 2)
    shown: list[Column] = []
    for column in columns:
        if room[column.quarantined]:
            room[column.quarantined] -= 1
            shown.append(column)
    return shown


def _column(feature: RankedFeature, finding: Finding | None, study: Study) -> Column:
    by_median = None if study.by_medians is None else study.by_medians[feature.name]
    own: dict[str, Any] = {
        "name": str(feature.name),
        "kind": "categorical" if feature.name in study.categories else feature.kind,
        "n_values": feature.n_present_values,
        "finding": None if finding is None else finding.code,
        "quarantined": finding is not None and finding.quarantines,
        "auc": getattr(feature, "auc", None),
        "score": study.score_of(feature),
        "expected_gain": feature.expected_gain * study.per,
        "off_by": by_median and Score(by_median.error, by_median.low, by_median.high),
        "training_off_by": by_median and by_median.training_error,
    }
    counted = {field.name: getattr(feature, field.name) for field in fields(Column) if field.name not in own}
    return Column(**own, **counted)
