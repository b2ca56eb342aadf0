"""Arguments that are checked alike everywhere."""

from __future__ import annotations

from math import inf


def check_confidence(confidence: float) -> None:
    """Refuse a confidence that is no probability between 0 and 1."""
    if not (0 < confidence < 1 and 1 - confidence < 1):  # nor what rounding makes 0
        raise ValueError(f"confidence must lie strictly between 0 and 1, got {confidence}")


def risk(confidence: float) -> float:
    """Return the probability δ with which a guarantee may fail."""
    check_confidence(confidence)
    return 1 - confidence


def check_count(name: str, value: float, least: int, most: float = inf) -> None:
    """Refuse a number of rows or the like that is too small, too large to compute with, or NaN."""
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    if value > most:
        shown = f"{value:,}" if value < 10**18 else "more than 10^18"
        raise ValueError(f"{name} must be at most {most:,.0f}, got {shown}")
