"""Figures 2 and 3: the problems made of the census of 1990 (Sec. 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offsample.counts import CellCounts, count_cells
from offsample.datasets import load
from offsample.hypotheses import RULES
from papers.ginger._rankings import (
    COLUMNS,
    PAPER_COLUMNS,
    Floats,
    Ints,
    criterion_scores,
    distance_to_sorted,
    largest_drop,
    ranking,
    spearman,
    ties_joined,
)

CENSUS = "us_census_1990_raw_50k"
PAPER_PROBLEMS = 62


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


@lru_cache(maxsize=2)
def load_census(directory: str | Path | None = None) -> Census:
    """Read the census sample and find its binary problems: most frequent value against the rest.

    Parameters
    ----------
    directory : path, optional
        See `offsample.datasets.load`.
    """
    import pandas as pd

    frame = load(CENSUS, directory).X
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
        key = ties_joined(self.scores[criterion])
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
        for name, value in criterion_scores(CellCounts(counts)).items():
            scores[name].append(value)
        for rule_name, rule_class in RULES.items():
            wrong = (test_counts * (1 - rule_class.from_counts(counts))).sum()
            errors[rule_name].append(float(wrong) / len(test))
    return ProblemResult(
        problem,
        float(y.mean()),
        features,
        {name: np.array(values) for name, values in scores.items()},
        {rule: np.array(values) for rule, values in errors.items()},
    )


@lru_cache(maxsize=4)
def _results(
    problems: tuple[str, ...] | None, n_train: int, directory: str | Path | None
) -> dict[str, ProblemResult]:
    # Figures 2 and 3 read the same rankings, so these are kept.
    census = load_census(directory)
    names = tuple(census.problems) if problems is None else problems
    return {name: census_problem(census, name, n_train) for name in names}


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
    """Results of `rank_census`: rankings, and by (excluded, criterion, rule) how monotone the curves are."""

    n_train: int
    n_test: int
    results: dict[str, ProblemResult]
    monotonicity: dict[tuple[tuple[str, ...], str, str], Monotonicity]


# The paper keeps every attribute; the serial number of the household alone decides much of the result.
EXCLUSIONS: tuple[tuple[str, ...], ...] = ((), ("SERIALNO",))
SHOWN_PROBLEMS = ("ANCSTRY2", "CLASS", "MARITAL", "POVERTY", "YEARSCH")


def rank_census(
    problems: tuple[str, ...] | None = None, n_train: int = 25_000, directory: str | Path | None = None
) -> Fig2:
    """Error against rank on the census problems (Sec. 5.2), and how far the curves are from monotone.

    Differs from the paper in the rows: 50,000 records instead of 2,458,285. The paper gives no sizes of
    training and test sets; here `n_train` rows and the other half of the file. The number of problems, 62,
    is the paper's.

    Parameters
    ----------
    problems : tuple of str, optional
        Attributes that define the label; all by default.
    n_train : int
        At most half of the rows.
    directory : path, optional
        See `load_census`.
    """
    results = _results(problems, n_train, directory)
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
    n_rows = load_census(directory).n_rows
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
    """Results of `compare_first`: by (n_train, excluded, criterion, rule), and the top-ranked features."""

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
        losses.append(1 - RULES[rule].from_counts(counts)[codes[test], y[test]])
    return np.asarray(np.mean(losses, axis=0))


def compare_first(
    problems: tuple[str, ...] | None = None,
    n_trains: Sequence[int] = (25_000, 5_000),
    directory: str | Path | None = None,
) -> Fig3:
    """Error of the feature that each criterion ranks first, against that of Ginger's (Sec. 5.2).

    With the sign of the paper's Fig. 3: a positive difference is a problem where Ginger chose better. The
    rows differ from the paper's as in `rank_census`.
    """
    census = load_census(directory)
    comparisons: dict[tuple[int, tuple[str, ...], str, str], Comparison] = {}
    tops: dict[tuple[int, tuple[str, ...], str], list[tuple[str, ...]]] = {}
    names: tuple[str, ...] = ()
    for n_train in n_trains:
        results = _results(problems, n_train, directory)
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
