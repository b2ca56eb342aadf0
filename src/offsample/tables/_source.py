"""Which files a path stands for, and under which names an engine gets to see them."""

from __future__ import annotations

import bz2
import glob
import gzip
import lzma
import os
import re
import shutil
import sys
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

DUCKDB_URL = "duckdb:///"
PARQUET = (".parquet", ".pq", ".parq")
CSV = (".csv", ".tsv")
# What is written as Parquet first.
OTHERS = {
    ".xlsx": "Excel", ".xlsm": "Excel", ".json": "JSON", ".jsonl": "JSON", ".ndjson": "JSON",
    ".feather": "Arrow", ".arrow": "Arrow", ".ipc": "Arrow",
    ".sqlite": "SQLite", ".sqlite3": "SQLite", ".db": "SQLite",
}  # fmt: skip


def _open_zstd(path: Path, _: str) -> Any:
    try:
        from pyarrow import input_stream
    except ImportError as error:
        raise ImportError(f"{str(path)!r} needs pyarrow: pip install 'offsample[arrow]'") from error
    return input_stream(str(path), compression="zstd")


# Text that is compressed, by its first bytes.
_PACKED: dict[bytes, tuple[str, Any]] = {
    b"\x1f\x8b": (".gz", gzip.open),
    b"BZh": (".bz2", bz2.open),
    b"\xfd7zXZ": (".xz", lzma.open),
    b"\x28\xb5\x2f\xfd": (".zst", _open_zstd),
}
_TEXT = (*CSV, *(kind for kind, name in OTHERS.items() if name == "JSON"))
PACKED = tuple(kind + end for kind in _TEXT for end, _ in _PACKED.values())
READABLE = (*PARQUET, *CSV, *OTHERS, *PACKED)
KINDS = ", ".join((*PARQUET, *CSV, *OTHERS)) + ", or text as .gz, .bz2, .xz or .zst"
# Text is parsed into a temporary file, which should not fill the disk; Parquet is read where it is.
MAX_TEXT_BYTES = 64 * 2**30
_PARQUET, _DUCKDB = b"PAR1", b"DUCK"
_PIECE = 1 << 20
# Whose errors, in reading rows, are about the file.
_READERS = ("duckdb", "polars", "narwhals", "pyo3_runtime", "pyarrow")
# Every engine takes other characters for a pattern, a protocol, a column in the name, or an escape.
_PLAIN_NAME = re.compile(r"[\w./ @+-]*")
# Addresses of files that DuckDB reads, where the extension is there.
_FILES_AT = ("http", "https", "s3", "s3a", "s3n", "gs", "gcs", "r2", "az", "abfss", "hf")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+)://(.*)", re.IGNORECASE | re.DOTALL)
# Comments, and the word that a query begins with.
_QUERY = re.compile(
    r"(?:\s|/\*.*?\*/|--[^\n]*\n)*(?:select|with|from)(?=[\s*('\"]|/\*|--)", re.IGNORECASE | re.DOTALL
)
# A table of a query is a file: after FROM and JOIN, and in functions such as read_csv and parquet_scan.
_BEFORE_A_FILE = re.compile(
    r"(?:\b(?:from|join)\s*\(?|\b(?:read_|sniff_|glob|\w+_scan)\w*\s*\(\s*\[?)\s*$", re.IGNORECASE
)


class TablePath(str):
    """A path, or what else names a table, with what may be done to read it.

    It can be given wherever a path can: to `open_table`, `read_table`, `rank_features` and `report`.

    Parameters
    ----------
    path : str or path
        As `open_table` takes it.
    trusted : bool
        Whether the text comes from somebody who may run queries here. Otherwise it has to be the path of a
        file or directory: no query, database, pattern or standard input.
    allow_external : bool
        Whether a database or query may read files that were not named, load extensions and use the network.
    max_bytes : int, optional
        Refuse a larger table. Counted are bytes of CSV text after decompression, of Parquet before its
        compression, of a database file, and of the result of a query or view (eight for each value, and its
        text), which takes a pass over it. By default 64 GiB of text, and any amount of the others.

    Examples
    --------
    >>> from offsample.tables import TablePath, open_table
    >>> open_table(TablePath("SELECT 1 AS y", trusted=False), "y")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: 'SELECT 1 AS y' is not the path of a file or directory: nothing else is read with ...
    """

    trusted: bool
    allow_external: bool
    max_bytes: int | None
    as_text: Collection[str] = ()  # columns of CSV that stay text, whatever it says

    def __new__(
        cls,
        path: str | Path,
        *,
        trusted: bool = True,
        allow_external: bool = False,
        max_bytes: int | None = None,
    ) -> Self:
        """Keep the text and the permissions."""
        if allow_external and not trusted:
            raise ValueError("allow_external=True needs trusted=True: a stranger's text may not ask for it")
        if max_bytes is not None and max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, got {max_bytes}")
        address = _ADDRESS.match(str(path))
        if allow_external and address and address[1].lower() in _FILES_AT:
            escaped = str(path).replace("'", "''")
            path = f"SELECT * FROM '{escaped}'"
        self = super().__new__(cls, path)
        self.trusted, self.allow_external, self.max_bytes = trusted, allow_external, max_bytes
        return self

    @classmethod
    def of(cls, path: str | Path, trusted: bool) -> TablePath:
        """Path with its own permissions, or with less trust."""
        if isinstance(path, TablePath) and (trusted or not path.trusted):
            return path
        return cls(path, trusted=trusted, max_bytes=getattr(path, "max_bytes", None))

    @property
    def kind(self) -> str:
        """What it names: "files", "query", "database" or "stdin". A path that exists is that file."""
        if self.trusted and is_database(self.partition("#")[0]):
            return "database"
        if os.path.exists(self):  # noqa: PTH110 - Path.exists raises where a text is too long
            return "files"
        kind = "query" if is_query(self) else "database" if self.startswith(DUCKDB_URL) else "files"
        kind = "stdin" if self == "-" else kind
        if not self.trusted and (kind != "files" or glob.has_magic(self)):
            said = "is not the path of a file or directory: nothing else is read with trusted=False"
            raise ValueError(f"{str(self)!r} {said}")
        return kind

    @property
    def files(self) -> tuple[str, ...]:
        """Files that it names, as far as that can be told without reading any."""
        kind = self.kind
        if kind == "query":
            return named_in(self)
        if kind == "database":
            return (self.removeprefix(DUCKDB_URL).partition("#")[0],)
        try:
            return () if kind == "stdin" else tuple(_find(self)[0])
        except (FileNotFoundError, ValueError):  # which is said where it is read
            return ()


@dataclass(frozen=True)
class Source:
    """What a table was read from.

    Attributes
    ----------
    files : tuple of str
        The files as they were found; for a table of a database ``file.db#table``; none for a query without.
    n_rows : int
        Rows that they have, also those that were left out.
    """

    files: tuple[str, ...]
    n_rows: int

    def __str__(self) -> str:
        shown = (", ".join(self.files[:5]) or "the query") + (", …" if len(self.files) > 5 else "")
        files = f"{len(self.files)} files: " * (len(self.files) > 1)
        return f"{self.n_rows:,} row{'s' * (self.n_rows != 1)} of {files}{shown}"


def is_query(text: str) -> bool:
    """Whether a text is a query for DuckDB, also one that begins with a comment."""
    return _QUERY.match(text) is not None


def named_in(query: str) -> tuple[str, ...]:
    """Files that a query names where a table stands, and its patterns: not every text that is compared."""
    found: list[str] = []
    end, is_file = 0, False
    for one in re.finditer(r"'((?:[^']|'')*)'|\"((?:[^\"]|\"\")*)\"", query):
        before, text = query[end : one.start()], (one[1] or "").replace("''", "'")
        text, end = text or (one[2] or "").replace('""', '"'), one.end()
        is_file = bool(_BEFORE_A_FILE.search(before)) or (is_file and before.strip() == ",")
        if not (is_file and text):
            continue
        if os.path.isfile(text):  # noqa: PTH113 - Path.is_file raises where a text is too long
            found.append(text)
        elif matched := glob.glob(text, recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
            found += [text, *matched]
    return tuple(dict.fromkeys(found))


def is_database(file: str) -> bool:
    """Whether a file is a database of DuckDB, by its first bytes: a mark, and a small number of 64 bits."""
    if file.lower().endswith((*PARQUET, *CSV)) or not os.path.isfile(file):  # noqa: PTH113 - Path.is_file raises
        return False
    with Path(file).open("rb") as stream:
        start = stream.read(20)
    return start[8:12] == _DUCKDB and start[14:] == bytes(6)


class Resolved(NamedTuple):
    """Files of a path, names for them that no engine takes for anything else, and what they are."""

    files: tuple[str, ...]
    plain: list[str]
    suffix: str  # of their kind: ".parquet", one of CSV, or one of OTHERS
    part: str = ""  # the sheet or table that was named

    @property
    def is_csv(self) -> bool:
        """Whether they are text."""
        return self.suffix in CSV


def resolve(path: TablePath, scratch: Path) -> Resolved:
    """Find the files of a path; text is decompressed, and odd names are linked, into a directory."""
    if not _PLAIN_NAME.fullmatch(scratch.as_posix().removeprefix(scratch.drive)):
        raise ValueError(
            f"the directory for temporary files is {str(scratch.parent)!r}: expected a name of letters, "
            "digits and . - _ only, for engines read patterns into others; set TMPDIR"
        )
    limit = _Limit(path)
    if path.kind == "stdin":
        spooled = scratch / "stdin.csv"
        limit.copy(sys.stdin.buffer, spooled)
        if not spooled.stat().st_size:
            raise ValueError("standard input is empty: expected CSV with a header")
        return Resolved(("standard input",), [str(spooled)], ".csv")
    found, part = _find(path)
    kinds = [_kind(file, path.trusted) for file in found]
    known = sorted({"CSV" if suffix in CSV else OTHERS.get(suffix, "Parquet") for suffix, _ in kinds})
    if len(known) > 1:
        said = f"stands for both {' and '.join(known)} files: expected files of one kind"
        raise ValueError(f"{str(path)!r} {said}")
    plain = [_plain_file(*one, i, scratch, limit) for i, one in enumerate(zip(found, kinds, strict=True))]
    return Resolved(tuple(found), plain, kinds[0][0], part)


def _find(path: TablePath) -> tuple[list[str], str]:
    """Files that a path stands for, and the sheet or table that it names after ``#``."""
    if not path.strip():
        raise ValueError("the name of the table is empty: expected a file, a directory or a pattern")
    if Path(path).is_dir():
        there = (file for file in Path(path).iterdir() if not file.name.startswith("."))
        files = sorted(str(file) for file in there if file.name.lower().endswith(READABLE))
        if not files:
            raise FileNotFoundError(f"directory {str(path)!r} has no file to read: expected {KINDS}")
        return files, ""
    file, _, part = path.rpartition("#")
    if file.lower().endswith(tuple(OTHERS)) and Path(file).is_file() and not Path(path).exists():
        return [file], part
    # A directory that is there is that directory, whatever characters its name has.
    known = next((str(one) for one in Path(path).parents if str(one) != "." and one.is_dir()), "")
    pattern = glob.escape(known) + path.removeprefix(known) if path.startswith(known) else path
    matches = filter(os.path.exists, glob.glob(pattern))  # noqa: PTH207 - absolute too, but links to nothing as well
    files = [str(path)] if Path(path).exists() else sorted(matches)
    if not files:
        raise FileNotFoundError(f"no such file: {str(path)!r}{_advice(path)}")
    return files, ""


def _advice(path: TablePath) -> str:
    """What to do with an address, which is no file."""
    address = _ADDRESS.match(path)
    if address is None or not path.trusted:
        return ""
    if address[1].lower() == "file":
        return f"; leave out file://, and name the path, {address[2]!r}"
    if address[1].lower() in ("postgres", "postgresql"):
        query = f"SELECT * FROM postgres_scan('{path}', 'public', 'TABLE')"
        return f"; to read a table of a database, use a query, {query!r}, with --allow-external"
    if address[1].lower() == "mysql":
        return "; a table of MySQL has to be written to a file first"
    if address[1].lower() not in _FILES_AT:
        return ""
    return (
        "; an address is read with --allow-external, where DuckDB has what that takes, or download it first"
    )


def _kind(file: str, trusted: bool) -> tuple[str, Any]:
    """Suffix that says how a file is read, and what opens one that has to be copied first, or None."""
    name = file.lower()
    text = ".tsv" if ".tsv" in Path(name).name else ".csv"
    if not Path(file).is_file():
        if Path(file).is_dir() or not trusted:
            raise ValueError(f"{file!r} is not a regular file: expected Parquet or CSV")
        return text, Path.open  # a pipe, which can be read once only
    with Path(file).open("rb") as stream:
        start = stream.read(6)
        if start[:4] == _PARQUET and _has_footer(stream):
            return ".parquet", None
    if not start:
        raise ValueError(f"{file!r} is empty: expected a Parquet file, or CSV with a header")
    if name.endswith(PARQUET):
        return ".parquet", None
    unpack = next((opener for mark, (_, opener) in _PACKED.items() if start.startswith(mark)), None)
    plain = re.sub(r"\.(gz|bz2|xz|zst)$", "", name) if name.endswith(PACKED) else name
    if plain.endswith(CSV):
        return text, unpack
    suffix = Path(plain).suffix
    if suffix in OTHERS and trusted:
        return suffix, unpack
    if trusted:
        raise ValueError(f"{file!r} is of no kind that is read: expected {KINDS}")
    raise ValueError(f"{file!r} is neither Parquet nor CSV: nothing else is read with trusted=False")


def _has_footer(stream: BinaryIO) -> bool:
    """Whether a file ends as Parquet does; one that begins so may be CSV with a column of such a name."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 8))
    length, end = stream.read(4), stream.read(4)
    return end == _PARQUET and int.from_bytes(length, "little") <= size - 12


def _plain_file(file: str, kind: tuple[str, Any], i: int, scratch: Path, limit: _Limit) -> str:
    """Absolute name of a file's text, or of the file, without any character that means more than itself."""
    folder, name = os.path.split(file)
    absolute = Path(os.path.realpath(folder)) / name
    suffix, opener = kind
    linked = scratch / f"part-{i:06d}{suffix}"
    if opener is not None:
        try:
            with opener(absolute, "rb") as stream:
                limit.copy(stream, linked)
        except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
            raise ValueError(f"{str(absolute)!r} cannot be decompressed: {error}") from error
        return str(linked)
    if suffix != ".parquet":
        limit.add(absolute.stat().st_size)
    is_plain = _PLAIN_NAME.fullmatch(absolute.as_posix().removeprefix(absolute.drive))
    if is_plain and not name.lower().endswith(PACKED):
        return str(absolute)
    try:
        linked.symlink_to(absolute)
    except OSError:  # not everybody may, on Windows
        shutil.copyfile(absolute, linked)
    return str(linked)


class _Limit:
    """Bytes of text that a table may have, and has so far."""

    def __init__(self, path: TablePath) -> None:
        self._path, self._n_bytes = path, 0
        self._most = MAX_TEXT_BYTES if path.max_bytes is None else path.max_bytes

    def add(self, n_bytes: int) -> None:
        self._n_bytes += n_bytes
        if self._n_bytes > self._most:
            raise too_large(self._path, self._most, "text")

    def copy(self, stream: BinaryIO | Any, target: Path) -> None:
        with target.open("wb") as out:
            while piece := stream.read(_PIECE):
                self.add(len(piece))
                out.write(piece)


class TooLargeError(ValueError):
    """A table above the limit."""


def too_large(path: str, limit: int, what: str) -> TooLargeError:
    """Error for a table above the limit."""
    return TooLargeError(
        f"{str(path)!r} has more than {limit:,} bytes of {what}: raise the limit with --max-bytes (in Python "
        "TablePath(path, max_bytes=…)) if it comes from where you expect so much"
    )


@contextmanager
def reading_rows(path: object) -> Iterator[None]:
    """Say what an engine finds wrong with the rows of a file, such as one that is damaged in the middle."""
    try:
        yield
    except BaseException as error:
        kind, home = type(error).__name__, type(error).__module__.partition(".")[0].lstrip("_")
        if home not in _READERS or kind in ("OutOfMemoryException", "InterruptException"):
            raise
        if kind == "PermissionException":
            raise ValueError(f"{str(path)!r} {reaches_out(error)}") from error
        reason = (str(error).strip() or kind).splitlines()[0]
        raise ValueError(f"the rows of {str(path)!r} cannot be read: {reason}") from error


def reaches_out(error: BaseException) -> str:
    """What is said of a query or a view that DuckDB does not permit to read something."""
    what = re.search(r'"(.*)"', str(error))
    named = f" ({what[1]})" if what else ""
    return (
        f"reads what was not named{named}: other files, extensions and the network are closed to it; open "
        "them with --allow-external (in Python TablePath(path, allow_external=True)) if you trust where it "
        "comes from"
    )
