"""A leaf of a growing stochastic tree, and the test that splits it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Floats
from offsample.induction.oblique.moments import Moments

# Two tests whose product is the target have no gain one by one: nothing is lost if they are steeper.
_PAIR_RESCALE = 0.3


@dataclass(frozen=True, eq=False)
class Cell:
    """A leaf: a distribution over all rows."""

    node: int
    depth: int
    mass: NDArray[Any]  # part of each row that reaches the leaf
    masses: Floats  # sum of `mass` over the rows of each class
    sums: Floats  # sum of ``mass * x`` over the rows of each class, of shape (K, d)
    partner: Floats | None = None  # second direction, where the test of the parent is the first of a pair

    @cached_property
    def total(self) -> float:
        """Part of the sample that reaches the leaf."""
        return float(self.masses.sum())

    @cached_property
    def moments(self) -> Moments:
        """Moments of the normalised distribution."""
        return Moments.from_sums(self.masses, self.sums)

    def steepness(self, scores: Floats, rescale: float, prior_mass: Floats) -> float:
        """Return the factor that `rescale` gives to a unit vector with these products w·x."""
        if rescale == 0:
            return 1.0
        if np.isinf(rescale):
            # A row that was certain of the other child is here by rounding alone.
            here = self.mass > 1e-9 * prior_mass
            largest = float(np.abs(scores[here]).max(initial=0.0))
            return 1 / largest if largest > 0 else 1.0
        square = float(self.mass @ scores**2) / self.total
        return 1 / (rescale * np.sqrt(square)) if square > 0 else 1.0


class Pair(NamedTuple):
    """The second of two directions whose product the target follows, and how it follows each class."""

    partner: Floats
    by_class: Floats


class Split(NamedTuple):
    """A test of a leaf."""

    weights: Floats  # a row goes to the first child with probability ``clip((1 + w·x) / 2, 0, 1)``
    steepness: float  # norm of the weights, 1 unless they were rescaled
    gain: float  # decrease of the index, in units of the whole sample
    in_pair: bool = False  # whether the test is one of a pair, the first or the second
    # The other direction, if the test is the first of a pair: one from second moments.
    pair: Pair | None = None


class Step(NamedTuple):
    """A split that is carried out: the leaf, its test, the products w·x, and the node of the first child."""

    cell: Cell
    split: Split
    scores: Floats
    first_child: int


def rescale_of_pairs(rescale: float) -> float:
    """Return the `rescale` of the two tests of a pair."""
    return min(rescale, _PAIR_RESCALE) if np.isfinite(rescale) else rescale
