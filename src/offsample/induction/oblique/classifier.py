"""Trees of soft oblique tests, fitted to global optimality."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from offsample._estimators import row_weights
from offsample._losses import class_stakes
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.indexes import INDEX_FUNCTIONS
from offsample.induction.by_groups import Grown, Validated
from offsample.induction.forms import Form
from offsample.induction.learner import Learner
from offsample.induction.oblique import flat
from offsample.induction.oblique import scaling as table
from offsample.induction.oblique.exported import tree_form
from offsample.induction.oblique.flat import StochasticTree, flatten
from offsample.induction.oblique.grower import GEOMETRIES, Growth, Search, calibrated, choose, grow_tree
from offsample.induction.oblique.off_sample import most_repeated
from offsample.induction.oblique.rows import Sample, UnitRows, blas_threads
from offsample.induction.oblique.thresholds import Decision, predicted
from offsample.induction.path import GrowthPath, PathStep

# Rows to predict at a time.
_BLOCK = 16384
# The largest numbers of tests for each class, and of rows times tests: more tests where that is cheap. Two
# classes have 50 at most.
_LIMITS = ((25, 5_000_000), (100, 1_500_000))
# Wider or larger tables have no directions from covariances: they cost rows times columns squared.
_MOST_COLUMNS, _MOST_PRODUCTS = 256, 10**9


@dataclass(kw_only=True, eq=False, repr=False)
class StochasticTreeClassifier(Learner):
    """A tree of soft, oblique tests, each fitted to global optimality.

    A test sends a row x, scaled, to its first child with a probability that grows with w·x. Every row reaches
    all leaves, each with a probability, and the prediction is the expectation over the leaves. Tests are of
    three kinds (`geometry`), and the tree is of the kind with the fewest errors off the sample. Use it where
    classes have smooth or oblique boundaries, which other trees follow in steps. The first kind is that of
    [1]_: rows of norm 1 and the probability ``(1 + w·x) / 2``, whose best w has a closed form
    (`best_stochastic_test`).

    Parameters
    ----------
    criterion : {"gini", "entropy", "matsushita"} or callable, default="gini"
        The index that splits decrease; a callable as in `criteria.INDEX_FUNCTIONS`.
    max_size : int, default=None
        The largest number of leaves, one more than that of tests.
    max_splits : int, default=None
        The largest number of tests; by default 50 for two classes, and for more 25 each, or up to 100 each in
        tables of few rows.
    max_depth : int, default=None
        The largest depth of a leaf.
    leaf : {"purity", "majority"}, default="purity"
        Whether a leaf votes for all classes by their shares, or for its largest class only.
    threshold : {"tuned", "prior"} or float, default="tuned"
        When to predict the second of two classes: above the value with the fewest errors ("tuned"), above its
        share in training ("prior"), or above a number. With more classes, `predict` returns the class whose
        probability exceeds its threshold by most; thresholds are tuned in turn, the shares, or none (0.5).
        Tuning leaves 0.5 or the shares only if that saves more errors off the sample than chance would.
    scale : {"standard", "minmax"} or None, default="standard"
        How columns are scaled before rows are brought to norm 1. Missing numbers become the mean.
    rescale : float or False, default=0.7
        How steep tests are. A number: a test is certain for rows further than this many root mean squares of
        w·x, unless ‖w‖ = 1 gains more. False: ‖w‖ = 1, as published, which hardly tells unit rows in many
        dimensions apart.
    lookahead : {"auto", False}, default="auto"
        "auto" also tries directions from second moments, and keeps the splits with the least estimated error
        off the sample; see Notes. False does neither.
    geometry : {"auto", "unit", "offset", "covariance"}, default="auto"
        How tests cut. "unit": rows of norm 1, through the origin. "offset": rows keep their length (all but
        the longest twentieth, which are brought to that of the others), w is the contrast of the class means,
        and a test is at the place along w that divides the classes best. "covariance": the same, with w times
        the inverse of the leaf's shrunken covariance (not with more than 256 columns, or 10⁹ rows times
        squared columns). "auto": the one with the fewest estimated errors; "unit" with `rescale` or
        `lookahead` False.
    published : bool, default=False
        Whether to use the algorithm of [1]_ as published: "unit" rows, tests of norm 1, neither lookahead nor
        cutting back, and 1/2 as the threshold of the expected vote instead of a tuned one. `geometry`,
        `rescale` and `lookahead` are then not used; `leaf` and any other `threshold` are still yours.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Numeric columns to read as categorical. Categories are one-hot, with one more for missing values.
    costs, class_weight
        As in `DecisionListClassifier`, for tests instead of rules; with either, `threshold` is not used.
    random_state : int, RandomState or None, default=None
        Accepted for compatibility; nothing is random.

    Attributes
    ----------
    tree_ : StochasticTree
        The nodes as arrays.
    path_, n_splits_
        As in `TreeClassifier`.
    estimated_error_ : float
        The share of new rows that `predict` is expected to get wrong; NaN if `lookahead` is False. It is the
        estimate of the path, corrected for the choice of size and thresholds (see Notes).
    estimated_error_interval_ : tuple of float
        A 95 % interval for it.
    thresholds_ : ndarray of shape (n_classes,)
        What `predict` subtracts from the probabilities; for two classes, ``[1 - t, t]``.
    weight_names_ : list
        Names of the columns of ``tree_.weights``.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn. Classes without weight are not among them.

    Notes
    -----
    Where the best linear gain of a leaf cannot be told from zero, as for y even in x, directions come from
    Σ D (y - ρ) xxᵀ: its leading eigenvectors are u + v and u - v for a target sign(u·x) sign(v·x), and u and
    v, sharpened in turn, make a tree of three tests. For K classes it is that of the class contrast with the
    largest second moments.

    *Cutting back.* Trees without each tenth of the rows (larger parts above 20,000 rows) are grown in step:
    they split the same leaves, with the directions, places and purities of the rows that are left. Kind and
    number of splits with the fewest errors are kept if they beat no split by 3.2 standard errors. A kind
    that is as far behind another at a hundred splits or more grows no further. As the
    least of many estimates is too small, kind, size and thresholds are chosen again in bootstrap samples, and
    what that loses on the other rows is added.

    *Probabilities.* Expected votes are brought nearer to the class shares, or further away, by the factor
    with the least log loss on rows that trees were grown without. With a number as `threshold`, with
    `lookahead=False` or `published`, probabilities are the votes.

    *Groups.* With `groups` in `fit`, the number of splits and the error are those of trees grown without some
    groups. None is kept unless what these trees say of the groups has to do with the class.

    Sparse rows are not filled in. Products of float32 tables, and of those with more than 33 million numbers,
    are float32. Sample weights that are whole numbers are frequencies.

    References
    ----------
    .. [1] T. Jurgenson, Y. Mansour (2018). Learning Decision Trees with Stochastic Linear Classifiers. ALT.

    Examples
    --------
    >>> from offsample.datasets import make_oblique_xor
    >>> from offsample.induction import StochasticTreeClassifier
    >>> X, y = make_oblique_xor(4000, n_features=10, random_state=0)
    >>> tree = StochasticTreeClassifier().fit(X[:2000], y[:2000])
    >>> tree.n_splits_, round(tree.score(X[2000:], y[2000:]), 2)
    (25, 0.96)
    >>> published = StochasticTreeClassifier(published=True).fit(X[:2000], y[:2000])
    >>> round(published.score(X[2000:], y[2000:]), 2)
    0.65
    """

    criterion: str | Callable[..., Any] = "gini"
    max_size: int | None = None
    max_splits: int | None = None
    max_depth: int | None = None
    leaf: Literal["purity", "majority"] = "purity"
    threshold: Literal["prior", "tuned"] | float = "tuned"
    scale: Literal["standard", "minmax"] | None = "standard"
    rescale: float | Literal[False] = 0.7
    lookahead: Literal["auto", False] = "auto"
    geometry: Literal["auto", "unit", "offset", "covariance"] = "auto"
    published: bool = False
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    random_state: Annotated[Any, "random_state"] = None

    _least: ClassVar[dict[str, int]] = {"max_size": 1, "max_splits": 0, "max_depth": 0}
    reads_all_columns = True
    _sparse: ClassVar[dict[str, Any] | None] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, groups: Ints | None) -> Grown:
        weight = row_weights(sample_weight, len(y))
        plain, matrix = table.prepare(X, weight, self.scale, self.categorical_features)
        most = most_repeated(matrix.shape[1])
        kept, mass, own = table.rows_with_mass(weight, most)
        classes, codes = np.unique(y[kept], return_inverse=True)
        costs = self._know(classes, y, sample_weight)
        by_class = table.by_class(codes, matrix, kept, most)
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes))])
        threshold = 0.5 if self.published and self.threshold == "tuned" else self.threshold
        stakes: Any = 1.0
        if costs is not None:  # of votes that count what rows have at stake, the cheapest class has most
            stakes, threshold = class_stakes(costs), 0.5 if self.published else "tuned"
            stakes = stakes / (np.bincount(codes, mass) @ stakes)
            mass, own = mass * stakes[codes], own * stakes[codes]
        decision = Decision.of(self.leaf == "majority", threshold, len(self.classes_), stakes)
        together = None if groups is None else groups[kept[by_class]]
        found: list[tuple[table.Preparation, Sample, Growth]] = []
        with blas_threads(matrix.shape[0] * matrix.shape[1]):
            # The last has most often the fewest errors: the others may stop early beside it.
            for geometry in reversed(self._geometries(len(kept), matrix.shape[1])):
                preparation = plain if geometry == "unit" else plain.keeping_lengths(matrix, weight)
                rows = preparation.rows(matrix, kept[by_class], starts)
                unit = preparation.unit if self.scale == "standard" and geometry == "unit" else None
                sample = Sample(rows, mass[by_class], own[by_class], unit, together, stakes)
                search = Search(
                    sample,
                    self.criterion,
                    rescale=0.0 if self.published else float(self.rescale),
                    max_depth=self.max_depth,
                    look_ahead=bool(self.lookahead) and not self.published,
                    geometry=geometry,
                    rivals=[one[2] for one in found],
                )
                growth = grow_tree(search, decision, self._most_splits(len(kept)))
                found.insert(0, (preparation, sample, growth))
            which, n_chosen, error, interval = choose([one[2] for one in found], sample, decision)
        self._preparation, sample, growth = found[which]
        output = growth.best_output if groups is None and n_chosen else growth.last_output
        if groups is not None:
            n_chosen, error, interval = len(growth.records), np.nan, (np.nan, np.nan)
        self._calibration = calibrated(output, sample, decision)
        self.weight_names_ = self._preparation.names + ["bias"] * (self._preparation.reach > 0)

        def keep(n_splits: int, validated: Validated | None) -> None:
            self.n_splits_ = n_splits
            self.estimated_error_ = error if n_splits == n_chosen else np.nan
            self.estimated_error_interval_ = interval if n_splits == n_chosen else (np.nan, np.nan)
            self.tree_: StochasticTree = flatten(growth.records[:n_splits], sample, decision)
            self._stage_thresholds = [measure.thresholds for measure in growth.path[: n_splits + 1]]
            self.thresholds_ = self._calibration.moved(self._stage_thresholds[-1])
            self.path_ = self._growth_path(growth)
            if validated is not None:
                self.estimated_error_, self.estimated_error_interval_ = validated.error, validated.interval
                self.path_ = self.path_.validated(validated.errors, validated.kept_within)

        return Grown(len(growth.records), n_chosen, not np.isnan(growth.path[0].error), keep)

    def _check_options(self) -> None:
        if not callable(self.criterion) and self.criterion not in INDEX_FUNCTIONS:
            known = f"a function or one of {', '.join(INDEX_FUNCTIONS)}"
            raise ValueError(f"criterion must be {known}, got {self.criterion!r}")
        if isinstance(self.threshold, str):
            if self.threshold not in ("prior", "tuned"):
                raise ValueError(f"threshold must be 'prior', 'tuned' or a number, got {self.threshold!r}")
        elif not 0 < self.threshold < 1:
            raise ValueError(f"threshold must lie strictly between 0 and 1, got {self.threshold}")
        if self.rescale is not False and (self.rescale is True or not 0 < self.rescale < np.inf):
            raise ValueError(f"rescale must be False or a positive number, got {self.rescale}")
        if self.geometry in GEOMETRIES[1:] and not self.rescale:
            raise ValueError(f"rescale must be a number for geometry={self.geometry!r}, got {self.rescale}")

    def _geometries(self, n_rows: int, n_columns: int) -> Sequence[str]:
        """Return the kinds of tests of which the best is kept."""
        if self.published or self.geometry != "auto":
            return ["unit" if self.published else self.geometry]
        if not (self.rescale and self.lookahead):
            return ["unit"]
        is_too_wide = n_columns > _MOST_COLUMNS or n_rows * n_columns**2 > _MOST_PRODUCTS
        return [one for one in GEOMETRIES if one != "covariance" or not is_too_wide]

    def _most_splits(self, n_rows: int) -> int:
        """Return the largest number of tests: with more classes there are more to tell apart."""
        n_classes = len(self.classes_)
        limits = [min(tests * n_classes, reaches // n_rows) for tests, reaches in _LIMITS]
        most = self.max_splits
        if most is None:
            most = 50 if n_classes <= 2 else max(50, *limits)
        return most if self.max_size is None else min(most, self.max_size - 1)

    def _growth_path(self, growth: Growth) -> GrowthPath:
        name = str(getattr(self.criterion, "__name__", self.criterion))
        # A step is named after the column with the largest weight.
        columns = [flat.named_weights(r.split.weights, self.weight_names_, 1)[0][0] for r in growth.records]
        steps = [
            PathStep(n, feature, m.criterion, m.training_error, m.share_wrong, m.corrected)
            for n, (feature, m) in enumerate(zip([None, *columns], growth.path, strict=True))
        ]
        return GrowthPath(tuple(steps), self.n_splits_, name)

    def _blocks(self, X: Any) -> Iterator[UnitRows]:
        matrix = self._checked_new(X)
        known: table.Preparation = self._preparation
        matrix = matrix if known.encoder is None else table.one_hot(known.encoder, matrix, fitted=True)
        for start in range(0, matrix.shape[0], _BLOCK):
            yield known.rows(matrix[start : start + _BLOCK])

    def apply(self, X: Any) -> Floats:
        """Return the probability of each leaf for each row of a table, of shape (n_samples, n_leaves)."""
        return np.concatenate([self.tree_.leaf_reach(rows) for rows in self._blocks(X)])

    def _proba(self, X: Any) -> Floats:
        return self._calibration(self._votes(X))

    def _votes(self, X: Any) -> Floats:
        """Expected votes of the leaves."""
        return np.concatenate([self.tree_.output(rows) for rows in self._blocks(X)])

    def decision_function(self, X: Any) -> Floats:
        """Return probabilities, not cut at 0, less thresholds; for two classes, those of the second."""
        votes = self._votes(X)
        scores = self._calibration.moved(votes) - self.thresholds_
        return np.asarray(scores[:, 1] if len(self.classes_) == 2 else scores)

    def _codes(self, X: Any) -> NDArray[np.integer]:
        return predicted(self._votes(X), self._stage_thresholds[-1])

    def _form(self) -> Form:
        known = self._preparation, self.classes_.tolist(), self._calibration
        decide = self._stage_thresholds[-1] if self._costs is None else self._costs
        return tree_form(self.tree_, *known, decide, self._half_row)

    def _staged_codes(self, X: Any, stages: Sequence[int]) -> NDArray[np.integer]:
        outputs = zip(stages, self._staged_votes(X, stages), strict=True)
        return np.array([predicted(output, self._stage_thresholds[n]) for n, output in outputs])

    def _staged_proba(self, X: Any, stages: Sequence[int]) -> Floats:
        return self._calibration(self._staged_votes(X, stages))

    def _staged_votes(self, X: Any, stages: Sequence[int]) -> Floats:
        return np.concatenate([self.tree_.staged_output(rows, stages) for rows in self._blocks(X)], axis=1)

    def named_weights(self, split: int = 0, max_weights: int | None = None) -> list[tuple[Any, float]]:
        """Return the largest weights of a test, by default all, with the names of their columns.

        Tests are numbered in the order in which leaves were split.
        """
        check_is_fitted(self)
        return flat.named_weights(self.tree_.weights[split], self.weight_names_, max_weights)

    @property
    def stage_sizes_(self) -> list[int]:  # type: ignore[override]
        """Number of leaves after 0, 1, 2, … splits, up to `n_splits_`."""
        return list(range(1, self.n_splits_ + 2))

    def _columns_at(self, stage: int) -> tuple[Any, ...]:
        totals: dict[Any, float] = {}
        weights = np.abs(self.tree_.weights[:stage]).sum(axis=0)
        for name, weight in zip(self._preparation.columns, weights, strict=False):  # the last may be the bias
            totals[name] = totals.get(name, 0.0) + float(weight)
        return tuple(sorted((n for n in totals if totals[n] > 0), key=lambda n: -rounded(totals[n])))

    def to_text(self) -> str:
        """Return the tree as text, as `export_text` does."""
        return self.export_text()

    def export_text(self, max_weights: int = 4, max_depth: int = 4) -> str:
        """Return the tree as text: one line per node, with the rows that reach it and its test or class.

        Of a test the largest weights are shown, and nodes that are not deeper than `max_depth`.
        """
        check_is_fitted(self)
        return flat.tree_to_text(self.tree_, self.weight_names_, self.classes_, max_weights, max_depth)

    def to_dict(self, max_weights: int | None = None) -> dict[str, Any]:
        """Return nested plain data: masses, values, and the largest weights, by default all, of each test."""
        check_is_fitted(self)
        return flat.tree_to_dict(self.tree_, self.weight_names_, self.classes_, max_weights)
