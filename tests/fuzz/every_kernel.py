"""Run every kernel over extreme tables, with NUMBA_BOUNDSCHECK=1, which numba reads when it compiles.

Fails where an index is out of bounds, a warning is given, a probability is not a number, or some kernel was
not run at all.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from extremes import INF, LARGEST, NAN, SMALLEST, classes, extreme_tables, learners
from scipy.sparse import csr_array

import offsample
from offsample import _counting, _grouped_counts, _moment_sums
from offsample.counts import CellCounts
from offsample.induction import TreeClassifier
from offsample.margin import margin_score
from offsample.rows import find_drift

# From here on, strings and integers are counted by the kernels.
_FEW_ROWS = 8


def main() -> None:
    """Run them all."""
    warnings.simplefilter("error")
    for module in (_counting, _grouped_counts, _moment_sums):
        module.KERNEL_ROWS = _FEW_ROWS
    y = classes()
    for table in extreme_tables().values():
        for learner in learners():
            _fit_and_predict(learner, table, y)
        array = np.column_stack([table["x"].astype(float), table["noise"]])
        for learner in learners():  # an array of numbers only takes other ways
            learner.fit(array, y)
        offsample.rank_features({**table, "y": y}, "y")
        offsample.rank_features({**table, "y": y}, "y", group=np.arange(len(y)) % 7)
        numbers = {"x": table["x"].astype(float), "noise": table["noise"]}
        find_drift(numbers, np.unique(y, return_inverse=True)[1], np.arange(len(y)))
        # No column says anything on its own: pairs are looked at.
        TreeClassifier().fit(table, (table["noise"] > 0) ^ (y == "a"))
    _others(y)
    missed = _not_run()
    if missed:
        sys.exit(f"kernels that were not run: {', '.join(missed)}")
    sys.stdout.write("all kernels were run\n")


def _fit_and_predict(learner: Any, table: dict[str, Any], y: Any) -> None:
    learner.fit(table, y)
    if hasattr(learner, "predict_proba"):
        values = (INF, -INF, NAN, LARGEST, -LARGEST, SMALLEST, -0.0)
        new = {name: np.tile(column, len(values)) for name, column in table.items()}
        for rows in (table, {**new, "x": np.repeat(values, len(y))}):
            assert np.isfinite(learner.predict_proba(rows)).all(), learner
        learner.predict(table)
    elif hasattr(learner, "feature_weights_"):
        assert np.isfinite(learner.feature_weights_).all(), learner


def _others(y: Any) -> None:
    """What no learner comes to with tables as small as these."""
    random = np.random.default_rng(0)
    numbers = random.normal(size=(len(y), 3))
    margin_score(numbers, y, [1.0, 0.5, 0.0])
    offsample.TreeRegressor().fit(numbers, numbers[:, 0])
    offsample.rank_features({"x": y, "y": numbers[:, 0]}, "y")
    labels = (y == "b").astype(np.int64)
    CellCounts.from_codes(labels, labels, sample_weight=random.random(len(y)))
    strings = np.array([*"ab", "a string that is longer than sixteen bytes", *map(str, range(1500))])
    many = {"many": strings, "few": np.arange(len(strings)) % 3, "y": np.resize(y, len(strings))}
    offsample.rank_features(many, "y")
    offsample.rank_features(many, "y", group=np.arange(len(strings)) // 2)
    sparse = csr_array(np.where(random.random((len(y), 5)) < 0.3, 1.0, 0.0))
    offsample.DecisionListClassifier(literals=2).fit(sparse, y)


def _not_run() -> list[str]:
    """Kernels that are neither called nor used by one that is: those do not show if it is from the cache."""
    kernels = _kernels()
    run = {name for name, kernel in kernels.items() if kernel.signatures}
    while True:
        used = {word for name in run for word in kernels[name].py_func.__code__.co_names}
        more = {name for name in set(kernels) - run if kernels[name].__name__ in used}
        if not more:
            return sorted(set(kernels) - run)
        run |= more


def _kernels() -> dict[str, Any]:
    from numba.core.registry import CPUDispatcher

    source = Path(offsample.__file__).parent
    found = {}
    for path in source.rglob("*.py"):
        if "njit" in path.read_text(encoding="utf-8"):
            name = ".".join(["offsample", *path.relative_to(source).with_suffix("").parts])
            for kernel in vars(import_module(name)).values():
                if isinstance(kernel, CPUDispatcher) and kernel.py_func.__module__ == name:
                    found[f"{name}.{kernel.__name__}"] = kernel
    return found


if __name__ == "__main__":
    main()
