"""Mutated files for the readers, mutated names for the writers of a report; see `long_run`."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["offsample"]):
    import commands

    import offsample
    from offsample.report._html import render_page

CSV = b"x,y,z\n1,a,\xc3\xa9\n2.5,b,\n-inf,a,2024-01-01\n,b,1e309\n1e5,a,t\n"
# Names that stand for those of strangers, in a report that is made once.
NAME, VALUE = "qzname", "qzvalue"


def main(seed: int, seconds: float, folder: Path) -> None:
    """Mutate until the time is over; what was found is written down as it is found."""
    corpus = Path(tempfile.mkdtemp(dir=folder))
    for i, known in enumerate((CSV, b"\x00" + _parquet(), b"\xff<script>\xff\x1b[1m$\\frac{$")):
        (corpus / str(i)).write_bytes(known)
    report = _report()
    found: dict[str, Any] = {"tried": 0, "failures": {}}

    def try_one(data: bytes) -> None:
        found["tried"] += 1
        (folder / "last").write_text(repr(data))
        try:
            if data[:1] == b"\xff":
                _write(report, data[1:])
            else:
                _read(data, folder)
        except commands.Wrong as wrong:
            said = f"{data!r}\n    {wrong}"
            if len(said) < len(found["failures"].get(wrong.key, said + " ")):
                found["failures"][wrong.key] = said
        # The fuzzer does not return, nor does it let anything be done at the end.
        if found["tried"] % 20 == 1:
            (folder / "result").write_text(json.dumps(found))

    limits = [
        f"-max_total_time={int(seconds)}",
        f"-seed={seed + 1}",
        "-rss_limit_mb=4096",
        "-timeout=120",
        "-max_len=4096",
        f"-artifact_prefix={folder}/",
    ]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], try_one)
    atheris.Fuzz()


def _read(data: bytes, folder: Path) -> None:
    """Rank the columns of a file of these bytes."""
    is_parquet = data[:1] == b"\x00"
    path = folder / ("table.parquet" if is_parquet else "table.csv")
    path.write_bytes(data[1:] if is_parquet else data)
    commands.run(["rank", str(path), "--target", "y", "--json"])


def _write(report: offsample.report.Report, data: bytes) -> None:
    """Write a report whose names are these bytes."""
    name, _, value = data.decode("utf-8", "surrogateescape").partition("\udcff")
    renamed = _renamed(report, {NAME: name, VALUE: value})
    for suffix, write in ((".html", render_page), (".md", lambda r: r.to_markdown()), (".json", _as_json)):
        try:
            page = write(renamed)
            page.encode()
        except Exception as error:
            raise commands.Wrong(
                f"report: {type(error).__name__} in writing {suffix}", repr(error)
            ) from error
        commands.check_page("report", suffix, page)


def _as_json(report: offsample.report.Report) -> str:
    return json.dumps(report.to_dict(), allow_nan=False)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    """The same data with other names in every text."""
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{f.name: _renamed(getattr(value, f.name), names) for f in fields(value) if f.init}
        )
    if isinstance(value, dict):
        return {_renamed(key, names): _renamed(item, names) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_renamed(item, names) for item in value)
    return value


def _report() -> offsample.report.Report:
    rows = range(60)
    table = {
        f"{NAME} a": [f"{VALUE} {i % 2}" for i in rows],
        f"{NAME} b": [float(i % 7) for i in rows],
        f"{NAME} c": [f"{VALUE}{i}" for i in rows],
        "y": [f"{VALUE} yes" if i % 2 else "no" for i in rows],
    }
    return offsample.report(table, "y", fast=True, title=f"{NAME}.csv")


def _parquet() -> bytes:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(pa.table({"x": [1.0, 2.5, None], "y": ["a", "b", "a"]}), out, compression="none")
    return out.getvalue()


if __name__ == "__main__":
    main(int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
