"""Simba: gradient ascent on the margin."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offsample._typing import Floats, Ints
from offsample.margin import _passes
from offsample.margin._selector import MarginSelector, best_run, rows_with_a_hit
from offsample.margin._sketch import Sample
from offsample.margin._space import Columns, make_space
from offsample.margin._utility import Utility, as_utility, derivative_of


@dataclass(kw_only=True, eq=False, repr=False)
class Simba(MarginSelector):
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
        Random orders to try; the result with the largest e(w) is kept.
    step : float, default=1.0
        Factor of the gradient. The paper's step of 1 is too long where distances are far above 1 (see
        `scale`), and short for thousands of features in the range 0 to 1: try 10 or 100 there.
    batch_size : int, default=1
        Rows whose gradients are averaged for one step.
    utility : {"linear", "sigmoid"} or function with a method `derivative`, default="linear"
        What a margin is worth, with weights whose maximum is 1. See `sigmoid`.
    n_features_to_select : int, float or "auto", default="auto"
        A number, a share of all, or the features before the largest gap between weights.
    scale : {"minmax", "standard"} or None, default="minmax"
        Scale of numeric columns. With None, ten times larger values mean a ten times longer step.
    categorical_features, categories
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
        For each restart, e(w) after each pass over the rows, at weights whose maximum is 1.
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
    step: float = 1.0
    batch_size: int = 1
    utility: str | Utility = "linear"
    n_features_to_select: int | float | Literal["auto"] = "auto"

    def _select(self, columns: Columns, labels: Ints, random: np.random.RandomState, n_threads: int) -> None:
        self._check_least(n_iter=1, n_restarts=1, batch_size=1)
        if not 0 < self.step < np.inf:
            raise ValueError(f"step must be positive and finite, got {self.step}")
        derivative_of(as_utility(self.utility))
        space = make_space(columns, matched=self.categories == "matched")
        sample = Sample.of(space, labels, groups=columns.groups)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_restarts).tolist()

        def run(seed: int) -> tuple[Floats, Floats]:
            weights, history = self._ascend(sample, np.random.RandomState(seed))
            self._report(f"restart {seeds.index(seed) + 1}: score {history[-1]:.6g}")
            return weights, history

        with ThreadPoolExecutor(n_threads) as pool:
            runs = list(pool.map(run, seeds))
        self.history_ = [history for _, history in runs]
        best = best_run(self.history_)
        self._keep_best(runs[best][0] ** 2, self.n_features_to_select)
        self.score_ = float(self.history_[best][-1])

    def _ascend(self, sample: Sample, random: np.random.RandomState) -> tuple[Floats, Floats]:
        """Return w with maximum 1, and e(w) after each pass."""
        utility = as_utility(self.utility)
        rows = rows_with_a_hit(sample.labels, sample.groups)
        weights, history = np.ones(len(sample.space.columns)), []
        for order in _passes_through(rows, self.n_iter, random):
            for start in range(0, len(order), self.batch_size):
                batch = order[start : start + self.batch_size]
                # The gradient depends on the direction of w only, if margins are those of max |w| = 1.
                direction = _normalized(weights)
                step = _passes.gradient(sample, direction, batch, utility, skip_zero=True)
                weights = weights + self.step / len(batch) * step
            margins = _passes.margins(sample, _normalized(weights), rows)
            history.append(float(np.sum(utility(margins))))
        return _normalized(weights), np.array(history)


def _passes_through(rows: Ints, n_iter: int | None, random: np.random.RandomState) -> Iterator[Ints]:
    left = len(rows) if n_iter is None or not len(rows) else n_iter
    while True:
        order = random.permutation(rows)[:left]
        yield order
        left -= len(order)
        if left <= 0:
            return


def _normalized(weights: Floats) -> Floats:
    largest = np.abs(weights).max()
    return np.asarray(weights / largest) if largest > 0 else weights
