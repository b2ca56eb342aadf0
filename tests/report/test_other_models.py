"""Models beside the tree, with estimates that hold."""

import numpy as np
import pytest

from offsample.report import report
from offsample.report._study import Options, Study
from offsample.report.sections.other_models import fit_others


def problem(n, seed, n_classes=2):
    rng = np.random.default_rng(seed)
    X = {"a": rng.normal(size=n), "b": rng.normal(size=n)}
    y = (X["a"] > 0).astype(int) + (X["b"] > 0.5) * (n_classes > 2)
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), y)


def test_numbers_and_two_classes_have_three_others():
    X, y = problem(1500, 0)
    found = {other.name: other for other in fit_others(Study({**X, "y": y}, "y", Options()), ["a", "b"])}
    assert set(found) == {"decision list", "formula (DNF)", "tree of oblique tests"}
    for other in found.values():
        assert other.low <= 0.05 <= other.high  # half of the tenth that was drawn anew
        assert other.text
    assert "a > " in found["decision list"].text or "a <= " in found["decision list"].text


def test_categories_and_three_classes_have_the_list_only():
    X, y = problem(600, 0, n_classes=3)
    X["c"] = np.where(X["a"] > 0, "u", "v")
    assert [o.name for o in fit_others(Study({**X, "y": y}, "y", Options()), list(X))] == ["decision list"]


def test_the_time_limit_counts():
    X, y = problem(200, 0)
    study = Study({**X, "y": y}, "y", Options(time_limit=1e-9))
    assert fit_others(study, ["a", "b"]) == ()
    assert any("decision lists" in line for line in study.skipped)


@pytest.mark.parametrize("fast", [True, False])
def test_they_are_on_the_page_of_the_full_report(fast):
    X, y = problem(300, 0)
    page = report({**X, "y": y}, "y", fast=fast).to_html()
    assert ("decision list" in page) == (not fast)
