"""Drift: columns that stop working, classes that change."""

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
    """A column that stopped working, and a class that changed: of all shops."""
    rng = np.random.default_rng(0)
    day = np.arange(1500)
    y = (rng.random(1500) < np.where(day < 700, 0.3, 0.7)).astype(int)
    table = {
        "day": day,
        "shop": rng.integers(0, 50, 1500),
        "sign": np.where(day < 1000, y, rng.integers(0, 2, 1500)),
        "y": y,
    }
    study = Study(table, "y", Options(group=("shop",), time="day"))
    found = drift.find(study)
    assert found["sign"].message.startswith("sign: by itself it makes")
    assert "of the first fifth of the rows are" in found[None].message
    assert study.skipped == []
