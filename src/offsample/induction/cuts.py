"""Where to cut a column of numbers."""

from __future__ import annotations

import numpy as np

from offsample._typing import Floats

_LARGEST = np.finfo(np.float64).max
_DAY = 86_400e6  # microseconds: what dates and durations are counted in


def finite(values: Floats) -> Floats:
    """Infinite numbers as the largest and the smallest there are, so that thresholds are finite numbers."""
    return np.clip(values, -_LARGEST, _LARGEST)


def cut_points(lower: Floats, upper: Floats) -> Floats:
    """Thresholds halfway between neighbouring finite numbers, below the upper one; between days, a day."""
    middle = lower / 2 + upper / 2  # the sum could overflow; halves of the smallest numbers are rounded
    if max(-lower.min(initial=0.0), upper.max(initial=0.0)) >= _DAY:  # the rest of a division takes long
        are_days = (lower % _DAY == 0) & (upper % _DAY == 0)
        middle = np.where(are_days, middle - middle % _DAY, middle)
    return np.where((middle >= lower) & (middle < upper), middle, lower)
