from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from offsample.counts import CellCounts
from offsample.criteria import bayes_loo, ginger
from offsample.hypotheses import BayesRule, GiniRule
from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED
from papers.ginger import _bounds, _exact, _lemmas
from papers.ginger._distributions import (
    Distribution,
    all_tables,
    example_distributions,
    generalization_error,
    leave_one_out,
    random_distributions,
    uniform,
    vote_error,
)


@pytest.fixture
def example() -> Distribution:
    return Distribution("example", np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.4, 0.0]))


def test_expectations_over_every_sequence_of_rows(example: Distribution) -> None:
    # Row by row, with no table of counts: 6 kinds of rows, 4 rows.
    m, found = 4, np.zeros(4)
    cells = [(v, k) for v in range(3) for k in range(2)]
    likely = {(v, k): example.values[v] * abs(1 - k - example.positive[v]) for v, k in cells}
    classes = np.column_stack([1 - example.positive, example.positive])
    for rows in product(cells, repeat=m):
        counts = np.zeros((3, 2), int)
        for row in rows:
            counts[row] += 1
        seen = CellCounts(counts[counts.sum(axis=1) > 0])
        found += np.prod([likely[row] for row in rows]) * np.array(
            [
                ginger(seen),
                bayes_loo(seen),
                generalization_error(GiniRule.from_counts(counts), example.values, classes),
                generalization_error(BayesRule.from_counts(counts), example.values, classes),
            ]
        )
    assert found[0] == pytest.approx(example.expected_ginger(m), abs=1e-13)
    assert found[1] == pytest.approx(example.expected_bayes_error(m - 1), abs=1e-13)
    assert found[2] == pytest.approx(example.expected_gini_error(m), abs=1e-13)
    assert found[3] == pytest.approx(example.expected_bayes_error(m), abs=1e-13)


def test_all_tables_and_their_probabilities(example: Distribution) -> None:
    tables = all_tables(3, 5)
    assert len(tables) == len(np.unique(tables.reshape(-1, 6), axis=0)) == 252
    assert (tables.sum(axis=(1, 2)) == 5).all()
    assert tables.min() == 0
    assert example.probabilities(tables).sum() == pytest.approx(1, abs=1e-12)
    assert example.missing_masses(5).sum() == pytest.approx(1, abs=1e-12)


def test_draws_have_the_stated_means(example: Distribution) -> None:
    tables = example.draw(50, 4000, np.random.default_rng(0))
    assert (tables.sum(axis=(1, 2)) == 50).all()
    estimate = leave_one_out(tables, GiniRule)
    assert abs(estimate.mean() - example.expected_ginger(50)) < 4 * estimate.std() / np.sqrt(4000)
    error = example.errors(tables, BayesRule)
    assert abs(error.mean() - example.expected_bayes_error(50)) < 4 * error.std() / np.sqrt(4000)


def test_a_vote() -> None:
    # By hand: none, one, two (as one), three labels.
    q = 0.7
    three = q**3 + 3 * q**2 * (1 - q)
    expected = [0.5, 2 * q * (1 - q), 2 * q * (1 - q), three * (1 - q) + (1 - three) * q]
    np.testing.assert_allclose(vote_error(np.arange(4), q), expected, atol=1e-14)
    np.testing.assert_allclose(vote_error(np.arange(4), 1 - q), expected, atol=1e-14)


def test_claims_of_the_theorems() -> None:
    claims = [
        *_exact.identifier_claims(),
        _exact.leave_one_out_claim(m=4),
        _exact.missing_mass_claim(m=4, n_distributions=10),
        *_exact.bias_claims(max_rows=4, n_distributions=20),
        _exact.weak_concentration_claim(max_rows=4),
        _exact.all_risks_claim(),
        *_exact.optimality_claims(m=4, n_distributions=20),
        *_exact.excess_claims(n_distributions=20),
    ]
    corrected = {claim.claim.split(":")[0] for claim in claims if claim.verdict == CORRECTED}
    assert corrected == {"Sec. 2", "Theorem 2", "Theorem 3, proof"}
    assert all(claim.verdict != NOT_REPRODUCED for claim in claims)
    # Theorem 1 is attained with (1 - 1/m)^(m-1) at m = 2 already.
    assert "0.500/(2m), at most 1.000 times" in claims[4].ours


def test_the_estimators_without_a_bias_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # The training error in place of the leave-one-out error is too low.
    monkeypatch.setattr(
        _exact, "leave_one_out", lambda tables, rule: rule.training_terms(tables).sum(-1) / tables[0].sum()
    )
    assert [claim.verdict for claim in _exact.bias_claims(3, 20)] == [NOT_REPRODUCED] * 2


def test_lemmas() -> None:
    outcome = _lemmas.lemmas()
    verdicts = {claim.claim.split(":")[0]: claim.verdict for claim in outcome.claims}
    assert {name for name, verdict in verdicts.items() if verdict == CORRECTED} == {
        "Theorem 7 (McDiarmid)",
        "Lemma 12",
        "Theorem 3, proof, k = 2",
        "Lemma 18",
        "Lemma 19, proof",
        "Lemma 20, proof",
        "Lemma 21",
        "Lemma 21, proof",
    }
    assert NOT_REPRODUCED not in verdicts.values()
    change = next(claim for claim in outcome.claims if claim.claim.startswith("Lemma 8"))
    assert "at most 2.500/m" in change.ours


def test_lemma_18_at_the_counterexample_of_400_votes() -> None:
    # Exact: with probability 0.0013 > δ the vote is wrong and misses its mean by 0.1498.
    k, q, delta = 400, 0.575, 0.001
    from scipy.stats import binom

    wrong, tie = binom.cdf(k // 2 - 1, k, q), binom.pmf(k // 2, k, q)
    mean = (1 - q) * (1 - wrong - tie) + q * wrong + tie / 2
    assert wrong > delta
    assert q - mean > np.sqrt(2 * np.log(1 / delta) / (np.e * k))
    assert q - mean <= np.sqrt(2 * np.log(1 / delta) / k)


def test_simulated_deviations() -> None:
    found = _bounds.simulate((50,), 400)
    assert [d.name for d in found] == [d.name for d in example_distributions(50)]
    claims = _bounds.deviation_claims(found)
    assert [claim.verdict for claim in claims] == [REPRODUCED] * 5
    # 50 pure values in 50 rows: Ginger is half the share of those seen once, the error half the missing mass.
    rows = uniform("", 50, (np.arange(50) % 2).astype(float)).draw(50, 400, np.random.default_rng(1))
    once, never = (rows.sum(-1) == 1).sum(-1) / 100, (rows.sum(-1) == 0).sum(-1) / 100
    assert np.quantile(found[-1].ginger_rule, 0.5) == pytest.approx(np.median(np.abs(once - never)), abs=0.01)
    assert _bounds.deviation_table(found).count("Theorem 4") == len(found)
    pytest.importorskip("matplotlib")
    assert len(_bounds.plot_deviations(found).axes) == 2


def test_a_bound_that_is_too_small_is_not_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _bounds.simulate((50,), 100)
    monkeypatch.setitem(_bounds.BOUNDS, "ginger_rule", ("Theorem 2", lambda _: 0.001))
    assert _bounds.deviation_claims(found)[0].verdict == NOT_REPRODUCED


def test_random_distributions_are_distributions() -> None:
    for given in random_distributions(20, 4, np.random.default_rng(0)):
        assert given.values.sum() == pytest.approx(1)
        assert given.positive.min() >= 0
        assert given.positive.max() <= 1
