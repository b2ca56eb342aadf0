"""Settings of the whole suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")  # no window

# The same examples on every run, and no deadline: a machine's speed is not a property of the code.
settings.register_profile("offsample", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("offsample")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Directory of the shared real data sets; tests that use it skip where it is absent."""
    path = Path(os.environ.get("OFFSAMPLE_DATA") or "../shared/data")
    if not (path / "adult.parquet").exists():
        pytest.skip("real data sets are absent: set OFFSAMPLE_DATA to their directory")
    return path
