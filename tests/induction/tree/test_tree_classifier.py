import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from offsample.induction import TreeClassifier
from offsample.induction.tree.flat import FlatTree


@pytest.fixture
def mixed():
    """Strings, categories and numbers with missing values; two columns and their interaction matter."""
    rng = np.random.default_rng(1)
    n = 1500
    city = rng.choice(["Bonn", "Oslo", "Rome", "Riga"], n).astype(object)
    age = rng.normal(40, 10, n).round(1)
    p = np.where(city == "Rome", 0.85, np.where((city == "Oslo") & (age > 40), 0.7, 0.15))
    y = np.where(rng.random(n) < p, "yes", "no")
    city[rng.random(n) < 0.05] = None
    age[rng.random(n) < 0.05] = np.nan
    return {"city": city, "plan": rng.choice(["a", "b", "c"], n).astype(object), "age": age}, y


def frames(columns):
    clean = {name: pl.Series(name, list(values), strict=False) for name, values in columns.items()}
    polars = pl.DataFrame(clean).with_columns(pl.col("age").fill_nan(None))
    pandas = pd.DataFrame(columns)
    array = np.empty((len(pandas), len(columns)), object)
    for j, values in enumerate(columns.values()):
        array[:, j] = values
    return {
        "pandas": pandas,
        "pandas categories": pandas.astype({"city": "category", "plan": "category"}),
        "polars": polars,
        "pyarrow": polars.to_arrow(),
        "array": array,
    }


def test_the_same_tree_from_every_kind_of_table(mixed):
    columns, y = mixed
    trees = {name: TreeClassifier().fit(table, y) for name, table in frames(columns).items()}
    reference = trees["pandas"]
    assert reference.n_splits_ >= 3
    for name, table in frames(columns).items():
        tree = trees[name]
        np.testing.assert_array_equal(tree.tree_.feature, reference.tree_.feature)
        np.testing.assert_array_equal(tree.tree_.counts, reference.tree_.counts)
        np.testing.assert_allclose(
            tree.predict_proba(table), reference.predict_proba(frames(columns)["pandas"])
        )
        if name != "array":
            assert tree.to_dict() == reference.to_dict()


def test_training_rows_end_where_they_were_counted(mixed):
    columns, y = mixed
    table = pd.DataFrame(columns)
    for stopping in ("auto", "none"):
        tree = TreeClassifier(categorical_split="multiway", stopping=stopping, max_splits=12, shrinkage=None)
        tree.fit(table, y)
        node = tree.apply(table)
        for leaf in np.flatnonzero(tree.tree_.is_leaf):
            counted = [np.sum((node == leaf) & (y == k)) for k in tree.classes_]
            np.testing.assert_array_equal(tree.tree_.counts[leaf], counted)
        assert tree.path_[tree.n_splits_].training_error == pytest.approx(1 - tree.score(table, y))
        path = tree.decision_path(table)
        assert path.shape == (len(y), tree.tree_.n_nodes)
        np.testing.assert_array_equal(np.asarray(path.sum(axis=1)).ravel(), tree.tree_.depth[node] + 1)
        np.testing.assert_array_equal(path[np.arange(len(y)), node], np.ones((1, len(y))))


def test_shapes_and_text(mixed):
    columns, y = mixed
    tree = TreeClassifier().fit(pd.DataFrame(columns), y)
    frame = tree.path_.to_frame()
    assert list(frame.columns)[:5] == [
        "n_splits",
        "feature",
        "criterion",
        "training_error",
        "estimated_error",
    ]
    assert len(frame) == len(tree.path_) > tree.n_splits_
    low, high = tree.estimated_error_interval_
    assert low <= tree.estimated_error_ <= high
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert tree.feature_importances_[1] == 0
    text = tree.export_text()
    assert "city" in text
    assert text.splitlines()[0] == "all rows: 1500 rows"
    plain = tree.to_dict()
    assert plain["n_samples"] == 1500
    assert plain["feature"] in columns
    assert "kept" in repr(tree.path_)


def test_pipeline_search_and_pickle(mixed):
    columns, y = mixed
    table = pd.DataFrame(columns)
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), TreeClassifier()),
        {"treeclassifier__criterion": ["ginger", "gini"], "treeclassifier__max_splits": [1, 4]},
        cv=2,
    ).fit(table, y)
    assert search.best_score_ > 0.7
    tree = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(tree.predict(table), search.predict(table))


@pytest.mark.parametrize("columns", ["numbers", "all"])
def test_leaf_errors_are_honest_numbers(mixed, columns):
    """Each a share, and together what is expected of the tree."""
    table, y = pd.DataFrame(mixed[0]), mixed[1]
    if columns == "numbers":
        table = table[["age"]]
    for options in ({}, {"stopping": "none"}, {"criterion": "gini", "shrinkage": None}, {"max_splits": 0}):
        tree = TreeClassifier(**options).fit(table.assign(id=np.arange(len(y)).astype(str)), y)
        errors = tree.tree_.estimated_error
        assert errors.min() >= 0
        assert errors.max() <= 1
        leaf = tree.tree_.is_leaf
        mean = np.average(errors[leaf], weights=tree.tree_.counts[leaf].sum(axis=1))
        assert mean == pytest.approx(tree.estimated_error_)


def test_set_output_is_for_transformers_and_frames_in_are_fine(mixed):
    columns, y = mixed
    assert not hasattr(TreeClassifier(), "set_output")
    for output, table in (("pandas", pd.DataFrame(columns)), ("polars", frames(columns)["polars"])):
        keep = make_column_transformer(("passthrough", list(columns)), verbose_feature_names_out=False)
        pipe = make_pipeline(keep, TreeClassifier()).set_output(transform=output).fit(table, y)
        assert pipe[-1].feature_names_in_.tolist() == list(columns)
        assert isinstance(pipe.predict(table), np.ndarray)


def test_a_dict_of_columns_is_a_table(mixed):
    columns, y = mixed
    one, other = TreeClassifier().fit(columns, y), TreeClassifier().fit(pd.DataFrame(columns), y)
    assert one.to_dict() == other.to_dict()
    assert one.feature_names_in_.tolist() == list(columns)
    np.testing.assert_array_equal(one.predict(columns), other.predict(pd.DataFrame(columns)))
    with pytest.raises(ValueError, match="feature 'city' is not a column"):
        one.predict({name: columns[name] for name in ("plan", "age")})
    with pytest.raises(ValueError, match="inconsistent"):
        TreeClassifier().fit({**columns, "age": columns["age"][:-1]}, y)


def test_rows_side_by_side_find_the_leaves_that_they_find_alone():
    rng = np.random.default_rng(0)
    for n in (1, 15, 16, 17, 400):
        X = rng.normal(size=(n, 4)).round(1)
        X[rng.random(X.shape) < 0.2] = np.nan
        X[rng.random(X.shape) < 0.05] = np.inf
        tree = TreeClassifier(stopping="none", max_splits=20).fit(
            np.where(np.isinf(X), 9, X), rng.integers(0, 3, n)
        )
        for row, found in zip(X, tree.tree_.find(X), strict=True):
            node, flat = 0, tree.tree_
            while flat.feature[node] >= 0:
                x = row[flat.feature[node]]
                left = flat.missing_left[node] if np.isnan(x) else x <= flat.threshold[node]
                node = flat.first_child[node] + (not left)
            assert node == found


def test_shown_values_are_those_that_can_come():
    rng = np.random.default_rng(0)
    code = rng.integers(0, 40, 6000)
    y = rng.random(6000) < 1 / (1 + np.exp(-np.linspace(-3, 3, 40)[code]))
    tree = TreeClassifier(categorical_split="ordered").fit({"c": code.astype(str)}, y).to_dict()

    def below(node):
        for child in node.get("children", ()):
            assert set(child["values"]) <= set(node.get("values", child["values"]))
            below(child)

    assert "children" in tree["children"][0]
    below(tree)


def test_sample_weights_are_frequencies(mixed):
    columns, y = mixed
    table = pd.DataFrame(columns)
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    options = {"categorical_split": "multiway"}
    weighted = TreeClassifier(**options).fit(table, y, sample_weight=weight)
    index = np.repeat(np.arange(len(y)), weight)
    repeated = TreeClassifier(**options).fit(table.iloc[index], y[index])
    np.testing.assert_allclose(weighted.predict_proba(table), repeated.predict_proba(table))


def test_unseen_values_stop_at_the_node_or_are_uniform():
    table = pd.DataFrame({"c": ["a", "b", "c", "d"] * 50})
    y = np.array(["yes", "no", "no", "no"] * 50)
    new = pd.DataFrame({"c": ["z", None, "a"]})
    tree = TreeClassifier(categorical_split="multiway").fit(table, y)
    np.testing.assert_allclose(tree.predict_proba(new)[:2], [[0.75, 0.25]] * 2)
    assert tree.apply(new)[0] == 0
    uniform = TreeClassifier(categorical_split="multiway", unseen="uniform").fit(table, y)
    np.testing.assert_allclose(uniform.predict_proba(new)[:2], 0.5)
    assert uniform.predict(new)[2] == "yes"


def test_missing_numbers_go_to_the_better_side():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = (X[:, 0] > 0).astype(int)
    X[(y == 1) & (rng.random(400) < 0.3), 0] = np.nan
    tree = TreeClassifier().fit(X, y)
    assert tree.predict([[np.nan, 0.0], [-1.0, 0.0]]).tolist() == [1, 0]
    only_missing = TreeClassifier().fit(np.where(y[:, None] == 1, np.nan, 1.0), y)
    assert only_missing.predict([[np.nan], [7.0]]).tolist() == [1, 0]


def test_constant_target_and_more_classes_than_rows():
    X = np.arange(6.0)[:, None]
    constant = TreeClassifier().fit(X, ["a"] * 6)
    assert constant.predict([[3.0]]).tolist() == ["a"]
    assert constant.predict_proba([[3.0]]).tolist() == [[1.0]]
    assert constant.estimated_error_ == 0
    assert TreeClassifier(criterion="gini").fit(X, list("abcdef")).score(X, list("abcdef")) == 1
    assert TreeClassifier().fit(X, list("abcdef")).n_splits_ == 0


def test_all_missing_column_is_never_used():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    table = pd.DataFrame(
        {"gone": np.full(200, np.nan), "none": [None] * 200, "signal": y + rng.normal(size=200)}
    )
    tree = TreeClassifier().fit(table, y)
    assert tree.feature_importances_.tolist() == [0, 0, 1]


def test_tables_and_options_that_do_not_fit_are_refused_by_name(mixed):
    columns, y = mixed
    table = pd.DataFrame(columns)
    tree = TreeClassifier().fit(table, y)
    with pytest.raises(ValueError, match="city"):
        tree.predict(table.drop(columns="city"))
    with pytest.raises(ValueError, match=r"column 'city' is numeric here, such as 1\.5, but was categorical"):
        tree.predict(table.assign(city=1.5))
    with pytest.warns(UserWarning, match=r"column 'age': .* cannot be read as numbers, as they were at fit"):
        tree.predict(table.assign(age="old"))
    nested = pl.DataFrame({"a": [[1], [2]]})
    with pytest.raises(ValueError, match="'a'"):
        TreeClassifier().fit(nested, [0, 1])
    for options in (
        {"criterion": "ginni"},
        {"stopping": "soon"},
        {"unseen": "x"},
        {"max_splits": -1},
        {"min_samples_leaf": 0},
        {"categorical_features": ["nowhere"]},
    ):
        with pytest.raises(ValueError, match=next(iter(options)).split("_")[0]):
            TreeClassifier(**options).fit(table, y)
    with pytest.raises(ValueError, match="whole numbers"):
        TreeClassifier().fit(table, y, sample_weight=np.full(len(y), 0.5))


def test_imports_are_lazy():
    import subprocess
    import sys

    heavy = ("numba", "pandas", "sklearn")
    code = f"import sys, offsample.induction; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_array_and_arrow_are_read():
    table = pa.table({"a": ["x", "y"] * 30, "b": [1, 2, 3] * 20})
    tree = TreeClassifier().fit(table, ["u", "v"] * 30)
    assert tree.score(table, ["u", "v"] * 30) == 1


@pytest.mark.parametrize("n_classes", [2, 4])
def test_leaves_of_values_that_behave_alike_are_one(n_classes, monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": rng.integers(0, 60, 1500).astype(str), "x": rng.normal(size=1500)})
    y = (X["c"].astype(int) + (rng.random(1500) < 0.3) * rng.integers(0, 9, 1500)).to_numpy() % n_classes
    y[X["x"] > 1] = 0
    options = {"categorical_split": "multiway", "stopping": "significance", "min_samples_leaf": 2}
    tree = TreeClassifier(**options).fit(X, y)
    monkeypatch.setattr(FlatTree, "with_joined_leaves", lambda self, gain: self)
    apart = TreeClassifier(**options).fit(X, y)
    assert tree.size_ < apart.size_ / 2
    stages = range(tree.n_splits_ + 1)
    assert len(tree.stage_sizes_) == len(apart.stage_sizes_) == len(stages) > 2
    np.testing.assert_array_equal(tree.staged_predict(X, stages), apart.staged_predict(X, stages))
    assert tree.estimated_error_ == apart.estimated_error_
    node, flat = tree.apply(X), tree.tree_
    np.testing.assert_array_equal(flat.counts[flat.is_leaf].sum(axis=0), np.bincount(y))
    for leaf in np.unique(node):
        np.testing.assert_array_equal(flat.counts[leaf], np.bincount(y[node == leaf], minlength=n_classes))
        of_parts, here = apart.apply(X)[node == leaf], apart.predict_proba(X)[node == leaf]
        np.testing.assert_allclose(tree.predict_proba(X)[node == leaf][0], here.mean(axis=0))

        def errors(rows):  # of guessing each row by another one of its leaf
            return sum((rows != one).sum() for one in rows) / (len(rows) - 1)

        parts = [y[node == leaf][of_parts == part] for part in np.unique(of_parts)]
        assert errors(np.concatenate(parts)) <= sum(map(errors, parts)) + 1e-9
    assert " in {" in tree.export_text()


@pytest.mark.parametrize("options", [{}, {"unseen": "uniform"}, {"categorical_split": "multiway"}])
@pytest.mark.parametrize("seed", range(5))
def test_without_idle_splits_predicts_the_same_with_no_fewer_leaves_possible(seed, options):
    rng = np.random.default_rng(seed)
    a, c = rng.normal(size=600), rng.choice(list("abcdefgh"), 600)
    a[rng.random(600) < 0.1] = np.nan
    y = rng.random(600) < 1 / (1 + np.exp(1.5 - 2 * np.nan_to_num(a) - 1.5 * (c > "d")))
    X = {"a": a, "c": c.astype(object)}
    tree = TreeClassifier(stopping="none", max_splits=15, random_state=0, **options).fit(X, y)
    found = tree.without_idle_splits()
    new = {"a": rng.normal(size=900), "c": rng.choice(list("abcdefgh??"), 900).astype(object)}
    for rows in (X, new):
        np.testing.assert_array_equal(found.predict(rows), tree.predict(rows))

    def leaves(node):
        """Twin: leaves below a node of the whole tree, once what predicts one class is one leaf."""
        predictions, todo = set(), [node]
        while todo:
            one = todo.pop()
            inner = "children" in one
            uniform = inner and options.get("unseen") == "uniform"
            predictions.add(tree.classes_[0] if uniform else one["prediction"])
            todo += one.get("children", [])
        if predictions == {node["prediction"]}:
            return 1
        return sum(map(leaves, node["children"]))

    assert found.size_ == leaves(tree.to_dict()) < tree.size_
    flat = found.tree_
    rows = flat.counts[flat.is_leaf].sum(axis=1)
    assert np.average(flat.estimated_error[flat.is_leaf], weights=rows) == pytest.approx(
        tree.estimated_error_
    )
    assert set(found.used_columns_) <= set(tree.used_columns_)


def test_of_a_tree_for_a_loss_splits_go_that_change_no_probability():
    """What is left of a split that chance alone explains is nothing: its leaves would all say the same."""
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 6))
    y = random.random(1500) < 0.02 + 0.08 * (X[:, 0] > 0.5)
    tree = TreeClassifier(criterion="log_loss_loo", stopping="none", max_splits=11).fit(X, y)
    found, new = tree.without_idle_splits(), random.normal(size=(500, 6))
    np.testing.assert_allclose(found.predict_proba(new), tree.predict_proba(new), atol=1e-12)
    assert found.size_ < tree.size_ == tree.stage_sizes_[-1]
    assert found.size_ == tree.shown_sizes_[-1]
    flat = found.tree_
    for node in np.flatnonzero(~flat.is_leaf):  # twin: below every split something differs
        below = [flat.value[leaf, 1] for leaf in np.flatnonzero(flat.is_leaf) if _is_below(flat, leaf, node)]
        assert np.ptp(below) > 0


def _is_below(flat, node, other):
    while node > other:
        node = flat.parent[node]
    return node == other


@pytest.mark.parametrize("stopping", ["auto", "none"])
@pytest.mark.parametrize("categorical_split", ["ordered", "multiway"])
def test_max_size_is_the_number_of_leaves(stopping, categorical_split):
    rng = np.random.default_rng(0)
    X = {"c": rng.choice(list("abcde"), 3000).astype(object), "n": rng.normal(size=3000)}
    y = rng.random(3000) < (0.1 + 0.15 * (X["c"] > "b") + 0.3 * (X["n"] > 0) + 0.3 * (X["n"] > 1))
    options = {"stopping": stopping, "categorical_split": categorical_split, "random_state": 0}
    whole = TreeClassifier(max_splits=20, **options).fit(X, y)
    assert whole.size_ == whole.stage_sizes_[-1]
    for max_size in range(1, 12):
        tree = TreeClassifier(max_size=max_size, **options).fit(X, y)
        assert tree.size_ <= max_size
        if categorical_split == "ordered":  # two branches each: as many splits as leaves but one
            same = TreeClassifier(max_splits=max_size - 1, **options).fit(X, y)
            assert tree.to_text() == same.to_text()
            assert tree.estimated_error_ == same.estimated_error_
        elif stopping == "none":  # instead of a split that makes too many, others are made that do not
            n = sum(size <= max_size for size in whole.stage_sizes_) - 1
            assert tree.size_ == max_size
            np.testing.assert_array_equal(tree.staged_predict(X, [n]), whole.staged_predict(X, [n]))
    with pytest.raises(ValueError, match="max_size must be at least 1, got 0"):
        TreeClassifier(max_size=0).fit(X, y)


@pytest.mark.parametrize("seed", [2, 3, 8, 11])
def test_no_branch_is_without_values(seed):
    """An order of values that rows of other folds made may be cut where no value of a new row is beyond."""
    random = np.random.default_rng(seed)
    n_people, n_rows = int(random.choice([8, 30, 60, 200])), int(random.choice([200, 600, 1500]))
    who = random.integers(0, n_people, n_rows)
    y = random.random(n_rows) < random.beta(0.5, 0.5, n_people)[who]
    tree = TreeClassifier(stopping="none", max_splits=12, categorical_split="ordered")
    tree.fit({"patient": who.astype(str), "x": random.normal(size=n_rows)}, y)
    assert tree.n_splits_ == 12
    assert "patient in {" in tree.export_text()
    assert "{}" not in tree.export_text()
