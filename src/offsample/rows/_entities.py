"""Suspected entities: columns whose values are patients, customers or shops to which the rows belong."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._typing import Ints
from offsample.counts import CellCounts, GroupedCounts
from offsample.criteria import ginger
from offsample.rows._alikeness import NEIGHBOURS, merged_alikeness, paired, ranked_alikeness
from offsample.rows._columns import (
    FEWEST_ALONE,
    FEWEST_ROWS,
    Columns,
    cells_of,
    checked,
    codes_of,
    is_numeric,
    is_whole,
    may_be_number,
    ranks_of,
)

LEVEL = 0.01
FEWEST_GROUPS = 10
# Rows of one value differ at most half as much as rows of neighbouring values do.
CARRIED = 0.5
# A column with fewer values does not carry the class alone, nor beside one other, and is no number of
# customers (`FEWEST_ALONE`); whole numbers with gaps are quantities if there are fewer than this.
FEWEST_SPARSE = 100
# So much of a column's variety may another explain; then the two do not count twice.
UNRELATED = 0.25
# The class counts from here on where two columns are carried as well; less harm than this is no question.
CLASS_TOO, HARM = 0.2, 0.01
_MOST_ROWS, _MOST_ASKED, _MOST_OTHERS, _MOST_PAIRED = 10_000, 40, 40, 6
# Values of a panel are asked about if there are more than months; their numbers of rows vary by less than so
# many times what they would if rows came at random.
_FEWEST_ALIKE, _ALIKE = 13, 0.5
_SAME = 0.9


class Carried(NamedTuple):
    """A column in which rows of one value of another are alike; the class has no name."""

    name: str | None
    alikeness: float
    p_value: float  # times the number of questions asked


@dataclass(frozen=True)
class Entity:
    """A column, or a pair, to whose values the rows seem to belong."""

    names: tuple[str, ...]
    n_groups: int
    rows_per_group: float
    # Estimated probability that the value of a new row has not been seen, if rows come as these did. Where
    # it is small the same values may all come again, as cities do: then it is an honest feature.
    missing_mass: float
    # What rows of a group have in common, unrelated to each other; the class last.
    carried: tuple[Carried, ...]
    # Columns of which no group has a value twice, as a person is seen once in a year.
    crossed: tuple[str, ...]
    class_alikeness: float
    p_value: float  # the largest of what is carried, or that of what is crossed
    error_known: float  # estimated error of the best column (Gini rule) on new rows of the same groups
    error_new: float  # the same on rows of new groups

    @property
    def harm(self) -> float:
        """How much larger the error is where a new row is one of a new group."""
        return self.error_new - self.error_known


def suspect_entities(columns: Columns, y: ArrayLike) -> tuple[Entity, ...]:
    """Find columns to whose values the rows seem to belong, as visits belong to patients.

    A column is asked about if it has ten categories or thirty numbers or more, with two rows or more each on
    average; and so is each pair of the six columns that have the most values, unless one of them is suspected
    alone. Quantities (fractions, or fewer than a hundred whole numbers with gaps) are asked about last, and
    only while nothing else is suspected. A column *carries* another if rows of one value are far more alike
    in it (`alikeness`) than rows are whose values lie side by side: merged four by four, the values leave at
    least twice the disagreement, so that quantities such as an age carry nothing. With a pair, either of its
    columns alone must leave twice as much too. And below thirty values no column that it does not carry says
    half as much of it: where all columns say something of each other, a mushroom's colour is no entity.

    It is suspected if it carries two columns that have nothing to do with each other (neither explains a
    quarter of the variety of the other): a person has a sex, a birthday and a region, while a city has a
    region only. The class is one of them from an alikeness of 0.5 on, or of 0.2 beside two others, if that of
    neighbours, and that by any other carried column, is at most half as large; below thirty values two more
    are needed: a city with its region says something of the class too, and will come again. A column of
    thirty categories or more, or of whole numbers with few gaps, may carry the class alone. And a column is
    suspected if it *crosses* another: if no value of the other occurs in it twice, as each person is seen
    once in a year, though by chance some would. Each has a p-value of at most 0.01, multiplied by the number
    of questions. And there must be harm, unless a column carries the class beside two others: the error on
    new values is larger by 0.01, and by two standard errors of an error, or more.

    Forty columns at most are asked about, of forty others, on about 10,000 rows: of groups drawn at random.

    Nothing is decided: an entity has the estimated error on its known values beside that on new ones.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers, with NaN where missing.
    y : array-like of int, shape (n_rows,)
        Class codes.

    Returns
    -------
    tuple of Entity
        Those that carry the most first.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import suspect_entities
    >>> random = np.random.default_rng(0)
    >>> person = np.repeat(np.arange(50), 8)
    >>> sex, town, sick = random.integers(0, [[2], [5], [2]], (3, 50))
    >>> columns = {"nr": person.astype(float), "sex": sex[person], "town": town[person]}
    >>> columns["hour"] = random.integers(0, 24, 400)
    >>> (entity,) = suspect_entities(columns, sick[person])
    >>> entity.names, entity.n_groups, [one.name for one in entity.carried]
    (('nr',), 50, ['sex', 'town', None])
    >>> entity.error_known, round(entity.error_new, 2)
    (0.0, 0.5)
    """
    arrays, label = checked(columns, y)
    ranks = {name: ranks_of(column) if is_numeric(column) else column for name, column in arrays.items()}
    codes = {name: codes_of(column) for name, column in arrays.items()}
    n_values = {name: int(code.max(initial=-1)) + 1 for name, code in codes.items()}
    asked, quantities, alone = _asked(arrays, n_values)
    others = list(arrays)[:: 1 + len(arrays) // _MOST_OTHERS]
    found = list[Entity]()
    for names in asked:
        group = codes[names[0]] if len(names) == 1 else codes_of(paired(*(codes[name] for name in names)))
        known = any({*names} & {*entity.names} for entity in found)
        if known or (found and quantities & {*names}) or not _repeat(int(group.max()) + 1, len(label)):
            continue
        kept, few = _some_groups(group), int(group.max()) + 1 < FEWEST_ALONE
        if any(_belongs(ranks[names[-1]][kept], group[kept], codes[one.names[0]][kept]) for one in found):
            continue
        rest = {name: ranks[name][kept] for name in others if name not in names}
        by_one = [codes_of(codes[name][kept]) for name in names]
        question = _Question(codes_of(group[kept]), by_one, len(asked) * len(others))
        carried, of_class = question.carried(rest, label[kept])
        crossed = question.crossed({name: codes[name][kept] for name in rest}) if len(names) == 1 else {}
        p_value = min(crossed.values(), default=1.0)
        class_too = any(one.name is None for one in carried) and len(names) == 1
        alone_too = class_too and len(carried) == 1 and names[0] in alone
        if len(carried) - (class_too and few) > 1 or alone_too:
            p_value = min(p_value, max(one.p_value for one in carried))
        if p_value <= LEVEL:
            told = {"names": names, "carried": carried, "crossed": tuple(crossed)}
            entity = _entity(arrays, label, group, **told, class_alikeness=of_class, p_value=p_value)
            least = max(HARM, 2 * np.sqrt(entity.error_new * (1 - entity.error_new) / len(label)))
            found += [entity] if (class_too and len(carried) > 2) or entity.harm >= least else []
    return tuple(sorted(found, key=lambda entity: -len(entity.carried)))


def possible_entities(columns: Columns, y: ArrayLike, names: Collection[str]) -> tuple[Entity, ...]:
    """Return those columns whose values may be entities by their number, and say something of the class.

    These are columns of thirty categories or more, or of whole numbers with few gaps, with two rows or more
    each on average; of thirteen or more if all have about as many rows, as in a panel. Their `alikeness` in
    the class has a p-value of at most 0.01, multiplied by their number; it is at most half as large if four
    neighbours are merged, each counting for a quarter whatever its rows, unlike that of an age. Nothing else
    is asked: how much worse it is on rows of new values, a model can tell. The most alike come first.
    """
    arrays, label = checked(columns, y)
    found = list[Entity]()
    for name in names:
        group = codes_of(arrays[name])
        n_values = int(group.max(initial=-1)) + 1
        fewest = _FEWEST_ALIKE if are_alike(group) else FEWEST_ALONE
        if may_be_number(arrays[name], n_values, fewest) and _repeat(n_values, len(label)):
            of_class, p_value = ranked_alikeness(group, label)
            side = merged_alikeness(group, label, of_class)
            told = {"names": (name,), "carried": (), "crossed": (), "class_alikeness": of_class}
            if len(names) * p_value <= LEVEL and side <= of_class / 2:
                found.append(_entity(arrays, label, group, **told, p_value=len(names) * p_value))
    return tuple(sorted(found, key=lambda entity: -entity.class_alikeness))


def _asked(
    arrays: dict[str, NDArray[Any]], n_values: dict[str, int]
) -> tuple[list[tuple[str, ...]], set[str], set[str]]:
    """Columns and pairs to ask about; quantities, to be asked last; and what may carry the class alone."""
    most = sorted((name for name in arrays if n_values[name] > 1), key=lambda name: -n_values[name])
    numbers = {name for name in most if is_numeric(arrays[name])}
    alone = {name for name in most if may_be_number(arrays[name], n_values[name])}
    whole = [name for name in most if n_values[name] >= FEWEST_GROUPS and is_whole(arrays[name])]
    quantities = numbers - alone - {name for name in whole if n_values[name] >= FEWEST_SPARSE}
    many = [name for name in most if name not in numbers or n_values[name] >= FEWEST_ALONE]
    many = [name for name in many if _repeat(n_values[name], len(arrays[name]))]
    many.sort(key=quantities.__contains__)
    pairs = combinations(whole[:_MOST_PAIRED], 2)
    return [*((name,) for name in many[:_MOST_ASKED]), *pairs], quantities, alone


@dataclass(frozen=True)
class _Question:
    """Rows of some groups, of one column or a pair, and what must be much less alike: coarser groups."""

    group: Ints
    columns: list[Ints]
    n_questions: int

    def carried(self, columns: dict[str, NDArray[Any]], label: Ints) -> tuple[tuple[Carried, ...], float]:
        """What the groups carry, each unrelated to those before, and how alike the classes are in them."""
        told = [(*self._ask(name, column), column) for name, column in columns.items()]
        told = [(one, one.alikeness - side >= CARRIED * (1 - side), column) for one, side, column in told]
        few = int(self.group.max()) + 1 < FEWEST_ALONE
        varying = [cells_of(column) for _, is_carried, column in told if few and not is_carried]
        carried, cells = list[Carried](), list[Ints]()
        for one, is_carried, column in sorted(told, key=lambda answer: -answer[0].alikeness):
            if is_carried and all(_unrelated(cell, column) for cell in cells):
                if any(ranked_alikeness(cell, column)[0] > one.alikeness / 2 for cell in varying):
                    continue  # it goes with what varies within groups: it is not theirs
                carried.append(one)
                cells.append(cells_of(column))
        of_class, side = self._ask(None, label, CLASS_TOO)
        side = max([side, *(ranked_alikeness(cell, label)[0] for cell in cells)])  # which is theirs
        is_more = side <= of_class.alikeness / 2 and all(_unrelated(cell, label) for cell in cells)
        if is_more and of_class.alikeness >= (CLASS_TOO if len(carried) > 1 else CARRIED):
            carried.append(of_class)
        return tuple(carried), of_class.alikeness

    def crossed(self, columns: dict[str, Ints]) -> dict[str, float]:
        """Columns of which no group has a value twice, though by chance some would, and their p-values."""
        told = {name: self.n_questions * _never_repeats(self.group, code) for name, code in columns.items()}
        return {name: p_value for name, p_value in told.items() if p_value <= LEVEL}

    def _ask(self, name: str | None, column: NDArray[Any], least: float = CARRIED) -> tuple[Carried, float]:
        """How alike rows of a group are, and at most in coarser groups; 1 where it is too little anyway."""
        alike, p_value = ranked_alikeness(self.group, column)
        one = Carried(name, alike, min(1.0, p_value * self.n_questions))
        if alike < least or one.p_value > LEVEL:
            return one, 1.0
        coarser = [self.group // NEIGHBOURS]
        if len(self.columns) > 1:
            pairs = (codes_of(paired(*order)) for order in (self.columns, self.columns[::-1]))
            coarser = [*self.columns, *(pair // NEIGHBOURS for pair in pairs)]
        return one, max(0.0, *(ranked_alikeness(coarse, column)[0] for coarse in coarser))


def _repeat(n_values: int, n_rows: int) -> bool:
    return n_values >= FEWEST_GROUPS and n_rows >= FEWEST_ROWS * n_values


def are_alike(group: Ints) -> bool:
    """Whether groups have more equal numbers of rows than if rows came at random, as in a panel."""
    n_rows = np.bincount(group)
    return bool(n_rows.var() < _ALIKE * n_rows.mean())


def _never_repeats(group: Ints, code: Ints) -> float:
    """Probability that no group has a value twice if groups and values are independent; 1 if one has."""
    size, times = np.bincount(group), np.bincount(code)
    if size.max() > np.count_nonzero(times) or len(np.unique(paired(group, code))) < len(group):
        return 1.0
    pairs, equal = (float((n * (n - 1.0)).sum()) / 2 for n in (size, times))
    return float(np.exp(-pairs * equal / (len(group) * (len(group) - 1.0) / 2)))


def _belongs(values: NDArray[Any], group: Ints, known: Ints) -> bool:
    """Whether these are the groups that are known already, or a quantity that belongs to each of them."""
    alike = ranked_alikeness(known, values)[0]
    return alike >= _SAME and (is_numeric(values) or ranked_alikeness(group, known)[0] >= _SAME)


def _unrelated(cell: Ints, column: NDArray[Any]) -> bool:
    return max(ranked_alikeness(cell, column)[0], ranked_alikeness(cells_of(column), cell)[0]) < UNRELATED


def _some_groups(group: Ints) -> Ints:
    """Rows of groups drawn at random, as many as are needed for an answer; about a tenth of one group."""
    if len(group) <= _MOST_ROWS:
        return np.arange(len(group))
    random, size = np.random.default_rng(0), np.bincount(group)
    kept = np.minimum(size, _MOST_ROWS / FEWEST_GROUPS)
    order = random.permutation(len(size))
    share = kept / np.maximum(size, 1)  # of its rows that are kept, none if enough were drawn before
    share[order[np.cumsum(kept[order]) > _MOST_ROWS]] = 0.0
    return np.flatnonzero(random.random(len(group)) < share[group])


def _entity(arrays: dict[str, NDArray[Any]], label: Ints, group: Ints, **told: Any) -> Entity:
    """What is known of an entity, with its errors."""
    n_classes, n_groups = int(label.max()) + 1, int(group.max()) + 1
    cells = [group, *(cells_of(column) for column in arrays.values())]
    known = [CellCounts.from_codes(cell, label, n_classes=n_classes) for cell in cells]
    new = [GroupedCounts.from_rows(cell, label, group, n_classes) for cell in cells]
    return Entity(
        n_groups=n_groups,
        rows_per_group=len(label) / n_groups,
        missing_mass=known[0].missing_mass(),
        error_known=min(map(ginger, known)),
        error_new=min(map(ginger, new)),
        **told,
    )
