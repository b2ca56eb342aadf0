"""Arguments that are checked alike everywhere."""

from __future__ import annotations


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no probability between 0 and 1."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")
