"""Connections to other machines are refused: in the tests, and in every Python that they start.

``tests/conftest.py`` installs it and puts this directory on the path of child processes, where Python imports
``sitecustomize`` before anything else. It covers the sockets of Python. Of what compiled code does by itself:

- DuckDB reaches the network by extensions only. Every connection that a test opens in its own process, also
  the one that DuckDB shares, installs and loads none unless it is told to in so many words (``INSTALL``). In
  child processes there are those of the library alone, which do so for ``--allow-external`` only.
- Java connects through a proxy that is not there (``tests/engines/conftest.py``), but for the channels of
  ``java.nio``, which know no proxy; Spark is told to use 127.0.0.1.
- Chromium resolves no name (``tests/browser``).
- Nothing holds back Arrow, polars or Dask, which use the network where they are given a URL: the library
  hands them absolute paths of files that it has found (``tests/engines/test_named_files.py``).
"""

from __future__ import annotations

import ipaddress
import os
import socket
from functools import wraps
from typing import Any

REFUSED = "OFFSAMPLE_REFUSED"  # names the file that all processes of a test session write refusals to


def is_loopback(host: Any) -> bool:
    """Whether a host is this machine, without asking a name server."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _check(host: Any) -> None:
    if is_loopback(host):
        return
    with open(os.environ[REFUSED], "a", encoding="utf-8") as file:  # noqa: PTH123 (as little as possible is imported)
        file.write(f"{host}\n")
    # What an unplugged machine raises: the code under test shows what it does without a network.
    raise OSError(f"tests connect to nothing but loopback, not to {host!r}")


def _of_address(method: Any) -> Any:
    @wraps(method)
    def checked(self: socket.socket, *args: Any) -> Any:
        # The address comes last (sendto may have flags before it); a Unix socket stays on this machine.
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _check(args[-1][0])
        return method(self, *args)

    return checked


def _of_host(function: Any) -> Any:
    @wraps(function)
    def checked(host: Any, *args: Any, **options: Any) -> Any:
        _check(host)
        return function(host, *args, **options)

    return checked


def refuse() -> None:
    """Refuse every address and name but those of this machine, from now on in this process."""
    if hasattr(socket.getaddrinfo, "__wrapped__"):
        return
    # Each is found by name at every call, by asyncio and by the clients of HTTP as well.
    for name in ("connect", "connect_ex", "sendto"):
        setattr(socket.socket, name, _of_address(getattr(socket.socket, name)))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        setattr(socket, name, _of_host(getattr(socket, name)))


def close_duckdb() -> None:
    """Let no connection of DuckDB in this process install or load an extension unasked, from now on."""
    try:
        import duckdb
    except ImportError:  # a test may want it absent
        return
    connect, closed = duckdb.connect, {f"auto{verb}_known_extensions": False for verb in ("install", "load")}

    @wraps(connect)
    def without_extensions(database: Any = ":memory:", *args: Any, **options: Any) -> Any:
        if database == ":default:":  # is there already, with a configuration of its own
            return connect(database, *args, **options)
        return connect(database, *args, **{**options, "config": {**options.get("config", {}), **closed}})

    for name in closed:
        duckdb.execute(f"SET {name} = false")
    duckdb.connect = without_extensions
