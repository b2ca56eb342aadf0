"""What several classes of formulas keep of a partition when the rows are gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from offsample._typing import Floats, Ints
from offsample.induction.rules.partition import Model, Truth, conjunction


@dataclass(frozen=True, eq=False)
class FirstTrue:
    """Conjunctions in order, and the counts of the rows whose first true one each is; last those of none."""

    rules: tuple[tuple[int, ...], ...]
    counts: Ints

    @property
    def labels(self) -> Ints:
        """Majority of each cell."""
        return np.asarray(self.counts.argmax(axis=1))

    @property
    def size(self) -> int:
        """Number of conjunctions."""
        return len(self.rules)

    def without_idle(self) -> Self:
        """The same predictions without the last rules that predict what is predicted without them."""
        labels = self.labels
        n_kept = self.size
        while n_kept and labels[n_kept - 1] == labels[-1]:
            n_kept -= 1
        rest = self.counts[n_kept:].sum(axis=0, keepdims=True)
        return replace(self, rules=self.rules[:n_kept], counts=np.concatenate([self.counts[:n_kept], rest]))

    @property
    def literals(self) -> Sequence[int]:
        """Literals of all conjunctions."""
        return sorted({literal for rule in self.rules for literal in rule})

    def cells(self, truth: Truth, n_rows: int) -> Ints:
        """First conjunction that is true."""
        cell = np.full(n_rows, len(self.rules))
        for i in range(len(self.rules) - 1, -1, -1):
            cell[conjunction(truth, self.rules[i], n_rows)] = i
        return cell


def cell_probabilities(model: Model, n_classes: int) -> Floats:
    """Class frequencies of the cells of a model, with half a row of every class added."""
    if n_classes == 1:
        return np.ones((len(model.counts), 1))
    counts, labels = model.counts.astype(float), model.labels
    value = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 0.5 * counts.shape[1])
    # The predicted class is the likeliest: where another is more frequent, the two share.
    cells = np.arange(len(counts))
    other = value.argmax(axis=1)
    mean = (value[cells, labels] + value[cells, other]) / 2
    flip = other != labels
    value[cells[flip], labels[flip]] = mean[flip] + 1e-9
    value[cells[flip], other[flip]] = mean[flip] - 1e-9
    return np.asarray(value[:, :n_classes])
