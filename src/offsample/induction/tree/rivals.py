"""Paths of other kinds that compete with the one whose splits are significant, on rows that were left out."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from offsample import _folds
from offsample._deadline import time_is_up
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.path import score_interval
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.index_paths import CodedRows, Limits

if TYPE_CHECKING:
    from offsample.induction.tree.classifier import TreeClassifier

# Rivals are grown where rows are at most this many: with more, significance stops late enough.
MOST_ROWS = 10_000
# Kinds of paths that compete, by what was asked for: an index, and one child per value, one value against the
# rest, or the same looking ahead.
_SINGLE = ("gini", "single"), ("entropy", "single"), ("ginger", "ahead")
_MULTIWAY = ("gini", "multiway"), ("entropy", "multiway")
_KINDS = {"auto": (*_SINGLE, _MULTIWAY[0]), "multiway": _MULTIWAY, "ordered": _SINGLE}
# A path is grown without each of this many parts of the rows, which are dealt out anew where cells are few.
_N_FOLDS, _MOST_DEALS, _CELLS = 5, 2, 200_000
# Splits at most: what is known of each row by their number has to fit into memory.
_LEAST_MOST, _ROWS_AND_SPLITS = 255, 8_000_000
# Of standard errors of the error, what a kind may be worse by in the first deal to be in the next.
_STILL_IN = 1.0
# Sizes that differ by less than this share are judged together, as by chance one of many looks best.
_ALIKE = 1 / 6
# Splits beyond twice the best number that are grown to see that they do not help.
BEYOND = 10
# The same in one part of the rows, which are few.
_PATIENCE = 30
# Of the standard error of the error, what a rival must be better by. A path whose splits are significant
# holds less that is due to chance, so of equals it is the better one to read.
_CLEARLY = 0.3
# The same where no split is significant: what noise comes to in fewer than one of a hundred tables.
_BEYOND_DOUBT = 4.0


@dataclass(frozen=True, eq=False)
class Rival:
    """A kind of path that is better than the one whose splits are significant, and what left-out rows say.

    Attributes
    ----------
    index : str
        What its splits improve: "gini", "entropy" or "ginger".
    ways : str
        How it splits by categories: a value of `Grower.categorical_split`.
    n_splits : int
        The number with the fewest errors of it and its neighbours.
    losses : ndarray of shape (n_stages, n_rows)
        Share of the deals in which each row was wrong when it was left out.
    chosen : float
        Error where the other parts choose kind and size for each: the choice has not seen the rows.
    between : float
        Variance of the errors of trees that are grown on other rows.
    steepness : float
        What trees of three fifths of the rows are worse by than those of four: how much better that of all
        may be at most, as more and more rows help less and less.
    """

    index: str
    ways: str
    n_splits: int
    losses: Floats
    chosen: float
    between: float = 0.0
    steepness: float = 0.0

    @property
    def grown_by(self) -> str:
        """What its splits improve, in words."""
        return f"{self.index} ahead" if self.ways == "ahead" else self.index

    @cached_property
    def errors(self) -> Floats:
        """Errors of the trees of 0, 1, 2, … splits, all corrected for that one of them has won.

        Of the lead of each over the tree without a split, the share is left that is left of the winner's.
        """
        errors = self.losses.mean(axis=1)
        root, best = errors[[0, self.n_splits]].tolist()
        won = max(self.chosen, best)
        left = (root - won) / (root - best) if root > best else 1.0
        return np.asarray(won + left * (errors - best))

    @cached_property
    def kept_within(self) -> tuple[int, ...]:
        """Stage with the fewest errors of the first 1, 2, 3, … stages."""
        errors, n = rounded(_smoothed(self.losses.mean(axis=1))), self.n_splits
        return tuple(n if last >= n else int(np.argmin(errors[: last + 1])) for last in range(len(errors)))

    def ending_at(self, n_splits: int) -> Rival:
        """Return the same for a path that ends with so many splits: its last tree is all that can grow."""
        if n_splits >= self.n_splits:
            return self
        losses = np.concatenate([self.losses[:n_splits], self.losses[[self.n_splits]]])
        return replace(self, n_splits=n_splits, losses=losses)

    def interval(self, n_splits: int) -> tuple[float, float]:
        """95 % interval of the error of a tree of so many splits, which is one of those that might grow."""
        losses, error = self.losses[n_splits], float(self.errors[n_splits])
        naive = min(float(losses.mean()), error)
        low, high = score_interval(naive, error, len(losses), deviation=math.sqrt(self.between))
        return max(0.0, low - self.steepness), high


def best_rival(
    columns: Columns,
    labels: NDArray[np.uint16],
    coded: CodedRows,
    options: TreeClassifier,
    seed: int,
    rival_of: float,
    *,
    is_evident: bool,
) -> Rival | None:
    """Cross-validate the paths of all kinds; None if none is clearly better than an error of `rival_of`.

    All paths compete on the same parts of the rows, and the columns are coded once. The path and the size
    with the fewest errors win.
    """
    kinds, n_rows = _KINDS[options.categorical_split], len(labels)
    kinds = kinds if len(columns.categorical) else _SINGLE
    n_deals = int(np.clip(_CELLS // max(1, n_rows * columns.n_columns), 1, _MOST_DEALS))
    folds = [_folds_of(columns, labels, seed + deal) for deal in range(n_deals)]
    found = _left_out(coded, options, folds, kinds)
    if found is None:
        return None
    wrong, kinds = found
    losses = wrong.mean(axis=1)
    kind, n_splits = _fewest(losses.mean(axis=2))
    error = float(losses[kind, n_splits].mean())
    clearly = _CLEARLY if is_evident else _BEYOND_DOUBT
    limit = rival_of - clearly * float(np.sqrt(rival_of * (1 - rival_of) / n_rows))
    if not n_splits or rounded(error) >= rounded(limit):
        return None
    chosen = _chosen_elsewhere(wrong, losses, folds, (limit, rival_of))
    # It was taken as it looks better than the first tree: of a lead of z standard errors, 1 - 1 / z² is left.
    lead, variance = rival_of - chosen, rival_of * (1 - rival_of) / n_rows
    chosen = rival_of - max(0.0, lead - variance / lead) if lead > 0 else chosen
    between = float(np.mean([_between(wrong[kind, deal, n_splits], fold) for deal, fold in enumerate(folds)]))
    steepness = _steepness(coded, options, kinds[kind], folds, wrong[kind, :, n_splits].mean(), n_splits)
    return Rival(*kinds[kind], n_splits, losses[kind], chosen, max(0.0, between), steepness)


def _steepness(
    coded: CodedRows, options: TreeClassifier, kind: tuple[str, str], folds: list[Ints], error: float, n: int
) -> float:
    """What an error of trees of n splits grows by if two parts are left out instead of one."""
    limits, found = limits_of(options, n, len(folds[0])), []
    wrong = np.zeros((n + 1, len(folds[0])), bool)
    for fold, part in product(folds, range(_N_FOLDS)):
        held = (fold == part) | (fold == (part + 1) % _N_FOLDS)
        found.append(wrong[coded.grow(*kind, limits, held, wrong).n_splits, held].sum() / 2)
    return max(0.0, float(sum(found)) / (len(folds) * len(folds[0])) - error)


def limits_of(options: TreeClassifier, most: int, n_rows: int, beyond: int | None = None) -> Limits:
    """Limits of a path of so many splits at most."""
    depth, leaves = (n_rows if limit is None else limit for limit in (options.max_depth, options.max_size))
    return Limits(options.min_samples_leaf, depth, most, leaves, most if beyond is None else beyond)


def _between(wrong: Booleans, fold: Ints) -> float:
    """Estimate of the variance of the errors of trees grown without a part, beyond that of its rows."""
    size = np.maximum(np.bincount(fold, minlength=_N_FOLDS), 1)
    error = np.bincount(fold, wrong, _N_FOLDS) / size
    within = error * (1 - error) / np.maximum(size - 1, 1)
    return float(error.var(ddof=1) - within.mean())


def _folds_of(columns: Columns, labels: NDArray[np.uint16], seed: int) -> Ints:
    """Part of each row, with like classes; it depends on what the rows are, not on where they stand."""
    places = np.empty(len(labels), np.int64)
    places[np.lexsort((columns.shuffled_places(labels, seed), labels))] = np.arange(len(labels))
    return _folds.in_turn(places, _N_FOLDS)


def _smoothed(errors: Floats) -> Floats:
    """Mean of each size and those next to it, on the last axis; of no split its own."""
    size = np.arange(errors.shape[-1])
    width = np.where(size > 0, np.maximum(1, size * _ALIKE), 0).astype(int)
    low, high = np.maximum(size - width, np.minimum(size, 1)), np.minimum(size + width + 1, len(size))
    total = np.cumsum(np.insert(errors, 0, 0.0, axis=-1), axis=-1)
    return np.asarray((total[..., high] - total[..., low]) / (high - low))


def _fewest(errors: Floats) -> tuple[int, int]:
    """Kind and number of splits with the fewest errors, of shape (kinds, stages); of equals the smallest."""
    n_splits, kind = divmod(best_of(-_smoothed(errors).T.ravel()), len(errors))
    return kind, n_splits


def _chosen_elsewhere(
    wrong: Booleans, losses: Floats, folds: list[Ints], first: tuple[float, float] = (np.inf, 1.0)
) -> float:
    """Error on each part of what the rows outside of it choose.

    If that is no better than a limit there, the first tree is chosen: `first` has the limit and its error.
    """
    total, n_wrong = losses.sum(axis=2), 0.0
    for deal, fold in enumerate(folds):
        for part in range(_N_FOLDS):
            here = fold == part
            others = (total - losses[:, :, here].sum(axis=2)) / max(1, len(fold) - here.sum())
            best = _fewest(others)
            is_first = rounded(others[best]) >= rounded(first[0])
            n_wrong += first[1] * here.sum() if is_first else wrong[best[0], deal, best[1], here].sum()
    return float(n_wrong / (len(folds) * len(folds[0])))


def _left_out(
    coded: CodedRows, options: TreeClassifier, folds: list[Ints], kinds: tuple[tuple[str, str], ...]
) -> tuple[Booleans, tuple[tuple[str, str], ...]] | None:
    """Whether each row is wrong when left out, by kind, deal and number of splits; None if time is up.

    And which kinds these are: those that are far from the best in the first deal are left out of the next.
    """
    n_rows = len(folds[0])
    most = n_rows if options.max_splits is None else options.max_splits
    most = min(most, max(_LEAST_MOST, _ROWS_AND_SPLITS // n_rows))
    wrong = np.zeros((len(kinds), len(folds), most + 1, n_rows), bool)
    last = 0
    for deal, fold in enumerate(folds):
        reached = np.zeros((len(kinds), _N_FOLDS), int)
        limits = limits_of(options, most, n_rows, _PATIENCE)
        for kind, part in np.ndindex(reached.shape):
            if time_is_up():
                return None
            reached[kind, part] = coded.grow(*kinds[kind], limits, fold == part, wrong[kind, deal]).n_splits
        last = max(last, reached.max())
        for (kind, part), stage in np.ndenumerate(reached):
            wrong[kind, deal][stage + 1 : last + 1, fold == part] = wrong[kind, deal, stage, fold == part]
        if deal == 0:  # which kinds and sizes are worth growing is known well enough
            errors = wrong[:, 0, : last + 1].mean(axis=2)
            most = last = min(last, 2 * _fewest(errors)[1] + BEYOND)
            of_kind = rounded(_smoothed(errors).min(axis=1))
            best = float(of_kind.min())
            still = of_kind <= rounded(best + _STILL_IN * np.sqrt(best * (1 - best) / n_rows))
            wrong, kinds = wrong[still, :, : most + 1], tuple(compress(kinds, still))
    return wrong, kinds
