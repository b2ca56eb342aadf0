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


def ours(data: Callable[[], tuple[Any, str]], fast: bool) -> Callable[[], str]:
    import offsample

    table, target = data()
    return lambda: offsample.report(table, target, fast=fast).to_html()


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
        else {"customers, 5,000 rows": partial(customers, 5000), "adult, 48,842 rows": adult}
    )
    for name, load in problems.items():
        data = attempted(load)
        yield Case(
            name,
            [
                Tool("offsample.report", partial(ours, data, False), quality=page_size),
                Tool("offsample.report, fast", partial(ours, data, True), quality=page_size),
                Tool("skrub TableReport", partial(skrub, data), "skrub", page_size),
                Tool("skore evaluate", partial(skore, data), "skore"),
            ],
            "MB of the page",
            "lower",
        )
