"""Errors on left-out rows: how models are cross-validated, and when one is better than another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.report._metrics import Rated, decide
from offsample.report._study import Study
from offsample.report._units import clearly, error_interval, standard_error
from offsample.report.sections._kinds import Kind

# Another model is better if it has fewer errors by this many standard errors of the difference.
_CLEARLY = 2.0


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of one learner at several stages of its growth."""

    stages: Sequence[int]  # how many steps of growth were made
    # (n_stages, n_tested): tested rows that were wrong when they were left out, and what was lost on them by
    # the metric, the same if it is the error. NaN where a row was not left out.
    wrong: NDArray[Any]
    losses: NDArray[Any]
    models: list[Any]  # of the folds
    features: Sequence[Collection[Any]]  # that they learned from
    is_staged: bool = True  # or whether the models are all of one stage

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.models)

    def of(self, stage: int) -> NDArray[Any]:
        """Losses at a stage."""
        return np.asarray(self.losses[self.stages.index(stage)])

    def wrong_at(self, stage: int) -> NDArray[Any]:
        """Rows that were wrong at a stage."""
        return np.asarray(self.wrong[self.stages.index(stage)])

    def error(self, stage: int) -> float:
        """Share of them."""
        return float(self.wrong_at(stage).mean())


def cross_validate(
    study: Study, kind: Kind, features: Sequence[Collection[Any]], max_size: int | None = None
) -> Validation | None:
    """Cross-validate models at all stages of their growth; None where there are too few rows, or no time.

    Each fold has its own `features` to learn from. Models grow through `max_size` stages, as trees to so many
    leaves do; by default as many as a person reads.
    """
    stages = range(max_size or study.options.max_size)
    wrong = np.zeros((len(stages), len(study.tested)), bool)
    losses = wrong if study.metric.is_error else np.zeros(wrong.shape)
    models: list[Any] = []

    def fitted(job: tuple[tuple[Any, Any], Collection[Any]]) -> Any:
        (train, test), names = job
        X = study.columns(names)
        with study.timed("fold", kind.name):
            learner = kind.of_size(min(len(stages), study.options.max_size))
            model = study.fitted(learner, X, study.sample_of(train, kind.most_rows), whole=True)
        return model, study.losses(model, X.take(test), test, stages)

    jobs = list(zip(study.folds, features, strict=True))
    try:
        with study.deadline():
            for (_, test), (model, found) in zip(study.folds, study.side_by_side(fitted, jobs), strict=True):
                wrong[:, study.place(test)], losses[:, study.place(test)] = found
                models.append(model)
    except OutOfTime:
        study.leave_out("cross-validation")
        return None
    return Validation(stages, wrong, losses, models, features) if models else None


def left_out(
    study: Study,
    kind: Kind,
    features: Collection[Any],
    rival: NDArray[Any] | None,
    model: Any,
    enough: int | None = None,
) -> Validation | None:
    """Find which rows are wrong (1) or right (0) when left out, by models of the folds like a fitted one.

    A learner that is told groups has chosen its size by them, with all rows: models of the folds have it too.
    Folds that are not needed once `enough` rows were tested are skipped, and their rows are NaN. Returns None
    as soon as it is clear that the model cannot be better than the rival, if any, or that there is no time.
    """
    X, what = study.columns(features), f"cross-validation of a {kind.name}"
    wrong, losses = np.full((2, 1, len(study.tested)), np.nan)
    models: list[Any] = []

    def fitted(fold: tuple[Any, Any]) -> Any:
        rows = study.sample_of(fold[0], kind.most_rows)
        with study.timed("fit", kind.name):
            learner = clone(kind.learner) if study.told_groups is None else kind.of_size(model.size_)
            fold_model = study.fitted(learner, X, rows, whole=True)
        return fold_model, study.losses(fold_model, X.take(fold[1]), fold[1], None)

    if not study.has_time_for(what, study.mean_seconds("fit", kind.name)):
        return None
    tested = np.cumsum([len(test) for _, test in study.folds])
    folds = study.folds if enough is None else study.folds[: int((tested < enough).sum()) + 1]
    try:
        with study.deadline():
            for (_, test), (of_fold, found) in zip(folds, study.side_by_side(fitted, folds), strict=True):
                models.append(of_fold)
                wrong[:, study.place(test)], losses[:, study.place(test)] = found
                gain, clear_gain = (0.0, 0.0) if rival is None else _gain(rival, losses[0], study)
                if rounded(gain + clear_gain) < 0:
                    return None
    except OutOfTime:
        study.leave_out(what)
        return None
    stages = [len(model.stage_sizes_) - 1]
    return Validation(stages, wrong, losses, models, [features] * len(models), is_staged=False)


def is_better(rival: NDArray[Any], losses: NDArray[Any], study: Study | None = None) -> bool:
    """Say whether a model loses clearly less than a rival on the same rows, varying as in a study."""
    gain, clear_gain = _gain(rival, losses, study)
    return bool(rounded(gain) > rounded(clear_gain))


def _gain(rival: NDArray[Any], losses: NDArray[Any], study: Study | None) -> tuple[float, float]:
    """Return by how much less is lost than with a rival, and how much would be clear."""
    tested = np.isfinite(losses)
    gain, units = (rival - losses.astype(float))[tested], _units(study, tested)
    return gain.mean(), clearly(_CLEARLY, units) * standard_error(gain, units)


def _units(study: Study | None, tested: Booleans) -> list[Ints]:
    """Return what varies among those tested rows that a model was tested on."""
    if study is None or tested.all():
        return [] if study is None else study.units
    return study.varying.units(study.tested[tested])


def first_as_good(study: Study, losses: NDArray[Any], best: int | None = None) -> int:
    """Return the first of several models, the simplest, that is as good as the best of them.

    Its loss is within one standard error of the difference, of errors that which it would have were both as
    good, by the rows that they do not agree on (McNemar 1947), or by units; and it is clearly better than
    guessing. If none is, the first.
    """
    best = best_of(-losses.mean(axis=1)) if best is None else best
    if not is_better(study.guess_losses, losses[best], study):
        return 0
    for place, row in enumerate(losses[:best]):
        difference = row.astype(float) - losses[best]
        if not study.units and study.metric.is_error:
            as_good = int(difference.sum()) <= np.sqrt((row != losses[best]).sum())
        else:
            as_good = rounded(difference.mean()) <= rounded(standard_error(difference, study.units))
        if as_good and is_better(study.guess_losses, row, study):
            return place
    return best


def rated(study: Study, validation: Validation | None, stage: int = 0) -> Rated:
    """Return what the models of the folds said of the rows that they had not seen; or the class shares."""
    proba, is_error = study.guess_proba.copy(), study.metric.is_error
    predicted, kept = decide(proba, study.costs), np.full(len(proba), validation is None)
    fold = np.zeros(len(proba), np.int64)
    for number, (_, test) in enumerate(study.folds):
        place = study.place(test)
        fold[place] = number
        if validation is None or number >= validation.n_folds:
            continue
        model, X = validation.models[number], study.columns(validation.features[number]).take(test)
        stages = [stage] if validation.is_staged else None
        proba[place] = study.probabilities(model, X, stages, shown=is_error)[0]
        predicted[place], kept[place] = decide(proba[place], study.costs), True
        if is_error:
            said = model.predict(X) if stages is None else model.staged_predict(X, stages)[0]
            predicted[place] = np.searchsorted(study.classes, said)
    return Rated(
        proba=rounded(proba[kept]),
        predicted=predicted[kept],
        labels=study.labels[study.tested[kept]],
        fold=fold[kept],
        units=_units(study, kept),
        n_folds=0 if validation is None else validation.n_folds,
        positive=study.class_of_interest,
    )


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
