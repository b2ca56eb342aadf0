"""Repeated rows: counted as a loop would, and called copies only where they are."""

from __future__ import annotations

import numpy as np
import pytest

from offsample.rows import find_repeats
from tests.rows.generators import few_valued, five_times, rounded


def test_counts_are_those_of_a_loop_over_the_rows() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        columns = {"a": random.integers(-1, 3, 40), "b": random.choice([0.0, 1.5, np.nan], 40)}
        y = random.integers(0, 3, 40)
        seen: dict[tuple[str, ...], set[int]] = {}
        n_duplicates = n_conflicting = 0
        for a, b, k in zip(columns["a"], columns["b"], y, strict=True):
            classes = seen.setdefault((str(a), str(b)), set())
            n_duplicates += k in classes
            n_conflicting += bool(classes) and k not in classes
            classes.add(k)
        repeats = find_repeats(columns, y)
        assert (repeats.n_duplicates, repeats.n_conflicting) == (n_duplicates, n_conflicting)
        together = {
            (str(a), str(b), g) for a, b, g in zip(columns["a"], columns["b"], repeats.group, strict=True)
        }
        assert len(together) == len(seen) == len(set(repeats.group.tolist()))


def test_zero_has_no_sign_and_nothing_is_repeated_in_an_empty_table() -> None:
    assert find_repeats({"x": [0.0, -0.0, np.nan, -np.nan]}, [1, 1, 0, 0]).n_duplicates == 2
    assert find_repeats({"x": np.zeros(0)}, np.zeros(0, int)).p_value == 1.0
    assert find_repeats({"x": np.zeros(9)}, np.zeros(9, int)).n_duplicates == 8


def test_noise_five_times_is_copies() -> None:
    repeats = find_repeats(*five_times(np.random.default_rng(0)))
    assert repeats.are_copies
    assert (repeats.n_duplicates, repeats.times) == (1200, 5)


def test_a_few_copies_among_measurements_are_found() -> None:
    random = np.random.default_rng(3)
    row = np.append(np.arange(500), random.choice(500, 25, replace=False))
    columns = {f"x{j}": np.round(random.normal(size=500), 2)[row] for j in range(5)}
    repeats = find_repeats(columns, random.integers(0, 2, 500)[row])
    assert repeats.n_duplicates == 25
    assert repeats.are_copies
    assert not find_repeats(
        {name: column[:500] for name, column in columns.items()}, np.zeros(500, int)
    ).are_copies


def test_repeats_of_few_values_are_natural_but_all_of_them_twice_are_not() -> None:
    columns, y = few_valued(np.random.default_rng(2))
    once = find_repeats(columns, y)
    assert once.n_duplicates > 0.3 * once.n_rows
    assert not once.are_copies
    twice = find_repeats({name: np.tile(column, 2) for name, column in columns.items()}, np.tile(y, 2))
    assert twice.are_copies
    assert twice.times == 2


def test_a_price_in_two_currencies_is_one_column() -> None:
    random = np.random.default_rng(1)
    price = np.round(random.lognormal(3, 0.5, 2000))
    repeats = find_repeats({"price": price, "pounds": np.round(price * 0.8, 2)}, random.integers(0, 2, 2000))
    assert repeats.n_duplicates > 1000
    assert not repeats.are_copies
    assert not any(find_repeats(*rounded(np.random.default_rng([7, seed]))).are_copies for seed in range(40))


@pytest.mark.parametrize(
    ("column", "said"), [(np.array(["a", "b"]), "expected codes or floats"), (np.zeros(3), "has shape")]
)
def test_other_columns_are_refused(column, said) -> None:
    with pytest.raises(ValueError, match=said):
        find_repeats({"x": column}, [0, 1])
    with pytest.raises(ValueError, match="class codes must be integers"):
        find_repeats({"x": [1, 2]}, ["a", "b"])


def test_rows_of_one_hash_are_compared(monkeypatch) -> None:
    """A hash by which all rows are the same is found out, and another is taken."""
    from offsample.rows import _repeats

    honest = _repeats.row_hash

    def poor(words, n_rows, seed=0):
        return np.zeros(n_rows, np.uint64) if seed < 2 else honest(words, n_rows, seed)

    monkeypatch.setattr(_repeats, "row_hash", poor)
    x = np.array([1.0, 2.0, 1.0, np.nan, np.nan, -0.0, 0.0])
    repeats = find_repeats({"x": x}, np.zeros(7, int))
    assert repeats.n_duplicates == 3
    assert repeats.group[[0, 3, 5]].tolist() == repeats.group[[2, 4, 6]].tolist()
    assert len(set(repeats.group.tolist())) == 4
