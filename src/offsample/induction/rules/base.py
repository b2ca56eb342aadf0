"""What the classifiers share that print as rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from offsample import _folds
from offsample._estimators import n_rows
from offsample._losses import class_stakes
from offsample._text import visible
from offsample._ties import best_of
from offsample._typing import Booleans, Floats, Ints
from offsample.counts import CellCounts
from offsample.induction.bundles import deal
from offsample.induction.by_groups import Grown, Validated
from offsample.induction.forms import Form
from offsample.induction.learner import Learner
from offsample.induction.path import growth_path, score_interval
from offsample.induction.rules.models import Model, Rule
from offsample.induction.rules.partition import Measure, Partition, Sample
from offsample.induction.rules.vocabulary import Vocabulary
from offsample.induction.scoring import RULE_CRITERIA, Scoring, check_criterion
from offsample.induction.top_down import grow
from offsample.induction.weights import repeated_rows

_N_FOLDS = 10
# Of lists and formulas that finish one cell after the other, see `Sample`: grown with each, the best is kept.
PROSPECTS = (0.3, 0.9)


@dataclass(kw_only=True, eq=False, repr=False)
class RuleClassifier(Learner):
    """Base of the classifiers that refine a `Partition` by Boolean conditions."""

    criterion: str | Callable[..., Any] = "ginger"
    max_size: int | None = None
    stopping: Literal["auto", "none"] = "auto"
    literals: int | None = None
    n_thresholds: int = 15
    categorical_features: Literal["infer", "all"] | Sequence[Any] | Booleans = "infer"
    random_state: Annotated[Any, "random_state"] = None

    _least: ClassVar[dict[str, int]] = {"max_size": 0, "literals": 1, "n_thresholds": 1}
    _sparse: ClassVar[dict[str, Any] | None] = {"accept_sparse": ["csr", "csc"]}
    _partition: ClassVar[type[Partition]]
    _binary_only = True
    # Whether each step adds a literal to one and the same conjunction, so that `literals` limits the steps.
    _is_one_term = False
    # How the first rule, the others and the rest are introduced.
    _words: ClassVar[tuple[str, str, str]] = ("if", "or", "otherwise")

    def _conditions(self, feature_names: Sequence[Any] | None) -> list[str]:
        """Condition of each cell of the fitted model, in words."""
        first, other, rest = self._words
        words = [self.vocabulary_.describe(rule, feature_names) for rule in self.model_.in_order]
        return [*(f"{other if i else first} {text}" for i, text in enumerate(words)), rest]

    def _rules(self, feature_names: Sequence[Any] | None = None) -> list[Any]:
        """Rules of the fitted model, of which `to_text` prints one a line."""
        conditions = self._conditions(feature_names) if self.model_.literals else ["always"]
        rules = []
        for cell, text in enumerate(conditions):
            counts = self.model_.counts[cell][: max(1, len(self.classes_))].tolist()
            label = self._labels[cell]
            rules.append(Rule(text, self.classes_[label], tuple(counts), counts[label]))
        return rules

    def _lines(self, feature_names: Sequence[Any] | None) -> list[Any]:
        return self._rules(feature_names)

    # Whether steps are taken for their gain. Others are all taken and never tested, so that errors are
    # estimated by cross-validation.
    _is_greedy = True
    # What the gain of a step must be above; lists tell themselves which steps they may take.
    _min_gain = 0.0
    # Prospects of which the best is kept, see `Sample`.
    _prospects: ClassVar[tuple[float, ...]] = (0.0,)

    def _learn(self, X: Any, y: NDArray[Any], sample_weight: ArrayLike | None, groups: Ints | None) -> Grown:
        if self._binary_only and type_of_target(y) == "multiclass":
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} is a formula that is true or false"
            )
        classes, codes = np.unique(y, return_inverse=True)
        costs = self._know(classes, y, sample_weight)
        n_classes = max(2, len(self.classes_))  # a single class is a formula of one cell
        rows = repeated_rows(sample_weight, len(codes))
        labels = codes.astype(np.int64) if rows is None else codes.astype(np.int64)[rows]
        self.vocabulary_ = Vocabulary(self.n_thresholds, self.categorical_features)
        index = self.vocabulary_.fit_index(X, rows)
        totals = np.bincount(labels, minlength=n_classes)
        scoring = Scoring.of(self.criterion, "uniform").at(
            totals, None if costs is None else class_stakes(costs)
        )
        of_row = np.arange(len(labels)) if rows is None else rows.astype(np.int64)
        groups = None if groups is None else groups[of_row]
        sample = Sample(
            index,
            labels,
            n_classes,
            scoring,
            self.vocabulary_.log_tried,
            np.ones(len(labels), bool),
            by_evidence=self.stopping == "auto" and self._is_greedy and scoring.criterion.is_off_sample,
            bundles=None if groups is None else deal(groups),
            costs=costs,
        )
        worth = sample.size
        if sample.by_evidence:
            paths = [self._grow(variant) for variant in self._variants(sample)]
            corrected = [[-measure.corrected for measure in path] for path in paths]
            best = best_of([max(values) for values in corrected], sample.size)
            path, n_kept = paths[best], best_of(corrected[best], sample.size)
        else:
            path = self._grow(sample)
            n_kept = len(path) - 1
            if not self._is_greedy and groups is None:
                path, worth = self._cross_validated(path, sample, of_row)
        keep, by_evidence = partial(self._keep, path, sample, worth), sample.by_evidence
        return Grown(len(path) - 1, n_kept, by_evidence, keep, is_evident=by_evidence)

    def _check_options(self) -> None:
        check_criterion(self.criterion, RULE_CRITERIA)

    def _variants(self, sample: Sample) -> list[Sample]:
        """Ways to grow, of which the best is kept."""
        return [replace(sample, prospect=prospect) for prospect in self._prospects]

    def _grow(self, sample: Sample) -> list[Measure]:
        partition = self._partition(sample, self)
        return grow(partition, partition.measure, max_splits=self._max_steps, min_gain=self._min_gain)

    @property
    def _max_steps(self) -> int | None:
        limits = [self.max_size, self.literals if self._is_one_term else None]
        return min((limit for limit in limits if limit is not None), default=None)

    def _said_of_others(self, sample: Sample, learned: Booleans) -> Iterator[Ints]:
        """What a formula of 0, 1, 2, … steps says of the rows that are not learned from."""
        for measure in self._grow(replace(sample, active=learned, by_evidence=False)):
            model = measure.model
            truth = {literal: sample.index.truth(literal) for literal in model.literals}
            yield model.labels[model.cells(truth, len(sample.y))[~learned]]

    def _cross_validated(self, path: list[Measure], sample: Sample, rows: Ints) -> tuple[list[Measure], int]:
        """The path, its errors estimated by growing formulas of as many steps on nine tenths of the rows.

        Also returns the number of independent rows that would tell the error of this very formula as well.
        The estimates of the folds have most of their rows in common, and formulas grown on other rows differ
        in error: of k folds the variance is 1 + k / (k - 1) times that of independent rows (Nadeau & Bengio
        2003).
        """
        random = check_random_state(0 if self.random_state is None else self.random_state)
        different, first = np.unique(rows, return_index=True)
        n_folds = min(_N_FOLDS, len(different))
        if n_folds < 2:
            return path, sample.size
        fold_of = _folds.dealt(len(different), n_folds, random, labels=sample.y[first])
        fold = fold_of[np.searchsorted(different, rows)]  # copies of a row are in one fold
        wrong = np.zeros(len(path))
        for one in range(n_folds):
            true = sample.y[fold == one]
            counts = [int((said != true).sum()) for said in self._said_of_others(sample, fold != one)]
            wrong += [counts[min(n, len(counts) - 1)] for n in range(len(path))]
        # the interval is around the estimate, which may be too small as well as too large
        estimated = [
            measure._replace(estimated_errors=float(errors), naive_errors=float(errors))
            for measure, errors in zip(path, wrong, strict=True)
        ]
        return estimated, max(1, round(sample.size / (1 + n_folds / (n_folds - 1))))

    def _keep(
        self, path: list[Measure], sample: Sample, n_rows: int, n_steps: int, validated: Validated | None
    ) -> None:
        """Set what is learned from the first `n_steps` steps; the estimate is worth `n_rows` rows."""
        m = sample.size
        truth, said = cache(sample.index.truth), cache(self.vocabulary_.said)

        def count(model: Model) -> Ints:
            cells = model.cells({one: truth(one) for one in model.literals}, len(sample.y))
            return sample.totals(cells, len(model.in_order) + 1)

        self._stages: list[Model] = [
            measure.model.without_idle(said, len(self.vocabulary_.tests), count)
            for measure in path[: n_steps + 1]
        ]
        sizes = enumerate(model.size for model in self._stages)
        self.stage_sizes_ = [n if size is None else size for n, size in sizes]
        self.model_ = self._stages[-1]
        features = [None, *(self._describe_step(measure.step) for measure in path[1:])]
        self.path_ = growth_path(
            path, features, n_steps, m, sample.scoring.criterion, is_cut=sample.by_evidence
        )
        classes = self.classes_.tolist() if len(self.classes_) > 1 else None
        self.counts_ = CellCounts(self.model_.counts, classes=classes)
        if validated is not None:
            self.path_ = self.path_.validated(validated.errors, validated.kept_within)
        self.estimated_error_ = self.path_[n_steps].estimated_error
        naive = min(path[n_steps].naive_errors / m, self.estimated_error_)
        by_rows = score_interval(naive, self.estimated_error_, n_rows)
        self.estimated_error_interval_ = by_rows if validated is None else validated.interval
        self._left = [measure.left for measure in path[: n_steps + 1]]
        self._probabilities = self._cell_probabilities(n_steps)
        self._labels = self.model_.labels if self._costs is None else self._cheapest(self._probabilities)
        self.rules_ = self._rules()

    def _describe_step(self, step: tuple[int, ...]) -> str:
        return self.vocabulary_.describe(step)

    def _cell_probabilities(self, stage: int) -> Floats:
        return self._stages[stage].probabilities(len(self.classes_), self._left[stage])

    def apply(self, X: Any) -> Ints:
        """Cell of each row of a table as for `fit`: its place in ``model_.counts``."""
        check_is_fitted(self)
        return self._cells(X, [self.model_])[0]

    def _cells(self, X: Any, models: Sequence[Model]) -> list[Ints]:
        X = self._checked_new(X, as_sparse=self.vocabulary_.is_sparse)
        truth = self.vocabulary_.truth(X, {literal for model in models for literal in model.literals})
        size = X.shape[0] if issparse(X) else n_rows(X)
        return [model.cells(truth, size) for model in models]

    def _proba(self, X: Any) -> Floats:
        return np.asarray(self._probabilities[self.apply(X)])

    def _codes(self, X: Any) -> NDArray[np.integer]:
        return np.asarray(self._labels[self.apply(X)])

    def _form(self) -> Form:
        cell, steps = self.model_._cell(self.vocabulary_.conditions)
        return Form(self.classes_.tolist(), cell, self._labels, list(self._probabilities.T), steps)

    def _staged_codes(self, X: Any, stages: Sequence[int]) -> NDArray[np.integer]:
        models = [self._stages[n] for n in stages]
        cells = self._cells(X, models)
        return np.array([model.labels[cell] for model, cell in zip(models, cells, strict=True)])

    def _staged_proba(self, X: Any, stages: Sequence[int]) -> Floats:
        models = [self._stages[n] for n in stages]
        values = [self._cell_probabilities(n) for n in stages]
        return np.array([value[cell] for value, cell in zip(values, self._cells(X, models), strict=True)])

    def _columns_at(self, stage: int) -> tuple[Any, ...]:
        literals = [literal for rule in self._stages[stage].in_order for literal in rule]
        used = dict.fromkeys(self.vocabulary_.test_of(literal).column for literal in literals)
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return tuple(names[j] for j in used)

    def to_text(self, feature_names: Sequence[Any] | None = None) -> str:
        """The formula in words, one line per rule; `feature_names` are of the columns of sparse data."""
        check_is_fitted(self)
        return "\n".join(map(visible, self._lines(feature_names)))

    def to_dict(self) -> dict[str, Any]:
        """The formula as plain data."""
        check_is_fitted(self)
        return {
            "kind": type(self).__name__,
            "rules": self.to_text().splitlines(),
            "size": self.size_,
            "training_error": self.path_[self.path_.n_splits].training_error,
            "estimated_error": self.estimated_error_,
            "estimated_error_interval": list(self.estimated_error_interval_),
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary_only
        return tags
