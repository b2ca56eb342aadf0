"""Relief, ReliefF and RReliefF: what the nearest rows say of each feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.margin import _passes
from offsample.margin._selector import MarginSelector, rows_with_a_hit
from offsample.margin._sketch import Sample
from offsample.margin._space import SQUARED, Columns, make_space

WITHIN = ("surf", "multisurf")  # neighbours by their distance instead of their number


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
    n_neighbors : int, "surf" or "multisurf", default=1
        Nearest hits, and nearest misses of each class if more than 1; all rows of a smaller class. "surf"
        takes all rows that are nearer than two rows are on average (Greene et al. 2009), "multisurf" all that
        are nearer than the row's mean distance less half a standard deviation (Urbanowicz et al. 2018).
    n_iter : int or None, default=None
        Rows drawn, with replacement, to be compared with all others. None: every row once.
    difference : {"auto", "squared", "absolute"}, default="auto"
        How two numbers differ, in distances and weights. "auto" is "squared" for one neighbour and
        "absolute" for more, and for a target of numbers.
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

    n_neighbors: int | Literal["surf", "multisurf"] = 1
    n_iter: int | None = None
    difference: Literal["auto", "squared", "absolute"] = "auto"
    n_features_to_select: int | float | Literal["auto"] = "auto"
    threshold: float | None = None
    _takes_numbers: ClassVar[bool] = True

    def _check_options(self) -> None:
        self._check_least(n_iter=1)
        if isinstance(self.n_neighbors, str) and self.n_neighbors not in WITHIN:
            raise ValueError(f"n_neighbors must be a number, 'surf' or 'multisurf', got {self.n_neighbors!r}")
        if not isinstance(self.n_neighbors, str):
            self._check_least(n_neighbors=1)
        if self.difference not in ("auto", "squared", "absolute"):
            raise ValueError(f"difference must be 'auto', 'squared' or 'absolute', got {self.difference!r}")

    def _sample(self, columns: Columns, target: Ints | Floats) -> Sample:
        numbers = target.dtype.kind == "f"
        squared = self.difference == "squared"
        squared |= self.difference == "auto" and self.n_neighbors == 1 and not numbers
        space = make_space(columns, squared=squared, matched=self.categories == "matched")
        labels = np.zeros(len(target), np.int64) if numbers else target.astype(np.int64)
        return Sample.of(space, labels, groups=columns.groups)

    def _weigh(self, columns: Columns, target: Ints | Floats) -> Floats:
        """Weights by all rows of a part."""
        sample = self._sample(columns, target)
        if target.dtype.kind == "f":
            return weights_by_numbers(
                sample, target.astype(np.float64), np.arange(len(target)), self.n_neighbors, 1
            )
        return relief_weights(sample, rows_with_a_hit(sample.labels, columns.groups), self.n_neighbors, 1)

    def _choose(self, weights: Floats, columns: Columns, target: Ints | Floats) -> None:
        def auto() -> int:
            return self._number(self._weigh, columns, target)

        self._keep_best(weights, self.n_features_to_select, auto, self.threshold)

    def _select_by_numbers(
        self, columns: Columns, numbers: Floats, random: np.random.RandomState, n_threads: int
    ) -> None:
        self._check_options()
        rows = np.arange(len(numbers))
        if self.n_iter is not None:
            rows = random.randint(len(rows), size=self.n_iter)
        sample = self._sample(columns, numbers)
        self._choose(weights_by_numbers(sample, numbers, rows, self.n_neighbors, n_threads), columns, numbers)
        self.score_, self.history_ = np.nan, [np.array([np.nan])]
        self._report(f"{len(rows)} rows compared")

    def _select(self, columns: Columns, labels: Ints, random: np.random.RandomState, n_threads: int) -> None:
        self._check_options()
        rows = rows_with_a_hit(labels, columns.groups)
        if self.n_iter is not None and len(rows):
            rows = rows[random.randint(len(rows), size=self.n_iter)]
        sample = self._sample(columns, labels)
        weights = relief_weights(sample, rows, self.n_neighbors, n_threads)
        self._choose(weights, columns, labels)

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


def relief_weights(
    sample: Sample, rows: Ints, n_neighbors: int | Literal["surf", "multisurf"], n_threads: int
) -> Floats:
    """Compute the mean difference to the nearest misses less that to the nearest hits."""
    labels, ones = sample.labels, np.ones(len(sample.space.columns))
    n_classes = int(labels.max()) + 1
    if n_neighbors == 1:  # one hit, and one miss of any class
        group_weight = np.broadcast_to([-1.0, 1.0], (n_classes, 2))
    else:
        prior = np.bincount(labels) / len(labels)
        group_weight = np.where(np.eye(n_classes), -1.0, prior / (1 - prior[:, None]))
    limit = near_limit(sample, rows, n_neighbors, n_threads)

    def block_weights(block: Ints) -> Floats:
        if isinstance(n_neighbors, str):
            neighbor = near_rows(sample, block, limit)
            own = np.where(neighbor >= 0, labels, n_classes)
            n_found = np.array([np.bincount(row, minlength=n_classes + 1) for row in own])
            share = group_weight[labels[block]] / np.maximum(n_found[:, :-1], 1)
            coefficients = share[:, labels]
        else:
            n_nearest, classes = min(n_neighbors, len(labels)), None if n_neighbors == 1 else n_classes
            found = _passes.find_nearest(sample, ones, block, n_neighbors=n_nearest, n_classes=classes)
            n_found = (found.neighbor >= 0).sum(axis=2)
            share = group_weight[labels[block]] / np.maximum(n_found, 1)
            coefficients = np.repeat(share, found.neighbor.shape[2], axis=1)
            neighbor = found.neighbor.reshape(len(block), -1)
        return _passes.sum_pairs(sample, block, neighbor, coefficients)

    blocks = _passes.over_blocks(block_weights, rows, len(labels), n_threads)
    return np.asarray(sum(blocks, np.zeros(len(ones))) / max(len(rows), 1))


def near_limit(
    sample: Sample, rows: Ints, n_neighbors: int | Literal["surf", "multisurf"], n_threads: int
) -> float | None:
    """Mean distance of two rows, for "surf"; None for what needs none, or has a limit for each row."""
    if n_neighbors != "surf" or not len(rows):
        return None

    def block_sums(block: Ints) -> Floats:
        distances, others = _distances_to_others(sample, block)
        return np.array([distances[others].sum(), others.sum()])

    total = sum(_passes.over_blocks(block_sums, rows, len(sample.labels), n_threads), np.zeros(2))
    return float(total[0] / max(total[1], 1.0))


def near_rows(sample: Sample, block: Ints, limit: float | None) -> Ints:
    """Each row's place where it is nearer than the limit, or than the mean less half a deviation; else -1."""
    distances, others = _distances_to_others(sample, block)
    scale = float(distances.max(initial=0.0)) or 1.0
    if limit is None:
        known = np.where(others, distances, np.nan)
        limits = np.nanmean(known, axis=1) - np.nanstd(known, axis=1) / 2
    else:
        limits = np.full(len(block), limit)
    near = others & (rounded(distances, scale) < rounded(limits, scale)[:, None])
    return np.where(near, np.arange(len(sample.labels)), -1)


def _distances_to_others(sample: Sample, block: Ints) -> tuple[Floats, Booleans]:
    distances = np.zeros((len(block), len(sample.labels)))
    _passes.add_distances(sample.space, np.ones(len(sample.space.columns)), block, distances)
    return distances, sample.groups[block][:, None] != sample.groups


def weights_by_numbers(
    sample: Sample,
    numbers: Floats,
    rows: Ints,
    n_neighbors: int | Literal["surf", "multisurf"],
    n_threads: int,
) -> Floats:
    """Compute how much more features differ between near rows where numbers from 0 to 1 do, by RReliefF."""
    ones = np.ones(len(sample.space.columns))
    limit = near_limit(sample, rows, n_neighbors, n_threads)

    def near(block: Ints) -> Ints:
        if isinstance(n_neighbors, str):
            return near_rows(sample, block, limit)
        n_nearest = min(n_neighbors, len(numbers))
        return _passes.find_nearest(sample, ones, block, n_neighbors=n_nearest, n_classes=1).neighbor[:, 0]

    def block_sums(block: Ints) -> Floats:
        """Differences of the features and, last, weights: of all pairs, and times that of the numbers."""
        found = near(block)
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
