"""Whole numbers that are codes: read as categories, and told so; numbers along an order stay numbers."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from offsample.report import report
from offsample.report._codes import are_codes


def regions(seed, n, n_codes, shift):
    random = np.random.default_rng(seed)
    code, effect = random.integers(1, n_codes + 1, n), random.normal(size=n_codes + 1) * 1.2
    y = np.where(random.random(n) < 1 / (1 + np.exp(shift - effect[code])), "yes", "no")
    return {"region": code, "x": random.normal(size=n), "age": random.integers(18, 60, n), "y": y}


@pytest.mark.parametrize("shape", ["none", "line", "hump", "step"])
def test_numbers_whose_neighbours_are_alike_are_no_codes(shape):
    random, found = np.random.default_rng(3), 0
    for _ in range(100):
        value = random.integers(0, 24, 2000)
        z = value / 23
        odds = np.exp(
            {"none": 0 * z, "line": 3 * z, "hump": 8 * z * (1 - z), "step": 2.0 * (z > 0.5)}[shape] - 3
        )
        found += are_codes(value.astype(float), (random.random(2000) < odds / (1 + odds)).astype(int), 1)
    assert found <= 4  # of 100 at the level .01: more than four by chance in 1 of 300


def test_one_value_that_is_a_mark_makes_no_codes():
    random, found = np.random.default_rng(4), 0
    for _ in range(50):
        value = random.integers(0, 30, 2000)
        hit = random.random(2000) < np.where(value == 17, 0.4, 0.05)
        found += are_codes(value.astype(float), hit.astype(int), 1)
    assert found <= 4


def test_a_few_codes_among_many_that_are_rare_are_codes():
    found = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        code, often = random.integers(1000, 1060, 6000), random.choice(60, 8, replace=False) + 1000
        in_order = np.arange(1020, 1028)  # the same without codes: they are next to each other
        hits = [random.random(6000) < np.where(np.isin(code, some), 0.25, 0.02) for some in (often, in_order)]
        found.append([are_codes(code.astype(float), hit.astype(int), 2) for hit in hits])
    assert (np.array(found).sum(axis=0) == (20, 0)).all(), np.sum(found, axis=0)


@pytest.mark.parametrize(("n_values", "shift"), [(5, 0), (70, 0), (20, 0.5), (20, np.nan)])
def test_few_or_many_values_and_fractions_are_never_codes(n_values, shift):
    value = np.random.default_rng(0).integers(0, n_values, 3000)
    assert are_codes(value + 0.0, value % 2, 1) == (n_values == 20)
    assert not are_codes(value + shift, value % 2, 1)


@pytest.mark.parametrize(("metric", "n_codes", "shift"), [("auc", 40, 3.6), ("error", 20, 0.0)])
def test_codes_are_read_as_categories_and_more_is_found(metric, n_codes, shift):
    table = regions(1, 6000, n_codes, shift)
    parts = (slice(3000), slice(3000, None))
    train, rest = ({name: column[part] for name, column in table.items()} for part in parts)
    found = report(train, "y", fast=True, metric=metric)
    told = report(train, "y", fast=True, metric=metric, types={"region": "number"})
    assert (found.columns.codes, told.columns.codes) == (("region",), ())
    assert {column.name: column.kind for column in found.columns.columns}["region"] == "categorical"
    rating = [one.estimator.predict_proba(rest)[:, 1] for one in (found, told)]
    if metric == "auc":
        of_codes, of_numbers = (roc_auc_score(rest["y"] == "yes", one) for one in rating)
        assert of_codes > of_numbers + 0.02
    else:
        of_codes, of_numbers = ((one.estimator.predict(rest) != rest["y"]).mean() for one in (found, told))
        assert of_codes < of_numbers - 0.01
    again = {**rest, "region": rest["region"].astype(float)}
    np.testing.assert_array_equal(found.estimator.predict_proba(again)[:, 1], rating[0])
    said = "Whole numbers whose neighbours have no more in common than any two are read as categories"
    assert said in found.to_markdown()
    assert said in found.to_html()
    assert said not in told.to_markdown()


def test_codes_that_are_not_found_to_be_any_are_asked_about_where_the_column_does_better_alone():
    """With large gaps they may be a quantity: the tree cuts them in their order, and costs more."""
    random = np.random.default_rng(4)
    code, often = random.integers(0, 60, 6000), random.choice(60, 8, replace=False)
    y = np.where(random.random(6000) < np.where(np.isin(code, often), 0.25, 0.02), "yes", "no")
    table = {"code": 10 * code, "y": y}
    told, found = (
        report(table, "y", fast=True, costs={"fn": 10, "fp": 1}, categorical_features=names).verdict
        for names in ((), ("code",))
    )
    assert "code seems to do better value by value, " in told.sentence
    assert "if its numbers are codes, say so (--categorical code, in Python" in told.sentence
    assert "value by value" not in found.sentence
    assert found.cost < told.cost_low
