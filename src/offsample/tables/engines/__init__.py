"""The engines that count tables: a module each, listed here, and loaded when it is needed.

No other code asks which engine it is: a module owns, as its ``ENGINE``, what differs from `EngineBase`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import narwhals as nw

if TYPE_CHECKING:
    from offsample.tables.engines._engine import EngineBase

# The engines that read files, which a user may ask for by name.
Engine = Literal["duckdb", "polars", "dask", "spark"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
DEFAULT: Engine = "duckdb"
# Every engine, and what narwhals calls the libraries whose tables it holds.
HOLDERS = {
    "duckdb": ("DUCKDB",),
    "polars": ("POLARS",),
    "dask": ("DASK",),
    "spark": ("PYSPARK", "PYSPARK_CONNECT"),
    "ibis": ("IBIS",),
}


def check_engine(name: str | None) -> None:
    """Raise unless a user may ask for an engine of this name."""
    if name is not None and name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(map(repr, ENGINES))} or None, got {name!r}")


def load(name: str) -> EngineBase:
    """Engine of a name; one that is not listed does what works on all that narwhals knows."""
    module = import_module(f"{__name__}.{name if name in HOLDERS else '_engine'}")
    return cast("EngineBase", module.ENGINE(name))


def require(name: str) -> EngineBase:
    """Engine of a name; raise a sentence that names the extra unless it is installed."""
    engine = load(name)
    if find_spec(engine.package) is None:
        raise ImportError(f"{engine.package} is not installed: pip install {engine.install}")
    return engine


def holder_of(frame: nw.LazyFrame[Any]) -> EngineBase:
    """Engine that holds a frame."""
    held = str(frame.implementation.name)
    return load(next((name for name, libraries in HOLDERS.items() if held in libraries), held.lower()))
