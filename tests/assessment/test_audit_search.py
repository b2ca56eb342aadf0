"""Audits of real searches and studies, in any direction, and of bad input."""

import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, make_scorer, zero_one_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KernelDensity
from sklearn.tree import DecisionTreeClassifier

from offsample import audit_search
from offsample.assessment._correctors import bootstrap, indistinguishable
from offsample.assessment._losses import SearchLosses
from offsample.assessment._scores import checked
from offsample.assessment._units import ScoredRows, draw_counts
from offsample.plotting import plot_audit

GRID = {"max_depth": [1, 2, 4, None], "min_samples_leaf": [1, 5, 20]}


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200, :8], y[:200]


@pytest.fixture(scope="module")
def search(data):
    return GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=5).fit(*data)


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(0.7, 0.05, (12, 5)).clip(0, 1)


def test_grid_search(search):
    audit = audit_search(search)
    assert audit.naive == pytest.approx(search.best_score_, abs=1e-12)
    assert audit.best == search.best_index_
    assert audit.label == search.best_params_
    folds = np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(5)])
    assert audit.corrected == pytest.approx(-bootstrap(-folds), abs=1e-12)
    assert audit.optimism == pytest.approx(audit.naive - audit.corrected, abs=1e-12)
    assert audit.low < audit.corrected < audit.high <= 1
    assert audit.best in audit.as_good_as_best
    assert audit.simplest in audit.as_good_as_best
    assert audit.n_configurations == 12
    frame = audit.to_frame()
    assert frame["score"].is_monotonic_decreasing
    assert frame["row"][0] == audit.best
    assert audit.to_dict()["naive"] == audit.naive
    assert "Audit of the best of 12 configurations" in repr(audit)


def test_simplest_by_known_parameters(search):
    audit = audit_search(search)
    near = [audit.labels[audit.rows.index(i)] for i in audit.as_good_as_best]
    depth = {1: 0, 2: 1 / 3, 4: 2 / 3, None: 1}
    leaf = {20: 0, 5: 0.5, 1: 1}
    sizes = [depth[p["max_depth"]] + leaf[p["min_samples_leaf"]] for p in near]
    chosen = audit.simplest_label
    assert depth[chosen["max_depth"]] + leaf[chosen["min_samples_leaf"]] == min(sizes)
    assert audit_search(search, complexity="max_depth").simplest_label["max_depth"] == min(
        (p["max_depth"] for p in near), key=lambda d: d or 99
    )
    by_function = audit_search(search, complexity=lambda p: -p["min_samples_leaf"]).simplest_label
    assert by_function["min_samples_leaf"] == max(p["min_samples_leaf"] for p in near)


def test_rows_are_those_of_cross_val_predict(search, data):
    audit = audit_search(search, *data, n_jobs=1)
    X, y = data
    losses = [
        cross_val_predict(DecisionTreeClassifier(random_state=0, **params), X, y, cv=5) != y
        for params in search.cv_results_["params"]
    ]
    assert audit.naive == pytest.approx(search.best_score_, abs=1e-12)
    assert audit.corrected == pytest.approx(1 - bootstrap(np.array(losses, dtype=float)), abs=1e-12)
    assert audit.n_samples == 200
    by_folds = audit_search(search)
    assert audit.high - audit.low < by_folds.high - by_folds.low
    with parallel_config(backend="threading"):
        same = audit_search(search, pd.DataFrame(X), y, n_jobs=2, progress=True)
    assert same.corrected == audit.corrected


def test_other_searches(data):
    X, y = data
    tree = DecisionTreeClassifier(random_state=0)
    random = RandomizedSearchCV(tree, GRID, n_iter=6, cv=3, random_state=0).fit(X, y)
    assert audit_search(random).naive == pytest.approx(random.best_score_)
    halving = HalvingGridSearchCV(tree, GRID, cv=3, random_state=0, min_resources=40).fit(X, y)
    audit = audit_search(halving)
    assert audit.naive == pytest.approx(halving.best_score_)
    assert audit.best == halving.best_index_
    assert audit.n_configurations == 12
    assert len(audit.rows) < 12
    by_rows = audit_search(halving, X, y)  # the configurations of the last round, on all rows
    assert (by_rows.rows, by_rows.n_samples) == (audit.rows, 200)
    assert audit_search(random, X, y).naive == pytest.approx(random.best_score_)
    two = GridSearchCV(tree, GRID, cv=3, scoring=["accuracy", "f1"], refit="f1").fit(X, y)
    assert audit_search(two).naive == pytest.approx(two.best_score_)
    two.refit = False
    with pytest.raises(ValueError, match="several metrics and none to choose by"):
        audit_search(two)


def test_a_file_with_a_byte_order_mark(tmp_path):
    (tmp_path / "scores.csv").write_text("fold1,fold2,C\n0.1,0.2,1\n0.3,0.4,2\n", encoding="utf-8-sig")
    assert audit_search(tmp_path / "scores.csv").n_folds == 2


def test_negative_losses_and_their_rows():
    X, y = load_diabetes(return_X_y=True)
    grid = {"alpha": [0.01, 0.1, 1, 10]}
    search = GridSearchCV(Ridge(), grid, cv=5, scoring="neg_mean_squared_error").fit(X, y)
    for audit in (audit_search(search), audit_search(search, X, y)):
        assert audit.naive == pytest.approx(-search.best_score_)  # a loss is shown as it is
        assert audit.high > audit.corrected >= audit.naive > 0
        assert (audit.metric, audit.greater_is_better) == ("mean squared error", False)
        assert audit.optimism >= 0
        assert "best mean squared error" in repr(audit)
    loss = GridSearchCV(DecisionTreeClassifier(), GRID, cv=3, scoring="neg_log_loss").fit(X, y > 140)
    assert audit_search(loss, X, y > 140).corrected > 0


def slow_redrawn(search, X, y, scoring, n_draws):
    """Corrected score and variance, with every score computed by the model itself, draw by draw."""
    scorer, splits = get_scorer(scoring), list(StratifiedKFold(3).split(X, y))
    models = [
        [clone(search.estimator).set_params(**params).fit(X[train], y[train]) for train, _ in splits]
        for params in search.cv_results_["params"]
    ]
    tested = ScoredRows.of_splits(splits, y, None)
    counts = draw_counts(tested.strata(True), n_draws)[:, tested.unit]
    draws = [[np.repeat(np.arange(len(of)), row[of]) for row in counts] for of in tested.rows]

    def mean(i, b, left_out):
        scores = []
        for k, (_, test) in enumerate(splits):
            rows = np.setdiff1d(np.arange(len(test)), draws[k][b]) if left_out else draws[k][b]
            scores.append(scorer(models[i][k], X[test][rows], y[test][rows]))
        return np.mean(scores)

    drawn = np.array([[mean(i, b, False) for b in range(n_draws)] for i in range(len(models))])
    judged = []
    for b in range(n_draws):
        best = np.flatnonzero(drawn[:, b] >= drawn[:, b].max() - 1e-12)
        distinct = {drawn[i].tobytes(): i for i in best}.values()
        judged.append(np.mean([mean(i, b, True) for i in distinct]))
    best = search.best_index_  # few rows are another score than all, of one and the same configuration
    worse = np.mean([mean(best, b, True) for b in range(n_draws)]) - search.best_score_
    return np.mean(judged) - worse, drawn.var(axis=1, ddof=1)


@pytest.mark.parametrize("scoring", ["roc_auc", "balanced_accuracy", "f1"])
def test_scores_that_are_no_mean_over_rows(data, scoring, monkeypatch):
    X, y = data
    monkeypatch.setattr("offsample.assessment._losses.N_DRAWS", 20)
    model = DecisionTreeClassifier(random_state=0)
    search = GridSearchCV(model, {"max_depth": [1, 2, 3]}, cv=3, scoring=scoring).fit(X, y)
    audit = audit_search(search, X, y)
    assert audit.naive == pytest.approx(search.best_score_, abs=1e-12)
    corrected, variances = slow_redrawn(search, X, y, scoring, 20)
    assert audit.corrected == pytest.approx(corrected, abs=1e-12)
    assert audit.low < audit.corrected < audit.high
    near = indistinguishable(-np.column_stack([search.cv_results_[f"split{k}_test_score"] for k in range(3)]))
    radius = 1.959964 * np.sqrt((np.e - 1) * variances[near].mean())
    assert audit.high - audit.low == pytest.approx(2 * radius, rel=1e-5)
    with parallel_config(backend="threading"):
        assert audit_search(search, pd.DataFrame(X), y, n_jobs=2).corrected == audit.corrected
    again = GridSearchCV(model, {"max_depth": [1, 2, 3, 3]}, cv=3, scoring=scoring).fit(X, y)
    assert audit_search(again, X, y).corrected == pytest.approx(audit.corrected, abs=1e-12)


def test_scorers_of_ones_own(data, monkeypatch):
    X, y = data
    monkeypatch.setattr("offsample.assessment._losses.N_DRAWS", 50)
    grid, model = {"max_depth": [1, 3]}, DecisionTreeClassifier(random_state=0)
    error = make_scorer(zero_one_loss, greater_is_better=False)
    by_error = audit_search(GridSearchCV(model, grid, cv=3, scoring=error).fit(X, y), X, y)
    by_accuracy = audit_search(GridSearchCV(model, grid, cv=3).fit(X, y), X, y)
    assert by_error.corrected == pytest.approx(1 - by_accuracy.corrected, abs=1e-12)
    assert (by_error.low, by_error.high) == pytest.approx((1 - by_accuracy.high, 1 - by_accuracy.low))

    def of_large_rows(model, X, y):
        large = X[:, 0] > np.median(data[0][:, 0])
        return np.mean(model.predict(X)[large] == y[large])

    search = GridSearchCV(model, grid, cv=3, scoring=of_large_rows).fit(X, y)
    audit = audit_search(search, X, y)
    assert audit.naive == pytest.approx(search.best_score_, abs=1e-12)
    assert audit.low < audit.corrected < audit.high


def test_regression_by_its_own_score(monkeypatch):
    monkeypatch.setattr("offsample.assessment._losses.N_DRAWS", 50)
    X, y = load_diabetes(return_X_y=True)
    search = GridSearchCV(Ridge(), {"alpha": [0.01, 0.1, 1]}, cv=3).fit(X[:150], y[:150])
    audit = audit_search(search, X[:150], y[:150])
    assert audit.naive == pytest.approx(search.best_score_, abs=1e-12)
    assert audit.low < audit.corrected < audit.high


def test_rows_on_which_a_score_is_not_defined(data, monkeypatch):
    """One row of the second class in each fold: never left out, so that no sample says anything of it."""
    monkeypatch.setattr("offsample.assessment._losses.N_DRAWS", 10)
    X = data[0]
    y = (np.arange(200) % 40 == 0).astype(int)
    search = GridSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, cv=5, scoring="roc_auc").fit(X, y)
    assert audit_search(search).n_folds == 5
    with pytest.raises(ValueError, match="no bootstrap sample of the rows defines the score"):
        audit_search(search, X, y)


def test_groups_and_repeats(data):
    X, y = data
    groups = np.arange(200) // 4
    tree = DecisionTreeClassifier(random_state=0)
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=GroupKFold(4)).fit(X, y, groups=groups)
    assert audit_search(search, X, y, groups=groups).naive == pytest.approx(search.best_score_)
    repeated = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=repeated).fit(X, y)
    audit = audit_search(search, X, y)
    assert (audit.n_folds, audit.n_samples) == (6, 200)
    assert audit.naive == pytest.approx(search.best_score_)


def test_missing_predictions(data):
    """Rows that no fold tests are left out; a class that no model has seen has no probability."""
    X, y = data
    tree, few = DecisionTreeClassifier(random_state=0), ShuffleSplit(2, test_size=30, random_state=0)
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=few).fit(X, y)
    audit = audit_search(search, X, y)
    tested = np.unique(np.concatenate([test for _, test in few.split(X)]))
    assert audit.n_samples == len(tested) < 60
    labels = np.where(np.arange(200) < 20, 2, y)
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=KFold(10), scoring="neg_log_loss")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn: no score for the first fold
        search.fit(X, labels)
    with pytest.raises(ValueError, match="none of the 2 configurations has a finite score on every fold"):
        audit_search(search, X, labels)
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=3, scoring="neg_log_loss").fit(X, labels)
    search.cv = KFold(10)
    with pytest.raises(ValueError, match="class 2 is in a test fold and not in its training rows"):
        audit_search(search, X, labels)


@pytest.mark.parametrize("way", ["attribute", "steps"])
def test_optuna_study(data, way):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, y = data

    def objective(trial):
        depth = trial.suggest_int("max_depth", 1, 6)
        if trial.number == 3:
            raise optuna.TrialPruned
        folds = cross_val_score(DecisionTreeClassifier(max_depth=depth, random_state=0), X, y, cv=4)
        errors = [float(1 - score) for score in folds]
        if way == "attribute":
            trial.set_user_attr("fold_scores", errors)
        for step, error in enumerate(errors if way == "steps" else []):
            trial.report(error, step)
        return float(np.mean(errors))

    study = optuna.create_study(direction="minimize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=8)
    audit = audit_search(study)
    assert not audit.greater_is_better
    assert audit.naive == pytest.approx(study.best_value)
    assert audit.label == study.best_trial.params
    assert audit.best == study.best_trial.number
    assert audit.corrected >= audit.naive
    assert audit.optimism == pytest.approx(audit.corrected - audit.naive)
    assert (audit.n_configurations, len(audit.rows), audit.n_folds) == (8, 7, 4)
    with pytest.raises(ValueError, match="X and y are for a scikit-learn search"):
        audit_search(study, X, y)


def test_optuna_study_with_one_value_per_trial(data):
    study = optuna.create_study(direction="maximize")
    for depth, value in [(1, 0.71), (2, 0.74), (3, 0.74), (4, 0.69)]:
        distribution = {"max_depth": optuna.distributions.IntDistribution(1, 9)}
        study.add_trial(
            optuna.trial.create_trial(params={"max_depth": depth}, distributions=distribution, value=value)
        )
    with pytest.raises(ValueError, match="each configuration has one score: give the scores of the folds"):
        audit_search(study)
    audit = audit_search(study, n_samples=300)
    assert audit.method == "shrinkage"
    assert audit.naive == 0.74
    assert 0.64 < audit.low < audit.corrected < audit.naive < audit.high < 0.82


def test_direction_only_turns_the_sign(table):
    score = audit_search(table)
    error = audit_search(1 - table, greater_is_better=False)
    loss = audit_search(-(1 - table))
    assert error.corrected == pytest.approx(1 - score.corrected, abs=1e-12)
    assert loss.corrected == pytest.approx(-error.corrected, abs=1e-12)
    assert (error.low, error.high) == pytest.approx((1 - score.high, 1 - score.low), abs=1e-12)
    assert (
        score.optimism == pytest.approx(error.optimism, abs=1e-12) == pytest.approx(loss.optimism, abs=1e-12)
    )
    assert score.optimism > 0


@pytest.mark.parametrize("method", ["auto", "shrinkage"])
def test_order_and_duplicates_change_nothing(table, method):
    audit = audit_search(table, method=method, n_samples=500)
    order = np.random.default_rng(1).permutation(len(table))
    shuffled = audit_search(table[order], method=method, n_samples=500)
    assert shuffled.corrected == pytest.approx(audit.corrected, abs=1e-12)
    assert (shuffled.low, shuffled.high) == pytest.approx((audit.low, audit.high), abs=1e-12)
    assert order[shuffled.best] == audit.best
    assert sorted(order[list(shuffled.as_good_as_best)]) == list(audit.as_good_as_best)
    again = audit_search(np.vstack([table, table[[audit.best, 3]]]), method=method)
    assert again.corrected == pytest.approx(audit.corrected, abs=1e-12)
    assert (again.low, again.high) == pytest.approx((audit.low, audit.high), abs=1e-12)


def test_tables_of_all_kinds_agree(table, tmp_path, search):
    expected = audit_search(table).corrected
    names = [f"c{i}" for i in range(len(table))]
    frame = pd.DataFrame(table, columns=[f"fold {k}" for k in range(5)]).assign(name=names, seconds=1.0)
    frame.to_csv(tmp_path / "scores.csv", index=False)
    by_name = dict(zip(names, table.tolist(), strict=True))
    for kind in (table.tolist(), by_name, frame, pl.from_pandas(frame), tmp_path / "scores.csv"):
        assert audit_search(kind).corrected == pytest.approx(expected, abs=1e-12)
    assert audit_search(frame).label == names[int(table.mean(axis=1).argmax())]
    assert audit_search(by_name).label == audit_search(frame).label
    results = pd.DataFrame(search.cv_results_)
    assert audit_search(results).corrected == pytest.approx(audit_search(search).corrected, abs=1e-12)


TRACKED = {"run_id": ["r0", "r1"], "params.depth": [1, 2], "params.lr": [0.1, 0.2], "metrics.auc": [0.7, 0.8]}


@pytest.mark.parametrize(
    "columns",
    [
        TRACKED | {f"metrics.fold_{k}": [0.6 + k / 10, 0.7 + k / 10] for k in range(3)},
        TRACKED | {f"metrics.auc_fold{k}": [0.6 + k / 10, 0.7 + k / 10] for k in range(3)} | {"seed": [1, 2]},
        {"max_depth": [1, 2], "mean": [1, 2]} | {f"auc_{k}": [0.6 + k / 10, 0.7 + k / 10] for k in range(3)},
        {"id": [1, 2], "train_time": [3, 4], "a": [0.6, 0.7], "b": [0.7, 0.8], "c": [0.8, 0.9]},
    ],
)
def test_parameters_identifiers_and_times_are_no_folds(columns):
    found = audit_search(pd.DataFrame(columns))
    assert (found.naive, found.n_folds, found.best) == (pytest.approx(0.8), 3, 1)
    if "run_id" in columns:
        assert found.label == {"depth": 2, "lr": 0.2}


def test_scores_of_several_kinds_are_refused():
    columns = TRACKED | {"metrics.loss": [0.1, 0.2]}
    with pytest.raises(ValueError, match=r"metrics\.auc, metrics\.loss are scores of several kinds: keep"):
        audit_search(pd.DataFrame(columns))
    of_two = {f"split{k}_test_{kind}": [0.6, 0.7] for kind in ("f1", "auc") for k in range(3)}
    with pytest.raises(ValueError, match=r"split0_test_f1, split1_test_f1.* are scores of several kinds"):
        audit_search(pd.DataFrame(of_two))


def test_columns_that_are_no_folds_are_refused(search):
    columns = {"units": [16, 32], "val_acc": [0.7, 0.8]}
    with pytest.raises(
        ValueError, match="the columns units, val_acc are no folds of one score: keep val_acc"
    ):
        audit_search(pd.DataFrame(columns))
    one = {"learning_rate": [0.1, 0.2], "val_acc": [0.7, 0.8]}
    assert audit_search(pd.DataFrame(one), n_samples=100).scores == pytest.approx([0.7, 0.8])
    means = pd.DataFrame(search.cv_results_)[["param_max_depth", *(f"{k}_test_score" for k in WORDS)]]
    assert audit_search(means, n_samples=200).n_folds == 1


WORDS = ("mean", "std", "rank")


def test_losses_and_metrics_of_results_alone(data):
    X, y = data
    model, grid = DecisionTreeClassifier(random_state=0, min_samples_leaf=9), {"max_depth": [1, 2, 3]}
    search = GridSearchCV(model, grid, cv=3, scoring="neg_log_loss").fit(X, y)
    named = audit_search(search)
    assert (named.naive, named.metric) == (pytest.approx(-search.best_score_), "log loss")
    for results in (search.cv_results_, pd.DataFrame(search.cv_results_)):
        nameless = audit_search(results)
        assert nameless.corrected == named.corrected > 0
        assert "The scores are all negative, and taken as losses that scikit-learn turns" in repr(nameless)
    two = GridSearchCV(model, grid, cv=3, scoring=["accuracy", "roc_auc"], refit="accuracy").fit(X, y)
    assert audit_search(two, metric="roc_auc").naive == max(two.cv_results_["mean_test_roc_auc"])
    with pytest.raises(ValueError, match="none to choose by: give metric, accuracy or roc_auc"):
        audit_search(two.cv_results_)
    lazy = GridSearchCV(model, grid, cv=3, refit=lambda results: int(results["rank_test_score"].argmax()))
    said = audit_search(lazy.fit(X, y)).assumed
    took = f"max_depth={lazy.best_params_['max_depth']}"
    assert said == f"This is the best mean score, not what the search took: {took}."


def test_what_would_be_ignored_is_refused(data, search):
    X, y = data
    for options in ({"time": np.arange(len(y))}, {"metric": "auc"}, {"fold": y}, {"n_samples": 9}):
        with pytest.raises(ValueError, match=f"leave out {next(iter(options))}, or give predictions"):
            audit_search(search, X, y, **options)
    for found in (search, search.cv_results_):
        with pytest.raises(ValueError, match="greater_is_better is for tables and functions"):
            audit_search(found, greater_is_better=False)
    with pytest.raises(ValueError, match="the search has no auc, score"):
        audit_search(search, metric="auc")
    with pytest.raises(ValueError, match="metric is for predictions"):
        audit_search([[0.7, 0.8]], metric="auc")


def test_only_shares_end_at_one():
    losses = {"a": [0.95, 0.85, 0.99, 0.80, 0.97], "b": [0.9, 0.99, 0.88, 0.97, 0.93]}
    assert audit_search(losses, greater_is_better=False).high > 1
    assert audit_search(losses).high == 1
    found = checked(np.array(list(losses.values())), ("a", "b"), False)
    for title, shift in (("error", 0), ("log loss", None), ("score", None)):
        assert SearchLosses.of_scores(replace(found, title=title), None).error_shift == shift


def test_one_configuration(table):
    audit = audit_search(table[:1])
    assert audit.naive == audit.corrected == pytest.approx(table[0].mean())
    assert audit.optimism == 0
    assert audit.as_good_as_best == (0,)
    assert repr(audit_search([[0.8]])).startswith("Audit of the best of 1 configuration, one score, by ")


def test_scores_that_do_not_vary_are_not_certain():
    assert audit_search([[0.8] * 5, [0.7] * 5]).caution.startswith("The scores do not vary")
    assert audit_search([[0.8] * 5, [0.8, 0.9, 0.8, 0.7, 0.6]]).caution == ""


def test_failed_fits_are_left_out(table, data):
    table[2, 1] = np.nan
    audit = audit_search(table)
    assert (audit.n_failed, audit.n_configurations, len(audit.rows)) == (1, 12, 11)
    assert 2 not in audit.rows
    assert "1 configuration left out, without a score on every fold" in repr(audit)
    expected = audit_search(np.delete(table, 2, axis=0))
    assert audit.corrected == pytest.approx(expected.corrected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grid = {"max_depth": [1, 2, -5]}
        search = GridSearchCV(DecisionTreeClassifier(), grid, cv=3, error_score=np.nan).fit(*data)
    assert audit_search(search).n_failed == 1
    assert audit_search(search, *data).n_failed == 1


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        pytest.param(
            [[0.1, 0.2], [0.1]],
            {},
            "configuration 1 has 1 fold scores and the first one 2",
            id="folds missing of a row",
        ),
        pytest.param(
            {"a": [0.1, 0.2], "b": [0.3]},
            {},
            "configuration 'b' has 1 fold scores",
            id="folds missing of a name",
        ),
        pytest.param(
            [[np.nan, 0.2], [0.1, np.nan]],
            {},
            "none of the 2 configurations has a finite score on every fold",
            id="no configuration complete",
        ),
        pytest.param([0.7, 0.8], {}, "each configuration has one score", id="one score each"),
        pytest.param(
            [0.7, 0.8],
            {"method": "bootstrap", "n_samples": 50},
            "needs the scores of several folds",
            id="bootstrap without folds",
        ),
        pytest.param(
            [7, 8],
            {"n_samples": 9},
            "needs accuracies or error rates",
            id="one score each that is no rate",
        ),
        pytest.param([[0.7, 0.8]], {"method": "magic"}, "method must be one of", id="unknown method"),
        pytest.param(
            [[0.7, 0.8]],
            {"confidence": 1},
            "confidence must lie strictly between 0 and 1, got 1",
            id="confidence 1",
        ),
        pytest.param([[0.7, 0.8]], {"X": [[1]]}, "X and y go together", id="X without y"),
        pytest.param(
            [[0.7, 0.8]],
            {"complexity": "max_depth"},
            "complexity 'max_depth' is not a parameter",
            id="complexity that is no parameter",
        ),
        pytest.param(
            [[0.7, 0.8]] * 2,
            {"complexity": [1]},
            "complexity has shape",
            id="complexity of fewer configurations",
        ),
        pytest.param(np.zeros((0, 3)), {}, "the table of scores is empty", id="empty table"),
        pytest.param(GridSearchCV(Ridge(), {}), {}, "GridSearchCV is not fitted yet", id="search not fitted"),
        pytest.param(
            pd.DataFrame({"name": ["a"]}), {}, "no column of scores among", id="no column of scores"
        ),
    ],
)
def test_scores_that_cannot_be_audited_are_refused_with_the_reason(scores, options, message):
    with pytest.raises(ValueError, match=message):
        audit_search(scores, **options)


def test_other_bad_input(tmp_path, data, search):
    with pytest.raises(TypeError, match="expected a fitted search with cv_results_"):
        audit_search(object())
    with pytest.raises(FileNotFoundError, match="no such file"):
        audit_search(tmp_path / "nothing.csv")
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(ValueError, match="line 3 has 1 fields, the header 2"):
        audit_search(tmp_path / "short.csv")
    (tmp_path / "twice.csv").write_text("a,fold,fold\nx,0.1,0.2\ny,0.3,0.4\n")
    with pytest.raises(ValueError, match="2 columns are named 'fold'"):
        audit_search(tmp_path / "twice.csv")
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match=r"bytes.csv' cannot be read as CSV"):
        audit_search(tmp_path / "bytes.csv")
    (tmp_path / "empty.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="table of scores is empty"):
        audit_search(tmp_path / "empty.csv")
    density = GridSearchCV(KernelDensity(), {"bandwidth": [0.1, 1.0]}, cv=3).fit(*data)
    assert audit_search(density).n_folds == 3
    with pytest.raises(ValueError, match="the score of KernelDensity itself cannot be had row by row"):
        audit_search(density, *data)


def test_splits_that_cannot_be_repeated_are_scored_anew(data):
    splitter = StratifiedKFold(4, shuffle=True)
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), GRID, cv=splitter).fit(*data)
    audit = audit_search(search, *data)
    assert audit.naive == pytest.approx(search.best_score_, abs=0.1)


def test_figure(table, tmp_path):
    audit = audit_search(table)
    ax = plot_audit(audit)
    points = ax.collections[0].get_offsets()
    assert sorted(points[:, 1].tolist()) == sorted(audit.scores)
    assert points[0, 1] == audit.naive
    ax.figure.savefig(tmp_path / "audit.svg")
    plt.close(ax.figure)
    figure, own = plt.subplots()
    assert plot_audit(audit, ax=own) is own
    plt.close(figure)


def test_scores_measured_on_no_row():
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        audit_search({"a": [0.7, 0.8], "b": [0.6, 0.9]}, n_samples=0)
