"""A tree as an outline: each cell below the one that it refines, its numbers in columns beside it.

It is made of boxes of the page, so that long names wrap and numbers move below them on a narrow page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from offsample.report._formats import amount, count, full_name, percent, quantity, short_name
from offsample.report.charts._in_text import bar
from offsample.report.charts._svg import Attribute, disc, tag
from offsample.report.sections.model import Model

MOST_CELLS = 120
_LABEL = 64  # characters of a condition
_FEW = 4  # values that are listed at once
_MOST_LISTED = 40_000  # characters of a list of values
N_CLASS_COLOURS = 8
_HEADINGS = (
    ("condition", "rows where"),
    ("rows", "rows"),
    ("prediction", "predicts"),
    ("error", "error"),
    ("shares", "shares of the classes"),
)
_OF_NUMBERS = {"error": "spread", "shares": "numbers of the rows"}


class _Box(NamedTuple):
    """A node as it is drawn."""

    node: dict[str, Any] | None  # None: stands for what is not drawn
    label: str
    parent: dict[str, Any] | None = None
    rails: tuple[str, ...] = ()  # what its row shows of the lines from cells to those that refine them


def tree_chart(model: Model) -> Markup:
    """Draw the first 120 cells: condition, rows, prediction, class shares and expected error of each."""
    assert model.tree is not None
    order, of_numbers = class_order(model), "quantiles" in model.tree
    boxes = _boxes(model.tree)
    headings = [
        tag(
            "div",
            _OF_NUMBERS.get(name, text) if of_numbers else text,
            role="columnheader",
            class_=f"cell-{name}",
        )
        for name, text in _HEADINGS
    ]
    write = _writers(model, [box.node for box in boxes if box.node], order)
    head = tag("div", *headings, role="row", class_="tree-head")
    return tag(
        "div",
        head,
        *(_draw(box, write, i == 0) for i, box in enumerate(boxes)),
        class_=f"tree chart-tree{' of-numbers' * of_numbers}",
        role="treegrid",
        aria_label=f"Tree with {amount(_count_leaves(model.tree), 'leaf', 'leaves')}",
    )


def class_order(model: Model) -> list[int]:
    """Order the classes by frequency: the first ones have a colour of their own."""
    counts = (model.tree or {}).get("counts", [])
    return sorted(range(len(counts)), key=lambda i: -counts[i])


def class_colours(model: Model) -> list[tuple[int, str]]:
    """Return the colours of the classes in a tree; the last one may stand for all other classes."""
    order = class_order(model)
    named = [(colour, _class_name(model.classes, i)) for colour, i in enumerate(order[:N_CLASS_COLOURS])]
    rest = len(order) - len(named)
    other = [(N_CLASS_COLOURS, amount(rest, "other class", "other classes"))] if rest else []
    return named + other


def _boxes(tree: dict[str, Any]) -> list[_Box]:
    """Cells from top to bottom, parents first, as far as there is room."""
    todo, boxes = [_Box(tree, "all rows")], list[_Box]()
    while todo and len(boxes) < MOST_CELLS:
        box = todo.pop()
        boxes.append(box)
        # below the last child of a cell its line has ended
        above = tuple({"branch": "through", "end": "none"}.get(rail, rail) for rail in box.rails)
        children = (box.node or {}).get("children", [])
        ends = ["branch"] * (len(children) - 1) + ["end"]
        todo += [
            _Box(child, str(child["condition"]), box.node, (*above, end))
            for child, end in reversed(list(zip(children, ends, strict=False)))
        ]
    if todo:
        n_left = sum(_count_leaves(box.node or {}) for box in todo)
        boxes.append(_Box(None, f"{amount(n_left, 'cell')}, not drawn"))
    return boxes


def _count_leaves(node: dict[str, Any]) -> int:
    todo, n_leaves = [node], 0
    while todo:
        children = todo.pop().get("children", [])
        n_leaves += not children
        todo.extend(children)
    return n_leaves


@dataclass(frozen=True)
class _Writers:
    """How a node is written, and drawn: of classes, or of numbers."""

    prediction: Callable[[Any], str]
    error: Callable[[dict[str, Any]], str]
    picture: Callable[[dict[str, Any]], Markup]
    lines: Callable[[dict[str, Any]], list[str]]  # more of what is to be said


def _writers(model: Model, nodes: list[dict[str, Any]], order: list[int]) -> _Writers:
    if "quantiles" not in nodes[0]:
        return _Writers(
            str,
            lambda node: percent(node["estimated_error"]),
            lambda node: _shares(node.get("counts") or [], order),
            lambda node: _lines(model.classes, node.get("counts") or []),
        )
    spread = nodes[0]["deviation"]
    ends = [
        end for node in nodes for end in (node["quantiles"][0], node["quantiles"][-1], node["prediction"])
    ]
    return _Writers(
        lambda number: quantity(number, spread),
        lambda node: f"± {quantity(node['deviation'])}",
        lambda node: _numbers(node, min(ends), max(ends)),
        lambda node: [
            f"Mean {quantity(node['mean'], spread)}, standard deviation {quantity(node['deviation'])}",
            "5, 25, 50, 75 and 95 %: " + ", ".join(quantity(one, spread) for one in node["quantiles"]),
        ],
    )


def _numbers(node: dict[str, Any], least: float, most: float) -> Markup:
    """Draw nine tenths of the numbers of a node, half of them, their middle and what is predicted."""
    scale = 96 / (most - least or 1.0)
    a, b, middle, _, d, said = (
        f"{2 + scale * (one - least):.2f}%" for one in (*node["quantiles"], node["prediction"])
    )
    width = f"{max(scale * (node['quantiles'][3] - node['quantiles'][1]), 0.3):.2f}%"
    return bar(
        tag("line", x1=a, x2=d, y1=5, y2=5, class_="bar bar-usual"),
        tag("rect", x=b, y=1, width=width, height=8, rx=2, class_="interval"),
        tag("line", x1=middle, x2=middle, y1=0, y2=10, class_="curve-estimate"),
        disc(said, 5, "mark-estimate", 3),
    )


def _draw(box: _Box, write: _Writers, first: bool) -> Markup:
    rails = tag("span", *(tag("span", "", class_=f"rail rail-{rail}") for rail in box.rails), class_="rails")
    level, tab = len(box.rails) + 1, "0" if first else "-1"
    row: dict[str, Attribute] = {"role": "row", "aria_level": level, "tabindex": tab}
    if box.node is None:
        condition = tag("div", f"… {box.label}", role="rowheader", class_="cell-condition")
        body = tag("div", condition, class_="cell-body", role="presentation")
        return tag("div", rails, body, class_="cell cell-stub point", title=box.label, **row)
    node = box.node
    said, beside = write.prediction(node["prediction"]), [node["beside"]] if "beside" in node else []
    shown = (
        _condition(box),
        count(node["n_samples"]),
        tag("bdi", ", ".join([short_name(said, 60), *beside]), class_="name"),
        write.error(node),
        write.picture(node),
    )
    cells = [
        tag("div", value, role="rowheader" if name == "condition" else "gridcell", class_=f"cell-{name}")
        for (name, _), value in zip(_HEADINGS, shown, strict=True)
    ]
    body = tag("div", *cells, class_="cell-body", role="presentation")
    kind = "inner" if node.get("children") else "leaf"
    tip = _tip(box.label, node, write)
    return tag("div", rails, body, class_=f"cell cell-{kind} point", title=tip, **row)


def _shares(counts: Sequence[float], order: list[int]) -> Markup:
    """Draw the shares of the classes as one bar, the most frequent class of the table first."""
    total = sum(counts)
    parts, left = [], 0.0
    for colour, i in enumerate(order):
        share = 100 * counts[i] / total if total and i < len(counts) else 0.0
        if share > 0:
            kind = f"class-{min(colour, N_CLASS_COLOURS)}"
            parts.append(tag("rect", x=f"{left:.3f}%", width=f"{share:.3f}%", height=10, class_=kind))
        left += share
    return bar(*parts)


def _tip(label: str, node: dict[str, Any], write: _Writers) -> str:
    """Say everything about a cell, one thing per line."""
    lines = [
        short_name(_readable(label), 300),
        f"{amount(node['n_samples'], 'row')}, predicts {short_name(write.prediction(node['prediction']))}, "
        f"{'spread' if 'quantiles' in node else 'expected error'} {write.error(node)}",
    ]
    return "\n".join([*lines, *write.lines(node)])


def _lines(classes: Sequence[str], counts: Sequence[float]) -> list[str]:
    total, lines = sum(counts), []
    for i in sorted(range(len(counts)), key=lambda i: -counts[i])[:N_CLASS_COLOURS]:
        share = percent(counts[i] / total if total else 0.0)
        lines.append(f"{short_name(_class_name(classes, i))}: {count(counts[i])} ({share})")
    return lines


def _class_name(classes: Sequence[str], i: int) -> str:
    return str(classes[i]) if i < len(classes) else f"class {i}"


def _readable(condition: str) -> str:
    return condition.replace(" <= ", " ≤ ").replace(" >= ", " ≥ ")


def _condition(box: _Box) -> Markup:
    """Show the condition; where it lists many values a summary of it, and all of them one click away."""
    node = box.node or {}
    label = full_name(_readable(box.label))
    values = node.get("values") or ()
    summary = node.get("summary")
    if summary is None and len(label) <= _LABEL:
        return tag("bdi", label, class_="name")
    if summary is None and box.parent is not None and len(values) > 1:
        feature = short_name(box.parent["feature"])
        listed = ", ".join(short_name(value, 16) for value in values[: _FEW - 1])
        summary = f"{feature}: {listed}" + f" or {count(len(values) - _FEW + 1)} more" * (len(values) >= _FEW)
    short = short_name(_readable(summary or label), 2 * _LABEL)
    whole = short_name(label, 400)
    if len(values) > 1:
        whole = ", ".join(short_name(value, 200) for value in values)
    if short == whole:
        return tag("bdi", short, class_="name")
    if len(whole) > _MOST_LISTED:
        listed = whole[:_MOST_LISTED].rpartition(", ")[0]
        whole = f"{listed}, … (the JSON form of this report has all of them)"
    summary_line = tag("summary", tag("bdi", short, class_="name"))
    return tag("details", summary_line, tag("p", whole, class_="values", tabindex="0"), class_="all-values")
