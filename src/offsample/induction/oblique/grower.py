"""Growing a stochastic tree: which test splits a leaf, what every split changes, and how many to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats
from offsample.indexes import IndexFunction, index_terms
from offsample.induction.oblique import lookahead
from offsample.induction.oblique.moments import Terms, best_weights
from offsample.induction.oblique.off_sample import HeldOut
from offsample.induction.oblique.offset import OffsetTests
from offsample.induction.oblique.rows import (
    MOST_NUMBERS,
    SLICE,
    Cell,
    Pair,
    Sample,
    Split,
    blocks,
    evenly,
    gate,
    rescale_of_pairs,
)
from offsample.induction.oblique.thresholds import Calibration, Decision, predicted, tuned_thresholds
from offsample.induction.path import score_interval
from offsample.induction.top_down import grow

# How tests cut rows: unit rows through the origin; rows that keep their length, with an offset, in the
# direction of means or of the shrunken covariance.
GEOMETRIES = ("unit", "offset", "covariance")
# A leaf with less of the sample is left alone: its sums are rounding.
_LEAST_MASS = 1e-9
# Standard errors by which splits must be better than none: on noise, the best of all sizes of three kinds of
# tests reached 3 once in twenty.
_MARGIN = 3.2
# Splits without an improvement off the sample after which a tree grows no further.
_PATIENCE = 25
# Splits from which on a kind of tests is given up where another is better by the margin with as many.
_ENOUGH = 100
# Bootstrap samples in which the size is chosen again.
N_SAMPLES = 50
# Numbers that probabilities are calibrated on.
_CALIBRATED = 65536


class Proposal(NamedTuple):
    """The best test of a leaf, its rank among the leaves, and w·x before it was rescaled, if not too many."""

    split: Split
    priority: float
    scores: Floats | None


@dataclass(frozen=True, eq=False)
class Search:
    """Finds the test of a leaf."""

    sample: Sample
    index: str | IndexFunction  # as in `best_stochastic_test`
    rescale: float = 0.0  # as in `StochasticTreeClassifier`; 0 for False
    max_depth: int | None = None
    look_ahead: bool = True  # whether to try second moments and to estimate errors off the sample
    geometry: str = "unit"  # one of `GEOMETRIES`
    rivals: Sequence[Growth] = ()  # grown from the same rows by other tests

    @cached_property
    def offsets(self) -> OffsetTests | None:
        """What finds tests with an offset, if they have one."""
        if self.geometry == "unit":
            return None
        return OffsetTests(self.sample, self.terms, self.rescale, self.geometry == "covariance")

    @cached_property
    def terms(self) -> Terms:
        """Index of cells with these masses, times their size."""
        if len(self.sample.shares) > 1:
            return index_terms(self.index)
        # Indexes are 1 at the uniform distribution, which a single class does not have.
        return lambda masses: np.zeros(masses.shape[:-1])

    def propose(self, cell: Cell) -> Proposal | None:
        """Return the best test of a leaf, or None if it cannot be split."""
        is_deep = self.max_depth is not None and cell.depth >= self.max_depth
        # Masses by class are differences: in float32 they may be rounding where no row is left.
        total = min(cell.total, float(cell.mass.sum()))
        if is_deep or total < _LEAST_MASS or (cell.masses > 0).sum() < 2:
            return None
        if self.offsets is not None:
            return self._with_offset(cell, self.offsets)
        sample, partner = self.sample, cell.partner
        direction = best_weights(cell.moments, self.index)
        if partner is not None:
            in_pair = lookahead.prefers_partner(cell, sample, direction, partner)
            return self._proposal(cell, partner if in_pair else direction, in_pair=in_pair)
        linear = self._proposal(cell, direction)
        if not (self.look_ahead and lookahead.is_worth_it(cell, sample)):
            return linear
        better = lookahead.better_direction(cell, sample, rescale_of_pairs(self.rescale))
        if better is None:
            return linear
        direction, pair, value = better
        found = self._proposal(cell, direction, in_pair=True, pair=pair)
        return found._replace(priority=max(linear.priority, value))

    def _proposal(
        self, cell: Cell, direction: Floats, *, in_pair: bool = False, pair: Pair | None = None
    ) -> Proposal:
        """Steepness and gain of a direction."""
        if not direction.any():
            return Proposal(Split(direction, 1.0, 0.0), 0.0, None)
        steepness, scores = 1.0, None
        gain = of_norm_1 = float(cell.total * cell.moments.gains(direction[None], self.terms)[0])
        if self.rescale != 0:
            scores = self.sample.rows.scores(direction)
            rescale = rescale_of_pairs(self.rescale) if in_pair else self.rescale
            steepness = cell.steepness(scores, rescale)
            gain = max(self._gain(cell, scores * steepness), 0.0)
            # Where all rows are far from the plane, a steep test is certain of all; one of norm 1 is not.
            if not in_pair and rounded(of_norm_1) > rounded(gain):
                steepness, gain = 1.0, of_norm_1
        split = Split(direction * steepness, steepness, gain, in_pair, pair)
        return Proposal(split, gain, scores if scores is not None and len(scores) <= SLICE else None)

    def _with_offset(self, cell: Cell, tests: OffsetTests) -> Proposal:
        """Return the test of a leaf of rows that keep their length."""
        mass = cell.mass.astype(np.float64, copy=False)[:, None]
        directions, contrast = tests.directions(mass, cell.masses[:, None], cell.sums[:, None])
        products = self.sample.rows.scores(directions)
        place, steepness = (float(found[0]) for found in tests.placed(products, mass))
        w, scores = directions[:, 0], products[:, 0] - place
        w[-1] = -place
        gain = max(self._gain(cell, scores * steepness), 0.0) if steepness else 0.0
        split = Split(w * steepness, steepness, gain, contrast=contrast)
        return Proposal(split, gain, scores if len(scores) <= SLICE else None)

    def _gain(self, cell: Cell, scores: Floats) -> float:
        """Gain of a test with these products, in units of the whole sample."""
        joint = self.sample.rows.by_class(cell.mass * gate(scores))
        rest = np.maximum(cell.masses - joint, 0.0)
        before, first, second = self.terms(np.stack([cell.masses, joint, rest]))
        return float(before - first - second)


class Record(NamedTuple):
    """A split that was carried out: its node, the first child, and the class masses of both children."""

    node: int
    split: Split
    first_child: int
    masses: Floats


class Measure(NamedTuple):
    """The tree after some splits."""

    criterion: float
    corrected: float  # the criterion without the optimism of the gains
    training_error: float
    thresholds: Floats
    wrong: Booleans | None  # rows that the trees without their folds get wrong, if there are any
    error: float = np.nan  # their mass, which is what they have at stake
    noise: float = np.nan  # the variance of its difference from the error without a split
    share_wrong: float = np.nan  # of the rows, whatever is at stake


class Growth(NamedTuple):
    """The splits of a grown tree, and the trees of 0, 1, 2, … splits."""

    records: list[Record]
    path: list[Measure]
    best_output: Floats | None  # off the sample, of the tree with the fewest estimated errors
    last_output: Floats | None = None  # and of the last one


def grow_tree(search: Search, decision: Decision, max_splits: int) -> Growth:
    """Grow a tree by splitting the leaf with the largest gain, until none has a gain."""
    grower = _Grower(search, decision)
    sample = search.sample
    is_small = len(sample.mass) * (max_splits + 1) <= MOST_NUMBERS
    dtype = np.float64 if is_small and sample.rows.matrix.dtype != np.float32 else np.float32
    root = Cell(0, 0, sample.mass.astype(dtype), sample.shares, sample.rows.sums(sample.mass))
    path = grow(
        _OpenCell(grower, root), lambda: grower.now, max_splits=max_splits, stop=grower.is_past_the_best
    )
    held_out = grower.held_out
    return Growth(grower.records, path, grower.best_output, None if held_out is None else held_out.output)


@dataclass
class _OpenCell:
    """A leaf that waits for its split in `top_down.grow`."""

    grower: _Grower
    cell: Cell

    def propose(self) -> float | None:
        self.proposal = self.grower.search.propose(self.cell)
        return None if self.proposal is None else self.proposal.priority

    def refine(self) -> list[_OpenCell]:
        assert self.proposal is not None
        return [_OpenCell(self.grower, cell) for cell in self.grower.split(self.cell, self.proposal)]


class _Grower:
    """Keeps the splits of the growing tree, its outputs for all rows, and where it stands: `now`."""

    def __init__(self, search: Search, decision: Decision) -> None:
        self.search, self._decision, self._sample = search, decision, search.sample
        sample, n = search.sample, len(search.sample.mass)
        self.records: list[Record] = []
        self._output = np.tile(decision.value(sample.shares)[sample.shown], (n, 1))
        self.held_out: HeldOut | None = None
        self.best_output: Floats | None = None
        self._least, self._best = np.inf, 0
        if search.look_ahead:
            self.held_out = HeldOut(sample, decision, is_steep=search.rescale != 0, offsets=search.offsets)
        index = float(search.terms(sample.shares))
        self._update(index, index)

    def is_past_the_best(self, path: list[Measure]) -> bool:
        """Whether errors off the sample were fewest long ago, or a rival of this size has clearly fewer."""
        n_splits, variance = len(path) - 1, self._sample.mass * self._sample.own_mass
        others = [one.path[n_splits] for one in self.search.rivals if _ENOUGH <= n_splits < len(one.path)]
        lead = [self.now.error - one.error for one in others]
        noise = [variance @ (np.asarray(self.now.wrong) != one.wrong) for one in others]
        is_behind = bool((rounded(lead) > rounded(_MARGIN * np.sqrt(noise))).any())
        is_long_ago = len(path) - self._best > max(_PATIENCE, len(path) // 2)
        return self.held_out is not None and (is_long_ago or is_behind)

    def split(self, cell: Cell, proposal: Proposal) -> list[Cell]:
        """Carry out a split, and return the two children."""
        rows, (split, _, kept) = self._sample.rows, proposal
        scores = rows.scores(split.weights) if kept is None else kept * split.steepness
        part = cell.mass * gate(scores)
        masses, sums = rows.by_class(part), rows.sums(part)
        # The second child is what the first leaves.
        children = np.stack([masses, np.maximum(cell.masses - masses, 0.0)])
        first = 1 + 2 * len(self.records)
        self._tell(cell, scores, children)
        corrected = split.gain
        if self.held_out is not None:
            corrected = self.held_out.refine(cell, split, scores, first)
        self.records.append(Record(cell.node, split, first, children))
        self._update(self.now.criterion - split.gain, self.now.corrected - corrected)
        partner = split.pair.partner if split.pair else None
        return [
            Cell(first + i, cell.depth + 1, mass.astype(cell.mass.dtype), children[i], s, partner)
            for i, (mass, s) in enumerate([(part, sums), (cell.mass - part, cell.sums - sums)])
        ]

    def _tell(self, cell: Cell, scores: Floats, children: Floats) -> None:
        """Add to the outputs what changes when a leaf votes by its children."""
        shown, value = self._sample.shown, self._decision.value
        high, low = (value(m if m.sum() > 0 else cell.masses)[shown] for m in children)
        before = low - value(cell.masses)[shown]
        for rows in blocks(0, len(scores), SLICE):
            reach = cell.mass[rows] / self._sample.mass[rows]
            self._output[rows] += reach[:, None] * (gate(scores[rows])[:, None] * (high - low) + before)

    def _update(self, criterion: float, corrected: float) -> None:
        """Measure the changed tree, and keep its outputs if it has the fewest errors so far."""
        sample, rows = self._sample, self._sample.tuned
        own = self._decision.staked(self._output)
        output = own if self.held_out is None else self._decision.staked(self.held_out.output)
        thresholds = self._decision.thresholds(
            bool(self.records), output[rows], sample.labels[rows], sample.mass[rows], sample.shares
        )
        training = float(sample.plain @ (predicted(own, thresholds) != sample.labels))
        if self.held_out is None:
            self.now = Measure(criterion, corrected, training, thresholds, None)
            return
        wrong = predicted(output, thresholds) != sample.labels
        if not self.records:
            self._root_wrong = wrong
        error = float(sample.mass @ wrong)
        noise = float((sample.mass * sample.own_mass) @ (wrong != self._root_wrong))
        if rounded(error) < self._least:
            self._least, self._best = float(rounded(error)), len(self.records)
            self.best_output = self.held_out.output
        share = float(sample.plain @ wrong)
        self.now = Measure(criterion, corrected, training, thresholds, wrong, error, noise, share)


def choose(
    growths: list[Growth], sample: Sample, decision: Decision
) -> tuple[int, int, float, tuple[float, float]]:
    """Which growth and number of splits have the fewest errors, the error to expect, and a 95 % interval.

    All splits if no error was estimated. As the least of many estimates is too small, growth, size and
    thresholds are chosen again in bootstrap samples, and what that costs on the other rows is added.
    """
    candidates = [(which, n) for which, growth in enumerate(growths) for n in range(len(growth.path))]
    path = [growths[which].path[n] for which, n in candidates]
    wrong = [measure.wrong for measure in path if measure.wrong is not None]
    if not wrong:
        return 0, len(path) - 1, np.nan, (np.nan, np.nan)
    best = _best(np.array([measure.error for measure in path]), np.array([one.noise for one in path]))
    naive, (which, size) = path[best].error, candidates[best]
    output = growths[which].best_output if decision.is_tuned and size else None
    output = None if output is None else decision.staked(output)
    lost = _lost_in_samples(np.array(wrong), best, output, sample, decision)
    error = float(np.clip(naive + max(lost, 0.0), 0.0, 1.0))
    return which, size, error, score_interval(naive, error, max(1, round(sample.n_rows)))


def calibrated(output: Floats | None, sample: Sample, decision: Decision) -> Calibration:
    """Return what makes probabilities of votes, by those of trees that did not see the rows.

    A number as threshold is one of votes, which then are probabilities.
    """
    if output is None or not isinstance(decision.threshold, str):
        return Calibration(sample.shares / sample.stakes)
    seen = evenly(len(sample.mass), _CALIBRATED // len(sample.shares))
    known = output[seen], sample.labels[seen], sample.plain[seen], sample.shares / sample.stakes
    return Calibration.of(*known, sample.n_rows)


def _lost_in_samples(
    wrong: Booleans, best: int, output: Floats | None, sample: Sample, decision: Decision
) -> float:
    """Errors that choosing in bootstrap samples costs on the rows that are not in them, on average.

    Of candidates that get rows `wrong`; thresholds are tuned again on the `output` of the best, if any, and
    without a split the largest class is that of the bootstrap sample.
    """
    n, mass, labels = len(sample.mass), sample.mass, sample.labels
    rng = np.random.default_rng(0)
    lost = []
    differs = wrong != wrong[0]
    for _ in range(N_SAMPLES):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        new = drawn == 0
        if not new.any():
            continue
        weight = mass * drawn
        weight /= weight.sum()
        chosen = _best(wrong @ weight, differs @ (weight * sample.own_mass))
        shares = np.bincount(labels, weight, len(sample.shares)).astype(np.float64)
        again = wrong[chosen]
        if not chosen:
            alone = decision.staked(decision.value(shares)[None, sample.shown])
            again = predicted(alone, decision.thresholds(False, alone, labels, weight, shares)) != labels
        cost = again.astype(float) - wrong[best]
        if output is not None:
            seen = sample.tuned[drawn[sample.tuned] > 0]
            tuned = tuned_thresholds(output[seen], labels[seen], weight[seen], shares)
            cost[new] += (predicted(output[new], tuned) != labels[new]) - wrong[best][new].astype(float)
        lost.append(float(mass[new] @ cost[new]) / float(mass[new].sum()))
    return float(np.mean(lost)) if lost else 0.0


def _best(errors: Floats, noise: Floats) -> int:
    """The candidate with the fewest errors; 0 unless chance, by the variance `noise`, explains fewer."""
    best = best_of(-errors)
    return best if rounded(errors[0] - errors[best]) > rounded(_MARGIN * np.sqrt(noise[best])) else 0
