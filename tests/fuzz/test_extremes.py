"""Infinite and extreme numbers: no index out of bounds, and one rule in all learners."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from extremes import INF, LARGEST, N_ROWS, SMALLEST, classes, extreme_column, extreme_tables, learners
from hypothesis import given
from hypothesis import strategies as st

import offsample
from offsample.induction import TreeClassifier
from offsample.induction.tree import columns as _columns
from offsample.induction.tree.columns import bin_edges, codes_of
from offsample.margin import sufficient_columns

HERE = Path(__file__).parent
EXTREME = st.one_of(
    st.sampled_from(
        [INF, -INF, LARGEST, -LARGEST, 1.7e308, SMALLEST, 3 * SMALLEST, 4 * SMALLEST, 0.0, -0.0, np.nan]
    ),
    st.floats(),
)


def each_learner(test):
    return pytest.mark.parametrize("learner", learners(), ids=repr)(test)


def test_every_kernel_stays_within_bounds_on_extreme_tables(pytestconfig):
    source = Path(offsample.__file__).parent
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(source.rglob("*kernels.py")))).hexdigest()
    # Compiled with the checks, and kept for the next run of the same kernels.
    cache = pytestconfig.cache.mkdir(f"numba-boundscheck-{digest[:16]}")
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_OPT": "1", "NUMBA_CACHE_DIR": str(cache)}
    environment["PYTHONPATH"] = os.pathsep.join([str(source.parent), str(HERE)])
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(HERE / "every_kernel.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "all kernels were run" in done.stdout


@given(values=st.lists(EXTREME, max_size=40), others=st.lists(EXTREME, max_size=10))
def test_bins_are_those_of_a_search_and_part_all_values(values, others):
    x = np.array(values, np.float64)
    edges = bin_edges(x)
    assert np.isfinite(edges).all()
    assert (np.diff(edges) > 0).all()
    new = np.append(x, np.array(others, np.float64))
    expected = np.where(np.isnan(new), len(edges) + 1, np.searchsorted(edges, new, side="left"))
    np.testing.assert_array_equal(codes_of(new, edges), expected)
    known = np.unique(np.clip(x[~np.isnan(x)], -LARGEST, LARGEST))
    assert len(edges) == max(len(known) - 1, 0)
    np.testing.assert_array_equal(codes_of(known, edges), np.arange(len(known)))


@given(values=st.lists(EXTREME, min_size=20, max_size=60))
def test_quantile_bins_of_extreme_numbers(values):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_columns, "MAX_EXACT", 6)
        patch.setattr(_columns, "N_BINS", 4)
        x = np.array(values, np.float64)
        edges = bin_edges(x)
    assert np.isfinite(edges).all()
    expected = np.where(np.isnan(x), len(edges) + 1, np.searchsorted(edges, x, side="left"))
    np.testing.assert_array_equal(codes_of(x, edges), expected)


@each_learner
@pytest.mark.parametrize("as_array", [False, True], ids=["frame", "array"])
def test_an_infinite_number_is_beyond_every_other(learner, as_array):
    y = classes()
    random = np.random.default_rng(0)
    x = np.where(y == "a", -1.0, 1.0) + random.normal(size=N_ROWS) / 4
    x[[0, 1]] = -INF, INF  # of class a, of class b
    columns = {"x": x, "noise": random.normal(size=N_ROWS)}

    def table(columns):
        return np.column_stack(list(columns.values())) if as_array else pd.DataFrame(columns)

    learner.fit(table(columns), y)
    if not hasattr(learner, "predict_proba"):
        finite = x[np.isfinite(x)]
        clipped = table({**columns, "x": np.clip(x, finite.min(), finite.max())})
        if hasattr(learner, "feature_weights_"):  # as far as the farthest
            weights = learner.feature_weights_
            np.testing.assert_allclose(learner.fit(clipped, y).feature_weights_, weights, rtol=1e-12)
        assert learner.get_support()[0]
        return
    for infinite, huge in ((INF, 1e300), (-INF, -1e300)):
        found, expected = (
            learner.predict_proba(table({**columns, "x": np.full(N_ROWS, value)}))
            for value in (infinite, huge)
        )
        np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (learner.predict(table(columns)) == y).mean() > 0.9


@pytest.mark.parametrize("n_values", [3, 300], ids=["dense", "sparse"])
@pytest.mark.parametrize("scale", ["standard", "minmax", None])
def test_a_stochastic_tree_with_many_categories_reads_infinite_numbers(n_values, scale):
    y = np.tile(classes(), 10)
    x = np.where(y == "a", -1.0, 1.0)
    x[:4] = -INF, INF, -LARGEST, LARGEST
    city = [f"city {i % n_values}" for i in np.random.default_rng(0).permutation(len(y))]
    tree = offsample.StochasticTreeClassifier(scale=scale, max_splits=3).fit(
        pd.DataFrame({"x": x, "city": city}), y
    )
    new = tree.predict_proba(pd.DataFrame({"x": [-INF, -1e300, 1e300, INF], "city": city[:4]}))
    assert np.isfinite(new).all()
    np.testing.assert_allclose(new[[0, 3]], new[[1, 2]], atol=1e-9)


@pytest.mark.parametrize("infinity", [INF, -INF])
@pytest.mark.parametrize("scale", ["standard", "minmax", None])
@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
def test_a_class_whose_numbers_are_all_infinite_is_told_apart(kind, scale, infinity):
    random = np.random.default_rng(0)
    y = np.tile(classes(), 10)
    finite = random.normal(size=len(y)) if scale is None else random.choice([100.0, 100.5, 101.0], len(y))
    x = np.where(y == "a", finite, infinity)
    beside = (
        [f"city {i % 300}" for i in random.permutation(len(y))]
        if kind == "sparse"
        else random.normal(size=len(y))
    )
    table = pd.DataFrame({"x": x, "beside": beside})
    table = table if kind == "sparse" else table.to_numpy(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = offsample.StochasticTreeClassifier(scale=scale).fit(table, y)
        assert (tree.predict(table) == y).mean() >= (1.0 if scale == "standard" else 0.9)
    assert np.isfinite(tree.predict_proba(table)).all()


def test_a_few_infinite_numbers_leave_the_other_columns_of_their_rows_their_say():
    random = np.random.default_rng(0)
    y = np.tile(classes(), 5)
    useless = np.where(random.random(len(y)) < 0.3, INF, random.normal(size=len(y)))
    X = np.column_stack([useless, np.where(y == "a", -1.0, 1.0) + random.normal(size=len(y)) / 3])
    assert offsample.StochasticTreeClassifier().fit(X, y).score(X, y) > 0.97


def test_a_class_whose_numbers_are_infinite_beside_the_largest_floats():
    y = np.tile(classes(), 5)
    X = np.where(y == "a", np.random.default_rng(0).uniform(-LARGEST / 2, LARGEST / 2, len(y)) * 2, INF)[
        :, None
    ]
    for scale in ("standard", "minmax", None):
        tree = offsample.StochasticTreeClassifier(scale=scale).fit(X, y)
        assert np.isfinite(tree.predict_proba(X)).all()
    assert offsample.StochasticTreeClassifier().fit(X, y).score(X, y) > 0.7


def test_learners_that_take_numbers_as_they_are_refuse_infinite_ones_by_name():
    X, y = pd.DataFrame({"age": np.arange(60.0), "pay": np.arange(60.0) % 7}), classes()
    fitted = offsample.BoostedPerceptronClassifier(n_estimators=5).fit(X, y)
    for value, shown in ((INF, "inf"), (-INF, "-inf"), (np.nan, "NaN")):
        bad = X.assign(pay=np.where(X.index == 3, value, X["pay"]))
        message = f"column 'pay' has {shown} in row 3: BoostedPerceptronClassifier takes finite numbers only"
        for call in (fitted.predict, lambda table: fitted.fit(table, y)):
            with pytest.raises(ValueError, match=message):
                call(bad)
    with pytest.raises(ValueError, match="column 'x1' has inf in row 3"):
        fitted.fit(np.column_stack([X["age"], np.where(X.index == 3, INF, 1.0)]), y)
    for selector in (offsample.Relief(scale=None), offsample.Simba(scale=None), offsample.GFlip(scale=None)):
        with pytest.raises(
            ValueError, match="column 'age' has inf in row 3: expected finite numbers where nothing"
        ):
            selector.fit(X.assign(age=np.where(X.index == 3, INF, 1.0)), y)


@pytest.mark.parametrize("size", [1.7e308, LARGEST, 1e200, 1e-200, 1e-315])
def test_boosting_does_not_depend_on_the_unit(size):
    random = np.random.default_rng(0)
    X, y = random.uniform(-1, 1, size=(80, 2)), np.tile([0, 1], 40)
    X[:, 0] = np.abs(X[:, 0]) * np.where(y, 1, -1)
    found = offsample.BoostedPerceptronClassifier(n_estimators=10).fit(X * size, y)
    assert found.score(X * size, y) == offsample.BoostedPerceptronClassifier(n_estimators=10).fit(X, y).score(
        X, y
    )
    assert np.isfinite(found.predict_proba(np.array([[LARGEST, -LARGEST], [SMALLEST, 0.0]]))).all()
    constant = np.column_stack([X[:, 0], np.full(80, size)])
    assert offsample.BoostedPerceptronClassifier(n_estimators=10).fit(constant, y).score(constant, y) == 1.0


@pytest.mark.parametrize("name", list(extreme_tables()))
def test_a_report_of_extreme_numbers(name):
    table = {**extreme_tables()[name], "y": classes()}
    found = offsample.report(table, "y", fast=True)
    assert np.isfinite(found.verdict.error)
    assert found._repr_html_()
    assert len(sufficient_columns(extreme_tables()[name], classes(), n_folds=2, n_resamples=2).columns) == 3


def test_thresholds_beside_infinite_numbers_are_finite():
    tree = TreeClassifier(stopping="none").fit({"x": extreme_column([-INF, INF])}, classes())
    assert np.isfinite(tree.tree_.threshold[0])
    rules = offsample.DecisionListClassifier().fit({"x": extreme_column([1.0, INF])}, classes())
    assert "x = inf" in rules.to_text()
    assert (rules.predict({"x": extreme_column([1.0, INF])}) == classes()).all()


@each_learner
@pytest.mark.parametrize("label", [INF, 1e300, -LARGEST])
def test_numbers_that_are_no_classes_are_refused_without_a_warning(learner, label):
    table = {"x": np.arange(40.0)}
    if isinstance(learner, offsample.FeatureRanker):  # which takes numbers as well
        with pytest.raises(ValueError, match=r"has the value inf: .* finite|squares cannot be added up"):
            learner.fit(table, [label, 0.5] * 20)
        learner = offsample.FeatureRanker(task="classification")
    if isinstance(learner, offsample.Relief):  # so does Relief, and only their differences count
        if np.isinf(label):
            with pytest.raises(ValueError, match="expected finite"):
                learner.fit(table, [label, 0.5] * 20)
        else:
            assert np.isfinite(learner.fit(table, [label, 0.5] * 20).feature_weights_).all()
        return
    with pytest.raises(ValueError, match=r"infinity|continuous"):
        learner.fit(table, [label, 0.5] * 20)
