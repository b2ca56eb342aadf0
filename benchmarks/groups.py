"""Rows that belong together: what counting by groups costs, and who tells that they do belong together.

deepchecks does not import beside a new scikit-learn. In an environment of its own, with ``deepchecks`` and
``scikit-learn<1.6``, ``python -m benchmarks.groups`` prints what it says of the same tables, and in how long.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._frame import Case, Tool, topic
from benchmarks._measure import Quality
from benchmarks.engines import spark_session

INTEGERS = (2, 5, 20, 100, 1000, 10_000, 100_000)
STRINGS = (2, 10, 100, 1000, 10_000, 100_000)
OF_GROUPS = (3, 50, 5000, 100_000)
TRUTH = 0.5  # the error on new patients, and on rows that are no copies: all labels are flips of a coin


def write_parquet(path: Path, n_rows: int) -> None:
    """Twenty columns: integers, strings, some constant within groups, two of fractions; ten rows a group."""
    import duckdb

    n_groups = n_rows // 10
    columns = [f"(hash(i + {c * 1000003}) % {c})::INT AS i{c}" for c in INTEGERS]
    columns += [f"'word ' || (hash(i + {c * 1000033}) % {c}) AS s{c}" for c in STRINGS]
    columns += [f"(hash(g + {c * 1000003}) % {c})::INT AS g{c}" for c in OF_GROUPS]
    columns += ["'town ' || (hash(g + 5) % 500) AS town", "(hash(i + 1) % 1000003) / 1000003 AS fraction"]
    columns += ["((hash(g) % 1000) + (hash(i + 2) % 500)) / 1500 AS level"]
    label = "((hash(g + 7) % 100) + (hash(i + 3) % 50) > 75)::INT AS y"
    rows = f"SELECT i, hash(i * 31) % {n_groups} AS g FROM range({n_rows}) t(i)"
    query = f"SELECT {', '.join(columns)}, g::INT AS who, {label} FROM ({rows})"
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def rank(path: str, how: str, group: str | None) -> Callable[[], Any]:
    """Rank the twenty columns, from the file or from a frame that was read before."""
    import pyarrow.parquet as pq

    from offsample import rank_features

    features = [name for name in pq.read_schema(path).names if name not in ("who", "y")]
    table: Any = path
    if how == "pandas":
        import pandas as pd

        table = pd.read_parquet(path)
    elif how == "spark":
        table = spark_session().read.parquet(path)
    return lambda: rank_features(table, "y", features=features, group=group)


def rank_small(
    n_rows: int, n_columns: int, n_classes: int, n_groups: int, by_group: bool
) -> Callable[[], Any]:
    """Rank columns of noise, in turn of fractions and of 5 to 1000 values."""
    from offsample import rank_features

    random = np.random.default_rng(0)
    most = (0, 5, 20, 100, 1000)
    table: dict[str, Any] = {
        f"x{j}": random.integers(0, most[j % 5], n_rows) if j % 5 else random.normal(size=n_rows).round(3)
        for j in range(n_columns)
    }
    table["y"] = np.char.add("class ", random.integers(0, n_classes, n_rows).astype(str))
    group = np.arange(n_rows) if n_groups == n_rows else random.integers(0, n_groups, n_rows)
    return lambda: rank_features(table, "y", group=group if by_group else None)


def rank_categories(n_rows: int, n_values: int, kind: str, by_group: bool) -> Callable[[], Any]:
    """Rank twenty columns of categories, ten rows a group: integers are counted as they are, text is read."""
    from offsample import rank_features

    random = np.random.default_rng(0)
    names = np.arange(n_values) if kind == "integers" else np.array([f"word {i}" for i in range(n_values)])
    table: dict[str, Any] = {f"x{j}": names[random.integers(0, n_values, n_rows)] for j in range(20)}
    table["y"] = random.integers(0, 2, n_rows)
    group = random.integers(0, n_rows // 10, n_rows) if by_group else None
    return lambda: rank_features(table, "y", categorical_features="all", group=group)


def category_ranking(n_rows: int, n_values: int, kind: str) -> Case:
    run = partial(rank_categories, n_rows, n_values, kind)
    return Case(
        f"ranking 20 columns of {n_values:,} {kind} in memory, {n_rows:,} rows, {n_rows // 10:,} groups",
        [Tool("offsample, rows alone", partial(run, False)), Tool("offsample, groups", partial(run, True))],
    )


def small_ranking(n_rows: int, n_columns: int, n_classes: int, n_groups: int) -> Case:
    run = partial(rank_small, n_rows, n_columns, n_classes, n_groups)
    columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
    return Case(
        f"ranking {columns} of {n_rows:,} rows, {n_classes} classes, {n_groups:,} groups",
        [Tool("offsample, rows alone", partial(run, False)), Tool("offsample, groups", partial(run, True))],
    )


def ranking(path: str, n_rows: int, how: str, shown: str) -> Case:
    return Case(
        f"ranking 20 columns of {n_rows:,} rows, {shown}",
        [
            Tool(f"offsample, {shown}, rows alone", partial(rank, path, how, None)),
            Tool(f"offsample, {shown}, {n_rows // 10:,} groups", partial(rank, path, how, "who")),
        ],
    )


# --- who warns, who estimates again ----------------------------------------------------------------------

Table = tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]  # columns, classes, and who the rows are of


def patients(with_number: bool, n_patients: int = 60, n_visits: int = 40) -> Table:
    """Visits of patients, whose label is the flip of a coin; age and town are theirs, pulse is measured."""
    random = np.random.default_rng(0)
    patient = np.repeat(np.arange(n_patients), n_visits)
    towns = np.array([f"town {i}" for i in range(12)])
    columns = {
        "patient": patient,
        "age": random.integers(20, 90, n_patients)[patient],
        "town": random.choice(towns, n_patients)[patient],
        "pulse": random.normal(70, 8, len(patient)),
    }
    if not with_number:
        del columns["patient"]
    return columns, random.integers(0, 2, n_patients)[patient], patient


def copies(n_rows: int = 400, n_times: int = 5) -> Table:
    """Noise, every row five times."""
    random = np.random.default_rng(1)
    row = random.permutation(np.repeat(np.arange(n_rows), n_times))
    columns = {f"x{j}": random.normal(size=n_rows)[row] for j in range(4)}
    return columns, random.integers(0, 2, n_rows)[row], row


def told(answer: tuple[float, str]) -> Quality:
    """How far the error that was told is from the truth."""
    error, warned = answer
    return Quality(abs(error - TRUTH), f"tells {error:.0%}; {warned}")


def ours(table: Table) -> Callable[[], tuple[float, str]]:
    """Ask for the report, and say nothing about the rows."""
    import offsample

    columns, y, _ = table

    def run() -> tuple[float, str]:
        report = offsample.report({**columns, "y": y}, "y")
        said = [f"asks about {name!r}" for name in report.rows.suspected_groups]
        said += [f"{one.error:.0%} on {one.label}" for one in report.verdict.asked]
        said += [f"quarantines {one.column!r}" for one in report.verdict.quarantined]
        said += ["leaves copies out together"] * report.rows.copies_left_out
        return report.verdict.error, ", ".join(said) or "does not warn"

    return run


def numbers(table: Table) -> np.ndarray:
    """The columns as numbers, towns by their codes."""
    found = (np.unique(v, return_inverse=True)[1] if v.dtype.kind == "U" else v for v in table[0].values())
    return np.column_stack(list(found)).astype(float)


def tree_errors(table: Table, by_group: bool) -> float:
    from sklearn.model_selection import GroupKFold, KFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    _, y, group = table
    x = numbers(table)
    folds = GroupKFold(5) if by_group else KFold(5, shuffle=True, random_state=0)
    who = group if by_group else None
    return 1 - float(
        cross_val_score(DecisionTreeClassifier(random_state=0), x, y, groups=who, cv=folds).mean()
    )


def sklearn_tree(table: Table, by_group: bool) -> Callable[[], tuple[float, str]]:
    tree_errors(table, by_group)
    said = "estimates by groups if told which" if by_group else "does not warn"
    return lambda: (tree_errors(table, by_group), said)


def deepchecks(table: Table) -> Callable[[], tuple[float, str]]:
    import pandas as pd
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.checks import DataDuplicates

    columns, y, _ = table
    texts = [name for name, values in columns.items() if values.dtype.kind == "U"]
    data = Dataset(pd.DataFrame({**columns, "y": y}), label="y", cat_features=texts)

    def run() -> tuple[float, str]:
        share = float(DataDuplicates().run(data).value)
        warned = f"finds {share:.0%} duplicates" if share > 0.01 else "does not warn"
        return tree_errors(table, False), f"{warned}, leaves the estimate"

    return run


def suite_of_deepchecks(table: Table) -> list[str]:
    """Checks of the suite of data integrity that did not pass."""
    import pandas as pd
    from deepchecks.tabular import Dataset
    from deepchecks.tabular.suites import data_integrity

    columns, y, _ = table
    texts = [name for name, values in columns.items() if values.dtype.kind == "U"]
    data = Dataset(pd.DataFrame({**columns, "y": y}), label="y", cat_features=texts)
    return [one.check.name() for one in data_integrity().run(data).get_not_passed_checks()]


def cleanlab(table: Table) -> Callable[[], tuple[float, str]]:
    import contextlib
    import io

    from cleanlab import Datalab

    y, x = table[1], numbers(table)
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)

    def run() -> tuple[float, str]:
        with contextlib.redirect_stdout(io.StringIO()):
            lab = Datalab({"X": scaled, "y": y}, label_name="y")
            lab.find_issues(features=scaled, issue_types={"non_iid": {}, "near_duplicate": {}})
        issues = lab.get_issues()
        share = float(issues["is_near_duplicate_issue"].mean())
        is_odd = bool(issues["is_non_iid_issue"].any())
        warned = [f"{share:.0%} near duplicates"] * (share > 0.01) + ["rows not independent"] * is_odd
        said = f"warns: {', '.join(warned)}" if warned else "does not warn"
        return tree_errors(table, False), f"{said}; leaves the estimate"

    return run


def warnings_of(name: str, table: Table) -> Case:
    tools = [
        Tool("offsample, unasked", partial(ours, table), quality=told),
        Tool("tree, KFold", partial(sklearn_tree, table, False), "scikit-learn", told),
        Tool("tree, GroupKFold", partial(sklearn_tree, table, True), "scikit-learn", told),
        Tool("DataDuplicates, and a tree", partial(deepchecks, table), "deepchecks", told),
        Tool("non-iid and near duplicates, and a tree", partial(cleanlab, table), "cleanlab", told),
    ]
    return Case(name, tools, "distance of the error told from 50 %, the truth", "lower")


def summary(cases: list[dict[str, Any]]) -> list[str]:
    """Say how many times longer groups take."""
    said = []
    for case in cases:
        times = [m["cpu"] for m in case["measurements"] if m["status"] == "measured" and m["cpu"]]
        if case["name"].startswith("ranking") and len(times) == 2:
            said.append(f"{case['name']}: {times[1] / times[0]:.1f} times the CPU seconds with groups")
    return ["; ".join(said) + "."] if said else []


@topic(
    "groups",
    "Rows that belong together",
    "Ranking twenty columns (integers and strings of 2 to 100,000 values, fractions, some constant within "
    "groups) for new groups of ten rows, beside the ranking of rows alone: in memory, by DuckDB from one "
    "Parquet file, and on Spark; columns of categories, of which integers are the worst case, as rows alone "
    "take one pass over them; and small tables of noise. Then tables of coin flips on which a tree seems to "
    "predict: visits of 60 patients, with and without their number as a column, and noise with every row "
    "five times. Who warns, who estimates again, at what cost?",
    peers={
        "scikit-learn": "Use `GroupKFold` for a model of any library, once you know what the groups are.",
        "deepchecks": "Use it for suites of checks on data and models in production.",
        "cleanlab": "Use it to find wrong labels, outliers and near duplicates by a model's predictions.",
    },
    packages=("pandas", "polars", "duckdb", "pyarrow", "pyspark", "deepchecks", "cleanlab"),
    patience=20.0,
    summary=summary,
)
def cases(small: bool) -> Iterator[Case]:
    with tempfile.TemporaryDirectory() as folder:
        for n_rows, how, shown in (
            (1_000_000, "pandas", "in memory"),
            (1_000_000, "duckdb", "DuckDB"),
            (20_000, "spark", "Spark"),
        ):
            n_rows = 3000 if small else n_rows
            path = Path(folder) / f"{how}.parquet"
            write_parquet(path, n_rows)
            yield ranking(str(path), n_rows, how, shown)
    for n_rows in (2000,) if small else (1_000_000, 10_000):
        for n_values, kind in ((10, "integers"), (1000, "integers"), (1000, "words")):
            yield category_ranking(n_rows, n_values, kind)
    for shape in ((900, 1, 40, 90), (3000, 10, 2, 300), (2000, 5, 2, 2000), (100_000, 20, 2, 5000)):
        if not small or shape[0] < 100_000:
            yield small_ranking(*shape)
    for name, table in (of_coin_flips(20, 12, 80) if small else of_coin_flips()).items():
        yield warnings_of(name, table)


def of_coin_flips(n_patients: int = 60, n_visits: int = 40, n_copied: int = 400) -> dict[str, Table]:
    """Tables on which a tree seems to predict."""
    visits = f"{n_patients} patients × {n_visits} visits, a coin flip each, their number is"
    return {
        f"{visits} a column": patients(True, n_patients, n_visits),
        f"{visits} no column": patients(False, n_patients, n_visits),
        "noise, every row five times": copies(n_copied),
    }


if __name__ == "__main__":
    import time

    for name, table in of_coin_flips().items():
        for run in (deepchecks(table), partial(suite_of_deepchecks, table)):
            run()
            start = time.process_time()
            print(f"{name}: {run()}, {time.process_time() - start:.2f} CPU s", flush=True)
