"""Names of a package that load their module on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy_names(package: str, home: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package, given the module that each name is found in.

    A name that is found in the package of the same name is that package, made callable by `make_callable`.
    """

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(home[name])
        return module if home[name] == f"{package}.{name}" else getattr(module, name)

    return get, lambda: sorted(home)


def make_callable(package: str, name: str) -> None:
    """Let a package be called like the function of the same name in it.

    One attribute of `offsample` cannot be both a package and a function: ``offsample.report(…)`` calls the
    package, which hands the call to ``offsample.report.report``.
    """

    class CallablePackage(ModuleType):
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            return getattr(self, name)(*arguments, **options)

    sys.modules[package].__class__ = CallablePackage
