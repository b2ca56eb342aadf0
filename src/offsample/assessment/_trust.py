"""How far to trust a score: the numbers, and what they mean in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from scipy.special import betaincinv, ndtri

from offsample._checks import check_confidence, check_count
from offsample._text import amount, number, percentage
from offsample.assessment._audit import Audit, audit_search
from offsample.assessment._intervals import clopper_pearson_interval
from offsample.assessment._leaked_labels import LeakCapacity, leaked_labels_capacity
from offsample.assessment._luck import accuracy_behind, log_upper_tail, normal_best_mean, standard_error_of
from offsample.assessment._metrics import Metric, metric_of, within
from offsample.assessment._plan import check_configurations
from offsample.assessment._result import Result
from offsample.bounds import tuned_holdout_deviation

# More rows cannot be summed over, and change no digit that is shown.
_MOST_ROWS = 10**9
_MOST_CLASSES = 10**9


@dataclass(frozen=True, repr=False)
class ScoreTrust(Result):
    """How far to trust a score."""

    naive: float  # the score as reported
    corrected: float  # what to expect on new rows; from a score alone, if all are equal and err independently
    low: float  # of the interval, which from a score alone holds whatever the configurations are
    high: float
    optimism: float  # how much too good the score is; positive whatever its direction
    n_configurations: float
    n_test: int | None
    confidence: float
    greater_is_better: bool
    deviation: float | None = None  # Theorem 15: how far off the best may be (`tuned_holdout_deviation`)
    baseline: float | None = None  # score of a rule that knows nothing
    log10_guesses: float | None = None  # of guesses at the baseline of which one reaches the score
    capacity: LeakCapacity | None = None  # with which the baseline could have been tuned to the score
    audit: Audit | None = None  # of a file of scores
    sentences: tuple[str, ...] = ()  # the same in words

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def trust_in_score(
    score: float | None = None,
    *,
    n_test: int | None = None,
    n_configurations: float = 1,
    scores: Any = None,
    greater_is_better: bool = True,
    baseline: float | None = None,
    n_classes: int = 2,
    metric: str | None = None,
    n_positive: int | None = None,
    standard_error: float | None = None,
    confidence: float = 0.95,
) -> ScoreTrust:
    """Say how far to trust a score that was reported for the best of many, in numbers and in words.

    Parameters
    ----------
    score : float, optional
        Accuracy (or error rate) on test rows.
    n_test : int, optional
        Number of test rows; in cross-validation, of all rows.
    n_configurations : float, default=1
        Number of configurations tried on them.
    scores : table, path or Audit, optional
        Instead of a score: the scores of all configurations on all folds, for `audit_search`, or its result.
    greater_is_better : bool, default=True
        False for error rates.
    baseline : float, optional
        Score of a rule that knows nothing; guessing one of `n_classes` by default.
    n_classes : int, default=2
    metric : str, optional
        What else the score is: "auc", "r2", "log_loss" or any other of `audit_search`.
    n_positive : int, optional
        Test rows of the class that an AUC is of.
    standard_error : float, optional
        Of the score, if you know it, as from a bootstrap of the test rows. That of an AUC is else Hanley and
        McNeil's, that of R² the one of normal errors; other metrics need it, for their losses have no bound.
    confidence : float, default=0.95

    Notes
    -----
    Of a metric, scores are taken as normal, with the same standard error for all configurations. Otherwise,
    from a score alone, *low* is the exact binomial limit at ``δ / (2 n_configurations)``. *high* needs no
    union bound: if the chosen one is better than its limit, so is the truly best one, which looked no better.

    Examples
    --------
    >>> from offsample.assessment import trust_in_score
    >>> trust = trust_in_score(0.924, n_test=1186, n_configurations=64)
    >>> round(trust.corrected, 3), round(trust.low, 3), round(trust.high, 3)
    (0.905, 0.895, 0.939)
    """
    if (score is None) == (scores is None):
        raise ValueError("give a score with n_test, or the scores of all configurations")
    if isinstance(scores, Audit):
        return _of_audit(scores, baseline)
    if scores is not None:
        more = None if greater_is_better else False  # a search or study knows its own
        audit = audit_search(scores, greater_is_better=more, n_samples=n_test, confidence=confidence)
        return _of_audit(audit, baseline)
    if n_test is None:
        raise ValueError("n_test is missing: on how many rows was the score measured?")
    assert score is not None
    check_count("n_test", n_test, 1, _MOST_ROWS)
    check_configurations(n_configurations)
    check_confidence(confidence)
    known: dict[str, Any] = {"naive": score, "n_configurations": n_configurations, "n_test": n_test}
    known["confidence"] = confidence
    if metric is not None and not metric_of(metric).is_share:
        return _of_metric(metric_of(metric), known, baseline, n_positive, standard_error)
    greater_is_better = greater_is_better if metric is None else metric == "accuracy"
    if not 0 <= score <= 1:
        raise ValueError(f"score must be an accuracy or error rate between 0 and 1, got {score}")
    check_count("n_classes", n_classes, 2, _MOST_CLASSES)
    if baseline is not None and not 0 <= baseline <= 1:
        raise ValueError(f"baseline must lie between 0 and 1, got {baseline}")

    def turned(rate: float) -> float:  # accuracy to score and back
        return rate if greater_is_better else 1 - rate

    accuracy = turned(score)
    hits = round(accuracy * n_test)
    tail = (1 - confidence) / 2
    low = float(betaincinv(hits, n_test - hits + 1, tail / n_configurations)) if hits else 0.0
    high = clopper_pearson_interval(hits, n_test, confidence)[1]
    corrected = accuracy_behind(accuracy, n_test, n_configurations)
    baseline = turned(1 / n_classes) if baseline is None else baseline
    base_rate = turned(baseline)
    base_hits = round(base_rate * n_test)
    capacity = None
    if hits > base_hits:
        capacity = leaked_labels_capacity(
            hits - base_hits,
            n_test=n_test,
            n_correct=base_hits,
            label_entropy=math.log2(n_classes),
            n_classes=n_classes,
        )
    low, high = sorted((turned(low), turned(high)))
    trust = ScoreTrust(
        **known,
        corrected=turned(corrected),
        low=low,
        high=high,
        optimism=accuracy - corrected,
        greater_is_better=greater_is_better,
        deviation=tuned_holdout_deviation(math.log2(n_configurations), n_test, confidence),
        baseline=baseline,
        log10_guesses=max(0.0, -log_upper_tail(hits, n_test, base_rate) / math.log(10)),
        capacity=capacity,
    )
    return replace(trust, sentences=score_sentences(trust))


def _of_metric(
    metric: Metric,
    known: dict[str, Any],
    baseline: float | None,
    n_positive: int | None,
    standard_error: float | None,
) -> ScoreTrust:
    """Take scores as normal, and those of all configurations as equally uncertain."""
    score, n, confidence = known["naive"], known["n_configurations"], known["confidence"]
    least, most = within(metric.title, -math.inf, math.inf)
    if not least <= score <= most:
        ends = "at most 1" if least < 0 else "between 0 and 1" if most == 1 else "at least 0"
        raise ValueError(f"score must be {ends}, as {metric.title} is, got {score}")
    error = standard_error
    if error is None:
        error = standard_error_of(score, metric, known["n_test"], n_positive)
    if not error >= 0:
        raise ValueError(f"standard_error must be at least 0, got {standard_error}")
    tail, sign = (1 - confidence) / 2, 1.0 if metric.greater_is_better else -1.0
    optimism = error * normal_best_mean(n)
    low, high = sorted(score + sign * error * float(ndtri(p)) for p in (tail / n, 1 - tail))
    low, high = within(metric.title, low, high)
    trust = ScoreTrust(
        **known,
        corrected=score - sign * optimism,
        low=low,
        high=high,
        optimism=optimism,
        greater_is_better=metric.greater_is_better,
        baseline={"AUC": 0.5, "R²": 0.0}.get(metric.title) if baseline is None else baseline,
    )
    return replace(trust, sentences=score_sentences(trust, number, what=metric.title))


def score_sentences(
    trust: ScoreTrust,
    share: Callable[[float], str] = "{:.4f}".format,
    gain: Callable[[float], str] = number,
    base: str = "",
    what: str = "",
) -> tuple[str, ...]:
    """Say what is known of a score in words, with shares, their differences and the baseline as wanted."""
    what = what or ("accuracy" if trust.greater_is_better else "error")
    assert trust.n_test is not None
    n = trust.n_configurations
    best = "" if n == 1 else f", the best of {n:,.15g} configurations"
    sentences = [f"Reported: {what} {share(trust.naive)} on {amount(trust.n_test, 'test row')}{best}."]
    if n > 1:
        sentences.append(
            "If all of them were equally good, luck alone would make the best one look "
            f"{gain(trust.optimism)} better than it is. In that worst case, expect {share(trust.corrected)} "
            "on new rows."
        )
    sentences.append(
        f"With {percentage(trust.confidence)} confidence its {what} lies between {share(trust.low)} and "
        f"{share(trust.high)}, however the best was picked."
    )
    if trust.baseline is None:
        return tuple(sentences)
    base = base or f"mere guessing has {what} {share(trust.baseline)}"
    if trust.low <= trust.baseline if trust.greater_is_better else trust.baseline <= trust.high:
        sentences.append(f"The score may be no better than a guess: {base}.")
    elif trust.log10_guesses is not None:
        reached = f"Only one in {guesses(trust.log10_guesses)} such guesses would"
        if trust.log10_guesses == math.inf:
            reached = "No such guess could"
        sentences.append(f"{base[0].upper()}{base[1:]}. {reached} reach the score by luck.")
    if trust.capacity is not None:
        sentences.append(
            "But someone who tunes a guess on the test rows could reach it too: "
            f"{amount(trust.capacity.n_trials, 'try', 'tries')} would tell them the "
            f"{'class' if trust.capacity.n_known == 1 else 'classes'} of "
            f"{amount(trust.capacity.n_known, 'test row')}."
        )
    return tuple(sentences)


def _of_audit(audit: Audit, baseline: float | None) -> ScoreTrust:
    n, near = len(audit.rows), len(audit.as_good_as_best)
    best = "" if audit.n_configurations == 1 else f"the best of {audit.n_configurations:,} configurations "
    flattered = f": the best of so many looks {number(audit.optimism)} too good" if best else ""
    what = "" if audit.metric == "score" else f"{audit.metric} "
    on = amount(audit.n_folds, "fold")
    if audit.n_folds == 1 and audit.n_samples:
        on = amount(audit.n_samples, "row")
    sentences = [
        f"Reported: {what}{number(audit.naive)}, {best}on {on}.",
        f"Expect {number(audit.corrected)} on {audit.new_rows}{flattered}.",
        f"With {percentage(audit.confidence)} confidence its {audit.metric} lies between {number(audit.low)} "
        f"and {number(audit.high)}."
        if math.isfinite(audit.low)
        else "How far off it may be cannot be told from one score: give those of several folds, or the "
        "number of rows that it was measured on.",
    ]
    if n > 1:
        simplest = f"; the simplest of them: {audit.simplest_label}" if audit.simplest is not None else ""
        sentences.append(
            f"{near:,} of {n:,} configurations are at most {number(audit.tolerance)} worse than the best, as "
            f"confidently{simplest}."
            if near > 1
            else f"Any other configuration may be more than {number(audit.tolerance)} worse."
        )
    if audit.n_failed:
        left_out = "was" if audit.n_failed == 1 else "were"
        sentences.append(
            f"{amount(audit.n_failed, 'configuration')} without a score on every fold {left_out} left out."
        )
    if baseline is not None and audit.low <= baseline <= audit.high:
        sentences.append(f"It may mean nothing: mere guessing has {number(baseline)}.")
    sentences += [said for said in (audit.caution, audit.assumed) if said]
    same = {
        field.name: getattr(audit, field.name) for field in fields(ScoreTrust) if hasattr(audit, field.name)
    }
    return ScoreTrust(
        **same, n_test=audit.n_samples, baseline=baseline, audit=audit, sentences=tuple(sentences)
    )


def guesses(log10: float) -> str:
    """Put a number of guesses into words, from its decimal logarithm.

    >>> guesses(3.2), guesses(6.6), guesses(9), guesses(40)
    ('about 1,585', 'about 4 million', 'about 1 billion', 'more than a trillion')
    """
    if log10 >= 12:
        return "more than a trillion"
    for power, unit in ((9, " billion"), (6, " million")):
        if log10 >= power:
            return f"about {10 ** (log10 - power):.0f}{unit}"
    return f"about {10**log10:,.0f}"
