"""Intervals of losses and AUCs: their variances against sums over all pairs of units, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit
from scipy.stats import norm

from offsample._auc import Placement, auc_lpo, order_of_large
from offsample._loss_intervals import _chance_of_decisions, _spread, judge_auc, judge_loss
from offsample._losses import BrierLoss, CostLoss, LogLoss, rarer_class
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.criteria import (
    CRITERIA,
    cost_loo,
    error_interval,
    information_gain_loo,
    log_loss_loo,
    score_interval,
)

COSTS = np.array([[0.0, 1.0, 3.0], [5.0, 0.0, 1.0], [2.0, 4.0, 0.0]])


def losses_of(n_classes, m):
    return [LogLoss(1.0, 0.5 / m), BrierLoss(), CostLoss(COSTS[:n_classes, :n_classes])]


def counted(value, label, keep, n_classes, weight=None):
    """Class counts of each value, of the rows that are kept."""
    counts = np.zeros((value.max() + 1, n_classes))
    np.add.at(counts, (value[keep], label[keep]), 1 if weight is None else weight[keep])
    return counts


def by_definition(value, label, unit, loss, n_classes):
    """Standard error of the mean loss: a sum over units, and over pairs of units at each value."""
    m, units, everything = len(value), np.unique(unit), np.ones(len(value), bool)
    totals = np.bincount(label, minlength=n_classes)
    rows_alone = len(units) == m

    def on(i, counts, shares):
        return float(loss.on(label[i], counts[value[i]], shares))

    def share(without):
        left = np.maximum(totals - np.bincount(label[without], minlength=n_classes), 0)
        return left / max(1, left.sum())

    own = {}
    for g in units:
        here = unit == g
        counts = counted(value, label, ~here, n_classes)
        own |= {i: on(i, counts, share(here)) for i in np.flatnonzero(here)}
    mean = np.mean(list(own.values()))
    beyond = [sum(own[i] - mean for i in np.flatnonzero(unit == g)) for g in units]
    part = 1 - np.array([(unit == g).mean() for g in units])
    squares = float((np.array(beyond) ** 2 / (1 if rows_alone else np.maximum(part, 0.5) ** 2)).sum())
    pairs = 0.0
    for sign in (0.0, 2.0):  # without h, or with h twice
        change = np.zeros((len(units), len(units), value.max() + 1))
        for g in units:
            alone = counted(value, label, unit != g, n_classes)
            for h in units:
                if g == h:
                    continue
                weight = np.where(unit == h, sign, everything)
                counts = counted(value, label, unit != g, n_classes, weight)
                for i in np.flatnonzero(unit == g):
                    shares = share(np.arange(m) == i) if rows_alone else totals / m
                    change[g, h, value[i]] += on(i, counts, shares) - on(i, alone, shares)
        pairs += max(0.0, float((change * change.swapaxes(0, 1)).sum()))
    return np.sqrt(squares + pairs) / m


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows(n_classes) -> None:
    random = np.random.default_rng(0)
    for _ in range(6):
        value, label = random.integers(0, 4, 25), random.integers(0, n_classes, 25)
        label[:n_classes] = range(n_classes)
        cells = CellCounts.from_codes(value, label, n_classes=n_classes)
        for loss in losses_of(n_classes, 25):
            expected = by_definition(value, label, np.arange(25), loss, n_classes)
            assert _spread(cells, loss).deviation == pytest.approx(expected, rel=1e-9)


def test_groups() -> None:
    random = np.random.default_rng(1)
    for _ in range(4):
        value, label, group = (random.integers(0, top, 40) for top in (3, 2, 8))
        group[:8] = range(8)
        cells = GroupedCounts.from_rows(value, label, group, 2)
        for loss in losses_of(2, 40):
            expected = by_definition(value, label, group, loss, 2)
            assert _spread(cells, loss).deviation == pytest.approx(expected, rel=1e-9)


def test_many_groups_at_a_value_are_bundled() -> None:
    random = np.random.default_rng(2)
    group = np.repeat(np.arange(100), 3)
    value, label = random.integers(0, 2, 300), (random.random(300) < 0.2).astype(int)
    for loss in losses_of(2, 300)[:2]:
        spread = _spread(GroupedCounts.from_rows(value, label, group, 2), loss)
        rows = _spread(CellCounts.from_codes(value, label, n_classes=2), loss)
        assert spread.deviation == pytest.approx(rows.deviation, rel=0.15)  # labels do not depend on groups
        assert spread.n_units == pytest.approx(100)


@pytest.mark.parametrize("n_cells", [2, 5, 40])
def test_placements_are_what_the_auc_is_made_of(n_cells) -> None:
    """The mean loss over the positives, and that over the negatives, are what an AUC lacks of 1."""
    counts = np.random.default_rng(n_cells).integers(1, 6, (n_cells, 2))
    cells = CellCounts(counts).profile()
    placement = Placement.of(cells, 1).within(np.arange(len(cells.counts)))
    share = np.asarray(cells.class_totals) / cells.n_samples
    for k in (0, 1):
        lost = placement.on(k, cells.counts - np.eye(2, dtype=int)[k], share) * share[k]
        rows = cells.multiplicity * cells.counts[:, k]
        assert 1 - rows @ lost / rows.sum() == pytest.approx(auc_lpo(cells), rel=1e-12)


def test_units_of_one_row_are_rows_and_time_has_parts() -> None:
    random = np.random.default_rng(3)
    value, label = random.integers(0, 6, 300), (random.random(300) < 0.3).astype(int)
    rows, alone = CellCounts.from_codes(value, label), GroupedCounts.from_rows(value, label, range(300))
    later = HeldOutCounts(value, label, 2, time=np.arange(300))
    for loss in losses_of(2, 300):
        assert judge_loss(rows, loss, 0.9) == judge_loss(alone, loss, 0.9)
        assert _spread(later, loss).n_units == pytest.approx(30)
        assert judge_loss(later, loss, 0.9).low < judge_loss(later, loss, 0.9).value
    assert judge_auc(rows, 0.9) == judge_auc(alone, 0.9)
    assert judge_auc(later, 0.9).value == auc_lpo(later)


def test_intervals_hold_their_estimates_and_grow_with_confidence() -> None:
    random = np.random.default_rng(4)
    for _ in range(25):
        counts = random.integers(0, 30, (random.integers(1, 6), random.integers(2, 4)))
        counts[0, :2] += 2
        cells = CellCounts(counts)
        costs = COSTS[: cells.n_classes, : cells.n_classes]
        for name in ("log_loss_loo", "brier_loo", "auc_lpo", "cost_loo"):
            value = cost_loo(cells, costs) if name == "cost_loo" else CRITERIA[name](cells)
            used = costs if name == "cost_loo" else None
            narrow, wide = (score_interval(cells, name, level, used) for level in (0.8, 0.99))
            assert wide[0] <= narrow[0] <= value + 1e-12
            assert value - 1e-12 <= narrow[1] <= wide[1]


def test_what_is_never_seen_to_lose_may_lose_yet() -> None:
    perfect = CellCounts([[100, 0], [0, 100]])
    low, high = score_interval(perfect, "cost_loo", costs={"fn": 10, "fp": 1})
    assert low == 0
    assert 0.2 < high < 0.4  # one row in thirty costs ten
    low, high = score_interval(perfect, "auc_lpo")
    assert 0.95 < low < 0.98
    assert high == 1


@pytest.mark.parametrize(("m", "rates", "fn"), [(1500, (0.0013, 0.0387), 40), (1000, (0.0015, 0.2), 100)])
def test_a_value_without_positives_may_have_some(m, rates, fn) -> None:
    """Intervals of a cost and of its gain cover where what a decision may cost is hardly ever seen."""
    random, matrix, rate = np.random.default_rng(901), np.array([[0.0, 1.0], [fn, 0.0]]), np.array(rates)
    expected = np.column_stack([1 - rate, rate]) @ matrix
    covered, widths = [], []
    for n_first in random.binomial(m, 0.5, 200):
        rows = np.array([n_first, m - n_first])
        positives = random.binomial(rows, rate)
        counts = np.column_stack([rows - positives, positives])
        judged = judge_loss(CellCounts(counts), CostLoss(matrix), 0.95, most=fn)
        decided = (counts @ matrix).argmin(axis=1)
        cost = expected[range(2), decided].mean()
        gain = expected[:, (counts.sum(axis=0) @ matrix).argmin()].mean() - cost
        covered.append((judged.low <= cost <= judged.high, judged.gain_low <= gain <= judged.gain_high))
        widths.append(judged.high - judged.low)
    assert (np.mean(covered, axis=0) >= 0.93).all()
    assert np.mean(widths) < 10 * fn / m  # ten rows that cost most, where none or few were seen


def test_the_interval_of_a_cost_holds_that_of_decisions_that_stay() -> None:
    """Where decisions are nearly ties, all groups turn them over when they are left out, or none does."""
    random = np.random.default_rng(6)
    matrix = np.array([[0.0, 1.0], [10.0, 0.0]])
    group, widened = np.arange(240) // 8, 0
    for _ in range(30):
        value = random.integers(0, 3, 240)
        label = (random.random(240) < 1 / 11).astype(int)
        cells = GroupedCounts.from_rows(value, label, group)
        judged = judge_loss(cells, CostLoss(matrix), 0.95)

        def cost(y, known):  # classes that are equally cheap share the decision
            costs = matrix[known].sum(axis=0)
            return matrix[y, costs == costs.min()].mean()

        def interval(losses):
            of_group = np.bincount(group, losses - losses.mean()) / (1 - 8 / 240)
            far = stdtrit(29, 0.975) * np.sqrt(of_group @ of_group) / 240
            return losses.mean() - far, losses.mean() + far

        rows = list(zip(value, label, group, strict=True))
        stays = np.array([cost(y, label[value == v]) for v, y, _ in rows])
        left_out = np.array([cost(y, label[(value == v) & (group != g)]) for v, y, g in rows])
        blind = np.array([cost(y, label) for y in label])
        assert judged.value == pytest.approx(left_out.mean())
        for (low, high), (least, most) in (
            (interval(stays), (judged.low, judged.high)),
            (interval(blind - left_out), (judged.gain_low, judged.gain_high)),
        ):
            assert least <= low + 1e-9
            assert high <= most + 1e-9
            widened += bool(low == pytest.approx(least) or high == pytest.approx(most))
    assert widened > 3


def test_an_auc_without_evidence_may_be_a_half() -> None:
    noise = CellCounts([[40, 9], [35, 11], [45, 10]])
    low, high = score_interval(noise, "auc_lpo")
    assert auc_lpo(noise) < 0.5  # the order of cells changes with a row
    assert low <= 0.5 <= high
    one_class = judge_auc(CellCounts([[5, 0], [4, 0]]), 0.95)
    assert (one_class.value, one_class.low, one_class.high) == (0.5, 0, 1)


def test_bits() -> None:
    cells = CellCounts([[30, 10], [5, 55]])
    blind = CellCounts([[35, 65]])
    assert information_gain_loo(cells) == pytest.approx(
        (log_loss_loo(blind) - log_loss_loo(cells)) / np.log(2)
    )
    assert information_gain_loo(CellCounts(np.eye(2), [970, 30])) == pytest.approx(0, abs=1e-12)
    noise = np.random.default_rng(5)
    value, label = noise.integers(0, 50, 400), noise.integers(0, 2, 400)
    assert information_gain_loo(CellCounts.from_codes(value, label)) < 0
    judged = CRITERIA["log_loss_loo"].judge(cells, 0.95)
    assert judged.gain / np.log(2) == pytest.approx(information_gain_loo(cells))


def test_the_rarer_class() -> None:
    assert [rarer_class(totals) for totals in ([3, 9], [9, 3], [5, 5])] == [0, 1, 1]


def test_refusals() -> None:
    cells = CellCounts([[3, 1], [1, 2]])
    assert score_interval(cells, "bayes_loo") == error_interval(cells, "bayes")
    with pytest.raises(ValueError, match="of the sample itself"):
        score_interval(cells, "information_gain")
    with pytest.raises(ValueError, match="'cost_loo' needs costs"):
        score_interval(cells, "cost_loo")
    with pytest.raises(ValueError, match="costs are for criterion 'cost_loo', not for 'brier_loo'"):
        score_interval(cells, "brier_loo", costs={"fn": 1})
    with pytest.raises(ValueError, match="must be one of"):
        score_interval(cells, "nothing")


def test_a_class_of_one_row_costs_no_more_than_its_share():
    with_one = judge_auc(CellCounts([[300, 100, 0], [50, 549, 1]]), 0.95)
    without = judge_auc(CellCounts([[300, 100], [50, 550]]), 0.95)
    assert 0 < with_one.high - with_one.low < without.high - without.low + 0.03
    assert with_one.low == pytest.approx(without.low, abs=0.02)


def test_savings_that_no_row_shows_may_still_come():
    """Forty values, each positive alone at its own: none is saved once it is left out, but others may be."""
    cells = CellCounts([[4, 1]] * 10 + [[5, 0]] * 30)
    judged = judge_loss(cells, CostLoss(np.array([[0.0, 1.0], [10.0, 0.0]])), 0.95, most=10.0)
    assert judged.gain_low < judged.gain < 0
    assert judged.gain_high == pytest.approx(judged.gain + judged.value - judged.low)
    assert judged.gain_high > 0


def test_the_order_of_large_cells_is_looked_at_pair_by_pair() -> None:
    random = np.random.default_rng(7)
    for _ in range(20):
        counts = random.integers(5, 12, (4, 2))
        cells, (first, second) = CellCounts(counts), np.triu_indices(4, 1)
        positive, size = counts[:, 1], counts.sum(axis=1)
        share = positive / size
        n_pairs, whole, chance = positive.sum() * (size - positive).sum(), 0.0, 0.0
        for u, w in np.ndindex(4, 4):
            whole += positive[u] * counts[w, 0] * (0.5 + 0.5 * np.sign(share[u] - share[w]))
        for u, w in zip(first, second, strict=True):
            far = np.sqrt(share[u] * (1 - share[u]) / size[u] + share[w] * (1 - share[w]) / size[w])
            chance += size[u] * size[w] * np.sqrt(2) * far * norm.pdf((share[u] - share[w]) / far)
        turned, by_chance = order_of_large(cells, 1)
        assert auc_lpo(cells) + turned == pytest.approx(whole / n_pairs)
        assert by_chance == pytest.approx(chance / n_pairs)
    small = CellCounts([[300, 4], [200, 30]])  # of one cell alone there is no order
    assert order_of_large(small, 1) == (0.0, 0.0)


def test_chance_in_orders_and_decisions_counts_groups() -> None:
    """Five copies of each row, in a group, say no more than one of them."""
    random, costs = np.random.default_rng(8), COSTS[:2, :2]
    value, label = random.integers(0, 3, 64), random.integers(0, 2, 64)
    once = CellCounts.from_codes(value, label)
    copies = GroupedCounts.from_rows(*(np.repeat(codes, 5) for codes in (value, label, np.arange(64))))
    assert order_of_large(copies, 1) == pytest.approx(order_of_large(once, 1))
    in_groups = _chance_of_decisions(copies, copies.table, costs)
    assert in_groups == pytest.approx(_chance_of_decisions(once.profile(), None, costs))


@pytest.mark.parametrize(
    ("m", "weights", "rates", "at_least"),
    [
        (2000, [0.4, 0.4, 0.2], [0.1, 0.1, 0.04], 0.93),
        (2000, [0.2] * 5, [0.5, 0.5, 0.5, 0.5, 0.8], 0.93),
        (700, [0.05] * 20, [0.2] + [0.35] * 19, 0.93),
    ],
)
def test_intervals_cover_where_cells_tie_to_a_row(m, weights, rates, at_least) -> None:
    """Of AUCs and costs, over all samples; and of AUCs where leaving out a pair puts two tied cells below."""
    random, weight, rate = np.random.default_rng(m), np.array(weights), np.array(rates)
    fn = round(1 / rates[1] - 1)  # so that most cells tie in what they cost, too
    matrix = np.array([[0.0, 1.0], [fn, 0.0]])
    expected = np.column_stack([1 - rate, rate]) @ matrix
    covered, turned = [], []
    for size in random.multinomial(m, weight, 150):
        positives = random.binomial(size, rate)
        cells, share = CellCounts(np.column_stack([size - positives, positives])), positives / size
        above = 0.5 + 0.5 * np.sign(share[:, None] - share)
        hits, others = weight * rate, weight * (1 - rate)
        auc = hits @ above @ others / hits.sum() / others.sum()
        decided = (cells.counts @ matrix).argmin(axis=1)
        cost = weight @ expected[range(len(weight)), decided]
        blind = (weight @ expected)[(cells.class_totals @ matrix).argmin()]
        order, loss = judge_auc(cells, 0.95), judge_loss(cells, CostLoss(matrix), 0.95, most=fn)
        covered.append(
            (
                order.low <= auc <= order.high,
                loss.low <= cost <= loss.high,
                loss.gain_low <= blind - cost <= loss.gain_high,
            )
        )
        turned.append(order_of_large(cells, 1)[0] > 0.01)
    by_order = np.array(covered)[:, 0]
    assert (np.mean(covered, axis=0) >= at_least).all()
    assert sum(turned) >= 5
    assert by_order[turned].mean() >= 0.85
