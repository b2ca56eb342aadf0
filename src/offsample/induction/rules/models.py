"""What is left of a partition when the rows are gone, and its cells in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from offsample._losses import decide
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.forms import Conditions, Expression, case
from offsample.induction.shrinkage import Nest, with_likeliest

Truth = Mapping[int, Booleans]
# Of two conjunctions: whether the first implies or excludes the second.
# What conjunctions of literals leave of the values of each column that they speak of, as bits.
Said = Callable[[tuple[int, ...]], dict[int, int]]


# Ways of a row past other rules that are looked at before a rule is kept.
_MOST_LOOKS = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class _Deciding:
    """What decides by costs."""

    costs: Floats | None = None  # ``[true, predicted]``, if not all mistakes cost the same


class Model(_Deciding, ABC):
    """A formula: enough to find the cell of a new row, and what each cell predicts."""

    counts: Ints  # class counts of the cells, of shape (n_cells, K)
    size: int | None = None  # of the formula, if it is not the number of its steps
    literals: Sequence[int]  # those that `cells` needs the truth of

    @property
    def labels(self) -> Ints:
        """Class that each cell predicts: its majority, or the cheapest one."""
        return decide(self.counts.astype(float), self.costs)

    @property
    def in_order(self) -> Sequence[Sequence[int]]:
        """Literals of each rule, in the order in which they are read."""
        return [self.literals]

    @abstractmethod
    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """Cell of each row."""

    def _cell(self, tests: Conditions) -> tuple[Expression, list[dict[str, Expression]]]:
        """What leads to a cell, given the tests of literals, and steps that it needs."""
        return case([(tests(rule), i) for i, rule in enumerate(self.in_order)], len(self.in_order)), []

    def probabilities(self, n_classes: int, left: float) -> Floats:
        """Class probabilities of the cells, of whose gain this share is `left` off the sample.

        A gain is a squared difference. The predicted class is the likeliest, if all mistakes cost the same.
        """
        counts = np.vstack([self.counts.sum(axis=0), self.counts])[:, :n_classes]
        depth = np.minimum(np.arange(len(counts)), 1)
        nest = Nest(counts, depth - 1, depth, depth == 1, np.full(len(counts), np.sqrt(left)))
        value = nest.values(nest.weight())[1:]
        return with_likeliest(value, self.labels) if self.costs is None else value

    def without_idle(self, said: Said, n_tests: int, count: Callable[[Self], Ints]) -> Self:  # noqa: ARG002
        """The same predictions without rules that cannot change one; `count` counts the rows of the cells."""
        return self


@dataclass(frozen=True, eq=False)
class FirstTrue(Model):
    """Conjunctions in order, and the counts of the rows whose first true one each is; last those of none."""

    rules: tuple[tuple[int, ...], ...]
    counts: Ints

    @property
    def literals(self) -> Sequence[int]:  # type: ignore[override]
        """Literals of all conjunctions."""
        return distinct(self.rules)

    @property
    def in_order(self) -> Sequence[Sequence[int]]:
        """The conjunctions."""
        return self.rules

    @property
    def size(self) -> int:  # type: ignore[override]
        """Number of conjunctions."""
        return len(self.rules)

    def without_idle(self, said: Said, n_tests: int, count: Callable[[Self], Ints]) -> Self:
        """The same predictions, without idle rules."""
        *labels, otherwise = self.labels.tolist()
        kept = list(range(len(self.rules)))

        def may_change(known: tuple[int, ...], i: int, others: list[int]) -> bool:
            """Whether, of the rows that literals hold for, some get another label from others than rule i.

            One that says the same has to fail, by any literal; if that was looked at often, there may be.
            """
            for place, j in enumerate(others):
                if excludes(said(known), said(self.rules[j])):
                    continue
                if (j > i and labels[j] != labels[i]) or next(looks, None) is None:
                    return True
                fails = [(literal + n_tests) % (2 * n_tests) for literal in self.rules[j]]
                possible = [one for one in fails if not excludes(said(known), said((one,)))]
                return any(may_change((*known, one), i, others[place + 1 :]) for one in possible)
            return bool(otherwise != labels[i])

        for i in range(len(self.rules) - 1, -1, -1):
            looks = iter(range(_MOST_LOOKS))
            if not may_change(self.rules[i], i, [j for j in kept if j != i]):
                kept.remove(i)
        if len(kept) == len(self.rules):
            return self
        shorter = replace(self, rules=tuple(self.rules[i] for i in kept))
        return replace(shorter, counts=count(shorter))

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """First conjunction that is true."""
        cell = np.full(n_rows, len(self.rules))
        for i in range(len(self.rules) - 1, -1, -1):
            cell[conjunction(truth, self.rules[i], n_rows)] = i
        return cell


def excludes(some: dict[int, int], others: dict[int, int]) -> bool:
    """Whether two conjunctions cannot both be true, by what each says of a column."""
    apart = any(not values & others.get(column, -1) for column, values in some.items())
    return apart or not all(others.values())


def distinct(conjunctions: Iterable[Sequence[int]]) -> list[int]:
    """Literals that occur in some conjunction, in ascending order."""
    return sorted({literal for one in conjunctions for literal in one})


def conjunction(truth: Truth, literals: Sequence[int], n_rows: int) -> Booleans:
    """Rows for which all literals are true."""
    result = np.ones(n_rows, bool)
    for literal in literals:
        result &= truth[literal]
    return result


@dataclass(frozen=True)
class Rule:
    """A cell of a fitted formula in words: its condition, class, and training rows of each class."""

    condition: str
    prediction: Any
    counts: tuple[int, ...]
    right: int | None = None  # rows of that class; by default those of the most frequent one

    def __str__(self) -> str:
        return f"{self.condition}: {self.prediction} ({shares(self)})"


def shares(rule: Any) -> str:
    """Size of a cell, and how many of its rows are of the class that is predicted, in words."""
    size = sum(rule.counts)
    return f"{max(rule.counts) if rule.right is None else rule.right} of {size} rows" if size else "no rows"
