"""What reaches a terminal or a pipe: tables that fit, and nothing that a stranger wrote acts there."""

import fcntl
import importlib
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len
from typer.testing import CliRunner

from offsample.cli import app
from offsample.cli._screen import print_model

run = CliRunner().invoke
COLOUR, CLEAR, TITLE, C1 = "\x1b[35;7m", "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m"
TARGET = f"{TITLE}target\u202e"
COMMANDS = {
    "rank": ["rank"],
    "select": ["select"],
    "tree": ["tree"],
    "forecast": ["forecast", "--splits", "0", "--splits", "2"],
    "report": [
        "report",
        "--fast",
        "--verbose",
        "-o",
        "page.html",
        "--fail-on",
        "leak,no-evidence,identifier",
    ],
    **{
        f"rules-{kind}": ["rules", "--kind", kind]
        for kind in ("list", "dnf", "program", "committee", "symmetric")
    },
}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A table in which names, values and classes try to act on the terminal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 90)
    values = np.array([f"{COLOUR}a\nb", f"{C1}[red]b[/red]", f"{TITLE}c", "\r" * 80])
    table = {
        f"{CLEAR}{COLOUR}good": values[2 * y + (rng.random(90) < 0.5)],
        f"two\nlines {C1}": np.where(rng.random(90) < 0.85, y, 1 - y),
        "[bold]markup[/bold] [link=x]": rng.choice(values, 90),
        "名" * 60: rng.normal(size=90) + y,
        "x" * 3000 + "\x1b": rng.normal(size=90),
        TARGET: np.array([f"{COLOUR}no", f"{TITLE}yes\n"])[y],
    }
    path = tmp_path_factory.mktemp("hostile") / "table.parquet"
    pd.DataFrame(table).to_parquet(path)
    return str(path)


def on_a_terminal(arguments, monkeypatch, columns=80):
    """Run a command whose output and errors are a terminal; return its exit code and what arrived there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    received = []

    def read():
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:  # the other side was closed
                return
            if not chunk:
                return
            received.append(chunk)

    reader = threading.Thread(target=read)
    reader.start()
    code = 0
    try:
        with os.fdopen(slave, "w", encoding="utf-8") as stream, monkeypatch.context() as patched:
            patched.setenv("TERM", "xterm")
            patched.setattr(sys, "stdout", stream)
            patched.setattr(sys, "stderr", stream)
            try:
                app(arguments)
            except SystemExit as end:
                code = end.code
    finally:
        reader.join(10)
        os.close(master)
    return code, b"".join(received).decode("utf-8").replace("\r\n", "\n")


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_strangers_do_not_act_on_a_terminal(hostile, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    code, text = on_a_terminal([verb, hostile, "-t", TARGET, *options], monkeypatch)
    assert code in (0, 3), text
    for attack in (COLOUR, CLEAR, TITLE, C1, "\u202e"):
        assert attack not in text
    ours = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)  # bold, faint, the progress bar
    assert re.findall(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f]", ours) == []
    if verb != "report":
        assert r"\x1b]0;owned\x07target" in text


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_strangers_do_not_act_in_a_pipe(hostile, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    result = run(app, [verb, hostile, "-t", TARGET, *options])
    assert result.exit_code in (0, 3), result.output
    assert re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", result.output) == []
    if verb in ("rank", "select"):
        assert "[bold]markup[/bold]" in result.output
        assert r"two\nlines" in result.output
        assert all(cell_len(line) <= 80 for line in result.output.splitlines())
    if verb == "report":
        assert result.stdout == "page.html\n"


def test_words_of_strangers_in_errors(hostile):
    for arguments in (["-t", "\x1b[2Jnothing"], ["-t", "x"], ["-t", TARGET, "-f", "\x1b[2J"]):
        result = run(app, ["rank", hostile, *arguments])
        assert result.exit_code == 2
        assert len(result.output.splitlines()) == 1
        assert "\x1b" not in result.output


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 130, 200])
def test_a_ranking_fits_the_terminal(monkeypatch, columns):
    code, text = on_a_terminal(["rank", "--demo"], monkeypatch, columns)
    assert code == 0
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r", "\n").splitlines()
    table = lines[next(i for i, line in enumerate(lines) if re.match("col", line)) :]
    assert len(table) == 12
    assert all(cell_len(line) <= columns for line in table)
    assert ("●" in text) == ("(┆ in the chart)" in " ".join(text.split())) == (columns >= 130)
    assert ("on the sample" in table[0]) == (columns >= 80)
    assert "gain" in table[0] or columns < 40


def test_a_pipe_has_eighty_columns_or_those_that_are_asked_for():
    assert max(map(len, run(app, ["rank", "--demo"]).output.splitlines())) <= 80
    assert "●" in run(app, ["rank", "--demo"], env={"COLUMNS": "130"}).output


def test_terminals_without_colour_get_none(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    _, text = on_a_terminal(["plan", "--rows", "1000", "--configurations", "5"], monkeypatch)
    assert "\x1b" not in text


def environment(**variables):
    return {**os.environ, **variables}


RANK = [sys.executable, "-m", "offsample", "rank", "--demo"]


@pytest.mark.parametrize("variables", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}])
def test_plain_characters_where_there_are_no_others(variables):
    done = subprocess.run(RANK, env=environment(COLUMNS="130", **variables), capture_output=True, check=True)
    text = done.stdout.decode("ascii")
    assert "0.0385  0.0351-0.0426   o-               |" in text
    assert all(len(line) <= 130 for line in text.splitlines())
    assert done.stderr == b""


def test_names_in_other_alphabets_keep_the_table_straight(tmp_path):
    table = pd.DataFrame({"größe": list("aabb") * 10, "x": list("abab") * 10, "y": list("nnpp") * 10})
    table.to_csv(tmp_path / "t.csv", index=False)
    command = ["rank", str(tmp_path / "t.csv"), "-t", "y"]
    lines = run(app, command, env={"LC_ALL": "C"}).output.splitlines()
    places = {line.index("0.") for line in lines if line.startswith((r"gr\xf6\xdfe", "x "))}
    assert len(places) == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams(closed):
    command = f'"$0" -m offsample plan --rows 1000 --configurations 5 {closed}'
    done = subprocess.run(["bash", "-c", command, sys.executable], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"Hold out 200") == (not closed.startswith(">&-"))


def test_a_ranking_into_a_closed_stream():
    done = subprocess.run(
        ["bash", "-c", '"$0" -m offsample rank --demo >&-', sys.executable], capture_output=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_reader_that_leaves_early_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "offsample", "plan", "--rows", "1000", "--configurations", "5"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_sentence():
    command = '"$0" -m offsample plan --rows 1000 --configurations 5 > /dev/full'
    done = subprocess.run(["bash", "-c", command, sys.executable], capture_output=True, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "No space left on device" in done.stderr


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("division by zero"), KeyError("a\x1b"), AssertionError(), RecursionError("deep")],
)
def test_what_nobody_foresaw_is_one_sentence(monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(importlib.import_module("offsample.cli.rank"), "rank_features", fail)
    result = run(app, ["rank", "--demo"])
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.fullmatch(
        rf"offsample: stopped by an unforeseen error \({type(error).__name__}: .+\); details are shown by "
        r"the same command with --verbose\n",
        result.stderr,
    )
    detailed = run(app, ["rank", "--demo", "--verbose"])
    assert detailed.exit_code == 1
    assert "Traceback" in detailed.stderr
    assert "details are above" in detailed.stderr
    assert "\x1b" not in detailed.stderr


@pytest.mark.parametrize("mistake", [lambda: int("x"), lambda: len(None), lambda: np.zeros(2) + np.zeros(3)])
def test_a_mistake_of_ours_is_not_called_bad_input(monkeypatch, mistake):
    """The same types of errors mean bad input where we raise them, and a mistake where Python does."""
    module = importlib.import_module("offsample.cli.rank")
    monkeypatch.setattr(module, "rank_features", lambda *_, **__: mistake())
    result = run(app, ["rank", "--demo"])
    assert result.exit_code == 1
    assert "unforeseen" in result.stderr


def test_no_memory_is_said_so(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(importlib.import_module("offsample.cli.rank"), "rank_features", fail)
    result = run(app, ["rank", "--demo"])
    assert (result.exit_code, result.stderr) == (1, "offsample: not enough memory: MemoryError\n")


@pytest.mark.parametrize(
    "verb", ["columns", "rank", "select", "tree", "rules", "forecast", "audit", "plan", "report", "reproduce"]
)
def test_help_is_plain(verb):
    text = run(app, [verb, "--help"]).output
    assert text.isascii()
    assert "--verbose" in text
    assert all(len(line) <= 80 for line in text.splitlines())
    words = " ".join(text.split())
    for talk in (
        "beside you",
        "Theorem",
        "list[",
        "prolong",
        "Of the ",
        "so many.",
        "Of folds",
        "Of everything",
    ):
        assert talk not in words


def test_the_list_of_commands_fits():
    commands = run(app, ["--help"]).output.partition("Commands:")[2]
    assert len(commands.strip().splitlines()) == 12
    assert "..." not in commands


def test_drawings_of_what_strangers_wrote(tmp_path):
    y = np.arange(80) % 2
    table = {r"$\frac{$": np.where(np.arange(80) % 9, y, 0), "t": np.array(["$no$\x01", "\x1b]0;yes\x07"])[y]}
    pd.DataFrame(table).to_parquet(tmp_path / "t.parquet")
    drawing = tmp_path / "tree.svg"
    result = run(app, ["tree", str(tmp_path / "t.parquet"), "-t", "t", "--svg", str(drawing)])
    assert result.exit_code == 0, result.output
    assert drawing.read_bytes().startswith(b"<?xml")
    assert not re.search(rb"[\x00-\x08\x1b]", drawing.read_bytes())


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 400)
    table = pd.DataFrame({"x": x, "age": 20 + 10 * x + rng.integers(0, 10, 400), "z": rng.normal(size=400)})
    path = tmp_path_factory.mktemp("numbers") / "ages.parquet"
    table.to_parquet(path)
    return str(path)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("arguments", [c for name, c in COMMANDS.items() if name in (
    "rank", "select", "tree", "forecast", "report", "rules-list")], ids=lambda c: c[0])  # fmt: skip
def test_many_numbers_as_classes_are_said_first(numbers, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    verb, *options = arguments
    if verb == "report":
        options = ["--fast"]
    if verb in ("rank", "report", "tree", "forecast"):  # which take them as numbers unless asked not to
        options = [*(options if verb != "rank" else []), "--task", "classification"]
    result = run(app, [verb, numbers, "-t", "age", *options])
    said = " ".join(result.stderr.split())
    assert said.startswith("offsample: target 'age' holds 40 different numbers, and each is taken as a class")
    assert "cut them into ranges first" in said
    assert said.count("different numbers") == 1
    cut = f"SELECT * REPLACE (ntile(4) OVER (ORDER BY age) AS age) FROM '{numbers}'"
    text = f"SELECT * REPLACE (CAST(age AS VARCHAR) AS age) FROM '{numbers}'"
    if verb in ("rank", "tree"):  # both ways out that are offered
        for query in (cut, text):
            result = run(app, [verb, query, "-t", "age"])
            assert (result.exit_code, result.stderr) == (0, "")


def test_errors_are_broken_at_words_on_a_terminal_and_one_line_in_a_log(monkeypatch):
    arguments = ["rank", "--demo", "--criterion", "nothing"]
    _, text = on_a_terminal(arguments, monkeypatch)
    lines = text.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= 80 for line in lines)
    assert [" ".join(lines)] == run(app, arguments).output.splitlines()


def test_a_line_of_a_tree_goes_on_below(monkeypatch, capsys):
    text = (
        "all rows: 9 rows\n|   |   when: month in {" + ", ".join(["January"] * 12) + "}: 5 rows, yes (0.770)"
    )
    print_model(text)
    assert capsys.readouterr().out == text + "\n"  # a pipe has no width
    monkeypatch.setenv("COLUMNS", "80")
    print_model(text)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first == "all rows: 9 rows"
    assert max(map(len, rest)) <= 80
    assert all(line.startswith("|   |       ") for line in rest[1:])
    assert " ".join(" ".join(line.lstrip("| ") for line in rest).split()) == text.splitlines()[1].lstrip("| ")
