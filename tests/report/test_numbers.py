"""The report on a target of numbers."""

import json
import re
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import stdtrit
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error, r2_score

import offsample
from offsample import TreeRegressor
from offsample._squared_losses import ratio_interval
from offsample.counts import CellMoments
from offsample.evidence import signal_evidence
from offsample.report._formats import quantity, r2_text
from offsample.report._metrics import METRICS, Score
from offsample.report._numbers import NumberStudy, RatedNumbers
from offsample.report._rendering import numbers_shown
from offsample.report._study import Options
from offsample.report._units import folds_factor
from offsample.report.charts import columns_chart, tree_chart
from offsample.report.findings.masked import gain_within
from offsample.report.sections import _choice, log_scale, model
from offsample.report.sections._honest import _moved

N = 400


def homes(n=N, seed=0):
    random = np.random.default_rng(seed)
    area, city = random.uniform(20, 200, n), random.integers(0, 4, n)
    price = 900 * area + 30_000 * city + 15_000 * random.normal(size=n)
    return {
        "area": area,
        "again": np.round(area, 1),
        "city": np.array(["Bonn", "Rome", "Oslo", "Kyiv"])[city],
        "noise": random.normal(size=n),
        "none": np.zeros(n),
        "listing": np.array([f"id {i}" for i in range(n)]),
        "tax": price * 0.01 + 30 * random.normal(size=n),
        "price": price,
    }


@pytest.fixture(scope="module")
def found():
    return offsample.report(homes(), "price", fast=True)


def rated(n=200, seed=0, **options):
    random = np.random.default_rng(seed)
    numbers = random.normal(10, 3, n)
    predicted = numbers + random.normal(size=n)
    return RatedNumbers(predicted, np.full(n, 10.0), numbers, np.zeros(n, int), [], 0, **options)


class TestFigures:
    def test_are_those_of_scikit_learn(self):
        said = rated()
        said = replace(said, guess=np.full(200, said.numbers.mean()))
        assert said.r2().value == pytest.approx(r2_score(said.numbers, said.predicted))
        assert said.mean_absolute_error().value == pytest.approx(
            mean_absolute_error(said.numbers, said.predicted)
        )

    def test_the_interval_of_a_ratio_is_as_wide_as_the_jackknife_says(self):
        said = rated()
        own, blind = (said.numbers - said.predicted) ** 2, (said.numbers - said.guess) ** 2
        left = np.array([np.delete(own, i).sum() / np.delete(blind, i).sum() for i in range(200)])
        deviation = np.sqrt(199 / 200 * ((left - left.mean()) ** 2).sum())
        freedom = min(one.sum() ** 2 / (one @ one) for one in (own, blind)) - 1
        radius = stdtrit(freedom, 0.975) * (1 + 3 / (freedom + 1)) * deviation / (own.sum() / blind.sum())
        low, high = ratio_interval(own, blind)
        assert np.log(high / low) / 2 == pytest.approx(radius, rel=0.02)

    def test_ends_on_both_sides_of_nothing_are_told_apart(self):
        for ends, text in (((-0.004, 0.0044), "−0.004 – 0.004"), ((-0.01, 0.004), "−0.01 – 0.00")):
            assert METRICS["r2"].within(SimpleNamespace(score=Score(0.0, *ends))) == text

    def test_numbers_that_are_mostly_one_have_no_half_between(self):
        shown = SimpleNamespace(quantiles=(0.0, 0.0, 0.0, 0.0, 0.0, 12.5, 40.5))
        shown.method = SimpleNamespace(options={"show_rows": True})
        assert numbers_shown(shown).endswith("to 40.5, at least half of them 0")

    def test_of_the_guess_itself_is_none(self):
        score = replace(rated(), predicted=rated().guess).r2()
        assert (score.value, score.low, score.high) == (0, 0, 0)

    def test_ends_are_unknown_of_too_few_groups(self):
        score = rated(is_known=False).r2()
        assert np.isnan([score.low, score.high]).all()

    @pytest.mark.parametrize("heavy", [False, True])
    def test_the_interval_of_a_mean_holds(self, heavy):
        """Of 95 %, with 400 samples, below 91 % in less than one of 1,000; log-normal ones less often."""
        random, inside = np.random.default_rng(3), []
        for _ in range(400):
            values = np.abs(random.normal(size=100)) if not heavy else np.exp(random.normal(size=100))
            truth = np.exp(0.5) if heavy else np.sqrt(2 / np.pi)
            low, high = ratio_interval(values)
            inside.append(low <= truth <= high)
        assert np.mean(inside) >= (0.88 if heavy else 0.91)

    def test_groups_vary_not_rows(self):
        random = np.random.default_rng(0)
        values = np.repeat(random.exponential(size=20), 10)
        groups = np.repeat(np.arange(20), 10)
        rows, units = (ratio_interval(values, None, one) for one in ([], [groups]))
        assert units[1] - units[0] > 2 * (rows[1] - rows[0])
        folded = ratio_interval(values, None, [groups], folds_factor(5))
        assert folded[0] < units[0] < units[1] < folded[1]


class TestVerdict:
    def test_is_what_trees_of_the_folds_do_on_rows_held_back(self):
        study = NumberStudy(homes(), "price", Options(fast=True))
        choice = _choice.choose(study, ["area", "city"])
        shown, told = model.describe(study, choice), _choice.rated_as(study, choice)
        table, price = study.encoded.select(["area", "city"]), homes()["price"]
        said, guess, median = np.zeros((3, N))
        for train, test in study.folds:
            tree = TreeRegressor(max_size=12, min_samples_leaf=8, stopping="none", random_state=0)
            tree.fit(table.take(train), price[train])
            said[test] = tree.staged_predict(table.take(test), [choice.stage])[0]
            guess[test], median[test] = price[train].mean(), np.median(price[train])
        assert told.blind_error == pytest.approx(np.abs(median - price).mean())
        assert told.mean_absolute_error().value == pytest.approx(np.abs(said - price).mean())
        assert told.mean_absolute_error(told.guess).value == pytest.approx(np.abs(guess - price).mean())
        assert shown.error == pytest.approx(((said - price) ** 2).mean())
        assert told.r2().value == pytest.approx(
            1 - ((said - price) ** 2).sum() / ((guess - price) ** 2).sum()
        )

    def test_says_it_in_the_units_of_the_target(self, found):
        verdict = found.verdict
        assert (verdict.task, verdict.beats_baseline, found.task) == ("regression", True, "regression")
        assert f"off by about {quantity(verdict.mean_absolute_error)} on average" in verdict.sentence
        assert f"knowing nothing, {quantity(verdict.baseline_mean_absolute_error)}" in verdict.sentence
        assert (
            verdict.mean_absolute_error_low < verdict.mean_absolute_error < verdict.mean_absolute_error_high
        )
        assert verdict.low < verdict.error < verdict.high
        assert r2_text(verdict.r2) in verdict.sentence

    def test_holds_on_new_rows(self, found):
        new = homes(5000, seed=9)
        predicted, verdict = found.estimator.predict(new), found.verdict
        off = np.abs(predicted - new["price"]).mean()
        assert verdict.mean_absolute_error_low <= off <= verdict.mean_absolute_error_high
        assert verdict.r2_low <= r2_score(new["price"], predicted) <= verdict.r2_high

    def test_noise_has_no_model(self):
        random = np.random.default_rng(4)
        table = {"a": random.normal(size=150), "b": random.integers(0, 5, 150).astype(str)}
        found = offsample.report(table, random.normal(size=150), fast=True)
        assert found.verdict.columns == ()
        assert not found.verdict.beats_baseline
        assert "better than its mean, which is off by" in found.verdict.sentence
        assert found.estimator.predict(table).std() == pytest.approx(0)

    @pytest.mark.parametrize("has_signal", [False, True])
    def test_a_few_rows_far_away_ask_for_the_median(self, has_signal):
        random = np.random.default_rng(4)
        kind = random.random(400) < 0.2  # whose mean a tree knows, and the median is still the closest
        y = random.normal(size=400) + 50 * (random.random(400) < (0.4 * kind if has_signal else 0.02))
        table = {"kind": kind.astype(str)}
        found = offsample.report(table, y, fast=True)
        assert (found.verdict.model, found.verdict.columns) == ("the median", ())
        assert "its median, which is off by" in found.verdict.sentence
        assert found.verdict.mean_absolute_error == found.verdict.baseline_mean_absolute_error
        assert found.verdict.r2 < 0 == found.verdict.baseline_score
        trained = r2_score(y, np.full(400, np.median(y)))
        assert found.model.training_r2 == pytest.approx(trained)
        assert trained < -0.001
        assert f"In the rows that it learned from it is {r2_text(trained)}." in found.to_markdown()
        for page in (found.to_markdown(), found.to_html()):  # by the measure that it goes by
            assert "is shown to be off by less, on average, than the median: a few rows" in page
            assert "better than to know no column" not in page
            assert "A leaf predicts its mean" not in page
            assert "Another kind is recommended" not in page
        if has_signal:  # whose tree has sizes
            first, unit = found.model.path[0], found.verdict.baseline_mean_absolute_error
            assert 1 - first.training_error / y.var() == pytest.approx(trained, abs=0.01)
            # Curves are in the unit of the verdict: shares of what the median is off.
            assert first.training_loss * unit == pytest.approx(np.abs(y - np.median(y)).mean())
            assert first.validated_loss * unit == pytest.approx(found.verdict.mean_absolute_error)
        ends = TreeRegressor(max_splits=0).fit(table, y).predict_interval(table)
        for same in (found.estimator, clone(found.estimator).fit(table, y)):
            assert same.predict(table) == pytest.approx(np.full(400, np.median(y)))
            assert same.model_.predict_interval(same._encoded(table)) == pytest.approx(ends)

    def test_a_page_that_goes_by_medians_tells_curves_in_the_unit_of_its_verdict(self):
        random = np.random.default_rng(1)
        x, far = random.normal(size=400), random.random(400) < 0.1
        y = np.where(far, np.exp(3 + 0.45 * random.normal(size=400)), 1 + 0.1 * random.normal(size=400))
        table = {"kind": np.where(far, "far", "near"), "x": x}
        found = offsample.report(table, y, reference=False)
        model, unit = found.model, found.verdict.baseline_mean_absolute_error
        assert (model.columns, model.loss, model.baseline_loss) == (("kind",), "absolute error", 1.0)
        off = found.verdict.mean_absolute_error
        trained = np.abs(found.estimator.predict(table) - y).mean()
        here = next(point.shown for point in model.path if point.size == model.size)
        assert here.training_error * unit == pytest.approx(trained, rel=0.02)  # of another growth
        assert model.held_back * unit == pytest.approx(off)
        assert [one.shown.error * unit for one in found.sufficient.sizes] == pytest.approx([unit, off])
        by_rows = [point.error for point in found.sizing.curve if point.measured]
        assert by_rows[-1] * unit == pytest.approx(off)
        for page in (found.to_markdown(), found.to_html()):
            assert f"On new rows it should be off by {quantity(off)} on average (" in page
            assert f"the median by {quantity(unit)}" in page
            assert "Absolute error by size" in page
            assert "Absolute error by number of rows" in page or "| rows | absolute error |" in page
            assert "R² by" not in page

    def test_so_do_rows_of_known_groups(self):
        random = np.random.default_rng(0)
        table = {"x": random.normal(size=400), "g": np.arange(400) // 10}
        found = offsample.report(
            {**table, "y": np.exp(2 * random.normal(size=400))}, "y", group="g", fast=True
        )
        known, new = (one.score.value for one in found.verdict.honest)
        assert known == pytest.approx(new, abs=0.02)  # the mean of either has 0, and the median less


class TestColumns:
    def test_have_the_figures_of_the_ranking(self, found):
        ranking = offsample.rank_features(homes(), "price")
        for column in found.columns.columns:
            feature = ranking[column.name]
            assert (column.score.value, column.score.low) == (feature.r2, feature.r2_low)
            assert column.training_r2 == feature.training_r2
            assert column.expected_gain == pytest.approx(feature.expected_gain / ranking.baseline_error)

    def test_findings_carry_over(self, found):
        codes = {finding.column: finding.code for finding in found.columns.findings}
        assert codes["tax"] == "leak"
        assert codes["listing"] == "identifier"
        assert codes["none"] == "constant"
        assert codes["noise"] == "no-evidence"
        assert "near-copy" in codes.values()
        assert "tax" not in found.verdict.columns
        message = next(f.message for f in found.columns.findings if f.code == "leak")
        assert "of the variance of price" in message

    def test_one_cause_is_no_leak(self):
        random = np.random.default_rng(5)
        x = random.normal(size=500)
        table = {"x": x, "z": random.normal(size=500), "y": 2 * x + random.normal(size=500)}
        assert not offsample.report(table, "y", fast=True).verdict.quarantined

    def test_missing_says_more_than_values(self):
        random = np.random.default_rng(6)
        y = random.normal(10, 2, 400)
        x = np.where(y + random.normal(size=400) > 11, np.nan, random.normal(size=400))
        found = offsample.report({"x": x, "y": y}, "y", fast=True)
        message = next(f.message for f in found.columns.findings if f.code == "missing_is_signal")
        assert quantity(y[np.isnan(x)].mean(), y.std()) in message

    def test_gain_within_is_the_weighted_sum_over_strata(self):
        random = np.random.default_rng(0)
        strata, codes, y = random.integers(0, 3, 200), random.integers(0, 4, 200), random.normal(size=200)
        parts = [strata == one for one in range(3)]
        each = [signal_evidence(CellMoments.from_codes(codes[those], y[those])) for those in parts]
        signal, deviation = gain_within(strata, codes, y)
        assert signal == pytest.approx(sum(p.mean() * e.signal for p, e in zip(parts, each, strict=True)))
        squares = sum((p.mean() * e.deviation) ** 2 for p, e in zip(parts, each, strict=True))
        assert deviation == pytest.approx(np.sqrt(squares))


@pytest.mark.parametrize(
    "y", [np.repeat([0.0, 5.0], [95, 5]), np.repeat([0.0, 5.0], [5, 95]), np.arange(100.0)]
)
def test_fifths_tell_rows_apart(y):
    study = NumberStudy({"x": y, "y": y}, "y", Options())
    lows = [y[study.labels == one] for one in range(study.labels.max() + 1)]
    assert len(lows) == min(5, len(np.unique(y)))
    assert all(one.max() < other.min() for one, other in pairwise(lows))


class TestWhatTheTargetIs:
    @pytest.mark.parametrize(("n_values", "task"), [(15, "classification"), (25, "regression")])
    def test_whole_numbers_of_few_values_are_classes(self, n_values, task):
        random = np.random.default_rng(0)
        table = {"x": random.normal(size=300), "y": np.arange(300) % n_values}
        found = offsample.report(table, "y", fast=True)
        assert found.task == task
        assert found.assumed
        other = "regression" if task == "classification" else "classification"
        for text in (repr(found).splitlines()[0], found.to_markdown().splitlines()[2]):
            assert task in text
            assert other in text
        assert offsample.report(table, "y", task=other, fast=True).assumed is None

    @pytest.mark.parametrize(
        ("name", "value"),
        [("positive", 3.0), ("costs", {"fn": 1, "fp": 2}), ("metric", "auc"), ("capacity", 0.1)],
    )
    def test_what_is_for_classes_is_refused_by_name(self, name, value):
        with pytest.raises(ValueError, match=f"^{name} .*is for classes, and the target is a number"):
            offsample.report(homes(), "price", **{name: value})

    def test_text_is_no_number(self):
        with pytest.raises(ValueError, match="city"):
            offsample.report(homes(), "city", task="regression")

    def test_a_large_file_is_sampled_whatever_its_values(self, tmp_path):
        pd.DataFrame(homes()).to_parquet(tmp_path / "homes.parquet")
        found = offsample.report(
            tmp_path / "homes.parquet", "price", max_rows=150, fast=True, reference=False
        )
        assert (found.verdict.n_rows, found.verdict.n_modelled, found.task) == (N, 150, "regression")

    @pytest.mark.parametrize("units", [{}, {"time": "when"}])
    def test_rows_of_a_file_that_models_do_not_see_are_counted(self, tmp_path, units):
        table = pd.DataFrame({**homes(), "when": np.arange(N)}).drop(columns="listing")
        pd.concat([table, table.iloc[:100]]).to_parquet(tmp_path / "homes.parquet")
        found = offsample.report(
            tmp_path / "homes.parquet", "price", max_rows=200, fast=True, reference=False, **units
        )
        assert (found.rows.n_rows, found.rows.n_duplicates) == (N + 100, 100)


class TestRenderings:
    def test_all_say_it(self, found):
        page, text, data = found.to_html(), found.to_markdown(), json.loads(json.dumps(found.to_dict()))
        for told in (page, text):
            assert found.verdict.off_by in told
            assert found.assumed in told
            assert "most frequent class" not in told
            assert "the class shares" not in told
        assert data["verdict"]["mean_absolute_error"] == found.verdict.mean_absolute_error
        assert (data["task"], data["classes"]) == ("regression", [])
        assert f"{found.verdict.off_by} (95 % interval" in repr(found)

    def test_nodes_have_the_numbers_of_their_rows(self, found):
        tree, price = found.model.tree, homes()["price"]
        leaf_of = found.estimator.model_.apply(
            {name: homes()[name] for name in found.estimator.model_.feature_names_in_}
        )
        todo = [tree]
        while todo:
            node = todo.pop()
            todo += node.get("children", [])
            if "children" not in node:
                numbers = price[leaf_of == node["node"]]
                assert node["mean"] == pytest.approx(numbers.mean())
                assert node["quantiles"] == pytest.approx(np.quantile(numbers, [0.05, 0.25, 0.5, 0.75, 0.95]))
        assert tree["n_samples"] == N

    def test_every_cell_has_a_box(self, found):
        drawn = tree_chart(found.model)
        assert drawn.count("chart-share") == drawn.count('class="rails"') == 2 * found.model.size - 1
        low, *_, high = found.model.tree["quantiles"]
        ends = [float(end) for end in re.findall(r'<line x1="([\d.]+)%" x2="[\d.]+%" y1="5"', drawn)]
        assert low < high
        assert 2 <= min(ends) < max(ends) <= 98

    def test_offsets_do_not_hide_digits(self):
        assert [quantity(1e9 + one, 3.0) for one in (0.5, 4)] == ["1,000,000,000.50", "1,000,000,004.00"]


class TestEstimator:
    def test_reads_tables_by_name_and_is_fitted_again(self, found):
        fitted, table = found.estimator, homes(50, seed=1)
        fewer = pd.DataFrame(table)[[*fitted.columns]]
        assert fitted.predict(fewer) == pytest.approx(fitted.predict(table))
        again = clone(fitted).fit(homes(), homes()["price"])
        assert again.predict(table) == pytest.approx(fitted.predict(table))
        assert again.score(table, table["price"]) > 0.5


class TestUnits:
    @pytest.fixture
    def panel(self):
        random = np.random.default_rng(2)
        who, x = np.repeat(random.permutation(40), 10), random.normal(size=400)
        y = 3 * x + 2 * random.normal(size=40)[who] + 0.5 * random.normal(size=400)
        return {"who": np.array([f"p{one}" for one in who]), "x": x, "y": y}

    def test_known_groups_are_easier(self, panel):
        found = offsample.report(panel, "y", group="who", fast=True)
        known, new = found.verdict.honest
        assert known.knows
        assert known.score.value > new.score.value + 0.3
        assert known.error < found.verdict.error / 2
        assert new.error == found.verdict.error

    def test_what_others_of_a_group_are_off_by_is_added(self):
        random = np.random.default_rng(0)
        said, own = random.normal(size=(2, 30, 1))
        group, left_out, known = random.integers(0, 5, 30), np.arange(30) // 2, random.random(30) < 0.7
        pair = np.unique(group * 15 + left_out, return_inverse=True)[1]
        found = _moved(said, own, known, (group, pair), np.array([2.0]))
        for i in range(30):
            others = known & (group == group[i]) & (left_out != left_out[i])
            off = (own - said)[others].sum() / (others.sum() + 2.0)
            assert found[i, 0] == pytest.approx(said[i, 0] + off)

    def test_unasked_it_asks(self, panel):
        found = offsample.report(panel, "y", fast=True)
        assert found.rows.suspected_groups == ("who",)
        assert "R²" in found.rows.findings[0].message

    def test_later_rows(self):
        random = np.random.default_rng(3)
        time, x = np.arange(400), random.normal(size=400)
        table = {"when": time, "x": x, "y": 3 * x + time / 40 + random.normal(size=400)}
        found = offsample.report(table, "y", time="when", fast=True)
        assert found.verdict.new_rows == "later rows"
        drift = next(f.message for f in found.rows.findings if f.code == "drift" and f.column is None)
        assert f"a mean of {quantity(table['y'][:80].mean(), table['y'].std())}" in drift

    def test_few_groups_say_nothing_of_intervals(self, panel):
        found = offsample.report({**panel, "who": np.arange(400) // 100}, "y", group="who", fast=True)
        assert found.verdict.doubt
        assert found.verdict.mean_absolute_error_low is None
        assert "interval not known" in found.verdict.sentence


def test_the_logarithm_is_the_better_scale_of_a_product():
    random = np.random.default_rng(1)
    x = random.normal(size=500)
    y = np.exp(1.5 * x + 0.5 * random.normal(size=500))
    found = offsample.report({"x": x, "y": y}, "y", fast=True)
    assert found.log_scale.is_better
    assert found.log_scale.r2.value > 0.8 > found.verdict.r2
    assert found.log_scale.sentence in found.to_markdown()
    assert found.log_scale.mean_absolute_error.value < found.verdict.mean_absolute_error
    # A few rows decide all squares: the page shows its columns by the median, too.
    ranked = offsample.rank_features({"x": x, "y": y}, "y", criterion="absolute_error_loo")
    column = found.columns.columns[0]
    assert column.off_by == Score(ranked["x"].error, ranked["x"].low, ranked["x"].high)
    assert found.columns.baseline_off_by == ranked.baseline_error
    assert f"| x | {quantity(column.off_by.value)} |" in found.to_markdown()
    assert column.training_off_by == ranked["x"].training_error
    drawn = columns_chart(found.columns, None, METRICS["r2"])
    assert "Off by to expect of each column by itself" in drawn
    assert f"Off by {quantity(column.off_by.value)}, 95 % interval" in drawn
    assert f"In training {quantity(column.training_off_by)}" in drawn
    sizes = random.exponential(size=500)  # whose sum with noise is skewed, but no product
    added = offsample.report({"x": sizes, "y": 40 + 10 * sizes + 6 * random.normal(size=500)}, "y", fast=True)
    assert added.log_scale is not None
    assert not added.log_scale.is_better
    assert added.columns.baseline_off_by is None
    plain = NumberStudy({"x": x, "y": 2 * x + random.normal(size=500)}, "y", Options(fast=True))
    choice = _choice.choose(plain, ["x"])
    assert log_scale.describe(plain, ["x"], _choice.rated_as(plain, choice)) is None
