import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample import FeatureRanker, rank_features
from offsample.datasets import make_customers

SIGNALS = ["plan", "tenure_months", "support_calls", "city", "age", "exit_survey_sent"]


@parametrize_with_checks(
    [
        FeatureRanker(),
        FeatureRanker(n_features_to_select=1, criterion="bayes_loo"),
        FeatureRanker(n_features_to_select=0.5, order="lower_bound", numeric=8),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside


@pytest.fixture(scope="module")
def customers():
    table = pd.DataFrame(make_customers(3000, random_state=1))
    return table.drop(columns="churned"), table["churned"]


def test_selects_the_significant_columns_of_any_type(customers):
    X, y = customers
    ranker = FeatureRanker().fit(X, y)
    assert sorted(ranker.get_feature_names_out()) == sorted(SIGNALS)
    assert ranker.n_features_ == 6
    assert ranker.classes_.tolist() == ["no", "yes"]
    assert ranker.ranking_.features == rank_features(X.assign(churned=y), "churned").features
    assert ranker.scores_.tolist() == [ranker.ranking_[name].score for name in X.columns]


@pytest.mark.parametrize(
    ("wanted", "n_kept"), [(None, 6), ("auto", 6), (3, 3), (0.5, 6), (0.01, 1), (11, 11)]
)
def test_how_many(customers, wanted, n_kept):
    X, y = customers
    kept = FeatureRanker(n_features_to_select=wanted).fit(X, y)
    assert kept.get_support().sum() == n_kept
    first = {f.name for f in kept.ranking_.features[:n_kept]}
    assert set(X.columns[kept.get_support()]) == first


@pytest.mark.parametrize("wanted", [0, 12, 1.5, -0.1, "best"])
def test_not_so_many(customers, wanted):
    with pytest.raises(ValueError, match="n_features_to_select must be 'auto', an integer from 1 to 11"):
        FeatureRanker(n_features_to_select=wanted).fit(*customers)


def test_keeps_one_column_where_nothing_has_a_signal():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(100, 5)), rng.integers(0, 2, 100)
    assert FeatureRanker().fit(X, y).get_support().sum() == 1


def test_dataframes_keep_their_types(customers):
    X, y = customers
    ranker = FeatureRanker(n_features_to_select=4).fit(X, y)
    kept = ranker.transform(X)
    assert kept.dtypes.equals(X.dtypes[ranker.get_support()])
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        other = FeatureRanker(n_features_to_select=4).fit(frame, y)
        assert type(other.transform(frame)) is type(frame)
        assert other.get_support().tolist() == ranker.get_support().tolist()
    polars_out = clone(ranker).set_output(transform="polars").fit(X, y).transform(X)
    assert isinstance(polars_out, pl.DataFrame)


def test_categorical_features(customers):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 400, 5000)
    y = rng.random(5000) < rng.random(400)[code]
    X = np.column_stack([rng.permutation(400)[code] * 1000.5, rng.normal(size=5000)])
    for declared in ("all", ["x0"], [True, False], np.array([True, False])):
        ranker = FeatureRanker(categorical_features=declared).fit(X, y)
        assert ranker.ranking_["x0"].kind == "categorical"
        assert ranker.ranking_["x0"].n_cells == 400
    with pytest.raises(ValueError, match=r"mask of shape \(3,\): expected one entry for each of 2 columns"):
        FeatureRanker(categorical_features=[True, False, True]).fit(X, y)


def test_in_a_pipeline_and_a_search(customers):
    X, y = customers
    pipeline = make_pipeline(
        FeatureRanker().set_output(transform="pandas"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=5),
        LogisticRegression(max_iter=2000),
    )
    columns = ["customer_id", "plan", "exit_survey_sent", "favourite_colour"]
    search = GridSearchCV(pipeline, {"featureranker__n_features_to_select": [1, 2]}, cv=3)
    search.fit(X[columns].astype(str), y)
    assert search.best_score_ > 0.95
    assert "customer_id" not in search.best_estimator_[0].get_feature_names_out()


def test_pickles(customers):
    X, y = customers
    ranker = FeatureRanker().fit(X, y)
    again = pickle.loads(pickle.dumps(ranker))
    assert again.get_support().tolist() == ranker.get_support().tolist()
    assert again.ranking_ == ranker.ranking_


@pytest.mark.parametrize(
    ("y", "message"),
    [
        pytest.param(None, "requires y to be passed", id="none"),
        pytest.param(
            np.linspace(0, 1, 5), "Unknown label type: continuous", id="numbers that are no classes"
        ),
    ],
)
def test_a_target_without_classes_is_refused(y, message):
    with pytest.raises(ValueError, match=message):
        FeatureRanker(task="classification").fit(pd.DataFrame({"x": list("ababa")}), y)


def test_a_column_renamed_since_the_fit_is_refused():
    X = pd.DataFrame({"plan": list("abab")})
    ranker = FeatureRanker().fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.transform(X.rename(columns={"plan": "tariff"}))


def test_an_unknown_criterion_is_refused():
    with pytest.raises(ValueError, match="criterion must be one of"):
        FeatureRanker(criterion="gingre").fit([[0], [1]], [0, 1])


def test_columns_are_ranked_for_new_groups_in_a_pipeline_and_a_search():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(40), 20)
    y = random.integers(0, 2, 40)[groups]
    X = np.column_stack([random.normal(size=40)[groups], np.where(random.random(800) < 0.2, 1 - y, y)])
    assert FeatureRanker(n_features_to_select=1).fit(X, y).get_support().tolist() == [True, False]
    ranker = FeatureRanker(n_features_to_select=1).fit(X, y, groups=groups)
    assert ranker.get_support().tolist() == [False, True]
    assert ranker.ranking_.new_rows == "rows with a new group"
    weighted = FeatureRanker().fit(X, y, sample_weight=np.full(800, 2), groups=groups)
    assert weighted.scores_ == pytest.approx(FeatureRanker().fit(X, y, groups=groups).scores_)
    with config_context(enable_metadata_routing=True):
        step = FeatureRanker(n_features_to_select=1).set_fit_request(groups=True)
        pipe = make_pipeline(step, LogisticRegression())
        search = GridSearchCV(pipe, {"featureranker__n_features_to_select": [1, 2]}, cv=GroupKFold(4))
        search.fit(X, y, groups=groups)
        assert (
            cross_validate(pipe, X, y, cv=GroupKFold(4), params={"groups": groups})["test_score"].min() > 0.6
        )
    assert search.best_estimator_[0].get_support()[1]
    with pytest.raises(ValueError, match="inconsistent"):
        FeatureRanker().fit(X, y, groups=groups[:-1])


def test_groups_that_cross_may_be_an_array_or_pairs():
    random = np.random.default_rng(2)
    X, y = random.integers(0, 3, (300, 2)), random.integers(0, 2, 300)
    user, item = random.integers(0, 20, 300), random.choice(list("abcdefghijkl"), 300)
    expected = [f.error for f in rank_features(X, y, group=[user, item])]
    codes = np.column_stack([user, np.unique(item, return_inverse=True)[1]])
    for groups in (codes, list(zip(user, item, strict=True)), list(map(list, codes)), (user, item)):
        found = FeatureRanker().fit(X, y, groups=groups)
        assert [f.error for f in found.ranking_] == expected
        assert [f.error for f in rank_features(X, y, group=groups)] == expected
