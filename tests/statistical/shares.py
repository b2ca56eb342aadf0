"""How many of some random cases chance allows."""

from scipy.stats import binom


def fewest(n: int, share: float, chance: float = 0.01) -> int:
    """Return the number that cases of this share, of n, fall short of with at most a chance."""
    return int(binom.ppf(chance, n, share))


def most(n: int, share: float, chance: float = 0.01) -> int:
    """Return the number that cases of this share, of n, exceed with at most a chance."""
    return n - fewest(n, 1 - share, chance)
