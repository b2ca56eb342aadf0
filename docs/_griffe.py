"""Extension of griffe: lazily loaded names are members of their package, and comments describe fields."""

from __future__ import annotations

from typing import Any

import griffe


class OurConventions(griffe.Extension):
    """What our code says in its own way."""

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """List the names that a package imports for type checkers, and loads on first use (`_lazy`)."""
        if "lazy_names" in mod.imports:
            ours = {name: home for name, home in mod.imports.items() if home.startswith("offsample.")}
            mod.exports = [name for name, home in ours.items() if not home.startswith("offsample._lazy.")]

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Take the comment behind a field of a class for its description."""
        comment = attr.source.partition("  # ")[2].strip()
        if comment and attr.docstring is None and attr.parent is not None and attr.parent.is_class:
            attr.docstring = griffe.Docstring(f"{comment}.", parent=attr)
