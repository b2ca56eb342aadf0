"""Findings: each has one file with its code, words, rule and search, one test file and one page."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from offsample.report._study import Study

__all__ = [
    "ABOUT_ROWS",
    "AFTER_MODEL",
    "BEFORE_MODEL",
    "CODES",
    "Finding",
    "FindingModule",
    "Term",
    "kind_of",
    "term_of",
]

# Found before a model is chosen, and of the columns that are left; the first finding about a column stands.
BEFORE_MODEL = ("constant", "identifier", "leak", "near-copy")
AFTER_MODEL = ("no-evidence", "missing_is_signal", "masked")
# Found beside any others: a column may have one of these too, or they are about no column.
ABOUT_ROWS = ("duplicates", "suspected_group", "suspected_time", "drift")
CODES = (*BEFORE_MODEL, *AFTER_MODEL, *ABOUT_ROWS)


@dataclass(frozen=True)
class Term:
    """A kind of finding in words."""

    title: str
    meaning: str
    advice: str  # what to do about it
    is_quiet: bool = False  # whether columns with it are drawn as saying nothing


@dataclass(frozen=True)
class Finding:
    """Something about a column, or about the rows, that its user should know."""

    code: str  # has a page in the documentation, with its rule and how often the rule errs
    column: str | None  # None where it is about the rows, or the target
    message: str  # one sentence, with the numbers that it rests on
    others: tuple[str, ...] = ()  # further columns that it concerns

    @property
    def quoted(self) -> str:
        """The message with the name of its column in quotes, which a name that is a sentence cannot end."""
        name, quoted = self.column or "", (self.column or "").replace("”", '"')
        is_first = name != "" and self.message.startswith(name)
        return f"“{quoted}”{self.message.removeprefix(name)}" if is_first else self.message

    @property
    def quarantines(self) -> bool:
        """Whether models are to be judged without the column."""
        return kind_of(self.code).QUARANTINES


class FindingModule(Protocol):
    """What a module of this package has."""

    CODE: str
    TERM: Term
    RULE: str
    QUARANTINES: bool

    def find(self, study: Study) -> dict[Any, Finding]:
        """Find columns of which it is true, by name; those of `study.findings` are spoken for.

        A finding about the rows has any key.
        """
        ...


def kind_of(code: str) -> FindingModule:
    """Return the module of a code."""
    return cast(FindingModule, import_module(f"offsample.report.findings.{code.replace('-', '_')}"))


def term_of(code: str) -> Term:
    """Say what a code means; a code without an entry is shown as it is."""
    return kind_of(code).TERM if code in CODES else Term(code, "", "")
