"""Files that are written whole, where they are, as whose they are."""

import os
import socket
import stat
import threading
from importlib import import_module

import pytest
from typer.testing import CliRunner

from offsample.cli import app
from offsample.report import _write
from offsample.report._write import check_writable, write_bytes, write_text

NOT_FOR_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_new_files_have_the_usual_mode(tmp_path):
    write_text(tmp_path / "page.html", "ü\n")
    assert (tmp_path / "page.html").read_bytes() == "ü\n".encode()
    (tmp_path / "other").touch()
    assert (tmp_path / "page.html").stat().st_mode == (tmp_path / "other").stat().st_mode
    assert names(tmp_path) == ["other", "page.html"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_stays(tmp_path, mode):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(mode)
    check_writable(path)
    assert path.read_text() == "old"
    write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_nobody_else_reads_it_before_it_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o600)
    modes = []
    take_after = _write._take_after

    def watch(descriptor, there):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        return take_after(descriptor, there)

    monkeypatch.setattr(_write, "_take_after", watch)
    write_text(path, "new")
    assert modes == [0o600]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    write_text(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_text()) == (12345, 23456, "new")


def test_an_owner_that_cannot_be_kept_is_kept_by_writing_into_the_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("something old and longer")
    inode = path.stat().st_ino

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(_write.os, "fchmod", refuse)
    write_text(path, "new")
    assert (path.stat().st_ino, path.read_text()) == (inode, "new")
    assert names(tmp_path) == ["page.html"]


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "page.html")
    for text in ("first", "second"):  # to nothing, then to a file
        check_writable(tmp_path / "link")
        write_text(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "there" / "page.html").read_text() == text
    assert names(tmp_path / "there") == ["page.html"]


def test_a_pipe_is_written_into(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    check_writable(path)  # waits for nobody
    received = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()))
    reader.start()
    write_bytes(path, b"page")
    reader.join(10)
    assert received == [b"page"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_into():
    before = os.stat("/dev/null")  # noqa: PTH116
    check_writable(_write.Path("/dev/null"))
    write_bytes(_write.Path("/dev/null"), b"page")
    assert os.stat("/dev/null").st_ino == before.st_ino  # noqa: PTH116


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_write.Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["page.html"]


def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("é" * 125 + ".html")
    check_writable(path)
    write_text(path, "page")
    assert path.read_text() == "page"


def test_places_that_cannot_be_written_to(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        check_writable(tmp_path / "nowhere" / "page.html")
    with pytest.raises(IsADirectoryError, match="it is a folder"):
        check_writable(tmp_path)
    with pytest.raises(OSError, match="too long"):
        check_writable(tmp_path / ("x" * 300))
    with pytest.raises(OSError, match=r"cannot write '/proc/page\.html'"):
        check_writable(_write.Path("/proc/page.html"))
    assert names(tmp_path) == []


@NOT_FOR_ROOT
def test_what_may_not_be_written(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OSError, match="permission denied"):
        check_writable(path)
    path.chmod(0o644)
    tmp_path.chmod(0o555)
    try:
        write_text(path, "new")  # the file may be changed though no other may be made beside it
        assert path.read_text() == "new"
        with pytest.raises(OSError, match="permission denied"):
            check_writable(tmp_path / "other.html")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "--demo", "-o", "/proc/page.html"],
        ["tree", "--demo", "--svg", "nowhere/tree.svg"],
        ["rules", "--demo", "--kind", "program", "--svg", "nowhere/program.svg"],
    ],
)
def test_commands_ask_before_they_work(tmp_path, monkeypatch, arguments):
    for module in (f"cli.{arguments[0]}", "report._build"):  # first, or they would keep what stands in below
        import_module(f"offsample.{module}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "offsample.tables.read_table", lambda *_, **__: pytest.fail("read before it was asked")
    )
    monkeypatch.setattr(
        "offsample.tables.open_table", lambda *_, **__: pytest.fail("read before it was asked")
    )
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (1, 2)
    assert result.output.startswith("offsample: cannot write ")
    assert len(result.output.splitlines()) == 1
    assert names(tmp_path) == []


def test_a_socket_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("page.html")
        with pytest.raises(OSError, match=r"cannot write 'page.html': it is a socket"):
            check_writable(_write.Path("page.html"))
