"""The form of a report as data: a JSON schema, made from the types of its sections."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from offsample.report._result import NOTICE, SCHEMA_VERSION, Report

_PLAIN = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def report_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of `Report.to_dict`, which is what ``offsample report --json`` prints.

    Every name that it lists is there; a later version of the library may add names, and raises
    ``schema_version`` where it changes or drops one. A number that is not known is null.

    Examples
    --------
    >>> from offsample.report import report_schema
    >>> schema = report_schema()
    >>> schema["properties"]["schema_version"], schema["properties"]["verdict"]
    ({'const': 2}, {'$ref': '#/$defs/Verdict'})
    """
    known: dict[str, Any] = {}
    top = _of_dataclass(Report, known)
    del top["properties"]["estimator"]
    top["required"].remove("estimator")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A report of offsample",
        **top,
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "notice": {"const": NOTICE},
            **top["properties"],
        },
        "required": ["schema_version", "notice", *top["required"]],
        "$defs": dict(sorted(known.items())),
    }


def _of_dataclass(kind: type, known: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties = {one.name: _of(hints[one.name], known) for one in fields(kind)}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _of(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    """Schema of a type; dataclasses are named among those that are known."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        name = kind.__name__  # type: ignore[union-attr]
        if name not in known:
            known[name] = {}
            known[name] = _of_dataclass(kind, known)  # type: ignore[arg-type]
        return {"$ref": f"#/$defs/{name}"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_of(part, known) for part in parts]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is tuple and (len(parts) != 2 or parts[1] is not Ellipsis):
        items = [_of(part, known) for part in parts]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin in (tuple, list, frozenset, set) or (isinstance(origin, type) and issubclass(origin, list)):
        return {"type": "array", "items": _of(parts[0], known)}
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _of(parts[1], known)}
    if kind is float:
        return {"type": ["number", "null"]}
    return {"type": _PLAIN[kind]} if kind in _PLAIN else {}
