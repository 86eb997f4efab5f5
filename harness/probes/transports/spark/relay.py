"""The relay: on Spark's driver, it connects each caller with the agent on the host that the caller names."""

from __future__ import annotations

import os
import secrets
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Self

from harness.probes.transports.spark.agent import (
    CONNECTION_LOST,
    END_OF_INPUT,
    ERRORS,
    EXIT_CODE,
    receive_object,
    send_object,
)

EXECUTORS_LINE = "clusterlift: executors on "
"""The application prints this, and after it the hosts as a JSON array, when all agents are ready."""
UNREACHABLE = 255
"""The exit code if no executor runs the command; ssh has the same."""
ANSWER_S = 30
BACKLOG = 1024


class Relay:
    """Listens for callers at the Unix socket `path`, and for agents on TCP `port` of every interface.

    The permissions of its directory protect the socket. On TCP, both sides first prove with an HMAC that they
    know `key`. Port 0 means any free port; the attribute `port` is the one in use. Raise OSError if the
    relay cannot listen.
    """

    def __init__(self, path: Path, port: int = 0) -> None:
        self.key = secrets.token_bytes(32)
        self._changed = threading.Condition()
        self._agents: dict[str, Connection] = {}
        self._no_more_agents = False
        self._channels: dict[int, Connection | None] = {}
        self._channel_numbers = count(1)
        self._owner_came, self._owner_left = threading.Event(), threading.Event()
        # A listener with a key would let a stranger who stays silent block everybody in `accept`.
        self._agent_listener = Listener(("", port), backlog=BACKLOG)
        self._caller_listener = Listener(os.fspath(path), backlog=BACKLOG)
        self.port = int(self._agent_listener.address[1])
        _serve(self._agent_listener, self._admit_agent)
        _serve(self._caller_listener, self._serve_caller)

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

    def await_owner_end(self) -> None:
        """Return when the owner has closed its connection, or if no owner has come within 30 s."""
        if self._owner_came.wait(ANSWER_S):
            self._owner_left.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._agent_listener.close()
        self._caller_listener.close()
        with self._changed:
            for agent in self._agents.values():
                agent.close()

    def _admit_agent(self, connection: Connection) -> None:
        """Keep the connection of an agent, or its connection for one command, if it proves the key."""
        try:
            _limit_silence(connection, ANSWER_S)
            deliver_challenge(connection, self.key)
            answer_challenge(connection, self.key)
            hello = receive_object(connection)
            _limit_silence(connection, 0)
        except (AuthenticationError, *CONNECTION_LOST):
            connection.close()
            return
        with self._changed:
            if "host" in hello:
                self._agents[hello["host"]] = connection
            elif hello["channel"] in self._channels:
                self._channels[hello["channel"]] = connection
            else:  # nobody waits for it any more
                connection.close()
            self._changed.notify_all()

    def _serve_caller(self, caller: Connection) -> None:
        with suppress(*CONNECTION_LOST), caller:
            request = receive_object(caller)
            if "owner" in request:
                self._owner_came.set()
                try:
                    caller.recv_bytes()  # nothing comes but the end
                finally:
                    self._owner_left.set()
                return
            channel = self._open_channel(request["host"], request["command"])
            if channel is None:
                _refuse(caller, f"no executor answers on {request['host']}")
                return
            with channel:
                _connect(caller, channel)

    def _open_channel(self, host: str, command: Sequence[str]) -> Connection | None:
        """Have the agent on a host run a command, and return its connection; None if none comes."""
        with self._changed:
            number = next(self._channel_numbers)
            self._channels[number] = None
            with suppress(OSError, KeyError):  # the agent has gone, or never came
                send_object(self._agents[host], channel=number, command=command)
                self._changed.wait_for(lambda: self._channels[number] is not None, ANSWER_S)
            return self._channels.pop(number)


def _serve(listener: Listener, serve: Callable[[Connection], None]) -> None:
    """Start a thread that serves each connection in a thread of its own."""

    def accept() -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                connection = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def _limit_silence(connection: Connection, seconds: int) -> None:
    """Make each read raise an OSError after so many seconds without a byte; with 0, let it wait for ever."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", seconds, 0))


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
            _refuse(caller, "the executor has gone")
    feeder.join()


def _forward_input(caller: Connection, channel: Connection) -> None:
    with suppress(*CONNECTION_LOST):
        while True:
            channel.send_bytes(caller.recv_bytes())
    with suppress(OSError):  # a caller that is gone ends the command's input
        channel.send_bytes(END_OF_INPUT)


def _refuse(caller: Connection, reason: str) -> None:
    caller.send_bytes(ERRORS + f"{reason}\n".encode())
    caller.send_bytes(EXIT_CODE + str(UNREACHABLE).encode())
