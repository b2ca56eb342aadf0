"""Suspected entities: alikeness by its definition, and the questions that are asked and not asked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import rankdata

from offsample.rows import alikeness, suspect_entities
from offsample.rows._alikeness import merged_alikeness
from offsample.rows._entities import _some_groups
from tests.rows.generators import cities, patients
from tests.rows.shared_tables import arrays_of


def disagreement(rows: np.ndarray) -> float:
    """Mean over pairs of rows: whether they differ, or half the squared difference."""
    pairs = list(combinations(rows.tolist(), 2))
    if rows.dtype.kind == "f":
        return float(np.mean([(a - b) ** 2 / 2 for a, b in pairs]))
    return float(np.mean([a != b for a, b in pairs]))


@pytest.mark.parametrize("numeric", [False, True])
def test_alikeness_compares_pairs_of_rows(numeric) -> None:
    random = np.random.default_rng(4)
    for _ in range(20):
        group = random.integers(0, 8, 30)
        column = random.integers(0, 4, 30) + (0.0 if numeric else 0)
        ranks = rankdata(column) / 30 if numeric else column
        kept = np.bincount(group)[group] > 1
        of_row = [disagreement(ranks[group == g]) for g in group[kept]]
        expected = 1 - np.mean(of_row) / disagreement(ranks[kept])
        assert alikeness(group, column)[0] == pytest.approx(expected)


@pytest.mark.parametrize("n_each", [2, 10])
@pytest.mark.parametrize("kind", ["numbers", "few", "many"])
def test_p_values_of_groups_that_say_nothing_have_the_right_size(kind, n_each) -> None:
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(30), n_each)
    draw = {
        "numbers": lambda: random.exponential(size=len(group)),
        "few": lambda: random.integers(0, 3, len(group)),
        "many": lambda: random.zipf(2.0, len(group)) % 100,
    }[kind]
    p_values = np.array([alikeness(group, draw())[1] for _ in range(1500)])
    assert (p_values <= 0.05).mean() <= 0.065
    assert (p_values <= 0.01).mean() <= 0.02


def test_nothing_is_alike_in_single_rows_or_in_a_constant() -> None:
    assert alikeness(np.arange(5), np.arange(5)) == (0.0, 1.0)
    assert alikeness(np.arange(6) // 2, np.ones(6)) == (0.0, 1.0)


def test_patients_are_suspected_by_their_number_with_the_harm() -> None:
    (entity,) = suspect_entities(*patients(np.random.default_rng(0)))
    assert entity.names == ("nr",)
    assert (entity.n_groups, entity.rows_per_group, entity.missing_mass) == (60, 40.0, 0.0)
    assert entity.error_known == 0.0
    assert entity.error_new == pytest.approx(0.5, abs=0.13)  # two standard errors of sixty coin flips
    assert entity.harm == entity.error_new
    assert entity.class_alikeness == 1.0


def test_a_number_as_text_is_suspected_too() -> None:
    columns, y = patients(np.random.default_rng(1))
    columns["nr"] = np.random.default_rng(2).permutation(60)[columns["nr"].astype(int)]
    assert [entity.names for entity in suspect_entities(columns, y)] == [("nr",)]


def test_a_pair_of_columns_names_the_patients_of_clinics() -> None:
    columns, y = patients(np.random.default_rng(3), n_patients=240, n_each=10)
    number = columns.pop("nr").astype(int)
    columns |= {"clinic": number % 12, "bed": number // 12}
    (entity,) = suspect_entities(columns, y)
    assert set(entity.names) == {"clinic", "bed"}
    assert entity.n_groups == 240


def test_a_person_that_is_seen_once_in_a_year_is_suspected_by_that() -> None:
    random = np.random.default_rng(6)
    person = np.repeat(np.arange(200), 5)
    columns = {"person": person, "year": np.tile(np.arange(5), 200)}
    y = (random.random(1000) < random.random(200)[person]).astype(int)
    order = random.permutation(1000)
    (entity,) = suspect_entities({name: column[order] for name, column in columns.items()}, y[order])
    assert (entity.names, entity.crossed) == (("person",), ("year",))


def test_cities_ages_and_hours_are_honest_columns() -> None:
    for seed in range(5):
        assert suspect_entities(*cities(np.random.default_rng([3, seed]))) == ()


def test_of_many_rows_some_groups_are_drawn() -> None:
    columns, y = patients(np.random.default_rng(0), n_patients=600)
    assert [entity.names for entity in suspect_entities(columns, y)] == [("nr",)]
    group = np.append(np.zeros(30_000, np.int64), np.repeat(np.arange(1, 5001), 4))
    kept = _some_groups(group)
    size = np.bincount(group[kept], minlength=5001)
    assert 8000 < len(kept) < 12_000
    assert size[0] < 1200  # about a tenth
    assert set(size[1:]) == {0, 4}  # whole groups


def test_a_class_that_a_carried_column_explains_is_not_carried() -> None:
    """Cities of five regions that decide the class: a region is all that a city has."""
    random = np.random.default_rng(2)
    city = random.integers(0, 60, 3000)
    region = random.integers(0, 5, 60)[city]
    y = random.random(3000) < np.array([0.05, 0.25, 0.5, 0.75, 0.95])[region]
    columns = {"city": city, "region": region, "age": random.integers(18, 90, 3000).astype(float)}
    assert suspect_entities(columns, y.astype(int)) == ()


def test_quantities_that_belong_to_an_entity_are_none() -> None:
    """The height of a person to the millimetre tells people apart as well as their number does."""
    random = np.random.default_rng(1)
    person = random.permutation(np.repeat(np.arange(80), 10))
    height, sex, town, sick = random.normal(size=80), *random.integers(0, [[2], [6], [2]], (3, 80))
    columns = {"height": height[person], "sex": sex[person], "town": town[person], "hour": random.random(800)}
    assert [entity.names for entity in suspect_entities(columns, sick[person])] == [("height",)]
    with_number = {**columns, "nr": random.permutation(80)[person].astype(float)}
    assert [entity.names for entity in suspect_entities(with_number, sick[person])] == [("nr",)]


@pytest.mark.parametrize("seed", range(6))
def test_a_city_with_its_postal_codes_and_its_region_is_an_honest_column(seed) -> None:
    """Each determines the next, and the class depends on the place: all of them come again."""
    random = np.random.default_rng([7, seed])
    postal = random.integers(0, 240, 3000)
    city = random.integers(0, 60, 240)[postal]
    columns = {"postal": postal, "city": city, "region": random.integers(0, 8, 60)[city]}
    columns |= {"age": random.integers(18, 90, 3000).astype(float), "job": random.integers(0, 12, 3000)}
    chance = 1 / (1 + np.exp(-2 * random.normal(size=60)[city] - 0.5 * random.normal(size=240)[postal]))
    assert suspect_entities(columns, (random.random(3000) < chance).astype(int)) == ()


def test_people_of_whom_every_second_is_left_out_still_carry_the_class(data_dir) -> None:
    columns, y, _ = arrays_of(data_dir / "grouped" / "cracker_choice.parquet")
    kept = np.isin(columns["id"], np.unique(columns["id"])[::2])
    (entity,) = suspect_entities({name: column[kept] for name, column in columns.items()}, y[kept])
    assert entity.names == ("id",)


def test_neighbours_count_whatever_their_rows() -> None:
    """By all pairs of rows whose groups differ, and are merged; a quarter is the groups' own."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(12), random.permutation([1, 1, 2, 2, 3, 3, 4, 4, 5, 8, 20, 40]))
    for column in (random.integers(0, 3, len(group)), random.random(len(group))):
        apart = column[:, None] != column if column.dtype.kind == "i" else (column[:, None] - column) ** 2 / 2
        other = group[:, None] != group
        means = [
            (apart[of][:, of][other[of][:, of]].mean(), of.sum())
            for of in (group // 4 == c for c in range(3))
        ]
        base = apart.sum() / (len(group) * (len(group) - 1))
        beside = 1 - sum(mean * n for mean, n in means) / len(group) / base
        assert merged_alikeness(group, column, 0.6) == pytest.approx(0.15 + 0.75 * beside)
