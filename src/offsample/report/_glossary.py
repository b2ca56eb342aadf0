"""Codes of findings in words, for readers of the report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A finding in words.

    Attributes
    ----------
    title : str
    meaning : str
    advice : str
        What to do about it.
    """

    title: str
    meaning: str
    advice: str


GLOSSARY = {
    "leak": Term(
        "Leak",
        "The column predicts the target almost perfectly, and no other comes near it.",
        "Ask when its value becomes known. If only after the target, leave it out; models here are judged "
        "without it.",
    ),
    "identifier": Term(
        "Identifier",
        "Its values name rows. Training may look perfect, but what is learnt from a value that never "
        "comes back cannot carry over to new rows.",
        "Leave it out, or derive something from it that repeats; models here are judged without it.",
    ),
    "near-copy": Term(
        "Near-copy",
        "The column says nearly the same as another one.",
        "Keep the one that is cheaper to know; importances of the two are interchangeable.",
    ),
    "constant": Term(
        "Constant",
        "Every row has the same value.",
        "It cannot tell rows apart.",
    ),
    "no-evidence": Term(
        "No evidence",
        "The data are what they might well be if the column had nothing to do with the target, after "
        "correction for the number of columns looked at.",
        "That is no proof of absence: more rows, or other columns beside it, may show a use.",
    ),
    "masked": Term(
        "Masked",
        "Useful by itself, but no use could be shown once the other columns are known.",
        "It can be left out of a model, or stand in for the columns that mask it.",
    ),
}


def term_of(code: str) -> Term:
    """What a code means; a code without an entry is shown as it is."""
    return GLOSSARY.get(code, Term(code, "", ""))
