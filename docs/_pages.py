"""The pages of the documentation: their order, and the code on them.

Shared by the tests, which run every block, by ``_refresh.py``, which keeps what they print and draw, and by
``_llms.py``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^\$ offsample (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_NEEDS = re.compile(r"# needs (\w+)")
_LOADED = re.compile(r'\bload\("(\w+)"\)')


def blocks(path: Path) -> list[tuple[str, str]]:
    """Language and text of each block of a page."""
    return _BLOCK.findall(path.read_text(encoding="utf-8"))


def data_sets(path: Path) -> list[str]:
    """Names of the real data sets that a page loads."""
    return [name for language, text in blocks(path) if language == "python" for name in _LOADED.findall(text)]


def run(path: Path) -> Iterator[tuple[str, str]]:
    """Run the Python blocks of a page in order, in one namespace.

    A block that begins with ``# needs package`` is left out where the package is not installed.

    Yields
    ------
    shown, printed : str
        For every ``text`` block: what the page shows, and what the Python block before it printed. For every
        command of a ``terminal`` block, after ``$ ``: what the page shows, and what it prints in 80 columns.
    """
    namespace: dict[str, Any] = {"__name__": "page"}
    printed: str | None = None
    skipped = False
    for language, text in blocks(path):
        needed = _NEEDS.match(text) if language == "python" else None
        if needed and find_spec(needed[1]) is None:
            printed = None
            skipped = True
        elif language == "python":
            skipped = False
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(path), "exec"), namespace)
            printed = out.getvalue()
        elif language == "terminal":
            for command, shown in _COMMAND.findall(text):
                yield f"$ offsample {command}\n{shown}", f"$ offsample {command}\n{_printed_by(command)}"
        elif language == "text" and not skipped:
            if printed is None:
                raise ValueError(f"{path}: a block of text without a block of Python before it")
            yield text, printed
            printed = None


def _printed_by(command: str) -> str:
    from typer.testing import CliRunner

    from offsample.cli import app

    done = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "80"})
    if done.exit_code:
        raise ValueError(f"offsample {command}: {done.output}")
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()) + "\n"


def pages() -> list[Path]:
    """Every page with a block of Python."""
    return [path for path in sorted(DOCS.rglob("*.md")) if any(lang == "python" for lang, _ in blocks(path))]


def missing_data(path: Path) -> str:
    """A sentence if a data set of the page is not in ``OFFSAMPLE_DATA``, else nothing."""
    folder = Path(os.environ.get("OFFSAMPLE_DATA") or ".")
    absent = [name for name in data_sets(path) if not any(folder.glob(f"{name}.*"))]
    return f"not in OFFSAMPLE_DATA: {', '.join(absent)}" if absent else ""


def navigation() -> dict[str, list[tuple[str, str]]]:
    """Title and path of every page of the site, by section."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for line in (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1].splitlines():
        entry = re.fullmatch(r"( +)- (.+?): *(\S*\.md)?", line)
        if entry is None:
            continue
        indent, title, page = entry.groups()
        if len(indent) == 2:
            section = title if page is None else "Start"
        if page is not None:
            sections.setdefault(section, []).append((title, page))
    return sections


def api_modules() -> list[str]:
    """Modules that the API reference documents, in its order."""
    return re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
