"""A tree that repeats one stochastic linear test: Theorems 5.1 and H.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from offsample._typing import Floats, Ints
from offsample.bounds import amplification_depth
from offsample.induction.oblique.rows import gate

# Rows of norm 1 may come out a little longer in float32.
_SLACK = 1e-5


@dataclass(frozen=True, eq=False)
class AmplifiedTree:
    """A full tree with the same test at every node, whose leaves vote as most turns on the way to them.

    Its 2^depth leaves are never made, as the number of turns to the first child is binomial.
    """

    weights: Floats
    depth: int  # an odd number, so that there are no ties

    @property
    def classes_(self) -> Ints:
        """0 and 1."""
        return np.array([0, 1])

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability that at most half of the turns go to the first child, and that more do.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, d), with rows of norm at most 1
        """
        negative = bdtr(self.depth // 2, self.depth, gate(np.asarray(X @ self.weights, dtype=float)))
        return np.stack([negative, 1 - negative], axis=1)

    def predict(self, X: Any) -> Ints:
        """Return the more probable class of each row.

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
        A vector of norm at most 1.
    margin : float
        γ, in (0, 1].
    error : float
        ε, in (0, 1).

    References
    ----------
    .. [1] T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.

    Examples
    --------
    >>> from papers.stochastic_trees._amplified import amplified_tree
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
