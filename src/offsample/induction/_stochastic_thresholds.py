"""From expectations over leaves to classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fixed_thresholds(t: float, n_classes: int) -> Floats:
    """What to subtract from probabilities so that the second of two classes is predicted above t."""
    if n_classes <= 2:
        return np.array([1 - t, t])[:n_classes]
    if t != 0.5:
        raise ValueError(
            f"threshold {t} is for two classes, got {n_classes}: expected 'prior', 'tuned' or 0.5"
        )
    return np.zeros(n_classes)


def tuned_thresholds(output: Floats, labels: NDArray[Any], mass: Floats) -> Floats:
    """Those with the fewest errors; for more than two classes among multiples of their shares."""
    n_classes = output.shape[1]
    if n_classes == 2:
        t = fewest_errors(output[:, 1], labels, mass)
        return np.array([1 - t, t])
    shares = np.bincount(labels, mass, minlength=n_classes)
    factors = np.linspace(0, 1.5, 31)
    errors = [mass @ ((output - t * shares).argmax(axis=1) != labels) for t in factors]
    return np.asarray(factors[int(np.argmin(np.round(errors, 9)))] * shares)


def fewest_errors(scores: Floats, labels: NDArray[np.intp], mass: Floats) -> float:
    """Threshold with the least mass of errors, in the middle of the gap in which it lies."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    gain = np.where(labels[order] == 0, mass[order], -mass[order])  # of not calling this row positive
    left = np.concatenate([[0.0], np.cumsum(gain)])
    usable = np.concatenate([[True], np.diff(ordered) > 0, [True]])
    best = int(np.argmax(np.where(usable, np.round(left, 12), -np.inf)))
    low = ordered[best - 1] if best else ordered[0] - 1e-12
    high = ordered[best] if best < len(ordered) else ordered[-1] + 1e-12
    return float(np.clip((low + high) / 2, 0.0, 1.0))
