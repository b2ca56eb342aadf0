"""The report as text that reads well as it is, in a terminal and on a page."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment

from offsample.report._formats import MISSING, shorten_text
from offsample.report._rendering import make_environment, name_in, render, split_message
from offsample.report._result import Report
from offsample.report.findings import Finding


class Raw(str):
    """Markdown already."""

    __slots__ = ()


def render_markdown(report: Report) -> str:
    """Render the report as Markdown."""
    text = render(_environment(), "report.md.jinja", report)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def escape_markdown(value: Any) -> Any:
    r"""Escape text so that nothing in it is markup; leave numbers and Markdown as they are.

    >>> escape_markdown("tenure_months"), escape_markdown("*a* | <b>")
    ('tenure_months', '\\*a\\* \\| \\<b\\>')
    """
    if value is None:
        return MISSING
    if isinstance(value, Raw) or not isinstance(value, str):
        return value
    text = re.sub(r"([\\`*\[\]<>|~&#])", r"\\\1", " ".join(value.split()))
    # inside a word an underscore means itself
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)


def fenced(text: str) -> Raw:
    """Fence a block of text, whatever backticks it contains."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Raw(f"{fence}text\n{shorten_text(text)}\n{fence}")


def markdown_message(finding: Finding) -> Raw:
    """Write a finding as a sentence that begins with its column."""
    name, rest = split_message(finding)
    if not name:
        return Raw(escape_markdown(rest))
    space = " " if rest.startswith(" ") else ""
    return Raw(f"**{escape_markdown(name)}**{space}{escape_markdown(rest)}")


@cache
def _environment() -> Environment:
    environment = make_environment(autoescape=False, finalize=escape_markdown)
    environment.filters.update(fenced=fenced, message=markdown_message, name=name_in)
    return environment
