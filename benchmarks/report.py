"""The report beside the reports of others, which answer other questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks._frame import Case, Tool, topic
from benchmarks._learners import attempted
from benchmarks._measure import Quality


def customers(n_rows: int) -> tuple[Any, str]:
    import pandas as pd

    from offsample.datasets import make_customers

    return pd.DataFrame(make_customers(n_rows)), "churned"


def adult() -> tuple[Any, str]:
    from offsample.datasets import load

    return load("adult").table, "target"


def many_values(n_rows: int) -> tuple[Any, str]:
    """21 columns of names, the largest with 10,000 different ones."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    sizes = [2, 5, 10, 20, 50, 100, 200, 300, 500, 700, *range(1000, 11_000, 1000), 1500]
    columns, score = {}, np.zeros(n_rows)
    for i, size in enumerate(sizes):
        codes = rng.choice(size, n_rows, p=rng.dirichlet(np.full(size, 0.5)))
        score += rng.normal(0, 1, size)[codes] * (0.5 if i % 3 == 0 else 0.1)
        columns[f"c{i}"] = np.array([f"v{j}" for j in range(size)], object)[codes]
    return pd.DataFrame({**columns, "y": score + rng.logistic(size=n_rows) > 0}), "y"


def mixed(n_rows: int, n_columns: int) -> tuple[Any, str]:
    """Half numbers, half names of 2 to 1,000 different values; half of all columns say something."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    columns, score = {}, np.zeros(n_rows)
    for i in range(n_columns // 2):
        numbers = rng.normal(size=n_rows)
        score += numbers * rng.normal(0, 0.5) * (i % 2)
        columns[f"n{i}"] = numbers
        size = int(2 * 500 ** rng.random())
        codes = rng.choice(size, n_rows, p=rng.dirichlet(np.full(size, 0.7)))
        score += rng.normal(0, 0.6, size)[codes] * (i % 2)
        columns[f"c{i}"] = np.array([f"v{j}" for j in range(size)], object)[codes]
    return pd.DataFrame({**columns, "y": score + rng.logistic(size=n_rows) > 0}), "y"


def wide(n_rows: int, n_columns: int) -> tuple[Any, str]:
    """Numbers, three of which say something: as in tables of genes."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n_rows, n_columns)).round(4)
    table = pd.DataFrame(numbers, columns=[f"x{i}" for i in range(n_columns)])
    return table.assign(y=numbers[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0), "y"


def ours(data: Callable[[], tuple[Any, str]], **options: Any) -> Callable[[], str]:
    import offsample

    table, target = data()
    return lambda: offsample.report(table, target, **options).to_html()


def skrub(data: Callable[[], tuple[Any, str]]) -> Callable[[], str]:
    from skrub import TableReport

    table, _ = data()
    return lambda: TableReport(table, verbose=0).html()


def skore(data: Callable[[], tuple[Any, str]]) -> Callable[[], str]:
    import skore as package
    from skrub import tabular_pipeline

    table, target = data()
    X, y = table.drop(columns=target), table[target]

    def run() -> str:
        found = package.evaluate(tabular_pipeline("classifier"), X, y, splitter=0.2)
        return str(found.metrics.summarize().frame())

    return run


def page_size(page: str) -> Quality:
    return Quality(len(page.encode()) / 1e6)


@topic(
    "report",
    "Reports",
    "From a frame to a page of HTML. The tools answer different questions: ours, which columns predict the "
    "target off the sample, which mislead, and what a model may be expected to reach; skrub's TableReport, "
    "what is in the columns and which of them are associated (it knows no target); skore's evaluate, how one "
    "given pipeline (here skrub's tabular one, gradient boosting) does on a held-out fifth. So the times say "
    "what each takes on the same table, not which to prefer.",
    peers={
        "skrub": "Use `TableReport` to look at a table that has no target, or before there is one: "
        "distributions, associations, samples of rows, for any frame and in a moment.",
        "skore": "Use it to keep and compare evaluations of pipelines that you have built.",
    },
    packages=("pandas", "skrub", "skore"),
)
def cases(small: bool) -> Iterator[Case]:
    problems: dict[str, Callable[[], tuple[Any, str]]] = (
        {"customers, 300 rows": partial(customers, 300)}
        if small
        else {
            "customers, 5,000 rows": partial(customers, 5000),
            "adult, 48,842 rows": adult,
            "15,000 × 21 names, up to 10,000 values": partial(many_values, 15_000),
            "73,000 × 32": partial(mixed, 73_000, 32),
            "100,000 × 50": partial(mixed, 100_000, 50),
            "300 × 10,000 numbers": partial(wide, 300, 10_000),
        }
    )
    for name, load in problems.items():
        data = attempted(load)
        yield Case(
            name,
            [
                Tool("offsample.report", partial(ours, data), quality=page_size),
                Tool("offsample.report, no ceiling", partial(ours, data, reference=False), quality=page_size),
                Tool("offsample.report, fast", partial(ours, data, fast=True), quality=page_size),
                Tool("offsample.report, 5 s at most", partial(ours, data, time_limit=5), quality=page_size),
                Tool("skrub TableReport", partial(skrub, data), "skrub", page_size),
                Tool("skore evaluate", partial(skore, data), "skore"),
            ],
            "MB of the page",
            "lower",
        )
