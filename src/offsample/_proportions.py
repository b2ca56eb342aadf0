"""Intervals of a proportion, and the tail of a law with some skewness."""

from __future__ import annotations

import math

from scipy.special import chdtrc

# Square of the 97.5 % quantile of the normal law.
_Z2 = 3.841458820694124


def wilson(share: float, n: float, z2: float = _Z2) -> tuple[float, float]:
    """Return the score interval of a share of n draws (Wilson 1927), 95 % by default."""
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    radius = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n**2))) / (1 + z2 / n)
    low, high = max(0.0, middle - radius), min(1.0, middle + radius)
    return 0.0 if share <= 0 else low, 1.0 if share >= 1 else high  # which rounding may miss


def lower_end(value: float, radius: float, least: float = 0.0) -> float:
    """Lower end of the interval of a mean whose variance falls with it, to 0 at the least possible value.

    As Wilson's, given the radius of the normal one: what is above the least is never negative.
    """
    above = max(0.0, value - least)
    slope = radius**2 / max(2 * above, 1e-300)
    # The root of the quadratic that is no difference of two large numbers.
    return least + above**2 / max(above + slope + math.hypot(radius, slope), 1e-300)


def gamma_tail(seen: float, mean: float, variance: float, skewness: float) -> float:
    """Probability that a gamma law with these moments exceeds a number; nearly the normal law."""
    freedom = 8 / max(skewness, 1e-2) ** 2
    beyond = freedom + (seen - mean) / math.sqrt(variance) * math.sqrt(2 * freedom)
    return float(chdtrc(freedom, max(beyond, 0.0)))
