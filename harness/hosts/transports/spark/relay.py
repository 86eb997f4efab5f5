"""The relay: on Spark's driver, it joins each caller with the agent that the caller names."""

import json
import os
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Self

from harness.hosts.transports.spark.agent import (
    CONNECTION_LOST,
    ERRORS,
    EXIT_CODE,
    HANDSHAKE_S,
    MAX_COMMAND_BYTES,
    MAX_MESSAGE_BYTES,
    Address,
    limit_silence,
    notice_loss,
)

EXECUTORS_LINE = "clusterlift: executors on "
"""The application's announcement begins with this."""
UNREACHABLE = 255
"""The exit code if no executor runs the command; ssh has the same."""
MAX_NAME_BYTES = 256
ANSWER_S = 30
BACKLOG = 1024
MAX_STRANGERS = 256
"""This many connections, and two for each agent, may be without proof at the same time."""
RETRY_S = 0.1


def executors_line(agents: Mapping[str, str]) -> str:
    """Return the announcement of the hosts and their agents: a JSON list of pairs.

    In an object, the agent of a host such as `token1` would be taken for a secret, and not be printed.
    """
    return f"{EXECUTORS_LINE}{json.dumps(sorted(agents.items()))}"


class Relay:
    """Listens for callers at the Unix socket `path`, and for agents on TCP at `address`.

    The permissions of its directory protect the socket. On TCP, both sides first prove with an HMAC that they
    know `key`. Whoever does not is disconnected when silent for 10 s, or when too many others have come.
    Port 0 means any free port; the attribute `port` is the one in use. `agents` is how many are expected.
    Raise OSError if the relay cannot listen.
    """

    def __init__(self, path: Path, address: Address, agents: int = 1) -> None:
        self.key = secrets.token_bytes(32)
        self._agents = agents
        self._changed = threading.Condition()
        self._strangers: deque[Connection] = deque()
        self._waiting: dict[str, deque[Connection]] = {}  # by agent, until it has gone
        self._excluded: dict[str, str] = {}
        self._no_more_agents = False
        self._listeners = [
            _listen(address),
            socket.create_server(str(path), family=socket.AF_UNIX, backlog=BACKLOG),
        ]
        self.port = int(self._listeners[0].getsockname()[1])
        for listener, serve in zip(
            self._listeners, (self._serve_agent, self._serve_caller), strict=True
        ):
            threading.Thread(target=_accept, args=(listener, serve), daemon=True).start()

    def await_agents(self, count: int, timeout_s: float) -> set[str]:
        """Wait for this many agents, and return the names of those that are there.

        Return earlier if no more agents can come, or after `timeout_s` seconds.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._no_more_agents or len(self._waiting) >= count, timeout_s
            )
            return set(self._waiting)

    def expect_no_more_agents(self) -> None:
        """Make `await_agents` return."""
        with self._changed:
            self._no_more_agents = True
            self._changed.notify_all()

    def exclude(self, agent: str, reason: str) -> None:
        """Have commands for this agent fail, for a reason that their callers read."""
        with self._changed:
            self._excluded[agent] = reason
            for connection in self._waiting.pop(agent, ()):
                _disconnect(connection)
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listener in self._listeners:
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # which wakes the thread that accepts
            listener.close()
        self.expect_no_more_agents()
        for agent in self.await_agents(0, 0):
            self.exclude(agent, "the probe has ended")

    def _serve_agent(self, connection: Connection) -> None:
        """Keep the connection of an agent that proves the key until it ends or a caller has taken it."""
        try:
            name = self._proven_name(connection)
        except (AuthenticationError, *CONNECTION_LOST):
            connection.close()
            return
        with self._changed:
            if name in self._excluded or (self._no_more_agents and name not in self._waiting):
                connection.close()
                return
            self._waiting.setdefault(name, deque()).append(connection)
            self._changed.notify_all()
        with suppress(OSError):  # closed by the caller that took it
            connection.poll(None)
        with self._changed:
            taken = connection not in self._waiting.get(name, ())
        if not taken:
            self.exclude(name, "its executor has gone")
            connection.close()

    def _proven_name(self, connection: Connection) -> str:
        """Return the agent's name. Raise AuthenticationError or CONNECTION_LOST unless it proves the key."""
        with self._changed:
            self._strangers.append(connection)
            if len(self._strangers) > MAX_STRANGERS + 2 * self._agents:
                _disconnect(self._strangers.popleft())
        try:
            limit_silence(connection, HANDSHAKE_S)
            deliver_challenge(connection, self.key)
            answer_challenge(connection, self.key)
            name = connection.recv_bytes(MAX_NAME_BYTES).decode(errors="replace")
            limit_silence(connection, 0)
        except AssertionError as error:  # from Python 3.11, about what is no challenge
            raise AuthenticationError(str(error)) from error
        finally:
            with self._changed, suppress(ValueError):
                self._strangers.remove(connection)
        return name

    def _serve_caller(self, caller: Connection) -> None:
        with suppress(*CONNECTION_LOST), caller:
            name, *command = json.loads(caller.recv_bytes(MAX_COMMAND_BYTES))
            with self._changed:
                self._changed.wait_for(lambda: self._waiting.get(name) != deque(), ANSWER_S)
                waiting = self._waiting.get(name)
                agent = waiting.popleft() if waiting else None
                reason = self._excluded.get(name, "no executor answers")
            if agent is None:
                _refuse(caller, reason)
                return
            with agent:
                _run(command, agent, caller)


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


def _run(command: Sequence[str], agent: Connection, caller: Connection) -> None:
    """Send a command; pass on input and output, until the caller has the exit code and leaves, or is lost."""
    feeder = threading.Thread(target=_forward_input, args=(command, caller, agent), daemon=True)
    feeder.start()
    try:
        message = b""
        while message[:1] != EXIT_CODE:
            message = agent.recv_bytes(MAX_MESSAGE_BYTES)
            caller.send_bytes(message)
    except CONNECTION_LOST:
        with suppress(OSError):  # it may be the caller that is lost
            _refuse(caller, "its executor has gone")
    feeder.join()


def _forward_input(command: Sequence[str], caller: Connection, agent: Connection) -> None:
    with suppress(*CONNECTION_LOST):
        agent.send_bytes(json.dumps(command).encode())
        while True:
            agent.send_bytes(caller.recv_bytes(MAX_MESSAGE_BYTES))
    _disconnect(agent)  # then the agent ends the command


def _refuse(caller: Connection, reason: str) -> None:
    caller.send_bytes(ERRORS + f"{reason}\n".encode())
    caller.send_bytes(EXIT_CODE + str(UNREACHABLE).encode())
