"""Every column: what it is worth on new rows, and what to be wary of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from offsample.report._study import Study
from offsample.report.findings import Finding


@dataclass(frozen=True)
class Column:
    """One column by itself.

    Errors are of predicting a class as often as it occurs with the row's value or bin (the Gini rule).

    Attributes
    ----------
    name : str
    kind : {"categorical", "numeric"}
    n_values : int or None
        Distinct values, where they were counted; a missing one is none.
    n_missing : int
    error, low, high : float
        Estimated error off the sample, with its interval.
    training_error : float
    optimism : float
        ``error - training_error``.
    missing_mass : float
        Estimated probability that a new row has a value not seen before.
    expected_gain : float
        By how much the column lowers the baseline's error on new rows, shrunk for having been chosen.
    p_value : float
        Of independence of column and target.
    significant : bool
        After false-discovery control.
    finding : str or None
        Code of the finding about it, if any.
    quarantined : bool
        Whether models are judged without it.
    """

    name: str
    kind: Literal["categorical", "numeric"]
    n_values: int | None
    n_missing: int
    error: float
    low: float
    high: float
    training_error: float
    optimism: float
    missing_mass: float
    expected_gain: float
    p_value: float
    significant: bool
    finding: str | None
    quarantined: bool


@dataclass(frozen=True)
class Columns:
    """All columns, the best first.

    Attributes
    ----------
    columns : tuple of Column
    findings : tuple of Finding
    baseline_error : float
        Of the same rule without any column.
    n_rows : int
        All rows of the table that have a target: columns are counted exactly.
    confidence : float
        Of the intervals.
    """

    columns: tuple[Column, ...]
    findings: tuple[Finding, ...]
    baseline_error: float
    n_rows: int
    confidence: float


def describe(study: Study) -> Columns:
    """Gather what was counted and found, column by column."""
    ranking = study.ranking
    columns = []
    for f in ranking:
        finding = study.findings.get(f.name)
        columns.append(
            Column(
                name=str(f.name),
                kind=f.kind,
                n_values=f.n_present_values,
                n_missing=f.n_missing,
                error=f.error,
                low=f.low,
                high=f.high,
                training_error=f.training_error,
                optimism=f.optimism,
                missing_mass=f.missing_mass,
                expected_gain=f.expected_gain,
                p_value=f.p_value,
                significant=f.significant,
                finding=None if finding is None else finding.code,
                quarantined=finding is not None and finding.quarantines,
            )
        )
    ordered = tuple(study.findings[f.name] for f in ranking if f.name in study.findings)
    return Columns(tuple(columns), ordered, ranking.baseline_error, ranking.n_samples, ranking.confidence)
