"""Printing: the one door to standard output and standard error."""

from __future__ import annotations

import json
import math
import os
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from offsample._text import plain, shorten, visible

_LONGEST_NAME = 60
_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"
# Locales that know ASCII only, although Python writes UTF-8 there.
_ASCII_LOCALES = ("C", "POSIX")


def say(*sentences: str, err: bool = False) -> None:
    """Print sentences, each on a line of its own, which a terminal breaks at words and a log does not."""
    width = screen_width() if not err else _terminal_width(sys.stderr) or sys.maxsize
    for sentence in sentences:
        line = visible(sentence) if sentence.strip() else ""  # a line break in a name forges no line
        _write(textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False), err=err)


def print_text(text: str, *, err: bool = False) -> None:
    """Print lines as they are: a path, a page."""
    _write(visible(text, lines=True), err=err)


def print_model(text: str) -> None:
    """Print a tree, or rules: what is wider than a terminal, or COLUMNS, goes on below, further in."""
    width = screen_width() if "COLUMNS" in os.environ or sys.stdout.isatty() else sys.maxsize
    for line in visible(text, lines=True).split("\n"):
        margin = line[: len(line) - len(line.lstrip("| "))] + "    "
        broken = textwrap.wrap(
            line, width, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
        _write(line if len(line) <= width else "\n".join(broken))


def print_table(lines: Iterable[str], faint: Iterable[bool] = ()) -> None:
    """Print the lines of `fit_table`: the titles in bold, what is not evidence faintly."""
    title, *rest = lines
    styles = [_DIM if is_faint else "" for is_faint in faint] or [""] * len(rest)
    for line, style in zip((title, *rest), (_BOLD, *styles), strict=True):
        _write(visible(line, lines=True), style)


def named(name: Any) -> str:
    """A name of strangers inside a sentence: visible, and short enough to read on."""
    return shorten(visible(name), _LONGEST_NAME)


def screen_width() -> int:
    """Columns of the terminal; in a pipe those of the variable COLUMNS, or eighty."""
    try:
        wanted = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        wanted = 0
    return max(20, wanted if wanted > 0 else _terminal_width(sys.stdout) or 80)


def _terminal_width(stream: TextIO) -> int:
    """Columns of a terminal; 0 of what is none, or has not said."""
    return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0


def print_json(result: Any) -> None:
    """Print a plain result."""
    _write(json_text(result))


def json_text(result: Any) -> str:
    """A plain result; JSON has no number that is infinite or undefined, so that those are null."""
    return json.dumps(_finite(result), indent=2, default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(text: str, style: str = "", *, err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    text = plain(text, _encoding(stream))
    styled = style and text and stream.isatty() and "NO_COLOR" not in os.environ
    if styled and os.environ.get("TERM") not in (None, "", "dumb"):
        text = f"{style}{text}{_END}"
    with _said_of("standard error" if err else "standard output"):
        stream.write(f"{text}\n")


def flush_output() -> None:
    """Hand over what was printed, so that it is known to have arrived."""
    with _said_of("standard output"):
        sys.stdout.flush()


@contextmanager
def _said_of(output: str) -> Iterator[None]:
    """Say which output could not be written to."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(f"cannot write to {output}: {error.strerror or error}") from error


def screen_encoding() -> str:
    """Characters that standard output takes."""
    return _encoding(sys.stdout)


def _encoding(stream: TextIO) -> str:
    kind = os.environ.get("LC_CTYPE", "")
    locale = os.environ.get("LC_ALL") or (os.environ.get("LANG") if kind in ("", "C.UTF-8") else kind)
    return "ascii" if locale in _ASCII_LOCALES else stream.encoding or "utf-8"


def open_closed_streams() -> None:
    """Let output go nowhere where the shell closed it (``>&-``), and let no character end a command.

    A closed descriptor would otherwise be given to the next file that is opened.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
                os.close(descriptor)
            opened = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, opened)
        elif number:
            stream.reconfigure(errors="backslashreplace")
