"""Every name of a criterion, wherever a name is taken: rankings, trees, lists, the command line."""

import ast
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables
from typer.testing import CliRunner

import offsample
from offsample import DecisionListClassifier, FeatureRanker, TreeClassifier, rank_features
from offsample.cli._app import app
from offsample.counts import CellCounts
from offsample.criteria import CRITERIA, ginger, weighted_ginger
from offsample.induction.scoring import RULE_CRITERIA, TREE_CRITERIA, Scoring

ALIASES = {name: known.alias_of for name, known in CRITERIA.items() if known.alias_of}
EVERY = pytest.mark.parametrize("name", CRITERIA)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    X = {
        "n": rng.normal(size=240),
        "c": np.array(list("abcde"))[rng.integers(0, 5, 240)],
        "d": np.array(list("xyz"))[rng.integers(0, 3, 240)],
    }
    y = (X["n"] > 0).astype(int) + ((X["c"] > "b") & (rng.random(240) < 0.8))
    return X, y


def growth(model):
    return [step.feature for step in model.path_], model.to_text()


LOSSES = {"log_loss_loo", "brier_loo", "auc_lpo"}  # they depend on the shares of the classes in all cells


def test_what_each_is_for():
    assert {name for name, known in CRITERIA.items() if known.estimates_loss} == LOSSES
    assert set(CRITERIA) - set(TREE_CRITERIA) == {"auc_lpo"}
    assert set(TREE_CRITERIA) - set(RULE_CRITERIA) == {"gain_ratio", "mantaras_distance"}
    assert ALIASES == {"gini": "gini_error", "error": "misclassification"}
    by_majority = {name for name, known in CRITERIA.items() if known.rule == "bayes"}
    assert by_majority == {"bayes_loo", "misclassification", "error"}


@EVERY
def test_ranks(name, table):
    X, y = table
    ranking = rank_features({**X, "y": y}, "y", criterion=name)
    assert ranking.criterion == name
    for feature in ranking:
        if feature.kind == "categorical":
            cells = CellCounts.from_codes(np.unique(X[feature.name], return_inverse=True)[1], y)
            assert feature.score == pytest.approx(CRITERIA[name](cells), abs=1e-12)
    assert FeatureRanker(criterion=name).fit(X, y).ranking_.features == ranking.features


@EVERY
def test_grows_a_tree_or_says_why_not(name, table):
    X, y = table
    # Of a tree that stops, leaves that say the same are one, which the path does not know.
    tree = TreeClassifier(criterion=name, max_splits=4, stopping="none")
    if name not in TREE_CRITERIA:
        with pytest.raises(
            ValueError, match=r"criterion must be a function or one of .*gini_error \(or gini\)"
        ):
            tree.fit(X, y)
        return
    tree.fit(X, y)
    assert tree.path_.criterion == name
    assert 1 <= tree.n_splits_ <= 4
    leaves = CellCounts(tree.tree_.counts[tree.tree_.is_leaf])
    value = CRITERIA[name](leaves)  # no leaf has a single row here, so that no parent is asked
    assert tree.path_[tree.n_splits_].criterion == pytest.approx(value, abs=1e-12)


@EVERY
@pytest.mark.parametrize("stopping", ["auto", "none"])
def test_grows_a_list_or_says_why_not(name, stopping, table):
    X, y = table
    rules = DecisionListClassifier(criterion=name, max_size=3, stopping=stopping)
    if name not in RULE_CRITERIA:
        with pytest.raises(ValueError, match="criterion must be a function or one of"):
            rules.fit(X, y)
        return
    rules.fit(X, y)
    assert 1 <= rules.size_ <= 3
    assert rules.path_[rules.path_.n_splits].criterion == pytest.approx(
        CRITERIA[name](rules.counts_), abs=1e-12
    )


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
class TestAliases:
    @given(counts=tables())
    def test_is_a_multiple(self, alias, name, counts):
        n_classes = counts.shape[1]
        expected = n_classes / (n_classes - 1) * CRITERIA[name](CellCounts(counts))
        assert CRITERIA[alias](CellCounts(counts)) == pytest.approx(expected, abs=1e-12)

    @pytest.mark.parametrize("stopping", ["auto", "none"])
    def test_same_models(self, alias, name, stopping, table):
        for learner, limit in ((TreeClassifier, "max_splits"), (DecisionListClassifier, "max_size")):
            one, other = (
                learner(criterion=criterion, stopping=stopping, **{limit: 5}).fit(*table)
                for criterion in (alias, name)
            )
            assert growth(one) == growth(other)
            values = [[step.criterion for step in model.path_] for model in (one, other)]
            np.testing.assert_allclose(values[0], 1.5 * np.array(values[1]), atol=1e-12)  # three classes

    def test_same_ranking(self, alias, name, table):
        X, y = table
        one, other = (rank_features({**X, "y": y}, "y", criterion=c) for c in (alias, name))
        assert [(f.name, f.error) for f in one] == [(f.name, f.error) for f in other]


@pytest.mark.parametrize("name", TREE_CRITERIA)
@given(counts=tables(max_classes=4))
def test_terms_make_the_value(name, counts):
    known, root = CRITERIA[name], counts.sum(axis=0)
    scoring = Scoring.of(name, "uniform").at(root)
    after = float(scoring.terms(counts).sum())
    spread = scoring.spread(root) + float(scoring.bits(counts))
    value = known.from_sums(float(scoring.terms(root)), after, int(counts.sum()), spread)
    assert value == pytest.approx(known(CellCounts(counts)), abs=1e-9)


@pytest.mark.parametrize("name", [name for name, known in CRITERIA.items() if known.fast_gains])
@pytest.mark.parametrize("unseen", ["parent", "uniform"])
@given(left=tables(max_cells=6, max_classes=4, max_count=3), data=st.data())
def test_compiled_gains(name, unseen, left, data):
    more = data.draw(st.lists(st.integers(0, 3), min_size=left.shape[1], max_size=left.shape[1]))
    parent = left.max(axis=0) + np.array([1 + more[0], *more[1:]])  # a cell of one row is not split
    scoring = Scoring.of(name, unseen)
    slow = [scoring.gain(np.stack([one, parent - one]), parent) for one in left]
    np.testing.assert_allclose(scoring.gains(left.astype(np.int64), parent.astype(np.int64)), slow, atol=1e-9)


class TestWeights:
    def test_importance_weights_reach_the_leave_one_out_formula(self):
        rng = np.random.default_rng(0)
        codes, y, weight = rng.integers(0, 6, 50), rng.integers(0, 3, 50), rng.random(50)
        assert CRITERIA["ginger"].of_rows(codes, y, weight) == weighted_ginger(codes, y, weight)
        with pytest.raises(ValueError, match="importance weights"):
            CRITERIA["bayes_loo"].of_rows(codes, y, weight)

    @EVERY
    def test_whole_weights_are_copies(self, name):
        rng = np.random.default_rng(1)
        codes, y, times = rng.integers(0, 6, 50), rng.integers(0, 3, 50), rng.integers(0, 4, 50)
        copies = np.repeat(np.arange(50), times)
        found = CRITERIA[name].of_rows(codes, y, times)
        assert found == pytest.approx(CRITERIA[name].of_rows(codes[copies], y[copies]), abs=1e-12)

    def test_without_weights(self):
        cells = CellCounts.from_codes([0, 0, 1], [0, 1, 1])
        assert CRITERIA["ginger"].of_rows([0, 0, 1], [0, 1, 1]) == ginger(cells)

    def test_a_ranker_counts_rows_as_often_as_they_weigh(self, table):
        X, y = table
        times = np.random.default_rng(2).integers(0, 3, len(y))
        weighted = FeatureRanker().fit(X, y, sample_weight=times)
        copies = np.repeat(np.arange(len(y)), times)
        repeated = FeatureRanker().fit({name: column[copies] for name, column in X.items()}, y[copies])
        assert weighted.ranking_.features == repeated.ranking_.features
        assert weighted.ranking_.n_samples == times.sum()
        with pytest.raises(ValueError, match=r"whole numbers.*criteria\.weighted_ginger"):
            FeatureRanker().fit(X, y, sample_weight=np.full(len(y), 0.5))


def test_no_name_is_compared_outside_criteria():
    """What depends on the criterion is asked of it; a new one is an entry in `CRITERIA` and nothing else."""
    root = Path(offsample.__file__).parent
    others = {
        "criteria.py",
        "intervals.py",
        "induction/oblique/moments.py",
    }  # "gini" as a rule, and as a solver
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in root.rglob("*.py")
        if path.relative_to(root).as_posix() not in others
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Compare)
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in CRITERIA
    ]
    assert found == []


@pytest.mark.parametrize("command", ["rank", "tree", "rules"])
def test_help_names_them_all(command):
    text = " ".join(CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "400"}).output.split())
    known = {"rank": CRITERIA, "tree": TREE_CRITERIA, "rules": RULE_CRITERIA}[command]
    assert [name for name in known if name not in text] == []
