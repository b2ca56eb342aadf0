"""From expectations over leaves to classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded

Floats = NDArray[np.float64]

# Rounds over the classes in which their thresholds are tuned in turn.
_ROUNDS = 4
# Standard errors by which a threshold must be better than the one it replaces: less is luck. Of more than two
# classes each is tuned several times, and the largest probability is what everybody expects to be predicted.
_LUCK, _LUCK_OF_MANY = 2.0, 3.0


def fixed_thresholds(t: float, n_classes: int) -> Floats:
    """What to subtract from probabilities so that the second of two classes is predicted above t."""
    if n_classes <= 2:
        return np.array([1 - t, t])[:n_classes]
    if t != 0.5:
        raise ValueError(
            f"threshold {t} is for two classes, got {n_classes}: expected 'prior', 'tuned' or 0.5"
        )
    return np.zeros(n_classes)


def tuned_thresholds(output: Floats, labels: NDArray[Any], mass: Floats, shares: Floats) -> Floats:
    """Those with the fewest errors, unless they save no more than luck would.

    One class after the other gets the best threshold given the others, starting from the largest output
    (1/2 of two classes) or from the shares, whichever has fewer errors, until none changes.

    Parameters
    ----------
    output : ndarray of shape (n, K), or (n, 1) with the second of two classes
    labels : ndarray of int, shape (n,)
    mass : ndarray of shape (n,)
    shares : ndarray of shape (K,)
        Of the classes.
    """
    n_classes = len(shares)
    if n_classes <= 2:
        scores, gain = output[:, -1], np.where(labels == 1, mass, -mass)
        start = max((0.5, float(shares[-1])), key=lambda t: rounded(gain @ (rounded(scores - t) > 0)))
        t = _fewest_errors(scores, gain, start)
        return np.array([1 - t, t])[:n_classes]
    starts = [np.zeros(n_classes), shares]
    errors = [float(mass @ (rounded(output - t).argmax(axis=1) != labels)) for t in starts]
    thresholds = starts[best_of([-error for error in errors])].copy()
    rows = np.arange(len(labels))
    for _ in range(_ROUNDS):
        before = thresholds.copy()
        for k in range(n_classes):
            others = rounded(output - thresholds)
            others[:, k] = -np.inf
            second = others.argmax(axis=1)
            gain = mass * ((labels == k).astype(float) - (labels == second))
            scores = output[:, k] - others[rows, second]
            thresholds[k] = _fewest_errors(scores, gain, thresholds[k], _LUCK_OF_MANY)
        if np.array_equal(before, thresholds):
            break
    return thresholds


def _fewest_errors(scores: Floats, gain: Floats, start: float, luck: float = _LUCK) -> float:
    """Threshold above which the most is gained, in the middle of its gap.

    `start` where what is gained by leaving it is within `luck` standard errors.
    """
    scores = rounded(scores)
    order = np.argsort(scores)  # in which order equal ones come does not matter: no cut divides them
    ordered, gain = scores[order], gain[order]
    total = float(gain.sum())
    # Of calling all rows from each on.
    above = rounded(np.concatenate([[total], total - np.cumsum(gain)]))
    usable = np.concatenate([[True], np.diff(ordered) > 0, [True]])
    best = int(np.argmax(np.where(usable, above, -np.inf)))
    now = int(np.searchsorted(ordered, start, side="right"))
    changed = gain[min(best, now) : max(best, now)]
    if rounded(above[best] - above[now]) <= rounded(luck * np.sqrt(changed @ changed)):
        return start
    low = ordered[best - 1] if best else ordered[0] - 1e-9
    high = ordered[best] if best < len(ordered) else ordered[-1] + 1e-9
    return float((low + high) / 2)
