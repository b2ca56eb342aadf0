"""Patients whose number is not in the table, by how close their rows lie; a longer run is beside."""

from __future__ import annotations

import numpy as np
import pytest

from offsample.report import report
from offsample.rows import suspect_clusters
from tests.rows.clusters import KINDS, mixture, patients, share
from tests.rows.shared_tables import arrays_of


@pytest.mark.parametrize(("n_patients", "n_each", "noise"), [(60, 40, 0.2), (60, 40, 0.02), (200, 10, 0.1)])
def test_patients_without_a_number_are_found(n_patients, n_each, noise) -> None:
    columns, y = patients(noise, n_patients, n_each)(np.random.default_rng(9))
    found = suspect_clusters(columns, y)
    assert found is not None
    assert found.columns == tuple(columns)
    assert n_patients / 2.5 <= found.n_clusters <= 2.5 * n_patients
    assert found.error_known < 0.2
    assert 0.4 < found.error_new < 0.6


def test_honest_tables_have_no_clusters() -> None:
    found = [share(make, 2, seed=9) for make in KINDS.values()]
    assert np.mean(found) <= 0.05


def test_what_is_not_found() -> None:
    """The limits that `docs/new-rows.md` names."""
    assert share(patients(0.5), 3) == 0
    assert share(patients(0.1, n_varying=3), 3) == 0
    assert share(mixture(60), 8) > 0.2  # the same table, though rows are independent


@pytest.mark.parametrize("name", ["wine", "glass", "vowel", "ionosphere"])
def test_separated_classes_are_no_clusters(data_dir, name) -> None:
    columns, y, _ = arrays_of(next(data_dir.rglob(f"{name}.parquet")))
    assert suspect_clusters(columns, y) is None


@pytest.mark.parametrize("columns_of", [{}, {"x": [0.1, 0.2, 0.3]}, {"x": [np.nan] * 30, "z": [1.0] * 30}])
def test_too_little_to_ask_of(columns_of) -> None:
    columns = {name: np.array(column) for name, column in columns_of.items()}
    n_rows = len(next(iter(columns.values()), []))
    assert suspect_clusters(columns, np.zeros(n_rows, np.int64)) is None


def test_the_page_asks() -> None:
    columns, y = patients(0.2, 50, 12)(np.random.default_rng(1))
    found = report({**columns, "sick": y}, "sick", fast=True)
    (question,) = found.rows.questions
    assert question.code == "suspected_group"
    assert "tight clusters in x0, x1" in question.message
    assert "Is a new row one of a new cluster?" in found.to_markdown()
    assert "Is a new row one of a new cluster?" in found.to_html()
    assert found.rows.suspected_groups == ()
