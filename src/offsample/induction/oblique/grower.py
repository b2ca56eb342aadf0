"""Growing a stochastic tree: which test splits a leaf, what every split changes, and how many to keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from offsample._ties import best_of, rounded
from offsample._typing import Floats
from offsample.indexes import IndexFunction, index_terms
from offsample.induction.oblique import lookahead
from offsample.induction.oblique.moments import Terms, best_weights
from offsample.induction.oblique.off_sample import FirstOrder, HeldOut, OffSample, most_held_out
from offsample.induction.oblique.rows import (
    MOST_NUMBERS,
    N_FOLDS,
    SLICE,
    Cell,
    Pair,
    Sample,
    Split,
    blocks,
    gate,
    rescale_of_pairs,
)
from offsample.induction.oblique.thresholds import Decision, predicted, tuned_thresholds
from offsample.induction.path import score_interval
from offsample.induction.top_down import grow

# A leaf with less of the sample is left alone: its sums are rounding.
_LEAST_MASS = 1e-9
# Standard errors by which splits must be better than none: chance reaches it once in a hundred, for one size.
_MARGIN = 2.33
# Bootstrap samples in which the size is chosen again.
N_SAMPLES = 50


class Proposal(NamedTuple):
    """The best test of a leaf, its rank among the leaves, and w·x before it was rescaled, if not too many."""

    split: Split
    priority: float
    scores: Floats | None


@dataclass(frozen=True, eq=False)
class Search:
    """Finds the test of a leaf."""

    sample: Sample
    index: str | IndexFunction  # as in `best_stochastic_test`, with solver and epsilon
    solver: str = "exact"
    epsilon: float = 0.1
    rescale: float = 0.0  # as in `StochasticTreeClassifier`; 0 for False and infinity for True
    max_depth: int | None = None
    look_ahead: bool = True  # whether to try second moments and to estimate errors off the sample

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
        if is_deep or cell.total < _LEAST_MASS or (cell.masses > 0).sum() < 2:
            return None
        sample, partner = self.sample, cell.partner
        direction = best_weights(cell.moments, self.index, self.solver, self.epsilon)
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
            steepness = cell.steepness(scores, rescale, self.sample.mass)
            gain = max(self._gain(cell, scores * steepness), 0.0)
            # Where all rows are far from the plane, a steep test is certain of all; one of norm 1 is not.
            if np.isfinite(rescale) and not in_pair and rounded(of_norm_1) > rounded(gain):
                steepness, gain = 1.0, of_norm_1
        split = Split(direction * steepness, steepness, gain, in_pair, pair)
        return Proposal(split, gain, scores if scores is not None and len(scores) <= SLICE else None)

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
    estimated_errors: Floats  # by fold; they sum to the error
    noise: Floats  # by fold; they sum to the variance of the difference from the error without a split
    held_out: Floats | None  # outputs off the sample, if trees are grown without each fold


class Growth(NamedTuple):
    """The splits of a grown tree, and the trees of 0, 1, 2, … splits."""

    records: list[Record]
    path: list[Measure]
    best_output: Floats | None  # off the sample, of the tree with the fewest estimated errors


def grow_tree(search: Search, decision: Decision, max_splits: int) -> Growth:
    """Grow a tree by splitting the leaf with the largest gain, until none has a gain."""
    grower = _Grower(search, decision)
    sample = search.sample
    is_small = len(sample.mass) * (max_splits + 1) <= MOST_NUMBERS
    dtype = np.float64 if is_small and sample.rows.matrix.dtype != np.float32 else np.float32
    root = Cell(0, 0, sample.mass.astype(dtype), sample.shares, sample.rows.sums(sample.mass))
    path = grow(_OpenCell(grower, root), grower.measure, max_splits=max_splits)
    return Growth(grower.records, path, grower.best_output)


class _OpenCell:
    """A leaf that waits for its split in `top_down.grow`."""

    def __init__(self, grower: _Grower, cell: Cell) -> None:
        self._grower, self._cell = grower, cell
        self._proposal: Proposal | None = None

    def propose(self) -> float | None:
        self._proposal = self._grower.search.propose(self._cell)
        return None if self._proposal is None else self._proposal.priority

    def refine(self) -> list[_OpenCell]:
        assert self._proposal is not None
        return [_OpenCell(self._grower, cell) for cell in self._grower.split(self._cell, self._proposal)]


class _Grower:
    """Keeps the splits of the growing tree and its outputs for all rows."""

    def __init__(self, search: Search, decision: Decision) -> None:
        self.search, self._decision, self._sample = search, decision, search.sample
        sample, n = search.sample, len(search.sample.mass)
        self.records: list[Record] = []
        self._output = np.tile(decision.value(sample.shares)[sample.shown], (n, 1))
        self._off_sample: OffSample | None = None
        self.best_output: Floats | None = None
        self._least = np.inf
        if search.look_ahead:
            if max(n, round(sample.n_rows)) <= most_held_out(sample.rows.matrix.shape[1]):
                self._off_sample = HeldOut(sample, decision, is_steep=search.rescale != 0)
            else:
                self._off_sample = FirstOrder(sample)
        index = float(search.terms(sample.shares))
        self._update(index, index)

    def measure(self) -> Measure:
        """Return where the tree stands."""
        return self._now

    def split(self, cell: Cell, proposal: Proposal) -> list[Cell]:
        """Carry out a split, and return the two children."""
        rows, split = self._sample.rows, proposal.split
        kept = proposal.scores
        scores = rows.scores(split.weights) if kept is None else kept * split.steepness
        part = cell.mass * gate(scores)
        masses, sums = rows.by_class(part), rows.sums(part)
        # The second child is what the first leaves.
        children = np.stack([masses, np.maximum(cell.masses - masses, 0.0)])
        first = 1 + 2 * len(self.records)
        self._tell(cell, scores, children)
        corrected = split.gain
        if self._off_sample is not None:
            corrected -= self._off_sample.refine(cell, split, scores, first)
        self.records.append(Record(cell.node, split, first, children))
        self._update(self._now.criterion - split.gain, self._now.corrected - corrected)
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
        estimate = self._off_sample
        output = self._output if estimate is None else estimate.output(self._output)
        thresholds = self._decision.thresholds(
            bool(self.records), output[rows], sample.labels[rows], sample.mass[rows], sample.shares
        )
        training = float(sample.mass @ (predicted(self._output, thresholds) != sample.labels))
        errors, noise = np.full((2, N_FOLDS), np.nan)
        held_out = None
        if estimate is not None:
            wrong = predicted(output, thresholds) != sample.labels
            if not self.records:
                self._root_wrong = wrong
            errors = np.bincount(sample.folds, sample.mass * wrong, N_FOLDS)
            differs = sample.mass * sample.own_mass * (wrong != self._root_wrong)
            noise = np.bincount(sample.folds, differs, N_FOLDS)
            held_out = output if estimate.is_held_out else None
            if round(errors.sum(), 9) < self._least:
                self._least, self.best_output = round(errors.sum(), 9), output
        self._now = Measure(criterion, corrected, training, thresholds, errors, noise, held_out)


def choose(growth: Growth, sample: Sample, decision: Decision) -> tuple[int, float, tuple[float, float]]:
    """Number of splits with the fewest errors, the error to expect, and a 95 % interval for it.

    All splits if no error was estimated. As the least of many estimates is too small, size and thresholds are
    chosen again without some of the rows, and what that costs on these rows is added.
    """
    path = growth.path
    if growth.best_output is None:
        return len(path) - 1, np.nan, (np.nan, np.nan)
    size = _best_size(
        np.array([measure.estimated_errors.sum() for measure in path]),
        np.array([measure.noise.sum() for measure in path]),
    )
    naive = least = float(path[size].estimated_errors.sum())
    if path[size].held_out is not None:
        lost, spread = _lost_in_samples(growth, size, sample, decision), 0.0
    else:
        lost, spread = _lost_in_folds(growth, size, sample, decision)
        least = min(naive, path[size].training_error)  # the part of a row in its output is an approximation
    error = float(np.clip(naive + max(lost, 0.0), 0.0, 1.0))
    interval = score_interval(least, min(1.0, error + spread), max(1, round(sample.n_rows)))
    return size, error, interval


def _lost_in_folds(growth: Growth, size: int, sample: Sample, decision: Decision) -> tuple[float, float]:
    """Errors that choosing without each fold in turn costs there, and their standard error."""
    assert growth.best_output is not None
    errors = np.array([measure.estimated_errors for measure in growth.path])
    noise = np.array([measure.noise for measure in growth.path])
    total, total_noise = errors.sum(axis=1), noise.sum(axis=1)
    share = np.bincount(sample.folds, sample.mass, N_FOLDS)
    lost = np.zeros(N_FOLDS)
    for fold in np.flatnonzero((share > 0) & (share < 1)):
        rest = 1 - share[fold]
        chosen = _best_size((total - errors[:, fold]) / rest, (total_noise - noise[:, fold]) / rest**2)
        lost[fold] = errors[chosen, fold] - errors[size, fold]
        if size and decision.is_tuned:
            seen = sample.tuned[sample.folds[sample.tuned] != fold]
            thresholds = tuned_thresholds(
                growth.best_output[seen], sample.labels[seen], sample.mass[seen], sample.shares
            )
            here = sample.folds == fold
            wrong = predicted(growth.best_output[here], thresholds) != sample.labels[here]
            lost[fold] += float(sample.mass[here] @ wrong) - errors[size, fold]
    return float(lost.sum()), float(lost.std()) * np.sqrt(N_FOLDS)


def _lost_in_samples(growth: Growth, size: int, sample: Sample, decision: Decision) -> float:
    """Errors that choosing in bootstrap samples costs on the rows that are not in them, on average."""
    n, mass, labels = len(sample.mass), sample.mass, sample.labels
    outputs = [measure.held_out for measure in growth.path if measure.held_out is not None]
    pairs = zip(outputs, growth.path, strict=True)
    wrong = np.array([predicted(output, measure.thresholds) != labels for output, measure in pairs])
    rng = np.random.default_rng(0)
    lost = []
    for _ in range(N_SAMPLES):
        drawn = np.bincount(rng.integers(0, n, n), minlength=n)
        seen, new = np.flatnonzero(drawn), np.flatnonzero(drawn == 0)
        if not len(new):
            continue
        weight = mass[seen] * drawn[seen]
        weight /= weight.sum()
        noise = (wrong[:, seen] != wrong[0, seen]) @ (weight * sample.own_mass[seen])
        chosen = _best_size(wrong[:, seen] @ weight, noise)
        shares = np.bincount(labels[seen], weight, len(sample.shares)).astype(np.float64)
        output = outputs[chosen] if chosen else np.tile(decision.value(shares)[sample.shown], (n, 1))
        tuned = decision.thresholds(chosen > 0, output[seen], labels[seen], weight, shares)
        again = predicted(output[new], tuned) != labels[new]
        lost.append(float(mass[new] @ (again.astype(float) - wrong[size, new])) / mass[new].sum())
    return float(np.mean(lost)) if lost else 0.0


def _best_size(errors: Floats, noise: Floats) -> int:
    """Number of splits with the fewest errors; 0 unless chance, by the variance `noise`, explains fewer."""
    best = best_of(-errors)
    return best if rounded(errors[0] - errors[best]) > rounded(_MARGIN * np.sqrt(noise[best])) else 0
