"""Command lines for every verb, and what must hold of any run of them."""

from __future__ import annotations

import json
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from hostile import HostileTable, hostile_tables
from hypothesis import strategies as st
from typer.testing import CliRunner

from offsample.cli import app

Options = st.SearchStrategy[list[str]]


def _one_of(*options: str) -> Options:
    """Mostly none of the options, otherwise one of them: a run that is refused says little."""
    return st.integers(0, 9).flatmap(
        lambda draw: st.just([]) if draw < 7 else st.sampled_from([option.split(" ") for option in options])
    )


def _numbers(name: str) -> Options:
    values = [
        "0",
        "1",
        "-1",
        "0.5",
        "1.5",
        "nan",
        "inf",
        "-inf",
        "1e308",
        "5e-324",
        "1000",
        "9223372036854775807",
    ]
    return _one_of(*(f"{name} {value}" for value in values))


def _several(*options: Options) -> Options:
    return st.tuples(*options).map(lambda parts: [word for part in parts for word in part])


_READING = _several(_one_of("--engine polars", "--engine duckdb"), _one_of("--json"))
_MODEL = _several(_one_of("--max-rows 5", "--max-rows 1", "--max-rows -1"), _one_of("--seed 7", "--seed -1"))

# What each verb takes besides a table and, but for `columns`, a target.
OF_TABLES: dict[str, Options] = {
    "columns": _several(
        _READING, _MODEL, _one_of("--types a=number", "--types a=date:dmy", "--types a=", "--types nothing")
    ),
    "rank": _several(
        _READING,
        _one_of("--criterion gini_error", "--criterion gain_ratio", "--criterion no_such"),
        _one_of("--order estimate", "--order lower_bound"),
        _numbers("--confidence"),
    ),
    "select": _several(_READING, _MODEL, _one_of("--method simba", "--method gflip")),
    "tree": _several(
        _READING, _MODEL, _one_of("--max-splits 2", "--max-splits -1", "--svg {folder}/tree.svg")
    ),
    "rules": _several(
        _READING,
        _MODEL,
        _one_of(*(f"--kind {kind}" for kind in ("dnf", "monomial", "program", "committee", "symmetric"))),
        _one_of("--literals 2", "--literals 0", "--max-size 3"),
    ),
    "forecast": _several(_READING, _MODEL, _one_of("--splits 1", "--splits 0 --splits 30", "--splits -1")),
    "report": _several(
        _READING,
        _one_of("--sample 5", "--seed 3"),
        st.sampled_from(["html", "md"]).map(
            lambda kind: ["--fast", "--quiet", "-o", f"{{folder}}/page.{kind}"]
        ),
    ),
}
OF_NUMBERS: dict[str, Options] = {
    "audit": _several(
        st.sampled_from(
            ["--accuracy .9"] * 4 + ["--error .1", "--accuracy nan", "--accuracy 2", "--error -inf"]
        ).map(str.split),
        st.sampled_from(["--n-test 500"] * 4 + ["--n-test 1", "--n-test 0", "--n-test -1"]).map(str.split),
        _numbers("--configurations"),
        _numbers("--baseline"),
        _numbers("--confidence"),
        _one_of("--classes 0", "--classes 3"),
        _one_of("--json"),
    ),
    "plan": _several(
        st.sampled_from(
            [
                ["--rows", "1000", "--configurations", "20"],
                ["--n-test", "300", "--configurations", "inf"],
                ["--n-test", "9223372036854775807", "--precision", "0.05"],
                ["--configurations", "1e308", "--precision", "1e-9"],
                ["--rows", "0", "--precision", "nan"],
                ["--n-test", "-1", "--configurations", "-inf"],
                [],
            ]
        ),
        _numbers("--expected-error"),
        _numbers("--confidence"),
        _one_of("--json"),
    ),
}
# Takes no table and no numbers.
# `predict` needs a model that was saved, `schema` takes nothing: tests/cli and tests/report.
NOT_HERE = frozenset({"predict", "reproduce", "schema"})


def verbs() -> set[str]:
    """All that the command line has."""
    return {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }


class Wrong(AssertionError):
    """A run that broke a promise; `key` tells different ones apart."""

    def __init__(self, key: str, said: str) -> None:
        super().__init__(f"{key}\n{said}")
        self.key = key


def runs(verb: str) -> st.SearchStrategy[tuple[str, HostileTable | None, list[str]]]:
    """Runs of a verb: a table and options."""
    if verb in OF_TABLES:
        return st.tuples(st.just(verb), hostile_tables(), OF_TABLES[verb])
    tables = st.one_of(st.none(), hostile_tables()) if verb == "audit" else st.none()
    return st.tuples(st.just(verb), tables, OF_NUMBERS[verb])


def check(verb: str, table: HostileTable | None, options: list[str]) -> int:
    """Run a command, and raise `Wrong` where it does what none should; return its exit code."""
    with tempfile.TemporaryDirectory(prefix="fuzz") as name:
        folder = Path(name)
        words = [verb]
        if table is not None:
            words.append(str(table.write(folder)))
            if verb in OF_TABLES and verb != "columns":
                words += ["--target", table.target]
        words += [word.replace("{folder}", name) for word in options]
        code = run(words)
        for path in folder.glob("page.*"):
            check_page(verb, path.suffix, path.read_text(encoding="utf-8"))
        return code


def run(words: list[str]) -> int:
    """Run a command line, and raise `Wrong` where its output is not what it should be."""
    result = CliRunner().invoke(app, words)
    _check_result(words[0], words, result)
    return int(result.exit_code)


def _check_result(verb: str, words: list[str], result: Any) -> None:
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise Wrong(f"{verb}: {_place(result.exception)}", repr(result.exception)) from result.exception
    if result.exit_code not in (0, 2):
        said = result.stderr.strip()[-500:]
        raise Wrong(f"{verb}: exit {result.exit_code}: {_shape(said)}", said)
    if result.exit_code == 2 and not any(s in result.stderr for s in ("offsample: ", "Usage")):
        raise Wrong(f"{verb}: exit 2 without a sentence", result.output[-500:])
    if result.exit_code == 0 and "--json" in words and "-o" not in words:
        _strict_json(verb, result.stdout)
    shown = result.stdout + result.stderr
    for character in shown:
        if (
            (ord(character) < 32 and character not in "\n\t")
            or 127 <= ord(character) < 160
            or character in _BIDI
        ):
            raise Wrong(f"{verb}: prints what a terminal obeys", f"{character!r} in {shown[-2000:]!r}")


_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"


def _place(error: BaseException) -> str:
    """Where in our code an error came from."""
    place, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if "offsample" in file and "site-packages" not in file:
            place = f"{Path(file).name}:{trace.tb_frame.f_code.co_name}"
        trace = trace.tb_next
    return f"{type(error).__name__} in {place}"


def _shape(said: str) -> str:
    """A message without what differs from run to run."""
    return "".join("#" if c.isdigit() else c for c in said)[:120]


def _strict_json(verb: str, text: str) -> None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise Wrong(f"{verb}: not JSON", f"{error}: {text[:500]!r}") from error


class _Tags(HTMLParser):
    """Finds what a stranger's name must not become."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.n_scripts = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.n_scripts += tag == "script"
        if tag in ("img", "iframe", "object", "embed", "link", "base", "form"):
            self.found.append(tag)
        for name, value in attributes:
            if name.startswith("on") or (value or "").strip().lower().startswith(
                ("javascript:", "data:text")
            ):
                self.found.append(f"{tag} {name}={value}")


def check_page(verb: str, suffix: str, text: str) -> None:
    """Raise `Wrong` where a file is not what its name says, or a name became a part of it."""
    if suffix == ".json":
        _strict_json(verb, text)
    elif suffix == ".html":
        tags = _Tags()
        tags.feed(text)
        if tags.found or tags.n_scripts > _PAGE_SCRIPTS:
            raise Wrong(f"{verb}: a page with strangers", f"{tags.found} and {tags.n_scripts} scripts")


_PAGE_SCRIPTS = 1


def describe(verb: str, table: HostileTable | None, options: list[str]) -> str:
    """A run, as one would write it down."""
    return f"{verb} {options} on {table!r}"
