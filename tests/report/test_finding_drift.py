"""Drift: columns that stop working, values that appear or die out, classes that change."""

import numpy as np

from offsample.report._study import Options, Study
from offsample.report.findings import drift


def _study(**columns):
    return Study({"day": np.arange(1500), **columns}, "y", Options(time="day"))


def test_a_column_that_stopped_working():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    sign = np.where(np.arange(1500) < 1000, y, rng.integers(0, 2, 1500))
    found = drift.find(_study(sign=sign, noise=rng.normal(size=1500), y=y))
    assert list(found) == ["sign"]
    assert found["sign"].message.startswith("sign: by itself it makes")
    assert "it was better than no column before, and is not any more" in found["sign"].message


def test_values_that_appear_and_die_out_have_their_names():
    rng = np.random.default_rng(0)
    day = np.arange(1500)
    form = np.where(day < 700, "old", np.where(rng.random(1500) < 0.5, "new", "other"))
    found = drift.find(_study(form=form, number=np.where(day < 500, 1.0, 2.0), y=rng.integers(0, 2, 1500)))
    assert found["form"].message == "form: 2 values appear: new, other; 1 value dies out: old."
    assert found["number"].message == "number: 1 value appears: 2; 1 value dies out: 1."


def test_classes_that_change_are_about_no_column():
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < np.linspace(0.05, 0.95, 1500)).astype(int)
    found = drift.find(_study(noise=rng.normal(size=1500), y=y))
    assert found[None].column is None
    assert found[None].message.startswith("y: the shares of the classes alone make")
    assert found[None].message.endswith(
        "; 13.0 % of the first fifth of the rows are 1, and 85.3 % of the last."
    )


def test_classes_that_change_are_told_where_a_guess_errs_no_more():
    """Before the last fifth, all rows together have both classes about as often: so has any order."""
    rng = np.random.default_rng(0)
    share = np.where(np.arange(1500) < 300, 0.15, np.where(np.arange(1500) < 1200, 0.59, 0.55))
    y = (rng.random(1500) < share).astype(int)
    found = drift.find(_study(noise=rng.normal(size=1500), y=y))
    assert list(found) == [None]
    assert found[None].message == (
        f"y: {100 * y[:300].mean():.1f} % of the first fifth of the rows are 1, "
        f"and {100 * y[1200:].mean():.1f} % of the last."
    )


def test_independent_rows_and_rows_in_groups_have_none():
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=1500), "c": rng.integers(0, 5, 1500), "y": rng.integers(0, 2, 1500)}
    assert drift.find(_study(**columns)) == {}
    grouped = Study(
        {"day": np.arange(1500), "g": np.arange(1500) // 10, **columns},
        "y",
        Options(group=("g",), time="day"),
    )
    assert drift.find(grouped) == {}
    assert grouped.skipped == ["drift: its test takes rows as independent, not in groups"]
    assert drift.find(Study(columns, "y", Options())) == {}  # no time, and no order is suspected
