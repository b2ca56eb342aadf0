from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import binom
from twins import all_samples, loo_error, to_counts, true_error

from offsample.bounds import (
    bayes_deviation,
    bayes_excess,
    ginger_bias,
    ginger_concentration,
    ginger_deviation,
)
from offsample.counts import CellCounts
from offsample.criteria import ginger

HALF = Fraction(1, 2)


def certain(label: int, n_classes: int = 2) -> list[Fraction]:
    return [Fraction(k == label) for k in range(n_classes)]


def bias_by_enumeration(m, p, q) -> Fraction:
    """E[ginger] - E[error of the Gini rule], over every sample of m rows."""
    n_classes = len(q[0])
    return sum(
        weight * (loo_error(rows, "gini", n_classes) - true_error(rows, "gini", p, q))
        for rows, weight in all_samples(m, p, q)
    )


class TestGingerBias:
    @pytest.mark.parametrize("m", [1, 2, 3, 4])
    @pytest.mark.parametrize(
        ("p", "q"),
        [
            ([HALF, HALF], [certain(0), certain(1)]),
            ([Fraction(1, 3), Fraction(2, 3)], [[Fraction(1, 5), Fraction(4, 5)], [HALF, HALF]]),
            ([Fraction(1, 6), Fraction(5, 6)], [certain(2, 3), [Fraction(1, 4), HALF, Fraction(1, 4)]]),
        ],
    )
    def test_exact_on_all_samples(self, m, p, q):
        n_classes = len(q[0])
        unseen = Fraction(n_classes - 1, n_classes)
        closed_form = sum(
            (unseen - (1 - sum(x * x for x in q_v))) * p_v**2 * (1 - p_v) ** (m - 1)
            for p_v, q_v in zip(p, q, strict=True)
        )
        bias = bias_by_enumeration(m, p, q)
        assert bias == closed_form
        assert 0 <= bias <= Fraction(ginger_bias(m, n_classes, sharp=True)) + Fraction(1, 10**15)

    @pytest.mark.parametrize("m", [2, 3])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_sharp_bound_is_attained(self, m, n_classes):
        p = [Fraction(1, m)] * m
        q = [certain(v % n_classes, n_classes) for v in range(m)]
        assert float(bias_by_enumeration(m, p, q)) == pytest.approx(ginger_bias(m, n_classes, sharp=True))

    def test_values(self):
        assert ginger_bias(50) == 0.01  # 1/(2m)
        assert ginger_bias(50, n_classes=4) == pytest.approx(3 / 200)
        assert ginger_bias(50, sharp=True) == pytest.approx(0.01 * 0.98**49)
        assert ginger_bias(1, sharp=True) == 0.5


class TestGingerConcentration:
    @pytest.mark.parametrize(("m", "n_cells", "n_classes"), [(4, 3, 2), (3, 3, 3), (5, 2, 2), (6, 2, 2)])
    def test_bounded_difference_by_enumeration(self, m, n_cells, n_classes):
        """Changing one row of any sample moves Ginger by at most (2 + (K-1)/K)/m."""
        outcomes = list(product(range(n_cells), range(n_classes)))
        value = {
            sample: ginger(CellCounts(to_counts(list(sample), n_cells, n_classes)))
            for sample in product(outcomes, repeat=m)
            if list(sample) == sorted(sample)
        }
        largest = max(
            abs(value[sample] - value[tuple(sorted([*sample[:i], new, *sample[i + 1 :]]))])
            for sample in value
            for i in range(m)
            for new in outcomes
        )
        bound = (2 + (n_classes - 1) / n_classes) / m
        assert largest == pytest.approx(bound) if m > 3 else largest <= bound + 1e-12

    @pytest.mark.parametrize("n_classes", [2, 5])
    def test_the_constant_is_attained_at_every_size(self, n_classes):
        # The one odd row of a large cell joins a lone row of its own class elsewhere.
        rest = [0] * (n_classes - 2)
        for m in (4, 10, 1000):
            before = CellCounts([[1, m - 2, *rest], [1, 0, *rest]])
            after = CellCounts([[0, m - 2, *rest], [2, 0, *rest]])
            assert (ginger(before) - ginger(after)) * m == pytest.approx(2 + (n_classes - 1) / n_classes)

    def test_value(self):
        assert ginger_concentration(5000) == pytest.approx(2.5 * np.sqrt(np.log(40) / 10_000))
        assert ginger_concentration(100, n_classes=3) > ginger_concentration(100)


def test_ginger_deviation():
    assert ginger_deviation(5000) == pytest.approx(
        2 / 5000
        + 12 * np.log(8 * 5000 / 0.05) * np.sqrt(np.log(8 / 0.05)) / 100
        + 12 * np.sqrt(np.log(80) / 10_000)
    )
    assert ginger_deviation(113_793) > 1 >= ginger_deviation(113_794)  # vacuous, and said so
    assert ginger_deviation(19_000_000) <= 0.1


def test_bayes_deviation():
    assert bayes_deviation(5000) == pytest.approx(67.4, abs=0.05)
    assert bayes_deviation(int(5.3e17)) > 1 > bayes_deviation(int(5.5e17))
    with pytest.raises(ValueError, match="at least 8"):
        bayes_deviation(7)


class TestBayesExcess:
    def test_printed_weights(self):
        # Cells of sizes 1, 2, 3, 4: weights w_0 .. w_3, each times its size.
        cells = CellCounts([[1, 0], [1, 1], [2, 1], [2, 2]])
        expected = (1 * 0.5 + 2 * 0.125 + 3 * 0.125 + 4 * 0.3501806397) / 10
        assert bayes_excess(cells) == pytest.approx(expected, abs=1e-10)

    @pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 8, 31, 100, 1001])
    def test_tight_weights_are_the_largest_excess(self, k):
        def excess(q):
            tie = binom.pmf(k / 2, k, q) / 2 if k % 2 == 0 else 0
            return (2 * q - 1) * (binom.cdf(np.ceil(k / 2) - 1, k, q) + tie)

        best = max(
            -minimize_scalar(
                lambda q: -excess(q), bounds=(0.5, b), method="bounded", options={"xatol": 1e-10}
            ).fun
            for b in (0.6, 0.8, 1)
        )
        cells = CellCounts([[k, 1]])
        assert bayes_excess(cells, "tight") == pytest.approx(best, rel=1e-7)
        assert bayes_excess(cells, "tight") <= bayes_excess(cells, "paper")

    def test_tight_weights_for_large_cells(self):
        # The normal limit: max_x x Φ(-x) = 0.16997.
        assert bayes_excess(CellCounts([[10**8, 1]]), "tight") * 10**4 == pytest.approx(0.16997, rel=1e-3)

    @pytest.mark.parametrize("weights", ["paper", "tight"])
    def test_theorem_3_on_all_samples(self, weights):
        """The excess of the majority rule is at most sum_k w_k E[M_k], whose unbiased estimate this is."""
        p = [Fraction(1, 3), Fraction(2, 3)]
        q = [[Fraction(1, 5), Fraction(4, 5)], [Fraction(2, 3), Fraction(1, 3)]]
        best = sum(p_v * (1 - max(q_v)) for p_v, q_v in zip(p, q, strict=True))
        for m in (1, 2, 4):
            error = sum(w * true_error(rows, "bayes", p, q) for rows, w in all_samples(m, p, q))
            estimate = sum(
                w * Fraction(bayes_excess(CellCounts(to_counts(rows, 2, 2)), weights))
                for rows, w in all_samples(m + 1, p, q)
            )
            exact = sum(
                p_v
                * Fraction(binom.pmf(k, m, float(p_v)))
                * Fraction(bayes_excess(CellCounts([[k + 1, 0]]), weights))
                for p_v in p
                for k in range(m + 1)
            )
            assert float(estimate) == pytest.approx(float(exact), abs=1e-12)
            assert error - best <= estimate

    def test_two_classes_only(self):
        with pytest.raises(ValueError, match="two classes, got 3"):
            bayes_excess(CellCounts([[1, 2, 3]]))
        with pytest.raises(ValueError, match="'paper' or 'tight'"):
            bayes_excess(CellCounts([[1, 2]]), "loose")
        with pytest.raises(ValueError, match="importance weights"):
            bayes_excess(CellCounts([[1.5, 2]]))


@pytest.mark.parametrize("bound", [ginger_bias, ginger_deviation, ginger_concentration])
def test_bad_sizes(bound):
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        bound(0)


@pytest.mark.parametrize("bound", [ginger_deviation, ginger_concentration, bayes_deviation])
@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95])
def test_bad_confidence(bound, confidence):
    with pytest.raises(ValueError, match="confidence must lie strictly between"):
        bound(100, confidence=confidence)
