"""Estimates of a candidate's error where its forecast is not to be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from offsample import _folds
from offsample._estimators import row_losses
from offsample._squared_losses import ratio_interval
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import spread_of_losses, standard_error
from offsample.expected_error.languages import Language, partition_counts
from offsample.hypotheses import BayesRule
from offsample.tables import take_rows

# Enough to tell two sizes that differ on a row in thirty apart at a tenth of a per cent of error.
_ENOUGH_TESTED = 30_000


@dataclass(frozen=True)
class Estimate:
    """An error with its 95 % interval and standard error, and the method that found it."""

    error: float
    low: float
    high: float
    standard_error: float
    kind: str


def _of_losses(losses: Floats, kind: str, groups: Ints | None, squared: bool = False) -> Estimate:
    if squared:
        units = [] if groups is None else [np.unique(groups, return_inverse=True)[1]]
        kind += " by groups" * (groups is not None)
        ends = ratio_interval(losses, None, units)
        return Estimate(float(losses.mean()), *ends, standard_error(losses, units), kind)
    if groups is None:
        return _binomial(float(losses.mean()), len(losses), kind)
    spread = spread_of_losses(losses, [groups])
    return Estimate(spread.error, *spread.error_interval(0.95), spread.deviation, f"{kind} by groups")


def _binomial(error: float, n_rows: int, kind: str) -> Estimate:
    # As if there were one more error and one more hit: no estimate from n rows is certain.
    p = (error * n_rows + 1) / (n_rows + 2)
    spread = float(np.sqrt(p * (1 - p) / n_rows))
    return Estimate(error, max(0.0, error - 1.96 * spread), min(1.0, error + 1.96 * spread), spread, kind)


def leave_one_out(language: Language, X: NDArray[Any], labels: Ints, n_classes: int) -> Estimate | None:
    """Return the exact leave-one-out error of the majorities of the only partition of a language."""
    every = language.all_partitions(X)
    partitions = [] if every is None else list(every)
    if len(partitions) != 1:
        return None
    counts = partition_counts(partitions[0], labels, n_classes)
    return _binomial(float(BayesRule.loo_terms(counts).sum()) / len(labels), len(labels), "leave-one-out")


def is_path_grid(estimator: Any, candidates: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether the candidates are numbers of splits that one growth path passes through."""
    name = getattr(estimator, "path_parameter", None)
    return name is not None and all(
        set(params) == {name} and params[name] is not None for params in candidates
    )


def path_estimates(estimator: Any, wanted: Sequence[int], X: Any, y: Any) -> list[Estimate] | None:
    """Return the errors along the path of one tree; None if it does not correct them for the choice.

    Where kinds of trees compete, the one of a smaller size may be of another kind, that promises less errors.
    """
    if not estimator.cuts_back:
        return None
    path = clone(estimator).set_params(max_splits=max(wanted)).fit(X, y).path_
    return [
        _binomial(path[path.kept_within(size)].estimated_error, len(y), "estimate of the growth path")
        for size in wanted
    ]


def cross_validation_of_paths(
    estimator: Any,
    wanted: Sequence[int],
    X: Any,
    y: NDArray[Any],
    n_folds: int,
    seed: int,
    groups: Ints | None = None,
) -> list[Estimate]:
    """Cross-validate all sizes with one tree per fold, read off its growth path.

    Most of the time goes into the largest sizes: those that the first fold rules out are not grown again, and
    their errors come from that fold alone. Folds end once `_ENOUGH_TESTED` rows have been tested.
    """
    losses = np.full((len(wanted), len(y)), np.nan)
    sizes = np.asarray(wanted)
    limit = sizes.max()
    for fold, (train, test) in enumerate(_folds.shuffled(y, n_folds, seed, groups=groups)):
        tree = clone(estimator).set_params(max_splits=int(limit))
        tree.fit(take_rows(X, train), y[train])
        kept = np.flatnonzero(sizes <= limit)
        predicted = path_predictions(tree, sizes[kept].tolist(), take_rows(X, test))
        losses[np.ix_(kept, test)] = predicted != y[test]
        if fold == 0:
            of_test = None if groups is None else groups[test]
            limit = sizes[~_ruled_out(losses[:, test], of_test)].max()
        if np.isfinite(losses).any(axis=0).sum() >= _ENOUGH_TESTED:
            break
    kind = f"{n_folds}-fold cross-validation of the growth path"
    if fold + 1 < n_folds:
        kind += f" ({fold + 1} of {n_folds} folds)"
    return [
        _of_losses(row[known], kind, None if groups is None else groups[known])
        for row, known in zip(losses, np.isfinite(losses), strict=True)
    ]


def _ruled_out(losses: Floats, groups: Ints | None) -> Booleans:
    """Mark candidates that exceed the errors of the best by more than five standard errors, unit by unit."""
    excess = losses - losses[best_of(-losses.mean(axis=1))]
    spread = np.array([standard_error(row, [] if groups is None else [groups]) for row in excess])
    return np.asarray(rounded(excess.mean(axis=1)) > rounded(5 * spread))


def path_predictions(tree: Any, wanted: Sequence[int], X: Any) -> NDArray[Any]:
    """Predict with the trees of each `max_splits` on the path of a fitted one."""
    return np.asarray(tree.staged_predict(X, [tree.path_.kept_within(size) for size in wanted]))


def cross_validation(
    estimators: Sequence[Any], X: Any, y: NDArray[Any], cv: Any, seed: int, groups: Ints | None = None
) -> list[Estimate]:
    """Cross-validate all candidates on the same folds; of regressors, errors are squared."""
    squared = not is_classifier(estimators[0])
    if isinstance(cv, int):
        splits = _folds.shuffled(y, cv, seed, stratify=not squared, groups=groups)
    else:
        splits = list(_folds.splitter(cv, y, classifier=not squared).split(np.zeros(len(y)), y, groups))
    tested = np.concatenate([test for _, test in splits])
    kind, found = f"{len(splits)}-fold cross-validation", []
    for estimator in estimators:
        losses = np.concatenate([row_losses(estimator, X, y, *split, groups) for split in splits])
        found.append(_of_losses(losses, kind, None if groups is None else groups[tested], squared))
    return found
