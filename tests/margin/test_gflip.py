import margin_twin as twin
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from offsample.margin import GFlip, _flips, margin_score, sigmoid
from offsample.margin._space import Columns, make_space
from offsample.margin._utility import as_utility


def problem(n_rows=80, n_features=12, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_features))
    X[:, :3] += 1.5 * np.eye(n_classes, 3)[y]
    X[:, 4] = X[:, 0]  # a copy
    X[:, 5] = 1.0  # a constant
    return X, y


def searcher(X, y, utility="linear", n_threads=1):
    order = np.argsort(y, kind="stable")
    space = make_space(Columns(np.ascontiguousarray(X[order].T), np.zeros(X.shape[1], bool)))
    return _flips.FlipSearch(
        space, np.unique(y[order], return_inverse=True)[1], as_utility(utility), n_threads
    )


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
@settings(max_examples=30)
def test_one_pass_equals_the_twin(seed, n_classes, full):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (14, 5)) / 4, rng.integers(0, n_classes, 14)
    y[:2] = 0, 1
    order = rng.permutation(5)
    search = searcher(X, y)
    search.start_from(np.full(5, full))
    search.run_pass(order)
    expected = twin.flip_pass(twin.gaps_of_numbers(X), y, np.full(5, float(full)), order)
    assert search.selected.astype(float).tolist() == expected.tolist()
    assert search.score == pytest.approx(margin_score(X, y, expected), abs=1e-12)


@pytest.mark.parametrize("utility", ["linear", "sigmoid", sigmoid(4.0), "zero_one", np.tanh])
def test_local_maximum(utility):
    X, y = problem()
    gflip = GFlip(utility=utility, random_state=0, scale=None).fit(X, y)
    selected = gflip.support_.astype(float)
    best = margin_score(X, y, selected, utility)
    assert gflip.score_ == pytest.approx(best)
    for f in range(X.shape[1]):
        flipped = selected.copy()
        flipped[f] = 1 - flipped[f]
        value = margin_score(X, y, flipped, utility)
        assert value <= best + 1e-9
        assert gflip.flip_gains_[f] == pytest.approx(value - best, abs=1e-9)


def test_result():
    X, y = problem()
    gflip = GFlip(random_state=0).fit(X, y)
    assert gflip.feature_weights_.tolist() == gflip.support_.astype(float).tolist()
    assert gflip.n_features_ == gflip.support_.sum()
    assert sorted(gflip.ranking_) == list(range(1, 13))
    assert gflip.ranking_[gflip.support_].max() == gflip.n_features_
    assert not gflip.support_[5]
    loss = gflip.flip_gains_[gflip.support_]
    assert (np.argsort(gflip.ranking_[gflip.support_]) == np.argsort(loss, kind="stable")).all()


def test_restarts():
    X, y = problem(seed=1)
    gflip = GFlip(n_restarts=6, random_state=0).fit(X, y)
    assert len(gflip.history_) == 6
    assert gflip.score_ == pytest.approx(max(history[-1] for history in gflip.history_))
    for history in gflip.history_:
        assert (np.diff(history) >= 0).all()
        assert history[-1] == pytest.approx(history[-2]) if len(history) > 1 else True


def test_ties_change_nothing():
    X, y = problem()
    search = searcher(X, y)
    search.start_from(np.eye(12, dtype=bool)[5])  # only the constant
    assert search.score == 0
    gains = None
    while gains is None:
        gains = search.run_pass(np.arange(12))
    assert search.selected[5]
    assert gains[5] == 0
    # Of noise alone nothing is selected, where every single feature has a negative margin.
    rng = np.random.default_rng(0)
    noise = GFlip(n_restarts=1).fit(np.ones((20, 3)), rng.integers(0, 2, 20))
    assert noise.get_support().sum() == 0
    assert noise.score_ == 0


def test_distances_do_not_drift(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 40)) * 10 ** rng.uniform(-3, 3, 40), rng.integers(0, 2, 60)
    monkeypatch.setattr(_flips, "_REMOVED_SHARE", np.inf)  # never computed anew
    search = searcher(X, y)
    search.start_from(np.ones(40, bool))
    for f in range(37):
        search._flip(f, 0.0)
    drifted = search._distances
    fresh = searcher(X, y)
    fresh.start_from(search.selected)
    np.testing.assert_allclose(drifted, fresh._distances, rtol=0, atol=1e-12 * np.ptp(X) ** 2)
    monkeypatch.undo()
    exact = searcher(X, y)
    exact.start_from(np.ones(40, bool))
    for f in range(37):
        exact._flip(f, 0.0)
    np.testing.assert_allclose(exact._distances, fresh._distances, rtol=1e-6)


def test_threads_change_nothing(monkeypatch):
    monkeypatch.setattr(_flips, "_PAIRS_PER_THREAD", 100)
    X, y = problem(150)
    one, three = (GFlip(random_state=0, n_jobs=n).fit(X, y) for n in (1, 3))
    assert one.support_.tolist() == three.support_.tolist()
    assert one.score_ == three.score_
    assert one.flip_gains_.tolist() == three.flip_gains_.tolist()


def test_categories_and_missing_values():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 120)
    city = np.where(rng.random(120) < 0.85, np.array(["Rome", "Oslo"])[y], "Bonn").astype(object)
    city[::9] = None
    age = y + rng.normal(0, 0.4, 120)
    age[::7] = np.nan
    frame = pd.DataFrame(
        {"noise": rng.random(120), "city": city, "age": age, "colour": rng.choice(["r", "g"], 120)}
    )
    gflip = GFlip(random_state=0, scale=None).fit(frame, y)
    assert {"city", "age"} <= set(gflip.get_feature_names_out())
    for f in range(4):
        flipped = gflip.support_.astype(float)
        flipped[f] = 1 - flipped[f]
        assert margin_score(frame, y, flipped) - gflip.score_ == pytest.approx(gflip.flip_gains_[f])


def test_landmarks():
    X, y = problem(400, seed=2)
    y[:3] = 3
    gflip = GFlip(max_rows=90, random_state=0).fit(X, y)
    assert 85 <= gflip.n_rows_ <= 92
    assert repr(gflip) == f"GFlip(max_rows=90, random_state=0) fitted on {gflip.n_rows_} of 400 rows"
    assert repr(GFlip(max_rows=90)) == "GFlip(max_rows=90)"
    assert repr(GFlip().fit(X, y)) == "GFlip()"
    again = GFlip(max_rows=90, random_state=0).fit(X, y)
    assert again.support_.tolist() == gflip.support_.tolist()


def test_stratified_sample():
    from offsample.margin.gflip import stratified_rows

    labels = np.repeat([0, 1, 2, 3], [900, 90, 9, 1])
    rows = stratified_rows(labels, 100, np.random.RandomState(0))
    assert np.bincount(labels[rows]).tolist() == [88, 9, 2, 1]
    assert len(set(rows.tolist())) == len(rows)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 300))
def test_a_stratified_sample_has_as_many_rows_as_asked_for(sizes, max_rows):
    from offsample.margin.gflip import stratified_rows

    labels = np.repeat(np.arange(len(sizes)), sizes)
    rows = stratified_rows(labels, max_rows, np.random.RandomState(0))
    twos = np.minimum(sizes, 2)
    found = np.bincount(labels[rows], minlength=len(sizes))
    assert len(set(rows.tolist())) == len(rows) == min(max(max_rows, twos.sum()), len(labels))
    assert (found >= twos).all()
    shares = np.array(sizes) * max_rows / max(len(labels), 1)
    if (shares >= 2).all() and len(rows) < len(labels):
        assert np.abs(found - shares).max() < 1


def test_not_converged():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 passes"):
        gflip = GFlip(max_iter=1, n_restarts=1, random_state=0).fit(X, y)
    assert gflip.support_.any()


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_restarts": 0}, "n_restarts must be at least 1, got 0"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
        ({"max_rows": 3}, "max_rows must be at least 4, got 3"),
        ({"utility": "cubic"}, "utility must be one of"),
    ],
)
def test_bad_parameters(bad, message):
    with pytest.raises(ValueError, match=message):
        GFlip(**bad).fit(*problem())


@pytest.mark.parametrize("utility", ["linear", "zero_one"])
def test_how_many_near_rows_are_kept_changes_nothing(monkeypatch, utility):
    X, y = problem(150, seed=3)
    runs = []
    for n_near in (1, 4, 16, 150):
        monkeypatch.setattr(_flips, "_N_NEAR", n_near)
        runs.append(GFlip(random_state=0, utility=utility).fit(X, y))
    for run in runs[1:]:
        assert run.support_.tolist() == runs[0].support_.tolist()
        assert run.score_ == runs[0].score_
        assert run.flip_gains_.tolist() == runs[0].flip_gains_.tolist()
        assert [h.tolist() for h in run.history_] == [h.tolist() for h in runs[0].history_]
