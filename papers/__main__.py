"""``python -m papers [NAME …]``: List, repeat or record the papers' tables and figures.

With no name all of them are listed. A name is that of an experiment (``ginger.fig1``), of a paper
(``ginger``), or ``all``; without ``--output`` or ``--record`` nothing is written.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from papers._experiments import RESULTS, Experiment, experiments, record
from papers._reproduce import reproduce
from papers._verdicts import verdicts_page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m papers", description=" ".join(__doc__.replace("``", "").split(": ", 1)[1].split())
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="list is what is done with no name")
    parser.add_argument("--output", "-o", type=Path, metavar="FOLDER", help="write tables and figures there")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep what is found in papers/results, and write papers/RESULTS.md (with no name, only that)",
    )
    options = parser.parse_args(arguments)
    try:
        known = experiments()
        wanted = _wanted(options.names, known)
        if not options.record:
            _print(wanted or ["list"], options.output, options.json)
            return 0
    except (ImportError, OSError, ValueError) as error:  # an unknown name; a package or data set not there
        parser.error(str(error))
    for name in wanted:
        print(f"{name}: {known[name].title}\n\n{record(known[name], RESULTS)}\n", flush=True)
    (Path(__file__).parent / "RESULTS.md").write_text(verdicts_page(known), encoding="utf-8")
    return 0


def _wanted(names: list[str], known: dict[str, Experiment]) -> list[str]:
    """Names of experiments; of a paper, those that can be repeated (the others, when named, say why)."""
    unknown = {*names} - {"all", "list"} - {*known} - {name.split(".")[0] for name in known}
    if unknown:
        raise ValueError(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return [
        name
        for name, chosen in known.items()
        if name in names or (chosen.run and {"all", name.split(".")[0]} & {*names})
    ]


def _print(names: list[str], output: Path | None, as_json: bool) -> None:
    found = []
    for name in names:
        result, text = reproduce(name, output)
        found.append(result)
        if not as_json:
            print(text if len(names) == 1 else f"{name}: {text}\n", flush=True)
    if as_json:
        print(json.dumps(found if len(found) > 1 else found[0], indent=2))


if __name__ == "__main__":
    sys.exit(main())
