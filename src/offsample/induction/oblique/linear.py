"""One stochastic linear test, fitted to global optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from offsample._estimators import row_weights
from offsample._typing import Floats
from offsample.indexes import IndexFunction, index_terms
from offsample.induction.oblique.moments import SOLVERS, Moments, best_weights, without_rounding
from offsample.induction.oblique.rows import gate

# Rows of norm 1 may come out a little longer in float32.
_SLACK = 1e-5


@dataclass(frozen=True, eq=False)
class StochasticTest:
    """A test that sends a row x of norm at most 1 to the first child with probability ``(1 + w·x) / 2``."""

    weights: Floats  # w, of norm at most 1
    gain: float  # decrease of the index, which is 1 at the uniform distribution
    probability: float  # P, that a row goes to the first child
    # Q, that it goes there and is of the second of two classes; of more, an array with that of each. The
    # purity of the child is Q / P.
    positive: Any

    def first_child(self, X: Any) -> Floats:
        """Return the probability of the first child for each row of X, of norm at most 1."""
        return gate(np.asarray(X @ self.weights, dtype=float))

    def __repr__(self) -> str:
        positive = np.array2string(np.asarray(self.positive), precision=4)
        return (
            f"StochasticTest(gain={self.gain:.4g}, probability={self.probability:.4g}, "
            f"positive={positive}, {len(self.weights)} weights)"
        )


def best_stochastic_test(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    index: str | IndexFunction = "gini",
    solver: str = "exact",
    epsilon: float = 0.1,
) -> StochasticTest:
    """Find the stochastic linear test that decreases an index most.

    The problem is not convex (Appendix G of [1]_), and [1]_ solves it on grids. It has a closed form: with
    a = Σ D x and c = Σ D (y - ρ) x, the Gini gain of w is ``4 (c·w)² / (1 - (a·w)²)``. It grows along every
    ray, so ‖w‖ = 1, where the denominator is wᵀ(I - aaᵀ)w: a Rayleigh quotient with
    ``w ∝ c + a (a·c) / (1 - ‖a‖²)``. For K classes the numerator is Σ_k (c_k·w)², and the best w comes from
    the first eigenvector of a K × K matrix.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, d)
        Rows of norm at most 1.
    y : array-like of shape (n_samples,)
        Classes.
    sample_weight : array-like of shape (n_samples,), optional
        D, up to a factor.
    index : {"gini", "entropy", "matsushita", "error"} or callable, default="gini"
        As in `criteria.INDEX_FUNCTIONS`. For an index other than Gini, the optimum of two classes is searched
        along half a circle, which contains it for every permissible index; that of more classes is the best
        of several ascents.
    solver : {"exact", "fixed_pq", "fixed_p_search_q", "dependent"}, default="exact"
        The others are those of [1]_ for two classes, with misprints corrected, for comparison. "dependent" is
        exact where Σ D y x is a multiple of a. "fixed_pq" can miss its promise: see Notes.
    epsilon : float, default=0.1
        The loss of index that the grids of [1]_ were made for, with the constant C = 100.

    Notes
    -----
    The proof of "fixed_pq" needs a feasible corner in the grid cell of the optimum, and there is none where a
    and Σ D y x are nearly parallel.

    References
    ----------
    .. [1] T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.

    Examples
    --------
    >>> from offsample.induction import best_stochastic_test
    >>> X = [[1.0, 0.0], [0.8, 0.6], [-0.6, 0.8], [-1.0, 0.0]]
    >>> test = best_stochastic_test(X, [1, 1, 0, 0])
    >>> test.weights.round(3).tolist(), round(test.gain, 4)
    ([0.999, -0.047], 0.7257)
    >>> test.first_child(X).round(2).tolist()
    [1.0, 0.89, 0.18, 0.0]
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {solver!r}")
    if not 0 < epsilon <= 1:
        raise ValueError(f"epsilon must lie in (0, 1], got {epsilon}")
    rows = X.tocsr() if issparse(X) else np.asarray(X)
    if rows.dtype.kind not in "iufb" or len(rows.shape) != 2:
        raise ValueError(f"X must be an array of numbers with two dimensions, got {rows.shape} {rows.dtype}")
    rows = rows.astype(np.float64)
    moments = _moments(rows, np.asarray(y), sample_weight)
    weights = best_weights(moments, index, solver, epsilon)
    if len(moments.shares) < 2:  # one class: nothing to gain, whatever the index
        return StochasticTest(weights, 0.0, 0.5, 0.5)
    gain = float(moments.gains(weights[None], index_terms(index))[0])
    if gain <= 0:
        weights, gain = np.zeros_like(weights), 0.0
    probability, joint = moments.masses(weights[None])
    positive = float(joint[0, 1]) if len(moments.shares) == 2 else joint[0]
    return StochasticTest(weights, gain, float(probability[0]), positive)


def _moments(rows: Any, y: NDArray[Any], sample_weight: ArrayLike | None) -> Moments:
    n = rows.shape[0]
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}: expected one class for each of {n} rows")
    D = row_weights(sample_weight, n)
    values = rows.data if issparse(rows) else rows
    if not np.isfinite(values).all():
        raise ValueError("X must be finite")
    squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if issparse(rows) else (rows**2).sum(axis=1)
    if len(squares) and squares.max() > (1 + _SLACK) ** 2:
        i = int(squares.argmax())
        raise ValueError(f"row {i} of X has norm {np.sqrt(squares[i]):.6g}: expected at most 1")
    D = D / D.sum()
    present = D > 0
    codes = np.full(n, -1)
    classes, codes[present] = np.unique(y[present], return_inverse=True)
    onehot = (codes[:, None] == np.arange(len(classes))).astype(float)
    shares = D @ onehot
    mean = np.asarray(D @ rows).ravel()
    # Centred before they are summed: where all rows are alike, the sums would cancel.
    residual = D[:, None] * (onehot - shares)
    residual[~present] = 0
    if issparse(rows):
        contrasts = np.asarray((rows.T @ residual).T) - np.outer(residual.sum(axis=0), mean)
        spread = without_rounding(1.0 - float(mean @ mean))
    else:
        centred = rows - mean
        contrasts = residual.T @ centred
        spread = float(D @ (centred**2).sum(axis=1)) + max(0.0, float(D @ (1 - squares)))
        spread = spread if spread > 1e-28 else 0.0  # else all rows are the same
    return Moments(shares, mean, contrasts, spread)
