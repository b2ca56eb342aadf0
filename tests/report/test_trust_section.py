"""How far to trust a score: numbers of the library, percentages of the report, plans for the table."""

import re
from dataclasses import replace

import numpy as np
import pytest
from report.example import example_report

from offsample.assessment import plan_holdout, trust_in_score
from offsample.report import report
from offsample.report._html import render_page
from offsample.report._study import Options, Study
from offsample.report.sections import trust


def table(n=200):
    return {"a": np.arange(n) % 7, "y": np.where(np.arange(n) % 4 == 0, "p", "n")}


def described(score=None, scores=None, **options):
    return trust.describe(Study(table(), "y", Options(**options)), score, scores)


def test_it_is_what_the_library_finds_with_the_majority_as_baseline():
    found = described(0.91, n_test=1000, n_configurations=200)
    assert found.found == trust_in_score(0.91, n_test=1000, n_configurations=200, baseline=0.75)
    assert found.in_shares
    assert found.plans == tuple(
        plan_holdout(200, 200, precision, expected_error=1 - found.found.corrected)
        for precision in (0.01, 0.02, 0.05)
    )
    assert not any(plan.feasible for plan in found.plans)


def test_the_sentences_have_percentages_as_in_the_report():
    first, luck, interval, base, capacity = described(0.91, n_test=1000, n_configurations=200).sentences
    assert first == "Reported: accuracy 91.0 % on 1,000 test rows, the best of 200 configurations."
    assert "points better than it is" in luck
    assert interval.startswith("With 95 % confidence its accuracy lies between ")
    assert "75.0 %" in base
    assert re.search(r": [\d,]+ tries would tell them the classes of [\d,]+ test rows\.$", capacity)


def test_one_configuration_needs_no_correction():
    sentences = described(0.91, n_test=1000).sentences
    assert sentences[0] == "Reported: accuracy 91.0 % on 1,000 test rows."
    assert not any("luck alone" in sentence for sentence in sentences)


@pytest.mark.parametrize("score", [0.5, 0.76])
def test_a_score_that_may_mean_nothing(score):
    sentences = described(score, n_test=100, n_configurations=50).sentences
    assert (
        "The score may be no better than a guess: always guessing the most frequent class is right in 75.0 % "
        "of the rows."
    ) in sentences


def test_scores_of_all_configurations(tmp_path):
    rng = np.random.default_rng(0)
    scores = 0.8 + 0.02 * rng.normal(size=(20, 5))
    path = tmp_path / "scores.csv"
    np.savetxt(path, scores, delimiter=",", header="fold1,fold2,fold3,fold4,fold5", comments="")
    found = described(scores=str(path))
    assert found.found == trust_in_score(scores=str(path), baseline=0.75)
    assert found.found.corrected < found.found.naive == pytest.approx(scores.mean(axis=1).max())
    assert all("%" not in s or " %" in s for s in found.sentences)
    assert found.plans[0].expected_error is None
    losses = described(scores=-10 * scores)
    assert not losses.in_shares
    page = render_page(replace(example_report(), trust=losses))
    assert "chart-trust-title" not in page


def test_without_a_score_or_time_there_is_no_section():
    assert described() is None
    study = Study(table(), "y", Options(time_limit=1e-9, n_test=10))
    assert trust.describe(study, 0.9, None) is None
    assert "time limit" in study.skipped[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"score": 0.9}, "n_test is missing"),
        ({"score": 0.9, "scores": [[1.0]]}, "expected the one or the other"),
        ({"n_test": 10}, "n_test is 10, but there is no score"),
        ({"n_configurations": 5}, "n_configurations is 5, but there is no score"),
        ({"scores": [[1.0]], "n_configurations": 5}, "scores tell by themselves"),
        ({"score": 91, "n_test": 10}, "between 0 and 1, got 91"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        report(table(), "y", fast=True, **options)


def test_the_call_that_makes_it_again_names_the_scores():
    scores = 0.8 + 0.01 * np.random.default_rng(0).normal(size=(8, 4))
    found = report(table(40), "y", fast=True, scores=scores)
    assert found.method.command.endswith("fast=True, scores=scores)")
    assert found.method.options["scores"] == "(in memory)"
    assert found.to_dict()["trust"]["found"]["n_configurations"] == 8
    assert found.sizing is None
    assert any(note.startswith("what more rows would bring") for note in found.method.skipped)
