"""The words of the page are those of its readers: no developers' talk, and points for differences."""

import re
from importlib import import_module
from pathlib import Path

import pytest
from report.example import example_report
from report.test_html import Page

from offsample.report._html import render_page
from offsample.report._markdown import render_markdown
from offsample.report.findings import CODES, kind_of

DEVELOPERS_TALK = (
    "errs on",
    "expected error analysis",
    "greedy",
    "hardly any is left",
    "learnt",
    "left-out rows",
    "minimise their errors",
    "off the sample",
    "on the sample",
    "prolonged",
    "stand in for",
    "stops by itself",
    "Theorem",
    "tree of thresholds",
    "whatever was tried",
)
# Terms of the trade are for the section on the method, and for tooltips.
TECHNICAL = (
    "Benjamini",
    "bin ",
    "Gini",
    "Good–Turing",
    "Kolmogorov",
    "leave-one-out",
    "missing mass",
    "Relief",
    "resample",
)


def texts():
    page = " ".join("".join(Page(render_page(example_report())).text).split())
    markdown = render_markdown(example_report())
    rules = " ".join(f"{one.TERM.meaning} {one.TERM.advice} {one.RULE}" for one in map(kind_of, CODES))
    return {"page": page, "markdown": markdown, "rules": rules}


@pytest.mark.parametrize("where", ["page", "markdown", "rules"])
def test_the_words_are_those_of_readers(where):
    text = texts()[where].partition("<script>")[0]
    assert [words for words in DEVELOPERS_TALK if words in text] == []
    before_the_method = text.rpartition("Made on ")[0] or text
    assert [words for words in TECHNICAL if words in before_the_method] == []


def test_the_rule_for_columns_has_an_example():
    for text in (texts()["page"], texts()["markdown"]):
        assert re.search(
            "if 80.% of the rows with that value are “no”, the answer is “no” eight times out of ten", text
        )


def test_no_finding_calls_a_difference_of_percentages_a_percentage():
    folder = Path(import_module("offsample.report.findings").__file__).parent
    for path in folder.glob("*.py"):
        assert "by {percent(" not in path.read_text(encoding="utf-8"), path.name
