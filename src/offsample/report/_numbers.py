"""A study of a target of numbers: what the sections ask of one of classes, by squared errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from offsample._held_out_counts import effective_units
from offsample._squared_losses import ratio_interval
from offsample._typing import Booleans, Floats, Ints
from offsample.evidence import discoveries
from offsample.induction import TreeRegressor
from offsample.ranking import RankedFeature
from offsample.report._formats import quantity
from offsample.report._metrics import METRICS, Score
from offsample.report._study import Study
from offsample.report._units import folds_factor
from offsample.tables import columns_of
from offsample.tables._columns import as_column
from offsample.tables._meaning import recognised
from offsample.tables._targets import numbers_of

_FIFTHS = np.array([f"the {which} fifth" for which in ("lowest", "second", "third", "fourth", "highest")])


@dataclass(frozen=True, eq=False)
class RatedNumbers:
    """What models that had not seen them said of rows, each fold by its own model."""

    predicted: Floats
    guess: Floats  # what is said without any column: the mean of the rows that were learned from
    numbers: Floats
    fold: Ints
    units: list[Ints]  # what varies; none if the rows do
    n_folds: int
    is_known: bool = True  # how far figures may be off; not of too few groups, or times
    median: Floats | None = None  # of the same rows: what is closest to most without any column

    @property
    def n_units(self) -> float:
        """How many units there are, or rows."""
        return max(2.0, effective_units(self.units) if self.units else float(len(self.numbers)))

    @property
    def mistakes(self) -> Floats:
        """Squared errors."""
        return np.asarray((self.numbers - self.predicted) ** 2)

    def _ends(self, losses: Floats, others: Floats | None = None) -> tuple[float, float]:
        known = ratio_interval(losses, others, self.units, folds_factor(self.n_folds))
        return known if self.is_known else (nan, nan)

    def mean_absolute_error(self, predicted: Floats | None = None) -> Score:
        """By how much predictions are off on average; by default those of the models."""
        off = np.abs(self.numbers - (self.predicted if predicted is None else predicted))
        return Score(float(off.mean()), *self._ends(off))

    @property
    def blind_error(self) -> float:
        """By how much the median of the rows that were learned from is off on average."""
        return self.mean_absolute_error(self.guess if self.median is None else self.median).value

    def r2_parts(self) -> tuple[float, Floats]:
        """Share of the squared errors of the mean that is saved, and each row's part in it."""
        own, blind = self.mistakes, (self.numbers - self.guess) ** 2
        total = max(float(blind.sum()), 1e-300)
        left = float(own.sum()) / total
        return 1 - left, np.asarray((left * blind - own) / total)

    def r2(self) -> Score:
        """Share of the squared errors of the mean that is saved."""
        low, high = self._ends(self.mistakes, (self.numbers - self.guess) ** 2)
        return Score(self.r2_parts()[0], 1 - high, 1 - low)


@dataclass(eq=False)
class NumberStudy(Study):
    """A table and a target of numbers.

    `wrong` are squared errors, and so are losses: models are chosen by them, and shown by R². Where rows are
    asked about, or dealt out, by class, their fifths by the target take the place of classes.
    """

    task: ClassVar[Literal["classification", "regression"]] = "regression"
    error_type: ClassVar[type] = float
    metric = METRICS["r2"]
    columns_base = 0.0
    costs = None
    is_named = False

    @cached_property
    def _labelled(self) -> tuple[Ints, NDArray[Any], int]:
        """The rows that have a number, their numbers, and the number of all."""
        asked = (self.options.types or {}).get(self.target, "number")
        column = recognised(as_column(columns_of(self._read)[self.target]), self.target, asked)[0]
        numbers = numbers_of(column, "regression", repr(self.target))
        assert numbers is not None
        present = np.flatnonzero(~np.isnan(numbers))
        return present, np.asarray(numbers[present], float), len(numbers)

    def ranked_by(self) -> dict[str, Any]:
        """Columns are ranked by their variance."""
        return {}

    @property
    def per(self) -> float:
        """What gains of columns are told in: shares of the variance."""
        return 1 / (self.ranking.baseline_error or 1.0)

    def score_of(self, feature: RankedFeature) -> Score:
        """Return R² of a column by itself."""
        ends = feature.r2, feature.r2_low, feature.r2_high
        return Score(*(nan if end is None else end for end in ends))

    @cached_property
    def labels(self) -> Ints:
        """Fifth of the rows, by their numbers, that each is in; equal numbers are in one."""
        cuts, most = np.unique(np.quantile(self.y, (0.2, 0.4, 0.6, 0.8))), self.y.max()
        cuts = cuts[cuts < most] if cuts[0] < most else self.y[self.y < most].max(keepdims=True)
        return np.unique(np.searchsorted(cuts, self.y), return_inverse=True)[1]

    @cached_property
    def classes(self) -> NDArray[Any]:
        """Names of the fifths."""
        return _FIFTHS[: int(self.labels.max()) + 1]

    @cached_property
    def class_of_interest(self) -> int:
        """The highest fifth."""
        return int(self.labels.max())

    @property
    def strata(self) -> NDArray[Any]:
        """What each fold has its share of."""
        return self.labels

    @property
    def value_codes(self) -> Ints:
        """Code of each number."""
        return np.unique(self.y, return_inverse=True)[1]

    @property
    def n_rare(self) -> int:
        """Tested rows."""
        return len(self.tested)

    @property
    def learner(self) -> Any:
        """Grows trees of means."""
        return TreeRegressor(random_state=self.options.random_state)

    def said_of(self, those: Booleans) -> str:
        """Say what some rows are like."""
        return f"a mean of {self.written(float(self.y[those].mean()))}"

    def written(self, number: float) -> str:
        """Write a number of the target as exactly as the spread of all asks for."""
        return quantity(number, float(self.y.std()))

    @property
    def outcome(self) -> NDArray[Any]:
        """The numbers."""
        return self.y

    def error_interval(
        self, wrong: NDArray[Any], n_folds: int = 0, error: float | None = None, units: Any = None
    ) -> tuple[float, float]:
        """Return the 95 % interval of a mean squared error."""
        units = self.units if units is None else units
        return ratio_interval(wrong, None, units, folds_factor(n_folds), error)

    def judged(self, model: Any, X: Any, rows: Ints, stages: Sequence[int] | None) -> tuple[Any, Any]:
        """Squared errors on these rows, at some stages or at last."""
        predicted = model.predict(X)[None] if stages is None else model.staged_predict(X, stages)
        squares = self.wrong(predicted, rows)
        return squares, squares

    def wrong(self, predicted: NDArray[Any], rows: Any = slice(None)) -> NDArray[Any]:
        """Squared errors of predictions for these rows, along the last axis."""
        return np.asarray((predicted - self.y[rows]) ** 2)

    @property
    def guess_name(self) -> str:  # type: ignore[override]
        """What is recommended where no model is: the median if a few rows decide the mean and all squares."""
        return "the mean" if self.ranking.few_decide is None else "the median"

    @cached_property
    def guess(self) -> Floats:
        """Mean of the rows that a fold learns from, for the rows that it tests."""
        return self.without_columns(np.mean)

    def without_columns(self, of: Callable[..., Any]) -> Floats:
        """Mean or median of the rows that a fold learns from, for the rows that it tests."""
        said = np.full(len(self.tested), float(of(self.y)))
        for train, test in self.folds:
            said[self.place(test)] = of(self.y[train])
        return said

    def group_copies(self) -> None:
        """Keep one of the copies of a row; go by medians if a few rows decide all squares, each by itself."""
        super().group_copies()
        known = self.ranking
        if known.few_decide is not None and not self.new_rows:
            self.by_medians = self.ranked_again(criterion="absolute_error_loo")
            features = [known[f.name] for f in self.by_medians]
            # Ranks see more with heavy tails, squares where most rows are of one number: the better of two.
            both = [[f.p_value, self.by_medians[f.name].p_value] for f in features]
            values = np.minimum(2 * np.min(both, axis=1), 1.0)
            found = zip(features, values, discoveries(values, 1 - known.confidence), strict=True)
            told = [replace(f, p_value=float(p), significant=bool(is_one)) for f, p, is_one in found]
            told.sort(key=lambda f: not f.significant)
            self.__dict__["ranking"] = replace(known, features=tuple(told))

    @cached_property
    def guess_is_wrong(self) -> NDArray[Any]:
        """Squared errors of that on tested rows."""
        return self.wrong(self.guess, self.tested)

    @property
    def guess_losses(self) -> NDArray[Any]:
        """The same."""
        return self.guess_is_wrong

    @cached_property
    def loss_unit(self) -> float:
        """What guessing loses: the median, where the page goes by medians."""
        losses = (
            self.guess_losses if self.by_medians is None else self.wrong(self.guesses[0], self.tested) ** 0.5
        )
        return float(losses.mean()) or 1.0

    @property
    def baseline_loss(self) -> float:
        """The same in its own units."""
        return super().baseline_loss if self.by_medians is None else 1.0

    def told(self, losses: NDArray[Any]) -> Floats:
        """How far off rows are, where the page goes by medians."""
        return super().told(losses if self.by_medians is None else np.sqrt(losses))

    def says(self, model: Any, X: Any, stages: Sequence[int] | None) -> tuple[NDArray[Any], ...]:
        """Return what a model predicts at a stage, or at last."""
        return (model.predict(X) if stages is None else model.staged_predict(X, stages)[0],)

    @property
    def guesses(self) -> tuple[NDArray[Any], ...]:
        """What is said of tested rows without any column."""
        return (self.guess if self.guess_name == "the mean" else self.without_columns(np.median),)

    def rating(self, said: Sequence[Any], kept: Booleans, units: list[Ints], n_folds: int) -> RatedNumbers:
        """Put together what was said of those tested rows that were held back."""
        return RatedNumbers(
            predicted=said[0],
            guess=self.guess[kept],
            numbers=self.y[self.tested[kept]],
            fold=self.fold_of[kept],
            units=units,
            n_folds=n_folds,
            is_known=self.varying.doubt(self.tested) is None,
            median=self.without_columns(np.median)[kept],
        )
