"""Choices of supervised learning on tables, made by the error to expect off the sample."""

from offsample._lazy import lazy_names

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

__getattr__, __dir__ = lazy_names(__name__, _HOME)
