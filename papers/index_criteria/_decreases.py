"""The share of an index that a refinement removes, and its worst case."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import xlogy

from offsample._typing import Floats
from offsample.counts import CellCounts
from offsample.indexes import IndexFunction, index_value

# Rounding error of a sum of a few thousand terms.
_ROUNDING = 1e-12


def relative_decrease(before: CellCounts, after: CellCounts, index: str | IndexFunction = "gini") -> float:
    """Share ρ of a partition's index that a refinement removes, Eq. (6) of Nock and Nielsen (2004).

    ``(I(before) - I(after)) / I(before)``, and 0 where I(before) = 0. Along a sequence of refinements
    ``I(last) = I(first) (1 - ρ_1) (1 - ρ_2) …``, each ρ taken from the partition just before it.

    Examples
    --------
    >>> from papers.index_criteria._decreases import relative_decrease
    >>> from offsample.counts import CellCounts
    >>> round(relative_decrease(CellCounts([[4, 4]]), CellCounts([[4, 2], [0, 2]])), 4)
    0.3333
    """
    if not np.isclose(before.n_samples, after.n_samples):
        raise ValueError(
            f"before has {before.n_samples:g} samples and after {after.n_samples:g}: "
            "expected two partitions of the same sample"
        )
    start = index_value(before, index)
    return (start - index_value(after, index)) / start if start > 0 else 0.0


def relative_decreases(path: Any) -> Floats:
    """Relative decrease ρ of each step along the path of a fitted tree or formula.

    Checks that no step raises the index, and the product identity ``I(last) = I(first) (1 - ρ_1) (1 - ρ_2)
    …``, Eq. (7) of Nock and Nielsen (2004) in the form where each ρ belongs to the partition before it.

    Parameters
    ----------
    path : GrowthPath or array-like
        Path of an estimator whose criterion is an index function, or the values of the index along it.

    Examples
    --------
    >>> from papers.index_criteria._decreases import relative_decreases
    >>> relative_decreases([1.0, 0.5, 0.375, 0.0]).tolist()
    [0.5, 0.25, 1.0]
    """
    if not getattr(path, "is_index", True):
        raise ValueError(
            f"the path is by {path.criterion}, which is no index function: expected one by 'gini', "
            "'entropy', 'matsushita', 'error' or a function of class distributions"
        )
    values = np.array([getattr(step, "criterion", step) for step in path], float)
    if not len(values) or not (values >= -_ROUNDING).all():
        raise ValueError("a path has at least one value of the index, and none is negative")
    values = np.where(values < _ROUNDING, 0.0, values)
    before, after = values[:-1], values[1:]
    if (after > before + _ROUNDING).any():
        step = int(np.flatnonzero(after > before + _ROUNDING)[0]) + 1
        raise ValueError(f"step {step} raises the index, from {before[step - 1]:g} to {after[step - 1]:g}")
    decreases = np.where(before > 0, (before - after) / np.where(before > 0, before, 1.0), 0.0)
    product = values[0] * np.prod(1 - decreases)
    if abs(product - values[-1]) > _ROUNDING * len(values):
        raise ArithmeticError(f"the product of the decreases is {product:g}, the index {values[-1]:g}")
    return decreases


def set_cover_decrease(n_positives: float, n_uncovered: float, index: str = "matsushita") -> float:
    """Relative decrease ρ at the one impure node of a Set-Cover sample, in closed form.

    The sample of Nock and Nielsen (2004, Theorems 4, 5, 7 and 9) has a positive row for each element, with
    variable i equal to 1 if set i contains it, and one all-zero negative row. A test splits off the elements
    of its set and leaves `n_uncovered` (s₁) of the `n_positives` (s) with the negative row:

    ========== ============================================
    matsushita ``1 - sqrt(s₁/s)``
    entropy    ``1 - g(s₁)/g(s)``, ``g(x) = (1+x) ln(1+x) - x ln x``
    gini       ``(s - s₁) / (s (1 + s₁))``
    error      0 while s₁ ≥ 1, and 1 at s₁ = 0
    ========== ============================================

    The first three fall with s₁, so top-down induction by any of them takes the sets of the greedy cover.
    (Theorem 9 is printed without the case s₁ = 0.)

    Examples
    --------
    >>> from papers.index_criteria._decreases import set_cover_decrease
    >>> set_cover_decrease(16, 4, "matsushita")
    0.5
    """
    s, s1 = float(n_positives), float(n_uncovered)
    if not (s >= 1 and 0 <= s1 <= s):
        raise ValueError(
            f"expected 0 <= n_uncovered <= n_positives and n_positives >= 1, got {s1:g} and {s:g}"
        )
    forms = {
        "matsushita": 1 - np.sqrt(s1 / s),
        "entropy": 1 - _pair_entropy(s1) / _pair_entropy(s),
        "gini": (s - s1) / (s * (1 + s1)),
        "error": s1 == 0,
    }
    if index not in forms:
        raise ValueError(f"index must be 'matsushita', 'entropy', 'gini' or 'error', got {index!r}")
    return float(forms[index])


def _pair_entropy(x: float) -> float:
    """Entropy in nats of x positives and one negative, times x + 1."""
    return float(xlogy(1 + x, 1 + x) - xlogy(x, x))


def set_cover_decrease_bound(
    n_positives: int, cover_size: int, index: str = "matsushita", sharp: bool = False
) -> float:
    """Lower bound on the relative decrease of a greedy test on a Set-Cover sample.

    If `cover_size` (c) sets cover all elements, the best test covers at least s/c of the s positives that
    are left: ``s₁ <= s (1 - 1/c)``. Theorems 4, 5 and 7 of Nock and Nielsen (2004), with explicit constants:
    ``1/(2c)`` for Matsushita, ``1/(4 c ln(1 + s))`` for entropy, ``1/(c s)`` for Gini. Larger is better, and
    this is the order of the criteria in the worst case. The error index has no such bound.

    Parameters
    ----------
    n_positives : int
        Positives left at the node (s).
    cover_size : int
        Size of a smallest cover (c).
    index : {"matsushita", "entropy", "gini"}
    sharp : bool
        Return `set_cover_decrease` at ``s (1 - 1/c)``, before it is bounded by simpler terms.

    Examples
    --------
    >>> from papers.index_criteria._decreases import set_cover_decrease_bound
    >>> [round(set_cover_decrease_bound(100, 5, i), 4) for i in ("matsushita", "entropy", "gini")]
    [0.1, 0.0108, 0.002]
    """
    if n_positives < 1 or cover_size < 1:
        raise ValueError(f"n_positives and cover_size must be at least 1, got {n_positives} and {cover_size}")
    forms = {
        "matsushita": 1 / (2 * cover_size),
        "entropy": 1 / (4 * cover_size * np.log1p(n_positives)),
        "gini": 1 / (cover_size * n_positives),
    }
    if index not in forms:
        raise ValueError(f"index must be one of {sorted(forms)}, got {index!r}")
    if sharp:
        return set_cover_decrease(n_positives, n_positives * (1 - 1 / cover_size), index)
    return float(forms[index])
