"""Perceptrons that are certified to beat chance on weighted rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from offsample._ties import best_of, rounded
from offsample._typing import Floats, Ints

# Projections that differ by less than this share of their range are equal.
_RESOLUTION = 1e-11
# Rounding error of sums over rows of total weight 1 and columns of variance 1.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A hyperplane with a class on either side: ``normal · (x - origin) = offset``.

    This form keeps rows close to the origin on their side even where ``normal · x`` rounds the distance away.
    """

    normal: Floats  # (n_features,), as the origin
    origin: Floats
    offset: float
    labels: tuple[int, int]  # codes of the classes predicted below and above it
    error: float  # weighted training error in its round
    bound: float  # which is guaranteed: `certified_error`
    is_constructed: bool  # whether it proves the guarantee, because no fitted one was as good

    def predict(self, X: Floats) -> Ints:
        """Return the class codes of some rows."""
        above = (X - self.origin) @ self.normal > self.offset
        return np.where(above, self.labels[1], self.labels[0])


@dataclass(frozen=True, eq=False)
class PerceptronGroup:
    """A linear score for each of more than two classes, of which the largest wins."""

    normals: Floats  # (n_classes, n_features)
    origin: Floats
    offsets: Floats
    error: float  # and the rest as in `Perceptron`
    bound: float
    is_constructed: bool = False

    def predict(self, X: Floats) -> Ints:
        """Return the class codes of some rows."""
        return np.asarray(rounded((X - self.origin) @ self.normals.T + self.offsets).argmax(axis=1))


def certified_error(weight: Floats, n_classes: int = 2) -> float:
    """Weighted error that some hyperplane is guaranteed not to exceed on distinct points.

    For two classes ``1/2 - w/2``, where w is the largest share of the weight on one point: Theorem 16 of
    Scheffer (1999), which prints it for the least such share, 1/m. A hyperplane through this point and no
    other splits the others in some way, or the opposite way; moved a little to either side, it gets the point
    right as well. For K classes, each side predicting its heaviest class, ``1 - 1/K - w (K - 1)/K²``: better
    than chance, as SAMME requires.
    """
    largest = float(weight.max() / weight.sum())
    if n_classes == 2:
        return 0.5 - largest / 2
    return 1 - 1 / n_classes - largest * (n_classes - 1) / n_classes**2


def separating_direction(X: ArrayLike, point: int) -> Floats:
    """Return the normal of a hyperplane through one row and no different row: Lemma 1 of Scheffer (1999).

    With the row at the origin, the normal is ``(1, -f_2, …, -f_n)``. A row whose last nonzero coordinate is
    the k-th rules out one value of f_k, given those before. The thesis takes a value beyond all that are
    ruled out, which grows exponentially with k on sparse data. Here f_k is the middle of the widest gap
    between them in [-1, 1], which is well-conditioned.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    point : int
        Number of the row.

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
        with np.errstate(over="ignore"):  # what lies beyond all numbers is not inside
            forbidden = (rows[:, :k] @ normal[:k]) / rows[:, k] if len(rows) else np.zeros(0)
        inside = np.sort(forbidden[np.abs(forbidden) < 1])
        ends = np.concatenate([[-1.0], inside, [1.0]])
        widest = best_of(np.diff(ends))
        normal[k] = -(ends[widest] + ends[widest + 1]) / 2
    return normal


@dataclass(frozen=True, eq=False)
class Points:
    """Distinct rows, each of one class."""

    X: Floats
    y: Ints
    weight: Floats
    n_classes: int


def _best_cut(
    points: Points,
    weight: Floats,
    normal: Floats,
    origin: Floats,
    bound: float,
    *,
    is_constructed: bool = False,
) -> Perceptron:
    """Cut the rows where the weighted error is least, perpendicular to `normal`."""
    projection = (points.X - origin) @ normal
    order = np.argsort(projection, kind="stable")
    projection = projection[order]
    below = np.zeros((len(order) + 1, points.n_classes))
    below[np.arange(1, len(order) + 1), points.y[order]] = weight[order]
    below = np.cumsum(below, axis=0)
    above = below[-1] - below
    hits = below.max(axis=1) + above.max(axis=1)
    span = float(np.abs(projection).max(initial=0.0))
    hits[1:-1][np.diff(projection) <= _RESOLUTION * span] = -1.0
    best = best_of(hits)
    if best in (0, len(order)):  # all rows on one side
        offset, labels = np.inf, (best_of(below[-1]),) * 2
    else:
        offset = float(projection[best - 1] / 2 + projection[best] / 2)
        labels = (best_of(below[best]), best_of(above[best]))
    error = max(0.0, float(1 - hits[best] / weight.sum()))
    return Perceptron(normal, origin, offset, labels, error, bound, is_constructed)


def _fitted_directions(points: Points, weight: Floats, centre: Floats) -> Floats:
    """Weighted least squares on the class, or on each of more than two."""
    root = np.sqrt(weight)[:, None]
    A = (points.X - centre) * root
    classes = range(1, 2) if points.n_classes == 2 else range(points.n_classes)
    target = np.stack([(points.y == k).astype(float) for k in classes], axis=1)
    B = (target - weight @ target / weight.sum()) * root
    gram = A.T @ A
    ridge = 1e-8 * max(float(np.trace(gram)) / max(1, len(gram)), 1e-300)
    follow = A.T @ B
    follow[np.abs(follow) <= _ROUNDING] = 0.0  # rounding errors have no direction
    return np.asarray(np.linalg.solve(gram + ridge * np.eye(len(gram)), follow).T)


def weak_learner(points: Points, weight: Floats) -> Perceptron | PerceptronGroup:
    """Return a perceptron whose weighted error is at most `certified_error`."""
    bound = certified_error(weight, points.n_classes)
    centre = weight @ points.X / weight.sum()
    fitted = _fitted_directions(points, weight, centre)
    tried: list[Perceptron | PerceptronGroup] = []
    if points.n_classes > 2:
        shares = np.bincount(points.y, weight, minlength=points.n_classes) / weight.sum()
        group = PerceptronGroup(fitted, centre, shares, 0.0, bound)
        error = float(weight @ (group.predict(points.X) != points.y) / weight.sum())
        tried.append(replace(group, error=error))
    tried += [_best_cut(points, weight, normal, centre, bound) for normal in fitted]
    best = min(tried, key=lambda one: rounded(one.error))
    if best.error <= bound - 1e-12:
        return best
    heaviest = best_of(weight)
    normal = separating_direction(points.X, heaviest)
    built = _best_cut(points, weight, normal, points.X[heaviest], bound, is_constructed=True)
    return min((best, built), key=lambda one: rounded(one.error))


def distinct_points(X: Floats, y: Ints, weight: Floats, n_classes: int) -> tuple[Points, float]:
    """Return distinct rows with their heaviest class, and the share of the weight of other classes.

    The weight of a point is the lead of its class over the next. A point where two classes tie is left out:
    any prediction there costs the same.
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
