"""`python -m benchmarks.expected_error [forecast|sizes]`: what forecasts cost, in CPU time.

`sizes`: twenty numbers of splits of one tree learner, chosen by `ExpectedErrorSearch` and by 10-fold
`GridSearchCV` on the same 100,000 rows; the regret is the error on fresh rows less that of the best of the
twenty.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.model_selection import GridSearchCV

from benchmarks._timing import measure, print_versions
from offsample import ExpectedErrorSearch, TreeClassifier
from offsample.expected_error import ErrorPrior, expected_error
from offsample.expected_error._binomial import log_pmf

SIZES = sorted({round(float(x)) for x in np.geomspace(1, 160, 26)})[:20]


def binomial_prior(n_cells: int) -> ErrorPrior:
    k = np.arange(n_cells + 1)
    logs = log_pmf(k, n_cells, np.asarray(0.5))
    return ErrorPrior(k / n_cells, log_mass=logs - logsumexp(logs))


def forecast() -> None:
    print("one forecast                                    first ms    then ms (CPU)   mean")
    for name, n_atoms, log_size, n_samples in (
        ("log|H| = 2^64 ln 2, n = 10^4, 1,025 atoms", 1024, 2**64 * np.log(2), 10**4),
        ("log|H| = 1024 ln 2, n = 10^4, 1,025 atoms", 1024, 1024 * np.log(2), 10**4),
        ("log|H| = 50,        n = 10^4, 1,025 atoms", 1024, 50.0, 10**4),
        ("log|H| = 10^6,      n = 10^5, 2,001 atoms", 2000, 1e6, 10**5),
    ):
        prior = binomial_prior(n_atoms)
        timing = measure(lambda p=prior, s=log_size, n=n_samples: expected_error(p, s, n))
        mean = expected_error(prior, log_size, n_samples).mean
        print(f"{name:<46} {1000 * timing.first:>9.1f} {1000 * timing.cpu:>9.1f}        {mean:.3g}")


def rows(n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Eight columns, five of which matter, and 10 % of wrong labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    score = X[:, 0] + (X[:, 1] > 0.3) * X[:, 2] - np.abs(X[:, 3]) + 0.5 * np.sin(3 * X[:, 4]) + 0.3
    return X, ((score > 0) ^ (rng.random(n_rows) < 0.1)).astype(np.int64)


def sizes(n_rows: int = 100_000) -> None:
    X, y = rows(n_rows, 0)
    fresh, truth = rows(n_rows, 1)
    learner = TreeClassifier(stopping="none", random_state=0)
    learner.set_params(max_splits=2).fit(X[:1000], y[:1000])  # compiled now
    found: dict[str, tuple[int, float]] = {}
    cpu = {}
    searches: dict[str, Any] = {
        "ExpectedErrorSearch": ExpectedErrorSearch(learner, {"max_splits": SIZES}, random_state=0),
        "GridSearchCV(cv=10)": GridSearchCV(learner, {"max_splits": SIZES}, cv=10),
    }
    errors = {}
    for size in SIZES:
        model = TreeClassifier(stopping="none", random_state=0, max_splits=size).fit(X, y)
        errors[size] = float((model.predict(fresh) != truth).mean())
    best = min(errors.values())
    for name, search in searches.items():
        start = time.process_time()
        search.fit(X, y)
        cpu[name] = time.process_time() - start
        size = search.best_params_["max_splits"]
        found[name] = (size, errors[size] - best)
    print(f"\n{len(SIZES)} sizes from {SIZES[0]} to {SIZES[-1]} splits, {n_rows:,} rows")
    print(f"{'':<24}{'CPU s':>8}{'size':>6}{'regret':>9}")
    for name, (size, regret) in found.items():
        print(f"{name:<24}{cpu[name]:>8.1f}{size:>6}{regret:>9.4f}")
    deviation = np.sqrt(best * (1 - best) / n_rows)
    ours, theirs = (found[name][1] for name in searches)
    print(f"standard error of an error on {n_rows:,} fresh rows: {deviation:.4f}")
    print(
        f"{cpu['GridSearchCV(cv=10)'] / cpu['ExpectedErrorSearch']:.0f}x less CPU, regret "
        f"{ours - theirs:+.4f}"
    )


def main() -> None:
    print_versions("offsample", "numpy", "scipy", "scikit-learn")
    wanted = sys.argv[1:] or ["forecast", "sizes"]
    if "forecast" in wanted:
        forecast()
    if "sizes" in wanted:
        sizes()


if __name__ == "__main__":
    main()
