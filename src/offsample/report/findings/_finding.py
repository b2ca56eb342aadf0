"""What a finding says of a column, and what is said of findings of its kind."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A kind of finding in words.

    Attributes
    ----------
    title : str
    meaning : str
    advice : str
        What to do about it.
    is_quiet : bool
        Whether columns with it are drawn as saying nothing.
    """

    title: str
    meaning: str
    advice: str
    is_quiet: bool = False


@dataclass(frozen=True)
class Finding:
    """Something about a column that its user should know.

    Attributes
    ----------
    code : str
        Each code has a page in the documentation, with its rule and how often the rule errs.
    column : str
    message : str
        One sentence, with the numbers that it rests on.
    others : tuple of str
        Further columns that it concerns.
    """

    code: str
    column: str
    message: str
    others: tuple[str, ...] = ()

    @property
    def quarantines(self) -> bool:
        """Whether models are to be judged without the column."""
        from offsample.report.findings import kind_of

        return kind_of(self.code).QUARANTINES
