"""Every learner takes groups: for models of groups that are not in the table."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from offsample.boosting import BoostedPerceptronClassifier
from offsample.hypotheses import RULES
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    StochasticTreeClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
    TreeRegressor,
    by_groups,
)
from offsample.induction.bundles import N_BUNDLES, BundleCounts, deal
from offsample.induction.rules.index import BitIndex
from offsample.induction.rules.partition import Sample
from offsample.induction.scoring import Scoring
from offsample.induction.tree.flat import left_out_losses

LEARNERS = [
    TreeClassifier(),
    StochasticTreeClassifier(max_splits=4),
    DecisionListClassifier(literals=1),
    DNFClassifier(),
    MonomialClassifier(),
    CommitteeClassifier(),
    SymmetricFunctionClassifier(),
    BranchingProgramClassifier(),
]


def _visits(n_groups=40, n_visits=15, seed=0):
    """Two columns that are constant within groups, and one that is right in eight of ten visits."""
    random = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), n_visits)
    y = random.integers(0, 2, n_groups)[groups]
    test = np.where(random.random(len(y)) < 0.2, 1 - y, y)
    return np.column_stack([random.normal(size=(n_groups, 2))[groups], test, groups]), y, groups


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_signal_that_holds_across_groups_is_found_beside_columns_that_are_constant_within_them(learner):
    X, y, groups = _visits()
    assert set(clone(learner).fit(X, y).used_columns_) > {"x2"}  # by rows, other columns look good
    model = clone(learner).fit(X, y, groups=groups)
    assert model.used_columns_[0] == "x2"
    low, high = model.estimated_error_interval_
    assert low < 0.2 < high
    assert low <= model.estimated_error_ <= high
    assert model.path_[model.path_.n_splits].estimated_error == model.estimated_error_
    assert model.path_.kept_within(len(model.path_)) == model.path_.n_splits == len(model.stage_sizes_) - 1


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_grow_keeps_every_stage_of_the_path_that_fit_chooses_from(learner):
    X, y, groups = _visits(seed=1)
    model, grown = clone(learner).fit(X, y, groups=groups), clone(learner).grow(X, y, groups=groups)
    n_stages = len(model.stage_sizes_)
    assert len(grown.stage_sizes_) == len(grown.path_) == len(model.path_) >= n_stages
    assert [step.feature for step in grown.path_] == [step.feature for step in model.path_]
    assert (grown.staged_predict(X)[:n_stages] == model.staged_predict(X)).all()


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_labels_of_groups_are_any_and_weights_are_copies(learner):
    X, y, groups = _visits(20, 10)
    model = clone(learner).fit(X, y, groups=groups)
    names = [f"patient {number:02}" for number in groups]
    named = clone(learner).fit(X, y, groups=names)
    assert named.stage_sizes_ == model.stage_sizes_
    assert named.estimated_error_interval_ == model.estimated_error_interval_
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = clone(learner).fit(X, y, sample_weight=times, groups=groups)
    copies = [np.repeat(part, times, axis=0) for part in (X, y, groups)]
    copied = clone(learner).fit(*copies[:2], groups=copies[2])
    assert weighted.stage_sizes_ == copied.stage_sizes_
    assert weighted.estimated_error_ == pytest.approx(copied.estimated_error_, abs=0.02)
    assert weighted.estimated_error_interval_ == pytest.approx(copied.estimated_error_interval_, abs=0.04)


@pytest.mark.parametrize("learner", [*LEARNERS, BoostedPerceptronClassifier(early_stopping=True)], ids=repr)
def test_groups_that_are_missing_or_too_few_are_refused(learner):
    X, y, groups = _visits(10, 4)
    missing = groups.astype(float)
    missing[:3] = np.nan
    with pytest.raises(ValueError, match=r"groups .* is missing in 3 rows: fill it in"):
        clone(learner).fit(X, y, groups=missing)
    with pytest.raises(ValueError, match=r"groups has .* values for a table of"):
        clone(learner).fit(X, y, groups=groups[:-1])
    if not isinstance(learner, BoostedPerceptronClassifier):
        with pytest.raises(ValueError, match="all rows are of one group"):
            clone(learner).fit(X, y, groups=np.zeros(len(y)))


@pytest.mark.parametrize("learner", [TreeClassifier(), StochasticTreeClassifier(max_splits=2)], ids=repr)
def test_groups_are_routed_through_pipelines_and_searches(learner):
    X, y, groups = _visits(40, 10)
    with config_context(enable_metadata_routing=True):
        step = clone(learner).set_fit_request(groups=True)
        pipe = make_pipeline(StandardScaler(), step)
        name = f"{type(learner).__name__.lower()}__max_splits"
        search = GridSearchCV(pipe, {name: [0, 1]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
        scores = cross_validate(pipe, X, y, cv=GroupKFold(4), params={"groups": groups})["test_score"]
    assert scores.mean() > 0.7
    best = search.best_estimator_[-1]
    alone = clone(learner).set_params(max_splits=1).fit(StandardScaler().fit_transform(X), y, groups=groups)
    assert best.estimated_error_interval_ == alone.estimated_error_interval_


@pytest.mark.parametrize("options", [{"stopping": "none"}, {"criterion": "entropy"}])
@pytest.mark.parametrize("learner", [TreeClassifier(max_splits=5), MonomialClassifier(max_size=5)], ids=repr)
def test_all_steps_are_kept_without_a_stopping_rule_and_their_error_is_that_on_new_groups(learner, options):
    X, y, groups = _visits()
    model = clone(learner).set_params(**options).fit(X, y, groups=groups)
    n_steps = len(model.path_) - 1
    assert model.path_.kept_within(n_steps) == model.path_.n_splits == n_steps
    assert model.estimated_error_ > model.path_[n_steps].training_error + 0.02
    assert model.estimated_error_interval_[1] > 0.2


@pytest.mark.parametrize("learner", [*LEARNERS, TreeRegressor()], ids=repr)
def test_groups_of_one_row_say_what_rows_say(learner):
    random = np.random.default_rng(3)
    X = random.normal(size=(150, 3))
    y = (X[:, 0] + random.normal(size=150) > 0).astype(int)
    alone = clone(learner).fit(X, y)
    grouped = clone(learner).fit(X, y, groups=[f"g{i}" for i in random.permutation(150)])
    assert alone.estimated_error_ == grouped.estimated_error_
    assert alone.estimated_error_interval_ == grouped.estimated_error_interval_
    assert (alone.predict(X) == grouped.predict(X)).all()


def test_boosting_holds_out_whole_groups():
    X, y, groups = _visits(12, 5)
    options = {"early_stopping": True, "n_estimators": 5}
    model = BoostedPerceptronClassifier(**options)
    held_out = model._is_held_out(groups[:, None])
    assert all(len(set(held_out[groups == g])) == 1 for g in range(12))
    assert 0 < held_out.sum() == 5 * len(set(groups[held_out])) < 60
    assert model.fit(X, y, groups=groups).score(X, y) > 0.5


def test_a_split_gains_what_a_rule_learned_without_each_bundle_gains():
    random = np.random.default_rng(0)
    child, bundle, label = random.integers(0, 3, 60), random.integers(0, 7, 60), random.integers(0, 3, 60)
    bundle[child == 2] = 4  # a child of one bundle
    counts = BundleCounts(child, bundle.astype(np.uint8), label, 3, 3)
    for name, rule in RULES.items():
        gain = 0.0
        for i in range(60):
            others = bundle != bundle[i]
            above = rule.from_counts(np.bincount(label[others], minlength=3))
            inside = np.bincount(label[others & (child == child[i])], minlength=3)
            below = rule.from_counts(inside) if inside.any() else above
            gain += below[label[i]] - above[label[i]]
        assert counts.gain(RULES[name], falls_back=True) == pytest.approx(gain)


def test_evidence_of_a_column_that_is_constant_within_groups_is_no_larger_than_shuffling_groups_says():
    random = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 10)
    seen, shuffled = [], []
    for _ in range(400):
        column, y = (random.permutation(np.repeat([0, 1], 6)) for _ in range(2))
        counts = BundleCounts(column[groups], deal(groups), y[groups], 2, 2)
        seen.append(np.exp(counts.log_p()))
        same = (column == y).sum()
        shuffled.append(sum(_ways(k) for k in range(7) if abs(2 * k - 6) >= abs(same - 6)) / _ways(None))
    assert (np.array(seen) >= np.array(shuffled) - 1e-9).all()
    assert min(seen) < 0.1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_of_many_steps_is_that_of_each(n_classes):
    random = np.random.default_rng(n_classes)
    n_rows, groups = 200, np.repeat(np.arange(20), 10)
    truth = random.random((6, n_rows)) < 0.4
    truth[3:] = (random.random((3, 20)) < 0.5)[:, groups]  # constant within groups
    y = np.where(truth[0] & (random.random(n_rows) < 0.8), 0, random.integers(0, n_classes, n_rows))
    inside, bundles = random.random(n_rows) < 0.8, deal(groups)
    sample = Sample(
        BitIndex(truth),
        y,
        n_classes,
        Scoring.of("ginger", "uniform"),
        np.zeros(6),
        np.ones(n_rows, bool),
        by_evidence=True,
        bundles=bundles,
    )
    steps = [(0,), (1, 2), (3,), (4, 5), (9,), (0, 3)]
    found = sample.log_p_by_groups(np.where(inside, 0, -1), steps)
    for step, log_p in zip(steps, found, strict=True):
        true = sample.rows_where(step)[inside].astype(int)
        one = BundleCounts(true, bundles[inside], y[inside], 2, n_classes)
        assert log_p == pytest.approx(one.log_p(), abs=1e-9)
    assert found.min() < np.log(0.01)


def _ways(k):
    """Ways in which six of twelve groups, six of them of class 1, have k of class 1."""
    from math import comb

    return comb(12, 6) if k is None else comb(6, k) * comb(6, 6 - k)


def test_leaves_are_shrunk_by_leaving_out_bundles_as_rows_are_left_out():
    random = np.random.default_rng(2)
    label, leaf = random.integers(0, 3, 30), random.integers(1, 4, 30)
    by_bundle = np.zeros((4, 30, 3), int)
    by_bundle[leaf, np.arange(30), label] = 1
    by_bundle[0] = by_bundle.sum(axis=0)
    counts, one = by_bundle.sum(axis=1), np.eye(3)
    parent, depth = np.array([-1, 0, 0, 0], np.int32), np.array([0, 1, 1, 1], np.int32)
    for weight in (0.0, 1.5, 40.0):
        expected = 0.0
        for k, node in zip(label, leaf, strict=True):
            shares = np.full(3, 1 / 3)
            for at in (0, node):
                left = counts[at] - one[k]
                shares = (left + weight * shares) / (left.sum() + weight) if left.sum() + weight else shares
            expected += ((one[k] - shares) ** 2).sum()
        others = by_bundle.sum(axis=1, keepdims=True) - by_bundle
        by_class = left_out_losses(counts[:, None] * one, counts[:, None] - one, parent, depth, weight)
        assert left_out_losses(by_bundle, others, parent, depth, weight)[1:].sum() == pytest.approx(expected)
        assert by_class[1:].sum() == pytest.approx(expected)


def test_the_first_stage_within_one_standard_error_of_the_best_is_kept():
    random = np.random.default_rng(0)
    size = random.integers(5, 30, 50).astype(float)
    shares = np.array([0.5, 0.3, 0.21, 0.2, 0.25])[:, None] + 0.05 * random.normal(size=(5, 50))
    losses = np.clip(shares, 0, 1) * size
    kept = by_groups.choices(losses, size)
    assert kept[:2] == [0, 1]
    n_rows, own = size.sum(), 1 / (1 - size / size.sum())
    for n in range(2, 5):
        mean = losses.sum(axis=1) / n_rows
        best = int(mean[: n + 1].argmin())
        for stage in range(n + 1):
            beyond = (losses[stage] - losses[best] - (mean[stage] - mean[best]) * size) * own
            if mean[stage] - mean[best] <= np.sqrt((beyond**2).sum()) / n_rows:
                assert kept[n] == stage
                break
    assert by_groups.choices(losses[::-1][:1].repeat(3, axis=0), size) == [0, 0, 0]


def test_many_groups_are_dealt_into_bundles_of_like_number():
    bundle = deal(np.arange(1000) // 2)
    assert (bundle[::2] == bundle[1::2]).all()
    assert set(np.bincount(bundle, minlength=N_BUNDLES)) <= {14, 16}


def test_predictions_that_follow_the_training_share_say_nothing_of_the_groups_that_were_left_out():
    groups = np.repeat(np.arange(40), 10)
    y, weight = (np.arange(40) % 2)[groups], np.ones(400)
    random = np.random.default_rng(0)
    assert not by_groups.agrees(1 - y, y, weight, groups)  # as the largest class of the others is
    assert not by_groups.agrees(np.zeros(400, int), y, weight, groups)
    noise = [by_groups.agrees(random.integers(0, 2, 40)[groups], y, weight, groups) for _ in range(400)]
    assert np.mean(noise) <= 0.02
    test = np.where(random.random(400) < 0.35, 1 - y, y)
    assert by_groups.agrees(test, y, weight, groups)
    assert by_groups.agrees(test[::10], y[::10], np.full(40, 10.0), np.arange(40)) == by_groups.agrees(
        np.repeat(test[::10], 10), y, weight, groups
    )


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_two_groups_are_enough_to_fit(learner):
    """Without either, what is left is one group: its standard error is not known."""
    for seed in range(4):
        x = np.random.default_rng(seed).normal(size=100)
        fitted = clone(learner).fit({"x": x}, np.where(x > 0, "a", "b"), groups=np.arange(100) % 2)
        low, high = fitted.estimated_error_interval_
        assert 0 <= low <= fitted.estimated_error_ <= high <= 1


@pytest.mark.parametrize("n_groups", [12, 30, 50])
@pytest.mark.parametrize("first", [0.5, 0.6, 0.8])
def test_the_error_of_guessing_is_not_too_small_on_average(n_groups, first):
    """Over all numbers of groups that are of the first of two classes, with the probabilities of a coin."""
    of_first = np.arange(n_groups + 1)
    chance = binom.pmf(of_first, n_groups, first)
    told, true = np.empty((2, n_groups + 1))
    for n in of_first:
        label = np.arange(n_groups) < n
        of_group = 20.0 * np.column_stack([label, ~label])
        told[n] = by_groups.guessing_error(of_group)
        true[n] = 0.5 if 2 * n == n_groups else 1 - first if 2 * n > n_groups else first
    assert chance @ told >= chance @ true - 0.01
    if first == 0.5:
        assert chance @ told <= 0.5
    low = max(0.5, *told[np.abs(2 * of_first - n_groups) <= np.sqrt(n_groups)])
    assert low <= 0.5 + 0.55 / n_groups  # a tie is no reason to say that all are wrong


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_without_a_signal_groups_of_two_classes_have_the_error_of_guessing_by_those_of_others(learner):
    groups = np.repeat(np.arange(12), 3)
    model = clone(learner).fit(np.ones((36, 1)), groups % 12 < 5, groups=groups)
    assert model.estimated_error_ == pytest.approx(2 * 5 * 7 / (12 * 11))
