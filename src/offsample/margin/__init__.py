"""Features judged together, by the margin that they give the nearest-neighbour rule."""

from offsample._lazy import lazy_names

# Loaded on first use: scikit-learn loads pandas where it finds it.
_HOME = {
    "GFlip": "offsample.margin.gflip",
    "Relief": "offsample.margin.relief",
    "Simba": "offsample.margin.simba",
    "SufficientColumns": "offsample.margin.sufficient",
    "hypothesis_margin": "offsample.margin.objective",
    "margin_gradient": "offsample.margin.objective",
    "margin_score": "offsample.margin.objective",
    "sigmoid": "offsample.margin._utility",
    "sufficient_columns": "offsample.margin.sufficient",
}

__all__ = [
    "GFlip",
    "Relief",
    "Simba",
    "SufficientColumns",
    "hypothesis_margin",
    "margin_gradient",
    "margin_score",
    "sigmoid",
    "sufficient_columns",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME)
