"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_text(path: Path, text: str) -> None:
    """Write beside, then rename: an interrupted run leaves no half of a file."""
    scratch = path.with_name(f".{path.name[:100]}.{os.getpid()}.part")
    try:
        scratch.write_text(text, encoding="utf-8", newline="\n")
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
