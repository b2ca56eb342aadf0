"""Files that commands write: checked before the work, drawn and written after it."""

from __future__ import annotations

import io
import logging
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from offsample._text import visible
from offsample.report._write import check_writable, write_bytes
from offsample.tables import TablePath
from offsample.tables._databases import named_in
from offsample.tables._source import DUCKDB_URL, _find

__all__ = ["check_output", "check_plots", "draw"]


def check_output(path: Path, kinds: Collection[str], table: Any, *others: Path | None) -> None:
    """Raise unless a file can be written, is not one that is read, and its name says what it is to be.

    Before the work, not after it.
    """
    check_writable(path)
    if path.exists():
        for file in (*map(Path, _files_of(table)), *filter(None, others)):
            if file.exists() and path.samefile(file):
                raise ValueError(f"cannot write {str(path)!r}: it is read, and would be lost")
        if not path.is_file():  # a pipe, a device
            return
    if kinds and path.suffix.lower() not in kinds:
        *most, last = kinds
        expected = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"cannot write {str(path)!r}: expected a name that ends in {expected}")


def _files_of(table: Any) -> Sequence[str]:
    """Files that a table is read from, where they can be told without reading it."""
    if not isinstance(table, TablePath):
        return ()
    if table.kind in ("stdin", "query"):
        return named_in(table) if table.kind == "query" else ()
    if table.kind == "database":
        return (table.removeprefix(DUCKDB_URL).partition("#")[0],)
    try:
        return _find(table)
    except (FileNotFoundError, ValueError):  # said in its turn
        return ()


def check_plots(table: Any, svg: Path | None, png: Path | None = None) -> None:
    """Raise unless drawings can be made and written."""
    for path, kind in ((svg, ".svg"), (png, ".png")):
        if path is not None:
            check_output(path, (kind,), table)
            if find_spec("matplotlib") is None:
                raise ImportError("drawing needs matplotlib: pip install 'offsample[plot]'")


def draw(plot: str, result: Any, path: Path, kind: str) -> None:
    """Draw a result by a function of `offsample.plotting` into a file."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of caches in a home that is read-only
    import matplotlib as mpl
    from matplotlib.text import Text

    from offsample import plotting

    drawn = io.BytesIO()
    with mpl.rc_context({"text.parse_math": False}):  # a name with dollar signs is no formula
        figure = getattr(plotting, plot)(result).figure
        for label in figure.findobj(Text):
            label.set_text(visible(label.get_text(), lines=True))
        figure.savefig(drawn, format=kind, dpi=150, bbox_inches="tight")
    write_bytes(path, drawn.getvalue())
