"""The words of the page are those of its readers: no developers' talk, and points for differences."""

import re
from dataclasses import replace
from html import unescape
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from report.example import example_report
from report.test_html import Page

from offsample.report import report
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


def test_bars_of_columns_are_called_what_they_are():
    """A split that only prepares a later one has no gain of its own: of exclusive or the first one."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    table = {"A": a, "B": b, "y": np.where((a ^ b) ^ (rng.random(400) < 0.05), "p", "q")}
    made = report(table, "y")
    assert set(made.model.columns) == {"A", "B"}
    assert min(made.model.importances) == 0
    for text in (render_page(made), render_markdown(made)):
        assert "improvement over guessing" not in text
        assert "hare of the gains of all splits" in text
        assert re.search("A split that only prepares a later one may have 0.%", unescape(text))


def test_numbers_of_guesses_and_trials_are_for_the_method():
    for name, text in texts().items():
        before_the_method = text.partition("Made on ")[0]
        assert "10^" not in before_the_method, name
    trusted = example_report().trust.found
    assert trusted.log10_guesses > 6
    assert f"10{round(trusted.log10_guesses)} times" in texts()["page"]


def test_whole_numbers_among_the_options_are_written_as_such():
    made = example_report()
    options = {"n_configurations": 1.0, "many": 2e6, "share": 0.25, "endless": float("inf")}
    text = render_markdown(replace(made, method=replace(made.method, options=options)))
    assert "n_configurations = 1; many = 2000000; share = 0.25; endless = inf" in text


def test_a_model_without_columns_uses_none():
    made = example_report()
    text = render_markdown(replace(made, verdict=replace(made.verdict, columns=())))
    assert "It uses no column. The table has" in text


def test_no_line_ends_before_a_percent_sign():
    paragraphs = re.findall(r"<(p|li)\b[^>]*>(.*?)</\1>", render_page(example_report()), flags=re.S)
    assert len(paragraphs) > 20
    assert [text for _, text in paragraphs if re.search(r"\d %", text)] == []
