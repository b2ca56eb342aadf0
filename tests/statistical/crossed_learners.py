"""Learners for new users with new items: how often they find nothing where nothing is, and intervals hold.

``python -m tests.statistical.crossed_learners 20 tree list`` draws 20 tables of each kind for these learners.
"""

import sys
from typing import Any, NamedTuple

import numpy as np

from offsample.induction import (
    DecisionListClassifier,
    StochasticTreeClassifier,
    TreeClassifier,
    TreeRegressor,
)

LEARNERS = {
    "tree": TreeClassifier(),
    "list": DecisionListClassifier(max_size=4),
    "oblique": StochasticTreeClassifier(max_splits=4),
    "numbers": TreeRegressor(),
}
SIZES = ((12, 12), (40, 15), (100, 60))  # users and items
NOISE = ("coins", "users", "items", "both")  # who decides the class, which no column tells
SIGNALS = ("row", "user", "item", "row, both", "user, both")  # the column that does, and who disturbs it


class Drawn(NamedTuple):
    """Columns of users u*, of items i* and of rows v*; what is to be predicted, and who it was."""

    X: dict[str, Any]
    y: Any
    pairs: Any


def draw(random: np.random.Generator, kind: str, n_users: int, n_items: int, of_numbers: bool) -> Drawn:
    """Draw ten rows for each user; a number, or whether it is positive."""
    n_rows = 10 * n_users
    user, item = np.arange(n_rows) % n_users, random.integers(0, n_items, n_rows)
    u, i = random.normal(size=(3, n_users)), random.normal(size=(3, n_items))
    v, noise = random.normal(size=(2, n_rows)), random.normal(size=n_rows)
    level = {"users": u[2][user], "items": i[2][item], "both": u[2][user] + i[2][item], "coins": noise}
    signal = {"row": v[0], "user": u[0][user], "item": i[0][item]}
    who, _, by = kind.partition(", ")
    score = level[kind] if kind in NOISE else signal[who] + 0.7 * level[by or "coins"]
    X = {f"u{j}": u[j][user] for j in range(2)} | {f"i{j}": i[j][item] for j in range(2)}
    X |= {f"v{j}": v[j] for j in range(2)}
    if not of_numbers:  # oblique trees take numbers, as strings are a column each
        X |= {"town": random.integers(0, 6, n_users)[user].astype(str)}
        X |= {"maker": random.integers(0, 6, n_items)[item].astype(str)}
    return Drawn(X, score if of_numbers else score > 0, np.column_stack([user, item]))


class Seen(NamedTuple):
    """One kind of table."""

    n_tables: int
    n_grown: int
    n_inside: int  # whose interval holds the error on new users with new items
    mean_error: float  # that is estimated
    mean_truth: float


def measure(name: str, kind: str, n_users: int, n_items: int, seeds: range) -> Seen:
    """Fit a learner to tables of one kind, and try it on 400 new users with 400 new items."""
    n_grown, n_inside, both = 0, 0, []
    for seed in seeds:
        random = np.random.default_rng([seed, n_users, n_items])
        of_numbers = name == "numbers"
        known = draw(random, kind, n_users, n_items, of_numbers)
        model = LEARNERS[name].fit(known.X, known.y, groups=known.pairs)
        new = draw(random, kind, 400, 400, of_numbers)
        said = model.predict(new.X)
        truth = float(((said - new.y) ** 2 if of_numbers else said != new.y).mean())
        low, high = model.estimated_error_interval_
        n_grown += model.n_splits_ > 0 if of_numbers else len(model.stage_sizes_) > 1
        n_inside += low <= truth <= high
        both.append((model.estimated_error_, truth))
    return Seen(len(seeds), n_grown, n_inside, *np.mean(both, axis=0).round(4).tolist())


def main(n_samples: int, *names: str) -> None:
    """Print, by learner, numbers of users and items, and kind, what was found."""
    for name in names or LEARNERS:
        for n_users, n_items in SIZES:
            seeds = range(100, 100 + n_samples)  # others than those of the tests
            for kinds in (NOISE, SIGNALS):
                found = [measure(name, kind, n_users, n_items, seeds) for kind in kinds]
                for kind, seen in zip(kinds, found, strict=True):
                    print(name, n_users, n_items, kind, *seen, flush=True)  # noqa: T201
                n, grown, inside = np.sum([seen[:3] for seen in found], axis=0)
                what = "noise" if kinds is NOISE else "signals"
                print(name, n_users, n_items, f"all {what}: of {n} {grown} grown, {inside} inside")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
