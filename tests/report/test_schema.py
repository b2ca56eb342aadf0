"""The published form of a report's data: reports of all kinds have it, and what has not is told."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import offsample
from offsample.cli import app
from offsample.datasets import make_customers
from offsample.report import report_schema

KINDS = {
    "string": str, "boolean": bool, "integer": int, "number": (int, float), "null": type(None),
    "array": list, "object": dict,
}  # fmt: skip


def faults(value, schema, root, where="$"):
    """What of a value is not as a schema says, by the words of the draft that ours uses."""
    assert schema.keys() <= {
        "$schema", "$defs", "$ref", "title", "type", "properties", "required", "items", "prefixItems",
        "minItems", "maxItems", "anyOf", "enum", "const", "additionalProperties",
    }  # fmt: skip
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, where)
        return
    if "anyOf" in schema:
        if all(list(faults(value, one, root, where)) for one in schema["anyOf"]):
            yield f"{where}: {value!r} is none of {schema['anyOf']}"
        return
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not one of {schema['enum']}"
    types = np.atleast_1d(schema.get("type", [])).tolist()
    is_truth = isinstance(value, bool) and "boolean" not in types
    if types and (is_truth or not any(isinstance(value, KINDS[one]) for one in types)):
        yield f"{where}: {value!r} is no {' or '.join(types)}"
        return
    if isinstance(value, list):
        parts = schema.get("prefixItems") or [schema.get("items", {})] * len(value)
        if len(parts) != len(value):
            yield f"{where}: {len(value)} items, not {len(parts)}"
        for i, (one, part) in enumerate(zip(value, parts, strict=False)):
            yield from faults(one, part, root, f"{where}[{i}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        yield from (f"{where}: {name} is missing" for name in schema.get("required", []) if name not in value)
        for name, one in value.items():
            if name not in known and "additionalProperties" not in schema and known:
                yield f"{where}: {name} is not known"
            yield from faults(
                one, known.get(name, schema.get("additionalProperties", {})), root, f"{where}.{name}"
            )


def _tables():
    random = np.random.default_rng(0)
    n = 400
    x = random.normal(size=n)
    yield "customers", make_customers(800), {"target": "churned", "score": 0.9, "n_test": 500}
    yield "noise", {"x": x, "y": random.integers(0, 2, n)}, {"target": "y"}
    yield "rare", {"x": x, "y": (x + random.normal(size=n) > 2.2).astype(int)}, {"target": "y"}
    yield "costs", {"x": x, "y": (x > 1).astype(int)}, {"target": "y", "costs": {"fn": 5, "fp": 1}}
    groups = {"x": x, "g": np.repeat(np.arange(40), 10), "y": np.repeat(random.integers(0, 2, 40), 10)}
    yield "groups", groups, {"target": "y", "group": "g"}
    yield "numbers", {"x": x, "y": x + random.normal(size=n)}, {"target": "y"}


@pytest.mark.parametrize(
    ("table", "options"), [one[1:] for one in _tables()], ids=[one[0] for one in _tables()]
)
def test_reports_have_the_published_form(table, options):
    report = offsample.report(table, fast=True, **options)
    schema = report_schema()
    told = json.loads(json.dumps(report.to_dict()))
    assert list(faults(told, schema, schema)) == []
    told["verdict"]["error"] = "a lot"
    del told["model"]
    assert len(list(faults(told, schema, schema))) == 2


def test_the_command_prints_it():
    result = CliRunner().invoke(app, ["schema"])
    assert json.loads(result.stdout) == json.loads(json.dumps(report_schema()))
