"""Values that name rows, and columns that only look like them."""

import numpy as np
import pandas as pd
import pytest

from offsample.report._build import look_for
from offsample.report._study import Options, Study
from offsample.report.findings import identifier
from tests.rows.generators import patients

N = 1000


def table(seed, signal=False):
    rng = np.random.default_rng(seed)
    y = rng.choice(["n", "p"], N, p=[0.7, 0.3])
    shift = (y == "p") * (1.0 if signal else 0.0)
    return {
        "text key": [f"C{i:06d}" for i in rng.permutation(N)],
        "running number": rng.permutation(N) + 10_000,
        "random key": rng.choice(2**50, N, replace=False),
        "key of pairs": [f"P{i}" for i in rng.permutation(N) // 2],
        "key with gaps": np.where(rng.random(N) < 0.05, np.nan, rng.permutation(N).astype(float)),
        "measurement": rng.normal(size=N) + shift,
        "cents": np.round((rng.lognormal(8, 1, N) + 500 * shift) * 100).astype(int),
        "date": pd.Series(pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.permutation(N), unit="h")),
        "levels": rng.integers(0, 1000, N).astype(str),
        "few": rng.choice(list("abc"), N),
        "y": y,
    }


@pytest.mark.parametrize("seed", range(5))
def test_keys_are_found_and_nothing_else(seed):
    found = identifier.find(Study(table(seed, signal=True), "y", Options()))
    assert set(found) == {"text key", "running number", "random key", "key of pairs", "key with gaps"}


@pytest.mark.parametrize("metric", ["error", "auc"])
def test_the_error_is_told_where_the_page_is_about_it(metric):
    told = identifier.find(Study(table(0), "y", Options(metric=metric)))["text key"].message
    assert ("the error rises from 0 % in training" in told) == (metric == "error")
    assert told.endswith("on new rows.")


def test_a_number_without_repetitions_is_a_quantity_if_its_order_says_something():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    wide = rng.choice(2**50, N, replace=False)
    ordered = np.sort(wide)[np.argsort(np.argsort(y + rng.normal(0, 0.5, N)))]
    found = identifier.find(Study({"wide": wide, "ordered": ordered, "y": y}, "y", Options()))
    assert set(found) == {"wide"}


def test_whole_numbers_that_are_not_spread_evenly_are_quantities():
    rng = np.random.default_rng(0)
    cents = np.unique(np.round(rng.lognormal(8, 1, N) * 1e6).astype(int))
    assert identifier.find(Study({"cents": cents, "y": rng.integers(0, 2, len(cents))}, "y", Options())) == {}


def test_running_numbers_in_a_sorted_file_are_identifiers_though_they_predict():
    y = np.repeat(["n", "p"], N // 2)
    study = Study({"row": np.arange(N), "y": y}, "y", Options())
    assert study.ranking["row"].significant
    assert set(identifier.find(study)) == {"row"}


def test_a_small_table_has_no_identifiers():
    study = Study({"x": [f"v{i}" for i in range(10)], "y": [0, 1] * 5}, "y", Options())
    assert identifier.find(study) == {}


def test_what_rows_belong_to_is_no_leak():
    """A patient's number as text predicts the class of all known patients, by coin, and of no new one."""
    columns, y = patients(np.random.default_rng(0), 40, 20)
    study = Study({**columns, "nr": [f"P{int(nr)}" for nr in columns["nr"]], "y": y}, "y", Options())
    look_for(("identifier", "leak"), study)
    (finding,) = study.findings.values()
    assert (finding.code, finding.column) == ("identifier", "nr")
    assert "rows seem to belong to its 40 values, 20 to each" in finding.message
    code = Study({"code": [f"c{k}" for k in y], "x": columns["x0"], "y": y}, "y", Options())
    look_for(("identifier", "leak"), code)
    assert [finding.code for finding in code.findings.values()] == ["leak"]
