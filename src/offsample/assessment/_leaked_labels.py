"""What tuning can leak: parameters as a channel for the labels of the test rows."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from offsample._checks import check_count
from offsample._typing import Floats
from offsample.assessment._result import Result


def optimism_probability(n_test: int, n_correct: int, n_known: int, n_extra: int) -> float:
    """Probability of at least `n_extra` more hits on a hold-out set, if `n_known` of its labels are known.

    Eq. (5.10) of Scheffer (1999), corrected. Of c known rows, a hypothesis with p hits among the m rows gets
    X right by itself, and X is hypergeometric; all c are right now, which gains c - X hits:
    ``P(c - X >= z) = sum_{k >= z} C(p, c-k) C(m-p, k) / C(m, c)``. (The print exchanges the two lower
    indices.) Summed in log space, exact to 12 digits for a million rows.

    Parameters
    ----------
    n_test : int
        Rows of the hold-out set (m).
    n_correct : int
        Hits of the hypothesis without any knowledge (p).
    n_known : int
        Labels that the parameters encode (c): bits of the parameters over entropy of the labels.
    n_extra : int
        Hits to gain (z).

    Examples
    --------
    >>> from offsample.assessment import optimism_probability
    >>> round(optimism_probability(2000, 1700, n_known=60, n_extra=6), 3)  # Landsat: 360 trials, 150 bits
    0.907
    """
    return _tail(*_gains(n_test, n_correct, n_known), n_extra)


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

    Eqs. (5.12) to (5.23) of Scheffer (1999). With parameters chosen for each fold, c labels of every fold are
    known and the gains of the folds, each as in `optimism_probability`, add up. Parameters shared by all
    folds can encode one label for the j-th row of all folds: that of their majority, which is right for
    ``Y_j = max(y, n - y)`` of them, y binomial; c such positions gain ``sum Y_j - sum X_i`` hits.

    Parameters
    ----------
    n_folds : int
        n.
    fold_size, fold_correct : number or sequence of n_folds integers
        Rows and hits *per fold*. A mean that is not whole is spread evenly over the folds (46.75 hits in 12
        folds are nine times 47 and three times 46).
    n_known : int
        Labels known per fold (c).
    n_extra : int
        Hits to gain, over all folds.
    shared_parameters : bool, default=False
        Whether all folds use the same parameters.
    majority_rate : float, optional
        Rate of the more frequent of two classes (p₀), needed for shared parameters. Y and X are taken as
        independent and the rows of a position as drawn from all, so c must be small against the fold.

    Examples
    --------
    >>> from offsample.assessment import optimism_probability_folds
    >>> round(optimism_probability_folds(12, 64, 561 / 12, n_known=3, n_extra=6), 3)
    0.952
    >>> shared = {"shared_parameters": True, "majority_rate": 500 / 768}
    >>> round(optimism_probability_folds(12, 64, 561 / 12, n_known=7, n_extra=6, **shared), 3)
    0.025
    """
    check_count("n_folds", n_folds, 1)
    sizes = _per_fold(fold_size, n_folds, "fold_size")
    correct = _per_fold(fold_correct, n_folds, "fold_correct")
    gains, first = np.ones(1), 0
    for size, hits in zip(sizes, correct, strict=True):
        of_fold, start = _trimmed(*_gains(size, hits, n_known))
        gains, first = _trimmed(np.convolve(gains, of_fold), first + start)
    if not shared_parameters:
        return _tail(gains, first, n_extra)
    if majority_rate is None or not 0.5 <= majority_rate <= 1:
        raise ValueError(f"shared_parameters needs a majority_rate from 0.5 to 1, got {majority_rate}")
    losses, least = _majority_losses(n_folds, n_known, majority_rate)
    # The n c known labels are right except for `losses`; `gains` has what the hypothesis got right itself.
    return _tail(np.convolve(gains, losses[::-1]), first - least - len(losses) + 1, n_extra)


@dataclass(frozen=True)
class LeakCapacity(Result):
    """What tuning needs to gain hits that do not carry over to new rows."""

    n_known: int  # labels that the parameters must encode
    bits: float  # capacity of such parameters
    n_configurations: float  # 2^bits; infinity beyond the largest float
    n_trials: int  # of a greedy search that finds the labels one by one: classes times labels
    probability: float  # that the hits are gained


def leaked_labels_capacity(
    n_extra: int,
    *,
    n_test: int,
    n_correct: int,
    label_entropy: float = 1.0,
    n_classes: int = 2,
    probability: float = 0.9,
) -> LeakCapacity | None:
    """Fewest configurations with which tuning alone can gain `n_extra` hits on a hold-out set, if any number.

    Parameters can encode as many labels as they have bits over the bits of a label, as if the learner had
    known them before the test. A determined tuner can reach this; an honest search does not. If ``n_extra``
    is the distance from what any rule reaches to the reported score, the score means nothing from this many
    configurations on.

    Parameters
    ----------
    n_extra : int
        Hits to gain.
    n_test, n_correct : int
        Test rows, and hits on them without tuning.
    label_entropy : float, default=1.0
        Bits per label: the entropy of the classes.
    n_classes : int, default=2
    probability : float, default=0.9
        With which the hits are to be gained.

    Examples
    --------
    >>> from offsample.assessment import leaked_labels_capacity
    >>> need = leaked_labels_capacity(4, n_test=1186, n_correct=1096, label_entropy=1.4908, n_classes=3)
    >>> need.n_known, round(need.bits), need.n_trials
    (85, 127, 255)
    """
    if not 0 < probability < 1:
        raise ValueError(f"probability must lie strictly between 0 and 1, got {probability}")
    if not 0 < label_entropy < math.inf:
        raise ValueError(f"label_entropy must be positive and finite, got {label_entropy}")

    def reached(n_known: int) -> float:
        return optimism_probability(n_test, n_correct, n_known, n_extra)

    n_known = bisect_left(range(n_test + 1), True, key=lambda c: reached(c) >= probability)
    if n_known > n_test:
        return None
    bits = n_known * label_entropy
    configurations = 2.0**bits if bits < 1024 else math.inf
    return LeakCapacity(n_known, bits, configurations, n_classes * n_known, reached(n_known))


def _gains(n_test: int, n_correct: int, n_known: int) -> tuple[Floats, int]:
    """Probabilities of first, first + 1, … misses among `n_known` rows drawn from `n_test`."""
    if not 0 <= n_correct <= n_test or n_test < 1:
        raise ValueError(f"expected 0 <= n_correct <= n_test and n_test >= 1, got {n_correct} and {n_test}")
    if not 0 <= n_known <= n_test:
        raise ValueError(f"n_known must lie between 0 and the {n_test} rows, got {n_known}")
    n_wrong = n_test - n_correct
    share = n_wrong / n_test
    spread = math.sqrt(n_known * share * (1 - share))
    first, last = window(n_known * share, spread, max(0, n_known - n_correct), min(n_known, n_wrong))
    k = np.arange(first, last, dtype=float)
    # Ratios of neighbours: the difference of log-gamma functions loses seven digits at a million rows.
    ratios = np.log((n_wrong - k) * (n_known - k)) - np.log((k + 1) * (n_correct - n_known + k + 1))
    log_terms = np.concatenate([[0.0], np.cumsum(ratios)])
    return np.exp(log_terms - logsumexp(log_terms)), first


def window(mean: float, deviation: float, least: int, most: int) -> tuple[int, int]:
    """Range of a binomial or hypergeometric variable, up to a probability below the smallest float."""
    # Bernstein's inequality with exp(-760) on either side: sqrt(2 · 760) σ + 2/3 · 760.
    radius = 40 * deviation + 800
    return max(least, math.floor(mean - radius)), min(most, math.ceil(mean + radius))


def _majority_losses(n_folds: int, n_known: int, majority_rate: float) -> tuple[Floats, int]:
    """Probabilities of least, least + 1, … known labels that are wrong for their fold, ``n c - sum Y_j``."""
    y = np.arange(n_folds + 1)
    wrong = np.zeros(n_folds // 2 + 1)
    np.add.at(wrong, np.minimum(y, n_folds - y), binom.pmf(y, n_folds, majority_rate))
    total, least = np.ones(1), 0
    for _ in range(n_known):
        total, least = _trimmed(np.convolve(total, wrong), least)
    return total, least


def _trimmed(probabilities: Floats, first: int) -> tuple[Floats, int]:
    """Drop the zeros at either end: sums are far narrower than their range."""
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
        few, more = divmod(round(total), n_folds)
        return [few + (i < more) for i in range(n_folds)]
    if len(value) != n_folds:
        raise ValueError(f"{name} has {len(value)} values, expected one for each of the {n_folds} folds")
    return [int(v) for v in value]
