"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; an error says which file, and why."""
    try:
        _replace(path, content)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(f"cannot write {str(path)!r}: {_reason(error)}") from error


def _replace(path: Path, content: bytes) -> None:
    """Write beside, then rename: an interrupted run leaves no half of a file.

    The file that a symbolic link leads to is replaced, not the link, and keeps its mode and owner; its hard
    links keep the old content. A pipe, a device, or a file that could not keep its owner is written into.
    """
    there = _status(path)
    if there is not None and not stat.S_ISREG(there.st_mode):
        path.write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    scratch = target.with_name(f".offsample-{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        # Nobody but us reads it before it has the mode of the file that it replaces.
        number = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if there is None else 0o600)
    except PermissionError:
        if there is None:
            raise
        target.write_bytes(content)  # the file may be changed, the folder may not
        return
    try:
        with os.fdopen(number, "wb") as file:
            kept = _take_after(number, there)
            if kept:
                file.write(content)
        if kept:
            scratch.replace(target)
        else:
            scratch.unlink()
            target.write_bytes(content)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def check_writable(path: Path) -> None:
    """Raise unless a file can be written there; call it before the work that the file is to hold."""
    there = _status(path)
    if there is None:
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(f"cannot write {str(path)!r}: there is no folder {str(folder)!r}")
        try:
            tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise OSError(f"cannot write {str(path)!r}: {_reason(error)}") from error
    elif stat.S_ISDIR(there.st_mode):
        raise IsADirectoryError(f"cannot write {str(path)!r}: it is a folder")
    elif stat.S_ISSOCK(there.st_mode):
        raise OSError(f"cannot write {str(path)!r}: it is a socket")
    elif stat.S_ISREG(there.st_mode):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError as error:
            raise OSError(f"cannot write {str(path)!r}: {_reason(error)}") from error
    elif not os.access(path, os.W_OK):  # to open a pipe would wait for its reader
        raise PermissionError(f"cannot write {str(path)!r}: permission denied")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise NotADirectoryError(f"cannot write {str(path)!r}: {str(path.parent)!r} is no folder") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(f"cannot write {str(path)!r}: its symbolic links lead in a circle") from None
        raise OSError(f"cannot write {str(path)!r}: {_reason(error)}") from error


def _take_after(descriptor: int, there: os.stat_result | None) -> bool:
    """Give a new file the owner and mode of the one it replaces; say whether that was possible."""
    if there is None or os.name == "nt":  # which keeps them by itself
        return True
    own = os.fstat(descriptor)
    try:
        if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid):
            os.fchown(descriptor, there.st_uid, there.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
    except PermissionError:
        return False
    return True


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
