"""Other models that can be read, beside the tree."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from offsample.induction import DecisionListClassifier, DNFClassifier, StochasticTreeClassifier
from offsample.report._study import Study
from offsample.report.sections.model import Alternative

# A tree of oblique tests looks at all columns of all rows at every split.
_MOST_NUMBERS = 2_000_000


def fit_others(study: Study, features: Collection[Any]) -> tuple[Alternative, ...]:
    """A decision list, a formula for two classes, and a tree of oblique tests for numbers."""
    X = study.columns(features)
    declared: Any = [name for name in study.options.categorical_features if name in X] or "infer"
    found = []
    rules = [DecisionListClassifier(categorical_features=declared)]
    if len(np.unique(study.labels)) == 2:
        rules.append(DNFClassifier(categorical_features=declared))
    for learner in rules:
        if study.has_time_for("decision lists and formulas"):
            model = learner.fit(X, study.y)
            kind = "decision list" if isinstance(model, DecisionListClassifier) else "formula (DNF)"
            low, high = model.estimated_error_interval_
            found.append(Alternative(kind, model.size_, model.estimated_error_, low, high, model.to_text()))
    numeric = all(study.encoded[name].kind == "numeric" for name in X if name in study.encoded)
    few = len(X) * len(study.y) <= _MOST_NUMBERS
    if features and numeric and few and study.has_time_for("a tree of oblique tests"):
        tree = StochasticTreeClassifier().fit(X, study.y)
        kind, text = "tree of oblique tests", tree.export_text()
        low, high = tree.estimated_error_interval_
        found.append(Alternative(kind, tree.n_splits_, tree.estimated_error_, low, high, text))
    return tuple(found)
