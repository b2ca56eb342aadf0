"""The ceiling: what strong models reach on the same rows, and what it costs to read."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from offsample.report import report
from offsample.report._formats import quantity
from offsample.report._metrics import METRICS, Rated, pair_losses
from offsample.report._numbers import NumberStudy, RatedNumbers
from offsample.report._study import Options, Study
from offsample.report._units import folds_factor
from offsample.report.sections import reference
from offsample.report.sections.reference import _closeness, ahead


def additive(n=600, seed=0):
    """Many columns that add up: a tree to read uses a few of them only."""
    random = np.random.default_rng(seed)
    table = {f"x{j}": random.normal(size=n) for j in range(9)}
    score = sum(table.values()) + random.normal(size=n)
    return {**table, "noise": random.integers(0, 3, n).astype(str), "y": np.where(score > 0, "yes", "no")}


@cache
def additive_report(**options):
    return report(additive(), "y", max_size=2, **options)


def test_a_model_that_is_far_ahead_is_named_with_the_columns_that_it_uses():
    found = additive_report()
    reference = found.reference
    assert reference.low < reference.error < reference.high < found.verdict.low
    assert reference.cost_of_reading == pytest.approx(found.model.validated_error - reference.error)
    assert 0 < reference.cost_low < reference.cost_of_reading < reference.cost_high
    assert reference.is_far_ahead
    assert len(reference.columns) >= 3
    assert not {"noise", *found.verdict.columns} & set(reference.columns)
    assert "to be readable costs" in reference.sentence
    assert reference.sentence in found.to_markdown().replace("\\", "")
    assert reference.name == "logistic regression"  # columns that add up are what it is for
    assert "logistic regression, not to be read" in found.to_html()
    assert found.to_dict()["reference"]["cost_of_reading"] == reference.cost_of_reading


def test_a_rule_that_can_be_read_loses_nothing():
    random = np.random.default_rng(1)
    x = random.normal(size=(400, 2))
    table = {f"x{j}": x[:, j] for j in range(2)} | {"y": (x[:, 0] > 0) ^ (random.random(400) < 0.1)}
    reference = report(table, "y", max_size=2).reference
    assert reference.cost_low <= 0
    assert not reference.is_far_ahead
    assert not reference.columns
    assert "not shown to cost" in reference.sentence or "is ahead of it" in reference.sentence


def test_noise_is_noise_to_boosting_too_and_a_part_may_have_one_class():
    random = np.random.default_rng(0)
    table = {"x": random.normal(size=60), "shop": np.arange(60) // 20, "y": np.arange(60) < 20}
    found = report(table, "y", group="shop", max_size=2)
    assert not found.verdict.columns
    assert found.reference.cost_low <= 0
    assert "not shown to know more than the class shares either" in found.reference.sentence


def test_a_column_may_have_no_value_before_some_day():
    """Models of the first part of the time have nothing to learn from it."""
    rng = np.random.default_rng(0)
    day, x = np.arange(300), rng.normal(size=300)
    late = np.where(day < 150, np.nan, rng.normal(size=300))
    found = report({"x": x, "late": late, "day": day, "y": x + rng.normal(size=300) > 0}, "y", time="day")
    assert 0.1 < found.reference.error < 0.4


def test_it_is_left_out_when_asked_and_the_page_says_why_otherwise():
    table = additive(100)
    asked = report(table, "y", max_size=2, reference=False)
    assert asked.reference is None
    assert not any("opaque" in one for one in asked.method.skipped)
    fast = report(table, "y", max_size=2, fast=True)
    assert fast.reference is None
    assert any("opaque model is ahead: a fast report does without" in one for one in fast.method.skipped)


def test_the_difference_of_two_areas_varies_as_by_delong():
    """Against the placements of positives among negatives, and of these, that are the same rows for both."""
    random = np.random.default_rng(0)
    labels, p = (random.random(400) < 0.1).astype(int), random.random(400)
    other = p + 0.3 * random.random(400)

    def parts(p):
        proba = np.stack([-p, p], axis=1)
        return METRICS["auc"].parts(Rated(proba, labels, labels, np.zeros(400, int), [], 5, 1), None)

    (value, of_one), (_, of_other) = parts(p), parts(other)
    assert value == pytest.approx(roc_auc_score(labels, p))
    above = [np.greater.outer(score[labels == 1], score[labels == 0]) for score in (p, other)]
    differing = above[1].astype(float) - above[0]
    variance = sum(differing.mean(axis=k).var() / differing.shape[1 - k] for k in (0, 1))
    assert ((of_other - of_one) ** 2).sum() == pytest.approx(variance)


def test_pairs_of_several_folds_vary_between_folds():
    """One positive in each of ten folds: within a fold nothing varies, but the area does between them."""
    random = np.random.default_rng(0)
    fold = np.repeat(np.arange(10), 20)
    positive = np.tile(np.arange(20) == 0, 10)
    score = random.random(200)
    losses = pair_losses(score, positive, fold)
    each = [1 - roc_auc_score(positive[fold == f], score[fold == f]) for f in range(10)]
    assert losses.mean() == pytest.approx(np.mean(each))
    assert losses.std() / np.sqrt(200) > 0.8 * np.std(each) / np.sqrt(10)


def test_of_numbers_the_ceiling_is_in_their_units_as_the_headline():
    random = np.random.default_rng(1)
    area, city = random.uniform(20, 200, 400), random.choice(["Oslo", "Rome", "Bonn"], 400)
    price = area * np.where(city == "Oslo", 3200, 2000) * np.exp(0.15 * random.normal(size=400))
    found = report({"area": area, "city": city, "price": price}, "price", max_size=5)
    reference, off = found.reference, found.reference.mean_absolute_error
    assert off.low < off.value < off.high
    assert reference.cost_of_reading == pytest.approx(found.verdict.mean_absolute_error - off.value)
    assert 0 < reference.cost_low < reference.cost_of_reading < reference.cost_high
    assert f"is off by {quantity(off.value)} on average (" in reference.sentence
    assert f"to be readable costs {quantity(reference.cost_of_reading)} on average (" in reference.sentence


def test_numbers_that_add_up_have_a_linear_rival():
    table = {**additive(), "y": None}
    table["y"] = sum(table[f"x{j}"] for j in range(9)) + np.random.default_rng(2).normal(size=600)
    found = report(table, "y", max_size=2).reference
    assert found.name == "ridge regression"
    assert found.mean_absolute_error.low < np.sqrt(2 / np.pi) * 1.02 < found.mean_absolute_error.high
    assert found.is_far_ahead
    assert "ridge regression, is off by" in found.sentence


def test_errors_in_units_are_paired_row_by_row():
    random = np.random.default_rng(0)
    numbers, noise = random.normal(size=(2, 500))
    rated = RatedNumbers(numbers + noise, np.zeros(500), numbers, np.arange(500) % 5, [], 5)
    closer = replace(rated, predicted=numbers + 0.8 * noise + 0.01)
    study = SimpleNamespace(metric=METRICS["r2"], costs=None)
    gain, deviation = ahead(study, rated, closer, _closeness)
    fewer = np.abs(noise) - np.abs(0.8 * noise + 0.01)
    assert gain == pytest.approx(fewer.mean())
    assert deviation == pytest.approx(fewer.std() / np.sqrt(500) * np.sqrt(folds_factor(5)), rel=0.01)


def test_few_groups_cannot_tell_how_far_it_is_ahead():
    table = additive(240) | {"shop": np.arange(240) % 6}
    found = report(table, "y", group="shop", max_size=2)
    assert found.verdict.columns
    assert "nobody can know by how much" in found.reference.sentence
    assert "(" not in found.reference.sentence
    assert not found.reference.is_far_ahead


@pytest.mark.parametrize("of_numbers", [False, True])
def test_boosting_is_told_the_columns_that_say_most_of_the_rows_that_it_learns_from(monkeypatch, of_numbers):
    random, n = np.random.default_rng(3), 60
    label = random.integers(0, 3, n)
    table = {f"noise{j}": random.normal(size=n) for j in range(6)}
    table |= {"name": [f"v{i}" for i in range(n)], "shade": random.integers(0, 2, n) + 2 * (label == 2)}
    table |= {"size": label + random.normal(size=n), "two": random.integers(0, 2, n).astype(str)}
    y = label + random.normal(size=n) if of_numbers else np.array(list("abc"))[label]
    study = (NumberStudy if of_numbers else Study)({**table, "y": y}, "y", Options())
    features, rows = list(table), np.sort(random.permutation(n)[:40])
    target = study.outcome[:, None] if of_numbers else np.eye(3)[study.outcome]

    def lost(cells):
        total = 0.0
        for i in rows:
            others = [j for j in rows if j != i and cells[j] == cells[i]]
            alone = 2 * (target[rows] - target[rows].mean(axis=0) * of_numbers) ** 2
            apart = target[i] - target[others].mean(axis=0) if others else 0.0
            # n / (n - 1) times the squares about the mean are those about the others, times (n - 1) / n
            n_cell = len(others) + 1
            total += (apart**2).sum() * (n_cell - 1) / n_cell if others else alone.sum(axis=1).mean()
        return total

    expected = np.argsort([lost(study.cells(name)[0]) for name in features], kind="stable")
    for most in (2, 5):
        monkeypatch.setattr(reference, "MOST_COLUMNS", most)
        assert reference._telling(study, rows, features) == sorted(expected[:most].tolist())
    X = np.column_stack([study.encoded[name] for name in features]).astype(float)
    X[:, [i for i in range(len(features)) if i not in expected[:5]]] = 0.0  # what it does not look at
    model = reference.fitted(study, X, rows, features)
    assert model[-1].n_features_in_ == 5
    assert reference._says(study, model, X).shape == ((n,) if of_numbers else (n, 3))


def test_of_one_column_nothing_is_added_up():
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    found = report({"x": x, "y": x + random.normal(size=200)}, "y", max_size=2).reference
    assert (found.name, found.is_far_ahead, found.columns) == ("ridge regression", True, ())
    assert found.sentence.endswith(" It weighs the column, where a tree cuts.")


def test_the_columns_that_it_uses_are_told_by_how_far_it_is_off():
    """A far row decides all squares, and no column could be shown to matter by these."""
    random = np.random.default_rng(1)
    table = {"a": random.normal(size=200), "b": random.normal(size=200)}
    y = table["a"] + table["b"] + 0.3 * random.normal(size=200)
    y[0] = 400
    study = NumberStudy({**table, "y": y}, "y", Options())
    X = np.column_stack(list(table.values()))
    models = [SimpleNamespace(predict=lambda X: X.sum(axis=1)) for _ in study.folds]
    rated = study.rating([X.sum(axis=1)], np.ones(200, bool), [], len(models))
    assert reference._used(study, X, models, rated, [0, 1]) in ([0, 1], [1, 0])
