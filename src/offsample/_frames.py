"""Results as dataframes, of whichever library is installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def make_frame(columns: dict[str, list[Any]]) -> Any:
    """Dataframe of these columns: pandas if it is installed, else polars, else pyarrow."""
    for library, constructor in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        if find_spec(library):
            return getattr(import_module(library), constructor)(columns)
    raise ImportError("to_frame needs a dataframe library: pip install 'offsample[pandas]'")
