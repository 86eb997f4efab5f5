"""How much runs at once: each command on a host takes a process, a thread and pipes of this machine."""

import resource
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.model.errors import BadInput

T = TypeVar("T")

MAX_COMMANDS = 64
"""Commands of which each runs by itself, such as those of the preflight."""
MAX_OPENING = 8
"""Connections to a host that begin together. By default, sshd refuses some of those beyond ten that are not
authenticated yet (MaxStartups)."""
MAX_PAIRS = 64
"""Pairs of hosts between which transfers run together. A transfer takes four commands: a server, a client,
and a meter of processor time on both hosts."""

_FILES_PER_COMMAND = 3
"""Its pipes."""
_FILES_PER_PAIR = _FILES_PER_COMMAND * 6
"""If a pair sends both ways at once."""
_OTHER_FILES = 200


def allow_pairs(pairs: int) -> None:
    """Raise this process's limit of open files to what this many pairs at once need.

    Raise BadInput if the system does not allow it.
    """
    _allow_files(
        f"{pairs} pairs at once",
        pairs * _FILES_PER_PAIR,
        lambda files: (
            f"choose --pairs-at-once {max(1, (files - _OTHER_FILES) // _FILES_PER_PAIR)}, or "
        ),
    )


def allow_hosts(hosts: int) -> None:
    """Do the same for this many hosts that all send and receive at once."""
    _allow_files(f"{hosts} hosts at once", hosts * _FILES_PER_PAIR)


def allow_commands(commands: int) -> None:
    """Do the same for this many commands at once."""
    _allow_files(f"{commands} commands at once", commands * _FILES_PER_COMMAND)


def _allow_files(
    what: str, files: int, advice: Callable[[int], str] = lambda _: "choose fewer hosts, or "
) -> None:
    """Raise the limit for these files and all others; `advice` says what to do if it has to stay as it is."""
    needed = files + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise BadInput(
            f"{what} need {needed} open files and the limit is {hard}: {advice(hard)}raise the limit "
            "(ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, `size` at a time; the last batch may have fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))
