"""``python -m papers [NAME …]``: repeat experiments, record them, and write ``papers/RESULTS.md``.

With no name only the page is written, from what was recorded; ``all`` repeats everything. A name may be that
of a paper (``ginger``) or of an experiment (``ginger.fig1``).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from papers._experiments import RESULTS, experiments, record
from papers._verdicts import verdicts_page


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m papers", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    wanted = parser.parse_args(arguments).names
    known = experiments()
    unknown = {name for name in wanted if name != "all"} - set(known) - {name.split(".")[0] for name in known}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    for name, chosen in known.items():
        if chosen.run and {"all", name, name.split(".")[0]} & set(wanted):
            print(f"{name}: {chosen.title}\n\n{record(chosen, RESULTS)}\n", flush=True)
    (Path(__file__).parent / "RESULTS.md").write_text(verdicts_page(known), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
