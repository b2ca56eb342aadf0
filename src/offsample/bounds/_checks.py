"""Arguments that every guarantee checks alike."""

from __future__ import annotations

from offsample._checks import check_confidence


def risk(confidence: float) -> float:
    """Return the probability δ with which a guarantee may fail."""
    check_confidence(confidence)
    return 1 - confidence
