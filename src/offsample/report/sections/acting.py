"""What it brings to act on the rows that are rated highest, and whether ratings can be believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from offsample._losses import decide
from offsample._ties import rounded
from offsample._typing import Floats
from offsample.report._formats import decimal, percent, short_name
from offsample.report._metrics import METRICS, PER, TOP, Rated, Score, top
from offsample.report._study import Study
from offsample.report.sections._choice import Alternative

# Shares of the rows that are acted upon, and those by which ratings are cut into bins.
_SHARES = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_CUTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_LEAST_ROWS = 20  # of a bin


@dataclass(frozen=True)
class ActedShare:
    """What it brings to act on the rows that are rated highest."""

    share: float  # of all rows
    precision: Score  # share of the class of interest among them
    recall: Score  # share of the class of interest that they hold


@dataclass(frozen=True)
class RatedAlike:
    """Rows that are rated about alike, and how many of them are of the class of interest."""

    n_rows: int
    predicted: float  # mean probability that they were given
    observed: Score  # share that they have


@dataclass(frozen=True)
class Decision:
    """Whom to act upon, and what that would have brought on the rows that were held back."""

    rule: str  # in words
    threshold: float | None  # probability above which rows are acted upon; if there is one
    share: float  # of the rows
    true_positives: int
    false_positives: int
    false_negatives: int
    true_negatives: int
    precision: Score | None
    recall: Score
    whom: str = ""  # the recommended model acts upon, where the rule does not say it


@dataclass(frozen=True)
class Acting:
    """Ratings of rows by models that had not seen them."""

    positive: str  # the class of interest
    n_rows: int
    n_positive: int
    curve: tuple[ActedShare, ...]
    decision: Decision
    calibration: tuple[RatedAlike, ...]  # the lowest ratings first
    is_folded: bool  # whether the report leads with something else
    costs: str = ""  # of the decision, in words, beside those of always deciding alike; if there are any
    note: str = ""  # whose ratings these are, if not the model's; or why there is nothing to act on: no curve


def describe(study: Study, rated: Rated, ordering: tuple[Alternative, Rated] | None = None) -> Acting | None:
    """Say what acting brings; None without a class of interest.

    By costs where no model is cheaper than to decide alike, by one that orders rows. Where all rows are rated
    alike, only what was asked for, costs or a capacity, is answered: none are to be chosen.
    """
    costs, capacity, note, told = study.costs, study.options.capacity, "", ""
    label, cost = ("", "") if costs is None else _alike(study, rated)
    if ordering is not None and costs is not None:
        note = (
            f"These are the ratings of {ordering[0].name}, which orders rows; none is recommended to decide"
        )
        note, rated = f"{note} by. Always deciding for {label} costs {cost}.", ordering[1]
    rating, n_positive = rated.proba[:, rated.positive], int(rated.is_positive.sum())
    is_asked = costs is not None or capacity is not None
    if not study.is_named or (rated.is_constant and not is_asked) or n_positive in (0, len(rating)):
        return None
    if rated.is_constant:
        note = "No model that can be read is shown to order rows, so there are none to choose: "
        some = f"any {100 * (capacity or TOP):.3g} % of the rows"
        hold = f"{some} hold about as much of all “{short_name(study.classes[rated.positive])}”"
        if costs is not None:
            hold = f"all that is left is to decide always for {label}, which costs {cost}"
        note += f"{hold}."
    elif costs is not None:
        found = METRICS["cost"].measure(rated, costs)
        within = f" ({decimal(found.low)} – {decimal(found.high)})" * rated.is_known
        told = f"That costs {decimal(found.value)} per {PER:,} rows{within}; always deciding for {label}, "
        told += f"the best that is always the same, costs {cost}."
    shares = [share for share in _SHARES if share * len(rating) >= 1 and not rated.is_constant]
    return Acting(
        positive=str(study.classes[rated.positive]),
        n_rows=len(rating),
        n_positive=n_positive,
        curve=_curve(rated, shares),
        decision=_decision(study, rated),
        calibration=() if rated.is_constant else tuple(_calibration(rated, rating)),
        is_folded=study.metric.is_error and capacity is None,
        costs=told,
        note=note,
    )


def _curve(rated: Rated, shares: list[float]) -> tuple[ActedShare, ...]:
    """Say what shares of the rows bring; more rows hold no less, and so do the ends of what they hold."""
    found = [rated.on_top(share) for share in shares]
    low = np.maximum.accumulate([recall.low for _, recall in found]).tolist()
    high = np.minimum.accumulate([recall.high for _, recall in found][::-1])[::-1].tolist()
    held = [Score(recall.value, *ends) for (_, recall), *ends in zip(found, low, high, strict=True)]
    return tuple(map(ActedShare, shares, [precision for precision, _ in found], held))


def _alike(study: Study, rated: Rated) -> tuple[str, str]:
    """Name the best decision that is always the same, and what it costs on the rows held back."""
    label = short_name(study.classes[int(decide(study.guess_proba[0], study.costs))])
    cost = float(METRICS["cost"].losses(study.guess_proba, rated.labels, study.costs).mean())
    return f"“{label}”", f"{decimal(cost)} per {PER:,} rows"


def _decision(study: Study, rated: Rated) -> Decision:
    """Act by costs, or on what fills the capacity; else by class, or on the top tenth."""
    rating, capacity, costs = rated.proba[:, rated.positive], study.options.capacity, study.costs
    if costs is None and capacity is None and not study.metric.is_error:
        capacity = TOP
    acted, whom = (rated.predicted == rated.positive).astype(float), ""
    if capacity is not None:
        acted, _ = top(rating, rated.is_positive, rated.fold, capacity)
        rule = f"a row is among the {100 * capacity:.3g} % that are rated highest"
        threshold, whom = _cut(study, capacity) if np.ptp(rating) else (None, "")
    else:
        threshold = _implied(1 - np.eye(rated.proba.shape[1]) if costs is None else costs, rated.positive)
        likelier = "the likeliest class" if threshold is None else "likelier than not"
        rule = f"{short_name(study.classes[rated.positive])} is {likelier}"
        rule = rule if costs is None else "acting costs less than not acting"
        rule += "" if threshold is None else f" (a probability above {percent(threshold)})"
    hits, n_hits = rated.is_positive, int(rated.is_positive.sum())
    found, n_acted = float(acted @ hits), float(acted.sum())
    n_found, n_others, recall = round(found), round(n_acted - found), found / n_hits
    # A model of other rows may act on another share of them: at the margin rows are as those that just are.
    moved, margin = _share_deviation(rated, acted), float(rating[acted > 0].min()) if n_acted else 0.0
    of_precision = _of_some(rated, acted, moved, margin) if n_acted else None
    parts, more = hits * (acted - recall) / n_hits, moved * margin * len(hits) / n_hits
    of_recall = rated.interval(recall, parts, least=n_hits, one_more=more)
    if capacity is not None:  # where the cut lies varies too
        of_precision, of_recall = rated.on_top(capacity)
    counts = n_found, n_others, n_hits - n_found, len(rating) - n_hits - n_others
    return Decision(rule, threshold, n_acted / len(rating), *counts, of_precision, of_recall, whom)


def _cut(study: Study, share: float) -> tuple[float | None, str]:
    """Return the probability at which the recommended model has acted on a share of the rows, and on whom."""
    rows = study.sample_of(np.arange(len(study.y)), study.choice.kind.most_rows)
    X = study.columns(study.choice.features).take(rows)
    rating = rounded(study.probabilities(study.choice.model, X, None)[0][:, study.class_of_interest])
    edge = float(-np.sort(-rating)[int(np.ceil(rounded(share * len(rows)))) - 1])
    above, tied = float((rating > edge).mean()), float((rating == edge).mean())
    if (above + tied - share) * len(rows) < 1:  # no more than one row, or a leaf ends here
        return edge, f"those with a probability of {percent(edge)} or more"
    more = f"those with a probability above {percent(edge)} ({percent(above)} of the rows) and " * (above > 0)
    alike = f"those with a probability of just {percent(edge)} ({percent(tied)} of the rows)"
    return edge, f"{more}{percent((share - above) / tied)} of {alike}"


def _implied(costs: Floats, k: int) -> float | None:
    """Return above which probability of a class that is; None if it matters how likely each other one is."""
    others = np.arange(len(costs)) != k
    alarm, miss = costs[others, k, None] - costs[others][:, others], costs[k, others] - costs[k, k]
    return None if np.ptp(alarm) or np.ptp(miss) else float(alarm[0, 0] / (alarm[0, 0] + miss[0]))


def _share_deviation(rated: Rated, acted: Floats) -> float:
    """Standard deviation, between models of folds, of the share that they act upon, less that of its rows."""
    shares = np.array([acted[rated.fold == one].mean() for one in np.unique(rated.fold)])
    if len(shares) < 2:
        return 0.0
    of_rows = float(acted.mean() * (1 - acted.mean())) * len(shares) / len(acted)
    return float(np.sqrt(max(0.0, float(shares.var(ddof=1)) - of_rows)))


def _of_some(rated: Rated, weight: Floats, moved: float = 0.0, margin: float = 0.0) -> Score:
    """Share of the class of interest among some rows, which may be `moved` by rows at a margin."""
    n = float(weight.sum())
    value = float(weight @ rated.is_positive) / n
    parts, more = weight * (rated.is_positive - value) / n, moved * abs(margin - value) * len(weight) / n
    return rated.interval(value, parts, least=n, one_more=more)


def _calibration(rated: Rated, rating: Floats) -> Iterator[RatedAlike]:
    """Compare ratings with what happened, in bins that are smaller where ratings are high."""
    bins = np.searchsorted(np.unique(np.quantile(rating, _CUTS)), rating, side="right")
    for one in range(int(bins.max())):  # too few rows go up
        if (bins == one).sum() < _LEAST_ROWS:
            bins[bins == one] = one + 1
    for one in np.unique(bins):
        inside = bins == one
        observed = _of_some(rated, inside.astype(float))
        yield RatedAlike(int(inside.sum()), float(rating[inside].mean()), observed)
