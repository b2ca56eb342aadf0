"""What a report leads with: each figure against brute force, and its spread against a jackknife."""

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from offsample._losses import checked_costs, decide
from offsample.report._metrics import (
    METRICS,
    Rated,
    area,
    check_metric,
    metric_of,
    pair_losses,
    top,
)
from offsample.report._scales import scale_of
from offsample.report.sections.acting import _curve


def log_losses(proba, labels):
    return METRICS["log_loss"].losses(proba, labels, None)


def rows(n=60, seed=0, n_folds=2, n_levels=7, rate=0.3):
    random = np.random.default_rng(seed)
    fold = np.arange(n) % n_folds
    positive = random.random(n) < rate
    return np.round(random.integers(0, n_levels, n) / 10 + 0.1 * positive, 3), positive, fold


def rated(n=60, seed=0, n_folds=2, units=(), **options):
    score, positive, fold = rows(n, seed, max(1, n_folds), **options)
    proba = np.stack([1 - score, score], axis=1)
    return Rated(proba, (score > 0.5).astype(int), positive.astype(int), fold, list(units), n_folds, 1)


def jackknife(found, figure):
    """Standard error of a figure by leaving out row after row."""
    n = len(found.labels)
    left = []
    for i in range(n):
        kept = np.arange(n) != i
        part = Rated(
            found.proba[kept], found.predicted[kept], found.labels[kept], found.fold[kept], [], 0, 1
        )  # fmt: skip
        left.append(figure(part))
    return np.sqrt((n - 1) / n * ((np.array(left) - np.mean(left)) ** 2).sum())


@pytest.mark.parametrize("seed", range(5))
def test_areas_are_the_pairs_of_one_fold_in_order(seed):
    score, positive, fold = rows(seed=seed)
    won = [
        1.0 if score[i] > score[j] else 0.5 if score[i] == score[j] else 0.0
        for i in np.flatnonzero(positive)
        for j in np.flatnonzero(~positive)
        if fold[i] == fold[j]
    ]
    value, parts = area(score, positive, fold)
    assert value == pytest.approx(np.mean(won))
    assert parts.sum() == pytest.approx(0, abs=1e-12)
    one_fold = np.zeros(len(score), int)
    assert area(score, positive, one_fold)[0] == pytest.approx(roc_auc_score(positive, score))


@pytest.mark.parametrize("seed", range(3))
def test_losses_of_pairs_vary_as_delong_says(seed):
    score, positive, _ = rows(200, seed)
    above, below = score[positive], score[~positive]
    order = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    variance = order.mean(axis=1).var() / len(above) + order.mean(axis=0).var() / len(below)
    losses = pair_losses(score, positive)
    assert losses.mean() == pytest.approx(1 - order.mean())
    assert losses.std() / np.sqrt(len(losses)) == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("seed", range(4))
def test_the_top_holds_what_ties_broken_at_random_would_hold(seed):
    score, positive, fold = rows(50, seed)
    inside, _ = top(score, positive, fold, 0.3)
    random, held = np.random.default_rng(seed), np.zeros(50)
    for _ in range(4000):
        order = np.lexsort((random.random(50), -score))
        for one in (0, 1):
            held[order[fold[order] == one][:7]] += 1 / 4000
            held[order[fold[order] == one][7]] += 0.5 / 4000  # 7.5 of the 25 rows of a fold
    np.testing.assert_allclose(inside, held, atol=0.04)
    assert inside.sum() == pytest.approx(15)


@pytest.mark.parametrize("figure", ["auc", "precision", "recall"])
def test_intervals_have_the_spread_of_a_jackknife(figure):
    found = rated(400, 3, n_folds=1, n_levels=9, rate=0.4)
    found = Rated(found.proba, found.predicted, found.labels, found.fold, [], 0, 1)

    def value(one):
        return one.auc().value if figure == "auc" else one.on_top(0.25)[figure == "recall"].value

    score = found.auc() if figure == "auc" else found.on_top(0.25)[figure == "recall"]
    # Nearly symmetric here: the width is that of 1.97 standard errors to either side.
    assert (score.high - score.low) / 2 / 1.975 == pytest.approx(jackknife(found, value), rel=0.08)
    assert score.low < score.value < score.high


def test_intervals_count_units_and_folds():
    alone = rated(300, 1, n_folds=0)
    by_row = rated(300, 1, n_folds=0, units=[np.arange(300)])
    assert by_row.auc().low == pytest.approx(alone.auc().low, abs=0.01)
    random = np.random.default_rng(0)
    copies = np.repeat(np.arange(300), 4)
    four = Rated(
        alone.proba[copies], alone.predicted[copies], alone.labels[copies], alone.fold[copies], [copies], 0, 1
    )
    naive = Rated(four.proba, four.predicted, four.labels, four.fold, [], 0, 1)
    for figure in (lambda one: one.auc(), lambda one: one.mean(log_losses(one.proba, one.labels))):
        width, once, rows_only = (figure(one).high - figure(one).low for one in (four, alone, naive))
        assert width == pytest.approx(once, rel=0.1)  # copies of rows say no more than the rows
        assert rows_only < 0.6 * width
    folds = Rated(alone.proba, alone.predicted, alone.labels, random.integers(0, 5, 300), [], 5, 1)
    assert folds.mean(log_losses(folds.proba, folds.labels)).high > alone.mean(
        log_losses(alone.proba, alone.labels)
    ).high  # fmt: skip


def test_perfect_and_constant_ratings():
    labels = np.repeat([0, 1], [90, 10])
    proba = np.stack([1 - labels, labels], axis=1).astype(float)
    perfect = Rated(proba, labels, labels, np.zeros(100, int), [], 5, 1)
    assert perfect.auc().value == 1
    assert 0.6 < perfect.auc().low < 0.9 < perfect.auc().high == 1
    assert perfect.on_top(0.1)[1].value == 1
    assert perfect.on_top(0.1)[1].low < 0.9
    alike = Rated(np.full((100, 2), 0.5), labels, labels, np.zeros(100, int), [], 5, 1)
    assert (alike.auc().low, alike.auc().value, alike.auc().high) == (0.5, 0.5, 0.5)
    assert alike.on_top(0.1)[1].value == 0.1


@pytest.mark.parametrize("n", [20, 50, 150])
def test_models_that_rate_all_rows_alike_hold_what_they_are_asked_for(n):
    """Each with the share of its own rows, which is larger where those that are tested hold less."""
    labels, fold = (np.arange(n) % 7 == 0).astype(int), np.random.default_rng(0).integers(0, 3, n)
    share = np.array([labels[fold != one].mean() for one in range(3)])[fold]
    rated = Rated(np.stack([1 - share, share], axis=1), labels, labels, fold, [], 3, 1)
    precision, held = rated.on_top(0.1)
    assert np.ptp(share) > 0
    assert (held.low, held.value, held.high) == (0.1, 0.1, 0.1)
    assert precision.value == labels.mean()


def test_ends_of_what_rows_hold_never_fall():
    shares, n_fallen = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0], 0
    for seed in range(30):
        random = np.random.default_rng(seed)
        labels, fold = (random.random(120) < 0.1).astype(int), np.arange(120) % 3
        p = np.round(random.random(120) + labels, 1) / 2
        some = Rated(np.stack([1 - p, p], axis=1), labels, labels, fold, [], 3, 1)
        alone = [some.on_top(share)[1] for share in shares]
        recall = [point.recall for point in _curve(some, shares)]
        n_fallen += any(np.any(np.diff([getattr(one, end) for one in alone]) < 0) for end in ("low", "high"))
        for end in ("low", "value", "high"):
            assert (np.diff([getattr(one, end) for one in recall]) >= 0).all()
        for one, other in zip(alone, recall, strict=True):
            assert one.low <= other.low <= other.value == one.value <= other.high <= one.high
    assert n_fallen > 3


def test_more_rows_never_hold_less():
    """Of leaves that are rated otherwise in each fold, at shares around that at which a fold has few rows."""
    random = np.random.default_rng(0)
    fold, leaf = np.arange(5000) % 5, random.integers(0, 4, 5000)
    labels = (random.random(5000) < 0.02 * (1 + leaf)).astype(int)
    p = 0.02 * (1 + leaf) + 0.03 * random.random((5, 4))[fold, leaf]
    rated = Rated(np.stack([1 - p, p], axis=1), labels, labels, fold, [], 5, 1)
    held = [rated.on_top(share)[1].value for share in (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1)]
    assert held == sorted(held)


def by_cells(seed, shares, rates, n=2000, n_folds=5):
    """Rows rated by the frequency in the other folds of their cell."""
    random = np.random.default_rng(seed)
    cell = random.choice(len(shares), n, p=shares)
    labels = (random.random(n) < np.asarray(rates)[cell]).astype(int)
    fold, score = np.arange(n) % n_folds, np.zeros(n)
    for one in range(n_folds):
        known, asked = fold != one, fold == one
        hits, size = (np.bincount(cell[known], of, len(shares)) for of in (labels[known], None))
        score[asked] = ((hits + 0.4) / (size + 20))[cell[asked]]
    return Rated(np.stack([1 - score, score], axis=1), 0 * labels, labels, fold, [], n_folds, 1)


@pytest.mark.parametrize(
    ("shares", "rates", "area", "captured"),
    [
        ([0.15, 0.85], [0.004, 0.02], 0.5587, 0.1137),  # often no positive is in the smaller cell
        ([0.15, 0.85], [0.02, 0.02], 0.5, 0.1),
        ([0.02, 0.98], [0.02, 0.02], 0.5, 0.1),
        ([0.05] * 20, [0.02] * 20, 0.5, 0.1),
    ],
)
def test_intervals_hold_where_cells_have_no_row_of_the_rare_class(shares, rates, area, captured):
    found = [by_cells(seed, shares, rates) for seed in range(150)]
    for truth, scores in (
        (area, [one.auc() for one in found]),
        (captured, [one.on_top(0.1)[1] for one in found]),
    ):
        assert np.mean([one.low <= truth <= one.high for one in scores]) >= 0.93
        assert np.mean([one.high - one.low for one in scores]) < 0.4


def test_more_classes_are_taken_each_against_the_rest():
    random = np.random.default_rng(5)
    proba = random.dirichlet([5, 2, 1], 200)
    labels = np.array([random.choice(3, p=p) for p in proba])
    found = Rated(proba, proba.argmax(axis=1), labels, np.zeros(200, int), [], 0, 2)
    expected = roc_auc_score(labels, proba, multi_class="ovr", average="weighted")
    assert found.auc().value == pytest.approx(expected)


def test_losses_are_those_of_scikit_learn():
    random = np.random.default_rng(1)
    proba, labels = random.dirichlet([3, 2, 1], 50), random.integers(0, 3, 50)
    assert log_losses(proba, labels).mean() == pytest.approx(log_loss(labels, proba))
    onehot = np.eye(3)[labels]
    assert METRICS["brier"].losses(proba, labels, None).mean() == pytest.approx(
        ((proba - onehot) ** 2).sum(axis=1).mean()
    )
    assert np.isfinite(log_losses(np.array([[1.0, 0.0]]), np.array([1]))).all()


def test_costs_choose_the_cheaper_decision_and_are_about_the_positive_class():
    costs = {"fn": 10, "fp": 1}
    np.testing.assert_array_equal(checked_costs(costs, 2, positive=1), [[0, 1], [10, 0]])
    np.testing.assert_array_equal(checked_costs(costs, 2, positive=0), [[0, 10], [1, 0]])
    proba = np.array([[0.95, 0.05], [0.89, 0.11]])
    assert decide(proba, checked_costs(costs, 2, 1)).tolist() == [0, 1]
    lost = METRICS["cost"].losses(proba, np.array([1, 0]), checked_costs(costs, 2, 1))
    assert lost.tolist() == [10_000, 1_000]  # of a thousand rows


def test_the_metric_that_fits():
    assert metric_of("auto", np.array([79, 21]), None).name == "error"
    assert metric_of("auto", np.array([80, 20]), None).name == "auc"
    assert metric_of("auto", np.array([80, 20]), np.eye(2)).name == "cost"
    assert metric_of("auto", np.array([5]), None).name == "error"
    assert metric_of("auc", np.array([80, 10, 10]), None).loss == "log loss"
    for options, message in (
        (("gini", None, None), "metric must be one of auto, error, auc, log_loss, brier, cost, got 'gini'"),
        (("cost", None, None), "there are no costs"),
        (("auto", None, 5.0), "capacity is a share of the rows between 0 and 1, got 5.0"),
        (("auto", None, "5%"), "capacity is a share of the rows between 0 and 1, got '5%'"),
        (("auto", None, 1.0), "got 1.0, which is all of them: 1 % is 0.01"),
        (("auto", "fn=10,fp=1", None), "costs is the text 'fn=10,fp=1': expected a dict such as"),
        (("auto", {"fn": 2, "fp": 1}, 0.1), "costs say whom to act on, and so does a capacity"),
    ):
        with pytest.raises(ValueError, match=message):
            check_metric(*options)


def test_no_area_is_below_nothing():
    scale = scale_of(METRICS["auc"], 0.5, None)
    assert scale(1.7) == 0
    assert np.isnan(scale(np.nan))  # a tree has no AUC of its own estimate: it was drawn as one of 0
    assert scale.within(0.2, 1.7) == ".00 – .80"
    assert scale_of(METRICS["r2"], 0.0, None)(1.7) == pytest.approx(-0.7)


def test_nearly_all_that_is_held_is_known_about_as_well_as_all():
    """A positive that is mostly in the top says hardly less than one that is in it."""
    label = (np.arange(3700) < 95).astype(int)
    rating = np.where(label, 0.9, 0.01)
    rating[94:457] = 0.05  # of which 276 of 363 are in the top
    rows = np.column_stack([1 - rating, rating]), label, label, np.zeros(3700, int)
    nearly = Rated(*rows, [], 5, 1).on_top(0.1)[1]
    assert nearly.value == pytest.approx(0.9975, abs=1e-4)
    assert 0.8 < nearly.low < nearly.value < nearly.high
