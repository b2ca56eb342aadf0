"""The margin that weighted features give the nearest-neighbour rule: what the selectors maximise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from offsample._typing import Floats, Ints
from offsample.margin import _passes
from offsample.margin._sketch import Sample
from offsample.margin._space import SQUARED, make_space, read_classes, scale_columns
from offsample.margin._utility import Utility, as_utility
from offsample.tables import TableEncoder, is_dataframe


def hypothesis_margin(
    X: Any, y: ArrayLike, weights: ArrayLike, reference: tuple[Any, ArrayLike] | None = None
) -> Floats:
    """Compute each row's margin: half of how much nearer its nearest hit is than its nearest miss.

    Definition 1 of Gilad-Bachrach et al. (2004): ``(‖x - nearmiss(x)‖ - ‖x - nearhit(x)‖) / 2`` with
    ``‖z‖² = Σ wᵢ² zᵢ²``, where the same norm finds the neighbours. Two values of a category differ by 0 or 1;
    a missing value differs by the expected difference of a value drawn from its column.

    Parameters
    ----------
    X : array or dataframe of shape (n_samples, n_features)
        Used without scaling.
    y : array-like of shape (n_samples,)
        Classes.
    weights : array-like of shape (n_features,)
        w. They act squared; a set of features is a vector of zeros and ones.
    reference : tuple of table and classes, optional
        Rows among which to search for neighbours; by default the other rows of X.

    Returns
    -------
    ndarray of shape (n_samples,)
        NaN where a row has no hit or no miss, such as the only row of a class.

    Examples
    --------
    >>> from offsample.margin import hypothesis_margin
    >>> X, y = [[0.0, 5.0], [1.0, 1.0], [4.0, 0.0], [6.0, 9.0]], [0, 0, 1, 1]
    >>> hypothesis_margin(X, y, [1, 0]).tolist()
    [1.5, 1.0, 0.5, 1.5]
    """
    sample, rows = _read(X, y, reference)
    return _passes.margins(sample, _as_weights(weights, sample), rows)


def margin_score(X: Any, y: ArrayLike, weights: ArrayLike, utility: str | Utility = "linear") -> float:
    """Sum the utilities of the leave-one-out margins: e(w), Definition 2 of Gilad-Bachrach et al.

    The only row of a class has no margin and is left out. The score e(F) of a set of features is that of its
    indicator; it is 0 for the empty set, and with ``"sigmoid"`` half the number of rows.

    Parameters
    ----------
    X, y, weights
        As in `hypothesis_margin`.
    utility : {"linear", "sigmoid", "zero_one"} or function, default="linear"
        What a margin is worth: itself, ``sigmoid(beta=1)``, 1 if it is positive, or any function of an array.

    Examples
    --------
    >>> from offsample.margin import margin_score
    >>> X, y = [[0.0, 5.0], [1.0, 1.0], [4.0, 0.0], [6.0, 9.0]], [0, 0, 1, 1]
    >>> margin_score(X, y, [1, 0]), margin_score(X, y, [3, 0]), margin_score(X, y, [0, 1], "zero_one")
    (4.5, 13.5, 0.0)
    """
    value = as_utility(utility)
    margin = hypothesis_margin(X, y, weights)
    return float(np.sum(value(margin[~np.isnan(margin)])))


def sample_margin(
    X: Any, y: ArrayLike, weights: ArrayLike, reference: tuple[Any, ArrayLike] | None = None
) -> Floats:
    """Compute how far each row can be moved before the nearest-neighbour rule changes its answer.

    The other kind of margin of Gilad-Bachrach et al. (2004), Sec. 2.1: the distance, in the norm of
    `hypothesis_margin`, to the nearest point of another answer; negative where the rule is wrong, and then
    the distance to the nearest point where it would be right. The region of a class is the union, over its
    rows, of the points that are no nearer to any row of other classes: a polyhedron each, to which the
    distance is a least-distance program (Lawson & Hanson 1974). `hypothesis_margin` is never larger in
    absolute value, and much cheaper.

    Parameters
    ----------
    X, y, weights, reference
        As in `hypothesis_margin`, but all numbers, none missing.

    Returns
    -------
    ndarray of shape (n_samples,)
        NaN where a row has no hit or no miss.

    Examples
    --------
    >>> from offsample.margin import sample_margin
    >>> sample_margin([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1], [1]).round(6).tolist()
    [2.5, 1.0, 0.5, 3.5]
    """
    sample, rows = _read(X, y, reference)
    if (sample.space.kinds != SQUARED).any():
        column = int(np.argmax(sample.space.kinds != SQUARED))
        raise ValueError(f"column {column} has categories or missing values: expected numbers")
    w = np.abs(_as_weights(weights, sample))
    points = sample.space.rows[:, w > 0] * w[w > 0]
    known = np.arange(sample.n_reference)
    result = np.full(len(rows), np.nan)
    for place, i in enumerate(rows.tolist()):
        others = known[known != i]
        is_hit = sample.labels[others] == sample.labels[i]
        if not is_hit.any() or is_hit.all():
            continue
        hits, misses = points[others[is_hit]], points[others[~is_hit]]
        near = [np.square(part - points[i]).sum(axis=1).min() for part in (hits, misses)]
        if near[0] <= near[1]:
            result[place] = _distance_to_region(points[i], misses, hits)
        else:
            result[place] = -_distance_to_region(points[i], hits, misses)
    return result


def _distance_to_region(point: Floats, inside: Floats, outside: Floats) -> float:
    """Distance to the nearest point that is no nearer to any row outside than to one inside."""
    from scipy.optimize import nnls

    least = np.inf
    distances = np.sqrt(np.square(inside - point).sum(axis=1))
    nearest_outside = np.sqrt(np.square(outside - point).sum(axis=1).min())
    for j in np.argsort(distances, kind="stable").tolist():
        if (distances[j] - nearest_outside) / 2 >= least:  # no point of its polyhedron is nearer
            break
        # With u = z - point: 2 (outside - inside)·u ≤ |outside - point|² - |inside - point|², as G u ≥ h.
        across = 2 * (inside[j] - outside)
        gap = distances[j] ** 2 - np.square(outside - point).sum(axis=1)
        system = np.vstack([across.T, gap])
        scale = np.abs(system).max() or 1.0
        solution, _ = nnls(system / scale, np.append(np.zeros(len(point)), 1.0 / scale))
        left = system @ solution - np.append(np.zeros(len(point)), 1.0)
        if abs(left[-1]) > 1e-12:  # else a row outside has the same place: nothing is nearer to this one
            least = min(least, float(np.linalg.norm(left[:-1] / left[-1])))
    return least


def margin_error(
    X: Any, y: ArrayLike, weights: ArrayLike, margin: float, *, leave_one_out: bool = False
) -> float:
    """Compute the share of rows that are wrong or have a margin below `margin`, Definition 3 of the paper.

    The rule has stored the rows, so that each is its own nearest hit, and its margin is half the distance to
    the nearest miss: 0 where a row of another class has the same place, which counts as wrong. That is the
    hypothesis margin, which is no larger than the sample margin of the definition; the share is no smaller,
    and `nearest_neighbor_bound` holds with it.

    Parameters
    ----------
    X, y, weights
        As in `hypothesis_margin`.
    margin : float
        γ, above 0.
    leave_one_out : bool, default=False
        Take each row's margin among the others instead. The bound is not one of these.

    Examples
    --------
    >>> from offsample.bounds import nearest_neighbor_bound
    >>> from offsample.margin import margin_error
    >>> X, y = [[0.0], [1.0], [4.0], [4.5]], [0, 0, 1, 1]
    >>> margin_error(X, y, [1], 1.6), margin_error(X, y, [1], 1.6, leave_one_out=True)
    (0.5, 1.0)
    >>> nearest_neighbor_bound(0.5, 4, 1, 1, radius=4.5, margin=1.0)
    inf
    """
    if not 0 < margin < np.inf:
        raise ValueError(f"margin must be positive and finite, got {margin}")
    margins = hypothesis_margin(X, y, weights, None if leave_one_out else (X, y))
    if not leave_one_out:  # a row is its own hit
        margins = np.where(np.isnan(margins), np.inf, margins)
    return float(np.mean(~(margins >= margin)))


def _read(X: Any, y: ArrayLike, reference: tuple[Any, ArrayLike] | None) -> tuple[Sample, Ints]:
    """Read the rows of the reference, if any, and those of X; and which are those of X."""
    encoder = TableEncoder()
    known = (X, y) if reference is None else reference
    encoded = [*encoder.fit_transform(_as_table(known[0]))]
    classes, labels = read_classes(known[1])
    n_reference = len(labels)
    if reference is not None:
        queries = encoder.transform(_as_table(X))
        encoded = [
            one._replace(values=np.concatenate([one.values, query.values]))
            for one, query in zip(encoded, queries, strict=True)
        ]
        own_classes, codes = read_classes(y)
        # A class that the reference does not have is nobody's class.
        code = {label: i for i, label in enumerate(classes.tolist())}
        known_code = np.array([code.get(label, -1) for label in own_classes.tolist()])
        labels = np.concatenate([labels, known_code[codes]])
    columns = scale_columns(encoder, encoded, None, n_reference)[0]
    if columns.values.shape[1] != len(labels):
        raise ValueError(f"X has {columns.values.shape[1]} rows, but y has {len(labels)}: expected as many")
    rows = np.arange(0 if reference is None else n_reference, len(labels))
    return Sample.of(make_space(columns, n_reference=n_reference), labels, n_reference), rows


def _as_table(X: Any) -> Any:
    if isinstance(X, dict) or is_dataframe(X):
        return X
    table = np.asarray(X)
    if table.ndim != 2:
        raise ValueError(f"X has {table.ndim} dimensions: expected 2, rows and features")
    return table


def _as_weights(weights: ArrayLike, sample: Sample) -> Floats:
    w, n_features = np.asarray(weights, np.float64), len(sample.space.columns)
    if w.shape != (n_features,):
        raise ValueError(f"weights has shape {w.shape}: expected one for each of {n_features} features")
    if not np.isfinite(w).all():
        raise ValueError(f"weights has {w[~np.isfinite(w)][0]}: expected finite numbers")
    return w
