"""The one program that answers for a node, and the form of its answers.

program.sh prints facts, the state, counters, links and their events, whether an executor runs it, or ssh,
`docker exec` or a network namespace leads to the host. It is written for a POSIX shell because every host has
one. Storage nodes and containers of busybox have no Python, and RHEL 8 has none on the PATH. The program uses
Python (3.6 or newer) only for what no shell can read: system calls, and which disks a directory stands on.
Where there is no Python, these facts are unknown, with the reason, and all others are known.

An answer has parts with names. In a part, a line `PATH:TEXT` is a line of a file. Whoever runs the program
bounds the length of its answer. A value counts if it passes the checks of `harness.base.checked`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Mapping

from harness.base.checked import MAX_TEXT
from harness.base.words import shorten

BOOT = "/proc/sys/kernel/random/boot_id"
"""The file that names the boot of a machine. All sections but `counters` and `link` print it."""

_PROGRAM = Path(__file__).with_name("program.sh").read_text()
_HEADING = "== "
_BELOW = re.compile("below ([!-.0-~]{1,15}) ([!-.0-~]{1,15})")
_OF_HOST = ("maker", "host", "cards", "newest", "kernel log", "no log")
"""Parts about the whole host, which an answer about links has once."""

Parts = Mapping[str, str]
"""Texts by the names of the parts. The text before the first heading has the name ``."""


def section(name: str, *arguments: str) -> list[str]:
    """Return the command that prints a section of the program."""
    return ["sh", "-c", _PROGRAM, name, *arguments]


def parts_of(answer: str) -> dict[str, str]:
    """Return the parts of an answer by their names."""
    return dict(_headed(answer))


def lines_by_path(text: str) -> dict[str, list[str]]:
    """Return the values of lines such as `/proc/loadavg:0.5 0.4 0.2`, by what is before the first colon."""
    lines: dict[str, list[str]] = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        if colon and value.strip():
            lines.setdefault(path, []).append(value.strip())
    return lines


def first_lines(text: str) -> dict[str, str]:
    """Return the first line of each file by its path, with single blanks and at most MAX_TEXT characters."""
    found = {}
    for path, lines in lines_by_path(text).items():
        if path.startswith("/"):
            found[path] = shorten(" ".join(lines[0].split()), MAX_TEXT)
    return found


@dataclass(frozen=True)
class LinkAnswer:
    """The parts that a host printed about a link, by device, and those about the whole host.

    - `devices`: the parts of the link's own device, and of those below it, by name. Each comes after all
      devices that are above it.
    - `below`: the names of the devices just below each device.
    """

    host: Parts
    devices: Mapping[str, Parts]
    below: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_link_answer(device: str, answer: str) -> LinkAnswer:
    """Return what the sections `link` and `events` printed of a device."""
    host: dict[str, str] = {}
    devices: dict[str, dict[str, str]] = {device: {}}
    below: dict[str, dict[str, None]] = {}
    current = device
    for name, text in _headed(answer):
        found = _BELOW.fullmatch(name)
        if found:
            upper, current = found.groups()
            # A device below several others is described below each of them.
            devices[current] = devices.pop(current, {})
            below.setdefault(upper, {})[current] = None
        elif name in _OF_HOST:
            host[name] = text
        else:
            devices[current].setdefault(name, text)
    return LinkAnswer(host, devices, {upper: list(names) for upper, names in below.items()})


def _headed(answer: str) -> list[tuple[str, str]]:
    """Return the names and texts of the parts, in order; what precedes the first name has none."""
    lines: list[str] = []
    parts = [("", lines)]
    for line in answer.splitlines():
        if line.startswith(_HEADING):
            lines = []
            parts.append((line[len(_HEADING) :], lines))
        else:
            lines.append(line)
    return [(name, "\n".join(lines).strip("\n")) for name, lines in parts]
