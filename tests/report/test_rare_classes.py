"""Reports on a rare class: what they lead with, that models are chosen by it, and what they say."""

import json
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from offsample._unit_intervals import student
from offsample.report import report
from offsample.report._formats import percent
from offsample.report._metrics import METRICS, Rated, area
from offsample.report._scales import scale_of
from offsample.report.sections.sizing import sentences


def rare(n=3000, rate=0.04, seed=0, n_columns=4):
    random = np.random.default_rng(seed)
    table = {f"x{j}": random.normal(size=n) for j in range(n_columns)}
    score = 1.2 * table["x0"] + (table["x1"] > 0.5)
    odds = np.exp(score - np.log(np.mean(np.exp(score)) / rate))
    table["churned"] = np.where(random.random(n) < odds / (1 + odds), "yes", "no")
    return table


def balanced(n=1500, seed=0):
    table = rare(n, seed=seed)
    table["churned"] = np.where(
        table["x0"] + np.random.default_rng(seed + 100).normal(size=n) > 0, "yes", "no"
    )
    return table


@cache
def rare_report(**options):
    if "costs" in options:
        options["costs"] = dict(options["costs"])  # which a cache does not take
    return report(rare(), "churned", fast=True, **options)


def test_a_rare_class_is_led_by_how_well_it_is_ordered():
    found = rare_report()
    verdict = found.verdict
    assert verdict.metric == "auc"
    assert found.positive == "yes"
    assert verdict.columns
    assert verdict.beats_baseline
    assert 0.6 < verdict.auc_low < verdict.auc < verdict.auc_high < 0.95
    assert verdict.log_loss_low < verdict.log_loss < verdict.baseline_log_loss
    assert 0.1 < verdict.captured_low < verdict.captured < verdict.captured_high < 1
    assert verdict.cost is None
    assert verdict.score == found.model.score
    assert verdict.score.value == verdict.auc
    assert verdict.error <= 0.05
    assert re.search(r"AUC \.\d\d \(95 % interval \.\d\d to \.\d\d; chance is \.50\)", verdict.sentence)
    assert re.search(
        r"The 10 % of rows that it rates highest hold \d\d % .* of all rows where churned is “yes”",
        verdict.sentence,
    )
    assert "AUC on new rows" in repr(found)
    for text in (found.to_html(), found.to_markdown()):
        assert "leave-pair-out AUC" in text
        assert "leave-one-out AUC" not in text


def test_figures_hold_on_rows_that_were_not_seen():
    from sklearn.metrics import log_loss, roc_auc_score

    found, fresh = rare_report(), rare(20_000, seed=1)
    proba = found.estimator.predict_proba(fresh)[:, 1]
    positive = fresh["churned"] == "yes"
    verdict = found.verdict
    assert verdict.auc_low < roc_auc_score(positive, proba) < verdict.auc_high
    assert verdict.log_loss_low < log_loss(positive, proba) < verdict.log_loss_high
    order = np.lexsort((np.random.default_rng(0).random(len(proba)), -proba))
    held = positive[order[:2000]].sum() / positive.sum()
    assert verdict.captured_low < held < verdict.captured_high


def test_acting_is_counted_on_rows_held_back():
    acting = rare_report().acting
    decision, n_positive = acting.decision, acting.n_positive
    assert acting.n_rows == 3000
    assert decision.true_positives + decision.false_negatives == n_positive
    assert decision.false_positives + decision.true_negatives == 3000 - n_positive
    assert decision.share == pytest.approx(0.1)
    at_tenth = next(point for point in acting.curve if point.share == 0.1)
    assert decision.recall == at_tenth.recall
    assert at_tenth.recall.value == pytest.approx(rare_report().verdict.captured)
    assert [point.recall.value for point in acting.curve] == sorted(p.recall.value for p in acting.curve)
    assert acting.curve[-1].recall.value == pytest.approx(1)
    assert acting.curve[-1].precision.value == pytest.approx(n_positive / 3000)
    assert sum(p.n_rows for p in acting.calibration) == 3000
    observed = sum(p.n_rows * p.observed.value for p in acting.calibration)
    assert observed == pytest.approx(n_positive)
    assert not acting.is_folded


def test_a_capacity_says_whom_to_act_upon():
    found = rare_report(capacity=0.05)
    assert found.acting.decision.share == pytest.approx(0.05)
    assert "among the 5 % that are rated highest" in found.acting.decision.rule
    assert "The 5 % of rows that it rates highest hold" in found.verdict.sentence
    # By the model that is handed over the cut falls among rows that it rates alike.
    decision, rating = found.acting.decision, found.estimator.predict_proba(rare())[:, 1]
    above, alike = (rating > decision.threshold + 1e-9).mean(), np.isclose(rating, decision.threshold).mean()
    assert above < 0.05 < above + alike
    shares = [above, (0.05 - above) / alike, decision.threshold, alike]
    told = [float(number) / 100 for number in re.findall(r"([\d.]+) %", decision.whom)]
    assert told[-4:] == pytest.approx(shares, abs=0.0005)
    for text in (found.to_markdown(), found.to_html()):
        assert decision.whom in text.replace("\xa0", " ").replace("&nbsp;", " ")


def test_few_rows_cannot_hold_more_of_a_class_than_they_are():
    """Of later rows, whose signal is gone, next to nothing is known: the interval ended at .33."""
    random, n = np.random.default_rng(0), 800
    x, t = random.normal(size=n), np.arange(n)
    hit = random.random(n) < 1 / (1 + np.exp(2.6 - 1.2 * x * (t < 500)))
    table = {"x": x, "t": t, "y": np.where(hit, "yes", "no")}
    found = report(table, "y", time="t", capacity=0.01, fast=True, metric="auc")
    recall = found.acting.decision.recall
    assert recall.value < recall.high < 0.15  # in the sample .094 at most


def test_costs_lead_and_choose_the_decision():
    found = rare_report(costs=(("fn", 20.0), ("fp", 1.0)))
    verdict, decision = found.verdict, found.acting.decision
    assert verdict.metric == "cost"
    assert verdict.cost_low < verdict.cost < verdict.cost_high
    assert verdict.cost < verdict.baseline_cost
    counted = 20 * decision.false_negatives + decision.false_positives
    assert verdict.cost == pytest.approx(1000 * counted / 3000)
    assert decision.threshold == pytest.approx(1 / 21)
    assert decision.rule == "acting costs less than not acting (a probability above 4.8 %)"
    acts = found.estimator.predict(rare(500, seed=2)) == "yes"
    proba = found.estimator.predict_proba(rare(500, seed=2))[:, 1]
    np.testing.assert_array_equal(acts, proba > 1 / 21)
    assert "always deciding for" in verdict.sentence
    # A tree that looks at nothing else is not said to be worse than its column.
    assert verdict.columns == ("x0",)
    assert "alone seems to do better" not in verdict.sentence


def test_the_class_of_interest_can_be_the_other_one():
    found = rare_report(positive="no")
    assert found.positive == "no"
    assert found.verdict.auc == pytest.approx(rare_report().verdict.auc, abs=0.02)
    assert found.verdict.captured < 0.15


@pytest.mark.parametrize("metric", ["log_loss", "brier"])
def test_models_are_chosen_by_other_losses(metric):
    found = rare_report(metric=metric)
    verdict = found.verdict
    assert verdict.metric == metric
    assert verdict.columns
    assert metric == "brier" or verdict.score.value == verdict.log_loss
    assert verdict.score.value < verdict.baseline_score
    validated = {point.size: point.validated_loss for point in found.model.path}
    assert validated[1] == pytest.approx(1, abs=0.001)  # of what guessing loses
    assert validated[found.model.size] < 1


def test_balanced_classes_are_led_by_the_error_as_before():
    table = balanced()
    found = report(table, "churned", fast=True)
    assert found.verdict.metric == "error"
    assert found.verdict.score is None
    assert found.verdict.auc > 0.6
    assert found.acting.is_folded
    assert "should be wrong in about" in found.verdict.sentence
    asked = report(table, "churned", fast=True, metric="error")
    assert asked.verdict == found.verdict


def test_probabilities_of_a_report_on_errors_are_those_of_the_model_that_is_shown():
    """Splits that change no prediction are not shown, and do not count for the order of the rows."""
    from sklearn.metrics import roc_auc_score

    found = report(balanced(), "churned", fast=True)
    fresh = balanced(20_000, seed=9)
    proba = found.estimator.predict_proba(fresh)[:, 1]
    assert found.verdict.auc_low < roc_auc_score(fresh["churned"] == "yes", proba) < found.verdict.auc_high
    assert len(np.unique(proba)) <= found.model.size


def test_many_classes_have_no_top():
    random = np.random.default_rng(0)
    table = rare(2000, rate=0.15)
    kinds = np.where(table["x2"] > 0, "late", "never")
    table["churned"] = np.where(table["churned"] == "yes", kinds, "no")
    table["noise"] = random.normal(size=2000)
    found = report(table, "churned", fast=True)
    assert found.verdict.metric == "auc"
    assert found.verdict.auc > 0.55
    assert found.verdict.captured is None
    assert found.acting is None
    told = " To ask about one class against the others, such as “never”, name it: --positive CLASS"
    for text in (found.to_markdown(), found.verdict.sentence):
        assert text.count(told) == 1
    assert told not in report(table, "churned", fast=True, positive="late").verdict.sentence
    assert found.model.loss == "log loss"


def test_evidence_is_told_where_no_model_makes_fewer_mistakes():
    verdict = rare_report(metric="error").verdict
    assert not verdict.columns
    assert verdict.n_signals == 2
    assert re.match(
        r"2 columns carry a signal about churned; a tree with \d+ leaves that looks at \d columns? orders ",
        verdict.sentence,
    )
    assert "no group of rows is shown to be more likely of another class than “no”" in verdict.sentence
    assert verdict.ordering.score.value == pytest.approx(0.75, abs=0.1)
    score = verdict.ordering.score  # of what the sentence speaks of, not of the guess
    assert (verdict.auc, verdict.auc_low, verdict.auc_high) == (score.value, score.low, score.high)
    assert 0.1 < verdict.captured_low < verdict.captured < verdict.captured_high
    assert 0 < verdict.log_loss_saved == pytest.approx(1 - verdict.log_loss / verdict.baseline_log_loss)


def test_a_page_leads_with_the_order_where_no_model_decides_better_than_a_guess():
    random = np.random.default_rng(0)
    table = {name: random.normal(size=1600) for name in ("x", "noise")}
    is_hit = random.random(1600) < 0.26 + 0.13 * np.sign(table["x"])
    table["y"] = np.where(is_hit, "hit", "miss")
    half = {name: column[:800] for name, column in table.items()}
    found = report(half, "y", fast=True)
    assert found.verdict.metric == "auc"
    assert found.verdict.columns == ("x",)
    assert found.model.size == 2  # which is all there is
    assert found.verdict.sentence.endswith("but no group of rows is more likely “hit” than not.")
    rating = found.estimator.predict_proba({"x": table["x"][800:]})[:, 0]
    value, _ = area(rating, is_hit[800:], np.zeros(800, int))
    assert found.verdict.auc_low - 0.04 < value < found.verdict.auc_high + 0.04
    assert value > 0.58
    random = np.random.default_rng(2)
    other = {name: random.normal(size=800) for name in ("x", "noise")}
    other["y"] = np.where(random.random(800) < 0.30 + 0.16 * np.sign(other["x"]), "hit", "miss")
    told = report(other, "y", fast=True).verdict.sentence
    assert told.endswith("to be more likely of another class than “miss”.")
    asked = report(half, "y", metric="error", fast=True)
    assert asked.verdict.metric == "error"
    assert not asked.verdict.columns
    costly = report(half, "y", costs={"fn": 50, "fp": 1}, fast=True)  # all are worth it
    assert not costly.verdict.columns
    assert costly.verdict.model == "“hit” each time"
    assert set(costly.estimator.predict(half)) == {"hit"}
    assert costly.verdict.error == pytest.approx(1 - is_hit[:800].mean())


def test_of_three_classes_too_a_page_leads_with_the_order_where_no_model_decides_better():
    random = np.random.default_rng(5)
    table = {name: random.normal(size=4000) for name in ("x", "noise")}
    is_ill = random.random(4000) < 1 / (1 + np.exp(1.3 - 0.5 * table["x"]))
    table["y"] = np.where(is_ill, np.where(random.random(4000) < 0.4, "m", "s"), "well")
    half, rest = (
        {name: column[part] for name, column in table.items()} for part in (slice(2000), slice(2000, None))
    )
    found = report(half, "y", fast=True)
    verdict = found.verdict
    assert (verdict.metric, verdict.columns, verdict.ordering) == ("auc", ("x",), None)
    assert (verdict.auc, found.model.loss) == (verdict.score.value, "log loss")
    proba = found.estimator.predict_proba(rest)
    ranks = [roc_auc_score(rest["y"] == name, p) for name, p in zip(found.classes, proba.T, strict=True)]
    value = np.average(ranks, weights=[(rest["y"] == name).mean() for name in found.classes])
    assert verdict.auc_low < value < verdict.auc_high
    assert (
        "But no group of rows is shown to be more likely of another class than “well”. To" in verdict.sentence
    )
    assert set(found.estimator.predict(rest)) == {"well"}


@pytest.mark.parametrize("seed", [4, 5])
def test_a_tree_for_a_rare_class_looks_at_no_column_that_only_seems_to_say_something(seed):
    """One column says something; of about 65 rows of the class, trees of all eight seemed to be better."""
    random = np.random.default_rng(seed)
    table = {f"x{j}": random.normal(size=1500) for j in range(8)}
    is_hit = random.random(1500) < 0.02 + 0.08 * (table["x0"] > 0.5)
    found = report(table | {"y": np.where(is_hit, "yes", "no")}, "y", fast=True, reference=False)
    assert found.verdict.columns == ("x0",)
    assert found.verdict.auc_low > 0.5


@pytest.fixture(scope="module")
def weak():
    """Ten weak columns: no tree orders rows by so few, all together do."""
    random = np.random.default_rng(8)
    table = {f"x{j}": random.integers(0, 3, 3000) for j in range(12)}
    odds = np.exp(sum(0.45 * (table[f"x{j}"] == 2) for j in range(10)) - 3.7)
    return table | {"y": np.where(random.random(3000) < odds / (1 + odds), "churn", "stay")}


@pytest.mark.parametrize("options", [{}, {"metric": "error"}, {"costs": {"fn": 9, "fp": 1}}])
def test_columns_that_order_rows_only_together_are_said_to(weak, options):
    found = report(weak, "y", fast=True, **options)
    verdict = found.verdict
    assert verdict.n_signals >= 2
    assert f"{verdict.n_signals} columns carry a signal about y" in verdict.sentence
    if verdict.ordering is None and not verdict.beats_baseline:
        assert verdict.together.low > 0.5
        told = "; together they order rows better than chance: a vote of all columns has AUC ."
        assert told in verdict.sentence
        said = "All columns together do order rows, AUC ." in found.to_markdown()
        assert said == (verdict.metric != "error")
    for low in re.findall(r"better than chance[^.]*AUC \S+ \((\.\d+)", verdict.sentence):
        assert float(low) > 0.5


def test_log_loss_saved_is_a_ratio_of_paired_means():
    """Its deviation is that of leaving rows out, one by one."""
    random = np.random.default_rng(4)
    label = (random.random(200) < 0.2).astype(int)
    proba = np.clip(0.2 + 0.3 * (label - 0.2) * random.random(200), 0.02, 0.9)
    rated = Rated(np.column_stack([1 - proba, proba]), label, label, np.zeros(200, int), [], 0, 1)
    by = METRICS["log_loss"]
    own, guess = (by.losses(p, label, None) for p in (rated.proba, np.tile([0.8, 0.2], (200, 1))))
    saved = rated.saved(own, guess)
    without = [1 - (own.sum() - a) / (guess.sum() - b) for a, b in zip(own, guess, strict=True)]
    jackknife = np.sqrt(199 / 200 * ((without - np.mean(without)) ** 2).sum())
    assert saved.value == pytest.approx(1 - own.mean() / guess.mean())
    assert (saved.high - saved.low) / 2 == pytest.approx(student(0.975, rated.n_units) * jackknife, rel=0.03)
    assert saved.low < saved.value < saved.high


def test_a_cost_that_no_model_saves_is_no_proof_that_none_can():
    random = np.random.default_rng(1)
    table = {f"x{j}": random.normal(size=1500) for j in range(3)}
    odds = np.exp(table["x0"] - 3.5)
    table["y"] = np.where(random.random(1500) < odds / (1 + odds), "yes", "no")
    found = report(table, "y", fast=True, costs={"fn": 3, "fp": 1})
    verdict, acting = found.verdict, found.acting
    assert not verdict.columns
    assert verdict.n_signals == 1
    if verdict.ordering is not None:  # what orders rows is what one could act by
        assert acting.note.startswith(f"These are the ratings of {verdict.ordering.name}, which orders rows;")
        assert acting.curve
    for text in (found.to_html(), found.to_markdown(), found.to_dict()["acting"]["note"]):
        assert f"“no” costs {verdict.baseline_cost:.0f} per 1,000 rows" in text
    told = r"no model that can be read is shown to be cheaper than always deciding alike, which costs (\d+)"
    base = re.search(told, verdict.sentence)
    alone = re.search(
        r"x0 alone seems to do better, (\d+) \([\d.]+ – \d+\); but it is the best of 3", verdict.sentence
    )
    assert int(alone[1]) < int(base[1])
    assert "rows held back do not show it to be ahead" in verdict.sentence
    assert "nothing" not in verdict.sentence


def test_what_decisions_cost_is_told_whatever_leads():
    found = report(rare(), "churned", fast=True, metric="auc", costs={"fn": 20, "fp": 1})
    verdict, decision = found.verdict, found.acting.decision
    counted = 1000 * (20 * decision.false_negatives + decision.false_positives) / found.acting.n_rows
    assert (verdict.metric, verdict.cost) == ("auc", pytest.approx(counted))
    ends = " – ".join(f"{end:.0f}" for end in (verdict.cost_low, verdict.cost_high))
    told = f"That costs {counted:.0f} per 1,000 rows ({ends}); always deciding for “no”, the best that is "
    for text in (found.to_markdown(), found.to_html()):
        assert f"{told}always the same, costs {verdict.baseline_cost:.0f} per 1,000 rows." in text


def test_what_a_cost_saves_is_told_where_it_may_be_nothing():
    """The cost seems clearly less than that of a constant decision; on the same rows it is not."""
    found = report(rare(500, 0.06, 3, 2), "churned", fast=True, costs={"fn": 15, "fp": 1})
    verdict = found.verdict
    assert not verdict.beats_baseline
    assert verdict.cost_high < verdict.baseline_cost
    told = re.search(r"what it saves on the same rows is ([\d.]+) \(−[\d.]+ to [\d.]+\)\.", verdict.sentence)
    assert float(told[1]) == pytest.approx(verdict.baseline_cost - verdict.cost, abs=0.5)


def test_a_tree_for_costs_tells_rows_apart_where_decisions_change_and_no_column_is_cheaper():
    random = np.random.default_rng(0)
    n = 1500
    job, over = random.integers(0, 6, n), random.integers(0, 2, n)
    # A few are very likely, which the log loss cares for; fn=10 decides at 9 %, which "job" tells apart.
    p = np.where(job < 2, 0.03, 0.17) + 0.35 * ((job == 5) & (over == 1))
    table = {"job": job.astype(str), "over": over.astype(str), "x": random.normal(size=n)}
    table["y"] = np.where(random.random(n) < p, "yes", "no")
    found = report(table, "y", fast=True, costs={"fn": 10, "fp": 1})
    assert found.verdict.columns[0] == "job"
    best = next(column for column in found.columns.columns if column.name == "job")
    assert found.verdict.cost <= best.score.value + 1
    assert found.verdict.cost_high < found.verdict.baseline_cost


def test_of_three_classes_costs_of_one_leave_the_likelier_of_the_others():
    """To take one of the others for another costs nothing."""
    random = np.random.default_rng(8)
    table = {name: random.normal(size=1500) for name in "xz"}
    p = 1 / (1 + np.exp(2.5 - 1.4 * table["x"]))
    table["y"] = np.select([(u := random.random(1500)) < p, u > 0.95], ["fraud", "late"], "ok")
    found = report(table, "y", fast=True, positive="fraud", costs={"fn": 5, "fp": 1})
    assert set(found.estimator.predict(table)) == {"fraud", "ok"}
    assert found.acting.decision.threshold == pytest.approx(1 / 6)
    assert "always deciding for “ok”" in found.verdict.sentence


def test_of_three_classes_leaves_say_how_likely_the_one_of_interest_is():
    random = np.random.default_rng(3)
    x, u = random.normal(size=2000), random.random(2000)
    table = {"x": x, "y": np.select([u < 0.05 + 0.2 * (x > 0.5), u > 0.8], ["bad", "odd"], "good")}
    found = report(table, "y", fast=True, positive="bad", metric="auc")
    proba = found.estimator.predict_proba(table)
    shares = {(found.classes[int(p.argmax())], f"{p.max():.3f}", f"{p[0]:.3f}") for p in proba}
    assert {share for _, _, share in shares} == set(re.findall(r"\), bad \((.*)\)", found.model.text))
    for name, share, of_bad in shares:
        assert f"{name} ({share}), bad ({of_bad})" in found.to_markdown()
    drawn = {f"good, bad {percent(p)}</bdi>" for p in np.unique(proba[:, 0])}
    assert len(drawn) > 1
    assert all(one in found.to_html() for one in drawn)
    asked = report(table, "y", fast=True, metric="auc")
    assert "bad (" not in asked.model.text


def test_of_three_classes_an_area_is_of_one_and_a_loss_of_all():
    random = np.random.default_rng(0)
    x = random.normal(size=900)
    y = np.select([x + random.normal(size=900) > 1.8, random.random(900) < 0.1], ["bad", "odd"], "good")
    for metric, said in (
        ("auc", "less log loss, of all classes, than"),
        ("log_loss", "(“bad” against the rest)."),
    ):
        assert (
            said in report({"x": x, "y": y}, "y", fast=True, positive="bad", metric=metric).verdict.sentence
        )
        assert said not in report({"x": x, "y": y == "bad"}, "y", fast=True, metric=metric).verdict.sentence


def test_noise_says_that_nothing_was_found():
    random = np.random.default_rng(4)
    table = {f"x{j}": random.normal(size=900) for j in range(4)}
    table["y"] = np.where(random.random(900) < 0.05, "a", "b")
    found = report(table, "y", fast=True)
    verdict = found.verdict
    assert verdict.sentence == "No model that can be read is shown to predict y better than the class shares."
    assert (verdict.auc, verdict.captured) == (0.5, 0.1)
    assert verdict.log_loss == pytest.approx(verdict.baseline_log_loss)
    assert found.acting is None


@pytest.mark.parametrize("asked", [{"costs": {"fn": 10, "fp": 1}}, {"capacity": 0.05}])
def test_who_asks_whom_to_act_upon_is_told_that_there_are_none_to_choose(asked):
    random = np.random.default_rng(4)
    table = {f"x{j}": random.normal(size=600) for j in range(3)}
    table["y"] = np.where(random.random(600) < 0.05, "a", "b")
    found = report(table, "y", fast=True, **asked)
    n_rare = int((table["y"] == "a").sum())
    told = f"to decide always for “b”, which costs {10_000 * n_rare / 600:.0f} per 1,000 rows."
    told = "any 5 % of the rows hold about as much of all “a”." if "capacity" in asked else told
    for text in (found.to_html(), found.to_markdown(), found.to_dict()["acting"]["note"]):
        text = text.replace("\xa0%", " %")
        assert "No model that can be read is shown to order rows, so there are none to choose: " in text
        assert told in text
    assert (found.acting.curve, found.acting.calibration) == ((), ())
    assert found.acting.decision.recall.value == pytest.approx(asked.get("capacity", 0.0), abs=0.001)


def test_a_leak_is_judged_by_the_log_loss():
    table, random = rare(), np.random.default_rng(6)
    table["survey"] = np.where((table["churned"] == "yes") ^ (random.random(3000) < 0.002), "sent", "not")
    found = report(table, "churned", fast=True)
    leak = next(finding for finding in found.columns.findings if finding.code == "leak")
    assert leak.column == "survey"
    assert "of the log loss without any column" in leak.message
    assert found.verdict.with_quarantined.score.value > 0.95 > found.verdict.auc


def test_groups_and_times_are_left_out_whole():
    table, random = rare(2000, rate=0.1), np.random.default_rng(3)
    who = random.integers(0, 80, 2000)
    table["trait"] = random.normal(size=80)[who]
    sick = np.where(random.random(80) < 0.12, "yes", "no")
    table |= {"churned": sick[who], "id": [f"p{i}" for i in who]}
    found = report(table, "churned", group="id", fast=True)
    assert found.verdict.new_rows == "rows of a new “id”"
    assert found.verdict.auc_low <= 0.5  # who is sick was drawn for each
    known = found.verdict.honest[0]
    assert known.score.value > 0.9
    later = report(table | {"when": np.arange(2000)}, "churned", time="when", ignore=["id"], fast=True)
    assert later.verdict.new_rows == "later rows"
    assert later.verdict.metric == "auc"


@pytest.mark.parametrize("options", [{}, {"costs": (("fn", 20.0), ("fp", 1.0))}, {"metric": "log_loss"}])
def test_all_renderings_speak_of_the_metric(options):
    found = rare_report(**options)
    page, text = found.to_html(), found.to_markdown()
    title = {"cost": "Cost per 1,000 rows", "auc": "AUC", "log_loss": "Log loss"}[found.verdict.metric]
    assert f"{title} on new rows" in page
    assert f"| {title} |" in text
    assert "Acting on it" in page
    assert "## Acting on it" in text
    assert "chart-acting" in page
    assert "chart-calibration" in page
    for word in ("None", "nan"):
        assert word not in re.sub(r"<[^>]*>", " ", page.split("<main")[1].split("</main")[0])
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["verdict"]["auc"] == found.verdict.auc
    assert again["acting"]["curve"][0]["precision"].keys() == {"value", "low", "high"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "gini"}, "metric must be one of"),
        ({"metric": "cost"}, "there are no costs"),
        ({"capacity": 0.0}, "capacity is a share"),
        ({"costs": {"miss": 1}}, "costs has the entry 'miss'"),
        ({"costs": [[0, 1]]}, r"costs has shape \(1, 2\)"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        report(rare(200), "churned", fast=True, **options)


def noise(n=300, seed=0):
    random = np.random.default_rng(seed)
    table = {f"x{j}": random.normal(size=n) for j in range(4)}
    return table | {"y": np.where(random.permutation(n) < 15, "yes", "no")}


def test_a_page_without_a_model_speaks_of_none_that_was_held_back_from():
    found = report(noise(), "y", fast=True)
    assert not found.verdict.columns
    for text in (found.to_markdown(), found.to_html()):
        assert "No model that can be read is shown to be better than to know no column" in text
        assert "held back when it was trained" not in text


def test_an_area_below_one_half_is_no_signal_the_other_way():
    found = report(noise(), "y", fast=True)
    below = [c for c in found.columns.columns if c.auc < 0.5]
    assert below
    assert not any(c.significant for c in below)
    text = found.to_markdown()
    assert text.count("≤ .50") == len(below)
    assert sum("no better than chance (p" in f.message for f in found.columns.findings) == len(below)


def test_with_six_groups_no_interval_is_shown():
    table = rare(600, rate=0.1)
    table["shop"] = np.arange(600) % 6
    found = report(table, "churned", group="shop", fast=True)
    assert not found.verdict.interval_is_known
    assert "nobody can know how far this AUC is from that on new groups" in found.verdict.doubt
    assert "95 % interval" not in found.verdict.sentence.split(" The 10 %")[0]
    assert "interval not known" in found.to_html()
    assert rare_report().verdict.interval_is_known


@pytest.mark.parametrize(
    ("options", "criterion"),
    [({}, "auc_lpo"), ({"metric": "log_loss"}, "log_loss_loo"), ({"metric": "brier"}, "brier_loo")],
)
def test_columns_are_judged_in_the_units_of_the_metric(options, criterion):
    from offsample import rank_features

    found, ranking = rare_report(**options), rank_features(rare(), "churned", criterion=criterion)
    assert [c.name for c in found.columns.columns] == [f.name for f in ranking]
    for column, feature in zip(found.columns.columns, ranking, strict=True):
        score = column.score
        assert (score.value, score.low, score.high) == (feature.score, feature.score_low, feature.score_high)
    assert found.columns.baseline_score == pytest.approx(ranking.baseline_score)
    title = {"auc_lpo": "AUC", "log_loss_loo": "Log loss", "brier_loo": "Brier score"}[criterion]
    assert f"{title} to expect of each column by itself" in found.to_html()
    assert f"| column | {title} | interval | gain | error |" in found.to_markdown()


def test_columns_by_cost_are_told_per_thousand_rows():
    from offsample import rank_features

    costs = {"fn": 20.0, "fp": 1.0}
    found, ranking = rare_report(costs=tuple(costs.items())), rank_features(rare(), "churned", costs=costs)
    first = found.columns.columns[0]
    assert first.score.value == pytest.approx(1000 * ranking[first.name].score)
    assert first.expected_gain == pytest.approx(1000 * ranking[first.name].expected_gain)
    assert found.columns.baseline_score == pytest.approx(1000 * ranking.baseline_score)
    noise = next(f for f in found.columns.findings if f.column == "x2")
    assert "Cost per 1,000 rows" in noise.message


@pytest.mark.parametrize("options", [{}, {"costs": (("fn", 20.0), ("fp", 1.0))}, {"metric": "log_loss"}])
def test_sizes_columns_and_rows_are_told_in_the_units_of_the_metric(options):
    """The chosen size is as good as any of its curve; a figure that counts the choice is told beside it."""
    found = rare_report(**options)
    text = found.to_markdown()
    figure = {"auc": "AUC", "cost": "Cost per 1,000 rows", "log_loss": "Log loss"}[found.verdict.metric]
    assert f"### {figure} by size" in text
    shown = re.search(rf"\| \*\*{found.model.size}\*\* \| (\S+) \|", text)[1]
    metric, model = METRICS[found.verdict.metric], found.model
    scale = scale_of(metric, found.verdict.baseline_score, found.verdict.baseline_log_loss)
    assert shown == scale.text(model.held_back)
    assert (f"this page, {metric.figure(model)}, counts" in text) == (shown != metric.figure(model))
    best = min(point.validated_loss for point in model.path)
    assert model.held_back <= best + 0.01 * model.baseline_loss + 1e-12
    for words in ("wrongly ordered", "of what guessing loses", "of that of guessing"):
        assert words not in text + found.to_html()


def test_the_learning_curve_is_told_in_the_units_of_the_metric():
    found = report(rare(1200, rate=0.1), "churned", reference=False)
    text = found.to_markdown()
    assert "| rows | AUC | 95 % interval | |" in text
    first = found.sizing.curve[0]
    assert f"| {first.n_rows} | .{100 * (1 - first.error):.0f} |" in text
    assert "AUC against number of rows" in found.to_html()
    scale = scale_of(METRICS["auc"], None, None)
    flat = replace(found.sizing, gain_of_doubling=None)
    assert "a curve that has not risen so far, or rises" in sentences(flat, found.model, scale=scale)[-1]
    assert "a curve that has not fallen so far, or falls" in sentences(flat, found.model)[-1]


def test_where_no_interval_is_known_none_is_told():
    table = rare(600, rate=0.1)
    table["shop"] = np.arange(600) % 6
    found = report(table, "churned", group="shop", fast=True)
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))["verdict"]
    assert told["captured"] == found.verdict.captured
    for name in ("captured", "auc", "log_loss"):
        assert told[f"{name}_low"] is told[f"{name}_high"] is None
    assert told["score"]["low"] is None
    assert re.search(r"rates highest hold \d+ % of all rows", told["sentence"])
    page = found.to_html()
    assert 'class="interval"' not in page.split('class="chart chart-verdict"')[1].split("</svg>\n")[0]
    assert "interval not known" in repr(found)
    assert all(np.isnan(p.recall.low) for p in found.acting.curve[:-1])  # all rows hold all


def test_noise_has_no_interval_of_chance():
    found = report(noise(), "y", fast=True)
    for text in (found.to_markdown(), found.to_html(), repr(found)):
        assert ".50 – .50" not in text
        assert "10.0 – 10.0" not in text


def faint(seed, signal=0.7, n=300):
    random = np.random.default_rng((seed, 5))
    table = {f"x{j}": random.normal(size=n) for j in range(4)}
    odds = np.exp(signal * table["x0"] - 3.2)
    return {**table, "y": np.where(random.random(n) < odds / (1 + odds), "yes", "no")}


def test_where_nothing_is_shown_the_best_that_was_tried_is_handed_over_half_way():
    from sklearn.base import clone
    from sklearn.metrics import log_loss

    table = faint(24)
    found = report(table, "y", fast=True)
    verdict, estimator, y = found.verdict, found.estimator, table["y"]
    # Nothing is claimed: the page, its figures and its model are as without a column.
    assert (verdict.columns, found.model.columns, verdict.auc, verdict.beats_baseline) == ((), (), 0.5, False)
    assert verdict.sentence.startswith("No model that can be read is shown to predict")
    assert verdict.undecided.score.low <= 0.5 < verdict.undecided.score.value
    for text in (found.to_markdown(), found.to_html()):
        assert re.search(r"Undecided\.(\*\*|</strong>) The best that was tried, a tree with \d lea", text)
        assert "that may be chance" in text
    assert any(line.about == "Handed over" for line in found.card)
    json.dumps(found.to_dict(), allow_nan=False)
    # Its probabilities lie in the middle of what the tree says by itself and the class shares.
    X = np.stack([table[f"x{j}"] for j in range(4)], axis=1)
    tree, share = clone(estimator.learner).fit(X, y), np.mean(y == "yes")
    proba = estimator.predict_proba(table)
    np.testing.assert_allclose(proba, (tree.predict_proba(X) + np.array([1 - share, share])) / 2)
    np.testing.assert_array_equal(estimator.predict(table), estimator.classes_[proba.argmax(axis=1)])
    again = clone(estimator).fit(table, y)
    of_few = again.model_.predict_proba({name: table[name] for name in estimator.columns})
    assert of_few[:, 1].min() >= share / 2
    # By convexity it loses no more on new rows than the mean of what these two lose.
    fresh = faint(99, n=20_000)
    hit = fresh["y"] == "yes"
    own = tree.predict_proba(np.stack([fresh[f"x{j}"] for j in range(4)], axis=1))[:, 1]
    mean = (log_loss(hit, own) + log_loss(hit, np.full(len(hit), share))) / 2
    assert log_loss(hit, estimator.predict_proba(fresh)[:, 1]) <= mean


@pytest.mark.parametrize("seed", [2, 4])
def test_what_is_undecided_of_noise_is_no_claim(seed):
    found = report(faint(seed, signal=0.0), "y", fast=True, random_state=seed)
    verdict = found.verdict
    assert not verdict.beats_baseline
    assert (verdict.auc_low or 0.5) <= 0.5
    assert not verdict.columns
    assert verdict.undecided.score.low <= 0.5 < verdict.undecided.score.high
    assert np.ptp(found.estimator.predict_proba(faint(0))[:, 1]) > 0


@pytest.mark.parametrize("metric", ["error", "log_loss"])
def test_other_pages_hand_over_what_they_recommend_unless_probabilities_are_all_that_counts(metric):
    found = report(faint(24), "y", fast=True, metric=metric)
    assert not found.verdict.columns
    if metric == "error":
        assert found.verdict.undecided is None
        assert found.estimator.columns == []
    else:
        assert found.verdict.undecided.score.value < found.verdict.baseline_score
        assert found.estimator.is_undecided
