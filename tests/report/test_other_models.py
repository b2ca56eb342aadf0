"""Models beside the tree, with estimates that hold, and in its place where it is clearly worse."""

import numpy as np
import pytest

from offsample.induction import DecisionListClassifier, DNFClassifier, StochasticTreeClassifier
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
    study = Study({**X, "y": y}, "y", Options())
    found = {other.kind: other for other in fit_others(study, ["a", "b"])}
    assert set(found) == {"decision list", "formula", "tree of oblique tests"}
    for other in (other.as_alternative() for other in found.values()):
        assert other.low <= 0.05 <= other.high  # half of the tenth that was drawn anew
        assert other.text
    assert "a > " in found["decision list"].text or "a <= " in found["decision list"].text


def test_categories_and_three_classes_have_the_list_only():
    X, y = problem(600, 0, n_classes=3)
    X["c"] = np.where(X["a"] > 0, "u", "v")
    assert [o.kind for o in fit_others(Study({**X, "y": y}, "y", Options()), list(X))] == ["decision list"]


def test_the_time_limit_counts():
    X, y = problem(200, 0)
    study = Study({**X, "y": y}, "y", Options(time_limit=1e-9))
    assert list(fit_others(study, ["a", "b"])) == []
    assert any("decision lists" in line for line in study.skipped)


@pytest.mark.parametrize("fast", [True, False])
def test_they_are_on_the_page_of_the_full_report(fast):
    X, y = problem(300, 0)
    page = report({**X, "y": y}, "y", fast=fast).to_html()
    assert ("decision list" in page) == (not fast)


def oblique(n, seed):
    """The xor of two oblique planes, which no tree of thresholds can follow."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = (X @ [1, 1, 1, 0, 0, 0] > 0) ^ (X @ [0, 0, 0, 1, -1, 1] > 0)
    return {f"x{j}": X[:, j] for j in range(6)}, np.where(y, "yes", "no")


def formula(n, seed):
    """A formula of three terms over twelve bits, with 5 % of wrong labels."""
    rng = np.random.default_rng(seed)
    bits = rng.random((n, 12)) < 0.5
    truth = bits[:, :3].all(axis=1) | bits[:, 3:6].all(axis=1) | bits[:, 6:9].all(axis=1)
    return {f"b{j}": bits[:, j] for j in range(12)}, np.where(truth ^ (rng.random(n) < 0.05), "yes", "no")


@pytest.mark.parametrize(
    ("make", "kinds"),
    [(oblique, {"tree of oblique tests"}), (formula, {"formula", "decision list"})],
)
def test_another_model_takes_the_place_of_a_tree_that_is_clearly_worse(make, kinds):
    X, y = make(2000, 0)
    found = report({**X, "y": y}, "y", random_state=0)
    section = found.model
    assert section.kind in kinds
    assert found.verdict.model == section.name
    assert section.name in found.verdict.sentence
    assert [other.name for other in section.alternatives if other.name == "tree"] == ["tree"]
    assert section.tree is None
    chosen = section.path[section.size]
    assert chosen.validated_error == section.validated_error
    assert sum(point.validated_error is not None for point in section.path) > 2
    # The claim holds on rows that nobody has seen.
    learners = {"decision list": DecisionListClassifier, "formula": DNFClassifier}
    fresh, truth = make(20_000, 1)
    model = learners.get(section.kind, StochasticTreeClassifier)().fit(X, y)
    assert section.low <= np.mean(model.predict(fresh) != truth) <= section.high
    assert "tree with" not in found.to_markdown().split("## ")[1]
    assert f">{section.name.capitalize()}, fitted" in found.to_html()


def test_a_tree_stays_where_others_are_as_good():
    X, y = problem(1500, 4)
    section = report({**X, "y": y}, "y", random_state=0).model
    assert section.kind == "tree"
    assert {"decision list"} <= {other.name for other in section.alternatives}
