import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offsample.datasets import make_customers
from offsample.induction import TreeClassifier, TreeRegressor
from offsample.margin import sufficient, sufficient_columns
from offsample.margin._number import nested_losses, nested_sizes, smallest_as_good
from offsample.margin._space import scale_columns
from offsample.tables import TableEncoder


@pytest.fixture(scope="module")
def xor():
    X = np.random.default_rng(0).uniform(-1, 1, (400, 6))
    return X, np.where(X[:, 1] * X[:, 4] > 0, "even", "odd")


@pytest.mark.parametrize("method", sufficient.METHODS)
def test_finds_what_is_needed(xor, method):
    result = sufficient_columns(*xor, method=method)
    assert set(result.chosen) == {"x1", "x4"}
    assert result.n_chosen == 2
    assert result.stability == 1
    assert [c.share for c in result.columns] == [1, 1, 0, 0, 0, 0]
    error = {size.n_columns: size.error for size in result.sizes}
    assert error[2] < 0.1 < error[1]
    assert error[2] < error[6]
    assert result.n_used == result.n_samples == 400


def test_noise_is_not_made_to_look_good():
    # Selection must not see the rows that are scored: on 60 rows of 100 columns of noise, the best few seem
    # to predict very well where it does.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 100)), np.arange(60) % 2
    result = sufficient_columns(X, y, n_resamples=2)
    errors = np.array([size.error for size in result.sizes])
    assert 0.35 < errors.mean() < 0.65


def test_nearest_class_equals_a_plain_search():
    rng = np.random.default_rng(2)
    table = {"a": rng.random(50), "b": rng.choice(["u", "v", "w"], 50), "c": rng.integers(0, 3, 50) / 2}
    labels, order = rng.integers(0, 3, 50), np.array([1, 2, 0])
    encoder = TableEncoder()
    encoder.fit(table)
    both = scale_columns(encoder, encoder.transform(table), "minmax", 40)[0]
    wrong = nested_losses(both, labels[:40], labels[40:], order, [1, 2, 3], matched=True)
    numbers = labels / 2
    squares = nested_losses(both, numbers[:40], numbers[40:], order, [1, 2, 3], matched=True)
    columns = both.values
    typical = [np.mean((c[:40, None] - c[:40]) ** 2) for c in (columns[0], columns[2])]
    step = np.mean(typical) / np.mean(columns[1, :40, None] != columns[1, :40])
    for n in (1, 2, 3):
        for t in range(40, 50):
            distances = sum(
                step * (columns[f, t] != columns[f, :40])
                if f == 1
                else (columns[f, t] - columns[f, :40]) ** 2
                for f in order[:n]
            )
            near = np.isclose(distances, distances.min(), rtol=0, atol=1e-12)
            assert wrong[n - 1, t - 40] == (np.bincount(labels[:40][near]).argmax() != labels[t])
            assert squares[n - 1, t - 40] == pytest.approx((numbers[:40][near].mean() - numbers[t]) ** 2)


def test_tables_of_any_kind_and_a_model():
    table = make_customers(600)
    y = table.pop("churned")
    frame = pd.DataFrame(table)
    model = TreeClassifier(random_state=0)
    results = [
        sufficient_columns(t, y, classifier=model, n_folds=3, n_resamples=2)
        for t in (table, frame, pl.from_pandas(frame))
    ]
    first = results[0]
    assert first.judged_by == "model"
    assert first.chosen == ["exit_survey_sent"]
    assert all(0 < size.model_error < 0.5 for size in first.sizes)
    for other in results[1:]:
        assert other.to_dict() == first.to_dict()
    assert json.loads(json.dumps(first.to_dict()))["columns"][0]["name"] == "exit_survey_sent"
    assert len(first.to_frame()) == len(first.sizes)
    assert repr(first).startswith("1 of 11 columns suffice, by relief on 600 rows (error of the model;")


def test_sample_of_rows_and_seed():
    table = make_customers(3000)
    y = table.pop("churned")
    options = {"max_rows": 300, "n_folds": 2, "n_resamples": 2}
    one, again, other = (sufficient_columns(table, y, random_state=seed, **options) for seed in (0, 0, 1))
    assert one.n_samples == 3000
    assert 295 <= one.n_used <= 300
    assert "of 3,000 rows" in repr(one)
    assert one.to_dict() == again.to_dict() != other.to_dict()


def test_one_standard_error_rule():
    wrong = np.zeros((4, 100))
    for size, n_wrong in enumerate((60, 24, 22, 20)):
        wrong[size, :n_wrong] = 1
    assert smallest_as_good(wrong) == 1  # .24 is within .20 + .04, .60 is not


def test_sizes():
    assert nested_sizes(3) == [1, 2, 3]
    many = nested_sizes(5000)
    assert many[:10] == list(range(1, 11))
    assert many[-1] == 5000
    assert len(many) <= 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "method must be one of 'simba', 'gflip', 'relief', got 'best'"),
        ({"max_rows": 5}, "max_rows must be at least 10, got 5"),
        ({"n_folds": 1}, "n_folds must be at least 2, got 1"),
    ],
)
def test_bad_parameters(xor, options, message):
    with pytest.raises(ValueError, match=message):
        sufficient_columns(*xor, **options)


def test_too_few_rows_of_a_class():
    with pytest.raises(ValueError, match="expected two rows of two classes at least"):
        sufficient_columns(np.eye(5), [0, 0, 0, 0, 1])


def test_no_column_of_noise_is_said_to_suffice():
    """Of 40 tables of noise no more than 5 may be mistaken at a level of 5 % (one in a hundred has more)."""
    mistaken = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        table = {f"x{j}": rng.normal(size=150) for j in range(6)}
        mistaken += sufficient_columns(table, rng.integers(0, 2, 150), n_resamples=2).n_chosen > 0
    assert mistaken <= 5


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, lambda X: {f"c{i}": X[:, i] for i in range(4)}])
def test_columns_that_are_equal_in_every_row_are_one(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = np.column_stack(
        [rng.normal(size=120), y + rng.normal(0, 0.3, 120), np.zeros(120), rng.normal(size=120)]
    )
    X[:, 2] = X[:, 1]
    X[5, :3] = np.nan
    result = sufficient_columns(kind(X), y, n_resamples=2, classifier=None)
    names = [column.name for column in result.columns]
    assert len(names) == 3
    assert len(result.copies) == 1
    ((copy, original),) = result.copies.items()
    assert (str(copy)[-1], str(original)[-1]) == ("2", "1")
    assert copy not in names
    assert result.chosen == [original]
    # the third column is still found under its own name
    assert [str(name)[-1] for name in sorted(names, key=str)] == ["0", "1", "3"]


def test_columns_that_suffice_for_new_groups():
    rng = np.random.default_rng(7)
    of = rng.permutation(np.repeat(np.arange(40), 10))
    y = rng.permutation(np.arange(40) % 2)[of]
    alike = {f"alike{i}": rng.normal(size=40)[of] + 0.01 * rng.normal(size=400) for i in range(2)}
    table = pd.DataFrame({**alike, "group": [f"g{g:02}" for g in of], "hint": y + 0.4 * rng.normal(size=400)})
    options = {"n_folds": 4, "n_resamples": 2}
    assert sufficient_columns(table, y, **options).sizes[-1].error < 0.05
    found = sufficient_columns(table, y, group="group", **options)
    assert found.chosen == ["hint"]
    assert "group" not in [column.name for column in found.columns]
    without = table.drop(columns="group")
    assert sufficient_columns(without, y, group=of, **options).to_dict() == found.to_dict()
    columns = {name: without[name].to_numpy() for name in without}
    assert sufficient_columns(columns, y, group=list(of), **options).sizes == found.sizes
    noise = sufficient_columns(table, y, group=["group"], **options).sizes[-1]
    assert noise.standard_error > 0.03  # of forty groups
    with pytest.raises(ValueError, match="group 'grup' is not a column of the table: did you mean 'group'"):
        sufficient_columns(table, y, group="grup")
    crossed = sufficient_columns(table.assign(item=np.arange(400) % 7), y, group=["group", "item"], **options)
    assert {column.name for column in crossed.columns} == {"alike0", "alike1", "hint"}
    assert crossed.columns[0].name == "hint"
    assert crossed.sizes[0].error < 0.3
    assert crossed.sizes[-1].error > 0.15  # where rows of the same group are known it is below 0.05


def test_columns_that_suffice_for_later_rows():
    rng = np.random.default_rng(8)
    x, time = rng.normal(size=(300, 2)), np.arange(300)
    y = np.where(time < 150, 1, -1) * x[:, 0] > 0  # turned around in the middle
    table = {"x": x[:, 0], "noise": x[:, 1], "day": time}
    found = sufficient_columns(table, y, time="day", n_folds=3, n_resamples=2)
    assert [column.name for column in found.columns if column.name == "day"] == []
    assert found.sizes[0].error > 0.45
    assert found.n_chosen == 0


def test_of_numbers_errors_are_shares_of_the_variance():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(300, 5))
    y = 1000 + 30 * X[:, 1] * np.sign(X[:, 3]) + 3 * rng.normal(size=300)  # one says nothing alone
    found = sufficient_columns(X, y, n_resamples=2)
    assert sorted(found.chosen) == ["x1", "x3"]
    assert (found.task, found.baseline_error) == ("regression", 1.0)
    assert found.sizes[1].error < 0.3 < found.sizes[0].error
    model = sufficient_columns(X, y, n_resamples=2, classifier=TreeRegressor(max_splits=10))
    assert model.sizes[1].model_error < 0.5
    assert sufficient_columns(X, rng.normal(size=300), n_resamples=2).not_shown.startswith(
        "guessing the mean"
    )
    with pytest.raises(ValueError, match="'simba' is for classes"):
        sufficient_columns(X, y, method="simba")
