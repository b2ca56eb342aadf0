"""From coded columns and options to a grown tree: folds, hold-out half, growing and taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from offsample import _folds
from offsample._ties import best_of
from offsample._typing import Ints
from offsample._unit_intervals import first_as_good
from offsample.induction.bundles import deal
from offsample.induction.scoring import Scoring
from offsample.induction.top_down import grow
from offsample.induction.tree.cells import root_cell
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.grower import Grower, Measure
from offsample.induction.tree.splits.categories import N_FOLDS

if TYPE_CHECKING:
    from offsample.induction.tree.classifier import TreeClassifier


def grow_tree(
    columns: Columns,
    labels: NDArray[np.uint16],
    n_classes: int,
    options: TreeClassifier,
    *,
    seed: int,
    n_threads: int,
    groups: Ints | None = None,
) -> tuple[Grower, list[Measure], int]:
    """Grow a tree on all rows, and return the splits, the path, and how many of them to keep."""
    scoring = Scoring.of(options.criterion, options.unseen)
    holds_out = options.stopping == "holdout"
    folds = halves = np.zeros(len(labels), np.uint8)
    bundles = None
    if groups is not None:
        random, bundles = np.random.default_rng(seed), deal(groups, seed)
        n_groups = len(np.unique(groups))
        halves, folds = (
            _folds.dealt(len(labels), min(n, n_groups), random, labels=labels, groups=groups).astype(np.uint8)
            for n in (2, N_FOLDS)
        )
    elif holds_out or len(columns.categorical):
        places = columns.shuffled_places(labels, seed)
        halves = _folds.in_turn(places, 2).astype(np.uint8)
        folds = _folds.in_turn(places // 2, N_FOLDS).astype(np.uint8)

    def grown(rows: NDArray[np.int32], max_splits: int | None) -> tuple[Grower, list[Measure]]:
        grower = Grower(
            columns,
            labels,
            max(2, n_classes),  # a single class is a tree of one leaf
            scoring,
            folds,
            by_evidence=options.stopping == "auto" and scoring.criterion.is_off_sample,
            max_depth=options.max_depth,
            min_samples_leaf=options.min_samples_leaf,
            categorical_split=options.categorical_split,
            n_threads=n_threads,
            bundles=bundles,
        )
        path = grow(
            root_cell(grower, rows),
            grower.measure,
            max_splits=max_splits,
            min_gain=options.min_gain,
            rerank=scoring.criterion.is_ratio,
            stop=lambda _: options.max_size is not None and grower.n_leaves >= options.max_size,
        )
        if options.max_size is not None and grower.n_leaves > options.max_size:
            path = grower.without_last()
        return grower, path

    rows, max_splits = np.arange(len(labels), dtype=np.int32), options.max_splits
    if holds_out and 0 < halves.sum() < len(rows):
        grower, path = grown(rows[halves == 0], max_splits)
        max_splits = first_as_good(grower.held_out_losses(len(path) - 1, rows[halves == 1]))
    grower, path = grown(rows, max_splits)
    if not grower.by_evidence:
        return grower, path, len(path) - 1
    path = grower.without_spurious(path)
    return grower, path, best_of([-measure.corrected for measure in path], grower.size)
