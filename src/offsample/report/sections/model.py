"""The recommended model: the best that can be read, as small as is as good, and what it was chosen among."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any, Self

import numpy as np

from offsample._losses import decide
from offsample.induction.by_groups import class_counts, guessing
from offsample.report._formats import amount, short_name
from offsample.report._metrics import OFF_BY, Score
from offsample.report._study import Study
from offsample.report.sections._branches import described, written
from offsample.report.sections._choice import Alternative, Choice
from offsample.report.sections._validation import ends_of, is_better

__all__ = ["Alternative", "Model", "SizePoint", "describe"]


@dataclass(frozen=True)
class SizePoint:
    """The model at one size."""

    size: int  # leaves, rules or terms
    training_error: float
    estimated_error: float  # off the sample, by the learner itself
    validated_error: float | None  # on left-out rows, by cross-validation at this size
    # By another loss than the error (see `Model.loss`): a share of pairs, or of what guessing loses.
    training_loss: float | None = None
    validated_loss: float | None = None

    @property
    def shown(self) -> Self:
        """Itself, with the losses in place of the errors if there are any."""
        if self.training_loss is None:
            return self
        return replace(
            self, training_error=self.training_loss, estimated_error=nan, validated_error=self.validated_loss
        )


@dataclass(frozen=True)
class Model:
    """The recommended model and how it was chosen."""

    kind: str  # "tree", "decision list", "formula" or "tree of oblique tests"
    name: str  # in words, such as "a tree with 7 leaves"
    size: int
    unit: str  # what the size counts: "leaf", "rule" or "term"
    columns: tuple[str, ...]  # that it looks at, the most important first
    # Their shares in the decrease of the estimated error; empty where the model does not know them.
    importances: tuple[float, ...]
    error: float  # by cross-validation or, without it, as estimated by the learner itself
    low: float  # of a 95 % interval by cross-validation, with a tree's own, or that alone without folds
    high: float
    training_error: float
    estimated_error: float  # off the sample, by the learner itself
    validated_error: float | None  # by cross-validation
    n_folds: int  # of the cross-validation; 0 if there was none
    baseline_error: float  # of always predicting the most frequent class
    # Whether it makes fewer mistakes than that on the same rows held back, by two standard errors of the
    # difference; without such rows, whether its interval lies below.
    beats_baseline: bool
    n_rows: int  # that it was fitted to
    path: tuple[SizePoint, ...]  # the sizes that were compared
    text: str  # the model in words, one line per node or rule
    tree: dict[str, Any] | None  # see `TreeClassifier.to_dict`; a branch of many values has a `summary`
    classes: tuple[str, ...]
    larger: Alternative | None  # a larger tree, or one of oblique tests, better than any that can be read
    alternatives: tuple[Alternative, ...]  # models of other kinds
    score: Score | None = None  # by another metric of the report than the error, with its 95 % interval
    loss: str = "error"  # of `path`, in words: that the model was chosen by, or absolute errors
    baseline_loss: float | None = None  # of guessing, in the units of `path`
    training_r2: float | None = None  # of numbers: below 0 of the median, as of anything but the mean

    @property
    def held_back(self) -> float | None:
        """What is lost on rows held back at this size, the same in all folds; None without such rows."""
        return next((point.shown.validated_error for point in self.path if point.size == self.size), None)

    @property
    def is_constant(self) -> bool:
        """Whether it looks at no column and always predicts the most frequent class, or the mean."""
        return not self.columns


def cheapest(study: Study) -> str:
    """Name the class to act by without any column: the likeliest, or that of the least costs."""
    costs = None if study.metric.is_error else study.costs
    return short_name(study.classes[int(decide(study.class_counts / len(study.y), costs))])


def describe(study: Study, choice: Choice, score: Score | None = None) -> Model:
    """Gather all that is shown of the recommended model."""
    model, validation, kind = choice.model, choice.validation, choice.kind
    columns = tuple(str(name) for name in model.used_columns_)
    validated = None if validation is None else validation.error(choice.stage)
    own = model.estimated_error_
    n_folds = 0 if validation is None else validation.n_folds
    error, (low, high) = own, model.estimated_error_interval_
    if validation is not None:
        error = validation.error(choice.stage)
        of_tree = (low, high) if kind.name == "tree" else None
        low, high = ends_of(study, validation.wrong_at(choice.stage), n_folds, of_tree=of_tree)
    elif study.new_rows:
        low, high = 0.0, 1.0 if study.task == "classification" else nan  # it took the rows as they came
    if not columns:
        wrong, name = study.guess_is_wrong, study.guess_name
        if name == "the median":
            wrong = study.wrong(study.guesses[0], study.tested)
            validated = None if validated is None else float(wrong.mean())
        if study.costs is not None and not study.metric.is_error:  # a rare class may be the cheapest
            wrong, name = study.guesses[1] != study.labels[study.tested], f"“{cheapest(study)}” each time"
        error, (low, high) = float(wrong.mean()), study.error_interval(wrong)
        if study.task != "regression" and len(study.new_rows.groups) == 1:
            of_group = class_counts(study.new_rows.groups[0], study.labels, len(study.classes))
            guess, (lowest, highest) = guessing(of_group)
            error, low, high = max(error, guess), min(low, lowest), max(high, highest)
    else:
        name = f"a {kind.name} with {amount(model.size_, kind.unit)}"
    if validation is None:
        beats = high < study.majority_error
    elif study.metric.by_pairs and score is not None and score.low == score.low:
        beats = score.low > 0.5
    else:
        beats = is_better(study.guess_losses, validation.of(choice.stage), study)
    path = _path(study, choice)
    here = next(point for point in path if point.size == model.size_)
    return Model(
        kind=kind.name,
        name=name,
        size=model.size_,
        unit=kind.unit,
        columns=columns,
        importances=model.used_importances_,
        error=error,
        low=low,
        high=high,
        training_error=here.training_error,
        estimated_error=own,
        validated_error=validated,
        n_folds=n_folds,
        baseline_error=study.majority_error,
        beats_baseline=bool(columns) and beats,
        n_rows=min(len(study.y), kind.most_rows or len(study.y)),
        path=path,
        text=written(study, model) if kind.is_drawn else model.to_text(),
        tree=described(study, model) if kind.is_drawn else None,
        classes=tuple(map(str, getattr(model, "classes_", ()))),
        larger=choice.larger,
        alternatives=choice.alternatives,
        score=score,
        loss=study.metric.loss if study.by_medians is None else OFF_BY.loss,
        baseline_loss=study.baseline_loss,
        training_r2=1 - here.training_error / (study.y.var() or 1.0) if study.task == "regression" else None,
    )


def _path(study: Study, choice: Choice) -> tuple[SizePoint, ...]:
    """List the sizes that growing went through, each once: a step need not change what is shown."""
    grown, validation, model = choice.whole, choice.validation, choice.model
    held = None if validation is None else validation.losses if validation.alike is None else validation.alike
    # On the rows as they are: a tree learns orders of values from other rows.
    rows, is_error = study.sample_of(np.arange(len(study.y)), choice.kind.most_rows), study.metric.is_error
    X = study.columns(choice.features).take(rows)
    wrong, losses = study.losses(grown, X, rows, range(len(grown.stage_sizes_)))
    sizes = grown.shown_sizes_ if study.task != "regression" else grown.stage_sizes_
    points: dict[int, SizePoint] = {}
    for stage, (size, row, step) in enumerate(zip(sizes, wrong, grown.path_, strict=False)):
        own, validated, loss = step.estimated_error, None, None
        if validation is not None and held is not None and stage in validation.stages:
            loss = float(study.told(held[validation.stages.index(stage)]).mean())
            validated = validation.error(stage)
        if stage == choice.stage:
            points = {known: point for known, point in points.items() if known < model.size_}
            size, own = model.size_, model.estimated_error_
            is_median = study.guess_name == "the median" and not model.used_columns_
            if is_median and loss is not None:
                by_median = study.wrong(study.guesses[0], study.tested)
                validated, loss = float(by_median.mean()), float(study.told(by_median).mean())
            shrinks = choice.kind.name == "tree" and study.task != "regression" and stage < grown.n_splits_
            if is_median or shrinks:
                # Of trees that compete, the one that may grow less may be of another kind.
                (row, *_), (losses[stage], *_) = study.losses(model, X, rows, None)
        elif not (stage < choice.stage or size > model.size_):
            continue
        lost = (None, None) if is_error else (float(study.told(losses[stage]).mean()), loss)
        points[size] = SizePoint(size, float(row.mean()), own, validated, *lost)
    return tuple(points[size] for size in sorted(points))
