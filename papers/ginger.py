"""Ranking categorical features: Figures 1 to 3 of Sabato & Shalev-Shwartz (2008).

Run ``python -m papers.ginger [fig1|fig2|fig3|all]``. Each figure is printed as tables beside the paper's
claims and drawn to ``papers/results/``; ``all`` also writes the tables to ``papers/results/ginger.txt``.

What the paper leaves open, and what we do:

- *Which rule's error.* Sec. 5.1 measures the majority rule, Eq. (5), while Ginger estimates the error of
  the Gini rule, Eq. (4); Sec. 5.2 does not say. We measure both.
- *Ties of a criterion.* A curve lists tied features by increasing error (a tie is not an inversion); the
  error of the top-ranked feature is the mean over all that tie for the top.
- *Census rows.* The paper states neither the number of training rows nor that of test rows. We have a sample
  of 50,000 of its 2,458,285 records, and use a random half for each; 5,000 training rows show how much
  depends on it.
- *Census features.* The paper takes all other attributes, so the household's serial number is among them. We
  do the same, and repeat everything without it.
- *Unseen values* are predicted as 1/2, as in Eq. (4) and (5).

References
----------
S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization Properties. JMLR 9.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, rankdata

from offsample.counts import CellCounts, count_cells
from offsample.criteria import CRITERIA
from offsample.hypotheses import RULES, CellRule, generalization_error
from papers._table import format_table

__all__ = ["census_problem", "expected_error", "fig1", "fig2", "fig3", "load_census", "main", "synthetic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESULTS = Path(__file__).parent / "results"
CENSUS_FILE = "us_census_1990_raw_50k.parquet"
PAPER_PROBLEMS = 62

# The paper's four criteria, and ours for the majority rule.
COLUMNS = {
    "IG": "information_gain",
    "IGR": "gain_ratio",
    "Gini": "gini_error",
    "Ginger": "ginger",
    "LOO-Bayes": "bayes_loo",
}
PAPER_COLUMNS = tuple(COLUMNS)[:4]
RULE_NAMES = {"gini": "Gini, Eq. (4)", "bayes": "majority, Eq. (5)"}
RULE_COLORS = {"gini": "#c4622d", "bayes": "#1f5f8b"}


# --- rankings and curves ------------------------------------------------------------------------------


def _scores(cells: CellCounts) -> dict[str, float]:
    """Value of each criterion, turned so that lower is better."""
    values = {}
    for name, key in COLUMNS.items():
        value = CRITERIA[key](cells)
        values[name] = value if CRITERIA[key].better == "lower" else -value
    return values


def _ties_joined(scores: Floats) -> Floats:
    # Sums in another order differ in the last bits; no two values that differ here are that close.
    return np.round(scores, 12)


def ranking(scores: Floats, errors: Floats) -> NDArray[np.intp]:
    """Features from the best score to the worst, tied ones by increasing error."""
    return np.lexsort((errors, _ties_joined(scores)))


def places(scores: Floats, feature: int) -> tuple[int, int]:
    """First and last place (from 1) that a feature may take, given the ties."""
    key = _ties_joined(scores)
    return int((key < key[feature]).sum()) + 1, int((key <= key[feature]).sum())


def largest_drop(curve: Floats) -> float:
    """How far the curve falls below its running maximum: 0 if it is monotone."""
    return float((np.maximum.accumulate(curve) - curve).max())


def distance_to_sorted(curve: Floats) -> float:
    """Mean distance between the curve and the monotone one that a perfect ranking would give."""
    return float(np.abs(curve - np.sort(curve)).mean())


def spearman(scores: Floats, errors: Floats) -> float:
    """Rank correlation of score and error; ties take their mean rank."""
    ranks = rankdata(_ties_joined(scores)), rankdata(errors)
    return float(np.corrcoef(*ranks)[0, 1])


# --- Figure 1: synthetic data -------------------------------------------------------------------------


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
    """Results of `fig1`.

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
        for name, value in _scores(CellCounts(counts)).items():
            scores[name].append(value)
        for rule_name, rule_class in RULES.items():
            rule = rule_class(counts)
            exact[rule_name].append(_exact_error(feature, rule))
            losses[rule_name].append(1 - rule.predict_proba(fresh_codes)[np.arange(n_fresh), fresh_y])
    fresh_losses = {rule: np.array(rows) for rule, rows in losses.items()}
    return SyntheticRun(
        scores={name: np.array(values) for name, values in scores.items()},
        exact={rule: np.array(values) for rule, values in exact.items()},
        fresh={rule: rows.mean(axis=1) for rule, rows in fresh_losses.items()},
        fresh_losses=fresh_losses,
    )


def _exact_error(feature: SyntheticFeature, rule: CellRule) -> float:
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


def fig1(n_seeds: int = 20, n_train: int = 5000, n_fresh: int = 5000) -> Fig1:
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


# --- Figures 2 and 3: the census ----------------------------------------------------------------------


@dataclass(frozen=True)
class Census:
    """The attributes as codes, each from 0 to its number of values - 1, and the problems made of them.

    Attributes
    ----------
    codes : dict
        Per attribute one code per row.
    n_values : dict
    problems : dict
        Per problem the code of its positive value.
    """

    codes: dict[str, NDArray[np.int32]]
    n_values: dict[str, int]
    problems: dict[str, int]

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(next(iter(self.codes.values())))

    def labels(self, problem: str) -> Ints:
        """Return 1 for the rows with the most frequent value of the attribute, 0 for the others."""
        return np.asarray(self.codes[problem] == self.problems[problem], dtype=np.int64)


def load_census(data_dir: str | Path | None = None) -> Census:
    """Read the census sample and find its binary problems: most frequent value against the rest.

    Parameters
    ----------
    data_dir : path, optional
        By default the environment variable OFFSAMPLE_DATA, or ``../shared/data`` beside the repository.
    """
    default = Path(__file__).parents[2] / "shared" / "data"
    path = Path(data_dir or os.environ.get("OFFSAMPLE_DATA") or default) / CENSUS_FILE
    if not path.exists():
        raise FileNotFoundError(
            f"{CENSUS_FILE} is not in {path.parent}: set OFFSAMPLE_DATA to the directory of the data sets"
        )
    return _load_census(path.resolve())


@lru_cache(maxsize=1)
def _load_census(path: Path) -> Census:
    import pandas as pd

    frame = pd.read_parquet(path)
    codes, n_values, problems = {}, {}, {}
    for name in frame.columns:
        column = frame[name]
        raw = column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column
        values, code, frequency = np.unique(raw.to_numpy(), return_inverse=True, return_counts=True)
        codes[name], n_values[name] = code.astype(np.int32), len(values)
        # The range of Sec. 5.2, read off all rows.
        if 0.1 <= frequency.max() / len(frame) <= 0.9:
            problems[name] = int(frequency.argmax())
    return Census(codes, n_values, problems)


def census_split(census: Census, n_train: int, seed: int = 0) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows: the file is sorted by state, so both are drawn at random.

    The test rows are the second half of the shuffled file whatever `n_train` is.
    """
    rows = np.random.default_rng(seed).permutation(census.n_rows)
    half = census.n_rows // 2
    if not 0 < n_train <= half:
        raise ValueError(f"n_train must be between 1 and {half}, half of the rows, got {n_train}")
    return rows[:n_train], rows[half:]


@dataclass(frozen=True)
class ProblemResult:
    """One census problem: scores (lower is better) by criterion and errors on the test rows by rule."""

    problem: str
    positive_rate: float
    features: tuple[str, ...]
    scores: dict[str, Floats]
    errors: dict[str, Floats]

    def without(self, excluded: Iterable[str]) -> ProblemResult:
        """Leave features out; neither score nor error of the others depends on them."""
        dropped = set(excluded)
        keep = np.array([name not in dropped for name in self.features])
        return ProblemResult(
            self.problem,
            self.positive_rate,
            tuple(name for name in self.features if name not in dropped),
            {name: values[keep] for name, values in self.scores.items()},
            {rule: values[keep] for rule, values in self.errors.items()},
        )

    def top(self, criterion: str) -> NDArray[np.intp]:
        """Features that share the first place."""
        key = _ties_joined(self.scores[criterion])
        return np.flatnonzero(key == key.min())

    def curve(self, criterion: str, rule: str) -> Floats:
        """Errors in the order of the ranking."""
        errors = self.errors[rule]
        return errors[ranking(self.scores[criterion], errors)]


def census_problem(census: Census, problem: str, n_train: int = 25_000, seed: int = 0) -> ProblemResult:
    """Score all other attributes on the training rows, and measure their rules on the test rows."""
    if problem not in census.problems:
        raise ValueError(f"{problem!r} is not one of the {len(census.problems)} problems of the census")
    train, test = census_split(census, n_train, seed)
    y = census.labels(problem)
    features = tuple(name for name in census.codes if name != problem)
    scores: dict[str, list[float]] = {name: [] for name in COLUMNS}
    errors: dict[str, list[float]] = {rule: [] for rule in RULES}
    for feature in features:
        codes, n_values = census.codes[feature], census.n_values[feature]
        counts = count_cells(codes[train], y[train], n_values, 2)
        test_counts = count_cells(codes[test], y[test], n_values, 2)
        for name, value in _scores(CellCounts(counts)).items():
            scores[name].append(value)
        for rule_name, rule_class in RULES.items():
            wrong = (test_counts * (1 - rule_class(counts).probabilities)).sum()
            errors[rule_name].append(float(wrong) / len(test))
    return ProblemResult(
        problem,
        float(y.mean()),
        features,
        {name: np.array(values) for name, values in scores.items()},
        {rule: np.array(values) for rule, values in errors.items()},
    )


@lru_cache(maxsize=4)
def _census_results(
    data_dir: str | None, problems: tuple[str, ...] | None, n_train: int
) -> dict[str, ProblemResult]:
    census = load_census(data_dir)
    names = tuple(census.problems) if problems is None else problems
    return {name: census_problem(census, name, n_train) for name in names}


def _results(
    problems: Sequence[str] | None, n_train: int, data_dir: str | Path | None
) -> dict[str, ProblemResult]:
    # Figures 2 and 3 read the same rankings, so these are kept.
    return _census_results(
        None if data_dir is None else str(data_dir), None if problems is None else tuple(problems), n_train
    )


@dataclass(frozen=True)
class Monotonicity:
    """How monotone the curves of one criterion are: means over the problems.

    Attributes
    ----------
    spearman, spearman_se : float
        Rank correlation of score and error, and its standard error over the problems.
    distance : float
        `distance_to_sorted`.
    drop : float
        `largest_drop`.
    n_best_of_four, n_best_of_five : int
        Problems where no other has a smaller distance: among the paper's criteria, and among all (a criterion
        of ours counts 0 among the paper's).
    """

    spearman: float
    spearman_se: float
    distance: float
    drop: float
    n_best_of_four: int
    n_best_of_five: int


@dataclass(frozen=True)
class Fig2:
    """Results of `fig2`: the rankings, and by (excluded, criterion, rule) how monotone the curves are."""

    n_train: int
    n_test: int
    results: dict[str, ProblemResult]
    monotonicity: dict[tuple[tuple[str, ...], str, str], Monotonicity]


# The paper keeps every attribute; the serial number of the household alone decides much of the result.
EXCLUSIONS: tuple[tuple[str, ...], ...] = ((), ("SERIALNO",))
SHOWN_PROBLEMS = ("ANCSTRY2", "CLASS", "MARITAL", "POVERTY", "YEARSCH")


def fig2(
    problems: Sequence[str] | None = None, n_train: int = 25_000, data_dir: str | Path | None = None
) -> Fig2:
    """Error against rank on the census problems (Sec. 5.2), and how far the curves are from monotone.

    Differs from the paper in the rows: 50,000 records instead of 2,458,285. The paper gives no sizes of
    training and test sets; here `n_train` rows and the other half of the file. The number of problems, 62,
    is the paper's.

    Parameters
    ----------
    problems : sequence of str, optional
        Attributes that define the label; all by default.
    n_train : int
        At most half of the rows.
    data_dir : path, optional
        See `load_census`.
    """
    results = _results(problems, n_train, data_dir)
    monotonicity = {}
    for excluded in EXCLUSIONS:
        kept = [result.without(excluded) for result in results.values()]
        for rule in RULES:
            distance = {
                name: np.array([distance_to_sorted(result.curve(name, rule)) for result in kept])
                for name in COLUMNS
            }
            best = np.min(list(distance.values()), axis=0) + 1e-12
            best_of_four = np.min([distance[name] for name in PAPER_COLUMNS], axis=0) + 1e-12
            for name in COLUMNS:
                rho = np.array([spearman(result.scores[name], result.errors[rule]) for result in kept])
                monotonicity[excluded, name, rule] = Monotonicity(
                    spearman=float(rho.mean()),
                    spearman_se=_standard_error(rho),
                    distance=float(distance[name].mean()),
                    drop=float(np.mean([largest_drop(result.curve(name, rule)) for result in kept])),
                    n_best_of_four=int((distance[name] <= best_of_four).sum())
                    if name in PAPER_COLUMNS
                    else 0,
                    n_best_of_five=int((distance[name] <= best).sum()),
                )
    n_rows = load_census(data_dir).n_rows
    return Fig2(n_train, n_rows - n_rows // 2, results, monotonicity)


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


@dataclass(frozen=True)
class Comparison:
    """Error of a criterion's top-ranked feature minus Ginger's, per problem: positive if Ginger gains.

    Attributes
    ----------
    differences : ndarray of shape (n_problems,)
    clear : ndarray of bool
        Whether the difference exceeds two standard errors of the paired difference on the test rows.
    """

    differences: Floats
    clear: NDArray[np.bool_]

    @property
    def wins_ties_losses(self) -> tuple[int, int, int]:
        """Problems where Ginger's feature is better, equal, worse on the test rows."""
        sign = np.sign(np.round(self.differences, 12))
        return int((sign > 0).sum()), int((sign == 0).sum()), int((sign < 0).sum())

    @property
    def clear_wins_losses(self) -> tuple[int, int]:
        """The same beyond two standard errors."""
        won, lost = self.differences > 0, self.differences < 0
        return int((won & self.clear).sum()), int((lost & self.clear).sum())

    @property
    def large_wins_losses(self) -> tuple[int, int]:
        """The same beyond 0.01: with paired rows even a difference of two rows in 10,000 may be clear."""
        return int((self.differences > 0.01).sum()), int((self.differences < -0.01).sum())

    @property
    def mean(self) -> float:
        """Mean difference."""
        return float(self.differences.mean())

    @property
    def standard_error(self) -> float:
        """Spread over problems; they share rows and attributes, so it only describes."""
        return _standard_error(self.differences)


@dataclass(frozen=True)
class Fig3:
    """Results of `fig3`: comparisons by (n_train, excluded, criterion, rule), and the top-ranked features."""

    problems: tuple[str, ...]
    n_test: int
    comparisons: dict[tuple[int, tuple[str, ...], str, str], Comparison]
    tops: dict[tuple[int, tuple[str, ...], str], list[tuple[str, ...]]]


def _row_losses(
    census: Census, result: ProblemResult, features: Iterable[int], rule: str, n_train: int
) -> Floats:
    """Losses on the test rows, averaged over the features."""
    train, test = census_split(census, n_train)
    y = census.labels(result.problem)
    losses = []
    for feature in features:
        name = result.features[feature]
        codes = census.codes[name]
        counts = count_cells(codes[train], y[train], census.n_values[name], 2)
        losses.append(1 - RULES[rule](counts).probabilities[codes[test], y[test]])
    return np.asarray(np.mean(losses, axis=0))


def fig3(
    problems: Sequence[str] | None = None,
    n_trains: Sequence[int] = (25_000, 5_000),
    data_dir: str | Path | None = None,
) -> Fig3:
    """Error of the feature that each criterion ranks first, against that of Ginger's (Sec. 5.2).

    With the sign of the paper's Fig. 3: a positive difference is a problem where Ginger chose better. The
    rows differ from the paper's as in `fig2`.
    """
    census = load_census(data_dir)
    comparisons: dict[tuple[int, tuple[str, ...], str, str], Comparison] = {}
    tops: dict[tuple[int, tuple[str, ...], str], list[tuple[str, ...]]] = {}
    names: tuple[str, ...] = ()
    for n_train in n_trains:
        results = _results(problems, n_train, data_dir)
        names = tuple(results)
        for excluded in EXCLUSIONS:
            kept = [result.without(excluded) for result in results.values()]
            for name in COLUMNS:
                tops[n_train, excluded, name] = [
                    tuple(result.features[i] for i in result.top(name)) for result in kept
                ]
            for rule in RULES:
                differences: dict[str, list[float]] = {name: [] for name in COLUMNS if name != "Ginger"}
                clear: dict[str, list[bool]] = {name: [] for name in differences}
                for result in kept:
                    losses = {
                        top: _row_losses(census, result, top, rule, n_train)
                        for top in {tuple(result.top(name)) for name in COLUMNS}
                    }
                    mine = losses[tuple(result.top("Ginger"))]
                    for name in differences:
                        paired = losses[tuple(result.top(name))] - mine
                        mean, error = paired.mean(), paired.std() / np.sqrt(len(paired))
                        differences[name].append(float(mean))
                        clear[name].append(bool(abs(mean) > 2 * error))
                for name in differences:
                    comparisons[n_train, excluded, name, rule] = Comparison(
                        np.array(differences[name]), np.array(clear[name])
                    )
    return Fig3(names, census.n_rows - census.n_rows // 2, comparisons, tops)


# --- text ---------------------------------------------------------------------------------------------

REPRODUCED, CORRECTED, NOT_REPRODUCED = "reproduced", "with a correction", "NOT reproduced"


def _verdict(holds: bool) -> str:
    return REPRODUCED if holds else NOT_REPRODUCED


def _place_text(pairs: Sequence[tuple[int, int]]) -> str:
    """Places over the seeds: "8", "11–12" for a place that varies, "1–3 tied" for one that is shared."""
    low, high = min(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
    tied = any(first != last for first, last in pairs)
    return (f"{low}" if low == high else f"{low}–{high}") + (" tied" if tied else "")


def fig1_claims(result: Fig1) -> list[tuple[str, str, str]]:
    """What Sec. 5.1 says of Fig. 1, what we find, and the verdict."""
    curves, positions, n = result.curves, result.positions, result.n_seeds

    def monotone(data_set: str, name: str, rule: str) -> float:
        return curves[data_set, name, rule].monotone_exact

    def seeds(share: float) -> str:
        return f"{round(share * n)}/{n}"

    lowest = min(monotone("I", name, rule) for name in PAPER_COLUMNS for rule in RULES)
    tied_first = all(first == 1 for name in ("IG", "Gini") for first, _ in positions["II", name, "X11"])
    true_place = {rule: int((result.expected[rule] < result.expected[rule][12]).sum()) + 1 for rule in RULES}
    # Without X11, what is left of the fall is X12's doing.
    kept = np.arange(len(SYNTHETIC_FEATURES)) != 11
    harm = {}
    for rule in RULES:
        errors = result.first.exact[rule][kept]
        harm[rule] = largest_drop(errors[ranking(result.first.scores["Gini"][kept], errors)])
    ratio_place = _place_text(positions["II", "IGR", "X11"])
    ratio_place_12 = _place_text(positions["III", "IGR", "X12"])
    ginger_two = min(monotone("II", "Ginger", rule) for rule in RULES)
    third = {rule: curves["III", "Ginger", rule] for rule in RULES}
    others = max(monotone("III", name, "gini") for name in ("IG", "IGR", "Gini"))
    only_ginger = third["gini"].monotone_exact == 1 and others == 0
    only_verdict = _verdict(only_ginger and third["bayes"].monotone_exact == 1)
    if only_ginger and third["bayes"].monotone_exact < 1:
        only_verdict = CORRECTED
    return [
        (
            "I: all four criteria rank well",
            f"monotone in {seeds(lowest)} seeds or more, both rules",
            _verdict(lowest == 1),
        ),
        (
            "II: IG and Gini put X11 very high",
            f"place {_place_text(positions['II', 'IG', 'X11'])} (IG), "
            f"{_place_text(positions['II', 'Gini', 'X11'])} (Gini)",
            _verdict(tied_first),
        ),
        ("II: IGR puts X11 8th of 12", f"place {ratio_place}", _verdict(ratio_place == "8")),
        (
            "II: Ginger ranks correctly",
            f"monotone in {seeds(ginger_two)} seeds, both rules; X11 at "
            f"{_place_text(positions['II', 'Ginger', 'X11'])} (X0 is as bad)",
            _verdict(ginger_two == 1),
        ),
        (
            "III: X12 does IG and Gini no harm",
            f"X12 ties for place 1, its error has place {true_place['gini']} (Eq. 4), {true_place['bayes']} "
            f"(Eq. 5); without X11 the curve falls by {harm['gini']:.3f}, {harm['bayes']:.3f}",
            _verdict(max(harm.values()) <= 1e-12),
        ),
        (
            "III: IGR puts X12 too low",
            f"place {ratio_place_12}, should be {true_place['gini']} or {true_place['bayes']}",
            _verdict(min(pair[0] for pair in positions["III", "IGR", "X12"]) > max(true_place.values())),
        ),
        (
            "III: Ginger alone is monotone, errors of Eq. (5)",
            f"Eq. (4): {seeds(third['gini'].monotone_exact)} seeds, others {seeds(others)}; "
            f"Eq. (5): {seeds(third['bayes'].monotone_exact)}, falls by {third['bayes'].median_drop:.3f}",
            only_verdict,
        ),
    ]


def fig1_text(result: Fig1) -> str:
    """Tables of Fig. 1."""
    n = result.n_seeds
    lines = [
        "Figure 1: synthetic data sets I, II, III (Sec. 5.1)",
        f"{n} training sets of {result.n_train:,} rows; errors of their rules exact (closed form) and on "
        f"{result.n_fresh:,} fresh rows.",
        "Exact: the curve never falls. Fresh: it nowhere falls more than 3 standard errors below its running",
        "maximum. Fall: largest fall of the exact curve below its running maximum, median and maximum over",
        "the seeds.",
        "",
        format_table(["paper", "here", "verdict"], fig1_claims(result)),
        "",
    ]
    rows = []
    for data_set, n_features in DATA_SETS.items():
        for name in COLUMNS:
            row: list[str] = [data_set, name]
            for rule in RULES:
                curve = result.curves[data_set, name, rule]
                row += [f"{round(curve.monotone_exact * n)}/{n}", f"{round(curve.monotone_fresh * n)}/{n}"]
                row.append(f"{curve.median_drop:.3f}/{curve.max_drop:.3f}")
            row.append(_place_text(result.positions[data_set, name, "X11"]) if n_features > 11 else "–")
            row.append(_place_text(result.positions[data_set, name, "X12"]) if n_features > 12 else "–")
            rows.append(row)
    header = ["set", "criterion", "Eq.(4) exact", "fresh", "fall med/max"]
    header += ["Eq.(5) exact", "fresh", "fall med/max", "place X11", "place X12"]
    lines += [
        "Seeds with a monotone curve, errors of the Gini rule, Eq. (4), and of the majority rule, Eq. (5)"
    ]
    lines += [format_table(header, rows), ""]
    rows = [
        [
            feature.name,
            *(
                f"{values[rule][i]:.4f}"
                for rule in RULES
                for values in (result.expected, result.mean_exact, result.mean_fresh)
            ),
            f"{result.mean_scores['Ginger'][i]:.4f}",
            f"{result.mean_scores['LOO-Bayes'][i]:.4f}",
        ]
        for i, feature in enumerate(SYNTHETIC_FEATURES)
    ]
    header = ["feature", "Eq.(4) expected", "exact", "fresh", "Eq.(5) expected", "exact", "fresh"]
    header += ["Ginger", "LOO-Bayes"]
    lines += [
        "Errors of the features, and their estimates from the training set (means over the seeds)",
        format_table(header, rows),
    ]
    return "\n".join(lines)


def _rows_note(n_train: int, n_test: int) -> str:
    return (
        f"{n_train:,} training and {n_test:,} test rows, one random split of a sample of 50,000 records\n"
        "(paper: the file of 2,458,285 records; sizes not stated)."
    )


def _feature_set(excluded: tuple[str, ...]) -> str:
    return "all" if not excluded else "no " + ", ".join(excluded)


def fig2_text(result: Fig2) -> str:
    """Tables of Fig. 2."""
    n = len(result.results)
    measured = result.monotonicity
    best = {rule: measured[(), "Ginger", rule].n_best_of_four for rule in RULES}
    rows = []
    for excluded in EXCLUSIONS:
        for rule in RULES:
            for name in COLUMNS:
                value = measured[excluded, name, rule]
                rows.append(
                    [
                        _feature_set(excluded),
                        RULE_NAMES[rule],
                        name,
                        f"{value.spearman:.3f}",
                        f"{value.spearman_se:.3f}",
                        f"{value.distance:.4f}",
                        f"{value.drop:.3f}",
                        str(value.n_best_of_four) if name in PAPER_COLUMNS else "–",
                        str(value.n_best_of_five),
                    ]
                )
    header = [
        "features",
        "rule",
        "criterion",
        "Spearman",
        "s.e.",
        "distance",
        "fall",
        "best of 4",
        "best of 5",
    ]
    claims = [
        ("number of problems", f"paper {PAPER_PROBLEMS}, here {n}", _verdict(n == PAPER_PROBLEMS)),
        (
            "Ginger ranks most accurately of the four",
            f"smallest distance in {best['gini']}/{n} problems (Eq. 4), {best['bayes']}/{n} (Eq. 5)",
            _verdict(all(2 * count > n for count in best.values())),
        ),
    ]
    return "\n".join(
        [
            "Figure 2: error against rank on the census problems (Sec. 5.2)",
            _rows_note(result.n_train, result.n_test),
            "",
            format_table(["paper", "here", "verdict"], claims),
            "",
            f"Means over {n} problems. Distance: mean |curve - sorted curve|. Fall: largest fall below the",
            "running maximum. Best of: problems with the smallest distance among the paper's four criteria,",
            "and among all five.",
            format_table(header, rows),
        ]
    )


def fig3_text(result: Fig3) -> str:
    """Tables of Fig. 3."""
    n = len(result.problems)
    n_trains = sorted({key[0] for key in result.comparisons}, reverse=True)
    rows, lost = [], []
    for n_train in n_trains:
        for excluded in EXCLUSIONS:
            for rule in RULES:
                for name in COLUMNS:
                    if name == "Ginger":
                        continue
                    compared = result.comparisons[n_train, excluded, name, rule]
                    rows.append(
                        [
                            f"{n_train:,}",
                            _feature_set(excluded),
                            RULE_NAMES[rule],
                            name,
                            "/".join(map(str, compared.wins_ties_losses)),
                            "/".join(map(str, compared.clear_wins_losses)),
                            "/".join(map(str, compared.large_wins_losses)),
                            f"{compared.mean:+.4f}",
                            f"{compared.standard_error:.4f}",
                            f"{compared.differences.min():+.3f}",
                            f"{compared.differences.max():+.3f}",
                        ]
                    )
                    if name in PAPER_COLUMNS and n_train == n_trains[0] and not excluded:
                        of = f"{name}, {RULE_NAMES[rule]}"
                        lost += [
                            f"{result.problems[i]} {compared.differences[i]:+.4f} ({of})"
                            for i in np.flatnonzero(compared.clear & (compared.differences < 0))
                        ]
    claims = []
    for name in PAPER_COLUMNS[:3]:
        for rule in RULES:
            compared = result.comparisons[n_trains[0], (), name, rule]
            wins, losses = compared.clear_wins_losses
            claims.append(
                (
                    f"Ginger chooses better than {name}",
                    RULE_NAMES[rule],
                    "/".join(map(str, compared.wins_ties_losses)),
                    f"{compared.mean:+.3f} ± {compared.standard_error:.3f}",
                    _verdict(compared.mean > 0 and wins > 3 * losses),
                )
            )
    first = [
        f"{name} {sum('SERIALNO' in top for top in result.tops[n_trains[0], (), name])}" for name in COLUMNS
    ]
    header = ["train", "features", "rule", "criterion", "win/tie/loss", "clear w/l", "large w/l"]
    header += ["mean", "s.e.", "min", "max"]
    return "\n".join(
        [
            "Figure 3: error of each criterion's top-ranked feature minus that of Ginger's (Sec. 5.2)",
            _rows_note(n_trains[0], result.n_test),
            "",
            format_table(["paper", "rule", "win/tie/loss", "mean ± s.e.", "verdict"], claims),
            "",
            f"{n} problems; positive: Ginger is better. Clear: beyond 2 standard errors of the paired",
            "difference on the test rows. Reproduced: more than three clear wins for a clear loss, and a",
            "positive mean. Large: beyond 0.01. s.e.: over the problems, which share rows and attributes, so",
            "it describes and does not test.",
            format_table(header, rows),
            "",
            f"Problems (of {n}, {n_trains[0]:,} training rows) with SERIALNO at the top: {', '.join(first)}.",
            f"Clear losses of Ginger ({n_trains[0]:,} rows, all features): {'; '.join(lost) or 'none'}.",
        ]
    )


# --- figures ------------------------------------------------------------------------------------------


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    # The same file from the same numbers.
    plt.rcParams.update({"svg.hashsalt": "offsample", "font.size": 9, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "savefig.dpi": 110})
    return plt


def _save(figure: Any, name: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.png")
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    _pyplot().close(figure)


def _legend(figure: Any, handles: Sequence[Any]) -> None:
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)


def plot_fig1(result: Fig1, folder: Path = RESULTS) -> None:
    """Draw exact errors against rank, first seed."""
    plt = _pyplot()
    figure, axes = plt.subplots(
        3, len(COLUMNS), figsize=(11, 6.4), sharex=True, sharey=True, layout="constrained"
    )
    for row, (data_set, n_features) in enumerate(DATA_SETS.items()):
        for axis, name in zip(axes[row], COLUMNS, strict=True):
            score = result.first.scores[name][:n_features]
            for rule, style in (("bayes", "-"), ("gini", "--")):
                errors = result.first.exact[rule][:n_features]
                order = ranking(score, errors)
                place = np.arange(1, n_features + 1)
                axis.plot(place, errors[order], style, color=RULE_COLORS[rule], marker=".", lw=1.2, ms=5)
                for feature, marker in ((11, "^"), (12, "s")):
                    at = np.flatnonzero(order == feature)
                    axis.plot(
                        place[at], errors[order[at]], marker, color="black", mfc="white", ms=6, zorder=3
                    )
            if row == 0:
                axis.set_title(name)
            axis.set_xticks([1, 4, 7, 10, 13])
            axis.set_ylim(-0.02, 0.55)
        axes[row, 0].set_ylabel(f"data set {data_set}\nerror on new rows")
    figure.supxlabel("place in the ranking", fontsize=9)
    line = plt.Line2D
    _legend(
        figure,
        [
            line([], [], color=RULE_COLORS["bayes"], marker=".", label="majority rule, Eq. (5)"),
            line([], [], color=RULE_COLORS["gini"], ls="--", marker=".", label="Gini rule, Eq. (4)"),
            line([], [], color="black", ls="", marker="^", mfc="white", label="X11, an identifier"),
            line([], [], color="black", ls="", marker="s", mfc="white", label="X12, 4,000 pure values"),
        ],
    )
    _save(figure, "ginger_fig1", folder)


def plot_fig2(result: Fig2, problems: Sequence[str] = SHOWN_PROBLEMS, folder: Path = RESULTS) -> None:
    """Draw errors on the test rows against rank, for several problems."""
    plt = _pyplot()
    shown = [name for name in problems if name in result.results]
    figure, axes = plt.subplots(
        len(shown),
        len(COLUMNS),
        figsize=(11, 0.8 + 1.75 * len(shown)),
        sharex=True,
        sharey="row",
        layout="constrained",
        squeeze=False,
    )
    for row, problem in enumerate(shown):
        found = result.results[problem]
        for axis, name in zip(axes[row], COLUMNS, strict=True):
            place = np.arange(1, len(found.features) + 1)
            for rule in RULES:
                axis.plot(place, found.curve(name, rule), color=RULE_COLORS[rule], lw=1.1)
            if row == 0:
                axis.set_title(name)
        axes[row, 0].set_ylabel(f"{problem}\nerror on test rows")
    figure.supxlabel("place in the ranking", fontsize=9)
    _legend(
        figure,
        [plt.Line2D([], [], color=RULE_COLORS[rule], label=RULE_NAMES[rule]) for rule in ("bayes", "gini")],
    )
    _save(figure, "ginger_fig2", folder)


def plot_fig3(result: Fig3, folder: Path = RESULTS) -> None:
    """Draw the gain of Ginger's first feature over that of each other criterion, in increasing order."""
    plt = _pyplot()
    n_train = max(key[0] for key in result.comparisons)
    others = [name for name in COLUMNS if name != "Ginger"]
    figure, axes = plt.subplots(
        len(EXCLUSIONS), len(others), figsize=(11, 5), sharex=True, sharey="row", layout="constrained"
    )
    for row, excluded in enumerate(EXCLUSIONS):
        for axis, name in zip(axes[row], others, strict=True):
            axis.axhline(0, color="0.6", lw=0.8)
            for rule in RULES:
                values = np.sort(result.comparisons[n_train, excluded, name, rule].differences)
                axis.plot(np.arange(1, len(values) + 1), values, ".", color=RULE_COLORS[rule], ms=5)
            if row == 0:
                axis.set_title(f"{name} − Ginger")
        axes[row, 0].set_ylabel("all features" if not excluded else f"without {', '.join(excluded)}")
    figure.supylabel("difference of the errors (positive: Ginger is better)", fontsize=9)
    figure.supxlabel("problems, by difference", fontsize=9)
    _legend(
        figure,
        [
            plt.Line2D([], [], color=RULE_COLORS[rule], marker=".", ls="", label=RULE_NAMES[rule])
            for rule in ("bayes", "gini")
        ],
    )
    _save(figure, "ginger_fig3", folder)


def main(argv: Sequence[str] | None = None, folder: Path = RESULTS) -> int:
    """Print and draw the figures asked for; with ``all``, write the tables as well."""
    parser = argparse.ArgumentParser(prog="python -m papers.ginger", description=__doc__.splitlines()[0])
    parser.add_argument("figure", nargs="?", default="all", choices=["fig1", "fig2", "fig3", "all"])
    wanted = parser.parse_args(argv).figure
    figures: Mapping[str, tuple[Any, Any, Any]] = {
        "fig1": (fig1, fig1_text, plot_fig1),
        "fig2": (fig2, fig2_text, plot_fig2),
        "fig3": (fig3, fig3_text, plot_fig3),
    }
    texts = []
    for name in figures if wanted == "all" else [wanted]:
        compute, text, plot = figures[name]
        try:
            result = compute()
        except FileNotFoundError as error:
            print(error, file=sys.stderr)
            return 2
        texts.append(text(result))
        print(texts[-1], end="\n\n", flush=True)
        plot(result, folder=folder)
    if wanted == "all":
        beside = folder / "ginger.txt.part"
        beside.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
        beside.replace(folder / "ginger.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main())
