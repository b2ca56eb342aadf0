"""Decision trees that stop where generalisation stops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from offsample._losses import log_losses
from offsample._ties import rounded
from offsample._typing import Booleans, Floats, Ints
from offsample.criteria import Criterion
from offsample.induction.by_groups import Grown, Validated
from offsample.induction.forms import Form
from offsample.induction.learner import Learner
from offsample.induction.path import growth_path, largest_by_chance, score_interval
from offsample.induction.scoring import TREE_CRITERIA, Scoring, check_criterion, majority_terms
from offsample.induction.shrinkage import Losses
from offsample.induction.tree import export
from offsample.induction.tree.fitted import FittedTree
from offsample.induction.tree.flat import flatten
from offsample.induction.tree.growth import GrownTree, coded, grow_tree
from offsample.induction.tree.losses import expected_loss
from offsample.tables import TableEncoder

# Of a tree that halves have judged, the variance of its error in that of a share of rows, as other rows would
# grow another tree; and the standard deviation of what the halves add, as a part of it. Both were measured on
# samples of 1,000, 5,000 and 20,000 rows with 5 to 325 columns.
_AS_OFTEN, _UNSURE = 2.0, 1 / 3


@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(FittedTree, Learner):  # type: ignore[override]
    """Decision tree for tables as they are, grown best-first until more splits would not help on new rows.

    Strings, categories of any number of values, numbers and missing values are read without encoding. A
    categorical column is split into one child per value, or into two by an order of its values; a numeric one
    by a threshold. A missing category is a value of its own. Missing numbers go to the better side of a
    split, or to the larger one if none was missing there.

    Parameters
    ----------
    criterion : str or callable, default="ginger"
        What a split should improve. "ginger" and "bayes_loo" estimate the error off the sample of predicting
        with the class frequencies, or with the majority, of a leaf; "log_loss_loo" and "brier_loo" the loss
        of its probabilities, where classes are rare or probabilities are wanted. The other names in
        `criteria.CRITERIA` (but "auc_lpo", which is no sum over leaves: grow by log loss and judge by the
        area) are computed on the sample, as is a function of class distributions, of shape (..., K) to (...),
        such as those of `criteria.INDEX_FUNCTIONS`.
    max_size : int, default=None
        The largest number of leaves. A split that would make more is not among those that are chosen from.
    max_splits : int, default=None
        The largest number of splits; one into many children is one split.
    max_depth : int, default=None
        The largest depth of a leaf.
    min_samples_leaf : int, default=1
        The smallest number of rows of a leaf.
    min_gain : float, default=0.0
        A split must improve the criterion by more than this. If negative, growing goes on where the criterion
        worsens. For "gain_ratio" and "mantaras_distance" the ratio after the split counts, not its change:
        such a tree grows as long as a split has an information gain.
    stopping : {"auto", "significance", "none"}, default="auto"
        How the size is chosen within those limits. "significance": for criteria that estimate the error off
        the sample, a split must be significant after a correction for all columns and thresholds that it was
        chosen from, and the number of splits with the smallest corrected estimate is kept (see Notes); no
        effect for other criteria. "auto": the same, but up to 10,000 rows the tree is another one if that is
        clearly better on rows that were left out. "none": no stopping rule.
    categorical_features : "infer", "all", list of names, or boolean mask, default="infer"
        Numeric columns to read as categorical.
    categorical_split : {"auto", "multiway", "ordered"}, default="auto"
        "multiway": one child per value. "ordered": two children, the values of low and of high class means,
        which are those in other folds than the row's. "auto": whichever promises more, node by node.
    unseen : {"parent", "uniform"}, default="parent"
        A row whose value was not seen at a node gets the prediction of that node, or all classes alike.
    shrinkage : "auto" or None, default="auto"
        "auto": class probabilities are those off the sample: of the difference from the parent's, the part
        that the choice of the split made is left out, and the parent counts for the number of rows with the
        least leave-one-out log loss. None: the class frequencies of the leaf.
    costs : array-like of shape (n_classes, n_classes) or dict, default=None
        What it costs to predict a class, ``costs[true, predicted]`` in the order of `classes_`; for two
        classes also ``{"fn": 10, "fp": 1}``, about the rarer one in `fit`, of equals the second. None: one
        for every mistake.
    class_weight : dict or "balanced", default=None
        Factors of the costs of mistakes in each class, 1 for those that are not named. "balanced": one over
        the frequencies of the classes. Both choose the class that is predicted, and change no probability.
    random_state : int, RandomState or None, default=None
        Seed of the folds of "ordered" splits. None stands for 0.

    Attributes
    ----------
    tree_ : FlatTree
        The nodes as arrays.
    path_ : GrowthPath
        Criterion and errors of the trees of 0, 1, 2, … splits.
    n_splits_ : int
        Number of splits of the tree that was kept.
    estimated_error_ : float
        The share of new rows that `predict` is expected to get wrong.
    estimated_error_interval_ : tuple of float
        A 95 % interval for it.
    estimated_loss_ : float
        The loss of `predict_proba` to expect on new rows: log loss in nats, or the Brier score if `criterion`
        is that; with `costs` or `class_weight`, what `predict` costs per row.
    estimated_loss_interval_ : tuple of float
        A 95 % interval for it.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Share of each column in the decrease of the estimated error off the sample.
    training_importances_ : ndarray of shape (n_features_in_,)
        The same for the training error.
    shrinkage_weight_ : float
        Number of rows that a parent's distribution counts for.
    classes_, n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    *Binning.* A numeric column with at most 1,024 distinct values is split at any of them; others are cut
    into 255 quantile bins (of at most 200,000 evenly spaced rows) first.

    *Optimism of the chosen split.* Ginger of one fixed split is nearly unbiased; the best of many is not.
    Every candidate is therefore tested against shuffles of the classes (Fisher's exact test for two
    children, `evidence.signal_evidence` for more), the p-value is multiplied by the number of columns and by
    the number of independent tests that the best of all thresholds is worth, and the gain is shrunk by
    ``1 - ln(n_tried / .03) / z²``. Where no column is significant, pairs of columns are tested for an
    interaction, and the first split of a significant pair is carried out although it has no gain of its own;
    one of three columns without a trace in pairs only rivals find.

    *When to stop.* The root is tested at a level of 3 %: on pure noise 95 % of trees or more stop there (50,
    200 and 1,000 rows; 20 numeric columns, or 10 categorical ones of 2 to m values). Below it the level is
    20 %. Then splits are taken back, at the level at which at most one split in ten is expected by chance, by
    the p-values of the nodes that could not be split (Storey 2002): strict where the leaves look like noise,
    liberal where almost every node has something to find.

    *Many splits nearly as good as the best*, in columns that say nearly the same or along a smooth boundary,
    make the best gain more by chance than that test knows of: up to three errors in a hundred rows. So trees
    of both halves of the rows are judged on the other half. What they err by more than they expect, per
    split, is added to the errors of the path. The interval has twice the variance of a share of the rows, as
    other rows would grow another tree, and a third of what was added as a standard deviation.

    *Rivals.* In small tables each split has few rows to prove it. So up to 10,000 rows (without `groups`,
    `min_gain` and criteria of losses) other paths compete: by the Gini index and the entropy of the sample,
    with a child per value of a category, or one value against the rest; and one whose root and its children
    have the splits that are best by "ginger" with the best ones below them (of the 16 best columns, numbers
    in up to 16 bins). They are cross-validated in five parts, dealt twice where cells are few, up to 255
    splits or 8,000,000 over the rows. Kind and size with the fewest errors, of sizes that differ by a sixth
    together, are taken if these are fewer than the first tree expects by .3 standard errors; by four if no
    split of that is significant. The error is that of what the other parts choose for each part, and of a
    lead of z standard errors ``1 - 1 / z²`` is left. The interval has the variance between the trees, and
    begins lower by what trees of three fifths of the rows are worse by than those of four.

    *Without that stopping rule* a split counts as found with the share of its gain that is left, as chance
    with the rest: new rows of a child then have the classes of the node above it. So the estimate of a tree
    that went on splitting noise is that of guessing; it is too large where rows of many classes are few.

    *Groups.* With `groups` in `fit`, a split must be significant across groups, and its gain is that in
    groups which did not make it. The number of splits and the error are those of trees grown without some.

    *What is tested.* Noise, coverage and bias on synthetic problems: ``tests/induction/tree``. The estimate
    is rather too large for interactions and without noise. Real data: ``benchmarks/RESULTS.md``.

    *Values that behave alike.* With a stopping rule, leaves of one split that predict the same class are one
    leaf, if to tell them apart does not lower "ginger" (without, the tree is what the criterion made).

    *Leaves.* The estimated error of a leaf is one less the shrunk frequency of its class, moved toward that
    of guessing so that the mean over the leaves is that of the tree.

    *Ties.* Of equal gains the older node, the first column, the lower threshold, missing values right win;
    of rivals, before the first column, the widest gap and the column with the largest gain in the sample.

    *Sample weights* are frequencies: a row of weight 2 is there twice, one of weight 0 not at all. The order
    of rows does not matter (but for bins of more than 1,024 values, if there are more than 200,000 rows).

    References
    ----------
    .. [1] S. Sabato, S. Shalev-Shwartz (2008). Ranking Categorical Features Using Generalization
       Properties. JMLR 9.
    .. [2] R. Nock, F. Nielsen (2004). On domain-partitioning induction criteria: worst-case bounds for the
       worst-case based. Theoretical Computer Science 321.
    .. [3] J. D. Storey (2002). A direct approach to false discovery rates. JRSS B 64.

    Examples
    --------
    >>> import numpy as np
    >>> from offsample.induction import TreeClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 5))
    >>> y = np.where((X[:, 1] > 0) ^ (rng.random(400) < 0.1), "yes", "no")
    >>> tree = TreeClassifier().fit(X, y)
    >>> tree.n_splits_, tree.predict(X[:3]).tolist()
    (1, ['no', 'yes', 'yes'])
    >>> TreeClassifier().fit(X, rng.permutation(y)).n_splits_
    0
    """

    criterion: str | Callable[..., Any] = "ginger"
    max_size: int | None = None
    max_splits: int | None = None
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_gain: float = 0.0
    stopping: Literal["auto", "significance", "none"] = "auto"
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    categorical_split: Literal["auto", "multiway", "ordered"] = "auto"
    unseen: Literal["parent", "uniform"] = "parent"
    shrinkage: Literal["auto"] | None = "auto"
    random_state: Annotated[Any, "random_state"] = None

    _least: ClassVar[dict[str, int]] = {"max_size": 1, "max_splits": 0, "max_depth": 0, "min_samples_leaf": 1}
    path_parameter = "max_splits"
    _most_by_rows = 32

    @property
    def _by_units(self) -> dict[str, Any]:
        # To leave out rows of a group, or of a day, whose others are there says too much.
        return {"stopping": "significance"} if self.stopping == "auto" else {}

    def _check_options(self) -> None:
        check_criterion(self.criterion, TREE_CRITERIA)

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, groups: Ints | None) -> Grown:
        classes, codes = np.unique(y, return_inverse=True)
        self._know(classes, y, sample_weight)
        self._encoder = TableEncoder(self.categorical_features)
        labels = codes.astype(np.uint16)
        columns, y, groups = coded(self._encoder, X, labels, sample_weight, groups)
        seed = 0 if self.random_state is None else self.random_state
        if not isinstance(seed, Integral):
            seed = check_random_state(seed).randint(2**31)
        n_classes = len(self.classes_)
        grown = grow_tree(columns, y, n_classes, self, seed=int(seed), groups=groups)
        steps, by_evidence = (len(grown.path) - 1, grown.n_kept), grown.grower.by_evidence
        by_loss, keep = grown.grower.scoring.criterion.estimates_loss, partial(self._keep, grown)
        return Grown(*steps, self.cuts_back, keep, is_evident=by_evidence, by_loss=by_loss)

    def _keep(self, grown: GrownTree, n_splits: int, validated: Validated | None) -> None:
        """Set what is learned from the splits that are kept."""
        grower, path, _, rival, excess = grown
        self.n_splits_, names = n_splits, self._encoder.names
        features = [None, *(names[measure.column] for measure in path[1:])]
        self.path_ = growth_path(
            path, features, n_splits, grower.size, grower.scoring.criterion, grower.by_evidence
        )
        tested = validated or rival
        if tested is not None:
            n, grown_by = len(path), None if rival is None else rival.grown_by
            self.path_ = self.path_.validated(tested.errors[:n], tested.kept_within[:n], grown_by)
        self.estimated_error_ = self.path_[self.n_splits_].estimated_error
        self.tree_, nest = flatten(
            grower,
            self.n_splits_,
            len(self.classes_),
            self.estimated_error_,
            None if self._costs is None else self._cheapest,
            shrink=self.shrinkage is not None,
        )
        error, size = self.estimated_error_, grower.size
        if validated is not None:
            self.estimated_error_interval_ = validated.interval
        elif rival is not None:
            self.estimated_error_interval_ = rival.interval(n_splits)
        elif excess is not None and n_splits:
            naive = grower.unchosen_errors(n_splits) / size if grower.has_pair(1) else error
            naive, off = min(naive, error), _UNSURE * excess * n_splits / size
            self.estimated_error_interval_ = score_interval(naive, error, size / _AS_OFTEN, deviation=off)
        else:
            naive = float(majority_terms(self.tree_.counts[self.tree_.is_leaf]).sum()) / size
            n_alike = 1 if n_splits else largest_by_chance(grower.counts[0][0])
            self.estimated_error_interval_ = score_interval(min(naive, error), error, size, n_alike)
        self.shrinkage_weight_ = self.tree_.shrinkage_weight
        weight, losses = self.shrinkage_weight_, self._reported[-1]
        found = expected_loss(grower, nest, n_splits, weight, losses, self._costs)
        found = found if validated is None else validated.also[-1]
        self.estimated_loss_, self.estimated_loss_interval_ = found
        if self.cuts_back and not grower.scoring.criterion.estimates_loss:
            self.tree_ = self.tree_.with_joined_leaves(Scoring.of("ginger", "parent").gain)
        self._keep_importances()

    @property
    def _known(self) -> Criterion | None:
        return None if callable(self.criterion) else TREE_CRITERIA.get(self.criterion)

    @property
    def _reported(self) -> list[Losses]:
        return [log_losses if self._known is None else self._known.losses, *super()._reported]

    def _proba(self, X: Any) -> Floats:
        return self._value()[self.apply(X)]

    def _value(self) -> Floats:
        value = self.tree_.value
        if self.unseen == "uniform" and self.n_splits_:
            value = np.where(self.tree_.is_leaf[:, None], value, 1 / len(self.classes_))
        return value

    def _codes(self, X: Any) -> NDArray[np.integer]:
        return self._cheapest(self._value())[self.apply(X)]

    def _form(self) -> Form:
        value, cell = self._value(), export.tree_cell(self.tree_, self._encoder)
        return Form(self.classes_.tolist(), cell, self._cheapest(value), list(value.T))

    def _staged_codes(self, X: Any, stages: Sequence[int]) -> NDArray[np.integer]:
        return self.tree_.label[self.tree_.staged(self.apply(X), stages)]

    def _staged_proba(self, X: Any, stages: Sequence[int]) -> Floats:
        nodes = self.tree_.staged(self.apply(X), stages)
        value = self.tree_.value[nodes]
        if self.unseen == "uniform":
            inner = self.tree_.in_order
            for one, n in enumerate(stages):
                value[one, np.isin(nodes[one], inner[:n])] = 1 / len(self.classes_)
        return value

    @property
    def cuts_back(self) -> bool:
        """Whether the size with the least corrected estimate is kept: "auto", if the criterion estimates."""
        return (
            self.stopping in ("auto", "significance")
            and self._known is not None
            and self._known.is_off_sample
        )

    @property
    def shown_sizes_(self) -> list[int]:
        """Sizes of the stages without splits whose branches all say the same."""
        return self.tree_.sizes_without_idle(self._said(self.tree_.label))

    def _said(self, label: Ints) -> Ints:
        """Codes of what nodes say: the class or, of a tree grown for a loss or for costs, probabilities."""
        if self._known is not None and not self._known.estimates_loss:
            return label
        return np.unique(rounded(self._value()), axis=0, return_inverse=True)[1].ravel()

    def without_idle_splits(self) -> Self:
        """Return a copy that predicts the same without the splits whose branches all predict one class.

        The class probabilities of a leaf that takes the place of several are those of all its rows. Of a tree
        that is grown for a loss, only splits are left out whose branches have the same probabilities.
        """
        check_is_fitted(self)
        tree, label = copy(self), self._cheapest(self._value())
        tree.tree_ = self.tree_.without_idle(self._said(label), label)
        tree.n_splits_ = int((~tree.tree_.is_leaf).sum())
        tree._keep_importances()
        return tree

    def to_text(self) -> str:
        """Return what `export_text` returns."""
        return self.export_text()

    def export_text(self, max_children: int = 20) -> str:
        """The tree as text, one line per node.

        Parameters
        ----------
        max_children : int
            Of nodes with more children the largest are shown.
        """
        check_is_fitted(self)
        return export.tree_to_text(self.tree_, self._encoder, self.classes_, max_children)

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested plain data: counts, probabilities, tests and conditions of each node."""
        check_is_fitted(self)
        return export.tree_to_dict(self.tree_, self._encoder, self.classes_)
