"""Errors on left-out rows: how models are cross-validated, and when one is better than another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._ties import rounded
from offsample._typing import Booleans, Floats
from offsample.induction.path import score_interval
from offsample.report._study import Study
from offsample.report.sections._kinds import Kind

# Another model is better if it has fewer errors by this many standard errors of the difference.
_CLEARLY = 2.0


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of one learner at several stages of its growth."""

    stages: Sequence[int]  # how many steps of growth were made
    wrong: Booleans  # (n_stages, n_rows): rows that were wrong when they were left out
    models: list[Any]  # of the folds

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.models)

    def of(self, stage: int) -> Booleans:
        """Rows that were wrong at a stage."""
        return np.asarray(self.wrong[self.stages.index(stage)])

    def error(self, stage: int) -> float:
        """Share of them."""
        return float(self.of(stage).mean())


def cross_validate(
    study: Study, kind: Kind, features: Sequence[Collection[Any]], max_size: int | None = None
) -> Validation | None:
    """Cross-validate trees at all stages of their growth; None where there are too few rows, or no time.

    Each fold has its own `features` to learn from. Trees grow to `max_size` leaves, by default as many as
    a person reads.
    """
    stages = range(max_size or study.options.max_size)
    wrong = np.zeros((len(stages), len(study.y)), bool)
    models: list[Any] = []

    def fitted(job: tuple[tuple[Any, Any], Collection[Any]]) -> Any:
        (train, test), names = job
        X = study.columns(names)
        with study.timed("fold", kind.name):
            model = kind.of_size(len(stages)).fit(X.take(train), study.y[train])
        return model, model.staged_predict(X.take(test), stages)

    jobs = list(zip(study.folds, features, strict=True))
    try:
        with study.deadline():
            for (_, test), (model, staged) in zip(study.folds, study.side_by_side(fitted, jobs), strict=True):
                wrong[:, test] = study.wrong(staged, test)
                models.append(model)
    except OutOfTime:
        study.leave_out("cross-validation")
        return None
    return Validation(stages, wrong, models) if models else None


def left_out(
    study: Study, kind: Kind, features: Collection[Any], rival: Booleans, enough: int | None = None
) -> tuple[Floats, list[Any]] | None:
    """Find which rows are wrong (1) or right (0) when left out, and the models of the folds.

    Folds that are not needed once `enough` rows were tested are skipped, and their rows are NaN. Returns None
    as soon as it is clear that the model cannot be better than the rival, or that there is no time.
    """
    X, what = study.columns(features), f"cross-validation of a {kind.name}"
    wrong, models = np.full(len(study.y), np.nan), []

    def fitted(fold: tuple[Any, Any]) -> Any:
        rows = study.sample_of(fold[0], kind.most_rows)
        with study.timed("fit", kind.name):
            model = clone(kind.learner).fit(X.take(rows), study.y[rows])
        return model, model.predict(X.take(fold[1]))

    if not study.has_time_for(what, study.mean_seconds("fit", kind.name)):
        return None
    tested = np.cumsum([len(test) for _, test in study.folds])
    folds = study.folds if enough is None else study.folds[: int((tested < enough).sum()) + 1]
    try:
        with study.deadline():
            for (_, test), (model, predicted) in zip(folds, study.side_by_side(fitted, folds), strict=True):
                models.append(model)
                wrong[test] = study.wrong(predicted, test)
                gain, clear_gain = _gain(rival, wrong)
                if rounded(gain + clear_gain) < 0:
                    return None
    except OutOfTime:
        study.leave_out(what)
        return None
    return wrong, models


def is_better(rival: Booleans, wrong: Floats) -> bool:
    """Say whether a model has clearly fewer errors than a rival on the same rows."""
    gain, clear_gain = _gain(rival, wrong)
    return bool(rounded(gain) > rounded(clear_gain))


def _gain(rival: Booleans, wrong: Floats) -> tuple[float, float]:
    """Return by how much fewer rows are wrong than with a rival, and how much would be clear."""
    gain = (rival - wrong)[np.isfinite(wrong)]
    return gain.mean(), _CLEARLY * gain.std() / np.sqrt(len(gain))


def first_as_good(study: Study, wrong: Booleans, best: int) -> int:
    """Return the first of several models, the simplest, that is as good as the best of them.

    Its error is within one standard error that the difference would have were both as good, by the rows that
    they do not agree on (McNemar 1947); and it is clearly better than guessing. If none is, the first.
    """
    if not is_better(study.guess_is_wrong, wrong[best].astype(float)):
        return 0
    for place, row in enumerate(wrong[:best]):
        more = int(row.sum()) - int(wrong[best].sum())
        as_good = more <= np.sqrt((row != wrong[best]).sum())
        if as_good and is_better(study.guess_is_wrong, row.astype(float)):
            return place
    return best


def spanned(
    interval: tuple[float, float], validated: float | None, n_rows: int, n_folds: int
) -> tuple[float, float]:
    """Widen the learner's own interval to that of cross-validation: they err differently.

    The estimates of the folds have most of their rows in common, and the model that is recommended differs
    from those of the folds: the variance is 1 + k / (k - 1) times that of as many independent rows (Nadeau &
    Bengio 2003).
    """
    if validated is None:
        return interval
    n_worth = max(1, round(n_rows / (1 + n_folds / max(1, n_folds - 1))))
    low, high = score_interval(validated, validated, n_worth)
    return min(interval[0], low), max(interval[1], high)
