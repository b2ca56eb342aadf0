"""The model of a report in a file, and what it says of the rows of other tables."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter

import joblib
import numpy as np

from offsample import __version__
from offsample._text import shorten, value_text
from offsample._typing import Booleans
from offsample.induction.forms import All, Case, Condition, Expression
from offsample.induction.tree.export import tree_cell
from offsample.report._estimator import ReportedClassifier, ReportedRegressor
from offsample.report._result import Report
from offsample.report._write import write_bytes
from offsample.tables import EncodedTable
from offsample.tables._imposed import UnreadWarning

Reported = ReportedClassifier | ReportedRegressor
# Values of a category that are named in a condition; the others are counted.
_NAMED = 3
_NONE: Mapping[str, Collection[Any]] = {}
_PICKLES = b"\x80", b"\x78", b"\x1f\x8b"  # what files of joblib begin with, compressed or not


def save_model(report: Report, path: Path) -> Report:
    """Write the estimator of a report to a file, and return the report, which names the file by its digest.

    The file is one of joblib: ``joblib.load`` returns the estimator. To read such a file is to run what is in
    it, as with every pickle: read only files that you made yourself.
    """
    model = report.estimator
    model.origin_ = {
        "offsample": __version__,
        "target": report.target,
        "table": report.title,
        "new_rows": report.verdict.new_rows,
    }
    file = io.BytesIO()
    joblib.dump(model, file, compress=3)
    write_bytes(path, file.getvalue())
    named = f"{path.name}, SHA-256 {hashlib.sha256(file.getvalue()).hexdigest()}"
    return replace(report, method=replace(report.method, options={**report.method.options, "model": named}))


def load_model(path: Path) -> tuple[Reported, str]:
    """Read a saved model, and return it with the SHA-256 digest of its file."""
    said = f"{str(path)!r} is no model that `offsample report --save` wrote"
    content = path.read_bytes()
    if not content.startswith(_PICKLES):
        raise ValueError(f"{said}: it cannot be read as one")
    try:
        model = joblib.load(io.BytesIO(content))
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{said} with this version of offsample, {__version__}: {error}") from error
    except Exception as error:  # of the many that a file of something else may cause
        raise ValueError(f"{said}: it cannot be read as one") from error
    origin = getattr(model, "origin_", None)
    if not isinstance(model, Reported) or origin is None:
        raise ValueError(f"{said}: it holds a {type(model).__name__}")
    if origin["offsample"].split(".")[:2] != __version__.split(".")[:2]:
        raise ValueError(
            f"{str(path)!r} was saved by offsample {origin['offsample']}, and this is {__version__}: "
            "make the report again"
        )
    return model, hashlib.sha256(content).hexdigest()


def scored(
    model: Reported, X: Any, not_read: Counter[str] | None = None, interval: float | None = None
) -> dict[str, Any]:
    """What a saved model says of rows: class and probabilities, or a number, what decided, values never seen.

    Rows whose value of a column could not be read are added to `not_read`, if that is given. Of a number,
    `low` and `high` are ends that hold the share `interval` of new rows, if that is asked for.
    """
    with catch_warnings():
        simplefilter("ignore", UnreadWarning)  # of which the last column speaks
        table = model._encoded(X)
    if not_read is not None:
        not_read.update({str(name): int(rows.sum()) for name, rows in table.unread.items()})
    columns = {"prediction": model.predict(table)}
    if isinstance(model, ReportedClassifier):
        shares, form = model.predict_proba(table), model._form()
        columns |= {f"p_{name}": shares[:, k] for k, name in enumerate(model.classes_.tolist())}
        texts = {} if form.steps else conditions(form.cell, model._rare)  # which do arithmetic
    else:
        if interval is not None:
            columns["low"], columns["high"] = model.predict_interval(table, interval).T
        texts = conditions(tree_cell(model.model_.tree_, model.model_._encoder), model._rare)
    cells = model._ask(table, "apply")
    cells = cells.argmax(axis=1) if cells.ndim == 2 else cells  # of an oblique tree, the likeliest
    columns["decided_by"] = np.array([texts.get(cell, f"cell {cell}") for cell in cells.tolist()], object)
    never = [(name, is_new) for name, is_new in unseen(table).items() if is_new.any()]
    said = np.full(len(cells), "", object)
    for name, is_new in never:
        said[is_new] = np.where(said[is_new] == "", name, said[is_new] + f", {name}")
    columns["unseen"] = said
    return columns


def unseen(table: EncodedTable) -> dict[str, Booleans]:
    """Rows with a category that the model has never seen, or a value that it cannot read, by column."""
    kinds = {name: known for name, known in table.known.items() if known.kind == "categorical"}
    new = {str(name): table[name] == len(known.values) + 1 for name, known in kinds.items()}
    return new | {f"{name} (not read)": rows for name, rows in table.unread.items()}


def conditions(of_row: Expression, rare: Mapping[str, Collection[Any]] = _NONE) -> dict[int, str]:
    """What has to be true of a row for each cell of a model, in words that name no rare values of columns."""
    found: dict[int, list[str]] = {}
    for tests, cell in _paths(of_row, ()):
        said = [_said(test, rare) for test in _joined(tests)]
        if len(said) > 1:
            said = [f"({one})" if one.endswith(" or missing") else one for one in said]
        found.setdefault(int(cell), []).append(" and ".join(said) or "any row")
    return {cell: " or ".join(texts) for cell, texts in found.items()}


def _paths(one: Expression, so_far: All) -> Iterator[tuple[All, Any]]:
    if not isinstance(one, Case):
        yield so_far, one
        return
    before: All = ()
    for tests, part in one.branches:
        yield from _paths(part, (*so_far, *before, *tests))
        if len(tests) == 1 and isinstance(tests[0], Condition):
            before = (*before, tests[0].contrary())
    yield from _paths(one.otherwise, (*so_far, *before))


def _joined(tests: Iterable[Any]) -> list[Any]:
    """The same conditions, one of a kind for each column: what follows from a later one goes."""
    found: dict[tuple[Any, str], Any] = {}
    for test in tests:
        kind = "in" if test.kind == "not in" else test.kind
        before = found.get((test.column, kind))
        if before is not None and kind == "in":
            if {before.kind, test.kind} == {"not in"}:
                values = dict.fromkeys((*before.value, *test.value))
            else:
                inside, other = (before, test) if before.kind == "in" else (test, before)
                keeps = other.kind == "in"
                values = {value: None for value in inside.value if (value in other.value) == keeps}
                test = inside
            test = test._replace(value=tuple(values), missing=before.missing and test.missing)
        elif before is not None:
            tighter = min if kind == "at_most" else max
            value = tighter(before.value, test.value)
            test = test._replace(value=value, missing=before.missing and test.missing)
        found[test.column, kind] = test
    # Whether a number is missing at all, which the other conditions of its column may leave open.
    for (column, _), test in list(found.items()):
        others = [key for key in found if key[0] == column and found[key] is not test]
        if test.kind in ("in", "not in") and not test.value and others:
            for key in others:
                found[key] = found[key]._replace(missing=False)
            for key in others if test.kind == "in" else [(column, "in")]:
                del found[key]
    return list(found.values())


def _said(test: Any, rare: Mapping[str, Collection[Any]]) -> str:
    name, missing = str(test.column.name), " or missing" * test.missing
    if test.kind in ("at_most", "above"):
        shown = value_text(test.value, test.column.kind)
        return f"{name} {'<=' if test.kind == 'at_most' else '>'} {shown}{missing}"
    if not test.value:
        return f"{name} is {'missing' if test.kind == 'in' else 'not missing'}"
    named = [value for value in test.value if value not in rare.get(name, ())][:_NAMED]
    more = len(test.value) - len(named)
    listed = ", ".join(shorten(str(value), 40) for value in named)
    if more:
        listed += f" and {more} more" if named else f"{more} rare value{'s' * (more > 1)}"
    return f"{name} {test.kind} {{{listed}}}{missing}"
