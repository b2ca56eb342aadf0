"""The experiments, listed or repeated: what ``python -m papers`` and ``offsample reproduce`` print."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from papers._experiments import experiments, record
from papers._verdicts import recorded

__all__ = ["reproduce"]


def reproduce(name: str = "list", output: Path | None = None) -> tuple[Any, str]:
    """Repeat an experiment, or list them all.

    Parameters
    ----------
    name : str
        That of an experiment, or "list".
    output : Path or None
        A folder for the tables and figures; None keeps no file.

    Returns
    -------
    found : dict, or list of dict
        What was recorded of the experiment, or a row of the list for each of them.
    text : str
        The same to be read.
    """
    known = experiments()
    if name == "list":
        rows = [_row(name, chosen) for name, chosen in known.items()]
        width = max(len(row["name"]) for row in rows)
        return rows, "\n".join(f"{row['name']:<{width}}  {_took(row):>18}  {row['title']}" for row in rows)
    if name not in known:
        raise ValueError(f"no experiment is called {name!r}: `offsample reproduce list` names them all")
    with TemporaryDirectory() as scratch:
        outcome = record(known[name], output or Path(scratch))
        found: Any = recorded(name, output or Path(scratch))
    kept = "Nothing was written. To keep them, name a folder with --output."
    if output is not None:
        kept = f"Written to {output}: {', '.join([f'{name}.txt', f'{name}.json', *found['figures']])}"
    return found, f"{known[name].title}\n\n{outcome}\n\n{kept}"


def _row(name: str, chosen: Any) -> dict[str, Any]:
    found = recorded(name) or {}
    # Wall-clock time tells how busy the machine was; CPU time is what a reader can expect.
    row = {"name": name, "title": chosen.title, **{k: found.get(k) for k in ("seconds", "cpu_seconds")}}
    return row if chosen.run else {**row, "reason": chosen.reason}


def _took(row: dict[str, Any]) -> str:
    if "reason" in row:
        return "cannot be repeated"
    seconds = row["cpu_seconds"]
    if seconds is None:
        return ""
    return f"{seconds:,.0f} CPU s" if seconds < 100 else f"{seconds / 60:,.0f} CPU min"
