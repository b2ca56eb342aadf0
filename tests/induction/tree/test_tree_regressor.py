"""Regression trees: their splits, sizes and errors."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import offsample
from offsample import TreeRegressor
from offsample._text import digits
from offsample.induction.tree.kernels import count_rows, list_thresholds
from offsample.induction.tree.left_out import left_out_distances, without_groups
from offsample.induction.tree.numbers import (
    NumberScoring,
    Validated,
    root_p_value,
    shrunk_means,
    squares,
)


@parametrize_with_checks([TreeRegressor(max_splits=20)])
def test_scikit_learn(estimator, check):
    check(estimator)


def sums_of(y):
    return np.array([len(y), np.sum(y), np.sum(np.square(y))])


def left_out(children, parent, power):
    """Losses of the rows of some children, each predicted from the others there, or by the parent's mean."""
    total = 0.0
    for child, y in enumerate(children):
        for i, one in enumerate(y):
            rest, is_alone = np.delete(y, i), len(y) == 1
            if is_alone:
                rest = np.concatenate([parent_y for j, parent_y in enumerate(children) if j != child])
            by_one = power == 1 and not is_alone
            total += ((one - rest) ** 2).mean() / 2 if by_one else (one - rest.mean()) ** 2
    return total


@pytest.mark.parametrize(("criterion", "power"), [("ginger", 1), ("squared_error_loo", 2)])
def test_gains_equal_leaving_each_row_out(criterion, power):
    rng, scoring = np.random.default_rng(0), NumberScoring.of(criterion)
    for _ in range(30):
        children = [rng.normal(size=n) for n in rng.integers(1, 6, 2)]
        whole = np.concatenate(children)
        if len(whole) < 3:
            continue
        parent, stats = sums_of(whole), np.array([sums_of(y) for y in children])
        expected = left_out([whole], parent, power) - left_out(children, parent, power)
        assert scoring.gain(stats, parent) == pytest.approx(expected)
        assert scoring.gains(stats[:1], parent)[0] == pytest.approx(expected)


def test_a_row_far_away_gains_nothing_by_being_alone():
    """That split costs the variance of the others over their number, however far away the row is."""
    rng, scoring = np.random.default_rng(12), NumberScoring.of("ginger")
    for far in (0.0, 3.0, 1e3):
        others = rng.normal(size=8)
        parent, alone = sums_of(np.append(others, far)), sums_of(np.array([far]))
        gain = scoring.gains(alone[None], parent)[0]
        assert gain == pytest.approx(scoring.gain(np.array([alone, parent - alone]), parent))
        assert gain == pytest.approx(-others.var(ddof=1) / 8, rel=1e-6)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 2))
        y = np.exp(X[:, 0] + 1.5 * rng.normal(size=200))
        tree = TreeRegressor(stopping="none", max_splits=12).fit(X, y)
        assert tree.n_splits_ == 12
        assert tree.tree_.counts[tree.tree_.is_leaf, 0].min() > 1


def test_kernels_equal_sums_over_rows():
    rng = np.random.default_rng(1)
    n = 200
    codes, y = rng.integers(0, 6, n).astype(np.uint8), rng.normal(size=n)
    rows = np.flatnonzero(rng.random(n) < 0.7).astype(np.int32)
    sums = np.column_stack([np.ones(n), y, y**2])
    histogram = np.zeros((7, 3))
    count_rows(codes, rows, sums[rows], histogram)
    for code in range(6):
        assert histogram[code] == pytest.approx(sums_of(y[rows][codes[rows] == code]))
    histogram[6], histogram[5] = histogram[5], 0.0  # code 5 stands for missing numbers
    total = sums[rows].sum(axis=0)
    places, left = np.empty((3, 14), int), np.empty((15, 3))
    n_found = list_thresholds(histogram, np.array([0, 7]), total, (10, 1), (places, left))
    column, place, goes_left = places[:, :n_found]
    found = {(int(b), bool(m)): stats for b, m, stats in zip(place, goes_left, left, strict=False)}
    expected = {}
    for b, missing in itertools.product(range(5), (False, True)):
        mask = (codes[rows] <= b) | (missing & (codes[rows] == 5))
        if 10 <= mask.sum() <= len(rows) - 10:
            expected[b, missing] = sums_of(y[rows][mask])
    assert set(found) == set(expected)
    assert not column.any()
    for key, stats in expected.items():
        assert found[key] == pytest.approx(stats)


def test_shrunk_means_that_have_not_seen_a_row():
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=n) for n in (4, 3, 1)]  # the leaves 2, 3 and 4; node 1 holds the last two
    nodes = [np.concatenate(rows), np.concatenate(rows[1:]), *rows]
    parent = np.array([-1, 0, 0, 1, 1], np.int32)
    stats = np.array([sums_of(y) for y in nodes])
    for weight in (0.0, 2.0):
        for node, way in ((2, (0, 2)), (3, (0, 1, 3)), (4, (0, 1, 4))):
            total = 0.0
            for one in nodes[node]:
                value = 0.0
                for step in way:
                    rest = [y for y in nodes[step] if y != one]
                    if step == 0:
                        value = np.mean(rest)
                    elif len(rest) + weight > 0:
                        value = (np.sum(rest) + weight * value) / (len(rest) + weight)
                total += (one - value) ** 2
            leaf, y = np.full(len(nodes[node]), node), np.array(nodes[node], float)
            off = left_out_distances(stats, parent, leaf, y, weight, None, None)
            assert (off**2).sum() == pytest.approx(total)
    assert shrunk_means(stats, parent, np.array([0.0]))[2:, 0] == pytest.approx([y.mean() for y in rows])
    assert squares(stats) == pytest.approx([len(y) * y.var() for y in nodes])


def test_shrunk_means_that_have_not_seen_a_group():
    rng = np.random.default_rng(7)
    n = 60
    parent = np.array([-1, 0, 0, 1, 1], np.int32)  # leaves at two depths
    leaf, group, y = rng.choice([2, 3, 4], n), rng.integers(0, 9, n), rng.normal(size=n)
    leaf[group == 8] = 4
    group[leaf == 4] = 8  # so that leaf 4 is of one group
    ways = {2: (0, 2), 3: (0, 1, 3), 4: (0, 1, 4)}
    rows = {node: np.array([node in ways[one] for one in leaf]) for node in range(5)}
    stats = np.array([sums_of(y[rows[node]]) for node in range(5)])
    for weight in (0.0, 2.0):
        found = without_groups(stats, parent, leaf, y, group, weight)
        for i in range(n):
            value = 0.0
            for step in ways[leaf[i]]:
                rest, w = y[rows[step] & (group != group[i])], weight if step else 0.0
                if len(rest) + w > 0:
                    value = (rest.sum() + w * value) / (len(rest) + w)
            assert found[i] == pytest.approx(value)


def test_without_a_signal_the_error_is_that_of_new_groups():
    rng = np.random.default_rng(8)
    group = np.repeat(np.arange(6), 10)
    y = rng.normal(size=6)[group] + 0.1 * rng.normal(size=60)
    tree = TreeRegressor().fit(rng.normal(size=(60, 2)), y, groups=group)
    blind = [(y[i] - y[group != group[i]].mean()) ** 2 for i in range(60)]
    assert (tree.n_splits_, tree.estimated_error_) == (0, pytest.approx(np.mean(blind)))
    assert tree.path_[0].estimated_error == pytest.approx(np.mean(blind))


def test_intervals_of_predictions_by_hand():
    rng = np.random.default_rng(9)
    X = {"c": ["a"] * 60 + ["b"] * 12, "x": rng.normal(size=72)}
    y = np.concatenate([rng.normal(size=60), 100 + 5 * rng.normal(size=12)])
    tree = TreeRegressor(shrinkage=None, max_splits=1, stopping="none").fit(X, y)
    a, b = ([(one[i] - np.delete(one, i).mean()) for i in range(len(one))] for one in (y[:60], y[60:]))
    a, b = np.sort(a), np.sort(b)
    ends = tree.predict_interval({"c": ["a", "b", "never"], "x": [0.0] * 3}, 0.9)
    # The ranks 0.05 * 61 of 60 rows from both ends: the third. Of 20 that are needed, 8 are made up.
    assert ends[0] == pytest.approx(y[:60].mean() + a[[2, 57]])
    mixed = sorted([(one, 1.0) for one in b] + [(one, 8 / 60) for one in a])
    total = np.cumsum([weight for _, weight in mixed])
    at = int(np.flatnonzero(total >= 0.95 * 21 - 1e-9)[0]) if total[-1] >= 0.95 * 21 else -1
    assert ends[1, 1] == pytest.approx(y[60:].mean() + mixed[at][0])
    # A value that was not seen is predicted by all rows, and they are as far from that as they are.
    low, high = ends[2]
    away = np.sort(np.concatenate([y[:60].mean() + a, y[60:].mean() + b]))
    assert (low, high) == pytest.approx((away[2], away[69]))  # rank 0.05 * 73, rounded down
    with pytest.raises(ValueError, match=r"confidence must be above 0 and below 1, got 1\.5"):
        tree.predict_interval(X, 1.5)


def test_large_leaves_keep_ranks():
    y = np.random.default_rng(10).exponential(size=30_000)
    tree = TreeRegressor(max_splits=0).fit(np.zeros((30_000, 1)), y)
    assert len(tree._residuals.distance) == 1000
    low, high = tree.predict_interval([[0.0]], 0.9)[0]
    assert np.mean(y < low) == pytest.approx(0.05, abs=0.001)  # a rank stands for 30 rows
    assert np.mean(y > high) == pytest.approx(0.05, abs=0.001)


@pytest.fixture(scope="module")
def houses():
    rng = np.random.default_rng(3)
    n = 500
    frame = pd.DataFrame({
        "area": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(20, 200, n)),
        "city": pd.Series(rng.choice(list("abcdefgh"), n)).where(rng.random(n) > 0.05),
        "street": [f"s{i}" for i in rng.integers(0, 150, n)],
        "noise": rng.normal(size=n),
    })  # fmt: skip
    effect = dict(zip("abcdefgh", rng.normal(size=8) * 3, strict=True))
    price = np.where(frame["area"] > 100, 10.0, 0.0) + frame["city"].map(effect).fillna(6.0)
    return frame, 1e5 + 1e4 * (price + rng.normal(size=n)).to_numpy()


def test_a_table_as_it_is(houses):
    frame, y = houses
    tree = TreeRegressor(random_state=0).fit(frame, y)
    assert set(tree.used_columns_[:2]) == {"area", "city"}
    assert tree.size_ == tree.tree_.n_leaves == tree.stage_sizes_[-1]
    assert tree.n_splits_ == tree.path_.n_splits
    low, high = tree.estimated_error_interval_
    assert low < tree.estimated_error_ < high
    assert tree.estimated_error_ < 0.2 * y.var()
    assert tree.path_[0].training_error == pytest.approx(y.var())
    assert tree.path_[tree.n_splits_].estimated_error <= tree.estimated_error_
    lines = tree.to_text().splitlines()
    assert lines[0] == "all rows: 500 rows"
    assert len(lines) == tree.tree_.n_nodes
    assert " ± " in lines[-1]
    root = tree.to_dict()
    assert root["n_samples"] == 500
    assert root["prediction"] == pytest.approx(y.mean())
    assert sum(child["n_samples"] for child in root["children"]) == 500
    assert tree.predict(frame).tolist() == tree.staged_predict(frame)[-1].tolist()
    assert tree.staged_predict(frame, [0])[0] == pytest.approx(y.mean())
    new = frame.iloc[:2].assign(city=["elsewhere", None])
    assert np.isfinite(tree.predict(new)).all()
    leaf = TreeRegressor(shrinkage=None, stopping="none", max_splits=3).fit(frame[["area"]], y)
    node = leaf.apply(frame[["area"]])
    for one in np.unique(node):
        assert leaf.predict(frame[["area"]])[node == one] == pytest.approx(y[node == one].mean())


def test_libraries_weights_and_units_of_the_target(houses):
    frame, y = houses
    expected = TreeRegressor(max_splits=10).fit(frame, y)
    pl = pytest.importorskip("polars")
    assert TreeRegressor(max_splits=10).fit(pl.from_pandas(frame), y).to_text() == expected.to_text()
    fixed = {"max_splits": 4, "stopping": "none"}
    table = frame[["area", "noise"]]
    near, far = (TreeRegressor(**fixed).fit(table, offset + y) for offset in (0.0, 1e9))
    assert far.predict(table) - 1e9 == pytest.approx(near.predict(table), rel=1e-9)
    assert far.estimated_error_ == pytest.approx(near.estimated_error_, rel=1e-9)
    times = np.random.default_rng(4).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted = TreeRegressor(max_splits=9).fit(table, y, sample_weight=times)
    repeated = TreeRegressor(max_splits=9).fit(table.iloc[again], y[again])
    assert weighted.predict(table) == pytest.approx(repeated.predict(frame[["area", "noise"]]))
    whole = np.rint(y)  # so that other units of it are exact
    one, *others = (TreeRegressor(max_splits=9).fit(table, of) for of in (whole, 1024 * whole, whole + 256))
    for other, back in zip(others, (lambda p: p / 1024, lambda p: p - 256), strict=True):
        assert back(other.predict(table)) == pytest.approx(one.predict(table), rel=1e-9)
    with pytest.raises(ValueError, match="whole numbers"):
        TreeRegressor().fit(frame, y, sample_weight=times + 0.5)
    for bad in ({"criterion": "gini"}, {"max_size": 0}, {"stopping": "holdout"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            TreeRegressor(**bad).fit(frame, y)


def test_pipelines_searches_and_limits(houses):
    frame, y = houses
    table = frame[["area", "noise"]]
    search = GridSearchCV(TreeRegressor(), {"max_splits": [0, 3]}, cv=2).fit(table, y)
    assert search.best_params_ == {"max_splits": 3}
    chosen = make_column_transformer(("passthrough", ["area"])).set_output(transform="pandas")
    assert cross_val_score(make_pipeline(chosen, TreeRegressor(max_splits=3)), table, y, cv=2).min() > 0.2
    assert clone(TreeRegressor(max_size=2)).fit(frame, y).size_ == 2
    assert TreeRegressor(max_depth=1, stopping="none").fit(frame, y).tree_.depth.max() == 1
    leaves = TreeRegressor(min_samples_leaf=40, stopping="none").fit(table, y).tree_
    assert leaves.counts[leaves.is_leaf, 0].min() >= 40
    assert offsample.induction.TreeRegressor is TreeRegressor


def test_it_is_drawn_and_classifiers_point_to_it(houses):
    from offsample.plotting import plot_tree

    frame, y = houses
    tree = TreeRegressor(max_splits=2).fit(frame, y)
    drawn = [text.get_text() for text in plot_tree(tree).texts]
    assert len(drawn) == tree.tree_.n_nodes
    assert sum(" ± " in text for text in drawn) == tree.size_
    leaf = tree.apply(frame)
    for node in np.unique(leaf):  # the standard deviation of its numbers, wherever it is written
        spread = f" ± {digits(y[leaf == node].std())}"
        assert sum(line.endswith(spread) for line in tree.to_text().splitlines()) == 1
        assert sum(text.endswith(f" ± {digits(y[leaf == node].std(), 3)}") for text in drawn) == 1
    with pytest.raises(ValueError, match="Of a number, TreeRegressor learns"):
        offsample.TreeClassifier().fit(frame, y)


def test_groups_and_metadata_routing():
    from sklearn import config_context

    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(20), 15)
    trait = rng.normal(size=20)[person]
    X = pd.DataFrame({"trait": trait, "x": rng.normal(size=300)})
    y = 5 * rng.normal(size=20)[person] + 2 * (X["x"] > 0) + 0.1 * rng.normal(size=300)
    rows, groups = TreeRegressor().fit(X, y), TreeRegressor().fit(X, y, groups=person)
    assert rows.used_columns_[0] == "trait"  # it says who it is
    assert groups.estimated_error_ > 3 * rows.estimated_error_
    assert groups.estimated_error_ > 0.8 * y.var()
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(TreeRegressor().set_fit_request(groups=True)).fit(X, y, groups=person)
    assert model[-1].estimated_error_ == groups.estimated_error_


@pytest.mark.parametrize("law", ["log-normal", "many zeros"])
def test_noise_is_not_split(law):
    n_split = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        m = 50
        y = rng.lognormal(0, 1.5, m)
        y = np.where(rng.random(m) < 0.8, 0.0, y) if law == "many zeros" else y
        X = pd.DataFrame(rng.normal(size=(m, 4))).assign(key=rng.integers(0, 20, m).astype(str))
        X.columns = [str(name) for name in X.columns]
        n_split += TreeRegressor().fit(X, y).n_splits_ > 0
    assert n_split <= 1


def test_an_interaction_that_no_column_shows_alone():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 3))
    y = np.where((X[:, 0] > 0) ^ (X[:, 1] > 0), 5.0, 0.0) + rng.normal(size=400)
    tree = TreeRegressor().fit(X, y)
    # Which pair it is, and where it is cut, is found by the test of pairs: few leaves, and hardly more than
    # the variance of the noise, 1, on new rows.
    assert tree.size_ <= 10
    new = rng.normal(size=(5000, 3))
    off = tree.predict(new) - np.where((new[:, 0] > 0) ^ (new[:, 1] > 0), 5.0, 0.0)
    error = 1 + float((off**2).mean())
    assert error < 1.8
    assert tree.estimated_error_interval_[0] < error < tree.estimated_error_interval_[1]


def test_folds_that_miss_what_the_tree_has_found_lower_the_interval():
    rng = np.random.default_rng(8)
    folds, losses = np.arange(300) % 10, rng.chisquare(1, 300)
    alike = Validated(4, 0.0, np.ones(5), losses, losses.mean(), None, 10, False, folds)
    missed = np.where(folds == 3, 10 * losses, losses)
    unlike = replace(alike, losses=missed, error=missed.mean())
    for one in (alike, unlike):
        plain = replace(one, folds=None).interval(None, 1.0)
        assert one.interval(None, 1.0)[1] == plain[1]
        assert one.interval(None, 1.0)[0] <= plain[0]
    assert replace(unlike, folds=None).interval(None, 1.0)[0] > 1.0  # the error of the nine others
    assert unlike.interval(None, 1.0)[0] < 0.9
    assert alike.interval(None, 1.0)[0] > 0.9 * replace(alike, folds=None).interval(None, 1.0)[0]


def test_tests_of_columns_need_no_law_of_the_target():
    from offsample.induction.tree.columns import Columns
    from offsample.tables import TableEncoder

    rng = np.random.default_rng(7)
    p_values = []
    for _ in range(200):
        X = {"a": rng.normal(size=80), "b": rng.integers(0, 9, 80).astype(str)}
        columns = Columns.from_encoded(TableEncoder("infer").fit_transform(X))
        p_values.append(root_p_value(columns, np.argsort(rng.normal(size=80)).astype(float), None))
    assert np.mean(np.array(p_values) <= 0.05) <= 0.07
