"""The state of a greedy search over sets of features, with the distances of all pairs kept up to date."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from offsample._typing import Booleans, Floats, Ints
from offsample.margin._passes import add_distances
from offsample.margin._space import Near, Space, largest_differences
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
# Fewer pairs than this are not worth waking a thread.
_PAIRS_PER_THREAD = 100_000
# Rows whose distances are computed together, so that a column is read once for all of them.
_BLOCK_ROWS = 64


class FlipSearch:
    """A set of features, e of it, and e of every set that differs from it in one feature.

    The rows of the space and their labels are sorted by class. The matrix of squared distances changes only
    with a flip that is taken. To test a feature, a few near rows of each row are enough as a rule; where they
    are not, a row of the matrix is read.
    """

    def __init__(self, space: Space, labels: Ints, utility: Utility, n_threads: int = 1) -> None:
        self._space = space
        self._utility = utility
        self._bounds = np.concatenate([[0], np.cumsum(np.bincount(labels))]).astype(np.int64)
        self._has_hit = np.bincount(labels)[labels] > 1
        self._distances = np.empty((len(labels), len(labels)))
        near = (len(labels), 2, _N_NEAR)
        self._near = Near(
            np.empty(near, np.int64), np.empty(near), np.empty(near[:2]), np.empty(len(labels), bool)
        )
        self._reach = largest_differences(space)
        self._threads = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_threads = n_threads
        self.start_from(np.zeros(len(space.columns), bool))

    def start_from(self, selected: Booleans) -> None:
        """Set the features, and compute the distances from scratch."""
        self.selected = selected.copy()
        self._n_removed = 0
        n_pairs = int(selected.sum()) * self._distances.size
        self._over_rows(n_pairs, _sum_selected, selected.astype(np.float64), outputs=(self._distances,))
        np.fill_diagonal(self._distances, np.inf)
        self._near.neighbor[:] = -1
        self._near.beyond[:] = -np.inf
        self._near.stale[:] = True
        self.score = float(self._scores(np.zeros(1, np.int64), np.zeros(1))[0][0])

    def run_pass(self, order: Ints) -> Floats | None:
        """Flip each feature in this order if that increases e; if none does, return all changes of e."""
        gains = np.zeros(len(order))
        changed = False
        position, n_tests = 0, 1
        while position < len(order):
            features = order[position : position + n_tests]
            scores, tolerance = self._scores(features, np.where(self.selected[features], -1.0, 1.0))
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

            change = feature, 1.0 if self.selected[feature] else -1.0, self._reach[feature]
            outputs = self._distances, self._near
            self._over_rows(self._distances.size, add_to_distances, *change, outputs=outputs)

    def _scores(self, features: Ints, signs: Floats) -> tuple[Floats, Floats]:
        """Return e after each flip, and the smallest change of e that is not rounding."""
        from offsample.margin._flip_kernels import nearest_among_near

        n_rows = len(self._distances)
        squares = np.empty((2, len(features), n_rows))
        known = self._near, features, signs, self._reach[features]
        self._over_rows(len(features) * n_rows * _N_NEAR, nearest_among_near, *known, outputs=(squares,))
        n_open = int(np.isnan(squares).any(axis=0).sum())
        if n_open:
            known_of_all = self._distances, self._bounds, features, signs
            outputs = squares, self._near
            self._over_rows(n_open * n_rows, _nearest_among_all, *known_of_all, outputs=outputs)
        hit, miss = np.sqrt(np.maximum(squares[:, :, self._has_hit], 0))
        worth = self._utility(0.5 * (miss - hit))
        return np.sum(worth, axis=1), TOLERANCE * np.sum(np.abs(worth), axis=1)

    def _over_rows(
        self, n_pairs: int, kernel: Callable[..., None], *inputs: Any, outputs: tuple[Any, ...]
    ) -> None:
        """Run a kernel on parts of the rows, one for each thread that is worth waking."""
        n_rows = len(self._distances)
        parts = min(self._n_threads, 1 + n_pairs // _PAIRS_PER_THREAD)
        if self._threads is None or parts == 1:
            kernel(self._space, *inputs, 0, n_rows, *outputs)
            return
        edges = np.linspace(0, n_rows, parts + 1).astype(int).tolist()
        tasks = [
            self._threads.submit(kernel, self._space, *inputs, start, stop, *outputs)
            for start, stop in pairwise(edges)
        ]
        for task in tasks:
            task.result()

    def close(self) -> None:
        """Let the threads go."""
        if self._threads is not None:
            self._threads.shutdown()


def _sum_selected(space: Space, weights: Floats, start: int, stop: int, distances: Floats) -> None:
    for first in range(start, stop, _BLOCK_ROWS):
        block = np.arange(first, min(first + _BLOCK_ROWS, stop))
        out = distances[first : block[-1] + 1]
        out[:] = 0
        add_distances(space, weights, block, out)


def _nearest_among_all(
    space: Space,
    distances: Floats,
    bounds: Ints,
    features: Ints,
    signs: Floats,
    start: int,
    stop: int,
    squares: Floats,
    near: Near,
) -> None:
    """Lend the kernel a row, and its bits as integers: to make them inside takes seconds to compile."""
    from offsample.margin import _flip_kernels

    row = np.empty(len(distances))
    bits = row.view(np.int64)
    _flip_kernels.nearest_among_all(
        space, distances, bounds, features, signs, start, stop, squares, near, row, bits
    )
