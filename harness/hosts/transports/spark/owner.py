"""The owner of the Spark application is the command that started it; the application ends with its owner.

The owner listens at a Unix socket, and the application connects to it. Nobody accepts that connection: the
kernel ends it together with the owner's socket, also if the owner is killed.
"""

import os
import socket
import threading
from contextlib import suppress
from multiprocessing.connection import Client, Connection
from pathlib import Path

from harness.hosts.transports.spark.agent import CONNECTION_LOST
from harness.model.errors import ClusterliftError

OWNER = "owner"
"""The name of the owner's socket in the directory that both know."""
RELAY = "relay"
"""The name of the socket beside it at which the application serves callers."""


def owner_socket(directory: Path) -> socket.socket:
    """Return the owner's socket, which listens. Raise ClusterliftError if the path is too long for one."""
    try:
        return socket.create_server(str(directory / OWNER), family=socket.AF_UNIX)
    except OSError as error:
        raise ClusterliftError(
            f"cannot listen at {directory / OWNER}: {error}; set TMPDIR to a short path"
        ) from error


def end_with_owner(directory: Path) -> None:
    """End this process, and remove the directory, as soon as the owner's socket has gone.

    Under spark-submit, the JVM then ends as well. Raise ClusterliftError if nobody listens at the socket.
    """
    try:
        owner = Client(str(directory / OWNER))
    except OSError as error:
        if isinstance(error, ConnectionRefusedError):  # the owner has ended before
            _remove(directory)
        raise ClusterliftError(
            f"nobody listens at {directory / OWNER}: {error.strerror}; "
            "`clusterlift probe --via spark` starts this application, in client mode"
        ) from error
    threading.Thread(target=_await_end, args=(owner, directory), daemon=True).start()


def _await_end(owner: Connection, directory: Path) -> None:
    with suppress(*CONNECTION_LOST):
        owner.recv_bytes()
    _remove(directory)
    os._exit(1)  # after 0, the JVM would wait for its threads


def _remove(directory: Path) -> None:
    """Remove the directory of an owner that may have been killed."""
    with suppress(OSError):
        for name in (OWNER, RELAY):
            (directory / name).unlink(missing_ok=True)
        directory.rmdir()
