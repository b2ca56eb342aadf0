"""Columns as codes."""

import numpy as np

from offsample.induction.tree.columns import MAX_EXACT, bin_edges, codes_of


def test_bins_are_exact_for_few_values_and_quantiles_for_many():
    few = np.repeat(np.arange(MAX_EXACT, dtype=float), 2)
    assert len(bin_edges(few)) == MAX_EXACT - 1
    rng = np.random.default_rng(0)
    many = rng.normal(size=20_000)
    edges = bin_edges(many)
    assert len(edges) <= 254
    assert np.bincount(codes_of(many, edges)).max() < 2 * len(many) / 254
    for values in (
        few,
        many,
        rng.standard_cauchy(5000),
        np.array([np.nan, -0.0, 0.0, 5e-324, 1e308, -1e308]),
    ):
        edges = bin_edges(values)
        expected = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values))
        np.testing.assert_array_equal(codes_of(values, edges), expected)
    assert len(bin_edges(np.full(5, np.nan))) == 0
