import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_regressor
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from offsample import ExpectedErrorSearch, TreeClassifier
from offsample._text import digits
from offsample.expected_error import _fallbacks
from offsample.expected_error._fallbacks import cross_validation_of_paths, path_predictions
from papers.expected_error._languages import BooleanFunctions


@parametrize_with_checks(
    [
        ExpectedErrorSearch(TreeClassifier(), {"max_splits": [1, 4]}),
        ExpectedErrorSearch(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 4]}, cv=2),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)  # asserts inside


class TableOfMajorities(ClassifierMixin, BaseEstimator):
    """Fewest errors of all functions of the first bits."""

    def __init__(self, n_attributes=1):
        self.n_attributes = n_attributes

    def _cells(self, X):
        return (np.asarray(X)[:, : self.n_attributes] > 0) @ (1 << np.arange(self.n_attributes))

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_features_in_ = np.asarray(X).shape[1]
        votes = np.zeros((2**self.n_attributes, len(self.classes_)))
        np.add.at(votes, (self._cells(X), codes), 1)
        votes += np.random.default_rng(0).random(votes.shape) * 0.1  # ties at random
        self.table_ = votes.argmax(axis=1)
        return self

    def predict(self, X):
        return self.classes_[self.table_[self._cells(X)]]


def bits(n_rows, seed=0, noise=0.0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, 7))
    target = np.array([0, 1, 1, 1, 1, 0, 0, 0])
    y = target[X[:, :3] @ [1, 2, 4]] ^ (rng.random(n_rows) < noise)
    return X, y


def boolean_search(**options):
    candidates = [({"n_attributes": i}, BooleanFunctions(i)) for i in range(1, 7)]
    return ExpectedErrorSearch(TableOfMajorities(), candidates, error_minimizing=True, **options)


def test_finds_the_relevant_bits_by_forecast():
    X, y = bits(100)
    search = boolean_search().fit(X, y)
    assert search.method_ == "forecast"
    assert search.fallback_reasons_ == ()
    assert search.best_params_ == {"n_attributes": 3}
    fresh, truth = bits(4000, seed=1)
    assert (search.predict(fresh) == truth).mean() > 0.99
    frame = search.to_frame()
    assert list(frame["n_attributes"]) == [1, 2, 3, 4, 5, 6]
    assert (frame["low"] <= frame["error"]).all()


def test_few_rows_fall_back_to_leave_one_out_and_say_so():
    X, y = bits(40)
    search = boolean_search().fit(X, y)
    assert search.method_ == "leave-one-out"
    assert "fewer than 50" in search.fallback_reasons_[0]
    # the literal leave-one-out error of the table of the first three bits, ties a coin toss
    cells = X[:, :3] @ [1, 2, 4]
    wrong = 0.0
    for i in range(len(y)):
        others = (cells == cells[i]) & (np.arange(len(y)) != i)
        same, other = (y[others] == y[i]).sum(), (y[others] != y[i]).sum()
        wrong += 1.0 if same < other else 0.5 if same == other else 0.0
    assert search.forecast_[2].error == pytest.approx(wrong / len(y), abs=1e-12)


def test_noisy_labels_are_noticed():
    X, y = bits(400, noise=0.25)
    search = boolean_search().fit(X, y)
    assert search.method_ == "leave-one-out"
    assert "noisy" in search.fallback_reasons_[-1]


def test_greedy_learner_falls_back_to_its_growth_path():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = (X[:, 0] > 0) ^ (rng.random(500) < 0.1)
    grid = {"max_splits": [0, 1, 2, 30]}
    stops = ExpectedErrorSearch(TreeClassifier(), grid).fit(X, y)
    assert stops.method_ == "estimate of the growth path"
    assert stops.best_params_ == {"max_splits": 1}
    # 2 and 30 stop at the same tree: a tie, and the simpler is taken
    assert stops.forecast_[1].error == stops.forecast_[3].error
    grows = ExpectedErrorSearch(TreeClassifier(stopping="none"), grid, random_state=0).fit(X, y)
    assert grows.method_ == "5-fold cross-validation of the growth path"
    assert grows.best_params_ == {"max_splits": 1}
    assert grows.statement_.endswith(
        "Cross-validation chose it, not the expected error analysis: TreeClassifier does not minimise its "
        "errors on the sample."
    )
    assert stops.statement_.startswith(
        f"max_splits=1 should be wrong on {stops.best_error_:.1%} of new rows ("
    )
    assert "The estimate of the growth path chose it, not" in stops.statement_
    assert grows.forecast_[3].error > grows.forecast_[1].error


@pytest.mark.parametrize("stopping", ["none", "significance"])
def test_a_path_predicts_like_the_smaller_trees(stopping):
    """Where kinds of trees compete ("auto"), that of a smaller size may be of another kind."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame(
        {"a": rng.normal(size=300), "b": rng.choice(list("uvwxyz"), 300), "c": rng.normal(size=300)}
    )
    y = np.where((X["a"] > 0) & X["b"].isin(list("uv")), "p", np.where(X["c"] > 1, "q", "r"))
    sizes = [0, 1, 2, 5, 20]
    tree = TreeClassifier(stopping=stopping, max_splits=20, shrinkage=None).fit(X, y)
    for size, predicted in zip(sizes, path_predictions(tree, sizes, X), strict=True):
        smaller = TreeClassifier(stopping=stopping, max_splits=size, shrinkage=None).fit(X, y)
        assert (predicted == smaller.predict(X)).all()


def test_forecast_of_trees_on_request():
    X, y = bits(200)
    search = ExpectedErrorSearch(
        TreeClassifier(stopping="none"), {"max_splits": [1, 7]}, method="forecast", n_draws=50
    ).fit(X, y)
    assert search.method_ == "forecast"
    assert search.forecast_[0].log_size < search.forecast_[1].log_size
    assert any("left tail" in warning for warning in search.forecast_[1].warnings)


def test_one_standard_error_takes_a_simpler_candidate():
    X, y = bits(60, noise=0.2)
    plain = boolean_search(method="leave_one_out").fit(X, y)
    careful = boolean_search(method="leave_one_out", one_standard_error=True).fit(X, y)
    assert careful.best_index_ <= plain.best_index_
    best = plain.forecast_[plain.best_index_]
    within = [f.error <= best.error + best.standard_error for f in plain.forecast_]
    assert careful.best_index_ == within.index(True)


def test_in_a_pipeline_and_cross_validated():
    X, y = bits(150)
    model = make_pipeline(
        StandardScaler(), ExpectedErrorSearch(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3)
    )
    scores = cross_val_score(model, X, y, cv=3)
    assert len(scores) == 3
    fitted = clone(model).fit(X, y)
    assert fitted[-1].method_ == "3-fold cross-validation"
    assert fitted.predict_proba(X).shape == (150, 2)


def test_same_seed_same_answer():
    X, y = bits(120)
    runs = [
        ExpectedErrorSearch(TreeClassifier(stopping="none"), {"max_splits": [1, 3, 9]}, random_state=3)
        .fit(X, y)
        .to_frame()
        for _ in range(2)
    ]
    assert runs[0].equals(runs[1])


@pytest.mark.parametrize(
    ("search", "message"),
    [
        pytest.param(
            ExpectedErrorSearch(PCA(), {"copy": [True]}),
            "estimator must be a classifier or a regressor, got PCA",
            id="neither",
        ),
        pytest.param(
            ExpectedErrorSearch(LinearRegression(), {"copy_X": [True]}, method="forecast"),
            "counts mistakes about classes, and the target is a number",
            id="regression",
        ),
        pytest.param(
            ExpectedErrorSearch(TreeClassifier(), [({"max_splits": 1}, "trees")]),
            "unknown language 'trees'",
            id="unknown language",
        ),
        pytest.param(ExpectedErrorSearch(TreeClassifier(), []), "candidates is empty", id="no candidate"),
        pytest.param(
            ExpectedErrorSearch(TreeClassifier(), {"max_splits": [1]}, method="best"),
            "method must be one of 'auto'",
            id="unknown method",
        ),
        pytest.param(
            ExpectedErrorSearch(TreeClassifier(), {"max_splits": [1]}, n_draws=0),
            "n_draws must be at least 1",
            id="no draw",
        ),
        pytest.param(
            ExpectedErrorSearch(LogisticRegression(), {"C": [1.0]}, method="forecast"),
            "the hypothesis language of LogisticRegression is unknown",
            id="language of the estimator unknown",
        ),
    ],
)
def test_candidates_that_cannot_be_forecast_are_refused_with_the_reason(search, message):
    X, y = bits(60)
    with pytest.raises(ValueError, match=message):
        search.fit(X, y)


def test_sizes_that_the_first_fold_rules_out_are_not_grown_again():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    y = (X[:, 0] > 0) ^ (rng.random(6000) < 0.2)
    tree, sizes = TreeClassifier(stopping="none", random_state=0), [0, 1, 4, 500]
    found = cross_validation_of_paths(tree, sizes, X, y, 3, 0)
    errors = np.empty((4, 3))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        for row, size in enumerate(sizes):
            model = clone(tree).set_params(max_splits=size).fit(X[train], y[train])
            errors[row, fold] = (model.predict(X[test]) != y[test]).mean()
    # 500 splits learn the noise; none at all is as hopeless, but costs nothing
    assert [estimate.error for estimate in found[:3]] == pytest.approx(errors[:3].mean(axis=1))
    assert found[3].error == pytest.approx(errors[3, 0])
    assert found[3].standard_error > found[2].standard_error


def test_folds_end_when_enough_rows_are_tested(monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 0) ^ (rng.random(600) < 0.2)
    tree = TreeClassifier(stopping="none")
    whole = cross_validation_of_paths(tree, [0, 1, 4], X, y, 3, 0)
    monkeypatch.setattr(_fallbacks, "_ENOUGH_TESTED", 399)
    some = cross_validation_of_paths(tree, [0, 1, 4], X, y, 3, 0)
    assert some[2].kind == "3-fold cross-validation of the growth path (2 of 3 folds)"
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))[:2]
    tree.set_params(max_splits=4)
    wrong = np.concatenate([tree.fit(X[a], y[a]).predict(X[b]) != y[b] for a, b in folds])
    assert some[2].error == pytest.approx(wrong.mean())
    assert some[2].standard_error > whole[2].standard_error


def test_a_dict_of_columns_is_a_table():
    rng = np.random.default_rng(0)
    table = {"a": rng.choice(["x", "y", "z"], 300), "b": rng.normal(size=300)}
    y = (table["a"] == "x") & (table["b"] > 0)
    tree, grid = TreeClassifier(stopping="none"), {"max_splits": [0, 1, 2]}
    found = ExpectedErrorSearch(tree, grid).fit(table, y)
    frame = ExpectedErrorSearch(tree, grid).fit(pd.DataFrame(table), y)
    assert found.best_params_ == frame.best_params_ == {"max_splits": 2}
    assert (found.predict(table) == y).all()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        ExpectedErrorSearch(tree, grid).fit(table, y[:-1])


@pytest.fixture(scope="module")
def groups():
    """Forty groups of ten nearly equal rows, and a class of each by the flip of a coin."""
    rng = np.random.default_rng(5)
    of = rng.permutation(np.repeat(np.arange(40), 10))
    X = rng.normal(size=(40, 3))[of] + 0.02 * rng.normal(size=(400, 3))
    return X, rng.permutation(np.arange(40) % 2)[of], of


@pytest.mark.parametrize(
    "estimator", [TreeClassifier(stopping="none"), DecisionTreeClassifier(random_state=0)]
)
def test_errors_on_new_groups(groups, estimator):
    X, y, of = groups
    name = "max_splits" if isinstance(estimator, TreeClassifier) else "max_leaf_nodes"
    grid = {name: [2, 200]}
    by_rows = ExpectedErrorSearch(estimator, grid, random_state=0).fit(X, y)
    assert by_rows.best_error_ < 0.1
    search = ExpectedErrorSearch(estimator, grid, random_state=0).fit(X, y, groups=of)
    assert search.method_.endswith("by groups")
    assert search.fallback_reasons_[-1] == "the rows come in groups, and a forecast is for independent rows"
    for found in search.forecast_:
        assert found.low < 0.5 < found.high
        assert found.high - found.low > 0.15  # of forty groups, not of four hundred rows


def test_groups_are_routed_and_forecasts_of_them_refused(groups):
    X, y, of = groups
    search = ExpectedErrorSearch(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 9]})
    with config_context(enable_metadata_routing=True):
        piped = make_pipeline(StandardScaler(), clone(search).set_fit_request(groups=True))
        piped.fit(X, y, groups=of)
    direct = search.fit(StandardScaler().fit_transform(X), y, groups=[f"g{g:02}" for g in of])
    assert piped[-1].best_error_ == direct.best_error_ > 0.3
    with pytest.raises(ValueError, match="a forecast is for independent rows"):
        search.set_params(method="forecast").fit(X, y, groups=of)


def test_a_regressor_is_chosen_by_cross_validation():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4))
    y = 10 * (X[:, 0] > 0) + rng.normal(size=300)
    tree = DecisionTreeRegressor(random_state=0)
    search = ExpectedErrorSearch(tree, {"max_leaf_nodes": [2, 100]}, random_state=0).fit(X, y)
    assert is_regressor(search)
    assert search.best_params_ == {"max_leaf_nodes": 2}
    assert search.method_ == "5-fold cross-validation"
    folds = KFold(5, shuffle=True, random_state=np.random.RandomState(0).randint(2**31 - 1))
    said = cross_val_predict(DecisionTreeRegressor(max_leaf_nodes=2, random_state=0), X, y, cv=folds)
    assert search.best_error_ == pytest.approx(((said - y) ** 2).mean())
    assert search.forecast_[0].low < search.best_error_ < search.forecast_[0].high
    assert f"should be off by {digits(search.best_error_**0.5)} on new rows" in search.statement_
    assert "Cross-validation chose it, not the expected error analysis" in search.statement_
    assert search.score(X, y) == search.best_estimator_.score(X, y)
    by_groups = search.fit(X, y, groups=np.arange(300) // 10)
    assert by_groups.method_ == "5-fold cross-validation by groups"
