"""Learners that refine a partition of the rows, top down."""

from importlib import import_module
from typing import Any

# Loaded on first use, as everything heavy here.
_HOME = {
    "GrowthPath": "offsample.induction._path",
    "TreeClassifier": "offsample.induction.tree",
    "grow": "offsample.induction.top_down",
}

__all__ = ["GrowthPath", "TreeClassifier", "grow"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'offsample.induction' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
