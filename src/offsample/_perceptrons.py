"""Perceptrons that are certified to beat chance on weighted rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints
from offsample.bounds import certified_error

__all__ = [
    "Perceptron",
    "PerceptronGroup",
    "Points",
    "distinct_points",
    "separating_direction",
    "weak_learner",
]


# Two projections are told apart if they differ by more than this share of their range.
_RESOLUTION = 1e-11
# What sums over the rows, of weight 1 and columns of variance 1, may be wrong by.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A hyperplane with a class on either side.

    Attributes
    ----------
    normal, origin : ndarray of shape (n_features,)
    offset : float
        The plane is ``normal · (x - origin) = offset``. In this form a row close to the origin is on its side
        of the plane even if the plane passes by it within a distance that ``normal · x`` would round away.
    labels : tuple of int
        Codes of the classes predicted below and above it.
    error : float
        Weighted training error, in the round it was made for.
    bound : float
        What was guaranteed for it: `bounds.certified_error`.
    is_constructed : bool
        Whether it is the hyperplane that proves the guarantee, as no fitted one was as good.
    """

    normal: Floats
    origin: Floats
    offset: float
    labels: tuple[int, int]
    error: float
    bound: float
    is_constructed: bool

    def predict(self, X: Floats) -> Ints:
        """Codes of the classes of some rows."""
        above = (X - self.origin) @ self.normal > self.offset
        return np.where(above, self.labels[1], self.labels[0])


@dataclass(frozen=True, eq=False)
class PerceptronGroup:
    """A linear score for each of more than two classes, of which the largest wins.

    Attributes
    ----------
    normals : ndarray of shape (n_classes, n_features)
    origin : ndarray of shape (n_features,)
    offsets : ndarray of shape (n_classes,)
    error, bound, is_constructed
        As of a `Perceptron`.
    """

    normals: Floats
    origin: Floats
    offsets: Floats
    error: float
    bound: float
    is_constructed: bool = False

    def predict(self, X: Floats) -> Ints:
        """Codes of the classes of some rows."""
        return np.asarray(rounded((X - self.origin) @ self.normals.T + self.offsets).argmax(axis=1))


def separating_direction(X: ArrayLike, point: int) -> Floats:
    """Normal of a hyperplane through one row that no different row lies on: Lemma 1 of [1]_.

    Well-conditioned: with the row at the origin, the normal is ``(1, -f_2, …, -f_n)``. A row whose last
    coordinate that is not 0 is the k-th rules out one value of f_k, given those before; [1]_ takes a value
    beyond all that are ruled out, which grows exponentially with k on sparse data. Here f_k is the middle of
    the widest gap between them in [-1, 1]: a row is off the plane by its k-th coordinate over one more than
    their number, or more.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    point : int
        The row.

    References
    ----------
    .. [1] T. Scheffer (1999). Error estimation and model selection. Lemma 1 and Theorem 16.

    Examples
    --------
    >>> from offsample.boosting import separating_direction
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> separating_direction(X, 0).tolist()
    [1.0, 0.5]
    """
    X = np.asarray(X, float)
    Z = X - X[point]
    normal = np.zeros(X.shape[1])
    normal[0] = 1.0
    is_nonzero = Z != 0
    last = np.where(is_nonzero.any(axis=1), Z.shape[1] - 1 - is_nonzero[:, ::-1].argmax(axis=1), -1)
    for k in range(1, Z.shape[1]):
        rows = Z[last == k]
        forbidden = (rows[:, :k] @ normal[:k]) / rows[:, k] if len(rows) else np.zeros(0)
        inside = np.sort(forbidden[np.abs(forbidden) < 1])
        ends = np.concatenate([[-1.0], inside, [1.0]])
        widest = best_of(np.diff(ends))
        normal[k] = -(ends[widest] + ends[widest + 1]) / 2
    return normal


def _best_cut(projection: Floats, y: Ints, weight: Floats, n_classes: int) -> tuple[float, Any, float]:
    """Offset, classes below and above, and weighted error, of the best cut of projected rows."""
    order = np.argsort(projection, kind="stable")
    sorted_projection = projection[order]
    below = np.zeros((len(order) + 1, n_classes))
    below[np.arange(1, len(order) + 1), y[order]] = weight[order]
    below = np.cumsum(below, axis=0)
    above = below[-1] - below
    hits = below.max(axis=1) + above.max(axis=1)
    gap = np.diff(sorted_projection)
    span = float(np.abs(sorted_projection).max(initial=0.0))
    hits[1:-1][gap <= _RESOLUTION * span] = -1.0
    best = best_of(hits)
    if best in (0, len(order)):  # all rows on one side
        offset, side = np.inf, below[-1]
        labels = (best_of(side),) * 2
    else:
        offset = float(sorted_projection[best - 1] / 2 + sorted_projection[best] / 2)
        labels = (best_of(below[best]), best_of(above[best]))
    return offset, labels, max(0.0, float(1 - hits[best] / weight.sum()))


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of different places, each of one class."""

    X: Floats
    y: Ints
    weight: Floats
    n_classes: int


def _fitted_directions(points: Points, weight: Floats) -> Floats:
    """Weighted least squares on the class (of more than two: on each)."""
    root = np.sqrt(weight)[:, None]
    centre = weight @ points.X / weight.sum()
    A = (points.X - centre) * root
    classes = range(1, 2) if points.n_classes == 2 else range(points.n_classes)
    target = np.stack([(points.y == k).astype(float) for k in classes], axis=1)
    B = (target - weight @ target / weight.sum()) * root
    gram = A.T @ A
    ridge = 1e-8 * max(float(np.trace(gram)) / max(1, len(gram)), 1e-300)
    follow = A.T @ B
    follow[np.abs(follow) <= _ROUNDING] = 0.0  # what is rounding has no direction
    solution = np.linalg.solve(gram + ridge * np.eye(len(gram)), follow)
    return np.asarray(solution.T)


def weak_learner(points: Points, weight: Floats) -> Perceptron | PerceptronGroup:
    """A perceptron whose weighted error is at most `certified_error`."""
    bound = certified_error(weight, points.n_classes)
    centre = weight @ points.X / weight.sum()
    best: Perceptron | PerceptronGroup | None = None
    fitted = _fitted_directions(points, weight)
    if points.n_classes > 2:
        shares = np.bincount(points.y, weight, minlength=points.n_classes) / weight.sum()
        group = PerceptronGroup(fitted, centre, shares, 0.0, bound)
        error = float(weight @ (group.predict(points.X) != points.y) / weight.sum())
        best = replace(group, error=error)
    for normal in fitted:
        cut = _best_cut((points.X - centre) @ normal, points.y, weight, points.n_classes)
        if best is None or rounded(cut[2]) < rounded(best.error):
            best = Perceptron(normal, centre, *cut, bound, False)
    if best is None or best.error > bound - 1e-12:
        heaviest = best_of(weight)
        normal = separating_direction(points.X, heaviest)
        origin = points.X[heaviest]
        cut = _best_cut((points.X - origin) @ normal, points.y, weight, points.n_classes)
        if best is None or rounded(cut[2]) < rounded(best.error):
            best = Perceptron(normal, origin, *cut, bound, True)
    return best


def distinct_points(X: Floats, y: Ints, weight: Floats, n_classes: int) -> tuple[Points, float]:
    """Different rows with their heaviest class, and the share of the weight that is of another.

    The weight of a point is what its class has more than the next. A point where two have the same is left
    out: whatever is predicted there costs as much.
    """
    places, inverse = np.unique(X, axis=0, return_inverse=True)
    table = np.zeros((len(places), n_classes))
    np.add.at(table, (inverse.ravel(), y), weight)
    ordered = np.sort(table, axis=1)
    net = ordered[:, -1] - ordered[:, -2]
    least_error = float((table.sum(axis=1) - ordered[:, -1]).sum() / table.sum())
    decided = net > 1e-12 * table.sum(axis=1)
    if not decided.any():
        decided[:] = True
        net = table.sum(axis=1)
    kept = net[decided]
    points = Points(places[decided], table[decided].argmax(axis=1), kept / kept.sum(), n_classes)
    return points, max(0.0, least_error)
