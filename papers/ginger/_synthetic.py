"""Figure 1: synthetic data sets whose errors are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from offsample.counts import CellCounts, count_cells
from offsample.hypotheses import RULES
from papers.ginger._distributions import generalization_error
from papers.ginger._rankings import (
    COLUMNS,
    Floats,
    Ints,
    criterion_scores,
    largest_drop,
    places,
    ranking,
)


@dataclass(frozen=True)
class SyntheticFeature:
    """Values and classes of a feature of Sec. 5.1: uniform values, and Pr[Y = 1] given each of them.

    `positive` is None for the identifier X_11, whose values do not come back.
    """

    name: str
    positive: Floats | None

    @property
    def value_probabilities(self) -> Floats:
        """Probability of each value (p_v): Pr[Y = 1] = 1/2 makes all values of a feature alike."""
        assert self.positive is not None
        return np.full(len(self.positive), 1 / len(self.positive))

    @property
    def class_probabilities(self) -> Floats:
        """Probabilities of the classes given each value."""
        assert self.positive is not None
        return np.column_stack([1 - self.positive, self.positive])


def _agreement(i: int) -> float:
    """Return Pr[X_i = Y]."""
    return (1 + 0.1 * i) / 2


SYNTHETIC_FEATURES = (
    *(SyntheticFeature(f"X{i}", np.array([1 - _agreement(i), _agreement(i)])) for i in range(11)),
    SyntheticFeature("X11", None),
    SyntheticFeature("X12", np.repeat([1.0, 0.0], 2000)),
)
DATA_SETS = {"I": 11, "II": 12, "III": 13}  # the first so many features


def synthetic(n_rows: int, rng: np.random.Generator, first_index: int = 0) -> tuple[list[Ints], Ints]:
    """Draw the codes of X_0, …, X_12 (data set III) and the labels.

    Data sets I and II are its first 11 and 12 features. `first_index` is the identifier of the first row.
    """
    y = rng.integers(0, 2, n_rows)
    columns = [np.where(rng.random(n_rows) < _agreement(i), y, 1 - y) for i in range(11)]
    columns.append(first_index + np.arange(n_rows))
    columns.append(rng.integers(0, 2000, n_rows) + np.where(y == 1, 0, 2000))
    return columns, y


def expected_error(feature: SyntheticFeature, rule: str, n_train: int) -> float:
    """Expected error on new rows of the rule learned from `n_train` rows, in closed form.

    ``sum_v p_v sum_k Bin(m, p_v)(k) e(k; q_v)``, where e(k; q) is the error of the rule learned from k
    labels: 2q(1 - q) for the Gini rule, that of a majority vote with ties shared for the other, and 1/2 for
    k = 0.
    """
    if feature.positive is None:
        return 0.5
    seen = np.arange(n_train + 1)
    p = 1 / len(feature.positive)
    total = 0.0
    for q, n_values in zip(*np.unique(feature.positive, return_counts=True), strict=True):
        if rule == "gini":
            error = np.where(seen == 0, 0.5, 2 * q * (1 - q))
        else:
            positive_wins = binom.sf(seen // 2, seen, q) + np.where(
                seen % 2 == 0, binom.pmf(seen // 2, seen, q) / 2, 0
            )
            error = q + (1 - 2 * q) * positive_wins
        total += n_values * p * float(binom.pmf(seen, n_train, p) @ error)
    return total


@dataclass(frozen=True)
class SyntheticRun:
    """One training set: scores of all features (lower is better), errors by rule, exact and on fresh rows."""

    scores: dict[str, Floats]
    exact: dict[str, Floats]
    fresh: dict[str, Floats]
    fresh_losses: dict[str, Floats]


@dataclass(frozen=True)
class CurveSummary:
    """One criterion on one synthetic data set, its curve drawn with the errors of one rule, over the seeds.

    Attributes
    ----------
    monotone_exact : float
        Share of seeds where the curve of the exact errors never falls (beyond rounding).
    monotone_fresh : float
        Share of seeds where the curve of the errors on fresh rows nowhere falls below its running maximum by
        more than three standard errors of the (paired) difference.
    median_drop, max_drop : float
        Largest fall of the exact curve below its running maximum: median and maximum over the seeds.
    """

    monotone_exact: float
    monotone_fresh: float
    median_drop: float
    max_drop: float


@dataclass(frozen=True)
class Fig1:
    """Results of `rank_synthetic`.

    Attributes
    ----------
    curves : dict
        `CurveSummary` by (data set, criterion, rule).
    positions : dict
        By (data set, criterion, feature): per seed the first and the last place among ties.
    expected : dict
        Expected error of each feature in closed form, by rule.
    mean_exact, mean_fresh, mean_scores : dict
        Means over the seeds per feature, by rule or by criterion.
    first : SyntheticRun
        The first seed, which is drawn.
    """

    n_seeds: int
    n_train: int
    n_fresh: int
    curves: dict[tuple[str, str, str], CurveSummary]
    positions: dict[tuple[str, str, str], list[tuple[int, int]]]
    expected: dict[str, Floats]
    mean_exact: dict[str, Floats]
    mean_fresh: dict[str, Floats]
    mean_scores: dict[str, Floats]
    first: SyntheticRun


def _synthetic_run(seed: int, n_train: int, n_fresh: int) -> SyntheticRun:
    rng = np.random.default_rng(seed)
    columns, y = synthetic(n_train, rng)
    fresh_columns, fresh_y = synthetic(n_fresh, rng, first_index=n_train)
    scores: dict[str, list[float]] = {name: [] for name in COLUMNS}
    exact: dict[str, list[float]] = {rule: [] for rule in RULES}
    losses: dict[str, list[Floats]] = {rule: [] for rule in RULES}
    for feature, codes, fresh_codes in zip(SYNTHETIC_FEATURES, columns, fresh_columns, strict=True):
        n_values = n_train if feature.positive is None else len(feature.positive)
        counts = count_cells(codes, y, n_values, 2)
        for name, value in criterion_scores(CellCounts(counts)).items():
            scores[name].append(value)
        for rule_name, rule_class in RULES.items():
            rule = rule_class.from_counts(counts)
            exact[rule_name].append(_exact_error(feature, rule))
            known = np.vstack([rule, [0.5, 0.5]])[np.minimum(fresh_codes, n_values)]  # last: a new value
            losses[rule_name].append(1 - known[np.arange(n_fresh), fresh_y])
    fresh_losses = {rule: np.array(rows) for rule, rows in losses.items()}
    return SyntheticRun(
        scores={name: np.array(values) for name, values in scores.items()},
        exact={rule: np.array(values) for rule, values in exact.items()},
        fresh={rule: rows.mean(axis=1) for rule, rows in fresh_losses.items()},
        fresh_losses=fresh_losses,
    )


def _exact_error(feature: SyntheticFeature, rule: Floats) -> float:
    if feature.positive is None:
        return 0.5
    return generalization_error(rule, feature.value_probabilities, feature.class_probabilities)


def _falls_beyond_noise(losses: Floats, order: NDArray[np.intp], n_errors: float = 3.0) -> bool:
    """Whether the curve of mean losses falls below its running maximum by more than the fresh rows' noise."""
    highest = order[0]
    for feature in order[1:]:
        difference = losses[highest] - losses[feature]
        fall = float(difference.mean())
        if fall > n_errors * difference.std() / np.sqrt(len(difference)) and fall > 1e-12:
            return True
        if fall < 0:
            highest = feature
    return False


def rank_synthetic(n_seeds: int = 20, n_train: int = 5000, n_fresh: int = 5000) -> Fig1:
    """Rank the features of the synthetic data sets I, II and III (Sec. 5.1), with seeds 0 to n_seeds - 1.

    Errors are exact (`generalization_error` of each learned rule) and measured on `n_fresh` new rows.
    """
    runs = [_synthetic_run(seed, n_train, n_fresh) for seed in range(n_seeds)]
    curves, positions = {}, {}
    for data_set, n_features in DATA_SETS.items():
        for name in COLUMNS:
            for rule in RULES:
                drops, fresh_falls = [], []
                for run in runs:
                    score, exact = run.scores[name][:n_features], run.exact[rule][:n_features]
                    drops.append(largest_drop(exact[ranking(score, exact)]))
                    order = ranking(score, run.fresh[rule][:n_features])
                    fresh_falls.append(_falls_beyond_noise(run.fresh_losses[rule], order))
                curves[data_set, name, rule] = CurveSummary(
                    monotone_exact=float(np.mean(np.array(drops) <= 1e-12)),
                    monotone_fresh=1 - float(np.mean(fresh_falls)),
                    median_drop=float(np.median(drops)),
                    max_drop=float(np.max(drops)),
                )
            for feature in range(11, n_features):
                positions[data_set, name, SYNTHETIC_FEATURES[feature].name] = [
                    places(run.scores[name][:n_features], feature) for run in runs
                ]
    return Fig1(
        n_seeds=n_seeds,
        n_train=n_train,
        n_fresh=n_fresh,
        curves=curves,
        positions=positions,
        expected={
            rule: np.array([expected_error(feature, rule, n_train) for feature in SYNTHETIC_FEATURES])
            for rule in RULES
        },
        mean_exact={rule: np.mean([run.exact[rule] for run in runs], axis=0) for rule in RULES},
        mean_fresh={rule: np.mean([run.fresh[rule] for run in runs], axis=0) for rule in RULES},
        mean_scores={name: np.mean([run.scores[name] for run in runs], axis=0) for name in COLUMNS},
        first=runs[0],
    )
