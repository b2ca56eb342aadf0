"""From leaves to outputs, and from outputs to classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from offsample._ties import best_of, rounded
from offsample._typing import Floats

# Rounds over the classes in which their thresholds are tuned in turn.
_ROUNDS = 4
# Standard errors by which a threshold must be better than the one it replaces. More than two classes have
# several each, tuned in turn, and users expect the largest probability to be predicted.
_MARGIN, _MARGIN_OF_MANY = 2.0, 3.0
# Times that probabilities may be as far from the class shares as the expected votes are; of equals the first.
_TIMES = sorted((2.0 ** np.linspace(-2, 3, 21)).tolist(), key=lambda times: (abs(np.log2(times)), times))


@dataclass(frozen=True, eq=False)
class Calibration:
    """From expected votes to probabilities: nearer to the class shares than these, or further away.

    Leaves are as pure as the rows that made them, and soft tests mix them. What either does is a factor.
    """

    shares: Floats
    times: float = 1.0  # the distance from the shares that is kept
    least: float = 0.0  # probability of a class, whatever the leaves say

    @classmethod
    def of(cls, output: Floats, labels: NDArray[Any], mass: Floats, shares: Floats, n_rows: float) -> Self:
        """The factor with the least log loss, given the votes of trees that did not see the rows.

        Its squared logarithm is added, in nats of all rows: few rows that are told apart say little of it.
        """
        votes = np.column_stack([1 - output, output]) if len(shares) == 2 else output
        found = [cls(shares, times, 0.5 / n_rows) for times in _TIMES]
        weight, own = mass * (n_rows / mass.sum()), (np.arange(len(labels)), labels)
        gains = [weight @ np.log(one(votes)[own]) - np.log(one.times) ** 2 for one in found]
        return found[best_of(gains, n_rows)]

    def __call__(self, votes: Floats) -> Floats:
        """Return probabilities, of shape (..., K)."""
        value = np.clip(self.moved(votes), self.least, None)
        return np.asarray(value / value.sum(axis=-1, keepdims=True))

    def moved(self, votes: Floats) -> Floats:
        """Return votes, or thresholds of votes, in the units of probabilities."""
        return np.asarray(votes if self.times == 1 else self.shares + self.times * (votes - self.shares))


@dataclass(frozen=True, eq=False)
class Decision:
    """How leaves vote, and how a class is chosen from the expected vote."""

    majority: bool  # whether a leaf votes for its largest class only, and not for all by their shares
    threshold: Any  # "prior", "tuned", or what is subtracted from outputs of shape (n, K)
    stakes: Any = 1.0  # of the classes: masses are those of the rows times these

    @classmethod
    def of(cls, majority: bool, threshold: str | float, n_classes: int, stakes: Any = 1.0) -> Decision:
        """Make a decision with a name or a number as the threshold."""
        fixed = threshold if isinstance(threshold, str) else fixed_thresholds(float(threshold), n_classes)
        return cls(majority, fixed, stakes)

    def staked(self, output: Floats) -> Floats:
        """Return the votes, for K classes or the second of two, where rows count what they have at stake."""
        if self.majority or np.ndim(self.stakes) == 0:
            return output
        votes = np.column_stack([1 - output, output]) if output.shape[1] == 1 else output
        votes = np.maximum(votes, 0.0) * self.stakes
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))[:, -output.shape[1] :]

    def value(self, masses: Floats) -> Floats:
        """Return the vote of leaves with these class masses, of shape (..., K)."""
        if self.majority:
            largest = rounded(masses).argmax(axis=-1)[..., None]
            return np.asarray(np.arange(masses.shape[-1]) == largest, dtype=np.float64)
        masses = masses / self.stakes
        total = masses.sum(axis=-1, keepdims=True)
        return np.asarray(np.where(total > 0, masses, 1.0) / np.where(total > 0, total, masses.shape[-1]))

    @property
    def is_tuned(self) -> bool:
        """Whether thresholds are fitted to the outputs."""
        return isinstance(self.threshold, str) and self.threshold == "tuned"

    def thresholds(
        self, is_split: bool, output: Floats, labels: NDArray[np.intp], mass: Floats, shares: Floats
    ) -> Floats:
        """Return what to subtract from these outputs; a tree without a split predicts the largest class."""
        if not isinstance(self.threshold, str):
            return np.asarray(self.threshold)
        if not is_split:
            return fixed_thresholds(0.5, len(shares))
        return tuned_thresholds(output, labels, mass, shares) if self.is_tuned else shares


def predicted(output: Floats, thresholds: Floats) -> NDArray[np.intp]:
    """Return the class whose output exceeds its threshold by most; of two classes, the second's suffices."""
    if len(thresholds) == 2:
        return (rounded(output[:, -1] - thresholds[1]) > 0).astype(np.intp)
    return np.asarray(rounded(output - thresholds).argmax(axis=1))


def fixed_thresholds(t: float, n_classes: int) -> Floats:
    """Return the thresholds with which the second of two classes is predicted above t."""
    if n_classes <= 2:
        return np.array([1 - t, t])[:n_classes]
    if t != 0.5:
        raise ValueError(
            f"threshold {t} is for two classes, got {n_classes}: expected 'prior', 'tuned' or 0.5"
        )
    return np.zeros(n_classes)


def tuned_thresholds(output: Floats, labels: NDArray[Any], mass: Floats, shares: Floats) -> Floats:
    """Return the thresholds with the fewest errors, for outputs of K classes, or of the second of two.

    They start at 1/2 (at 0 for more than two classes) or at the shares, whichever has fewer errors. One class
    after the other then gets the best threshold given the others, until none changes. A threshold moves only
    if that saves more errors than chance would.
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
    rows, beyond = np.arange(len(labels)), rounded(output - thresholds)
    for _ in range(_ROUNDS):
        before = thresholds.copy()
        for k in range(n_classes):
            beyond[:, k] = -np.inf
            second = beyond.argmax(axis=1)
            gain = mass * ((labels == k).astype(float) - (labels == second))
            scores = output[:, k] - beyond[rows, second]
            thresholds[k] = _fewest_errors(scores, gain, thresholds[k], _MARGIN_OF_MANY)
            beyond[:, k] = rounded(output[:, k] - thresholds[k])
        if np.array_equal(before, thresholds):
            break
    return thresholds


def _fewest_errors(scores: Floats, gain: Floats, start: float, margin: float = _MARGIN) -> float:
    """Threshold with the largest gain above it; `start` if no other gains `margin` standard errors more."""
    scores = rounded(scores)
    is_above = scores > start
    # The gain of c rows is at most √c times the root of the sum of their squares.
    if max(np.count_nonzero((gain > 0) & ~is_above), np.count_nonzero((gain < 0) & is_above)) < margin**2:
        return start
    order = np.argsort(scores)  # no cut divides equal scores, so their order does not matter
    ordered, gain = scores[order], gain[order]
    total = float(gain.sum())
    # What is gained by predicting the class for all rows from each one on.
    above = rounded(np.concatenate([[total], total - np.cumsum(gain)]))
    usable = np.concatenate([[True], np.diff(ordered) > 0, [True]])
    best = int(np.argmax(np.where(usable, above, -np.inf)))
    now = int(np.searchsorted(ordered, start, side="right"))
    changed = gain[min(best, now) : max(best, now)]
    if rounded(above[best] - above[now]) <= rounded(margin * np.sqrt(changed @ changed)):
        return start
    low = ordered[best - 1] if best else ordered[0] - 1e-9
    high = ordered[best] if best < len(ordered) else ordered[-1] + 1e-9
    return float((low + high) / 2)
