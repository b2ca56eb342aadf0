"""Errors on left-out rows: how models are cross-validated, and when one is better than another."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.base import clone

from offsample._deadline import OutOfTime
from offsample._ties import best_of, rounded
from offsample._typing import Booleans, Floats, Ints
from offsample._unit_intervals import student
from offsample.report._metrics import pair_losses
from offsample.report._study import Study
from offsample.report._units import clearly, folds_factor, standard_error
from offsample.report.sections._kinds import Kind

# Another model is better if it has fewer errors by this many standard errors of the difference.
_CLEARLY = 2.0
BEYOND_DOUBT = 3.0  # by this many, although nothing else is evidence
_VOTES = 8.0  # rows that all rows count for in the vote of a value
_AS_GOOD = 0.01  # of what guessing loses, that a smaller model may lose more
_FEWEST_TO_CHOOSE = 3  # folds, for each to be told by the others how large its model is to be


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
    found: NDArray[Any] | None = None  # losses, or ratings that losses of pairs are made of
    at: Mapping[int, Sequence[int]] = field(default_factory=dict)  # stages of the folds in place of one stage
    alike: NDArray[Any] | None = None  # losses with all folds of one stage, if some is chosen by fold

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
    stages = range(max_size or study.max_size)
    wrong: NDArray[Any] = np.zeros((len(stages), len(study.tested)), study.error_type)
    found = wrong if study.metric.is_error else np.zeros(wrong.shape)
    models: list[Any] = []

    def fitted(job: tuple[tuple[Any, Any], Collection[Any]]) -> Any:
        (train, test), names = job
        X = study.columns(names)
        with study.timed("fold", kind.name):
            learner = kind.of_size(min(len(stages), study.max_size))
            model = study.fitted(learner, X, study.sample_of(train, kind.most_rows), whole=True)
        return model, study.judged(model, X.take(test), test, stages)

    jobs = list(zip(study.folds, features, strict=True))
    try:
        with study.deadline():
            for (_, test), (model, judged) in zip(study.folds, study.side_by_side(fitted, jobs), strict=True):
                wrong[:, study.place(test)], found[:, study.place(test)] = judged
                models.append(model)
    except OutOfTime:
        study.leave_out("cross-validation")
        return None
    if not models:
        return None
    losses = study.lost(found, study.tested, study.fold_of)
    return Validation(stages, wrong, losses, models, features, found=found)


def with_choice(study: Study, tried: Sequence[Validation], chosen: int, stage: int) -> Validation:
    """Put in place of the chosen model, in each fold, the one that all other folds would have chosen.

    So what is measured on the rows of a fold includes the choice, which they had no part in.
    """
    known = tried[chosen]
    if study.metric.prefers_small or known.n_folds < _FEWEST_TO_CHOOSE or any(v.found is None for v in tried):
        return known
    at, models, features, is_mixed = [], [], [], False
    wrong, mixed = known.wrong.copy(), np.array(known.found)
    for number in range(known.n_folds):
        here = study.fold_of == number
        which, best = picked(study, tried, ~here)
        at.append(best)
        is_mixed |= which != chosen
        models.append(tried[which].models[number])
        features.append(tried[which].features[number])
        wrong[stage, here] = tried[which].wrong[best, here]
        mixed[stage, here] = tried[which].found[best, here]  # type: ignore[index]
    losses = known.losses.copy()
    losses[stage] = study.lost(mixed[[stage]], study.tested, study.fold_of)[0]
    found = None if is_mixed else known.found  # of other stages of the same models
    alike = known.losses if known.alike is None else known.alike
    mixture = replace(known, wrong=wrong, losses=losses, found=found, at={stage: at}, alike=alike)
    return replace(mixture, models=models, features=features)


def picked(study: Study, tried: Sequence[Validation], rows: Booleans | None = None) -> tuple[int, int]:
    """Say which of one or two learners, by some rows, and at which stage: the second if clearly better."""
    rows, best = np.ones(len(study.tested), bool) if rows is None else rows, []
    losses = [study.lost(one.found[:, rows], study.tested[rows], study.fold_of[rows]) for one in tried]  # type: ignore[index]
    stages = [first_as_good(study, of_one) for of_one in losses]
    for of_one, stage in zip(losses, stages, strict=True):
        best.append(np.full(len(rows), np.nan))
        best[-1][rows] = of_one[stage]
    which = int(len(best) > 1 and is_better(best[0], best[-1], study))
    return which, stages[which]


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
    wrong, losses, found = np.full((3, 1, len(study.tested)), np.nan)
    models: list[Any] = []

    def fitted(fold: tuple[Any, Any]) -> Any:
        rows = study.sample_of(fold[0], kind.most_rows)
        with study.timed("fit", kind.name):
            learner = clone(kind.learner) if study.told_groups is None else kind.of_size(model.size_)
            fold_model = study.fitted(learner, X, rows, whole=True)
        return fold_model, study.judged(fold_model, X.take(fold[1]), fold[1], None)

    if not study.has_time_for(what, study.mean_seconds("fit", kind.name)):
        return None
    tested = np.cumsum([len(test) for _, test in study.folds])
    folds = study.folds if enough is None else study.folds[: int((tested < enough).sum()) + 1]
    try:
        with study.deadline():
            for (_, test), (of_fold, judged) in zip(folds, study.side_by_side(fitted, folds), strict=True):
                models.append(of_fold)
                wrong[:, study.place(test)], found[:, study.place(test)] = judged
                so_far = np.isfinite(found[0])
                losses[:, so_far] = study.lost(found[:, so_far], study.tested[so_far], study.fold_of[so_far])
                gain, clear_gain = (0.0, 0.0) if rival is None else gained(rival, losses[0], study)
                if rounded(gain + clear_gain) < 0:
                    return None
    except OutOfTime:
        study.leave_out(what)
        return None
    stages = [len(model.stage_sizes_) - 1]
    return Validation(stages, wrong, losses, models, [features] * len(models), is_staged=False)


def say_together(study: Study, features: Collection[Any]) -> bool:
    """Say whether columns that are no evidence one by one order rows better than chance when they vote."""
    if (votes := vote(study, features)) is None:
        return False
    losses = pair_losses(votes, study.labels[study.tested] == study.class_of_interest, study.fold_of)
    return is_better(np.full(len(losses), 0.5), losses, study, BEYOND_DOUBT)


def vote(study: Study, features: Collection[Any]) -> Floats | None:
    """Log odds of tested rows by a vote of columns; None without folds, or a class of interest.

    Each value, or quarter of the numbers, votes with the log odds of its rows in other folds, drawn toward
    those of all rows; so weak columns add up, as they cannot in a tree.
    """
    if not study.is_named or len(study.folds) < _FEWEST_TO_CHOOSE:
        return None
    is_hit, votes = study.labels == study.class_of_interest, np.zeros(len(study.tested))
    for name in features:
        cells = quarters(study.encoded[name], study.encoded.kind(name))
        for train, test in study.folds:
            share, n_cells = is_hit[train].mean(), int(cells.max()) + 1
            hits, rows = (np.bincount(cells[one], minlength=n_cells) for one in (train[is_hit[train]], train))
            odds = (hits + _VOTES * share) / np.maximum(rows - hits + _VOTES * (1 - share), 1e-9)
            votes[study.place(test)] += np.log(np.maximum(odds, 1e-9))[cells[test]]
    return votes


def quarters(values: Floats, kind: str) -> Ints:
    """Code of each value, or of the quarter of the numbers that it is in; missing ones are by themselves."""
    if kind == "numeric":
        cuts = np.nanquantile(values, (0.25, 0.5, 0.75)) if np.isfinite(values).any() else np.zeros(0)
        values = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values))
    return np.unique(values, return_inverse=True)[1]


def is_better(
    rival: NDArray[Any], losses: NDArray[Any], study: Study | None = None, n_errors: float = _CLEARLY
) -> bool:
    """Say whether a model loses clearly less than a rival on the same rows, varying as in a study."""
    gain, clear_gain = gained(rival, losses, study, n_errors)
    return bool(rounded(gain) > rounded(clear_gain))


def gained(
    rival: NDArray[Any], losses: NDArray[Any], study: Study | None, n_errors: float = _CLEARLY
) -> tuple[float, float]:
    """Return by how much less is lost than with a rival, and how much would be clear."""
    tested = np.isfinite(losses)
    gain, units = (rival - losses.astype(float))[tested], _units(study, tested)
    asked, n_errors = n_errors, clearly(n_errors, units)
    if study is not None and not study.metric.is_error:  # as in its interval: few rows of a rare class count
        n_errors = n_errors if units else student(float(ndtr(asked)), max(2.0, float(study.n_rare)))
        n_errors *= float(np.sqrt(folds_factor(len(study.folds))))
    return gain.mean(), n_errors * standard_error(gain, units)


def _units(study: Study | None, tested: Booleans) -> list[Ints]:
    """Return what varies among those tested rows that a model was tested on."""
    if study is None or tested.all():
        return [] if study is None else study.units
    return study.varying.units(study.tested[tested])


def first_as_good(study: Study, losses: NDArray[Any], best: int | None = None) -> int:
    """Return the first of several models, the simplest, that is as good as the best, or the first of all.

    It is clearly better than guessing, and within one standard error that the difference would have were both
    as good, by the rows that they do not agree on (McNemar 1947), or by units. Of a rare class that would be
    most of what there is to gain: there it loses a hundredth of that of guessing, .005 of AUC, at most.
    Numbers of which a few decide all squares are compared by how far off they are.
    """
    guess, metric = study.guess_losses, study.metric
    if study.guess_name == "the median":  # a few rows decide all squares
        guess, losses = np.abs(study.guesses[0] - study.y[study.tested]), np.sqrt(losses)
    best = best_of(-losses.mean(axis=1)) if best is None else best
    if not metric.prefers_small:
        more = losses[: best + 1].mean(axis=1) - losses[best].mean()
        return int(np.flatnonzero(rounded(more) <= rounded(_AS_GOOD * guess.mean()))[0])
    if not is_better(guess, losses[best], study):
        return 0
    for place, row in enumerate(losses[:best]):
        difference = row.astype(float) - losses[best]
        if not study.units and metric.is_error:
            as_good = int(difference.sum()) <= np.sqrt((row != losses[best]).sum())
        else:
            as_good = rounded(difference.mean()) <= rounded(standard_error(difference, study.units))
        if as_good and is_better(guess, row, study):
            return place
    return best


def rated(study: Study, validation: Validation | None, stage: int = 0) -> Any:
    """Return what the models of the folds said of the rows that they had not seen; or the guess."""
    said, kept = [one.copy() for one in study.guesses], np.full(len(study.tested), validation is None)
    for number, (_, test) in enumerate(study.folds):
        place = study.place(test)
        if validation is None or number >= validation.n_folds:
            continue
        model, X = validation.models[number], study.columns(validation.features[number]).take(test)
        at = validation.at.get(stage)
        stages = [stage if at is None else at[number]] if validation.is_staged else None
        for whole, part in zip(said, study.says(model, X, stages), strict=True):
            whole[place] = part
        kept[place] = True
    n_folds = 0 if validation is None else validation.n_folds
    return study.rating([one[kept] for one in said], kept, _units(study, kept), n_folds)


def ends_of(
    study: Study,
    wrong: Floats | Booleans,
    n_folds: int,
    error: float | None = None,
    of_tree: tuple[float, float] | None = None,
) -> tuple[float, float]:
    """Interval of an error on rows held back; with a tree's own, of rows, as the two err differently.

    That of lists and formulas begins with the estimate before the correction for having chosen, which is too
    low where there are many thresholds to choose among.
    """
    tested = np.isfinite(wrong)
    units = _units(study, tested)
    low, high = study.error_interval(wrong[tested], n_folds, error, units)
    if of_tree is None or units or not study.metric.is_error:
        return low, high
    return min(of_tree[0], low), max(of_tree[1], high)
