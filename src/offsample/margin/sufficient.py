"""Which few columns suffice: the error against the number of columns, on rows the selection did not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from offsample import _folds
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.margin._copies import copies_in, take_columns
from offsample.margin._few_columns import ColumnStability, Method, SizeError, SufficientColumns
from offsample.margin._selector import MarginSelector
from offsample.margin._space import make_space, read_classes, read_columns
from offsample.margin.gflip import GFlip, stratified_rows
from offsample.margin.relief import Relief
from offsample.margin.simba import Simba
from offsample.tables import TableEncoder, take_rows

__all__ = ["METHODS", "SufficientColumns", "make_selector", "sufficient_columns"]

METHODS: tuple[Method, ...] = ("simba", "gflip", "relief")
# Sizes at which the error is measured: each up to ten, then each about a quarter more than the one before,
# or so many in all if that makes fewer.
_MORE_SIZES, _GROWTH = 10, 1.25
# Distances, sums of differences of about 1, are equal up to that.
_ROUNDING = 1e-14
# Standard errors by which the best of all sizes must beat the most frequent class: it is the best of many.
_BEYOND_CHANCE = 2.5


def sufficient_columns(
    table: Any,
    y: ArrayLike,
    *,
    method: Method = "relief",
    classifier: Any = None,
    max_rows: int = 2000,
    n_folds: int = 5,
    n_resamples: int = 10,
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer",
    random_state: int = 0,
) -> SufficientColumns:
    """Find the smallest set of columns that predicts new rows as well as any larger one.

    In each of `n_folds` folds the columns are ranked on the other folds, and the nearest-neighbour rule with
    the best 1, 2, … of them is tried on the fold: no row takes part in choosing what it is predicted from.
    The number of columns is the smallest whose error is within one standard error of the smallest error (none
    where that is not below the error of the most frequent class by two and a half standard errors), and
    the columns are those ranked first on all rows. For their stability they are ranked again on random
    halves of the rows. Of columns that are equal in every row the first stands for all. They are ranked on as
    many rows of each class: of a frequent class every column, noise too, has nearer rows.

    Numbers are scaled to the range 0 to 1, and values of categories differ by so much that a categorical
    column counts as much as a numeric one (``categories="matched"``, see `Relief`).

    Parameters
    ----------
    table : dataframe, dict of columns or array of two dimensions
        Without the target.
    y : array-like
        Classes, none missing.
    method : {"relief", "simba", "gflip"}
        What ranks the columns. "relief" has ten neighbours. The others find out which columns are redundant,
        but look at one neighbour only, which tells little where many rows are equally near: prefer them for
        numbers.
    classifier : estimator, optional
        Anything with `fit` and `predict` that takes such a table. Its error then decides on the number.
    max_rows : int
        Of a larger table, a random sample of so many rows is looked at, each class having its share.
    n_folds, n_resamples : int
    categorical_features : "infer", "all", list of names, or boolean mask
        Columns to read as categorical although they hold numbers.
    random_state : int
        Of samples, folds and methods.

    See Also
    --------
    offsample.margin.Simba, offsample.margin.GFlip, offsample.margin.Relief : What ranks the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.margin import sufficient_columns
    >>> X = np.random.default_rng(0).uniform(-1, 1, (400, 6))
    >>> y = X[:, 1] * X[:, 4] > 0  # neither says anything alone
    >>> sorted(sufficient_columns(X, y).chosen)
    ['x1', 'x4']
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, got {method!r}")
    for name, value, least in (
        ("max_rows", max_rows, 10),
        ("n_folds", n_folds, 2),
        ("n_resamples", n_resamples, 2),
    ):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    classes, labels = read_classes(y)
    if np.sum(np.bincount(labels) > 1) < 2:
        raise ValueError(f"y has {len(classes)} classes: expected two rows of two classes at least")
    random = np.random.RandomState(random_state)
    rows = stratified_rows(labels, max_rows, random)
    encoder = TableEncoder(categorical_features)
    copies = copies_in(encoder, table)  # of all rows, so that a value has one code
    names = [name for name in encoder.names if name not in copies]
    if copies:
        kept = [j for j, name in enumerate(encoder.names) if name not in copies]
        table = take_columns(table, kept)
        encoder = TableEncoder(np.array([encoder.kinds[j] == "categorical" for j in kept])).fit(table)
    used, own = take_rows(table, rows), labels[rows]
    categorical = np.array([kind == "categorical" for kind in encoder.kinds])
    selector = make_selector(method, categorical_features=categorical, random_state=random_state)
    sizes = _sizes(len(names))

    def fit_on(part: Ints) -> Any:
        part = _balanced(own, part, random)
        return clone(selector).fit(take_rows(used, part), own[part])

    def order_on(part: Ints) -> Ints:
        return np.argsort(fit_on(part).ranking_, kind="stable")

    wrong = np.zeros((len(sizes), len(rows)))
    model_wrong = np.zeros_like(wrong)
    fold_of = _folds.dealt(len(own), n_folds, random, labels=own)
    for fold in range(n_folds):
        train, test = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        order = order_on(train)
        predicted = _nearest_classes(encoder, take_rows(used, np.append(train, test)), own[train], order)
        wrong[:, test] = predicted[np.array(sizes) - 1] != own[test]
        if classifier is not None:
            known, new = take_rows(used, train), take_rows(used, test)
            for i, size in enumerate(sizes):
                few = sorted(order[:size].tolist())
                model = clone(classifier).fit(take_columns(known, few), classes[own[train]])
                model_wrong[i, test] = model.predict(take_columns(new, few)) != classes[own[test]]

    judge = wrong if classifier is None else model_wrong
    baseline_error = float(1 - np.bincount(labels).max() / len(labels))
    guess = own != np.bincount(own).argmax()
    gain, of_gain = _mean_and_error(guess - judge[int(rounded(judge.mean(axis=1)).argmin())])
    helps = rounded(gain) > rounded(_BEYOND_CHANCE * of_gain)
    n_chosen = sizes[_smallest_as_good(judge)] if helps else 0
    final = fit_on(np.arange(len(rows)))
    order = np.argsort(final.ranking_, kind="stable")
    halves = [order_on(_half(own, random))[: max(1, n_chosen)] for _ in range(n_resamples)]
    shares = np.bincount(np.concatenate(halves), minlength=len(names)) / n_resamples
    return SufficientColumns(
        method=method,
        n_samples=len(labels),
        n_used=len(rows),
        score=final.score_,
        baseline_error=baseline_error,
        sizes=tuple(
            SizeError(
                size,
                *_mean_and_error(wrong[i]),
                *(_mean_and_error(model_wrong[i]) if classifier is not None else (None, None)),
            )
            for i, size in enumerate(sizes)
        ),
        columns=tuple(
            ColumnStability(
                names[j], rank, float(final.feature_weights_[j]), rank <= n_chosen, float(shares[j])
            )
            for rank, j in enumerate(order.tolist(), start=1)
        ),
        n_chosen=n_chosen,
        judged_by="nearest neighbour" if classifier is None else "model",
        stability=_mean_overlap([set(half.tolist()) for half in halves]),
        n_folds=n_folds,
        n_resamples=n_resamples,
        copies=copies,
    )


def make_selector(method: Method, *, categorical_features: Any, random_state: int) -> MarginSelector:
    """The selector of a name, with categories that count as much as numbers."""
    shared: dict[str, Any] = {
        "categorical_features": categorical_features,
        "categories": "matched",
        "random_state": random_state,
    }
    if method == "relief":
        return Relief(n_neighbors=10, **shared)
    if method == "gflip":
        return GFlip(n_restarts=2, **shared)
    return Simba(n_restarts=1, **shared)


def _sizes(n_columns: int) -> list[int]:
    few = range(1, min(n_columns, 10) + 1)
    n_more = min(_MORE_SIZES, int(np.ceil(np.log(max(n_columns / 10, 1)) / np.log(_GROWTH))))
    more = np.geomspace(10, max(n_columns, 10), n_more + 1).round()[1:]
    return sorted({*few, *map(int, more)})


def _balanced(labels: Ints, part: Ints, random: np.random.RandomState) -> Ints:
    """Of each class about as many rows as of the rarest, or half of what classes have on average.

    Where one class is denser than the others, its rows have nearer hits than misses in every column, and
    noise seems to tell the classes apart.
    """
    sizes = np.bincount(labels[part])
    sizes = sizes[sizes > 0]
    limit = max(int(sizes.min()), -(-len(part) // (2 * len(sizes))))
    shuffled = part[random.permutation(len(part))]
    order = np.argsort(labels[shuffled], kind="stable")
    starts = np.cumsum(sizes) - sizes
    turn = np.arange(len(part)) - np.repeat(starts, sizes)
    return np.sort(shuffled[order][turn < limit])


def _half(labels: Ints, random: np.random.RandomState) -> Ints:
    return stratified_rows(labels, max(len(labels) // 2, 4), random)


def _nearest_classes(encoder: TableEncoder, table: Any, labels: Ints, order: Ints) -> Ints:
    """Class of the nearest of the first rows for each of the others, with the first 1, 2, … of the columns.

    Rows that are equally near, as many are with few columns of categories, vote.
    """
    from offsample.margin import _kernels

    n_train = len(labels)
    columns = read_columns(encoder, encoder.transform(table), "minmax", n_train)
    space = make_space(columns, n_reference=n_train, matched=True)
    test = np.arange(n_train, columns.values.shape[1])
    distances = np.zeros((len(test), n_train))
    votes = np.eye(labels.max() + 1, dtype=np.float32)[labels]
    nearest = np.empty((len(order), len(test)), np.int64)
    for i in range(len(order)):
        _kernels.scan_mixed(space, order[i : i + 1], np.ones(1), test, distances)
        near = distances <= distances.min(axis=1, keepdims=True) + _ROUNDING * (i + 1)
        nearest[i] = (near.astype(np.float32) @ votes).argmax(axis=1)
    return nearest


def _smallest_as_good(wrong: Floats) -> int:
    """The first size whose error is within one standard error of the smallest."""
    best = int(np.argmin(wrong.mean(axis=1)))
    error, standard_error = _mean_and_error(wrong[best])
    return int(np.argmax(wrong.mean(axis=1) <= error + standard_error))


def _mean_and_error(wrong: Floats) -> tuple[float, float]:
    return float(wrong.mean()), float(wrong.std() / np.sqrt(len(wrong)))


def _mean_overlap(sets: list[set[int]]) -> float:
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
