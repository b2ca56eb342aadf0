"""A command that is told to end (SIGTERM, SIGHUP) unwinds, and leaves no temporary file."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from offsample.tables import abandon_tables, interrupt_queries

_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
# Seconds until a signal that was not acted on is sent again, and until the process ends without unwinding.
_PATIENCE = 0.1
_LAST_PATIENCE = 5.0


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Unwind when the process is told to end, so that temporary files are removed.

    Python acts on a signal only between two of its own steps. So a thread interrupts the queries of DuckDB,
    sends the signal again where the main thread has just begun to wait for input, and ends the process where
    an engine that cannot be interrupted keeps it.
    """
    can = threading.current_thread() is threading.main_thread()
    if not can or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    main, told, ended = threading.get_ident(), list[int](), threading.Event()
    taken = [number for number in _SIGNALS if signal.getsignal(number) == signal.SIG_DFL]  # not under nohup

    def end(number: int, _: Any) -> None:
        if not told:  # a second one would disturb the tidying up
            told.append(number)
            ended.set()
            raise SystemExit(128 + number)

    def wake() -> None:
        with inbox:
            while received := inbox.recv(1):
                number = received[0]
                if number in (*taken, signal.SIGINT):  # not of another's timer
                    interrupt_queries()
                if number in taken and not ended.wait(_PATIENCE):
                    signal.pthread_kill(main, number)
                    if not ended.wait(_LAST_PATIENCE):
                        abandon_tables()
                        os._exit(128 + number)

    for number in taken:
        signal.signal(number, end)
    inbox, outbox = socket.socketpair()
    outbox.setblocking(False)
    before = signal.set_wakeup_fd(outbox.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=wake, daemon=True).start()
    try:
        yield
    except Exception:
        if told:  # an engine makes an error of its own of it
            raise SystemExit(128 + told[0]) from None
        raise
    finally:
        ended.set()
        for number in taken:
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(before)
        outbox.close()
