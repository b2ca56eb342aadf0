"""A tree as an outline: each cell below the one that it refines, its numbers in columns beside it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from offsample.report._formats import amount, count, full_name, percent, short_name
from offsample.report.charts._svg import chart, join, point, tag
from offsample.report.sections.model import Model

MOST_CELLS = 60
MOST_CHILDREN = 12
_TOP, _ROW, _HEIGHT = 26, 32, 26
_INDENT, _WIDTH = 26, 300  # of a box with its condition
_LABEL = 34  # characters
_BAR = 170
N_CLASS_COLOURS = 8


@dataclass
class _Box:
    """A node as it is drawn."""

    node: dict[str, Any] | None  # None: stands for what is not drawn
    label: str
    depth: int
    parent: dict[str, Any] | None = None
    y: float = 0.0
    children: list[_Box] = field(default_factory=list)


def tree_chart(model: Model) -> Markup:
    """Every cell with its condition, rows, prediction, class shares and estimated error.

    Of more than 60 cells the ones with the most rows are drawn, of more than 12 children of one split too.
    """
    assert model.tree is not None
    boxes = list(_walk(_boxes(model.tree)))
    for i, box in enumerate(boxes):
        box.y = _TOP + i * _ROW
    numbers = max(box.depth for box in boxes) * _INDENT + _WIDTH + 16
    width, height = numbers + 296 + _BAR, _TOP + len(boxes) * _ROW
    headings = (
        ("rows", 62, "end"),
        ("predicts", 84, "start"),
        ("error", 268, "end"),
        ("class shares", 294, "start"),
    )
    return chart(
        "chart-tree",
        f"Tree with {amount(_count_leaves(model.tree), 'leaf', 'leaves')}",
        "An outline: each box is a cell of rows with its condition, below the cell that it refines; beside "
        "it number of rows, predicted class, estimated error and class shares. The same in words is below.",
        join(
            [
                tag("text", text, x=numbers + x, y=14, class_="tick", text_anchor=end)
                for text, x, end in headings
            ]
        ),
        join([_edge(box, child) for box in boxes for child in box.children]),
        join([_draw(box, model.classes, numbers, i == 0) for i, box in enumerate(boxes)]),
        width=width,
        height=height,
        view_box=f"0 0 {width} {height}",  # so that print can scale it
    )


def _boxes(tree: dict[str, Any]) -> _Box:
    """The part of the tree that is drawn: the cells with the most rows are refined while there is room."""
    root = _Box(tree, "all rows", 0)
    waiting = [(-tree["n_samples"], 0, root)]
    n_leaves, order = 1, 0
    while waiting:
        _, _, box = heapq.heappop(waiting)
        children = (box.node or {}).get("children", [])
        if not children:
            continue
        kept = sorted(sorted(range(len(children)), key=lambda i: -children[i]["n_samples"])[:MOST_CHILDREN])
        if n_leaves - 1 + len(kept) > MOST_CELLS:
            stub = f"{amount(_count_leaves(box.node or {}), 'cell')}, not drawn"
            box.children = [_Box(None, stub, box.depth + 1)]
            continue
        for i in kept:
            child = _Box(children[i], str(children[i]["condition"]), box.depth + 1, box.node)
            box.children.append(child)
            order += 1
            heapq.heappush(waiting, (-children[i]["n_samples"], order, child))
        n_leaves += len(kept) - 1
        if len(kept) < len(children):
            rest = len(children) - len(kept)
            box.children.append(
                _Box(None, f"{amount(rest, 'smaller branch', 'smaller branches')}", box.depth + 1)
            )
            n_leaves += 1
    return root


def _count_leaves(node: dict[str, Any]) -> int:
    todo, n_leaves = [node], 0
    while todo:
        children = todo.pop().get("children", [])
        n_leaves += not children
        todo.extend(children)
    return n_leaves


def _walk(root: _Box) -> Iterator[_Box]:
    """Boxes from top to bottom, parents first."""
    todo = [root]
    while todo:
        box = todo.pop()
        yield box
        todo.extend(reversed(box.children))


def _x(box: _Box) -> float:
    return 2.0 + box.depth * _INDENT


def _edge(parent: _Box, child: _Box) -> Markup:
    x, top, y = _x(parent) + 12, parent.y + _HEIGHT, child.y + _HEIGHT / 2
    return tag("path", d=f"M{x:g} {top:g}V{y - 6:g}Q{x:g} {y:g} {x + 6:g} {y:g}H{_x(child):g}", class_="edge")


def _draw(box: _Box, classes: tuple[str, ...], numbers: float, first: bool) -> Markup:
    x, y = _x(box), box.y
    middle = y + _HEIGHT / 2 + 4.5
    if box.node is None:
        return point(
            box.label,
            tag("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=5, class_="cell cell-stub"),
            tag("text", f"… {box.label}", x=x + 10, y=middle, class_="cell-text"),
            first=first,
        )
    node = box.node
    prediction, error = str(node["prediction"]), percent(node["estimated_error"])
    kind = "inner" if box.children else "leaf"
    parts = [
        tag("rect", x=0, y=y - 3, width=numbers + 296 + _BAR, height=_ROW, class_="row"),
        tag("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=5, class_=f"cell cell-{kind}"),
        # a nested picture cuts off what is wider than the box
        _clipped(
            x,
            y,
            _WIDTH - 2,
            tag("text", _short_label(box), x=10, y=17.5, class_=f"cell-condition text-{kind}"),
        ),
        tag(
            "text",
            count(node["n_samples"]),
            x=numbers + 62,
            y=middle,
            class_=f"text-{kind}",
            text_anchor="end",
        ),
        _clipped(
            numbers + 84, y, 122, tag("text", short_name(prediction, 18), x=0, y=17.5, class_=f"text-{kind}")
        ),
        tag("text", error, x=numbers + 268, y=middle, class_=f"text-{kind}", text_anchor="end"),
    ]
    shares = _shares(node)
    left = numbers + 294.0
    for i, share in enumerate(shares):
        if share > 0:
            colour = f"class-{min(i, N_CLASS_COLOURS)} bar-{kind}"
            size = {"width": round(share * _BAR, 2), "height": 10}
            parts.append(tag("rect", x=round(left, 2), y=y + 8, **size, class_=colour))
        left += share * _BAR
    return point(_tip(box.label, node, classes, shares), *parts, first=first)


def _clipped(x: float, y: float, width: float, text: Markup) -> Markup:
    return tag("svg", text, x=x, y=y, width=width, height=_HEIGHT)


def _tip(label: str, node: dict[str, Any], classes: tuple[str, ...], shares: list[float]) -> str:
    """Everything about a cell, one thing per line."""
    named = [*(str(name) for name in classes), *(f"class {i}" for i in range(len(classes), len(shares)))]
    ranked = sorted(range(len(shares)), key=lambda i: -shares[i])[:N_CLASS_COLOURS]
    return "\n".join(
        [
            short_name(label.replace(" <= ", " ≤ "), 300),
            f"{amount(node['n_samples'], 'row')}, predicts {short_name(node['prediction'])}, "
            f"estimated error {percent(node['estimated_error'])}",
            *(f"{short_name(named[i])}: {count(node['counts'][i])} ({percent(shares[i])})" for i in ranked),
        ]
    )


def _short_label(box: _Box) -> str:
    """The condition; where it lists too many values, how many there are."""
    label = full_name(box.label.replace(" <= ", " ≤ "))
    if len(label) <= _LABEL or box.parent is None:
        return label
    feature = full_name(box.parent["feature"])
    values = (box.node or {}).get("values", ())
    rest = f" in {count(len(values))} values" if len(values) > 1 else label.removeprefix(feature)
    if len(rest) > _LABEL - 8:
        rest = short_name(rest.removesuffix(" or missing"), _LABEL - 8)
    return short_name(feature, max(_LABEL - len(rest), 8)) + rest


def _shares(node: dict[str, Any]) -> list[float]:
    """Observed share of each class."""
    total = sum(node["counts"])
    return [c / total if total else 0.0 for c in node["counts"]]
