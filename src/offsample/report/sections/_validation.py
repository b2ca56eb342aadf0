"""Errors on left-out rows: how models are cross-validated, and when one is better than another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.report._study import Study
from offsample.report._units import clearly, error_interval, standard_error
from offsample.report.sections._kinds import Kind

# Another model is better if it has fewer errors by this many standard errors of the difference.
_CLEARLY = 2.0


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of one learner at several stages of its growth."""

    stages: Sequence[int]  # how many steps of growth were made
    wrong: Booleans  # (n_stages, n_tested): tested rows that were wrong when they were left out
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
    """Cross-validate models at all stages of their growth; None where there are too few rows, or no time.

    Each fold has its own `features` to learn from. Models grow through `max_size` stages, as trees to so many
    leaves do; by default as many as a person reads.
    """
    stages = range(max_size or study.options.max_size)
    wrong = np.zeros((len(stages), len(study.tested)), bool)
    models: list[Any] = []

    def fitted(job: tuple[tuple[Any, Any], Collection[Any]]) -> Any:
        (train, test), names = job
        X = study.columns(names)
        with study.timed("fold", kind.name):
            learner = kind.of_size(min(len(stages), study.options.max_size))
            model = study.fitted(learner, X, study.sample_of(train, kind.most_rows), whole=True)
        return model, model.staged_predict(X.take(test), stages)

    jobs = list(zip(study.folds, features, strict=True))
    try:
        with study.deadline():
            for (_, test), (model, staged) in zip(study.folds, study.side_by_side(fitted, jobs), strict=True):
                wrong[:, study.place(test)] = study.wrong(staged, test)
                models.append(model)
    except OutOfTime:
        study.leave_out("cross-validation")
        return None
    return Validation(stages, wrong, models) if models else None


def left_out(
    study: Study, kind: Kind, features: Collection[Any], rival: Booleans, size: int, enough: int | None = None
) -> tuple[Floats, list[Any]] | None:
    """Find which rows are wrong (1) or right (0) when left out, and the models of the folds.

    A learner that is told groups has chosen its size by them, with all rows: models of the folds have it too.
    Folds that are not needed once `enough` rows were tested are skipped, and their rows are NaN. Returns None
    as soon as it is clear that the model cannot be better than the rival, or that there is no time.
    """
    X, what = study.columns(features), f"cross-validation of a {kind.name}"
    wrong, models = np.full(len(study.tested), np.nan), []

    def fitted(fold: tuple[Any, Any]) -> Any:
        rows = study.sample_of(fold[0], kind.most_rows)
        with study.timed("fit", kind.name):
            learner = clone(kind.learner) if study.told_groups is None else kind.of_size(size)
            model = study.fitted(learner, X, rows, whole=True)
        return model, model.predict(X.take(fold[1]))

    if not study.has_time_for(what, study.mean_seconds("fit", kind.name)):
        return None
    tested = np.cumsum([len(test) for _, test in study.folds])
    folds = study.folds if enough is None else study.folds[: int((tested < enough).sum()) + 1]
    try:
        with study.deadline():
            for (_, test), (model, predicted) in zip(folds, study.side_by_side(fitted, folds), strict=True):
                models.append(model)
                wrong[study.place(test)] = study.wrong(predicted, test)
                gain, clear_gain = _gain(rival, wrong, study)
                if rounded(gain + clear_gain) < 0:
                    return None
    except OutOfTime:
        study.leave_out(what)
        return None
    return wrong, models


def is_better(rival: Booleans, wrong: Floats, study: Study | None = None) -> bool:
    """Say whether a model has clearly fewer errors than a rival on the same rows, varying as in a study."""
    gain, clear_gain = _gain(rival, wrong, study)
    return bool(rounded(gain) > rounded(clear_gain))


def _gain(rival: Booleans, wrong: Floats, study: Study | None) -> tuple[float, float]:
    """Return by how much fewer rows are wrong than with a rival, and how much would be clear."""
    tested = np.isfinite(wrong)
    gain, units = (rival - wrong)[tested], _units(study, tested)
    return gain.mean(), clearly(_CLEARLY, units) * standard_error(gain, units)


def _units(study: Study | None, tested: Booleans) -> list[Ints]:
    """Return what varies among those tested rows that a model was tested on."""
    if study is None or tested.all():
        return [] if study is None else study.units
    return study.varying.units(study.tested[tested])


def first_as_good(study: Study, wrong: Booleans, best: int) -> int:
    """Return the first of several models, the simplest, that is as good as the best of them.

    Its error is within one standard error that the difference would have were both as good, by the rows that
    they do not agree on (McNemar 1947), or by units; and it is clearly better than guessing. If none is, the
    first.
    """
    if not is_better(study.guess_is_wrong, wrong[best].astype(float), study):
        return 0
    for place, row in enumerate(wrong[:best]):
        more = int(row.sum()) - int(wrong[best].sum())
        if not study.units:
            as_good = more <= np.sqrt((row != wrong[best]).sum())
        else:
            difference = row.astype(float) - wrong[best]
            as_good = rounded(difference.mean()) <= rounded(standard_error(difference, study.units))
        if as_good and is_better(study.guess_is_wrong, row.astype(float), study):
            return place
    return best


def spanned(
    study: Study, own: tuple[float, float], wrong: Floats | Booleans, n_folds: int, error: float | None = None
) -> tuple[float, float]:
    """Widen the learner's own interval to that of cross-validation: they err differently.

    The learner takes rows as they come: where they come in units, the interval is that of cross-validation.
    """
    tested = np.isfinite(wrong)
    units = _units(study, tested)
    low, high = error_interval(wrong[tested], units, n_folds, error)
    return (low, high) if units else (min(own[0], low), max(own[1], high))
