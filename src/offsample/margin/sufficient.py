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
from offsample._typing import Booleans, Floats, Grouping, Ints
from offsample._unit_intervals import standard_error
from offsample.margin._few_columns import BEYOND_CHANCE, ColumnStability, Method, SizeError, SufficientColumns
from offsample.margin._number import nested_losses, nested_sizes, smallest_as_good, stratified_rows
from offsample.margin._selector import MarginSelector, numbers_in
from offsample.margin._space import read_classes, scale_columns
from offsample.margin.gflip import GFlip
from offsample.margin.relief import Relief
from offsample.margin.simba import Simba
from offsample.tables import TableEncoder, Units, grouping, take_rows, taken
from offsample.tables._base import Wanted
from offsample.tables._encoder import open_columns
from offsample.tables._memory import read_units
from offsample.tables._read import take_columns

METHODS: tuple[Method, ...] = get_args(Method)
_N_NEAR = 10  # rows whose mean predicts a number
_FEW_ROWS = 500  # of which relief is tried with one neighbour, too
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
    the columns are those ranked first on all rows; their stability comes from random halves of the rows. Of
    equal columns the first stands for all. A categorical column counts as much as a numeric one
    (``categories="matched"``, see `Relief`).

    Parameters
    ----------
    table : dataframe, dict of columns or array of two dimensions
        Without the target.
    y : array-like
        Classes, none missing; or numbers, as `Relief` tells them apart. Then the ten nearest rows predict
        their mean, and errors are squared, as shares of the variance: 1 is what the mean of all rows has.
    method : {"relief", "simba", "gflip"}
        Ranks the columns. "relief" uses ten neighbours, or one where that errs less by two standard errors on
        the folds of 500 rows or fewer. The others recognise redundant columns, but use one neighbour only:
        prefer them for numbers.
    classifier : estimator, optional
        Anything with `fit` and `predict` that takes such a table (a regressor, for numbers). Its error then
        decides on the number of columns.
    max_rows : int
        Rows to use of a larger table, drawn at random from each class in proportion.
    n_folds, n_resamples : int
    categorical_features : "infer", "all", list of names, or boolean mask
        Columns to read as categorical although they hold numbers.
    random_state : int
        Seed of samples, folds and methods.
    group : name, list of names, or array-like, optional
        Rows that belong together, such as those of one customer: folds and halves are of whole groups, and
        standard errors have groups as their units. A group is no feature. With columns that cross, such as
        users and items, rows are predicted from those that share neither.
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
    numbers = numbers_in(y)
    of_numbers = numbers is not None
    if numbers is not None:
        if method != "relief":
            raise ValueError(f"method {method!r} is for classes, and y holds numbers: ask for 'relief'")
        fifths = np.quantile(numbers, (0.2, 0.4, 0.6, 0.8))  # which folds and samples have their share of
        classes, labels = np.unique(np.searchsorted(fifths, numbers), return_inverse=True)
    else:
        classes, labels = read_classes(y)
    if not of_numbers and np.sum(np.bincount(labels) > 1) < 2:
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
        encoder = TableEncoder(np.array([encoder.known[j].kind == "categorical" for j in kept])).fit(table)
    used, own = take_rows(table, rows), labels[rows]
    goal: Any = own if numbers is None else numbers[rows]
    given: Any = classes[own] if numbers is None else np.asarray(y)[rows]
    of, when = taken(of, rows), None if when is None else when[rows]
    categorical = np.array([kind == "categorical" for kind in encoder.kinds])
    selectors = _selectors(method, len(rows), categorical, random_state)
    sizes = nested_sizes(len(names))

    def fit_on(part: Ints, selector: MarginSelector) -> Any:
        part = part if of_numbers else _balanced(own, part, random)
        return clone(selector).fit(take_rows(used, part), goal[part])

    def rank_on(part: Ints, selector: MarginSelector) -> tuple[Ints, Floats, float]:
        """Order, mean weights and score; with groups by single rows of them: those of one group are alike."""
        parts = [part] if of is None else [_one_of_each(part, of, own, random) for _ in range(_N_DRAWS)]
        fits = [fit_on(one, selector) for one in parts]
        rank, weights = (
            np.mean([getattr(f, a) for f in fits], axis=0) for a in ("ranking_", "feature_weights_")
        )
        return np.argsort(rank, kind="stable"), weights, float(np.mean([f.score_ for f in fits]))

    def try_on_folds(selector: MarginSelector) -> tuple[Floats, Floats]:
        """Losses of rows by their nearest neighbours, and by the classifier, with so many columns."""
        wrong = np.zeros((2, len(sizes), len(rows)))
        for train, test in splits:
            order = rank_on(train, selector)[0]
            both = take_rows(used, np.append(train, test))
            columns = scale_columns(encoder, encoder.transform(both), "minmax", len(train))[0]
            n_near = min(_N_NEAR, len(train)) if of_numbers else 1
            lost = nested_losses(columns, goal[train], goal[test], order, sizes, matched=True, n_near=n_near)
            wrong[0][:, test] = lost / goal.var() if of_numbers else lost
            if classifier is not None:
                known, new = take_rows(used, train), take_rows(used, test)
                for i, size in enumerate(sizes):
                    few = sorted(order[:size].tolist())
                    model = clone(classifier).fit(take_columns(known, few), given[train])
                    said = model.predict(take_columns(new, few))
                    missed = (said - given[test]) ** 2 / given.var() if of_numbers else said != given[test]
                    wrong[1][i, test] = missed
        return wrong[0][:, tested], wrong[1][:, tested]

    splits = _splits(own, n_folds, random, of, when)
    tested = np.sort(np.concatenate([test for _, test in splits]))
    tries = [try_on_folds(selector) for selector in selectors]
    units = [unit[tested] for unit in unit_parts(of, when)]
    winner = _clearly_better([one[classifier is not None] for one in tries], units)
    selector, (wrong, model_wrong) = selectors[winner], tries[winner]
    judge = wrong if classifier is None else model_wrong
    gain = _gain(judge, goal[tested], units)
    helps = rounded(gain[0]) > rounded(BEYOND_CHANCE * gain[1])
    n_chosen = sizes[smallest_as_good(judge, units)] if helps else 0
    order, weights, score = rank_on(np.arange(len(rows)), selector)
    n_half = max(len(own) // 2, 4)

    def half() -> Ints:
        if of is None:
            return stratified_rows(own, n_half, random)
        fewest = min(unit_parts(of, None), key=lambda kind: len(np.unique(kind)))
        return np.flatnonzero(_folds.dealt(len(own), 2, random, labels=own, groups=fewest) == 0)

    halves = [rank_on(half(), selector)[0][: max(1, n_chosen)].tolist() for _ in range(n_resamples)]
    shares = np.bincount(np.concatenate(halves), minlength=len(names)) / n_resamples
    of_models = [(None, None) if classifier is None else _mean_and_error(row, units) for row in model_wrong]
    return SufficientColumns(
        method=method,
        n_samples=len(labels),
        n_used=len(rows),
        score=score,
        baseline_error=1.0 if of_numbers else float(1 - np.bincount(labels).max() / len(labels)),
        task="regression" if of_numbers else "classification",
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


def _without_units(table: Any, units: Units, n_rows: int) -> tuple[Any, Grouping | None, Ints | None]:
    """Features of a table, and the group and the time of its rows."""
    if not units:
        return table, None, None
    names, read = open_columns(table)
    features, _ = Wanted(None, units=units).choose(names)
    groups, time = read_units(units, read, n_rows)
    return take_columns(table, [names.index(name) for name in features]), grouping(groups), time


def _splits(
    labels: Ints, n_folds: int, random: np.random.RandomState, groups: Grouping | None, time: Ints | None
) -> _folds.Splits:
    """Rows to rank on and rows to try on; all but the first where time goes forward, some if groups cross."""
    if time is None and not isinstance(groups, tuple):
        fold = _folds.dealt(len(labels), n_folds, random, labels=labels, groups=groups)
        return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
    splits = _folds.shuffled(labels, n_folds, random.randint(2**31 - 1), groups=groups, time=time)
    known = [one for one in splits if np.sum(np.bincount(labels[one[0]]) > 1) > 1]
    if not known:
        what = "part of the time" if time is not None else "part of the groups"
        raise ValueError(f"no {what} has two rows of two classes before it: expected classes mixed")
    return known


def _selectors(
    method: Method, n_rows: int, categorical: Booleans, random_state: int
) -> Sequence[MarginSelector]:
    """Make the selectors of a name, with categories that count as much as numbers; the folds choose one."""
    shared: dict[str, Any] = {
        "categories": "matched",
        "categorical_features": categorical,
        "random_state": random_state,
    }
    if method == "relief":  # of few rows, the nearest alone may say more
        few = (10, 1) if n_rows <= _FEW_ROWS else (10,)
        return [Relief(n_neighbors=n, n_features_to_select=1, **shared) for n in few]
    if method == "gflip":
        return [GFlip(n_restarts=2, **shared)]
    return [Simba(n_restarts=1, n_features_to_select=1, **shared)]


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


def _one_of_each(part: Ints, groups: Grouping, labels: Ints, random: np.random.RandomState) -> Ints:
    """Draw a row of each group; or all rows, where so few would not have two rows of two classes.

    Of kinds that cross, of the one that has the most: rows that share no group of any would be too few.
    """
    drawn, most = random.permutation(part), max(unit_parts(groups, None), key=lambda one: len(np.unique(one)))
    drawn = np.sort(drawn[np.unique(most[drawn], return_index=True)[1]])
    return drawn if np.sum(np.bincount(labels[drawn]) > 1) > 1 else part


def _gain(wrong: Floats, target: Ints | Floats, units: Sequence[Ints]) -> tuple[float, float]:
    """By how much the best size beats the most frequent class, or the mean, and its standard error."""
    if target.dtype.kind == "f":
        guess = (target - target.mean()) ** 2 / target.var()
    else:
        guess = target != np.bincount(target.astype(np.int64)).argmax()
    return _mean_and_error(guess - wrong[int(rounded(wrong.mean(axis=1)).argmin())], units)


def _clearly_better(tries: list[Floats], units: Sequence[Ints]) -> int:
    """Return the last of several ways that errs less than the first by two standard errors, or the first."""
    least = [wrong[int(rounded(wrong.mean(axis=1)).argmin())] for wrong in tries]
    better = [0]
    for i, other in enumerate(least[1:], start=1):
        gain, error = _mean_and_error(least[0] - other, units)
        if rounded(gain) > rounded(2 * error):
            better.append(i)
    return better[-1]


def _mean_and_error(wrong: Floats, units: Sequence[Ints]) -> tuple[float, float]:
    return float(wrong.mean()), standard_error(wrong, units)


def _mean_overlap(sets: list[set[int]]) -> float:
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))
