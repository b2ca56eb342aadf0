"""Duplicates: rows that were written more than once."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from offsample.report import report
from offsample.report._study import Options, Study
from offsample.report.findings import duplicates
from tests.rows.generators import few_valued, five_times


def _five_times(seed=0):
    columns, y = five_times(np.random.default_rng(seed))
    return {**columns, "y": y}


@pytest.fixture(scope="module")
def copied():
    return report(_five_times(), "y", fast=True)


def test_copies_are_found_counted_and_left_out_together(copied):
    assert (copied.rows.n_duplicates, copied.rows.n_conflicting) == (1200, 0)
    assert [(f.code, f.column) for f in copied.rows.findings] == [("duplicates", None)]
    assert copied.rows.copies_left_out
    assert copied.verdict.low < 0.5 < copied.verdict.high
    assert not copied.verdict.beats_baseline
    as_rows, as_copies = copied.verdict.honest
    assert as_rows.error < 0.45 < as_copies.error
    assert copied.verdict.known_error is None


def test_the_page_says_what_was_done_and_how_to_overrule_it(copied):
    for text in (copied.to_html(), copied.to_markdown()):
        assert "--keep-copies" in text
        assert "every row occurs 5 times" in text


def test_what_guessing_does_in_these_rows_is_told_from_what_it_does_in_new_ones(copied):
    """Both are of the same class: of new rows another may be the most frequent."""
    verdict, text = copied.verdict, copied.to_markdown()
    assert verdict.baseline_error < verdict.error
    assert "| the same class, in these rows |" in text
    assert "always guessing the most frequent class |" not in text


def test_columns_are_judged_without_the_copies_of_a_row(copied):
    assert not any(column.significant for column in copied.columns.columns)
    assert all(column.error > 0.4 for column in copied.columns.columns)


def test_copies_count_once():
    """Copies of one class alone, as oversampling makes them, change neither its share nor the guess."""
    random = np.random.default_rng(1)
    table = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc"))
    table["y"] = np.where(random.random(300) < 0.1, "1", "0")
    copied = pd.concat([table, *[table[table.y == "1"]] * 12]).sample(frac=1, random_state=1)
    found = report(copied, "y", fast=True, metric="error")
    n_rare = int((table.y == "1").sum())
    assert found.class_counts == (300 - n_rare, n_rare)
    assert found.rows.n_duplicates == 12 * n_rare
    assert [found.verdict.error, found.verdict.baseline_error] == pytest.approx([n_rare / 300] * 2)
    assert [finding.code for finding in found.rows.findings] == ["duplicates"]
    assert "each row counts once" in found.to_markdown()


@pytest.mark.parametrize(
    ("n_same", "said"), [(0, "60 of 360 rows equal an"), (40, "rows equal an earlier one, and 20 do")]
)
def test_copies_in_another_class_are_found(n_same, said):
    random = np.random.default_rng(5)
    x, y = random.normal(size=(3, 300)), random.integers(0, 2, 300)
    again = np.append(np.arange(300), np.arange(60))
    turned = np.append(y, np.append(y[:n_same], 1 - y[n_same:60]))
    study = Study({**{f"x{j}": column[again] for j, column in enumerate(x)}, "y": turned}, "y", Options())
    assert (study.repeats.n_duplicates, study.repeats.n_conflicting) == (n_same, 60 - n_same)
    assert said in duplicates.find(study)[None].message
    assert "in all columns but the target" in duplicates.find(study)[None].message


def test_kept_copies_are_rows():
    study = Study(_five_times(), "y", Options(copies="keep"))
    study.group_copies()
    assert not study.new_rows
    assert list(duplicates.find(study)) == [None]


def test_natural_repeats_are_counted_and_kept():
    columns, y = few_valued(np.random.default_rng(3))
    study = Study({**columns, "y": y}, "y", Options())
    study.group_copies()
    assert study.repeats.n_duplicates > 0
    assert not study.new_rows
    assert duplicates.find(study) == {}


@pytest.mark.parametrize("form", ["in memory", "lazy", "file"])
def test_equal_rows_are_counted_in_the_whole_table(form, tmp_path):
    """Of which models see a sixth."""
    random = np.random.default_rng(5)
    table = pd.DataFrame({"a": random.integers(0, 30, 3000), "b": random.choice(list("uvwxyz"), 3000)})
    table["y"] = random.choice(["no", "yes"], 3000)
    source = {"in memory": table, "lazy": pl.from_pandas(table).lazy(), "file": tmp_path / "t.parquet"}[form]
    if form == "file":
        table.to_parquet(source)
    rows = report(source, "y", fast=True, max_rows=500).rows
    n_distinct = len(table.drop_duplicates())
    assert rows.n_rows == 3000
    assert rows.n_duplicates == table.duplicated().sum()
    assert rows.n_conflicting == n_distinct - len(table[["a", "b"]].drop_duplicates())
    part = report(table, "y", fast=True, max_rows=500, time_limit=1e-3).rows
    assert part.n_rows == 500
