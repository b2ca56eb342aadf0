"""Utilities: what a margin is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from offsample._typing import Floats

# A function of an array of margins; with a method `derivative` where gradients are needed.
Utility = Callable[[Floats], Floats]


class _Linear:
    def __call__(self, margins: Floats) -> Floats:
        return margins

    derivative = staticmethod(np.ones_like)


@dataclass(frozen=True)
class sigmoid:
    """The utility ``1 / (1 + exp(-beta * margin))``, for which very large margins are worth no more.

    Parameters
    ----------
    beta : float, default=1.0
        Steepness, about ``1 / (a typical margin)``: far below, the utility is almost linear; far above, it
        counts the rows with a positive margin.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.margin import sigmoid
    >>> sigmoid(beta=2.0)(np.array([0.0, 1.0])).round(3).tolist()
    [0.5, 0.881]
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise ValueError(f"beta must be positive and finite, got {self.beta}")

    def __call__(self, margins: Floats) -> Floats:
        """Value of each margin."""
        # 1/(1+exp(-t)) in a form that cannot overflow
        return np.asarray(0.5 * (1 + np.tanh(0.5 * self.beta * margins)))

    def derivative(self, margins: Floats) -> Floats:
        """Slope at each margin."""
        value = self(margins)
        return np.asarray(self.beta * value * (1 - value))


def _zero_one(margins: Floats) -> Floats:
    return (margins > 0).astype(np.float64)


UTILITIES: dict[str, Utility] = {"linear": _Linear(), "sigmoid": sigmoid(), "zero_one": _zero_one}


def as_utility(utility: str | Utility) -> Utility:
    """Look up a name, and leave a function as it is."""
    if not callable(utility) and utility not in UTILITIES:
        raise ValueError(f"utility must be one of {sorted(UTILITIES)} or a function, got {utility!r}")
    return utility if callable(utility) else UTILITIES[utility]


def derivative_of(utility: Utility) -> Utility:
    """Return the derivative, which gradient ascent cannot do without."""
    derivative = getattr(utility, "derivative", None)
    if derivative is None:
        raise ValueError(
            f"the utility {utility!r} has no derivative: expected 'linear', 'sigmoid', or a function with a "
            "method derivative(margins)"
        )
    return derivative  # type: ignore[no-any-return]
