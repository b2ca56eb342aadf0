"""Run the pages again: ``python -m docs._refresh [PAGE …]``.

What a Python block prints goes into the ``text`` block below it, and the pictures that blocks save go into
``docs/images``. Without names, all pages are run whose data sets are there. The pictures of the report are
taken by ``python -m tests.browser.take_screenshots``.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

from docs._pages import DOCS, missing_data, pages, run
from papers._files import use_palette


def refresh(path: Path) -> None:
    """Run a page, put what it prints into it, and keep its pictures."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for shown, printed in run(path):
            text = text.replace(f"```text\n{shown}```", f"```text\n{printed.rstrip()}\n```", 1)
            if shown.startswith("$ "):  # a command, which is shown with what it prints
                text = text.replace(shown, f"{printed.rstrip()}\n", 1)
        for picture in Path(folder).glob("*.png"):
            use_palette(picture)
            shutil.copy(picture, DOCS / "images")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")  # no window
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        missing = missing_data(page)
        sys.stdout.write(f"{page.relative_to(DOCS)}: {missing or 'run'}\n")
        if not missing:
            refresh(page)
