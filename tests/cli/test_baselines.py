"""Each guess that knows no column has a name, and under one name every command says one number."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample._text import MAJORITY, OTHERS, SHARES
from offsample.cli import app
from offsample.counts import CellCounts
from offsample.criteria import bayes_loo, ginger

run = CliRunner().invoke


def tables():
    rng = np.random.default_rng(0)
    skewed = (rng.random(300) < 0.3).astype(int)
    signal = np.where(rng.random(300) < 0.85, skewed, 1 - skewed)
    even = rng.permutation(np.repeat([0, 1, 2], 40))  # where leaving a row out changes the majority
    noise = {f"n{i}": rng.normal(size=120) for i in range(3)}
    yield "signal", pd.DataFrame({"a": signal, "b": rng.normal(size=300), "y": skewed})
    yield "noise", pd.DataFrame({**noise, "y": np.array(["r", "g", "b"])[even]})


@pytest.mark.parametrize("name", ["signal", "noise"])
def test_one_name_one_number(tmp_path, name):
    table = dict(tables())[name]
    path = str(tmp_path / "t.csv")
    table.to_csv(path, index=False)
    counts = table["y"].value_counts().to_numpy()
    majority = f"{1 - counts.max() / counts.sum():.4f}"

    def said(verb, *options):
        result = run(app, [verb, path, "-t", "y", *options])
        assert result.exit_code == 0, result.output
        return " ".join(result.output.split())

    for verb in ("select", "tree", "rules"):
        assert f"{MAJORITY.capitalize()} is wrong in {majority}" in said(verb), verb
    assert f" 0 {majority} " in said("forecast")
    for verb in ("select", "tree", "rules"):
        assert f"{json.loads(said(verb, '--json'))['baseline_error']:.4f}" == majority
    one_cell = CellCounts(counts[None])
    assert f"{SHARES} is wrong in {ginger(one_cell):.4f}" in said("rank")
    assert f"{OTHERS} is wrong in {bayes_loo(one_cell):.4f}" in said("rank", "--criterion", "bayes_loo")
    if name == "noise":  # nothing is learned: the model is the guess, and has its error
        for verb in ("tree", "rules"):
            assert f"Expect an error of {majority} on new rows" in said(verb)
        of_tree = re.search(r"95% interval ([\d.]+) to ([\d.]+)", said("tree")).groups()
        assert "–".join(of_tree) in said("forecast")


def test_of_copies_one_is_kept_and_the_other_named(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    a = np.where(rng.random(200) < 0.9, y, 1 - y)
    noise = {f"n{i}": rng.normal(size=200) for i in range(14)}
    table = pd.DataFrame({"a": a, "again": a, **noise, "c": list("xy") * 100, "y": y}).assign(
        d=lambda t: t["c"]
    )
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run(app, ["select", str(tmp_path / "t.csv"), "-t", "y"])
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert "Left out: again, an exact copy of a." in lines
    assert "Left out: d, an exact copy of c." in lines
    start = next(i for i, line in enumerate(lines) if line.startswith("column"))
    rows = lines[start + 1 : lines.index("", start)]
    assert {row.split()[0] for row in rows} == {"a", "c", *noise}
    assert all(re.search(r"(\d\.\d{4} ± \d\.\d{4}|not tried)$", row) for row in rows)
    found = json.loads(run(app, ["select", str(tmp_path / "t.csv"), "-t", "y", "--json"]).output)
    assert found["copies"] == {"again": "a", "d": "c"}


def test_of_new_groups_the_guess_has_two_names_and_two_numbers(tmp_path):
    rng = np.random.default_rng(0)
    who, sick = np.repeat(np.arange(14), 10), rng.permutation([0] * 8 + [1] * 6)
    table = pd.DataFrame({"who": who, "x": rng.normal(size=140), "y": sick[who]})
    table.to_csv(tmp_path / "t.csv", index=False)
    result = run(app, ["tree", str(tmp_path / "t.csv"), "-t", "y", "--group", "who"])
    said = " ".join(result.output.split())
    assert (
        f"{MAJORITY.capitalize()} is wrong in {60 / 140:.4f} of these rows, and to be expected wrong" in said
    )
    found = json.loads(
        run(app, ["tree", str(tmp_path / "t.csv"), "-t", "y", "--group", "who", "--json"]).output
    )
    assert found["baseline_error"] == pytest.approx(60 / 140)
    assert f"wrong in {found['unsplit_error']:.4f} of rows with a new 'who'" in said


def test_equal_rows_are_counted_and_shown(tmp_path):
    """Two copies of each of sixty rows, and five in another class."""
    rng = np.random.default_rng(0)
    once = pd.DataFrame(
        {"a": rng.normal(size=60), "b": rng.choice(list("uv"), 60), "y": rng.integers(0, 2, 60)}
    )
    other = once.head(5).assign(y=1 - once["y"].head(5))
    pd.concat([once, once, once, other]).to_csv(tmp_path / "t.csv", index=False)
    pd.concat([once, once]).assign(who=[*range(60)] * 2).to_csv(tmp_path / "grouped.csv", index=False)
    for verb in ("rank", "tree", "rules", "select", "forecast"):
        said = " ".join(run(app, [verb, str(tmp_path / "t.csv"), "-t", "y"]).output.split())
        assert (
            "120 of 185 rows equal an earlier one in these columns and the target, 5 more in all but" in said
        )
        assert "with --group (group= in Python), or make a report" in said
    for verb in ("rank", "tree"):
        found = json.loads(run(app, [verb, str(tmp_path / "t.csv"), "-t", "y", "--json"]).output)
        assert (found["n_duplicates"], found["n_conflicting"]) == (120, 5)
        said = run(app, [verb, str(tmp_path / "grouped.csv"), "-t", "y", "--group", "who"]).output
        assert "60 of 120 rows equal an earlier one" in " ".join(said.split())
        assert "copies" not in said
