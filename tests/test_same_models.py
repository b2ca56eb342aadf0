"""The same model, order and numbers on every processor: see `same_models.py`, which is run here."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

_SCRIPT = Path(__file__).with_name("same_models.py")
_WIDE = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
_NEWEST = [name for name in _WIDE if "AVX512" in name or name == "X86_V4"]

# What numpy, numba, OpenBLAS and the C library each have to be told so that they use no wide instructions.
# Without fused multiplication and addition, logarithms and exponentials end in other bits too.
_NARROW = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(_WIDE),
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Nehalem",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable",
}
_CONFIGURATIONS = {
    "as it is": {},
    "narrow": _NARROW,
    "older, two threads": {
        "NPY_DISABLE_CPU_FEATURES": " ".join(_NEWEST),
        "OPENBLAS_CORETYPE": "Haswell",
        "OPENBLAS_NUM_THREADS": "2",
    },
}

_OF_SOME_TABLES = {"older, two threads": ["some"]}

pytestmark = pytest.mark.skipif(
    platform.machine().lower() not in ("x86_64", "amd64") or not _WIDE,
    reason="this processor has no wide instructions that numpy could be told not to use",
)


@cache
def _started(configuration: str) -> subprocess.Popen[str]:
    """Start fitting: two processes keep two cores busy."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, **threads, **_CONFIGURATIONS[configuration]}
    return subprocess.Popen(
        [sys.executable, _SCRIPT, *_OF_SOME_TABLES.get(configuration, [])],
        env=environment,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )


@cache
def _outcomes(configuration: str) -> dict[tuple[str, str], Any]:
    process = _started(configuration)
    output, _ = process.communicate()
    assert process.returncode == 0
    lines = [json.loads(line) for line in output.splitlines()]
    return {(table, learner): outcome for table, learner, outcome in lines}


def _differences(a: Any, b: Any, where: str = "") -> Iterator[str]:
    """Where two outcomes differ; numbers, if in the first nine digits."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        for key in a:
            yield from _differences(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            yield from _differences(x, y, f"{where}[{i}]")
    elif isinstance(a, float) and isinstance(b, float):
        # shares and weights of one model are of size 1: their digits are those behind the point
        if not (math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9) or (math.isnan(a) and math.isnan(b))):
            yield f"{where}: {a!r} and {b!r}"
    elif a != b:
        yield f"{where}: {a!r} and {b!r}"


def _check(one: str, other: str) -> None:
    _started(one), _started(other)
    expected, found = _outcomes(one), _outcomes(other)
    tables = {table for table, _ in found}
    assert len(tables) >= (10 if other in _OF_SOME_TABLES else 20)
    assert found.keys() == {key for key in expected if key[0] in tables}
    assert other in _OF_SOME_TABLES or found.keys() == expected.keys()
    assert {learner for _, learner in found} == {learner for _, learner in expected}
    differing = {
        key: text
        for key in found
        if (text := next(_differences(found[key], expected[key]), None)) is not None
    }
    assert not differing, "\n".join(
        f"{table}, {learner}: {text}" for (table, learner), text in differing.items()
    )


def test_every_learner_chooses_the_same_without_wide_instructions() -> None:
    _check("as it is", "narrow")


@pytest.mark.slow
def test_every_learner_chooses_the_same_without_the_newest_instructions_on_two_threads() -> None:
    """Both at once, as each run takes half a minute: where this fails, try one by one."""
    _check("as it is", "older, two threads")


def test_a_difference_in_the_tenth_digit_is_none_and_in_the_ninth_is_one() -> None:
    assert not list(_differences({"a": [0.123456789]}, {"a": [0.12345678901]}))
    assert list(_differences({"a": [0.123456789]}, {"a": [0.123456799]}))
    assert list(_differences({"a": ["x"]}, {"a": ["y"]}))
    assert list(_differences({"a": [1.0]}, {"a": [1.0, 1.0]}))
