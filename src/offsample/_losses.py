"""Losses of probabilities, orders and decisions off the sample, from the same counts as the error.

Each row is judged by what the others of its cell say, and by the class shares of all others where its cell is
new. With `counts.GroupedCounts` the others are the rows of other groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Floats, Ints
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.hypotheses import GiniRule

# Ratings of values without pairs of groups that are sorted at most; more groups are taken together.
_MOST_RATED = 1 << 16

__all__ = ["auc_lpo", "brier_loo", "checked_costs", "cost_loo", "log_loss_loo"]


def log_loss_loo(cells: CellCounts, prior_weight: float = 1.0) -> float:
    """Estimated log loss on new rows, in nats, of the class frequencies of a cell.

    The frequencies are drawn toward the class shares of the whole sample, which count for `prior_weight`
    rows: ``-(1/m) sum_vk n_vk ln((n_vk - 1 + a π_k) / (c_v - 1 + a))``. The row is left out of the shares
    too, ``π_k = (N_k - 1)/(m - 1)``; so an identifier has exactly the loss of the shares and gains nothing.

    Parameters
    ----------
    cells : CellCounts
    prior_weight : float
        Rows that the shares count for (a).

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import log_loss_loo
    >>> round(log_loss_loo(CellCounts([[30, 10], [5, 55]])), 4)
    0.4179
    >>> identifier, nothing = CellCounts(np.eye(2), [60, 40]), CellCounts([[60, 40]])
    >>> round(log_loss_loo(identifier), 4), round(log_loss_loo(nothing), 4)
    (0.6832, 0.6832)
    """
    if not 0 < prior_weight < np.inf:
        raise ValueError(f"prior_weight is a number of rows and must be positive, got {prior_weight}")
    cells.require_frequencies("log_loss_loo")
    total = 0.0
    for k, (rows, others, shares) in enumerate(_left_out(cells)):
        # A class that only this row has would never be expected: as if half of it had been seen.
        share = np.maximum(shares[:, k], 0.5 / cells.n_samples)
        own = others[:, k] + prior_weight * share
        total -= float(rows @ np.log(own / (others.sum(axis=1) + prior_weight)))
    return total / cells.n_samples


def brier_loo(cells: CellCounts) -> float:
    """Estimated Brier score on new rows, the mean of ``sum_k (p_k - y_k)²``, of the frequencies of a cell.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import brier_loo
    >>> round(brier_loo(CellCounts([[30, 10], [5, 55]])), 4)
    0.2526
    """
    cells.require_frequencies("brier_loo")
    total = 0.0
    for k, (rows, others, shares) in enumerate(_left_out(cells)):
        p = _frequencies(others, shares)
        total += float(rows @ (1 - 2 * p[:, k] + (p**2).sum(axis=1)))
    return total / cells.n_samples


def cost_loo(cells: CellCounts, costs: ArrayLike | Mapping[str, float]) -> float:
    """Estimated cost per new row of predicting the class that is cheapest in a cell.

    Classes that are equally cheap share the prediction, as do all where the other rows show none: with a cost
    of one for every mistake this is `bayes_loo`.

    Parameters
    ----------
    cells : CellCounts
    costs : array-like of shape (n_classes, n_classes), or dict
        ``costs[true, predicted]``; for two classes also ``{"fn": 10, "fp": 1}``, the second being positive.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import cost_loo
    >>> round(cost_loo(CellCounts([[30, 10], [5, 55]]), {"fn": 10, "fp": 1}), 4)
    0.35
    """
    cells.require_frequencies("cost_loo")
    matrix = checked_costs(costs, cells.n_classes)
    total = 0.0
    for k, (rows, others, _) in enumerate(_left_out(cells)):
        of_class = others @ matrix
        cheapest = of_class == of_class.min(axis=1, keepdims=True)
        total += float(rows @ ((cheapest * matrix[k]).sum(axis=1) / cheapest.sum(axis=1)))
    return total / cells.n_samples


def checked_costs(costs: ArrayLike | Mapping[str, float], n_classes: int) -> Floats:
    """Costs as a matrix ``costs[true, predicted]``, or an error that says what was expected."""
    if isinstance(costs, Mapping):
        unknown = sorted(set(costs) - {"fn", "fp", "tn", "tp"})
        if unknown or n_classes != 2:
            what = f"has the entry {unknown[0]!r}" if unknown else f"is for two classes, not {n_classes}"
            raise ValueError(f"costs {what}: expected fn and fp (and tn, tp), or a matrix [true, predicted]")
        costs = [[costs.get("tn", 0), costs.get("fp", 0)], [costs.get("fn", 0), costs.get("tp", 0)]]
    matrix = np.asarray(costs, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}: expected {(n_classes, n_classes)}, true × predicted"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix


def auc_lpo(cells: CellCounts, positive: int | None = None) -> float:
    """Estimated probability that a new row of a class is rated above a new row that is not of it.

    A row is rated by the share of the class among the others of its cell. To leave one row out alone would
    bias the comparison downward: without a positive, its cell has a smaller share. So both rows of a pair
    are left out (leave-pair-out [1]_): a positive in cell u is compared by ``(n_u1 - 1)/(c_u - 1)`` with a
    negative in another cell w by ``n_w1/(c_w - 1)``, each by the share in the other rows where its cell has
    no other; rows of one cell are ties. With groups both groups are left out, and where rows are in time each
    is rated by what was before it.

    Parameters
    ----------
    cells : CellCounts
    positive : int, optional
        Number of the class. By default the second of two, and with more classes the mean over all, weighted
        by their frequencies, each against the rest.

    References
    ----------
    .. [1] A. Airola et al. (2011). An experimental comparison of cross-validation techniques for estimating
       the area under the ROC curve. Computational Statistics & Data Analysis 55.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import auc_lpo
    >>> round(auc_lpo(CellCounts([[30, 10], [5, 55]])), 4)
    0.8516
    >>> auc_lpo(CellCounts([[1, 0], [0, 1]], [60, 40]))  # an identifier
    0.5
    """
    cells.require_frequencies("auc_lpo")
    if positive is None and cells.n_classes > 2:
        totals = np.asarray(cells.class_totals, dtype=float)
        known = np.flatnonzero((totals > 0) & (totals < totals.sum()))
        if not len(known):
            return 0.5
        return float(totals[known] @ [auc_lpo(cells, int(k)) for k in known] / totals[known].sum())
    k = 1 if positive is None else positive
    if isinstance(cells, HeldOutCounts):
        n_above, n_pairs = _above_by_past(cells, k)
    elif isinstance(cells, GroupedCounts) and _leaves_out_groups(cells):
        n_above, n_pairs = _above_by_groups(cells, k)
    else:
        n_above, n_pairs = _above_by_rows(cells.profile(), k)
    return n_above / n_pairs if n_pairs else 0.5


def _above_by_rows(cells: CellCounts, k: int) -> tuple[float, float]:
    """Pairs of a positive and a negative of which the positive is rated higher, and all pairs."""
    positive = cells.counts[:, k].astype(float)
    size = cells.cell_sizes.astype(float)
    negative, n_positive = size - positive, float(cells.class_totals[k])
    # Without the pair; for a cell of one row.
    share = (n_positive - 1) / max(1.0, cells.n_samples - 2)
    left = np.where(size > 1, size - 1, 1)
    rating = np.where(size > 1, (positive - 1) / left, share)
    other = np.where(size > 1, positive / left, share)
    # In one cell the positive is rated lower by these; such pairs are ties.
    above = _n_above(rating, cells.multiplicity * positive, other, cells.multiplicity * negative)
    within = float(cells.multiplicity @ (positive * negative)) / 2
    return above + within, n_positive * (cells.n_samples - n_positive)


def _above_by_groups(cells: GroupedCounts, k: int) -> tuple[float, float]:
    """The same where both groups of a pair are left out; many groups are taken together in bundles."""
    if cells.rows is None:
        raise ValueError("an AUC needs to know which rows are of the same group: count them by from_rows")
    table = cells.rows.bundled(int(np.clip(_MOST_RATED // cells.n_cells, 8, 64)), cells.n_classes)
    shape = int(table.value.max()) + 1, table.n_groups
    positive, size = np.zeros(shape), np.zeros(shape)
    positive[table.value, table.group] = table.counts[:, k]
    size[table.value, table.group] = table.counts.sum(axis=1)
    negative = size - positive
    total_positive, total = positive.sum(axis=1), size.sum(axis=1)
    n_above = 0.0
    for g in range(shape[1]):
        for h in range(g, shape[1]):
            both = [g] if g == h else [g, h]
            known = total - size[:, both].sum(axis=1)
            hits = total_positive - positive[:, both].sum(axis=1)
            rating = np.where(known > 0, hits / np.maximum(known, 1), hits.sum() / max(1.0, known.sum()))
            n_above += _n_above(rating, positive[:, g], rating, negative[:, h])
            if h != g:
                n_above += _n_above(rating, positive[:, h], rating, negative[:, g])
    return n_above, float(positive.sum() * negative.sum())


def _above_by_past(cells: HeldOutCounts, k: int) -> tuple[float, float]:
    """The same where each row is rated by what it may know."""
    known, in_all = cells.known_counts(), cells.known_counts(blind=True)
    rating = _frequencies(known, GiniRule.from_counts(in_all))[:, k]
    positive = (cells.label == k).astype(float)
    n_positive = float(positive.sum())
    return _n_above(rating, positive, rating, 1 - positive), n_positive * (len(positive) - n_positive)


def _n_above(rating: Floats, weight: Floats, other_rating: Floats, other_weight: Floats) -> float:
    """Weight of the pairs whose first is rated above the second; half of it where they are rated alike."""
    order = np.argsort(other_rating, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(other_weight[order])])
    ranked = other_rating[order]
    first, last = (np.searchsorted(ranked, rating, side=side) for side in ("left", "right"))
    return float(weight @ (below[first] + below[last])) / 2


def _left_out(cells: CellCounts) -> Iterator[tuple[Ints, NDArray[Any], Floats]]:
    """For each class: rows of it, what is left then in their cells, and the class shares that are left."""
    if isinstance(cells, HeldOutCounts):
        known, in_all = cells.known_counts(), cells.known_counts(blind=True)
        shares = GiniRule.from_counts(in_all)
        for k in range(cells.n_classes):
            yield (cells.label == k).astype(np.int64), known, shares
        return
    totals = np.asarray(cells.class_totals)
    if not _leaves_out_groups(cells):
        left_out, others, times = CellCounts.left_out(cells)
        for k in range(cells.n_classes):
            fewer = np.maximum(totals - np.eye(cells.n_classes, dtype=np.int64)[k], 0)
            shares = np.broadcast_to(fewer / max(1, fewer.sum()), left_out.shape)
            yield times * left_out[:, k], others(k), shares
        return
    assert isinstance(cells, GroupedCounts)
    of_group: NDArray[Any] = cells.pairs.counts  # all that is known of a group where only the profile is
    if cells.table is not None:
        of_group = cells.table.over_groups(cells.table.counts)[cells.table.group]
    without = totals - of_group
    shares = without / np.maximum(without.sum(axis=1, keepdims=True), 1)
    for k in range(cells.n_classes):
        yield cells.pairs.multiplicity * cells.pairs.counts[:, k], cells.pairs.others, shares


def _leaves_out_groups(cells: CellCounts) -> bool:
    """Whether a row is left out with others; groups of one row are rows."""
    if not isinstance(cells, GroupedCounts):
        return False
    if cells.rows is None:
        return not cells.of_single_rows
    return int(cells.rows.group[-1]) + 1 < cells.n_samples


def _frequencies(counts: NDArray[Any], shares: Floats) -> Floats:
    """Class frequencies of cells; those of all rows where a cell is empty."""
    size = counts.sum(axis=1, keepdims=True)
    return np.where(size > 0, counts / np.maximum(size, 1), shares)
