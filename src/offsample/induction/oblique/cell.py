"""The cells of a stochastic tree for `top_down.grow`: distributions over all rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._ties import rounded
from offsample.indexes import IndexFunction, index_terms
from offsample.induction.oblique import lookahead
from offsample.induction.oblique.moments import Moments, best_weights
from offsample.induction.oblique.off_sample.held_out import HeldOut, HeldOutCell, most_held_out
from offsample.induction.oblique.rows import MOST_NUMBERS, UnitRows, blocks, gate
from offsample.induction.oblique.thresholds import fixed_thresholds, tuned_thresholds

Floats = NDArray[np.float64]

# A leaf with less of the sample than this is left alone: its sums are rounding.
_LEAST_MASS = 1e-9
# Rows at a time where several temporary numbers are needed for each.
_ROWS = 65536
# Parts of the sample that are left out in turn.
N_FOLDS = 10
# Numbers from which thresholds are tuned after each split.
_TUNED = 8192
# Two tests whose product is the target have no gain one by one: nothing is lost if they are steeper.
PAIR_RESCALE = 0.3


class Split(NamedTuple):
    """A test of a node, as it will be carried out.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        The first child has the probability ``clip((1 + w·x) / 2, 0, 1)``.
    steepness : float
        Their norm: 1 unless rescaled.
    gain : float
        Decrease of the index, in units of the whole sample.
    by_second_moments : bool
        Whether the direction is none of the linear solver.
    in_pair : bool
        Whether it is one of a pair whose product the target follows.
    """

    weights: Floats
    steepness: float
    gain: float
    by_second_moments: bool = False
    in_pair: bool = False


class Record(NamedTuple):
    """A split that was carried out: the node, its first child, and what it changed."""

    node: int
    split: Split
    first_child: int
    corrected_gain: float


class Measure(NamedTuple):
    """The tree after some splits."""

    criterion: float
    corrected: float
    training_error: float
    estimated_errors: Floats  # by fold; they sum to the error
    noise: Floats  # by fold; they sum to the variance of the difference from the error without a split
    thresholds: Floats
    held_out: Floats | None  # outputs of trees that have not seen the rows


@dataclass(eq=False)
class Grower:
    r"""What the cells of one tree share.

    Attributes
    ----------
    rows : UnitRows
    prior_mass : ndarray of shape (n,)
        Of each row; they sum to 1.
    own_mass : ndarray of shape (n,)
        Of what is left out when a row is left out: one of several equal rows where weights are frequencies.
    rescale : float
        0: weights of norm 1. Infinity: the largest \|w·x\| becomes 1. Otherwise a test is certain for
        rows further than so many root mean squares of w·x, or of norm 1 if that gains more.
    look_ahead : bool
    threshold : {"prior", "tuned"} or ndarray of shape (K,)
        What is subtracted from outputs before the largest is predicted.
    unit : ndarray of shape (d,) or None
        Standard deviations that columns were divided by.
    """

    rows: UnitRows
    prior_mass: Floats
    own_mass: Floats
    index: str | IndexFunction
    solver: str
    epsilon: float
    rescale: float
    max_splits: int
    max_depth: int | None
    majority: bool
    look_ahead: bool
    threshold: Any = "prior"
    unit: Floats | None = None
    records: list[Record] = field(default_factory=list)
    masses: list[Floats] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)

    def start(self) -> StochasticCell:
        """Cell of all rows."""
        rows = self.rows
        small = rows.shape[0] * (self.max_splits + 1) <= MOST_NUMBERS
        self.dtype = np.float64 if small and rows.matrix.dtype != np.float32 else np.float32
        self.labels = np.repeat(np.arange(len(rows.starts) - 1), np.diff(rows.starts))
        masses = rows.by_class(self.prior_mass)
        # Indexes are scaled to 1 at the uniform distribution, which a single class does not have.
        self.terms = index_terms(self.index) if len(masses) > 1 else lambda m: np.zeros(m.shape[:-1])
        self.masses.append(masses)
        self.depth.append(0)
        self._total = self._corrected = float(self.terms(masses))
        # Of two classes the second tells all.
        self.shown = slice(1, 2) if len(masses) == 2 else slice(None)
        self._onehot = (self.labels[:, None] == np.arange(len(masses))[self.shown]).astype(np.float64)
        self.output = np.tile(self.value(masses)[self.shown], (rows.shape[0], 1))
        n_tuned = min(rows.shape[0], _TUNED // len(masses))
        self._tuned = np.unique(np.linspace(0, rows.shape[0] - 1, n_tuned).astype(np.intp))
        # The rows are sorted by class, so that each fold has its part of each.
        self.folds = np.arange(rows.shape[0]) % N_FOLDS
        self._least = np.inf
        if self.look_ahead:
            self.squared_norms = rows.squared_norms()
            self.dimension = lookahead.effective_dimension(rows, self.prior_mass)
            # What the rows contribute to their own outputs, to be taken away as if each had been left out.
            self.own_part = (self.own_mass / (1 - np.minimum(self.own_mass, 0.5)))[:, None] * (
                self._onehot - masses[self.shown]
            )
        self.held_out = None
        n_rows = max(rows.shape[0], round(1 / float(self.prior_mass @ self.own_mass)))
        if self.look_ahead and n_rows <= most_held_out(rows.matrix.shape[1]):
            self.held_out = HeldOut(
                rows, self.prior_mass, self.folds, N_FOLDS, self.value, self.shown, self.unit
            )
        root = StochasticCell(
            self, 0, self.prior_mass.astype(self.dtype), masses, rows.sums(self.prior_mass), 0
        )
        root.held = self.held_out.start() if self.held_out else None
        return root

    def value(self, masses: Floats) -> Floats:
        """What a leaf says: its purity, or its majority."""
        if self.majority:
            return np.asarray(
                np.arange(masses.shape[-1]) == rounded(masses).argmax(axis=-1)[..., None], dtype=np.float64
            )
        return np.asarray(masses / masses.sum(axis=-1, keepdims=True))

    def measure(self) -> Measure:
        """Where the tree stands."""
        off_sample = self.output
        if self.held_out is not None:
            off_sample = self.held_out.output.copy()
        elif self.look_ahead:
            off_sample = self.output - self.own_part
        thresholds = self._thresholds(off_sample)
        training = float(self.prior_mass @ self.is_wrong(self.output, thresholds))
        estimated, noise = np.full((2, N_FOLDS), np.nan)
        if self.look_ahead:
            wrong = self.is_wrong(off_sample, thresholds)
            if not self.records:
                self._root_wrong = wrong
            estimated = np.bincount(self.folds, self.prior_mass * wrong, N_FOLDS)
            noise = np.bincount(
                self.folds, self.prior_mass * self.own_mass * (wrong != self._root_wrong), N_FOLDS
            )
            if round(estimated.sum(), 9) < self._least:
                self._least, self.best_output = round(estimated.sum(), 9), off_sample
        kept = off_sample if self.held_out is not None else None
        return Measure(self._total, self._corrected, training, estimated, noise, thresholds, kept)

    def thresholds_without(self, fold: int) -> Floats:
        """Of the tree with the fewest estimated errors, tuned without the rows of a fold."""
        rows = self._tuned[self.folds[self._tuned] != fold]
        return tuned_thresholds(
            self.best_output[rows], self.labels[rows], self.prior_mass[rows], self.masses[0]
        )

    def _thresholds(self, output: Floats) -> Floats:
        """What to subtract from these outputs."""
        rows = self._tuned
        return self.thresholds(
            bool(self.records), output[rows], self.labels[rows], self.prior_mass[rows], self.masses[0]
        )

    def thresholds(
        self, is_split: bool, output: Floats, labels: NDArray[np.intp], mass: Floats, shares: Floats
    ) -> Floats:
        """The same for a part of the rows; without a split, so that the most frequent class is said."""
        if not isinstance(self.threshold, str):
            return np.asarray(self.threshold)
        if not is_split:
            return fixed_thresholds(0.5, len(shares))
        return shares if self.threshold == "prior" else tuned_thresholds(output, labels, mass, shares)

    def is_wrong(self, output: Floats, thresholds: Floats) -> NDArray[np.bool_]:
        """Whether these outputs say another class, for each row."""
        if len(thresholds) == 2:
            chosen = rounded(output[:, 0] - thresholds[1]) > 0
        else:
            chosen = rounded(output - thresholds).argmax(axis=1)
        return np.asarray(chosen != self.labels)

    def carry_out(self, cell: StochasticCell, split: Split, scores: Floats, children: Floats) -> int:
        """Record a split, and return the number of its first child."""
        first = len(self.masses)
        parent = self.masses[cell.node]
        reach = cell.mass / self.prior_mass
        high, low = (self.value(m if m.sum() > 0 else parent)[self.shown] for m in children)
        for rows in blocks(0, len(reach), _ROWS):
            step = gate(scores[rows])[:, None] * (high - low) + (low - self.value(parent)[self.shown])
            self.output[rows] += reach[rows, None] * step
        corrected = split.gain
        if self.look_ahead:
            corrected -= self._leave_out(cell, split, scores, reach)
        self.masses.extend(children)
        self.depth.extend([cell.depth + 1] * 2)
        self._total -= split.gain
        self._corrected -= corrected
        self.records.append(Record(cell.node, split, first, corrected))
        return first

    def _leave_out(self, cell: StochasticCell, split: Split, scores: Floats, reach: Floats) -> float:
        """Add what each row contributes to its own output by this split; return the optimism of the gain.

        A row changes the purities of the two children, and turns the direction toward itself. To first order,
        with the other nodes as they are.
        """
        m = cell.moments
        total = float(cell.masses.sum())
        steep, w = split.steepness, split.weights / split.steepness
        certain = np.clip(scores, -1.0, 1.0)
        lean = float(cell.mass @ certain) / total
        joint = self.rows.by_class(cell.mass * (certain - lean)) / total
        contrast = joint - m.shares * joint.sum()
        spread, m_spread = max(1 - lean**2, 1e-12), max(m.spread, 1e-12)
        # The direction of the linear solver is A Σ_k v_k c_k, v being the class contrast that it follows.
        v = contrast / max(float(np.linalg.norm(contrast)), 1e-300)
        u = v @ m.contrasts
        u = u + m.mean * (m.mean @ u) / m_spread
        factor = cell.times * steep / max(float(np.linalg.norm(u)), 1e-300)
        follow = factor * (v - v @ m.shares)
        # A direction of second moments has next to no gain of its own; its children's count twice.
        turns = not split.by_second_moments
        to_mean = self.rows.scores(m.mean) if turns else scores
        optimism = 0.0
        for rows in blocks(0, len(reach), _ROWS):
            z, own = scores[rows], reach[rows] * self.own_mass[rows] / total
            residual = self._onehot[rows] - m.shares[self.shown]
            change = ((certain[rows] - lean) ** 2 / spread)[:, None] * residual
            if turns:
                along, aside = z / steep, to_mean[rows]
                across = self.squared_norms[rows] - along**2
                across += aside * (aside - (m.mean @ w) * along) / m_spread
                turn = np.where(np.abs(z) < 1, follow[self.labels[rows]] * np.maximum(across, 0.0), 0.0)
                change += turn[:, None] * (contrast[self.shown] / spread)
            self.own_part[rows] += (reach[rows] * own)[:, None] * change
            optimism += float((cell.mass[rows] * own) @ (residual * change).sum(axis=1))
        # Twice: what the purities promise is too much, and what new rows lose by them too little.
        n_classes = len(m.shares)
        shown_for = 2 if n_classes == 2 else 1  # the second of two classes stands for both
        return 2 * n_classes / (n_classes - 1) * shown_for * optimism


class StochasticCell:
    """A leaf: a distribution over all rows."""

    def __init__(
        self,
        grower: Grower,
        node: int,
        mass: NDArray[Any],
        masses: Floats,
        sums: Floats,
        depth: int,
        partner: Floats | None = None,
    ) -> None:
        self.grower, self.node, self.depth, self.partner = grower, node, depth, partner
        # How often the direction depends on a row: also through that of the parent, if it is one of a pair.
        self.times = 1.0 if partner is None else 2.0
        self.mass, self.masses, self.sums = mass, masses, sums
        self._split: Split | None = None
        self._scores: Floats | None = None  # of its direction, where they are not too many to keep
        # The other direction of a pair, and how its product follows each class.
        self.pair: tuple[Floats, Floats] | None = None
        self.held: HeldOutCell | None = None

    @property
    def moments(self) -> Moments:
        """Of its normalised distribution."""
        return Moments.from_sums(self.masses, self.sums)

    def propose(self) -> float | None:
        """Gain of the best test of this leaf, in units of the whole sample."""
        grower = self.grower
        total = self.masses.sum()
        deep = grower.max_depth is not None and self.depth >= grower.max_depth
        if deep or total < _LEAST_MASS or (self.masses > 0).sum() < 2:
            self.mass = np.zeros(0)
            return None
        moments = self.moments
        direction = best_weights(moments, grower.index, grower.solver, grower.epsilon)
        in_pair = self.partner is not None and lookahead.prefers_partner(
            self, moments, direction, self.partner
        )
        if in_pair and self.partner is not None:
            direction, self.times = self.partner, 1.0
        self._split = self._as_split(direction, False, in_pair)
        priority = self._split.gain
        if self.partner is None and grower.look_ahead and lookahead.is_worth_it(self, moments):
            better = lookahead.better_direction(self, moments)
            if better is not None:
                direction, partner, follow, value = better
                self.pair = partner, follow
                self._split = self._as_split(direction, True, True)
                priority = max(priority, value)
        return priority

    def _as_split(self, direction: Floats, by_second_moments: bool, in_pair: bool) -> Split:
        """Steepness and gain of a direction."""
        grower = self.grower
        if not direction.any():
            return Split(direction, 1.0, 0.0)
        of_norm_1 = 1.0, float(self.masses.sum() * self.moments.gains(direction[None], grower.terms)[0])
        if grower.rescale == 0:
            return Split(direction, *of_norm_1, by_second_moments, in_pair)
        scores = grower.rows.scores(direction)
        self._scores = scores if len(scores) <= _ROWS else None
        steepness = self.steepness(scores, in_pair)
        gain = max(self._gain(scores * steepness), 0.0)
        # Where all rows are far from the plane, a steep test is certain of all; the published one is not.
        if np.isfinite(grower.rescale) and not in_pair and rounded(of_norm_1[1]) > rounded(gain):
            steepness, gain = of_norm_1
        return Split(direction * steepness, steepness, gain, by_second_moments, in_pair)

    def _gain(self, scores: Floats) -> float:
        """Of a test with these products, in units of the whole sample."""
        grower = self.grower
        joint = grower.rows.by_class(self.mass * gate(scores))
        rest = np.maximum(self.masses - joint, 0.0)
        before, first, second = grower.terms(np.stack([self.masses, joint, rest]))
        return float(before - first - second)

    def steepness(self, scores: Floats, in_pair: bool = False) -> float:
        """Factor of a unit vector with these products."""
        rescale = self.grower.rescale
        if in_pair and np.isfinite(rescale):
            rescale = min(rescale, PAIR_RESCALE)
        if rescale == 0:
            return 1.0
        if np.isinf(rescale):
            # A row that was certain of the other child is here by rounding alone.
            here = self.mass > 1e-9 * self.grower.prior_mass
            largest = float(np.abs(scores[here]).max(initial=0.0))
            return 1 / largest if largest > 0 else 1.0
        square = float(self.mass @ scores**2) / float(self.masses.sum())
        return 1 / (rescale * np.sqrt(square)) if square > 0 else 1.0

    def refine(self) -> list[StochasticCell]:
        """Carry out the split; the second child is what the first leaves of the sums."""
        grower, split = self.grower, self._split
        assert split is not None
        scores = grower.rows.scores(split.weights) if self._scores is None else self._scores * split.steepness
        part = self.mass * gate(scores)
        masses, sums = grower.rows.by_class(part), grower.rows.sums(part)
        children = np.stack([masses, np.maximum(self.masses - masses, 0.0)])
        first = grower.carry_out(self, split, scores, children)
        rest = self.mass - part
        partner = self.pair[0] if self.pair else None
        cells = [
            StochasticCell(
                grower, first + i, mass.astype(grower.dtype), children[i], s, self.depth + 1, partner
            )
            for i, (mass, s) in enumerate([(part, sums), (rest, self.sums - sums)])
        ]
        if grower.held_out is not None and self.held is not None:
            for cell, held in zip(cells, grower.held_out.refine(self.held, self, split, scores), strict=True):
                cell.held = held
        self.mass, self.held, self._scores = np.zeros(0), None, None
        return cells
