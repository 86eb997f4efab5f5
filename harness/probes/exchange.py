"""A server on one host and its client on another, started when both are ready."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from harness.probes.leash import Ended, Leashes, understood
from harness.probes.reach import Host, HostTrouble

T = TypeVar("T")


class Exchange(Generic[T]):
    """What a client and its server come to, as `read` understands the client; or why to nothing.

    `sign` is in the line that the server prints when it can be connected to.
    """

    def __init__(
        self,
        leashes: Leashes,
        server: tuple[Host, Sequence[str]],
        client: tuple[Host, Sequence[str]],
        *,
        sign: str,
        read: Callable[[Ended], T],
        timeout_s: float,
    ) -> None:
        self._name = f"{client[0]} -> {server[0]}"
        self._server = leashes.put(server[0], *server[1])
        self._client = leashes.put(client[0], *client[1])
        self._sign = sign
        self._read = read
        self._timeout_s = timeout_s
        self._trouble: HostTrouble | None = None

    def open(self) -> None:
        """Wait until the server listens, and the client has only to be told to start."""
        try:
            self._server.await_ready()
            self._server.start()
            self._server.await_line(self._sign)
            self._client.await_ready()
        except HostTrouble as trouble:
            self._trouble = trouble

    def start(self) -> None:
        """Tell the client to start, if the server listens."""
        if self._trouble is None:
            self._client.start()

    def finish(self) -> T | HostTrouble:
        """Wait for the client's end, and return what it came to."""
        if self._trouble is not None:
            return self._trouble
        try:
            ended = self._client.finish(self._timeout_s)
        except HostTrouble as trouble:
            return trouble
        return understood(self._name, ended, self._read)
