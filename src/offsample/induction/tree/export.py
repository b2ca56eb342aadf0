"""A tree as text, as plain data and as conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._text import digits, value_text, visible
from offsample.induction.forms import Expression, Op, at_most, case, columns_of, one_of
from offsample.induction.tree.flat import FlatTree
from offsample.induction.tree.lines import FEWEST_ROWS, Line
from offsample.induction.tree.splits.split import sizes
from offsample.tables._encoder import TableEncoder

_SHOWN_VALUES = 6


def tree_to_dict(tree: FlatTree, encoder: TableEncoder, classes: NDArray[Any] | None) -> dict[str, Any]:
    """Nested plain data, for JSON and for drawing: a node, its test, its children and their conditions.

    Without classes the tree is of a numeric target.
    """
    root: dict[str, Any] = {}
    todo = [(0, root)]
    while todo:  # a chain of splits may be longer than Python's stack
        current, result = todo.pop()
        counts = tree.shown[current]
        result.update(node=int(current), n_samples=int(sizes(counts)))
        if classes is None:
            result["prediction"] = float(tree.value[current, 0])
            result["deviation"] = _deviation(tree, current)
            if tree.lines is not None and tree.lines.there[current]:
                line = dict(zip(Line._fields, tree.lines.of_node[current].tolist(), strict=True))
                result["line"] = line | {"column": _plain(encoder.names[line["column"]])}
        else:
            result.update(
                counts=counts.tolist(),
                probabilities=tree.value[current].tolist(),
                prediction=_plain(classes[int(tree.label[current])]),
            )
        result["estimated_error"] = float(tree.estimated_error[current])
        if tree.feature[current] < 0:
            continue
        result["feature"] = _plain(encoder.names[tree.feature[current]])
        result["gain"] = float(tree.gain[current])
        if tree.table_size[current] == 0:
            result["threshold"] = float(tree.threshold[current])
            result["missing_left"] = bool(tree.missing_left[current])
        result["children"] = []
        for i in range(tree.n_children[current]):
            child = int(tree.first_child[current]) + i
            branch: dict[str, Any] = {"condition": condition(tree, encoder, current, child)}
            if tree.table_size[current]:
                branch["values"] = [_plain(v) for v in _values(tree, encoder, current, child)]
            result["children"].append(branch)
            todo.append((child, branch))
    return root


def tree_cell(tree: FlatTree, encoder: TableEncoder) -> Expression:
    """Conditions that lead to the number of a node: a leaf, or one at which a value was not seen."""
    columns, depth = columns_of(encoder), [0] * tree.n_nodes
    parts: list[Expression] = list(range(tree.n_nodes))
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        feature, first = tree.feature[node], int(tree.first_child[node])
        children = list(range(first, first + int(tree.n_children[node])))
        if tree.table_size[node]:
            codes = [tree.values_of_child(node, child).tolist() for child in children]
            tests, last = (
                [one_of(columns[feature], encoder.known[feature].values, one) for one in codes],
                node,
            )
        else:
            tests = [at_most(columns[feature], tree.threshold[node], missing=bool(tree.missing_left[node]))]
            if depth[first] > depth[first + 1]:  # a chain of splits is written without nesting
                tests, children = [tests[0].contrary()], children[::-1]
            last = children.pop()
        depth[node] = max(depth[last], *(depth[child] + 1 for child in children))
        parts[node] = case(
            [((one,), parts[to]) for one, to in zip(tests, children, strict=True)], parts[last]
        )
    return parts[0]


def tree_numbers(tree: FlatTree, encoder: TableEncoder) -> list[Expression]:
    """Number that each node predicts, along its line if it has one."""
    numbers: list[Expression] = tree.value[:, 0].tolist()
    there = [] if tree.lines is None else np.flatnonzero(tree.lines.there[: len(numbers)]).tolist()
    for node, line in ((node, Line(*tree.lines.of_node[node].tolist())) for node in there if tree.lines):
        x = columns_of(encoder)[line.column]
        held = Op("min", (Op("max", (x, line.low)), line.high))
        along = Op("+", (numbers[node], Op("*", (line.slope, Op("-", (held, line.center))))))
        numbers[node] = case([((at_most(x, np.inf, missing=False),), along)], numbers[node])
    return numbers


def condition(tree: FlatTree, encoder: TableEncoder, node: int, child: int) -> str:
    """What leads from a node to a child, in words."""
    name = encoder.names[tree.feature[node]]
    if tree.table_size[node] == 0:
        first = child == tree.first_child[node]
        missing = " or missing" if bool(tree.missing_left[node]) == first else ""
        if np.isinf(tree.threshold[node]):
            return f"{name} {'not missing' if first else 'missing'}"
        at = value_text(float(tree.threshold[node]), encoder.known[tree.feature[node]].quantity)
        return f"{name} {'<=' if first else '>'} {at}{missing}"
    values = list(
        dict.fromkeys("missing" if v is None else str(v) for v in _values(tree, encoder, node, child))
    )
    if len(values) == 1:
        return f"{name} = {values[0]}"
    more = f", … {len(values) - _SHOWN_VALUES} more" if len(values) > _SHOWN_VALUES else ""
    return f"{name} in {{{', '.join(values[:_SHOWN_VALUES])}{more}}}"


def tree_to_text(
    tree: FlatTree,
    encoder: TableEncoder,
    classes: NDArray[Any] | None,
    max_children: int = 20,
    beside: int | None = None,
) -> str:
    """One line per node, indented; of many children the largest. Leaves say how likely `beside` is, too."""
    lines = []
    todo = [(0, "all rows")]
    while todo:
        node, label = todo.pop()
        counts = tree.shown[node]
        n = int(sizes(counts))
        text = f"{'|   ' * int(tree.depth[node])}{label}: {n} row{'s' * (n != 1)}"
        if tree.feature[node] < 0 and classes is None:
            line = "" if tree.lines is None else tree.lines.text(node, encoder.names)
            text += f", {tree.value[node, 0]:.6g}{line} ± {digits(_deviation(tree, node))}"
        elif tree.feature[node] < 0 and classes is not None:
            best = int(tree.label[node])
            for one in dict.fromkeys([best] if beside is None else [best, beside]):
                share = tree.value[node, one]  # where leaves of a rare class differ in the fourth digit
                text += f", {classes[one]} ({share:.{5 if 0.999 <= share < 1 else 3}f})"
        lines.append(visible(text))
        first, n_children = int(tree.first_child[node]), int(tree.n_children[node])
        if tree.feature[node] < 0:
            continue
        children = list(range(first, first + n_children))
        if n_children > max_children:
            n_rows = sizes(tree.shown[first : first + n_children])
            children = (first + np.sort(np.argsort(-n_rows, kind="stable")[:max_children])).tolist()
            lines[-1] += f", {n_children} children, the {max_children} largest shown"
        todo.extend((child, condition(tree, encoder, node, child)) for child in reversed(children))
    return "\n".join(lines)


def _deviation(tree: FlatTree, node: int) -> float:
    """Standard deviation of the numbers of a node, about its line if it has one of its own."""
    size, total, squares = tree.shown[node]
    variance = (squares / size - (total / size) ** 2) * tree.unit**2
    if tree.lines is not None and size >= FEWEST_ROWS:
        line = tree.lines.of_node[node]
        variance -= line["slope"] ** 2 * line["squares"] / size
    return float(max(variance, 0.0) ** 0.5)


def _values(tree: FlatTree, encoder: TableEncoder, node: int, child: int) -> list[Any]:
    """Values that lead from a node to a child, of those that lead to the node."""
    feature = tree.feature[node]
    codes = tree.values_of_child(node, child)
    below, above = node, int(tree.parent[node])
    while above >= 0:  # the same column may have been asked before
        if tree.feature[above] == feature:
            codes = np.intersect1d(codes, tree.values_of_child(above, below), assume_unique=True)
        below, above = above, int(tree.parent[above])
    known = encoder.known[feature].values
    return [known[code] if code < len(known) else None for code in codes]


def _plain(value: Any) -> Any:
    """Native Python value of a numpy scalar."""
    return value.item() if isinstance(value, np.generic) else value
