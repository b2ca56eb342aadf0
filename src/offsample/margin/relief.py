"""Relief, ReliefF and RReliefF: what the nearest rows say of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from offsample._typing import Floats, Ints
from offsample.margin import _passes
from offsample.margin._selector import MarginSelector, rows_with_a_hit
from offsample.margin._sketch import Sample
from offsample.margin._space import SQUARED, Columns, make_space


@dataclass(kw_only=True, eq=False, repr=False)
class Relief(MarginSelector):
    """Select features that differ between a row and its nearest misses, but not its nearest hits.

    With one neighbour this is Relief: the mean over rows of ``(xᵢ - nearmiss(x)ᵢ)² - (xᵢ - nearhit(x)ᵢ)²``,
    Algorithm 3 of Gilad-Bachrach et al. (2004). With more it is ReliefF (Kononenko 1994): k nearest rows of
    every class, the misses weighted by the prior of their class among the other classes, and absolute
    differences.

    A target of floats that are not whole numbers of at most 20 different values is a number, and this is
    RReliefF (Robnik-Šikonja & Kononenko 1997): of the k nearest rows, all alike, how much more a feature
    differs where the target does, ``N(both) / N(target) - (N(feature) - N(both)) / (m - N(target))``, by
    absolute differences, those of the target as a share of its range. Ten neighbours are a good choice there.

    Tables are read as they are. Two values of a category differ by 0 or 1; a missing value differs by the
    mean difference of a value drawn from its column.

    Parameters
    ----------
    n_neighbors : int, default=1
        Nearest hits, and nearest misses of each class if more than 1; all rows of a smaller class.
    n_iter : int or None, default=None
        Rows drawn, with replacement, to be compared with all others. None: every row once.
    difference : {"auto", "squared", "absolute"}, default="auto"
        How two numbers differ, in distances and weights. "auto" is "squared" for one neighbour and
        "absolute" for more, and for a target of numbers.
    n_features_to_select : int, float or "auto", default="auto"
        A number, a share of all, or the features before the largest gap between positive weights.
    scale : {"minmax", "standard"} or None, default="minmax"
        Scale of numeric columns.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Columns to read as categorical although they hold numbers.
    categories : {"unit", "matched"}, default="unit"
        "unit": two values of a category differ by 1. "matched": two rows drawn at random differ on average
        as much in a categorical column as in a numeric one.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the rows of `n_iter`.
    verbose : int, default=0
        Whether to write a line at the end.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features_in_,)
        Mean over the rows; negative for features that differ more between hits.
    ranking_ : ndarray of shape (n_features_in_,)
        1 for the feature with the largest weight.
    score_ : float
        Margin function e over the rows compared, with the positive weights, of maximum 1, as w²; NaN for a
        target of numbers, which has no margins. Then there are no `classes_`.
    history_ : list of one ndarray
        The score. Relief makes one pass.
    support_ : ndarray of bool, shape (n_features_in_,)
    n_features_, classes_, n_features_in_, feature_names_in_

    See Also
    --------
    Simba : Finds the neighbours with the weights themselves, and so sees which features are redundant.
    GFlip : Chooses a set of features, without weights.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.margin import Relief
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 6))
    >>> y = X[:, 1] * X[:, 4] > 0  # neither says anything alone
    >>> Relief().fit(X, y).get_support(indices=True).tolist()
    [1, 4]
    """

    n_neighbors: int = 1
    n_iter: int | None = None
    difference: Literal["auto", "squared", "absolute"] = "auto"
    n_features_to_select: int | float | Literal["auto"] = "auto"
    _takes_numbers: ClassVar[bool] = True

    def _check_options(self) -> None:
        self._check_least(n_neighbors=1, n_iter=1)
        if self.difference not in ("auto", "squared", "absolute"):
            raise ValueError(f"difference must be 'auto', 'squared' or 'absolute', got {self.difference!r}")

    def _select_by_numbers(
        self, columns: Columns, numbers: Floats, random: np.random.RandomState, n_threads: int
    ) -> None:
        self._check_options()
        rows = np.arange(len(numbers))
        if self.n_iter is not None:
            rows = random.randint(len(rows), size=self.n_iter)
        space = make_space(
            columns, squared=self.difference == "squared", matched=self.categories == "matched"
        )
        sample = Sample.of(space, np.zeros(len(numbers), np.int64), groups=columns.groups)
        weights = weights_by_numbers(sample, numbers, rows, self.n_neighbors, n_threads)
        self._keep_best(weights, self.n_features_to_select)
        self.score_, self.history_ = np.nan, [np.array([np.nan])]
        self._report(f"{len(rows)} rows compared")

    def _select(self, columns: Columns, labels: Ints, random: np.random.RandomState, n_threads: int) -> None:
        self._check_options()
        squared = self.difference == "squared" or (self.difference == "auto" and self.n_neighbors == 1)
        rows = rows_with_a_hit(labels, columns.groups)
        if self.n_iter is not None and len(rows):
            rows = rows[random.randint(len(rows), size=self.n_iter)]

        space = make_space(columns, squared=squared, matched=self.categories == "matched")
        sample = Sample.of(space, labels, groups=columns.groups)
        weights = relief_weights(sample, rows, self.n_neighbors, n_threads)
        self._keep_best(weights, self.n_features_to_select)

        positive = np.maximum(weights, 0)
        norm = np.sqrt(positive / max(positive.max(), np.finfo(float).tiny))
        if sample.sketch is not None:  # plain numbers, whichever way they differ
            euclidean = space._replace(kinds=np.full_like(space.kinds, SQUARED))
        else:
            euclidean = space if squared else make_space(columns, matched=self.categories == "matched")
        margins = _passes.margins(sample._replace(space=euclidean), norm, rows, n_threads)
        self.score_ = float(margins.sum())
        self.history_ = [np.array([self.score_])]
        self._report(f"{len(rows)} rows compared, score {self.score_:.6g}")


def relief_weights(sample: Sample, rows: Ints, n_neighbors: int, n_threads: int) -> Floats:
    """Compute the mean difference to the nearest misses less that to the nearest hits."""
    labels, ones = sample.labels, np.ones(len(sample.space.columns))
    n_classes = int(labels.max()) + 1
    n_nearest, groups = min(n_neighbors, len(labels)), None if n_neighbors == 1 else n_classes
    if n_neighbors == 1:  # one hit, and one miss of any class
        group_weight = np.broadcast_to([-1.0, 1.0], (n_classes, 2))
    else:
        prior = np.bincount(labels) / len(labels)
        group_weight = np.where(np.eye(n_classes), -1.0, prior / (1 - prior[:, None]))

    def block_weights(block: Ints) -> Floats:
        found = _passes.find_nearest(sample, ones, block, n_neighbors=n_nearest, n_classes=groups)
        n_found = (found.neighbor >= 0).sum(axis=2)
        share = group_weight[labels[block]] / np.maximum(n_found, 1)
        coefficients = np.repeat(share, found.neighbor.shape[2], axis=1)
        return _passes.sum_pairs(sample, block, found.neighbor.reshape(len(block), -1), coefficients)

    blocks = _passes.over_blocks(block_weights, rows, len(labels), n_threads)
    return np.asarray(sum(blocks, np.zeros(len(ones))) / max(len(rows), 1))


def weights_by_numbers(
    sample: Sample, numbers: Floats, rows: Ints, n_neighbors: int, n_threads: int
) -> Floats:
    """Compute how much more features differ between near rows where numbers from 0 to 1 do, by RReliefF."""
    ones, n_nearest = np.ones(len(sample.space.columns)), min(n_neighbors, len(numbers))

    def block_sums(block: Ints) -> Floats:
        """Differences of the features and, last, weights: of all pairs, and times that of the numbers."""
        found = _passes.find_nearest(sample, ones, block, n_neighbors=n_nearest, n_classes=1).neighbor[:, 0]
        is_there = found >= 0
        share = is_there / np.maximum(is_there.sum(axis=1, keepdims=True), 1)
        both = share * np.abs(numbers[block][:, None] - numbers[found])
        sums = [np.append(_passes.sum_pairs(sample, block, found, c), c.sum()) for c in (share, both)]
        return np.array(sums)

    blocks = _passes.over_blocks(block_sums, rows, len(numbers), n_threads)
    every, both = sum(blocks, np.zeros((2, len(ones) + 1)))
    if both[-1] <= 0:  # near rows have the same number
        return np.zeros(len(ones))
    apart = max(every[-1] - both[-1], np.finfo(float).tiny)
    return np.asarray(both[:-1] / both[-1] - (every[:-1] - both[:-1]) / apart)
