"""Costs as they are typed, and what decisions by them cost on rows held back."""

from __future__ import annotations

import re
from typing import Annotated, Any, NamedTuple

import numpy as np

from offsample._text import shorten
from offsample._typing import Floats
from offsample.cli._options import Rows, option

Costs = Annotated[
    str | None, option("fn=10,fp=1", "Costs of missing the class of interest, and of a false alarm.")
]
Positive = Annotated[
    str | None, option("CLASS", "The class of interest for --costs; by default the rarer of two.")
]
_N_FOLDS = 5


def costs_of(text: str | None) -> dict[str, float] | None:
    """Costs as they are typed, fn=10,fp=1."""
    if text is None:
        return None
    found = {}
    for part in text.split(","):
        cost = re.fullmatch(r"\s*(\w+)\s*=\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*", part)
        if cost is None or cost[1] in found:
            said = shorten(text, 60)
            raise ValueError(f"--costs {said!r} is not understood: expected costs such as fn=10,fp=1")
        found[cost[1]] = float(cost[2])
    return found


def cost_matrix(text: str | None, positive: str | None, rows: Rows) -> Floats | None:
    """Costs [true, predicted] of the classes of these rows, in their order; None without."""
    from offsample._losses import checked_costs, class_of_interest

    costs = costs_of(text)
    if costs is None:
        if positive is not None:
            raise ValueError("--positive names the class that --costs speak of: expected --costs too")
        return None
    if rows.is_numeric:
        raise ValueError("--costs are for classes, and the target is a number")
    classes, counts = np.unique(rows.y, return_counts=True)
    return checked_costs(costs, len(classes), class_of_interest(classes.tolist(), counts, positive))


class Cost(NamedTuple):
    """What the decisions of a model cost a row that it has not seen, and the best that is always the same."""

    cost: float
    cost_low: float
    cost_high: float
    baseline_cost: float
    always: str

    @classmethod
    def of(cls, model: Any, rows: Rows, costs: Floats, seed: int) -> Cost:
        """Cross-validate a model; later rows are predicted by models of the rows before them."""
        from sklearn.base import clone

        from offsample._folds import shuffled
        from offsample._losses import decide
        from offsample.report._metrics import Rated
        from offsample.tables import take_rows

        classes, labels = np.unique(rows.y, return_inverse=True)
        n = len(labels)
        said, fold = np.full(n, -1), np.zeros(n, np.int64)
        stratify = int(np.bincount(labels).min()) >= _N_FOLDS
        splits = shuffled(rows.y, _N_FOLDS, seed, groups=rows.group, time=rows.time, stratify=stratify)
        for number, (train, test) in enumerate(splits):
            # A part of the rows may lack a class, whose costs have no place then.
            learner = clone(model).set_params(costs=None)
            fitted = rows.taken(train).fit(learner)
            proba = np.zeros((len(test), len(classes)))
            proba[:, np.searchsorted(classes, fitted.classes_)] = fitted.predict_proba(
                take_rows(rows.columns, test)
            )
            said[test], fold[test] = decide(proba, costs), number
        kept = said >= 0
        known = labels[kept]
        units = [unit[kept] for unit in rows.units]
        rated = Rated(np.zeros((len(known), 0)), said[kept], known, fold[kept], units, len(splits), 0)
        found = rated.mean(costs[known, said[kept]], float(costs.min()), float(costs.max()))
        best = int(decide(np.bincount(known, minlength=len(classes)) / len(known), costs))
        always = float(costs[known, best].mean())
        return cls(found.value, found.low, found.high, always, str(classes[best]))

    @property
    def sentence(self) -> str:
        """Say what a row costs."""
        return (
            f"By these costs, expect {self.cost:.4g} a row on rows held back (95% interval "
            f"{self.cost_low:.4g} to {self.cost_high:.4g}); always deciding for {self.always!r} costs "
            f"{self.baseline_cost:.4g}."
        )
