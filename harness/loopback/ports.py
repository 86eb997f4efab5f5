"""Free ports of 127.0.0.1."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

from harness.errors import BadInput
from harness.loopback.daemon import LOCALHOST


def free_ports(count: int) -> tuple[int, ...]:
    """So many different ports that nobody listens on now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind((LOCALHOST, 0))
        return tuple(int(each.getsockname()[1]) for each in sockets)


def check_free(port: int) -> None:
    """Raise BadInput if --port cannot be had."""
    with socket.socket() as probe:
        # As the daemons do: connections that were closed a minute ago are not in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOCALHOST, port))
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            reason = "is taken" if taken else f"cannot be had: {error.strerror}"
            raise BadInput(
                f"--port {port} {reason} on {LOCALHOST}; name another, or none to get a free one"
            ) from error
