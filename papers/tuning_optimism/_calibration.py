"""How good each correction of the best score is, on searches that none of them was made with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from offsample.assessment import audit_search, clopper_pearson_interval, wilson_interval
from offsample.assessment._correctors import VARIANCE_FACTOR, bootstrap
from offsample.assessment._intervals import corrected_t_interval
from papers._experiments import UNDECIDED, Claim, Outcome, experiment, verdict
from papers._table import format_table
from papers.tuning_optimism._correctors import information, left_out_fold, tibshirani
from papers.tuning_optimism._searches import FIRST_SEED, PROBLEMS, Search, searches

__all__ = ["JUDGES", "Judged", "calibration", "judge_all"]

Floats = NDArray[np.float64]
Interval = tuple[float, float, float]  # estimate, low, high
Judge = Callable[[Search], dict[str, Interval]]
AS_IT_IS, ROWS, FOLDS, NESTED = "best score as it is", "bootstrap of rows", "bootstrap of folds", "nested"
OF_FOLDS = {
    "bootstrap": FOLDS,
    "shrinkage": "shrinkage",
    "left_out_fold": "left-out fold",
    "tibshirani": "Tibshirani",
    "information": "information",
}
LEGEND = f"""bias: mean of estimate - true error of the refitted best configuration, and its standard error;
sd: of the estimate; coverage of the 95 % interval (as it is: Wilson; bootstrap of rows: Wilson with
n/(e-1) rows; nested: corrected t; others: that of audit_search from fold scores); cost: CPU time of
search and correction, in searches (of folds: all corrections together; of rows: where the search kept its
predictions; else one search more). Seeds {FIRST_SEED:,} and up, which none was made with."""


def _fold_errors(search: Search, parts: int = 1) -> Floats:
    """Errors on the folds; `parts` cuts each fold into smaller ones, judged by the same models."""
    columns = []
    rng = np.random.default_rng(0)
    for fold in range(search.folds.max() + 1):
        rows = rng.permutation(np.flatnonzero(search.folds == fold))
        columns += [search.losses[:, part].mean(axis=1) for part in np.array_split(rows, parts)]
    return np.column_stack(columns)


def _naive(search: Search) -> dict[str, Interval]:
    error, n = float(search.losses.mean(axis=1).min()), len(search.folds)
    return {AS_IT_IS: (error, *wilson_interval(error * n, n))}


def _rows(search: Search) -> dict[str, Interval]:
    error, n = bootstrap(search.losses.astype(float)), len(search.folds) / VARIANCE_FACTOR
    return {ROWS: (error, *wilson_interval(error * n, n))}


def _of_folds(search: Search, parts: int = 1) -> dict[str, Interval]:
    """All corrections from fold scores, with the radius of the audit for all."""
    losses, n_rows = _fold_errors(search, parts), len(search.folds)
    audit = audit_search(losses, greater_is_better=False, n_samples=n_rows, cv=losses.shape[1])
    estimates = {
        **audit.estimates,
        "left_out_fold": left_out_fold(losses),
        "tibshirani": tibshirani(losses),
        "information": information(losses, n_rows, len(losses)),
    }
    radius = max(audit.corrected - audit.low, audit.high - audit.corrected)  # less where 0 or 1 cuts it
    suffix = "" if parts == 1 else f", {audit.n_folds} folds"
    return {
        OF_FOLDS[name] + suffix: (error, max(0.0, error - radius), min(1.0, error + radius))
        for name, error in estimates.items()
    }


def _nested(search: Search) -> dict[str, Interval]:
    if not len(search.nested):
        return {NESTED: (np.nan, np.nan, np.nan)}
    folds = np.array([search.nested[search.folds == k].mean() for k in range(search.folds.max() + 1)])
    return {NESTED: (float(search.nested.mean()), *corrected_t_interval(folds))}


JUDGES: tuple[Judge, ...] = (_naive, _rows, _of_folds, _nested)


@dataclass(frozen=True)
class Judged:
    """A correction on the searches of one problem: estimates and intervals less the true errors."""

    off: Floats
    sd: float
    covered: int
    width: float
    cost: float

    @property
    def bias(self) -> float:
        return float(self.off.mean())

    @property
    def error(self) -> float:
        """Standard error of the bias."""
        return float(self.off.std(ddof=1) / np.sqrt(len(self.off)))

    @property
    def rmse(self) -> float:
        return float(np.sqrt((self.off**2).mean()))

    @property
    def coverage(self) -> float:
        return self.covered / len(self.off)

    @property
    def coverage_interval(self) -> tuple[float, float]:
        return clopper_pearson_interval(self.covered, len(self.off))


def judge_all(found: Sequence[Search], judges: Sequence[Judge]) -> dict[str, Judged]:
    """Every correction on the same searches."""
    truth = np.array([search.truth for search in found])
    search_seconds = float(np.mean([search.seconds for search in found]))
    judged = {}
    for judge in judges:
        start = time.process_time()
        by_search = [judge(search) for search in found]
        seconds = (time.process_time() - start) / len(found)
        for name in by_search[0]:
            if name == NESTED:
                seconds = float(np.mean([search.nested_seconds for search in found if len(search.nested)]))
            values = np.array([intervals[name] for intervals in by_search])
            done = np.isfinite(values[:, 0])
            estimate, low, high = values[done].T
            judged[name] = Judged(
                off=estimate - truth[done],
                sd=float(estimate.std(ddof=1)),
                covered=int(((low <= truth[done]) & (truth[done] <= high)).sum()),
                width=float((high - low).mean()),
                cost=1 if name == AS_IT_IS else 1 + seconds / search_seconds,
            )
    return judged


def _table(judged: Mapping[str, Judged]) -> str:
    header = ["correction", "searches", "bias", "± se", "rmse", "sd", "coverage", "width", "cost"]
    rows = [
        [
            name,
            len(j.off),
            f"{j.bias:+.4f}",
            f"{j.error:.4f}",
            f"{j.rmse:.4f}",
            f"{j.sd:.4f}",
            f"{j.coverage:.3f}",
            f"{j.width:.3f}",
            f"{j.cost:.2f}",
        ]
        for name, j in judged.items()
    ]
    return format_table(header, rows)


def calibration(name: str, n_searches: int | None = None, n_nested: int | None = None) -> Outcome:
    """All corrections on one problem; `n_searches` and `n_nested` for fewer repetitions."""
    problem = PROBLEMS[name]
    found = list(searches(problem, n_searches, n_nested))
    judged = judge_all(found, JUDGES)
    n_configurations, n_rows = found[0].losses.shape
    truth, of_folds = np.mean([(search.truth, search.fold_truth) for search in found], axis=0)
    tables = [
        LEGEND,
        f"{name}: {n_configurations} configurations, {n_rows} rows, {problem.n_folds} folds; true error "
        f"{truth:.4f}, learned without a fold {of_folds:.4f}\n{_table(judged)}",
    ]
    if name == "noise, trees":
        small = [partial(_of_folds, parts=n // problem.n_folds) for n in (10, 20)]
        title = "The same searches, with folds cut into smaller ones"
        tables.append(f"{title}\n{_table(judge_all(found, small))}")
    return Outcome(_claims(judged, of_folds - truth), "\n\n".join(tables))


def _register() -> None:
    for name, problem in PROBLEMS.items():
        seen = "other samples of it were" if problem.seen else "it was not"
        slug = name.replace(", ", "_").replace(" ", "_")
        experiment(
            f"tuning_optimism.calibration_{slug}",
            f"Corrections of the best of 42 scores: {name} ({seen} looked at while they were made)",
        )(partial(calibration, name))


_register()


def _claims(judged: Mapping[str, Judged], fewer_rows: float) -> list[Claim]:
    best, nested = judged[AS_IT_IS], judged[NESTED]
    steep = f"models learned without a fold err {fewer_rows:+.4f} more often than those of all rows"
    if not fewer_rows:  # of noise
        steep = "why is not known: of noise every model errs in half of the rows, however few it learned from"
    optimistic, unbiased = best.bias + 2 * best.error < 0, abs(nested.bias) < 3 * nested.error
    claims = [
        Claim(
            "Sec. 5.8: the least cross-validation error of several settings is optimistic",
            "no number",
            f"bias {best.bias:+.4f} ± {best.error:.4f}",
            verdict(optimistic),
            "" if optimistic else steep,
        ),
        Claim(
            "Fig. 5.2, Sec. 5.6: nested (n²-fold) cross-validation is almost unbiased",
            "no number",
            f"bias {nested.bias:+.4f} ± {nested.error:.4f}",
            verdict(unbiased),
            "" if unbiased else f"more than three standard errors: {steep}",
        ),
    ]
    for name, what in ((FOLDS, "from fold scores"), (ROWS, "from rows")):
        j = judged[name]
        small = abs(j.bias) <= nested.sd
        low, high = j.coverage_interval
        # Decided where the share lies within, or its exact 95 % interval outside.
        right = 0.9 <= j.coverage <= 0.99
        judged_as = verdict(right) if right or low > 0.99 or high < 0.9 else UNDECIDED
        claims += [
            Claim(
                f"target: bias of the default {what} at most the standard error of nested cross-validation",
                f"at most {nested.sd:.4f}",
                f"{j.bias:+.4f} ± {j.error:.4f} at {j.cost:.2f} times the cost of the search",
                verdict(small),
                "" if small else steep,
            ),
            Claim(
                f"target: coverage of the 95 % interval {what} between 90 and 99 %",
                "90–99 %",
                f"{j.coverage:.1%} ({low:.1%} to {high:.1%}) of {len(j.off)}",
                judged_as,
                "" if right else steep if j.coverage < 0.9 else "the interval is wider than it need be",
            ),
        ]
    return claims
