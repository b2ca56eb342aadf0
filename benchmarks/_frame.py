"""A topic is a list of cases; in each, tools do the same work on the same data, in one process.

A module of this package registers its generator of cases with :func:`topic`. ``python -m benchmarks`` runs
each topic in a fresh process and records what every tool took, or why there is no number.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks._measure import PATIENCE, REPEATS, Quality
from papers._files import draw, write

__all__ = [
    "FAILED",
    "MEASURED",
    "NOT_INSTALLED",
    "PROGRAMS",
    "RESULTS",
    "TOO_SLOW",
    "TOPICS",
    "Case",
    "Tool",
    "Topic",
    "read",
    "record",
    "topic",
    "topics",
]

RESULTS = Path(__file__).parent / "results"
MEASURED, NOT_INSTALLED, FAILED, TOO_SLOW = "measured", "not installed", "failed", "too slow"
# Of a tool that was measured but not timed, what is not written.
_BLANK: dict[str, Any] = {
    "status": MEASURED,
    **dict.fromkeys(("peer", "first", "wall", "cpu", "peak_mb")),
    "repeats": 0,
    "note": "",
    "details": [],
}
_KEYS = ("tool", "quality", "peer", "note", "cpu", "wall", "first", "peak_mb", "repeats", "details")
PACKAGES = ("offsample", "numpy", "numba", "scipy", "scikit-learn")

# In the order of the page; each is a module of this package.
TOPICS = (
    "counting",
    "ranking",
    "ranking_order",
    "rare_signals",
    "regression",
    "margin",
    "trees",
    "stochastic_trees",
    "stochastic_tables",
    "rules",
    "lists",
    "imbalanced",
    "expected_error",
    "optimism",
    "report",
    "engines",
    "groups",
    "scaling",
)
# Programs whose records grow over several runs: ``python -m benchmarks NAME``, with words of their own.
PROGRAMS = ("readable", "tuned_leaves", "selection", "error_intervals")


@dataclass(frozen=True)
class Tool:
    """Somebody's way to do the work of a case.

    Attributes
    ----------
    name : str
        As the table shows it.
    prepare : callable
        Imports what is needed and brings the data into the tool's form, untimed; returns the call to time.
    peer : str or None
        Whose it is, a key of ``Topic.peers``; None for ours. The first of ours in a case is what ratios and
        the losses refer to.
    quality : callable, optional
        How good the result of a call is.
    timed : bool
        Whether seconds and memory mean anything; otherwise the call is made once.
    repeats : int
    """

    name: str
    prepare: Callable[[], Callable[[], Any]]
    peer: str | None = None
    quality: Callable[[Any], float | Quality] | None = None
    timed: bool = True
    repeats: int = REPEATS


@dataclass(frozen=True)
class Case:
    """The same work on the same data for several tools.

    Attributes
    ----------
    name : str
    tools : sequence of Tool
    quality : str
        What the number is that says how good a result is; "" where all results are the same.
    better : {"higher", "lower", ""}
    trials : int, optional
        How many rows or tables the quality is a share of; otherwise it is not a share.
    sizes : mapping
        Numbers to draw curves by.
    """

    name: str
    tools: Sequence[Tool]
    quality: str = ""
    better: str = ""
    trials: int | None = None
    sizes: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if bool(self.quality) != bool(self.better) or self.better not in ("higher", "lower", ""):
            raise ValueError(f"{self.name}: a quality needs a direction, higher or lower, and the reverse")


@dataclass(frozen=True)
class Topic:
    """Cases about one kind of work.

    Attributes
    ----------
    name : str
        Of its module.
    title : str
    measured : str
        What is measured, in a sentence or two.
    cases : callable
        From whether sizes are to be small (to see that it works) to the cases.
    peers : mapping
        When to use each peer instead of us, in a sentence; a peer with none is no tool to use (a lower limit
        of the time, say), and is never called better.
    packages : sequence of str
        Distributions whose versions matter, beside `PACKAGES`.
    patience, limit : float
        Seconds after which no repeat is begun, and after which a tool is stopped.
    summary : callable, optional
        From the recorded cases to paragraphs below the table.
    figures : callable, optional
        From the recorded cases to matplotlib figures by name.
    """

    name: str
    title: str
    measured: str
    cases: Callable[[bool], Iterator[Case]]
    peers: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    patience: float = PATIENCE
    limit: float = 300.0
    summary: Callable[[list[dict[str, Any]]], list[str]] | None = None
    figures: Callable[[list[dict[str, Any]]], dict[str, Any]] | None = None


_REGISTRY: dict[str, Topic] = {}


def topic(name: str, title: str, measured: str, **options: Any) -> Callable[[Any], Any]:
    """Register a generator of cases, ``cases(small)``, as the topic ``name``."""

    def register(cases: Callable[[bool], Iterator[Case]]) -> Callable[[bool], Iterator[Case]]:
        _REGISTRY[name] = Topic(name, title, measured, cases, **options)
        return cases

    return register


def topics() -> dict[str, Topic]:
    """All of them, in the order of the page."""
    for name in TOPICS:
        import_module(f"benchmarks.{name}")
    return {name: _REGISTRY[name] for name in TOPICS}


def record(
    chosen: Topic, folder: Path = RESULTS, *, small: bool = False, module: str | None = None
) -> dict[str, Any]:
    """Measure a topic in a fresh process and write ``name.json`` and its figures.

    A tool that takes longer than the limit is stopped, with its process; so is one that takes the process
    with it. What it was is recorded, and a new process goes on with the next tool.
    """
    started, load = time.perf_counter(), os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    cases: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        journal = Path(scratch) / "journal.jsonl"
        journal.touch()
        begin = 0
        while begin is not None:
            begin = _run_worker(chosen, journal, begin, small, module or f"benchmarks.{chosen.name}")
        for line in journal.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if entry["event"] == "case":
                if not any(case["name"] == entry["case"]["name"] for case in cases):
                    cases.append({**entry["case"], "measurements": []})
            elif entry["event"] == "done":
                next(c for c in cases if c["name"] == entry["case"])["measurements"].append(entry["found"])
    figures = chosen.figures(cases) if chosen.figures else {}
    folder.mkdir(parents=True, exist_ok=True)
    found = {
        "topic": chosen.name,
        "small": small,
        "seconds": round(time.perf_counter() - started, 1),
        "machine": {
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.machine()}",
            "load_before": load,
        },
        "versions": {"python": platform.python_version(), **_versions((*PACKAGES, *chosen.packages))},
        "figures": [draw(figure, folder / name) for name, figure in figures.items()],
        "cases": cases,
    }
    write(folder / f"{chosen.name}.json", written(found))
    return found


def written(found: dict[str, Any]) -> str:
    """A record as text, without what a tool that was not timed has nothing to say of."""
    cases = [
        {**case, "measurements": [_without_blanks(one) for one in case["measurements"]]}
        for case in found["cases"]
    ]
    return json.dumps({**found, "cases": cases}, ensure_ascii=False, separators=(",", ":")) + "\n"


def _without_blanks(one: dict[str, Any]) -> list[Any] | dict[str, Any]:
    """What was measured, in the order of `_KEYS`, as far as there is something; else with its reason."""
    if one["status"] != MEASURED or {*one} - {*_KEYS, "status"}:
        return one
    values = [None if one.get(key) == _BLANK.get(key) else one[key] for key in _KEYS]
    return values[: max(i for i, value in enumerate(values) if value is not None) + 1]


def _as_measured(one: list[Any] | dict[str, Any]) -> dict[str, Any]:
    if isinstance(one, list):
        one = {key: value for key, value in zip(_KEYS, one, strict=False) if value is not None}
    return one if one.get("status", MEASURED) != MEASURED else {**_BLANK, "quality": None, **one}


def read(path: Path) -> dict[str, Any]:
    """The record that was written."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for case in found["cases"]:
        case["measurements"] = [_as_measured(one) for one in case["measurements"]]
    return found


def _run_worker(chosen: Topic, journal: Path, begin: int, small: bool, module: str) -> int | None:
    """Measure from the ``begin``-th tool on; where a new process has to go on, None if there is no need."""
    command = [sys.executable, "-m", "benchmarks._worker", module, chosen.name, str(journal), str(begin)]
    process = subprocess.Popen(
        [*command, "small" if small else "full"], cwd=Path(__file__).parent.parent, start_new_session=True
    )
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(0.2)
                break
            running = _unfinished(journal)
            if running and time.time() - running["at"] > chosen.limit:
                return _give_up(journal, running, TOO_SLOW, f"more than {chosen.limit:g} s")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with whatever it started
        process.wait()
    running = _unfinished(journal)
    if running:
        return _give_up(journal, running, FAILED, f"the process ended with code {code}")
    if code:
        raise RuntimeError(f"{chosen.name} ended with code {code} outside of any tool")
    return None


def _unfinished(journal: Path) -> dict[str, Any] | None:
    """The tool that was begun last, if it has not been recorded."""
    lines = journal.read_text(encoding="utf-8").splitlines()
    entry = json.loads(lines[-1]) if lines else {"event": ""}
    return entry if entry["event"] == "start" else None


def _give_up(journal: Path, running: dict[str, Any], status: str, reason: str) -> int:
    found = {"tool": running["tool"], "peer": running["peer"], "status": status, "reason": reason}
    entry = {"event": "done", "case": running["case"], "found": found}
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    return int(running["index"]) + 1


def _versions(packages: Sequence[str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    return found
