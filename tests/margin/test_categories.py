import margin_twin as twin
import numpy as np
import pytest

from offsample.margin import GFlip, Relief, Simba
from offsample.margin._space import Columns, largest_differences, make_space


def mixed_sample(seed, n_rows=400):
    """Columns with a signal, and noise of both kinds."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    table = {"number": rng.normal(size=n_rows) + 0.4 * y, "noise": rng.normal(size=n_rows)}
    of_class = rng.random(n_rows) < 0.25
    table["category"] = np.where(of_class, 3 * y, rng.integers(0, 4, n_rows)).astype(str)
    for k in (2, 4, 10):
        table[f"noise of {k}"] = rng.integers(0, k, n_rows).astype(str)
    return table, y


@pytest.mark.parametrize("squared", [True, False])
def test_matched_categories_differ_as_much_as_numbers(squared):
    rng = np.random.default_rng(0)
    values = np.array([rng.random(50), rng.normal(size=50), rng.integers(0, 4, 50), np.arange(50.0)])
    values[2, ::7] = values[0, ::5] = np.nan
    space = make_space(Columns(values, np.array([0, 0, 1, 1], bool)), squared=squared, matched=True)

    def mean_difference(column, gap):
        known = column[~np.isnan(column)]
        return np.mean([[gap(a, b) for a in known] for b in known])

    of_numbers = np.mean([mean_difference(c, lambda a, b: abs(a - b) ** (1 + squared)) for c in values[:2]])
    for j in (2, 3):
        of_category = mean_difference(values[j], lambda a, b, j=j: space.gaps[j] * (a != b))
        assert of_category == pytest.approx(of_numbers)
    assert (space.expected <= largest_differences(space).max()).all()
    # without numbers there is nothing to match, and a constant category differs by nothing anyway
    alone = make_space(Columns(values[2:], np.array([True, True])), matched=True)
    assert alone.gaps.tolist() == [1, 1]


@pytest.mark.parametrize("selector", [Relief(n_neighbors=10), Simba(random_state=0, n_restarts=1)])
def test_a_random_category_does_not_outrank_a_weak_number(selector):
    above = {}
    for categories in ("unit", "matched"):
        selector.set_params(categories=categories)
        wins = []
        for seed in range(12):
            table, y = mixed_sample(seed)
            weight = dict(zip(table, selector.fit(table, y).feature_weights_, strict=True))
            wins += [weight["number"] > weight[f"noise of {k}"] for k in (2, 4, 10)]
        above[categories] = np.mean(wins)
    assert above["matched"] > above["unit"] + 0.1


def test_gflip_takes_matched_categories():
    table, y = mixed_sample(0, 24)
    frame = [
        [table[name][i] if table[name].dtype.kind == "U" else float(table[name][i]) for name in table]
        for i in range(24)
    ]
    gflip = GFlip(categories="matched", scale=None, random_state=0).fit(table, y)
    gaps = twin.gaps_of(frame, [name not in ("number", "noise") for name in table])
    numbers = [list(table).index(name) for name in ("number", "noise")]
    typical = gaps.mean(axis=(0, 1))
    for f in range(len(table)):
        if f not in numbers:
            gaps[:, :, f] *= typical[numbers].mean() / typical[f]
    for f in range(len(table)):
        flipped = gflip.support_.astype(float)
        flipped[f] = 1 - flipped[f]
        value = twin.score(gaps, y, flipped)
        assert value - twin.score(gaps, y, gflip.support_) == pytest.approx(gflip.flip_gains_[f], abs=1e-9)


def test_bad_parameter():
    with pytest.raises(ValueError, match="categories must be one of 'unit', 'matched', got 'equal'"):
        Relief(categories="equal").fit([[0.0], [1.0]], [0, 1])
