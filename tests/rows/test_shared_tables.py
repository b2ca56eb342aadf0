"""What is found in real tables, and what must not be: the whole list is printed by `shared_tables`."""

from __future__ import annotations

import numpy as np
import pytest

from offsample.rows import find_repeats, suspect_entities
from tests.rows.shared_tables import arrays_of


@pytest.mark.parametrize("name", ["car", "nursery", "mushroom", "tic_tac_toe", "solar_flare2", "zoo", "vote"])
def test_repeats_of_few_values_are_not_copies(data_dir, name) -> None:
    columns, y, _ = arrays_of(data_dir / f"{name}.parquet")
    assert not find_repeats(columns, y).are_copies


@pytest.mark.parametrize(("name", "n"), [("splice", 184), ("imbalanced/winequality-red-8_vs_6", 104)])
def test_copies_of_sequences_and_measurements_are_found(data_dir, name, n) -> None:
    columns, y, _ = arrays_of(data_dir / f"{name}.parquet")
    repeats = find_repeats(columns, y)
    assert (repeats.n_duplicates, repeats.are_copies) == (n, True)


@pytest.mark.parametrize("name", ["psid_wages", "wheeze", "cracker_choice", "pbc_visits", "labor_supply"])
def test_people_are_suspected_by_their_number(data_dir, name) -> None:
    columns, y, _ = arrays_of(data_dir / "grouped" / f"{name}.parquet")
    (entity,) = suspect_entities(columns, y)
    assert entity.names == ("id",)
    text = {**columns, "id": columns["id"].astype(int)}
    assert [entity.names for entity in suspect_entities(text, y)] == [("id",)]


@pytest.mark.parametrize("name", ["adult", "german_credit", "cmc", "mushroom"])
def test_no_person_is_seen_in_columns_about_people(data_dir, name) -> None:
    columns, y, _ = arrays_of(data_dir / f"{name}.parquet")
    assert suspect_entities(columns, y) == ()


def test_of_columns_that_all_say_something_of_each_other_none_is_an_entity(data_dir) -> None:
    """A gill's colour goes with its size, as an odour does; in whatever order colours are."""
    columns, y, _ = arrays_of(data_dir / "mushroom.parquet")
    for order in (range(12), (3, 7, 1, 0, 10, 5, 2, 8, 11, 4, 9, 6), (0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11)):
        colours = {**columns, "gill-color": np.array(order)[columns["gill-color"]]}
        assert suspect_entities(colours, y) == ()
