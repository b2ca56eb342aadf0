"""AdaBoost whose weak learner is certified to beat chance, so that it never stalls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from offsample._estimators import TypedEstimator, check_numbers, row_weights
from offsample._perceptrons import (
    Perceptron,
    PerceptronGroup,
    distinct_points,
    separating_direction,
    weak_learner,
)
from offsample._typing import Booleans, Floats, Ints
from offsample.tables import several_groups

__all__ = ["BoostedPerceptronClassifier", "Perceptron", "PerceptronGroup", "separating_direction"]

# An error of 0 would have an infinite vote.
_LEAST_ERROR = 1e-10
# Values are clipped here, in units of the standard deviation, so that products stay finite.
_FAR = 1e100
# Constants up to 2 to this power keep their scale.
_MODERATE = 300
# Of early stopping: the share of the rows to hold out, and rounds without progress on them.
_HELD_OUT, _PATIENCE = 0.2, 50


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedPerceptronClassifier(ClassifierMixin, TypedEstimator):  # type: ignore[misc]
    """AdaBoost of perceptrons, each certified to have a weighted error below chance.

    Every round tries a linear fit first; where its error is not below the guaranteed one, the hyperplane that
    Theorem 16 of [1]_ constructs, through the heaviest row and no other, takes its place. So boosting never
    stalls. Without conflicting rows it ends with no training error after at most `max_rounds_` rounds
    (Theorem 17), usually long before; where equal rows have different classes, with the least training error
    of any classifier.

    Parameters
    ----------
    n_estimators : int, default=1000
        Largest number of rounds.
    stop_at_minimum : bool, default=True
        End when the training error is the least possible; going on makes margins larger.
    early_stopping : bool, default=False
        Keep the number of rounds with the least error on held-out rows, a fifth of the distinct ones, or
        groups of rows, and end after 50 rounds without progress there.
    random_state : int, RandomState or None, default=None
        Seed of the held-out rows. None holds out the same rows at every fit.

    Attributes
    ----------
    estimators_ : list of Perceptron or PerceptronGroup
        On columns divided by `scale_`.
    estimator_weights_, estimator_errors_, estimator_bounds_ : ndarray
        Votes of the perceptrons, their weighted errors, and the guaranteed bounds on these.
    training_error_, least_error_ : float
        Share of the training rows that `predict` gets wrong, and the least possible share.
    is_minimal_ : bool
        Whether the two are equal.
    max_rounds_ : int or None
        Rounds after which they are equal, for two classes.
    scale_ : ndarray of shape (n_features_in_,)
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    SAMME [2]_ boosts more than two classes, with a linear score for each class, or perceptrons that predict
    one class on each side where these are better. They too are certified to beat chance, but for K > 2 this
    does not drive the training error to the least possible one [3]_; `is_minimal_` tells whether it got
    there. ``OneVsRestClassifier(BoostedPerceptronClassifier())`` of scikit-learn does, after at most K times
    `max_rounds_` rounds.

    References
    ----------
    .. [1] T. Scheffer (1999). Error estimation and model selection. Chapter 6.
    .. [2] J. Zhu, H. Zou, S. Rosset, T. Hastie (2009). Multi-class AdaBoost. Statistics and Its Interface 2.
    .. [3] I. Mukherjee, R. Schapire (2013). A theory of multiclass boosting. JMLR 14.

    Examples
    --------
    >>> from offsample.boosting import BoostedPerceptronClassifier
    >>> from offsample.datasets import make_parity_sample
    >>> X, y = make_parity_sample(4)
    >>> model = BoostedPerceptronClassifier().fit(X, y)
    >>> model.score(X, y), len(model.estimators_) <= model.max_rounds_
    (1.0, True)
    """

    n_estimators: int = 1000
    stop_at_minimum: bool = True
    early_stopping: bool = False
    random_state: Annotated[Any, "random_state"] = None
    _least: ClassVar[dict[str, int]] = {"n_estimators": 1}

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Boost perceptrons on the sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes.
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Rows that belong together: early stopping holds out whole groups.
        """
        self._validate_params()
        X, y = check_numbers(self, X, y, reset=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = row_weights(sample_weight, len(codes))
        together = None if groups is None else several_groups(groups, len(codes))
        self.scale_ = _scale(X, weight)
        Z = self._scaled(X)
        used = np.flatnonzero(weight > 0)
        held_out = np.zeros(0, np.intp)
        if self.early_stopping:
            units = X if together is None else together[:, None]
            is_held_out = self._is_held_out(units[used])
            held_out, used = used[is_held_out], used[~is_held_out]
        self._boost(Z, codes, weight, used, held_out)
        wrong = self._codes(_last(self._staged_votes(Z))) != codes
        self.training_error_ = float(weight @ wrong / weight.sum())
        self.is_minimal_ = bool(self.training_error_ <= self.least_error_ + 1e-12)
        return self

    def _is_held_out(self, X: Floats | Ints) -> Booleans:
        """Mark some of the distinct rows, or groups, to hold out, all copies together."""
        random = check_random_state(0 if self.random_state is None else self.random_state)
        places, inverse = np.unique(X, axis=0, return_inverse=True)
        n_held_out = min(len(places) - 1, int(np.ceil(_HELD_OUT * len(places))))
        is_held_out = np.zeros(len(places), bool)
        is_held_out[random.permutation(len(places))[:n_held_out]] = True
        return np.asarray(is_held_out[inverse.ravel()])

    def _boost(self, Z: Floats, codes: Ints, weights: Floats, used: Ints, held_out: Ints) -> None:
        n_classes = max(2, len(self.classes_))
        y, weight, y_held_out = codes[used], weights[used], codes[held_out]
        points, self.least_error_ = distinct_points(Z[used], y, weight, n_classes)
        m, current = len(points.y), points.weight
        rounds = int(np.floor(2 * m**2 * np.log(1 / current.min()))) + 1
        self.max_rounds_ = rounds if n_classes == 2 else None
        estimators: list[Perceptron | PerceptronGroup] = []
        votes = []
        total, total_held_out = np.zeros((m, n_classes)), np.zeros((len(y_held_out), n_classes))
        held_out_errors: list[float] = []
        for _ in range(self.n_estimators):
            learner = weak_learner(points, current)
            error = min(max(learner.error, _LEAST_ERROR), 1.0)
            vote = float(np.log((1 - error) / error) + np.log(n_classes - 1))
            if vote <= 0:  # no better than chance: no weight is left to tell classes by
                break
            predicted = learner.predict(points.X)
            estimators.append(learner)
            votes.append(vote)
            total[np.arange(m), predicted] += vote
            if self.early_stopping:
                total_held_out[np.arange(len(y_held_out)), learner.predict(Z[held_out])] += vote
                wrong = _decided(total_held_out) != y_held_out
                held_out_errors.append(round(float(weights[held_out] @ wrong), 9))
                if len(held_out_errors) - int(np.argmin(held_out_errors)) > _PATIENCE:
                    break
            is_minimal = self.stop_at_minimum and (_decided(total) == points.y).all()
            if learner.error <= _LEAST_ERROR or is_minimal:
                break
            current = current * np.exp(np.where(predicted != points.y, vote, 0.0))
            current /= current.sum()
        if not estimators:  # a single class, or a tie everywhere
            heaviest = int(np.bincount(y, weight, minlength=n_classes).argmax())
            zero = np.zeros(Z.shape[1])
            estimators = [Perceptron(zero, zero, np.inf, (heaviest,) * 2, self.least_error_, 0.5, False)]
            votes = [1.0]
        n_kept = int(np.argmin(held_out_errors)) + 1 if held_out_errors else len(votes)
        self.estimators_ = estimators[:n_kept]
        self.estimator_weights_ = np.array(votes[:n_kept])
        self.estimator_errors_ = np.array([one.error for one in self.estimators_])
        self.estimator_bounds_ = np.array([one.bound for one in self.estimators_])

    def _scaled(self, X: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.clip(X / self.scale_, -_FAR, _FAR)

    def _checked(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._scaled(check_numbers(self, X, reset=False))

    def _staged_votes(self, Z: Floats) -> Iterator[Floats]:
        votes = np.zeros((len(Z), max(2, len(self.classes_))))
        rows = np.arange(len(Z))
        cast = 0.0
        for learner, vote in zip(self.estimators_, self.estimator_weights_, strict=True):
            votes[rows, learner.predict(Z)] += vote
            cast += vote
            yield votes / cast

    def _codes(self, votes: Floats) -> Ints:
        return np.minimum(_decided(votes), len(self.classes_) - 1)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Yield the `decision_function` of X after 1, 2, … rounds."""
        for votes in self._staged_votes(self._checked(X)):
            yield votes[:, 1] - votes[:, 0] if len(self.classes_) <= 2 else votes

    def decision_function(self, X: Any) -> Floats:
        """Return the share of the votes of each class; for two, that of the second minus the first."""
        return _last(self.staged_decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the prediction for X after 1, 2, … rounds."""
        for votes in self._staged_votes(self._checked(X)):
            yield np.asarray(self.classes_[self._codes(votes)])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with most votes; the first of equals."""
        votes = _last(self._staged_votes(self._checked(X)))
        return np.asarray(self.classes_[self._codes(votes)])

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the class probabilities of X after 1, 2, … rounds."""
        for votes in self._staged_votes(self._checked(X)):
            yield votes[:, : len(self.classes_)]

    def predict_proba(self, X: Any) -> Floats:
        """Return the share of the votes of each class."""
        return _last(self.staged_predict_proba(X))

    def margins(self, X: Any, y: Any) -> Floats:
        """Return the share of the votes for a row's class minus the largest share of another."""
        votes = _last(self._staged_votes(self._checked(X)))
        codes = np.searchsorted(self.classes_, y)
        if not np.isin(y, self.classes_).all():
            raise ValueError("y has a class that was not there at fit")
        rows = np.arange(len(votes))
        own = votes[rows, codes]
        votes[rows, codes] = -1.0
        return np.asarray(own - votes.max(axis=1))

    def to_text(self) -> str:
        """Return a summary of the fit in words."""
        check_is_fitted(self)
        built = sum(one.is_constructed for one in self.estimators_)
        text = (
            f"{len(self.estimators_)} perceptrons, {built} of them constructed; "
            f"training error {self.training_error_:.4g}"
        )
        if self.is_minimal_ and self.least_error_ > 0:
            return f"{text}, the least possible: equal rows have different classes"
        return text if self.is_minimal_ else f"{text}; the least possible is {self.least_error_:.4g}"


def _last(stages: Iterator[Floats]) -> Floats:
    *_, last = stages
    return last


def _scale(X: Floats, weight: Floats) -> Floats:
    """Return the standard deviation of each column; 1 for a constant, or its size where it is huge."""
    # Powers of two round nothing, and keep sums and squares of the largest numbers from overflowing.
    exponent = np.frexp(np.abs(X).max(axis=0, initial=0.0))[1] - 1
    U = np.ldexp(X, -exponent)
    centre = weight @ U / weight.sum()
    spread = np.ldexp(np.sqrt(weight @ (U - centre) ** 2 / weight.sum()), exponent)
    size = np.where(exponent > _MODERATE, np.ldexp(1.0, exponent), 1.0)
    return np.where(spread > 0, spread, size)


def _decided(votes: Floats) -> Ints:
    """Return the class with most votes; the first of equals, in whatever order votes were added."""
    return np.asarray(np.round(votes, 10).argmax(axis=1))
