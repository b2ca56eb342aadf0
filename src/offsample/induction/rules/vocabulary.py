"""Boolean tests on the columns of any table, and their conjunctions, with fast counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from offsample._text import value_text
from offsample._typing import Booleans, Floats, Ints
from offsample.induction import forms
from offsample.induction.cuts import cut_points, finite
from offsample.induction.rules.index import BitIndex, InvertedIndex
from offsample.induction.rules.models import excludes
from offsample.tables import TableEncoder

__all__ = ["BitIndex", "InvertedIndex", "Test", "Vocabulary"]

# Of a column with more values than this, the most frequent have a test.
MAX_VALUES = 256


@dataclass(frozen=True)
class Test:
    """One Boolean test of one column."""

    __test__ = False  # not a test of this library, whatever its name

    column: int
    # "above" tests a column of two numbers, "present" an entry of sparse data.
    kind: Literal["equals", "at_most", "above", "missing", "present"]
    value: Any  # threshold, or what the column's code should be
    words: tuple[str, str]  # what the test and its contrary say, before the value where this is shown
    shown: Callable[[float], str] | None = None  # of very many tests few are read: not before
    also: str = ""  # what its contrary says behind the value

    @property
    def text(self) -> str:
        """The test in words."""
        return self.words[0] if self.shown is None else self.words[0] + self.shown(self.value)

    @property
    def negation(self) -> str:
        """Its contrary in words."""
        said = self.words[1] if self.shown is None else self.words[1] + self.shown(self.value)
        return said + self.also

    def holds(self, values: NDArray[Any]) -> Booleans:
        """Truth for the values or codes of its column; a comparison with a missing number is false."""
        match self.kind:
            case "equals":
                return np.asarray(values == self.value)
            case "at_most":
                return np.asarray(values <= self.value)
            case "above":
                return np.asarray(values > self.value)
            case "missing":
                return np.asarray(np.isnan(values) if self.value is None else values == self.value)
        return np.asarray(values != 0)


class Vocabulary:
    """The tests that a table offers: its values, thresholds and missing entries.

    A categorical column has a test for each value (two values: one test), missing being a value. A numeric
    column has at most `n_thresholds` quantile thresholds, and a test whether it is missing. Sparse data has
    the test that an entry is not 0.

    >>> from offsample.induction.rules.vocabulary import Vocabulary
    >>> vocabulary = Vocabulary()
    >>> index = vocabulary.fit_index({"city": ["Rome", "Oslo", None], "age": [30, 40, 50]})
    >>> [test.text for test in vocabulary.tests]
    ['city = Oslo', 'city = Rome', 'city is missing', 'age <= 35', 'age <= 45']
    >>> vocabulary.describe([0, 5 + 3])
    'city = Oslo and age > 35'
    """

    tests: list[Test]
    log_tried: Floats  # of each test: logarithm of the number that it was chosen among, for corrections

    def __init__(self, n_thresholds: int = 15, categorical: Any = "infer") -> None:
        self.n_thresholds, self.categorical = n_thresholds, categorical
        self._bits: dict[int, tuple[int, int]] = {}

    def fit_index(self, X: Any, rows: Any = None) -> BitIndex:
        """Find the tests, and index the rows of a table by them; `rows` says which, and how often each."""
        self.is_sparse = issparse(X)
        if self.is_sparse:
            return self._fit_sparse(X, rows)
        self.encoder = TableEncoder(self.categorical)
        found: list[list[Test]] = []
        truth: list[Booleans] = []
        for j, column in enumerate(self.encoder.fit_transform(X)):
            values = column.values if rows is None else column.values[rows]
            if column.kind == "numeric":
                shown = partial(value_text, kind=self.encoder.known[j].quantity)
                tests = _numeric_tests(j, column.name, values, self.n_thresholds, shown)
            else:
                tests = _value_tests(j, column.name, values, self.encoder.known[j].values)
            found.append(tests)
            truth += [test.holds(values) for test in tests]
            n_rows = len(values)
        sizes = np.array([len(tests) for tests in found if tests], np.int64)
        self.tests, self.log_tried = list(chain(*found)), np.repeat(np.log(len(sizes) * sizes), sizes)
        return BitIndex(np.array(truth) if truth else np.zeros((0, n_rows), bool))

    def _fit_sparse(self, X: Any, rows: Any) -> BitIndex:
        present = csc_array(X if rows is None else csr_array(X)[rows]).astype(bool)
        present.eliminate_zeros()
        n_present = np.diff(present.indptr)
        columns = np.flatnonzero((n_present > 0) & (n_present < present.shape[0]))
        self.log_tried = np.full(len(columns), np.log(max(1, len(columns))))
        self.tests = [Test(j, "present", None, (f"x{j} != 0", f"x{j} = 0")) for j in columns.tolist()]
        return InvertedIndex(present[:, columns])

    def truth(self, X: Any, literals: Iterable[int]) -> dict[int, Booleans]:
        """Truth of some literals in the rows of another table."""
        n, wanted = len(self.tests), set(literals)
        of_column: dict[int, list[int]] = {}
        for test in {literal % n for literal in wanted}:
            of_column.setdefault(self.tests[test].column, []).append(test)
        found = {}
        for j, values in self._columns(X, of_column):
            for test in of_column[j]:
                found[test] = self.tests[test].holds(values)
        return {lit: found[lit] if lit < n else ~found[lit - n] for lit in wanted}

    def _columns(self, X: Any, wanted: Iterable[int]) -> Iterable[tuple[int, NDArray[Any]]]:
        if self.is_sparse:
            by_column = csc_array(X) if issparse(X) else X
            for j in wanted:
                values = by_column[:, [j]]
                yield j, values.toarray()[:, 0] if issparse(values) else values[:, 0]
            return
        names = self.encoder.names
        place = {names[j]: j for j in wanted}
        for column in self.encoder.transform(X.toarray() if issparse(X) else X, only=place.keys()):
            yield place[column.name], column.values

    def describe(self, literals: Sequence[int], feature_names: Sequence[Any] | None = None) -> str:
        """A conjunction of literals in words, without those that others of them imply."""
        words = []
        for literal in self._without_implied(literals):
            test, is_true = self.test_of(literal), literal < len(self.tests)
            if feature_names is not None and self.is_sparse:
                words.append(f"{feature_names[test.column]} {'present' if is_true else 'absent'}")
            else:
                words.append(test.text if is_true else test.negation)
        return " and ".join(words) if words else "always"

    def _without_implied(self, literals: Sequence[int]) -> list[int]:
        kept = list(dict.fromkeys(literals))
        for literal in tuple(kept):
            column = self.test_of(literal).column
            others = [one for one in kept if one != literal and self.test_of(one).column == column]
            if others and self.relation(others, [literal]) == "implies":
                kept.remove(literal)
        return kept

    def relation(self, some: Sequence[int], others: Sequence[int]) -> Literal["implies", "excludes"] | None:
        """Whether one conjunction implies or excludes another, by what each says of a column."""
        a, b = self.said(some), self.said(others)
        if excludes(a, b):
            return "excludes"
        return "implies" if not any(a.get(column, -1) & ~values for column, values in b.items()) else None

    def said(self, literals: Sequence[int]) -> dict[int, int]:
        """Values of each of their columns that a conjunction of literals holds for, as bits."""
        values: dict[int, int] = {}
        for one in literals:
            column, bits = self._bits.get(one) or self._where(one)
            values[column] = values.get(column, -1) & bits
        return values

    def _where(self, literal: int) -> tuple[int, int]:
        """Column of a literal, and the values that it holds for, as bits; kept for all of the column."""
        column = self.test_of(literal).column
        places = [i for i, test in enumerate(self.tests) if test.column == column]
        values = _telling_values([self.tests[i] for i in places])
        for i in places:
            holds = self.tests[i].holds(values)
            for one, here in ((i, holds), (i + len(self.tests), ~holds)):
                self._bits[one] = column, int.from_bytes(np.packbits(here).tobytes(), "big")
        return self._bits[literal]

    def test_of(self, literal: int) -> Test:
        """Test that a literal affirms or negates."""
        return self.tests[literal % len(self.tests)]

    def conditions(self, literals: Sequence[int]) -> forms.All:
        """A conjunction of literals as it is written in other languages."""
        columns, found = [] if self.is_sparse else forms.columns_of(self.encoder), []
        for literal in literals:
            test = self.test_of(literal)
            column = columns[test.column] if columns else forms.Column(f"x{test.column}", "number")
            if test.kind in ("at_most", "above"):
                said = forms.at_most(column, test.value, missing=test.kind == "above")
            elif test.kind == "present":
                said = forms.Condition(column, "in", (0.0,), missing=True)
            else:
                known = self.encoder.known[test.column].values
                codes = len(known) if test.kind == "missing" else test.value
                said = forms.one_of(column, known, [codes])
            is_so = (test.kind in ("above", "present")) == (literal >= len(self.tests))
            found.append(said if is_so else said.contrary())
        return tuple(found)


def _telling_values(tests: Sequence[Test]) -> Floats:
    """Values of one column among which there is one for every way that its tests can turn out."""
    cuts = [test.value for test in tests if test.kind in ("at_most", "above")]
    codes = [test.value for test in tests if test.value is not None]
    return np.array([*cuts, *np.nextafter(cuts, np.inf), *codes, -1.0, 0.0, np.nan])


def _numeric_tests(
    j: int, name: Any, values: NDArray[Any], n_thresholds: int, shown: Callable[[float], str]
) -> list[Test]:
    missing = np.isnan(values)
    known = values[~missing]
    distinct, sizes = np.unique(finite(known), return_counts=True)
    tests: list[Test] = []
    also = " (or missing)" if missing.any() else ""
    if len(distinct) == 2:
        above = cut_points(distinct[:1], distinct[1:])[0]
        low, high = known.min(), known.max()
        tests.append(Test(j, "above", above, (f"{name} = {shown(high)}", f"{name} = {shown(low)}{also}")))
    elif len(distinct) > 2:
        at, words = _cuts(sizes, n_thresholds), (f"{name} <= ", f"{name} > ")
        tests = [
            Test(j, "at_most", t, words, shown, also) for t in cut_points(distinct[at - 1], distinct[at])
        ]
    if missing.any() and not missing.all():
        tests.append(Test(j, "missing", None, (f"{name} is missing", f"{name} is not missing")))
    return tests


def _cuts(sizes: Ints, n_cuts: int) -> Ints:
    """Places to cut distinct values, of which each has a number of rows, into parts of nearly equal size.

    A value that many rows have, such as the 0 of an amount that few of them have at all, is cut off on both
    sides, and the other cuts are quantiles of the rows without it.
    """
    if len(sizes) - 1 <= n_cuts:
        return np.arange(1, len(sizes))
    light, at = sizes.copy(), np.zeros(0, np.int64)
    heavy = np.flatnonzero(sizes * (n_cuts + 1) > sizes.sum())
    for value in heavy[np.argsort(-sizes[heavy], kind="stable")]:
        sides = np.union1d(at, [value, value + 1])
        sides = sides[(sides > 0) & (sides < len(sizes))]
        if len(sides) > n_cuts:
            break
        light[value], at = 0, sides
    n_left = n_cuts - len(at)
    if n_left and light.any():
        reached = np.cumsum(light)
        wanted = np.arange(1, n_left + 1) * reached[-1] // (n_left + 1)
        at = np.union1d(at, np.maximum(np.searchsorted(reached, wanted, side="right"), 1))
    return at


def _value_tests(j: int, name: Any, codes: NDArray[Any], values: tuple[Any, ...]) -> list[Test]:
    """The most frequent values, in the order of their codes; of two, one test whose negation is the other."""
    sizes = np.bincount(codes, minlength=len(values) + 1)
    present = np.flatnonzero(sizes)
    present = np.sort(present[np.argsort(-sizes[present], kind="stable")[:MAX_VALUES]])
    tests = []
    for code in present.tolist():
        if code == len(values):
            tests.append(Test(j, "missing", code, (f"{name} is missing", f"{name} is not missing")))
        else:
            tests.append(Test(j, "equals", code, (f"{name} = {values[code]}", f"{name} != {values[code]}")))
    if len(tests) > 2:
        return tests
    return [replace(test, words=(test.text, other.text)) for other, test in pairwise(tests)]
