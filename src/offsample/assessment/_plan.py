"""How large a hold-out set, how many configurations, what precision."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from dataclasses import dataclass

from scipy.special import betainc, betaincinv

from offsample._checks import check_count, risk
from offsample._text import number, percentage
from offsample.assessment._result import Result
from offsample.bounds import tuned_holdout_deviation, tuned_holdout_size

# A fifth is held out by default: of all fixed shares, one that is never far from the best.
_SHARE = 5
# On fewer rows the share of errors moves in steps of more than three points.
_FEWEST = 30
# Guessing one of two classes does as well.
_SAYS_NOTHING = 0.5
# A finer precision would take more rows than there are.
_FINEST = 1e-6
_MOST_ROWS = 10**15


@dataclass(frozen=True, repr=False)
class HoldoutPlan(Result):
    """A hold-out set, and what it can tell of the best of `n_configurations` configurations.

    Where it is not feasible, cross-validate on all rows and correct the scores by `audit_search`.
    """

    n_test: int  # rows of the hold-out set
    n_configurations: float  # that may be compared on it
    precision: float  # how much the error of the best exceeds what the set shows, with this confidence
    n_train: int | None  # rows left to train on; negative where there are too few
    feasible: bool  # whether rows enough are left to train on, and the precision beats guessing
    confidence: float
    expected_error: float | None  # that was assumed; None for the bound that holds for every error
    solved_for: str

    def __repr__(self) -> str:
        if not self.feasible:
            return f"HoldoutPlan: not with {self.n_test:,} test rows; cross-validate instead"
        train = "" if self.n_train is None else f" and train on the other {self.n_train:,}"
        n = self.n_configurations
        best = "one configuration" if n == 1 else f"the best of {n:,.15g}"
        return (
            f"HoldoutPlan: hold out {self.n_test:,} rows{train}; with {percentage(self.confidence)} "
            f"confidence the error of {best} exceeds what they show by at most {number(self.precision)}"
        )


def plan_holdout(
    n_samples: int | None = None,
    n_configurations: float | None = None,
    target_precision: float | None = None,
    *,
    n_test: int | None = None,
    confidence: float = 0.95,
    expected_error: float | None = None,
) -> HoldoutPlan:
    """Plan a hold-out set: of its size, the number of configurations and the precision, two give the third.

    Parameters
    ----------
    n_samples : int, optional
        All rows, of which some are held out and the others trained on.
    n_configurations : float, optional
        Configurations to compare on the hold-out set.
    target_precision : float, optional
        How much the score of the best may be too good.
    n_test : int, optional
        Rows of the hold-out set; by default the rows that the precision needs, at least thirty, or else a
        fifth of `n_samples`; at least thirty, and as many as are held out, must then be left to train on. For
        models trained elsewhere, give it without `n_samples`.
    confidence : float, default=0.95
    expected_error : float, optional
        Error that the best configuration is expected to show on the hold-out set. The precision is then the
        exact binomial limit at ``δ / n_configurations`` (Clopper-Pearson and a union bound), much smaller for
        small errors; otherwise Theorem 15 of Scheffer (1999), for any error.

    Examples
    --------
    >>> from offsample import plan_holdout
    >>> plan_holdout(10_000, n_configurations=64, target_precision=0.03).n_test
    3975
    >>> plan_holdout(10_000, n_configurations=64, target_precision=0.03, expected_error=0.05).n_test
    761
    >>> plan = plan_holdout(1000, n_configurations=50)
    >>> plan.n_test, plan.n_train, round(plan.precision, 3)
    (200, 800, 0.131)
    """
    for name, value, least in (("n_samples", n_samples, 2), ("n_test", n_test, 1)):
        if value is not None:
            check_count(name, value, least, _MOST_ROWS)
    if n_configurations is not None:
        check_configurations(n_configurations)
    if target_precision is not None and not _FINEST <= target_precision < _SAYS_NOTHING:
        raise ValueError(
            f"target_precision must be at least {_FINEST:f} and below {_SAYS_NOTHING} (from which on it says "
            f"no more than guessing), got {target_precision}"
        )
    if expected_error is not None and not 0 <= expected_error < 1:
        raise ValueError(f"expected_error must lie in [0, 1), got {expected_error}")
    if n_test is not None and n_samples is not None and n_test > n_samples:
        raise ValueError(f"n_test must be at most n_samples, got {n_test} of {n_samples}")
    risk(confidence)
    is_given = n_test is not None
    if n_test is None and n_samples is not None and (n_configurations is None or target_precision is None):
        n_test = max(n_samples // _SHARE, min(_FEWEST, n_samples // 2))
    known = {"n_test": n_test, "n_configurations": n_configurations, "precision": target_precision}
    missing = [name for name, value in known.items() if value is None]
    if len(missing) != 1:
        raise ValueError(
            "give two of n_test (or n_samples), n_configurations and target_precision, "
            f"got {3 - len(missing)}"
        )
    if n_test is None:
        assert n_configurations is not None
        assert target_precision is not None
        bits = math.log2(n_configurations)
        n_test = max(_FEWEST, _smallest_size(bits, target_precision, confidence, expected_error))
    elif n_configurations is None:
        assert target_precision is not None
        n_configurations = _most_configurations(n_test, target_precision, confidence, expected_error)
    bits = math.log2(n_configurations) if 1 <= n_configurations < math.inf else 0.0
    precision = _precision(n_test, bits, confidence, expected_error)
    if n_configurations == math.inf and target_precision is not None:
        precision = target_precision
    n_train = None if n_samples is None else n_samples - n_test
    is_split = n_train is None or (n_train >= 1 if is_given else n_train >= n_test >= _FEWEST)
    return HoldoutPlan(
        n_test=n_test,
        n_configurations=n_configurations,
        precision=precision,
        n_train=n_train,
        feasible=n_configurations >= 1 and is_split and precision < _SAYS_NOTHING,
        confidence=confidence,
        expected_error=expected_error,
        solved_for=missing[0],
    )


def _precision(n_test: int, bits: float, confidence: float, expected_error: float | None) -> float:
    if expected_error is None:
        return tuned_holdout_deviation(bits, n_test, confidence)
    n_errors = expected_error * n_test
    if n_errors >= n_test:
        return 0.0
    tail = risk(confidence) * 2.0**-bits
    # The upper limit at level 1 - tail, by its complement, which does not round a tail of 1e-30 away.
    return 1 - float(betaincinv(n_test - n_errors, n_errors + 1, tail)) - expected_error


def _smallest_size(bits: float, target: float, confidence: float, expected_error: float | None) -> int:
    most = tuned_holdout_size(bits, target, confidence)
    if expected_error is None:
        return most

    def fits(n_test: int) -> bool:
        return _precision(n_test, bits, confidence, expected_error) <= target

    # Hoeffding's bound is no smaller than the exact limit.
    return bisect_left(range(most + 2), True, lo=1, key=fits)


def _most_configurations(
    n_test: int, target: float, confidence: float, expected_error: float | None
) -> float:
    """Return the largest whole number of configurations with this precision; 0 where one is too many."""
    if expected_error is None:
        bits = (2 * n_test * target**2 + math.log(risk(confidence))) / math.log(2)
    else:
        n_errors, limit = expected_error * n_test, min(1.0, expected_error + target)
        tail = float(betainc(n_test - n_errors, n_errors + 1, 1 - limit))
        bits = math.log2(risk(confidence) / tail) if tail > 0 else math.inf
    if bits < 0:
        return 0.0
    return float(math.floor(2.0**bits * (1 + 1e-12))) if bits < 1000 else math.inf


def check_configurations(n_configurations: float) -> None:
    """Refuse a number of configurations below 1, infinite or NaN."""
    if not n_configurations >= 1:  # nor NaN
        raise ValueError(f"n_configurations must be at least 1, got {n_configurations}")
    if n_configurations > sys.float_info.max:
        raise ValueError("n_configurations must be finite, got a number beyond 10^308")
