"""What a stranger found of groups and times: questions that were not asked, sentences that were not so."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import offsample
from offsample.cli import app


def _patients(seed, names):
    """A class by a coin of the patient and by a column that is honest; two values that a patient keeps."""
    random = np.random.default_rng(seed)
    patient = random.permutation(np.repeat(np.arange(50), 20))
    x = random.normal(size=1000)
    value = 2 * random.integers(0, 2, 50)[patient] + x + 0.3 * random.normal(size=1000)
    return {
        "x": x,
        "id": np.array([f"p{one}" for one in patient]) if names else patient + 1000,
        "lab1": random.normal(size=50)[patient],
        "lab2": random.normal(size=50)[patient],
        "y": np.digitize(value, [0, 1, 2]).astype(str),
    }


@pytest.mark.parametrize("names", [False, True])
def test_an_honest_column_does_not_hide_patients(names):
    """By itself it predicts as well as the patient does: what tells is the model, on other patients."""
    asked = 0
    for seed in range(3):
        report = offsample.report(_patients(seed, names), "y", fast=True, reference=False)
        asked += any(one.code == "suspected_group" and one.column == "id" for one in report.rows.questions)
    assert asked >= 2


def test_values_with_equal_numbers_of_rows_say_nothing_of_new_ones():
    report = offsample.report(_patients(2, False), "y", fast=True, reference=False)
    (said,) = (one.message for one in report.rows.questions if one.column == "id")
    assert "how often new ones come cannot be told" in said
    assert "nearly all new ones" not in said


def test_the_sentence_has_no_interval_that_nobody_can_know():
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    table = {
        "x": x,
        "g": np.repeat(np.arange(6), 50),
        "y": (x + 0.3 * random.normal(size=300) > 0).astype(int),
    }
    verdict = offsample.report(table, "y", group="g", fast=True, reference=False).verdict
    assert not verdict.interval_is_known
    assert "interval not known" in verdict.sentence
    assert "95 % interval" not in verdict.sentence


def test_moments_are_the_same_however_they_are_written():
    random = np.random.default_rng(0)
    day = np.datetime64("2024-01-01") + np.repeat(np.arange(60), 2)
    label = np.repeat(random.integers(0, 2, 60), 2)
    table = pd.DataFrame({"x": np.repeat(random.integers(0, 3, 60), 2).astype(str), "y": label})
    uniform = [str(one) for one in day]
    mixed = [text if i % 2 else f"{text}T00:00" for i, text in enumerate(uniform)]
    offset = [text + "T01:00+01:00" if i % 2 else text + "T00:00Z" for i, text in enumerate(uniform)]
    errors = {
        offsample.rank_features(table.assign(t=times), "y", time="t")["x"].error
        for times in (day, uniform, mixed, offset)
    }
    assert len(errors) == 1


def test_groups_may_be_named_one_by_one(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame({name: random.integers(0, 12, 400) for name in ("a", "b", "x")})
    table.assign(y=random.integers(0, 2, 400)).to_csv(tmp_path / "t.csv", index=False)
    said = [
        CliRunner().invoke(app, ["rank", str(tmp_path / "t.csv"), "-t", "y", *words]).output
        for words in (["--group", "a", "--group", "b"], ["--group", "a,b"])
    ]
    assert said[0] == said[1]
    assert "new 'a'" in said[0] or "new “a”" in said[0] or "new a" in said[0]


def test_the_guess_is_wrong_in_the_rows_that_it_is_for():
    random = np.random.default_rng(1)
    table = {
        "x": random.normal(size=600),
        "ward": np.repeat(np.arange(30), 20),
        "day": np.tile(np.arange(20), 30),
        "y": random.integers(0, 2, 600),
    }
    sentence = offsample.report(
        table, "y", group="ward", time="day", fast=True, reference=False
    ).verdict.sentence
    assert "of the rows" not in sentence


@pytest.mark.parametrize("seed", [1, 2])
def test_of_known_groups_the_model_is_told_which_even_if_few_groups_prove_little(seed):
    random = np.random.default_rng(seed)
    user = np.repeat(np.arange(30), 30)
    y = np.where(random.random(900) < random.beta(1.2, 0.8, 30)[user], "yes", "no")
    table = {"user": [f"u{u}" for u in user], "x": random.normal(size=900), "y": y}
    verdict = offsample.report(table, "y", group="user", fast=True, reference=False).verdict
    of_yes = np.bincount(user, y == "yes")[user]
    others = np.where(of_yes - (y == "yes") > 14.5, "yes", "no")  # the majority of a user's other rows
    assert verdict.known_error == pytest.approx(np.mean(others != y), abs=0.03)
    assert verdict.known_error < verdict.error - 0.03
