"""``papers/RESULTS.md``: every table and figure, its claims and our verdicts, from the recorded results."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from papers._experiments import (
    CORRECTED,
    NOT_REPRODUCED,
    PAPERS,
    REPRODUCED,
    RESULTS,
    UNDECIDED,
    Experiment,
)

__all__ = ["recorded", "verdicts_page"]


def recorded(name: str, folder: Path = RESULTS) -> dict[str, Any] | None:
    """What was found when an experiment was last recorded."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def verdicts_page(experiments: dict[str, Experiment], folder: Path = RESULTS) -> str:
    """The page, in Markdown."""
    found = {name: recorded(name, folder) for name in experiments}
    counts = Counter(claim["verdict"] for result in found.values() if result for claim in result["claims"])
    lines = [
        "# The papers, repeated",
        "",
        "Written by `python -m papers --record`; do not edit. `python -m papers NAME` repeats one, prints "
        "its tables and draws its figures.",
        "",
        f"{sum(counts.values())} claims: {counts[REPRODUCED]} reproduced, {counts[CORRECTED]} reproduced "
        f"with a correction, {counts[NOT_REPRODUCED]} not reproduced, {counts[UNDECIDED]} undecided. ± is a "
        "standard error unless it says otherwise.",
    ]
    for module, reference in PAPERS.items():
        lines += ["", f"## {module}", "", reference]
        for name, chosen in experiments.items():
            if name.split(".")[0] == module:
                lines += ["", f"### {name}", "", *_section(chosen, found[name])]
    return "\n".join(lines) + "\n"


def _section(chosen: Experiment, result: dict[str, Any] | None) -> list[str]:
    if chosen.run is None:
        return [f"{chosen.title}. *Cannot be repeated*: {chosen.reason}"]
    if result is None:
        return [f"{chosen.title}. *Not recorded yet.*"]
    links = [f"[tables](results/{chosen.name}.txt)"]
    links += [f"[figure](results/{figure})" for figure in result["figures"]]
    lines = [f"{chosen.title}. {', '.join(links)}; {result['cpu_seconds']:,.0f} CPU s.", ""]
    if result["claims"]:
        lines += ["| claim | paper | here | verdict |", "| --- | --- | --- | --- |"]
    for claim in result["claims"]:
        judged = f"**{claim['verdict']}**" + (f": {claim['why']}" if claim["why"] else "")
        cells = (claim["claim"], claim["printed"], claim["ours"], judged)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines
