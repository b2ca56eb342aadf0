"""Estimates of the output of a tree for rows that it has not seen."""

from __future__ import annotations

from typing import Protocol

from offsample._typing import Floats
from offsample.induction.oblique.cell import Step


class OffSample(Protocol):
    """Follows a growing tree, and estimates its output for each row without that row."""

    is_held_out: bool  # whether outputs are of trees without the row; else its part is removed to first order

    def start(self) -> None:
        """Begin with a tree of one leaf."""

    def refine(self, step: Step) -> float:
        """Carry out a split, and return the part of its gain that is optimism."""

    def output(self, trained: Floats) -> Floats:
        """Return the outputs for all rows, given those of the tree that has seen them, as a new array.

        There is a column for each class, or only for the second of two.
        """
