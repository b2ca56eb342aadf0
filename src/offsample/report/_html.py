"""The report as a page, and as part of another page."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from functools import cache
from itertools import zip_longest
from typing import Any

from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from offsample.report import charts
from offsample.report._formats import MISSING, MOST_LINES, full_name, shorten_text
from offsample.report._rendering import make_environment, name_in, render, split_message, template_text
from offsample.report._result import Report
from offsample.report.charts._svg import tag
from offsample.report.findings import Finding

_LONG_LINE = 160
_MOST_FOLDED = 100_000  # characters


def render_page(report: Report) -> str:
    """Render one page that needs nothing else: no script, style, font or image comes from elsewhere."""
    return _render("page.html.jinja", report)


def render_snippet(report: Report) -> str:
    """Render the page for a notebook, inside a shadow root: its styles and those around it stay apart."""
    page = _render("snippet.html.jinja", report, root_id="")
    # The same report has the same text, so that a notebook does not change when it is run again.
    name = hashlib.sha256(page.encode()).hexdigest()[:16]
    return page.replace('data-offsample=""', f'data-offsample="{name}"')


@pass_context
def html_name(context: Context, name: object) -> Markup:
    """Show a name that strangers chose: shortened, and apart from the direction of the text around it."""
    short, full = name_in(context, name), full_name(name)
    return tag("bdi", short, class_="name", title=None if short == full else full)


def html_lines(text: str) -> Markup:
    """Show a text of many lines that wrap; the whole of a very long one is a click away."""
    shown, room = [], _MOST_FOLDED
    known = text.split("\n")[:MOST_LINES]
    for short, whole in zip_longest(shorten_text(text, _LONG_LINE).split("\n"), known, fillvalue=""):
        if not _LONG_LINE < len(whole) <= room:
            shown.append(tag("div", short))
        else:
            shown.append(tag("details", tag("summary", short), whole))
            room -= len(whole)
    return tag("div", *shown, class_="code", tabindex="0")


@pass_context
def html_message(context: Context, finding: Finding) -> Markup:
    """Write a finding as a sentence that begins with its column."""
    name = Markup() if finding.column is None else html_name(context, finding.column)
    return name + str(_finish(split_message(finding)[1]))


def _render(template: str, report: Report, **context: Any) -> str:
    style, script = template_text("style.css"), template_text("report.js")
    return render(
        _environment(),
        template,
        report,
        style=Markup(style),
        script=Markup(script),
        style_hash=_hash(style),
        script_hash=_hash(script),
        **context,
    )


@cache
def _environment() -> Environment:
    environment = make_environment(autoescape=True, finalize=_finish)
    environment.filters.update(
        lines=html_lines,
        message=html_message,
        name=html_name,
        **{name: getattr(charts, name) for name in charts.__all__ if name.endswith("_chart")},
    )
    environment.globals.update(
        share_bar=charts.share_bar,
        picture_bars=charts.picture_bars,
        picture_ends=charts.picture_ends,
        legend_mark=charts.legend_mark,
        n_chart_rows=charts.MOST_ROWS,
        class_colours=charts.class_colours,
    )
    return environment


def _finish(value: Any) -> Any:
    """Show a dash for what is missing, and no line break before a percent sign."""
    if value is None:
        return MISSING
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", value) if type(value) is str else value


def _hash(text: str) -> str:
    """Compute the hash by which the page's security policy knows its own script and style."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()
