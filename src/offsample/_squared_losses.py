"""Squared losses off the sample from moments, and how far they can be trusted.

Every row is predicted from the others of its cell, and from the mean of all others where its cell is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr, stdtrit

from offsample._cell_moments import CellMoments
from offsample._held_out_counts import deviation_by
from offsample._held_out_moments import HeldOutMoments
from offsample._typing import Floats, Ints

# Degrees of freedom of an interval at least: with heavier tails no width would be enough.
_LEAST_FREEDOM = 4.0

__all__ = ["HeldOutSquares", "SquaredLosses", "r2_loo", "squared_error_loo", "squared_losses", "variance_loo"]


def freedom_of(n_alike: float) -> float:
    """Degrees of freedom of an interval, of as many rows, or units, as would weigh alike."""
    return max(_LEAST_FREEDOM, n_alike - 1)


def alike(weights: Floats) -> float:
    """As many rows, or units, as would weigh alike: that of equal ones is their number."""
    return float(weights.sum() ** 2 / max(float(weights @ weights), np.finfo(float).tiny))


def few_decide(n_rows: float, n_alike: float) -> int | None:
    """As many rows as would weigh alike, if so few decide the squares of a number that intervals are short.

    Its kurtosis is the rows by those that would weigh alike: 3 for normal numbers, 6 for differences of
    waiting times; below 200 rows alike, intervals of simulated heavy tails held in 73 to 90 % of 95.
    """
    return max(1, round(n_alike)) if n_alike < 200 and n_rows > 6 * n_alike else None


def log_interval(
    value: float, deviation: float, freedom: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Interval of what is never negative, from its standard error: symmetric in the logarithm.

    The logarithm of an estimate is too low by half its variance on average. A low estimate comes with a low
    standard error, the more so the fewer rows decide: 3 rows' worth of width more, after simulated normal
    numbers and Poisson's.
    """
    if value <= 0:
        return 0.0, 0.0
    ratio = deviation / value
    radius = float(stdtrit(freedom, (1 + confidence) / 2)) * (1 + 3 / (freedom + 1)) * ratio
    low, high = (
        float(np.exp(np.clip(min(ratio, 1.0) ** 2 / 2 + one, -100, 100))) for one in (-radius, radius)
    )
    return value * min(low, 1.0), value * high


def ratio_interval(
    losses: Floats,
    others: Floats | None = None,
    units: Sequence[Ints] = (),
    times: float = 1.0,
    value: float | None = None,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """Interval of the mean of losses, or of their ratio to other losses on the same rows.

    What varies are the rows, or units; the variance is so many `times` that of independent ones. By default
    `value` is the mean, or ratio, itself.
    """
    others = np.ones(len(losses)) if others is None else others
    total = max(float(others.sum()), 1e-300)
    mean = float(losses.sum()) / total
    value = mean if value is None else value
    if value <= 0 or len(losses) < 2:
        return max(value, 0.0), max(value, 0.0)
    of_rows = units or [np.arange(len(losses))]
    deviation = deviation_by(of_rows, len(losses) / total * (losses - mean * others))
    n_alike = min(alike(np.bincount(unit, one).astype(float)) for unit in of_rows for one in (losses, others))
    return log_interval(value, float(np.sqrt(times)) * deviation, freedom_of(n_alike), confidence)


def variance_loo(cells: CellMoments) -> float:
    """Estimated variance of a numeric target, on new rows, among the rows of a cell: Ginger for numbers.

    Half the squared difference of a row and a random other of its cell, or of the sample where it has none:
    ``(1/m) sum_v c_v / (c_v - 1) SS_v`` over the cells of two rows or more. For rows that say which class
    they are by a one among zeros, the sum over classes is `ginger`, but for cells of one row. An identifier
    has the variance of the whole sample.

    Examples
    --------
    >>> from offsample.counts import CellMoments
    >>> from offsample.criteria import variance_loo
    >>> variance_loo(CellMoments.from_codes([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 13.0]))
    2.6
    """
    cells.require_frequencies("variance_loo")
    if isinstance(cells, HeldOutMoments):
        return float(cells.half_squares().mean())
    m, size = cells.n_samples, cells.counts
    if m < 2:
        return 0.0
    within = size / np.maximum(size - 1, 1) * cells.sums_of_squares
    alone = (m * cells.squared_offsets + cells.total_sum_of_squares) / (2 * (m - 1))
    return float(cells.multiplicity @ np.where(size > 1, within, alone)) / m


def squared_error_loo(cells: CellMoments) -> float:
    """Estimated squared error, on new rows, of predicting the mean of a cell.

    ``(1/m) sum_v (c_v / (c_v - 1))² SS_v``, where a row without another in its cell is predicted by the mean
    of all others.

    Examples
    --------
    >>> from offsample.counts import CellMoments
    >>> from offsample.criteria import squared_error_loo
    >>> squared_error_loo(CellMoments.from_codes([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 13.0]))
    4.3
    """
    cells.require_frequencies("squared_error_loo")
    return squared_losses(cells).error


def r2_loo(cells: CellMoments) -> float:
    """Share of a numeric target's variance that the mean of a cell explains on new rows: R² off the sample.

    One less the ratio of `squared_error_loo` and that of the mean of all; 0 or less for an identifier.

    Examples
    --------
    >>> from offsample.counts import CellMoments
    >>> from offsample.criteria import r2_loo
    >>> round(r2_loo(CellMoments.from_codes([0, 0, 1, 1, 1], [1.0, 3.0, 10.0, 10.0, 13.0])), 3)
    0.869
    """
    cells.require_frequencies("r2_loo")
    return squared_losses(cells).r2


@dataclass(frozen=True)
class _Losses:
    """Mean squared losses off the sample of the means of cells, and of the mean of all rows: `baseline`."""

    error: float
    baseline: float

    @property
    def r2(self) -> float:
        """Share of the baseline that is saved; 0 for a constant target."""
        return 1 - self.error / self.baseline if self.baseline > 0 else 0.0

    @property
    def freedom(self) -> float:
        """Degrees of freedom: as many rows, or units, as would weigh alike, less one."""
        raise NotImplementedError  # those of rows and those of units say it, each in its way

    def variance(self, share: float) -> float:
        """Squared error of the mean loss less a share of the baseline's, which is taken as known."""
        raise NotImplementedError  # as above

    def error_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Interval for the squared error on new rows, by the logarithm: a variance is never below 0."""
        return log_interval(self.error, float(np.sqrt(self.variance(0.0))), self.freedom, confidence)

    def r2_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Interval for R² on new rows: of the ratio of two losses on the same rows."""
        if self.baseline <= 0:
            return 0.0, 0.0
        ratio = 1 - self.r2
        quantile = float(stdtrit(self.freedom, (1 + confidence) / 2))
        radius = quantile * float(np.sqrt(self.variance(ratio))) / self.baseline
        return 1 - ratio - radius, min(1.0, 1 - ratio + radius)


@dataclass(frozen=True, init=False)
class HeldOutSquares(_Losses):
    """The losses on rows of new groups, or on later rows: units are what varies."""

    cells: HeldOutMoments

    def __init__(self, cells: HeldOutMoments) -> None:
        losses, blind = cells.losses(), cells.losses(blind=True)
        known = {"cells": cells, "error": float(losses.mean()), "baseline": float(blind.mean())}
        self.__dict__.update(known, _losses=losses, _blind=blind)

    @property
    def freedom(self) -> float:
        """One less than there are units, which are what varies."""
        return max(self.cells.effective_units - 1, 1e-3)

    def variance(self, share: float) -> float:
        """Squared error of the mean loss less a share of the baseline's; not surer than of one unit."""
        squares = self.cells.deviation(self.__dict__["_losses"] - share * self.__dict__["_blind"]) ** 2
        return squares + (self.error / self.cells.effective_units) ** 2 * (share == 0)

    @property
    def evidence(self) -> tuple[float, float, float]:
        """Saved loss, its standard error by units, and how likely units without any would show as much."""
        saved = self.__dict__["_blind"] - self.__dict__["_losses"]
        gain, deviation = float(saved.mean()), self.cells.deviation(saved)
        if gain <= 0 or deviation == 0:
            return gain, deviation, 1.0
        return gain, deviation, float(1 - stdtr(self.freedom, gain / deviation))


@dataclass(frozen=True, init=False)
class SquaredLosses(_Losses):
    """The leave-one-out losses of the means of cells, and of the mean of all rows: `baseline`.

    Intervals are by Robbins' argument, as those of `intervals.error_interval`: an unbiased estimate of the
    squared distance of the estimate to the error of the means that were learned from this sample. A row is
    its own class here, so that all sums over rows and pairs of rows become moments of the cells.
    """

    cells: CellMoments

    def __init__(self, cells: CellMoments) -> None:
        m, size = cells.n_samples, cells.counts
        within = (size / np.maximum(size - 1, 1)) ** 2 * cells.sums_of_squares
        left_out = (m / max(1, m - 1)) ** 2
        losses = np.where(size > 1, within, left_out * cells.squared_offsets)
        error, baseline = float(cells.multiplicity @ losses) / m, left_out * cells.total_sum_of_squares / m
        self.__dict__.update(cells=cells, error=error, baseline=baseline)

    @property
    def freedom(self) -> float:
        """The losses count for as many rows as have equal ones."""
        return freedom_of(self.cells.n_alike)

    def variance(self, share: float) -> float:
        """Squared error of the mean loss less a share of the baseline's, which is taken as known."""
        cells = self.cells
        m, times = int(cells.n_samples), cells.multiplicity
        terms, squares = self._robbins(share)
        total = float(times @ terms)
        one_row = (cells.total_sum_of_squares / m) ** 2  # as for errors: not surer than of one row
        return (max(0.0, float(times @ squares) - total**2 / m) + one_row) / m**2

    def _robbins(self, share: float) -> tuple[Floats, Floats]:
        """Sum of the losses of each cell, and what it contributes to the squared error of their sum.

        With G the sum of the losses a_i of the rows of a cell, each left out, these are ::

            G² - 2 sum_i a_i G(without i) + sum_{i≠j} a_i(without i and j) a_j(without i and j)

        in which a_i is the squared distance of row i to the mean of the others, less the share of its squared
        distance u_i² to the mean of all.
        """
        cells, w = self.cells, share
        c, o2 = cells.counts.astype(float), cells.squared_offsets
        p2, p4 = cells.sums_of_squares, cells.fourth_moments
        p2_p2, _, o2_p2, o_p3, _, o4 = cells.joint_about(cells.offsets)
        u2 = p2 + c * o2  # sum of u_i², and so on
        u4 = p4 + 4 * o_p3 + 6 * o2_p2 + c * o4
        d2_u2 = p4 + 2 * o_p3 + o2_p2
        p2_u2 = p2_p2 + c * o2_p2
        u2_u2 = p2_p2 + 2 * c * o2_p2 + c**2 * o4
        with np.errstate(divide="ignore", invalid="ignore"):
            k = c / (c - 1)
            g = ((c - 1) / (c - 2)) ** 2
            # G = k² P2 - w U2, and without i it is g (P2 - k d_i²) - w (U2 - u_i²).
            terms = k**2 * p2 - w * u2
            square = k**4 * p2_p2 - 2 * w * k**2 * p2_u2 + w**2 * u2_u2
            cross = k**2 * (g * (p2_p2 - k * p4) - w * (p2_u2 - d2_u2))
            cross -= w * (g * (p2_u2 - k * d2_u2) - w * (u2_u2 - u4))
            # Of a pair, a_i = ((c - 1) d_i + d_j)² / (c - 2)² - w u_i².
            a, n = c - 1, (c - 2) ** 2
            products = p2_p2 - p4  # sum over i ≠ j of d_i² d_j²
            both = (a**2 + 1) ** 2 * products - 4 * a * (a**2 + 1) * p4 + 2 * a**2 * (a * p4 + products)
            mixed = a**2 * (products - 2 * o_p3 + a * o2_p2) - a * d2_u2
            pairs = both / n**2 - 2 * w * mixed / n + w**2 * (u2_u2 - u4)
            squares = square - 2 * cross + pairs
        # Of two rows at distances d and -d from their mean, nothing is left without one or both: d² = P2 / 2.
        d4, o2_d2 = p2_p2 / 4, o2_p2 / 2
        same = o4 - 2 * o2_d2 + d4  # u_1² u_2²
        square = 64 * d4 - 32 * w * (d4 + o2_d2) + 4 * w**2 * (d4 + 2 * o2_d2 + o4)
        cross = 8 * (1 - w) * (o2_d2 + d4) - 2 * w * (1 - w) * same
        of_two = square - 2 * cross + 2 * (1 - w) ** 2 * same
        terms = np.where(c == 1, (1 - w) * o2, terms)
        return terms, np.where(c == 1, (1 - w) ** 2 * o4, np.where(c == 2, of_two, squares))


def squared_losses(cells: CellMoments) -> HeldOutSquares | SquaredLosses:
    """Losses off the sample of cells by rows, by groups or in time."""
    return HeldOutSquares(cells) if isinstance(cells, HeldOutMoments) else SquaredLosses(cells)
