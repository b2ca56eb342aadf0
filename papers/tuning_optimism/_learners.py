"""Learners with many configurations: each predicts new rows with some of its configurations at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import f_classif
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

__all__ = ["N_CONFIGURATIONS", "Learner", "bayes", "boosting", "kernels", "neighbours", "screened", "trees"]

# (X, y, new rows, configurations) -> predictions of shape (configurations, new rows)
Learner = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], Sequence[int]], NDArray[Any]]
N_CONFIGURATIONS = 42


_TREES = list(product((1, 2, 4, 8, 16, 32), (1, 2, 3, 4, 6, 8, None)))


def trees(X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]) -> NDArray[Any]:
    """Six sizes of the smallest leaf, seven depths, of which the lesser are the tops of the deepest tree."""
    found: dict[Any, dict[Any, NDArray[Any]]] = {}
    for leaf in {_TREES[i][0] for i in configurations}:
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0).fit(X, y)
        found[leaf] = _by_depth(tree, new)
    return np.array([found[leaf][depth] for leaf, depth in (_TREES[i] for i in configurations)])


def _by_depth(tree: DecisionTreeClassifier, new: NDArray[Any]) -> dict[Any, NDArray[Any]]:
    """Predictions of a tree cut at each of the depths; None for the whole."""
    parts, node, predicted = tree.tree_, np.zeros(len(new), dtype=int), {}
    labels = tree.classes_[parts.value[:, 0, :].argmax(axis=1)]
    for depth in range(1, tree.get_depth() + 1):
        feature = parts.feature[node]
        left = new[np.arange(len(new)), np.maximum(feature, 0)] <= parts.threshold[node]
        child = np.where(left, parts.children_left[node], parts.children_right[node])
        node = np.where(feature < 0, node, child)
        predicted[depth] = labels[node]
    deepest = labels[node]
    return {depth: predicted.get(depth, deepest) for _, depth in _TREES}


_KERNELS = list(product((0.1, 0.3, 1, 3, 10, 30, 100), (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)))


def kernels(
    X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]
) -> NDArray[Any]:
    """Seven penalties, six widths of a Gaussian kernel on scaled columns."""
    scaler = StandardScaler().fit(X)
    X, new = scaler.transform(X), scaler.transform(new)
    chosen = (_KERNELS[i] for i in configurations)
    return np.array([SVC(C=c, gamma=gamma).fit(X, y).predict(new) for c, gamma in chosen])


def _by_variance_ratio(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Columns in the order of their F statistic, the largest first; constant columns last."""
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return np.argsort(-np.nan_to_num(f_classif(X, y)[0], nan=-1.0), kind="stable")


_BAYES = list(product((5, 10, 20, 40, 80, 160, None), (0.01, 0.1, 0.3, 1, 3, 10)))


def bayes(X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]) -> NDArray[Any]:
    """Naive Bayes of indicators on the best columns: seven numbers of columns, six smoothings."""
    order, (classes, codes) = _by_variance_ratio(X, y), np.unique(y, return_inverse=True)
    member = (codes[:, None] == np.arange(len(classes))).astype(float)
    size, ones = member.sum(axis=0)[:, None], member.T @ X[:, order]
    new, predicted = new[:, order], []
    for k, alpha in (_BAYES[i] for i in configurations):
        rate = (ones[:, :k] + alpha) / (size + 2 * alpha)
        score = new[:, :k] @ np.log(rate / (1 - rate)).T + np.log(1 - rate).sum(axis=1)
        predicted.append(classes[(score + np.log(size[:, 0])).argmax(axis=1)])
    return np.array(predicted)


_SCREENED = list(product((2, 5, 10, 20, 50, 100, 500), (1, 3, 5, 9, 15, 25)))


def screened(
    X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]
) -> NDArray[Any]:
    """Neighbours on the best columns, scaled: seven numbers of columns, six of neighbours."""
    order, scaler = _by_variance_ratio(X, y), StandardScaler().fit(X)
    X, new, found = scaler.transform(X)[:, order], scaler.transform(new)[:, order], {}
    predicted = []
    for n_columns, n in (_SCREENED[i] for i in configurations):
        if n_columns not in found:
            found[n_columns] = _nearest(X[:, :n_columns], new[:, :n_columns], "euclidean")
        predicted.append(_vote(y, *found[n_columns], n, "uniform"))
    return np.array(predicted)


_NEIGHBOURS = list(
    product(("euclidean", "manhattan", "chebyshev"), ("uniform", "distance"), (1, 2, 3, 5, 9, 15, 25))
)


def neighbours(
    X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]
) -> NDArray[Any]:
    """Three distances, two weightings of the votes, seven numbers of neighbours."""
    found: dict[str, Any] = {}
    predicted = []
    for metric, weights, n in (_NEIGHBOURS[i] for i in configurations):
        if metric not in found:
            found[metric] = _nearest(X, new, metric)
        predicted.append(_vote(y, *found[metric], n, weights))
    return np.array(predicted)


def _nearest(X: NDArray[Any], new: NDArray[Any], metric: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Distances and rows of the 25 nearest neighbours, the nearest first."""
    return NearestNeighbors(n_neighbors=25, metric=metric, algorithm="brute").fit(X).kneighbors(new)


def _vote(
    y: NDArray[Any], distance: NDArray[Any], nearest: NDArray[Any], n_neighbours: int, weights: str
) -> NDArray[Any]:
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((len(nearest), len(classes)))
    for k in range(n_neighbours):
        # A neighbour at no distance decides alone.
        weight = 1.0 if weights == "uniform" else 1 / np.maximum(distance[:, k], 1e-12)
        votes[np.arange(len(nearest)), codes[nearest[:, k]]] += weight
    return classes[votes.argmax(axis=1)]


_BOOSTING = list(product((0.05, 0.15, 0.5), range(1, 15)))


def boosting(
    X: NDArray[Any], y: NDArray[Any], new: NDArray[Any], configurations: Sequence[int]
) -> NDArray[Any]:
    """Three rates, fourteen numbers of trees, of which the fewer are the first of the more."""
    stages: dict[float, list[Any]] = {}
    predicted = []
    for rate, n in (_BOOSTING[i] for i in configurations):
        if rate not in stages:
            model = GradientBoostingClassifier(
                learning_rate=rate, max_depth=2, n_estimators=_BOOSTING[-1][-1], random_state=0
            )
            stages[rate] = list(model.fit(X, y).staged_predict(new))
        predicted.append(stages[rate][n - 1])
    return np.array(predicted)
