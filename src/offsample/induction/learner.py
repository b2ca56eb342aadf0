"""What all learners share: checks of what comes in, and one vocabulary for what was grown."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from offsample._estimators import check_table, check_table_and_target


class Learner(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the classifiers that refine a partition step by step.

    A stage is the model after 0, 1, 2, … steps. The last stage is the fitted model.
    """

    stage_sizes_: list[int]

    # Values that a parameter may take, and the least value of one that may also be None.
    _choices: ClassVar[dict[str, tuple[Any, ...]]] = {}
    _least: ClassVar[dict[str, int]] = {}
    # How `validate_data` checks sparse tables; None where they are refused.
    _sparse: ClassVar[dict[str, Any] | None] = None
    # The parameter whose smaller values end earlier on the same path.
    path_parameter: ClassVar[str | None] = None

    def _check_options(self) -> None:
        for name, choices in self._choices.items():
            value = getattr(self, name)
            if value not in choices or value is True:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
        for name, least in self._least.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")

    def _checked(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Table and classes to learn from."""
        if self._sparse is not None and issparse(X):
            X, y = validate_data(self, X, y, **self._sparse)
        else:
            X, y = check_table_and_target(self, X, y)
        check_classification_targets(y)
        return X, y

    def _checked_new(self, X: Any, *, as_sparse: bool = False) -> Any:
        """Table to predict; `as_sparse` checks a dense one as a sparse one would be."""
        check_is_fitted(self)
        if self._sparse is not None and (as_sparse or issparse(X)):
            return validate_data(self, X, reset=False, **self._sparse)
        return check_table(self, X)

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
        return self.used_columns_after(len(self.stage_sizes_) - 1)

    @property
    def used_importances_(self) -> tuple[float, ...]:
        """Share of each of `used_columns_` in the decrease of the estimated error; empty if not known."""
        return ()

    @abstractmethod
    def used_columns_after(self, n_steps: int) -> tuple[Any, ...]:
        """Names of the columns that the model looks at after the first steps, the most important first.

        Parameters
        ----------
        n_steps : int
            A larger number than there were steps stands for all of them.
        """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = self._sparse is not None
        return tags
