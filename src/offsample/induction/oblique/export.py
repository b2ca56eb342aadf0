"""A stochastic tree as text and as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._text import visible
from offsample._ties import best_first, best_of
from offsample._typing import Floats
from offsample.induction.oblique.flat import StochasticTree


def named_weights(weights: Floats, names: list[Any], max_weights: int | None) -> list[tuple[Any, float]]:
    """Return weights with their names, the largest in absolute value first."""
    order = best_first(np.abs(weights), np.abs(weights).max(initial=0.0) or 1.0)[:max_weights]
    return [(names[j], float(weights[j])) for j in order]


def formula(weights: Floats, names: list[Any], max_weights: int) -> str:
    """Return the largest weights as a sum."""
    shown = named_weights(weights, names, max_weights)
    text = " ".join(f"{'-' if w < 0 else '+'} {abs(w):.2f} {name}" for name, w in shown)
    more = f" … {len(weights) - len(shown)} more" if len(weights) > len(shown) else ""
    return text.removeprefix("+ ") + more


def tree_to_text(
    tree: StochasticTree, names: list[Any], classes: NDArray[Any], max_weights: int, max_depth: int
) -> str:
    """Return one line per node, indented by depth."""
    split_of = {int(node): i for i, node in enumerate(tree.split_nodes)}
    lines, todo = [], [(0, "all rows")]
    while todo:
        node, label = todo.pop()
        depth = int(tree.depth[node])
        share, best = tree.masses[node].sum(), best_of(tree.value[node])
        text = f"{'|   ' * depth}{label}: {share:.1%} of the rows"
        i = split_of.get(node)
        if i is None:
            text += f", {classes[best]} ({tree.value[node, best]:.3f})"
        elif depth >= max_depth:
            text += ", split further"
        else:
            text += f", test {formula(tree.weights[i], names, max_weights)}"
            child = int(tree.first_child[node])
            todo += [(child + 1, "low"), (child, "high")]
        lines.append(visible(text))
    return "\n".join(lines)


def tree_to_dict(
    tree: StochasticTree, names: list[Any], classes: NDArray[Any], max_weights: int | None
) -> dict[str, Any]:
    """Return nested plain data, for JSON and for drawing."""
    split_of = {int(node): i for i, node in enumerate(tree.split_nodes)}
    root: dict[str, Any] = {}
    todo = [(0, root)]
    while todo:
        node, result = todo.pop()
        prediction = classes[best_of(tree.value[node])]
        result.update(
            node=node,
            share=float(tree.masses[node].sum()),
            masses=tree.masses[node].tolist(),
            probabilities=tree.value[node].tolist(),
            prediction=prediction.item() if isinstance(prediction, np.generic) else prediction,
        )
        i = split_of.get(node)
        if i is None:
            continue
        result["gain"] = float(tree.gain[i])
        result["weights"] = [
            {"name": str(name), "weight": weight}
            for name, weight in named_weights(tree.weights[i], names, max_weights)
        ]
        result["children"] = [{"condition": "high"}, {"condition": "low"}]
        child = int(tree.first_child[node])
        todo += [(child + k, branch) for k, branch in enumerate(result["children"])]
    return root
