"""Counts with groups: every formula against the definition, one row and one group at a time."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from twins import PROBABILITY, bayes_probability

from offsample import _grouped_counts, rank_features
from offsample._group_evidence import _correlation, _draws, statistics
from offsample._grouped_counts import MOST_EXACT
from offsample._unit_intervals import exact_pairs, interval_is_known, spread_of, sum_pairs
from offsample.counts import CellCounts, GroupedCounts, HeldOutCounts
from offsample.criteria import CRITERIA, bayes_loo, error_interval, ginger, log_loss_loo, u_statistic_error
from offsample.evidence import signal_evidence
from offsample.hypotheses import RULES
from offsample.intervals import gain_interval

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]  # cell, class, group


def small_samples(n: int, n_classes: int = 2) -> list[Rows]:
    random = np.random.default_rng(5)
    samples = []
    for _ in range(n):
        n_rows = int(random.integers(4, 16))
        cell = random.integers(0, random.integers(1, 5), n_rows)
        samples.append((cell, random.integers(0, n_classes, n_rows), random.integers(0, 5, n_rows)))
    return samples


def leave_group_out(rows: Rows, rule: str, n_classes: int, also: int | None = None) -> dict[int, Fraction]:
    """Loss of each group by the rule learned without it, and without group `also`."""
    cell, label, group = (part.tolist() for part in rows)
    losses = dict.fromkeys(group, Fraction(0))
    for v, k, g in zip(cell, label, group, strict=True):
        kept = [c for w, c, h in zip(cell, label, group, strict=True) if w == v and h != g and h != also]
        losses[g] += 1 - PROBABILITY[rule](kept, k, n_classes)
    return losses


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("rule", "criterion"), [("gini", ginger), ("bayes", bayes_loo)])
def test_error_is_that_of_the_rule_learned_without_the_group(rule, criterion, n_classes) -> None:
    for rows in small_samples(60, n_classes):
        expected = sum(leave_group_out(rows, rule, n_classes).values()) / len(rows[0])
        cells = GroupedCounts.from_rows(*rows, n_classes=n_classes)
        assert criterion(cells) == pytest.approx(float(expected), abs=1e-12)


def first_order_pairs(counts: np.ndarray) -> float:
    """Sum of the products of changes at a value to first order, over all pairs; counts (n_groups, K)."""
    totals = counts.sum(axis=0)
    size, whole = counts.sum(axis=1), counts.sum()
    rate = (counts * (totals - counts)).sum(axis=1) / (whole - size)
    change = (counts @ counts.T - rate[:, None] * size) / (
        whole * np.outer(1 - size / whole, 1 - size / whole)
    )
    np.fill_diagonal(change, 0.0)
    return float((change * change.T).sum())


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_groups_are_summed_up_as_by_hand(n_classes, is_compiled, monkeypatch) -> None:
    monkeypatch.setattr(_grouped_counts, "KERNEL_ROWS", 0 if is_compiled else 10_000)
    random = np.random.default_rng(9)
    for n_groups in (2, 5, 30, 80, 400):  # at some values few enough for all pairs, at others not
        group = np.append(np.arange(n_groups), random.integers(0, n_groups, 300))
        value = np.minimum(random.geometric(0.4, len(group)), 7) - 1
        cells = GroupedCounts.from_rows(value, random.integers(0, n_classes, len(group)), group, n_classes)
        table, rule, pairs = cells.table, RULES["gini"], 0.0
        losses = table.over_groups(rule.held_out_terms(table.counts, table.others))
        np.testing.assert_allclose(cells.sums.errors, losses, atol=1e-12)
        assert cells.sums.n_alone == table.counts[~table.others.any(axis=1)].sum()
        for counts in np.split(table.counts, table.starts[1:]):
            if len(counts) > 1:
                is_few = len(counts) <= MOST_EXACT
                pairs += exact_pairs(counts[None], rule) if is_few else first_order_pairs(counts)
        assert cells.sums.pairs == pytest.approx(pairs, abs=1e-12)
        assert cells.sums.log_loss / len(group) == pytest.approx(log_loss_loo(cells), abs=1e-12)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_groups_are_merged_in_turn_and_values_as_told(is_compiled, monkeypatch) -> None:
    monkeypatch.setattr(_grouped_counts, "KERNEL_ROWS", 0 if is_compiled else 10_000)
    monkeypatch.setattr(_grouped_counts, "_MOST_GROUPS", 3)
    monkeypatch.setattr(_grouped_counts, "N_BUNDLES", 2)
    for cell, label, group in small_samples(10):
        finer = GroupedCounts.from_rows(cell, label, group, n_classes=2)
        codes, value = (np.unique(of, return_inverse=True)[1] for of in (group, cell))
        into = np.arange(finer.n_cells) // 2
        for cells, of_cell in ((finer, value), (finer.merged(into), into[value])):
            bundles = cells.groups.bundle[codes]
            expected = GroupedCounts.from_rows(of_cell, label, bundles, n_classes=2).table
            for part in ("value", "group", "counts"):
                assert np.array_equal(getattr(cells.bundled, part), getattr(expected, part))
            again = GroupedCounts.from_rows(of_cell, label, group, n_classes=2)
            assert np.array_equal(cells.counts, again.counts)
            assert np.array_equal(cells.sums.errors, again.sums.errors)


def test_votes_are_of_rows_of_other_groups() -> None:
    for cell, label, group in small_samples(30, 3):
        for order in (1, 3, 4):
            loss = Fraction(0)
            for v, k, g in zip(cell, label, group, strict=True):
                others = label[(cell == v) & (group != g)].tolist()
                votes = list(combinations(others, min(order, len(others))))
                lost = sum(1 - bayes_probability(list(vote), k, 3) for vote in votes)
                loss += lost / Fraction(len(votes))
            cells = GroupedCounts.from_rows(cell, label, group, n_classes=3)
            assert u_statistic_error(cells, order) == pytest.approx(float(loss / len(cell)), abs=1e-10)


def test_groups_of_one_row_give_the_numbers_of_rows() -> None:
    for cell, label, _ in small_samples(40):
        alone = GroupedCounts.from_rows(cell, label, np.arange(len(cell)), n_classes=2)
        rows = CellCounts.from_codes(cell, label, n_classes=2)
        for criterion in CRITERIA.values():
            assert criterion(alone) == criterion(rows)
        assert u_statistic_error(alone, 3) == u_statistic_error(rows, 3)
        assert alone.missing_mass() == rows.missing_mass()
        assert signal_evidence(alone) == signal_evidence(rows)
        assert interval_is_known(alone, RULES["gini"])
        for rule in RULES:
            assert error_interval(alone, rule) == error_interval(rows, rule)
            assert gain_interval(alone, rule) == gain_interval(rows, rule)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_groups_of_one_row_rank_as_rows_do(task) -> None:
    random = np.random.default_rng(0)
    label = random.integers(0, 3, 300)
    table = {
        "bins": np.where(random.random(300) < 0.1, np.nan, random.normal(size=300) + label),
        "few": (label + random.integers(0, 3, 300)) % 4,
        "many": random.choice([f"v{i}" for i in range(80)], 300),
        "y": label,
    }
    alone = rank_features(table, "y", task=task, group=random.permutation(300))
    assert alone.features == rank_features(table, "y", task=task).features
    assert alone.new_rows == "rows with a new group"


def test_criteria_of_the_sample_do_not_depend_on_groups() -> None:
    for cell, label, group in small_samples(20):
        grouped = GroupedCounts.from_rows(cell, label, group, n_classes=2)
        rows = CellCounts.from_codes(cell, label, n_classes=2)
        for criterion in CRITERIA.values():
            if not (criterion.estimates_error or criterion.estimates_loss):
                assert criterion(grouped) == criterion(rows)
        assert grouped.n_cells == rows.n_cells
        assert grouped.class_totals.tolist() == rows.class_totals.tolist()


def test_a_customers_number_is_no_predictor_for_new_customers() -> None:
    random = np.random.default_rng(0)
    customer = np.repeat(np.arange(50), 10)
    label = random.integers(0, 2, 50)[customer]
    known = CellCounts.from_codes(customer, label)
    new = GroupedCounts.from_rows(customer, label, customer)
    assert ginger(known) == 0.0
    assert ginger(new) == 0.5
    assert new.missing_mass() == 1.0
    assert not interval_is_known(new, RULES["gini"])


def robbins_with_groups(rows: Rows, rule: str, n_classes: int) -> tuple[float, float]:
    """Sum over ordered pairs of groups of the definition, and the sum of squares, both in exact fractions."""
    group = rows[2]
    names, sizes = np.unique(group, return_counts=True)
    size = dict(zip(names.tolist(), sizes.tolist(), strict=True))
    losses = leave_group_out(rows, rule, n_classes)
    mean = sum(losses.values()) / len(group)
    own = {g: losses[g] - mean * size[g] for g in size}
    without = {h: leave_group_out(rows, rule, n_classes, also=h) for h in size}
    pairs = Fraction(0)
    for g in size:
        for h in size:
            if g != h:
                g_without_h = without[h][g] - mean * size[g]
                h_without_g = without[g][h] - mean * size[h]
                pairs += g_without_h * h_without_g - 2 * g_without_h * own[h]
    return float(pairs), float(sum(a * a for a in own.values()))


@pytest.mark.parametrize("rule", ["gini", "bayes"])
def test_changes_of_pairs_are_what_robbins_argument_adds(rule) -> None:
    random = np.random.default_rng(7)
    for _ in range(40):
        n_groups = int(random.integers(2, 8))
        value = random.integers(0, 3, n_groups)  # constant within groups: no group is at two values
        group = np.append(np.arange(n_groups), random.integers(0, n_groups, 12))
        rows = value[group], random.integers(0, 2, len(group)), group
        changes = sum_pairs(GroupedCounts.from_rows(*rows, n_classes=2), RULES[rule])
        pairs, squares = robbins_with_groups(rows, rule, 2)
        assert squares + changes == pytest.approx(pairs, abs=1e-12)


def test_standard_error_is_of_the_groups_losses() -> None:
    for cell, label, group in small_samples(20):
        cells = GroupedCounts.from_rows(cell, label, group, n_classes=2)
        if cells.table.n_groups < 2:
            continue
        spread, pairs = spread_of(cells, RULES["gini"]), sum_pairs(cells, RULES["gini"])
        losses = leave_group_out((cell, label, group), "gini", 2)
        base = leave_group_out((np.zeros_like(cell), label, group), "gini", 2)
        size = {g: int((group == g).sum()) for g in losses}
        n_rows = len(cell)
        for of_gain in (False, True):
            of_group = {g: float(base[g] - losses[g] if of_gain else losses[g]) for g in losses}
            mean = sum(of_group.values()) / n_rows
            beyond = [(of_group[g] - mean * size[g]) / (1 - size[g] / n_rows) for g in losses]
            expected = np.sqrt(np.square(beyond).sum() + 2 * max(0, pairs)) / n_rows
            found = spread.gain_deviation if of_gain else spread.deviation
            assert found == pytest.approx(expected)


def test_first_order_agrees_with_all_pairs_of_many_groups() -> None:
    random = np.random.default_rng(1)
    for n_groups in (40, 400):
        counts = random.multinomial(random.integers(1, 20, n_groups), [0.3, 0.6, 0.1])
        counts = counts[random.permutation(n_groups)]
        exact = exact_pairs(counts[None], RULES["gini"])
        group, label = (np.repeat(of.ravel(), counts.ravel()) for of in np.indices(counts.shape))
        cells = GroupedCounts.from_rows(np.zeros_like(group), label, group, n_classes=3)
        assert sum_pairs(cells, RULES["gini"]) == pytest.approx(exact, rel=0.01)


def test_upper_end_is_that_of_so_many_groups_without_an_error() -> None:
    group = np.repeat(np.arange(30), 5)
    cells = GroupedCounts.from_rows(np.arange(30)[group] % 2, (np.arange(30) % 2)[group], group)
    low, high = error_interval(cells)
    assert low == 0.0
    assert high == pytest.approx(1 - 0.025 ** (1 / 30))


def test_gain_interval_is_around_the_difference_to_the_base() -> None:
    rows = small_samples(1)[0]
    cells = GroupedCounts.from_rows(*rows, n_classes=2)
    base = GroupedCounts.from_rows(np.zeros(len(rows[0]), int), *rows[1:], n_classes=2)
    low, high = gain_interval(cells)
    assert (low + high) / 2 == pytest.approx(ginger(base) - ginger(cells))


def own_squares(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each group has at values that others have, squared over their rows; less its part of all pairs."""
    size, rows = rows.sum(axis=0), rows[(rows > 0).sum(axis=1) > 1]
    of_value = rows.sum(axis=1)
    squares = (rows**2 / of_value[:, None]).sum(axis=0)
    share = np.outer(size, size) / (size.sum() ** 2 - size @ size)
    return squares, np.maximum(squares - np.diag(share) * (of_value.sum() - squares.sum()), 0.0)


def test_observed_statistic_is_that_of_the_definition() -> None:
    random = np.random.default_rng(2)
    group = np.repeat(np.arange(12), random.integers(1, 9, 12))
    cell, label = random.integers(0, 4, len(group)), random.integers(0, 3, len(group))
    table = GroupedCounts.from_rows(cell, label, group, n_classes=3).table
    share = np.bincount(label, minlength=3) / len(label)
    rows = np.array([np.bincount(group[cell == v], minlength=12) for v in range(4)], float)
    of_group = np.array([np.bincount(label[group == g], minlength=3) for g in range(12)])
    beyond_mean = ((of_group / of_group.sum(axis=1, keepdims=True) - share) ** 2).sum(axis=1)
    squares, own = own_squares(rows)
    statistic = float((squares - own) @ beyond_mean)
    for v in range(4):
        beyond = np.array(
            [
                np.bincount(label[(cell == v) & (group == g)], minlength=3)
                - share * ((cell == v) & (group == g)).sum()
                for g in range(12)
            ]
        )
        products = beyond @ beyond.T
        statistic += (products.sum() - np.trace(products)) / (cell == v).sum()
    assert statistics(table)[0] == pytest.approx(statistic)


@pytest.mark.parametrize(("n_values", "n_classes"), [(3, 2), (3, 4), (40, 2), (40, 3), (300, 3)])
def test_every_draw_is_summed_over_pairs_of_groups_at_each_value(n_values: int, n_classes: int) -> None:
    random = np.random.default_rng(n_values)
    cell, label, group = (random.integers(0, most, 400) for most in (n_values, n_classes, 12))
    table = GroupedCounts.from_rows(cell, label, group, n_classes).table
    assert table is not None
    counts = np.zeros((len(table.starts), 12, n_classes))
    counts[table.value, table.group] = table.counts
    rows, of_group = counts.sum(axis=2), counts.sum(axis=0)
    size, share = of_group.sum(axis=1), of_group / of_group.sum(axis=1, keepdims=True)
    variance = 1 / size + (1 - 1 / size) * _correlation(share, size)
    mean = (share / variance[:, None]).sum(axis=0) / (1 / variance).sum()
    alike = (share - mean) / np.sqrt(variance)[:, None]
    order, sign = _draws(12, 399)
    drawn = statistics(table)
    squares, own = own_squares(rows)
    apart = np.ones(n_classes)
    for draw in (0, 1, 7):
        moved = alike[order[:, draw]] * np.sqrt(variance)[:, None]
        moved -= size @ moved / size.sum()
        pairs = np.einsum("gk,hk->ghk", own[:, None] * moved**2, own[:, None] * moved**2)
        far = pairs.sum(axis=(0, 1)) - np.einsum("ggk->k", pairs)  # pairs of groups lie as far apart
        apart = far if draw == 0 else apart
        moved *= (apart / far) ** 0.25
        beyond = rows[:, :, None] * moved + (counts - rows[:, :, None] * share) * sign[:, draw, None]
        products = beyond.sum(axis=1) ** 2 - (beyond**2).sum(axis=1)
        added = float((squares - own) @ (moved**2).sum(axis=1))
        assert drawn[draw] == pytest.approx(float((products.sum(axis=1) / rows.sum(axis=1)).sum()) + added)


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("constant", [False, True])
def test_sizes_that_go_with_the_class_are_no_signal(constant: bool, rare: bool) -> None:
    """Sick patients come more often: 81 of 100 such columns of noise were called a signal."""
    random = np.random.default_rng(8)
    p_values = []
    for _ in range(100):
        size = np.maximum(1, np.rint(np.exp(random.normal(1.5, 1.0, 40)))).astype(int)
        group = np.repeat(np.arange(40), size)
        label = (size > (np.quantile(size, 0.85) if rare else 4))[group].astype(int)
        cell = random.integers(0, 5, 40)[group] if constant else random.integers(0, 5, len(group))
        p_values.append(signal_evidence(GroupedCounts.from_rows(cell, label, group, n_classes=2)).p_value)
    # 5 % and three standard errors; of a rare class that few groups have, 8 % were measured.
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 0.066 + 0.03 * rare


def test_labels_of_patients_are_no_signal_and_a_shared_effect_is() -> None:
    random = np.random.default_rng(4)
    group = np.repeat(np.arange(60), 40)
    sick = random.integers(0, 2, 60)
    city = random.integers(0, 8, 60)
    noise = GroupedCounts.from_rows(city[group], sick[group], group)
    assert signal_evidence(CellCounts.from_codes(city[group], sick[group])).p_value < 1e-6
    assert signal_evidence(noise).p_value > 0.05
    test_result = np.where(random.random(len(group)) < 0.1, 1 - sick[group], sick[group])
    assert signal_evidence(GroupedCounts.from_rows(test_result, sick[group], group)).p_value < 1e-3


def test_one_group_has_no_other() -> None:
    with pytest.raises(ValueError, match="of one group"):
        error_interval(GroupedCounts.from_rows([0, 1], [0, 1], ["a", "a"]))


def may_know(rows: Rows, i: int, others: list[np.ndarray], time: np.ndarray | None) -> np.ndarray:
    known = np.ones(len(rows[0]), bool)
    for group in others:
        known &= group != group[i]
    return known if time is None else known & (time < time[i])


@pytest.mark.parametrize("rule", ["gini", "bayes"])
@pytest.mark.parametrize("kind", ["time", "crossed", "time and group"])
def test_a_row_knows_the_past_and_what_shares_no_group_with_it(rule, kind) -> None:
    random = np.random.default_rng(8)
    for rows in small_samples(30, 3):
        cell, label, group = rows
        time = random.integers(0, 4, len(cell)) if "time" in kind else None
        groups = {"time": [], "crossed": [group, random.integers(0, 4, len(cell))]}.get(kind, [group])
        cells = HeldOutCounts(cell, label, 3, groups=groups, time=time)
        for blind in (False, True):
            seen = np.zeros_like(cell) if blind else cell
            expected = []
            for i in range(len(cell)):
                known = may_know(rows, i, groups, time) & (seen == seen[i])
                right = PROBABILITY[rule](label[known].tolist(), int(label[i]), 3)
                expected.append(1 - float(right))
            losses = cells.losses(RULES[rule], blind=blind)
            np.testing.assert_allclose(losses, expected, atol=1e-12)
        criterion = {"gini": ginger, "bayes": bayes_loo}[rule]
        assert criterion(cells) == pytest.approx(cells.losses(RULES[rule]).mean())


def test_one_kind_of_group_is_the_same_as_grouped_counts() -> None:
    for cell, label, group in small_samples(20):
        rows = HeldOutCounts(cell, label, 2, groups=[group])
        pairs = GroupedCounts.from_rows(cell, label, group, n_classes=2)
        assert ginger(rows) == pytest.approx(ginger(pairs))
        assert bayes_loo(rows) == pytest.approx(bayes_loo(pairs))
        assert rows.missing_mass() == pytest.approx(pairs.missing_mass())


def test_later_rows_of_a_drifting_column_are_predicted_badly() -> None:
    random = np.random.default_rng(6)
    time = np.arange(2000)
    column = random.integers(0, 2, 2000)
    label = np.where(time < 1000, column, 1 - column)
    drifting = HeldOutCounts(column, label, 2, time=time)
    stable = HeldOutCounts(column, column, 2, time=time)
    losses = drifting.losses(RULES["gini"])
    assert losses[100:1000].mean() < 0.01
    assert losses[1000:1500].mean() > 0.7
    assert ginger(stable) < 0.01
    assert signal_evidence(stable).p_value < 1e-6
    low, high = error_interval(stable)
    assert low <= ginger(stable) <= high
    assert interval_is_known(stable, RULES["gini"])


def test_neither_groups_nor_time_is_refused() -> None:
    with pytest.raises(ValueError, match="give groups or time"):
        HeldOutCounts([0, 1], [0, 1], 2)
    with pytest.raises(ValueError, match="votes of a few rows"):
        u_statistic_error(HeldOutCounts([0, 1], [0, 1], 2, time=[1, 2]), 3)
