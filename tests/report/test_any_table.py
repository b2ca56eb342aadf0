"""From odd tables to page, text, JSON, snippet and terminal: a report, or a refusal in one sentence."""

import io
import json

import numpy as np
import pytest
from report.test_html import Page
from rich.console import Console
from rich.markdown import Markdown

import offsample


def noise(n_rows, n_columns=4, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    table = {f"x{i}": rng.normal(size=n_rows) for i in range(n_columns)}
    table["letter"] = rng.choice(list("abcdef"), n_rows)
    return {**table, "y": np.array([f"class {i}" for i in rng.integers(0, n_classes, n_rows)])}


def rare(n_rows=2000):
    """0.3 % positives, and one column that finds most of them."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) < 0.003 * n_rows
    return {"good": rng.normal(size=n_rows) + 2.1 * y, "noise": rng.normal(size=n_rows), "y": y}


def quarantined(n_rows=300):
    """Nothing but identifiers and a leak."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    names = np.array([f"C{i:05d}" for i in rng.permutation(n_rows)])
    return {"name": names, "number": rng.permutation(n_rows) + 1000, "leak": y.astype(str), "y": y}


TABLES = {
    "noise": noise(300),
    "noise, one in ten": {**noise(200), "y": np.arange(200) % 10 == 0},
    "noise, three in ten": {**noise(200), "y": np.arange(200) % 10 < 3},
    "40 classes": noise(400, n_classes=40),
    "0.3 % positives": rare(),
    "one column of noise": {name: noise(200)[name] for name in ("x0", "y")},
    "one column that decides": {"x": ["a", "b"] * 60, "y": ["no", "yes"] * 60},
    "one constant column": {"x": ["a"] * 120, "y": ["no", "yes"] * 60},
    "every column quarantined": quarantined(),
    **{f"{n} rows": noise(n, seed=n) for n in (2, 3, 4, 5, 8, 12, 20)},
}


def all_forms(report):
    """Every form of the report, each of them checked."""
    page = Page(report.to_html())
    assert page.errors == page.open == []
    snippet = Page(report._repr_html_())
    assert snippet.errors == snippet.open == []
    assert json.loads(json.dumps(report.to_dict()))["target"] == "y"
    text = report.to_markdown()
    for missing in ("nan", "inf", "None", "{{"):
        assert f" {missing} " not in text
    console = Console(file=io.StringIO(), width=80)
    console.print(Markdown(text))
    assert max(map(len, console.file.getvalue().splitlines())) <= 80
    return page


@pytest.mark.parametrize("fast", [True, False], ids=["fast", "full"])
@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_page_or_a_sentence(table, fast):
    try:
        report = offsample.report(table, target="y", fast=fast)
    except ValueError as refusal:
        sentence = str(refusal)
        assert sentence
        assert "\n" not in sentence
        assert len(table["y"]) < 20, sentence  # what has more rows is reported
        return
    page = all_forms(report)
    verdict = report.verdict
    assert verdict.sentence in " ".join("".join(page.text).replace("\xa0", " ").split())
    assert 0 <= verdict.low <= verdict.high <= 1
