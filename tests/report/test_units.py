"""What is left out together, and intervals and comparisons in those units."""

import numpy as np
import pytest

from offsample import _folds
from offsample._proportions import wilson
from offsample.report._study import Options, Study
from offsample.report._units import NewRows, clearly, error_interval, standard_error
from offsample.report.sections._validation import first_as_good, is_better


def _codes(n_groups, n_each):
    return np.repeat(np.arange(n_groups), n_each)


def test_groups_of_one_row_have_the_standard_error_of_rows_and_copies_that_of_one():
    values = np.random.default_rng(0).random(50)
    rows = np.arange(50)
    alone = standard_error(values, NewRows((np.arange(50),)).units(rows))
    assert alone == pytest.approx(values.std(ddof=1) / np.sqrt(50))
    four_times = np.repeat(values, 4)
    together = NewRows((_codes(50, 4),)).units(np.arange(200))
    assert standard_error(four_times, together) == pytest.approx(alone)
    assert standard_error(four_times, None) < alone / 1.9


def test_few_units_need_more_standard_errors():
    assert clearly(2.0, None) == 2.0
    many, few = (NewRows((_codes(n, 2),)).units(np.arange(2 * n)) for n in (1000, 4))
    assert clearly(2.0, many) == pytest.approx(2.0, abs=0.01)
    assert 3 < clearly(2.0, few) < 4  # Student's with three degrees of freedom


def test_intervals_of_rows_are_wilsons_and_of_groups_wider():
    wrong = np.random.default_rng(1).random(600) < 0.3
    assert error_interval(wrong, None) == wilson(wrong.mean(), 600)
    assert error_interval(wrong, None, 5) == wilson(wrong.mean(), round(600 / 2.25))
    in_groups = np.repeat(wrong[:30], 20)
    low, high = error_interval(in_groups, NewRows((_codes(30, 20),)).units(np.arange(600)))
    plain = error_interval(in_groups, None)
    assert low < plain[0] < plain[1] < high
    assert high - low > 3 * (plain[1] - plain[0])


def test_without_an_error_in_ten_groups_the_interval_still_ends_above_a_quarter():
    low, high = error_interval(np.zeros(200, bool), NewRows((_codes(10, 20),)).units(np.arange(200)))
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 10))


def test_words():
    code = np.arange(4) // 2
    assert str(NewRows()) == "new rows"
    assert str(NewRows((code,), names=("id",))) == "rows of a new “id”"
    assert str(NewRows((code, code), names=("user", "item"))) == "rows of a new “user” and a new “item”"
    both = NewRows((code,), code, ("id",))
    assert str(both) == "later rows of a new “id”"
    assert [str(one) for one in both.weaker()] == ["new rows of a known “id”", "rows of a new “id”"]
    assert [str(one) for one in NewRows(time=code).weaker()] == ["rows of the same period"]
    crossed = [str(one) for one in NewRows((code, code), names=("user", "item")).weaker()]
    assert crossed == [
        "new rows of a known “user” and a known “item”",
        "rows of a new “user” and a known “item”",
        "rows of a new “item” and a known “user”",
    ]
    assert "With 2 groups nobody can know" in NewRows((code,), names=("id",)).doubt(np.arange(4))
    assert NewRows((np.arange(10),), names=("id",)).doubt(np.arange(10)) is None
    times = NewRows(time=np.repeat(np.arange(7), 5))
    assert "With 7 times, in 5 parts that earlier rows can predict, nobody" in times.doubt(np.arange(10, 35))


@pytest.mark.parametrize("with_time", [False, True])
def test_crossed_folds_share_neither_user_nor_item_nor_the_future(with_time):
    rng = np.random.default_rng(0)
    user, item, time = rng.integers(0, 20, 500), rng.integers(0, 12, 500), rng.integers(0, 100, 500)
    y = rng.integers(0, 2, 500)
    splits = _folds.shuffled(y, 5, 0, groups=(user, item), time=time if with_time else None)
    assert len(splits) == (20 if with_time else 10)
    tested = np.concatenate([test for _, test in splits])
    assert len(np.unique(tested)) == len(tested)
    for train, test in splits:
        assert not set(user[train]) & set(user[test])
        assert not set(item[train]) & set(item[test])
        assert not with_time or time[train].max() < time[test].min()
    if not with_time:  # what is left are the rows of the other four parts of both
        assert 0.4 < np.mean([len(train) for train, _ in splits]) / 500 < 0.85


def test_folds_of_a_study_hold_back_whole_groups_and_test_all_rows():
    group = np.random.default_rng(0).permutation(_codes(30, 10))
    study = Study({"x": np.arange(300.0), "g": group, "y": np.arange(300) % 2}, "y", Options(group=("g",)))
    assert all(not set(group[train]) & set(group[test]) for train, test in study.folds)
    assert study.tested.tolist() == list(range(300))
    assert "g" not in study.X


def test_later_blocks_are_tested_and_the_guess_is_that_of_the_past():
    time = np.random.default_rng(0).permutation(120)
    y = np.where(time < 60, "a", "b")  # what was most frequent never comes again
    study = Study({"x": np.arange(120.0), "t": time, "y": y}, "y", Options(time="t"))
    assert time[study.tested].min() == 20
    assert study.majority_error == pytest.approx(60 / 100)
    assert np.array_equal(study.guess_is_wrong, time[study.tested] >= 60)


def test_nested_groups_are_the_coarsest_and_missing_targets_are_left_out():
    school = _codes(6, 20)
    y = np.array(["a", "b"] * 60, dtype=object)
    y[[3, 50]] = None
    pupil = np.arange(120) // 2
    study = Study(
        {"x": np.arange(120.0), "pupil": pupil, "school": school, "y": y},
        "y",
        Options(group=("pupil", "school")),
    )
    assert study.new_rows.names == ("school",)
    assert np.array_equal(study.new_rows.groups[0], np.delete(school, [3, 50]))


def test_a_difference_that_two_groups_make_is_not_clear():
    group = _codes(20, 50)
    study = Study({"x": np.arange(1000.0), "g": group, "y": np.arange(1000) % 2}, "y", Options(group=("g",)))
    rival = study.guess_is_wrong
    better = rival & (group > 1)  # no mistakes in two groups, the same in all others
    assert is_better(rival, better.astype(float))
    assert not is_better(rival, better.astype(float), study)
    everywhere = rival & (np.arange(1000) % 10 > 0)
    everywhere[::7] = rival[::7]
    assert first_as_good(study, np.stack([rival, everywhere]), 1) == (
        1 if is_better(rival, everywhere.astype(float), study) else 0
    )


def test_large_tables_are_sampled_by_whole_groups():
    group = np.random.default_rng(0).permutation(_codes(100, 20))
    table = {"x": np.arange(2000.0), "g": group, "y": np.arange(2000) % 2}
    study = Study(table, "y", Options(group=("g",), max_rows=500))
    assert len(study.y) == 500
    assert np.bincount(study.new_rows.groups[0]).tolist() == [20] * 25
