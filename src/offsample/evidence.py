"""Is there a signal at all? The law of Ginger when the classes are shuffled among the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import perm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, log_ndtr, ndtri

from offsample._absolute_losses import CellNumbers
from offsample._cell_moments import CellMoments
from offsample._group_evidence import resample_groups
from offsample._grouped_counts import by_rows
from offsample._held_out_moments import HeldOutMoments
from offsample._moment_sums import moments_of_codes
from offsample._squared_losses import HeldOutSquares
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import spread_of
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.hypotheses import GiniRule

__all__ = [
    "Evidence",
    "Refinement",
    "ShuffleMoments",
    "choose_refinement",
    "joint_p_value",
    "mean_before_cut",
    "order_evidence",
    "shuffle_moments",
    "signal_evidence",
]

# A finer partition has to add so many standard deviations of what it would add by chance.
_BEYOND_CHANCE = 3.0
# Weight of the order of a numeric column beside all ways to cut it.
_ORDER = 1 / 3
# Of a numeric target whose squares are those of fewer equal distances, no law of the signal is near enough.
_FEWEST_EFFECTIVE = 8


@dataclass(frozen=True)
class Evidence:
    """What a partition's counts say against independence of cell and class.

    Attributes
    ----------
    signal : float
        How much better than the baseline the Gini rule is on rows of cells that were seen: Ginger of the
        class totals less Ginger of the cells, where a row alone in its cell counts as baseline. It
        estimates the gain, on fresh rows, of the rule that predicts the class frequencies of the row's
        cell, and of the whole sample where the cell is new. Its mean over shuffles of the classes is 0.
    deviation : float
        Its standard deviation over shuffles of the classes, exactly.
    p_value : float
        Probability that a shuffle has a signal at least as large, by a scaled and shifted chi-squared law
        with the exact mean and variance and nearly the right skewness. With some twenty rows of the rarer
        class, p-values of 1 % may be half of what they should be. Of a numeric target whose spread is that
        of a few rows, by Cantelli's inequality, which holds for any law.
    """

    signal: float
    deviation: float
    p_value: float


def signal_evidence(cells: CellCounts | CellMoments) -> Evidence:
    """Test whether cell and class are independent, by the pairs of rows of a cell that agree in class.

    With A_v the ordered pairs of rows of cell v of the same class, Ginger is a constant less
    ``(1/m) sum_{c_v > 1} A_v / (c_v - 1)``. When the classes are shuffled among the rows, the moments of A_v
    are falling factorials of cell sizes and class totals, so that mean and variance are exact for cells of
    any size: also where almost all values are rare, and the chi-squared test fails. Of numbers, the products
    of two rows' distances to the mean are added up, in place of agreeing pairs.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.evidence import signal_evidence
    >>> evidence = signal_evidence(CellCounts([[30, 10], [5, 55]]))
    >>> round(evidence.signal, 3), round(evidence.deviation, 4), evidence.p_value < 1e-9
    (0.213, 0.0066, True)
    """
    cells.require_frequencies("signal_evidence")
    cells = by_rows(cells) if isinstance(cells, CellCounts) else cells
    if isinstance(cells, HeldOutCounts):
        spread = spread_of(cells, GiniRule)
        return Evidence(spread.gain, spread.gain_deviation, spread.gain_p_value())
    if isinstance(cells, GroupedCounts):
        return Evidence(*resample_groups(cells))
    if isinstance(cells, HeldOutMoments):
        return Evidence(*HeldOutSquares(cells).evidence)
    if isinstance(cells, CellNumbers):
        return signal_evidence(cells.ranks)
    if isinstance(cells, CellMoments):
        if cells.n_samples < 4:
            return Evidence(0.0, 0.0, 1.0)
        # Sum over pairs of rows of the products of their distances to the mean of all.
        agreeing = cells.counts * (cells.counts - 1) * cells.squared_offsets - cells.sums_of_squares
        found = _of_pairs(cells, agreeing, _shuffle_numbers(cells))
        whole = cells.in_one
        if whole.sums_of_squares[0] ** 2 >= _FEWEST_EFFECTIVE * whole.fourth_moments[0] or found.signal <= 0:
            return found
        # A few numbers decide all: whatever the law of their meeting, Cantelli's inequality holds.
        bound = found.deviation**2 / (found.deviation**2 + found.signal**2)
        return replace(found, p_value=max(found.p_value, bound))
    cells = cells.profile()
    if cells.n_samples < 4 or int(cells.class_totals.max()) == cells.n_samples:
        return Evidence(0.0, 0.0, 1.0)
    shuffle = shuffle_moments(tuple(cells.class_totals.tolist()))
    counts = cells.counts.astype(float)
    return _of_pairs(cells, (counts * (counts - 1)).sum(axis=1), shuffle)


def _of_pairs(cells: CellCounts | CellMoments, agreeing: Floats, shuffle: ShuffleMoments) -> Evidence:
    """Evidence of how much the pairs of rows of each cell agree, in units of the target's moments."""
    if cells.n_cells == 1:
        return Evidence(0.0, 0.0, 1.0)
    m, sizes = int(cells.n_samples), cells.cell_sizes
    paired = sizes > 1
    found = evidence_of_pairs(sizes[paired], cells.multiplicity[paired], agreeing[paired], m, shuffle)
    return Evidence(*map(float, found))


def evidence_of_pairs(
    sizes: NDArray[Any], times: Ints, agreeing: Floats, m: int, shuffle: ShuffleMoments
) -> tuple[Floats, Floats, Floats]:
    """Signal, deviation and p-value of cells of two rows or more, so many times, among m rows.

    Cells are along the last axis, and those that occur 0 times do not count.
    """
    sizes, times = sizes.astype(float), times.astype(float)

    def total(terms: Floats) -> Floats:
        return np.asarray(np.vecdot(times, terms))

    excess = total(agreeing / (sizes - 1) - shuffle.agree * sizes)
    variance = total(sizes / (sizes - 1) * (shuffle.per_cell + shuffle.per_row * sizes))
    variance = variance + shuffle.between * total(sizes) ** 2
    is_known = variance > 0  # or no shuffle changes anything
    known = np.where(is_known, variance, 1.0)
    third = (shuffle.edge * sizes / 2 + shuffle.triangle * sizes * (sizes - 2)) / (sizes - 1) ** 2
    # The cells share the class totals, which takes away one of them, or as much of it as they cover.
    uncovered = 1 - total(sizes) / m
    third_cumulant = 8 * (total(third) - shuffle.triangle * (1 - uncovered**3))
    # A skewness of 0, or by approximation below, is that of the normal law: a chi-squared of many degrees.
    scale = np.maximum(third_cumulant / (4 * known), 1e-3 * np.sqrt(known))
    freedom = known / (2 * scale**2)
    p_value = chdtrc(freedom, np.maximum(0.0, freedom + excess / scale))
    signal, deviation = np.where(is_known, (excess / m, np.sqrt(known) / m), 0.0)
    return signal, deviation, np.where(is_known, p_value, 1.0)


def order_evidence(bins: NDArray[Any]) -> Evidence:
    """Test whether classes differ in where their rows lie in an order: Kruskal & Wallis' by exact moments.

    `bins` are class counts, of shape (n_bins, K), from first to last. The roles are exchanged: the classes
    are the cells, and the rank of its bin is a number that each row has. Of two it is Mann & Whitney's.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.evidence import order_evidence
    >>> round(order_evidence(np.array([[50, 4], [50, 5], [50, 9], [50, 12]])).p_value, 3)
    0.032
    """
    sizes = bins.sum(axis=1)
    n_bins, n_classes = bins.shape
    rank = (np.cumsum(sizes) - sizes / 2) / max(1, sizes.sum()) - 0.5
    label = np.tile(np.arange(n_classes), n_bins)
    cells = moments_of_codes(label, np.repeat(rank, n_classes), n_classes, bins.ravel())
    found = cells[cells[:, 0] > 0]
    return signal_evidence(CellMoments.from_cells(found)) if len(found) > 1 else Evidence(0.0, 0.0, 1.0)


def joint_p_value(p_values: Sequence[float], of_order: float | None = None) -> float:
    """P-value of a column that was cut in several ways, and whose order was tested (`order_evidence`) or not.

    With a test of the order, which has a third of the weight and the cuts the rest, it is the least of p/w,
    where p-values of weight w are at most p (Simes' procedure, with weights [1]_). Else it is the least one
    times their number.

    References
    ----------
    .. [1] Y. Benjamini, Y. Hochberg (1997). Multiple Hypotheses Testing with Weights. Scandinavian Journal of
       Statistics 24.

    Examples
    --------
    >>> from offsample.evidence import joint_p_value
    >>> round(joint_p_value([0.02, 0.03]), 3), round(joint_p_value([0.02, 0.03], 0.004), 3)
    (0.04, 0.012)
    """
    n = len(p_values)
    if of_order is None:
        return min(1.0, n * min(p_values))
    found = np.array([*p_values, of_order])
    weight = np.array([(1 - _ORDER) / n] * n + [_ORDER])
    order = np.argsort(found, kind="stable")
    return min(1.0, float((found[order] / np.cumsum(weight[order])).min()))


def _shuffle_numbers(cells: CellMoments) -> ShuffleMoments:
    """Moments of the products of two rows' distances to the mean when a number is shuffled among the rows."""
    m, whole = int(cells.n_samples), cells.in_one
    scale = max(float(whole.sums_of_squares[0]) / m, np.finfo(float).tiny)
    second, fourth = float(m), float(whole.fourth_moments[0]) / scale**2
    third = float(whole.third_moments[0]) / scale**1.5 / m
    # Means over distinct rows of z_i z_j, z_i² z_j², z_i² z_j z_k and z_i z_j z_k z_l, as the z add up to 0.
    two = -second / perm(m, 2)
    p22 = (second**2 - fourth) / perm(m, 2)
    p211 = (2 * fourth - second**2) / perm(m, 3)
    p1111 = (3 * second**2 - 6 * fourth) / perm(m, 4)
    squared = scale**2
    return ShuffleMoments(
        agree=two * scale,
        per_cell=squared * (2 * p22 - 8 * p211 + 6 * p1111),
        per_row=squared * 4 * (p211 - p1111),
        between=squared * (p1111 - two * two),
        edge=scale**3 * third**2,
        triangle=scale**3,
    )


class Refinement(NamedTuple):
    """Which of several partitions was taken, and its error, corrected for its having been chosen."""

    chosen: int
    error: float


def choose_refinement(evidence: Sequence[Evidence], errors: Sequence[float]) -> Refinement:
    """Choose one of nested partitions, coarsest first, and correct its error for the choice.

    A finer partition is taken in place of a coarser one where its error is lower and its signal is larger by
    more than three standard deviations of what it would add by chance: so the coarsest, where there is no
    evidence. What is added by chance is uncorrelated with the coarser signal, so that its variance is
    the difference of the two. A finer partition that was taken would not have been with a smaller signal, so
    that what it seems to add is too much on average. What it does add is estimated by the mean of
    the normal law, cut off at the three deviations, that makes what was seen most likely, but at least 0: no
    refinement takes from the signal. The error falls by that share of its difference to the coarser one. What
    is left of the bias is below 2 / (number of rows), and next to nothing on noise.

    Parameters
    ----------
    evidence : sequence of Evidence
    errors : sequence of float
        Leave-one-out errors.

    Examples
    --------
    >>> from offsample.evidence import Evidence, choose_refinement
    >>> coarse, fine = Evidence(0.020, 0.003, 1e-6), Evidence(0.036, 0.005, 1e-9)
    >>> chosen, error = choose_refinement([coarse, fine], [0.480, 0.464])
    >>> chosen, round(error, 4)
    (1, 0.4661)
    """
    chosen, error = 0, errors[0]
    for finer in range(1, len(evidence)):
        added = evidence[finer].signal - evidence[chosen].signal
        variance = evidence[finer].deviation ** 2 - evidence[chosen].deviation ** 2
        is_finer = rounded(evidence[finer].deviation) > rounded(evidence[chosen].deviation)
        if not is_finer or rounded(added) <= rounded(_BEYOND_CHANCE * variance**0.5):
            continue
        if rounded(errors[finer]) >= rounded(errors[chosen]):  # may take long to compute, and so is last
            continue
        seen = added / variance**0.5
        share = mean_before_cut(seen, _BEYOND_CHANCE) / seen
        error -= share * (errors[chosen] - errors[finer])
        chosen = finer
    return Refinement(chosen, error)


def mean_before_cut(seen: float, cut: float) -> float:
    """Mean, not below 0, of the normal law of deviation 1 cut off below `cut` that makes `seen` most likely.

    The mean of that law is ``mean + φ(u)/Φ(-u)`` with ``u = cut - mean``; where it equals what was seen, the
    likelihood is largest.
    """

    def excess(mean: float) -> float:
        u = cut - mean
        return mean - seen + float(np.exp(-(u**2) / 2 - log_ndtr(-u)) / np.sqrt(2 * np.pi))

    low, high = 0.0, seen
    if excess(low) >= 0:
        return low
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return high


class ShuffleMoments(NamedTuple):
    """What the class totals say of the agreeing pairs in the cells of a shuffled sample.

    The sum over cells of A_v / (c_v - 1) has mean ``agree * c`` per cell and variance ``sum_v c/(c - 1)
    (per_cell + per_row * c) + between * (sum_v c)²``, exactly. Its third cumulant is that of the degenerate
    kernel ψ(k, l) = 1[k = l] - q_k - q_l + sum q² for rows drawn with replacement: only a pair taken three
    times (`edge`, E ψ³) and triangles of pairs (`triangle`) contribute.
    """

    agree: float
    per_cell: float
    per_row: float
    between: float
    edge: float
    triangle: float


@lru_cache(maxsize=256)
def shuffle_moments(totals: tuple[int, ...]) -> ShuffleMoments:
    """Moments of the agreeing pairs when classes with these totals are shuffled among the rows."""
    # Probabilities that 2, 3 rows are of one class, and that two pairs of rows are: in exact integers, as
    # their differences decide the variance.
    m = sum(totals)
    two = [perm(n, 2) for n in totals]
    p2 = Fraction(sum(two), perm(m, 2))
    p3 = Fraction(sum(perm(n, 3) for n in totals), perm(m, 3))
    four = sum(perm(n, 4) for n in totals) + sum(two) ** 2 - sum(t * t for t in two)
    p22 = Fraction(four, perm(m, 4))
    q = np.array(totals) / m
    kernel = np.eye(len(q)) - q[:, None] - q[None, :] + (q**2).sum()
    eigenvalues = np.linalg.eigvalsh(np.sqrt(q)[:, None] * kernel * np.sqrt(q)[None, :])
    return ShuffleMoments(
        agree=float(p2),
        per_cell=float(2 * p2 - 8 * p3 + 6 * p22),
        per_row=4 * float(p3 - p22),
        between=float(p22 - p2 * p2),
        edge=float(q @ kernel**3 @ q),
        triangle=float((eigenvalues**3).sum()),
    )


def shrunk_gain(gain: float, p_value: float, n_tried: int) -> float:
    """Part of a gain that is left when it was looked at among `n_tried`; 0 where there is no evidence."""
    if gain <= 0 or p_value >= 0.5:
        return 0.0
    z = -float(ndtri(max(p_value, 1e-300)))
    return gain * max(0.0, 1 - float(np.log(n_tried)) / z**2)


def discoveries(p_values: Floats, rate: float) -> Booleans:
    """Which hypotheses the procedure of Benjamini & Hochberg (1995) rejects."""
    n = len(p_values)
    ordered = np.sort(p_values)
    passing = np.flatnonzero(rounded(ordered) <= rounded(rate * np.arange(1, n + 1) / n))
    threshold = ordered[passing[-1]] if len(passing) else -1.0
    return np.asarray(p_values <= threshold)
