"""Numbers out of range: every command names the option, and what it expected."""

import re
from inspect import signature
from itertools import product
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from typer.models import ArgumentInfo
from typer.testing import CliRunner

from offsample.cli import app
from offsample.cli._costs import costs_of

run = CliRunner().invoke
TABLE = ["table.csv", "-t", "y"]
WITH = {  # what a command needs besides the option
    "columns": TABLE[:1],
    "rank": TABLE,
    "select": TABLE,
    "tree": TABLE,
    "rules": TABLE,
    "forecast": TABLE,
    "report": [*TABLE, "--fast", "-o", "page.html"],
    "audit": ["--accuracy", ".9", "--n-test", "100"],
    "plan": ["--n-test", "100", "--configurations", "5"],
    ("audit", "--error"): ["--n-test", "100"],
    ("rules", "--literals"): [*TABLE, "-f", "a"],
    ("plan", "--rows"): ["--configurations", "5"],
    ("plan", "--precision"): ["--n-test", "100"],
    ("report", "--score"): [*TABLE, "--n-test", "100"],
    ("report", "--n-test"): [*TABLE, "--score", ".9"],
    ("report", "--configurations"): [*TABLE, "--score", ".9", "--n-test", "100"],
}
HUGE = "9" * 400


def numeric_options():
    """Every option of every command that takes a number."""
    for command in app.registered_commands:
        for name, parameter in signature(command.callback, eval_str=True).parameters.items():
            kind, about = get_args(parameter.annotation)[:2]
            kinds = {kind, *get_args(kind), *(inner for outer in get_args(kind) for inner in get_args(outer))}
            if kinds & {int, float} and not isinstance(about, ArgumentInfo):
                names = (about.default, *(about.param_decls or ()))
                typed = [word for word in names if str(word).startswith("--")]
                yield command.callback.__name__, typed[0] if typed else f"--{name.replace('_', '-')}"


OPTIONS = sorted(set(numeric_options()))


@pytest.fixture(scope="module", autouse=True)
def _table(tmp_path_factory):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    table = pd.DataFrame({"a": y ^ (rng.random(60) < 0.2), "b": rng.normal(size=60), "y": y})
    folder = tmp_path_factory.mktemp("options")
    table.to_csv(folder / "table.csv", index=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        yield


def test_all_of_them_are_looked_at():
    assert len(OPTIONS) >= 30
    assert {verb for verb, _ in OPTIONS} >= {"rank", "select", "tree", "rules", "forecast", "audit", "plan"}


def out_of_range(verb, option, value):
    others = list(WITH.get((verb, option), WITH[verb]))
    if option in others:
        del others[others.index(option) : others.index(option) + 2]
    return run(app, [verb, *others, option, value])


@pytest.mark.parametrize(
    ("verb", "option", "value"), [(*one, value) for one, value in product(OPTIONS, ("-3", "nan"))]
)
def test_an_error_names_the_option(verb, option, value):
    result = out_of_range(verb, option, value)
    assert result.exit_code == 2, result.output
    check_words(result.output, option)


@pytest.mark.parametrize(
    ("verb", "option", "value"),
    [
        (*one, value)
        for one, value in product(OPTIONS, (HUGE, str(2**63 - 1), "1.7e308", "5e-324"))
        if one not in [("report", "--sample"), ("report", "--time-limit")]  # any of them is large enough
        and (one[0] != "report" or value == HUGE)  # the same words, and a report each
    ],
)
def test_a_number_beyond_all_measure_is_an_answer_or_a_sentence(verb, option, value):
    result = out_of_range(verb, option, value)
    assert result.exit_code in (0, 2), result.output
    if result.exit_code == 2:
        check_words(result.output, option)
    else:
        assert not re.search(r"\b(inf|nan)\b|-0\.0+\b", result.output), result.output


def check_words(output, option):
    sentence = output.splitlines()[-1]
    assert option in sentence
    assert not re.search(r"\b[a-z]+_[a-z_]+\b", sentence)
    assert len(sentence) < 300


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["plan", "--rows", "1", "--configurations", "2"], "--rows must be at least 2, got 1"),
        (
            ["plan", "--rows", "5", "--n-test", "9", "--precision", ".1"],
            "--n-test must be at most --rows, got 9 of 5",
        ),
        (["audit", "--error", "7", "--n-test", "9"], "--error must be an accuracy or error rate between"),
        (["tree", *TABLE, "--max-bytes", "9"], "raise the limit with --max-bytes if it comes from"),
        (["forecast", *TABLE, "--splits", "-1"], "--splits must be numbers of splits of at least 0"),
    ],
)
def test_in_words_of_the_command_line(arguments, sentence):
    result = run(app, arguments)
    assert (result.exit_code, len(result.output.splitlines())) == (2, 1)
    assert sentence in result.output


def test_a_column_may_be_called_like_a_parameter(tmp_path):
    rows = pd.DataFrame({"n_test": [1, 2, 3, 4] * 5, "y": ["a", "b"] * 10})
    rows.to_csv(tmp_path / "t.csv", index=False)
    result = run(app, ["rank", str(tmp_path / "t.csv"), "-t", "n_tests"])
    assert result.exit_code == 2
    assert "'n_test'" in result.output
    assert "--n-test" not in result.output


@pytest.mark.parametrize(
    "text", ["fn=10;fp=1", "fn=10 fp=1", "junk fn=10,fp=1", "fn=10,fn=1", "fn=", "fn=1e", ""]
)
def test_costs_that_are_not_understood_are_refused_whole(text):
    with pytest.raises(ValueError, match="is not understood"):
        costs_of(text)
    assert costs_of(" fn = 10 , fp=0.5") == {"fn": 10.0, "fp": 0.5}
    assert costs_of("fn=1e9,fp=2.5E-1") == {"fn": 1e9, "fp": 0.25}
