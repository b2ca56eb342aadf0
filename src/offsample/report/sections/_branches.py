"""A tree as plain data that can be read: branches of many values are summed up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.induction.tree.export import tree_to_text
from offsample.report._formats import count, percent, short_name
from offsample.report._study import Study

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of the numbers in a node
_MOST_LISTED = 6  # a branch of more values is summed up by the most frequent of them
_N_NAMED = 3
_LEAST_ROWS = 10  # rates of values with fewer rows say little


def described(study: Study, tree: Any) -> dict[str, Any]:
    """Return the tree as nested plain data; a branch of many values has a `summary`, and all its `values`.

    A leaf whose prediction is not its most frequent class has a `note` that says why; of more classes than
    two one of another class than that of interest says `beside` it how likely that is. Nodes of a target of
    numbers have their mean, standard deviation and some `quantiles`.
    """
    root: dict[str, Any] = as_text(tree.to_dict())
    X = study.columns(tree._encoder.names)
    reached = tree.decision_path(X).tocsc()
    names = {as_text(name): name for name in X}
    todo, beside = [root], _beside(study, tree)
    while todo:
        node = todo.pop()
        if "counts" not in node:
            numbers = study.y[reached[:, node["node"]].indices]
            node["quantiles"] = np.quantile(numbers, QUANTILES).tolist()
            node["mean"], node["deviation"] = float(numbers.mean()), float(numbers.std())
        elif "children" not in node and (most := _overruled(node)) is not None:
            node["note"] = (
                f"{count(node['counts'][most])} of {count(node['n_samples'])} rows are "
                f"{short_name(tree.classes_[most])}: too few to overrule the rows of the branch above"
            )
        if beside is not None and "children" not in node and int(np.argmax(node["probabilities"])) != beside:
            share = percent(node["probabilities"][beside])
            node["beside"] = f"{short_name(tree.classes_[beside])} {share}"
        for branch in node.get("children", ()):
            if len(branch.get("values", ())) > _MOST_LISTED:
                rows = reached[:, branch["node"]].indices
                name = names[node["feature"]]
                values = study.encoded.known[name].values
                summary = _summary(study, values, X[name][rows], rows)
                branch["summary"] = f"{short_name(name)}: {summary}"
            if "values" in branch:
                branch["values"] = list(dict.fromkeys(branch["values"]))  # of rare ones one
            todo.append(branch)
    return root


def _beside(study: Study, tree: Any) -> int | None:
    """Class whose probability is told beside that of the likeliest: of more than two, that of interest."""
    if study.task == "regression" or not study.is_named or len(tree.classes_) < 3:
        return None
    return int(np.flatnonzero(tree.classes_ == study.classes[study.class_of_interest])[0])


def written(study: Study, tree: Any) -> str:
    """Return the tree in words."""
    classes = getattr(tree, "classes_", None)
    return tree_to_text(tree.tree_, tree._encoder, classes, beside=_beside(study, tree))


def _overruled(node: dict[str, Any]) -> int | None:
    """The most frequent class of a leaf, if another one is predicted."""
    most, predicted = int(np.argmax(node["counts"])), int(np.argmax(node["probabilities"]))
    return most if node["counts"][most] > node["counts"][predicted] else None


def _summary(study: Study, values: tuple[Any, ...], codes: NDArray[Any], rows: Ints) -> str:
    """Count the values, name the most frequent, and give the range of their rates, or means."""
    sizes = np.bincount(codes, minlength=len(values) + 1)
    named = list(
        dict.fromkeys(
            "missing" if code == len(values) else str(values[code])
            for code in np.argsort(-sizes, kind="stable")
        )
    )
    n_values = int((sizes > 0).sum())
    text = f"{count(n_values)} values, most often {', '.join(short_name(name) for name in named[:_N_NAMED])}"
    enough = sizes >= _LEAST_ROWS
    if enough.sum() > 1 and (study.task == "regression" or len(study.classes) == 2):
        told, before, label = study.y[rows], "means ", ""
        if study.task == "classification":
            told, before = study.labels[rows] == study.class_of_interest, ""
            label = f" {short_name(study.classes[study.class_of_interest])}"
        rates = np.bincount(codes, told, minlength=len(sizes))[enough] / sizes[enough]
        some = "" if enough[sizes > 0].all() else f", of those with {_LEAST_ROWS} rows or more"
        text += f"; {before}{study.written(rates.min())} to {study.written(rates.max())}{label}{some}"
    return text


def as_text(node: Any) -> Any:
    """Turn nested values that JSON does not know, such as dates, into text."""
    if isinstance(node, dict):
        return {str(key): as_text(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [as_text(value) for value in node]
    return node if node is None or isinstance(node, (bool, int, float, str)) else str(node)
