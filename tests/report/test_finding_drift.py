"""Drift: columns that stop working, values that appear or die out, classes that change."""

import numpy as np
import pandas as pd

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


def _dies(rate, n_rows=3000):
    """A column that tells the rare class until the last fifth."""
    rng = np.random.default_rng(0)
    signal, day = rng.normal(size=n_rows), np.arange(n_rows)
    odds = rate * np.exp(np.where(day < 0.8 * n_rows, 1.4 * signal - 0.9, 0.0))
    y = (rng.random(n_rows) < odds / (1 + odds)).astype(int)
    return {"day": day, "signal": signal, "noise": rng.normal(size=n_rows), "y": y}


def test_a_column_that_stopped_telling_a_rare_class():
    table = _dies(0.08)
    found = drift.find(Study(table, "y", Options(time="day")))
    assert list(found) == ["signal"]
    assert found["signal"].message.startswith(
        "signal: if both classes count alike, by itself it makes 49.9 %"
    )
    assert "it was better than no column before, and is not any more" in found["signal"].message
    by_error = drift.find(Study(table, "y", Options(time="day", metric="error")))["signal"].message
    assert "alike" not in by_error
    assert "any more" not in by_error  # of the class that is frequent it still errs less


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


def test_independent_rows_have_none():
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=1500), "c": rng.integers(0, 5, 1500), "y": rng.integers(0, 2, 1500)}
    assert drift.find(_study(**columns)) == {}
    assert drift.find(Study(columns, "y", Options())) == {}  # no time, and no order is suspected


def test_it_is_looked_for_with_groups_too():
    """A column that stopped working, a class that changed, and a value that came: of all shops."""
    rng = np.random.default_rng(0)
    day = np.arange(1500)
    y = (rng.random(1500) < np.where(day < 700, 0.3, 0.7)).astype(int)
    table = {
        "day": day,
        "shop": rng.integers(0, 50, 1500),
        "sign": np.where(day < 1000, y, rng.integers(0, 2, 1500)),
        "form": np.where((day < 700) | (rng.random(1500) < 0.5), "old", "new"),
        "y": y,
    }
    study = Study(table, "y", Options(group=("shop",), time="day"))
    found = drift.find(study)
    assert found["sign"].message.startswith("sign: by itself it makes")
    assert found["form"].message.endswith("1 value appears: new.")
    assert "of the first fifth of the rows are" in found[None].message
    assert study.skipped == []


def test_parts_of_a_suspected_date_and_months_come_again():
    """In two years June and July are in neither end of the rows, January not in the last part of them."""
    rng = np.random.default_rng(0)
    when = pd.date_range("2022-01-01", "2023-12-31").repeat(3)
    y = np.where(np.arange(len(when)) < 1500, rng.random(len(when)) < 0.2, rng.random(len(when)) < 0.8)
    table = pd.DataFrame({"when": when, "month": when.month_name(), "y": y.astype(int)})
    table["season"] = np.where(np.abs(np.arange(len(when)) - 1000) < 300, "fair", "none")
    found = drift.find(Study(table, "y", Options()))
    assert found["season"].message.endswith("1 value comes and goes: fair.")
    assert [name for name, one in found.items() if "value" in one.message] == ["season"]
