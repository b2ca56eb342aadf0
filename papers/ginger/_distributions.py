"""Known distributions of a value and two classes: exact expectations, all samples, and random ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, gammaln
from scipy.stats import binom

from offsample.hypotheses import CellRule
from papers.ginger._rankings import Floats


@dataclass(frozen=True)
class Distribution:
    """Probability of each value (p_v), and of class 1 given it (q_v)."""

    name: str
    values: Floats
    positive: Floats

    @property
    def gini(self) -> Floats:
        """Error of a class drawn at random, 2 q (1 - q), for each value."""
        return 2 * self.positive * (1 - self.positive)

    def expected_ginger(self, m: int) -> float:
        """E[Ginger], Eq. (16) summed: the expected error of the Gini rule at m - 1 rows."""
        return self.expected_gini_error(m - 1)

    def expected_gini_error(self, m: int) -> float:
        """E[error of the Gini rule], Lemma 6 summed."""
        return float(self.values @ (self.gini + (0.5 - self.gini) * (1 - self.values) ** m))

    def expected_bayes_error(self, m: int) -> float:
        """E[error of the majority rule]: over the number of rows with each value, of a vote of so many."""
        k = np.arange(m + 1)
        pairs, n = np.unique(np.column_stack([self.values, self.positive]), axis=0, return_counts=True)
        return float(
            sum(
                n_same * p * (binom.pmf(k, m, p) @ vote_error(k, q))
                for (p, q), n_same in zip(pairs, n, strict=True)
            )
        )

    def bayes_optimum(self) -> float:
        """Error of the rule that knows the distribution."""
        return float(self.values @ np.minimum(self.positive, 1 - self.positive))

    def missing_masses(self, m: int) -> Floats:
        """E[M_k] for k = 0, …, m: probability of the values seen k times."""
        masses = np.zeros(m + 1)
        for p, n_same in zip(*np.unique(self.values, return_counts=True), strict=True):
            # Further than 12 standard deviations and 40 rows from the mean is less likely than 1e-20.
            reach = 12 * np.sqrt(m * p) + 40
            k = np.arange(max(0, int(m * p - reach)), min(m, int(m * p + reach)) + 1)
            masses[k] += n_same * p * binom.pmf(k, m, p)
        return masses

    def errors(self, tables: NDArray[Any], rule: type[CellRule]) -> Floats:
        """Error of the rule of each table of counts, of shape (n_tables, n_values, 2), Eq. (3)."""
        h = rule.from_counts(tables)[..., 1]
        return np.asarray((self.positive * (1 - h) + (1 - self.positive) * h) @ self.values)

    def draw(self, m: int, n_samples: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Tables of counts of samples of m rows."""
        sizes = rng.multinomial(m, self.values / self.values.sum(), size=n_samples)
        positives = rng.binomial(sizes, self.positive)
        return np.stack([sizes - positives, positives], axis=-1)

    def probabilities(self, tables: NDArray[Any]) -> Floats:
        """Probability of each table of counts."""
        cells = np.stack([self.values * (1 - self.positive), self.values * self.positive], axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_terms = np.where(tables > 0, tables * np.log(cells), 0.0) - gammaln(tables + 1)
        return np.exp(gammaln(tables[0].sum() + 1) + log_terms.sum(axis=(-2, -1)))


def vote_error(k: NDArray[Any], q: float) -> Floats:
    """Error of the majority of k labels, each 1 with probability q; a tie and k = 0 count one half."""
    # The last label of an even vote can only make or break a tie: it equals the odd vote before it.
    odd = np.where(k > 0, k - 1 + k % 2, 0)
    wrong = bdtr(odd // 2, odd, max(q, 1 - q))
    return np.where(k == 0, 0.5, min(q, 1 - q) + abs(2 * q - 1) * wrong)


def leave_one_out(tables: NDArray[Any], rule: type[CellRule]) -> Floats:
    """Leave-one-out error of a rule on each table: Ginger for the Gini rule."""
    return np.asarray(rule.loo_terms(tables).sum(axis=-1) / tables[0].sum())


@lru_cache(maxsize=32)
def all_tables(n_values: int, m: int) -> NDArray[np.int64]:
    """Every table of counts of m rows, shape (n_tables, n_values, 2)."""
    n_cells = 2 * n_values
    bars = np.array(list(combinations(range(m + n_cells - 1), n_cells - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), m + n_cells - 1)])
    return (np.diff(edges, axis=1) - 1).reshape(-1, n_values, 2)


def random_distributions(n: int, n_values: int, rng: np.random.Generator) -> list[Distribution]:
    """Distributions with values from nearly equal to nearly one, and classes from pure to balanced."""
    found = []
    for i in range(n):
        p = rng.dirichlet(np.full(n_values, 10 ** rng.uniform(-1, 1)))
        shape = 10 ** rng.uniform(-1.5, 1.5)
        found.append(Distribution(f"random {i}", p, rng.beta(shape, shape, n_values)))
    return found


def uniform(name: str, n_values: int, q: float | Floats) -> Distribution:
    """Equally likely values."""
    return Distribution(name, np.full(n_values, 1 / n_values), np.broadcast_to(q, n_values).astype(float))


def example_distributions(m: int) -> list[Distribution]:
    """Where concentration is measured at m rows: few values, many, as many as rows, and a long tail."""
    rng = np.random.default_rng(0)
    tail = 1 / np.arange(1, 301)
    return [
        uniform("2 values, q = 0.3 and 0.7", 2, np.array([0.3, 0.7])),
        uniform("1 value, q = ½ + ½/√m", 1, 0.5 + 0.5 / np.sqrt(m)),
        uniform("100 values, q uniform", 100, rng.random(100)),
        Distribution("300 values, p ∝ 1/v, q uniform", tail / tail.sum(), rng.random(300)),
        uniform("m values, q = 0 or 1", m, (np.arange(m) % 2).astype(float)),
    ]


def generalization_error(
    predicted: Floats, cell_probabilities: ArrayLike, class_probabilities: ArrayLike
) -> float:
    """Error of a rule on a known distribution, Eq. (3) of Sabato and Shalev-Shwartz (2008) for K classes.

    Parameters
    ----------
    predicted : ndarray of shape (n_cells, n_classes)
        Probabilities with which the rule predicts the classes in each cell.
    cell_probabilities : array-like of shape (n_values,)
        Probability of each cell; cells beyond those of the rule are unseen, and predicted uniformly.
    class_probabilities : array-like of shape (n_values, n_classes)
        Probability of each class given the cell.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.hypotheses import GiniRule
    >>> from papers.ginger._distributions import generalization_error
    >>> rule = GiniRule.from_counts(np.array([[3, 1]]))
    >>> round(generalization_error(rule, [0.5, 0.5], [[1.0, 0.0], [0.2, 0.8]]), 3)
    0.375
    """
    p = np.asarray(cell_probabilities, dtype=float)
    q = np.asarray(class_probabilities, dtype=float)
    expected = (len(p), predicted.shape[1])
    if p.ndim != 1 or q.shape != expected:
        raise ValueError(f"class_probabilities has shape {q.shape}: expected {expected}, one row per cell")
    if abs(p.sum() - 1) > 1e-9 or (p < 0).any():
        raise ValueError(f"cell_probabilities must be a distribution, got numbers that sum to {p.sum():g}")
    if (np.abs(q.sum(axis=1) - 1) > 1e-9).any() or (q < 0).any():
        raise ValueError("class_probabilities must be a distribution in every row")
    unseen = np.full((len(p) - len(predicted), predicted.shape[1]), 1 / predicted.shape[1])
    hit = (q * np.vstack([predicted, unseen])).sum(axis=1)
    return float(p @ (1 - hit))
