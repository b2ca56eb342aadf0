"""Known distributions of a value and a class, and samples from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Distribution:
    """Probabilities of the values, and of the classes given the value."""

    values: np.ndarray
    classes: np.ndarray

    def sample(self, m: int, rng: np.random.Generator) -> np.ndarray:
        """Counts of a sample of m rows, one row per value, seen or not."""
        sizes = rng.multinomial(m, self.values)
        return rng.multinomial(sizes, self.classes)


def two_classes(values, positive_rate) -> Distribution:
    values, q = np.asarray(values, float), np.asarray(positive_rate, float)
    return Distribution(values / values.sum(), np.stack([1 - q, q], axis=1))


_rng = np.random.default_rng(2008)
_zipf = 1 / np.arange(1, 801) ** 1.2

# name: (distribution, sample size)
DISTRIBUTIONS: dict[str, tuple[Distribution, int]] = {
    "rare values": (two_classes(np.ones(300), _rng.beta(0.6, 0.6, 300)), 150),
    "zipf": (two_classes(_zipf, _rng.random(800)), 400),
    "zipf, larger sample": (two_classes(_zipf, _rng.beta(0.3, 0.3, 800)), 4000),
    "two values": (two_classes([0.35, 0.65], [0.25, 0.7]), 120),
    "two values, larger sample": (two_classes([0.35, 0.65], [0.25, 0.7]), 2000),
    "perfect, rare values": (two_classes(np.ones(80), np.arange(80) % 2), 150),
    "1 % error": (two_classes([0.5, 0.5], [0.01, 0.99]), 250),
    "3 % error": (two_classes([0.3, 0.7], [0.02, 0.97]), 100),
    "skewed classes": (two_classes(_rng.random(15), np.full(15, 0.05)), 400),
    "mixed": (two_classes([70, *np.full(200, 0.15)], [0.2, *(0.1 + 0.8 * (np.arange(200) % 2))]), 250),
    "K = 3": (Distribution(_rng.dirichlet(np.ones(25)), _rng.dirichlet(np.ones(3), 25)), 150),
    "K = 10": (Distribution(_rng.dirichlet(np.ones(40)), _rng.dirichlet(np.full(10, 0.3), 40)), 500),
    "tiny sample": (two_classes([0.5, 0.3, 0.2], [0.2, 0.6, 0.9]), 15),
    "30 rows": (two_classes(np.ones(5), [0.1, 0.3, 0.5, 0.8, 0.9]), 30),
}

# The error hardly varies here, and the interval always holds it.
DEGENERATE: dict[str, tuple[Distribution, int]] = {
    "balanced": (two_classes(np.ones(8), np.full(8, 0.5)), 200),
    "perfect": (two_classes([0.4, 0.3, 0.2, 0.1], [0, 1, 1, 0]), 100),
    "identifier": (two_classes(np.ones(5000), np.arange(5000) % 2), 100),
}
