"""What the experiments share: the published algorithm, samples, numbers with errors, and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample.induction import StochasticTreeClassifier

Floats = NDArray[np.float64]

# Colour-blind safe, in the order of the models.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#777777", "#CC79A7")
MARKERS = "osD^v"


def published(**options: Any) -> StochasticTreeClassifier:
    """The algorithm of the paper, with the exact test."""
    return StochasticTreeClassifier(published=True, **options)


def unit(rng: np.random.Generator, n: int, d: int) -> Floats:
    """Random unit vectors."""
    X = rng.normal(size=(n, d))
    return np.asarray(X / np.linalg.norm(X, axis=1, keepdims=True))


def sample(rng: np.random.Generator, n: int, normals: Floats, ratio: float = 1.0) -> tuple[Floats, Any]:
    """Unit vectors, and the product of their signs for some hyperplanes; `ratio` negatives per positive."""
    X = unit(rng, 3 * n, normals.shape[1])
    y = (np.prod(np.sign(X @ normals.T), axis=1) > 0).astype(int)
    if ratio == 1.0:
        return X[:n], y[:n]
    n_positive = round(n / (1 + ratio))
    rows = np.concatenate([np.flatnonzero(y == 1)[:n_positive], np.flatnonzero(y == 0)[: n - n_positive]])
    return X[rows], y[rows]


def random_problem(rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Unit rows that lean to one side or not, classes that depend on them or not, and weights."""
    m, d = int(rng.integers(4, 60)), int(rng.integers(2, 8))
    X = rng.normal(size=(m, d)) + rng.choice([0.0, 0.5, 3.0])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (X[:, 0] + rng.normal(0, rng.choice([0.1, 1.0]), m) > 0).astype(float)
    y[:2] = [0, 1]
    D = rng.random(m)
    return X, y, D / D.sum()


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error over independent repetitions."""
    found = np.asarray(values, dtype=float)
    return float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found))) if len(found) > 1 else 0.0


def plus_minus(values: Sequence[float], digits: int = 3) -> str:
    mean, error = mean_and_error(values)
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def axes(width: float = 6.4, height: float = 4.2, n_columns: int = 1) -> tuple[Any, Any]:
    """A figure, and its axes or a list of them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    made = figure.subplots(1, n_columns)
    return figure, made


def draw_lines(ax: Any, x: Sequence[float], lines: dict[str, list[list[float]]]) -> None:
    """One line per model, with standard errors over repetitions."""
    for (name, values), color, marker in zip(lines.items(), COLORS, MARKERS, strict=False):
        points = [mean_and_error(found) for found in values]
        ax.errorbar(
            x,
            [mean for mean, _ in points],
            yerr=[error for _, error in points],
            label=name,
            color=color,
            marker=marker,
            markersize=4,
            capsize=2,
        )
    ax.legend(frameon=False)
    ax.grid(alpha=0.3)
