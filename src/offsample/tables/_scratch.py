"""Temporary directories and open connections: what has to go when the process is told to end."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

_CONNECTIONS: list[Any] = []
_DIRECTORIES: list[Path] = []


def scratch_directory(stack: ExitStack) -> Path:
    """Make a directory for temporary files, which is removed when the stack closes."""
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="offsample-")))
    _keep(_DIRECTORIES, directory, stack)
    return directory


def keep_connection(connection: Any, stack: ExitStack) -> None:
    """Close a connection of DuckDB with the stack, and let `interrupt_queries` reach it until then."""
    stack.callback(connection.close)
    _keep(_CONNECTIONS, connection, stack)


def _keep(those: list[Any], one: Any, stack: ExitStack) -> None:
    those.append(one)
    stack.callback(those.remove, one)


def interrupt_queries() -> None:
    """Let every query that DuckDB is at work on fail at once, in whatever thread; connections stay open."""
    for connection in tuple(_CONNECTIONS):
        connection.interrupt()


def abandon_tables() -> None:
    """Remove the temporary files of all open tables, for a process that is about to end in another thread."""
    for directory in tuple(_DIRECTORIES):
        shutil.rmtree(directory, ignore_errors=True)
