import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample.margin import GFlip, Relief, Simba

SELECTORS = [Relief(random_state=0), Simba(random_state=0), GFlip(random_state=0)]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


@parametrize_with_checks(
    [
        Relief(),
        Relief(n_neighbors=3, n_features_to_select=1, scale="standard"),
        Simba(n_restarts=2),
        Simba(n_features_to_select=0.5, batch_size=4, utility="sigmoid", scale=None),
        GFlip(n_restarts=2),
        GFlip(utility="sigmoid", max_rows=20),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    plan = np.where(rng.random(150) < 0.9, np.array(["basic", "plus"])[y], "other")
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=150),
            "plan": plan,
            "calls": 3 * y + rng.normal(size=150),
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], 150)),
        }
    )
    frame.loc[::11, "calls"] = np.nan
    return frame, np.where(y, "yes", "no")


@each_selector
def test_tables_of_any_kind(selector, table):
    X, y = table
    selector = clone(selector)
    if not isinstance(selector, GFlip):
        selector.set_params(n_features_to_select=2)
    selector.fit(X, y)
    assert "plan" in selector.get_feature_names_out()
    assert "noise" not in selector.get_feature_names_out()
    assert selector.transform(X).dtypes.equals(X.dtypes[selector.get_support()])
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        other = clone(selector).fit(frame, y)
        assert type(other.transform(frame)) is type(frame)
        np.testing.assert_allclose(other.feature_weights_, selector.feature_weights_)
    mixed = clone(selector).fit(X.astype(object).to_numpy(), y)
    np.testing.assert_allclose(mixed.feature_weights_, selector.feature_weights_)
    assert isinstance(clone(selector).set_output(transform="polars").fit_transform(X, y), pl.DataFrame)


@each_selector
def test_numbers_read_as_categories(selector):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 100)
    X = np.column_stack([10 * rng.integers(0, 3, 100) + y * 5, rng.normal(size=100)])
    declared = [clone(selector).set_params(categorical_features=c).fit(X, y) for c in (["x0"], [True, False])]
    as_text = pd.DataFrame({"x0": [f"level {x:g}" for x in X[:, 0]], "x1": X[:, 1]})
    text = clone(selector).fit(as_text, y)
    for fitted in declared:
        np.testing.assert_allclose(fitted.feature_weights_, text.feature_weights_)


@each_selector
def test_same_answer_on_any_number_of_threads(selector):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(400, 8)), rng.integers(0, 3, 400)
    X[:, 0] += y
    one, two = (clone(selector).set_params(n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.feature_weights_.tolist() == two.feature_weights_.tolist()
    assert one.score_ == two.score_
    assert [h.tolist() for h in one.history_] == [h.tolist() for h in two.history_]


@each_selector
def test_in_a_pipeline_and_a_search(selector):
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (150, 8))
    y = np.where(X[:, 2] * X[:, 5] > 0, "even", "odd")
    name = type(selector).__name__.lower()
    selector = clone(selector)
    if not isinstance(selector, GFlip):
        selector.set_params(n_features_to_select=2)
    pipeline = make_pipeline(selector, KNeighborsClassifier(1))
    search = GridSearchCV(pipeline, {f"{name}__scale": ["minmax", None]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.best_estimator_[0].get_support(indices=True).tolist() == [2, 5]
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.predict(X).tolist() == search.predict(X).tolist()


@pytest.mark.parametrize("make", [Relief, Simba])
def test_how_many(make):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 10))
    X[:, :2] += 4 * y[:, None]
    for wanted, n in [("auto", None), (3, 3), (np.int64(3), 3), (0.5, 5), (0.01, 1), (1.0, 10), (10, 10)]:
        fitted = make(n_features_to_select=wanted, random_state=0).fit(X, y)
        assert fitted.get_support().sum() == fitted.n_features_ == (n or fitted.n_features_)
        assert fitted.ranking_[fitted.get_support()].max() == fitted.n_features_
    for wanted in (0, 11, 1.5, -0.1, "best"):
        with pytest.raises(ValueError, match="n_features_to_select must be 'auto', an integer from 1 to 10"):
            make(n_features_to_select=wanted).fit(X, y)


@pytest.mark.parametrize("selector", [Relief(), Relief(n_neighbors=10), Simba(n_restarts=1, random_state=0)])
def test_auto_is_what_new_rows_need(selector):
    # Two features of forty count.
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, (250, 40))
    y = X[:, 3] + X[:, 8] > 0
    assert 2 <= clone(selector).fit(X, y).n_features_ <= 4
    assert {3, 8} <= set(clone(selector).fit(X, y).get_support(indices=True))
    numbers = X[:, 3] + X[:, 8]
    if isinstance(selector, Relief):
        assert clone(selector).fit(X, numbers).get_support(indices=True).tolist() == [3, 8]


@pytest.mark.parametrize("make", [Relief, Simba])
def test_threshold(make):
    X = np.random.default_rng(1).uniform(-1, 1, (80, 5))
    y = X[:, 0] > 0
    fitted = make(threshold=0.02, random_state=0).fit(X, y)
    assert fitted.support_.tolist() == (fitted.feature_weights_ > 0.02).tolist()
    assert make(threshold=9.0, random_state=0).fit(X, y).n_features_ == 0
    with pytest.raises(ValueError, match="expected one of the two"):
        make(threshold=0.1, n_features_to_select=2).fit(X, y)


@each_selector
def test_weighted_columns_have_the_distances_of_the_weights(selector):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 4)) * [1, 10, 100, 0.1]
    y = X[:, 1] + X[:, 0] * 10 > 0
    fitted = clone(selector).fit(X, y)
    Z = fitted.transform(X, weighted=True)
    kept = fitted.get_support()
    roots = np.sqrt(np.maximum(fitted.feature_weights_[kept], 0))
    gaps = (X[:, None] - X)[:, :, kept] / np.ptp(X, axis=0)[kept] * roots
    np.testing.assert_allclose(
        np.linalg.norm(Z[:, None] - Z, axis=2), np.linalg.norm(gaps, axis=2), atol=1e-12
    )
    np.testing.assert_array_equal(fitted.transform(X), X[:, kept])
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = clone(selector).set_output(transform="pandas").fit(frame, y).transform(frame, weighted=True)
    assert list(named.columns) == [name for name, used in zip("abcd", kept, strict=True) if used]


def test_categories_are_not_weighted():
    frame = pd.DataFrame({"a": list("uvuvuvuv"), "b": np.arange(8.0)})
    relief = Relief(n_features_to_select=2).fit(frame, [0, 1] * 4)
    with pytest.raises(ValueError, match="column 'a' has categories: only numbers can be weighted"):
        relief.transform(frame, weighted=True)


@each_selector
def test_progress(selector, capsys):
    X = np.random.default_rng(5).normal(size=(30, 3))
    clone(selector).set_params(verbose=1).fit(X, X[:, 0] > 0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"[{type(selector).__name__}] ")


@each_selector
@pytest.mark.parametrize(
    ("X", "y", "n_selected"),
    [
        pytest.param([[0.0, 1.0], [1.0, 1.0]], [0, 1], 1, id="two rows of two classes"),
        pytest.param(np.ones((6, 2)), [0, 1] * 3, 1, id="constant columns"),
        pytest.param(np.repeat([[0.0, 0.0], [1.0, 0.0]], 3, axis=0), [0, 0, 0, 1, 1, 1], 1, id="duplicates"),
        pytest.param(np.repeat([[0.0, 0.0], [1.0, 0.0]], 4, axis=0), [0, 1] * 4, 1, id="contradictions"),
        pytest.param(np.eye(5), [0, 1, 2, 3, 4], 1, id="classes of one row"),
        pytest.param(
            [[np.nan, 1.0], [np.nan, 2.0], [np.nan, 7.0], [np.nan, 9.0]], [0, 0, 1, 1], 1, id="empty"
        ),
        pytest.param(np.random.default_rng(0).normal(size=(6, 50)), [0, 0, 0, 1, 1, 1], 1, id="d > m"),
    ],
)
def test_odd_samples(selector, X, y, n_selected):
    fitted = clone(selector).fit(X, y)
    assert np.isfinite(fitted.feature_weights_).all()
    assert np.isfinite(fitted.score_)
    if not isinstance(selector, GFlip):  # which may select nothing
        assert fitted.get_support().sum() >= n_selected


@each_selector
@pytest.mark.parametrize(
    ("y", "message"),
    [
        pytest.param(["yes"] * 150, "y has one class only, 'yes': expected at least two", id="one class"),
        pytest.param(None, "requires y to be passed", id="none"),
        pytest.param(
            np.linspace(0, 1, 150), "Unknown label type: continuous", id="numbers that are no classes"
        ),
        pytest.param(["a"] * 3 + [None] + ["a"] * 146, "y is missing in row 3", id="missing in a row"),
        pytest.param(["a", "b"] * 74 + ["a"], "inconsistent numbers of samples", id="one too few"),
    ],
)
def test_classes_that_cannot_be_told_apart_are_refused(selector, table, y, message):
    if isinstance(selector, Relief) and "continuous" in message:
        assert clone(selector).fit(table[0], y).n_features_ >= 1  # which takes numbers
        return
    with pytest.raises(ValueError, match=message):
        clone(selector).fit(table[0], y)


@each_selector
def test_infinite_numbers_that_are_not_scaled_are_refused_by_column_and_row(selector, table):
    X, y = table
    X = X.assign(noise=[np.inf if i == 4 else 0.0 for i in range(len(X))])
    with pytest.raises(ValueError, match="column 'noise' has inf in row 4: expected finite numbers"):
        clone(selector).set_params(scale=None).fit(X, y)


@each_selector
def test_a_column_renamed_since_the_fit_is_refused(selector, table):
    X, y = table
    with pytest.raises(ValueError, match="feature names should match"):
        clone(selector).fit(X, y).transform(X.rename(columns={"plan": "tariff"}))


@each_selector
def test_an_unknown_scale_is_refused(selector, table):
    with pytest.raises(ValueError, match="scale must be one of"):
        clone(selector).set_params(scale="max").fit(*table)


def test_import_loads_nothing_heavy():
    code = (
        "import sys, offsample.margin; "
        "print([m for m in ('numba', 'pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.skipif(sklearn.__version__ < "1.7", reason="asking for the kind of a target warned before")
def test_many_classes_of_few_rows_are_no_reason_to_warn():
    # Warnings are errors here: a part of a sample may have more classes than half of its rows.
    classes = np.arange(30) % 18
    rng = np.random.default_rng(0)
    assert Relief().fit(rng.normal(size=(30, 2)), classes).n_features_in_ == 2
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        Simba().fit(rng.normal(size=(30, 2)), rng.normal(size=30))
