"""Losses of probabilities, orders and decisions off the sample, from the same counts as the error.

Each row is judged by what the others of its cell say, and by the class shares of all others where its cell is
new. With `counts.GroupedCounts` the others are the rows of other groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._grouped_counts import Groups
from offsample._text import shorten
from offsample._ties import rounded
from offsample._typing import Floats, Ints
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.hypotheses import GiniRule


class Loss(ABC):
    """A loss on rows by what is said of them: by the rows that are known in their cell, and in all."""

    @abstractmethod
    def on(self, k: int, others: NDArray[Any], shares: Floats) -> Floats:
        """Loss on a row of class k, given counts (..., K) that are known in its cell, and shares in all."""

    def within(self, cell: Ints) -> Loss:
        """Return the same loss for counts of these cells, where it depends on which they are."""
        del cell
        return self


@dataclass(frozen=True)
class LogLoss(Loss):
    """Of the frequencies in a cell, drawn toward the shares, which count for `prior_weight` rows."""

    prior_weight: float
    least_share: float  # a class that only this row has would never be expected: as if half of it were seen

    def on(self, k: int, others: NDArray[Any], shares: Floats) -> Floats:
        """Loss on a row of class k."""
        own = others[..., k] + self.prior_weight * np.maximum(shares[..., k], self.least_share)
        return np.asarray(np.log((others.sum(axis=-1) + self.prior_weight) / own))


@dataclass(frozen=True)
class BrierLoss(Loss):
    """Squared distance of the frequencies in a cell from the class; of the shares where it is new."""

    def on(self, k: int, others: NDArray[Any], shares: Floats) -> Floats:
        """Loss on a row of class k."""
        p = frequencies(others, shares)
        return np.asarray(1 - 2 * p[..., k] + (p**2).sum(axis=-1))


@dataclass(frozen=True, eq=False)
class CostLoss(Loss):
    """Cost of the class that is cheapest in a cell; classes that are equally cheap share the prediction."""

    matrix: Floats

    def on(self, k: int, others: NDArray[Any], shares: Floats) -> Floats:
        """Loss on a row of class k."""
        del shares
        return np.asarray(self.decided(others) @ self.matrix[k])

    def decided(self, others: NDArray[Any]) -> Floats:
        """Part that each class has in the prediction."""
        of_class = others @ self.matrix
        cheapest = of_class == of_class.min(axis=-1, keepdims=True)
        return np.asarray(cheapest / cheapest.sum(axis=-1, keepdims=True))


def mean_loss(cells: CellCounts, loss: Loss) -> float:
    """Loss on rows that are left out: alone, with their group, or with the future."""
    total = 0.0
    for k, left in enumerate(left_out_rows(cells)):
        total += float(left.rows @ loss.on(k, left.others, left.shares))
    return total / cells.n_samples


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
    return mean_loss(cells, LogLoss(prior_weight, 0.5 / cells.n_samples))


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
    return mean_loss(cells, BrierLoss())


def cost_loo(cells: CellCounts, costs: ArrayLike | Mapping[str, float]) -> float:
    """Estimated cost per new row of predicting the class that is cheapest in a cell.

    Classes that are equally cheap share the prediction, as do all where the other rows show none: with a cost
    of one for every mistake this is `bayes_loo`.

    Parameters
    ----------
    cells : CellCounts
    costs : array-like of shape (n_classes, n_classes), or dict
        ``costs[true, predicted]``; for two classes also ``{"fn": 10, "fp": 1}``, about the rarer one, of
        equals the second.

    Examples
    --------
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import cost_loo
    >>> round(cost_loo(CellCounts([[30, 10], [5, 55]]), {"fn": 10, "fp": 1}), 4)
    0.6
    """
    cells.require_frequencies("cost_loo")
    rarer = rarer_class(cells.class_totals) if cells.n_classes == 2 else None
    return mean_loss(cells, CostLoss(_cost_matrix(costs, cells.n_classes, rarer)))


def information_gain_loo(cells: CellCounts, prior_weight: float = 1.0) -> float:
    """Information on the class of a new row that its cell gives, in bits: log loss without cells less with.

    It is what is left of `information_gain` off the sample: 0 for an identifier, and below 0 where the
    frequencies in cells are more chance than signal.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.counts import CellCounts
    >>> from offsample.criteria import information_gain, information_gain_loo
    >>> round(information_gain_loo(CellCounts([[30, 10], [5, 55]])), 4)
    0.3459
    >>> identifier = CellCounts(np.eye(2), [60, 40])
    >>> round(information_gain(identifier), 4), abs(round(information_gain_loo(identifier), 4))
    (0.971, 0.0)
    """
    cells.require_frequencies("information_gain_loo")
    loss, saved = LogLoss(prior_weight, 0.5 / cells.n_samples), 0.0
    if isinstance(cells, GroupedCounts) and leaves_out_groups(cells) and prior_weight == 1:
        saved = _loss_without_cells(cells.groups, loss) - cells.sums.log_loss
        return saved / cells.n_samples / float(np.log(2))
    for k, left in enumerate(left_out_rows(cells)):
        blind = loss.on(k, left.in_all, left.shares)
        saved += float(left.rows @ (blind - loss.on(k, left.others, left.shares)))
    return saved / cells.n_samples / float(np.log(2))


@lru_cache(maxsize=1)  # the same for all columns of a table
def _loss_without_cells(groups: Groups, loss: Loss) -> float:
    rows = enumerate(groups.counts.T)
    return sum(float(n @ loss.on(k, groups.without, groups.shares)) for k, n in rows)


def rarer_class(totals: ArrayLike) -> int:
    """Number of the class that is of interest unless another is named: the rarest; of equals the last."""
    counts = np.asarray(totals)
    return int(np.flatnonzero(counts == counts.min())[-1])


def rare_class(totals: ArrayLike) -> int | None:
    """Number of the rarest of three classes or more, if it has less than half of an equal share."""
    counts = np.asarray(totals)
    is_rare = len(counts) > 2 and 2 * len(counts) * counts.min() < counts.sum()
    return rarer_class(counts) if is_rare else None


def cost_index(weights: Sequence[float], shares: Floats) -> Floats:
    """Gini index of class shares, of shape (..., K), each class weighted by what its mistakes cost.

    So rows are told apart near the share at which the cheapest decision changes, not near one half (Breiman
    et al. 1984, on altered priors). Rows that lack a class weigh alike.
    """
    weighted = shares * np.asarray(weights if len(weights) == shares.shape[-1] else 1.0)
    total = weighted.sum(axis=-1, keepdims=True)
    return np.asarray((weighted * (1 - weighted / np.where(total > 0, total, 1.0))).sum(axis=-1))


def class_stakes(costs: Floats) -> Floats:
    """What a row of each class has at stake: what decisions for the others cost more than the best one.

    A class with nothing at stake counts a millionth, so that it is still there.
    """
    more = (costs - costs.min(axis=1, keepdims=True)).sum(axis=1)
    return np.asarray(np.maximum(more, 1e-6 * more.max()) if more.any() else np.ones(len(costs)))


def decide(probabilities: Floats, costs: Floats | None) -> Ints:
    """Class of the least expected cost, given shares (..., K); of equals the likeliest, then the first."""
    if costs is None:
        return np.asarray(probabilities.argmax(axis=-1))
    cost = rounded(probabilities @ costs, float(np.abs(costs).max()) or 1.0)
    is_least = cost == cost.min(axis=-1, keepdims=True)
    return np.asarray(np.where(is_least, rounded(probabilities), -1.0).argmax(axis=-1))


def class_of_interest(classes: Sequence[Any], totals: ArrayLike, named: Any = None) -> int | None:
    """Number of the class that positives are of, everywhere: the named one, or the rarer of two.

    None if there are more than two, and none is named.
    """
    if named is None:
        return rarer_class(totals) if len(classes) == 2 else None
    for k, label in enumerate(classes):
        if label == named or str(label) == str(named):
            return k
    if len(meant := [k for k, label in enumerate(classes) if _means(str(named), str(label))]) == 1:
        return meant[0]
    listed = ", ".join(repr(str(label)) for label in classes[:10])
    raise ValueError(f"positive {str(named)!r} is not a class: expected one of {listed}")


def _means(named: str, label: str) -> bool:
    """Whether what people type is this class, written otherwise: 1 is 1.0, and true or 1 is True."""
    try:
        return float(named) == float({"True": "1", "False": "0"}.get(label, label))
    except ValueError:
        return named.lower() == label.lower()


def checked_costs(costs: ArrayLike | Mapping[str, float], n_classes: int, positive: int | None) -> Floats:
    """Costs as a matrix ``costs[true, predicted]``, or an error that says what was expected.

    `positive` is the class that fn and fp speak of (see `class_of_interest`): to take one of the others for
    another of them counts as tn. Costs must leave something to decide, and gains be written as costs.
    """
    matrix = _cost_matrix(costs, n_classes, positive)
    if n_classes > 1 and (matrix[:, :, None] <= matrix[:, None]).all(axis=(0, 2)).any():
        lacks = [name for name in ("fn", "fp") if isinstance(costs, Mapping) and name not in costs]
        told = f" ({lacks[0]} is not given)" if lacks else ""
        raise ValueError(
            f"by these costs{told} one class is the cheapest decision for every row: expected that each kind "
            "of mistake costs something, such as fn=10,fp=1"
        )
    if (matrix < 0).any():
        same = matrix - matrix.min(axis=1, keepdims=True)  # those of a class may all be raised alike
        k = 1 if positive is None else positive
        told = f"fn={same[k, k - 1]:g},fp={same[k - 1, k]:g}"
        told = told if isinstance(costs, Mapping) else f"{same.tolist()}, true × predicted"
        raise ValueError(
            "costs must not be negative: what a right decision gains, the wrong one costs more; the same "
            f"decisions follow from {told}"
        )
    return matrix


def as_number(value: Any, name: str) -> float:
    """Return a finite number, or raise an error that says what was found in its place."""
    try:
        number = float(value)
    except (ValueError, TypeError):
        number = float("nan")
    if not np.isfinite(number):
        raise ValueError(f"{name} is {shorten(repr(value), 80)}: expected a finite number")
    return number


def _cost_matrix(costs: ArrayLike | Mapping[str, float], n_classes: int, positive: int | None) -> Floats:
    """Costs of any signs as a matrix."""
    if isinstance(costs, Mapping):
        if unknown := sorted(set(costs) - {"fn", "fp", "tn", "tp"}):
            expected = "fn and fp (and tn, tp), or a matrix [true, predicted]"
            raise ValueError(f"costs has the entry {unknown[0]!r}: expected {expected}")
        if n_classes != 2 and positive is None:
            expected = "which one (positive=, or --positive CLASS), or a matrix [true, predicted]"
            raise ValueError(f"costs speak of one class, and there are {n_classes}: expected {expected}")
        is_it = (np.arange(n_classes) == (1 if positive is None else positive)).astype(int)
        told = {name: as_number(cost, f"costs[{name!r}]") for name, cost in costs.items()}
        by_side = [[told.get("tn", 0.0), told.get("fp", 0.0)], [told.get("fn", 0.0), told.get("tp", 0.0)]]
        costs = np.asarray(by_side)[np.ix_(is_it, is_it)]
    if isinstance(costs, str):
        raise ValueError(
            f"costs is the text {costs!r}: expected a dict such as {{'fn': 10, 'fp': 1}}, or a matrix"
        )
    try:
        matrix = np.asarray(costs, dtype=float)
    except (ValueError, TypeError):
        expected = f"{n_classes} rows of {n_classes} numbers each, true × predicted"
        raise ValueError(f"costs is {shorten(repr(costs), 80)}: expected {expected}") from None
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}: expected {(n_classes, n_classes)}, true × predicted"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers")
    return matrix


def log_losses(probabilities: Floats) -> Floats:
    """Log loss, in nats, on a row of each class, of probabilities of shape (..., K)."""
    return np.asarray(-np.log(np.maximum(probabilities, np.finfo(float).tiny)))


def brier_losses(probabilities: Floats) -> Floats:
    """The same of the Brier score."""
    return np.asarray(1 - 2 * probabilities + (probabilities**2).sum(axis=-1, keepdims=True))


def log_loss_terms(totals: NDArray[Any], counts: NDArray[Any]) -> Floats:
    """What cells, of shape (..., K), add to m times `log_loss_loo`, in a sample with these class totals."""
    m = int(totals.sum())
    share = np.maximum(np.maximum(totals - 1, 0) / max(1, m - 1), 0.5 / max(1, m))
    size = counts.sum(axis=-1, keepdims=True)
    own = np.maximum(counts - 1, 0) + share  # of a class without rows any number will do
    return np.asarray((counts * (np.log(np.maximum(size, 1)) - np.log(own))).sum(axis=-1))


def brier_terms(totals: NDArray[Any], counts: NDArray[Any]) -> Floats:
    """The same of `brier_loo`: as Ginger's, but a row that is alone is rated by the shares of all others."""
    size = counts.sum(axis=-1)
    left = np.maximum(size - 1, 1)[..., None]
    squares = (counts**2).sum(axis=-1, keepdims=True) - 2 * counts + 1  # of what is left, by the row's class
    own = (counts - 1) / left
    loss = (counts * (1 - 2 * own + squares / left**2)).sum(axis=-1)
    fewer = np.maximum(totals - np.eye(len(totals)), 0) / max(1, totals.sum() - 1)
    alone = np.diagonal(brier_losses(fewer))
    return np.asarray(np.where(size > 1, loss, counts @ alone))


class LeftOut(NamedTuple):
    """Rows of one class that are left out: at each place so many, and what is known there without them."""

    rows: Ints
    others: NDArray[Any]  # counts in their cell, of shape (n_places, K)
    shares: Floats  # of the classes in all rows
    in_all: NDArray[Any]  # counts in all rows


def left_out_rows(cells: CellCounts) -> Iterator[LeftOut]:
    """For each class what is left out: at the rows of a profile, at values of groups, or at each row."""
    if isinstance(cells, HeldOutCounts):
        known, in_all = cells.known_counts(), cells.known_counts(blind=True)
        shares = GiniRule.from_counts(in_all)
        for k in range(cells.n_classes):
            yield LeftOut((cells.label == k).astype(np.int64), known, shares, in_all)
        return
    totals = np.asarray(cells.class_totals)
    if not leaves_out_groups(cells):
        left_out, others, times = CellCounts.left_out(cells)
        for k in range(cells.n_classes):
            rest = np.maximum(totals - np.eye(cells.n_classes, dtype=np.int64)[k], 0)
            shares, in_all = (np.broadcast_to(n, left_out.shape) for n in (rest / max(1, rest.sum()), rest))
            yield LeftOut(times * left_out[:, k], others(k), shares, in_all)
        return
    assert isinstance(cells, GroupedCounts)
    table = cells.table
    without, shares = cells.groups.without[table.group], cells.groups.shares[table.group]
    for k in range(cells.n_classes):
        yield LeftOut(table.counts[:, k], table.others, shares, without)


def leaves_out_groups(cells: CellCounts) -> bool:
    """Whether a row is left out with others; groups of one row are rows."""
    return isinstance(cells, GroupedCounts) and not cells.of_single_rows


def frequencies(counts: NDArray[Any], shares: Floats) -> Floats:
    """Class frequencies of cells; those of all rows where a cell is empty."""
    size = counts.sum(axis=-1, keepdims=True)
    return np.where(size > 0, counts / np.maximum(size, 1), shares)
