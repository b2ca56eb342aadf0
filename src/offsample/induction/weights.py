"""Weights of rows that are whole numbers: how often each row is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._counting import as_frequencies


def repeated_rows(sample_weight: ArrayLike | None, n_rows: int) -> NDArray[np.int32] | None:
    """Positions of the rows, each as often as its weight says; None for each once."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one number for each row"
        )
    times = as_frequencies(weights.astype(np.int64) if weights.dtype == bool else weights, "sample_weight")
    if times.dtype != np.int64:
        raise ValueError(
            "sample_weight must be whole numbers: how many times each row counts; importance weights are for "
            "criteria.weighted_ginger"
        )
    if not times.any():
        raise ValueError("sample_weight is zero for all rows: expected at least one row that counts")
    return None if (times == 1).all() else np.repeat(np.arange(n_rows, dtype=np.int32), times)
