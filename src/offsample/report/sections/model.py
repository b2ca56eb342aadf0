"""A model that can be read: at the size where more would not help, or would not be read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, StratifiedKFold

from offsample._ties import best_first, best_of, rounded
from offsample.induction import TreeClassifier
from offsample.induction._path import score_interval
from offsample.report._study import Study
from offsample.tables import take_rows

# A tree of more splits is not read.
READABLE = 30


@dataclass(frozen=True)
class SizePoint:
    """The model at one size.

    Attributes
    ----------
    size : int
        Splits.
    training_error, estimated_error : float
        On the sample; and off it, estimated by the learner itself.
    validated_error : float or None
        On rows left out, by cross-validation of the learner at this size.
    """

    size: int
    training_error: float
    estimated_error: float
    validated_error: float | None


@dataclass(frozen=True)
class Alternative:
    """Another model, for comparison.

    Attributes
    ----------
    name : str
        In words, such as "tree with the quarantined columns".
    size : int
        Splits, rules or literals.
    error, low, high : float
        Estimated off the sample, with its interval.
    text : str
        The model in words, where it can be read.
    """

    name: str
    size: int
    error: float
    low: float
    high: float
    text: str = ""


@dataclass(frozen=True)
class Model:
    """The recommended model and how it was chosen.

    Attributes
    ----------
    kind : {"tree", "decision list", "formula", "tree of oblique tests"}
    name : str
        In words, such as "a tree with 7 leaves".
    size : int
    unit : {"split", "rule", "term"}
        What the size counts.
    columns : tuple of str
        That it looks at, the most important first.
    importances : tuple of float
        Their shares in the decrease of the estimated error; empty where the model does not know them.
    error, low, high : float
        Error off the sample, estimated by the learner itself; and a 95 % interval for it, which spans the
        learner's own and that of cross-validation.
    training_error : float
    validated_error : float or None
        By cross-validation.
    n_folds : int
        Of the cross-validation; 0 if there was none.
    baseline_error : float
        Of always predicting the most frequent class.
    n_rows : int
        That it was fitted to.
    path : tuple of SizePoint
        The sizes that were compared.
    text : str
        The model in words, one line per node.
    tree : dict or None
        A tree as nested plain data: see `TreeClassifier.to_dict`.
    classes : tuple of str
    alternatives : tuple of Alternative
    """

    kind: str
    name: str
    size: int
    unit: str
    columns: tuple[str, ...]
    importances: tuple[float, ...]
    error: float
    low: float
    high: float
    training_error: float
    validated_error: float | None
    n_folds: int
    baseline_error: float
    n_rows: int
    path: tuple[SizePoint, ...]
    text: str
    tree: dict[str, Any] | None
    classes: tuple[str, ...]
    alternatives: tuple[Alternative, ...]


def choose(study: Study, features: Collection[Any]) -> tuple[TreeClassifier, TreeClassifier]:
    """The tree that generalises best, and the smallest readable one that is as good as any readable one."""
    full = study.tree(features)
    size = _as_good(full, min(full.n_splits_, READABLE))
    return full, full if size == full.n_splits_ else study.tree(features, max_splits=size)


def _as_good(tree: TreeClassifier, limit: int) -> int:
    """Fewest splits whose estimated error is within one standard error of the best of at most `limit`.

    The standard error is that of the difference of the two trees' errors: they differ only on rows that they
    predict differently.
    """
    errors = np.array([step.estimated_error for step in tree.path_][: limit + 1])
    best = best_of(-errors)
    m = int(tree.tree_.counts[0].sum())
    for size in range(best):
        differing = _share_predicted_differently(tree, size, best)
        if rounded(errors[size] - errors[best]) <= rounded(np.sqrt(differing / m)):
            return size
    return best


def _share_predicted_differently(tree: TreeClassifier, small: int, large: int) -> float:
    """Share of the training rows that two trees of the path predict differently."""
    flat = tree.tree_
    label = flat.value.argmax(axis=1)
    steps = np.argsort(flat.first_child[~flat.is_leaf])  # children are numbered as they are made
    order = np.flatnonzero(~flat.is_leaf)[steps]
    rank = np.full(flat.n_nodes, flat.n_nodes)
    rank[order] = np.arange(len(order))
    differing = 0
    todo = [(0, label[0])]
    while todo:
        node, seen = todo.pop()
        seen = label[node] if node == 0 or rank[flat.parent[node]] < small else seen
        if rank[node] < large:
            first = flat.first_child[node]
            todo.extend((first + i, seen) for i in range(flat.n_children[node]))
        elif label[node] != seen:
            differing += int(flat.counts[node].sum())
    return differing / int(flat.counts[0].sum())


def staged_errors(tree: TreeClassifier, X: Any, labels: NDArray[Any]) -> NDArray[np.int64]:
    """Errors on other rows of the trees of 0, 1, 2, … splits that a tree went through."""
    flat = tree.tree_
    place = {label: code for code, label in enumerate(tree.classes_)}
    unknown = len(place)  # a class that the tree has not seen: always an error
    truth = [place.get(label, unknown) for label in labels.tolist()]
    ended = np.zeros((flat.n_nodes, unknown + 1), np.int64)
    np.add.at(ended, (tree.apply(X), truth), 1)
    passing = ended.copy()
    for child in range(flat.n_nodes - 1, 0, -1):  # a parent comes before its children
        passing[flat.parent[child]] += passing[child]
    best = flat.value.argmax(axis=1)
    every = np.arange(flat.n_nodes)
    wrong_passing = passing.sum(axis=1) - passing[every, best]
    wrong_ended = ended.sum(axis=1) - ended[every, best]
    inner = np.flatnonzero(~flat.is_leaf)
    errors = [int(wrong_passing[0])]
    for split in inner[np.argsort(flat.first_child[inner])]:
        first = flat.first_child[split]
        below = wrong_passing[first : first + flat.n_children[split]].sum()
        errors.append(int(errors[-1] - wrong_passing[split] + below + wrong_ended[split]))
    return np.array(errors)


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of the tree that stops by itself.

    Attributes
    ----------
    folds : list of (train, test)
    errors : ndarray
        On left-out rows, by number of splits.
    wrong : ndarray of bool
        Rows that were wrong when they were left out, at the size that each fold's tree stopped at.
    """

    folds: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
    errors: NDArray[np.float64]
    wrong: NDArray[np.bool_]

    def at(self, size: int) -> float:
        """Error at a number of splits; a tree that stopped earlier stays as it is."""
        return float(self.errors[min(size, len(self.errors) - 1)])


def cross_validate(study: Study, features: Collection[Any]) -> Validation | None:
    """Cross-validate the tree; None where there are too few rows, or no time."""
    n_folds = 3 if study.options.fast else 5
    if len(study.y) < n_folds or not study.has_time_for("cross-validation"):
        return None
    X = study.columns(features)
    rarest = int(np.bincount(study.labels).min())
    kind = StratifiedKFold if rarest >= n_folds else KFold
    splitter = kind(n_folds, shuffle=True, random_state=study.options.random_state)
    folds = list(splitter.split(np.zeros(len(study.y)), study.y))
    runs, wrong = [], np.zeros(len(study.y), bool)
    for train, test in folds:
        tree = study.learner(features).fit(take_rows(X, train), study.y[train])
        left_out = take_rows(X, test)
        runs.append(staged_errors(tree, left_out, study.y[test]))
        wrong[test] = tree.predict(left_out) != study.y[test]
        if not study.has_time_for("cross-validation"):
            return None
    longest = max(map(len, runs))
    totals = sum(np.pad(run, (0, longest - len(run)), mode="edge") for run in runs)
    return Validation(folds, np.asarray(totals / len(study.y)), wrong)


def describe(
    study: Study,
    full: TreeClassifier,
    chosen: TreeClassifier,
    validation: Validation | None,
    alternatives: tuple[Alternative, ...],
) -> Model:
    """All that is shown of the recommended tree."""

    def left_out(size: int) -> float | None:
        return None if validation is None else validation.at(size)

    path = tuple(
        SizePoint(step.n_splits, step.training_error, step.estimated_error, left_out(step.n_splits))
        for step in full.path_
    )
    used, shares = used_columns(chosen)
    validated = left_out(chosen.n_splits_)
    low, high = spanned(chosen.estimated_error_interval_, validated, len(study.y))
    if full.n_splits_ > chosen.n_splits_:
        bounds = full.estimated_error_interval_
        bigger = "larger tree, the best by its own estimate"
        alternatives = (Alternative(bigger, full.n_splits_, full.estimated_error_, *bounds), *alternatives)
    return Model(
        kind="tree",
        name=f"a tree with {chosen.tree_.n_leaves} leaves" if chosen.n_splits_ else "the most frequent class",
        size=chosen.n_splits_,
        unit="split",
        columns=used,
        importances=shares,
        error=chosen.estimated_error_,
        low=low,
        high=high,
        training_error=chosen.path_[chosen.n_splits_].training_error,
        validated_error=validated,
        n_folds=0 if validation is None else len(validation.folds),
        baseline_error=study.majority_error,
        n_rows=len(study.y),
        path=path,
        text=chosen.export_text(),
        tree=_as_text(chosen.to_dict()),
        classes=tuple(map(str, chosen.classes_)),
        alternatives=alternatives,
    )


def spanned(interval: tuple[float, float], validated: float | None, n_rows: int) -> tuple[float, float]:
    """The learner's own interval, widened to that of cross-validation: they err differently."""
    if validated is None:
        return interval
    low, high = score_interval(validated, validated, n_rows)
    return min(interval[0], low), max(interval[1], high)


def used_columns(tree: TreeClassifier) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Columns that a tree looks at, with their importances, the largest first."""
    positions = np.unique(tree.tree_.feature[~tree.tree_.is_leaf])
    shares = tree.feature_importances_[positions]
    order = best_first(shares)
    return tuple(tree.feature_names_in_[positions[order]]), tuple(float(s) for s in shares[order])


def _as_text(node: Any) -> Any:
    """Nested plain data whose values JSON knows: dates and the like as text."""
    if isinstance(node, dict):
        return {str(key): _as_text(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_as_text(value) for value in node]
    return node if node is None or isinstance(node, (bool, int, float, str)) else str(node)
