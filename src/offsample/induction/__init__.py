"""Learners that refine a partition of the rows, top down."""

from offsample._lazy import lazy_names

# Loaded on first use, as everything heavy here.
_HOME = {
    "GrowthPath": "offsample.induction._path",
    "TreeClassifier": "offsample.induction.tree",
    "grow": "offsample.induction.top_down",
}

__all__ = ["GrowthPath", "TreeClassifier", "grow"]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
