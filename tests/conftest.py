"""Settings of the whole suite."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.testing
from hypothesis import settings

TESTS = Path(__file__).parent
OFFLINE = str(TESTS / "offline")
collect_ignore = ["offline"]

os.environ.setdefault("MPLBACKEND", "Agg")  # no window
# Before numpy is loaded: the cores are busy with tests, and threads that wait for work on tiny arrays spin.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# The processes that tests start need not compile the package again, each for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples on every run, and no deadline: a machine's speed is not a property of the code.
settings.register_profile("offsample", derandomize=True, deadline=None, max_examples=100)
settings.load_profile("offsample")

# The command line is the same in every run of it within a process.
typer.testing._get_command = cache(typer.testing._get_command)  # type: ignore[attr-defined]

# Tests change directory, so the path has to be absolute. An empty one means: run without the real data sets.
_beside = TESTS.parent.parent / "shared" / "data"
_data = os.environ.get("OFFSAMPLE_DATA", str(_beside) if _beside.is_dir() else "")
os.environ["OFFSAMPLE_DATA"] = str(Path(_data).resolve()) if _data else ""

# From here on, so that the examples in docstrings are covered as well.
sys.path.insert(0, OFFLINE)
_path = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
os.environ["PYTHONPATH"] = os.pathsep.join([OFFLINE, *map(os.path.abspath, _path)])  # tests change directory
for _name in [name for name in os.environ if name.lower().endswith("_proxy")]:
    del os.environ[_name]  # a proxy on loopback would hide where a connection goes
import loopback  # noqa: E402

_scratch = tempfile.mkdtemp()
atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
_refused = Path(_scratch) / "refused"
os.environ[loopback.REFUSED] = str(_refused)
loopback.refuse()
loopback.close_duckdb()


def pytest_configure(config: pytest.Config) -> None:
    """Collect no garbage among objects that all stay, and keep the order of files from below."""
    gc.disable()
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long files first, where processes share them, so that neither has one left when the other is done."""
    if hasattr(config, "workerinput"):
        slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
        n_tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (-slow[item.path], -n_tests[item.path]))


def pytest_collection_finish() -> None:
    """What is there by now is looked at no more when garbage is collected."""
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def refused_hosts() -> Iterator[Path]:
    """Fail a test that asked for another machine, even if it caught the refusal; the file names the hosts."""
    yield _refused
    if _refused.exists():
        hosts = _refused.read_text(encoding="utf-8").split()
        _refused.unlink()
        pytest.fail(f"asked for connections to {', '.join(hosts)}")


@pytest.fixture
def no_openml(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenML cannot be reached: data sets are in ``OFFSAMPLE_DATA`` or absent."""

    def fetch(*_: object, **__: object) -> None:
        raise OSError("Name or service not known")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Directory of the shared real data sets; tests that use it skip where it is absent."""
    path = Path(os.environ["OFFSAMPLE_DATA"])
    if not (path / "adult.parquet").exists():
        pytest.skip("real data sets are absent: set OFFSAMPLE_DATA to their directory")
    return path


@pytest.fixture(scope="module")
def one_column_left_out() -> Iterator[None]:
    """Full reports do without one column of their model only, not each in turn, which takes most of the time.

    For modules that look at other things; tests/report/test_in_time.py looks at every column.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("offsample.report.sections.in_time._MOST_TRIED", {True: 1, False: 1})
        yield
