"""The relay: on Spark's driver, it connects each caller with the agent on the host that the caller names."""

import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Self

from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    ERRORS,
    EXIT_CODE,
    HANDSHAKE_S,
    Address,
    limit_silence,
    notice_loss,
    receive_object,
    send_object,
)
from harness.hosts.transports.spark.key_agreement import (
    FINGERPRINT_BYTES,
    agreed_key,
    fingerprint,
    private_number,
    public_number,
)

EXECUTORS_LINE = "clusterlift: executors on "
"""The application prints this, and after it the hosts as a JSON array, when all agents are ready."""
UNREACHABLE = 255
"""The exit code if no executor runs the command; ssh has the same."""
ANSWER_S = 30
BACKLOG = 1024
MAX_STRANGERS = 256
"""So many connections, and two for each agent, may be without proof at the same time."""
RETRY_S = 0.1


class Relay:
    """Listens for callers at the Unix socket `path`, and for agents on TCP at `address`.

    The permissions of its directory protect the socket. On TCP, both sides first prove with an HMAC that they
    know the key that they agreed on. Whoever does not is disconnected when silent for 10 s, or when too many
    others have come since. Port 0 means any free port; the attribute `port` is the one in use. Raise OSError
    if the relay cannot listen.
    """

    def __init__(self, path: Path, address: Address) -> None:
        self._private = private_number()
        self.public = public_number(self._private)
        self._changed = threading.Condition()
        self._expected: dict[bytes, tuple[str, bytes]] = {}
        self._strangers: deque[Connection] = deque()
        self._agents: dict[str, Connection] = {}
        self._no_more_agents = False
        self._excluded: dict[str, str] = {}
        self._channels: dict[tuple[str, int], Connection | None] = {}
        self._channel_numbers = count(1)
        self._listeners = [
            _listen(address),
            socket.create_server(str(path), family=socket.AF_UNIX, backlog=BACKLOG),
        ]
        self.port = int(self._listeners[0].getsockname()[1])
        for listener, serve in zip(
            self._listeners, (self._serve_agent, self._serve_caller), strict=True
        ):
            threading.Thread(target=_accept, args=(listener, serve), daemon=True).start()

    def expect_agent(self, host: str, public: int) -> None:
        """Take whoever has the private number of this public one for the agent on `host`."""
        key = agreed_key(self._private, public)
        with self._changed:
            self._expected[fingerprint(public)] = (host, key)

    def await_agents(self, hosts: int, timeout_s: float) -> set[str]:
        """Wait for agents on that many hosts, and return the hosts that have one.

        Return earlier if no more agents can come, or after `timeout_s` seconds.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._no_more_agents or len(self._agents) >= hosts, timeout_s
            )
            return set(self._agents)

    def expect_no_more_agents(self) -> None:
        """Make `await_agents` return."""
        with self._changed:
            self._no_more_agents = True
            self._changed.notify_all()

    def exclude(self, host: str, reason: str) -> None:
        """Have commands on this host fail, for a reason that their callers read."""
        with self._changed:
            self._excluded[host] = reason

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # which wakes the thread that accepts
            listener.close()
        with self._changed:
            for agent in self._agents.values():
                _disconnect(agent)

    def _serve_agent(self, connection: Connection) -> None:
        """Keep the connection of an agent, or its connection for one command, if it proves its key."""
        try:
            host, channel = self._proven(connection)
        except (AuthenticationError, *CONNECTION_LOST):
            connection.close()
            return
        if channel == 0:
            with connection:
                self._attend(host, connection)
            return
        with self._changed:
            if (host, channel) in self._channels:
                self._channels[host, channel] = connection
                self._changed.notify_all()
            else:  # nobody waits for it any more
                connection.close()

    def _proven(self, connection: Connection) -> tuple[str, int]:
        """Return the agent's host, and the channel of the connection.

        Raise AuthenticationError or one of CONNECTION_LOST unless it proves an agent's key.
        """
        with self._as_stranger(connection):
            claimed = connection.recv_bytes(FINGERPRINT_BYTES)
            if claimed not in self._expected:
                raise AuthenticationError("no agent has this fingerprint")
            host, key = self._expected[claimed]
            deliver_challenge(connection, key)
            answer_challenge(connection, key)
            return host, int(receive_object(connection)["channel"])

    @contextmanager
    def _as_stranger(self, connection: Connection) -> Iterator[None]:
        """Disconnect it if it stays silent in the `with` block, or if too many others come meanwhile."""
        with self._changed:
            self._strangers.append(connection)
            if len(self._strangers) > MAX_STRANGERS + 2 * len(self._expected):
                _disconnect(self._strangers.popleft())
        try:
            limit_silence(connection, HANDSHAKE_S)
            yield
            limit_silence(connection, 0)
        finally:
            with self._changed, suppress(ValueError):
                self._strangers.remove(connection)

    def _attend(self, host: str, connection: Connection) -> None:
        """Send the host's commands to this agent until its connection is lost."""
        with self._changed:
            if host in self._agents:
                return
            self._agents[host] = connection
            self._changed.notify_all()
        with suppress(*CONNECTION_LOST):
            connection.recv_bytes()  # nothing comes but the end
        with self._changed:
            del self._agents[host]
            self._excluded[host] = "its executor has gone"
            self._changed.notify_all()

    def _serve_caller(self, caller: Connection) -> None:
        with suppress(*CONNECTION_LOST), caller:
            request = receive_object(caller)
            channel = self._open_channel(request["host"], request["command"])
            if isinstance(channel, str):
                _refuse(caller, channel)
                return
            with channel:
                _connect(caller, channel)

    def _open_channel(self, host: str, command: Sequence[str]) -> Connection | str:
        """Have the agent on a host run a command; return its connection, or why there is none."""
        with self._changed:
            number = next(self._channel_numbers)
            self._channels[host, number] = None
            with suppress(OSError, KeyError):  # the agent has gone, or never came
                send_object(self._agents[host], channel=number, command=command)
                self._changed.wait_for(
                    lambda: self._channels[host, number] or host not in self._agents, ANSWER_S
                )
            channel = self._channels.pop((host, number))
            return channel or self._excluded.get(host, "no executor answers")


def _listen(address: Address) -> socket.socket:
    """Return a socket that listens at a host's name or address, IPv4 or IPv6."""
    host, port = address
    # Spark writes an IPv6 address in brackets.
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    family, _, _, _, resolved = found[0]
    listener = socket.create_server((str(resolved[0]), port), family=family, backlog=BACKLOG)
    notice_loss(listener)
    return listener


def _accept(listener: socket.socket, serve: Callable[[Connection], None]) -> None:
    """Serve each connection in a thread of its own, until the listener is closed."""
    while listener.fileno() >= 0:
        try:
            connection = Connection(listener.accept()[0].detach())
            threading.Thread(target=serve, args=(connection,), daemon=True).start()
        except (OSError, RuntimeError):  # closed, or no descriptor or thread is left for the moment
            time.sleep(RETRY_S)


def _disconnect(connection: Connection) -> None:
    """End a connection that another thread reads and will close."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same, suppress(OSError):
        same.shutdown(socket.SHUT_RDWR)


def _connect(caller: Connection, channel: Connection) -> None:
    """Pass on input and output, until the caller has the exit code and leaves, or is lost."""
    feeder = threading.Thread(target=_forward_input, args=(caller, channel), daemon=True)
    feeder.start()
    try:
        message = b""
        while message[:1] != EXIT_CODE:
            message = channel.recv_bytes()
            caller.send_bytes(message)
    except CONNECTION_LOST:
        with suppress(OSError):  # it may be the caller that is lost
            _refuse(caller, "its executor has gone")
    feeder.join()


def _forward_input(caller: Connection, channel: Connection) -> None:
    with suppress(*CONNECTION_LOST):
        while True:
            channel.send_bytes(caller.recv_bytes())
    _disconnect(channel)  # then the agent ends the command


def _refuse(caller: Connection, reason: str) -> None:
    caller.send_bytes(ERRORS + f"{reason}\n".encode())
    caller.send_bytes(EXIT_CODE + str(UNREACHABLE).encode())
