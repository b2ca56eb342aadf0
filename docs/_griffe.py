"""Extension of griffe: names that a package loads on first use are members of it like any other."""

from __future__ import annotations

import ast
from typing import Any

import griffe


class LazyNames(griffe.Extension):
    """Read the dict ``_HOME`` of our packages: name -> module that has it."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Add an alias for each name; a package that is called like its function is there already."""
        if "_HOME" not in mod.members:
            return
        for name, home in ast.literal_eval(str(mod.members["_HOME"].value)).items():
            if home != f"{mod.path}.{name}":
                mod.set_member(name, griffe.Alias(name, f"{home}.{name}", parent=mod))
