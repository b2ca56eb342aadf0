"""What is drawn, left out and tested: the one place that knows a unit to be a row, or a group of rows.

Audits, comparisons and tests ask here for folds, samples and losses, and never decide what a unit is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from sklearn.base import is_classifier
from sklearn.model_selection import BaseShuffleSplit, GroupShuffleSplit, LeavePGroupsOut, LeavePOut
from sklearn.utils.parallel import Parallel, delayed

from offsample import _folds
from offsample._held_out_counts import together
from offsample._typing import Floats, Ints
from offsample.tables import unit_codes

# More scores than this are seldom those of one cross-validation.
MOST_FOLDS = 10
# Of the rows of a split, another may test this share too: what it judges keeps as much of its luck.
_MOST_SHARED = 1 / 3


def folds_of(cv: Any, X: Any, y: Any, estimator: Any, groups: Ints | None = None) -> _folds.Splits:
    """Return the training and test rows of each fold that a user asked for; a number means folds of groups.

    Folds that test on a group that they learned from are refused.
    """
    cv = 5 if cv is None else cv
    made = _folds.splitter(cv, y, classifier=is_classifier(estimator), with_groups=groups is not None)
    splits = list(made.split(X, y, groups))
    if groups is not None and any(np.isin(groups[test], groups[train]).any() for train, test in splits):
        raise ValueError(
            f"the folds of {type(made).__name__} test on groups that they learned from: give a number of "
            "folds, or a splitter that keeps groups together, such as GroupKFold"
        )
    return splits


def splits_of(search: Any, cv: Any) -> Any:
    """Return what made the folds: as given, or of the search; splits one after the other as a list."""
    if cv is None and hasattr(search, "cv"):
        cv = 5 if search.cv is None else search.cv  # scikit-learn's default
    if isinstance(cv, Iterator) and not (cv := list(cv)):
        raise ValueError(
            "the splits of the search came one by one and are used up: give cv, a list of their training and "
            "test rows"
        )
    return int(cv) if isinstance(cv, np.integer) else cv


def repeats_of(cv: Any, n_scores: int, n_rows: int | None = None) -> int | None:
    """Return how often each row was tested, from what made the folds of so many scores.

    Once in k folds, blocks of time or a hold-out set; as often as it is repeated in repeated
    cross-validation; and on average as often as there are random splits times the share that they test. None
    where nothing is known of a few scores.
    """
    n_splits, n_repeats = _n_splits(cv), 1
    if n_splits is not None and (
        n_splits < 1 or (n_scores % n_splits if isinstance(cv, int) else n_scores != n_splits)
    ):
        raise ValueError(
            f"each configuration has {n_scores} scores, and cv means {n_splits}: give what made these folds"
        )
    if isinstance(cv, int) or n_scores == 1:
        return n_scores // cv if isinstance(cv, int) else 1
    if hasattr(cv, "n_repeats"):
        return int(cv.n_repeats)
    shared = None  # of the rows of a split, how many another tests too
    if isinstance(cv, list | tuple):
        tests = [np.unique(test) for _, test in cv]
        times = sum(map(len, tests)) / len(np.unique(np.concatenate(tests)))
        parts = parts_of(n_scores, n_repeats := max(1, min(n_scores // 2, round(times))))
        shared = max(tested_again([tests[i] for i in part]) for part in parts)
    elif isinstance(cv, BaseShuffleSplit):
        kept = cv._default_test_size if cv.train_size is None else cv.train_size
        size, is_kept = (kept, cv.train_size is not None) if cv.test_size is None else (cv.test_size, False)
        if isinstance(size, int) and n_rows and not isinstance(cv, GroupShuffleSplit):  # which counts groups
            size = size / n_rows
        if isinstance(size, float):
            shared = 1 - size if is_kept else size
            n_repeats = max(1, round(n_scores * shared))
    elif not isinstance(cv, LeavePOut | LeavePGroupsOut) or getattr(cv, "n_groups", cv) == 1:
        if hasattr(cv, "split") and type(cv).__module__.startswith("sklearn."):
            return 1
        if n_scores <= MOST_FOLDS:
            return None
    if shared is not None and shared <= _MOST_SHARED:
        return n_repeats
    if shared is not None:
        raise ValueError(
            f"the splits test {shared:.0%} of their rows again, and the scores do not tell luck from skill: "
            "give X and y, with groups if groups were split, or predictions"
        )
    raise ValueError(
        f"each configuration has {n_scores} scores, of as many folds, or of repeated or random splits that "
        "test the same rows again: say which with cv, the number of folds that test each row once, the "
        "splitter, or a list of training and test rows; or give the rows, X and y, or predictions"
    )


def parts_of(n_scores: int, n_repeats: int) -> list[Ints]:
    """Return the places of the scores of each cross-validation, which come one after the other."""
    return np.array_split(np.arange(n_scores), n_repeats)


def tested_again(tests: list[Ints]) -> float:
    """Return the share of the rows of a split that another one tests too, on average over pairs of splits."""
    times = np.bincount(np.concatenate(tests))
    return float(times @ (times - 1.0) / times.sum() / max(1, len(tests) - 1))


def _n_splits(cv: Any) -> int | None:
    """Return the number of splits, if it can be told without rows."""
    if isinstance(cv, int | list | tuple):
        return cv if isinstance(cv, int) else len(cv)
    try:
        return int(cv.get_n_splits())
    except (AttributeError, TypeError, ValueError):
        return None


def groups_of(groups: Any, n_rows: int) -> Ints | None:
    """Return the codes of the groups that a user gave."""
    return None if groups is None else unit_codes(groups, "groups", n_rows)


def tested_share(splits: _folds.Splits) -> float:
    """Return the mean ratio of test rows to training rows."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


@dataclass(frozen=True)
class ScoredRows:
    """The rows of all test folds, one after the other: labels, fold, and the unit that each belongs to.

    A unit is a row, which several folds may test, or a group of rows.
    """

    y: NDArray[Any]
    fold: Ints
    unit: Ints
    grouped: bool = False
    n_rows: int = 0

    @classmethod
    def of_splits(cls, splits: _folds.Splits, y: NDArray[Any], groups: Ints | None) -> ScoredRows:
        """Take the test rows of each fold."""
        rows = np.concatenate([test for _, test in splits])
        fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
        distinct, row = np.unique(rows, return_inverse=True)
        unit = row if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        return cls(y[rows], fold, unit, groups is not None, len(distinct))

    @cached_property
    def rows(self) -> list[Ints]:
        """Places of the rows of each fold."""
        return [np.flatnonzero(self.fold == k) for k in range(int(self.fold.max()) + 1)]

    @cached_property
    def _of_rows(self) -> Floats:
        """Weight of each row, 1 on average: folds count alike, as in the mean over folds."""
        sizes = np.bincount(self.fold)
        return np.asarray(len(self.fold) / (len(sizes) * sizes[self.fold]), dtype=float)

    @cached_property
    def weights(self) -> Floats:
        """Weight of each unit: its rows, where folds are of one size."""
        return np.bincount(self.unit, self._of_rows).astype(float)

    def strata(self, by_class: bool) -> Ints:
        """Return what each unit is drawn among: those of its fold, and of its class, where it has one."""
        codes: Ints = np.zeros(len(self.weights), dtype=int)
        for key in (self.fold, *([np.unique(self.y, return_inverse=True)[1]] if by_class else [])):
            of_unit = np.zeros_like(codes)
            of_unit[self.unit] = key
            if (of_unit[self.unit] == key).all():
                codes = together(codes, of_unit)
        return codes

    def check_whole(self) -> None:
        """Refuse groups that are split between folds: the others learned from the rest of them.

        Folds may share a group only if they test the same rows again: as many in each, with the same labels,
        in repeats that test each group once, or where rows that were split at random would not fall so.
        """
        parts = np.zeros((len(self.weights), len(self.rows)))
        labels = np.zeros_like(parts)
        np.add.at(parts, (self.unit, self.fold), 1)
        np.add.at(labels, (self.unit, self.fold), self.y)
        tested = parts > 0
        if (tested.sum(axis=1) == 1).all():
            return
        mean = (labels.sum(axis=1) / parts.sum(axis=1))[:, None]
        differ = np.abs(labels / np.maximum(parts, 1) - mean)
        again = tested & (
            (parts != parts.max(axis=1, keepdims=True)) | (differ > 1e-9 * np.abs(self.y).max())
        )
        ahead = np.ptp(tested.cumsum(axis=1), axis=0)  # 0 or 1, and 0 at the end, of repeats in their order
        are_repeats = bool(ahead.max() == 1 and ahead[-1] == 0)
        if again.any() or tested.all(axis=0).any() or not (are_repeats or _by_design(parts)):
            raise ValueError(
                "a group is tested in several folds, so that models learned from the rest of it: predict "
                "folds of whole groups. If the folds test the same rows again, leave out fold, and the score "
                "is that of all predictions"
            )

    def by_fold(self, rows: Floats) -> Floats:
        """Mean of each fold, of values configurations × rows."""
        return np.column_stack([rows[:, of].mean(axis=1) for of in self.rows])

    def by_unit(self, rows: Floats) -> Floats:
        """Mean of each unit."""
        return np.array([np.bincount(self.unit, row * self._of_rows) / self.weights for row in rows])


def _by_design(parts: Floats) -> bool:
    """Whether units with as many rows in each of their folds are not to be had from random folds of rows."""
    k, log_chance = parts.shape[1], 0.0
    for m, n_units in zip(*np.unique(parts.sum(axis=1), return_counts=True), strict=True):
        j = np.array([j for j in range(1, k + 1) if m % j == 0])  # folds that have m / j of its rows each
        ways = gammaln(k + 1) - gammaln(j + 1) - gammaln(k - j + 1) + gammaln(m + 1) - j * gammaln(m / j + 1)
        log_chance += n_units * float(logsumexp(ways - m * np.log(k)))
    return log_chance < -20


def draw_counts(strata: Ints, n_draws: int, seed: int = 0) -> NDArray[np.uint8]:
    """Draw bootstrap samples, of each stratum as many units as it has: how often each is drawn."""
    rng, counts = np.random.default_rng(seed), np.zeros((n_draws, len(strata)), dtype=np.uint8)
    for stratum in np.unique(strata):
        members = np.flatnonzero(strata == stratum)
        n = len(members)
        drawn = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, None]
        counts[:, members] = np.bincount(drawn.ravel(), minlength=n * n_draws).reshape(n_draws, n)
    return counts


def run_all(
    function: Callable[..., Any],
    jobs: Iterable[tuple[Any, ...]],
    n_jobs: int | None,
    what: str = "",
    progress: bool = False,
) -> list[Any]:
    """Call the function with the arguments of each job, with a bar on standard error if wanted."""
    calls = [delayed(function)(*job) for job in jobs]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(calls)
    if not progress:
        return list(results)
    from rich.console import Console
    from rich.progress import track

    bar = track(results, what, total=len(calls), console=Console(stderr=True), transient=True)
    return list(bar)
