"""Plain-text tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Align columns: numbers to the right, everything else to the left.

    Examples
    --------
    >>> from papers._table import format_table
    >>> print(format_table(["name", "error"], [["IG", "0.5"], ["Ginger", "0.25"]]))
    name    error
    ------  -----
    IG        0.5
    Ginger   0.25
    """
    cells = [[str(cell) for cell in row] for row in rows]
    columns = list(zip(*cells, strict=True)) if cells else [()] * len(header)
    widths = [
        max(len(text) for text in (title, *column)) for title, column in zip(header, columns, strict=True)
    ]
    numeric = [bool(column) and all(_is_number(text) for text in column) for column in columns]

    def line(row: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip()

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, cells)])


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("%").replace(",", "") or "0")
    except ValueError:
        return text in {"-", "–"}
    return True
