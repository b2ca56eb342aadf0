"""What an import loads, in a process of its own: this one has everything."""

import json
import subprocess
import sys

# Loaded by the function that needs them, and by no name of the library.
HEAVY = ["altair", "dask", "duckdb", "ibis", "jinja2", "matplotlib", "numba", "polars", "pyspark", "typer"]


def loaded(code: str) -> list[str]:
    """The modules that some code loads beyond those that Python and the environment start with."""
    code = (
        f"import json, sys; known = set(sys.modules); {code}; print(json.dumps([*set(sys.modules) - known]))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return sorted(json.loads(done.stdout))


def test_the_package_by_itself_loads_nothing_but_the_standard_library():
    modules = [
        name for name in loaded("import offsample") if name.split(".")[0] not in sys.stdlib_module_names
    ]
    assert modules == ["offsample", "offsample._lazy"]


def test_no_public_name_loads_anything_heavy():
    modules = loaded("import offsample; names = [getattr(offsample, name) for name in offsample.__all__]")
    assert {"offsample.induction.tree", "offsample.ranking", "offsample.report", "sklearn"} <= set(modules)
    assert [name for name in HEAVY if name in modules] == []


def test_counting_a_small_sample_does_not_compile():
    modules = loaded(
        "from offsample.counts import CellCounts; from offsample.criteria import ginger;"
        "ginger(CellCounts.from_codes([0, 0, 1], [0, 1, 1]))"
    )
    assert "offsample.counts" in modules
    assert "numba" not in modules
