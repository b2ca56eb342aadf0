"""The kinds of models that a report chooses between, each as small as a person will read."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from offsample.induction import DecisionListClassifier, DNFClassifier, StochasticTreeClassifier
from offsample.report._study import Study

_MOST_CONDITIONS = 4  # a term of more conditions is not read
# Rows that a model of few rules is fitted to at most, each class with its share: more change little.
_MOST_ROWS = 10_000
_MOST_NUMBERS = 1_000_000  # a tree of oblique tests looks at all columns of all rows at every split
_LEAST_ROWS = 100


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of model."""

    name: str
    unit: str  # what its size counts: "leaf", "rule" or "term"
    learner: Any
    most_rows: int | None = None  # that the learner is fitted to
    is_read: bool = True  # whether a person can apply it by hand, unlike sums of many weighted columns
    is_drawn: bool = False  # whether it is a tree of conditions, which is drawn beside its text

    def of_size(self, size: int) -> Any:
        """Return a learner, not fitted, of models of at most this size."""
        return clone(self.learner).set_params(max_size=size)


def tree_kind(study: Study) -> Kind:
    """Return the first choice, trees."""
    return Kind("tree", "leaf", study.learner, is_drawn=True)


def other_kinds(study: Study, features: Collection[Any]) -> Iterator[Kind]:
    """Yield a decision list, a formula for two classes, and a tree of oblique tests for numbers.

    For a target of numbers there are trees only.
    """
    if study.task == "regression":
        return
    size, seed, costs = study.max_size, study.options.random_state, study.of_learners()
    yield Kind(
        "decision list", "rule", DecisionListClassifier(max_size=size, random_state=seed, **costs), _MOST_ROWS
    )
    if len(study.classes) == 2:
        formula = DNFClassifier(max_size=size, literals=_MOST_CONDITIONS, random_state=seed, **costs)
        yield Kind("formula", "term", formula, _MOST_ROWS)
    numeric = all(study.encoded.kind(name) == "numeric" for name in features)
    if features and numeric and len(features) <= _MOST_NUMBERS // _LEAST_ROWS:
        most_rows = min(_MOST_ROWS, _MOST_NUMBERS // len(features))
        oblique = StochasticTreeClassifier(max_splits=size - 1, **costs)
        yield Kind("tree of oblique tests", "leaf", oblique, most_rows, is_read=False)
