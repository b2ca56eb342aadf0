#!/usr/bin/env python
"""Report on tables, and fail where one has a leak, an identifier or copies of rows: for hooks and actions.

    check_tables.py --target churned --fail-on leak,identifier,duplicates data/a.parquet data/b.csv

Options after `--` are passed on to `offsample report`. The exit code is 0 where nothing was found, 3 where a
finding of `--fail-on` was, and another one, such as 2, where a table could not be reported on, which comes
first of several tables. Where files come last, as in a hook, an option is one word: `--report=--seed=1`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Report on each table in turn."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--target", required=True)
    parser.add_argument("--fail-on", default="leak,identifier,duplicates")
    parser.add_argument("--pages", type=Path, help="folder to keep the pages in; by default none is kept")
    parser.add_argument("--report", action="append", default=[], help="an option of the report, as one word")
    given = list(sys.argv[1:] if arguments is None else arguments)
    place = given.index("--") if "--" in given else len(given)
    asked = parser.parse_args(given[:place])
    codes = [0]
    for table in asked.tables:
        command = [sys.executable, "-m", "offsample", "report", str(table), "--target", asked.target]
        command += [
            "--quiet",
            "--fail-on",
            asked.fail_on,
            *([*asked.report, *given[place + 1 :]] or ["--fast"]),
        ]
        if asked.pages is not None:
            asked.pages.mkdir(parents=True, exist_ok=True)
            is_one = [one.name for one in asked.tables].count(table.name) == 1
            name = table.name if is_one else "_".join(table.relative_to(table.anchor).parts)
            command += ["--output", str(asked.pages / f"{name}.html")]
        else:
            command += ["--json"]  # which writes no page
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            said = done.stderr.strip() or f"the report ended with exit code {done.returncode}"
            sys.stderr.write(f"{table}: {said}\n")
        codes.append(done.returncode)
    # What was not looked at is worse than what was found, and the code of a killed report is negative.
    return next((abs(code) for code in codes if code not in (0, 3)), max(codes))


if __name__ == "__main__":
    sys.exit(main())
