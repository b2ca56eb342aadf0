"""What a split says of groups that did not make it: groups, dealt into bundles, are left out in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, stdtr

from offsample._ties import rounded
from offsample._typing import Bytes, Floats, Ints
from offsample.hypotheses import CellRule

# More groups are merged at random: counts stay small, and a few dozen units show how much they vary.
N_BUNDLES = 64
_SMALLEST_LOG_P = -700.0


def deal(groups: Ints, seed: int = 0) -> Bytes:
    """Bundle of each row."""
    codes = np.unique(groups, return_inverse=True)[1]
    place = np.random.default_rng(seed).permutation(int(codes.max()) + 1) % N_BUNDLES
    return place[codes].astype(np.uint8)


class BundleCounts:
    """Class counts of the bundles in the cells that a cell is split into, by the child, … of each row."""

    def __init__(
        self, child: NDArray[Any], bundle: Bytes, label: NDArray[Any], n_children: int, n_classes: int
    ) -> None:
        key = (child.astype(np.int64) * N_BUNDLES + bundle) * n_classes + label
        counts = np.bincount(key, minlength=n_children * N_BUNDLES * n_classes)
        counts = counts.reshape(n_children, N_BUNDLES, n_classes)
        self.counts = counts[:, counts.any(axis=(0, 2))]

    def gain(self, rule: type[CellRule], falls_back: bool) -> float:
        """Errors, in rows, that the split saves a rule which has not seen the bundle of the row.

        Where no other bundle has rows, the rule is that of the cell which was split, if it `falls_back`.
        """
        whole = self.counts.sum(axis=0)
        above = rule.from_counts(whole.sum(axis=0) - whole)
        others = self.counts.sum(axis=1, keepdims=True) - self.counts
        below = rule.from_counts(others)
        if falls_back:
            below = np.where(others.any(axis=2, keepdims=True), below, above)
        return float((self.counts * below).sum() - (whole * above).sum())

    def saved(self, losses: Callable[[Ints], Floats]) -> float:
        """Loss that the split saves, given that of what counts predict on a row of each class."""
        whole = self.counts.sum(axis=0)
        others = self.counts.sum(axis=1, keepdims=True) - self.counts
        above = losses(whole.sum(axis=0) - whole)
        below = np.where(others.any(axis=2, keepdims=True), losses(others), above)
        return float((whole * above).sum() - (self.counts * below).sum())

    def log_p(self) -> float:
        """Log p-value of "the children do not differ in other bundles than those that made them"."""
        size = self.counts.sum(axis=(1, 2))
        whole = self.counts.sum(axis=(0, 1))
        n_bundles = self.counts.shape[1]
        if n_bundles < 2 or (size > 0).sum() < 2:
            return 0.0
        rows = self.counts.sum(axis=2, keepdims=True)
        beyond = self.counts - rows * (whole / whole.sum())  # than the shares of the classes
        if len(size) == 2:
            share = size[1] / size.sum()
            scores = beyond[1] * (1 - share) - beyond[0] * share
            return float(log_p_of_scores(scores.T[None], beyond.sum(axis=0).T, *rows[:, None, :, 0])[0])
        return _log_p_of_pairs(beyond[size > 0] / np.sqrt(size[size > 0])[:, None, None])


def log_p_of_scores(scores: Floats, beyond: Floats, n_true: Floats | Ints, n_false: Floats | Ints) -> Floats:
    """Log p-values of means that are zero, given what each bundle adds to each, by class.

    `scores` has the shape (n_splits, n_classes, n_bundles), rows on either side (n_splits, n_bundles).
    Student's test, of more than two classes the best of each times their number; a bundle varies about its
    share, by its rows, of the sum. It is too sure where bundles are on one side of the split only, as they
    are of a column that is constant within groups: there chance does as well as Fisher's exact test says of
    the bundles and whether they have more of the class than `beyond` zero. Bundles on both sides have one
    sign of two each.
    """
    from offsample.induction import kernels

    true, false, share = n_true > 0, n_false > 0, (n_true[0] + n_false[0]) / (n_true[0] + n_false[0]).sum()
    n_tests = 1 if scores.shape[1] == 2 else scores.shape[1]
    total = scores[:, :n_tests].sum(axis=2)
    squares = (((scores[:, :n_tests] - total[:, :, None] * share) / (1 - share)) ** 2).sum(axis=2)
    t = np.abs(total) / np.sqrt(np.maximum(squares, 1e-12 * total**2 + 1e-300))
    best = rounded(-1 / (1 + t)).argmax(axis=1)
    with np.errstate(divide="ignore"):
        log_p = np.log(2 * stdtr(max(1 / float(share @ share) - 1, 1e-3), -t[np.arange(len(t)), best]))
    more, alone = beyond[best] > 0, true ^ false
    sides = [~more & alone, more & alone]
    totals = np.column_stack([side.sum(axis=1) for side in sides])
    counts = np.column_stack([(side & true).sum(axis=1) for side in sides])
    least = np.zeros(len(t))
    for i in np.flatnonzero(totals.all(axis=1)):
        least[i] = kernels.log_p_two_cells(counts[i : i + 1], totals[i])[0]
    least -= 2 * np.log(2) * (true & false).sum(axis=1)
    return np.asarray(np.clip(np.maximum(log_p, least) + np.log(n_tests), _SMALLEST_LOG_P, 0.0))


def _log_p_of_pairs(beyond: Floats) -> float:
    """Log p-value of the agreement of different bundles, of shape (n_children, n_bundles, n_classes).

    Without a signal, what a bundle has beyond the shares might as well be the opposite. Under random signs
    the sum of the products over pairs of bundles has these moments; its law is taken for a gamma law.
    """
    flat = beyond.transpose(1, 0, 2).reshape(beyond.shape[1], -1)
    pairs = flat @ flat.T
    np.fill_diagonal(pairs, 0.0)
    variance = 2 * float((pairs**2).sum())
    if variance <= 0:
        return 0.0
    third = 8 * float(((pairs @ pairs) * pairs).sum())
    scale = max(third / (4 * variance), 1e-3 * np.sqrt(variance))
    freedom = variance / (2 * scale**2)
    with np.errstate(divide="ignore"):
        log_p = np.log(chdtrc(freedom, max(0.0, freedom + float(pairs.sum()) / scale)))
    return float(max(log_p, _SMALLEST_LOG_P))
