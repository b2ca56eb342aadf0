"""Files that commands write: checked before the work, drawn and written after it."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from offsample._text import visible
from offsample.report._write import check_writable, write_bytes
from offsample.tables import TablePath


def check_output(path: Path, kinds: Collection[str], table: Any, *others: Path | None) -> None:
    """Raise, before the work, unless a file can be written, is not read, and has a name of its kind."""
    _check_place(path)
    if path.exists():
        read = table.files if isinstance(table, TablePath) else ()
        for file in (*map(Path, read), *filter(None, others)):
            if file.exists() and path.samefile(file):
                raise ValueError(f"cannot write {str(path)!r}: it is read, and would be lost")
        if not path.is_file():  # a pipe, a device
            return
    if kinds and path.suffix.lower() not in kinds:
        *most, last = kinds
        expected = f"{', '.join(most)} or {last}" if most else last
        raise ValueError(f"cannot write {str(path)!r}: expected a name that ends in {expected}")


def check_folder(folder: Path) -> None:
    """Raise unless files can be written into a folder, which is made if it is not there."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    _check_place(there / "any file", f"cannot write into {str(folder)!r}")


def _check_place(path: Path, said: str = "") -> None:
    try:
        check_writable(path)
    except OSError as error:  # bad input as long as nothing was done
        before, _, why = str(error).partition(": ")
        raise ValueError(f"{said or before}: {why}") from error


def check_plot(table: Any, path: Path | None) -> None:
    """Raise unless a drawing can be made and written, if one is wanted."""
    if path is not None:
        check_output(path, (".svg",), table)
        if find_spec("matplotlib") is None:
            raise ImportError("drawing needs matplotlib: pip install 'offsample[plot]'")


def draw(plot: str, result: Any, path: Path | None) -> None:
    """Draw a result by a function of `offsample.plotting` into a file, if one is wanted."""
    if path is None:
        return
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it tells of caches in a home that is read-only
    import matplotlib as mpl
    from matplotlib import pyplot
    from matplotlib.text import Text

    from offsample import plotting

    drawn = io.BytesIO()
    # A name with dollar signs is no formula, and a character that the font lacks is drawn as a box.
    with mpl.rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = getattr(plotting, plot)(result).figure
        for label in figure.findobj(Text):
            label.set_text(visible(label.get_text(), lines=True))
        figure.savefig(drawn, format="svg", bbox_inches="tight")
        pyplot.close(figure)
    write_bytes(path, drawn.getvalue())
