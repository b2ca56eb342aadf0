"""From probabilities to a class: the cheapest one, where mistakes do not cost the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from offsample._estimators import TypedEstimator
from offsample._losses import as_number, checked_costs, class_of_interest, decide
from offsample._typing import Floats, Ints


@dataclass(kw_only=True, eq=False, repr=False)
class Decider(TypedEstimator):
    """A classifier that predicts the class with the least expected cost; see `TreeClassifier`."""

    costs: Annotated[Any, "no_validation"] = None
    class_weight: Annotated[Any, "no_validation"] = None

    # Costs ``[true, predicted]`` of the fitted model; None where the most probable class is predicted.
    _costs = cast("Floats | None", None)
    # Classes and costs that are known, whatever the parameters say: those of all rows, for a part of them.
    _told_costs = cast("tuple[NDArray[Any], Floats] | None", None)
    _half_row = 0.0  # probability of a class, whatever a model says: half a row

    def _costs_of(
        self, known: NDArray[Any], y: NDArray[Any], sample_weight: ArrayLike | None
    ) -> Floats | None:
        """Costs with the weights of the classes, or an error that says what was expected."""
        if self._told_costs is not None:
            self._half_row = 0.5 / len(y)
            kept = np.searchsorted(self._told_costs[0], known)
            return self._told_costs[1][np.ix_(kept, kept)]
        if self.costs is None and self.class_weight is None:
            return None
        self._half_row = 0.5 / len(y)
        classes = known.tolist()
        times = np.broadcast_to(1.0 if sample_weight is None else np.asarray(sample_weight), len(y))
        rows = np.array([times[y == one].sum() for one in known])
        weight = np.ones(len(classes))
        if isinstance(self.class_weight, Mapping):
            told = {one: as_number(w, f"class_weight[{one!r}]") for one, w in self.class_weight.items()}
            if min(told.values(), default=0.0) < 0:
                raise ValueError(f"class_weight must be finite and not negative, got {self.class_weight}")
            # A class that some rows lack may have a weight, if all that they have do.
            if (strangers := [one for one in told if one not in classes]) and not told.keys() >= {*classes}:
                named = ", ".join(repr(one) for one in classes[:10])
                raise ValueError(f"class_weight names {strangers[0]!r}, which is no class: expected {named}")
            weight = np.array([told.get(one, 1.0) for one in classes])
        elif isinstance(self.class_weight, str) and self.class_weight == "balanced":
            weight = np.where(rows > 0, times.sum() / (len(classes) * np.maximum(rows, 1e-300)), 0.0)
        elif self.class_weight is not None:
            raise ValueError(f"class_weight must be a dict, 'balanced' or None, got {self.class_weight!r}")
        one_each = 1 - np.eye(len(classes))
        if self.costs is None:
            return weight[:, None] * one_each
        of_interest = class_of_interest(classes, rows, getattr(self, "positive", None))
        return weight[:, None] * checked_costs(self.costs, len(classes), of_interest)

    @property
    def _reported(self) -> list[Callable[[Floats], Floats]]:
        """Losses that are told beside the usual error: with costs, errors and costs of the class chosen."""
        if self._costs is None:
            return []
        costs = self._costs
        return [lambda p: (1 - np.eye(len(costs)))[self._cheapest(p)], lambda p: costs.T[self._cheapest(p)]]

    def _cheapest(self, probabilities: Floats) -> Ints:
        """Number of the class that is cheapest in expectation, given probabilities of shape (..., K)."""
        return decide(np.maximum(probabilities, self._half_row), self._costs)
