"""Findings as values: probes, the gate, `ready`, `doctor` and the limits of CI have one type."""

from __future__ import annotations  # for Python 3.8

from dataclasses import dataclass
from enum import Enum

from harness.model.probe import ARROW


class Gravity(Enum):
    """How grave a finding is, the gravest first."""

    FAULT = "fault"
    """Something has to be mended."""
    UNKNOWN = "unknown"
    """It cannot be judged."""
    NOTE = "note"
    """It is worth a look, and may be intended."""
    OK = "ok"
    """It was looked at, and is as it should be."""


@dataclass(frozen=True)
class Subject:
    """The thing that a finding is about.

    - `names`: a host or a configuration; a sender and a receiver; none for all that was looked at.
    - `part`: a part of it, such as a network interface.
    """

    names: tuple[str, ...] = ()
    part: str = ""

    def __str__(self) -> str:
        """Return `node1`, `node1 eth0` or `node1 -> node2`."""
        return f"{ARROW.join(self.names)} {self.part}".strip()


EVERYTHING = Subject()


def about(name: str, part: str = "") -> Subject:
    """Return the subject with this name."""
    return Subject((name,), part)


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    - `seen`: an observation, in words; `expected`: the value that was expected instead.
    - `remedy`: the thing to do.
    - `at_s`: its moment in seconds after the start of a probe; None if it holds all the time.
    """

    subject: Subject
    seen: str
    gravity: Gravity = Gravity.FAULT
    expected: str = ""
    remedy: str = ""
    at_s: float | None = None

    @property
    def is_fault(self) -> bool:
        """Whether something has to be mended."""
        return self.gravity is Gravity.FAULT

    @property
    def is_open(self) -> bool:
        """Whether something has to be mended, or could not be judged."""
        return self.gravity in {Gravity.FAULT, Gravity.UNKNOWN}

    @property
    def text(self) -> str:
        """One line without the subject."""
        text = self.seen
        if self.expected:
            text += f", expected {self.expected}"
        if self.remedy:
            text += f"; {self.remedy}"
        return text

    def __str__(self) -> str:
        """Return the line: `node1 eth0: half duplex`."""
        subject = str(self.subject)
        if subject:
            return f"{subject}: {self.text}"
        return self.text


def note(seen: str, remedy: str = "", subject: Subject = EVERYTHING) -> Finding:
    """Return a note, by default about everything that was looked at."""
    return Finding(subject, seen, Gravity.NOTE, remedy=remedy)


def unknown(seen: str, remedy: str = "", subject: Subject = EVERYTHING) -> Finding:
    """Return that something cannot be judged, by default of everything that was looked at."""
    return Finding(subject, seen, Gravity.UNKNOWN, remedy=remedy)
