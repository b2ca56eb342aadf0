"""What a report leads with: the error, how well rows are ordered, how much is known of them, what it costs.

Every metric is measured on rows that the models had not seen. What varies are rows, or their units: a figure
is a mean or a ratio of sums, so each row's part in it (the infinitesimal jackknife) is summed up by units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from numbers import Real
from typing import Any

import numpy as np

from offsample import _losses
from offsample._held_out_counts import deviation_by, effective_units
from offsample._proportions import wilson
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import student
from offsample.report._formats import (
    MISSING,
    auc_text,
    decimal,
    interval,
    is_missing,
    percent,
    points,
    quantity,
    r2_text,
)
from offsample.report._units import folds_factor

# A class is rare, and the error says little, if the most frequent one has this share.
_RARE_BEYOND = 0.8
TOP = 0.1  # share of the rows whose hits are counted, unless a capacity is given
_ENOUGH = 20  # rows of a fold in its highest tenth, for it to be cut by itself
_SHOWN = 2.81  # standard errors from one half, beyond which 1 of 200 lies by chance
ERROR = "error"
PER = 1000  # rows that a cost is for
UNKNOWN = "interval not known"
WRONG_PAIRS = "share of wrongly ordered pairs"


@dataclass(frozen=True)
class Score:
    """A figure of a model on new rows, with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Rated:
    """What models that had not seen them said of rows, each fold by its own model."""

    proba: Floats  # (n_rows, n_classes)
    predicted: Ints
    labels: Ints
    fold: Ints
    units: list[Ints]  # what varies; none if the rows do
    n_folds: int
    positive: int  # the class of interest
    is_named: bool = False  # even of more than two
    is_known: bool = True  # how far figures may be off; not of too few groups, or times

    @property
    def mistakes(self) -> Booleans:
        """Rows that are wrong."""
        return np.asarray(self.predicted != self.labels)

    @cached_property
    def is_positive(self) -> Booleans:
        """Rows of the class of interest."""
        return np.asarray(self.labels == self.positive)

    @cached_property
    def n_units(self) -> float:
        """How many units there are, or rows, that are or hold rows of the less frequent classes."""
        return self._units_of(self.labels != np.bincount(self.labels).argmax())

    @cached_property
    def is_constant(self) -> bool:
        """Whether each model rates all rows alike: with its class shares, which differ between folds."""
        rating = self.proba[:, self.positive]
        return all(not np.ptp(rating[self.fold == one]) for one in np.unique(self.fold))

    def _units_of(self, some: Booleans) -> float:
        units = [np.unique(unit[some], return_inverse=True)[1] for unit in self.units]
        return max(2.0, effective_units(units) if units and some.any() else float(some.sum()))

    def interval(
        self,
        value: float,
        parts: Floats,
        *,
        least: float,
        scale: float = 1.0,
        most: float = np.inf,
        one_more: float = 0.0,
        at_least: float = 0.0,
    ) -> Score:
        """Wilson's interval of a figure from 0 to `scale`, given each row's part; unknown of too few units.

        The variance is that of as many models as folds (Nadeau & Bengio 2003), the quantile Student's for the
        units that hold rows of the less frequent classes. The figure counts as that of at most `most` draws,
        of `least` where nothing varies. What `one_more` row elsewhere would change adds to the deviation.
        A draw varies `at_least` so much: where nearly all is held, one more row is most of what varies.
        """
        if not self.is_known:
            return Score(value, nan, nan)
        share, n = float(rounded(min(max(value / scale, 0.0), 1.0))), len(parts)
        deviation = float(rounded(deviation_by(self.units or [np.arange(n)], n * parts) / scale))
        deviation = float(np.hypot(deviation, one_more))
        times, n_units = folds_factor(self.n_folds), self.n_units
        spread = max(share * (1 - share), at_least)
        draws = spread / deviation**2 if deviation > 0 and 0 < share < 1 else least
        quantile = student(0.975, n_units)
        low, high = wilson(share, max(1.0, min(draws, most) / times), quantile**2)
        # Half of a unit is not told from none.
        return Score(value, low * scale, scale if high > 1 - 1 / (2 * n_units) else high * scale)

    def mean(self, losses: Floats, lowest: float = 0.0, highest: float | None = None) -> Score:
        """Mean of losses that lie between two ends; by default from 0 to the largest that occurred."""
        scale = max((float(losses.max()) if highest is None else highest) - lowest, 1e-12)
        value, n = float(losses.mean()) - lowest, len(losses)
        found = self.interval(value, (losses - losses.mean()) / n, least=n, scale=scale)
        return Score(found.value + lowest, found.low + lowest, found.high + lowest)

    def saved(self, losses: Floats, guesses: Floats) -> Score:
        """Share of what guesses lose that is saved; rows, or units, are paired."""
        n, lost, guess = len(losses), float(losses.mean()), max(float(guesses.mean()), 1e-300)
        value = float(rounded(1 - lost / guess))
        if not self.is_known:
            return Score(value, nan, nan)
        parts = rounded((lost * guesses / guess - losses) / guess)
        deviation = deviation_by(self.units or [np.arange(n)], parts) * np.sqrt(folds_factor(self.n_folds))
        far = student(0.975, self.n_units) * float(deviation)
        return Score(value, value - far, min(1.0, value + far))

    def auc(self) -> Score:
        """Share of the pairs that one model rated in which the row of a class is above the other.

        Few rows of a class differ less than they would (DeLong et al. 1988): twice their number of draws is
        what the law of Hanley & McNeil (1982) has where nearly all pairs are in order. Models are shown where
        something seems to be: so one half is in the interval unless chance is as far from it in 1 of 200.
        """
        value, parts = self.auc_parts()
        if not parts.any() and value == 0.5:  # all are rated alike
            return Score(0.5, 0.5, 0.5)
        counts = np.bincount(self.labels, minlength=self.proba.shape[1])
        fewest = 2.0 * float(np.minimum(counts, len(self.labels) - counts).max())
        most = fewest if value > 0.9 else np.inf
        found = self.interval(value, parts, least=fewest, most=most, one_more=0.5 / self.n_units)
        n, n_few = len(parts), fewest / 2
        chance = float(np.sqrt((n + 1) / (12 * n_few * (n - n_few))))  # Mann & Whitney (1947)
        chance = max([chance, *([deviation_by(self.units, n * parts)] if self.units else [])])
        is_chance = rounded(value - 0.5) <= rounded(_SHOWN * np.sqrt(folds_factor(self.n_folds)) * chance)
        return replace(found, low=0.5) if is_chance and found.low > 0.5 else found

    def auc_parts(self) -> tuple[float, Floats]:
        """Return that share, and each row's part in it."""
        counts = np.bincount(self.labels, minlength=self.proba.shape[1])
        known = np.flatnonzero((counts > 0) & (counts < len(self.labels)))
        known = known[known == self.positive] if self.is_named or len(counts) == 2 else known
        if not len(known):
            return 0.5, np.zeros(len(self.labels))
        weights = counts[known] / counts[known].sum()
        found = [area(self.proba[:, k], self.labels == k, self.fold) for k in known]
        parts = np.asarray(weights @ np.array([part for _, part in found]))
        return float(weights @ [one for one, _ in found]), parts

    def on_top(self, share: float) -> tuple[Score, Score]:
        """Share of the class of interest among the rows that are rated highest, and of it that they hold.

        Each fold is cut by itself, unless folds are small (at all shares alike, or one would hold less than a
        smaller one). Rows rated alike are in the top with the same part; where the cut lies varies too.
        """
        hits, n, n_hits = self.is_positive, len(self.labels), max(1, int(self.is_positive.sum()))
        if self.is_constant or share >= 1:
            of_all = float(hits.mean())
            return self.interval(of_all, (hits - of_all) / n, least=n), Score(share, share, share)
        fold = self.fold * (TOP * len(self.fold) >= _ENOUGH * max(1, self.n_folds))
        inside, at_cut = top(self.proba[:, self.positive], self.is_positive, fold, share)
        n_inside = max(share * n, 1e-9)
        gained = inside * hits - at_cut * (inside - share)
        held, precision = float(inside @ hits) / n_hits, float(inside @ hits) / n_inside
        moved = float(np.abs(inside - held).max()) / self._units_of(hits)
        parts = (gained - held * hits) / n_hits
        of_hits = self.interval(held, parts, least=n_hits, one_more=moved, at_least=moved)
        # So few rows cannot hold more, were all of the class, which may be rarer by two standard errors.
        most = share * n / n_hits * (1 + 2 / self._units_of(hits) ** 0.5)
        of_hits = replace(of_hits, high=max(held, most)) if of_hits.high > most else of_hits
        return self.interval(precision, (gained - precision * share) / n_inside, least=n_inside), of_hits


def area(score: Floats, positive: Any, fold: Ints) -> tuple[float, Floats]:
    """Share of the pairs of a positive and a negative of one fold that are in order; each row's part."""
    values, level = np.unique(score, return_inverse=True)
    shape = int(fold.max(initial=-1)) + 1, len(values), 2
    rows = np.bincount(2 * (fold * len(values) + level) + positive, minlength=np.prod(shape)).reshape(shape)
    above = (rows.cumsum(axis=1) - rows / 2)[fold, level, 1 - positive]  # those rated alike by half
    met = rows.sum(axis=1)[fold, 1 - positive]
    won = np.where(positive, above, met - above)
    n_pairs = met.sum() / 2
    if not n_pairs:
        return 0.5, np.zeros(len(score))
    value = float(won.sum() / met.sum())
    return value, (won - value * met) / n_pairs


def pair_losses(score: Floats, positive: Any, fold: Ints | None = None) -> Floats:
    """Losses of rows whose mean is the share of pairs, of one fold, in the wrong order, and vary as it does.

    The share is that of all folds: with few positives in each it varies between folds, hardly within them.
    """
    value, parts = area(rounded(score), positive, np.zeros(len(score), np.int64) if fold is None else fold)
    return np.asarray(1 - value - len(score) * parts)


def top(score: Floats, positive: Any, fold: Ints, share: float) -> tuple[Floats, Floats]:
    """Part of each row that is among this share of its fold, rated highest; share of positives at the cut."""
    inside, at_cut = np.zeros(len(score)), np.zeros(len(score))
    for one in np.unique(fold):
        rows = np.flatnonzero(fold == one)
        rating, room = score[rows], share * len(rows)
        edge = -np.sort(-rating)[min(int(room), len(rows) - 1)]
        above, tied = rating > edge, rating == edge
        inside[rows] = above + tied * min((room - above.sum()) / tied.sum(), 1.0)
        at_cut[rows] = positive[rows][tied].mean()
    return inside, at_cut


@dataclass(frozen=True)
class Metric:
    """What a report leads with, and by which loss of each row its models are chosen."""

    name: str
    title: str  # of the figure
    loss: str  # that models are chosen by, in words
    write: Callable[[float | None], str]
    criterion: str | None = None  # that trees are grown by; None for their own
    higher_is_better: bool = False
    ranks_by: str = ""  # the criterion of columns, if it is not the error or a cost
    of_shares: str = ""  # what the figure of a column is, given the class shares with a row's value
    by_pairs: bool = False  # whether a row's loss is its part in the pairs that are in the wrong order

    @property
    def is_error(self) -> bool:
        """Whether it is the share of rows that are wrong."""
        return self.name == ERROR

    @property
    def prefers_small(self) -> bool:
        """Whether the smallest of models about as good is taken, which takes more than few rare rows."""
        return self.name in (ERROR, "r2")

    @property
    def word(self) -> str:
        """The title within a sentence, where names stay."""
        return self.title if self.name in ("auc", "brier", "r2") else self.title[0].lower() + self.title[1:]

    @property
    def per(self) -> float:
        """How many rows a figure is for."""
        return PER if self.name == "cost" else 1.0

    @property
    def is_of_decisions(self) -> bool:
        """Whether it is about the class that is predicted, not about probabilities or an order."""
        return self.name in (ERROR, "cost")

    def losses(self, proba: Floats, labels: Ints, costs: Any) -> Floats:
        """Loss of each row, along the last axis but one; a class not thought of counts as half a row."""
        if self.name == "cost":
            return np.asarray(PER * costs[labels, _losses.decide(proba, costs)])
        of_classes = _losses.brier_losses(proba)
        if self.name != "brier":
            of_classes = _losses.log_losses(np.maximum(proba, 0.5 / max(1, len(labels))))
        own = np.broadcast_to(labels, proba.shape[:-1])[..., None]
        return np.asarray(np.take_along_axis(of_classes, own, -1)[..., 0])

    def ends(self, model: Any) -> tuple[float, float, float]:
        """Low end, value and high end of the figure of something that has an error and a score."""
        if self.is_error:
            return model.low, model.error, model.high
        score = model.score or Score(nan, nan, nan)
        return score.low, score.value, score.high

    def loss_of(self, model: Any) -> tuple[float, float, float]:
        """Low end, value and high end, less being better: of an AUC what it lacks to 1."""
        low, value, high = self.ends(model)
        return (1 - high, 1 - value, 1 - low) if self.higher_is_better else (low, value, high)

    def figure(self, model: Any) -> str:
        """Write the value."""
        return self.write(model.error if self.is_error else self.ends(model)[1])

    def within(self, model: Any) -> str:
        """Write the ends; a dash where they are not known, or all rows are rated alike."""
        low, _, high = self.ends(model)
        if self.is_error:
            return interval(low, high)
        near = self.write(low) == self.write(high) == "0.00"  # of R²: on both sides of nothing
        ends = (f"{end:.3f}".replace("-", "−") if near else self.write(end) for end in (low, high))
        return MISSING if is_missing(low) or low == high else " – ".join(ends)

    def likely(self, model: Any, is_known: bool = True) -> str:
        """Say where the figure probably is."""
        if not is_known or is_missing(self.ends(model)[0]):
            return UNKNOWN
        within = self.within(model)
        return "by definition" if within == MISSING else f"95 % interval {within}"

    def difference(self, gain: float) -> str:
        """Write by how much a figure is better than another, with its sign."""
        if self.is_error:
            return points(gain)
        return f"{'−' if gain < 0 else '+'}{self.write(abs(gain))}"

    def column(self, column: Any) -> str:
        """Write the figure of a column by itself; an AUC below one half says nothing, without evidence."""
        if self.name == "auc" and column.score.value < 0.5 and not column.significant:
            return "≤ .50"
        return self.figure(column)

    def told(self, model: Any, rows: str) -> str:
        """Say what a model does on some rows: "wrong in 4 % of new rows", "AUC .71 on new rows"."""
        what = "wrong in {} of {}" if self.is_error else f"{self.title} {{}} on {{}}"
        what = f"a cost of {{}} per {PER:,} rows on {{}}" if self.name == "cost" else what
        return f"{what.format(self.figure(model), rows)}, {self.likely(model)}"

    def parts(self, rated: Any, costs: Any) -> tuple[float, Floats]:
        """Return the figure, and each row's part in it."""
        if self.name in ("auc", "r2"):
            found: tuple[float, Floats] = getattr(rated, f"{self.name}_parts")()
            return found
        losses = rated.mistakes if self.is_error else self.losses(rated.proba, rated.labels, costs)
        return float(losses.mean()), (losses - losses.mean()) / len(losses)

    def measure(self, rated: Any, costs: Any) -> Score:
        """Return the figure of another metric than the error, with its interval."""
        if self.name in ("auc", "r2"):
            found: Score = getattr(rated, self.name)()
            return found
        losses = self.losses(rated.proba, rated.labels, costs)
        ends: tuple[float, float | None] = (0.0, 2.0 if self.name == "brier" else None)
        if self.name == "cost":
            ends = PER * float(costs.min()), PER * float(costs.max())
        found = rated.mean(losses, *ends)
        return found


_ORDERED = "AUC is how often, of two new rows of different classes, these shares rate the right one higher"
_KNOWN = "the log loss is that of these shares, in nats a row: less is better"
_NEAR = "the Brier score is the squared distance of these shares from what happened: less is better"
_DECIDED = f"the cost, per {PER:,} rows, is that of the decision that is cheapest by these shares"
_EXPLAINED = "R² is the share of the variance of the target that it explains on new rows"
METRICS = {
    one.name: one
    for one in (
        Metric(ERROR, "Error", ERROR, percent),
        Metric("auc", "AUC", WRONG_PAIRS, auc_text, "log_loss_loo", True, "auc_lpo", _ORDERED, by_pairs=True),
        Metric("log_loss", "Log loss", "log loss", decimal, "log_loss_loo", False, "log_loss_loo", _KNOWN),
        Metric("brier", "Brier score", "Brier score", decimal, "brier_loo", False, "brier_loo", _NEAR),
        Metric("r2", "R²", "R²", r2_text, higher_is_better=True, of_shares=_EXPLAINED),
        Metric("cost", f"Cost per {PER:,} rows", "cost", decimal, "log_loss_loo", of_shares=_DECIDED),
    )
}

OFF_BY = Metric("off_by", "Off by", "absolute error", quantity)  # of medians: no model is chosen by it


def metric_of(asked: str, class_counts: Ints, costs: Floats | None, is_named: bool = False) -> Metric:
    """Return the metric asked for, or that fits; many classes, none named, are ordered by log loss."""
    if asked == "auto":
        is_rare = class_counts.max() >= _RARE_BEYOND * class_counts.sum() and len(class_counts) > 1
        asked = "cost" if costs is not None else "auc" if is_rare else ERROR
    of_many = asked == "auc" and len(class_counts) > 2 and not is_named
    return replace(METRICS["auc"], loss="log loss", by_pairs=False) if of_many else METRICS[asked]


def check_metric(metric: str, costs: Any, capacity: float | None) -> None:
    """Refuse what is none, or does not go together, before anything is computed."""
    if metric not in (known := ["auto", *(name for name in METRICS if name != "r2")]):
        raise ValueError(f"metric must be one of {', '.join(known)}, got {metric!r}")
    if metric == "cost" and costs is None:
        raise ValueError("metric is 'cost', but there are no costs: expected some such as fn=10,fp=1")
    if isinstance(costs, str):
        _losses.checked_costs(costs, 2, None)  # which says what is expected
    if costs is not None and capacity is not None:
        raise ValueError("costs say whom to act on, and so does a capacity: give one of them")
    if capacity is not None and not (isinstance(capacity, Real) and 0 < capacity < 1):
        hint = ", which is all of them: 1 % is 0.01" * (capacity == 1)
        raise ValueError(f"capacity is a share of the rows between 0 and 1, got {capacity!r}{hint}")
