"""Choices of supervised learning on tables, made by the error to expect off the sample."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Loaded on first use: `import offsample` costs next to nothing.
_HOME = {
    "FeatureRanker": "offsample.feature_ranker",
    "GFlip": "offsample.margin.gflip",
    "Relief": "offsample.margin.relief",
    "Simba": "offsample.margin.simba",
    "TreeClassifier": "offsample.induction.tree",
    "rank_features": "offsample.ranking",
}

__all__ = ["FeatureRanker", "GFlip", "Relief", "Simba", "TreeClassifier", "__version__", "rank_features"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'offsample' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
