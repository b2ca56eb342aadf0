"""Tables that a stranger broke the questions about rows with."""

import numpy as np
import pandas as pd
import pytest

from offsample import rank_features, report
from offsample.report._study import Options, Study
from offsample.report.findings import duplicates


@pytest.fixture
def copied():
    """Noise, every row five times, shuffled."""
    random = np.random.default_rng(4)
    noise = pd.DataFrame({name: random.normal(size=300) for name in "abcd"}).assign(
        y=random.integers(0, 2, 300)
    )
    return noise.loc[random.permutation(np.repeat(np.arange(300), 5))].reset_index(drop=True)


def test_what_names_each_row_hides_no_copies(copied):
    found = report(copied.assign(number=np.arange(1500)), "y", fast=True)
    assert found.rows.copies_left_out
    assert found.rows.n_duplicates == 0  # no two rows are equal in all columns
    assert any("1,200" in sentence for sentence in found.rows.sentences)
    assert found.verdict.low < 0.5 < found.verdict.high


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("key", [f"k{i}" for i in range(1500)]),
        ("when", pd.date_range("2026-01-01", periods=1500, freq="min")),
        ("when", pd.date_range("2026-01-01", periods=1500, freq="37min")),
        ("day", pd.date_range("2024-01-01", periods=1500).strftime("%Y-%m-%d")),
        ("day", pd.date_range("2024-01-01", periods=500).repeat(3)),
        ("pulse", np.random.default_rng(0).normal(size=1500)),
        ("pulse", np.random.default_rng(0).normal(size=1500).round(3)),
        ("number", np.arange(1500) + 0.5),
    ],
)
def test_what_copies_differ_in_hides_none_of_them(copied, name, column):
    """Whether as written, or a tenth of them with a class by coin."""
    random = np.random.default_rng(1)
    coins = np.where(random.random(1500) < 0.1, random.integers(0, 2, 1500), copied["y"])
    for table in (copied, copied.assign(y=coins)):
        study = Study(table.assign(**{name: column}), "y", Options())
        assert (study.repeats.are_copies, study.repeats.apart_from) == (True, (name,))
        assert study.repeats.group.max() == 299
    study.group_copies()
    assert study.new_rows.are_copies


@pytest.mark.parametrize("named", [False, True])
def test_rows_of_one_product_are_copies_only_if_their_classes_are_alike(named):
    """Where a number names it, they are rows of that number."""
    random = np.random.default_rng(2)
    product = random.permutation(np.repeat(np.arange(100), 8))
    table = {name: random.normal(size=100)[product] for name in "abc"} | (
        {"product": product} if named else {}
    )
    sold = random.random(800) < random.choice([0.4, 0.6], 100)[product]
    study = Study({**table, "y": sold.astype(int)}, "y", Options())
    assert (study.repeats.are_copies, study.repeats.are_conflicts) == (False, not named)
    alike = random.integers(0, 2, 100)[product] ^ (random.random(800) < 0.1)
    assert Study({**table, "y": alike}, "y", Options()).repeats.are_copies != named


def test_rows_that_differ_are_no_copies_beside_a_number():
    """Few-valued columns repeat by nature, whatever names the rows."""
    random = np.random.default_rng(6)
    table = {name: random.choice(list("uvw"), 900) for name in "abc"}
    table |= {"size": random.integers(0, 9, 900).astype(float), "number": np.arange(900)}
    assert not report({**table, "y": random.integers(0, 2, 900)}, "y", fast=True).rows.copies_left_out


def test_groups_are_part_of_a_row(copied):
    table = copied.assign(visit=copied.groupby(list(copied)).cumcount())
    assert report(table, "y", group="visit", fast=True).rows.n_duplicates == 0
    assert report(table.drop(columns="visit"), "y", fast=True).rows.n_duplicates == 1200


def test_the_second_error_of_a_suspected_group_is_without_its_column():
    """Numbers that follow the class tell it of patients between two known ones, and of no new one."""
    random = np.random.default_rng(7)
    sick = np.sort(random.integers(0, 2, 80))
    who = np.repeat(np.arange(80), 12)
    table = pd.DataFrame({"patient": who, "town": random.integers(0, 8, 80)[who].astype(str)})
    table["age"], table["pulse"] = random.integers(20, 90, 80)[who], random.normal(size=960)
    found = report(table.assign(sick=sick[who] ^ (random.random(960) < 0.1)), "sick", fast=True)
    assert found.rows.suspected_groups == ("patient",)
    assert found.verdict.error < 0.2
    assert "patient" in found.verdict.columns
    assert found.verdict.asked[0].error > 0.4


def test_a_date_along_which_a_column_turns_round_is_suspected():
    random = np.random.default_rng(8)
    day, v = np.sort(random.integers(0, 600, 3000)), random.choice(["low", "high"], 3000)
    y = np.where((v == "low") ^ (day > 400) ^ (random.random(3000) < 0.1), "a", "b")
    when = pd.Timestamp("2026-01-01") + pd.to_timedelta(day, unit="D")
    found = report({"when": when, "v": v, "noise": random.normal(size=3000), "y": y}, "y", fast=True)
    assert found.rows.suspected_times[0] == "when"
    assert found.verdict.error < 0.15  # with the date as a number, in any order
    assert found.verdict.asked[0].high > 0.2
    assert any("v" in f.message for f in found.rows.findings if f.code == "suspected_time")


@pytest.mark.parametrize("form", ["%d/%m/%Y", "%m/%d/%Y", "%d %b %Y"])
def test_times_in_text_are_those_of_dates_and_refused_where_their_order_is_not_known(form):
    when, y = pd.date_range("2025-10-01", periods=200, freq="D"), ["c", "d", "d", "c"] * 50
    table = {"when": list(when.strftime(form)), "v": ["a", "b"] * 100, "y": y}
    as_dates = rank_features({**table, "when": when.to_numpy()}, "y", time="when")
    assert rank_features(table, "y", time="when")["v"].error == as_dates["v"].error
    if "%m" in form:
        few = {
            name: [one for one, day in zip(column, when, strict=True) if day.day < 13]
            for name, column in table.items()
        }
        with pytest.raises(ValueError, match=r"time 'when' is text such as .* write dates as 2026-11-17"):
            rank_features(few, "y", time="when")


def test_times_in_text_that_do_sort_are_those_of_numbers_and_dates():
    random = np.random.default_rng(9)
    when = pd.date_range("2025-10-01", periods=300, freq="D")
    table = {"v": random.choice(list("ab"), 300), "y": random.choice(list("cd"), 300)}
    numbers = [str(i) for i in range(300)]
    errors = {
        rank_features(table, "y", time=time)["v"].error for time in (when, list(when.astype(str)), numbers)
    }
    assert len(errors) == 1


def test_labels_of_groups_may_be_a_list_of_text():
    random = np.random.default_rng(10)
    table = {"v": random.choice(list("ab"), 200), "y": random.choice(list("cd"), 200)}
    labels = [f"p{i // 5}" for i in range(200)]
    by_list, by_array = (rank_features(table, "y", group=group)["v"] for group in (labels, np.array(labels)))
    assert by_list.error == by_array.error


def test_copies_in_a_sampled_table_are_left_out_without_a_time_limit():
    rng = np.random.default_rng(0)
    once = pd.DataFrame(
        {"a": rng.normal(size=400), "b": rng.normal(size=400), "y": rng.choice(["p", "q"], 400)}
    )
    table = pd.concat([once] * 5, ignore_index=True)
    found = report(table, "y", fast=True, max_rows=600)
    assert found.rows.n_duplicates == 1600
    assert found.rows.copies_left_out
    assert any("modelled" in why for why in found.method.skipped)


@pytest.mark.parametrize(("times", "is_copied"), [(5, True), (1, False)])
def test_copies_are_found_where_the_sample_has_few_of_them(times, is_copied):
    """Two thousand rows of few values, five times each: of 250 modelled ones hardly any are copies."""
    rng = np.random.default_rng(0)
    once = pd.DataFrame({name: rng.integers(0, 12, 2000).astype(str) for name in "abcd"})
    once["y"] = rng.choice(["p", "q"], 2000)
    once = once.drop_duplicates()
    table = pd.concat([once] * times, ignore_index=True)
    study = Study(table, "y", Options(fast=True, max_rows=250))
    study.group_copies()
    assert study.repeats.are_copies == study.new_rows.are_copies == is_copied
    found = duplicates.find(study)
    beside = once.duplicated(list("abcd")).sum()  # with the other class
    assert [f.message for f in found.values()] == [
        f"{4 * len(once):,} of {5 * len(once):,} rows equal an earlier one, and {beside} do in all columns "
        "but the target: every row occurs 5 times, or a multiple of it."
    ] * is_copied


def test_a_model_of_weekdays_takes_dates_as_text():
    rng = np.random.default_rng(2)
    when = pd.date_range("2021-01-01", periods=700, freq="13h")
    y = np.where((when.day_of_week >= 5) ^ (rng.random(700) < 0.1), "yes", "no")
    table = pd.DataFrame({"when": when, "y": y, "x": rng.normal(size=700)})
    model = report(table, "y", time="when", fast=True).estimator
    as_text = table.assign(when=table["when"].dt.strftime("%Y-%m-%dT%H:%M:%S"))
    assert "when: weekday" in model.columns
    assert (model.predict(as_text) == model.predict(table)).all()
    assert model.predict(table.iloc[:0]).shape == (0,)
    with pytest.warns(UserWarning, match=r"column 'when': 700 of 700 values cannot be read as dates"):
        unread = model.predict(table.assign(when="01/02/2020"))
    assert (unread == model.predict(table.assign(when=None))).all()


def test_a_perfect_column_among_many_is_evident_with_few_groups():
    rng = np.random.default_rng(3)
    group, y = np.repeat(np.arange(20), 30), rng.integers(0, 2, 600)
    table = {f"noise{j}": rng.normal(size=600) for j in range(25)} | {
        "copy": y.astype(str),
        "y": y,
        "g": group,
    }
    ranking = rank_features(table, "y", group="g")
    assert [feature.name for feature in ranking if feature.significant] == ["copy"]
