"""A small picture of each column, and no value of few rows in a report unless it was asked for."""

import json

import numpy as np
import pytest
from scipy.stats.contingency import association as cramers_v

import offsample
from offsample.export import to_sql
from offsample.report import scored
from offsample.report.sections.pictures import association


def people(n=900, of_numbers=False):
    """Rows of which many have a name that fewer than five have, and which differ in the target."""
    rng = np.random.default_rng(0)
    name = np.array([f"secret-{i // 4}" for i in range(n)], object)
    name[: n // 3] = rng.choice(["Oslo", "Rome"], n // 3, p=[0.8, 0.2])
    x = rng.normal(size=n)
    table = {
        "name": name,
        "x": x,
        "copy": x,
        "when": np.datetime64("2020-01-01", "D") + rng.integers(0, 900, n),
    }
    table["count"] = np.where(np.arange(n) < 3, 77, rng.integers(0, 4, n)).astype(float)
    table["count"][-40:] = np.nan
    high = (x > 0) ^ (name == "Oslo") ^ (rng.random(n) < 0.05)
    table["y"] = high + rng.normal(size=n) / 4 if of_numbers else np.where(high, "p", "n")
    return table


@pytest.fixture(scope="module")
def report():
    return offsample.report(people(), "y", max_size=6, reference=False)


@pytest.mark.parametrize("of_numbers", [False, True])
def test_values_of_few_rows_are_in_no_form(report, of_numbers):
    table = people(of_numbers=of_numbers)
    if of_numbers:
        report = offsample.report(table, "y", fast=True)
        ends = report.quantiles[0], report.quantiles[-1]
        assert (np.sum(table["y"] < ends[0]), np.sum(table["y"] > ends[1])) == (5, 5)
        assert str(table["y"].max()) not in json.dumps(report.to_dict())
    assert "name" in report.model.columns
    forms = (
        report.to_html(),
        report._repr_html_(),
        report.to_markdown(),
        json.dumps(report.to_dict()),
        repr(report),
    )
    assert not any("secret" in form for form in forms)
    assert all("(rare)" in form for form in forms[:4])
    assert "77" not in [cell.label for one in report.columns.pictures for cell in one.cells]


def test_they_are_shown_if_asked_for_and_the_model_knows_them_anyway(report):
    shown = offsample.report(people(), "y", max_size=6, reference=False, show_rows=True)
    assert all(
        "secret-" in form for form in (shown.to_html(), shown.to_markdown(), json.dumps(shown.to_dict()))
    )
    assert "(rare)" not in shown.to_html()
    assert to_sql(report.estimator) == to_sql(shown.estimator)
    assert "secret-" in to_sql(report.estimator)
    rows = {name: values[:50] for name, values in people().items()}
    one, other = (scored(each.estimator, rows) for each in (report, shown))
    decided, named = (" ".join(said.pop("decided_by")) for said in (one, other))
    assert "secret-" in named
    assert "secret-" not in decided  # scored files are sent around too
    assert {n: v.tolist() for n, v in one.items()} == {n: v.tolist() for n, v in other.items()}
    assert not any(one["unseen"])


def test_pictures_count_the_rows(report):
    table, of = people(), {one.name: one for one in report.columns.pictures}
    assert all(sum(cell.n_rows for cell in one.cells) == 900 for one in of.values())
    oslo = next(cell for cell in of["name"].cells if cell.label == "Oslo")
    is_oslo, positive = table["name"] == "Oslo", table["y"] == report.columns.followed
    assert oslo.n_rows == is_oslo.sum()
    assert oslo.rate == positive[is_oslo].mean()
    assert oslo.low < oslo.rate < oslo.high
    assert [(cell.label, cell.n_rows) for cell in of["count"].cells][-2:] == [
        ("1 other value", 3),
        ("missing", 40),
    ]
    assert of["count"].cells[-2].rate is None
    for cell in of["x"].cells[1:-1]:
        low, high = map(float, cell.label.split(" to "))
        assert cell.n_rows == ((table["x"] > low) & (table["x"] <= high)).sum()
    assert of["when"].cells[1].label.count("20") >= 2
    assert of["x"].goes_with == (("copy", 1.0),)


def test_association_is_the_corrected_v_of_cramer():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 4, 2000)
    other = np.where(rng.random(2000) < 0.4, one, rng.integers(0, 6, 2000))
    table = np.zeros((4, 6), int)
    np.add.at(table, (one, other), 1)
    plain = cramers_v(table, method="cramer")  # from which Bergsma takes what chance brings
    excess = plain**2 * 3 - 3 * 5 / 1999
    assert association(one, other) == pytest.approx(np.sqrt(excess / (4 - 9 / 1999 - 1)))
    assert association(one, rng.integers(0, 6, 2000)) < 0.05
    assert association(one, np.zeros(2000, int)) == 0


def test_identifiers_go_with_nothing():
    """Columns of many values, by chance alone: all of them count, not fifty of them and "the others"."""
    rng = np.random.default_rng(0)
    n = 400
    names, rare = rng.integers(0, 250, n), (np.arange(n) < 3).astype(float)
    table = {"id": rng.permutation(n).astype(str), "name": names.astype(str), "rare": rare.astype(str)}
    table["alike"] = (names // 10).astype(str)
    table["y"] = rng.integers(0, 2, n)
    pictures = offsample.report(table, "y", fast=True).columns.pictures
    shown = {one.name: dict(one.goes_with) for one in pictures}
    assert shown["id"] == shown["rare"] == {}
    assert list(shown["name"]) == ["alike"]
    one, other = (np.unique(table[name], return_inverse=True)[1] for name in ("name", "alike"))
    counts = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(counts, (one, other), 1)
    (k, r), chi = counts.shape, cramers_v(counts.astype(int), method="cramer") ** 2 * other.max()
    corrected = [size - (size - 1) ** 2 / (n - 1) - 1 for size in (k, r)]
    direct = min(1, np.sqrt(max(0, chi - (k - 1) * (r - 1) / (n - 1)) / min(corrected)))
    assert shown["name"]["alike"] == pytest.approx(direct)


def test_a_page_of_fifty_columns_stays_below_a_megabyte():
    rng = np.random.default_rng(0)
    table = {f"number {i}": rng.normal(size=400) for i in range(25)}
    table |= {f"a longer name of categories, {i}": rng.choice(list("abcdefghijklm"), 400) for i in range(25)}
    page = offsample.report({**table, "y": rng.integers(0, 2, 400)}, "y", fast=True).to_html()
    assert page.count('class="picture"') == 50
    assert len(page.encode()) < 1e6
