"""Branching programs: their size, the price of merging nodes, and their drawing."""

import itertools

import numpy as np
import pytest
from rule_learners import dnf_sample

from offsample.induction import (
    BranchingProgramClassifier,
)


def test_program_keeps_to_its_nodes_and_the_price_of_merging():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (3000, 9))
    y = (X[:, :7].sum(axis=1) >= 4) ^ (rng.random(3000) < 0.1)
    for size in (1, 3, 8, 20, 40):
        model = BranchingProgramClassifier(criterion="gini", stopping="none", max_size=size).fit(X, y)
        assert model.n_nodes_ <= size
    whole = BranchingProgramClassifier(criterion="matsushita", stopping="none", max_depth=7).fit(X, y)
    assert whole.n_nodes_ < 60  # a tree of this depth has up to 255
    levels = {node.level for node in whole.model_.nodes}
    widths = [sum(node.level == level for node in whole.model_.nodes) for level in levels]
    assert max(widths) <= 26


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_merging_costs_at_most_its_factor(gamma):
    """Two nodes of a bucket have, together, at most 1 + γ times the sum of their Matsushita indexes."""
    from offsample.induction.rules.branching_program import bucket_edges

    edges = bucket_edges(gamma, 0.01)
    assert len(edges) + 1 == 2 + 2 * int(np.ceil(np.log(50) / (2 * np.log(1 + gamma))))
    rng = np.random.default_rng(0)
    q = rng.uniform(0.01, 0.99, 200_000).reshape(-1, 2)
    same = np.searchsorted(edges, q[:, 0], side="right") == np.searchsorted(edges, q[:, 1], side="right")
    q, p = q[same], rng.uniform(0, 1, same.sum())
    assert len(q) > 1000

    def index(z):
        return 2 * np.sqrt(z * (1 - z))

    apart = p * index(q[:, 0]) + (1 - p) * index(q[:, 1])
    together = index(p * q[:, 0] + (1 - p) * q[:, 1])
    assert (together <= (1 + gamma) * apart).all()


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_the_worst_that_a_bucket_costs(gamma):
    """Any number of nodes of any sizes cost at most what two at the ends do, and that is below 1 + γ."""
    from offsample.induction.rules.branching_program import bucket_edges

    def index(q):
        return np.sqrt(q * (1 - q))

    rng = np.random.default_rng(1)
    edges = bucket_edges(gamma, 0.01)
    for low, high in itertools.pairwise(edges):
        ratio = (high / (1 - high)) / (low / (1 - low))
        worst = (ratio**0.25 + ratio**-0.25) / 2
        assert worst <= 1 + gamma
        sizes = rng.gamma(0.3, size=(2000, 6)) + 1e-12
        shares = rng.choice([low, high], (2000, 6))
        shares[::2] = rng.uniform(low, high, (1000, 6))
        apart = (sizes * index(shares)).sum(axis=1)
        together = sizes.sum(axis=1) * index((sizes * shares).sum(axis=1) / sizes.sum(axis=1))
        assert (together <= worst * apart * (1 + 1e-12)).all()
        p = np.linspace(0, 1, 10_001)
        attained = index(p * low + (1 - p) * high) / (p * index(low) + (1 - p) * index(high))
        assert attained.max() == pytest.approx(worst, rel=1e-8)


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_merging_a_level_costs_at_most_its_factor(gamma, monkeypatch):
    """The index after a level is merged is at most 1 + γ times the one before, and what the end buckets add.

    Of every level of programs that grow, on noisy rows whose class ratios fill all buckets.
    """
    from offsample.induction.rules import branching_program
    from offsample.induction.rules.branching_program import ProgramPartition, bucket_edges
    from offsample.induction.rules.partition import Sample
    from offsample.induction.rules.vocabulary import Vocabulary
    from offsample.induction.scoring import Scoring

    least = 0.05
    monkeypatch.setattr(branching_program, "_MERGE_FACTOR", gamma)
    monkeypatch.setattr(branching_program, "_LEAST_SHARE", least)
    edges = bucket_edges(gamma, least)
    n_merged = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (3000, 9))
        y = (rng.random(3000) < 1 / (1 + np.exp(4 - X.sum(axis=1)))).astype(np.int64)
        vocabulary = Vocabulary()
        index = vocabulary.fit_index(X)
        scoring = Scoring.of("matsushita", "uniform")
        sample = Sample(index, y, 2, scoring, vocabulary.log_tried, np.ones(3000, bool), by_evidence=False)
        partition = ProgramPartition(sample, BranchingProgramClassifier())
        while partition.propose() is not None and len(partition.steps) < 6:
            split = partition._split(partition._best_tests())
            merged = partition._merge(*split, edges)[0]
            before, after = partition._total_of(split[0]), partition._total_of(merged)
            shares = [node.counts[1] / node.counts.sum() for node in merged if node.counts.any()]
            sizes = [node.counts.sum() for node in merged if node.counts.any()]
            at_ends = sum(n for n, q in zip(sizes, shares, strict=True) if min(q, 1 - q) < least)
            assert after <= (1 + gamma) * before + at_ends * 2 * np.sqrt(least * (1 - least)) + 1e-9
            n_merged += len(sizes) < sum(bool(node.counts.any()) for node in split[0])
            partition.refine()
    assert n_merged > 5


def test_drawing_of_a_program():
    pytest.importorskip("matplotlib")
    from offsample.plotting import plot_program

    X, y, _ = dnf_sample()
    model = BranchingProgramClassifier().fit(X, y)
    axes = plot_program(model)
    shown = [text.get_text() for text in axes.texts]
    assert sum("n = " in text for text in shown) == sum(rule.condition is not None for rule in model.rules_)
    assert sum(" of " in text for text in shown) == len(model.model_.leaves)
    axes.figure.clf()
