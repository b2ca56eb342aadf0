from __future__ import annotations

import numpy as np
import pytest

from offsample.criteria import is_permissible
from papers._experiments import CORRECTED, NOT_REPRODUCED, REPRODUCED, Outcome, experiments
from papers.index_criteria import _classes, _indexes, _samples, _worst_cases
from papers.index_criteria._set_cover import greedy_cover, make_set_cover_sample


def verdicts(outcome: Outcome) -> list[str]:
    return [claim.verdict for claim in outcome.claims]


def test_least_cover() -> None:
    X, _ = make_set_cover_sample(6, [[0, 1, 2, 3], [0, 1, 4], [2, 3, 5]])
    assert _samples.least_cover(X) == 2  # the greedy one takes all three
    assert len(greedy_cover(X)) == 3
    with pytest.raises(ValueError, match="do not cover"):
        _samples.least_cover(np.array([[1, 0], [0, 0], [0, 0]]))


def test_nodes_of_a_greedy_cover() -> None:
    X, _ = make_set_cover_sample(6, [[0, 1, 2, 3], [0, 1, 4], [2, 3, 5]])
    assert list(_samples.greedy_nodes(X)) == [(0, 6, 2), (1, 2, 1), (2, 1, 0)]


def test_random_indexes_are_permissible() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        line = _samples.random_index(rng)
        assert is_permissible(lambda p, line=line: _samples.evaluate(line, p[..., 1]))


def test_conjunctions_are_turned_to_the_negative_row() -> None:
    X, _ = make_set_cover_sample(4, [[0, 1], [1, 2], [3]])
    larger = _classes.conjunctions(X)
    assert not larger[-1].any()
    columns = {tuple(column) for column in larger[:-1].T}
    assert len(columns) == larger.shape[1]
    # x0, the elements of both x0 and x1, those of either, and x0 without x1.
    assert {(1, 1, 0, 0), (0, 1, 0, 0), (1, 1, 1, 0), (1, 0, 0, 0)} <= columns
    assert _samples.least_cover(larger) == 2


def test_section_2() -> None:
    outcome = _indexes.permissible(n_partitions=200, n_functions=20)
    assert verdicts(outcome) == [REPRODUCED, CORRECTED, REPRODUCED, REPRODUCED]
    assert "2z(1 - z)  no" in outcome.tables
    assert verdicts(_indexes.equations(n_trees=10)) == [REPRODUCED, CORRECTED, REPRODUCED, CORRECTED]


def test_product_of_a_tree_by_hand() -> None:
    # One split, then one of its children: pruning the child of the whole tree is the whole decrease of it.
    y = np.array([0, 0, 1, 1, 1, 1])
    child = _indexes._Node(
        np.array([0, 1, 2]), [_indexes._Node(np.array([0, 1])), _indexes._Node(np.array([2]))]
    )
    root = _indexes._Node(np.arange(6), [child, _indexes._Node(np.array([3, 4, 5]))])
    gini = {
        pruned: _indexes._index(root, y, "gini", p)
        for pruned, p in (("no", ()), ("child", (child,)), ("root", (root,)))
    }
    assert gini == pytest.approx({"no": 0.0, "child": 0.5 * 4 * 2 / 9, "root": 4 * 2 / 9})


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda: _worst_cases.theorem3(5, 20), [REPRODUCED, CORRECTED, REPRODUCED, REPRODUCED]),
        (lambda: _worst_cases.greedy_covers(5), [REPRODUCED] * 3 + [CORRECTED, REPRODUCED]),
        (lambda: _worst_cases.theorems4_5_7(5), [REPRODUCED] * 5),
        (_worst_cases.theorems6_8, [CORRECTED, REPRODUCED, REPRODUCED]),
        (lambda: _worst_cases.theorem9(5), [CORRECTED, REPRODUCED]),
        (lambda: _classes.larger_tests(3), [REPRODUCED] * 4),
        (lambda: _classes.classes(6), [REPRODUCED] * 6 + [CORRECTED]),
        (lambda: _classes.ranking(20), [REPRODUCED]),
    ],
)
def test_verdicts(run, expected) -> None:
    assert verdicts(run()) == expected


def test_a_bound_that_is_too_large_is_not_reproduced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_worst_cases, "set_cover_decrease_bound", lambda s, cover, index: 0.9)
    assert verdicts(_worst_cases.theorems4_5_7(3))[:3] == [NOT_REPRODUCED] * 3


def test_figure_of_the_decreases() -> None:
    pytest.importorskip("matplotlib")
    outcome = _worst_cases.theorems4_5_7(3)
    axes = outcome.figures[""].axes
    assert [axis.get_title() for axis in axes] == ["matsushita", "entropy", "gini"]
    for axis in axes:
        nodes, bound = axis.lines
        assert (nodes.get_ydata() >= np.interp(nodes.get_xdata(), bound.get_xdata(), bound.get_ydata())).all()


def test_what_cannot_be_repeated_says_why() -> None:
    known = experiments()
    for name in ("index_criteria.fig1", "index_criteria.lemma1"):
        assert known[name].run is None
        assert len(known[name].reason) > 30
