"""The verdict for new groups, later rows, and beside them for known groups."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.report import report
from offsample.report._study import Options, Study
from offsample.report.charts import verdict_chart


def _patients(n_patients=40, n_each=20, seed=0):
    """A coin for each patient, and columns by which a patient is known again."""
    rng = np.random.default_rng(seed)
    patient = rng.permutation(np.repeat(np.arange(n_patients), n_each))
    level = rng.normal(size=(n_patients, 3))[patient]
    table = {f"x{j}": level[:, j] + 0.1 * rng.normal(size=len(level)) for j in range(3)}
    return {**table, "nr": patient, "y": (np.arange(n_patients) % 2)[patient]}


@pytest.fixture(scope="module")
def by_patient():
    return report(_patients(), "y", group="nr", fast=True)


def test_known_patients_are_predicted_and_new_ones_are_not(by_patient):
    verdict = by_patient.verdict
    assert verdict.known_error < 0.3 < 0.4 < verdict.error
    assert verdict.known_low <= verdict.known_error < 0.02 < verdict.known_high  # who a patient is, is known
    assert verdict.low < 0.5 < verdict.high
    assert [one.label for one in verdict.honest] == ["new rows of a known “nr”", "rows of a new “nr”"]
    assert (
        f"told which group a row is of where that is known, is wrong in 0 % (95 % interval 0 – "
        f"{100 * verdict.known_high:.1f} %) of new rows of a known “nr”, in 51.3 % "
        f"({100 * verdict.low:.1f} – {100 * verdict.high:.1f} %) of rows of a new “nr”." in verdict.sentence
    )
    # Of two patients 20 × 20 of 40 × 39 / 2 pairs differ: no class is clearly that of more new patients.
    assert verdict.error == pytest.approx(2 * 20 * 20 / (40 * 39))
    assert "by the class shares of the other groups" in by_patient.to_markdown()
    assert verdict.assumption is None
    assert verdict.doubt is None


def test_rows_of_known_people_are_predicted_by_their_other_rows():
    """Nothing but the person says what a person does, nine times out of ten."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(100), 8)
    own = rng.integers(0, 2, 100)[who]
    y = pd.Series(own ^ (rng.random(800) < 0.1))
    found = report({"x": rng.normal(size=800), "who": who, "y": y}, "y", group="who", fast=True).verdict
    others = y.groupby(who).transform("sum") - y  # of seven
    assert found.known_error == pytest.approx(((others > 3) != y).mean(), abs=0.005)
    assert found.honest[0].knows
    assert not found.honest[-1].knows
    assert found.error > 0.4


def test_more_groups_than_leaves_are_known():
    """Thirty classes are thirty groups: no tree of twelve leaves can say it, but who knows the group does."""
    who = np.repeat(np.arange(30), 12)
    table = {"x": np.random.default_rng(0).normal(size=360), "who": who, "y": who.astype(str)}
    found = report(table, "y", group="who", fast=True).verdict
    assert found.known_error == 0
    assert found.error > 0.9


def test_a_group_says_what_a_row_does_not():
    """What a row says and who it is of add up: a model that knows both is better than each alone."""
    rng = np.random.default_rng(0)
    who, x = np.repeat(np.arange(60), 20), rng.normal(size=1200)
    y = 3 * x + 3 * rng.normal(size=60)[who] + rng.logistic(size=1200) > 0
    found = report({"x": x, "who": who, "y": y}, "y", group="who", fast=True).verdict
    of_group = (pd.Series(y).groupby(who).transform("mean") > 0.5) != y  # on the sample
    assert found.known_error + 0.03 < min(found.error, of_group.mean())


@pytest.mark.parametrize("group", [["user", "item"], ["item", "user"]])
def test_what_is_known_of_crossed_groups_may_be_looked_at(group):
    """The user decides: known users are predicted, whether the item is new or not."""
    rng = np.random.default_rng(2)
    user, item = rng.integers(0, 40, 1200), rng.integers(0, 30, 1200)
    table = {"x": rng.normal(size=1200), "user": user, "item": item, "y": rng.integers(0, 2, 40)[user]}
    honest = {one.label: one for one in report(table, "y", group=group, fast=True).verdict.honest}
    assert honest["rows of a new “item” and a known “user”"].error < 0.05
    assert honest["rows of a new “user” and a known “item”"].error > 0.3
    assert not honest["rows of a new “user” and a known “item”"].knows


def test_the_group_is_no_column_and_no_question(by_patient):
    assert "nr" not in [column.name for column in by_patient.columns.columns]
    assert by_patient.rows.suspected_groups == ()


def test_every_rendering_speaks_of_new_groups(by_patient):
    for text in (by_patient.to_html(), by_patient.to_markdown(), repr(by_patient), by_patient._repr_html_()):
        assert "of a new “nr”" in text
        assert "new rows" not in text.replace("new rows of a known “nr”", "").replace(
            "Who are the new rows", ""
        )
    assert by_patient.to_html().count('class="interval-known"') == 1


def test_the_call_is_one_that_works(by_patient):
    assert by_patient.method.command == "offsample.report(table, target='y', group='nr', fast=True)"


def test_the_data_are_plain(by_patient):
    found = json.loads(json.dumps(by_patient.to_dict()))
    assert found["method"]["options"]["group"] == ["nr"]
    assert [one["label"] for one in found["verdict"]["honest"]][-1] == found["verdict"]["new_rows"]
    assert found["rows"]["n_duplicates"] == 0


def test_a_given_array_is_as_good_as_a_column():
    table = _patients(12, 10)
    nr = table.pop("nr")
    verdict = report(table, "y", group=nr, fast=True).verdict
    assert verdict.new_rows == "rows of a new “group”"
    named = report({**table, "nr": nr}, "y", group="nr", fast=True).verdict
    assert (verdict.error, verdict.low, verdict.high) == (named.error, named.low, named.high)


def test_plain_rows_have_an_assumption_and_no_known_groups():
    rng = np.random.default_rng(0)
    verdict = report({"x": rng.normal(size=100), "y": rng.integers(0, 2, 100)}, "y", fast=True).verdict
    assert verdict.assumption == "if new rows come like these, independently"
    assert (verdict.known_error, verdict.known_low, verdict.known_high, verdict.honest) == (
        None,
        None,
        None,
        (),
    )


def test_crossed_groups_have_three_more_numbers():
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 15, 600), rng.integers(0, 12, 600)
    table = {"taste": (user % 3), "kind": (item % 2), "user": user, "item": item}
    table["y"] = np.where(rng.random(600) < 0.9, table["taste"] == 0, rng.random(600) < 0.5)
    found = report(table, "y", group=["user", "item"], fast=True)
    verdict = found.verdict
    n_tested = re.search(r"([\d,]+) of the 600 rows can be held back so", " ".join(found.rows.sentences))
    assert n_tested is not None
    assert int(n_tested[1]) == found.acting.n_rows < 600
    assert "…" not in verdict_chart(verdict)  # of no label is a part missing
    assert [one.label for one in verdict.honest[1:]] == [
        "rows of a new “user” and a known “item”",
        "rows of a new “item” and a known “user”",
        "rows of a new “user” and a new “item”",
    ]
    assert all(abs(one.error - 0.05) < 0.05 for one in verdict.honest)
    assert verdict.beats_baseline


def test_each_of_three_kinds_of_groups_is_new_alone():
    rng = np.random.default_rng(0)
    user, item, shop = rng.integers(0, [[40], [30], [30]], (3, 1200))
    y = user % 2 ^ (rng.random(1200) < 0.05)
    table = {"x": rng.normal(size=1200), "user": user, "item": item, "shop": shop, "y": y}
    found = report(table, "y", group=["user", "item", "shop"], fast=True)
    errors = {one.label: one.error for one in found.verdict.honest[1:]}
    assert list(errors) == [
        "rows of a new “user” and all else known",
        "rows of a new “item” and all else known",
        "rows of a new “shop” and all else known",
        "rows of a new “user” and a new “item” and a new “shop”",
    ]
    of_user, of_item, of_shop, of_all = errors.values()
    assert max(of_item, of_shop) < 0.1 < 0.3 < min(of_user, of_all)  # the user decides
    assert any(
        "new in all of user, item, shop are predicted" in sentence for sentence in found.rows.sentences
    )


def test_later_rows_are_worse_where_the_column_stops_working():
    rng = np.random.default_rng(0)
    day, y = np.arange(1200), rng.integers(0, 2, 1200)
    sign = np.where(day < 700, y, rng.integers(0, 2, 1200))
    found = report({"day": day, "sign": sign, "y": y}, "y", time="day", fast=True)
    same, later = found.verdict.honest
    assert (same.label, later.label) == ("rows of the same period", "later rows")
    assert later.error > same.error + 0.05
    assert "day" not in [column.name for column in found.columns.columns]
    assert any(sentence.startswith("day says what is earlier") for sentence in found.rows.sentences)
    assert [(f.code, f.column) for f in found.rows.findings] == [("drift", "sign")]
    assert found.verdict.assumption == "if the drift that was found goes on as before"
    assert found.verdict.sentence.endswith(" This holds only if the drift that was found goes on as before.")


def test_the_page_says_why_groups_have_no_learning_curve():
    rng = np.random.default_rng(0)
    x, who = rng.normal(size=300), np.repeat(np.arange(30), 10)
    found = report({"x": x, "who": who, "y": (x > 0) ^ (rng.random(300) < 0.1)}, "y", group="who")
    assert found.sizing.curve == ()
    why = "a curve over rows does not say what more groups would bring for rows of a new “who”"
    for page in (found.to_html(), found.to_markdown()):
        assert f"How much more rows would help is not known: {why}." in page
        assert "too few rows to say" not in page


def test_a_gap_leaves_out_what_was_not_known_yet():
    """The folds of a report learn from nothing in the three days before what they test on."""
    rng = np.random.default_rng(0)
    day = np.repeat(np.arange(150), 4)
    y = np.repeat(rng.integers(0, 2, 50), 12)
    table = {"day": day, "week": (day // 3).astype(str), "x": rng.normal(size=600), "y": y}
    found = report(table, "y", time="day", gap=3, fast=True)
    assert any("the last 3 different times" in sentence for sentence in found.rows.sentences)
    study = Study(table, "y", Options(time="day", gap=3, fast=True))
    assert all(day[train].max() + 3 < day[test].min() for train, test in study.folds)
    assert found.method.command == "offsample.report(table, target='y', time='day', gap=3, fast=True)"
    with pytest.raises(ValueError, match="gap is given, but no time says what is earlier"):
        report(table, "y", gap=3)


def test_three_groups_cannot_tell():
    found = report(_patients(3, 4), "y", group="nr")
    assert "With 3 groups nobody can know" in found.verdict.doubt
    assert not any(column["interval_is_known"] for column in found.to_dict()["columns"]["columns"])
    for text, mark in ((found.to_html(), " ?</td>"), (found.to_markdown(), "? |")):
        assert "? marks intervals that may be too short" in text
        assert text.count(mark) == len(found.columns.columns)
    assert found.verdict.doubt in found.to_markdown()
    assert found.verdict.high - found.verdict.low > 0.5
    assert len(found.verdict.honest) == 2
    assert "95 % interval" not in found.verdict.sentence  # of known groups none either
    assert "interval" not in re.sub(r"<(title|desc).*?</\1>", "", str(verdict_chart(found.verdict)))


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_groups_of_one_row_are_rows(kind):
    table = _patients(30, 5) | {"own": np.arange(150)}
    verdict = report(kind(table), "y", group="own", ignore=["nr"], fast=True).verdict
    assert verdict.known_error is None
    assert verdict.honest == ()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"group": "same"}, "group 'same' has one value in all rows"),
        ({"time": "same"}, "time 'same' has one value in all rows"),
        ({"group": "nrs"}, "group 'nrs' is not a column of the table: did you mean 'nr'?"),
        ({"group": [1, 2]}, "the group has 2 labels for a table of 40 rows"),
        (
            {"time": "text"},
            "^time 'text' is text such as 'a', whose order is .* 2026-11-17T09:30, or give numbers$",
        ),
        ({"group": ["nr", "nr"]}, r"group \['nr', 'nr'\] must name one column or several, each once"),
        ({"copies": "drop"}, "copies must be 'auto' or 'keep', got 'drop'"),
        ({"group": "y"}, "group 'y' is the target"),
    ],
)
def test_wrong_units_are_named(bad, said):
    with pytest.raises(ValueError, match=said.replace("?", r"\?")):
        report({**_patients(10, 4), "same": np.zeros(40), "text": ["a", "b"] * 20}, "y", **bad)


def test_the_command_line_takes_groups_and_time(tmp_path):
    table = _patients(12, 10) | {"day": np.random.default_rng(0).permutation(120)}
    pd.DataFrame(table).to_csv(tmp_path / "t.csv", index=False)
    asked = [
        "report",
        str(tmp_path / "t.csv"),
        "-t",
        "y",
        "--group",
        "nr",
        "--time",
        "day",
        "--fast",
        "--json",
    ]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert found["verdict"]["new_rows"] == "later rows of a new “nr”"
    assert [len(found["verdict"]["honest"]), found["method"]["options"]["time"]] == [3, "day"]


def test_a_guess_for_later_rows_of_new_groups_is_one_for_new_groups():
    """A coin for each of 40 groups, with rows at all times: another class may be larger in new ones."""
    random = np.random.default_rng(0)
    group = np.tile(np.arange(40), 5)
    table = {"x": random.normal(size=200), "g": group, "t": np.arange(200)}
    table["y"] = np.where(group < 22, "yes", "no")
    told = report(table, "y", group="g", time="t", fast=True, reference=False, metric="error").verdict
    assert told.error == pytest.approx(0.5, abs=0.02)
    assert told.low < 0.4 < 0.6 < told.high
