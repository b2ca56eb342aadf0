"""Absolute errors of medians against leaving each row out; ranking by them."""

import numpy as np
import pandas as pd
import pytest

from offsample import rank_features
from offsample._absolute_losses import _WIDER
from offsample._loss_intervals import judge_absolute
from offsample._squared_losses import squared_losses
from offsample.counts import CellMoments, CellNumbers
from offsample.criteria import (
    absolute_error_loo,
    error_interval,
    score_interval,
    squared_error_loo,
    variance_loo,
)
from offsample.evidence import signal_evidence


def left_out(codes, y):
    """Distance of each row to the median of the others of its cell, or of all others."""
    others = [(codes == codes[i]) & (np.arange(len(y)) != i) for i in range(len(y))]
    return np.array(
        [abs(y[i] - np.median(y[mine] if mine.any() else np.delete(y, i))) for i, mine in enumerate(others)]
    )


@pytest.mark.parametrize("ties", [True, False])
def test_losses_and_their_spread_equal_leaving_rows_out(ties):
    rng = np.random.default_rng(0)
    for _ in range(60):
        m = int(rng.integers(4, 16))
        codes = np.unique(rng.integers(0, rng.integers(1, 7), m), return_inverse=True)[1]
        y = rng.integers(0, 4, m).astype(float) if ties else rng.exponential(size=m)
        cells = CellNumbers(codes, y)
        assert absolute_error_loo(cells) == pytest.approx(left_out(codes, y).mean(), abs=1e-12)
        codes, y = cells.cell, cells.y
        losses, blind = left_out(codes, y), left_out(np.zeros(m), y)
        assert cells.losses[1] == pytest.approx(blind)
        changed = losses.copy()
        for i in range(m):
            rest = y[(codes == codes[i]) & (np.arange(m) != i)]
            if len(rest) <= 3:
                alone = np.abs(rest - np.median(y))
                after = left_out(np.zeros(len(rest)), rest) if len(rest) > 1 else alone
                changed[i] = losses[codes == codes[i]].sum() - after.sum()
        for share in (0.0, 1.0):
            expected = _WIDER * (changed - share * blind).std(ddof=1) / np.sqrt(m)
            assert cells.deviation(share) == pytest.approx(expected)


def test_moments_say_nothing_of_medians_and_evidence_is_by_ranks():
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 5, 200), rng.normal(size=200)
    with pytest.raises(TypeError, match="CellNumbers"):
        absolute_error_loo(CellMoments.from_codes(codes, y))
    # Whatever grows with the number has the same evidence.
    one, other = (signal_evidence(CellNumbers(codes, numbers)).p_value for numbers in (y, np.exp(5 * y)))
    assert one == pytest.approx(other)
    judged = judge_absolute(CellNumbers(codes, y), 0.95)
    assert judged.low < judged.value < judged.high
    assert judged.gain_low < judged.gain < judged.gain_high


@pytest.mark.parametrize("engine", [None, "duckdb", "polars"])
def test_ranking_by_absolute_errors(engine):
    rng = np.random.default_rng(2)
    n = 400
    city, area = rng.integers(0, 8, n), rng.uniform(20, 200, n)
    price = np.exp(0.01 * area + 0.3 * city + 0.5 * rng.normal(size=n))
    table = pd.DataFrame({"city": [f"c{c}" for c in city], "area": area, "id": np.arange(n).astype(str)})
    ranking = rank_features(table.assign(price=price), "price", criterion="absolute_error_loo", engine=engine)
    assert ranking["city"].score == pytest.approx(left_out(city, price).mean(), rel=1e-9)
    assert ranking.baseline_score == pytest.approx(left_out(np.zeros(n), price).mean(), rel=1e-9)
    assert ranking["id"].score == pytest.approx(ranking.baseline_score, rel=1e-9)
    # The errors are the absolute ones too: not a squared error with an absolute gain.
    assert ranking.baseline_error == ranking.baseline_score
    for feature in ranking:
        assert (feature.error, feature.low, feature.high) == (
            feature.score,
            feature.score_low,
            feature.score_high,
        )
        assert feature.gain == pytest.approx(ranking.baseline_error - feature.error, rel=1e-9, abs=1e-12)
        assert feature.optimism == feature.error - feature.training_error
    off = table.assign(off=price).groupby("city")["off"].transform(lambda one: (one - one.median()).abs())
    assert ranking["city"].training_error == pytest.approx(off.mean())
    assert [f.significant for f in ranking] == [True, True, False]
    small = rank_features(
        table.assign(price=1e-9 * price), "price", criterion="absolute_error_loo", engine=engine
    )
    assert [f.name for f in small] == [f.name for f in ranking]
    assert small["area"].score == pytest.approx(1e-9 * ranking["area"].score)
    for feature in ranking:
        assert feature.score_low <= feature.score <= feature.score_high
    assert "Absolute error of no column" in str(ranking)
    heavy = rank_features(table.assign(price=price**3), "price", engine=engine)
    assert heavy.few_decide is not None
    assert f"weigh like {heavy.few_decide} of 400" in str(heavy)
    assert rank_features(table.assign(price=np.log(price)), "price", engine=engine).few_decide is None
    with pytest.raises(ValueError, match="leaves single rows out"):
        rank_features(table.assign(price=price), "price", criterion="absolute_error_loo", group="city")
    with pytest.raises(ValueError, match="is for a numeric target"):
        rank_features(table.assign(y=city < 4), "y", criterion="absolute_error_loo")


def test_numbers_of_cells_are_made_as_moments_are_and_merged_to_these():
    cells = CellNumbers.from_codes([0, 0, 1], [1.0, 2.0, 5.0], sample_weight=[1, 2, 2])
    assert (cells.n_cells, cells.n_samples, repr(cells)) == (2, 5, "CellNumbers(n_cells=2, n_samples=5)")
    direct = CellNumbers([0, 0, 0, 1, 1], [1.0, 2.0, 2.0, 5.0, 5.0])
    assert absolute_error_loo(cells) == absolute_error_loo(cells.profile()) == absolute_error_loo(direct)
    both = cells.merge(CellNumbers([0, 0, 1, 1], [3.0, 9.0, 4.0, 4.5]))
    rows = [0, 0, 0, 1, 1, 2, 2, 3, 3], [1.0, 2.0, 2.0, 5.0, 5.0, 3.0, 9.0, 4.0, 4.5]
    assert squared_error_loo(both) == pytest.approx(squared_error_loo(CellMoments.from_codes(*rows)))
    with pytest.raises(TypeError, match="needs the numbers of each cell"):
        absolute_error_loo(both)
    far = CellNumbers([0, 0, 0, 0, 0], 1e9 + np.arange(5) * 2.0**-23)
    assert absolute_error_loo(far) == pytest.approx(2.0**-23 * np.mean([2.5, 1.5, 0, 1.5, 2.5]), abs=0)
    with pytest.raises(ValueError, match="importance weights"):
        CellNumbers.from_codes([0, 0], [1.0, 2.0], sample_weight=[0.5, 1.0])


def test_intervals_of_numbers_are_public():
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 5, 200)
    y = codes + rng.normal(size=200)
    cells = CellNumbers(codes, y)
    losses = squared_losses(cells)
    assert error_interval(cells) == score_interval(cells, "squared_error_loo") == losses.error_interval()
    assert score_interval(cells, "r2_loo", 0.9) == losses.r2_interval(0.9)
    assert score_interval(cells, "absolute_error_loo") == judge_absolute(cells, 0.95)[1:3]
    low, high = score_interval(cells, "variance_loo")
    assert low < variance_loo(cells) < high
    assert score_interval(cells, "ginger") == (low, high)
    moments = CellMoments.from_codes(codes, y)
    assert error_interval(moments) == pytest.approx(error_interval(cells))
    with pytest.raises(TypeError, match="CellNumbers"):
        score_interval(moments, "absolute_error_loo")
    with pytest.raises(ValueError, match="expected one of 'absolute_error_loo'"):
        score_interval(moments)
    with pytest.raises(ValueError, match="one rule, the mean"):
        error_interval(moments, "bayes")
