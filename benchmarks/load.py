"""What many reports, and many processes at once, do: ``python -m benchmarks.load [N_REPORTS] [N_PROCESSES]``.

Prints the memory of one process that makes report after report of small tables, files and tables in memory in
turn; then starts processes at once that compile into one empty cache and write one page, which must be whole.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import offsample

N_ROWS = 120


def many_reports(n_reports: int) -> Iterator[tuple[int, float, int]]:
    """Make reports of small tables; now and then say how many, the memory in MB, and the live objects."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for i in range(1, n_reports + 1):
            table = _table(i)
            if i % 2:
                lines = [
                    ",".join(table),
                    *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
                ]
                path.write_text("\n".join(lines))
            report = offsample.report(path if i % 2 else table, "y", fast=True)
            report.to_html(Path(folder) / "page.html")
            del report
            if i % max(n_reports // 10, 1) == 0:
                gc.collect()
                yield i, resident_memory(), len(gc.get_objects())


def _table(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    x = random.normal(size=N_ROWS).round(3)
    return {
        "x": x,
        "noise": random.normal(size=N_ROWS).round(3),
        "city": random.choice(["Rome", "Oslo", f"city {seed}"], N_ROWS),  # a name of its own every time
        f"column {seed}": np.arange(N_ROWS),
        "y": np.where(x + random.normal(size=N_ROWS) > 0, "yes", "no"),
    }


def resident_memory() -> float:
    """Memory of this process as of now, in MB."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3  # the most so far, elsewhere


def at_once(n_processes: int) -> list[tuple[int, str]]:
    """Start processes at once that compile, and write one page; exit codes and what they said."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
        words = [sys.executable, "-m", "offsample", "report", "--demo", "--fast", "--quiet", "-o"]
        running = [
            subprocess.Popen(
                [*words, str(folder / "page.html")],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(n_processes)
        ]
        ended = [(process.wait(), process.stderr.read()) for process in running if process.stderr]
        page = folder / "page.html"
        if not (page.exists() and page.read_text(encoding="utf-8").rstrip().endswith("</html>")):
            ended.append((1, "the page is not whole"))
        left = [path.name for path in folder.iterdir() if path.name not in ("cache", "page.html")]
        return [*ended, *((1, f"left behind: {name}") for name in left)]


def main(n_reports: int = 1000, n_processes: int = 8) -> int:
    """Print what they do."""
    start = time.perf_counter()
    print(f"{'reports':>8} {'memory':>10} {'objects':>10}")
    for n, memory, objects in many_reports(n_reports):
        print(f"{n:>8,} {memory:>7.1f} MB {objects:>10,}", flush=True)
    print(f"{time.perf_counter() - start:.0f} s")
    start = time.perf_counter()
    ended = at_once(n_processes)
    failed = [said for code, said in ended if code or said.strip()]
    print(f"{n_processes} processes at once, one empty cache, one page: {time.perf_counter() - start:.0f} s")
    print("\n".join(failed) or "all ended well, and the page is whole")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
