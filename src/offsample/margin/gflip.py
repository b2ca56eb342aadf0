"""G-flip: the set of features whose margin no single flip improves."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from offsample._typing import Booleans, Floats, Ints
from offsample.margin._flips import FlipSearch
from offsample.margin._number import stratified_rows
from offsample.margin._selector import MarginSelector, best_run, ranks
from offsample.margin._space import Columns, make_space
from offsample.margin._utility import Utility, as_utility

# A set, e after each pass, and the gain of each flip; None where the passes did not suffice.
_Run = tuple[Booleans, Floats, Floats | None]


@dataclass(kw_only=True, eq=False, repr=False)
class GFlip(MarginSelector):
    """Select the features that together give the nearest-neighbour rule the largest margin, by greedy flips.

    Algorithm 1 of Gilad-Bachrach et al. (2004): features are tried in random order, and each is added or
    taken out where that increases e(F), until no single flip does. The size of the set need not be chosen.
    Testing a feature takes O(n_rows²), however many are selected, as squared distances of all pairs are kept.

    Parameters
    ----------
    n_restarts : int, default=5
        Searches in random orders, the second from all features, the others from none. The set with the
        largest e is kept.
    max_iter : int, default=100
        Passes over the features in each search; a handful is usual.
    utility : {"linear", "sigmoid", "zero_one"} or function, default="linear"
        What a margin is worth. See `sigmoid`.
    max_rows : int, default=4000
        Rows to use of a larger sample, as the distances of all pairs take 8 bytes each. They are drawn from
        each class in proportion to its size, at least two where there are two.
    scale, categorical_features, categories
        As in `Relief`.
    n_jobs : int or None, default=None
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        For the orders of the features, and the rows of `max_rows`.
    verbose : int, default=0
        Whether to write a line for each restart, and with 2 for each pass.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
        The set F. It may be empty: where every feature makes the margins worse, none is best.
    feature_weights_ : ndarray of shape (n_features_in_,)
        1 for selected features, 0 for others.
    flip_gains_ : ndarray of shape (n_features_in_,)
        How e changes if this feature alone is flipped: none is positive (but for rounding), as F is a local
        maximum. NaN where `max_iter` did not suffice.
    ranking_ : ndarray of shape (n_features_in_,)
        First the selected features, by how much e loses without them, then the others, by how little it loses
        with them.
    score_ : float
        e(F).
    history_ : list of ndarray
        For each restart, e(F) after each pass over the features.
    n_iter_, n_rows_ : int
        Passes of the best restart, and rows used.
    n_features_, classes_, n_features_in_, feature_names_in_

    See Also
    --------
    Simba : Weights instead of a set; memory grows with the rows, not with their square.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.margin import GFlip
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 6))
    >>> y = X[:, 1] * X[:, 4] > 0  # neither says anything alone
    >>> GFlip(random_state=0).fit(X, y).get_support(indices=True).tolist()
    [1, 4]
    """

    n_restarts: int = 5
    max_iter: int = 100
    utility: str | Utility = "linear"
    max_rows: int = 4000
    _least: ClassVar[dict[str, int]] = {"n_restarts": 1, "max_iter": 1, "max_rows": 4}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX))
        if getattr(self, "n_rows_", None) == getattr(self, "_n_samples", None):
            return text
        return f"{text} fitted on {self.n_rows_} of {self._n_samples} rows"

    def _select(self, columns: Columns, labels: Ints, random: np.random.RandomState, n_threads: int) -> None:
        utility = as_utility(self.utility)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_restarts)
        rows = stratified_rows(labels, self.max_rows, random)
        self._n_samples, self.n_rows_ = len(labels), len(rows)
        rows = rows[np.argsort(labels[rows], kind="stable")]
        columns = columns.of_rows(rows)
        space = make_space(columns, matched=self.categories == "matched")
        with closing(FlipSearch(space, labels[rows], utility, n_threads, columns.groups)) as search:
            runs = []
            for restart, seed in enumerate(seeds):
                start = np.full(len(columns.values), restart == 1)
                selected, history, _ = run = self._ascend(search, start, np.random.RandomState(seed))
                runs.append(run)
                self._report(f"restart {restart + 1}: {selected.sum()} features, score {history[-1]:.6g}")
            self.history_ = [history for _, history, _ in runs]
            best = best_run(self.history_)
            # Once more from the best set, with new distances: no flip should improve it.
            selected, history, gains = self._ascend(search, runs[best][0], np.random.RandomState(seeds[0]))
        self.support_, self.n_features_ = selected, int(selected.sum())
        self.feature_weights_ = selected.astype(np.float64)
        self.score_, self.n_iter_ = float(history[-1]), len(self.history_[best])
        self.flip_gains_ = np.full(len(selected), np.nan) if gains is None else gains
        worth = np.zeros(len(selected)) if gains is None else gains
        largest = np.abs(worth).max() + 1
        self.ranking_ = ranks(np.where(selected, largest - worth, worth - largest))

    def _ascend(self, search: FlipSearch, start: Booleans, random: np.random.RandomState) -> _Run:
        search.start_from(start)
        history = []
        for _ in range(self.max_iter):
            gains = search.run_pass(random.permutation(len(start)))
            history.append(search.score)
            if self.verbose > 1:
                self._report(
                    f"pass {len(history)}: {search.selected.sum()} features, score {search.score:.6g}"
                )
            if gains is not None:
                return search.selected.copy(), np.array(history), gains
        warnings.warn(
            f"max_iter={self.max_iter} passes over the features did not reach a local maximum: increase it",
            ConvergenceWarning,
            stacklevel=5,
        )
        return search.selected.copy(), np.array(history), None
