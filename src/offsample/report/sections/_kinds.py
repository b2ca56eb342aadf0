"""The kinds of models that a report chooses between, each as small as a person will read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from offsample.induction import (
    DecisionListClassifier,
    DNFClassifier,
    StochasticTreeClassifier,
)
from offsample.report._study import Study

# A term of more conditions is not read.
_MOST_CONDITIONS = 4
# Rows that a model of few rules is fitted to at most, each class with its share: more change little.
_MOST_ROWS = 10_000
# A tree of oblique tests looks at all columns of all rows at every split.
_MOST_NUMBERS = 1_000_000
_LEAST_ROWS = 100


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of model.

    Attributes
    ----------
    name : str
    unit : {"leaf", "rule", "term"}
        What its size counts.
    learner : classifier
    most_rows : int or None
        How many rows that takes at most.
    is_read : bool
        Whether a person can apply it by hand; sums of many weighted columns are not.
    is_drawn : bool
        Whether it is a tree of conditions, which is drawn beside its text.
    """

    name: str
    unit: str
    learner: Any
    most_rows: int | None = None
    is_read: bool = True
    is_drawn: bool = False

    def of_size(self, size: int) -> Any:
        """A learner, not fitted, of models of at most this size."""
        return clone(self.learner).set_params(max_size=size)


def tree_kind(study: Study) -> Kind:
    """Trees, the first choice."""
    return Kind("tree", "leaf", study.learner, is_drawn=True)


def other_kinds(study: Study, features: Collection[Any]) -> Iterator[Kind]:
    """A decision list, a formula for two classes, and a tree of oblique tests for numbers."""
    size, seed = study.options.max_size, study.options.random_state
    yield Kind("decision list", "rule", DecisionListClassifier(max_size=size, random_state=seed), _MOST_ROWS)
    if len(study.classes) == 2:
        formula = DNFClassifier(max_size=size, literals=_MOST_CONDITIONS, random_state=seed)
        yield Kind("formula", "term", formula, _MOST_ROWS)
    numeric = all(study.encoded.kind(name) == "numeric" for name in features)
    if features and numeric and len(features) <= _MOST_NUMBERS // _LEAST_ROWS:
        most_rows = min(_MOST_ROWS, _MOST_NUMBERS // len(features))
        oblique = StochasticTreeClassifier(max_splits=size - 1)
        yield Kind("tree of oblique tests", "leaf", oblique, most_rows, is_read=False)
