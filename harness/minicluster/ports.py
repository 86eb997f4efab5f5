"""TCP ports of 127.0.0.1."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

LOCALHOST = "127.0.0.1"


def free_ports(number: int) -> tuple[int, ...]:
    """Return `number` different ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for open_socket in sockets:
            open_socket.bind((LOCALHOST, 0))
        return tuple(int(open_socket.getsockname()[1]) for open_socket in sockets)


def port_problem(port: int) -> str | None:
    """Say why a server cannot listen on this port, as in `is taken`; None if it can."""
    with socket.socket() as probe:
        # As servers do: a connection that was closed a minute ago does not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCALHOST, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return "is taken"
            return f"cannot be used ({error.strerror})"
    return None
