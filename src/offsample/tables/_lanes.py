"""Counts of many classes in the bits of a few integers, which an engine adds up and groups by."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from offsample._typing import Ints

_LANE_BITS = 62


def pack(totals: Ints) -> list[tuple[int, int]]:
    """Lane and shift of each class's count: several fit in the bits of one integer, exactly.

    With many classes an engine then adds up and groups by a few lanes instead of one column per class.
    """
    places, lane, used = [], 0, 0
    for total in totals:
        bits = int(total).bit_length()
        if used + bits > _LANE_BITS:
            lane, used = lane + 1, 0
        places.append((lane, used))
        used += bits
    return places


def lane_exprs(counts: Sequence[nw.Expr], places: Sequence[tuple[int, int]]) -> list[nw.Expr]:
    """Sums of the counts in their places, as columns "lane0", "lane1", …."""
    lanes: dict[int, nw.Expr] = {}
    for count, (lane, shift) in zip(counts, places, strict=True):
        part = count * (1 << shift)
        lanes[lane] = lanes[lane] + part if lane in lanes else part
    return [expr.alias(f"lane{lane}") for lane, expr in lanes.items()]


def unpack(lanes: Ints, places: Sequence[tuple[int, int]], totals: Ints) -> Ints:
    """Counts of the classes, a column each."""
    counts = [
        (lanes[:, lane] >> shift) & ((1 << int(total).bit_length()) - 1)
        for (lane, shift), total in zip(places, totals, strict=True)
    ]
    return np.column_stack(counts)
