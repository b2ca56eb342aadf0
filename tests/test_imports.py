"""What `import offsample` costs, in modules and in time."""

import json
import subprocess
import sys

HEAVY = ["pandas", "polars", "matplotlib", "altair", "duckdb", "jinja2", "numba", "pyarrow", "dask", "typer"]


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_import_loads_nothing_heavy():
    # In a process of its own: this one has them all.
    loaded = run(f"import sys, json, offsample; print(json.dumps([m for m in {HEAVY} if m in sys.modules]))")
    assert json.loads(loaded) == []


def test_import_is_cheap():
    seconds = run(
        "import time, numpy, sklearn.base; start = time.process_time(); import offsample;"
        "print(time.process_time() - start)"
    )
    assert float(seconds) < 0.150


def test_counting_a_small_sample_does_not_compile():
    code = (
        "import sys; from offsample.counts import CellCounts; from offsample.criteria import ginger;"
        "ginger(CellCounts.from_codes([0, 0, 1], [0, 1, 1])); print('numba' in sys.modules)"
    )
    assert run(code).strip() == "False"
