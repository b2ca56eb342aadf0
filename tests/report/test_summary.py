"""A report as the text of an object."""

from dataclasses import replace

from report.example import example_report, with_names
from rich.cells import cell_len

from offsample.datasets import make_customers
from offsample.report import report


def test_five_lines():
    made = report(make_customers(600), "churned", fast=True, metric="error")
    lines = repr(made).splitlines()
    assert len(lines) == 5
    assert lines[0] == "Report on table: predicting churned from 11 columns, 600 rows"
    assert f"{100 * made.verdict.error:.1f} %" in lines[1]
    assert made.verdict.model in lines[2]
    assert "exit_survey_sent (leak)" in lines[3]
    assert "to_html" in lines[4]


def test_five_lines_whatever_the_names():
    made = replace(with_names(example_report(), "\x1b[2J\n名" * 400), title="\x1b[2J\n" * 50)
    lines = repr(made).splitlines()
    assert len(lines) == 5
    assert max(map(cell_len, lines)) <= 120
    assert "\x1b" not in repr(made)
