"""``python -m benchmarks [NAME …]``: measure topics, record them, and write ``benchmarks/RESULTS.md``.

With no name only the page is written, from what was recorded; ``all`` measures everything. ``--small``
takes small sizes, to see that everything works, and records nothing. ``tuned_leaves``, ``selection`` and
``error_intervals``, named first, take what follows them as their own; see there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks._frame import PROGRAMS, RESULTS, record, topics
from benchmarks._pages import page


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in PROGRAMS:
        import_module(f"benchmarks.{words[0]}").main(words[1:])
        return 0
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--without", nargs="*", default=[], help="topics to leave out of all")
    parser.add_argument("--small", action="store_true", help="small sizes; nothing is recorded")
    options = parser.parse_args(words)
    known = topics()
    unknown = {*options.names, *options.without} - set(known) - {"all"}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join([*known, *PROGRAMS])}, all")
    seconds: dict[str, float] = {}
    broken: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, chosen in known.items():
            if {"all", name} & set(options.names) and name not in options.without:
                folder = Path(scratch) if options.small else RESULTS
                try:
                    seconds[name] = record(chosen, folder, small=options.small)["seconds"]
                except RuntimeError as error:  # what was recorded before stays, and the others go on
                    broken.append(str(error))
    for name, taken in seconds.items():
        print(f"{name:<20} {taken:>7.1f} s")
    print(f"{'all of these':<20} {sum(seconds.values()):>7.1f} s")
    if not options.small:
        (Path(__file__).parent / "RESULTS.md").write_text(page(known), encoding="utf-8")
    for problem in broken:
        print(problem)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
