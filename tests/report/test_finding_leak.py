"""Columns that know too much."""

import numpy as np
import pytest

import offsample
from offsample.datasets import make_customers
from offsample.report._formats import percent, quantity
from offsample.report._numbers import NumberStudy
from offsample.report._study import Options, Study
from offsample.report.findings import leak


def table(seed, n=2000):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = (x.sum(axis=1) + rng.normal(size=n) > 0).astype(int)

    def flipped(share):
        return y ^ (rng.random(n) < share)

    return {"a": x[:, 0], "b": x[:, 1], "y": np.where(y, "yes", "no")}, flipped


def found_in(columns):
    return set(leak.find(Study(columns, "y", Options())))


@pytest.mark.parametrize("seed", range(3))
def test_a_copy_of_the_target_is_found(seed):
    columns, flipped = table(seed)
    assert found_in(columns) == set()
    assert found_in({**columns, "copy": flipped(0.02)}) == {"copy"}


def test_the_message_says_whose_errors_it_compares():
    columns, flipped = table(0)
    study = Study({**columns, "copy": flipped(0.02)}, "y", Options())
    own, others = (percent(study.tree(names).estimated_error_) for names in (["copy"], ["a", "b"]))
    told = (
        f"copy by itself predicts y with {own} errors, in a tree; a tree of all other columns makes {others}."
    )
    assert leak.find(study)["copy"].message.startswith(told)


def test_two_copies_do_not_hide_each_other():
    columns, flipped = table(0)
    first, second = flipped(0.02), flipped(0.03)
    assert found_in({**columns, "first": first, "second": second}) == {"first", "second"}


def test_a_number_that_gives_the_target_away_is_found():
    columns, flipped = table(0)
    rng = np.random.default_rng(1)
    amount = np.where(flipped(0.01), rng.normal(5, 1, 2000), rng.normal(0, 1, 2000))
    assert found_in({**columns, "amount": amount}) == {"amount"}


def test_strong_columns_that_others_stand_in_for_are_no_leaks():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    columns = {f"x{j}": y * 4 + rng.normal(size=2000) for j in range(3)}
    assert found_in({**columns, "y": y}) == set()


def test_the_customers_have_one():
    found = leak.find(Study(make_customers(), "churned", Options(), findings={"customer_id": None}))
    assert set(found) == {"exit_survey_sent"}
    assert "Is it known before churned is?" in found["exit_survey_sent"].message


@pytest.mark.parametrize("of_numbers", [True, False])
def test_an_honest_column_that_is_far_ahead_leaves_a_page_that_says_what_it_does(of_numbers):
    """Three times the area and noise, R² .97: without the area there is nothing, and that is not all."""
    rng = np.random.default_rng(0)
    area = rng.uniform(30, 200, 500)
    price = 3 * area + rng.normal(0, 26, 500)
    table = {"area": area, "city": rng.choice(list("abc"), 500), "id": [f"r{i}" for i in range(500)]}
    table["price"] = price if of_numbers else np.where(price > 345, "dear", "cheap")
    found = offsample.report(table, "price", fast=True)
    assert {f.column: f.code for f in found.verdict.quarantined} == {"area": "leak", "id": "identifier"}
    assert found.verdict.columns == ()
    other = found.verdict.with_quarantined
    said = f"wrong in {percent(other.error)} of new rows"
    if of_numbers:
        assert other.score.value > 0.93
        off = other.mean_absolute_error
        said = f"off by about {quantity(off.value)} on average (95 % interval "
        said += f"{quantity(off.low)} to {quantity(off.high)}), with R² {other.score.value:.2f} on new rows"
    assert f" a tree would be {said}" in found.verdict.sentence
    asked = "if area is known before price is, and no leak, say so (known=, --known)"
    assert asked in found.verdict.sentence
    assert asked in found.to_markdown()
    told = offsample.report(table, "price", fast=True, known=["area"])
    assert told.verdict.columns == ("area",)
    assert "suspected" not in told.verdict.sentence
    error, near = (
        (told.verdict.mean_absolute_error, other.mean_absolute_error.value)
        if of_numbers
        else (told.verdict.error, other.error)
    )
    assert error == pytest.approx(near, rel=0.25)
    assert "known=('area',)" in told.method.command
    with pytest.raises(ValueError, match="column 'are' that is known is not one of those to predict by"):
        offsample.report(table, "price", fast=True, known=["are"])


def test_a_table_with_a_single_column():
    y = ["n", "p"] * 100
    found = leak.find(Study({"x": [label.upper() for label in y], "y": y}, "y", Options()))
    assert "always guessing the most frequent class makes 50.0 %" in found["x"].message


def test_a_near_copy_of_a_number_whose_squares_a_few_rows_decide():
    rng = np.random.default_rng(3)
    area = rng.uniform(20, 200, 300)
    price = np.exp(0.01 * area + 1.2 * rng.normal(size=300))
    table = {"area": area, "tax": 0.2 * price * (1 + 0.01 * rng.normal(size=300)), "price": price}
    found = leak.find(NumberStudy(table, "price", Options()))
    assert list(found) == ["tax"]
    assert "the ranks of price" in found["tax"].message
