from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offsample.induction import TreeClassifier
from papers._experiments import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from papers.ginger._census import census_split, load_census
from papers.ginger._trees import TREE_CRITERIA, Curves, error_curve, grow_problem
from papers.ginger._trees_report import at_split, fig4_claims, fig5, fig5_claims, plot_fig4, plot_fig5


def example(n: int, ginger: float, gini: float = 0.3) -> list[Curves]:
    """Trees that overfit by all criteria but Ginger, which ends at `ginger`."""
    curves = []
    for i in range(n):
        test = {name: np.linspace(0.4, gini + 0.01 * i, 9) for name in TREE_CRITERIA}
        test["Ginger"] = np.linspace(0.4, ginger + 0.01 * i, 9)
        training = {name: np.linspace(0.4, 0.1, 9) for name in TREE_CRITERIA}
        curves.append(Curves(f"P{i}", training, test, 0.25))
    return curves


def test_verdicts_follow_the_numbers() -> None:
    better, worse = fig5_claims(example(8, 0.2), "all"), fig5_claims(example(8, 0.4), "all")
    assert [claim.verdict for claim in better] == [REPRODUCED] * 3
    assert [claim.verdict for claim in worse] == [NOT_REPRODUCED] * 3
    assert "better in 8, worse in 0 of 8 problems; mean difference 0.100" in better[0].ours
    # Half of the problems won is neither "most" nor its contrary, and no mean of both signs is above 0.
    half = [*example(4, 0.2), *example(4, 0.4)]
    assert [claim.verdict for claim in fig5_claims(half, "all")] == [UNDECIDED] * 3
    verdicts = [claim.verdict for claim in fig4_claims(example(20, 0.2), "all")]
    # IG is as Gini everywhere, and by Ginger test error and gap are less; but training errors are the same, a
    # gap of 0.2 + 0.01 i is not twice one of 0.1 + 0.01 i, no curve rises again, and IGR is nowhere ahead.
    assert verdicts[0] == verdicts[3] == verdicts[4] == REPRODUCED
    assert verdicts[1] == verdicts[2] == verdicts[5] == verdicts[6] == NOT_REPRODUCED
    assert fig4_claims(example(8, 0.2), "all")[0].verdict == UNDECIDED  # 8 of 8 may be 8 of 10


def test_a_tree_that_ended_keeps_its_last_error() -> None:
    errors = np.array([0.5, 0.4, 0.3])
    assert [at_split(errors, n) for n in (0, 1, 2, 100)] == [0.5, 0.4, 0.3, 0.3]


def test_both_figures() -> None:
    pytest.importorskip("matplotlib")
    curves = example(5, 0.2)
    fourth, fifth = plot_fig4(curves), plot_fig5(curves)
    assert len(fourth.axes) == 4 * 3  # four problems, Gini, IGR and Ginger
    np.testing.assert_array_equal(fourth.axes[0].lines[1].get_ydata(), curves[0].test["Gini"])
    assert [axis.get_title() for axis in fifth.axes] == [
        f"{name} − Ginger: 5 above, 0 below 0" for name in ("IG", "IGR", "Gini")
    ]


def test_the_last_error_of_a_curve_is_that_of_the_tree() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (400, 3))
    y = ((X[:, 0] == 1) ^ (rng.random(400) < 0.2)).astype(int)
    tree = TreeClassifier(
        criterion="gini",
        stopping="none",
        max_splits=3,
        categorical_features="all",
        unseen="uniform",
        shrinkage=None,
    ).fit(X, y)
    curve = error_curve(tree, X, y)
    assert len(curve) == tree.n_splits_ + 1
    # A tie counts one half here, and goes to the first class in `predict`.
    assert curve[-1] == pytest.approx(1 - tree.score(X, y), abs=0.02)


def test_census_trees(data_dir: Path) -> None:
    census = load_census(data_dir)
    result = grow_problem(census, "SEX", 500, 4, every_attribute=False)
    train, test = census_split(census, 500)
    y = census.labels("SEX")
    majority = y[train].mean() > 0.5
    for name in TREE_CRITERIA:
        assert len(result.test[name]) == 5
        # With no split all rows get the majority of the training rows.
        assert result.training[name][0] == pytest.approx((y[train] != majority).mean())
        assert result.test[name][0] == pytest.approx((y[test] != majority).mean())
        assert (np.diff(result.training[name]) <= 1e-12).all()
    outcome = fig5(("SEX", "POVERTY"), 500, 4, data_dir)
    assert "SEX" in outcome.tables
    assert [claim.printed for claim in outcome.claims] == ["no number"] * 6
    assert all(claim.claim.endswith("all attributes") for claim in outcome.claims[:3])
