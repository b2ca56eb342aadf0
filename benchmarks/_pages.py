"""``benchmarks/RESULTS.md``, from the recorded results and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import Any

from benchmarks._frame import MEASURED, PROGRAMS, RESULTS, Topic, read

__all__ = ["Loss", "losses", "page", "recorded"]

WRITTEN = "Written by `python -m benchmarks`; do not edit."
CLEARLY = 0.8  # of ours: less is a difference
SECONDS, MEGABYTES = 0.001, 10.0  # and at least so much less
NUMBERS = 0.01  # qualities that are no shares differ by this part of ours

HOW = [
    "In each case ours and the peers do the same work on the same data, in one process per topic. *first*: "
    "wall seconds of the first call, with what a tool compiles or loads only then; imports and "
    "bringing the data into the tool's form are not timed. Code of ours that was compiled before comes from "
    "numba's cache on disk. *wall*, *CPU*: the best of three more calls, each by itself; fewer, in brackets, "
    "where they would take long: with [0] it is the first call. *peak*: the most by which the resident set "
    "of the process, and of what it started, grew in a call. *ratio*: CPU seconds over those of the first of "
    "ours (bold) in the case. What could not be measured is listed with the reason.",
]
CRITERION = (
    f"A peer counts as better where its wall time, CPU time or memory is below {CLEARLY:g} of ours (and by "
    "at "
    f"least {1000 * SECONDS:g} ms or {MEGABYTES:g} MB), or its quality is better by more than noise: by two "
    "binomial standard errors where it is a share of rows or tables, by "
    f"{NUMBERS:.0%} of ours otherwise. Where both times are, the CPU's is told. *Ours* is the first of ours "
    "in the case, with its defaults."
)


def recorded(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """What was measured when a topic was last recorded."""
    path = folder / f"{name}.json"
    return read(path) if path.is_file() else None


# --- losses -------------------------------------------------------------------------------------------


class Loss(dict[str, Any]):
    """A tool of a peer that is better than ours: ``topic, case, tool, peer, better, worse``."""


def losses(topic: Topic, result: Mapping[str, Any]) -> list[Loss]:
    """Every tool of a peer that is better than ours in something, beyond noise; see `CRITERION`."""
    found = []
    for case in result["cases"]:
        ours = _reference(case)
        for theirs in case["measurements"]:
            if ours is None or theirs["status"] != MEASURED or not topic.peers.get(theirs["peer"] or ""):
                continue
            if better := _better(theirs, ours, case):
                worse = _better(ours, theirs, case)
                rest = {"case": case["name"], "tool": theirs["tool"], "peer": theirs["peer"]}
                found.append(Loss(topic=topic.name, better=better, worse=worse, **rest))
    return found


def _reference(case: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The first of ours, if it was measured."""
    ours = next((m for m in case["measurements"] if m["peer"] is None), None)
    return ours if ours and ours["status"] == MEASURED else None


def _better(one: Mapping[str, Any], other: Mapping[str, Any], case: Mapping[str, Any]) -> list[str]:
    """What the first of two measurements is better in, in words."""
    said = []
    for key, name, unit, least in (
        ("wall", "wall", " s", SECONDS),
        ("cpu", "CPU", " s", SECONDS),
        ("peak_mb", "peak", " MB", MEGABYTES),
    ):
        a, b = one[key], other[key]
        if a is not None and b is not None and a < CLEARLY * b and b - a >= least:
            said.append(f"{name} {_number(a)} against {_number(b)}{unit}")
    said = said[1:] if [word.split()[0] for word in said[:2]] == ["wall", "CPU"] else said  # one tells both
    a, b = one["quality"], other["quality"]
    if case["quality"] and a is not None and b is not None:
        ahead = a - b if case["better"] == "higher" else b - a
        if ahead > _noise(b, case["trials"]):
            said.append(f"{case['quality']} {_number(a)} against {_number(b)}")
    return said


def _noise(quality: float, trials: int | None) -> float:
    if trials is None:
        return NUMBERS * abs(quality) + 1e-12
    share = min(max(quality, 0.5 / trials), 1 - 0.5 / trials)  # also of no error in all rows
    return 2 * sqrt(share * (1 - share) / trials)


# --- the page -----------------------------------------------------------------------------------------


def page(topics: Mapping[str, Topic], folder: Path = RESULTS) -> str:
    """``benchmarks/RESULTS.md``, from which ``docs/_site.py`` makes two pages of the site."""
    results = {name: recorded(name, folder) for name in topics}
    lines = [
        "# Us and the peers",
        "",
        WRITTEN + " `make bench` repeats everything, `python -m benchmarks NAME` one topic.",
        "",
        *HOW,
        *_sections(topics, results),
        *_programs(folder),
        "",
        "## Where a peer is better",
        "",
        *_others(topics, results),
    ]
    return "\n".join(lines) + "\n"


def _sections(topics: Mapping[str, Topic], results: Mapping[str, dict[str, Any] | None]) -> list[str]:
    lines = []
    for name, topic in topics.items():
        result = results[name]
        lines += ["", f"## {topic.title}", "", topic.measured]
        if result is None:
            lines += ["", "*Not recorded yet.*"]
            continue
        for figure in result["figures"]:
            lines += ["", f"![{topic.title}](results/{figure})"]
        lines += ["", *_table(result)]
        if topic.summary:
            lines += [line for paragraph in topic.summary(result["cases"]) for line in ("", paragraph)]
        lines += ["", _conditions(result)]
    return lines


def _programs(folder: Path) -> Iterator[str]:
    """What programs with records of their own say of them."""
    for name in PROGRAMS:
        program = import_module(f"benchmarks.{name}")
        if (folder / program.RECORD.name).is_file() and hasattr(program, "summary"):
            yield from ("", f"## {program.TITLE}", "", program.MEASURED, "")
            if hasattr(program, "FIGURE"):
                yield from (f"![{program.TITLE}](results/{program.FIGURE})", "")
            yield "```text"
            yield from program.summary()
            yield from ("```", "", f"`python -m benchmarks {name} --record` goes on where the record ends.")


def _conditions(result: Mapping[str, Any]) -> str:
    versions = ", ".join(
        f"{name} {number or '(not installed)'}" for name, number in result["versions"].items()
    )
    machine = result["machine"]
    load = "" if machine["load_before"] is None else f", load before it {machine['load_before']:.1f}"
    small = "**Small sizes, only to see that it works.** " if result["small"] else ""
    return (
        f"{small}`{result['topic']}`: {result['seconds']:.0f} s on {machine['cores']} cores "
        f"({machine['system']}){load}. {versions}."
    )


def _table(result: Mapping[str, Any]) -> list[str]:
    timed = any(m.get("wall") is not None for case in result["cases"] for m in case["measurements"])
    judged = any(case["quality"] for case in result["cases"])
    if judged and not timed:
        return _qualities(result)
    header = ["case", "tool"]
    header += ["first s", "wall s", "CPU s", "peak MB", "ratio"] if timed else []
    header += ["quality"] if judged else []
    sides = ["---", "---", *["---:"] * (5 * timed + judged)]
    lines = [_row(header), _row(sides)]
    for case in result["cases"]:
        ours = _reference(case)
        direction = f" *({case['quality']}, {case['better']} is better)*" if case["quality"] else ""
        for i, found in enumerate(case["measurements"]):
            title = case["name"] + direction if i == 0 else ""
            tool = f"**{found['tool']}**" if found["peer"] is None else found["tool"]
            if found["status"] != MEASURED:
                reason = f"{tool}: *{found['status']}: {found['reason']}*"
                lines.append(_row([title, reason, *[""] * (len(header) - 2)]))
                continue
            cells = [title, tool]
            if timed:
                few = f" [{found['repeats']}]" if found["wall"] is not None and found["repeats"] < 3 else ""
                cells += [_number(found["first"]), _number(found["wall"]) + few, _number(found["cpu"])]
                cells += [_number(found["peak_mb"], 0), _ratio(found, ours)]
            if judged:
                cells.append(_quality(found))
            lines.append(_row(cells))
    return lines


def _qualities(result: Mapping[str, Any]) -> list[str]:
    """A row for each case and a column for each tool, where nothing but quality was measured."""
    tools = {m["tool"]: m["peer"] for case in result["cases"] for m in case["measurements"]}
    names = [f"**{tool}**" if peer is None else tool for tool, peer in tools.items()]
    lines, kind = [], None
    for case in result["cases"]:
        if (asked := f"*{case['quality']}, {case['better']} is better*") != kind:
            lines += ["", asked, "", _row(["case", *names]), _row(["---", *["---:"] * len(tools)])]
            kind = asked
        found = {m["tool"]: m for m in case["measurements"]}
        lines.append(_row([case["name"], *(_quality(found.get(tool)) for tool in tools)]))
    return lines[1:]


def _quality(found: Mapping[str, Any] | None) -> str:
    if found is None or found["status"] != MEASURED:
        return "" if found is None else f"*{found['status']}: {found['reason']}*"
    return _number(found["quality"]) + (f" ({found['note']})" if found["note"] else "")


def _ratio(found: Mapping[str, Any], ours: Mapping[str, Any] | None) -> str:
    if ours is None or not ours["cpu"] or found["cpu"] is None:
        return "–"
    return _number(found["cpu"] / ours["cpu"], 2)


def _others(topics: Mapping[str, Topic], results: Mapping[str, dict[str, Any] | None]) -> list[str]:
    """What stands on the page of losses: the criterion, then peer by peer; then what was not measured."""
    found = [loss for name, topic in topics.items() if (r := results[name]) for loss in losses(topic, r)]
    lines = [CRITERION]
    for peer in sorted({loss["peer"] for loss in found}, key=str.casefold):
        lines += ["", f"### {peer}"]
        for name, topic in topics.items():
            some = [loss for loss in found if (loss["topic"], loss["peer"]) == (name, peer)]
            if some:
                lines += ["", f"*{topic.title}.* {topic.peers[peer]}", ""]
                lines += [_row(["case", "tool", "it is better", "we are better"]), _row(["---"] * 4)]
                lines += [
                    _row([s["case"], s["tool"], "; ".join(s["better"]), "; ".join(s["worse"]) or "–"])
                    for s in some
                ]
    missing = [
        f"- {topic.title}, {case['name']}, {m['tool']}: {m['status']}: {m['reason']}"
        for name, topic in topics.items()
        if (result := results[name])
        for case in result["cases"]
        for m in case["measurements"]
        if m["status"] != MEASURED
    ]
    return [*lines, "", "### Not measured", "", *(missing or ["Everything was measured."])]


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _number(value: float | None, digits: int = 3) -> str:
    """Significant digits as they are read: no exponents, thousands apart; ``digits`` 0 for whole numbers."""
    if value is None:
        return "–"
    if digits == 0 or abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    if value and abs(value) < 1e-5:
        return f"{value:.1e}"
    shown = f"{value:.{digits}g}"
    if "e" in shown:
        shown = f"{value:.7f}".rstrip("0")
    return shown
