"""A small picture of each column: its values, the target along them, and the columns that go with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import nan
from typing import Any

import numpy as np
from scipy.special import stdtrit

from offsample._proportions import wilson
from offsample._text import amount, value_text
from offsample._ties import best_first
from offsample._typing import Floats, Ints
from offsample.report._encoded import FEWEST, RARE
from offsample.report._study import Study

_MOST_CELLS = 10  # values that are named, or ranges of numbers
_MOST_PAIRED = 40  # columns, the best first, that are compared with each other
_DAY = 86_400e6  # microseconds
_LEAST_TOLD, _N_TOLD = 0.2, 3  # association that is told, and with how many columns


@dataclass(frozen=True)
class PictureCell:
    """The rows with one value of a column, or in one range."""

    label: str
    n_rows: int
    rate: float | None  # share of the class that is followed, or mean of the target; None for too few rows
    low: float | None  # of its 95 % interval, rows taken as independent; None where they come in groups
    high: float | None


@dataclass(frozen=True)
class Picture:
    """What a column looks like in the rows that models are fitted to."""

    name: str
    cells: tuple[PictureCell, ...]
    goes_with: tuple[tuple[str, float], ...]  # other columns, and the association: 0 is none, 1 the same


def describe(study: Study, names: Sequence[Any]) -> tuple[Picture, ...]:
    """Picture some columns; of more than can be paired, associations are among the first."""
    pairs: dict[Any, list[tuple[str, float]]] = {name: [] for name in names}
    codes = {name: study.cells(name)[0] for name in names[:_MOST_PAIRED]}
    for one, other in combinations(codes, 2):
        found = association(codes[one], codes[other])
        if found >= _LEAST_TOLD:
            pairs[one].append((str(other), found))
            pairs[other].append((str(one), found))
    told = study.y if study.task == "regression" else study.labels == followed(study)
    return tuple(
        Picture(
            str(name),
            _cells(study, name, np.asarray(told, float)),
            tuple(pairs[name][i] for i in best_first([share for _, share in pairs[name]])[:_N_TOLD]),
        )
        for name in names
    )


def followed(study: Study) -> int:
    """The class whose share is shown: that of interest or, of many, the most frequent one."""
    return study.class_of_interest if study.is_named else int(study.class_counts.argmax())


def association(one: Ints, other: Ints) -> float:
    """Cramér's V of two columns of codes, from 0 to 1, corrected for chance (Bergsma 2013).

    >>> import numpy as np
    >>> codes = np.arange(300) % 3
    >>> association(codes, codes), association(codes, np.arange(300) // 3 % 2)
    (1.0, 0.0)
    """
    n, sizes = len(one), np.array([one.max(initial=0) + 1, other.max(initial=0) + 1])
    cells, counts = np.unique(one * sizes[1] + other, return_counts=True)  # of many, most are empty
    expected = np.bincount(one)[cells // sizes[1]] * (np.bincount(other)[cells % sizes[1]] / max(n, 1))
    excess = float((counts**2 / expected).sum() - n) / max(n, 1)
    excess = max(0.0, excess - float(np.prod(sizes - 1)) / max(n - 1, 1))
    most = float((sizes - (sizes - 1) ** 2 / max(n - 1, 1)).min()) - 1
    return min(1.0, float(np.sqrt(excess / most))) if most > 0 else 0.0


def _cells(study: Study, name: Any, told: Floats) -> tuple[PictureCell, ...]:
    column, known = study.encoded[name], study.encoded.known[name]
    missing = study.encoded.is_missing(name)
    values, codes = np.unique(column[~missing], return_inverse=True)
    code = np.full(len(column), -1)
    if known.kind == "numeric" and len(values) > _MOST_CELLS:
        ends = _ends(column[np.isfinite(column)], known.quantity)
        text = [value_text(end, known.quantity) for end in ends]
        labels = [f"to {text[0]}", *map(" to ".join, pairwise(text)), f"above {text[-1]}"]
        code[~missing] = np.searchsorted(ends, column[~missing])
    else:
        sizes = np.bincount(codes, minlength=len(values))
        shown = np.argsort(-sizes, kind="stable")[:_MOST_CELLS]
        shown = shown[(sizes[shown] >= FEWEST) | study.options.show_rows]
        if known.kind == "numeric":
            shown = np.sort(shown)
            labels = [value_text(float(values[i]), known.quantity) for i in shown]
        else:
            labels = [str(known.values[int(values[i])]) for i in shown]
        place = np.full(len(values) + 1, len(shown))
        place[shown] = np.arange(len(shown))
        labels.append(amount(len(values) - len(shown), "other value") if len(shown) else RARE)
        code[~missing] = place[codes]
    labels.append("missing")
    code[missing] = len(labels) - 1
    return tuple(_cell(label, told[code == i], study) for i, label in enumerate(labels) if (code == i).any())


def _ends(numbers: Floats, quantity: str) -> Floats:
    """Round numbers between ranges, or days: nobody's own number, unless most rows have it."""
    low, high = np.quantile(numbers, (0.02, 0.98)) if len(numbers) else (0.0, 0.0)
    if low == high:
        return np.array([low])
    size = 10.0 ** np.floor(np.log10((high - low) / _MOST_CELLS))
    step = next(
        size * times for times in (1, 2, 5, 10, 20) if (high - low) / (size * times) <= _MOST_CELLS - 1
    )
    ends = step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)
    return np.unique(ends - ends % _DAY) if quantity == "moment" and step > _DAY else ends


def _cell(label: str, told: Floats, study: Study) -> PictureCell:
    n, rate = len(told), float(told.mean())
    if n < FEWEST and not study.options.show_rows:
        return PictureCell(label, n, None, None, None)
    low, high = nan, nan
    if not study.units and study.task == "regression" and n > 1:
        radius = float(stdtrit(n - 1, 0.975) * told.std(ddof=1) / np.sqrt(n))
        low, high = rate - radius, rate + radius
    elif not study.units and study.task == "classification":
        low, high = wilson(rate, n, 1.96**2)
    return PictureCell(label, n, rate, low, high)
