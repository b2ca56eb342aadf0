"""``docs/llms.txt``: a line about each page, and every public name: ``python -m docs._llms`` writes it."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from docs import _site
from docs._pages import DOCS, api_modules, navigation

_IN_OUR_WORDS = {
    "papers.md": "Every table and figure of the papers: its claims, the printed numbers, ours, and verdicts.",
    "contributing.md": "How the code is built, its tests and its habits.",
}


def llms_text() -> str:
    """The whole file."""
    lines = [
        "# offsample",
        "",
        "> Choices of supervised learning on tables - which column, split, feature set, model size, tuned",
        "> configuration - made by an estimate of the error off the sample. A Python library in the",
        "> conventions of scikit-learn, a command line, and a report in one HTML file.",
        "",
        "Classes and numbers. Tables come in as they are: numpy, dicts, pandas, polars, pyarrow, DuckDB,",
        "Spark, Dask, ibis, Parquet and CSV paths; strings and missing values need no encoding. Start with",
        "`offsample report TABLE --target COLUMN`, or `offsample.report(table, target=...)`.",
    ]
    for section, entries in navigation().items():
        lines += ["", f"## {section}", ""]
        lines += [f"- [{title}]({page}): {_first_sentence(page)}" for title, page in entries]
    lines += ["", "## Public names"]
    for module in api_modules():
        package = importlib.import_module(module)
        lines += ["", f"### {module}", "", _summary(package), ""]
        lines += [_entry(name, getattr(package, name)) for name in package.__all__]
    return "\n".join(lines) + "\n"


def _first_sentence(page: str) -> str:
    if page in _IN_OUR_WORDS:
        return _IN_OUR_WORDS[page]
    source = _site.pages().get(page) or (DOCS / page).read_text(encoding="utf-8")
    paragraphs = re.sub(r"```.*?```", "", source, flags=re.DOTALL).split("\n\n")
    text = next(p for p in map(str.strip, paragraphs) if p and not p.startswith(("#", "|", "!", "::", "<")))
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(text.split())).replace("*", "")
    return text if len(text) <= 200 else text[:197].rsplit(" ", 1)[0] + " …"


def _entry(name: str, value: Any) -> str:
    if not (inspect.isfunction(value) or inspect.isclass(value)):
        return f"- `{name}`"
    try:
        parameters = [p for p in inspect.signature(value).parameters if p != "self"]
    except ValueError:  # of a type that is none of ours
        parameters = []
    return f"- `{name}({', '.join(parameters)})`: {_summary(value)}"


def _summary(value: Any) -> str:
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    (DOCS / "llms.txt").write_text(llms_text(), encoding="utf-8")
