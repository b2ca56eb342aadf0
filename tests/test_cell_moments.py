"""Moments of a number in cells against the rows that they were made from."""

import itertools
from dataclasses import astuple
from fractions import Fraction

import numpy as np
import pytest

from offsample import _moment_sums
from offsample._squared_losses import SquaredLosses
from offsample.counts import CellCounts, CellMoments, HeldOutMoments
from offsample.criteria import ginger, r2_loo, squared_error_loo, variance_loo
from offsample.evidence import signal_evidence


def samples(n_tables, seed=0, most=14):
    rng = np.random.default_rng(seed)
    for _ in range(n_tables):
        m = int(rng.integers(4, most))
        codes = np.unique(rng.integers(0, rng.integers(2, 8), m), return_inverse=True)[1]
        yield codes, rng.exponential(size=m)


def others(codes, i):
    mine = (codes == codes[i]) & (np.arange(len(codes)) != i)
    return mine if mine.any() else np.arange(len(codes)) != i


@pytest.mark.parametrize("form", ["cells", "profile", "merged"])
def test_criteria_equal_leaving_each_row_out(form):
    for codes, y in samples(40):
        cells = CellMoments.from_codes(codes, y)
        if form == "profile":
            cells = cells.profile()
        elif form == "merged" and codes.max():
            first = codes == 0
            cells = CellMoments.from_codes(codes[first], y[first]).merge(
                CellMoments.from_codes(codes[~first] - 1, y[~first])
            )
        rows = [(y[i], y[others(codes, i)]) for i in range(len(y))]
        squared = np.mean([(one - rest.mean()) ** 2 for one, rest in rows])
        half = np.mean([0.5 * np.mean((one - rest) ** 2) for one, rest in rows])
        blind = np.mean([(y[i] - np.delete(y, i).mean()) ** 2 for i in range(len(y))])
        assert squared_error_loo(cells) == pytest.approx(squared, rel=1e-12)
        assert variance_loo(cells) == pytest.approx(half, rel=1e-12)
        assert r2_loo(cells) == pytest.approx(1 - squared / blind, rel=1e-9, abs=1e-12)


def test_an_identifier_explains_nothing_and_ginger_is_the_same_formula():
    y = np.random.default_rng(1).normal(size=50)
    identifier, nothing = (CellMoments.from_codes(codes, y) for codes in (np.arange(50), np.zeros(50, int)))
    assert r2_loo(identifier) == pytest.approx(0, abs=1e-12)
    assert variance_loo(identifier) == pytest.approx(variance_loo(nothing), rel=1e-12)
    rng = np.random.default_rng(2)
    codes, label = np.repeat(np.arange(10), 5), rng.integers(0, 3, 50)
    of_classes = [variance_loo(CellMoments.from_codes(codes, label == k)) for k in range(3)]
    assert sum(of_classes) == pytest.approx(ginger(CellCounts.from_codes(codes, label)), rel=1e-12)


def robbins_by_rows(codes, y, share):
    mean = y.mean()

    def loss(i, out):
        rest = [j for j in range(len(y)) if codes[j] == codes[i] and j not in out]
        return (y[i] - (y[rest].mean() if rest else mean)) ** 2 - share * (y[i] - mean) ** 2

    total = squares = 0.0
    for value in np.unique(codes):
        rows = np.flatnonzero(codes == value).tolist()
        whole = sum(loss(i, {i}) for i in rows)
        without = sum(loss(i, {i}) * sum(loss(j, {i, j}) for j in rows if j != i) for i in rows)
        pairs = sum(loss(i, {i, j}) * loss(j, {i, j}) for i, j in itertools.permutations(rows, 2))
        total, squares = total + whole, squares + whole**2 - 2 * without + pairs
    return total, squares


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_variance_equals_its_sum_over_pairs_of_rows(share):
    for codes, y in samples(30, seed=3):
        cells = CellMoments.from_codes(codes, y)
        for form in (cells, cells.profile()):
            terms, squares = SquaredLosses(form)._robbins(share)
            found = form.multiplicity @ terms, form.multiplicity @ squares
            assert found == pytest.approx(robbins_by_rows(codes, y, share), rel=1e-9, abs=1e-9)


def test_moments_of_all_rows_and_large_offsets():
    rng = np.random.default_rng(4)
    codes, y = rng.integers(0, 300, 1_000), rng.exponential(size=1_000)
    codes = np.unique(codes, return_inverse=True)[1]
    for offset in (0.0, 1e9):
        whole = CellMoments.from_codes(codes, y + offset).profile().in_one
        distance = y - y.mean()
        found = [whole.sums_of_squares[0], whole.third_moments[0], whole.fourth_moments[0]]
        assert found == pytest.approx([(distance**n).sum() for n in (2, 3, 4)], rel=1e-6 if offset else 1e-10)
        assert r2_loo(CellMoments.from_codes(codes, y + offset)) == pytest.approx(
            r2_loo(CellMoments.from_codes(codes, y)), abs=1e-6
        )
    assert CellMoments.from_codes(codes, y.astype(np.float32)).means.dtype == np.float64


@pytest.mark.parametrize("far", [0.0, 30.0, 1e6])
@pytest.mark.parametrize("compiled", [True, False])
def test_sums_of_powers_equal_exact_ones(monkeypatch, compiled, far):
    # The first number of a cell, which the compiled loop measures from, may be far from all others.
    monkeypatch.setattr(_moment_sums, "KERNEL_ROWS", 0 if compiled else 1 << 40)
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 5, 300)
    y = rng.normal(size=300) + 1e3 * codes
    y[[np.flatnonzero(codes == k)[0] for k in range(3)]] += far
    y[codes == 4] = 4.1
    found = _moment_sums.moments_of_codes(codes, y, 6)
    for cell in range(5):
        rows = [Fraction(one) for one in y[codes == cell]]
        mean = sum(rows) / len(rows)
        exact = [len(rows), mean, *(sum((one - mean) ** k for one in rows) for k in (2, 3, 4))]
        assert found[cell] == pytest.approx([float(one) for one in exact], rel=1e-10, abs=1e-9)
    assert not found[5].any()


def test_whole_weights_repeat_rows_and_others_are_refused():
    codes, y, times = np.array([0, 0, 1, 1, 2]), np.array([1.0, 4, 2, 2, 7]), np.array([2, 1, 3, 1, 1])
    weighted = CellMoments.from_codes(codes, y, sample_weight=times)
    repeated = CellMoments.from_codes(np.repeat(codes, times), np.repeat(y, times))
    assert squared_error_loo(weighted) == pytest.approx(squared_error_loo(repeated), rel=1e-12)
    assert astuple(signal_evidence(weighted)) == pytest.approx(astuple(signal_evidence(repeated)), rel=1e-12)
    with pytest.raises(ValueError, match="importance weights"):
        variance_loo(CellMoments.from_codes(codes, y, sample_weight=times / 3))


def test_evidence_has_the_mean_and_deviation_of_all_shuffles():
    codes, y = np.array([0, 0, 0, 1, 1, 2, 3]), np.array([1.0, 2, 2, 5, 9, 1, 3])
    shuffled = [
        signal_evidence(CellMoments.from_codes(codes, y[list(order)])).signal
        for order in itertools.permutations(range(7))
    ]
    evidence = signal_evidence(CellMoments.from_codes(codes, y))
    assert np.mean(shuffled) == pytest.approx(0, abs=1e-12)
    assert np.std(shuffled) == pytest.approx(evidence.deviation, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0.0], [0.0, 0.0]), "means has shape"),
        (([1], [np.nan], [0.0]), "means has nan in row 0"),
        (([2], [0.0], [-1.0]), "sums_of_squares has -1.0 in row 0"),
        (([0], [0.0], [0.0]), "no sample"),
        ((["a"], [0.0], [0.0]), "number"),
    ],
)
def test_moments_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        CellMoments(*arguments)


def known_to(i, groups, time):
    """Rows that row i may know, one by one."""
    rows = range(len(groups[0]) if groups else len(time))
    return [
        j
        for j in rows
        if all(group[j] != group[i] for group in groups) and (time is None or time[j] < time[i])
    ]


@pytest.mark.parametrize("units", ["group", "crossed", "time", "both"])
def test_losses_on_new_groups_and_later_rows_equal_leaving_them_out(units):
    rng = np.random.default_rng(5)
    for _ in range(10):
        m = 25
        codes = np.unique(rng.integers(0, 6, m), return_inverse=True)[1]
        y = 1e6 + rng.exponential(size=m)
        groups = [rng.integers(0, 5, m) for _ in range({"group": 1, "crossed": 2, "both": 1}.get(units, 0))]
        time = rng.integers(0, 8, m) if units in ("time", "both") else None
        cells = HeldOutMoments(codes, y, groups=groups, time=time)
        squared, blind, half, unseen = [], [], [], 0
        for i in range(m):
            known = known_to(i, groups, time)
            here = [j for j in known if codes[j] == codes[i]]
            unseen += not here
            told = y[here or known] if known else y
            half.append(0.5 * np.mean((y[i] - told) ** 2))
            squared.append((y[i] - told.mean()) ** 2)
            blind.append((y[i] - (y[known].mean() if known else y.mean())) ** 2)
        assert squared_error_loo(cells) == pytest.approx(np.mean(squared), rel=1e-8)
        assert variance_loo(cells) == pytest.approx(np.mean(half), rel=1e-8)
        assert r2_loo(cells) == pytest.approx(1 - np.mean(squared) / np.mean(blind), abs=1e-8)
        assert cells.missing_mass() == unseen / m
