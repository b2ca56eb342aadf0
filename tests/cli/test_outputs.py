"""Files that commands write, and how they end when they are told to."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.cli._signals import ended_in_order

run = CliRunner().invoke
FULL = Path("/dev/full")
READ = "it is read, and would be lost"


@pytest.fixture
def table(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": y ^ (rng.random(80) < 0.1), "y": y}).to_csv("table.csv", index=False)
    return tmp_path / "table.csv"


def refused(arguments, *words):
    result = run(app, arguments)
    assert (result.exit_code, len(result.output.splitlines())) == (2, 1), result.output
    for word in words:
        assert word in result.output
    assert "Errno" not in result.output


@pytest.mark.parametrize("name", ["table.csv", "link.csv", "other-name.csv", "./table.csv"])
@pytest.mark.parametrize(
    "command",
    [
        ["report", "--fast", "-o"],
        ["tree", "--svg"],
        ["rules", "--kind", "program", "--svg"],
    ],
)
def test_what_is_read_is_not_written(table, name, command):
    before = table.read_bytes()
    (table.parent / "link.csv").symlink_to(table)
    os.link(table, "other-name.csv")
    verb, *options = command
    refused([verb, "table.csv", "-t", "y", *options, name], READ)
    refused([verb, "ta*.csv", "-t", "y", *options, name], READ)
    refused([verb, "SELECT * FROM 'table.csv'", "-t", "y", *options, name], READ)
    assert table.read_bytes() == before


def test_scores_and_folders_are_not_written_over_either(table, tmp_path):
    (tmp_path / "scores.json").write_text("f1,f2\n.5,.6\n.7,.8\n")
    refused(["report", "table.csv", "-t", "y", "--scores", "scores.json", "-o", "scores.json"], READ)
    (tmp_path / "parts").mkdir()
    table.rename(tmp_path / "parts" / "one.csv")
    refused(["report", "parts", "-t", "y", "-o", "parts/one.csv"], READ)


def test_the_end_of_the_name_says_what_is_written(table, tmp_path):
    beginnings = {"page.html": "<!doctype html>", "page.md": "# ", "page.JSON": "{\n"}
    for name, beginning in beginnings.items():
        result = run(app, ["report", "table.csv", "-t", "y", "--fast", "-o", name])
        assert (result.exit_code, result.output) == (0, f"{name}\n")
        assert (tmp_path / name).read_text().startswith(beginning)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["report", "-o", "page.pdf"], "a name that ends in .html, .md or .json"),
        (["report", "-o", "page"], "a name that ends in .html, .md or .json"),
        (["tree", "--svg", "tree.zz"], "a name that ends in .svg"),
        (["rules", "--kind", "program", "--svg", "tree"], "a name that ends in .svg"),
        (["report", "-o", "table.csv/page.html"], "'table.csv' is no folder"),
        (["report", "-o", "circle"], "its symbolic links lead in a circle"),
        (["tree", "--svg", "circle/tree.svg"], "cannot write 'circle/tree.svg'"),
        (["report", "-o", "none/page.html"], "cannot write 'none/page.html': there is no folder"),
        (["report", "-o", "/proc/page.html"], "cannot write '/proc/page.html'"),
        (["tree", "--svg", "/proc/tree.svg"], "cannot write '/proc/tree.svg'"),
    ],
)
def test_a_place_that_will_not_do_is_refused_before_the_work(
    table, tmp_path, monkeypatch, arguments, expected
):
    (tmp_path / "circle").symlink_to("circle")
    for name in ("read_table", "open_table"):
        monkeypatch.setattr(
            f"offsample.tables.{name}", lambda *_, **__: pytest.fail("read before it was asked")
        )
    verb, *options = arguments
    refused([verb, "table.csv", "-t", "y", *options], expected, "cannot write")


def test_a_folder_that_will_not_do_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in ("/proc/none/figures", tmp_path / "file" / "figures", tmp_path / "file"):
        refused(["reproduce", "ginger.fig1", "-o", str(folder)], f"cannot write into {str(folder)!r}: ")


@pytest.mark.skipif(not FULL.exists(), reason="no device that is full")
@pytest.mark.parametrize("command", [["rank"], ["rank", "--json"], ["tree"], ["report", "--fast", "--json"]])
def test_a_full_disk_is_named(table, command):
    verb, *options = command
    line = [sys.executable, "-m", "offsample", verb, "table.csv", "-t", "y", *options]
    with FULL.open("w") as full:
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
    said = "offsample: cannot write to standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.skipif(not FULL.exists(), reason="no device that is full")
def test_a_page_on_a_full_disk_is_named(table):
    result = run(app, ["report", "table.csv", "-t", "y", "--fast", "-o", "/dev/full"])
    assert result.exit_code == 1
    assert result.stderr == "offsample: cannot write '/dev/full': no space left on device\n"


def test_another_name_of_the_page_keeps_the_old_one(table, tmp_path):
    (tmp_path / "page.md").write_text("old")
    os.link("page.md", "kept.md")
    assert run(app, ["report", "table.csv", "-t", "y", "--fast", "-o", "page.md"]).exit_code == 0
    assert (tmp_path / "kept.md").read_text() == "old"
    assert (tmp_path / "page.md").read_text() != "old"


def test_a_home_that_cannot_be_written_to_is_no_news(table, tmp_path):
    (tmp_path / "home").write_text("no folder, so that nothing can be made in it")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG", "MPL"))}
    command = [sys.executable, "-m", "offsample", "tree", "table.csv", "-t", "y", "--svg", "tree.svg"]
    done = subprocess.run(
        command, env={**kept, "HOME": str(tmp_path / "home")}, capture_output=True, text=True, check=True
    )
    assert "atplotlib" not in done.stderr
    assert (tmp_path / "tree.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    "command",
    [["rank"], ["select"], ["tree"], ["rules"], ["forecast"], ["report", "--fast", "-o", "page.html"]],
    ids=lambda command: command[0],
)
def test_a_table_of_nothing_but_the_target_is_refused_alike(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "only.csv").write_text("y\n" + "a\nb\n" * 10)
    refused([*command, "only.csv", "-t", "y"], "no columns are left to learn from: expected at least one")


@pytest.mark.parametrize(
    "command", [["rank"], ["tree"], ["report", "--fast", "-o", "page.html"]], ids=lambda command: command[0]
)
def test_a_damaged_file_is_bad_input(tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {f"c{i}": rng.normal(size=60_000) for i in range(3)} | {"y": rng.integers(0, 2, 60_000)}
    )
    rows.to_parquet("t.parquet", compression=None, use_dictionary=False)
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    middle = len(content) // 2
    content[4:middle] = bytes((i * 7) % 256 for i in range(middle - 4))
    (tmp_path / "t.parquet").write_bytes(content)
    refused([*command, "t.parquet", "-t", "y"], "cannot be read")


def told_to_end(command, scratch, number, seconds=1.0):
    """Run a command until it is at work, tell it to end, and return how it ends."""
    environment = {**os.environ, "TMPDIR": str(scratch), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["_JAVA_OPTIONS"] = f"-Djava.io.tmpdir={scratch}"
    before = signal.signal(number, signal.SIG_DFL)  # what nohup ignores would be ignored by the command too
    process = subprocess.Popen([sys.executable, *command], env=environment, stderr=subprocess.DEVNULL)
    signal.signal(number, before)
    try:
        while not list(scratch.glob("offsample-*")):
            time.sleep(0.05)
            assert process.poll() is None
        time.sleep(seconds)
        process.send_signal(number)
        return process.wait(60)
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("verb", ["rank", "tree"])
def test_told_to_end_in_the_middle_of_a_query(tmp_path, verb, number):
    """A query that takes hours ends at once, and leaves no file."""
    endless = "SELECT a % 7 AS x, (a * b) % 2 AS y FROM range(3000000) t(a), range(3000000) u(b)"
    ended = told_to_end(["-m", "offsample", verb, endless, "-t", "y"], tmp_path, number)
    assert (ended, list(tmp_path.iterdir())) == (128 + number, [])


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
@pytest.mark.parametrize("engine", ["polars", "dask", "spark"])
def test_told_to_end_on_other_engines(tmp_path, engine):
    package = {"spark": "pyspark"}.get(engine, engine)
    pytest.importorskip(package)
    (tmp_path / "table.csv").write_text("x,y\n" + "1,0\n2,1\n" * 200_000)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    # Of Spark before it has started: Java would run on, and keep its files.
    command = ["-m", "offsample", "rank", str(tmp_path / "table.csv"), "-t", "y", "--engine", engine]
    assert told_to_end(command, scratch, signal.SIGTERM, 0.3) == 128 + signal.SIGTERM
    for _ in range(200):  # until Java, which ends when we have, has removed its own
        if not list(scratch.iterdir()):
            break
        time.sleep(0.1)
    assert not list(scratch.iterdir())


# An engine that cannot be interrupted: a computation of minutes, in one step of Python.
BUSY = """
import hashlib
from contextlib import ExitStack
from offsample.cli._signals import ended_in_order
from offsample.tables._databases import scratch_directory
with ended_in_order(), ExitStack() as stack:
    (scratch_directory(stack) / "file").write_text("")
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)
"""


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
def test_told_to_end_in_what_cannot_be_interrupted(tmp_path):
    assert told_to_end(["-c", BUSY], tmp_path, signal.SIGTERM) == 128 + signal.SIGTERM
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM")
def test_told_to_end_just_before_waiting_for_input():
    """The signal is taken by another thread, so that it does not interrupt the read of this one."""
    inbox, outbox = os.pipe()
    done, in_time = threading.Event(), []

    def tell():
        time.sleep(0.5)  # until the other one waits
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)
        in_time.append(done.wait(20))
        os.write(outbox, b"go on")

    teller = threading.Thread(target=tell)
    teller.start()
    with pytest.raises(SystemExit, match=str(128 + signal.SIGTERM)), ended_in_order():
        os.read(inbox, 8)
    done.set()
    teller.join()
    os.close(inbox)
    os.close(outbox)
    assert in_time == [True]
