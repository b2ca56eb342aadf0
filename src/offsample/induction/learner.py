"""What all learners share: checks of what comes in, and one vocabulary for what was grown."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from offsample._estimators import check_table, check_table_and_target, pointing_to_numbers
from offsample._proportions import wilson
from offsample._typing import Floats, Grouping, Ints
from offsample.induction.by_groups import Grown, Validated, validate
from offsample.induction.by_time import validate_later
from offsample.induction.decision import Decider
from offsample.induction.forms import Form
from offsample.tables import joined_groups, told


class Learner(ClassifierMixin, Decider):  # type: ignore[misc]
    """Base of the classifiers that refine a partition step by step.

    A stage is the model after 0, 1, 2, … steps. The last stage is the fitted model.
    """

    classes_: NDArray[Any]
    stage_sizes_: list[int]

    # How `validate_data` checks sparse tables; None where they are refused.
    _sparse: ClassVar[dict[str, Any] | None] = None
    # The parameter whose smaller values end earlier on the same path.
    path_parameter: ClassVar[str | None] = None
    # Whether a prediction depends on all columns, as each row is scaled by its length.
    reads_all_columns: ClassVar[bool] = False
    # Steps of the model for new groups that is grown by rows beside the one that is grown by groups.
    _most_by_rows: ClassVar[int] = 0
    max_splits: int | None

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the model.

        Parameters
        ----------
        X : array, dataframe or dict of columns, of shape (n_samples, n_features)
            Rules and oblique trees also take sparse arrays. Of these, rules only see which entries are not 0.
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, in whole numbers. Oblique trees take other weights, too.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together, as the visits of a patient do, for a model of new groups: steps are
            taken for what they say of other groups, and their number and the error are those that models
            grown without some of the groups have there. Of shape (n_samples, 2) they are of two kinds that
            cross, such as users and items: steps and error are then those on rows that share neither.
        """
        return self._fitted(X, y, sample_weight, groups, is_whole=False)

    def grow(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the model as `fit` does, and keep all its steps, so that `staged_predict` has every stage.

        With `groups`, the error on new groups is not estimated: the one of `path_` is that of growing.
        """
        return self._fitted(X, y, sample_weight, groups, is_whole=True)

    def _fit_later(self, X: Any, y: Any, groups: Grouping | None, time: Ints | None) -> Self:
        """Grow the model for later rows, or for groups that cross: as many steps as help on such rows."""
        own, by_units = self.get_params(deep=False), self._by_units
        self.set_params(**by_units)._validate_params()
        self._check_options()
        X, y = self._checked(X, y)
        self._is_judged_elsewhere = True
        grown = self._learn(X, y, None, told(groups))
        grown.keep(grown.n_steps, None)
        validated = validate_later(self, grown, X, y, groups, time)
        grown.keep(validated.n_steps, validated)
        if self._costs is not None:
            self.estimated_error_, self.estimated_error_interval_ = validated.also[-2]
        self.set_params(**{name: own[name] for name in by_units})
        return self

    def _fitted(self, X: Any, y: Any, sample_weight: Any, groups: Any, *, is_whole: bool) -> Self:
        self._validate_params()
        self._check_options()
        X, y = self._checked(X, y)
        given = joined_groups(groups, len(y), sample_weight)
        self._is_judged_elsewhere = is_whole or given is not None
        if isinstance(given, tuple) and not is_whole:
            return self._fit_later(X, y, given, None)
        codes = told(given)
        grown = self._learn(X, y, sample_weight, codes)
        grown.keep(grown.n_kept if codes is None and not is_whole else grown.n_steps, None)
        if codes is not None and not is_whole:
            validated = validate(self, grown, X, y, sample_weight, codes)
            grown.keep(validated.n_steps, validated)
            if self._most_by_rows:
                validated = self._take_rival(validated, X, y, sample_weight, codes)
            if self._costs is not None:
                self.estimated_error_, self.estimated_error_interval_ = validated.also[-2]
        elif self._costs is not None:
            self._keep_costly(X, sample_weight)
        return self

    def _keep_costly(self, X: Any, sample_weight: Any) -> None:
        """Set the error of the class that costs choose: how improbable the model says it is."""
        value = self._proba(X)
        wrong = 1 - np.take_along_axis(value, self._cheapest(value)[:, None], 1)[:, 0]
        weight = np.broadcast_to(1.0 if sample_weight is None else np.asarray(sample_weight), len(wrong))
        self.estimated_error_ = float(np.average(wrong, weights=weight))
        self.estimated_error_interval_ = wilson(self.estimated_error_, float(weight.sum()))

    def _take_rival(self, found: Validated, X: Any, y: Any, sample_weight: Any, groups: Ints) -> Validated:
        """Grow as rows alone would have it, and be that model if it is clearly better on new groups.

        What holds in all groups is found sooner by rows, of which there are more; groups judge.
        """
        rival, own = copy(self), self.get_params(deep=False)
        rival.set_params(**self._of_rows)
        grown = rival._learn(X, y, sample_weight, None)._replace(is_evident=False)  # rows are no evidence
        grown.keep(grown.n_steps, None)
        validated = validate(rival, grown, X, y, sample_weight, groups, is_told=False)
        if validated.n_steps and validated.is_better_than(found):
            grown.keep(validated.n_steps, validated)
            self.__dict__.update(rival.__dict__, **own)
            return validated
        return found

    @property
    def _by_units(self) -> dict[str, Any]:
        """Parameters of a model that is grown by rows, where groups or later rows judge."""
        return {}

    @property
    def _of_rows(self) -> dict[str, Any]:
        """Parameters of the model for new groups that is grown by rows."""
        most = self.max_splits
        most = self._most_by_rows if most is None else min(most, self._most_by_rows)
        return {"max_splits": most, **self._by_units}

    @abstractmethod
    def _learn(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, groups: Ints | None) -> Grown:
        """Grow from a table and classes that were checked."""

    def _know(self, classes: NDArray[Any], y: NDArray[Any], sample_weight: ArrayLike | None) -> Floats | None:
        """Set the classes and what mistakes cost, and return these: None if they all cost the same."""
        self.classes_, self._costs = classes, self._costs_of(classes, y, sample_weight)
        return self._costs if len(classes) > 1 else None

    def _check_options(self) -> None:
        """Raise for a parameter that its type allows, but the learner does not."""

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Table and classes to learn from."""
        if self._sparse is not None and issparse(X):
            X, y = validate_data(self, X, y, **self._sparse)
        else:
            X, y = check_table_and_target(self, X, y)
        with pointing_to_numbers():
            check_classification_targets(y)
        return X, y

    def _checked_new(self, X: Any, *, as_sparse: bool = False) -> Any:
        """Table to predict; `as_sparse` checks a dense one as a sparse one would be."""
        check_is_fitted(self)
        if self._sparse is not None and (as_sparse or issparse(X)):
            return validate_data(self, X, reset=False, **self._sparse)
        return check_table(self, X)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of each row of a table as for `fit`, of shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self._proba(X)

    @abstractmethod
    def _proba(self, X: Any) -> Floats: ...

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the most probable one, or the one that the thresholds of an oblique tree choose.

        With `costs` or `class_weight`, the one whose expected cost is least. X is a table as for `fit`.
        """
        check_is_fitted(self)
        codes = self._codes(X) if self._costs is None else self._cheapest(self._proba(X))
        return np.asarray(self.classes_[codes])

    @abstractmethod
    def _codes(self, X: Any) -> NDArray[np.integer]:
        """Number of the class of each row."""

    @abstractmethod
    def _form(self) -> Form:
        """What `offsample.export` writes."""

    def staged_predict(self, X: Any, stages: Sequence[int] | None = None) -> NDArray[Any]:
        """Class of each row in the models of fewer steps that growing went through.

        Parameters
        ----------
        X : table, as for `fit`
        stages : sequence of int, optional
            Numbers of steps; by default all, one for each of `stage_sizes_`: the rows of the array returned.
        """
        wanted = self._stages_of(stages)
        if self._costs is None:
            return np.asarray(self.classes_[self._staged_codes(X, wanted)])
        return np.asarray(self.classes_[self._cheapest(self._staged_proba(X, wanted))])

    def staged_predict_proba(self, X: Any, stages: Sequence[int] | None = None) -> Floats:
        """Class probabilities, of shape (len(stages), n_samples, n_classes), as in `staged_predict`."""
        return self._staged_proba(X, self._stages_of(stages))

    def _stages_of(self, stages: Sequence[int] | None) -> Sequence[int]:
        check_is_fitted(self)
        last = len(self.stage_sizes_) - 1
        return range(last + 1) if stages is None else [min(n, last) for n in stages]

    @abstractmethod
    def _staged_proba(self, X: Any, stages: Sequence[int]) -> Floats:
        """Probabilities at some stages, of shape (len(stages), n_samples, n_classes)."""

    @abstractmethod
    def _staged_codes(self, X: Any, stages: Sequence[int]) -> NDArray[np.integer]:
        """Number of the class of each row at some stages, of shape (len(stages), n_samples)."""

    @property
    def size_(self) -> int:
        """Number of leaves, rules, terms, literals or levels: the last of `stage_sizes_`."""
        return self.stage_sizes_[-1]

    @property
    def shown_sizes_(self) -> list[int]:
        """Sizes of the stages without splits or rules that change no prediction."""
        return self.stage_sizes_

    @property
    def used_columns_(self) -> tuple[Any, ...]:
        """Names of the columns that the model looks at, the most important first."""
        return self._columns_at(len(self.stage_sizes_) - 1)

    @property
    def used_importances_(self) -> tuple[float, ...]:
        """Share of each of `used_columns_` in the decrease of the estimated error; empty if not known."""
        return ()

    def used_columns_after(self, n_steps: int) -> tuple[Any, ...]:
        """The same of the model after the first `n_steps` steps, or all of them if there are fewer."""
        return self._columns_at(min(n_steps, len(self.stage_sizes_) - 1))

    @abstractmethod
    def _columns_at(self, stage: int) -> tuple[Any, ...]: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self._sparse is not None
        return tags
