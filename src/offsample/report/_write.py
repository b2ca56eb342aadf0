"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write beside, then rename: an interrupted run leaves no half of a file.

    The file that a symbolic link leads to is replaced, not the link, and keeps its mode and owner. A pipe, a
    device, and a file that could not keep its owner, or its folder as it is, are written into.
    """
    with _said_of(path):
        target = Path(os.path.realpath(path))
        there = target.stat() if target.exists() else None
        if there is not None and not target.is_file():
            target.write_bytes(content)
            return
        scratch = target.with_name(f".offsample-{os.getpid()}-{secrets.token_hex(4)}.part")
        try:
            # Nobody but us reads it before it has the mode of the file that it replaces.
            number = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if there is None else 0o600)
            with os.fdopen(number, "wb") as file:
                file.write(content)
            if there is not None and os.name != "nt":  # which keeps them by itself
                os.chown(scratch, there.st_uid, there.st_gid)
                scratch.chmod(stat.S_IMODE(there.st_mode))
            scratch.replace(target)
        except PermissionError:
            scratch.unlink(missing_ok=True)
            if there is None:
                raise
            target.write_bytes(content)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise


def check_writable(path: Path) -> None:
    """Raise unless a file can be written there; call it before the work that the file is to hold."""
    with _said_of(path):
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError("it is a folder")
        if target.is_symlink():
            raise OSError("its symbolic links lead in a circle")
        if target.is_socket():
            raise OSError("it is a socket")
        if target.is_file():
            os.close(os.open(target, os.O_WRONLY))
        elif target.exists():  # to open a pipe would wait for its reader
            if not os.access(target, os.W_OK):
                raise PermissionError("permission denied")
        elif not target.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {str(target.parent)!r}")
        else:
            tempfile.TemporaryFile(dir=target.parent).close()


@contextmanager
def _said_of(path: Path) -> Iterator[None]:
    """Say which file cannot be written, and why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        said = error.strerror.lower() if error.strerror else str(error)
        raise type(error)(f"cannot write {str(path)!r}: {said}") from error
