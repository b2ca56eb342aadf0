"""A tree as plain data that can be read: branches of many values are summed up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsample._typing import Ints
from offsample.induction import TreeClassifier
from offsample.report._formats import count, percent, short_name
from offsample.report._study import Study

_MOST_LISTED = 6  # a branch of more values is summed up by the most frequent of them
_N_NAMED = 3
_LEAST_ROWS = 10  # rates of values with fewer rows say little


def described(study: Study, tree: TreeClassifier) -> dict[str, Any]:
    """Return the tree as nested plain data; a branch of many values has a `summary`, and all its `values`.

    A leaf whose prediction is not its most frequent class has a `note` that says why.
    """
    root: dict[str, Any] = as_text(tree.to_dict())
    X = study.columns(tree._encoder.names)
    reached = tree.decision_path(X).tocsc()
    names = {as_text(name): name for name in X}
    todo = [root]
    while todo:
        node = todo.pop()
        most = int(np.argmax(node["counts"]))
        predicted = int(np.argmax(node["probabilities"]))
        if "children" not in node and node["counts"][most] > node["counts"][predicted]:
            node["note"] = (
                f"{count(node['counts'][most])} of {count(node['n_samples'])} rows are "
                f"{short_name(tree.classes_[most])}: too few to overrule the rows of the branch above"
            )
        for branch in node.get("children", ()):
            if len(branch.get("values", ())) > _MOST_LISTED:
                rows = reached[:, branch["node"]].indices
                name = names[node["feature"]]
                values = study.encoded.known[name].values
                summary = _summary(study, values, X[name][rows], study.labels[rows])
                branch["summary"] = f"{short_name(name)}: {summary}"
            todo.append(branch)
    return root


def _summary(study: Study, values: tuple[Any, ...], codes: NDArray[Any], labels: Ints) -> str:
    """Count the values, name the most frequent, and give the range of rates of the class of interest."""
    sizes = np.bincount(codes, minlength=len(values) + 1)
    named = [
        "missing" if code == len(values) else str(values[code]) for code in np.argsort(-sizes, kind="stable")
    ]
    n_values = int((sizes > 0).sum())
    text = f"{count(n_values)} values, most often {', '.join(short_name(name) for name in named[:_N_NAMED])}"
    enough = sizes >= _LEAST_ROWS
    if enough.sum() > 1 and len(study.classes) == 2:
        of_interest = np.bincount(codes, labels == study.class_of_interest, minlength=len(sizes))
        rates = of_interest[enough] / sizes[enough]
        label = short_name(study.classes[study.class_of_interest])
        some = "" if enough[sizes > 0].all() else f", of those with {_LEAST_ROWS} rows or more"
        text += f"; {percent(rates.min())} to {percent(rates.max())} {label}{some}"
    return text


def as_text(node: Any) -> Any:
    """Turn nested values that JSON does not know, such as dates, into text."""
    if isinstance(node, dict):
        return {str(key): as_text(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [as_text(value) for value in node]
    return node if node is None or isinstance(node, (bool, int, float, str)) else str(node)
