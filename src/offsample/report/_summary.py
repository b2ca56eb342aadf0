"""A report in five lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from offsample._text import shorten, visible
from offsample.report._formats import amount, interval, percent

if TYPE_CHECKING:
    from offsample.report._result import Report

__all__ = ["summary"]

_WIDTH = 120


def summary(report: Report) -> str:
    """Say what to expect, of which model, what was left out, and how to see all of it."""
    verdict = report.verdict
    left_out = ", ".join(f"{finding.column} ({finding.code})" for finding in verdict.quarantined)
    lines = (
        f"Report on {report.title}: predicting {report.target} from "
        f"{amount(len(report.columns.columns), 'column')}, {amount(verdict.n_rows, 'row')}",
        f"Error to expect on new rows: {percent(verdict.error)} (95 % interval "
        f"{interval(verdict.low, verdict.high)}), against {percent(verdict.baseline_error)} by guessing the "
        "most frequent class",
        f"Model: {verdict.model}; columns: {', '.join(verdict.columns) or 'none'}",
        f"Columns not to use: {left_out or 'none'}",
        "All of it: .to_html(path) for the page, .to_markdown() for text, .to_dict() for data",
    )
    return "\n".join(shorten(visible(line), _WIDTH) for line in lines)
