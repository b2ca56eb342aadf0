"""What a finding says of a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Code = Literal["constant", "identifier", "leak", "near-copy", "no-evidence", "masked"]


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

    code: Code
    column: str
    message: str
    others: tuple[str, ...] = ()

    @property
    def quarantines(self) -> bool:
        """Whether models are to be judged without the column."""
        return self.code in ("identifier", "leak")
