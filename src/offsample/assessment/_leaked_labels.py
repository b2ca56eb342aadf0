"""What tuning can leak: parameters as a channel that tells the learner labels of the test rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from offsample._typing import Floats

__all__ = [
    "LeakCapacity",
    "leaked_labels_capacity",
    "leaked_labels_probability",
    "optimism_probability",
    "optimism_probability_folds",
]


def optimism_probability(n_test: int, n_correct: int, n_known: int, n_extra: int) -> float:
    """Probability of at least `n_extra` more hits on a hold-out set, if `n_known` of its labels are known.

    Eq. (5.10) of [1]_, corrected. Of the c rows whose label was told, a hypothesis with p hits among the m
    rows has X right by itself, and X is hypergeometric; all c are right now, so that c - X hits are gained:
    ``P(c - X >= z) = sum_{k >= z} C(p, c-k) C(m-p, k) / C(m, c)``. (The print has the two lower indices
    exchanged.) Summed in log space, exact to 12 digits for a million rows.

    Parameters
    ----------
    n_test : int
        Rows of the hold-out set (m).
    n_correct : int
        Hits of the hypothesis on them without any knowledge (p).
    n_known : int
        Labels that the parameters tell (c): bits of the parameters over entropy of the labels.
    n_extra : int
        Hits to gain (z).

    References
    ----------
    .. [1] T. Scheffer (1999). Error Estimation and Model Selection. Sec. 5.3.

    Examples
    --------
    >>> from offsample.assessment import optimism_probability
    >>> round(optimism_probability(2000, 1700, n_known=60, n_extra=6), 3)  # Landsat: 360 trials, 150 bits
    0.907
    """
    log_gains, first = _log_gains(n_test, n_correct, n_known)
    return _tail(np.exp(log_gains), first, n_extra)


def optimism_probability_folds(
    n_folds: int,
    fold_size: float | Sequence[int],
    fold_correct: float | Sequence[int],
    n_known: int,
    n_extra: int,
    *,
    shared_parameters: bool = False,
    majority_rate: float | None = None,
) -> float:
    """Probability of at least `n_extra` more hits in cross-validation, if labels of `n_known` rows are known.

    Eqs. (5.12) to (5.23) of [1]_. With parameters chosen for each fold, c labels of every fold are known and
    the gains of the folds, each as in `optimism_probability`, add up. With the same parameters in all folds,
    one label can be told for the j-th row of all folds: that of their majority, which is right for
    ``Y_j = max(y, n - y)`` of them, y binomial; c such positions gain ``sum Y_j - sum X_i`` hits.

    Parameters
    ----------
    n_folds : int
        n.
    fold_size, fold_correct : number or sequence of n_folds integers
        Rows and hits *per fold*. A mean that is not whole is spread over the folds as evenly as it goes
        (46.75 hits in 12 folds are nine times 47 and three times 46).
    n_known : int
        Labels known per fold (c).
    n_extra : int
        Hits to gain, over all folds.
    shared_parameters : bool, default=False
        Whether the same parameters are used in all folds.
    majority_rate : float, optional
        Rate of the more frequent of two classes (p₀), needed where parameters are shared. Y and X are taken
        as independent and the rows of a position as drawn from all, as in [1]_: c must be small against the
        fold.

    References
    ----------
    .. [1] T. Scheffer (1999). Error Estimation and Model Selection. Secs. 5.4 and 5.5.

    Examples
    --------
    >>> from offsample.assessment import optimism_probability_folds
    >>> round(optimism_probability_folds(12, 64, 561 / 12, n_known=3, n_extra=6), 3)
    0.952
    >>> shared = {"shared_parameters": True, "majority_rate": 500 / 768}
    >>> round(optimism_probability_folds(12, 64, 561 / 12, n_known=7, n_extra=6, **shared), 3)
    0.025
    """
    if n_folds < 1:
        raise ValueError(f"n_folds must be at least 1, got {n_folds}")
    sizes = _per_fold(fold_size, n_folds, "fold_size")
    correct = _per_fold(fold_correct, n_folds, "fold_correct")
    gains, first = np.ones(1), 0
    for size, hits in zip(sizes, correct, strict=True):
        log_gains, start = _log_gains(size, hits, n_known)
        of_fold, start = _trimmed(np.exp(log_gains), start)
        gains, first = _trimmed(np.convolve(gains, of_fold), first + start)
    if not shared_parameters:
        return _tail(gains, first, n_extra)
    if majority_rate is None or not 0.5 <= majority_rate <= 1:
        raise ValueError(f"shared_parameters needs a majority_rate from 0.5 to 1, got {majority_rate}")
    losses, least = _majority_losses(n_folds, n_known, majority_rate)
    # The n c labels told are right except for `losses`; what the hypothesis had right by itself is in
    # `gains`.
    return _tail(np.convolve(gains, losses[::-1]), first - least - len(losses) + 1, n_extra)


def leaked_labels_probability(
    bits: float,
    n_extra: int,
    *,
    n_test: int,
    n_correct: int,
    label_entropy: float = 1.0,
    n_folds: int = 1,
    shared_parameters: bool = False,
    majority_rate: float | None = None,
) -> float:
    """Probability that parameters of so many bits gain `n_extra` hits that are none on new rows.

    ``bits / label_entropy`` labels fit through the parameters (rounded down): as if these had been told to
    the learner before the test. It is what a determined tuner can reach, not what an honest search does.

    Parameters
    ----------
    bits : float
        ``log2`` of the number of configurations.
    n_extra : int
        Hits gained over all folds.
    n_test, n_correct : int
        Rows that were tested, and hits on them without tuning, over all folds.
    label_entropy : float, default=1.0
        Bits per label: the entropy of the classes.
    n_folds : int, default=1
        1 for a hold-out set.
    shared_parameters, majority_rate
        As in `optimism_probability_folds`.

    Examples
    --------
    >>> from offsample.assessment import leaked_labels_probability
    >>> round(leaked_labels_probability(127, 4, n_test=1186, n_correct=1096, label_entropy=1.4908), 3)
    0.903
    """
    if not 0 <= bits < math.inf:
        raise ValueError(f"bits must be finite and at least 0, got {bits}")
    known = min(_known_labels(bits, label_entropy), n_test // n_folds)
    return _probability(n_test, n_correct, n_folds, shared_parameters, majority_rate, n_extra)(known)


@dataclass(frozen=True)
class LeakCapacity:
    """What tuning needs in order to gain hits that are none on new rows.

    Attributes
    ----------
    n_known : int
        Labels (per fold) that the parameters must be able to tell.
    bits : float
        Capacity of such parameters; ``2^bits`` configurations.
    n_configurations : float
        ``2^bits``; infinity where that exceeds the largest float.
    n_trials : int
        Trials of a greedy search that finds the labels one by one: classes times labels.
    probability : float
        With which the hits are gained.
    """

    n_known: int
    bits: float
    n_configurations: float
    n_trials: int
    probability: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self)


def leaked_labels_capacity(
    n_extra: int,
    *,
    n_test: int,
    n_correct: int,
    label_entropy: float = 1.0,
    n_classes: int = 2,
    probability: float = 0.9,
    n_folds: int = 1,
    shared_parameters: bool = False,
    majority_rate: float | None = None,
) -> LeakCapacity | None:
    """Fewest configurations with which tuning alone can gain `n_extra` hits with this probability.

    The inverse of `leaked_labels_probability`. With ``n_extra`` the distance from what any rule reaches to
    the score reported, it is the number of configurations from which on the score means nothing.

    Returns
    -------
    LeakCapacity or None
        None where no number of labels reaches the probability: in cross-validation with shared parameters, a
        label told is right for the majority of the folds only, and a good hypothesis loses more by it.

    Examples
    --------
    >>> from offsample.assessment import leaked_labels_capacity
    >>> need = leaked_labels_capacity(4, n_test=1186, n_correct=1096, label_entropy=1.4908, n_classes=3)
    >>> need.n_known, round(need.bits), need.n_trials
    (85, 127, 255)
    """
    if not 0 < probability < 1:
        raise ValueError(f"probability must lie strictly between 0 and 1, got {probability}")
    reached = _probability(n_test, n_correct, n_folds, shared_parameters, majority_rate, n_extra)
    most = n_test // n_folds
    if shared_parameters:  # not monotone: look at one number of labels after the other
        n_known = next((c for c in range(most + 1) if reached(c) >= probability), most + 1)
    else:
        low, n_known = -1, most + 1
        while n_known - low > 1:
            middle = (low + n_known) // 2
            low, n_known = (low, middle) if reached(middle) >= probability else (middle, n_known)
    if n_known > most:
        return None
    bits = n_known * _checked_entropy(label_entropy)
    configurations = 2.0**bits if bits < 1024 else math.inf
    return LeakCapacity(n_known, bits, configurations, n_classes * n_known, reached(n_known))


def _probability(
    n_test: int, n_correct: int, n_folds: int, shared: bool, majority_rate: float | None, n_extra: int
) -> Callable[[int], float]:
    if n_folds == 1 and not shared:
        return lambda n_known: optimism_probability(n_test, n_correct, n_known, n_extra)
    sizes, correct = _spread(n_test, n_folds), _spread(n_correct, n_folds)
    return lambda n_known: optimism_probability_folds(
        n_folds, sizes, correct, n_known, n_extra, shared_parameters=shared, majority_rate=majority_rate
    )


def _known_labels(bits: float, label_entropy: float) -> int:
    # 9 bits of labels of entropy 0.9 are 10 labels, though 9 / 0.9 is below 10 in floating point.
    return math.floor(bits / _checked_entropy(label_entropy) * (1 + 1e-12))


def _checked_entropy(label_entropy: float) -> float:
    if not 0 < label_entropy < math.inf:
        raise ValueError(f"label_entropy must be positive and finite, got {label_entropy}")
    return label_entropy


def _log_gains(n_test: int, n_correct: int, n_known: int) -> tuple[Floats, int]:
    """Log probabilities of c - X = first, first + 1, …: the misses among `n_known` rows drawn of `n_test`."""
    if not 0 <= n_correct <= n_test or n_test < 1:
        raise ValueError(f"expected 0 <= n_correct <= n_test and n_test >= 1, got {n_correct} and {n_test}")
    if not 0 <= n_known <= n_test:
        raise ValueError(f"n_known must lie between 0 and the {n_test} rows, got {n_known}")
    n_wrong = n_test - n_correct
    share = n_wrong / n_test
    spread = math.sqrt(n_known * share * (1 - share))
    first, last = window(n_known * share, spread, max(0, n_known - n_correct), min(n_known, n_wrong))
    k = np.arange(first, last, dtype=float)
    # Ratios of neighbours, and not log-gamma functions, whose difference loses seven digits at a million
    # rows.
    ratios = np.log((n_wrong - k) * (n_known - k)) - np.log((k + 1) * (n_correct - n_known + k + 1))
    log_terms = np.concatenate([[0.0], np.cumsum(ratios)])
    return log_terms - logsumexp(log_terms), first


def window(mean: float, deviation: float, least: int, most: int) -> tuple[int, int]:
    """Where a binomial or hypergeometric variable lies but for a probability below the smallest float.

    By Bernstein's inequality, with ``exp(-760)`` on either side: ``sqrt(2 · 760) σ + 2/3 · 760``.
    """
    radius = 40 * deviation + 800
    return max(least, math.floor(mean - radius)), min(most, math.ceil(mean + radius))


def _majority_losses(n_folds: int, n_known: int, majority_rate: float) -> tuple[Floats, int]:
    """Probabilities of ``n c - sum Y_j`` = least, least + 1, …: labels told that are wrong for their fold."""
    y = np.arange(n_folds + 1)
    wrong = np.zeros(n_folds // 2 + 1)
    np.add.at(wrong, np.minimum(y, n_folds - y), binom.pmf(y, n_folds, majority_rate))
    total, least = np.ones(1), 0
    for _ in range(n_known):
        total, least = _trimmed(np.convolve(total, wrong), least)
    return total, least


def _trimmed(probabilities: Floats, first: int) -> tuple[Floats, int]:
    """Leave out what is zero in floating point at either end: sums are far narrower than their range."""
    kept = np.flatnonzero(probabilities > 0)
    return probabilities[kept[0] : kept[-1] + 1], first + int(kept[0])


def _tail(probabilities: Floats, first: int, n_extra: int) -> float:
    """Probability of `n_extra` or more, from the probabilities of first, first + 1 and so on."""
    if n_extra <= first:
        return 1.0
    return min(1.0, float(probabilities[n_extra - first :].sum()))


def _per_fold(value: float | Sequence[int], n_folds: int, name: str) -> list[int]:
    if isinstance(value, int | float | np.number):
        total = value * n_folds
        if abs(total - round(total)) > 1e-6 * max(1, abs(total)):
            raise ValueError(f"{name} times n_folds must be a whole number, got {value} in {n_folds} folds")
        return _spread(round(total), n_folds)
    if len(value) != n_folds:
        raise ValueError(f"{name} has {len(value)} values, expected one for each of the {n_folds} folds")
    return [int(v) for v in value]


def _spread(total: int, n_folds: int) -> list[int]:
    few, more = divmod(total, n_folds)
    return [few + (i < more) for i in range(n_folds)]
