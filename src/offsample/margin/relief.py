"""Relief, ReliefF and RReliefF: what the nearest rows say of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from offsample._ties import rounded
from offsample._typing import Floats, Ints
from offsample.margin import _passes
from offsample.margin._selector import Target, WeighingSelector, rows_with_a_hit
from offsample.margin._sketch import Sample
from offsample.margin._space import SQUARED, Columns, make_space


@dataclass(kw_only=True, eq=False, repr=False)
class Relief(WeighingSelector):
    """Select features that differ between a row and its nearest misses, but not its nearest hits.

    With one neighbour this is Relief: the mean over rows of ``(xᵢ - nearmiss(x)ᵢ)² - (xᵢ - nearhit(x)ᵢ)²``,
    Algorithm 3 of Gilad-Bachrach et al. (2004). With more it is ReliefF (Kononenko 1994): k nearest rows of
    every class, the misses weighted by the prior of their class among the other classes, and absolute
    differences, in distances too.

    A target of floats that are not whole numbers of at most 20 different values is a number, and this is
    RReliefF (Robnik-Šikonja & Kononenko 1997): of the k nearest rows, all alike, how much more a feature
    differs where the target does, ``N(both) / N(target) - (N(feature) - N(both)) / (m - N(target))``, by
    absolute differences, those of the target as a share of its range. Ten neighbours are a good choice there.

    Two values of a category differ by 0 or 1; a missing value differs by the mean difference of a value drawn
    from its column.

    Parameters
    ----------
    n_neighbors : int or "multisurf", default=1
        Nearest hits, and nearest misses of each class if more than 1; all rows of a smaller class.
        "multisurf" takes all rows that are nearer than the row's mean distance less half a standard deviation
        (Urbanowicz et al. 2018).
    n_iter : int or None, default=None
        Rows drawn, with replacement, to be compared with all others. None: every row once.
    n_features_to_select : int, float or "auto", default="auto"
        A number, a share of all, or as many of the best features as the nearest-neighbour rule needs on rows
        that the ranking did not see: in five folds, the fewest within one standard error of the least error.
    threshold : float or None, default=None
        Select the features whose weight is above it, τ of Algorithm 3, instead of a number of them.
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

    n_neighbors: int | Literal["multisurf"] = 1
    n_iter: int | None = None
    _takes_numbers: ClassVar[bool] = True
    _least: ClassVar[dict[str, int]] = {"n_neighbors": 1, "n_iter": 1}

    def _select(
        self, columns: Columns, target: Target, random: np.random.RandomState, n_threads: int
    ) -> None:
        if isinstance(self.n_neighbors, str) and self.n_neighbors != "multisurf":
            raise ValueError(f"n_neighbors must be a number or 'multisurf', got {self.n_neighbors!r}")
        sample, rows = self._sample(columns, target)
        if self.n_iter is not None and len(rows):
            rows = rows[random.randint(len(rows), size=self.n_iter)]
        weights = self._weights(sample, rows, target, n_threads)
        self._keep_best(weights, lambda *part: self._weights(*self._sample(*part), part[1]), columns, target)
        self.score_ = np.nan
        if target.dtype.kind != "f":
            positive = np.maximum(weights, 0)
            norm = np.sqrt(positive / max(positive.max(), np.finfo(float).tiny))
            if sample.sketch is not None:  # plain numbers, whichever way they differ
                euclidean = sample.space._replace(kinds=np.full_like(sample.space.kinds, SQUARED))
            else:
                euclidean = make_space(columns, matched=self.categories == "matched")
            margins = _passes.margins(sample._replace(space=euclidean), norm, rows, n_threads)
            self.score_ = float(margins.sum())
        self.history_ = [np.array([self.score_])]
        self._report(f"{len(rows)} rows compared, score {self.score_:.6g}")

    def _sample(self, columns: Columns, target: Target) -> tuple[Sample, Ints]:
        """Sample with the differences that are summed, and the rows that can be compared."""
        numbers = target.dtype.kind == "f"
        squared = self.n_neighbors == 1 and not numbers
        space = make_space(columns, squared=squared, matched=self.categories == "matched")
        labels = np.zeros(len(target), np.int64) if numbers else target.astype(np.int64)
        rows = np.arange(len(target)) if numbers else rows_with_a_hit(labels, columns.groups)
        return Sample.of(space, labels, groups=columns.groups), rows

    def _weights(self, sample: Sample, rows: Ints, target: Target, n_threads: int = 1) -> Floats:
        """What some rows say of the features, by classes or by numbers from 0 to 1."""
        n_neighbors, labels, n_features = self.n_neighbors, sample.labels, len(sample.space.columns)
        n_classes, ones = int(labels.max()) + 1, np.ones(n_features)

        def near(block: Ints) -> Ints:
            """Neighbours of rows, of shape (rows, groups, neighbours); -1 where there are fewer."""
            if isinstance(n_neighbors, str):
                return _near_rows(sample, block)[:, None]
            by_class = None if n_neighbors == 1 and target.dtype.kind != "f" else n_classes
            n_nearest = min(n_neighbors, len(labels))
            return _passes.find_nearest(
                sample, ones, block, n_neighbors=n_nearest, n_classes=by_class
            ).neighbor

        def by_classes(block: Ints) -> Floats:
            """Differences to misses less those to hits."""
            found = near(block)
            if isinstance(n_neighbors, str):
                own = np.where(found[:, 0] >= 0, labels, n_classes)
                n_found = np.array([np.bincount(row, minlength=n_classes + 1) for row in own])
                coefficients = (group_weight[labels[block]] / np.maximum(n_found[:, :-1], 1))[:, labels]
            else:
                share = group_weight[labels[block]] / np.maximum((found >= 0).sum(axis=2), 1)
                coefficients = np.repeat(share, found.shape[2], axis=1)
            return _passes.sum_pairs(sample, block, found.reshape(len(block), -1), coefficients)

        def by_numbers(block: Ints) -> Floats:
            """Differences of the features and, last, weights: of all pairs, and times that of the numbers."""
            found = near(block)[:, 0]
            is_there = found >= 0
            share = is_there / np.maximum(is_there.sum(axis=1, keepdims=True), 1)
            both = share * np.abs(target[block][:, None] - target[found])
            sums = [np.append(_passes.sum_pairs(sample, block, found, c), c.sum()) for c in (share, both)]
            return np.array(sums)

        if target.dtype.kind != "f":
            if n_neighbors == 1:  # one hit, and one miss of any class
                group_weight = np.broadcast_to([-1.0, 1.0], (n_classes, 2))
            else:
                prior = np.bincount(labels) / len(labels)
                group_weight = np.where(np.eye(n_classes), -1.0, prior / (1 - prior[:, None]))
            blocks = _passes.over_blocks(by_classes, rows, len(labels), n_threads)
            return np.asarray(sum(blocks, np.zeros(n_features)) / max(len(rows), 1))
        blocks = _passes.over_blocks(by_numbers, rows, len(labels), n_threads)
        every, both = sum(blocks, np.zeros((2, n_features + 1)))
        if both[-1] <= 0:  # near rows have the same number
            return np.zeros(n_features)
        apart = max(every[-1] - both[-1], np.finfo(float).tiny)
        return np.asarray(both[:-1] / both[-1] - (every[:-1] - both[:-1]) / apart)


def _near_rows(sample: Sample, block: Ints) -> Ints:
    """Each row's place where it is nearer than the mean less half a deviation; else -1."""
    distances = np.zeros((len(block), len(sample.labels)))
    _passes.add_distances(sample.space, np.ones(len(sample.space.columns)), block, distances)
    others = sample.groups[block][:, None] != sample.groups
    scale = float(distances.max(initial=0.0)) or 1.0
    known = np.where(others, distances, np.nan)
    limits = np.nanmean(known, axis=1) - np.nanstd(known, axis=1) / 2
    near = others & (rounded(distances, scale) < rounded(limits, scale)[:, None])
    return np.where(near, np.arange(len(sample.labels)), -1)
