"""Lines in the nodes of a tree of numbers, each of the column by which the rows left out are closest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints

# A line of fewer rows is decided by one of them.
FEWEST_ROWS = 8


class Line(NamedTuple):
    """``slope * (x - center)``, to be added to a mean; x is held between the ends that were seen."""

    column: int
    center: float
    slope: float
    squares: float  # of the distances to the centre
    low: float
    high: float


def best_line(X: Floats, y: Floats, columns: Ints) -> Line | None:
    """Line of the column with the least squared error on left-out rows; None if the mean is as good.

    Rows are left out in closed form: with h the row's place in the diagonal of the hat matrix, its error is
    ``e / (1 - h)``. A missing number says nothing: it counts as the mean. Of p columns of noise, the best
    saves the squares of ``2 ln p`` rows by chance: a line has to save more.
    """
    n, p = X.shape
    if n < FEWEST_ROWS or not p:
        return None
    known = np.isfinite(X)
    center = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    distance = np.where(known, X - center, 0.0)
    squares, off = (distance**2).sum(axis=0), y - y.mean()
    usable = np.flatnonzero(squares > 1e-20 * np.maximum(center**2, 1e-200) * n)
    if not len(usable):
        return None
    distance, squares = distance[:, usable], squares[usable]
    slope = off @ distance / squares
    free = 1 - 1 / n - distance**2 / squares
    left_out = (off[:, None] - distance * slope) / np.maximum(free, 1e-9)
    errors, of_mean = (left_out**2).sum(axis=0), float(((off / (1 - 1 / n)) ** 2).sum())
    best = int(np.argmin(rounded(errors, max(of_mean, 1e-300))))
    if not errors[best] * (1 + 2 * np.log(p) / n) < of_mean:
        return None
    j = int(usable[best])
    seen = X[known[:, j], j]
    ends = float(seen.min()), float(seen.max())
    return Line(int(columns[j]), float(center[j]), float(slope[best]), float(squares[best]), *ends)


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of the nodes of a tree; a slope of 0 where there is none."""

    of_node: NDArray[Any]  # a record for each, with the fields of `Line`
    source: Ints  # node whose mean and line a node predicts by: its own, or those above it if it has few rows

    @classmethod
    def of_tree(cls, grower: Any, n_splits: int, rows: NDArray[np.int32], X: Floats, y: Floats) -> Lines:
        """Fit the nodes of the first splits to the rows that come to them; X has all columns."""
        nodes, columns = [(0, rows)], grower.columns.numeric
        source = np.arange(grower.n_nodes)
        for places, node in grower.routed(n_splits, rows):
            children = np.unique(node[places]).tolist()
            nodes += [(child, rows[places[node[places] == child]]) for child in children]
        fields = [(name, np.int64 if name == "column" else np.float64) for name in Line._fields]
        found = np.zeros(grower.n_nodes, fields)
        above = grower.parents()
        for at, those in nodes:
            if len(those) < FEWEST_ROWS and at:
                source[at] = source[above[at]]
            elif (line := best_line(X[np.ix_(those, columns)], y[those], columns)) is not None:
                found[at] = line
        return cls(found, source)

    def in_units(self, unit: float) -> Lines:
        """The same of a target in other units, each node with the line that it predicts by."""
        lines = self.of_node.copy()
        lines["slope"] *= unit
        return Lines(lines[self.source], np.arange(len(lines)))

    @property
    def there(self) -> Booleans:
        """Nodes that have a line."""
        return np.asarray(self.of_node["slope"] != 0)

    def distance(self, node: Ints, values: Floats) -> Floats:
        """How far each row is from the centre of its node; `values` has all columns."""
        line = self.of_node[self.source[node]]
        x = np.clip(values[np.arange(len(node)), line["column"]], line["low"], line["high"])
        return np.where(np.isnan(x) | (line["slope"] == 0), 0.0, x - line["center"])

    def terms(self, node: Ints, values: Floats) -> Floats:
        """What the line of its node adds to the mean, for each row."""
        return np.asarray(self.of_node[self.source[node]]["slope"] * self.distance(node, values))

    def left_out(self, node: Ints, sizes: Any, off: Floats, values: Floats) -> Floats:
        """Error of each row by the line of its node that has not seen it, given distances to the mean.

        A mean that is drawn toward another is taken to move with the row as one that is not.
        """
        distance, line = self.distance(node, values), self.of_node[self.source[node]]
        leverage = distance**2 / np.where(line["squares"] > 0, line["squares"], 1.0)
        free = 1 - 1 / np.maximum(sizes, 1.5) - leverage
        return np.asarray((off - line["slope"] * distance) / np.maximum(free, 1e-9))

    def means(self, value: Floats) -> Floats:
        """Mean that each node predicts by, given those of all."""
        return np.asarray(value[self.source[: len(value)]])

    def text(self, node: int, names: list[Any]) -> str:
        """The line of a node in words, after its mean; empty if there is none."""
        line = self.of_node[node]
        if line["slope"] == 0:
            return ""
        signs = ["+" if number > 0 else "-" for number in (line["slope"], -line["center"])]
        slope, center = (f"{abs(line[name]):.4g}" for name in ("slope", "center"))
        return f" {signs[0]} {slope} ({names[line['column']]} {signs[1]} {center})"
