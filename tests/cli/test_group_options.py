"""--group and --time: for whom an error is, in words and in JSON, by every command that reads a table."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app

run = CliRunner().invoke
VERBS = {
    "rank": [],
    "tree": [],
    "rules": ["--literals", "1"],
    "select": [],
    "forecast": ["--splits", "0", "--splits", "2"],
}
UNITS = {
    "rows with a new 'patient'": ["--group", "patient"],
    "later rows": ["--time", "day"],
    "later rows with a new 'patient'": ["--group", "patient", "--time", "day"],
}


@pytest.fixture(scope="module", autouse=True)
def _table(tmp_path_factory):
    """Forty patients with ten visits each, sick by the flip of a coin; one test is right in 85 % of them."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(40), 10))
    sick = rng.permutation(np.arange(40) % 2)[patient]
    table = pd.DataFrame(
        {
            "patient": [f"p{number}" for number in patient],
            "ward": [f"w{number // 2}" for number in patient],
            "nurse": rng.integers(0, 9, 400),
            "day": rng.permutation(400) // 5,
            "height": (rng.normal(size=40)[patient] + 0.02 * rng.normal(size=400)).round(3),
            "test": np.where(rng.random(400) < 0.15, 1 - sick, sick).astype(str),
            "sick": np.where(sick, "yes", "no"),
        }
    )
    folder = tmp_path_factory.mktemp("groups")
    table.to_csv(folder / "visits.csv", index=False)
    table.loc[3:5, "patient"] = None
    table.loc[7, "day"] = None
    table.to_csv(folder / "gaps.csv", index=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        yield


def said(verb, *options, table="visits.csv"):
    return run(app, [verb, table, "-t", "sick", *VERBS[verb], *options])


def read(verb, *options):
    result = said(verb, *options, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("new_rows", UNITS)
@pytest.mark.parametrize("verb", VERBS)
def test_the_output_says_for_whom_the_error_is(verb, new_rows):
    result = said(verb, *UNITS[new_rows])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert new_rows in " ".join(lines)
    for unit in UNITS[new_rows][1::2]:  # no feature, neither as a column nor in a model
        assert not [line for line in lines if line.strip().strip("| ").startswith(unit)]
    if verb != "rank":
        what = "40 groups" if "patient" in new_rows else "30 parts of the time"
        assert f"take the {what} to be independent of each other." in " ".join(lines)


@pytest.mark.parametrize("new_rows", UNITS)
@pytest.mark.parametrize("verb", VERBS)
def test_json_has_the_same_facts(verb, new_rows):
    found = read(verb, *UNITS[new_rows])
    assert found["new_rows"] == new_rows
    if verb != "rank":
        assert found["n_units"] == (40 if "patient" in new_rows else 30)
    names = [one["name"] for one in found.get("columns", found.get("features", [])) if isinstance(one, dict)]
    assert not set(UNITS[new_rows][1::2]) & set(names)
    used = json.dumps([found.get("tree"), found.get("rules"), found.get("path")])
    assert not any(f'"{unit}"' in used for unit in UNITS[new_rows][1::2])


def test_errors_are_those_of_new_patients():
    ignore = ["--ignore", "ward", "--ignore", "nurse"]
    for verb, error in {
        "tree": lambda found: (found["estimated_error"], found["low"], found["high"]),
        "rules": lambda found: (found["estimated_error"], *found["estimated_error_interval"]),
        "forecast": lambda found: (found["best"]["error"], found["best"]["low"], found["best"]["high"]),
    }.items():
        known = error(read(verb, *ignore, "--ignore", "day"))
        assert known[0] < 0.17, verb  # a patient is known by the number
        for options in (UNITS["rows with a new 'patient'"], UNITS["later rows with a new 'patient'"]):
            new = error(read(verb, *ignore, *options))
            assert 0.1 < new[0] < 0.35, verb
            assert new[1] < 0.2 < new[2] + 0.05, verb
    few = read("select", *ignore, *UNITS["rows with a new 'patient'"])
    assert min(size["error"] for size in few["sizes"]) > 0.1


def test_without_units_nothing_is_said_of_them():
    for verb in ("tree", "rules", "select", "forecast"):
        assert "independent of each other" not in said(verb).output
        found = read(verb)
        assert (found["new_rows"], found["n_units"]) == ("new rows", None)


@pytest.mark.parametrize("verb", ["tree", "rules", "select", "forecast"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--group", "patien"], "group 'patien' is not a column of the table: did you mean 'patient'?"),
        (["--time", "days"], "time 'days' is not a column of the table: did you mean 'day'?"),
        (["--group", "sick"], "group 'sick' is the target: name another column"),
        (["--group", "patient", "-f", "patient"], "feature 'patient' is the group: new rows have others"),
        (["--time", "day", "-f", "day"], "feature 'day' is the time: new rows have others"),
    ],
)
def test_columns_that_are_no_units_are_refused(verb, options, message):
    if verb == "forecast" and "-f" in options:
        pytest.skip("forecast learns from all columns")
    result = said(verb, *options)
    assert (result.exit_code, len(result.output.splitlines())) == (2, 1), result.output
    assert message in result.output


@pytest.mark.parametrize("verb", ["tree", "rules", "select", "forecast"])
def test_groups_may_cross(verb):
    output = " ".join(said(verb, "--group", "patient,nurse").stdout.split())
    assert "rows with a new 'patient' and a new 'nurse'" in output
    assert "take the 40 and 9 groups that cross to be independent of each other: too few to know" in output
    assert read(verb, "--group", "patient,nurse")["n_units"] == 9


@pytest.mark.parametrize("verb", VERBS)
def test_missing_units_are_refused_by_name(verb):
    result = said(verb, "--group", "patient", table="gaps.csv")
    assert (result.exit_code, "group 'patient' is missing in 3 rows" in result.output) == (2, True)
    result = said(verb, "--time", "day", table="gaps.csv")
    assert (result.exit_code, "time 'day' is missing in 1 row" in result.output) == (2, True)


def test_of_groups_within_each_other_the_coarsest_count():
    assert read("forecast", "--group", "patient,ward")["n_units"] == 20


@pytest.mark.parametrize("option", ["--group", "--time"])
def test_scores_have_no_rows(option):
    result = run(app, ["audit", "--accuracy", ".9", "--n-test", "100", option, "patient"])
    assert result.exit_code == 2
    assert f"{option} is for predictions: say --predictions" in result.output


@pytest.mark.parametrize("group", ["", ",", "patient,", "patient,patient"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_group_without_a_name_is_refused(verb, group):
    """An unset variable of a shell would otherwise give the error on rows of known patients."""
    result = said(verb, "--group", group)
    assert result.exit_code == 2
    assert "must name one column or several, each once" in result.output


def test_a_comma_in_a_name_is_escaped(tmp_path):
    table = pd.DataFrame({"a,b": np.arange(40) // 4, "x": np.arange(40) % 3, "sick": np.arange(40) % 2})
    table.to_csv(tmp_path / "comma.csv", index=False)
    result = said("rank", "--group", r"a\,b", table=str(tmp_path / "comma.csv"))
    assert result.exit_code == 0, result.output
    assert "'a,b'" in result.output


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["--group", "--time"])
def test_a_unit_that_is_the_same_in_all_rows_is_named(verb, option, tmp_path):
    table = pd.DataFrame({"same": 1, "x": np.arange(60) % 3, "sick": np.arange(60) % 2})
    table.to_csv(tmp_path / "same.csv", index=False)
    result = said(verb, option, "same", table=str(tmp_path / "same.csv"))
    assert result.exit_code == 2
    assert "'same'" in result.output
    assert "all rows" in result.output


@pytest.mark.parametrize("verb", ["tree", "rules"])
def test_a_model_that_guesses_errs_as_its_learner_says_of_new_groups(verb):
    found = read(verb, "--group", "patient", "--ignore", "test")
    assert found["estimated_error"] == pytest.approx(2 * 20 * 20 / (40 * 39))
    assert found["unsplit_error"] == found["estimated_error"]  # the model is that guess
    assert found["baseline_error"] == 0.5  # of these rows
