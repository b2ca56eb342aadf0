"""Branching programs: trees whose nodes of similar class ratio are merged, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from offsample.induction.rules.base import RuleClassifier
from offsample.induction.rules.models import shares
from offsample.induction.rules.partition import Partition, Sample
from offsample.induction.rules.program import Node, ProgramModel, ProgramPartition


@dataclass(frozen=True)
class ProgramRule:
    """A node in words: its test and the nodes to go to, or its class; and its training rows of each class."""

    node: int
    condition: str | None  # None for a node that predicts
    where: tuple[int, ...]  # where to go if the test is true, and if it is false
    prediction: Any
    counts: tuple[int, ...]

    def __str__(self) -> str:
        if self.condition is None:
            return f"{self.node}: {self.prediction} ({shares(self.counts)})"
        return f"{self.node}: if {self.condition} go to {self.where[0]}, else to {self.where[1]}"


@dataclass(kw_only=True, eq=False, repr=False)
class BranchingProgramClassifier(RuleClassifier):
    """Branching program: a graph of tests, narrower than a tree as nodes of similar class ratio merge.

    All nodes of a level are split by the test that improves the criterion most; then children whose share of
    the second class falls into the same of some buckets become one node of the next level. For two classes.

    Parameters
    ----------
    max_size : int, default=None
        The largest number of nodes, those that predict included.
    max_depth : int, default=None
        The largest number of levels of tests.
    literals : int, default=1
        The largest number of literals of a test.
    merge_factor : float, default=0.2
        γ: within a bucket, merging multiplies Matsushita's index by at most 1 + γ. Smaller is wider.
    least_share : float, default=0.01
        ε: shares of a class below it are in one bucket, to which the factor does not apply.
    criterion, stopping, n_thresholds, value_sets, categorical_features, random_state
        See `DecisionListClassifier`.

    Attributes
    ----------
    rules_ : list of ProgramRule
        The nodes; the first is where to start.
    counts_ : CellCounts
        Training rows of the nodes that predict.
    n_nodes_ : int
    path_, size_, estimated_error_, estimated_error_interval_
        See `DecisionListClassifier`; a step of the path is a level.

    Notes
    -----
    Buckets end at ε, ε(1+γ)², ε(1+γ)⁴, … below ½ and at their mirror images. Pure children are not merged
    with others. Where merging would cost more than half of what the tests of a level gain, γ and ε are halved
    until it does not. A node without a test that helps waits for the next level.

    References
    ----------
    .. [1] Y. Mansour, D. McAllester (2002). Boosting using branching programs. J. Comput. System Sci. 64.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria. Theoret. Comput. Sci. 321.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import BranchingProgramClassifier
    >>> X = np.random.default_rng(0).integers(0, 2, (1000, 6))
    >>> y = np.where(X[:, :3].sum(axis=1) >= 2, "most", "few")
    >>> program = BranchingProgramClassifier().fit(X, y)
    >>> print(program.to_text())
    0: if x2 = 1 go to 1, else to 2
    1: if x0 = 1 go to 5, else to 3
    2: if x1 = 1 go to 4, else to 6
    3: if x1 = 1 go to 5, else to 6
    4: if x0 = 1 go to 5, else to 6
    5: most (494 of 494 rows)
    6: few (506 of 506 rows)
    """

    max_depth: int | None = None
    literals: int | None = 1
    merge_factor: float = 0.2
    least_share: float = 0.01

    _least: ClassVar[dict[str, int]] = {**RuleClassifier._least, "max_depth": 0}

    def _check_options(self) -> None:
        super()._check_options()
        if self.merge_factor <= 0:
            raise ValueError(f"merge_factor must be positive, got {self.merge_factor}")
        if not 0 < self.least_share < 0.5:
            raise ValueError(f"least_share must be between 0 and 1/2, got {self.least_share}")

    @property
    def _max_steps(self) -> int | None:
        return self.max_depth

    def _partition(self, sample: Sample) -> Partition:
        return ProgramPartition(
            sample,
            max_literals=self.literals or 1,
            max_nodes=self.max_size,
            merge_factor=float(self.merge_factor),
            least_share=float(self.least_share),
        )

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return len(self._nodes)

    @property
    def _nodes(self) -> tuple[Node, ...]:
        assert isinstance(self.model_, ProgramModel)
        return self.model_.nodes

    def _describe_step(self, step: tuple[int, ...]) -> str:
        del step  # a level has many tests
        return "level"

    def _rules(self, feature_names: Sequence[Any] | None = None) -> list[Any]:
        rules = []
        for i, node in enumerate(self._nodes):
            text = self.vocabulary_.describe(node.test, feature_names) if node.where else None
            label = None if node.where else self.classes_[int(node.counts.argmax())]
            counts = tuple(node.counts.tolist()[: max(1, len(self.classes_))])
            rules.append(ProgramRule(i, text, node.where, label, counts))
        return rules

    def to_dict(self) -> dict[str, Any]:
        """The program as plain data, for JSON and for drawing."""
        nodes = [
            {
                "node": rule.node,
                "level": node.level,
                "condition": rule.condition,
                "where": list(rule.where),
                "prediction": rule.prediction.item() if hasattr(rule.prediction, "item") else rule.prediction,
                "counts": list(rule.counts),
            }
            for rule, node in zip(self.rules_, self._nodes, strict=True)
        ]
        return {**super().to_dict(), "nodes": nodes}
