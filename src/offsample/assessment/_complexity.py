"""Which of several configurations is the simplest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.stats import rankdata

from offsample._typing import Floats
from offsample.assessment._scores import SearchScores

# Parameters of which more makes a larger or less regular model, and of which less does.
_MORE = {
    "max_depth", "max_leaf_nodes", "num_leaves", "n_estimators", "max_iter", "degree", "C", "gamma", "k",
    "n_features_to_select", "n_components", "max_features", "max_splits",
}  # fmt: skip
_LESS = {
    "min_samples_leaf", "min_samples_split", "min_child_weight", "min_impurity_decrease", "ccp_alpha",
    "alpha", "n_neighbors", "l1_ratio", "l2_regularization", "reg_alpha", "reg_lambda", "var_smoothing",
}  # fmt: skip


def complexity_of(found: SearchScores, complexity: Any) -> Floats | None:
    """Return a number for each configuration, smaller for a simpler one; None where nothing tells it."""
    labels = found.labels
    if complexity is None:
        return _from_known_parameters(labels)
    if isinstance(complexity, str):
        for label in labels:
            if not isinstance(label, Mapping) or complexity not in label:
                raise ValueError(f"complexity {complexity!r} is not a parameter of configuration {label!r}")
        return np.array([_number(label[complexity]) for label in labels])
    if callable(complexity):
        return np.array([float(complexity(label)) for label in labels])
    values = np.asarray(complexity, dtype=float)
    if values.ndim != 1 or len(values) <= max(found.positions):
        raise ValueError(
            f"complexity has shape {values.shape}, expected a number for each configuration that was tried"
        )
    return np.asarray(values[list(found.positions)])


def _from_known_parameters(labels: tuple[Any, ...]) -> Floats | None:
    if not all(isinstance(label, Mapping) for label in labels):
        return None
    total, known = np.zeros(len(labels)), False
    for name in sorted({name for label in labels for name in label}):
        last = name.rsplit("__", 1)[-1]
        if last not in _MORE | _LESS:
            continue
        try:
            values = np.array([_number(label.get(name)) for label in labels])
        except (TypeError, ValueError):  # "scale", "sqrt", …: no order
            continue
        known = True
        ranks = rankdata(values if last in _MORE else -values, method="dense")
        total += (ranks - 1) / max(1, ranks.max() - 1)
    return total if known else None


def _number(value: Any) -> float:
    """Return the value of a parameter; None and "all" mean no limit."""
    return np.inf if value is None or value == "all" else float(value)
