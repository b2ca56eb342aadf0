import xml.etree.ElementTree as ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from offsample import (
    BranchingProgramClassifier,
    Relief,
    TreeClassifier,
    compare,
    nested_cross_validate,
    rank_features,
)
from offsample.datasets import make_customers
from offsample.margin import sufficient_columns
from offsample.plotting import (
    plot_comparison,
    plot_nested,
    plot_path,
    plot_program,
    plot_ranking,
    plot_sufficient,
    plot_tree,
    plot_weights,
)


@pytest.fixture
def ranking():
    return rank_features(make_customers(1000), "churned")


def test_plot_ranking_shows_the_numbers(ranking, tmp_path):
    ax = plot_ranking(ranking)
    assert [label.get_text() for label in ax.get_yticklabels()] == [f.name for f in ranking]
    training, estimated = (points.get_offsets() for points in ax.collections)
    assert estimated[:, 0].tolist() == [f.error for f in ranking]
    assert training[:, 0].tolist() == [f.training_error for f in ranking]
    ax.figure.savefig(tmp_path / "ranking.svg")
    assert (tmp_path / "ranking.svg").stat().st_size > 5000
    plt.close(ax.figure)


def test_draws_on_given_axes_and_stops_at_max_columns(ranking):
    figure, ax = plt.subplots()
    assert plot_ranking(ranking, max_columns=3, ax=ax) is ax
    assert len(ax.get_yticklabels()) == 3
    assert "3 of 11 columns" in ax.get_title()
    plt.close(figure)


STRANGE = ["$x^$", "$\\frac{$", "a$b$c", "\x1b[31m\x00\n", "_{^", "\\$", "a" * 50]


def test_names_that_look_like_formulas_or_cannot_be_seen_are_text(tmp_path):
    rng = np.random.default_rng(0)
    y = np.array(STRANGE)[rng.integers(0, 2, 80)]
    table = {name: np.where(rng.random(80) < 0.9, y, STRANGE[2]) for name in STRANGE}
    axes = [
        plot_ranking(rank_features({**table, "y": y}, "y")),
        plot_tree(TreeClassifier(max_splits=3).fit(pd.DataFrame(table), y)),
        plot_program(BranchingProgramClassifier().fit(pd.DataFrame(table), y)),
        plot_weights(Relief(random_state=0).fit(pd.DataFrame(rng.normal(size=(80, 7)), columns=STRANGE), y)),
    ]
    labels = {label.get_text() for label in axes[0].get_yticklabels()}
    assert labels >= {"$x^$", "$\\frac{$", "a" * 31 + "…", "\ufffd[31m\ufffd\ufffd"}
    for i, ax in enumerate(axes):
        ax.figure.savefig(tmp_path / f"{i}.svg")
        ElementTree.parse(tmp_path / f"{i}.svg")  # control characters would not be XML
        plt.close(ax.figure)


def test_every_node_of_a_tree_is_drawn():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"c": rng.integers(0, 12, 2000).astype(str), "x": rng.normal(size=2000)})
    y = (table["c"].astype(int) + 3 * table["x"] > 6).astype(int)
    ax = plot_tree(TreeClassifier(categorical_split="multiway").fit(table, y))
    texts = [text.get_text() for text in ax.texts]
    assert texts[0].startswith("all rows\nn = 2,000")
    assert any("error" in text for text in texts)
    plt.close(ax.figure)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    return X, (X[:, 0] + X[:, 1] + rng.normal(scale=0.5, size=300) > 0).astype(int)


def test_a_path_is_drawn_with_both_errors(problem):
    tree = TreeClassifier(max_splits=5, stopping="none").fit(*problem)
    ax = plot_path(tree)
    training, estimated, kept = ax.lines
    assert training.get_ydata().tolist() == [step.training_error for step in tree.path_]
    assert estimated.get_ydata().tolist() == [step.estimated_error for step in tree.path_]
    assert kept.get_xdata()[0] == tree.path_.n_splits
    plt.close(ax.figure)


def test_weights_are_sorted_and_the_selected_ones_marked(problem):
    selector = Relief(n_features_to_select=2).fit(*problem)
    ax = plot_weights(selector, max_columns=4)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == sorted(selector.feature_weights_, reverse=True)[:4]
    assert [label.get_text() for label in ax.get_yticklabels()][:2] in (["x0", "x1"], ["x1", "x0"])
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    plt.close(ax.figure)


@pytest.mark.parametrize("classifier", [None, TreeClassifier()])
def test_errors_against_the_number_of_columns(problem, classifier):
    found = sufficient_columns(*problem, classifier=classifier, n_resamples=2)
    ax = plot_sufficient(found)
    nearest = ax.containers[0].lines[0]
    assert nearest.get_ydata().tolist() == [size.error for size in found.sizes]
    assert len(ax.containers) == (1 if classifier is None else 2)
    plt.close(ax.figure)


def test_models_and_nested_scores(problem):
    compared = compare({"stump": TreeClassifier(max_splits=1), "tree": TreeClassifier()}, *problem, cv=5)
    ax = plot_comparison(compared)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(compared.models)
    plt.close(ax.figure)
    nested = nested_cross_validate(TreeClassifier(), *problem, param_grid={"max_splits": [1, 4]}, cv=4)
    ax = plot_nested(nested)
    reported, outer, _ = ax.lines
    assert reported.get_ydata().tolist() == list(nested.inner_scores)
    assert outer.get_ydata().tolist() == list(nested.scores)
    plt.close(ax.figure)
