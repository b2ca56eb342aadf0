"""Which few columns suffice: the error against the number of columns, on rows the selection did not see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from offsample._frames import make_frame
from offsample._text import MAJORITY, visible
from offsample._ties import rounded
from offsample.margin._copies import copies_in, take_columns
from offsample.margin._selector import MarginSelector
from offsample.margin._space import Floats, Ints, make_space, read_classes, read_columns
from offsample.margin.gflip import GFlip, stratified_rows
from offsample.margin.relief import Relief
from offsample.margin.simba import Simba
from offsample.tables import TableEncoder, take_rows

__all__ = ["METHODS", "SufficientColumns", "make_selector", "sufficient_columns"]

Method = Literal["simba", "gflip", "relief"]
METHODS: tuple[Method, ...] = ("simba", "gflip", "relief")
# Sizes at which the error is measured: each up to ten, then each about a quarter more than the one before,
# or so many in all if that makes fewer.
_MORE_SIZES, _GROWTH = 10, 1.25
# Distances, sums of differences of about 1, are equal up to that.
_ROUNDING = 1e-14
# Standard errors by which the best of all sizes must beat the most frequent class: it is the best of many.
_BEYOND_CHANCE = 2.5


@dataclass(frozen=True)
class SizeError:
    """Error on held-out rows with the best so many columns.

    Attributes
    ----------
    n_columns : int
    error : float
        Share of the rows that the nearest-neighbour rule gets wrong.
    standard_error : float
        Of that share.
    model_error : float or None
        Share that the given classifier gets wrong.
    model_standard_error : float or None
    """

    n_columns: int
    error: float
    standard_error: float
    model_error: float | None
    model_standard_error: float | None


@dataclass(frozen=True)
class ColumnStability:
    """How sure it is that a column belongs to the chosen ones.

    Attributes
    ----------
    name : str
    rank : int
        Among all columns, with all rows.
    weight : float
        That the method gave it; 1 or 0 for G-flip.
    chosen : bool
    share : float
        Of the resamples, in which it was among the best so many, or the best.
    """

    name: Any
    rank: int
    weight: float
    chosen: bool
    share: float


@dataclass(frozen=True)
class SufficientColumns:
    """The smallest set of columns that is as good as any, and how sure that is.

    Attributes
    ----------
    method : {"simba", "gflip", "relief"}
    n_samples, n_used : int
        Rows that were given, and those of the sample that was looked at.
    score : float
        Margin function e at the weights, or of the set that G-flip selects.
    baseline_error : float
        Of always predicting the most frequent class.
    sizes : tuple of SizeError
        By rising number of columns; the last is all of them.
    columns : tuple of ColumnStability
        By rank.
    n_chosen : int
        The smallest number of columns whose error is within one standard error of the smallest; 0 where that
        of always predicting the most frequent class is, too.
    judged_by : {"nearest neighbour", "model"}
        Whose errors these are: the classifier's, if there was one.
    stability : float
        Mean share of columns that two resamples choose in common (intersection over union).
    n_folds, n_resamples : int
    copies : dict
        Columns that were left out because they equal another one in every row: their names, and its name.
    """

    method: Method
    n_samples: int
    n_used: int
    score: float
    baseline_error: float
    sizes: tuple[SizeError, ...]
    columns: tuple[ColumnStability, ...]
    n_chosen: int
    judged_by: Literal["nearest neighbour", "model"]
    stability: float
    n_folds: int
    n_resamples: int
    copies: dict[Any, Any] = field(default_factory=dict)

    @property
    def chosen(self) -> list[Any]:
        """Names of the chosen columns, the best first."""
        return [column.name for column in self.columns if column.chosen]

    def to_frame(self) -> Any:
        """Errors by the number of columns."""
        names = ("n_columns", "error", "standard_error", "model_error", "model_standard_error")
        return make_frame({name: [getattr(size, name) for size in self.sizes] for name in names})

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {**asdict(self), "chosen": self.chosen}

    def __repr__(self) -> str:
        rows = f"{self.n_samples:,} rows"
        if self.n_used < self.n_samples:
            rows = f"{self.n_used:,} of {rows}"
        lines = [
            f"{self.n_chosen or 'None'} of {len(self.columns)} columns "
            f"{'suffice' if self.n_chosen else 'is shown to help'}, by {self.method} on {rows} "
            f"(error of the {self.judged_by}; {MAJORITY} {self.baseline_error:.3f}):",
            ", ".join(map(str, self.chosen)),
            f"columns  error of 1-NN{'' if self.judged_by != 'model' else '  error of the model'}",
        ]
        for size in self.sizes:
            line = f"{size.n_columns:>7}  {size.error:.3f} ± {size.standard_error:.3f}"
            if size.model_error is not None:
                line += f"  {size.model_error:.3f} ± {size.model_standard_error:.3f}"
            lines.append(line + ("  <- chosen" if size.n_columns == self.n_chosen else ""))
        lines += [f"Left out: {visible(a)}, a copy of {visible(b)}." for a, b in self.copies.items()]
        lines.append(f"Two resamples choose {self.stability:.0%} of the columns in common.")
        return "\n".join(lines)


def sufficient_columns(
    table: Any,
    y: ArrayLike,
    *,
    method: Method = "relief",
    classifier: Any = None,
    max_rows: int = 2000,
    n_folds: int = 5,
    n_resamples: int = 10,
    categorical_features: Literal["infer", "all"] | Sequence[Any] | NDArray[np.bool_] = "infer",
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
    fold_of = _stratified_folds(own, n_folds, random)
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


def _stratified_folds(labels: Ints, n_folds: int, random: np.random.RandomState) -> Ints:
    """Fold of each row: every class is dealt out in turn, in random order."""
    order = random.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    folds = np.empty(len(labels), np.int64)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


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
