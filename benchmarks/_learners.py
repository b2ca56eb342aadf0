"""Timing learners over several data sets: each call fits the next, so that accuracies are means of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks._measure import Quality

__all__ = ["Split", "accuracy", "attempted", "error", "fitting", "n_rows"]


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to be judged on."""

    X: Any
    y: Any
    X_new: Any
    y_new: Any


def attempted(load: Callable[[], Any]) -> Callable[[], Any]:
    """Load data that may not be at hand: what comes back gives them, or raises the error, when called.

    So the tools of the case are recorded with the reason, and the topic goes on.
    """
    try:
        data = load()
    except FileNotFoundError as error:
        missing = error

        def fail() -> Any:
            raise missing

        return fail
    return lambda: data


def n_rows(data: Callable[[], Any]) -> int | None:
    """Of attempted data (X, y)."""
    try:
        return len(data()[1])
    except FileNotFoundError:
        return None


def fitting(make: Callable[[], Any], splits: Sequence[Split]) -> Callable[[], tuple[Any, Split]]:
    """A call that fits a new learner to the next of the splits; three repeats see three of them."""
    turns = cycle(splits)

    def fit() -> tuple[Any, Split]:
        split = next(turns)
        return make().fit(split.X, split.y), split

    return fit


def accuracy(fitted: tuple[Any, Split]) -> Quality:
    """Share of new rows that are predicted right; in words, the size of the model and its own estimate."""
    model, split = fitted
    predicted = np.asarray(model.predict(split.X_new)).reshape(len(split.y_new))
    return Quality(float((predicted == np.asarray(split.y_new)).mean()), describe(model))


def error(fitted: tuple[Any, Split]) -> Quality:
    """Share of new rows that are predicted wrong; in words, as `accuracy`."""
    right = accuracy(fitted)
    return Quality(1 - right.value, right.note)


def describe(model: Any) -> str:
    """How large a model is, and the error that it estimates of itself, where it says so."""
    said = []
    if hasattr(model, "rules_") and not callable(model.rules_) and hasattr(model, "estimated_error_"):
        said.append(f"{len(model.rules_)} rules")
    elif hasattr(model, "get_n_leaves"):
        said.append(f"{model.get_n_leaves()} leaves")
    elif hasattr(getattr(model, "tree_", None), "n_leaves"):
        said.append(f"{model.tree_.n_leaves} leaves")
    if getattr(model, "estimated_error_", None) is not None:
        said.append(f"estimates {model.estimated_error_:.4f}")
    return ", ".join(said)
