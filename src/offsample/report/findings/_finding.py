"""What a finding says of a column, and what is said of findings of its kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A kind of finding in words."""

    title: str
    meaning: str
    advice: str  # what to do about it
    is_quiet: bool = False  # whether columns with it are drawn as saying nothing


@dataclass(frozen=True)
class Finding:
    """Something about a column that its user should know."""

    code: str  # has a page in the documentation, with its rule and how often the rule errs
    column: str
    message: str  # one sentence, with the numbers that it rests on
    others: tuple[str, ...] = ()  # further columns that it concerns

    @property
    def quarantines(self) -> bool:
        """Whether models are to be judged without the column."""
        from offsample.report.findings import kind_of

        return kind_of(self.code).QUARANTINES
