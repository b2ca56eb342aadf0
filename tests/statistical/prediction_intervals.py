"""How many new rows lie in the intervals of `TreeRegressor.predict_interval`.

``python -m tests.statistical.prediction_intervals 50`` grows 50 trees of 100, 300 and 1,000 rows of normal,
log-normal and heteroscedastic numbers and prints, for intervals of 95 %, the share of 5,000 new rows that
they hold, that of the leaf (of 5 % of the new rows or more) of which they hold the fewest, as a mean over the
trees, and that of leaves with fewer than 40 rows, which borrow some from the leaves beside them.
"""

from __future__ import annotations

import sys

import numpy as np

from offsample import TreeRegressor

LAWS = {
    "normal": lambda mean, random: mean + random.normal(size=len(mean)),
    "log-normal": lambda mean, random: np.exp(mean / 2 + random.normal(size=len(mean))),
    "heteroscedastic": lambda mean, random: mean + (0.3 + mean**2) * random.normal(size=len(mean)),
}


def held(law: str, n: int, seed: int) -> tuple[float, float, float]:
    """Share of new rows that are held: of all, of the worst leaf, and of small leaves."""
    random = np.random.default_rng([seed, n])
    X = random.normal(size=(n + 5_000, 4))
    y = LAWS[law](np.clip(X[:, 0], -1, 1) + 0.7 * (X[:, 1] > 0), random)
    tree = TreeRegressor(random_state=seed).fit(X[:n], y[:n])
    ends, leaf = tree.predict_interval(X[n:]), tree.apply(X[n:])
    inside = (ends[:, 0] <= y[n:]) & (y[n:] <= ends[:, 1])
    counts = np.bincount(leaf, minlength=len(tree.tree_.counts))
    share = np.bincount(leaf, inside, len(counts)) / np.maximum(counts, 1)
    small = tree.tree_.counts[leaf, 0] < 40
    return inside.mean(), share[counts >= 250].min(), inside[small].mean() if small.any() else np.nan


def main(n_trees: int) -> None:
    """Print a line for each law and number of rows."""
    for law in LAWS:
        for n in (100, 300, 1_000):
            found = np.array([held(law, n, seed) for seed in range(n_trees)])
            every, worst, small = np.nanmean(found, axis=0)
            sys.stdout.write(
                f"{law:16} {n:5,} rows  all {every:.3f}  worst leaf {worst:.3f}  small leaves {small:.3f}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
