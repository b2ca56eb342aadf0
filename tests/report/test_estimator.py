"""`Report.estimator`: the very model of the page, for tables of every library."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from offsample.datasets import make_customers
from offsample.report import Report, report
from tests.report.test_other_models import formula


def visits(n: int) -> dict[str, object]:
    """A date, a number and a category, each missing at times, beside columns that say nothing."""
    random = np.random.default_rng(0)
    day = random.integers(0, 1000, n)
    dose = random.normal(size=n)
    ward = random.choice(["north", "south", "west"], n)
    late = (day > 500) ^ (dose > 1)
    table = {
        "noise": random.normal(size=n),
        "day": (np.datetime64("2020-01-01") + day).astype("datetime64[us]"),
        "dose": np.where(random.random(n) < 0.1, np.nan, dose),
        "ward": np.where(random.random(n) < 0.1, None, ward),
    }
    sick = (late ^ (ward == "west")) ^ (random.random(n) < 0.05)
    return {**table, "level": np.where(sick, 10, 2), "sick": sick}


def planes(n: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The xor of two oblique planes in ten columns, of which no readable model finds anything."""
    X = np.random.default_rng(0).normal(size=(n, 10))
    y = (X[:, :5].sum(axis=1) > 0) ^ (X[:, 5:].sum(axis=1) > 0)
    return {f"x{j}": X[:, j] for j in range(10)}, np.where(y, "yes", "no")


def as_polars(table: dict[str, object]) -> object:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    return polars.from_pandas(pd.DataFrame(table))


def as_arrow(table: dict[str, object]) -> object:
    arrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return arrow.Table.from_pandas(pd.DataFrame(table))


LIBRARIES = {"dict": dict, "pandas": pd.DataFrame, "polars": as_polars, "arrow": as_arrow}


def made(kind: str) -> tuple[dict[str, object], str, Report]:
    if kind == "customers":
        table, target, options = make_customers(), "churned", {"fast": True}
    elif kind in ("level", "sick"):
        table, target, options = visits(1500), kind, {"fast": True}
        table = {name: column for name, column in table.items() if name in (target, *list(table)[:4])}
    elif kind == "noise":
        random = np.random.default_rng(0)
        table = {"x": random.normal(size=200), "y": random.choice([3, 7, 7], 200)}
        target, options = "y", {"fast": True}
    else:
        X, y = planes(1000) if kind == "planes" else formula(3000, 0)
        table, target, options = {**X, "y": y}, "y", {}
    return table, target, report(table, target, **options)


@pytest.fixture(scope="module", params=["customers", "level", "sick", "noise", "planes", "formula"])
def case(request, one_column_left_out):
    return request.param, *made(request.param)


def test_it_has_exactly_the_training_error_of_the_page(case) -> None:
    _, table, target, shown = case
    truth = np.asarray(table[target])
    found = {name: shown.estimator.predict(read(table)) for name, read in LIBRARIES.items()}
    assert np.mean(found["dict"] != truth) == shown.model.training_error
    assert all(np.array_equal(one, found["dict"]) for one in found.values())


def test_classes_are_those_of_the_table(case) -> None:
    _, table, target, shown = case
    truth = np.asarray(table[target])
    estimator = shown.estimator
    assert estimator.classes_.tolist() == np.unique(truth).tolist()
    predicted = estimator.predict(table)
    assert predicted.dtype.kind == truth.dtype.kind
    shares = estimator.predict_proba(table)
    assert shares.sum(axis=1) == pytest.approx(1.0)
    if shown.model.kind == "tree":  # an oblique tree has thresholds of its own
        assert np.array_equal(estimator.classes_[shares.argmax(axis=1)], predicted)
    if shown.model.columns:
        assert roc_auc_score(truth == estimator.classes_[1], shares[:, 1]) > 0.6


def test_the_expected_kinds_were_recommended(case) -> None:
    kind, _, _, shown = case
    # A list whose rules have three tests says what the formula says.
    kinds = {"planes": "tree of oblique tests", "formula": "decision list"}
    assert shown.model.kind == kinds.get(kind, "tree")
    assert shown.model.is_constant == (kind == "noise")


def test_columns_are_picked_by_name_and_all_others_ignored(case) -> None:
    _, table, _, shown = case
    names = shown.estimator.feature_names_in_.tolist()
    assert set(shown.model.columns) <= set(names)
    assert shown.estimator.n_features_in_ == len(names)
    few = pd.DataFrame(
        {name: table[name] for name in [*reversed(names)]}, index=range(len(table[shown.target]))
    )
    few["a list"] = [[1]] * len(few)  # which no learner can read
    assert np.array_equal(shown.estimator.predict(few), shown.estimator.predict(table))
    if names:
        with pytest.raises(ValueError, match=names[-1]):
            shown.estimator.predict(few.drop(columns=names[-1]))


def test_pickled_and_cloned(case) -> None:
    _, table, target, shown = case
    estimator = shown.estimator
    again = pickle.loads(pickle.dumps(estimator))
    assert np.array_equal(again.predict_proba(table), estimator.predict_proba(table))
    refitted = clone(estimator)
    assert not hasattr(refitted, "classes_")
    if shown.model.kind == "tree":  # grown anew on the same rows, with fewer columns to choose from
        score = refitted.fit(table, np.asarray(table[target])).score(table, np.asarray(table[target]))
        assert score == pytest.approx(1 - shown.model.training_error, abs=0.03)


def test_it_is_no_part_of_the_data(case) -> None:
    _, _, _, shown = case
    assert "estimator" not in shown.to_dict()
    assert "Classifier" not in repr(shown)


def test_unseen_and_missing_values_are_predicted() -> None:
    table, _, shown = made("level")
    new = pd.DataFrame(table).head(4)
    new["ward"] = ["east", None, "north", "elsewhere"]
    new["dose"] = [np.nan, 0.0, np.inf, -1.0]
    assert set(shown.estimator.predict(new)) <= set(shown.estimator.classes_)
    assert shown.estimator.predict_proba(new).shape == (4, 2)


def test_an_array_for_a_report_on_an_array() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = ((X[:, 1] > 0) ^ (random.random(400) < 0.1)).astype(int)
    shown = report(X, y, fast=True)
    assert shown.estimator.feature_names_in_.tolist() == ["x1"]
    assert np.mean(shown.estimator.predict(X) != y) == shown.model.training_error
    assert shown.estimator.predict(X[:0]).shape == (0,)


def test_names_that_are_numbers_and_declared_categories() -> None:
    random = np.random.default_rng(0)
    plan = random.integers(0, 20, 1000)
    table = pd.DataFrame({0: random.normal(size=1000), 1: plan, "y": np.isin(plan, [3, 11, 17])})
    table["y"] ^= random.random(1000) < 0.05
    shown = report(table, "y", categorical_features=[1], fast=True)
    assert np.mean(shown.estimator.predict(table) != table["y"]) == shown.model.training_error < 0.1
    assert clone(shown.estimator).fit(table, table["y"]).score(table, table["y"]) > 0.9


def test_a_file_of_people(data_dir, tmp_path) -> None:
    table = pd.read_parquet(data_dir / "adult.parquet").head(4000)
    table.to_csv(tmp_path / "adult.csv", index=False)
    target = table.columns[-1]
    shown = report(tmp_path / "adult.csv", target, fast=True)
    assert not shown.model.is_constant
    for read in LIBRARIES.values():
        predicted = shown.estimator.predict(read({name: table[name] for name in table}))
        assert np.mean(predicted != table[target]) == shown.model.training_error


def test_of_a_number_it_has_the_intervals_of_its_tree() -> None:
    """Also where it says the median, as few rows decide the mean.

    Of one sample of 400 rows, 80 % are known to ± 2 % (a standard error); small leaves hold more.
    """
    for heavy in (False, True):
        rng = np.random.default_rng(0)
        known, new = (
            {"x": rng.uniform(size=n), "city": rng.choice(list("abc"), n), "e": rng.normal(size=n)}
            for n in (400, 4000)
        )
        for one in (known, new):
            noise = one.pop("e")
            one["y"] = np.exp(3 * noise) if heavy else 5 * one["x"] + noise
        model = report(known, "y", fast=True).estimator
        assert (len(model.columns) == 0) == heavy
        low, high = model.predict_interval(new, 0.8).T
        assert 0.8 - 3 * 0.02 < np.mean((low <= new["y"]) & (new["y"] <= high)) < 0.93
        assert (np.diff([low, model.predict(new), high], axis=0) >= 0).all()
        assert (model.predict_interval(new)[:, 1] > high).all()
