"""The ports of the host that show the lab's web pages."""

from __future__ import annotations

import os
import socket

from harness.errors import BadInput

PORTS = {"SPARK_UI_PORT": 8080, "HDFS_UI_PORT": 9870, "DRIVER_UI_PORT": 4040}
LOCALHOST = "127.0.0.1"


def check_ports() -> None:
    """Raise BadInput that names the variable if a port is taken or is none."""
    for variable, default in PORTS.items():
        text = os.environ.get(variable) or str(default)
        if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**16):
            raise BadInput(f"{variable} is {text!r}: set it to a port, such as {default}")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOCALHOST, int(text)))
            except OSError as error:
                raise BadInput(
                    f"port {text} of {LOCALHOST} cannot be had ({error.strerror}): set {variable} to "
                    "another"
                ) from error
