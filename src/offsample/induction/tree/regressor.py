"""Regression trees whose size is what rows that were left out ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from offsample import _folds
from offsample._estimators import TableEstimator, check_table, check_table_and_target, n_rows
from offsample._typing import Booleans, Floats, Ints
from offsample.induction.by_time import fit_later
from offsample.induction.forms import Form
from offsample.induction.path import GrowthPath, PathStep
from offsample.induction.top_down import grow
from offsample.induction.tree import export
from offsample.induction.tree.cells import root_cell
from offsample.induction.tree.columns import Columns
from offsample.induction.tree.fitted import FittedTree
from offsample.induction.tree.flat import FlatTree, node_arrays
from offsample.induction.tree.grower import Measure
from offsample.induction.tree.growth import coded
from offsample.induction.tree.left_out import LeafResiduals, left_out_distances, without_validation
from offsample.induction.tree.lines import Lines
from offsample.induction.tree.numbers import (
    WEIGHTS,
    NumberGrower,
    NumberScoring,
    Validated,
    of_leaves,
    root_p_value,
    shrunk_means,
    squares,
    validate,
)
from offsample.induction.tree.splits.categories import N_FOLDS
from offsample.induction.weights import repeated_rows
from offsample.tables import TableEncoder, joined_groups
from offsample.tables._targets import numbers_of

# Trees are grown without each of so many parts of the rows: more parts of few rows.
_PARTS = ((2_000, 10), (50_000, 5))
_FEWEST_PARTS = 3
# Splits that are looked at, unless the user says how many.
_MOST_SPLITS = 1_000
# Level of the test that a column has to do with the target; where none has, of the test that trees save
# squared errors on rows that they have not seen.
_LEVEL, _TOGETHER_LEVEL = 0.03, 0.03


@dataclass(kw_only=True, eq=False, repr=False)
class TreeRegressor(FittedTree, RegressorMixin, TableEstimator):  # type: ignore[misc]
    """Regression tree for tables as they are, grown best-first, of the size that left-out rows ask for.

    Strings, categories of any number of values, numbers and missing values are read without encoding, and
    split as by `TreeClassifier`: a numeric column by a threshold, a categorical one into two by an order of
    its values. A leaf predicts its mean, drawn toward that of the node above.

    Parameters
    ----------
    criterion : {"ginger", "variance_loo", "squared_error_loo"}, default="ginger"
        What a split should improve off the sample: the variance within leaves ("ginger" is "variance_loo"),
        or the squared error of their means. A row alone in a leaf is predicted from the others above it.
    max_size : int, default=None
        The largest number of leaves.
    max_splits : int, default=None
        The largest number of splits; None is 1,000.
    max_depth : int, default=None
        The largest depth of a leaf.
    min_samples_leaf : int, default=1
        The smallest number of rows of a leaf.
    stopping : {"auto", "none"}, default="auto"
        "auto": the number of splits is the best one of trees grown without a part of the rows in turn, if a
        column has to do with the target, at a level of 3 % by the ranks of its numbers, so that a few large
        ones decide nothing, or if those trees save squared errors on left-out rows, at the same level.
        Otherwise there is no split. "none": all splits are kept.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Numeric columns to read as categorical.
    leaf : {"mean", "linear"}, default="mean"
        What a leaf predicts: its mean or, with "linear", the mean plus a slope times the distance of one
        numeric column to its mean there, in the leaves where rows that were left out ask for that (closed
        form, by the hat matrix). Trees grown without a part of the rows choose between the two as they
        choose the number of splits. A column is held between its ends in the leaf: no line goes on for ever.
        Where lines cross (up in one category, down in another), trees of either kind find little, and the
        intervals of their error are too wide to say anything.
    shrinkage : "auto" or None, default="auto"
        "auto": the mean of the node above counts for the number of rows that is best on left-out rows. None:
        a leaf predicts its own mean.
    random_state : int, RandomState or None, default=None
        Seed of the parts and of the folds of orders. None stands for 0.

    Attributes
    ----------
    tree_ : FlatTree
        The nodes as arrays; `counts` are rows and sums of the target and its squares, in standard units.
    path_ : GrowthPath
        Criterion and mean squared errors of the trees of 0, 1, 2, … splits.
    n_splits_ : int
        Number of splits of the tree that was kept.
    size_ : int
        Number of leaves.
    estimated_error_ : float
        The mean squared error to expect on new rows (with groups: on rows of new groups).
    estimated_error_interval_ : tuple of float
        A 95 % interval for it.
    p_value_ : float
        Of the test that no column has to do with the target; NaN with `stopping` "none", which asks for none.
    feature_importances_, training_importances_ : ndarray of shape (n_features_in_,)
        Share of each column in the decrease of the criterion, and of the training error.
    used_columns_ : tuple
        Columns that the tree looks at, the most important first.
    shrinkage_weight_ : float
        Number of rows that the mean of the node above counts for.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Where a few rows decide the squared errors (log-normal targets), no interval for them holds at small
    samples.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample import TreeRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> y = np.where(X[:, 1] > 0, 10.0, 20.0) + rng.normal(size=400)
    >>> tree = TreeRegressor().fit(X, y)
    >>> tree.n_splits_, tree.predict(X[:3]).round(1).tolist()
    (1, [20.0, 9.9, 9.9])
    >>> TreeRegressor().fit(X, rng.permutation(y)).n_splits_
    0
    """

    criterion: Literal["ginger", "variance_loo", "squared_error_loo"] = "ginger"
    max_size: int | None = None
    max_splits: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    stopping: Literal["auto", "none"] = "auto"
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    leaf: Literal["mean", "linear"] = "mean"
    shrinkage: Literal["auto"] | None = "auto"
    random_state: Annotated[Any, "random_state"] = None

    reads_all_columns: ClassVar[bool] = False
    _least: ClassVar[dict[str, int]] = {"max_size": 1, "max_splits": 0, "max_depth": 0, "min_samples_leaf": 1}

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, dataframe or dict of columns, of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, in whole numbers.
        groups : array-like of shape (n_samples,), optional
            Rows that belong together: number of splits, test and error are those for new groups. Of shape
            (n_samples, 2) for groups that cross: all of the tree or nothing, by rows that share neither.
        """
        self._validate_params()
        X, y = check_table_and_target(self, X, y)
        target = numbers_of(column_or_1d(y), "regression", "y")
        assert target is not None
        assert_all_finite(target, input_name="y")
        group = joined_groups(groups, len(target), sample_weight)
        if isinstance(group, tuple):
            fit_later(self, X, target, group, None)
            return self
        self._encoder = TableEncoder(self.categorical_features)
        columns, target, group = coded(self._encoder, X, target, sample_weight, group)
        values = None
        if self.leaf == "linear":
            repeated = repeated_rows(sample_weight, n_rows(X))
            values = np.column_stack([np.asarray(one.values, float) for one in self._encoder.transform(X)])
            values = values if repeated is None else values[repeated]
        self._center, self._unit = float(target.mean()), float(target.std()) or 1.0
        if not np.isfinite(self._unit**2) or not (self._unit**2):
            raise ValueError(
                f"y has numbers up to {np.abs(target).max():g}: their squares cannot be added up: change "
                "their unit by a power of ten first"
            )
        self._grow(columns, target, group, values)
        return self

    def _grow(self, columns: Columns, target: Floats, groups: Ints | None, X: Floats | None) -> None:
        y = (target - self._center) / self._unit
        seed = 0 if self.random_state is None else self.random_state
        seed = int(seed) if isinstance(seed, Integral) else check_random_state(seed).randint(2**31)
        random, sums = np.random.default_rng(seed), np.column_stack([np.ones(len(y)), y, y**2])
        n_parts = next((n for most, n in _PARTS if len(y) <= most), _FEWEST_PARTS)
        needs_folds = self.stopping == "auto" or len(columns.categorical) > 0
        if groups is None:  # copies of a row are left out together, and count as often as there are
            ranks = np.unique(target, return_inverse=True)[1].astype(float)  # whatever the unit
            units = columns.distinct_places(ranks, seed) if needs_folds else np.arange(len(y))
            n_units = int(units.max()) + 1
            folds, parts = (_folds.in_turn(units, n) for n in (N_FOLDS, n_parts))
        else:
            n_units = len(np.unique(groups))
            folds, parts = (
                _folds.dealt(len(y), min(n, n_units), random, groups=groups) for n in (N_FOLDS, n_parts)
            )
        scoring: Any = NumberScoring.of(self.criterion)

        def grown(rows: NDArray[np.int32], max_splits: int) -> tuple[NumberGrower, list[Measure]]:
            grower = NumberGrower(
                columns,
                sums,
                sums.shape[1],
                scoring,
                folds.astype(np.uint8),
                by_evidence=False,
                max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf,
                categorical_split="ordered",
            )
            most = self.max_size
            path = grow(
                root_cell(grower, rows),
                grower.measure,
                max_splits=max_splits,
                stop=lambda _: most is not None and grower.n_leaves >= most,
            )
            if most is not None and grower.n_leaves > most:
                path = grower.without_last()
            return grower, path

        n_most = _MOST_SPLITS if self.max_splits is None else self.max_splits
        self.p_value_ = np.nan
        if self.stopping == "auto":
            is_tested = n_units > 3 and np.ptp(y) > 0
            self.p_value_ = root_p_value(columns, rankdata(y), groups) if is_tested else 1.0
        is_evident, found = self.stopping != "auto" or self.p_value_ <= _LEVEL, None
        every = np.arange(len(y), dtype=np.int32)
        weights = WEIGHTS if self.shrinkage else np.zeros(1)
        if self.stopping == "auto" and n_most and n_units >= 2 * n_parts and np.ptp(y) > 0:
            found = validate(grown, y, parts, min(n_most, len(y) // 3), weights, X)
            # What no column says alone, several may say together.
            is_evident = is_evident or found.p_value(groups) <= _TOGETHER_LEVEL
        if found is not None and is_evident:
            grower, path = grown(every, len(found.errors) - 1)
            found = replace(found, n_splits=min(found.n_splits, len(path) - 1))
        else:
            grower, path = grown(every, n_most if is_evident else 0)
        n_splits = len(path) - 1 if found is None or not is_evident else found.n_splits
        leaf = grower.last_nodes(n_splits, every).astype(np.int64)
        if found is None or not is_evident:
            X = X if is_evident else None
            found = without_validation(grower, path, leaf, y, weights, groups, X)
        lines = Lines.of_tree(grower, n_splits, every, X, y) if found.is_linear and X is not None else None
        self._keep(grower, path, found, groups)
        known: Any = self.tree_.counts, self.tree_.parent
        off = left_out_distances(known[0], known[1], leaf, y, found.weight, lines, X)
        if lines is not None:
            share = np.bincount(leaf, off**2, len(known[0])) / np.maximum(known[0][:, 0], 1)
            is_leaf, unit = self.tree_.is_leaf, self._unit**2
            share = np.where(is_leaf, share, self.tree_.estimated_error / unit)
            errors = of_leaves(known[0], share, is_leaf, found.error) * unit
            value, lines = lines.means(self.tree_.value), lines.in_units(self._unit)
            self.tree_ = replace(self.tree_, estimated_error=errors, value=value, lines=lines)
        self._residuals = LeafResiduals.of_tree(leaf, found, off, self._unit)

    def _keep(self, grower: NumberGrower, path: list[Measure], found: Validated, units: Ints | None) -> None:
        """Set what is learned from the splits that are kept."""
        n, unit, names = found.n_splits, self._unit**2, self._encoder.names
        self.n_splits_, self.shrinkage_weight_ = n, found.weight
        steps = tuple(
            PathStep(
                i,
                names[measure.column] if i else None,
                measure.criterion * unit,
                measure.training_errors / grower.size * unit,
                float(error) * unit,
                float(error) * unit,
            )
            for i, (measure, error) in enumerate(zip(path, found.errors, strict=False))
        )
        self.path_ = GrowthPath(steps, n, grower.scoring.criterion.name, is_index=False, is_cut=True)
        self.estimated_error_ = found.error * unit
        self.estimated_error_interval_ = found.interval(units, unit)
        nodes, _ = node_arrays(grower, n)
        stats = np.concatenate(grower.counts)[: len(nodes["parent"])]
        value = shrunk_means(stats, nodes["parent"], np.array([found.weight]))
        spread = squares(stats) / np.maximum(stats[:, 0], 1)
        self.tree_ = FlatTree(
            **nodes,
            counts=stats,
            shown=stats,
            value=value * self._unit + self._center,
            label=np.zeros(len(stats), np.int64),
            estimated_error=of_leaves(stats, spread, nodes["feature"] < 0, found.error) * unit,
            shrinkage_weight=found.weight,
            unit=self._unit,
        )
        self._keep_importances()

    def _checked_new(self, X: Any) -> Any:
        return check_table(self, X)

    def predict(self, X: Any) -> Floats:
        """Mean of the leaf of each row, drawn toward those above it.

        Parameters
        ----------
        X : table, as for `fit`
        """
        check_is_fitted(self)
        return self._said(self.apply(X), X)

    def _said(self, nodes: NDArray[np.int32], X: Any) -> Floats:
        """What nodes, of shape (…, n_samples), predict of the rows."""
        said = np.asarray(self.tree_.value[nodes, 0])
        if self.tree_.lines is not None:
            values, lines = self._values(self._checked_new(X)), self.tree_.lines
            said = said + np.apply_along_axis(lambda at: lines.terms(at, values[: len(at)]), -1, nodes)
        return said

    def predict_interval(self, X: Any, confidence: float = 0.95) -> Floats:
        """Ends between which the target of each row should be, (n_samples, 2), whatever its law.

        They are quantiles of how far the rows of the leaf are from what the others there predict, widened as
        the tree is more often off on rows that it has not seen. Where a leaf has fewer rows than quantiles
        need, 40 for 95 %, rows of the leaves beside it are added. A table of fewer rows gives the most
        distant ones, which hold less.

        Parameters
        ----------
        X : table, as for `fit`
        confidence : float
            Share of new rows to hold; above 0 and below 1.
        """
        check_is_fitted(self)
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be above 0 and below 1, got {confidence}")
        at = self.apply(X)
        nodes, place = np.unique(at.astype(np.int64), return_inverse=True)
        ends = self._residuals.ends(self.tree_, nodes, confidence)
        return np.asarray(self._said(at, X)[:, None] + ends[place])

    def staged_predict(self, X: Any, stages: Sequence[int] | None = None) -> Floats:
        """Prediction of the trees of fewer splits that growing went through, (len(stages), n_samples).

        Parameters
        ----------
        X : table, as for `fit`
        stages : sequence of int, optional
            Numbers of splits; by default all, up to `n_splits_`.
        """
        check_is_fitted(self)
        wanted = range(self.n_splits_ + 1) if stages is None else [min(n, self.n_splits_) for n in stages]
        return self._said(self.tree_.staged(self.apply(X), wanted), X)

    def to_text(self, max_children: int = 20) -> str:
        """The tree as text, one line per node: rows, and of leaves what they predict ± a standard deviation.

        That is how far the rows of the leaf differ from their mean, or their line; `to_dict` has it as
        "deviation", and beside it the squared error to expect of new rows.

        Parameters
        ----------
        max_children : int
            Of nodes with more children the largest are shown.
        """
        check_is_fitted(self)
        return export.tree_to_text(self.tree_, self._encoder, None, max_children)

    def _form(self) -> Form:
        numbers = export.tree_numbers(self.tree_, self._encoder)
        return Form(numbers, export.tree_cell(self.tree_, self._encoder), np.arange(len(numbers)), [])

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested plain data: rows, prediction, error, tests and conditions of each node."""
        check_is_fitted(self)
        return export.tree_to_dict(self.tree_, self._encoder, None)
