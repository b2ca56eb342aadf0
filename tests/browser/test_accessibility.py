"""axe-core finds nothing on five pages, light and dark, with everything unfolded."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from report.example import example_report

import offsample


@pytest.fixture(scope="module")
def axe():
    """The checks as one script, from the disk."""
    found = find_spec("axe_playwright_python")
    if found is None:
        pytest.skip("axe-playwright-python, which brings axe-core, is not installed")
    return Path(found.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def noise():
    random = np.random.default_rng(0)
    return {"x": random.normal(size=300), "y": random.integers(0, 2, 300)}


def panel():
    random = np.random.default_rng(0)
    table = {"who": np.repeat(np.arange(30), 10), "x": random.normal(size=300)}
    table["city"] = random.choice(["Oslo", "Rome", *(f"place {i}" for i in range(40))], 300)
    return table | {"y": np.where((table["x"] > 0) ^ (table["city"] == "Oslo"), "up", "down")}


def prices():
    random = np.random.default_rng(0)
    size = random.normal(size=300)
    return {"size": size, "y": np.exp(size + random.normal(size=300) / 3)}


def fraud():
    random = np.random.default_rng(0)
    x = random.normal(size=1000)
    return {"x": x, "y": np.where(x + random.normal(size=1000) / 2 > 2.6, "fraud", "fine")}


PAGES = {
    "example": example_report,
    "noise": lambda: offsample.report(noise(), "y", fast=True),
    "panel": lambda: offsample.report(panel(), "y", group="who", fast=True),
    "prices": lambda: offsample.report(prices(), "y", fast=True),
    "fraud": lambda: offsample.report(fraud(), "y", fast=True),
}


@pytest.mark.parametrize("name", PAGES)
def test_no_violation(name, axe, open_page):
    page = open_page(PAGES[name]().to_html())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate(axe)
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):  # nothing else differs
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("(rules) => axe.run(document, rules)", rules)
        assert found["passes"]
        said = [f"{one['id']}: {one['help']}, {one['nodes'][0]['html']}" for one in found["violations"]]
        assert said == []
