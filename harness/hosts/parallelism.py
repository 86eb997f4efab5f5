"""How much runs at once: each command on a host takes a process, a thread and pipes of this machine."""

import resource
from collections.abc import Iterator, Sequence
from typing import TypeVar

from harness.base.errors import BadInput

T = TypeVar("T")

MAX_COMMANDS = 64
"""Commands that run at the same time, each by itself."""
MAX_OPENING = 8
"""Connections to a host that begin together. By default, sshd refuses some while more than ten are
not authenticated yet (MaxStartups)."""
MAX_PAIRS = 64
"""Pairs of hosts between which transfers run together. A transfer takes four commands: a server, a client,
and a meter of processor time on both hosts."""

COMMANDS_PER_PAIR = 6
"""If a pair sends both ways at once."""
_FILES_PER_COMMAND = 3
"""Its pipes."""
_OTHER_FILES = 200


def allow_commands(commands: int) -> None:
    """Raise this process's limit of open files to what this many commands at once need.

    Raise BadInput if the system does not allow it.
    """
    needed = commands * _FILES_PER_COMMAND + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise BadInput(
            f"{commands} commands at once need {needed} open files and the limit is {hard}: measure fewer "
            "hosts or pairs at once, or raise the limit (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, `size` at a time; the last batch may have fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))
