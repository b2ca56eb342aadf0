import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from offsample import TreeClassifier, rank_features
from offsample.datasets import make_customers
from offsample.plotting import plot_ranking, plot_tree


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


def test_names_that_look_like_formulas():
    ax = plot_ranking(rank_features({"$x^$": [0, 1, 0, 1], "a" * 50: [0, 0, 1, 1], "y": [0, 1, 0, 1]}, "y"))
    ax.figure.draw_without_rendering()
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert "a" * 31 + "…" in labels
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
