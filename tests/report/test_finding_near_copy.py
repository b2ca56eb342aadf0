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
    found = near_copy.find(study)
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
        wrong += bool(near_copy.find(Study({**columns, "y": rng.integers(0, 2, 60)}, "y", Options())))
    assert wrong == 0


def test_many_columns_are_compared_in_part_and_it_is_said():
    rng = np.random.default_rng(0)
    study = Study(
        {**{f"x{j}": rng.integers(0, 3, 50) for j in range(210)}, "y": rng.integers(0, 2, 50)}, "y", Options()
    )
    near_copy.find(study)
    assert study.skipped == ["near-copies: only the first 200 of 210 columns were compared"]


def with_gaps(kind, present, other, n=3000):
    """Two columns that are missing in the same half of the rows (but for a few), as numbers or as text."""
    rng = np.random.default_rng(0)
    codes = {"present": present(rng, n)}
    codes["other"] = other(rng, n, codes["present"])
    missing = rng.random(n) < 0.5
    table = {"y": rng.integers(0, 2, n)}
    for i, (name, code) in enumerate(codes.items()):
        gap = missing.copy()
        gap[i] = not gap[i]  # one row each where the other has a value
        as_number, as_text = np.where(gap, np.nan, code), np.array([f"v{c}" for c in code], dtype=object)
        as_text[gap] = None
        table[name] = as_number if kind == "numeric" or (kind == "both" and i) else as_text
    return Study(table, "y", Options())


@pytest.mark.parametrize("kind", ["numeric", "categorical", "both"])
class TestColumnsThatAreMissingTogether:
    def message(self, study):
        found = list(near_copy.find(study).values())
        return found[0].message if found else None

    def test_same_values(self, kind):
        study = with_gaps(kind, lambda rng, n: rng.integers(0, 6, n), lambda rng, n, code: 5 - code)
        assert "says almost the same as" in self.message(study)

    def test_nothing_but_missing_together(self, kind):
        """Nearly all values are 0, so that being missing is nearly all that either says."""

        def rare(rng, n, *_):
            return (rng.random(n) < 0.01).astype(int)

        study = with_gaps(kind, rare, rare)
        assert "is missing in almost the same rows as" in self.message(study)
        assert "their values have little in common" in self.message(study)

    def test_one_value_each(self, kind):
        study = with_gaps(kind, lambda _, n: np.zeros(n, int), lambda _, n, __: np.ones(n, int))
        assert "is missing in almost the same rows as" in self.message(study)

    def test_values_of_their_own(self, kind):
        study = with_gaps(kind, lambda rng, n: rng.integers(0, 6, n), lambda rng, n, _: rng.integers(0, 6, n))
        assert self.message(study) is None

    def test_same_values_missing_apart(self, kind):
        """Not near-copies: one cannot stand in for the other."""
        study = with_gaps(kind, lambda rng, n: rng.integers(0, 6, n), lambda _, __, code: code)
        rows = np.random.default_rng(1).permutation(len(study.source["y"]))
        both = {
            name: np.where(rows % 4 == i, None, column)
            for i, (name, column) in enumerate(study.source.items())
        }
        study = Study({**both, "y": study.source["y"]}, "y", Options())
        assert self.message(study) is None
