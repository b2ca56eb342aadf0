"""Stochastic linear tests, fitted to global optimality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import bdtr

from offsample.bounds import amplification_depth
from offsample.indexes import IndexFunction, index_terms
from offsample.induction.oblique.moments import SOLVERS, Moments, best_weights, without_rounding

__all__ = [
    "AmplifiedTree",
    "StochasticTest",
    "amplified_tree",
    "best_stochastic_test",
    "extreme_weights",
    "is_attainable",
    "least_weights",
    "weighted_gini",
]

Floats = NDArray[np.float64]

# Rows of norm 1 may come out a little longer in float32.
_SLACK = 1e-5


@dataclass(frozen=True, eq=False)
class StochasticTest:
    """A test that sends a row x of norm at most 1 to the first child with probability ``(1 + w·x) / 2``.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        w, of norm at most 1.
    gain : float
        Decrease of the index, in units of the normalised index (1 at the uniform distribution).
    probability : float
        P, the probability that a row goes to the first child.
    positive : float or ndarray of shape (K,)
        Q, the probability that it goes there and is positive, which is the second of two classes; for more
        classes that of each. A joint mass: the purity of the child is Q / P.
    """

    weights: Floats
    gain: float
    probability: float
    positive: Any

    def first_child(self, X: Any) -> Floats:
        """Probability of the first child for each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, d)
            Of rows with norm at most 1.
        """
        return np.clip((1 + np.asarray(X @ self.weights, dtype=float)) / 2, 0.0, 1.0)

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
        As in `criteria.INDEX_FUNCTIONS`. For two classes and another index than Gini the optimum is searched
        for along half a circle, which contains it for every permissible index; for more classes it is the
        best of several ascents.
    solver : {"exact", "fixed_pq", "fixed_p_search_q", "dependent"}, default="exact"
        The others are those of [1]_ with their misprints corrected, for comparison, and for two classes.
        "dependent" is exact where Σ D y x is a multiple of a. "fixed_pq" can miss its promise: see Notes.
    epsilon : float, default=0.1
        Loss of index that the grids of [1]_ were made for, with the constant C = 100.

    Notes
    -----
    "fixed_p_search_q" keeps its promise in all that we tried, with much to spare. "fixed_pq" does not: the
    proof needs a feasible corner in the cell of the optimum, and where a and Σ D y x are nearly parallel
    there is none.

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
    D = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if D.shape != (n,):
        raise ValueError(f"sample_weight has shape {D.shape}: expected one weight for each of {n} rows")
    if not (np.isfinite(D).all() and (D >= 0).all() and D.sum() > 0):
        raise ValueError("sample_weight must be finite, not negative, and not zero for all rows")
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


def weighted_gini(p: ArrayLike, q: ArrayLike, rho: float) -> Any:
    """Gini index after a split with masses P = p and Q = q, Eq. (6) of Jurgenson & Mansour (2018).

    Written as ``4ρ(1 - ρ) - 4 (q - ρp)² / (p (1 - p))``, which loses no digits; 4ρ(1 - ρ) at p = 0 and p = 1.

    Parameters
    ----------
    p : array-like
        Probability of the first child.
    q : array-like
        Probability of the first child and the positive class.
    rho : float
        Share of the positive class.

    Examples
    --------
    >>> from offsample.induction.oblique.linear import weighted_gini
    >>> weighted_gini(0.5, 0.5, 0.5), weighted_gini(0.5, 0.25, 0.5)
    (0.0, 1.0)
    """
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    spread = p * (1 - p)
    gain = np.where(spread > 0, 4 * (q - rho * p) ** 2 / np.where(spread > 0, spread, 1), 0.0)
    value = 4 * rho * (1 - rho) - gain
    return float(value) if value.ndim == 0 else value


def is_attainable(p: ArrayLike, q: ArrayLike, rho: float, a: ArrayLike, b: ArrayLike) -> Any:
    """Whether some w with ‖w‖ <= 1 has P = p and Q = q, for a = Σ D x and b = Σ D y x that are independent.

    The pairs are a filled ellipse. With the part of b across a, instead of the determinant of Lemma E.1, this
    stays correct where a and b are nearly parallel.

    Parameters
    ----------
    p, q : array-like
    rho : float
        Share of the positive class.
    a, b : array-like of shape (d,)
    """
    lean, aside, a_norm, _, rest, _ = _coordinates(p, q, rho, a, b)
    return ((lean / a_norm) ** 2 + (aside / rest) ** 2 <= 1)[()]


def least_weights(p: float, q: float, rho: float, a: ArrayLike, b: ArrayLike) -> Floats:
    """The shortest w with P = p and Q = q: Lemma E.1 of Jurgenson & Mansour, with its sign corrected.

    As printed, the children are exchanged.

    Parameters
    ----------
    p, q : float
    rho : float
        Share of the positive class.
    a, b : array-like of shape (d,)
        Linearly independent.
    """
    lean, aside, a_norm, along, rest, across = _coordinates(p, q, rho, a, b)
    return np.asarray(lean / a_norm**2 * along + aside / rest**2 * across)


def extreme_weights(p: float, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """The unit vectors with P = p and the largest and the smallest Q: Lemma E.3.

    Parameters
    ----------
    p : float
        With ``|2p - 1| <= ‖a‖``.
    a, b : array-like of shape (d,)
        Linearly independent.
    """
    lean, _, a_norm, along, rest, across = _coordinates(p, 0.0, 0.0, a, b)
    if abs(lean) > a_norm:
        raise ValueError(f"p = {p} is not attainable: |2p - 1| must be at most ‖a‖ = {a_norm:.6g}")
    middle, side = lean / a_norm**2 * along, np.sqrt(1 - (lean / a_norm) ** 2) / rest * across
    return np.asarray(middle + side), np.asarray(middle - side)


def _coordinates(p: Any, q: Any, rho: float, a: ArrayLike, b: ArrayLike) -> tuple[Any, ...]:
    """a·w, the part of b·w across a, and what they are coordinates of."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    a_norm = float(np.linalg.norm(a))
    across = b - (a @ b) / a_norm**2 * a
    across -= (a @ across) / a_norm**2 * a  # once more: where b is nearly a, rounding leaves as much of a
    lean = 2 * np.asarray(p, dtype=float) - 1
    aside = 2 * np.asarray(q, dtype=float) - rho - lean * (a @ b) / a_norm**2
    return lean, aside, a_norm, a, float(np.linalg.norm(across)), across


@dataclass(frozen=True, eq=False)
class AmplifiedTree:
    """The full tree of some depth with one test everywhere, labelled by the majority of the turns.

    Its 2^depth leaves are never made: the number of turns to the first child is binomial.

    Attributes
    ----------
    weights : ndarray of shape (d,)
    depth : int
        Odd, so that there are no ties.
    """

    weights: Floats
    depth: int

    @property
    def classes_(self) -> NDArray[np.int64]:
        """0 and 1."""
        return np.array([0, 1])

    def predict_proba(self, X: Any) -> Floats:
        """Expectation over the leaves: Pr[more than half of the turns go to the first child].

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, d)
            Of rows with norm at most 1.
        """
        p = np.clip((1 + np.asarray(X @ self.weights, dtype=float)) / 2, 0.0, 1.0)
        negative = bdtr(self.depth // 2, self.depth, p)
        return np.stack([negative, 1 - negative], axis=1)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The more probable class of each row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, d)
        """
        return np.asarray(self.predict_proba(X).argmax(axis=1))


def amplified_tree(w: ArrayLike, margin: float, error: float) -> AmplifiedTree:
    """Turn a linear separator with a margin into a stochastic tree of small error: Theorems 5.1 and H.1.

    If every row of class 1 has w·x >= γ and every other row w·x <= -γ, the tree that repeats the test w until
    depth ``2 ln(1/ε) / γ²`` gives each row its class with probability at least 1 - ε.

    Parameters
    ----------
    w : array-like of shape (d,)
        Of norm at most 1.
    margin : float
        γ, in (0, 1].
    error : float
        ε, in (0, 1).

    References
    ----------
    .. [1] T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.

    Examples
    --------
    >>> from offsample.induction import amplified_tree
    >>> tree = amplified_tree([1.0, 0.0], margin=0.5, error=0.05)
    >>> tree.depth, tree.predict_proba([[0.5, 0.1], [-0.9, 0.3]])[:, 1].round(4).tolist()
    (25, [0.9966, 0.0])
    """
    weights = np.asarray(w, dtype=float)
    if weights.ndim != 1 or not np.linalg.norm(weights) <= 1 + _SLACK:
        raise ValueError(
            f"w has shape {weights.shape} and norm {np.linalg.norm(weights):.6g}: expected a vector of norm "
            "at most 1"
        )
    return AmplifiedTree(weights, amplification_depth(margin, error))
