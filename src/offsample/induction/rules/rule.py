"""A cell of a formula, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rule:
    """A cell of a fitted formula, in words.

    Attributes
    ----------
    condition : str
    prediction : object
        Class.
    counts : tuple of int
        Training rows of each class.
    """

    condition: str
    prediction: Any
    counts: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.condition}: {self.prediction} ({shares(self.counts)})"


def shares(counts: Sequence[int]) -> str:
    """Size of a cell, and how pure it is, in words."""
    size = sum(counts)
    return f"{max(counts)} of {size} rows" if size else "no rows"
