"""How time and memory grow with rows and columns, from 10³ to 10⁷ rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks._frame import MEASURED, Case, Tool, topic
from benchmarks.margin import sample
from benchmarks.ranking import CARDINALITIES, by_mutual_information, by_polars, ranked

N_LEAVES = 50


def codes_frame(n_rows: int, n_columns: int) -> Any:
    """Noise columns of 2 to 10⁵ values."""
    import pandas as pd

    rng = np.random.default_rng(0)
    columns = {
        f"c{j}": rng.integers(0, CARDINALITIES[j % 10], n_rows, dtype=np.int32) for j in range(n_columns)
    }
    return pd.DataFrame(columns | {"y": rng.integers(0, 2, n_rows)})


def numbers(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    return X, (signal + 0.7 * rng.normal(size=n_rows) > 0).astype(int)


def our_tree(data: tuple[Any, Any]) -> Callable[[], Any]:
    from offsample.induction import TreeClassifier

    return lambda: TreeClassifier(max_splits=N_LEAVES - 1).fit(*data)


def cart(data: tuple[Any, Any]) -> Callable[[], Any]:
    from sklearn.tree import DecisionTreeClassifier

    return lambda: DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0).fit(*data)


def lightgbm(data: tuple[Any, Any]) -> Callable[[], Any]:
    from lightgbm import LGBMClassifier

    options = {"n_estimators": 1, "num_leaves": N_LEAVES, "learning_rate": 1, "verbose": -1, "n_jobs": 1}
    return lambda: LGBMClassifier(**options).fit(*data)


def margin(name: str, data: tuple[Any, Any]) -> Callable[[], Any]:
    import offsample

    options: dict[str, Any] = (
        {"n_neighbors": 10} if name == "Relief" else {"n_restarts": 1, "random_state": 0}
    )
    return lambda: getattr(offsample, name)(**options).fit(*data)


def ranking_case(along: str, n_rows: int, n_columns: int) -> Case:
    frame = codes_frame(n_rows, n_columns)
    tools = [Tool("offsample rank_features", partial(ranked, frame))]
    if n_columns <= 1000:
        tools.append(Tool("polars lazy group_by (counts only)", partial(by_polars, frame), peer="polars"))
        if n_rows <= 1_000_000:
            run = partial(by_mutual_information, frame, False)
            tools.append(Tool("scikit-learn mutual_info_classif", run, peer="scikit-learn"))
    return _case("ranking", along, n_rows, n_columns, tools)


def tree_case(along: str, n_rows: int, n_columns: int) -> Case:
    data = numbers(n_rows, n_columns)
    tools = [Tool("offsample TreeClassifier", partial(our_tree, data))]
    if n_rows * n_columns <= 1_000_000:
        tools.append(Tool("scikit-learn tree", partial(cart, data), peer="scikit-learn"))
    if n_rows <= 1_000_000:
        tools.append(Tool("LightGBM, one tree", partial(lightgbm, data), peer="LightGBM"))
    return _case("a tree of 50 leaves", along, n_rows, n_columns, tools)


def margin_case(along: str, n_rows: int, n_columns: int) -> Case:
    data = sample(n_rows, n_columns)
    tools = [Tool(f"offsample {name}", partial(margin, name, data)) for name in ("Relief", "Simba", "GFlip")]
    return _case("margins", along, n_rows, n_columns, tools)


def _case(work: str, along: str, n_rows: int, n_columns: int, tools: list[Tool]) -> Case:
    title = f"{work} along {along}: {n_rows:,} × {n_columns:,}"
    return Case(title, tools, sizes={"rows": n_rows, "columns": n_columns})


# --- slopes --------------------------------------------------------------------------------

Series = dict[str, tuple[list[float], list[float]]]


def series(cases: list[dict[str, Any]], along: str, key: str) -> dict[str, Series]:
    """Per work and tool: the sizes along an axis, and what was measured."""
    found: dict[str, Series] = {}
    for case in cases:
        work, _, axis = case["name"].split(":")[0].partition(" along ")
        for one in case["measurements"] if axis == along else ():
            if one["status"] == MEASURED and one[key]:
                sizes, values = found.setdefault(work, {}).setdefault(one["tool"], ([], []))
                sizes.append(case["sizes"][along])
                values.append(one[key])
    return found


def slope(sizes: list[float], values: list[float]) -> float:
    """Of the last three points on log axes: 1 is linear."""
    return float(np.polyfit(np.log(sizes[-3:]), np.log(values[-3:]), 1)[0])


def slopes(cases: list[dict[str, Any]]) -> list[str]:
    lines = []
    for along in ("rows", "columns"):
        said = [
            f"{work}: "
            + ", ".join(
                f"{tool} {slope(*points):.2f}" for tool, points in tools.items() if len(points[0]) > 1
            )
            for work, tools in series(cases, along, "cpu").items()
        ]
        if said:
            lines.append(
                f"Slope of log CPU seconds against log {along}, the three largest sizes (1 is linear): "
                f"{'; '.join(said)}."
            )
    return lines


@topic(
    "scaling",
    "Growth with rows and columns",
    "CPU time and memory as tables grow: ranking columns of 2 to 100,000 values, a tree of 50 leaves on "
    "numbers, and the margin-based selectors, whose distances between all rows grow with the square.",
    peers={
        "polars": "Its group-by grows as ours and needs no Python per column: use it for counts alone.",
        "scikit-learn": "On a thousand rows its tree is the quickest: ours prepares estimates of the error "
        "that pay only if they are used.",
        "LightGBM": "On small tables a single tree takes it less time, without an estimate of its error.",
    },
    packages=("pandas", "polars", "lightgbm"),
    patience=5.0,
    summary=slopes,
)
def cases(small: bool) -> Iterator[Case]:
    if small:
        for n_rows in (200, 1000):
            yield ranking_case("rows", n_rows, 5)
            yield tree_case("rows", n_rows, 5)
        for n_columns in (5, 10):
            yield ranking_case("columns", 100, n_columns)
            yield margin_case("columns", 60, n_columns)
        return
    for n_rows in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        yield ranking_case("rows", n_rows, 10)
    for n_rows in (1000, 10_000, 100_000, 1_000_000, 10_000_000):
        yield tree_case("rows", n_rows, 10)
    for n_rows in (500, 1000, 2000, 4000):
        yield margin_case("rows", n_rows, 100)
    for n_columns in (10, 100, 1000, 10_000):
        yield ranking_case("columns", 1000, n_columns)
    for n_columns in (10, 100, 1000):
        yield tree_case("columns", 10_000, n_columns)
    for n_columns in (50, 100, 200, 400):
        yield margin_case("columns", 1000, n_columns)
