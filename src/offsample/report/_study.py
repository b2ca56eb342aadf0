"""What the sections of a report share: the table, its ranking, and models grown on it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from offsample import _folds, _losses
from offsample._held_out_counts import together
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.induction import TreeClassifier
from offsample.ranking import Ranking, rank_features
from offsample.report._encoded import COMPARED_ROWS, EncodedRead, compared_rows
from offsample.report._metrics import Rated, pair_losses
from offsample.report._reading import Options
from offsample.report._units import NewRows, error_interval
from offsample.rows import Entity, Order, suspect_entities, suspect_orders
from offsample.tables import EncodedTable
from offsample.tables._units import coarsest

__all__ = ["Options", "Study", "compared_rows"]

# Of fewer rows of other classes than the most frequent, folds leave out a tenth.
_FEW = 100
# What depends on which rows are left out.
_OF_NEW_ROWS = (
    "folds", "tested", "units", "guess", "guess_is_wrong", "guess_proba", "guess_losses", "fold_of",
    "told_groups",
)  # fmt: skip


@dataclass(eq=False)
class Study(EncodedRead):
    """A table, a target, and what was computed of them so far.

    Everything expensive is computed once, when it is first asked for, and timed under the stage that asked.
    `folds` alone says how rows are split, `wrong` what is measured on them, and `units` what varies.
    """

    findings: dict[Any, Any] = field(default_factory=dict)  # about columns, by their names, so far
    of_rows: list[Any] = field(default_factory=list)  # findings about the rows
    asked: list[Any] = field(default_factory=list)  # errors on new rows of suspected groups, on later rows
    copied: Any = None  # the same of all rows, where of copies one is kept
    suspected: list[Ints] = field(default_factory=list)  # groups that nobody has named
    model: Any = None  # the recommended one, as soon as it is chosen
    allowed: Sequence[Any] = ()  # the columns that it was chosen among
    choice: Any = None  # how it is fitted again
    shown: Any = None  # what is said of it
    by_medians: Any = None  # columns by their absolute errors, where the page goes by these

    @property
    def used(self) -> frozenset[Any]:
        """The columns that the recommended model looks at."""
        return frozenset() if self.model is None else frozenset(self.model.used_columns_)

    @cached_property
    def new_rows(self) -> NewRows:
        """Who the new rows are, as the user says: this decides what is left out together."""
        names, time = self.options.group, self.options.time
        groups = [self.unit(name, "group") for name in names]
        kept = coarsest(groups)
        names = tuple(
            str(name) for name, group in zip(names, groups, strict=True) if any(group is k for k in kept)
        )
        when = None if time is None else self.unit(time, "time")
        return NewRows(tuple(kept), when, names, gap=self.options.gap)

    @cached_property
    def varying(self) -> NewRows:
        """What varies independently in the rows, and intervals are made of."""
        return self.new_rows

    def seen_as(self, new_rows: NewRows, varying: NewRows | None = None) -> Self:
        """Return the same study with other rows left out, for a second error of the same learner.

        Unless told what varies, the model stays the same too, and learners are told the same groups.
        """
        other, known = copy(self), self.told_groups
        for name in _OF_NEW_ROWS:
            other.__dict__.pop(name, None)
        other.__dict__.update(new_rows=new_rows, varying=varying or new_rows)
        if varying is None or known is None:
            other.told_groups = known
        return other

    def telling(self, groups: Ints | None) -> Self:
        """Return the same study whose learners are told other groups."""
        other = copy(self)
        other.told_groups = groups
        return other

    def knowing(self, groups: dict[str, Ints]) -> Self:
        """Return the same study whose models may look at these groups too."""
        other, read = copy(self), EncodedTable.of(groups, list(groups))
        other.encoded = EncodedTable({**read, **self.encoded, **read}, {**self.encoded.known, **read.known})
        return other

    @cached_property
    def told_groups(self) -> Ints | None:
        """The groups that learners are told; none where several kinds cross, of which they know nothing."""
        return self.new_rows.groups[0] if len(self.new_rows.groups) == 1 else None

    @cached_property
    def entities(self) -> tuple[Entity, ...]:
        """Columns to whose values the rows seem to belong."""
        return suspect_entities(*self.unordered)

    @cached_property
    def suspected_orders(self) -> list[Order]:
        """Dates, running numbers, or the order of the rows, along which the class changes."""
        if self.options.group:
            return []  # the tests take rows as independent
        dates = [name for name in self.X if self.is_date(name)]
        groups = [*self.new_rows.groups, *self.suspected]
        return [one for one in suspect_orders(self.encoded, self.labels, dates, groups) if one.is_suspected]

    def places_in(self, order: Order) -> Ints:
        """Place of each row in an order; of those that are missing, the last."""
        values = np.arange(len(self.y)) if order.name is None else self.encoded[order.name]
        return np.unique(values, return_inverse=True)[1]

    def group_copies(self) -> None:
        """Keep one of the copies of a row, unless the user says that they are none, or names groups.

        Copies that differ in the target are kept, and left out together.
        """
        repeats, known, (present, y, n_rows) = self.repeats, self.ranking, self._labelled
        if self.options.group or self.options.copies == "keep" or not repeats.are_copies:
            return
        _ = self.repeated  # of all rows, while these are known
        if known.n_samples > len(y):
            self.leave_out("columns on all rows", "copies were looked for among the modelled ones")
        order = np.random.default_rng(0).permutation(len(y))  # the first ones would be early rows
        kept = np.sort(
            order[np.unique(together(repeats.group, self.value_codes)[order], return_index=True)[1]]
        )
        group = np.unique(repeats.group[kept], return_inverse=True)[1]
        self.__dict__["new_rows"] = replace(self.new_rows, groups=(repeats.group,), are_copies=True)
        self.copied = copy(self)
        computed = (vars(kind).items() for kind in type(self).__mro__)
        of_rows = {name for one in computed for name, by in one if isinstance(by, cached_property)}
        for name in of_rows - {"_read", "_whole", "ranking", "repeated"}:
            self.__dict__.pop(name, None)
        self.__dict__.update(_labelled=(present[kept], y[kept], n_rows), _cells={})
        self.__dict__["repeats"] = replace(repeats, group=group)
        self.__dict__["new_rows"] = replace(self.new_rows, groups=(group,), are_copies=True)
        self._rank_kept(known)

    def _rank_kept(self, known: Ranking) -> None:
        """Rank columns by the rows that are kept of copies, which is said of all rows too."""
        group, asked = self.new_rows.groups[0], self.ranked_by()
        ranked = self.ranked_again(group=group, time=self.new_rows.time, **asked)
        self.__dict__["ranking"] = replace(ranked, n_dropped=known.n_dropped, left_out=known.left_out)
        for name in ("ranking", "metric", "costs", "class_of_interest"):
            self.copied.__dict__[name] = getattr(self, name)

    def by_order(self) -> Self:
        """Return the same study, led by how well rows are ordered; columns are ranked by that, too."""
        other, known = self.seen_as(self.new_rows, self.varying), self.ranking
        for name in ("told_groups", "ranking"):
            other.__dict__.pop(name, None)
        other.metric, other.findings = self.metric_of_order, {}
        if self.copied is not None:
            other.copied = self.copied.seen_as(self.copied.new_rows, self.copied.new_rows)
            other._rank_kept(known)
        return other

    def ranked_again(self, **asked: Any) -> Ranking:
        """Rank the columns of the rows that models are fitted to."""
        asked |= {"task": self.task, "types": self.options.types}
        asked["categorical_features"] = self.options.categorical_features or "infer"
        return rank_features({**self.X, self.target: self.y}, self.target, **asked)

    @cached_property
    def folds(self) -> _folds.Splits:
        """Rows to learn from and rows to test on, the same for every model; none where rows are too few."""
        n_folds, n_rare = 3 if self.options.fast else 5, len(self.y) - int(self.class_counts.max())
        if not self.metric.is_error and n_rare < _FEW and len(self.y) <= COMPARED_ROWS:
            n_folds = min(10, max(n_folds, int(self.class_counts.min())))  # fewer would not be learned from
        if len(self.y) < n_folds:
            return []
        stratify = bool(self.class_counts.min() >= n_folds)
        return self.new_rows.splits(self.strata, n_folds, self.options.random_state, stratify=stratify)

    @cached_property
    def tested(self) -> Ints:
        """The rows that some fold tests on, in their order: all, unless the first have no past."""
        tested = [test for _, test in self.folds] or [np.arange(len(self.y))]
        return np.unique(np.concatenate(tested))

    def place(self, rows: Ints) -> Ints:
        """Place of rows among those that are tested."""
        return np.searchsorted(self.tested, rows)

    @cached_property
    def units(self) -> list[Ints]:
        """What varies independently among the tested rows; none if it is the rows."""
        return self.varying.units(self.tested)

    def tree(self, features: Collection[Any]) -> Any:
        """Grow a tree of a size that can be read, on some of the features, as far as time allows."""
        with self.deadline(keep_part=True):
            learner = self.learner.set_params(max_splits=self.max_size - 1)
            if self.costs is not None:
                learner.set_params(costs=None)
            return self.fitted(learner, self.columns(features))

    def fitted(self, learner: Any, X: Any, rows: Ints | None = None, *, whole: bool = False) -> Any:
        """Fit a learner to some rows of a table, and tell it their groups if it takes them.

        Told groups, it cross-validates itself; a `whole` model, whose size is chosen here, need not.
        """
        y, groups = self.y, self.told_groups
        if rows is not None:
            X, y, groups = X.take(rows), y[rows], None if groups is None else groups[rows]
            lacks = len(np.unique(self.labels[rows])) < len(self.classes)
            if self.costs is not None and lacks and "costs" in learner.get_params():
                learner.set_params(costs=None)  # of a class that this part of the rows does not have
        if groups is None or not has_fit_parameter(learner, "groups"):
            return learner.fit(X, y)
        return (getattr(learner, "grow", learner.fit) if whole else learner.fit)(X, y, groups=groups)

    @property
    def learner(self) -> TreeClassifier:
        """Grows trees whose splits all have two branches, so that values that behave alike share one."""
        return TreeClassifier(
            categorical_split="ordered",
            stopping="significance" if self.units else "auto",  # rows left out of a group would say too much
            random_state=self.options.random_state,
            **self.of_learners("criterion"),
        )

    @property
    def grown_by(self) -> dict[str, Any]:
        """Return what a tree for decisions by cost is grown by: of rows that count what they may cost."""
        if self.metric.name != "cost" or self.costs is None:
            return {}
        return {"criterion": partial(_losses.cost_index, _losses.class_stakes(self.costs).tolist())}

    def of_learners(self, *more: str) -> dict[str, Any]:
        """Return what the metric asks of learners: what to decide by and, of some, what to grow by."""
        if self.metric.criterion is None:
            return {}
        return {"costs": self.costs, **dict.fromkeys(more, self.metric.criterion)}

    def probabilities(
        self, model: Any, X: Any, stages: Sequence[int] | None, *, shown: bool = False
    ) -> Floats:
        """Class probabilities at some stages, or at last, for all classes: a part of the rows may lack some.

        Those of a tree that is `shown` know nothing of splits that change no prediction.
        """
        if stages is None:
            found = model.predict_proba(X)[None]
        elif shown and isinstance(model, TreeClassifier):
            nodes = model.apply(X)
            found = np.stack([model.tree_.value[model.tree_.staged_without_idle(nodes, n)] for n in stages])
        else:
            found = model.staged_predict_proba(X, stages)
        if found.shape[-1] == len(self.classes):
            return np.asarray(found)
        proba = np.zeros((*found.shape[:-1], len(self.classes)))
        proba[..., np.searchsorted(self.classes, model.classes_)] = found
        return proba

    def says(self, model: Any, X: Any, stages: Sequence[int] | None) -> tuple[NDArray[Any], ...]:
        """Return what a model says of rows at a stage, or at last: class probabilities, and classes."""
        proba = self.probabilities(model, X, stages, shown=self.metric.is_error)[0]
        if not self.metric.is_error:
            return proba, _losses.decide(proba, self.costs)
        said = model.predict(X) if stages is None else model.staged_predict(X, stages)[0]
        return proba, np.searchsorted(self.classes, said)

    @property
    def guesses(self) -> tuple[NDArray[Any], ...]:
        """What is said of tested rows without any column."""
        return self.guess_proba, _losses.decide(self.guess_proba, self.costs)

    def rating(self, said: Sequence[Any], kept: Booleans, units: list[Ints], n_folds: int) -> Any:
        """Put together what was said of those tested rows that were held back."""
        return Rated(
            proba=rounded(said[0]),
            predicted=said[1],
            labels=self.labels[self.tested[kept]],
            fold=self.fold_of[kept],
            units=units,
            n_folds=n_folds,
            positive=self.class_of_interest,
            is_named=self.is_named,
            is_known=self.varying.doubt(self.tested) is None,
        )

    def losses(self, model: Any, X: Any, rows: Ints, stages: Sequence[int] | None) -> tuple[Any, Any]:
        """Say which of these rows are wrong at some stages, or at last, and what is lost by the metric."""
        wrong, found = self.judged(model, X, rows, stages)
        return wrong, self.lost(found, rows, np.zeros(len(rows), np.int64))

    def judged(self, model: Any, X: Any, rows: Ints, stages: Sequence[int] | None) -> tuple[Any, Any]:
        """Say which of these rows are wrong, and what is lost; of a loss of pairs, how rows are rated."""
        if self.metric.is_error:
            predicted = model.predict(X)[None] if stages is None else model.staged_predict(X, stages)
            wrong = self.wrong(predicted, rows)
            return wrong, wrong
        proba = self.probabilities(model, X, stages)
        wrong = _losses.decide(proba, self.costs) != self.labels[rows]
        if self.metric.by_pairs:
            return wrong, proba[..., self.class_of_interest]
        return wrong, self.metric.losses(proba, self.labels[rows], self.costs)

    def lost(self, found: NDArray[Any], rows: Ints, fold: Ints) -> NDArray[Any]:
        """Return losses, where some are of pairs: of rows that were rated by the model of one fold."""
        if not self.metric.by_pairs:
            return found
        positive = self.labels[rows] == self.class_of_interest
        return np.stack([pair_losses(one, positive, fold) for one in found])

    def error_interval(
        self, wrong: NDArray[Any], n_folds: int = 0, error: float | None = None, units: Any = None
    ) -> tuple[float, float]:
        """Return the 95 % interval of an error, by the left-out rows on which a model was wrong."""
        return error_interval(wrong, self.units if units is None else units, n_folds, error)

    @cached_property
    def fold_of(self) -> Ints:
        """Number of the fold that tests each tested row."""
        fold = np.zeros(len(self.tested), np.int64)
        for number, (_, test) in enumerate(self.folds):
            fold[self.place(test)] = number
        return fold

    @property
    def n_rare(self) -> int:
        """Tested rows of other classes than the most frequent one."""
        return int((self.labels[self.tested] != self.class_counts.argmax()).sum())

    @cached_property
    def loss_unit(self) -> float:
        """What losses are told in units of: what guessing loses, unless they are shares already."""
        is_share = self.metric.is_error or self.metric.by_pairs
        return 1.0 if is_share else float(self.guess_losses.mean()) or 1.0

    def told(self, losses: NDArray[Any]) -> Floats:
        """Losses of rows in such units."""
        return np.asarray(losses / self.loss_unit)

    @property
    def baseline_loss(self) -> float:
        """What guessing loses, in such units."""
        return float(self.told(self.guess_losses).mean())

    def wrong(self, predicted: NDArray[Any], rows: Any = slice(None)) -> Booleans:
        """Say which predictions for these rows, along the last axis, are wrong; errors are their shares."""
        return np.asarray(predicted != self.y[rows])

    @cached_property
    def guess_is_wrong(self) -> Booleans:
        """Tested rows that are not of the most frequent class; of later rows, of that of the rows before."""
        if self.new_rows.time is None or not self.folds:
            return np.asarray(self.labels[self.tested] != self.class_counts.argmax())
        wrong = np.zeros(len(self.tested), bool)
        for train, test in self.folds:
            wrong[self.place(test)] = self.labels[test] != np.bincount(self.labels[train]).argmax()
        return wrong

    @property
    def majority_error(self) -> float:
        """Share of them."""
        return float(self.guess_is_wrong.mean())

    @cached_property
    def guess_proba(self) -> Floats:
        """Class shares of the rows that a fold learns from, for the rows that it tests."""
        proba = np.tile(self.class_counts / len(self.y), (len(self.tested), 1))
        for train, test in self.folds:
            counts = np.bincount(self.labels[train], minlength=len(self.classes))
            proba[self.place(test)] = counts / len(train)
        return proba

    @cached_property
    def guess_losses(self) -> NDArray[Any]:
        """What is lost on tested rows without any column: the most frequent class, the class shares."""
        if self.metric.is_error:
            return self.guess_is_wrong
        if self.metric.by_pairs:
            return np.full(len(self.tested), 0.5)
        return self.metric.losses(self.guess_proba, self.labels[self.tested], self.costs)
