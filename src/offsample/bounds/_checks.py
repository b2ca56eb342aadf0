"""Arguments that every guarantee checks alike."""

from __future__ import annotations

from offsample._checks import check_confidence


def check_n_samples(n_samples: int) -> None:
    if n_samples < 1:
        raise ValueError(f"n_samples must be at least 1, got {n_samples}")


def check_n_classes(n_classes: int) -> None:
    if n_classes < 2:
        raise ValueError(f"n_classes must be at least 2, got {n_classes}")


def risk(confidence: float) -> float:
    """Return the probability δ with which a guarantee may fail."""
    check_confidence(confidence)
    return 1 - confidence
