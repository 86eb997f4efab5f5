"""What a process of another user of this machine can do."""

import subprocess
import sys

CONNECT = """
import encodings.idna, os, socket, sys
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
except ConnectionRefusedError:
    sys.exit(7)
"""


def can_be_reached(port: int, *through: str) -> bool:
    """Return whether a process of user 65534 reaches a port of 127.0.0.1."""
    done = subprocess.run([*through, sys.executable, "-c", CONNECT, str(port)], check=False)
    assert done.returncode in {0, 7}
    return done.returncode == 0
