"""Models for later rows, or rows of several new groups: a path is validated on blocks that it has not seen.

In time each block is after what its model saw; of users and items it shares neither with that.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from offsample import _folds
from offsample._held_out_counts import effective_units, together, unit_parts
from offsample._squared_losses import ratio_interval
from offsample._ties import best_of, rounded
from offsample._typing import Floats, Grouping, Ints
from offsample._unit_intervals import loss_interval, standard_error, student
from offsample.induction.by_groups import (
    Grown,
    Validated,
    class_counts,
    grown_alike,
    guessing,
    judged_by,
    staged_losses,
)
from offsample.tables import take_rows, told

# Blocks of the time that are predicted one after the other, each from the rows before it.
_N_BLOCKS = 5
# Level of the tests that a model says something of later rows: of two, and of the best of many stages.
_LEVEL = 0.01
_MOST_STAGES = 64  # of a long path, so many are tested


def fit_later(model: Any, X: Any, y: NDArray[Any], groups: Grouping | None, time: Ints | None) -> Any:
    """Fit a learner of ours for later rows, of other groups if there are any; without time, for several.

    The number of its steps and its error are those that models of earlier rows have on later ones, or of rows
    that share no group; there are none unless it is shown that they are better than to guess. Of numbers, it
    is all of a tree or nothing.
    """
    if is_classifier(model):
        return model._fit_later(X, y, groups, time)
    blocks = Blocks.of(y, groups, time, 0)
    said, known = np.empty((2, len(y))), told(groups)
    for train, test in blocks.splits:
        tree = clone(model).fit(take_rows(X, train), y[train], groups=None if known is None else known[train])
        said[:, test] = tree.staged_predict(take_rows(X, test), [0, tree.n_splits_])
    losses = (said - y)[:, blocks.tested] ** 2
    stage = blocks.chosen(losses, said[:, blocks.tested])
    most = model.max_splits
    model.set_params(max_splits=most if stage else 0).fit(X, y, groups=known).set_params(max_splits=most)
    model.estimated_error_ = float(losses[stage].mean())
    model.estimated_error_interval_ = ratio_interval(losses[stage], None, blocks.units)
    first = replace(model.path_[0], estimated_error=float(losses[0].mean()))
    model.path_ = replace(model.path_, steps=(first, *model.path_.steps[1:]))
    return model


def validate_later(
    learner: Any, grown: Grown, X: Any, y: NDArray[Any], groups: Grouping | None, time: Ints | None
) -> Validated:
    """Choose the number of steps, and estimate its error, on blocks that models have not seen.

    The first stage is kept that is within one standard error of the best, none where nothing shows that the
    best is more than chance. Its error is the larger of its own and that of what the other blocks choose.
    """
    seed = learner.random_state
    seed = 0 if seed is None else int(check_random_state(seed).randint(2**31))
    codes, known = np.searchsorted(learner.classes_, y), told(groups)
    blocks = Blocks.of(codes, groups, time, seed)
    tried = np.arange(grown.n_steps + 1)
    if len(tried) > _MOST_STAGES:
        tried = np.unique(np.geomspace(1, len(tried), _MOST_STAGES).round().astype(np.int64)) - 1
    losses = np.zeros((1 + len(learner._reported), len(tried), len(y)))
    said = np.zeros((len(tried), len(y)), np.int64)
    for train, test in blocks.splits:
        model = grown_alike(learner, seed)
        model.grow(take_rows(X, train), y[train], None, None if known is None else known[train])
        rows = take_rows(X, test)
        losses[:, :, test] = staged_losses(learner, model, rows, y[test], tried.tolist())
        predicted = model.staged_predict(rows, tried.tolist())
        said[:, test] = np.searchsorted(learner.classes_, predicted)
    losses, said = losses[:, :, blocks.tested], said[:, blocks.tested]
    by = judged_by(learner, grown)
    place = blocks.chosen(losses[by], said) if grown.chooses else len(tried) - 1
    nested = losses[:, place]
    if place and grown.chooses:
        nested = blocks.nested(losses, by)
        if rounded(nested[by].mean()) >= rounded(losses[by, 0].mean()):
            place, nested = 0, losses[:, 0]
    means = losses[0].mean(axis=1)
    means[place] = max(means[place], nested[0].mean())
    errors = means[np.searchsorted(tried, np.arange(grown.n_steps + 1), side="right") - 1]
    # Models of the blocks share rows, and differ from that of all rows (Nadeau & Bengio 2003).
    times = 1 + _N_BLOCKS / (_N_BLOCKS - 1) if place else 1.0
    ends = [loss_interval(one[0], blocks.units, times=times, power=2) for one in (losses[:, place], nested)]
    for group in blocks.groups:
        guess, of_guess = guessing(class_counts(group, blocks.y, len(learner.classes_)))
        errors[0] = max(errors[0], guess)
        ends += [of_guess] * (not place)
    also = []
    for own, chosen in zip(losses[1:, place], nested[1:], strict=True):
        radius = student(0.975, blocks.n_alike) * np.sqrt(times) * standard_error(chosen, blocks.units)
        low, high = sorted((float(own.mean()), float(chosen.mean())))
        also.append((high, (low - float(radius), high + float(radius))))
    kept = int(tried[place])
    return Validated(
        errors,
        tuple(range(kept)) + (kept,) * (grown.n_steps + 1 - kept),
        kept,
        float(errors[kept]),
        (min(low for low, _ in ends), max(high for _, high in ends)),
        nested[0],
        np.ones(len(nested[0])),
        tuple(also),
    )


class Blocks(NamedTuple):
    """Rows that are predicted from earlier ones, or those of other groups, and what varies among them."""

    splits: _folds.Splits
    tested: Ints  # the rows, and of each of them
    fold: Ints  # the number of the split
    y: NDArray[Any]  # the number, or the code of the class
    recent: Floats  # the loss of guessing as the part of the time before had it, or without time all rows
    part: Ints  # the part of the time that a model predicts, or without time the block
    groups: list[Ints]
    units: list[Ints]  # these, and parts of the time
    variance: float  # of gains in that of independent units: above 1 where models are grown by rows alone

    @classmethod
    def of(cls, y: NDArray[Any], groups: Grouping | None, time: Ints | None, seed: int, **how: Any) -> Self:
        """Deal rows into blocks, `how` `_folds.shuffled` is told; classes are codes from 0 on."""
        how = {"n_folds": _N_BLOCKS, "stratify": y.dtype.kind != "f", **how}
        if time is None:
            how["n_folds"] = min(how["n_folds"], *(len(np.unique(one)) for one in unit_parts(groups, None)))
        splits = _folds.shuffled(y, seed=seed, groups=groups, time=time, **how)
        if not splits:
            later = "is later than" if time is not None else "shares no group with"
            raise ValueError(f"no row {later} rows of other groups: there is nothing to learn from")
        fold = np.full(len(y), -1)
        for number, (_, test) in enumerate(splits):
            fold[test] = number
        tested = np.flatnonzero(fold >= 0)
        if time is None:
            part, before = fold, np.tile(_columns(y).mean(axis=0), (len(tested), 1))
        else:
            part = unit_parts(None, time)[0]
            before = _means(_columns(y), part)[part[tested] - 1]
        y = y[tested]
        recent = (before[:, 0] - y) ** 2 if y.dtype.kind == "f" else (before.argmax(axis=1) != y) * 1.0
        of, units = ([unit[tested] for unit in unit_parts(groups, when)] for when in (None, time))
        part, fold = together(part[tested], fold[tested]), fold[tested]
        variance = 1.0 if time is not None else 1 + how["n_folds"] / (how["n_folds"] - 1)
        return cls(splits, tested, fold, y, recent, part, of, units, variance)

    @property
    def n_alike(self) -> float:
        """Number of units that would weigh as these do."""
        return effective_units(self.units)

    def chosen(self, losses: Floats, said: NDArray[Any]) -> int:
        """Return the stage to keep, given losses and predictions of all stages, (stages, rows).

        The first stage guesses. Another is kept where later rows show that the best says more than chance,
        and no worse than to guess. What drifts alone shows nothing: predictions and rows are compared within
        the parts of the time, less their means there. Or else what is lost is clearly less than by guessing
        as earlier rows were, and as the part before was, which follows the shares of the classes.
        """
        best = best_of(-losses.mean(axis=1))
        if not best:
            return 0
        both = np.split(_columns(np.concatenate([said[best], self.y])), 2)
        first, second = (one - _means(one, self.part)[self.part] for one in both)
        gains = [(first * second).sum(axis=1), losses[0] - losses[best], self.recent - losses[best]]
        enough = student(1 - _LEVEL, self.n_alike) * np.sqrt(self.variance)
        clear = [enough * standard_error(gain, self.units) for gain in gains]
        agree, *better = (rounded(gain.mean()) > rounded(one) for gain, one in zip(gains, clear, strict=True))
        return self._first(losses) if agree or all(better) else 0

    def nested(self, losses: Floats, by: int) -> Floats:
        """Losses of all kinds, in each block those of the stage that the other blocks choose `by` one."""
        found = np.empty((len(losses), len(self.fold)))
        for one in np.unique(self.fold):
            here = self.fold == one
            found[:, here] = losses[:, self._first(losses[by], ~here), here]
        return found

    def _first(self, losses: Floats, rows: Any = slice(None)) -> int:
        """Return the first stage that is better than no step, and within one standard error of the best."""
        losses, units = losses[:, rows], [unit[rows] for unit in self.units]
        total = losses.mean(axis=1)
        best = best_of(-total)
        for stage in range(1, best):
            more = losses[stage] - losses[best]
            as_good = rounded(more.mean()) <= rounded(standard_error(more, units))
            if as_good and rounded(total[stage]) < rounded(total[0]):
                return stage
        return best


def _columns(y: NDArray[Any]) -> Floats:
    """Numbers as a column; of classes, a column each that says which rows have it."""
    return y[:, None] if y.dtype.kind == "f" else np.eye(int(y.max()) + 1)[y]


def _means(columns: Floats, part: Ints) -> Floats:
    size = np.bincount(part)
    return np.column_stack([np.bincount(part, column) / size for column in columns.T])
