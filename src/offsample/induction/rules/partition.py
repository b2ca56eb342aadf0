"""A partition that is refined step by step by Boolean conditions: what all rule learners share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from offsample._losses import class_stakes
from offsample._ties import largest, rounded
from offsample._typing import Booleans, Bytes, Floats, Ints
from offsample.induction.bundles import log_p_of_scores
from offsample.induction.evidence import log_p_one_cell, share_left
from offsample.induction.rules.index import BitIndex
from offsample.induction.rules.models import Model, conjunction
from offsample.induction.scoring import Scoring, majority_terms

# Probability of a first step where no test has to do with the class, and of each further one: as for trees.
_LEVEL, _LEVEL_BELOW = 0.03, 0.2
# Candidates with the largest gains, of which the evidence is looked at.
N_SHORTLISTED = 64


class Measure(NamedTuple):
    """The partition after some steps; errors are of what it predicts, in rows."""

    step: tuple[int, ...]
    criterion: float
    corrected: float
    training_errors: float
    estimated_errors: float
    naive_errors: float
    model: Model
    left: float = 1.0  # share of the decrease of the criterion that is not due to the choice of the steps


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that a partition is grown on."""

    index: BitIndex
    y: Ints  # codes of the classes
    n_classes: int
    scoring: Scoring
    log_tried: Floats  # of the tests: see `Vocabulary`
    active: Booleans  # rows to learn from; the others are held out
    by_evidence: bool  # whether a step must be significant and is chosen by its expected gain
    # Where cells are finished one after the other, the share of the criterion in the remaining rows that
    # later steps should remove. At 0 a step is chosen as if it were the last; larger takes purer cells.
    prospect: float = 0.0
    n_literals: int = 2  # of a rule of a list, at most, where the learner does not say
    bundles: Bytes | None = None  # of the groups of the rows, if steps are for new groups
    costs: Floats | None = None  # ``[true, predicted]``, if not all mistakes cost the same

    @cached_property
    def size(self) -> int:
        """Number of rows that count."""
        return int(self.active.sum())

    def staked(self, counts: Ints) -> NDArray[Any]:
        """Class counts, of shape (..., K), in what rows have at stake."""
        return counts if self.costs is None else counts * class_stakes(self.costs)

    @property
    def n_shortlisted(self) -> int:
        """Number of candidates whose evidence is looked at: by groups, the largest gains may be chance."""
        return N_SHORTLISTED if self.bundles is None else 4 * N_SHORTLISTED

    def totals(self, cell: Ints, n_cells: int) -> Ints:
        """Class counts of cells, given the cell of each row; rows of negative ones are in none."""
        keep = self.active & (cell >= 0)
        codes = cell[keep] * self.n_classes + self.y[keep]
        return np.bincount(codes, minlength=n_cells * self.n_classes).reshape(n_cells, self.n_classes)

    def counts_of(self, rows: Booleans) -> Ints:
        """Class counts of some rows."""
        return np.bincount(self.y[self.active & rows], minlength=self.n_classes)

    def literal_counts(self, cell: Ints, n_cells: int, totals: Ints) -> Ints:
        """Class counts of the rows of each cell for which each literal is true: (n_cells, n_literals, K)."""
        group = np.where(self.active & (cell >= 0), cell * self.n_classes + self.y, -1).astype(np.int32)
        counts = self.index.counts(group, n_cells * self.n_classes)
        counts = counts.reshape(n_cells, self.n_classes, -1).transpose(0, 2, 1)
        return np.concatenate([counts, totals[:, None, :] - counts], axis=1)

    def counts_inside(self, rows: Booleans) -> tuple[Ints, Ints]:
        """Class counts where each literal is true of some rows, and of all of these."""
        totals = self.counts_of(rows)
        return self.literal_counts(np.where(rows, 0, -1), 1, totals[None])[0], totals

    def log_conjunctions(self, literals: Sequence[int]) -> float:
        """Log of the number of conjunctions of this length."""
        n = len(literals)
        of_tests = sum(self.log_tried[literal % self.index.n_tests] for literal in literals)
        # a literal and its negation split a cell alike; the signs of more literals matter
        return float(of_tests + (n * np.log(2) if n > 1 else 0.0) - gammaln(n + 1))

    def rows_where(self, literals: Sequence[int]) -> Booleans:
        """Rows for which all literals are true."""
        truth = {literal: self.index.truth(literal) for literal in literals}
        return conjunction(truth, literals, len(self.y))

    def log_p_by_groups(self, cell: NDArray[Any], steps: Sequence[tuple[int, ...]]) -> Floats:
        """Log p-values, by groups, of steps that divide the cells of the rows; negative cells are none."""
        assert self.bundles is not None
        rows = np.flatnonzero(self.active & (cell >= 0))
        where = np.unique(cell[rows], return_inverse=True)[1]
        bundles, bundle = np.unique(self.bundles[rows], return_inverse=True)
        if len(bundles) < 2 or not len(steps):
            return np.zeros(len(steps))
        shape = int(where.max()) + 1, len(bundles), self.n_classes
        codes = (where * shape[1] + bundle) * shape[2] + self.y[rows]
        truth = (self.rows_where(literals)[rows] for literals in [(), *steps])  # all rows, then each step
        counts = np.array([np.bincount(codes[true], minlength=np.prod(shape)) for true in truth])
        whole, counts = counts[0].reshape(shape), counts[1:].reshape(-1, *shape)
        n_shown = 1 if self.n_classes == 2 else self.n_classes
        size = whole.sum(axis=(1, 2))
        share = whole.sum(axis=1) / size[:, None]
        beyond = (whole - whole.sum(axis=2, keepdims=True) * share[:, None])[:, :, -n_shown:]
        n_true = counts.sum(axis=3)
        scores = counts[..., -n_shown:] - n_true[..., None] * share[:, None, -n_shown:]
        scores -= (n_true.sum(axis=2) / size)[:, :, None, None] * beyond
        sides = n_true.sum(axis=1), whole.sum(axis=(0, 2)) - n_true.sum(axis=1)
        return log_p_of_scores(scores.sum(axis=1).swapaxes(1, 2), beyond.sum(axis=0).T, *sides)


@dataclass(frozen=True, eq=False)
class Options:
    """Ways to take the next step."""

    gain: Floats  # decrease of the criterion, in rows; -inf for what is not allowed
    log_tried: Floats  # logarithm of the number that each was chosen among
    log_p: Callable[[Ints], Floats]  # log p-values of independence of the step and the class, of some of them
    literals: Callable[[int], tuple[int, ...]] = lambda i: (i,)  # what one of them adds
    ties: tuple[NDArray[Any], ...] = ()  # of equal gains, the smallest of these and then the first is taken
    cell: NDArray[Any] | None = None  # that each row is in before the step; negative for rows that stay

    def best(self, sample: Sample, level: float) -> tuple[int, float, float] | None:
        """The option to take, what it is worth in rows, and the share of its gain to expect on new rows."""
        gain = rounded(self.gain, sample.size)
        if not len(gain) or gain.max() == -np.inf:
            return None
        if not sample.by_evidence:
            best = int(largest(gain, 1, *self.ties)[0])
            share = self._share(sample, np.array([best]), level)[1][0]
            return best, float(self.gain[best]), float(share)
        listed = np.flatnonzero(gain > 0)
        if not len(listed):
            return None
        ties = [key[listed] for key in self.ties]
        listed = listed[largest(gain[listed], sample.n_shortlisted, *ties)]
        log_p, share = self._share(sample, listed, level)
        is_found = rounded(log_p + self.log_tried[listed]) <= rounded(np.log(level))
        worth = np.where(is_found, self.gain[listed] * share, 0.0)
        if rounded(worth.max(), sample.size) <= 0:
            return None
        i = largest(rounded(worth, sample.size), 1, *(key[listed] for key in self.ties))[0]
        return int(listed[i]), float(worth[i]), float(share[i])

    def _share(self, sample: Sample, which: Ints, level: float) -> tuple[Floats, Floats]:
        log_p = self.log_p(which)
        if sample.bundles is not None and self.cell is not None:
            # A step that is no evidence by rows is not taken, whatever groups say.
            asked = rounded(log_p + self.log_tried[which]) <= rounded(np.log(level))
            asked |= not sample.by_evidence
            by_groups = sample.log_p_by_groups(self.cell, [self.literals(i) for i in which[asked]])
            log_p[asked] = np.maximum(log_p[asked], by_groups)
        # share_left takes the number itself: bring a huge one within range, and with it the share to 0
        n_tried = np.exp(np.minimum(self.log_tried[which] - np.log(level), 690.0))
        return log_p, share_left(log_p, n_tried)


class Partition(ABC):
    """What `top_down.grow` refines: the cells of a learner together, with their estimates.

    A class of formulas is written by what steps it offers (`options`), what a step does (`take`), and the
    model that its cells make.
    """

    def __init__(self, sample: Sample, learner: Any) -> None:
        self.sample, self.learner, self.prospect = sample, learner, sample.prospect
        self.steps: list[tuple[int, ...]] = []
        self.cell = np.zeros(len(sample.y), np.int64)  # that each row is in
        self.chosen: tuple[int, ...] = ()  # literals of the step that was proposed
        self._share = 1.0
        self._total = self._corrected = self._naive = self._estimated = 0.0
        self._account()
        self._root_terms = self._total

    @property
    def n_cells(self) -> int:
        """Number of cells; by default each step makes one more."""
        return len(self.steps) + 1

    def cell_counts(self) -> Ints:
        """Class counts of the cells, of shape (n_cells, K)."""
        return self.sample.totals(self.cell, self.n_cells)

    @abstractmethod
    def model(self) -> Model:
        """The formula as it is now."""

    @property
    def level(self) -> float:
        """Level of the tests of the next step."""
        return _LEVEL_BELOW if self.steps else _LEVEL

    @abstractmethod
    def take(self, literals: tuple[int, ...]) -> None:
        """Take a step."""

    def refine(self) -> list[Self]:
        """Carry out the refinement that was proposed."""
        self.take(self.chosen)
        self.steps.append(self.chosen)
        self._account()
        return [self]

    def _account(self) -> None:
        """Bring the estimates up to date: a gain counts for the share that is expected on new rows."""
        total = float(self.sample.scoring.terms(self.cell_counts()).sum())
        self._model = replace(self.model(), costs=self.sample.costs)
        counts = self._model.counts
        # Of majorities on as many new rows, had the cells not been chosen; of other classes, more.
        wrong = counts.sum(axis=1) - counts[np.arange(len(counts)), self._model.labels]
        more = wrong - (counts.sum(axis=1) - counts.max(axis=1))
        naive = float(majority_terms(counts).sum() + more.sum())
        self._training_errors = float(wrong.sum())
        gain, decrease = self._total - total, self._naive - naive
        self._corrected -= gain * (self._share if gain > 0 else 1.0)
        self._estimated -= decrease * (self._share if decrease > 0 else 1.0)
        self._total, self._naive = total, naive

    def measure(self) -> Measure:
        """Where the partition stands."""
        criterion = self.sample.scoring.criterion.from_sums(self._root_terms, self._total, self.sample.size)
        wrong = self._training_errors
        step = self.steps[-1] if self.steps else ()
        gain, left = self._root_terms - self._total, self._root_terms - self._corrected
        left = min(1.0, max(0.0, left / gain)) if gain > 0 else 1.0
        return Measure(
            step, criterion, self._corrected, wrong, self._estimated, self._naive, self._model, left
        )

    @property
    def added(self) -> tuple[int, ...]:
        """Literals of all steps."""
        return tuple(literal for step in self.steps for literal in step)

    def options(self) -> Options | None:
        """Ways to take the next step; None if there is no step left."""
        return None

    def propose(self) -> float | None:
        """Gain of the best step, as a share of the sample."""
        while True:
            gain = self._best_step()
            if (gain is None or rounded(gain) <= 0) and self.close():
                gain = self._best_step()
            if gain is not None or self.prospect <= 0:
                return gain
            # nothing is pure enough to be finished: expect less
            self.prospect = self.prospect / 2 if self.prospect > 0.1 else 0.0

    def close(self) -> bool:
        """Finish the conjunction that grows, for the next one; whether there is one to finish."""
        return False

    def _best_step(self) -> float | None:
        options = self.options()
        found = None if options is None else options.best(self.sample, self.level)
        if options is None or found is None:
            return None
        best, worth, self._share = found
        self.chosen = options.literals(best)
        return worth / self.sample.size


def term_options(
    sample: Sample,
    inside: Booleans,
    outside: Ints,
    used: Sequence[int],
    counts: tuple[Ints, Ints],
    allowed: Booleans | bool = True,
    ties: tuple[NDArray[Any], ...] = (),
    prospect: float = 0.0,
) -> Options:
    """Ways to add a literal to a term of the literals `used` that holds for the rows `inside`.

    Rows for which the literal is false go to a cell with the class counts `outside`; `counts` are those of
    `Sample.counts_inside`, `allowed` says which literals may be taken, and `ties` are those of `Options`.
    """
    true, total = counts
    gain = term_gain(sample.scoring.terms, true, total, outside, prospect, is_new=not used)
    size = true.sum(axis=1)
    valid = (size > 0) & (size < total.sum()) & allowed
    n_tests = sample.index.n_tests
    for literal in used:
        valid[[literal, (literal + n_tests) % (2 * n_tests)]] = False
    return Options(
        np.where(valid, gain, -np.inf),
        np.tile(sample.log_tried, 2),
        lambda which: log_p_one_cell(true[which], total),
        ties=ties,
        cell=np.where(inside, 0, -1),
    )


def term_gain(
    terms: Callable[[Ints], Floats], true: Ints, inside: Ints, outside: Ints, prospect: float, is_new: bool
) -> Floats:
    """Gain of leaving `true` of the rows `inside` a term, and the others to the cell `outside`."""
    kept = 1 - prospect
    before = float(terms(inside) * (kept if is_new else 1.0) + kept * terms(outside))
    return np.asarray(before - terms(true) - kept * terms(inside - true + outside))


def majority_share(counts: Ints) -> Floats:
    """Share of the most frequent class in cells of shape (..., K); 0 in an empty one."""
    return np.asarray(counts.max(axis=-1) / np.maximum(counts.sum(axis=-1), 1))
