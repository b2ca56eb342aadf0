"""The best-first loop of every learner that refines a partition: trees, lists, formulas, programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Protocol, Self, TypeVar

from offsample._deadline import time_is_up
from offsample._ties import DIGITS

__all__ = ["Cell", "grow"]

Measure = TypeVar("Measure")


class Cell(Protocol):
    """A cell of a partition that knows how it could best be refined."""

    def propose(self) -> float | None:
        """Gain of the best refinement, in units of the whole partition, or None if there is none."""

    def refine(self) -> Iterable[Self]:
        """Carry out the refinement that was proposed, and return the new cells that may be refined."""


def grow(
    root: Cell,
    measure: Callable[[], Measure],
    *,
    max_splits: int | None = None,
    min_gain: float = 0.0,
    rerank: bool = False,
    stop: Callable[[list[Measure]], bool] | None = None,
) -> list[Measure]:
    """Refine a partition greedily: always the cell with the largest gain, until none is worth it.

    The algorithm of Kearns & Mansour (1996) for trees, and of Nock & Nielsen (2004) for every class of
    formulas that partitions the domain. It knows nothing of features or labels. A cell proposes a refinement
    once, when it is new, so a step costs no more than its new cells. Of two cells with equal gain (to ten
    digits), the older is refined first, and of new ones the first that `refine` returned.

    Parameters
    ----------
    root : Cell
        What to refine first.
    measure : callable
        Called before the first and after every refinement; what it returns is recorded.
    max_splits : int, optional
        The largest number of refinements.
    min_gain : float
        The gain of a refinement must be larger than this. Differences below 1e-10 do not count.
    rerank : bool
        Whether all cells propose again before every step: for criteria whose gain in one cell depends on the
        others (the gain ratio, the distance of de Mantaras). A cell should then answer from a cache.
    stop : callable, optional
        Given the path so far, whether to end it here.

    Returns
    -------
    list
        The measurements: entry ``n`` belongs to the partition after n refinements.

    References
    ----------
    .. [1] M. Kearns, Y. Mansour (1996). On the boosting ability of top-down decision tree learning
       algorithms. STOC.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria: worst-case bounds for the
       worst-case based. Theoretical Computer Science 321.

    Examples
    --------
    Cut a stick into halves, the longest piece first:

    >>> from offsample.induction.top_down import grow
    >>> class Piece:
    ...     def __init__(self, length):
    ...         self.length = length
    ...         pieces.append(length)
    ...     def propose(self):
    ...         return self.length
    ...     def refine(self):
    ...         pieces.remove(self.length)
    ...         return [Piece(self.length * 0.6), Piece(self.length * 0.4)]
    >>> pieces = []
    >>> grow(Piece(1.0), lambda: [round(length, 2) for length in pieces], max_splits=2)
    [[1.0], [0.6, 0.4], [0.4, 0.36, 0.24]]
    """
    ages, path = count(), []
    waiting: list[tuple[float, int, Cell]] = []  # what each proposes, how old it is: a heap
    new: Iterable[Cell] = [root]
    while True:
        asked = [(next(ages), cell) for cell in new]
        if rerank:
            asked, waiting = [*((age, cell) for _, age, cell in waiting), *asked], []
        for age, cell in asked:  # one that cannot be refined now never can: its own rows do not change
            gain = cell.propose()
            if gain is not None:
                heappush(waiting, (-round(gain, DIGITS), age, cell))
        path.append(measure())
        is_end = (max_splits is not None and len(path) > max_splits) or (stop is not None and stop(path))
        if is_end or time_is_up() or not waiting or -waiting[0][0] <= min_gain:
            return path
        new = heappop(waiting)[2].refine()
