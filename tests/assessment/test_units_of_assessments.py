"""Rows in groups: the units of folds, bootstraps, intervals and tests are groups."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import t
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeavePGroupsOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from offsample.assessment import audit_search, compare, nested_cross_validate, paired_test
from offsample.assessment._correctors import bootstrap
from offsample.assessment._units import ScoredRows, draw_counts, repeats_of

TREE = DecisionTreeClassifier(random_state=0)


class Told(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, and notes of which groups it was told."""

    seen: list = []  # noqa: RUF012 - shared by clones

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y, groups=None):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.guess_ = self.classes_[counts.argmax()]
        self.seen.append(None if groups is None else len(np.unique(groups)))
        return self

    def predict(self, X):
        return np.full(len(X), self.guess_)


@pytest.fixture(scope="module")
def noise():
    """Forty groups of ten nearly equal rows, with a class that means nothing."""
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(40), 10))
    means = rng.normal(size=(40, 3))
    y = rng.permutation(np.arange(40) % 2)[groups]
    return means[groups] + 0.05 * rng.normal(size=(400, 3)), y, np.array([f"g{g}" for g in groups])


# ------------------------------------------------------------------------------------- paired tests


@pytest.fixture
def losses():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    first, second = rng.random((2, len(groups))) < 0.4 + 0.2 * rng.random(12)[groups]
    return first.astype(float), second.astype(float), groups


def test_t_of_groups_is_that_of_the_ratio_of_their_sums(losses):
    first, second, groups = losses
    found = paired_test(first, second, groups=groups)
    size = np.bincount(groups)
    mean = (first - second).mean()
    beyond = np.bincount(groups, first - second) - mean * size
    own = 1 - size / len(groups)  # a group has a part in the mean
    error = np.sqrt((beyond**2 / own).sum()) / len(groups)
    freedom = len(groups) ** 2 / (size**2).sum() - 1
    assert (found.method, found.n_pairs, found.difference) == ("t", 12, pytest.approx(mean))
    assert found.statistic == pytest.approx(mean / error)
    assert found.p_value == pytest.approx(2 * t.sf(abs(mean / error), freedom))


@pytest.mark.parametrize("method", ["t", "mcnemar", "sign", "permutation"])
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_groups_of_one_row_are_rows(losses, method, alternative):
    first, second, _ = losses
    alone = [f"row {i}" for i in range(len(first))]
    options = {"method": method, "alternative": alternative}
    found = paired_test(first, second, groups=alone, **options)
    assert found.p_value == pytest.approx(paired_test(first, second, **options).p_value)


def test_copies_of_a_row_count_once():
    first, second = np.array([1, 1, 1, 1, 1, 0.0]), np.array([0, 0, 0, 0, 0, 1.0])
    groups = np.repeat(np.arange(6), 20)
    for method in ("t", "mcnemar", "sign", "permutation"):
        once = paired_test(first, second, method=method).p_value
        copied = paired_test(np.repeat(first, 20), np.repeat(second, 20), method=method, groups=groups)
        assert copied.p_value == pytest.approx(once)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": [0, 0, 1, 1], "method": "corrected_t"}, "groups are for rows"),
        ({"groups": [0, 0, 0, 0]}, "all rows are of one group"),
        ({"groups": [0, 0, 1]}, "groups has 3 values for a table of 4 rows"),
        ({"groups": ["a", None, "b", "b"]}, "missing in 1 row"),
    ],
)
def test_groups_that_cannot_be_used_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        paired_test([1, 0, 1, 1], [0, 0, 1, 0], **options)


# ------------------------------------------------------------------------------------------- audits


def test_bootstrap_weighs_groups_by_their_rows():
    rng = np.random.default_rng(2)
    losses, sizes = rng.random((3, 4)), np.array([1.0, 5, 2, 9])
    chosen_losses = []
    for drawn in product(range(4), repeat=4):  # every bootstrap sample, in order
        left = np.setdiff1d(range(4), drawn)
        if len(left):
            means = [np.average(row[list(drawn)], weights=sizes[list(drawn)]) for row in losses]
            chosen_losses.append(np.average(losses[np.argmin(means)][left], weights=sizes[left]))
    assert bootstrap(losses, weights=sizes) == pytest.approx(np.mean(chosen_losses))


def test_groups_are_drawn_by_fold_and_by_class_where_they_have_one():
    unit = np.repeat(np.arange(6), [1, 2, 3, 4, 5, 6])
    fold, y = unit // 3, (unit % 2).astype(int)
    strata = ScoredRows(y, fold, unit).strata(by_class=True)
    assert [len(set(strata[of])) for of in ([0, 2], [1], [3, 5], [4])] == [1] * 4
    assert len(set(strata)) == 4
    counts = draw_counts(strata, 50)
    assert (counts[:, [0, 2]].sum(axis=1) == 2).all()
    assert (counts[:, [1, 4]] == 1).all()
    assert set(counts[:, 0]) == {0, 1, 2}
    y[-1] = 1 - y[-1]  # a group of two classes
    assert ScoredRows(y, fold, unit).strata(by_class=True).tolist() == [0, 0, 0, 1, 1, 1]
    fold[0] = 1  # not the only row of its group there
    assert ScoredRows(y, np.arange(21) % 2, unit).strata(by_class=True).tolist() == [0] * 6


@pytest.mark.parametrize("scoring", [None, "roc_auc"])
def test_an_audit_has_groups_as_units(noise, scoring):
    X, y, groups = noise
    grid = {"max_depth": [1, 3, None]}
    search = GridSearchCV(TREE, grid, cv=GroupKFold(4), scoring=scoring).fit(X, y, groups=groups)
    by_groups = audit_search(search, X, y, groups=groups)
    search.cv = list(GroupKFold(4).split(X, y, groups))
    by_rows = audit_search(search, X, y)
    assert by_groups.naive == by_rows.naive == pytest.approx(search.best_score_)
    assert (by_groups.n_groups, by_rows.n_groups, by_groups.n_samples) == (40, None, 400)
    assert by_groups.high - by_groups.low > 1.5 * (by_rows.high - by_rows.low)
    assert "on new ones of 40 groups" in repr(by_groups)


def test_a_number_of_folds_means_folds_of_groups(noise):
    X, y, groups = noise
    search = GridSearchCV(TREE, {"max_depth": [2, None]}, cv=4).fit(X, y)
    assert search.best_score_ > 0.8  # the rows of a group are alike
    naive = audit_search(search, X, y, groups=groups).naive
    scores = [
        cross_val_score(TREE.set_params(max_depth=depth), X, y, groups=groups, cv=GroupKFold(4)).mean()
        for depth in (2, None)
    ]
    assert naive == pytest.approx(max(scores))
    assert naive < 0.65


def test_groups_say_nothing_of_scores_and_must_stay_together(noise):
    X, y, groups = noise
    with pytest.raises(ValueError, match="give X and y too"):
        audit_search([[0.7, 0.8], [0.6, 0.9]], groups=groups)
    search = GridSearchCV(TREE, {"max_depth": [2]}, cv=list(StratifiedKFold(4).split(X, y))).fit(X, y)
    with pytest.raises(ValueError, match="test on groups that they learned from: give a number of folds"):
        audit_search(search, X, y, groups=groups)


# ---------------------------------------------------------------------------- comparisons, nested


@pytest.mark.parametrize("test", ["corrected_t", "5x2cv_f", "mcnemar"])
def test_a_deep_tree_on_noise_is_as_good_as_a_guess(noise, test):
    X, y, groups = noise
    models = {"tree": TREE, "guess": DummyClassifier(strategy="uniform", random_state=0)}
    by_rows = compare(models, X, y, cv=5, test=test)
    assert by_rows.best == ("tree",)
    found = compare(models, X, y, cv=5, test=test, groups=groups)
    assert (test in found.caution) == (test != "corrected_t")
    assert abs(dict(zip(found.models, found.scores, strict=True))["tree"] - 0.5) < 0.12
    assert set(found.best) == {"tree", "guess"}


def test_tests_that_would_count_rows_again_are_refused(noise):
    X, y, _ = noise
    models = {"tree": TREE, "guess": DummyClassifier()}
    splits = RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)
    for test in ("sign", "mcnemar", "permutation"):
        with pytest.raises(ValueError, match=f"test '{test}' takes rows that are tested again as new"):
            compare(models, X, y, cv=splits, test=test)
    assert compare(models, X, y, cv=splits).n_folds == 4
    scores = np.random.default_rng(0).random((2, 6, 5))
    for method in ("t", "sign", "permutation"):
        with pytest.raises(ValueError, match="repeats of folds are for 'corrected_t'"):
            paired_test(*scores, method=method)
        assert paired_test(*scores[:, :1], method=method).n_pairs == 5


def test_folds_that_split_groups_are_refused(noise):
    X, y, groups = noise
    models = {"tree": TREE, "guess": DummyClassifier()}
    with pytest.raises(ValueError, match="KFold test on groups"), pytest.warns(UserWarning, match="groups"):
        compare(models, X, y, cv=KFold(5, shuffle=True, random_state=0), groups=groups)


@pytest.mark.parametrize("piped", [False, True])
def test_learners_that_take_groups_are_told_them(noise, piped):
    X, y, groups = noise
    model = make_pipeline(StandardScaler(), Told()) if piped else Told()
    Told.seen.clear()
    compare({"told": model, "tree": TREE}, X, y, cv=5, groups=groups)
    grid = {"told__depth" if piped else "depth": [1, 2]}
    nested_cross_validate(model, X, y, param_grid=grid, cv=5, groups=groups)
    nested_cross_validate(model, X, y, cv=5, groups=groups)
    search = GridSearchCV(model, grid, cv=4).fit(X, y)
    n_before = len(Told.seen)
    audit_search(search, X, y, groups=groups)
    assert Told.seen[:n_before].count(None) == 9  # the search itself
    assert set(Told.seen[:n_before]) >= {32, None}  # all groups but eight of forty
    assert Told.seen[n_before:] == [30] * 8


def test_a_search_that_is_compared_chooses_by_groups(noise):
    X, y, groups = noise
    search = GridSearchCV(TREE, {"max_depth": [1, None]}, cv=4)
    found = compare({"search": search, "guess": DummyClassifier()}, X, y, cv=4, groups=groups)
    inner = nested_cross_validate(search, X, y, cv=4, groups=groups)
    assert found.scores[found.models.index("search")] == pytest.approx(inner.mean)


# ------------------------------------------------------------------------------- how often rows are tested


def splits_of(splitter, n_rows=40):
    return list(splitter.split(np.zeros((n_rows, 1))))


@pytest.mark.parametrize(
    ("cv", "n_scores", "n_repeats"),
    [
        (5, 5, 1),
        (5, 30, 6),
        (None, 10, None),
        (object(), 10, None),
        (None, 1, 1),
        (KFold(20), 20, 1),
        (TimeSeriesSplit(12), 12, 1),
        (GroupKFold(12), 12, 1),
        (RepeatedKFold(n_splits=5, n_repeats=6), 30, 6),
        (ShuffleSplit(30, test_size=0.2), 30, 6),
        (ShuffleSplit(30, train_size=0.8), 30, 6),
        (ShuffleSplit(30), 30, 3),
        (GroupShuffleSplit(30), 30, 6),
        (splits_of(RepeatedKFold(n_splits=4, n_repeats=5)), 20, 5),
        (splits_of(KFold(20)), 20, 1),
        (splits_of(TimeSeriesSplit(9)), 9, 1),
        (splits_of(ShuffleSplit(20, test_size=10, random_state=0)), 20, 5),
        (splits_of(ShuffleSplit(1, test_size=10)), 1, 1),
        (splits_of(ShuffleSplit(1, test_size=30)), 1, 1),
        (ShuffleSplit(1, test_size=0.7), 1, 1),
        (LeavePGroupsOut(1), 12, 1),
    ],
)
def test_how_often_rows_are_tested_is_known_from_splitters_and_indices(cv, n_scores, n_repeats):
    assert repeats_of(cv, n_scores) == n_repeats


def test_a_few_scores_of_unknown_splits_are_taken_as_folds_in_so_many_words():
    table = np.random.default_rng(0).random((3, 10))
    sentence = "The 10 scores are taken as those of 10 folds that share no test row: for repeated"
    assert audit_search(table).assumed.startswith(sentence)
    assert sentence in repr(audit_search(table))
    assert audit_search(table, cv=np.int64(10)).assumed == audit_search(table, cv=KFold(10)).assumed == ""
    with_rows = repeats_of(ShuffleSplit(10, test_size=40), 10, n_rows=200)
    assert with_rows == repeats_of(ShuffleSplit(10, test_size=0.2), 10) == 2
    with pytest.raises(ValueError, match="10 scores, of as many folds, or of repeated"):
        audit_search(table, cv=ShuffleSplit(10, test_size=40))


@pytest.mark.parametrize(
    ("cv", "n"), [(7, 7), (0, 0), (KFold(5), 5), (RepeatedKFold(n_splits=5, n_repeats=3), 15), ([], 0)]
)
def test_splitters_that_did_not_make_so_many_scores_are_refused(cv, n):
    with pytest.raises(ValueError, match=f"each configuration has 30 scores, and cv means {n}: give what"):
        audit_search(np.random.default_rng(0).random((3, 30)), cv=cv)


def test_splits_that_came_one_by_one_are_given_again():
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2
    splits = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=0).split(X))
    search = GridSearchCV(TREE, {"max_depth": [1, 2, None]}, cv=iter(splits)).fit(X, y)
    for rows in ((), (X, y)):
        with pytest.raises(ValueError, match="splits of the search came one by one and are used up: give cv"):
            audit_search(search, *rows)
        assert audit_search(search, *rows, cv=iter(splits)) == audit_search(search, *rows, cv=splits)
    assert audit_search(search, cv=splits).corrected == audit_search(search, cv=3).corrected
    assert audit_search(search, X, y, cv=splits).naive == pytest.approx(search.best_score_)


@pytest.mark.parametrize(
    "cv", [None, ShuffleSplit(30, test_size=9), LeavePOut(2), LeavePGroupsOut(2), object()]
)
def test_splits_that_are_not_recognised_are_refused(cv):
    with pytest.raises(
        ValueError, match="each configuration has 30 scores, of as many folds, or of repeated"
    ):
        audit_search(np.random.default_rng(0).random((3, 30)), cv=cv)


PAIRS = [(np.delete(np.arange(8), pair), np.array(pair)) for pair in combinations(range(8), 2)]


@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(10, test_size=0.7),
        ShuffleSplit(3, test_size=0.5),
        ShuffleSplit(10, train_size=0.5),
        splits_of(ShuffleSplit(10, test_size=0.7, random_state=0)),
        splits_of(ShuffleSplit(3, test_size=0.5, random_state=0)),
        PAIRS,
    ],
)
def test_scores_of_splits_that_test_most_rows_again_are_refused(cv):
    n = cv.get_n_splits() if isinstance(cv, ShuffleSplit) else len(cv)
    with pytest.raises(ValueError, match=r"test \d+% of their rows again, .* give X and y"):
        audit_search(np.random.default_rng(0).random((5, n)), cv=cv)


def test_a_number_of_groups_is_no_number_of_rows():
    with pytest.raises(ValueError, match="20 scores, of as many folds, or of repeated"):
        repeats_of(GroupShuffleSplit(20, test_size=2), 20, n_rows=200)


TWINS, FOURS = np.repeat(np.arange(100), 2), np.repeat(np.arange(50), 4)


@pytest.mark.parametrize(
    ("cv", "groups", "is_whole"),
    [
        (KFold(5, shuffle=True, random_state=0), TWINS, False),
        (list(zip([[]] * 2, [np.arange(0, 200, 2), np.arange(1, 200, 2)], strict=True)), TWINS, False),
        (KFold(5, shuffle=True, random_state=0), FOURS, False),
        (list(zip([[]] * 4, [np.arange(k, 200, 4) for k in range(4)], strict=True)), FOURS, False),
        (RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), TWINS, False),
        (GroupKFold(5), TWINS, True),
        (GroupShuffleSplit(30, test_size=0.2, random_state=0), FOURS, True),
        (RepeatedKFold(n_splits=5, n_repeats=2, random_state=0), np.arange(200), True),
        (ShuffleSplit(10, test_size=0.2, random_state=0), np.arange(200), True),
    ],
)
def test_folds_share_a_group_only_where_they_test_its_rows_again(cv, groups, is_whole):
    told = {"groups": groups} if type(cv).__name__.startswith("Group") else {}
    splits = cv if isinstance(cv, list) else list(cv.split(groups[:, None], **told))
    tested = ScoredRows.of_splits(splits, groups % 2, groups)
    if is_whole:
        tested.check_whole()
    else:
        with pytest.raises(ValueError, match="a group is tested in several folds, so that models learned"):
            tested.check_whole()


def test_repeats_are_corrected_one_by_one():
    scores = np.random.default_rng(0).normal(0.7, 0.05, (8, 30))
    found = audit_search(scores, cv=5)
    once = [audit_search(part) for part in np.split(scores, 6, axis=1)]
    assert found.corrected == pytest.approx(np.mean([audit.corrected for audit in once]))
    assert found.naive == pytest.approx(scores.mean(axis=1).max())
    as_folds = audit_search(scores, cv=30)
    assert found.high - found.low > 1.5 * (as_folds.high - as_folds.low)
    repeated = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    X, y = np.random.default_rng(1).normal(size=(60, 3)), np.arange(60) % 2
    search = GridSearchCV(TREE, {"max_depth": [1, 2, None]}, cv=repeated).fit(X, y)
    table = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(12)])
    assert audit_search(search).corrected == audit_search(table, cv=4).corrected
    assert audit_search(search.cv_results_, cv=repeated).corrected == audit_search(search).corrected
