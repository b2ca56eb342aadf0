"""Compiled code where it cannot be kept, is damaged, or is written by several processes at once."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import offsample
from offsample._kernels import _WithoutGarbage

SOURCE = Path(offsample.__file__).parent
COUNT = """
import numpy as np
from offsample import _kernels
counts = np.zeros((2, 2), np.int32)
_kernels.count_into(np.array([0, 1, 1]), np.array([0, 1, 1], np.{kind}), counts)
print(counts.tolist())
"""


def run(code: str, package: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "default", *(["-c", code] if "\n" in code else code.split())],
        # Where it is kept does not depend on how well it was compiled, which takes longest.
        env={**_without_caches(), "NUMBA_OPT": "0", "PYTHONPATH": str(package.parent), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def _without_caches() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}


@pytest.fixture
def read_only_package(tmp_path):
    """A copy of the package beside which nothing can be written, not even by root."""
    package = tmp_path / "offsample"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for directory in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (directory / "__pycache__").write_text("a file where a directory would be")
    return package


NOWHERE = {"HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null", "LOCALAPPDATA": "/dev/null"}


@pytest.mark.skipif(os.name == "nt", reason="directories that nobody can write are made otherwise there")
def test_a_command_runs_where_nothing_can_be_written(read_only_package, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,y\n" + "".join(f"{i},{'ab'[i > 20]}\n" for i in range(40)))
    done = run(f"-m offsample tree {table} --target y", read_only_package, **NOWHERE)
    assert done.returncode == 0, done.stderr
    assert "x <= 20.5" in done.stdout
    assert done.stderr.count("compiled code cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    kept = tmp_path / "kept"
    done = run(COUNT.format(kind="int64"), read_only_package, **NOWHERE, NUMBA_CACHE_DIR=str(kept))
    assert (done.stdout, done.stderr) == ("[[1, 0], [0, 2]]\n", "")
    assert list(kept.rglob("*.nbc"))


def test_a_disk_that_is_full_ends_nothing(tmp_path):
    full = """
from numba.core.caching import IndexDataCacheFile
def save(self, key, data):
    raise OSError(28, "No space left on device")
IndexDataCacheFile.save = save
"""
    done = run(full + COUNT.format(kind="int64"), SOURCE, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "[[1, 0], [0, 2]]\n"
    assert done.stderr.count("compiled code cannot be kept") == 1


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_damaged_files_are_made_again(tmp_path, pattern):
    for _ in range(3):
        done = run(COUNT.format(kind="int64"), SOURCE, NUMBA_CACHE_DIR=str(tmp_path))
        assert (done.stdout, done.stderr) == ("[[1, 0], [0, 2]]\n", "")
        (path,) = (path for path in tmp_path.rglob(pattern) if path.stat().st_size > 10)  # whole again
        path.write_bytes(path.read_bytes()[:10])


def test_code_that_another_process_wrote_meanwhile_is_not_taken_for_ones_own(tmp_path):
    """Two processes, both of which saw no index, compile different signatures of one kernel."""
    meanwhile = f"""
import subprocess, sys
from numba.core.caching import IndexDataCacheFile
load, began = IndexDataCacheFile._load_index, []
def load_then_wait(self):
    found = load(self)
    if began == [1]:  # in `save`: the index was read, and is not written yet
        began.append(2)
        subprocess.run([sys.executable, "-c", {COUNT.format(kind="int32")!r}], check=True)
    began.append(1)
    return found
IndexDataCacheFile._load_index = load_then_wait
"""
    done = run(meanwhile + COUNT.format(kind="int64"), SOURCE, NUMBA_CACHE_DIR=str(tmp_path))
    assert done.stderr == ""
    assert (
        len({path.read_bytes() for path in tmp_path.rglob("*.nbc")})
        == len(list(tmp_path.rglob("*.nbc")))
        == 2
    )
    for kind in ("int32", "int64"):
        done = run(COUNT.format(kind=kind), SOURCE, NUMBA_CACHE_DIR=str(tmp_path))
        assert (done.stdout, done.stderr) == ("[[1, 0], [0, 2]]\n", "")


def test_all_kernels_are_compiled_by_the_one_decorator():
    users = [path for path in SOURCE.rglob("*.py") if "numba import" in path.read_text(encoding="utf-8")]
    assert [path for path in users if path != SOURCE / "_kernels.py"] == []


def test_garbage_is_looked_for_again_when_all_is_compiled():
    was_enabled, told = gc.isenabled(), _WithoutGarbage()
    for before in (True, False):
        (gc.enable if before else gc.disable)()
        told.on_start(None)
        told.on_start(None)  # one function within another
        told.on_end(None)
        assert not gc.isenabled()
        told.on_end(None)
        assert gc.isenabled() == before
    (gc.enable if was_enabled else gc.disable)()
