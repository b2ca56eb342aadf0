"""The state of a greedy search over sets of features, with the distances of all pairs kept up to date."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from offsample._typing import Booleans, Floats, Ints
from offsample.margin._passes import add_distances
from offsample.margin._selector import rows_with_a_hit
from offsample.margin._space import Flips, Pairs, Space, largest_differences
from offsample.margin._utility import Utility

# Gains below this share of the utilities' total are rounding, and could make the search go round in circles.
TOLERANCE = 1e-12
# Flips are tested several at a time: few where flips are taken, as each makes the tests after it void.
_MOST_TESTS = 64
# Hits and misses kept of each row, to be looked at first: adding a feature brings no row nearer, and taking
# one out only a little, so the nearest row is mostly among those that were near before.
_N_NEAR = 16
# Distances are computed anew once this share of the features was taken out: subtracting leaves rounding.
_REMOVED_SHARE = 1 / 8
_PAIRS_PER_THREAD = 100_000  # fewer pairs than this are not worth waking a thread
_BLOCK_ROWS = 64  # rows whose distances are computed together, so that a column is read once for all of them


class FlipSearch:
    """A set of features, e of it, and e of every set that differs from it in one feature.

    Rows are sorted by class. The matrix of squared distances changes only with a flip that is taken. To test
    a feature, a few near rows of each row are mostly enough; where they are not, a row of the matrix is read.
    """

    def __init__(
        self, space: Space, labels: Ints, utility: Utility, n_threads: int = 1, groups: Ints | None = None
    ) -> None:
        self._space = space
        self._utility = utility
        self._has_hit = rows_with_a_hit(labels, groups)
        self._together = np.eye(len(labels), dtype=bool) if groups is None else groups[:, None] == groups
        n_rows, near = len(labels), (len(labels), 2, _N_NEAR)
        self._distances = np.empty((n_rows, n_rows))
        self._pairs = Pairs(
            self._distances,
            np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64),
            np.empty(near, np.int64),
            np.empty(near),
            np.empty(near[:2]),
            np.empty(n_rows, bool),
        )
        self._reach = largest_differences(space)
        self._threads = ThreadPoolExecutor(n_threads)  # which starts them when they are needed
        self._n_threads = n_threads
        self.start_from(np.zeros(len(space.columns), bool))

    def start_from(self, selected: Booleans) -> None:
        """Set the features, and compute the distances from scratch."""
        self.selected = selected.copy()
        self._n_removed = 0
        n_pairs = int(selected.sum()) * self._distances.size
        self._over_rows(n_pairs, _sum_selected, selected.astype(np.float64))
        self._distances[self._together] = np.inf
        self._pairs.neighbor[:] = -1
        self._pairs.beyond[:] = -np.inf
        self._pairs.stale[:] = True
        self.score = float(self._scores(self._flips(np.zeros(1, np.int64), np.zeros(1)))[0][0])

    def run_pass(self, order: Ints) -> Floats | None:
        """Flip each feature in this order if that increases e; if none does, return all changes of e."""
        gains = np.zeros(len(order))
        changed = False
        position, n_tests = 0, 1
        while position < len(order):
            features = order[position : position + n_tests]
            scores, tolerance = self._scores(
                self._flips(features, np.where(self.selected[features], -1.0, 1.0))
            )
            gains[features] = scores - self.score
            better = np.flatnonzero(gains[features] > tolerance)
            if len(better):
                first = int(better[0])
                self._flip(int(features[first]), float(scores[first]))
                changed = True
                position, n_tests = position + first + 1, max(1, n_tests // 2)
            else:
                position, n_tests = position + len(features), min(2 * n_tests, _MOST_TESTS)
        return None if changed else gains

    def _flip(self, feature: int, score: float) -> None:
        self.selected[feature] ^= True
        self.score = score
        self._n_removed += not self.selected[feature]
        if self._n_removed > _REMOVED_SHARE * self.selected.sum():
            self.start_from(self.selected)
        else:
            from offsample.margin._flip_kernels import add_to_distances

            sign = 1.0 if self.selected[feature] else -1.0
            flip = self._flips(np.array([feature]), np.array([sign]))
            self._over_rows(self._distances.size, add_to_distances, flip)

    def _flips(self, features: Ints, signs: Floats) -> Flips:
        return Flips(features, signs, self._reach[features])

    def _scores(self, flips: Flips) -> tuple[Floats, Floats]:
        """Return e after each flip, and the smallest change of e that is not rounding."""
        from offsample.margin._flip_kernels import nearest_among_near

        n_flips, n_rows = len(flips.features), len(self._distances)
        squares = np.empty((2, n_flips, n_rows))
        self._over_rows(n_flips * n_rows * _N_NEAR, nearest_among_near, flips, squares)
        n_open = int(np.isnan(squares).any(axis=0).sum())
        if n_open:
            self._over_rows(n_open * n_rows, _nearest_among_all, flips, squares)
        hit, miss = np.sqrt(np.maximum(squares[:, :, self._has_hit], 0))
        worth = self._utility(0.5 * (miss - hit))
        return np.sum(worth, axis=1), TOLERANCE * np.sum(np.abs(worth), axis=1)

    def _over_rows(self, n_pairs: int, kernel: Callable[..., None], change: Any, *outputs: Floats) -> None:
        """Run a kernel on parts of the rows, one for each thread that is worth waking."""
        n_rows = len(self._distances)
        parts = min(self._n_threads, 1 + n_pairs // _PAIRS_PER_THREAD)
        if parts == 1:
            kernel(self._space, change, 0, n_rows, self._pairs, *outputs)
            return
        edges = np.linspace(0, n_rows, parts + 1).astype(int).tolist()
        tasks = [
            self._threads.submit(kernel, self._space, change, start, stop, self._pairs, *outputs)
            for start, stop in pairwise(edges)
        ]
        for task in tasks:
            task.result()

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown()


def _sum_selected(space: Space, weights: Floats, start: int, stop: int, pairs: Pairs) -> None:
    for first in range(start, stop, _BLOCK_ROWS):
        block = np.arange(first, min(first + _BLOCK_ROWS, stop))
        out = pairs.distances[first : block[-1] + 1]
        out[:] = 0
        add_distances(space, weights, block, out)


def _nearest_among_all(
    space: Space, flips: Flips, start: int, stop: int, pairs: Pairs, squares: Floats
) -> None:
    """Lend the kernel a row, and its bits as integers: making them inside takes seconds to compile."""
    from offsample.margin._flip_kernels import nearest_among_all

    row = np.empty(len(pairs.distances))
    nearest_among_all(space, flips, start, stop, pairs, squares, row, row.view(np.int64))
