"""Columns that say the same."""

import numpy as np
import pytest

from offsample.report._study import Options, Study
from offsample.report.findings import near_copy


def table(seed, n=4000):
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 12, n)
    number = rng.normal(size=n)
    return {
        "code": code,
        "name": np.array([f"n{i * 7 % 12}" for i in range(12)])[code],
        "typos": np.where(rng.random(n) < 0.01, "n0", np.array([f"t{i}" for i in range(12)])[code]),
        "group": (code // 4).astype(str),  # determined by the code, but does not determine it
        "metres": number,
        "feet": number * 3.28 + 1,
        "noisy": number + rng.normal(0, 0.3, n),
        "other": rng.integers(0, 12, n),
        "y": ((code > 5) ^ (rng.random(n) < 0.2)).astype(int),
    }


@pytest.mark.parametrize("seed", range(3))
def test_copies_are_found_and_nothing_else(seed):
    study = Study(table(seed), "y", Options())
    found = near_copy.find(study, frozenset())
    order = [f.name for f in study.ranking]
    for family in ({"code", "name", "typos"}, {"metres", "feet"}):
        best = min(family, key=order.index)
        assert {name for name in found if name in family} == family - {best}
        assert all(found[name].others == (best,) for name in family - {best})
    assert set(found) <= {"code", "name", "typos", "metres", "feet"}


def test_independent_columns_are_never_copies():
    wrong = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        columns = {f"x{j}": rng.integers(0, 2, 60) for j in range(10)}
        wrong += bool(
            near_copy.find(Study({**columns, "y": rng.integers(0, 2, 60)}, "y", Options()), frozenset())
        )
    assert wrong == 0


def test_many_columns_are_compared_in_part_and_it_is_said():
    rng = np.random.default_rng(0)
    study = Study(
        {**{f"x{j}": rng.integers(0, 3, 50) for j in range(210)}, "y": rng.integers(0, 2, 50)}, "y", Options()
    )
    near_copy.find(study, frozenset())
    assert study.skipped == ["near-copies: only the first 200 of 210 columns were compared"]
