"""Decision lists: if … else if … else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar, Literal

import numpy as np

from offsample._typing import Booleans, Floats, Ints, Words
from offsample.induction.evidence import log_p_one_cell
from offsample.induction.rules.base import PROSPECTS, RuleClassifier
from offsample.induction.rules.models import FirstTrue
from offsample.induction.rules.partition import Options, Partition, Sample
from offsample.induction.rules.search import ConjunctionSearch

# Shares of errors from 0 to 1 that "cover" tries in turn.
_N_LEVELS = 20
# Conjunctions of three literals, and the same times rows, up to which rules of three are tried unasked.
_MOST_TRIPLES, _MOST_LOOKED_AT = 150_000, 300_000_000


class _ListPartition(Partition):
    """One cell for each rule, and one for the rows that are left."""

    def __init__(self, sample: Sample, learner: Any) -> None:
        n_literals = learner.literals or sample.n_literals
        self._search = ConjunctionSearch(sample, n_literals, learner.min_coverage)
        self._rank = self._place = 0  # of the error level, and in its sweep: for "cover"
        self._committed = False
        self._bits: Words | None = None
        super().__init__(sample, learner)

    @property
    def _left(self) -> Booleans:
        return np.asarray(self.sample.active & (self.cell == len(self.steps)))

    def model(self) -> FirstTrue:
        return FirstTrue(tuple(self.steps), self.cell_counts())

    def take(self, literals: tuple[int, ...]) -> None:
        self.cell[self._left & ~self.sample.rows_where(literals)] += 1

    def options(self) -> Options | None:
        """Conditions for the next rule."""
        left = self._left
        rest = self.sample.counts_of(left)
        if rest.max() == rest.sum():
            return None
        if self.learner.strategy == "greedy":
            return self._search.options(left, self.prospect)
        is_consistent = self.learner.strategy == "consistent"
        literals = self._pure(left, rest) if is_consistent else self._nearly_pure(left)
        if literals is None:  # no list of such rules is consistent: go on as well as possible
            return self._search.options(left) if is_consistent else None
        counts = self.sample.counts_of(left & self.sample.rows_where(literals))
        terms = self.sample.scoring.terms
        gain = float(terms(rest) - terms(counts) - terms(rest - counts))
        return Options(
            np.array([gain]),
            np.array([self._search.log_tried(literals)]),
            lambda _: log_p_one_cell(counts[None], rest),
            lambda _: literals,
        )

    def _pure(self, left: Booleans, rest: Ints) -> tuple[int, ...] | None:
        """Of the conditions that only rows of one class fulfil, the one that most do (Rivest)."""

        def score(counts: Ints) -> Floats:
            size = counts.sum(axis=1)
            pure = (size == counts.max(axis=1)) & (size >= self._search.min_coverage)
            return np.where(pure, size.astype(float), -np.inf)

        found = self._search.best(left, rest, score)
        return found.at(int(np.argmax(found.score))) if len(found.score) else None

    def _nearly_pure(self, left: Booleans) -> tuple[int, ...] | None:
        """The next condition, in order, within the present error level (DL₁)."""
        from offsample.induction.rules import kernels

        if self._bits is None:
            self._bits = self.sample.index.bits()
        group = np.where(left, self.sample.y, -1).astype(np.int32)
        masks = kernels.pack_groups(group, self.sample.n_classes)
        least, with_pairs = self._search.min_coverage, self._search.max_literals > 1
        while (share := self._rank / _N_LEVELS) < 0.5:
            first, second, place = kernels.next_cover(
                self._bits, masks, self._place, share, least, with_pairs
            )
            if place >= 0:
                self._place, self._committed = place + 1, True
                return (second,) if first < 0 else (first, second)
            # Another sweep while there is something to find: a condition may have become purer.
            self._rank += not self._committed
            self._place, self._committed = 0, False
        return None


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionListClassifier(RuleClassifier):
    """Decision list: rules that are tried in order, each a conjunction of a few tests.

    Parameters
    ----------
    criterion : str or callable, default="ginger"
        What a rule should improve: "ginger" and "bayes_loo" estimate the error off the sample; other names in
        `criteria.CRITERIA` that are sums over cells (all but "gain_ratio" and "mantaras_distance") are
        computed on it, as is a function of class distributions such as those of `criteria.INDEX_FUNCTIONS`.
    strategy : {"greedy", "consistent", "cover"}, default="greedy"
        How a rule is chosen. "greedy": the one that improves the criterion most, of those that leave no more
        doubt among their own rows than there is in the rest, which later rules refine; where rules must be
        significant, as if later ones would remove 0.3 or 0.9 of what is left (the better list is kept).
        "consistent": of the rules that only rows of one class fulfil, the one that most rows do [1]_. The
        list is consistent with the sample if any with rules of this length is; where no such rule is left, it
        goes on greedily. "cover": the first rule that errs on no more than a share of the rows it covers, a
        share that grows from 0 to ½ by .05 (DL₁ of [2]_); for at most two literals.
    max_size : int, default=None
        The largest number of rules.
    stopping : {"auto", "none"}, default="auto"
        When growing ends before that. "auto": for "ginger" and "bayes_loo" and the greedy strategy, a rule
        must be significant after a correction for all conditions that it was chosen from, and the length with
        the smallest corrected estimate is kept. "none": no stopping rule.
    literals : int, default=None
        The largest number of tests in a rule. By default 2; where rules must be significant, and all of three
        tests are few enough to try (columns of few values), the better of a list of 2 and one of 3.
    min_coverage : int, default=1
        The smallest number of rows that a rule covers.
    n_thresholds : int, default=15
        The number of thresholds tried in a numeric column: quantiles.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Numeric columns to read as categorical.
    costs, class_weight
        See `TreeClassifier`. With either, criteria of errors and indexes also choose rules as if rows counted
        what their class has at stake; probabilities are those of the rows as they are.
    random_state : int, RandomState or None, default=None
        Seed of the folds that estimate the errors of "consistent" and "cover". None stands for 0.

    Attributes
    ----------
    rules_ : list of Rule
        In the order in which they are tried; the last is for all rows that are left.
    counts_ : CellCounts
        Training rows that come to each rule.
    path_ : GrowthPath
        Criterion and errors of the lists of 0, 1, 2, … rules.
    size_ : int
        Number of rules, the last one not counted. Rules whose rows get the same class without them, whatever
        the row, are left out, and their rows are counted with the rules that they come to then.
    estimated_error_ : float
        The share of new rows that `predict` is expected to get wrong: the training errors, with the optimism
        of majorities and of having chosen each rule among many; for "consistent" and "cover", whose rules are
        chosen for being pure, by ten-fold cross-validation.
    estimated_error_interval_ : tuple of float
        A 95 % interval for the error of this list; see Notes.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A greedy rule may close a cell only if the index of its rows, times their number, is at most that of the
    rest. Otherwise a conjunction of negations, which holds for most rows, would close an impure cell, and
    only the pure rest could be refined: with rules of two tests and more, no list would be consistent with
    the samples of [3]_ that stand for set covers. With it, lists of every length and permissible index are
    (a pure cell is closed even where the index does not change, as the error index seldom does).

    Of equal gains the purer rule, then the one that covers more, then the shorter and first is taken. All
    conjunctions of a number of literals are tried if they are fewer than a million (pairs of up to 700
    tests); otherwise the 32 best that have one literal less are extended.

    With `groups` in `fit`, a rule must be significant across groups. The number of rules and the error are
    then those of lists grown without some of the groups, for new groups; so for all learners of rules.

    The interval goes from what the error would be had no rule been chosen to the estimate, with the score
    interval of a proportion at either end. For "consistent" and "cover" the variance is that of independent
    rows times 1 + k / (k - 1), for k = 10 folds that share most of their rows [4]_.
    ``tests/statistical/test_rule_errors.py`` checks the intervals.

    References
    ----------
    .. [1] R. Rivest (1987). Learning decision lists. Machine Learning 2.
    .. [2] T. Scheffer (1999). Error estimation and model selection. Section 3.8.
    .. [3] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.
    .. [4] C. Nadeau, Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import DecisionListClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (500, 6))
    >>> y = np.where(X[:, 0] & X[:, 1], "a", np.where(X[:, 2] == 1, "b", "c"))
    >>> print(DecisionListClassifier().fit(X, y).to_text())
    if x0 = 1 and x1 = 1: a (137 of 137 rows)
    else if x2 = 0: c (189 of 189 rows)
    else: b (174 of 174 rows)
    """

    strategy: Literal["greedy", "consistent", "cover"] = "greedy"
    min_coverage: int = 1

    _least: ClassVar[dict[str, int]] = {**RuleClassifier._least, "min_coverage": 1}
    _partition = _ListPartition
    _binary_only = False
    _prospects = PROSPECTS
    _min_gain = -np.inf
    _words = ("if", "else if", "else")

    def _check_options(self) -> None:
        super()._check_options()
        if self.strategy == "cover" and (self.literals or 2) > 2:
            raise ValueError(f'strategy="cover" takes at most 2 literals, got literals={self.literals}')

    def _variants(self, sample: Sample) -> list[Sample]:
        n_triples = 8 * comb(sample.index.n_tests, 3)
        is_few = n_triples <= _MOST_TRIPLES and n_triples * sample.size <= _MOST_LOOKED_AT
        lengths = (2, 3) if self.literals is None and is_few else (2,)
        samples = [replace(sample, n_literals=n) for n in lengths]
        return [replace(one, prospect=prospect) for one in samples for prospect in self._prospects]

    @property
    def _is_greedy(self) -> bool:  # type: ignore[override]
        return self.strategy == "greedy"
