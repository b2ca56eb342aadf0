"""The law of the number of errors over all labelings of one partition, by dynamic programming."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Floats, Ints

# Shares below 2^-900 would underflow if they were multiplied on.
_MAX_BITS = 900.0


def labeling_counts(positives: ArrayLike, negatives: ArrayLike) -> Ints | NDArray[np.object_]:
    """How many of the 2^n labelings of n cells make 0, 1, 2, …, n_samples errors.

    A cell labelled 1 gets its negatives wrong, a cell labelled 0 its positives. The counts are exact: int64
    up to 62 cells, Python integers beyond. Takes O(n m) steps for m rows: Algorithm Estimate-P of Scheffer
    (1999), Section 3.8, with its slips repaired (counts not reset for each rule, errors of 0 left out, lists
    of one rule).

    Parameters
    ----------
    positives, negatives : array-like of int, shape (n_cells,)
        Rows of each class in each cell.

    Examples
    --------
    >>> from offsample.expected_error import labeling_counts
    >>> labeling_counts([3, 1], [1, 0]).tolist()
    [0, 1, 1, 1, 1, 0]
    """
    pos, neg = _cells(positives, negatives)
    total = int(pos.sum() + neg.sum())
    exact: Any = np.int64 if len(pos) <= 62 else object
    return _convolve(np.column_stack([pos, neg]), np.ones((len(pos), 2), np.int64), total, exact)


def _cells(positives: ArrayLike, negatives: ArrayLike) -> tuple[Ints, Ints]:
    arrays = []
    for name, values in (("positives", positives), ("negatives", negatives)):
        array = np.asarray(values)
        if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.number)):
            raise ValueError(f"{name} must be a list of counts, got an array of shape {array.shape}")
        if array.size and ((array < 0).any() or (array != np.floor(array)).any()):
            raise ValueError(f"{name} must be whole numbers of rows, at least 0")
        arrays.append(array.astype(np.int64))
    if len(arrays[0]) != len(arrays[1]):
        raise ValueError(
            f"positives has {len(arrays[0])} cells and negatives {len(arrays[1])}: expected as many"
        )
    return arrays[0], arrays[1]


def log_labeling_law(counts: Ints) -> Floats:
    """Logarithm of the share of labelings with 0, 1, …, m errors, from cells × classes counts.

    Each cell takes each of the K classes equally often. Exponential tilting keeps shares from underflowing.
    """
    counts = np.asarray(counts)
    counts = counts[counts.sum(axis=1) > 0]
    wrong = counts.sum(axis=1, keepdims=True) - counts
    total, n_classes = int(counts.sum()), counts.shape[1]
    if len(counts) * np.log2(n_classes) <= _MAX_BITS:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(_convolve(wrong, np.full(wrong.shape, 1 / n_classes), total)))
    return _tilted_law(wrong, total)


def _convolve(wrong: Ints, weights: Floats | Ints, total: int, dtype: Any = np.float64) -> NDArray[Any]:
    law, reach = np.zeros(total + 1, dtype), 0
    law[0] = 1
    for errors, shares in zip(wrong.tolist(), weights.tolist(), strict=True):
        moved = np.zeros_like(law)
        for e, share in zip(errors, shares, strict=True):
            if share:
                moved[e : e + reach + 1] += share * law[: reach + 1]
        law, reach = moved, reach + max(errors)
    return law


def _tilted_law(wrong: Ints, total: int) -> Floats:
    """Put the law together from tilted ones, each accurate where its mass is at least 1e-250."""
    # Under the tilt exp(-θ e) a labeling with e errors is exp(-θ e)/Z(θ) as likely; θ = 0 is the law itself.
    n_classes = wrong.shape[1]
    answer = np.full(total + 1, -np.inf)
    quality = np.full(total + 1, -np.inf)
    errors = np.arange(total + 1)
    size = max(1.0, float(np.median(wrong.sum(axis=1))))
    tilts = np.concatenate([[0.0], np.geomspace(1e-2, 60.0, 12) / size])
    for tilt in np.concatenate([-tilts[:0:-1], tilts]):
        log_weight = -tilt * wrong - np.log(n_classes)
        top = log_weight.max(axis=1, keepdims=True)
        weight = np.exp(log_weight - top)
        norm = weight.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            log_law = np.log(_convolve(wrong, weight / norm, total))
        better = log_law > quality
        log_norm = float((np.log(norm) + top).sum())
        answer[better] = (log_law + log_norm + tilt * errors)[better]
        quality = np.maximum(quality, log_law)
    return answer
