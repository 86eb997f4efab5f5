"""Packets that must not be fragmented, by ping: does one of this size arrive."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from harness.model.errors import ToolError

HEADERS = {4: 20 + 8, 6: 40 + 8}
"""Of IP and ICMP, in bytes, by IP's version."""
_TRIES = 3
_COUNTED = re.compile(r"(\d+) packets transmitted, (\d+)(?: packets)? received")
_TOLD = re.compile(r"message too long|frag(?:mentation)? needed|packet too big", re.IGNORECASE)
_MTU = re.compile(r"mtu ?= ?(\d+)", re.IGNORECASE)


class Echo(StrEnum):
    """What became of a packet."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    """Somebody on the way, or the sender itself, said that it is too long."""
    LOST = "lost"


@dataclass(frozen=True)
class Answer:
    """`mtu_bytes` is what whoever refused it would carry, None where that was not said."""

    echo: Echo
    mtu_bytes: int | None = None


def command(address: str, packet_bytes: int) -> list[str]:
    """Send packets of that size, headers and all."""
    size = packet_bytes - HEADERS[6 if ":" in address else 4]
    options = ("-c", str(_TRIES), "-i", "0.2", "-W", "1")
    return ["ping", "-n", "-M", "do", *options, "-s", str(size), address]


def read_answer(output: str, errors: str) -> Answer:
    """What ping printed. One that arrived of several is enough: others may be lost for other reasons.

    Raises ToolFailed with its complaint where it could not even try.
    """
    sent = _COUNTED.search(output)
    if sent is None or not 0 < int(sent[1]) <= 10 * _TRIES or int(sent[2]) > int(sent[1]):
        lines = [line for line in errors.splitlines() if line.strip()]
        raise ToolError(lines[0].strip() if lines else "ping printed no summary")
    if int(sent[2]):
        return Answer(Echo.ARRIVED)
    said = f"{output}\n{errors}"
    if _TOLD.search(said):
        mtu = _MTU.search(said)
        return Answer(Echo.REFUSED, int(mtu[1]) if mtu else None)
    return Answer(Echo.LOST)
