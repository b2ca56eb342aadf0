"""Audits of predictions out of fold: every metric against scikit-learn, and whatever made them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import optuna
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold, StratifiedKFold, cross_val_predict
from typer.testing import CliRunner

from offsample import audit_search
from offsample.assessment import trust_in_score
from offsample.assessment._correctors import bootstrap
from offsample.assessment._metrics import METRICS, metric_of
from offsample.assessment._out_of_fold import metric_of_scorer
from offsample.cli import app

run = CliRunner().invoke

BY_CLASS = {
    "accuracy": metrics.accuracy_score,
    "error": metrics.zero_one_loss,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "f1": metrics.f1_score,
    "f1_macro": partial(metrics.f1_score, average="macro"),
    "f1_weighted": partial(metrics.f1_score, average="weighted"),
}
BY_CHANCE = {
    "auc": metrics.roc_auc_score,
    "log_loss": metrics.log_loss,
    "brier": metrics.brier_score_loss,
}
BY_NUMBER = {
    "r2": metrics.r2_score,
    "mae": metrics.mean_absolute_error,
    "mse": metrics.mean_squared_error,
    "rmse": metrics.root_mean_squared_error,
}
THEIRS = BY_CLASS | BY_CHANCE | BY_NUMBER


def rows_of(name, rng, n):
    """Labels and predictions with ties, of the kind that a metric takes."""
    if name in BY_NUMBER:
        y = rng.normal(size=n).round(1)
        return y, (y + rng.normal(size=n)).round(1)
    y = np.arange(n) % 2
    return y, rng.integers(0, 2, n) if name in BY_CLASS else rng.integers(1, 10, n) / 10


@pytest.mark.parametrize("name", THEIRS)
@given(seed=st.integers(0, 10**6), n=st.integers(4, 25))
def test_a_metric_of_counts_is_that_of_repeated_rows(name, seed, n):
    rng = np.random.default_rng(seed)
    y, p = rows_of(name, rng, n)
    counts = rng.integers(0, 3, (4, n)).astype(float)
    counts[:, :4] += 1  # both classes, and numbers that differ
    y[:4] = [0, 1, 0, 1]
    scores = METRICS[name].score(y, p, counts)
    for found, times in zip(scores, counts.astype(int), strict=True):
        assert found == pytest.approx(THEIRS[name](np.repeat(y, times), np.repeat(p, times)), abs=1e-9)


@pytest.mark.parametrize("name", ["f1", "f1_macro", "f1_weighted"])
def test_classes_that_are_neither_there_nor_predicted_do_not_count(name):
    y, p = np.array([0, 0, 1, 1, 2, 3]), np.array([0, 1, 1, 0, 2, 4])
    counts = np.array([[1, 2, 1, 3, 0, 0], [1, 2, 1, 3, 1, 0], [1, 2, 1, 0, 0, 2.0]])
    found = METRICS[name].encoded(y, [p])[2].score(y, p, counts)
    average = "weighted" if name == "f1_weighted" else "macro"
    for one, times in zip(found, counts.astype(int), strict=True):
        rows = np.repeat(np.arange(6), times)
        assert one == pytest.approx(metrics.f1_score(y[rows], p[rows], average=average))


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_weighted", "roc_auc_ovr", "roc_auc_ovr_weighted"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scorings_of_several_classes_are_the_metrics(scoring, n_classes):
    rng = np.random.default_rng(0)
    y = np.sort(rng.permutation(np.arange(90) ** 2 % (n_classes + 1) % n_classes))
    X = rng.normal(size=(90, 2)) + 0.4 * y[:, None]
    assert metric_of_scorer(metrics.get_scorer(scoring)) is METRICS[scoring]
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 1.0]}, cv=3, scoring=scoring).fit(X, y)
    assert audit_search(search, X, y).naive == pytest.approx(search.best_score_, abs=1e-12)


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1", "auc", "log_loss", "brier"])
def test_three_classes(name):
    rng = np.random.default_rng(1)
    y, p = np.arange(60) % 3, rng.dirichlet(np.ones(3), 60)
    labels = np.array(["a", "b", "c"])[y]
    predicted = np.array(["a", "b", "c"])[p.argmax(axis=1)] if name in BY_CLASS else p
    times = rng.integers(0, 4, 60)
    known, (codes,), metric = METRICS[name].encoded(labels, [predicted])
    rows = np.repeat(np.arange(60), times)
    more = {"f1": {"average": "macro"}, "auc": {"multi_class": "ovr"}}.get(name, {})
    expected = THEIRS[name](labels[rows], predicted[rows], **more)
    assert metric.score(known, codes, times[None].astype(float))[0] == pytest.approx(expected)


def test_rows_that_define_no_score():
    none, one = np.zeros((1, 4)), np.array([[1.0, 0, 2, 0]])
    y, p = np.array([0, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    for name in ("auc", "r2"):
        assert np.isnan(METRICS[name].score(y, p, one)).all()
        assert np.isnan(METRICS[name].score(y, p, none)).all()
    assert METRICS["f1"].score(y, np.zeros(4), one)[0] == 0  # as scikit-learn has it
    assert METRICS["balanced_accuracy"].score(y, np.zeros(4), one)[0] == 1


@pytest.fixture(scope="module")
def searched():
    """A search, and the probabilities that its configurations give out of fold."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 6)), np.arange(200) % 2
    X[:, 0] += 0.6 * y
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = {"C": [0.001, 0.01, 0.1, 1, 10]}
    chances = {
        C: cross_val_predict(LogisticRegression(C=C), X, y, cv=folds, method="predict_proba")
        for C in grid["C"]
    }
    fold = np.zeros(200, dtype=int)
    for k, (_, test) in enumerate(folds.split(X, y)):
        fold[test] = k
    return X, y, folds, fold, chances


SCORINGS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "auc": "roc_auc",
    "f1": "f1",
    "log_loss": "neg_log_loss",
    "brier": "neg_brier_score",
}


@pytest.mark.parametrize("name", SCORINGS)
def test_predictions_are_audited_as_the_search_that_made_them(searched, name):
    X, y, folds, fold, chances = searched
    grid, scoring = {"C": list(chances)}, SCORINGS[name]
    search = GridSearchCV(LogisticRegression(), grid, cv=folds, scoring=scoring).fit(X, y)
    by_search = audit_search(search, X, y)
    found = audit_search(predictions=chances, y=y, metric=name, fold=fold)
    assert found.naive == pytest.approx(abs(search.best_score_))
    assert found.label == search.best_params_["C"]
    # Predictions are in the order of the rows, those of the search in the order of the folds: other draws.
    assert found.corrected == pytest.approx(by_search.corrected, abs=0.004)
    assert found.high - found.low == pytest.approx(by_search.high - by_search.low, rel=0.2)
    assert found.low < found.corrected < found.high
    assert (found.metric, found.greater_is_better) == (by_search.metric, by_search.greater_is_better)
    assert found.n_samples == 200
    renamed = audit_search(predictions=chances, y=np.array(["no", "yes"])[y], metric=scoring, fold=fold)
    assert renamed.corrected == found.corrected


def test_losses_of_rows_of_ones_own(searched):
    _, y, _, fold, chances = searched
    losses = {C: -np.log(p[np.arange(200), y]) for C, p in chances.items()}
    own = audit_search(losses=losses, fold=fold)
    known = audit_search(predictions=chances, y=y, metric="log_loss", fold=fold)
    assert (
        own.corrected == pytest.approx(known.corrected, abs=1e-12) == bootstrap(np.array([*losses.values()]))
    )
    assert not own.greater_is_better
    shares = {C: p[:, 1] for C, p in chances.items()}
    assert audit_search(predictions=shares, y=y, metric="log_loss", fold=fold).corrected == known.corrected


def test_a_function_is_a_metric(searched, monkeypatch):
    monkeypatch.setattr("offsample.assessment._losses.N_DRAWS", 20)
    _, y, _, fold, chances = searched
    shares = {C: chances[C][:, 1] for C in (0.01, 1)}
    found = audit_search(predictions=shares, y=y, metric=metrics.roc_auc_score, fold=fold)
    known = audit_search(predictions=shares, y=y, metric="auc", fold=fold)
    assert found.naive == pytest.approx(known.naive)
    # The same draws, but those of functions are not drawn class by class.
    assert found.corrected == pytest.approx(known.corrected, abs=0.02)
    turned = audit_search(predictions=shares, y=y, metric=metrics.log_loss, greater_is_better=False)
    assert turned.naive == pytest.approx(audit_search(predictions=shares, y=y, metric="log_loss").naive)


def test_tables_files_and_arrays_agree(searched, tmp_path):
    _, y, _, fold, chances = searched
    shares, pair = {f"C={C}": p[:, 1] for C, p in chances.items()}, np.argsort(np.argsort(fold)) // 2
    expected = audit_search(predictions=shares, y=y, metric="auc", fold=fold, groups=pair)
    frame = pd.DataFrame(shares).assign(y=y, split=fold, pair=pair)
    frame.to_parquet(tmp_path / "oof.parquet")
    named = {"y": "y", "metric": "auc", "fold": "split", "groups": "pair"}
    for table in (frame, pl.from_pandas(frame), tmp_path / "oof.parquet", str(tmp_path / "oof.parquet")):
        found = audit_search(predictions=table, **named)
        assert found.new_rows == "rows with a new 'pair'"
        assert replace(found, new_rows="rows with a new group") == expected
    arrays = {"y": y, "metric": "auc", "fold": fold, "groups": pair}
    for array in (np.array([*shares.values()]), [p.tolist() for p in shares.values()]):
        assert audit_search(predictions=array, **arrays).corrected == expected.corrected
    assert audit_search(predictions=shares["C=1"], y=y, metric="auc").optimism == pytest.approx(0, abs=0.01)
    assert expected.n_groups == 100


def test_predictions_that_trials_keep(searched):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    _, y, _, fold, chances = searched
    study = optuna.create_study(direction="maximize")
    for C, p in chances.items():
        params = {"C": optuna.distributions.FloatDistribution(0, 100)}
        kept = {"oof": p[:, 1].tolist()}
        trial = optuna.trial.create_trial(params={"C": C}, distributions=params, value=0.5, user_attrs=kept)
        study.add_trial(trial)
    found = audit_search(study, predictions="oof", y=y, metric="auc", fold=fold)
    assert found.corrected == audit_search(predictions=chances, y=y, metric="auc", fold=fold).corrected
    assert found.label == {"C": 10} or found.label["C"] in chances


def test_rows_of_a_group_count_together_and_rows_predicted_again_are_one(searched):
    _, y, _, fold, chances = searched
    shares = {C: p[:, 1] for C, p in chances.items()}
    for metric in ("log_loss", "auc"):
        once = audit_search(predictions=shares, y=y, metric=metric, fold=fold)
        copies = {C: np.repeat(p, 4) for C, p in shares.items()}
        rows = np.repeat(np.arange(200), 4)
        again = audit_search(predictions=copies, y=y[rows], metric=metric, fold=fold[rows], groups=rows)
        blind = audit_search(predictions=copies, y=y[rows], metric=metric, fold=fold[rows])
        assert again.naive == pytest.approx(once.naive)
        assert again.high - again.low == pytest.approx(once.high - once.low, rel=0.1)
        assert blind.high - blind.low == pytest.approx((once.high - once.low) / 2, rel=0.15)


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_repeats_draw_rows_once(searched, scoring):
    """The intervals of six repeats are hardly narrower than that of one: the rows are the same."""
    X, y, *_ = searched
    grid = {"C": [0.01, 0.1, 1]}
    audits = []
    for n_repeats in (1, 6):
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=n_repeats, random_state=0)
        search = GridSearchCV(LogisticRegression(), grid, cv=cv, scoring=scoring).fit(X, y)
        audits.append(audit_search(search, X, y))
        assert audits[-1].naive == pytest.approx(search.best_score_)
    widths = [audit.high - audit.low for audit in audits]
    assert 0.85 < widths[1] / widths[0] < 1.15


def test_time_makes_parts_of_it_the_units():
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 40), 10)
    p = [np.where(rng.random(400) < 0.8, y, 1 - y) for _ in range(3)]
    found = audit_search(predictions=p, y=y, metric="accuracy", time=np.arange(400))
    assert found.n_groups == 30
    assert repr(found).splitlines()[0].endswith("by bootstrap, on later rows")
    assert audit_search(predictions=p, y=y, metric="accuracy").n_groups is None


def test_rows_and_configurations_without_predictions():
    rng = np.random.default_rng(0)
    y, p = np.arange(50) % 2, rng.random((3, 50))
    p[:, :5] = np.nan  # never tested
    p[1, 7] = np.nan  # failed
    found = audit_search(predictions=p, y=y, metric="brier")
    assert (found.n_samples, found.n_failed, found.rows) == (45, 1, (0, 2))
    with pytest.raises(ValueError, match="none of the 1 configurations has a prediction for every row"):
        audit_search(predictions=np.full((1, 50), np.nan), y=y, metric="brier")


Y = [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"predictions": [Y]}, "metric is missing: how to score predictions, one of accuracy, error"),
        ({"predictions": [Y], "metric": "magic", "y": Y}, "metric must be one of accuracy"),
        ({"predictions": [Y], "metric": "auc"}, "y is missing"),
        (
            {"predictions": [Y], "metric": "auc", "y": [0, 1]},
            r"y has shape \(2,\), expected a value for each",
        ),
        (
            {"predictions": {"a": Y, "b": [1]}, "metric": "auc", "y": Y},
            r"configuration 'b' has predictions of",
        ),
        ({"predictions": {}, "metric": "auc", "y": Y}, "there are no predictions"),
        ({"predictions": {"a": Y}, "metric": "auc", "y": "why"}, "target 'why' is not a column of the table"),
        ({"predictions": [[0.2, 0.7, 0.1, 0.9]], "metric": "error", "y": Y}, "predicted classes such as"),
        ({"predictions": [["x"] * 4], "metric": "accuracy", "y": Y}, "predicted classes such as"),
        ({"predictions": [[2, 0, 0, 0]], "metric": "log_loss", "y": Y}, "probabilities between 0 and 1"),
        ({"predictions": [Y], "metric": "auc", "y": [0, 1, 2, 1]}, "AUC of 3 classes needs a column"),
        (
            {"predictions": [np.ones((4, 3))], "metric": "auc", "y": Y},
            "have 3 columns, expected one for each",
        ),
        ({"predictions": [Y], "metric": "auc", "y": Y, "fold": [0]}, "fold has 1 values"),
        ({"predictions": [Y], "metric": "auc", "y": [0, 1, np.nan, 1]}, "y has no value in 1 row: leave"),
        (
            {"predictions": [Y], "metric": "auc", "y": np.sort(Y), "fold": np.sort(Y)},
            "as where a fold lacks a class: stratify the folds, or leave out fold",
        ),
        (
            {"predictions": {"a": Y, "id": list("abcd")}, "metric": "auc", "y": Y},
            "AUC is of numbers, and 'id' has 'a'",
        ),
        ({"predictions": [Y], "metric": "auc", "y": Y, "X": Y}, "predictions were made already"),
        (
            {
                "predictions": [Y * 3],
                "metric": "auc",
                "y": Y * 3,
                "fold": [0, 0, 0, 1] * 3,
                "groups": [0] * 12,
            },
            "group is tested in several folds, so that models",
        ),
    ],
)
def test_predictions_that_cannot_be_audited_are_refused_with_the_reason(options, message):
    with pytest.raises(ValueError, match=message):
        audit_search(**options)


# ------------------------------------------------------------------------------------- command line


@pytest.fixture
def file(searched, tmp_path):
    _, y, _, fold, chances = searched
    frame = pd.DataFrame({f"C={C}": p[:, 1] for C, p in chances.items()})
    frame = frame.assign(
        bought=np.array(["no", "yes"])[y],
        fold=fold,
        who=np.argsort(np.argsort(fold)) // 4,
        day=np.arange(200),
    )
    frame.to_parquet(tmp_path / "scores.parquet")
    return str(tmp_path / "scores.parquet")


def test_command(file):
    columns = {"predictions": file, "y": "bought", "fold": "fold", "groups": "who"}
    # In time, groups may come again: predicted from other groups.
    found = audit_search(**columns, metric="auc", time="day")
    typed = [
        "audit",
        file,
        "--predictions",
        "--target",
        "bought",
        "--metric",
        "auc",
        "--group",
        "who",
        "--time",
        "day",
    ]
    result = run(app, typed)
    assert result.exit_code == 0, result.output
    said = " ".join(result.output.split())
    assert f"Reported: AUC {found.naive:.4f}, the best of 5 configurations on 5 folds." in said
    assert f"Expect {found.corrected:.4f} on later rows with a new 'who'" in said
    assert json.loads(run(app, [*typed, "--json"]).output)["corrected"] == pytest.approx(found.corrected)
    assert found.n_groups == 50
    loss = run(app, [*typed[:5], "--metric", "log_loss", "--ignore", "who", "--ignore", "day"]).output
    assert "Reported: log loss 0.6" in loss


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--predictions", "--target", "bougth", "--metric", "auc"], "did you mean 'bought'?"),
        (["--predictions", "--metric", "auc"], "--target is missing"),
        (["--predictions", "--target", "bought"], "--metric is missing"),
        (["--metric", "auc"], "--metric is for predictions: say --predictions"),
        (["--group", "who"], "--group is for predictions: say --predictions"),
    ],
)
def test_bad_commands_are_one_sentence(file, more, message):
    result = run(app, ["audit", file, *more])
    assert (result.exit_code, len(result.output.splitlines())) == (2, 1)
    assert message in result.output


@pytest.mark.parametrize("metric", ["auc", "brier", "r2"])
def test_identifiers_are_no_predictions(metric):
    y, p = np.arange(20) % 2, np.linspace(0.1, 0.9, 20)
    predictions = {"a": p, "patient": np.arange(20) // 2, "b": p[::-1]}
    with pytest.raises(ValueError, match="'patient' has 9 where others have fractions, which are what"):
        audit_search(predictions=predictions, y=y, metric=metric)
    if metric == "auc":  # ratings need not be probabilities
        assert audit_search(predictions={"a": p, "b": 7 * p - 3}, y=y, metric=metric).n_configurations == 2


def test_one_that_is_worse_than_many_equal_ones_is_not_as_good():
    """Shrunk towards ten alike, the simplest, which errs .04 more often, was in the set of a quarter."""
    rng, worse = np.random.default_rng(0), []
    for _ in range(30):
        hard = 0.77 * rng.normal(size=200) + 0.63 * rng.normal(size=(10, 200))
        losses = (hard < np.where(np.arange(10) > 0, -0.8416, -0.7063)[:, None]).astype(float)  # .20, .24
        found = audit_search(losses=losses, fold=np.arange(200) % 5)
        near = np.array(found.as_good_as_best)
        assert (np.array(found.scores)[near] <= found.naive + found.tolerance + 1e-9).all()
        worse.append(0 in near and found.best != 0)
    assert np.mean(worse) <= 0.1


def test_intervals_end_where_scores_do():
    y, p = np.arange(30) % 2, np.where(np.arange(30) == 7, 0.99, 0.01 + 0.98 * (np.arange(30) % 2))
    assert audit_search(predictions=[np.abs(p - 0.001)], y=y, metric="log_loss").low >= 0
    p[7] = 0.01
    found = audit_search(predictions=[p], y=y, metric="log_loss")
    assert 0 == found.low < found.corrected < found.high
    assert audit_search(predictions=[p], y=y, metric="r2").high <= 1
    trust = trust_in_score(0.02, n_test=30, n_configurations=1000, metric="log_loss", standard_error=0.03)
    assert trust.low == 0 < trust.high
    shown = repr(audit_search(predictions=[p], y=y, metric="rmse")).splitlines()
    assert len({line.index(line.split("  ")[-2].split()[-1]) for line in shown[1:3]}) == 1


def test_aliases():
    assert metric_of("roc_auc") is metric_of("auc")
    assert metric_of("neg_root_mean_squared_error") is metric_of("rmse")


@pytest.mark.parametrize("name", THEIRS)
def test_what_a_prediction_that_knows_nothing_scores(name):
    """The best of all constants, by scikit-learn."""
    y = np.array([0, 0, 0, 1, 1] * 4)
    tried = [0, 1] if name in BY_CLASS else np.linspace(0.01, 0.99, 99)
    every = [THEIRS[name](y, np.full(20, p)) for p in tried]
    best = max(every) if METRICS[name].greater_is_better else min(every)
    assert METRICS[name].guess(y) == pytest.approx(best, abs=0.005)


def test_caution_where_much_of_the_lead_is_luck():
    """Each column of noise by itself, cut between the class means: some of its luck is kept, and said."""
    rng = np.random.default_rng(0)
    y, fold = np.arange(200) % 2, np.arange(200) // 2 % 5
    X, predicted = rng.normal(size=(200, 10)), np.zeros((10, 200), dtype=int)
    for k in range(5):
        zero, one = (X[(fold != k) & (y == c)].mean(axis=0) for c in (0, 1))
        predicted[:, fold == k] = (((X - (zero + one) / 2) * (one - zero)) > 0).T[:, fold == k]
    audit = audit_search(predictions=predicted, y=y, metric="accuracy", fold=fold)
    assert "what the best has over guessing (0.5000) is luck" in audit.caution
    assert audit.caution in repr(audit)
    assert audit.caution in trust_in_score(scores=audit).sentences
    sure = [np.where(rng.random(200) < error, 1 - y, y) for error in (0.05, 0.2, 0.3)]
    assert audit_search(predictions=sure, y=y, metric="accuracy", fold=fold).caution == ""
    assert audit_search(predictions=predicted[:1], y=y, metric="accuracy", fold=fold).caution == ""


def test_few_rows_left_out_of_a_fold_are_no_optimism():
    """R² of eleven rows is far below that of thirty: six predictors alike, of .36 each."""
    rng, left = np.random.default_rng(0), []
    for _ in range(8):
        y = rng.normal(size=150)
        predicted = [y + 0.8 * rng.normal(size=150) for _ in range(6)]
        left.append(audit_search(predictions=predicted, y=y, metric="r2", fold=np.arange(150) % 5).corrected)
    assert np.mean(left) == pytest.approx(0.36, abs=0.15)  # .10 before
    # Of folds of eight rows, those left out may hardly vary at all.
    fold = np.arange(40) % 5
    tiny = audit_search(predictions=[p[:40] for p in predicted], y=y[:40], metric="r2", fold=fold)
    assert -0.5 < tiny.corrected < tiny.naive
    own = [
        np.mean([metrics.r2_score(y[:40][fold == k], p[:40][fold == k]) for k in range(5)]) for p in predicted
    ]
    assert tiny.naive == pytest.approx(max(own))


@pytest.mark.parametrize("metric", ["accuracy", "error", "log_loss", "balanced_accuracy"])
def test_folds_count_alike_in_what_is_corrected_too(metric):
    rng = np.random.default_rng(3)
    fold = np.repeat([0, 1, 2], [240, 30, 30])
    y = rng.integers(0, 2, 300)
    hits = [np.where(rng.random(300) < np.where(fold == 0, 0.9, 0.55), y, 1 - y) for _ in range(3)]
    predicted = [np.where(p == 1, 0.8, 0.2) for p in hits] if metric == "log_loss" else hits
    one = audit_search(predictions=predicted[:1], y=y, metric=metric, fold=fold)
    assert one.naive == pytest.approx(one.corrected)
    assert one.naive == pytest.approx(
        np.mean([THEIRS[metric](y[fold == k], predicted[0][fold == k]) for k in range(3)])
    )
    groups = {"groups": np.arange(300) // 2}  # of two rows
    assert audit_search(predictions=predicted[:1], y=y, metric=metric, fold=fold, **groups).optimism == (
        pytest.approx(0)
    )
    assert 0 < audit_search(predictions=predicted, y=y, metric=metric, fold=fold).optimism < 0.2


@pytest.mark.parametrize(
    "beside", [np.array(["u0", "u1"] * 10), np.arange(20).astype("M8[D]").astype(object)]
)
def test_a_column_that_predicts_no_class_is_named(beside):
    y = np.array(["yes", "no"] * 10)
    table = {"a": y, "b": y[::-1], "user": beside}
    with pytest.raises(ValueError, match=r"'user' has .* and none of the classes: leave out what is no"):
        audit_search(predictions=table, y=y, metric="error")
