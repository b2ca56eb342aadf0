"""Several models on the same folds, with tests corrected for the number of pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils.validation import column_or_1d

from offsample import _folds
from offsample._checks import check_confidence
from offsample._frames import make_frame
from offsample._ties import rounded
from offsample._typing import Floats
from offsample.assessment._intervals import score_interval
from offsample.assessment._metrics import OF_NUMBERS, as_read, scorer_name, within
from offsample.assessment._out_of_fold import metric_of_model, score_fold
from offsample.assessment._paired import paired_test
from offsample.assessment._result import Result
from offsample.assessment._units import (
    ScoredRows,
    folds_of,
    groups_of,
    run_all,
    tested_again,
    tested_share,
)

CompareTest = Literal["corrected_t", "5x2cv_f", "mcnemar", "sign", "permutation"]
# Below 200 rows, and with groups, 8 to 31 of 100 are: ``python -m tests.statistical.assessed_splits``.
_NOT_HELD = "{} calls more models different than it should that are not: corrected_t does not."


@dataclass(frozen=True)
class ModelPair:
    """Test of the difference of two models, with its p-value before and after the correction."""

    first: str
    second: str
    difference: float  # of their scores: the first less the second, which is negative for the smaller loss
    p_value: float
    adjusted_p_value: float
    different: bool


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Models on the same folds."""

    models: tuple[str, ...]  # names, the best first
    scores: tuple[float, ...]  # mean score of each model
    intervals: tuple[tuple[float, float], ...]  # of each score, not corrected for the number of models
    pairs: tuple[ModelPair, ...]
    test: str
    confidence: float
    n_folds: int
    metric: str = "score"  # what the scores are; a loss as people read it, not negative
    greater_is_better: bool = True
    caution: str = ""  # why the test may not hold its level; empty where it does

    @property
    def best(self) -> tuple[str, ...]:
        """Models that do not differ from the one with the best score."""
        worse = {
            pair.second if pair.first == self.models[0] else pair.first
            for pair in self.pairs
            if pair.different and self.models[0] in (pair.first, pair.second)
        }
        return tuple(model for model in self.models if model not in worse)

    def to_frame(self) -> Any:
        """Return a dataframe with one row per pair, of the library that is installed."""
        names = ["first", "second", "difference", "p_value", "adjusted_p_value", "different"]
        return make_frame({name: [getattr(pair, name) for pair in self.pairs] for name in names})

    def __repr__(self) -> str:
        by = f"by {self.metric} ({'more' if self.greater_is_better else 'less'} is better)"
        lines = [f"Comparison of {len(self.models)} models {by}, {self.n_folds} folds, {self.test}, holm"]
        for model, score, (low, high) in zip(self.models, self.scores, self.intervals, strict=True):
            note = "" if model in self.best else "  worse than the best"
            lines.append(f"{model}  {score:.4f}  {low:.4f}–{high:.4f}{note}")
        return "\n".join([*lines, self.caution] if self.caution else lines)


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    scoring: Any = None,
    groups: Any = None,
    test: CompareTest = "corrected_t",
    confidence: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare models on the same folds and test each pair, corrected for the number of pairs.

    By Holm's method the probability of any false difference is at most 1 - confidence. Accuracies have
    intervals of the rows that were tested, R² and errors of numbers those of the losses of these rows, or of
    their groups; other scores, and accuracies for new groups, those of the corrected t, which are wider.

    Parameters
    ----------
    models : dict of name -> estimator
        To compare tuned models, pass the search itself: a model tuned on these rows beforehand scores too
        well.
    X, y : array-like
    cv : int or splitter, default=10
    scoring : str or callable, optional
        Defaults to the score of the estimators. "mae", "rmse", "log_loss", "auc" stand for scikit-learn's
        "neg_mean_absolute_error" and so on. Losses are shown as they are, not negative: less is better.
    groups : array-like, optional
        Rows that belong together: the scores are then for rows of new groups. A number of folds means
        `GroupKFold`, estimators whose `fit` takes groups get them, and the halves of "5x2cv_f" are of whole
        groups. It and "mcnemar" do not hold their level then, which `caution` says.
    test : str, default="corrected_t"
        "corrected_t", "permutation" and "sign" compare fold scores. "5x2cv_f" makes its own five times two
        folds; it calls too many models different, most so below 200 rows, which `caution` says. "mcnemar"
        compares the errors of classifiers row by row, as if rows of different folds were independent.
        Repeated and random splits, which test rows again, are for "corrected_t" alone.
    confidence : float, default=0.95
    random_state : int or None, default=0
        Seed of the folds of "5x2cv_f".
    n_jobs : int, optional

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from offsample import compare
    >>> models = {"tree": DecisionTreeClassifier(random_state=0), "constant": DummyClassifier()}
    >>> compare(models, *load_iris(return_X_y=True), cv=5).best
    ('tree',)
    """
    if test not in get_args(CompareTest):
        raise ValueError(f"test must be one of {get_args(CompareTest)}, got {test!r}")
    check_confidence(confidence)
    scoring = scorer_name(scoring)
    if len(models) < 2:
        raise ValueError(f"expected two or more models, got {len(models)}")
    if test == "mcnemar" and not all(is_classifier(model) for model in models.values()):
        raise ValueError("test 'mcnemar' is for classifiers")
    y = column_or_1d(y)
    any_model = next(iter(models.values()))
    together = groups_of(groups, len(y))
    splits = folds_of(cv, X, y, any_model, together)
    again = test != "5x2cv_f" and tested_again([rows for _, rows in splits]) > 0
    if test != "corrected_t" and again:
        raise ValueError(
            f"test {test!r} takes rows that are tested again as new ones, and finds differences that are not "
            "there: take test='corrected_t', or folds that test each row once"
        )

    known = {name: metric_of_model(scoring, model) for name, model in models.items()}
    scored = ScoredRows.of_splits(splits, y, together)

    def score(name: str, splits: _folds.Splits) -> tuple[Floats, Any]:
        """Scores of the folds, and what the model predicts, where a test or an interval asks for it."""
        metric, model = known[name], models[name]
        predicts = test == "mcnemar" or (metric is not None and metric.title in OF_NUMBERS)
        scorer = check_scoring(model, scoring)
        jobs = [(model, scorer, X, y, split, together, predicts) for split in splits]
        scores, predicted = zip(*run_all(score_fold, jobs, n_jobs), strict=True)
        return np.array(scores), np.concatenate(predicted) if predicts else None

    found_of = {name: score(name, splits) for name in models}
    folds = {name: scores for name, (scores, _) in found_of.items()}
    tested = folds
    if test == "mcnemar":
        tested = {name: (p == scored.y).astype(float) for name, (_, p) in found_of.items()}
    elif test == "5x2cv_f":
        rng = np.random.default_rng(random_state)
        stratify = is_classifier(any_model)
        halves = [
            _folds.shuffled(y, 2, int(rng.integers(2**31)), stratify=stratify, groups=together)
            for _ in range(5)
        ]
        tested = {name: np.array([score(name, two)[0] for two in halves]) for name in models}
    share = tested_share(splits)
    order = tuple(sorted(models, key=lambda name: -rounded(folds[name].mean())))
    pairs = list(combinations(order, 2))
    units = None
    if together is not None and test == "mcnemar":
        units = scored.unit
    tests = [
        paired_test(tested[first], tested[second], method=test, test_share=share, groups=units)
        for first, second in pairs
    ]
    adjusted = holm(np.array([found.p_value for found in tests]))
    title, sign = as_read(scoring, check_scoring(any_model, scoring))
    as_told = [sign * folds[name] for name in order]
    not_held = (test == "5x2cv_f" and len(y) < 200) or (
        test in ("5x2cv_f", "mcnemar") and together is not None
    )
    turn = 1.0 if test == "mcnemar" else sign  # of hits, whatever the scoring
    return Comparison(
        models=order,
        scores=tuple(float(one.mean()) for one in as_told),
        intervals=tuple(
            within(title, *score_interval(one, splits, confidence, known[name], scored, found_of[name][1]))
            for name, one in zip(order, as_told, strict=True)
        ),
        pairs=tuple(
            ModelPair(*names, turn * found.difference, found.p_value, p, p <= 1 - confidence)
            for names, found, p in zip(pairs, tests, adjusted.tolist(), strict=True)
        ),
        test=test,
        confidence=confidence,
        n_folds=len(splits),
        metric=title,
        greater_is_better=sign > 0,
        caution=_NOT_HELD.format(test) if not_held else "",
    )


def holm(p_values: Floats) -> Floats:
    """Return p-values that are at most a level exactly where Holm's procedure rejects at it."""
    n, order = len(p_values), np.argsort(p_values, kind="stable")
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.arange(n, 0, -1) * p_values[order]))
    return adjusted
