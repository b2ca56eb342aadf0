"""How the report was made, and how to make it again."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from offsample import __version__
from offsample.report._study import Study
from offsample.tables import Source

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "narwhals", "duckdb")


@dataclass(frozen=True)
class Method:
    """What is needed to reproduce the report."""

    version: str  # of offsample
    python: str
    packages: dict[str, str]  # versions of what computed something
    seed: int
    options: dict[str, Any]  # everything that was asked for
    command: str  # makes the same report again, on the command line or in Python
    created: str  # ISO 8601, UTC
    timings: dict[str, float]  # seconds of each stage
    skipped: tuple[str, ...]  # what was left out, and why
    source: Source | None = None  # the files that were read, and their rows; None for a table in memory


def describe(study: Study, command: str) -> Method:
    """Note what the report was made with, after everything else is done."""
    return Method(
        version=__version__,
        python=platform.python_version(),
        packages={name: found for name in _PACKAGES if (found := _version(name))},
        seed=study.options.random_state,
        options=asdict(study.options),
        command=command,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        timings=dict(study.timings),
        skipped=tuple(dict.fromkeys([*study.ranking.left_out, *study.skipped])),
        source=study.origin,
    )


@cache  # reading it takes as long as a small table
def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
