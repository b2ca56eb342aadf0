"""Features judged together, by the margin that they give the nearest-neighbour rule."""

from importlib import import_module
from typing import Any

# Loaded on first use: scikit-learn loads pandas where it finds it.
_HOME = {
    "GFlip": "gflip",
    "Relief": "relief",
    "Simba": "simba",
    "hypothesis_margin": "objective",
    "margin_gradient": "objective",
    "margin_score": "objective",
    "sigmoid": "_utility",
}

__all__ = [
    "GFlip",
    "Relief",
    "Simba",
    "hypothesis_margin",
    "margin_gradient",
    "margin_score",
    "sigmoid",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'offsample.margin' has no attribute {name!r}")
    return getattr(import_module(f"offsample.margin.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
