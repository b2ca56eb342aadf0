"""How weak learners are boosted: the rounds and depths that suffice."""

from __future__ import annotations

import numpy as np

from offsample._checks import check_count


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


def amplification_depth(margin: float, error: float) -> int:
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

    Examples
    --------
    >>> from offsample.bounds import amplification_depth
    >>> amplification_depth(0.2, 0.05)
    151
    """
    if not 0 < margin <= 1:
        raise ValueError(f"margin must lie in (0, 1], got {margin}")
    if not 0 < error < 1:
        raise ValueError(f"error must lie strictly between 0 and 1, got {error}")
    depth = max(1, int(np.ceil(2 * np.log(1 / error) / margin**2)))
    return depth + 1 - depth % 2
