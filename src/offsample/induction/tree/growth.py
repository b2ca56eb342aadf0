"""From coded columns and options to a grown tree: folds, growing and taking back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample import _folds
from offsample._deadline import time_is_up
from offsample._ties import best_of
from offsample._typing import Ints
from offsample.induction.bundles import deal
from offsample.induction.scoring import Scoring
from offsample.induction.top_down import grow
from offsample.induction.tree.cells import root_cell
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.grower import Grower, Measure
from offsample.induction.tree.index_paths import CodedRows
from offsample.induction.tree.rivals import BEYOND, MOST_ROWS, Rival, best_rival, limits_of
from offsample.induction.tree.splits.categories import N_FOLDS
from offsample.induction.weights import repeated_rows
from offsample.tables import TableEncoder, take_rows

if TYPE_CHECKING:
    from offsample.induction.tree.classifier import TreeClassifier


def coded(
    encoder: TableEncoder,
    X: Any,
    target: NDArray[Any],
    sample_weight: ArrayLike | None,
    groups: Ints | None,
) -> tuple[Columns, NDArray[Any], Ints | None]:
    """Columns, classes or numbers, and groups of the rows, each as often as its weight says."""
    repeated = repeated_rows(sample_weight, len(target))
    if repeated is None:
        return Columns.from_encoded(encoder.fit_transform(X)), target, groups
    kept, copies = np.unique(repeated, return_inverse=True)  # values of a row of weight 0 are not known
    columns = Columns.from_encoded(encoder.fit_transform(take_rows(X, kept)))
    return columns.take(copies), target[repeated], None if groups is None else groups[repeated]


class GrownTree(NamedTuple):
    """A tree on all rows."""

    grower: Grower
    path: list[Measure]
    n_kept: int
    rival: Rival | None = None  # what left-out rows say of it, if it has not the splits that are significant
    excess: float | None = None  # errors per split that its path forgot, as trees of half of the rows show

    def judged_by(self, trees: list[GrownTree], left_out: list[NDArray[np.int32]]) -> GrownTree:
        """Add to the errors of the path what trees of other rows err by more than they expect, per split.

        A gain was corrected for what chance alone would find. Where many splits are nearly as good as the
        best, in columns that say nearly the same or along a smooth boundary, it owes more to chance. That is
        as many rows with every split, of which trees of fewer rows have fewer.
        """
        beyond = n_splits = 0.0
        for (grower, path, n_kept, *_), rows in zip(trees, left_out, strict=True):
            said = np.concatenate(grower.counts).argmax(axis=1)[grower.last_nodes(n_kept, rows)]
            expected = path[n_kept].estimated_errors / grower.size
            beyond += float((said != grower.y[rows]).sum()) - expected * len(rows)
            n_splits += n_kept
        excess, path, most = max(0.0, beyond / max(n_splits, len(trees))), [], self.path[0].estimated_errors
        for n, measure in enumerate(self.path):
            errors = measure.estimated_errors
            path.append(measure._replace(estimated_errors=max(errors, min(errors + n * excess, most))))
        return self._replace(path=path, excess=excess)


def grow_tree(
    columns: Columns,
    labels: NDArray[np.uint16],
    n_classes: int,
    options: TreeClassifier,
    *,
    seed: int,
    groups: Ints | None = None,
) -> GrownTree:
    """Grow a tree on all rows."""
    scoring = Scoring.of(options.criterion, options.unseen)
    folds = np.zeros(len(labels), np.uint8)
    bundles = None
    if groups is not None:
        random, bundles = np.random.default_rng(seed), deal(groups, seed)
        n_folds = min(N_FOLDS, len(np.unique(groups)))
        dealt = _folds.dealt(len(labels), n_folds, random, labels=labels, groups=groups)
        folds = dealt.astype(np.uint8)
    elif len(columns.categorical):
        folds = _folds.in_turn(columns.shuffled_places(labels, seed) // 2, N_FOLDS).astype(np.uint8)

    def grown(
        rows: NDArray[np.int32], max_splits: int | None, as_rival: Rival | None = None, **more: Any
    ) -> tuple[Grower, list[Measure]]:
        by = scoring if as_rival is None else Scoring.of(as_rival.index, "uniform")
        grower = Grower(
            columns,
            labels,
            max(2, n_classes),  # a single class is a tree of one leaf
            by,
            folds,
            by_evidence=as_rival is None
            and options.stopping in ("auto", "significance")
            and by.criterion.is_off_sample,
            max_depth=options.max_depth,
            max_size=options.max_size,
            min_samples_leaf=options.min_samples_leaf,
            categorical_split=options.categorical_split if as_rival is None else as_rival.ways,
            bundles=bundles,
            **more,
        )
        path = grow(
            root_cell(grower, rows),
            grower.measure,
            max_splits=max_splits,
            min_gain=options.min_gain,
            # Where leaves are limited, a split that was not too wide may have become so.
            rerank=by.criterion.is_ratio or options.max_size is not None,
            stop=lambda _: options.max_size is not None and grower.n_leaves >= options.max_size,
        )
        return grower, path

    rows, max_splits = np.arange(len(labels), dtype=np.int32), options.max_splits

    def first(rows: NDArray[np.int32], **more: Any) -> GrownTree:
        grower, path = grown(rows, max_splits, **more)
        if not grower.by_evidence:
            return GrownTree(grower, path, len(path) - 1)
        path = grower.without_spurious(path)
        return GrownTree(grower, path, best_of([-measure.corrected for measure in path], grower.size))

    whole = first(rows)
    if groups is not None or not whole.grower.by_evidence:
        return whole

    def judged() -> GrownTree:
        if not whole.n_kept or options._is_judged_elsewhere or time_is_up():
            return whole
        # Pairs of columns take half of the time; trees without them do not expect what these find.
        by_pairs = whole.grower.has_pair(1)
        half = _folds.in_turn(columns.shuffled_places(labels, seed), 2)
        parts = [rows[half == part] for part in (0, 1)]
        return whole.judged_by([first(part, by_pairs=by_pairs) for part in parts], parts[::-1])

    asks_nothing_else = (options.stopping, options.min_gain, options.unseen) == ("auto", 0, "parent")
    competes = n_classes > 1 and asks_nothing_else and len(labels) <= MOST_ROWS
    if not (competes and scoring.criterion.estimates_error):
        return judged()
    # The largest class is at least one of K; estimates off the sample exceed that where classes tie.
    size, errors = whole.grower.size, whole.path[whole.n_kept].estimated_errors
    error = min((1 - 1 / n_classes) * size, errors, whole.grower.unchosen_errors(whole.n_kept)) / size
    of_rows = CodedRows(columns, labels, max(2, n_classes))
    rival = best_rival(columns, labels, of_rows, options, seed, error, is_evident=whole.n_kept > 0)
    if rival is None:
        return judged()
    most = min(len(rival.losses) - 1, rival.n_splits * 5 // 4 + BEYOND)
    limits = limits_of(options, most, len(labels))
    found = of_rows.grow(rival.index, rival.ways, limits, np.zeros(len(labels), bool))
    grower, path = grown(rows, most, rival, found=found)
    if len(path) <= rival.n_splits and time_is_up():  # the first tree is whole
        return whole
    path = grower.measured_by(scoring, path)
    rival = rival.ending_at(len(path) - 1)
    return GrownTree(grower, path, rival.n_splits, rival)
