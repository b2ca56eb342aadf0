"""Repeated rows: how many there are, and whether they are copies."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import bdtrc, pdtrc

from offsample._counting import row_hash
from offsample._typing import Booleans, Floats, Ints, Words
from offsample.rows._alikeness import alikeness
from offsample.rows._columns import (
    FEWEST_ROWS,
    Columns,
    checked,
    codes_of,
    is_numeric,
    is_whole,
    may_be_number,
    ranks_of,
)

# Dependent columns make repeats more frequent than independent halves would; by this factor, we allow.
DEPENDENCE = 10.0
# Of rows that agree in one half of the columns, up to this share may agree in the other by nature.
BY_NATURE = 0.7
# The same where the half is a key, beyond those that lie side by side in it: it has numbers, four tenths of
# the rows differ in it, and of the sets of rows that agree in it four fifths agree in all.
BY_NATURE_OF_KEYS, DIFFERENT, AGREEING = 0.3, 0.4, 0.8
# Copies of which some have another class are at least so much more alike in it than any rows.
CLASSES_ALIKE = 1 / 3
LEVEL = 0.01
# One column determines another if rows that agree in it differ at most half as often in the other.
_DETERMINES = 0.5
# A column of numbers follows another, as a price in two currencies does, from this correlation of ranks on.
_FOLLOWS = 0.9
# A half with less than this share of the other's variety says little.
_LIGHTEST = 0.25
_MOST_ROWS, _MOST_PAIRS, _FEWEST_PAIRS = 4000, 500, 10
# Columns of which two must agree for a third to be asked about; in most such rows it differs if it is apart.
_MOST_ANCHORS, _MOSTLY = 5, 0.5
# So many of the sets of equal rows are told apart by what names them.
_NAMED = 0.9
# With fewer distinct rows, that all occur an even number of times may be chance.
_FEWEST_DISTINCT = 10


@dataclass(frozen=True, eq=False)
class Repeats:
    """What is known of the rows that equal an earlier one."""

    n_rows: int
    n_duplicates: int  # rows that equal an earlier row in all columns and in class
    n_conflicting: int  # rows whose columns equal those of an earlier row, but of none with the same class
    # Most duplicates that independent draws would be expected to show, dependence allowed for; NaN where
    # the columns have no two halves.
    n_expected: float
    times: int  # each distinct row occurs a multiple of so many times
    p_value: float  # probability of so many repeats if rows are independent draws
    group: Ints  # rows that are equal in all columns have the same code
    n_copies: int = 0  # rows that equal an earlier one but for the columns `apart_from`
    # Columns in which copies differ, such as a row's number, when it was written, or what was measured again.
    apart_from: tuple[str, ...] = ()
    # Whether more rows than by nature equal another in all but the class, and they are no copies.
    are_conflicts: bool = False

    @property
    def are_copies(self) -> bool:
        """Whether there are significantly more repeats than independent draws would give."""
        return self.p_value <= LEVEL


def find_repeats(columns: Columns, y: ArrayLike, times: Collection[str] = ()) -> Repeats:
    """Count the rows that equal an earlier one, and test whether they are copies.

    In a table of few-valued columns repeats are natural. They are called copies if independent draws would
    not show them, by two tests at once. Both take the columns, the class among them, in two halves of about
    equal variety, A and B; columns that determine each other, such as a price in two currencies, are in the
    same half; and those of which one determines the other, unless nearly all columns hang together so.

    1. Two rows are equal with probability ``P_A P_B`` where the halves are independent, P_A being the share
       of the pairs of rows that agree in A. There are more duplicates than a Poisson law allows
       whose mean is ten times the number of pairs that this gives: so much dependence may be natural.
    2. Among the rows that agree in one half, more than 70 % agree in the other too (each set of such rows
       counts once; binomial test). So it must be with either half: what determines the other one can be a
       product's number, but both ways it is a copy.

    Continuous columns that repeat together are decisive by themselves. A half is a *key* if it has a column
    of numbers, at least four tenths of the rows differ in it, and of the sets of rows that agree in it four
    fifths agree in the other half too. By nature as many would as of the distinct rows that lie side by side
    by the numbers, and 30 % of the rest (binomial test).

    If they are no copies so, columns are set aside in which copies differ, and the others are asked: times;
    categories and whole numbers that all differ, such as a row's number; and numbers that differ in four
    tenths of the rows, and in most rows that agree in two other columns of numbers, such as one that was
    measured again. Rows are copies then if two columns of numbers that differ in four tenths of the distinct
    rows repeat together, of twice as many as were set aside; or if none was, and all occur so many times.

    And where rows are equal but for the class, the same is asked without it. They are copies, some in another
    class, if two columns of numbers repeat together and their classes are alike (`alikeness` of a third or
    more); else they may be rows of one product, and are conflicts. Neither is said where a category, or whole
    numbers with few gaps, names the equal rows, two or more each on average: rows of its values belong
    together, which is another question.

    The p-value is the larger of the two tests, or that of a key; copies are called at 0.01. Rows that have
    all been written twice are found in any table: if each distinct row occurs a multiple of k > 1 times, and
    there are ten or more, chance would make all of these numbers even with probability ``2^-n_distinct``.

    Parameters
    ----------
    columns : mapping of str to array-like of shape (n_rows,)
        Integers are codes of categories, floats are numbers; NaN equals NaN.
    y : array-like of int, shape (n_rows,)
        Class codes.
    times : collection of str
        Columns that say when a row was written.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.rows import find_repeats
    >>> random = np.random.default_rng(0)
    >>> x, z, y = random.normal(size=100), random.normal(size=100), random.integers(0, 2, 100)
    >>> twice = np.append(np.arange(100), np.arange(20))
    >>> repeats = find_repeats({"x": x[twice], "z": z[twice]}, y[twice])
    >>> repeats.n_duplicates, repeats.are_copies
    (20, True)
    """
    arrays, label = checked(columns, y)
    whole = _find(arrays, label)
    if whole.are_copies:
        return whole
    apart, measured = _set_apart(arrays, times)
    conflicts = whole
    for names in ((), (*apart, *measured))[: 1 + bool(apart or measured)]:
        gone = set(names)
        rest = {name: column for name, column in arrays.items() if name not in gone}
        found = _find(rest, label) if names else whole
        told: dict[str, Any] = {
            "n_duplicates": whole.n_duplicates,
            "n_conflicting": whole.n_conflicting,
            "apart_from": names,
        }
        if not rest or not found.n_copies + found.n_conflicting or _are_named(rest, found.group):
            continue
        fewest = 2 * len(measured) if names else 0
        repeat = _are_continuous(max(2, fewest), rest, found.group)
        if found.are_copies and (repeat or (found.times > 1 and not fewest)):
            return replace(found, **told)
        again = _find(rest, np.zeros_like(label)) if found.n_conflicting and repeat else whole
        if again.are_copies:  # written again, some in another class
            told |= {"n_expected": again.n_expected}
            if alikeness(again.group, label)[0] >= CLASSES_ALIKE:
                return replace(found, p_value=again.p_value, **told)
            conflicts = conflicts if names else replace(whole, are_conflicts=True, **told)
    return conflicts


def _set_apart(arrays: dict[str, NDArray[Any]], times: Collection[str]) -> tuple[list[str], list[str]]:
    """Columns in which copies differ: times and what names each row; numbers that were measured again."""
    n_values = {name: len(np.unique(column)) for name, column in arrays.items()}
    names = [name for name in arrays if name in times or _names_rows(arrays[name], n_values[name])]
    numbers = {name: _words(one) for name, one in arrays.items() if is_numeric(one) and name not in names}
    likely = [name for name in numbers if n_values[name] >= DIFFERENT * len(numbers[name])]
    repeating = [name for name in numbers if n_values[name] < len(numbers[name])]
    repeating = sorted(repeating, key=lambda name: -n_values[name])[:_MOST_ANCHORS]
    measured = likely
    for pair in combinations(repeating, 2) if likely else ():
        code = row_hash([numbers[name] for name in pair], len(numbers[pair[0]]))
        order = np.argsort(code, kind="stable")
        first = np.flatnonzero(code[order[1:]] == code[order[:-1]])
        one, other = order[first], order[first + 1]
        if len(first) >= _FEWEST_PAIRS:
            differ = (name for name in likely if name not in pair)
            differing = [n for n in differ if (numbers[n][one] != numbers[n][other]).mean() > _MOSTLY]
            measured = min(measured, differing, key=len)
    return names, measured


def _names_rows(column: NDArray[Any], n_values: int) -> bool:
    """Whether no two rows share a value, and it is none that was measured: a category or a whole number."""
    return n_values == len(column) and is_whole(column)


def _are_named(arrays: dict[str, NDArray[Any]], group: Ints) -> bool:
    """Whether a category, or whole numbers with few gaps, tells nearly all sets of equal rows apart."""
    n_groups = int(group.max(initial=-1)) + 1
    if len(group) < FEWEST_ROWS * n_groups:
        return False
    n_values = ((column, len(np.unique(column))) for column in arrays.values())
    return any(n >= _NAMED * n_groups and may_be_number(column, n, 2) for column, n in n_values)


def _are_continuous(fewest: int, arrays: dict[str, NDArray[Any]], group: Ints) -> bool:
    """Whether so many columns of numbers differ in most rows that differ at all, and follow no other such."""
    first, kept = np.unique(group, return_index=True)[1], list[Floats]()
    for column in arrays.values():
        if is_numeric(column) and len(np.unique(column)) >= DIFFERENT * len(first):
            rank = np.nan_to_num(ranks_of(column[first]))
            if all(abs(np.corrcoef(rank, other)[0, 1]) < _FOLLOWS for other in kept):
                kept.append(rank)
        if len(kept) >= fewest:
            return True
    return False


def _find(arrays: dict[str, NDArray[Any]], label: Ints) -> Repeats:
    """Find repeats in the columns as they are."""
    n_rows = len(label)
    words = [_words(column) for column in (*arrays.values(), label)]
    group = _equal_rows(words[:-1], n_rows)
    n_features = int(group.max(initial=-1)) + 1
    row = _equal_rows(words, n_rows)
    times = np.bincount(row)
    n_distinct, first = len(times), np.zeros(len(times), np.intp)
    first[row[::-1]] = np.arange(n_rows)[::-1]
    answer: dict[str, Any] = {
        "n_rows": n_rows,
        "n_duplicates": n_rows - n_distinct,
        "n_conflicting": n_distinct - n_features,
        "times": int(np.gcd.reduce(times)) if n_rows else 1,
        "group": group,
        "n_copies": n_rows - n_distinct,
    }
    if n_distinct in (n_rows, 1):
        return Repeats(**answer, n_expected=0.0, p_value=1.0)
    p_value, expected = 1.0, float("nan")
    sides = _halves(arrays, label, first)
    if sides:
        n_pairs = n_rows * (n_rows - 1) / 2
        codes = [codes_of(row_hash([words[j] for j in side], n_rows)) for side in sides]
        n_agree = [_pairs_in(np.bincount(code)) for code in codes]
        expected = DEPENDENCE * n_agree[0] * n_agree[1] / n_pairs
        by_half = [_lines(code, row) for code in codes]
        p_lines = (_binomial_tail(*found, BY_NATURE) for found in by_half)
        p_value = max(float(pdtrc(n_rows - n_distinct - 1, expected)), *p_lines)
        for half, (found, side) in enumerate(zip(by_half, sides, strict=True)):
            numbers = [one for j, one in enumerate(arrays.values()) if j in side and is_numeric(one)]
            if numbers and codes[half].max() >= DIFFERENT * n_rows and found[1] >= AGREEING * found[0]:
                by_nature = _by_nature(numbers, codes[1 - half], first)
                p_value = min(p_value, _binomial_tail(*found, by_nature))
    if answer["times"] > 1 and n_distinct >= _FEWEST_DISTINCT:
        p_value = min(p_value, 2.0**-n_distinct)
    return Repeats(**answer, n_expected=expected, p_value=p_value)


def _words(column: NDArray[Any]) -> Words:
    """64 bits for each value; the same for all that are missing, and for 0 and -0."""
    if is_numeric(column):
        number = np.where(np.isnan(column), np.nan, column.astype(np.float64) + 0.0)
        return number.view(np.uint64)
    return column.astype(np.int64).view(np.uint64)


def _equal_rows(words: Sequence[Words], n_rows: int) -> Ints:
    """The same code for rows that are equal, and only for them: those of one hash are compared."""
    for seed in range(n_rows + 1):
        _, first, code = np.unique(row_hash(words, n_rows, seed), return_index=True, return_inverse=True)
        later = np.flatnonzero(first[code] != np.arange(n_rows))
        if all((column[later] == column[first[code[later]]]).all() for column in words):
            break
    return code.astype(np.int64)


def _pairs_in(sizes: Ints) -> float:
    return float((sizes * (sizes - 1.0)).sum()) / 2


def _lines(half: Ints, row: Ints) -> tuple[int, float]:
    """Sets of rows that agree in this half, and the sum of the shares of their pairs that agree in all."""
    size = np.bincount(half)
    _, one, times = np.unique(row, return_index=True, return_counts=True)
    equal = np.bincount(half[one], times * (times - 1.0), len(size))
    shared = size > 1
    return int(shared.sum()), float((equal[shared] / (size[shared] * (size[shared] - 1.0))).sum())


def _by_nature(numbers: list[NDArray[Any]], other: Ints, first: Ints) -> float:
    """How often rows that agree in numbers may agree in another half: as neighbours do, and then some."""
    continuous = max((codes_of(column[first]) for column in numbers), key=np.max)
    side_by_side = float((np.diff(other[first[np.argsort(continuous, kind="stable")]]) == 0).mean())
    return side_by_side + BY_NATURE_OF_KEYS * (1 - side_by_side)


def _binomial_tail(n_lines: int, n_agreeing: float, by_nature: float) -> float:
    """Probability of so many that agree, or more, where each does by nature with some probability."""
    n_whole = int(n_agreeing + 1e-9)
    return float(bdtrc(n_whole - 1, n_lines, by_nature)) if n_whole else 1.0


def _halves(arrays: dict[str, NDArray[Any]], label: Ints, first: Ints) -> list[list[int]]:
    """Columns in two sets of about equal variety, in each all that go with each other; the class is last."""
    random = np.random.default_rng(0)
    some = random.permutation(first)[:_MOST_ROWS]
    codes = np.column_stack([codes_of(column[some]) for column in (*arrays.values(), label)])
    n_pairs = len(some) * (len(some) - 1) / 2
    agree = np.array([_pairs_in(np.bincount(column)) for column in codes.T]) / n_pairs
    variety = -np.log(np.maximum(agree, 1 / n_pairs))
    determines = _determines(codes, agree)
    sides, weight = _balanced(determines, variety)
    if min(weight) < _LIGHTEST * max(weight):  # a person's number determines nearly all the rest
        sides, weight = _balanced(determines & determines.T, variety)
    return sides if min(weight) > 0 else []


def _balanced(together: Booleans, variety: Floats) -> tuple[list[list[int]], list[float]]:
    """Blocks of columns that go together on two sides, the most various first, each on the lighter one."""
    n_blocks, block = connected_components(together, directed=False)
    of_block = np.array([variety[block == b].max() for b in range(n_blocks)])
    weight, sides = [0.0, 0.0], [list[int](), list[int]()]
    for b in np.argsort(-of_block, kind="stable"):
        lighter = int(weight[1] < weight[0])
        weight[lighter] += float(of_block[b])
        sides[lighter].extend(np.flatnonzero(block == b).tolist())
    return sides, weight


def _determines(codes: Ints, agree: Floats) -> Booleans:
    """Whether distinct rows that agree in one column agree in another, by at least half more than others."""
    n_columns = codes.shape[1]
    answer = np.zeros((n_columns, n_columns), bool)
    for j in range(n_columns):
        order = np.argsort(codes[:, j], kind="stable")
        pairs = np.flatnonzero(np.diff(codes[order, j]) == 0)
        pairs = pairs[:: 1 + len(pairs) // _MOST_PAIRS]
        if len(pairs) >= _FEWEST_PAIRS:
            both = (codes[order[pairs]] == codes[order[pairs + 1]]).mean(axis=0)
            answer[j] = (agree < 1) & (both - agree >= _DETERMINES * (1 - agree))
    return answer
