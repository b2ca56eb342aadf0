"""Intervals of a proportion."""

from __future__ import annotations

import math

# Square of the 97.5 % quantile of the normal law.
_Z2 = 3.841458820694124


def wilson(share: float, n: float, z2: float = _Z2) -> tuple[float, float]:
    """Return the score interval of a share of n draws (Wilson 1927), 95 % by default."""
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    radius = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    return max(0.0, middle - radius), min(1.0, middle + radius)
