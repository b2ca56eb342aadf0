"""Simba: gradient ascent on the margin."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from offsample._ties import rounded
from offsample._typing import Floats, Ints
from offsample.margin import _passes
from offsample.margin._number import stratified_rows
from offsample.margin._selector import WeighingSelector, best_run, rows_with_a_hit
from offsample.margin._sketch import Sample
from offsample.margin._space import Columns, make_space
from offsample.margin._utility import Utility, as_utility, derivative_of

# What a pass would add to the largest weight with the gradient of the start. Ten was as good as thirty on
# four wide tables, and turned no weight negative; one was too short.
_GROWTH = 10.0
_MOST_HALVINGS = 8


@dataclass(kw_only=True, eq=False, repr=False)
class Simba(WeighingSelector):
    """Select features by the weights that maximise the margin, found by stochastic gradient ascent.

    Algorithm 2 of Gilad-Bachrach et al. (2004): each step takes one row, finds its nearest hit and miss with
    the current weights w, and adds the gradient of its margin. Unlike Relief it sees that a feature adds
    nothing to those that already weigh much. Distances are ``‖z‖² = Σ wᵢ² zᵢ²``; the weights returned are
    ``w² / max(w²)``. Rows without a gradient, the only one of a class and those at distance 0 from their
    nearest hit or miss, are passed over. Of equally near rows the first is taken.

    Parameters
    ----------
    n_iter : int or None, default=None
        Rows visited in each restart, in one random order after the other. None: each once.
    n_restarts : int, default=5
        Random orders to try; the result with the largest e(w), at weights of the same Euclidean norm, is
        kept: at a norm of max w² = 1, e would be largest where hardly any weight has fallen.
    step : float or "auto", default="auto"
        "auto": so long that one pass, with the gradient of the start throughout, would raise the largest
        weight to eleven times the others, whatever the scale of X; where a pass ends below its start it is
        made again with half the step. A number is the factor of the mean gradient of a batch; the paper has
        1, too long where distances are far above 1, too short for thousands of features from 0 to 1.
    batch_size : int, default=8
        Rows whose gradients make one step; the paper has 1.
    max_rows : int, default=4000
        Rows to use of a larger sample, as one pass compares all pairs of them; drawn as for `GFlip`.
    utility : {"linear", "sigmoid"} or function with a method `derivative`, default="linear"
        What a margin is worth, with weights whose maximum is 1. See `sigmoid`.
    n_features_to_select : int, float or "auto", default="auto"
        As in `Relief`; the folds are ranked with one restart.
    threshold : float or None, default=None
        Select the features whose weight is above it instead of a number of them.
    scale, categorical_features, categories
        As in `Relief`.
    n_jobs : int or None, default=None
        Restarts at a time. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the orders of the rows.
    verbose : int, default=0
        Whether to write a line for each restart.

    Attributes
    ----------
    feature_weights_ : ndarray of shape (n_features_in_,)
        ``w² / max(w²)`` of the best restart, the factors of the squared differences; `margin_score` takes
        their square roots.
    ranking_ : ndarray of shape (n_features_in_,)
        1 for the feature with the largest weight.
    score_ : float
        e at the weights returned.
    history_ : list of ndarray
        For each restart, e(w) at the start and after each pass over the rows, at weights with the norm of the
        start, ‖w‖² = n_features. With ``step="auto"`` it ends no lower than it starts.
    n_rows_ : int
        Rows used.
    support_ : ndarray of bool, shape (n_features_in_,)
    n_features_, classes_, n_features_in_, feature_names_in_

    See Also
    --------
    Relief : One pass with equal weights.
    GFlip : Chooses a set of features, without weights.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.margin import Simba
    >>> X = np.random.default_rng(0).uniform(-1, 1, (500, 6))
    >>> y = X[:, 1] * X[:, 4] > 0  # neither says anything alone
    >>> Simba(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [1, 4]
    """

    n_iter: int | None = None
    n_restarts: int = 5
    step: float | Literal["auto"] = "auto"
    batch_size: int = 8
    max_rows: int = 4000
    utility: str | Utility = "linear"
    _least: ClassVar[dict[str, int]] = {"n_iter": 1, "n_restarts": 1, "batch_size": 1, "max_rows": 4}

    def _select(self, columns: Columns, labels: Ints, random: np.random.RandomState, n_threads: int) -> None:
        if self.step != "auto" and not 0 < float(self.step) < np.inf:
            raise ValueError(f"step must be 'auto', or positive and finite, got {self.step}")
        derivative_of(as_utility(self.utility))
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_restarts).tolist()
        rows = stratified_rows(labels, self.max_rows, random)
        self.n_rows_ = len(rows)
        if len(rows) < len(labels):
            columns, labels = columns.of_rows(rows), labels[rows]
        ascent = _Ascent(self, columns, labels)

        def run(seed: int) -> tuple[Floats, Floats]:
            weights, history = ascent.run(np.random.RandomState(seed))
            self._report(f"restart {seeds.index(seed) + 1}: score {history[-1]:.6g}")
            return weights, history

        with ThreadPoolExecutor(n_threads) as pool:
            runs = list(pool.map(run, seeds))
        self.history_ = [history for _, history in runs]
        weights = runs[best_run(self.history_)][0]

        def weigh(columns: Columns, target: Any) -> Floats:
            return _Ascent(self, columns, target).run(np.random.RandomState(seeds[0]))[0] ** 2

        self._keep_best(weights**2, weigh, columns, labels)
        self.score_ = ascent.score(weights)


class _Ascent:
    """Gradient ascent on the margins of a sample, with the options of a `Simba`."""

    def __init__(self, simba: Simba, columns: Columns, labels: Ints) -> None:
        space = make_space(columns, matched=simba.categories == "matched")
        self.sample = Sample.of(space, labels, groups=columns.groups)
        self.rows = rows_with_a_hit(labels, columns.groups)  # those with a margin
        self.utility, self.step = as_utility(simba.utility), simba.step
        self.batch_size, self.n_iter = simba.batch_size, simba.n_iter
        self._start = np.ones(len(columns.values))
        self._first = self.score(self._start)
        self._rate = 0.0
        if self.step == "auto":
            total = np.abs(self._gradient(self._start, self.rows)).max()
            visited = min(1.0, (self.n_iter or len(self.rows)) / max(len(self.rows), 1))
            self._rate = float(_GROWTH / (total * visited)) if total > 0 else 0.0

    def score(self, weights: Floats) -> float:
        """Evaluate e at some weights."""
        return float(np.sum(self.utility(_passes.margins(self.sample, weights, self.rows))))

    def run(self, random: np.random.RandomState) -> tuple[Floats, Floats]:
        """Return w with maximum 1, and e at the start and after each pass, at the norm of the start."""
        left, orders = self.n_iter if self.n_iter and len(self.rows) else len(self.rows), list[Ints]()
        while left > 0 or not orders:  # one random order after the other
            orders.append(random.permutation(self.rows)[:left])
            left -= len(orders[-1])
        for halvings in range(_MOST_HALVINGS + 1):
            weights, history = self._start, [self._first]
            for order in orders:
                weights = self._pass(weights, order, self._rate / 2**halvings)
                history.append(self.score(self._at_the_norm_of_the_start(weights)))
            if self.step != "auto" or rounded(history[-1] - self._first, abs(self._first) or 1.0) >= 0:
                return _normalized(weights), np.array(history)
        return self._start, np.full(len(orders) + 1, self._first)

    def _pass(self, weights: Floats, order: Ints, rate: float) -> Floats:
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            factor = rate if self.step == "auto" else float(self.step) / len(batch)
            # The gradient depends on the direction of w only, if margins are those of max |w| = 1.
            weights = weights + factor * self._gradient(_normalized(weights), batch)
        return weights

    def _gradient(self, weights: Floats, rows: Ints) -> Floats:
        return _passes.gradient(self.sample, weights, rows, self.utility, skip_zero=True)

    def _at_the_norm_of_the_start(self, weights: Floats) -> Floats:
        norm = float(np.linalg.norm(weights))
        return np.asarray(weights * (np.sqrt(len(weights)) / norm)) if norm > 0 else weights


def _normalized(weights: Floats) -> Floats:
    largest = np.abs(weights).max()
    return np.asarray(weights / largest) if largest > 0 else weights
