"""No test reaches another machine: what refuses it, refuses."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import pytest

from offsample.datasets import load

ELSEWHERE = "192.0.2.1"  # an address of documentation (RFC 5737): it belongs to nobody


def told(refused_hosts: Path) -> list[str]:
    """The hosts that were refused; forgets them, so that the test does not fail by them."""
    hosts = refused_hosts.read_text(encoding="utf-8").split()
    refused_hosts.unlink()
    return hosts


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_another_address_is_refused(method: str, refused_hosts: Path) -> None:
    with socket.socket() as client, pytest.raises(OSError, match=r"nothing but loopback, not to '192.0.2.1'"):
        getattr(client, method)((ELSEWHERE, 80))
    with socket.socket(socket.AF_INET6) as client, pytest.raises(OSError, match="nothing but loopback"):
        getattr(client, method)(("2001:db8::1", 80, 0, 0))
    assert told(refused_hosts) == [ELSEWHERE, "2001:db8::1"]


def test_a_datagram_is_refused(refused_hosts: Path) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        for arguments in (((ELSEWHERE, 53),), (0, (ELSEWHERE, 53))):
            with pytest.raises(OSError, match="nothing but loopback"):
                client.sendto(b"?", *arguments)
    assert told(refused_hosts) == [ELSEWHERE] * 2


@pytest.mark.parametrize("ask", [socket.gethostbyname, socket.gethostbyname_ex, socket.getaddrinfo])
def test_no_name_server_is_asked(ask: object, refused_hosts: Path) -> None:
    arguments = ("example.org", 80) if ask is socket.getaddrinfo else ("example.org",)
    with pytest.raises(OSError, match="nothing but loopback"):
        ask(*arguments)  # type: ignore[operator]
    assert told(refused_hosts) == ["example.org"]


def test_libraries_are_refused(refused_hosts: Path) -> None:
    with pytest.raises(OSError, match="nothing but loopback"):
        urlopen("https://example.org")
    with pytest.raises(OSError, match="nothing but loopback"):
        # In a thread: tests of the browser leave a loop running in this one.
        ThreadPoolExecutor(1).submit(asyncio.run, asyncio.open_connection(ELSEWHERE, 80)).result()
    # A file that is not there is asked of OpenML: without a network that is an error of one sentence.
    with pytest.raises(FileNotFoundError, match="could not be fetched from OpenML"):
        load("no_such_set")
    hosts = told(refused_hosts)
    assert hosts[:2] == ["example.org", ELSEWHERE]
    assert {host.partition(".")[2] for host in hosts[2:]} == {"openml.org"}


def test_duckdb_loads_no_extension(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    asked = {"autoinstall_known_extensions": True, "autoload_known_extensions": True}
    for connection in (
        duckdb, duckdb.connect(), duckdb.connect(":memory:", config=asked), duckdb.connect(tmp_path / "t.db")
    ):  # fmt: skip
        with pytest.raises(duckdb.Error, match="httpfs"):
            connection.execute(f"FROM 'http://{ELSEWHERE}/t.csv'")
        assert connection.execute("SELECT current_setting('autoinstall_known_extensions')").fetchall() == [
            (False,)
        ]


def test_a_child_process_is_refused(refused_hosts: Path) -> None:
    code = "import socket; socket.create_connection(('example.org', 80))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "nothing but loopback, not to 'example.org'" in done.stderr
    assert told(refused_hosts) == ["example.org"]


def test_a_refusal_that_was_caught_fails_the_test(pytester_conftest: Path) -> None:
    ask = "with contextlib.suppress(OSError): socket.gethostbyname"
    (pytester_conftest / "test_quiet.py").write_text(
        "import contextlib, socket, subprocess, sys\n"
        f"CODE = \"import contextlib, socket\\n{ask}('b.org')\"\n"
        f"def test_here():\n    {ask}('a.org')\n"
        "def test_in_a_child():\n    subprocess.run([sys.executable, '-c', CODE], check=True)\n"
        "def test_none():\n    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_quiet.py"]
    done = subprocess.run(command, cwd=pytester_conftest, capture_output=True, text=True, check=False)
    assert "asked for connections to a.org" in done.stdout
    assert "asked for connections to b.org" in done.stdout
    assert "3 passed, 2 errors" in done.stdout


@pytest.fixture
def pytester_conftest(tmp_path: Path) -> Path:
    """A directory of tests with the settings of this one."""
    here = Path(__file__).parent
    (tmp_path / "conftest.py").symlink_to(here / "conftest.py")
    (tmp_path / "offline").symlink_to(here / "offline")
    return tmp_path


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = Thread(target=lambda: server.accept()[0].close())
        answer.start()
        for host in ("127.0.0.1", "localhost"):
            assert socket.getaddrinfo(host, server.getsockname()[1])
        with socket.create_connection(("localhost", server.getsockname()[1]), timeout=10) as client:
            assert client.recv(1) == b""
        answer.join()


def test_unix_sockets_are_open(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "here"))
        server.listen()
        client.connect(str(tmp_path / "here"))
