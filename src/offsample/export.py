"""Fitted models as SQL and as plain Python, for where this library is not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np

from offsample.induction import forms
from offsample.induction.forms import All, Case, Column, Condition, Expression, Form, Op
from offsample.tables._calendar import PARTS
from offsample.tables._ways import EPOCHS, EpochWay

__all__ = ["to_python", "to_sql"]

# Summands in a row: what a database makes of a sum is as deep as it is long.
_IN_A_ROW = 50
# Up to so many digits SQLite reads a decimal number to the last bit.
_EXACT_DIGITS = 15
_EPOCH = "EXTRACT(EPOCH FROM {0}) * 1000000"
_SUBQUERY = "(SELECT {{body}} FROM (SELECT {{values}} {}) AS {{scope}})"
# Of each dialect: quotes around names (in double ones SQLite takes a name that is not there for text), its
# float64, microseconds of a moment and of a duration, and how values have names in an expression. These are
# computed once: databases put in what a mere subquery says wherever it is named.
_DIALECTS = {
    "duckdb": ('"', "DOUBLE", "epoch_us({0})", "epoch_us({0})",
               "list_transform([{{{values}}}], lambda {scope}: {body})[1]", "'{name}': {value}"),
    "postgres": ('"', "DOUBLE PRECISION", _EPOCH, _EPOCH, _SUBQUERY.format("OFFSET 0"), "{value} AS {name}"),
    "sqlite": ("`", "REAL",  # moments are text, of which its functions read milliseconds and no more
               "CASE WHEN date(substr({0}, 1, 10), '+0 days') = substr({0}, 1, 10) THEN "  # no February 30th
               "strftime('%s', substr({0}, 1, 19) || ltrim(substr({0}, 20), '.0123456789')) * 1000000 + "
               "round(('0' || substr({0}, 20, 7)) * 1000000) END",
               "{0}", _SUBQUERY.format("LIMIT -1 OFFSET 0"), "{value} AS {name}"),
    "spark": ("`", "DOUBLE", "unix_micros(CAST({0} AS TIMESTAMP))", "unix_micros(TIMESTAMP_MICROS(0) + {0})",
              "transform(array(named_struct({values})), {scope} -> {body})[0]", "'{name}', {value}"),
}  # fmt: skip


def _extracted(moment: str, weekday: str = "ISODOW") -> dict[str, str]:
    fields = {"month": "MONTH", "weekday": weekday, "hour": "HOUR"}
    return {part: f"EXTRACT({field} FROM {moment})" for part, field in fields.items()}


_SECONDS = "(CAST({0} AS INTEGER) - 999999 * ({0} < 0)) / 1000000, 'unixepoch'"
_PARTS = {  # of microseconds since 1970, in UTC
    "duckdb": _extracted("make_timestamp(CAST(TRUNC({0}) AS BIGINT))"),
    "postgres": _extracted("TO_TIMESTAMP(FLOOR(TRUNC({0}) / 1000000)) AT TIME ZONE 'UTC'"),
    "sqlite": {"month": f"strftime('%m', {_SECONDS})", "hour": f"strftime('%H', {_SECONDS})",
               "weekday": f"(strftime('%w', {_SECONDS}) + 6) % 7 + 1"},
    "spark": _extracted("TIMESTAMP_MICROS(CAST({0} AS BIGINT))", "DOW_ISO"),
}  # fmt: skip
# Characters that mean something within quotes: a backslash escapes, and ${…} names a variable.
_ODD = {"spark": "\\$"}
_OF_CLASSES = """\"\"\"Class and class probabilities of a row, as a fitted model of offsample says them.\"\"\"

import datetime
import math

CLASSES = [%s]


def predict(row):
    \"\"\"Class of a row, a dict of values by the names of columns.\"\"\"
    return CLASSES[_ask(row)[0]]


def predict_proba(row):
    \"\"\"Probabilities of a row, in the order of CLASSES.\"\"\"
    return _ask(row)[1]
"""
_OF_NUMBERS = """\"\"\"Number that a fitted model of offsample predicts for a row.\"\"\"

import datetime
import math


def predict(row):
    \"\"\"Number for a row, a dict of values by the names of columns.\"\"\"
    return _ask(row)
"""
_MODULE = """

def _number(value, unit=1):
    if isinstance(value, (str, bool)):
        raise TypeError(f"{value!r} is no number, date or duration")
    if isinstance(value, datetime.datetime):
        value -= datetime.datetime(1970, 1, 1, tzinfo=value.tzinfo and datetime.timezone.utc)
    elif isinstance(value, datetime.date):
        value -= datetime.date(1970, 1, 1)
    is_time = isinstance(value, datetime.timedelta)
    return float(value // datetime.timedelta(0, 0, 1)) if is_time else float(value) * unit


def _read(value, is_number, unit=1):
    if value is None or type(value).__name__ == "NAType" or value != value:
        return math.nan if is_number else None
    if not isinstance(is_number, str):
        return _number(value, unit) if is_number else value
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(0, 0, int(_number(value, unit)))
    return float(moment.isoweekday() if is_number == "weekday" else getattr(moment, is_number))


def _ask(row):
%s
"""


def to_sql(
    estimator: Any,
    dialect: Literal["duckdb", "postgres", "sqlite", "spark"] = "duckdb",
    table: str | Sequence[str] | None = None,
) -> str:
    """Write a fitted model as SQL that predicts what the model predicts.

    Parameters
    ----------
    estimator : fitted tree, oblique tree, or learner of rules; or the estimator of a report
    dialect : {"duckdb", "postgres", "sqlite", "spark"}
    table : str or sequence of str, optional
        Name of a table or view, or its parts, such as ``("schema", "table")``. It is quoted whatever it is.

    Returns
    -------
    str
        With `table` a SELECT: ``prediction``, a column ``probability_…`` for each of ``classes_``, and all
        columns of the table, for its rows in the order in which the database reads them: PostgreSQL and Spark
        promise none without an ORDER BY of your own. Otherwise the expression of the prediction alone.
        What a `TreeRegressor` predicts is a float64, and has no probabilities.

    Notes
    -----
    NULL and NaN are missing. Columns have the types that they had in training, and for a model of an array
    the names x0, x1, …. Comparisons are exact, but for those of DECIMAL. Moments are in UTC: so is the
    session of Spark, and text such as ``2024-02-29 12:00:00.5`` in SQLite, where durations are microseconds.
    An oblique tree needs SQLite's ``sqrt``. Classes of several types become text.

    Examples
    --------
    >>> from offsample import TreeClassifier
    >>> from offsample.export import to_sql
    >>> tree = TreeClassifier().fit({"city": ["Rome", "Oslo", None] * 20}, ["yes", "no", "no"] * 20)
    >>> print(to_sql(tree))
    CASE
      WHEN "city" IN ('Rome') THEN 'yes'
      WHEN ("city" IN ('Oslo') OR "city" IS NULL) THEN 'no'
      ELSE 'no'
    END
    """
    if dialect not in _DIALECTS:
        raise ValueError(f"dialect must be one of {', '.join(_DIALECTS)}, got {dialect!r}")
    form, made_of = forms.form_of(estimator), getattr(estimator, "_made", {}).values()
    known = [str(name) for name in chain(getattr(estimator, "feature_names_in_", ()), *made_of)]
    writer = _Sql(dialect, form, known, is_qualified=table is not None)
    types = {type(one) for one in form.classes}
    as_text = len(types) > 1 and not types <= {int, float}
    classes = [writer.literal(str(one) if as_text else one) for one in form.classes if form.shares]
    classes = classes or [writer.expression(one) for one in form.classes]
    prediction = writer.written(form.cell, [classes[k] for k in form.labels])
    if form.is_of_numbers:
        prediction = f"CAST({prediction} AS {writer.double})"
    if table is None:
        return prediction
    columns = {"prediction": prediction}
    for one, share in zip(form.classes, form.shares, strict=not form.is_of_numbers):
        name = f"probability_{one}"
        while name.lower() in map(str.lower, columns):
            name += "_"
        by_cell = [writer.number(p) for p in share.tolist()] if isinstance(share, np.ndarray) else None
        said = writer.written(share if by_cell is None else form.cell, by_cell)
        columns[name] = f"CAST({said} AS {writer.double})"
    selected = "".join(f"{said} AS {writer.named(name)},\n" for name, said in columns.items())
    path = ".".join(map(writer.named, [table] if isinstance(table, str) else table))
    return f"SELECT\n{selected}{writer.rows}.*\nFROM {path} AS {writer.rows}"


def to_python(estimator: Any) -> str:
    """Write a fitted model as the source of a Python module that needs nothing but the standard library.

    It has the list ``CLASSES`` and the functions ``predict(row)`` and ``predict_proba(row)``, whose result is
    in the order of ``CLASSES``. A row is a dict of values by the names of columns, x0, x1, … for a model of
    an array. None, NaN and what stands for missing in pandas are missing. Of a `TreeRegressor` there is
    ``predict(row)`` alone, a float.

    Parameters
    ----------
    estimator : fitted tree, oblique tree, or learner of rules; or the estimator of a report

    Examples
    --------
    >>> from offsample import TreeClassifier
    >>> from offsample.export import to_python
    >>> tree = TreeClassifier().fit({"city": ["Rome", "Oslo", None] * 20}, ["yes", "no", "no"] * 20)
    >>> model = {}
    >>> exec(to_python(tree), model)
    >>> model["predict"]({"city": "Rome", "age": 40})
    'yes'
    """
    form, writer = forms.form_of(estimator), _Writer()
    lines = [line for step in form.steps for name, one in step.items() for line in writer.assigned(name, one)]
    lines += writer.assigned("cell", form.cell)
    if form.is_of_numbers:
        numbers = "".join(f"{writer.expression(one)}, " for one in form.classes)
        body = "\n".join(f"    {line}" for line in [*writer.reads, *lines, f"return ({numbers})[cell]"])
        return _OF_NUMBERS + _MODULE % body
    lines.append(f"return {tuple(form.labels.tolist())}[cell], [")
    for one in form.shares:
        said = f"{tuple(one.tolist())}[cell]" if isinstance(one, np.ndarray) else writer.expression(one)
        lines.append(f"    {said},")
    body = "\n".join(f"    {line}" for line in [*writer.reads, *lines, "]"])
    classes = ", ".join(map(writer.literal, form.classes))
    return _OF_CLASSES % classes + _MODULE % body


class _Writer:
    """Writes Python; `_Sql` says the same in SQL."""

    conjunction = " and "

    def __init__(self) -> None:
        self.words = {**dict.fromkeys(("max", "min", "abs", "round")), "sqrt": "math.sqrt"}
        self.read: dict[Column, str] = {}  # columns, and the variables of their values
        self.reads: list[str] = []
        self.scopes: dict[str, str] = {}  # what is before the names of steps

    def expression(self, one: Expression) -> str:
        if isinstance(one, Case):
            return self.case(one)
        if isinstance(one, (str, Column)):
            return self.scopes.get(one, "") + one if isinstance(one, str) else self.value(one)
        if not isinstance(one, Op):
            return self.literal(one)
        words = [self.expression(part) for part in one.parts]
        if one.sign in self.words:
            return f"{self.words[one.sign] or one.sign}({', '.join(words)})"
        while len(words) > _IN_A_ROW:
            rows = range(0, len(words), _IN_A_ROW)
            words = [f"({f' {one.sign} '.join(words[i : i + _IN_A_ROW])})" for i in rows]
        return f"({f' {one.sign} '.join(words)})"

    def all(self, tests: All) -> str:
        said = [self.expression(one) if isinstance(one, Op) else self.condition(one) for one in tests]
        return self.conjunction.join(said)

    def assigned(self, name: str, one: Expression) -> list[str]:
        if not isinstance(one, Case) or isinstance(one.branches[0][1], float):
            return [f"{name} = {self.expression(one)}"]
        return [f"def {name}():", *self.returned(one), f"{name} = {name}()"]

    def returned(self, one: Expression) -> list[str]:
        """Indented statements, without ``elif``: thousands of these are too many for Python's stack."""
        if not isinstance(one, Case):
            return [f"    return {self.expression(one)}"]
        lines = []
        for tests, to in one.branches:
            lines += [f"    if {self.all(tests)}:", *(f"    {line}" for line in self.returned(to))]
        return lines + self.returned(one.otherwise)

    def case(self, one: Case) -> str:
        said = [f"{self.expression(to)} if {self.all(tests)} else " for tests, to in one.branches]
        return f"({''.join(said)}{self.expression(one.otherwise)})"

    def value(self, column: Column) -> str:
        forms.require_stored(column)
        if column not in self.read:
            self.read[column] = f"x{len(self.read)}"
            how = repr(column.kind) if column.kind in PARTS else column.kind not in ("code", "name")
            unit = f", {EPOCHS[column.way.unit]}" if isinstance(column.way, EpochWay) else ""
            self.reads.append(f"{self.read[column]} = _read(row[{self.literal(column.name)}], {how}{unit})")
        return self.read[column]

    def condition(self, test: Condition) -> str:
        name = self.value(test.column)
        if test.kind in ("at_most", "above"):  # neither is true of NaN
            signs = ("<=", ">") if test.kind == "at_most" else (">", "<=")
            return f"{'not ' * test.missing}{name} {signs[test.missing]} {self.number(test.value)}"
        missing = ["None" if test.column.kind in ("code", "name") else "math.nan"]  # found by identity
        values = [*map(self.literal, test.value), *missing * ((test.kind == "in") == test.missing)]
        return f"{name} {test.kind} ({''.join(f'{one}, ' for one in values)})"

    def literal(self, value: Any) -> str:
        if isinstance(value, float):
            return self.number(value)
        if not isinstance(value, (str, int)):
            said = f"{value!r} is of type {type(value).__name__}, which cannot be written"
            raise ValueError(f"{said}: expected text, numbers or truths")
        return ascii(value)

    def number(self, value: float) -> str:
        return repr(value) if math.isfinite(value) else f"float('{value}')"


class _Sql(_Writer):
    conjunction = " AND "

    def __init__(self, dialect: str, form: Form, known: Sequence[str], *, is_qualified: bool) -> None:
        self.dialect, self.known, self.steps, self.depth = dialect, known, form.steps, 0
        self.quote, self.double, self.moment, self.duration, self.bound, self.bind = _DIALECTS[dialect]
        self.nan = "" if dialect == "sqlite" else f"CAST('NaN' AS {self.double})"  # it is above all numbers
        self.words = dict.fromkeys(("max", "min", "abs", "round", "sqrt"))
        self.words |= {"max": "GREATEST", "min": "LEAST"} if self.nan else {}
        made_up = "offsample"  # no column that is read may have a name that is made up
        while any(name.lower().startswith(made_up) for name in known):
            made_up += "_"
        self.rows, self.qualified = f"{made_up}_rows", f"{made_up}_rows." * is_qualified
        self.scopes = {name: f"{made_up}_{i}." for i, step in enumerate(form.steps) for name in step}

    def written(self, one: Expression, by_cell: Sequence[str] | None = None) -> str:
        """An expression, or what is said of the cell that it stands for, with the steps before it."""
        said = self.expression(one) if by_cell is None else self.said(one, by_cell)
        for step in reversed(self.steps):
            given = {name: f"CAST({self.expression(of)} AS {self.double})" for name, of in step.items()}
            values = ", ".join(self.bind.format(name=name, value=value) for name, value in given.items())
            said = self.bound.format(scope=self.scopes[next(iter(step))][:-1], values=values, body=said)
        return said

    def said(self, cell: Expression, by_cell: Sequence[str]) -> str:
        if isinstance(cell, Case):
            return self.case(cell, lambda one: self.said(one, by_cell))
        if isinstance(cell, int):
            return by_cell[cell]
        lines = [f"WHEN {i} THEN {of}" for i, of in enumerate(by_cell)]
        return self.lines(f"CASE {self.expression(cell)}", lines)

    def case(self, one: Case, part: Callable[[Expression], str] | None = None) -> str:
        part = part or self.expression
        self.depth += 1  # nothing is indented afterwards: a name or a value may have lines of its own
        lines = [f"WHEN {self.all(tests)} THEN {part(to)}" for tests, to in one.branches]
        lines.append(f"ELSE {part(one.otherwise)}")
        self.depth -= 1
        return self.lines("CASE", lines)

    def lines(self, first: str, lines: Sequence[str]) -> str:
        return ("\n" + "  " * (self.depth + 1)).join([first, *lines]) + "\n" + "  " * self.depth + "END"

    def named(self, name: Any) -> str:
        if not str(name) and self.dialect != "sqlite":
            raise ValueError(
                f"a column has no name, for which {self.dialect} has no word: name it, and fit again"
            )
        return self.quote + str(name).replace(self.quote, self.quote * 2) + self.quote

    def value(self, column: Column) -> str:
        forms.require_stored(column, iso=self.dialect == "sqlite")
        alike = {one for one in self.known if one.lower() == str(column.name).lower()}
        if len(alike) > 1 and self.dialect != "postgres":
            said = " and ".join(map(repr, sorted(alike)))
            raise ValueError(f"columns {said} differ in case only: {self.dialect} takes them for one")
        name = self.qualified + self.named(column.name)
        kinds = dict.fromkeys(PARTS, self.moment) | {"moment": self.moment, "duration": self.duration}
        read = kinds.get(column.kind, "{0}").format(name)
        if isinstance(column.way, EpochWay):
            number = f"NULLIF(CAST({name} AS {self.double}), {self.nan or 'NULL'})"
            read = f"{number} * {self.number(EPOCHS[column.way.unit])}"
        read = _PARTS[self.dialect].get(column.kind, "{0}").format(read)
        return name if column.kind == "name" else f"CAST({read} AS {self.double})"

    def condition(self, test: Condition) -> str:
        """What is TRUE where the test is; elsewhere it may be NULL, as nothing is said of its contrary."""
        value, name = self.value(test.column), self.qualified + self.named(test.column.name)
        name = name if test.column.way is None else value
        missing, known, may_be_nan = f"{name} IS NULL", f"{name} IS NOT NULL", False
        if self.nan and test.column.kind in ("number", "code"):
            missing, known, may_be_nan = f"({missing} OR {value} = {self.nan})", f"{value} < {self.nan}", True
        is_not = test.kind == "not in"
        if test.kind in ("at_most", "above"):
            said = f"{value} {'<=' if test.kind == 'at_most' else '>'} {self.number(test.value)}"
        elif test.value:
            values = [self.literal(one if test.column.kind == "name" else float(one)) for one in test.value]
            said = f"{value} {test.kind.upper()} ({', '.join(values)})"
        else:
            return (known if is_not else missing) if is_not != test.missing else f"{int(is_not)} = 1"
        if test.missing:
            return f"({said} OR {missing})"
        return f"({said} AND {known})" if may_be_nan and (is_not or test.kind == "above") else said

    def literal(self, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).upper()
        if not isinstance(value, str):
            return super().literal(value)
        odd = _ODD.get(self.dialect, "")
        kept = (f"\\U{ord(c):08X}" if odd and (c in odd or not c.isprintable()) else c for c in value)
        return "'" + "".join(kept).replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """The very same float64; without an exponent it would be a decimal number in most dialects."""
        if math.isinf(value) and self.nan:
            return self.nan.replace("NaN", str(value))
        text = repr(value).replace("inf", "9e999")
        digits, _, exponent = text.partition("e")
        is_long = exponent or len(digits.strip("-0.").replace(".", "")) > _EXACT_DIGITS
        if not self.nan and is_long and math.isfinite(value):
            above, below = value.as_integer_ratio()  # the lower is a power of two: division by it is exact
            return f"({above} / {below}.0)" if max(abs(above), below) < 2**62 else text
        return text if exponent else f"{text}e0"
