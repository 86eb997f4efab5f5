"""Where callers and hands meet: on the driver, between a socket of this machine and the executors."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.probes.transports.spark.frames import Kind, send, tell, told
from harness.probes.transports.spark.proxy import UNREACHED

ANSWER_S = 30.0


class Relay:
    """Joins each caller at `path`, which only its owner can reach, with the hand on the host it names.

    Executors come in by TCP at `port`, on every address of this machine; they have to know `secret`.
    """

    def __init__(self, path: Path) -> None:
        self.secret = secrets.token_hex(32)
        self._changed = threading.Condition()
        self._hands: dict[str, socket.socket] = {}
        self._no_more = False
        self._orders = 0
        self._open: dict[int, socket.socket | None] = {}
        self._executors = socket.create_server(("", 0), backlog=1024)
        self._callers = socket.socket(socket.AF_UNIX)
        self._callers.bind(os.fspath(path))
        self._callers.listen(1024)
        self.port = int(self._executors.getsockname()[1])
        self._keeper_came, self._keeper_left = threading.Event(), threading.Event()
        for listener, welcome in ((self._executors, self._hand), (self._callers, self._caller)):
            threading.Thread(target=_welcome, args=(listener, welcome), daemon=True).start()

    def await_hands(self, hosts: int, timeout_s: float) -> set[str]:
        """The hosts that have a hand, when so many have one, no more will come, or the time is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._no_more or len(self._hands) >= hosts, timeout_s)
            return set(self._hands)

    def expect_no_more(self) -> None:
        """No hand comes any more."""
        with self._changed:
            self._no_more = True
            self._changed.notify_all()

    def await_end(self) -> None:
        """Return when whoever keeps the hub has hung up, or nobody comes to keep it."""
        if self._keeper_came.wait(ANSWER_S):
            self._keeper_left.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for listener in (self._executors, self._callers):
            listener.close()
        with self._changed:
            for line in self._hands.values():
                _hang_up(line)

    def _hand(self, line: socket.socket) -> None:
        line.settimeout(ANSWER_S)
        said = told(line)
        line.settimeout(None)
        if said is None or not secrets.compare_digest(str(said.get("secret")), self.secret):
            line.close()
            return
        with self._changed:
            if "host" in said:
                self._hands[said["host"]] = line
            elif said.get("order") in self._open:
                self._open[said["order"]] = line
            else:
                line.close()
            self._changed.notify_all()

    def _caller(self, line: socket.socket) -> None:
        with line:
            said = told(line)
            if said is None:
                return
            if "keep" in said:
                self._keeper_came.set()
                told(line)  # nothing comes but its end
                self._keeper_left.set()
                return
            hand = self._hands.get(said["host"])
            served = None if hand is None else self._order(hand, said)
            if served is None:
                self._refuse(line, said["host"])
                return
            with served:
                _join(line, served)

    def _order(self, hand: socket.socket, said: Mapping[str, Any]) -> socket.socket | None:
        """The line to the command that is run; None if none comes."""
        with self._changed:
            self._orders += 1
            order = self._orders
            self._open[order] = None
            try:
                tell(hand, order=order, command=said["command"])
            except OSError:
                return self._open.pop(order)
            self._changed.wait_for(lambda: self._open[order] is not None, ANSWER_S)
            return self._open.pop(order)

    def _refuse(self, line: socket.socket, host: str) -> None:
        with suppress(OSError):
            send(line, Kind.ERRORS, f"no executor answers on {host}\n".encode())
            send(line, Kind.CODE, str(UNREACHED).encode())


def _welcome(listener: socket.socket, welcome: Callable[[socket.socket], None]) -> None:
    with suppress(OSError):  # it is closed at the end
        while True:
            line, _ = listener.accept()
            threading.Thread(target=welcome, args=(line,), daemon=True).start()


def _join(one: socket.socket, other: socket.socket) -> None:
    """Pass everything on, both ways, until both have ended."""
    back = threading.Thread(target=_pass_on, args=(other, one), daemon=True)
    back.start()
    _pass_on(one, other)
    back.join()


def _pass_on(source: socket.socket, to: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            to.sendall(piece)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)


def _hang_up(line: socket.socket) -> None:
    with suppress(OSError):
        line.shutdown(socket.SHUT_RDWR)
    line.close()
