from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from customers import CUSTOMER_ROLES
from hypothesis import given, settings
from hypothesis import strategies as st

from offsample import rank_features
from offsample import ranking as ranking_module
from offsample._partitions import nested_bins
from offsample.counts import CellCounts, feature_counts
from offsample.criteria import CRITERIA, bayes_loo, error_interval, ginger, gini_error
from offsample.datasets import make_customers
from offsample.evidence import discoveries
from offsample.intervals import gain_interval
from offsample.ranking import Ranking


@pytest.fixture(scope="module")
def customers():
    return make_customers()


def names(ranking: Ranking) -> list[str]:
    return [feature.name for feature in ranking]


TABLE = {
    "x": ["a", "a", "b", "b", "b", "c", None, "a", "b", "a"],
    "y": [0, 0, 1, 1, 0, 1, 1, 0, 1, 0],
}


class TestOneColumn:
    """A ranking says of a column what the criteria say of its counts."""

    def test_categorical(self):
        feature = rank_features(TABLE, "y")["x"]
        cells = feature_counts(TABLE, "y")["x"]
        baseline = ginger(CellCounts([[5, 5]]))
        assert (feature.kind, feature.n_values, feature.n_missing, feature.n_cells) == (
            "categorical",
            4,
            1,
            4,
        )
        assert feature.error == feature.score == ginger(cells)
        assert feature.training_error == pytest.approx(gini_error(cells))
        assert feature.optimism == pytest.approx(ginger(cells) - gini_error(cells))
        assert (feature.low, feature.high) == error_interval(cells)
        assert feature.missing_mass == cells.missing_mass() == 0.2
        assert feature.gain == pytest.approx(baseline - ginger(cells))
        assert feature.gain_low == pytest.approx(gain_interval(cells)[0])

    def test_majority_rule(self):
        ranking = rank_features(TABLE, "y", criterion="bayes_loo")
        cells = feature_counts(TABLE, "y")["x"]
        assert ranking["x"].error == bayes_loo(cells)
        assert ranking.baseline_error == bayes_loo(CellCounts([[5, 5]])) == 1.0

    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_score_is_the_criterion(self, criterion):
        ranking = rank_features(TABLE, "y", criterion=criterion)
        assert ranking["x"].score == CRITERIA[criterion](feature_counts(TABLE, "y")["x"])
        assert 0 <= ranking["x"].low <= ranking["x"].high <= 1

    def test_few_numbers_are_values(self):
        table = {"x": [1, 1, 2, 2, 3, 3, 3, 1], "y": [0, 0, 1, 1, 0, 1, 1, 0]}
        feature = rank_features(table, "y")["x"]
        assert (feature.kind, feature.n_cells) == ("numeric", 3)
        assert feature.error == ginger(feature_counts(table, "y")["x"])

    def test_few_rows_are_not_few_values(self):
        """Thirty different numbers, or thirty beside a frequent one, are no thirty values."""
        for x in (np.arange(30.0), np.append(np.arange(30.0), np.zeros(60))):
            feature = rank_features({"x": x, "y": np.arange(len(x)) < 15}, "y")["x"]
            assert feature.n_cells <= 4
            assert feature.significant

    def test_many_numbers_are_cut(self):
        rng = np.random.default_rng(0)
        x = rng.normal(size=2000)
        y = (x + rng.normal(size=2000) > 0).astype(int)
        auto = rank_features({"x": x, "y": y}, "y")["x"]
        assert 2 <= auto.n_cells <= 64
        assert auto.significant
        distinct = rank_features({"x": x, "y": y}, "y", numeric="distinct")["x"]
        assert (distinct.n_cells, distinct.error) == (2000, 0.5)
        eight = rank_features({"x": x, "y": y}, "y", numeric=8)["x"]
        assert eight.n_cells == 8
        # The choice among 2, 4, 8, … has its price.
        assert auto.high - auto.low > eight.high - eight.low

    def test_numbers_that_are_names_keep_their_signal(self):
        rng = np.random.default_rng(1)
        code = rng.integers(0, 3000, 30_000)
        y = rng.random(30_000) < rng.random(3000)[code]
        feature = rank_features({"x": code * 7919 % 10_007, "y": y}, "y")["x"]
        assert feature.n_cells == 3000
        assert feature.gain > 0.1


class TestOrder:
    def test_customers(self, customers):
        ranking = rank_features(customers, "churned")
        signals = {name for name, role in CUSTOMER_ROLES.items() if role.startswith(("signal", "leak"))}
        assert set(names(ranking)[: len(signals)]) == signals
        assert {f.name for f in ranking if f.significant} == signals
        assert names(ranking)[0] == "exit_survey_sent"
        assert names(ranking)[-1] == "customer_id"

    def test_training_criteria_fall_for_the_identifier(self, customers):
        for criterion in ("information_gain", "gini", "misclassification"):
            order = names(rank_features(customers, "churned", criterion=criterion))
            assert order.index("customer_id") < order.index("city")

    def test_estimate_and_lower_bound(self, customers):
        by_estimate = rank_features(customers, "churned", order="estimate")
        assert [f.error for f in by_estimate] == sorted(f.error for f in by_estimate)
        by_bound = rank_features(customers, "churned", order="lower_bound")
        assert [f.gain_low for f in by_bound] == sorted((f.gain_low for f in by_bound), reverse=True)

    @settings(max_examples=20)
    @given(st.permutations(sorted(CUSTOMER_ROLES)))
    def test_order_of_columns_does_not_matter(self, columns):
        table = make_customers(300)
        shuffled = {name: table[name] for name in [*columns, "churned"]}
        assert names(rank_features(shuffled, "churned")) == names(rank_features(table, "churned"))

    def test_order_of_rows_and_names_of_classes_do_not_matter(self, customers):
        rows = np.random.default_rng(0).permutation(5000)
        renamed = {name: column[rows] for name, column in customers.items()}
        renamed["churned"] = np.where(renamed["churned"] == "yes", "a", "b")
        one, other = rank_features(customers, "churned"), rank_features(renamed, "churned")
        assert names(one) == names(other)
        assert [f.error for f in one] == pytest.approx([f.error for f in other], abs=1e-12)

    def test_falsediscoveries(self):
        p = np.array([0.001, 0.3, 0.02, 0.9, 0.011])
        assert discoveries(p, 0.05).tolist() == [True, False, True, False, True]
        assert not discoveries(np.array([0.2, 0.3]), 0.05).any()


@st.composite
def tables(draw):
    """Columns of few and of many values, with and without a signal, and classes of any rates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows = draw(st.integers(12, 400))
    y = rng.random(n_rows) < draw(st.sampled_from([0.03, 0.1, 0.5]))
    y[:2] = [False, True]
    table = {"y": y + (rng.random(n_rows) < draw(st.sampled_from([0.0, 0.2])))}
    for i in range(draw(st.integers(1, 4))):
        n_values = draw(st.integers(2, n_rows))
        code = rng.integers(0, n_values, n_rows)
        knows = rng.random(n_rows) < draw(st.sampled_from([0.0, 0.5, 1.0]))
        code = np.where(knows, 2 * code + y, 2 * code)  # a part of the values tells the class
        table[f"x{i}"] = code.astype(str) if draw(st.booleans()) else code + rng.random(n_rows)
    return table


class TestConsistency:
    """What is said of a column does not contradict itself."""

    @settings(max_examples=60, deadline=None)
    @given(tables(), st.sampled_from(["ginger", "bayes_loo", "information_gain"]))
    def test_gain_has_the_sign_of_baseline_less_error(self, table, criterion):
        ranking = rank_features(table, "y", criterion=criterion)
        for f in ranking:
            assert f.gain == ranking.baseline_error - f.error
            assert 0 <= f.expected_gain <= max(0, f.gain)
            assert f.gain_low <= f.gain
            assert 0 <= f.low <= f.error <= f.high <= 1
        if criterion != "information_gain":
            beyond_doubt = [f.p_value <= 0.01 / len(ranking) for f in ranking]
            assert beyond_doubt == sorted(beyond_doubt, reverse=True)
            gains = [f.expected_gain for f in ranking][: sum(beyond_doubt)]
            assert gains == sorted(gains, reverse=True)

    def test_a_signal_whose_new_values_cost_more_than_it_gains(self):
        """Beyond doubt, but worse than the baseline alone: behind the columns that gain, with no gain."""
        rng = np.random.default_rng(0)
        code = rng.integers(0, 1500, 3000)
        y = rng.random(3000) < rng.choice([0.02, 0.3], 1500, p=[0.8, 0.2])[code]
        weak = np.where(rng.random(3000) < 0.1, y, rng.random(3000) < 0.1)
        ranking = rank_features({"city": code.astype(str), "weak": weak, "y": y}, "y")
        assert names(ranking) == ["weak", "city"]
        assert ranking["city"].p_value < 1e-6
        assert ranking["city"].error > ranking.baseline_error
        assert ranking["city"].expected_gain == 0


class TestResult:
    def test_reads_like_a_collection(self, customers):
        ranking = rank_features(customers, "churned", features=["plan", "city"])
        assert len(ranking) == 2
        assert [f.name for f in ranking] == [f.name for f in ranking.features]
        with pytest.raises(KeyError, match="'colour' is not among the 2"):
            ranking["colour"]
        with pytest.raises(AttributeError):
            ranking.baseline_error = 0

    def test_frame(self, customers):
        frame = rank_features(customers, "churned").to_frame()
        assert isinstance(frame, pd.DataFrame)
        assert frame["name"].tolist()[0] == "exit_survey_sent"
        assert {"error", "low", "high", "gain", "gain_low", "optimism"} <= set(frame.columns)

    def test_text(self, customers):
        text = repr(rank_features(customers, "churned"))
        assert "Error of guessing by class shares: 0.38" in text
        assert "customer_id" in text
        many = {f"c{i}": np.arange(40) % (i + 2) for i in range(25)} | {"y": np.arange(40) % 2}
        assert "… and 5 more" in repr(rank_features(many, "y"))

    def test_rows_without_target_are_left_out_and_counted(self):
        table = {"x": list("aabbab"), "y": ["n", "p", None, "n", "p", None]}
        ranking = rank_features(table, "y")
        assert (ranking.n_samples, ranking.n_dropped) == (4, 2)
        assert "left out, without a target: 2 rows" in repr(ranking)

    def test_same_on_every_library(self, customers):
        frames = [customers, pd.DataFrame(customers), pl.DataFrame(customers), pl.DataFrame(customers).lazy()]
        first, *others = (rank_features(frame, "churned") for frame in frames)
        for ranking in others:
            assert ranking.features == first.features

    def test_target_as_an_array(self, customers):
        y = customers["churned"]
        table = {name: column for name, column in customers.items() if name != "churned"}
        assert rank_features(table, y).features == rank_features(customers, "churned").features

    def test_progress_goes_to_standard_error(self, customers, capsys):
        rank_features(customers, "churned", progress=True)
        assert capsys.readouterr().out == ""


def test_bins_are_nested_and_of_about_equal_size():
    rng = np.random.default_rng(0)
    sizes = rng.integers(10, 28, 100)
    levels = nested_bins(sizes)
    assert [level.max() + 1 for level in levels] == [2, 4, 8, 16, 32, 64, 100]
    for coarse, finer in pairwise(levels[:-1]):
        assert np.array_equal(coarse, finer // 2)
        assert np.bincount(coarse, sizes).max() <= sizes.sum() / (coarse.max() + 1) + 2 * sizes.max()


@pytest.mark.parametrize(("n_rows", "most"), [(3, 2), (15, 2), (31, 2), (32, 4), (100, 8), (1000, 64)])
def test_bins_have_eight_rows(n_rows, most):
    levels = nested_bins(np.ones(n_rows, int))
    assert [level.max() + 1 for level in levels] == [2**i for i in range(1, most.bit_length())]
    assert nested_bins(np.array([4, 2]))[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "gingre"}, "criterion must be one of .*'ginger'.*, got 'gingre'"),
        ({"order": "best"}, "order must be one of 'auto', 'estimate', 'lower_bound', got 'best'"),
        ({"confidence": 95}, "confidence must lie strictly between 0 and 1"),
        ({"numeric": "bins"}, "numeric must be 'auto', 'distinct' or a number of bins"),
        ({"numeric": 1}, "max_bins must be at least 2"),
        ({"features": ["plam"]}, "feature 'plam' is not a column of the table: did you mean 'plan'"),
        ({"categorical_features": ["aeg"]}, "categorical column 'aeg' is not a column"),
    ],
)
def test_bad_options(options, message, customers):
    with pytest.raises(ValueError, match=message):
        rank_features(customers, "churned", **options)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"x": [1, 2], "y": [None, None]},
            "target 'y' is missing in all 2 rows: expected two or more classes",
        ),
        ({"x": [1, 2], "y": ["no", "no"]}, "target 'y' has one class only, 'no': expected two or more"),
        ({"x": [1, 2], "z": [0, 1]}, "target 'y' is not a column of the table"),
        ({"x": [], "y": []}, "the table has no rows"),
        ({"x": [[1], [2]], "y": [0, 1]}, "column 'x' holds values that cannot be compared by hash"),
        (
            pd.DataFrame([[1, 2, 0], [1, 2, 1]], columns=["x", "x", "y"]),
            "2 columns are named 'x': expected different names",
        ),
    ],
)
def test_bad_tables(table, message):
    with pytest.raises(ValueError, match=message):
        rank_features(table, "y")


def test_mixed_types_and_names_that_look_like_code():
    y = np.arange(40) % 2
    mixed = np.array([1, "1", None, 2.5, (1, 2), b"1", True, float("nan")] * 5, object)
    table = {"select": mixed, '"; drop table x': y, "where `a` = 'b'": mixed[::-1], "y": y}
    ranking = rank_features(table, "y")
    assert names(ranking)[0] == '"; drop table x'
    assert ranking["select"].n_values == 6  # True is 1, None and NaN are missing
    assert ranking["select"].n_missing == 10
    assert rank_features(table, "y", features=["select"])["select"] is not None


@pytest.mark.parametrize("engine", ["duckdb", "polars"])
def test_an_engine_that_fails_midway(engine):
    if engine == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        relation = duckdb.sql(
            "SELECT i % 2 AS y, i AS good, CASE WHEN i > 7 THEN error('disk gone') ELSE i END AS bad "
            "FROM range(10) t(i)"
        )
    else:

        def explode(_):
            raise OSError("disk gone")

        bad = pl.col("good").map_batches(explode, return_dtype=pl.Int64).alias("bad")
        relation = pl.LazyFrame({"y": [0, 1] * 5, "good": range(10)}).with_columns(bad)
    assert len(rank_features(relation, "y", features=["good"])) == 1
    with pytest.raises(RuntimeError, match=f"{engine} failed while counting column 'bad'.*disk gone"):
        rank_features(relation, "y")


@pytest.mark.slow
def test_a_hundred_thousand_columns(monkeypatch):
    """Of 201 kinds: what a column says by itself, most of the work by far, is found once for each kind."""
    y = np.arange(20) % 2
    X = np.tile(np.random.default_rng(0).integers(0, 3, (20, 200)).astype(np.int8), 500)
    X[:, 77_777] = y
    alone = rank_features(X[:, [77_777]], y).features[0]
    by_kind = {}

    def judge_once(ways, column, *others):
        kind = X[:, int(column.name[1:])].tobytes()
        if kind not in by_kind:
            by_kind[kind] = judge(partition(*ways[0], **ways[1]), column, *others)
        return replace(by_kind[kind], name=column.name)

    judge, partition = ranking_module.judge, ranking_module.partition
    monkeypatch.setattr(ranking_module, "partition", lambda *ways, **how: (ways, how))
    monkeypatch.setattr(ranking_module, "judge", judge_once)
    found = rank_features(X, y)
    assert len(found) == len(set(names(found))) == 100_000
    assert len(by_kind) == 201
    assert [feature.name for feature in found if feature.significant] == ["x77777"]
    assert names(found)[0] == "x77777"
    p_values = np.array([feature.p_value for feature in found])
    assert (np.diff(p_values) > -1e-9).all()  # of equals, the one that gains more is first
    # Found among 100,000 columns, a gain is worth less than by itself.
    assert 0 < found.features[0].expected_gain < 0.9 * alone.expected_gain
    assert max(feature.expected_gain for feature in found.features[1:]) == 0
