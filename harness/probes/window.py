"""How much runs at once: each command on a host takes a process, a thread and pipes of this machine."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Sequence
from typing import TypeVar

from harness.model.errors import BadInput

T = TypeVar("T")

MAX_COMMANDS = 64
"""Commands of which each runs by itself, such as those of the preflight."""
MAX_PAIRS = 64
"""Pairs of hosts between which transfers run together. A transfer takes four commands: a server, a client,
and a meter of processor time on both hosts."""

_FILES_PER_PAIR = 3 * 6
"""Two pipes and a file of errors for each command; six commands if a pair sends both ways at once."""
_OTHER_FILES = 200


def allow_pairs(pairs: int) -> None:
    """Raise this process's limit of open files to what so many pairs at once need.

    Raise BadInput if the system does not allow it.
    """
    needed = pairs * _FILES_PER_PAIR + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        fitting = max(1, (hard - _OTHER_FILES) // _FILES_PER_PAIR)
        raise BadInput(
            f"{pairs} pairs at once need {needed} open files and the limit is {hard}: choose "
            f"--pairs-at-once {fitting}, or raise the limit (ulimit -Hn)"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in order, `size` at a time; the last batch may have fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))
