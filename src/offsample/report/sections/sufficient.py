"""Which few columns suffice: those that the recommended model looks at, and what fewer of them would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Self

import numpy as np

from offsample.report._study import Study
from offsample.report._units import folds_factor, standard_error
from offsample.report.sections._choice import Choice, as_alternative, badness, shown_of
from offsample.report.sections._validation import (
    Validation,
    cross_validate,
    first_as_good,
    with_choice,
)


@dataclass(frozen=True)
class SizeError:
    """Error on left-out rows of the recommended kind of model with its first `n_columns` columns."""

    n_columns: int
    error: float
    standard_error: float
    loss: float | None = None  # as of `SizePoint`, if the model was chosen by another loss than the error
    loss_standard_error: float = 0.0

    @property
    def shown(self) -> Self:
        """Itself, with the loss in place of the error if there is one."""
        if self.loss is None:
            return self
        return replace(self, error=self.loss, standard_error=self.loss_standard_error)


@dataclass(frozen=True)
class NeededColumn:
    """A column that the recommended model looks at."""

    name: str
    share: float  # of the folds, in which the model of the other folds looks at it too


@dataclass(frozen=True)
class FewColumns:
    """The columns of the recommended model, and how good it would be with fewer and with more of them."""

    columns: tuple[NeededColumn, ...]  # the most important first
    n_available: int  # columns that it could have used
    # With no column, with the first, the first two, … up to all that the model would look at if it may; in
    # each fold those that are most important there. Only the first and the last where the model is no tree.
    sizes: tuple[SizeError, ...]
    baseline_error: float  # of always predicting the most frequent class
    n_folds: int

    @property
    def baseline(self) -> float:
        """Error, or loss, without any column."""
        return self.sizes[0].shown.error if self.sizes else self.baseline_error

    @property
    def n_chosen(self) -> int:
        """How many columns suffice."""
        return len(self.columns)


def fewest(study: Study, choice: Choice) -> tuple[Choice, FewColumns | None]:
    """Find the model with the fewest columns that is as good, and the errors with fewer and with more.

    Columns are chosen within each fold that the model was validated on; without folds there are no errors.
    """
    what, used, validation = "which few columns suffice", choice.model.used_columns_, choice.validation
    n_available = len(choice.features)
    is_error = study.metric.is_error
    nothing = SizeError(0, study.majority_error, 0.0, None if is_error else study.baseline_loss)
    if not used:
        return choice, FewColumns((), n_available, (nothing,), study.majority_error, 0)
    if validation is None:
        study.leave_out(what, "there was no cross-validation")
        return choice, None
    # Models were validated at this stage, or as they were grown in each fold.
    is_staged = len(validation.stages) > 1
    orders = [
        model.used_columns_after(choice.stage) if is_staged else model.used_columns_
        for model in validation.models
    ]
    tried = [validation]
    # A model of another kind takes too long to be fitted to every number of columns in every fold.
    for n_columns in range(len(used) - 1, 0, -1) if choice.kind.most_rows is None else ():
        few = [order[:n_columns] or choice.features[:1] for order in orders]
        if not study.has_time_for(what, study.mean_seconds("fold", "tree")):
            return choice, None
        found = cross_validate(study, choice.kind, few, choice.stage + 1)
        if found is None:
            return choice, None
        tried.insert(0, found)
    first = len(used) - len(tried) + 1
    shown = [with_choice(study, [one], 0, choice.stage) for one in tried[:-1]] + tried[-1:]
    losses = np.stack([one.of(choice.stage) for one in shown])
    n_columns, grown = len(used), choice.stage
    if study.metric.prefers_small:  # few rows of a rare class tell little of columns that have evidence
        n_columns = first + first_as_good(study, losses, len(losses) - 1)
    if n_columns < len(used):
        found = tried[n_columns - first]
        fewer = _with_columns(study, choice, used[:n_columns], found)
        if fewer.model.used_columns_:
            choice, validation = fewer, found
            orders = [order[:n_columns] for order in orders]
        tried = shown
    names = choice.model.used_columns_
    tried[len(names) - first] = validation
    sizes, times = [], sqrt(folds_factor(validation.n_folds))  # as that of the verdict's interval
    for k, one in enumerate(tried, first):
        at = choice.stage if one is validation else grown
        wrong, row = one.wrong_at(at), study.told(one.of(at))
        off, off_in_loss = (times * standard_error(values, study.units) for values in (wrong, row))
        loss = () if is_error else (float(row.mean()), off_in_loss)
        sizes.append(SizeError(k, float(wrong.mean()), off, *loss))
    shares = [float(np.mean([name in order for order in orders])) for name in names]
    return choice, FewColumns(
        columns=tuple(NeededColumn(str(name), share) for name, share in zip(names, shares, strict=True)),
        n_available=n_available,
        sizes=(nothing, *sizes),
        baseline_error=study.majority_error,
        n_folds=validation.n_folds,
    )


def _with_columns(study: Study, choice: Choice, names: Sequence[Any], validation: Validation) -> Choice:
    """Fit the same model, as large, to some of its columns only."""
    with study.deadline(keep_part=True):
        tree = study.fitted(choice.kind.of_size(choice.stage + 1), study.columns(names), whole=True)
    stage = min(choice.stage, tree.n_splits_)
    larger = choice.larger
    fewer = replace(choice, model=shown_of(study, tree), whole=tree, stage=stage, validation=validation)
    if larger is not None and badness(study, larger) >= badness(study, as_alternative(study, fewer)):
        larger = None
    return replace(fewer, larger=larger)
