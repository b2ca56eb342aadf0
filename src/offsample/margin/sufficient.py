"""Which few columns suffice: the error against the number of columns, on rows the selection did not see."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from offsample import _folds
from offsample._held_out_counts import unit_parts
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import standard_error
from offsample.margin._few_columns import BEYOND_CHANCE, ColumnStability, Method, SizeError, SufficientColumns
from offsample.margin._selector import MarginSelector
from offsample.margin._space import make_space, read_classes, read_columns
from offsample.margin.gflip import GFlip, stratified_rows
from offsample.margin.relief import Relief
from offsample.margin.simba import Simba
from offsample.tables import TableEncoder, Units, one_group, take_rows
from offsample.tables._base import Wanted
from offsample.tables._encoder import open_columns
from offsample.tables._memory import read_units
from offsample.tables._read import take_columns

METHODS: tuple[Method, ...] = get_args(Method)
# The error is measured at each size up to ten, then at most at ten more, each about a quarter larger.
_MORE_SIZES, _GROWTH = 10, 1.25
# Distances are sums of differences of about 1; those that differ by less than this per column are equal.
_ROUNDING = 1e-14
# Draws of a row of each group that columns are ranked on.
_N_DRAWS = 10


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
    group: Any = None,
    time: Any = None,
) -> SufficientColumns:
    """Find the smallest set of columns that predicts new rows as well as any larger one.

    In each of `n_folds` folds the columns are ranked on the other folds, and the nearest-neighbour rule with
    the best 1, 2, … of them is tried on the fold: no row takes part in choosing what it is predicted from.
    The number of columns is the smallest whose error is within one standard error of the smallest error (none
    where that is not below the error of the most frequent class by two and a half standard errors), and
    the columns are those ranked first on all rows. Their stability comes from ranking them again on random
    halves of the rows. Of equal columns the first stands for all. Numbers are scaled to the range 0 to 1, and
    a categorical column counts as much as a numeric one (``categories="matched"``, see `Relief`).

    Parameters
    ----------
    table : dataframe, dict of columns or array of two dimensions
        Without the target.
    y : array-like
        Classes, none missing.
    method : {"relief", "simba", "gflip"}
        Ranks the columns. "relief" uses ten neighbours. The others recognise redundant columns, but use one
        neighbour only, which says little where many rows are equally near: prefer them for numbers.
    classifier : estimator, optional
        Anything with `fit` and `predict` that takes such a table. Its error then decides on the number.
    max_rows : int
        Rows to use of a larger table, drawn at random from each class in proportion.
    n_folds, n_resamples : int
    categorical_features : "infer", "all", list of names, or boolean mask
        Columns to read as categorical although they hold numbers.
    random_state : int
        Seed of samples, folds and methods.
    group : name, list of names, or array-like, optional
        Rows that belong together, such as those of one customer: folds and halves are of whole groups, and
        standard errors have groups as their units. A group is no feature.
    time : name, or array-like, optional
        When a row was made: rows are predicted from earlier ones. No feature either.

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
    limits = (("max_rows", max_rows, 10), ("n_folds", n_folds, 2), ("n_resamples", n_resamples, 2))
    for name, value, least in limits:
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    classes, labels = read_classes(y)
    if np.sum(np.bincount(labels) > 1) < 2:
        raise ValueError(f"y has {len(classes)} classes: expected two rows of two classes at least")
    table, of, when = _without_units(table, Units.of(group, time), len(labels))
    random = np.random.RandomState(random_state)
    rows = stratified_rows(labels, max_rows, random)
    encoder = TableEncoder(categorical_features)
    copies = _copies(encoder, table)  # of all rows, so that a value has one code
    names = [name for name in encoder.names if name not in copies]
    if copies:
        kept = [j for j, name in enumerate(encoder.names) if name not in copies]
        table = take_columns(table, kept)
        encoder = TableEncoder(np.array([encoder.kinds[j] == "categorical" for j in kept])).fit(table)
    used, own = take_rows(table, rows), labels[rows]
    of, when = (None if unit is None else unit[rows] for unit in (of, when))
    categorical = np.array([kind == "categorical" for kind in encoder.kinds])
    selector = _selector(method, categorical, random_state)
    sizes = _sizes(len(names))

    def fit_on(part: Ints) -> Any:
        part = _balanced(own, part, random)
        return clone(selector).fit(take_rows(used, part), own[part])

    def rank_on(part: Ints) -> tuple[Ints, Floats, float]:
        """Order, mean weights and score; with groups by single rows of them: those of one group are alike."""
        parts = [part] if of is None else [_one_of_each(part, of, own, random) for _ in range(_N_DRAWS)]
        fits = [fit_on(one) for one in parts]
        rank, weights = (
            np.mean([getattr(f, a) for f in fits], axis=0) for a in ("ranking_", "feature_weights_")
        )
        return np.argsort(rank, kind="stable"), weights, float(np.mean([f.score_ for f in fits]))

    wrong = np.zeros((len(sizes), len(rows)))
    model_wrong = np.zeros_like(wrong)
    for train, test in (splits := _splits(own, n_folds, random, of, when)):
        order = rank_on(train)[0]
        predicted = _nearest_classes(encoder, take_rows(used, np.append(train, test)), own[train], order)
        wrong[:, test] = predicted[np.array(sizes) - 1] != own[test]
        if classifier is not None:
            known, new = take_rows(used, train), take_rows(used, test)
            for i, size in enumerate(sizes):
                few = sorted(order[:size].tolist())
                model = clone(classifier).fit(take_columns(known, few), classes[own[train]])
                model_wrong[i, test] = model.predict(take_columns(new, few)) != classes[own[test]]

    tested = np.sort(np.concatenate([test for _, test in splits]))
    wrong, model_wrong = wrong[:, tested], model_wrong[:, tested]
    units = [unit[tested] for unit in unit_parts(of, when)]
    judge = wrong if classifier is None else model_wrong
    gain = _gain(judge, own[tested], units)
    helps = rounded(gain[0]) > rounded(BEYOND_CHANCE * gain[1])
    n_chosen = sizes[_smallest_as_good(judge, units)] if helps else 0
    order, weights, score = rank_on(np.arange(len(rows)))
    n_half = max(len(own) // 2, 4)

    def half() -> Ints:
        if of is None:
            return stratified_rows(own, n_half, random)
        return np.flatnonzero(_folds.dealt(len(own), 2, random, labels=own, groups=of) == 0)

    halves = [rank_on(half())[0][: max(1, n_chosen)].tolist() for _ in range(n_resamples)]
    shares = np.bincount(np.concatenate(halves), minlength=len(names)) / n_resamples
    of_models = [(None, None) if classifier is None else _mean_and_error(row, units) for row in model_wrong]
    return SufficientColumns(
        method=method,
        n_samples=len(labels),
        n_used=len(rows),
        score=score,
        baseline_error=float(1 - np.bincount(labels).max() / len(labels)),
        sizes=tuple(
            SizeError(size, *_mean_and_error(row, units), *of_model)
            for size, row, of_model in zip(sizes, wrong, of_models, strict=True)
        ),
        columns=tuple(
            ColumnStability(names[j], rank, float(weights[j]), rank <= n_chosen, float(shares[j]))
            for rank, j in enumerate(order.tolist(), start=1)
        ),
        n_chosen=n_chosen,
        gain=gain[0],
        gain_standard_error=gain[1],
        judged_by="nearest neighbour" if classifier is None else "model",
        stability=_mean_overlap([set(half) for half in halves]),
        n_folds=len(splits),
        n_resamples=n_resamples,
        copies=copies,
    )


def _copies(encoder: TableEncoder, table: Any) -> dict[Any, Any]:
    """Fit an encoder, and find the columns that equal an earlier one in every row."""
    digests = [hashlib.blake2b(column.values.tobytes()).digest() for column in encoder.fit_transform(table)]
    first: dict[Any, Any] = {}
    copies = {}
    for name, *content in zip(encoder.names, digests, encoder.kinds, encoder.values, strict=True):
        original = first.setdefault(tuple(content), name)
        if original != name:
            copies[name] = original
    return copies


def _without_units(table: Any, units: Units, n_rows: int) -> tuple[Any, Ints | None, Ints | None]:
    """Features of a table, and the group and the time of its rows."""
    if not units:
        return table, None, None
    names, read = open_columns(table)
    features, _ = Wanted(None, units=units).choose(names)
    groups, time = read_units(units, read, n_rows)
    return take_columns(table, [names.index(name) for name in features]), one_group(groups), time


def _splits(
    labels: Ints, n_folds: int, random: np.random.RandomState, groups: Ints | None, time: Ints | None
) -> _folds.Splits:
    """Rows to rank on and rows to try on; all but the first where time goes forward."""
    if time is None:
        fold = _folds.dealt(len(labels), n_folds, random, labels=labels, groups=groups)
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
    splits = _folds.shuffled(labels, n_folds, random.randint(2**31 - 1), groups=groups, time=time)
    known = [one for one in splits if np.sum(np.bincount(labels[one[0]]) > 1) > 1]
    if not known:
        raise ValueError("no part of the time has two rows of two classes before it: expected classes mixed")
    return known


def _selector(method: Method, categorical: Booleans, random_state: int) -> MarginSelector:
    """Make the selector of a name, with categories that count as much as numbers."""
    shared: dict[str, Any] = {"categories": "matched", "random_state": random_state}
    if method == "relief":
        return Relief(n_neighbors=10, categorical_features=categorical, **shared)
    if method == "gflip":
        return GFlip(n_restarts=2, categorical_features=categorical, **shared)
    return Simba(n_restarts=1, categorical_features=categorical, **shared)


def _sizes(n_columns: int) -> list[int]:
    few = range(1, min(n_columns, 10) + 1)
    n_more = min(_MORE_SIZES, int(np.ceil(np.log(max(n_columns / 10, 1)) / np.log(_GROWTH))))
    more = np.geomspace(10, max(n_columns, 10), n_more + 1).round()[1:]
    return sorted({*few, *map(int, more)})


def _balanced(labels: Ints, part: Ints, random: np.random.RandomState) -> Ints:
    """Draw from each class about as many rows as the rarest has, or half of what classes have on average.

    Rows of a frequent class have nearer hits in every column, even in noise.
    """
    sizes = np.bincount(labels[part])
    sizes = sizes[sizes > 0]
    limit = max(int(sizes.min()), -(-len(part) // (2 * len(sizes))))
    shuffled = part[random.permutation(len(part))]
    order = np.argsort(labels[shuffled], kind="stable")
    starts = np.cumsum(sizes) - sizes
    turn = np.arange(len(part)) - np.repeat(starts, sizes)
    return np.sort(shuffled[order][turn < limit])


def _one_of_each(part: Ints, groups: Ints, labels: Ints, random: np.random.RandomState) -> Ints:
    """Draw a row of each group; or all rows, where so few would not have two rows of two classes."""
    drawn = random.permutation(part)
    drawn = np.sort(drawn[np.unique(groups[drawn], return_index=True)[1]])
    return drawn if np.sum(np.bincount(labels[drawn]) > 1) > 1 else part


def _nearest_classes(encoder: TableEncoder, table: Any, labels: Ints, order: Ints) -> Ints:
    """Predict the other rows with the first 1, 2, … columns by a vote of the nearest of the first rows."""
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


def _gain(wrong: Floats, labels: Ints, units: Sequence[Ints]) -> tuple[float, float]:
    """By how much the best size beats always predicting the most frequent class, and its standard error."""
    guess = labels != np.bincount(labels).argmax()
    return _mean_and_error(guess - wrong[int(rounded(wrong.mean(axis=1)).argmin())], units)


def _smallest_as_good(wrong: Floats, units: Sequence[Ints] = ()) -> int:
    """Return the first size whose error is within one standard error of the smallest."""
    best = int(np.argmin(wrong.mean(axis=1)))
    error, standard_error = _mean_and_error(wrong[best], units)
    return int(np.argmax(wrong.mean(axis=1) <= error + standard_error))


def _mean_and_error(wrong: Floats, units: Sequence[Ints]) -> tuple[float, float]:
    return float(wrong.mean()), standard_error(wrong, units)


def _mean_overlap(sets: list[set[int]]) -> float:
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
