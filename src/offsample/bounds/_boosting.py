"""How weak learners are boosted: their guaranteed error, and the rounds, depths and leaves that suffice."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from offsample._checks import check_count


def certified_error(weights: ArrayLike, n_classes: int = 2) -> float:
    """Weighted error that some hyperplane is guaranteed not to exceed on distinct points.

    For two classes ``1/2 - w/2``, where w is the largest share of the weight on one point: Theorem 16 of
    Scheffer (1999), which prints it for the least such share, 1/m. A hyperplane through this point and no
    other splits the others in some way, or the opposite way; moved a little to either side, it gets the point
    right as well. For K classes, each side predicting its heaviest class, ``1 - 1/K - w (K - 1)/K²``: better
    than chance, as SAMME requires.

    Parameters
    ----------
    weights : array-like
        Weights of the points; of a point that occurs with both of two classes, their difference.
    n_classes : int

    Examples
    --------
    >>> from offsample.bounds import certified_error
    >>> certified_error([1, 1, 1, 1])
    0.375
    """
    w = np.asarray(weights, float)
    check_count("n_classes", n_classes, 2)
    if w.ndim != 1 or not len(w) or (w < 0).any() or not w.sum() > 0:
        raise ValueError("weights must be a list of numbers that are at least 0, with a positive sum")
    largest = float(w.max() / w.sum())
    if n_classes == 2:
        return 0.5 - largest / 2
    return 1 - 1 / n_classes - largest * (n_classes - 1) / n_classes**2


def adaboost_rounds(n_samples: int, error: float = 0.0) -> int:
    """Rounds after which AdaBoost with certified perceptrons has a training error of at most `error`.

    ``ceil(2 m² ln(1/error))``, Theorem 17 of Scheffer (1999), for m distinct rows of equal initial weights:
    every round has an edge over chance of at least 1/(2m). For no error at all ``floor(2 m² ln m) + 1``
    (Corollary 4: an error below 1/m is none, and the bound must be undercut strictly).

    Parameters
    ----------
    n_samples : int
        Rows, m.
    error : float
        Training error to reach, from 0 to 1.

    Examples
    --------
    >>> from offsample.bounds import adaboost_rounds
    >>> adaboost_rounds(16), adaboost_rounds(100, 0.1)
    (1420, 46052)
    """
    check_count("n_samples", n_samples, 1)
    if not 0 <= error <= 1:
        raise ValueError(f"error must be from 0 to 1, got {error}")
    if error * n_samples < 1:  # less than one row
        return int(np.floor(2 * n_samples**2 * np.log(n_samples))) + 1
    return int(np.ceil(2 * n_samples**2 * np.log(1 / error)))


def amplification_depth(margin: float, error: float, *, sharp: bool = False) -> int:
    """Depth at which repeating one stochastic linear test has a small error.

    Theorem H.1 of Jurgenson and Mansour (2018). A row with w·x >= γ goes to the first child with probability
    at least (1 + γ) / 2 at each of h repetitions and, by Hoeffding's inequality, at most h/2 times with
    probability at most ``exp(-hγ²/2)``, so ``h = 2 ln(1/ε) / γ²`` suffices. Rounded up to an odd number: ties
    make an even depth worse than the odd one below it.

    Parameters
    ----------
    margin : float
        Margin γ, in (0, 1].
    error : float
        Error ε, in (0, 1).
    sharp : bool, default=False
        Return the least odd depth whose error, Pr[Bin(h, (1 + γ) / 2) <= h/2], is at most ε.

    Examples
    --------
    >>> from offsample.bounds import amplification_depth
    >>> amplification_depth(0.2, 0.05), amplification_depth(0.2, 0.05, sharp=True)
    (151, 67)
    """
    if not 0 < margin <= 1:
        raise ValueError(f"margin must lie in (0, 1], got {margin}")
    if not 0 < error < 1:
        raise ValueError(f"error must lie strictly between 0 and 1, got {error}")
    depth = max(1, int(np.ceil(2 * np.log(1 / error) / margin**2)))
    depth += 1 - depth % 2
    if not sharp:
        return depth

    def suffices(half: int) -> bool:
        return bool(bdtr(half, 2 * half + 1, (1 + margin) / 2) <= error)

    # The error of odd depths decreases.
    return 2 * bisect_left(range(depth // 2), True, key=suffices) + 1
