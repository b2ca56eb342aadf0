"""Probabilities off the sample, the losses that are expected of them, and classes that costs choose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from offsample._losses import brier_losses, log_losses
from offsample.hypotheses import BayesRule, GiniRule
from offsample.induction import (
    BranchingProgramClassifier,
    CommitteeClassifier,
    DecisionListClassifier,
    DNFClassifier,
    MonomialClassifier,
    StochasticTreeClassifier,
    SymmetricFunctionClassifier,
    TreeClassifier,
)
from offsample.induction.scoring import left_out_terms
from offsample.induction.shrinkage import Nest, with_likeliest

LEARNERS = [
    TreeClassifier(),
    TreeClassifier(criterion="log_loss_loo"),
    TreeClassifier(criterion="brier_loo", shrinkage=None),
    TreeClassifier(stopping="none", max_splits=12),
    StochasticTreeClassifier(max_splits=6),
    DecisionListClassifier(),
    DNFClassifier(),
    MonomialClassifier(),
    CommitteeClassifier(),
    SymmetricFunctionClassifier(),
    BranchingProgramClassifier(),
]
EVERY = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
COSTS = {"fn": 12.0, "fp": 1.0}


def rare(n_rows=800, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    p = np.where(X[:, 0] > 0.8, 0.6, np.where(X[:, 1] > 0, 0.15, 0.03))
    return X, np.where(rng.random(n_rows) < p, "yes", "no")


# --- probabilities ----------------------------------------------------------------------------------------


@st.composite
def nests(draw):
    """A root, its children, and children of the first of these."""
    n_classes = draw(st.integers(2, 3))
    leaves = np.array(
        draw(
            st.lists(
                st.lists(st.integers(0, 4), min_size=n_classes, max_size=n_classes), min_size=4, max_size=4
            )
        )
    )
    counts = np.vstack([leaves.sum(axis=0), leaves[:2].sum(axis=0), leaves[2:], leaves[:2]])
    parent, depth = np.array([-1, 0, 0, 0, 1, 1]), np.array([0, 1, 1, 1, 2, 2])
    left = np.array([1.0, *draw(st.lists(st.floats(0, 1), min_size=5, max_size=5))])
    return Nest(counts, parent, depth, np.array([0, 0, 1, 1, 1, 1], bool), left)


def slow_value(counts, nest, weight, at_root):
    value = np.empty(counts.shape)
    for cell, parent in enumerate(nest.parent):
        around = np.full(counts.shape[1], 1 / counts.shape[1]) if parent < 0 else value[parent]
        rows = at_root if parent < 0 else weight
        size = counts[cell].sum() + rows
        mixed = (counts[cell] + rows * around) / size if size else counts[cell] * 0.0
        value[cell] = mixed if parent < 0 else around + nest.left[cell] * (mixed - around)
    return value


@given(nest=nests(), weight=st.sampled_from([0.25, 1.0, 8.0]), data=st.data())
def test_left_out_losses_are_those_without_the_row(nest, weight, data):
    if not nest.counts[0].sum():
        return
    np.testing.assert_allclose(nest.values(weight), slow_value(nest.counts, nest, weight, 0.0))
    cell = data.draw(st.sampled_from([2, 3, 4, 5]))
    present = np.flatnonzero(nest.counts[cell])
    for k in present:
        fewer = nest.counts.copy()
        at = cell
        while at >= 0:  # the row is taken out of every cell around it
            fewer[at, k] -= 1
            at = nest.parent[at]
        without = slow_value(fewer, nest, weight, 1.0)[cell]
        assert nest.own(weight)[cell, k] == pytest.approx(without[k])
        for losses, loss in (
            (log_losses, -np.log(without[k])),
            (brier_losses, ((without - np.eye(len(without))[k]) ** 2).sum()),
        ):
            assert nest.left_out_losses(weight, losses)[cell, k] == pytest.approx(loss)


@given(nest=nests())
def test_the_weight_has_the_least_loss(nest):
    if not nest.counts[0].sum():
        return
    leaves = nest.counts[nest.is_leaf]

    def loss(weight):
        return float((leaves * nest.left_out_losses(weight, log_losses)[nest.is_leaf]).sum())

    assert loss(nest.weight()) <= min(map(loss, (0.25, 4.0, 256.0))) + 1e-9


def test_bundles_of_one_row_are_rows():
    rng = np.random.default_rng(0)
    leaves = rng.integers(1, 4, (2, 2))
    counts = np.vstack([leaves.sum(axis=0), leaves])
    by_unit = np.zeros((3, counts[0].sum(), 2), int)
    unit = 0
    for cell in (1, 2):
        for k in range(2):
            for _ in range(counts[cell, k]):
                by_unit[[0, cell], unit, k] = 1
                unit += 1
    shape = np.array([-1, 0, 0]), np.array([0, 1, 1]), np.array([0, 1, 1], bool), np.array([1.0, 0.7, 0.7])
    rows, units = Nest(counts, *shape), Nest(counts, *shape, by_unit)
    own = (by_unit * units.own(2.0)).sum(axis=1) / np.maximum(by_unit.sum(axis=1), 1)
    np.testing.assert_allclose(own, rows.own(2.0))
    assert units.weight() == rows.weight()


def test_the_label_is_the_likeliest():
    value = np.array([[0.7, 0.3], [0.5, 0.5], [0.2, 0.8]])
    found = with_likeliest(value, np.array([1, 1, 1]))
    assert (found.argmax(axis=1) == 1).all()
    np.testing.assert_allclose(found, [[0.5, 0.5], [0.5, 0.5], [0.2, 0.8]], atol=1e-8)
    assert (found[2] == value[2]).all()


def test_the_label_is_the_likeliest_of_many():
    """The nearest probabilities, by squares, among those of which none exceeds that of the label."""
    rng = np.random.default_rng(0)
    value, label = rng.dirichlet(np.full(5, 0.5), 200), rng.integers(0, 5, 200)
    found = with_likeliest(value, label)
    assert (found.argmax(axis=1) == label).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for p, q, k in zip(value, found, label, strict=True):
        levels = np.linspace(p[k], 1, 4001)  # what the label gets, all that exceed it being cut to it
        cut = np.minimum(p, levels[:, None])
        cut[:, k] = levels
        np.testing.assert_allclose(q, cut[np.abs(cut.sum(axis=1) - 1).argmin()], atol=1e-3)


@EVERY
def test_no_class_is_impossible_and_the_likeliest_is_predicted(learner):
    X, y = rare()
    model = clone(learner).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if getattr(model, "shrinkage", "auto") is not None:
        assert p.min() > 0
    if not isinstance(model, StochasticTreeClassifier):  # its thresholds choose
        assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()


def test_a_chosen_difference_is_not_all_there():
    """Splits of noise say nothing, and evident ones keep most of their difference."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 10)), rng.integers(0, 2, 300)
    noise = TreeClassifier(stopping="none", max_splits=10).fit(X, y)
    assert np.abs(noise.tree_.value[:, 1] - y.mean()).max() < 0.1
    assert np.abs(noise.tree_.counts[:, 1] / noise.tree_.counts.sum(axis=1) - y.mean()).max() > 0.3
    clear = TreeClassifier(max_splits=1).fit(X, (X[:, 0] > 0).astype(int))
    assert clear.tree_.value[1:].max(axis=1).min() > 0.95


# --- losses -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("criterion", "losses"), [("log_loss_loo", log_losses), ("brier_loo", brier_losses)])
def test_the_loss_of_one_leaf(criterion, losses):
    _, y = rare(60)
    tree = TreeClassifier(criterion=criterion).fit(np.zeros((60, 1)), y)
    n_yes = int((y == "yes").sum())
    total = 0.0
    for k, n in enumerate((60 - n_yes, n_yes)):
        others = np.array([60 - n_yes, n_yes]) - np.eye(2)[k]
        total += n * losses((others + 0.5) / 60)[k]
    assert tree.estimated_loss_ == pytest.approx(total / 60)
    low, high = tree.estimated_loss_interval_
    assert low < tree.estimated_loss_ < high


def test_the_loss_of_guessing_on_new_groups():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(12), 5)
    y = (rng.random(60) < 0.3).astype(int)
    tree = TreeClassifier(criterion="log_loss_loo").fit(np.zeros((60, 1)), y, groups=groups)
    total = 0.0
    for g in range(12):
        others = np.bincount(y[groups != g], minlength=2)
        p = (others + 0.5) / (others.sum() + 1)
        total -= np.log(p[y[groups == g]]).sum()
    assert tree.estimated_loss_ == pytest.approx(total / 60)


def test_a_tree_for_new_groups_is_chosen_by_its_loss():
    """Where no group of rows is more likely than not of the rare class, errors choose none; losses do."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 20)
    X = rng.normal(size=(1200, 4))
    y = (rng.random(1200) < np.where(X[:, 1] > 0.5, 0.4, 0.05)).astype(int)
    by_error = TreeClassifier().fit(X, y, groups=groups)
    by_loss = TreeClassifier(criterion="log_loss_loo").fit(X, y, groups=groups)
    assert by_error.n_splits_ == 0
    assert by_loss.used_columns_ == ("x1",)
    low, high = by_loss.estimated_loss_interval_
    assert low < by_loss.estimated_loss_ < high < by_error.estimated_loss_


def test_an_order_of_rows_is_no_sum_over_cells():
    with pytest.raises(ValueError, match="grow by log_loss_loo, and judge what was grown by the area"):
        TreeClassifier(criterion="auc_lpo").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="'cost_loo': give costs= instead, which choose the class"):
        TreeClassifier(criterion="cost_loo").fit([[0], [1]], [0, 1])


# --- costs ------------------------------------------------------------------------------------------------


@EVERY
def test_costs_choose_the_class_and_never_distort_probabilities(learner):
    """A tree is the same; other learners tell apart where decisions change, and say what rows are there."""
    X, y = rare()
    plain, costly = clone(learner).fit(X, y), clone(learner).set_params(costs=COSTS).fit(X, y)
    p = costly.predict_proba(X)
    if isinstance(learner, TreeClassifier):
        np.testing.assert_array_equal(p, plain.predict_proba(X))
        assert costly.stage_sizes_ == plain.stage_sizes_
    new, y_new = rare(20_000, seed=1)
    said = costly.predict_proba(new)[:, 1]
    for low, high in ((0, 0.08), (0.08, 0.3), (0.3, 1)):  # of rows rated alike, as many are of the class
        inside = (said >= low) & (said < high)
        if inside.sum() >= 1000:
            assert (y_new[inside] == "yes").mean() == pytest.approx(said[inside].mean(), abs=0.06)
    matrix = np.array([[0, COSTS["fp"]], [COSTS["fn"], 0]])
    expected = np.maximum(p, 0.5 / len(y)) @ matrix
    assert (costly.predict(X) == plain.classes_[expected.argmin(axis=1)]).all()
    assert (costly.predict(X) == "yes").sum() > (plain.predict(X) == "yes").sum()
    assert (costly.staged_predict(X)[-1] == costly.predict(X)).all()
    error = (costly.predict(X) != y).mean()
    assert costly.estimated_error_ == pytest.approx(error, abs=0.05)
    assert costly.estimated_error_interval_[0] < error < costly.estimated_error_interval_[1]


def one_in_twenty(n_rows, seed):
    """Nowhere is the rare class more likely than not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    p = np.where((X[:, 0] > 0.5) & (X[:, 1] > 0), 0.25, 0.02)
    return X, np.where(rng.random(n_rows) < p, "yes", "no")


@EVERY
@pytest.mark.parametrize("asked", ["costs", "class_weight", "groups"])
def test_what_is_grown_serves_the_decision(learner, asked):
    X, y = one_in_twenty(1500, 1)
    options = {"class_weight": {"yes": 20}} if asked == "class_weight" else {"costs": {"fn": 20, "fp": 1}}
    told = {"groups": np.arange(1500) % 150} if asked == "groups" else {}
    model = clone(learner).set_params(**options).fit(X, y, **told)
    new, y_new = one_in_twenty(20_000, 2)
    is_rare, said = y_new == "yes", model.predict(new) == "yes"
    constant = min(20 * is_rare.mean(), 1 - is_rare.mean())
    assert (20 * (is_rare & ~said) + (~is_rare & said)).mean() < 0.75 * constant
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(is_rare.mean(), abs=0.018)
    assert model.estimated_error_ == pytest.approx((is_rare != said).mean(), abs=0.06)


@EVERY
def test_costs_find_nothing_in_noise(learner):
    X, y = one_in_twenty(600, 3)
    y = np.random.default_rng(0).permutation(y)
    if getattr(learner, "stopping", "auto") == "auto":
        assert len(clone(learner).set_params(costs={"fn": 20, "fp": 1}).fit(X, y).stage_sizes_) == 1


def test_cells_are_told_apart_by_what_is_at_stake():
    """Each row left out in turn, against the rows of its cell that count what their class does."""
    rng, weights = np.random.default_rng(0), np.array([0.5, 3.0, 1.0])
    counts = rng.integers(0, 4, (30, 3))
    for rule in (GiniRule, BayesRule):
        found = left_out_terms(rule, weights, counts)
        np.testing.assert_allclose(left_out_terms(rule, np.ones(3), counts), rule.loo_terms(counts))
        for cell, value in zip(counts, found, strict=True):
            slow = 0.0
            for k in np.flatnonzero(cell):
                others = (cell - np.eye(3, dtype=int)[k]) * weights
                slow += cell[k] * weights[k] * (1 - rule.from_counts(others)[k])
            assert value == pytest.approx(slow)


def test_of_classes_that_cost_the_same_the_likeliest_is_predicted():
    """To take one of the others for another costs nothing by fn and fp."""
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 2))
    y = np.select([X[:, 0] > 1.2, random.random(900) < 0.1], ["fraud", "late"], "ok")
    for learner in (TreeClassifier(), DecisionListClassifier(), StochasticTreeClassifier(max_splits=3)):
        costs = [[0, 1, 1], [4, 0, 0], [4, 0, 0]]  # fraud, late, ok
        found = learner.set_params(costs=costs).fit(X, y)
        p = found.predict_proba(X)
        expected = np.where(p[:, 0] > 0.8, "fraud", np.where(p[:, 1] > p[:, 2], "late", "ok"))
        assert {"ok", "fraud"} <= set(expected)
        assert (found.predict(X) == expected).all()


@EVERY
def test_weights_of_classes_are_costs(learner):
    X, y = rare()
    shares = np.array([(y == k).mean() for k in ("no", "yes")])
    by_weight = clone(learner).set_params(class_weight="balanced").fit(X, y)
    by_cost = clone(learner).set_params(costs=[[0, 1 / shares[0]], [1 / shares[1], 0]]).fit(X, y)
    named = clone(learner).set_params(class_weight={"yes": shares[0] / shares[1]}).fit(X, y)
    assert (by_weight.predict(X) == by_cost.predict(X)).all()
    assert (by_weight.predict(X) == named.predict(X)).all()


@pytest.mark.parametrize("learner", [TreeClassifier(), DecisionListClassifier(), StochasticTreeClassifier()])
def test_groups_judge_what_decides_by_costs(learner):
    X, y = rare(600)
    groups = np.arange(600) // 10
    costly = clone(learner).set_params(costs={"fn": 3, "fp": 1}).fit(X, y, groups=groups)
    if isinstance(learner, TreeClassifier):
        plain = clone(learner).fit(X, y, groups=groups)
        np.testing.assert_array_equal(plain.predict_proba(X), costly.predict_proba(X))
    error = (costly.predict(X) != y).mean()
    assert costly.estimated_error_interval_[0] < error < costly.estimated_error_interval_[1]


def test_the_cost_to_expect():
    X, y = rare(4000)
    new, y_new = rare(20_000, seed=1)
    for options in ({}, {"criterion": "log_loss_loo"}):
        tree = TreeClassifier(costs=COSTS, **options).fit(X, y)
        said = tree.predict(new)
        cost = 12 * ((y_new == "yes") & (said == "no")).mean() + ((y_new == "no") & (said == "yes")).mean()
        low, high = tree.estimated_loss_interval_
        assert low < cost < high
        assert tree.estimated_loss_ == pytest.approx(cost, abs=0.08)


def test_what_is_shown_is_what_is_predicted():
    X, y = rare()
    tree = TreeClassifier(costs={"fn": 50, "fp": 1}).fit(X, y)
    assert (tree.predict(X) == "yes").all()
    leaves = [line for line in tree.to_text().splitlines() if line.endswith(")")]
    assert all("yes (" in line for line in leaves)
    rules = DecisionListClassifier(costs={"fn": 50, "fp": 1}).fit(X, y)
    assert all(rule.prediction == "yes" for rule in rules.rules_)


def test_costs_in_a_search():
    X, y = rare()
    grid = {
        "costs": [None, COSTS],
        "class_weight": [None, "balanced"],
        "criterion": ["ginger", "log_loss_loo"],
    }
    search = GridSearchCV(TreeClassifier(), grid, scoring="recall", cv=3).fit(X, y == "yes")
    assert search.best_params_["costs"] is not None or search.best_params_["class_weight"] is not None
    again = clone(search.best_estimator_)
    assert again.get_params()["costs"] == search.best_params_["costs"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"costs": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}, r"costs has shape \(3, 3\): expected \(2, 2\)"),
        ({"costs": {"fm": 1}}, "costs has the entry 'fm'"),
        ({"class_weight": "even"}, "class_weight must be a dict, 'balanced' or None, got 'even'"),
        ({"class_weight": {"yes": -1}}, "class_weight must be finite and not negative"),
        ({"costs": {"fn": "ten", "fp": 1}}, r"^costs\['fn'\] is 'ten': expected a finite number$"),
        ({"costs": {"fn": 10, "fp": [1]}}, r"^costs\['fp'\] is \[1\]: expected a finite number$"),
        ({"costs": [[0, 1], [10]]}, r"^costs is \[\[0, 1\], \[10\]\]: expected 2 rows of 2 numbers"),
        ({"costs": [[0, "a"], [1, 0]]}, "expected 2 rows of 2 numbers each, true × predicted$"),
        ({"class_weight": {"yes": "a"}}, r"^class_weight\['yes'\] is 'a': expected a finite number$"),
        ({"class_weight": {"zz": 5}}, "^class_weight names 'zz', which is no class: expected 'no', 'yes'$"),
    ],
)
def test_bad_costs(options, message):
    X, y = rare(100)
    with pytest.raises(ValueError, match=message):
        TreeClassifier(**options).fit(X, y)


def test_weights_of_a_class_that_these_rows_lack():
    X, y = rare(100)
    weights = {"no": 1.0, "yes": 20.0}
    known, more = (TreeClassifier(class_weight=one).fit(X, y) for one in (weights, {**weights, "zz": 5}))
    assert (known.predict_proba(X) == more.predict_proba(X)).all()
    assert known.estimated_loss_ == more.estimated_loss_


@pytest.mark.parametrize(
    "options",
    [{"costs": COSTS}, {"criterion": "log_loss_loo"}, {"criterion": "log_loss_loo", "costs": COSTS}],
)
def test_the_error_of_a_node_is_that_of_the_class_it_shows(options):
    X, y = rare(1500)
    tree = TreeClassifier(**options).fit(X, y)
    flat, todo = tree.tree_, [tree.to_dict()]
    own = flat.counts[np.arange(flat.n_nodes), flat.label] / flat.counts.sum(axis=1)
    assert (flat.label[flat.is_leaf] == 1).any()
    np.testing.assert_allclose(flat.estimated_error, 1 - own, atol=0.05)  # but for the shrinkage
    while todo:
        node = todo.pop()
        todo += node.get("children", [])
        said = node["probabilities"][list(tree.classes_).index(node["prediction"])]
        assert node["estimated_error"] == pytest.approx(1 - said)
