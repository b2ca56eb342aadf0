"""The repository stays light: what git tracks, and one file for each picture."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from papers._files import HEAVIEST_SVG

ROOT = Path(__file__).parent.parent
PICTURES = [
    path
    for folder in ("papers/results", "benchmarks/results", "docs/images")
    for path in (ROOT / folder).iterdir()
    if path.suffix not in (".json", ".txt")
]


def test_a_picture_is_there_once():
    assert {path.suffix for path in PICTURES} == {".svg", ".png"}
    twice = [stem for stem, n in Counter(path.with_suffix("").name for path in PICTURES).items() if n > 1]
    assert twice == []


def test_no_picture_is_heavy():
    assert [path.name for path in PICTURES if path.stat().st_size > HEAVIEST_SVG] == []


def test_what_git_tracks_is_below_seven_megabytes():
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"not in a git repository: {error}")
    if "pyproject.toml" not in (paths := listed.stdout.split("\0")):
        pytest.skip("unpacked inside another repository")
    sizes = {path: (ROOT / path).stat().st_size for path in paths if (ROOT / path).is_file()}
    heaviest = sorted(sizes, key=lambda path: -sizes[path])[:5]
    assert sum(sizes.values()) < 7_000_000, f"the heaviest: {heaviest}"
