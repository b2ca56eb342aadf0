"""Types arrive: what mypy and editors know of every public name."""

import importlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

PACKAGES = ["offsample", *(f"offsample.{name}" for name in (
    "assessment", "boosting", "bounds", "counts", "criteria", "datasets", "evidence", "expected_error",
    "export", "feature_ranker", "induction", "margin", "plotting", "ranking", "report", "tables",
))]  # fmt: skip
# What is returned by these is whatever library the table came from, or matplotlib, which need not be there.
FOREIGN = re.compile(r"^plot_|_frame$|^read_table$|^take_rows$")


@pytest.fixture(scope="module")
def revealed(tmp_path_factory):
    """Type of each public name, as mypy sees it from outside."""
    lines, names = [], []
    for package in PACKAGES:
        lines.append(f"import {package}")
        for name in importlib.import_module(package).__all__:
            lines.append(f"from {package} import {name} as n{len(names)}\nreveal_type(n{len(names)})")
            names.append((package, name))
    path = tmp_path_factory.mktemp("types") / "names.py"
    path.write_text("\n".join(lines), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(path)],
        capture_output=True,
        text=True,
    )
    types = re.findall(r'Revealed type is "(.*)"', run.stdout)
    assert ": error:" not in run.stdout, run.stdout
    return dict(zip(names, types, strict=True))


def test_no_public_name_is_any(revealed):
    assert [name for name, type_ in revealed.items() if type_ == "Any"] == []


def test_public_functions_return_real_types(revealed):
    returning_any = [
        name for name, type_ in revealed.items() if type_.endswith("-> Any") and not FOREIGN.search(name[1])
    ]
    assert returning_any == []
