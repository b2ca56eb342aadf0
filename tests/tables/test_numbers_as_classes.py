"""A target of many numbers is taken as classes, and that is said."""

import warnings

import numpy as np
import pytest

from offsample import rank_features
from offsample.tables import open_table


def target(n_values, kind):
    return np.arange(4 * n_values).astype(kind) % n_values


@pytest.mark.parametrize(
    "y", [target(32, np.int64), target(40, np.float64), target(50, np.float64) / 2, target(99, np.uint8)]
)
def test_it_is_said(y):
    with pytest.warns(
        UserWarning, match=r"target 'y' holds \d+ different numbers, and each is taken as a class"
    ):
        rank_features({"x": np.arange(len(y)) % 3, "y": y}, "y", task="classification")


@pytest.mark.parametrize(
    "y", [target(31, np.int64), target(200, np.int64).astype(str), target(2, np.int64).astype(bool)]
)
def test_few_numbers_and_names_are_classes(y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rank_features({"x": np.arange(len(y)) % 3, "y": y}, "y", task="classification")


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_engines_say_it_too(tmp_path, engine):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{i % 3},{i % 60}\n" for i in range(240)))
    with (
        pytest.warns(UserWarning, match="60 different numbers"),
        open_table(tmp_path / "t.csv", "y", engine=engine),
    ):
        pass
