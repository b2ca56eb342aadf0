from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, kruskal, norm
from strategies import tables

from offsample.counts import CellCounts
from offsample.criteria import ginger
from offsample.evidence import (
    Evidence,
    choose_refinement,
    joint_p_value,
    mean_before_cut,
    order_evidence,
    signal_evidence,
)


@given(tables())
def test_signal_is_ginger_with_singletons_at_the_baseline(counts):
    cells = CellCounts(counts)
    if cells.n_samples < 4 or cells.class_totals.max() == cells.n_samples:
        assert signal_evidence(cells).signal == 0
        return
    baseline = ginger(CellCounts(cells.class_totals[None]))
    unseen = 1 - 1 / cells.n_classes
    expected = baseline - ginger(cells) + cells.missing_mass() * (unseen - baseline)
    if cells.n_cells > 1:
        assert signal_evidence(cells).signal == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=6), st.data())
def test_moments_equal_those_of_all_shuffles(codes, data):
    y = data.draw(st.lists(st.integers(0, 2), min_size=len(codes), max_size=len(codes)))
    shuffles = set(permutations(y))  # each of them as often as the others
    signals = np.array(
        [signal_evidence(CellCounts.from_codes(codes, list(s), n_classes=3)).signal for s in shuffles]
    )
    evidence = signal_evidence(CellCounts.from_codes(codes, y, n_classes=3))
    assert signals.mean() == pytest.approx(0, abs=1e-12)
    assert evidence.deviation == pytest.approx(signals.std(), abs=1e-7)


def test_no_evidence_without_pairs_or_cells():
    assert signal_evidence(CellCounts([[1, 0], [0, 1]], [50, 50])).p_value == 1
    assert signal_evidence(CellCounts([[30, 20]])).p_value == 1
    assert signal_evidence(CellCounts([[3, 0], [5, 0]])).p_value == 1


@pytest.mark.parametrize("n_classes", [2, 3])
def test_evidence_of_an_order_is_that_of_ranks(n_classes):
    """Kruskal & Wallis' test of the rows' bins, whose law is that of many rows; whichever end is first."""
    random = np.random.default_rng(n_classes)
    for shift in (0.0, 0.02, 0.05):
        bins = random.poisson(np.linspace(20, 20 * (1 + np.arange(n_classes) * shift * 10), 30))
        rows = [np.repeat(np.arange(30), column) for column in bins.T]
        found = order_evidence(bins)
        assert found.p_value == pytest.approx(kruskal(*rows).pvalue, rel=0.05, abs=1e-9)
        assert order_evidence(bins[::-1]).p_value == pytest.approx(found.p_value, rel=1e-6)
    assert order_evidence(np.array([[5, 0], [7, 0]])).p_value == 1


@pytest.mark.parametrize("n_positives", [10, 30, 100])
@pytest.mark.parametrize("shape", ["numbers", "ties", "zeros"])
def test_joint_p_values_keep_their_level(n_positives, shape):
    """On noise of a rare class, ties and a column that is mostly zero included."""
    random, p_values = np.random.default_rng(n_positives), []
    for _ in range(300):
        x = random.normal(size=1000)
        if shape != "numbers":
            x = random.poisson(5, 1000) if shape == "ties" else np.where(random.random(1000) < 0.9, 0, x)
        code = np.unique(x, return_inverse=True)[1]
        bins = np.zeros((code.max() + 1, 2), np.int64)
        np.add.at(bins, (code, (np.arange(1000) < n_positives).astype(int)), 1)
        cuts = [np.arange(len(bins)) * 2**level // len(bins) for level in range(1, 5)]
        cells = [CellCounts([bins[cut == c].sum(axis=0) for c in np.unique(cut)]) for cut in cuts]
        p_values.append(
            joint_p_value([signal_evidence(c).p_value for c in cells], order_evidence(bins).p_value)
        )
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


def test_the_joint_p_value_is_the_least_by_weight():
    assert joint_p_value([0.02, 0.03]) == pytest.approx(0.04)
    assert joint_p_value([0.6, 0.9]) == 1
    assert joint_p_value([0.5, 0.5], 0.001) == pytest.approx(0.003)
    assert joint_p_value([0.001, 0.5], 0.5) == pytest.approx(0.003)
    assert joint_p_value([0.03, 0.03], 0.04) == pytest.approx(0.04)  # all of them at 0.04 or less


def test_a_billion_rows():
    cells = CellCounts([[250_000_000, 249_990_000], [249_990_000, 250_020_000]])
    assert signal_evidence(cells).p_value == pytest.approx(
        chi2_contingency(cells.counts, correction=False).pvalue, rel=1e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 5, 40, 300, 1500])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.1, 0.9), (0.2, 0.3, 0.5)])
def test_p_values_are_uniform_without_a_signal(n_values, rates):
    """4,000 shuffled samples of 600 rows: the law is right in the middle and in the tail."""
    rng = np.random.default_rng(n_values)
    weights = rng.dirichlet(np.ones(n_values))
    codes = rng.choice(n_values, (4000, 600), p=weights)
    y = rng.choice(len(rates), (4000, 600), p=rates)
    p_values = np.array(
        [
            signal_evidence(CellCounts.from_codes(c, labels, n_classes=len(rates))).p_value
            for c, labels in zip(codes, y, strict=True)
        ]
    )
    for level in (0.01, 0.05, 0.2, 0.5):
        noise = 4 * np.sqrt(level * (1 - level) / 4000)
        assert np.mean(p_values <= level) == pytest.approx(level, abs=noise + 0.2 * level)


@pytest.mark.slow
@pytest.mark.parametrize("n_values", [2, 5, 40, 300, 1500])
def test_tail_with_few_rows_of_a_class(n_values):
    """About 18 rows of the rarer class in 600: small p-values are right within a factor of 2.5."""
    rng = np.random.default_rng(n_values)
    weights = rng.dirichlet(np.ones(n_values))
    codes = rng.choice(n_values, (4000, 600), p=weights)
    y = rng.random((4000, 600)) < 0.03
    p_values = np.array(
        [signal_evidence(CellCounts.from_codes(*sample)).p_value for sample in zip(codes, y, strict=True)]
    )
    assert np.mean(p_values <= 0.05) <= 0.08
    assert np.mean(p_values <= 0.01) <= 0.025


class TestChooseRefinement:
    """Signals (and errors) of partitions, coarsest first, and the standard deviations of noise."""

    def choose(self, *signals_and_deviations):
        evidence = [Evidence(signal, deviation, 0.5) for signal, deviation in signals_and_deviations]
        return choose_refinement(evidence, [0.5 - e.signal for e in evidence])

    def test_the_coarsest_without_evidence(self):
        assert self.choose((0.001, 0.01), (0.02, 0.02), (-0.01, 0.04)) == (0, 0.499)

    def test_far_beyond_chance_nothing_is_corrected(self):
        chosen, error = self.choose((0.01, 0.003), (0.21, 0.005), (0.22, 0.01))
        assert chosen == 1
        assert error == pytest.approx(0.29, abs=1e-9)

    def test_just_beyond_chance_nothing_is_left(self):
        assert self.choose((0.01, 0.003), (0.01 + 3.1 * 0.004, 0.005)) == (1, pytest.approx(0.49))

    def test_a_finer_one_that_loses_on_values_not_seen_is_not_taken(self):
        evidence = [Evidence(0.01, 0.003, 0.5), Evidence(0.21, 0.005, 0.5)]
        assert choose_refinement(evidence, [0.49, 0.495]) == (0, 0.49)

    @pytest.mark.parametrize("seen", [3.01, 3.3, 3.5, 4.0, 5.0, 9.0])
    def test_what_is_left_is_the_most_likely_mean(self, seen):
        """Against a search for the largest likelihood of a normal law that is cut off at 3."""
        means = np.linspace(0, 12, 12_001)
        likelihood = norm.logpdf(seen, means) - norm.logsf(3, means)
        assert mean_before_cut(seen, 3.0) == pytest.approx(means[likelihood.argmax()], abs=1e-3)

    @pytest.mark.parametrize("n_cells", [2, 6, 30, 200])
    @pytest.mark.parametrize("added", [0, 1, 3, 4, 6])
    def test_what_is_left_of_the_bias(self, n_cells, added):
        """Two even classes in m rows: m times the signal that so many more cells add is (χ² - n_cells) / 2,
        with a noncentral χ². Of 200,000 draws, in deviations of noise; the bias left is below 2/m."""
        deviation = np.sqrt(2 * n_cells)
        chi2 = np.random.default_rng(0).noncentral_chisquare(n_cells, added * deviation + 1e-12, 200_000)
        seen = (chi2 - n_cells) / deviation
        taken = seen > 3
        grid = np.linspace(3, seen.max(), 2000)
        kept = np.interp(seen[taken], grid, [mean_before_cut(x, 3.0) for x in grid])
        bias, left = (float((x - added).sum() / len(seen)) for x in (seen[taken], kept))
        assert abs(left) < bias + 0.1
        assert abs(left) * deviation / 2 < 2
        if added == 0:
            assert abs(left) < 0.05
