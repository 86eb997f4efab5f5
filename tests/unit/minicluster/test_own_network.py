"""No user outside can reach what listens in a network of its own, not even root."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from harness.minicluster import own_network
from harness.minicluster.own_network import NoOwnNetwork, enter_own_network
from tests.other_user import can_be_reached

SERVE = """
import ctypes, encodings.idna, os, socket, sys
from harness.minicluster.own_network import enter_own_network
if os.geteuid() == 0 and sys.argv[1] == "user":
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    ctypes.CDLL(None).prctl(4, 1)  # dumpable, as every process is that did not change its user
before = os.geteuid()
enter_own_network()
server = socket.create_server(("127.0.0.1", int(sys.argv[2])))
socket.create_connection(server.getsockname())
print(before, os.geteuid(), os.environ["SPARK_LOCAL_IP"], flush=True)
input()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("who", ["root", "user"])
def test_a_user_outside_cannot_reach_it(who: str) -> None:
    with socket.socket() as reserved:  # so that no other program listens at this port outside
        reserved.bind(("127.0.0.1", 0))
        _try_to_reach(who, reserved.getsockname()[1])


def _try_to_reach(who: str, port: int) -> None:
    command = [sys.executable, "-c", SERVE, who, str(port)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        before, after, address = server.stdout.readline().split()
        assert before == after == {"root": "0", "user": "65534"}[who]
        assert address == "127.0.0.1"
        inside = ("nsenter", f"--net=/proc/{server.pid}/ns/net")
        assert can_be_reached(port, *inside)
        assert not can_be_reached(port)
        server.communicate("\n")


def test_a_kernel_that_refuses_is_an_error_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(own_network, "_enter", refuse)
    before = Path("/proc/self/ns/net").readlink()
    with pytest.raises(NoOwnNetwork, match=r"^Operation not permitted$"):
        enter_own_network()
    assert Path("/proc/self/ns/net").readlink() == before
    assert "SPARK_LOCAL_IP" not in os.environ
    socket.create_server(("127.0.0.1", 0)).close()
