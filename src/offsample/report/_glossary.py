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
        "The column predicts the target almost perfectly, and nothing else comes close.",
        "Ask when its value becomes known. If that is only after the target, drop it. The model here does "
        "not use it.",
    ),
    "identifier": Term(
        "Identifier",
        "Its values name single rows. It may look perfect in training, but what is learned from a value that "
        "never comes back is of no use on new rows.",
        "Drop it, or derive something from it that repeats, such as the region from a postcode. The model "
        "here does not use it.",
    ),
    "near-copy": Term(
        "Near-copy",
        "The column says nearly the same as another one.",
        "Keep the one that is easier to get; a model can use either.",
    ),
    "constant": Term(
        "Constant",
        "Every row has the same value.",
        "It cannot tell rows apart.",
    ),
    "no-evidence": Term(
        "No evidence",
        "A column that has nothing to do with the target could easily look like this one.",
        "That does not prove it useless: with more rows, or together with other columns, it may turn out to "
        "help.",
    ),
    "masked": Term(
        "Masked",
        "Useful by itself, but of no proven use once the other columns are known.",
        "A model can do without it, or use it in place of the columns that mask it.",
    ),
}


def term_of(code: str) -> Term:
    """What a code means; a code without an entry is shown as it is."""
    return GLOSSARY.get(code, Term(code, "", ""))
