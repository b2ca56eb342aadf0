"""What the renderings share: the sections in their order, the templates, and what templates are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files
from inspect import isfunction
from typing import Any

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from offsample._ranking_shown import DOUBT
from offsample.report import _formats
from offsample.report._metrics import ERROR, METRICS, OFF_BY, metric_of
from offsample.report._result import NOTICE, Report
from offsample.report._scales import scale_of
from offsample.report.findings import ABOUT_ROWS, CODES, Finding, Term, kind_of, term_of
from offsample.report.sections import sizing, trust
from offsample.report.sections.card import NOT_WRITTEN
from offsample.report.sections.columns import listed

# Attribute of the report, and title; its templates are templates/<attribute>.html.jinja and .md.jinja.
SECTIONS = (
    ("verdict", "Verdict"),
    ("rows", "Who are the rows?"),
    ("columns", "Columns"),
    ("model", "A model you can read"),
    ("acting", "Acting on it"),
    ("sufficient", "Which few columns suffice"),
    ("in_time", "Known in time?"),
    ("card", "The model, to take with you"),
    ("sizing", "What more would bring"),
    ("trust", "How far to trust your own score"),
    ("method", "Method"),
)
_TAKING = """import joblib
from offsample.export import to_python, to_sql

model = joblib.load("model.joblib")  # or, in Python, report.estimator
model.predict(new_rows)  # a dataframe, or a dict of columns
to_sql(model, "duckdb", table="new_rows")  # or "postgres", "sqlite", "spark"
to_python(model)  # a module that needs nothing else"""
MOST_FINDINGS = 12


@cache
def template_text(name: str) -> str:
    """Read a file beside the templates."""
    return (files("offsample.report") / "templates" / name).read_text(encoding="utf-8")


def make_environment(*, autoescape: bool, finalize: Callable[[Any], Any]) -> Environment:
    """Set up templates that share all of `_formats` and some helpers; an unknown name is an error."""
    environment = Environment(
        loader=FunctionLoader(template_text),
        autoescape=autoescape,
        finalize=finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    writers = {name: function for name, function in vars(_formats).items() if isfunction(function)}
    environment.filters.update(writers, reason=reason)
    environment.globals.update(
        interval=_formats.interval,
        rule_of=lambda code: kind_of(code).RULE,
        term_of=term_of,
        classes_shown=classes_shown,
        numbers_shown=numbers_shown,
        columns_shown=lambda section: listed(section.columns),
        findings_by_code=findings_by_code,
        planned=trust.planned,
        sizing_sentences=sizing.sentences,
        most_findings=MOST_FINDINGS,
        doubt_of_columns=DOUBT,
        taking=taking,
        notice=NOTICE,
    )
    return environment


def render(environment: Environment, template: str, report: Report, **context: Any) -> str:
    """Fill in a template; characters that cannot be seen are replaced."""
    there = [(name, title, getattr(report, name, None)) for name, title in SECTIONS]
    names = [column.name for column in report.columns.columns]
    context |= {
        "report": report,
        "sections": [section for section in there if section[2] not in (None, ())],
        # Names that are too long to be shown whole are cut so that they still differ.
        "shorter": {name: short for name, short in _formats.short_names(names).items() if name != short},
        "new_rows": report.verdict.new_rows,
        "metric": metric_of(
            report.verdict.metric, np.array(report.class_counts), None, report.positive is not None
        ),
    }
    verdict, metric = report.verdict, context["metric"]
    context["of_numbers"] = report.task == "regression"
    told, base = metric, verdict.baseline_score
    if report.model.loss == OFF_BY.loss:
        told, base = OFF_BY, verdict.baseline_mean_absolute_error
    context["scale"] = scale_of(told, base, verdict.baseline_log_loss)
    # Where costs are of classes in another order, columns have errors only.
    context["by"] = metric if report.columns.baseline_score is not None else METRICS[ERROR]
    context["drawn_by"] = context["by"] if report.columns.baseline_off_by is None else OFF_BY
    return _formats.printable(environment.get_template(template).render(context))


def taking(report: Report) -> str:
    """Code that loads the model, asks it, and writes it, if it can be written."""
    file = report.method.options.get("model", "model.joblib").partition(", SHA-256")[0]
    can = not any(line.about == NOT_WRITTEN for line in report.card)
    lines = [line for line in _TAKING.splitlines() if can or "to_" not in line]
    return "\n".join(lines).replace('"model.joblib"', repr(file))


@pass_context
def name_in(context: Context, name: object) -> str:
    """Write a name as the report does."""
    return context["shorter"].get(str(name)) or _formats.short_name(name)


def classes_shown(report: Report, most: int = 6) -> list[tuple[str, int, float]]:
    """List the most frequent classes, how many rows they have, and their shares."""
    n_rows = sum(report.class_counts)
    known = sorted(zip(report.classes, report.class_counts, strict=False), key=lambda known: -known[1])
    return [(label, n, n / n_rows if n_rows else 0.0) for label, n in known[:most]]


def numbers_shown(report: Report) -> str:
    """Say where the numbers of a target lie."""
    known, spread = report.quantiles, 10 * (report.quantiles[4] - report.quantiles[2]) or None
    are_whole = all(one == round(one) for one in known)
    least, _, low, middle, high, _, most = (
        _formats.count(one) if are_whole else _formats.quantity(one, spread) for one in known
    )
    nearly = "" if report.method.options.get("show_rows") else "nearly all "
    half = f"half of them between {low} and {high}, in the middle {middle}"
    half = f"at least half of them {middle}" if low == high else half
    return f"numbers, {nearly}from {least} to {most}, {half}"


def split_message(finding: Finding) -> tuple[str, str]:
    """Return the column that a finding is about, shortened, and the message without it."""
    if finding.column is None:
        return "", finding.message[:1].upper() + finding.message[1:]
    text = _formats.shorten_names(finding.message, [finding.column, *finding.others])
    name = _formats.shorten_names(finding.column, [finding.column])
    return name, text.removeprefix(name) if text.startswith(name) else f": {text}"


def reason(finding: Finding) -> str:
    """Write the message of a finding where the name of its column stands above it already."""
    name, rest = split_message(finding)
    if not rest.startswith(": "):
        return name + rest
    return rest[2:3].upper() + rest[3:]


def findings_by_code(
    findings: Iterable[Finding], of_rows: bool = False
) -> list[tuple[str, Term, list[Finding]]]:
    """Group findings about columns, or about rows, by code, with what it means."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        if (finding.code in ABOUT_ROWS) == of_rows:
            groups.setdefault(finding.code, []).append(finding)
    # What is left out of the model first, what says nothing last.
    known = sorted(CODES, key=lambda code: (not kind_of(code).QUARANTINES, term_of(code).is_quiet))
    order = [*known, *(code for code in groups if code not in CODES)]
    return [(code, term_of(code), groups[code]) for code in order if code in groups]
