import numpy as np
import pytest

from offsample.induction import TreeClassifier
from papers.ginger_trees import CRITERIA, Curves, error_curve, save_figures


def test_both_figures_are_drawn(tmp_path):
    rng = np.random.default_rng(0)
    curves = [
        Curves(
            f"P{i}",
            {name: rng.random(9) for name in CRITERIA},
            {name: rng.random(9) for name in CRITERIA},
            0.1,
        )
        for i in range(5)
    ]
    save_figures(curves, tmp_path / "figures")
    written = sorted((tmp_path / "figures").iterdir())
    assert [path.name for path in written] == [
        f"ginger_trees_{name}.{kind}" for name in ("figure4", "figure5") for kind in ("png", "svg")
    ]
    assert all(path.stat().st_size > 5000 for path in written)


def test_the_last_error_of_a_curve_is_that_of_the_tree():
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
