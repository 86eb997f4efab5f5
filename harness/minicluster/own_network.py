"""A network namespace of this process's own: no other user of the machine reaches what listens in it.

Hadoop's daemons and QFS do not authenticate clients: any client may do what the daemons' user may do.
"""

import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

from harness.minicluster.daemon import LOCALHOST
from harness.model.errors import ClusterliftError

_NEW_USER, _NEW_NETWORK = 0x1000_0000, 0x4000_0000  # of unshare(2)
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 1  # of netdevice(7)


class NoOwnNetwork(ClusterliftError):
    """The kernel gives this user no network namespace; the message says why."""


def enter_own_network() -> None:
    """Move this process, and what it starts from now on, into a network that has a loopback device alone.

    Raises NoOwnNetwork if the kernel refuses, and then nothing has changed.
    """
    user, group = os.geteuid(), os.getegid()
    for flags in (_NEW_NETWORK, _NEW_NETWORK | _NEW_USER):
        if (reason := _refusal(flags, user, group)) is None:
            _enter(flags, user, group)
            # The name of the machine may belong to an address that is not here.
            os.environ["SPARK_LOCAL_IP"] = LOCALHOST
            return
    raise NoOwnNetwork(reason or "no reason given")


def _refusal(flags: int, user: int, group: int) -> str | None:
    """Return why a process could not enter, as a child of ours found out; None if it could."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _enter(flags, user, group)
        except OSError as error:
            os.write(writing, (error.strerror or "refused").encode())
        finally:
            os._exit(0)
    os.close(writing)
    reason = os.read(reading, 1_000).decode(errors="replace")
    os.close(reading)
    os.waitpid(child, 0)
    return reason or None


def _enter(flags: int, user: int, group: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    if flags & _NEW_USER:  # the user stays who he is
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sH14x", b"lo", 0))
        [before] = struct.unpack_from("H", request, 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", before | _UP))
