"""Names of a package that load their module on first use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package that lists its names for type checkers only.

    The names are those that the package imports under ``if TYPE_CHECKING:``, so that they are written down
    once: editors and mypy see real imports, and Python loads a module when one of its names is first used. A
    name that is also that of a package within is that package, made callable by `make_callable`.
    """
    home = _imports_for_type_checkers(package)

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        inner = f"{package}.{name}"
        return (
            import_module(inner)
            if home[name].startswith(f"{inner}.")
            else getattr(import_module(home[name]), name)
        )

    return sorted(home), get, lambda: sorted(home)


def _imports_for_type_checkers(package: str) -> dict[str, str]:
    """The module of each name."""
    loader: Any = sys.modules[package].__spec__.loader  # type: ignore[union-attr]
    home: dict[str, str] = {}
    for statement in ast.parse(loader.get_source(package)).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            for line in statement.body:
                assert isinstance(line, ast.ImportFrom)
                home |= {alias.name: str(line.module) for alias in line.names}
    return home


def make_callable(package: str, name: str) -> None:
    """Let a package be called like the function of the same name in it.

    One attribute of `offsample` cannot be both a package and a function: ``offsample.report(…)`` calls the
    package, which hands the call to ``offsample.report.report``.
    """

    class CallablePackage(ModuleType):
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return getattr(self, name)(*arguments, **options)

    sys.modules[package].__class__ = CallablePackage
