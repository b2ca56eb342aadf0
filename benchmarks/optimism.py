"""What an audit costs beside the search it audits and beside nested cross-validation: CPU seconds, one core.

Run ``python -m benchmarks.optimism``. How good each correction is: ``python -m papers.tuning_optimism``.
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from benchmarks._timing import measure, print_versions
from offsample import audit_search, nested_cross_validate
from offsample.assessment import optimism_probability, optimism_probability_folds
from offsample.assessment._correctors import bootstrap
from papers._table import format_table

GRID = {"max_depth": [1, 2, 3, 4, 6, 8, None], "min_samples_leaf": [1, 2, 4, 8, 16, 32]}


def beside_the_search() -> str:
    rows = []
    for n_rows in (200, 2000):
        X, y = make_classification(n_rows, 10, flip_y=0.2, random_state=0)
        search = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=5).fit(X, y)
        one = measure(lambda search=search, X=X, y=y: search.fit(X, y), repeats=2).cpu
        calls = {
            "the search": lambda search=search, X=X, y=y: search.fit(X, y),
            "audit_search, fold scores": lambda search=search: audit_search(search),
            "audit_search, refitted rows": lambda search=search, X=X, y=y: audit_search(search, X, y),
            "nested cross-validation": lambda search=search, X=X, y=y: nested_cross_validate(
                search, X, y, cv=5
            ),
        }
        for name, call in calls.items():
            cpu = measure(call, repeats=1).cpu
            rows.append([f"{n_rows} rows, 42 configurations", name, f"{cpu:.4f}", f"{cpu / one:.3f}"])
    return format_table(["problem", "what", "CPU s", "searches"], rows)


def large_tables() -> str:
    rng = np.random.default_rng(0)
    rows = []
    for n_configurations, n_units in ((100, 10), (10_000, 10), (1000, 5000)):
        losses = rng.random((n_configurations, n_units))
        what = "folds" if n_units < 100 else "rows"
        cpu = measure(lambda losses=losses: bootstrap(losses), repeats=2).cpu
        rows.append([f"bootstrap, {n_configurations} configurations × {n_units} {what}", f"{cpu:.3f}"])
    exact = {
        "optimism_probability, 10^6 rows, 5·10^5 labels": lambda: optimism_probability(
            10**6, 850_000, 500_000, 75_300
        ),
        "optimism_probability_folds, 10 × 10^5 rows, 3·10^4 labels": lambda: optimism_probability_folds(
            10, 100_000, 85_000, 30_000, 45_100
        ),
    }
    rows += [[name, f"{measure(call, repeats=2).cpu:.3f}"] for name, call in exact.items()]
    return format_table(["what", "CPU s"], rows)


if __name__ == "__main__":
    print_versions("numpy", "scikit-learn")
    print(f"\n{beside_the_search()}\n\n{large_tables()}")
