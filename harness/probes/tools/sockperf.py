"""sockperf: how long a small message takes there and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.model.errors import ToolError
from harness.model.network_metrics import LATENCY_PERCENTILES

LISTENS = "block on socket"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PERCENTILE = re.compile(r"^sockperf: ---> percentile (\d+\.\d+) = +(\d+\.\d+)$", re.MULTILINE)
_COUNTED = re.compile(
    r"^sockperf: \[Valid Duration\] RunTime=(\d+\.\d+) sec; SentMessages=\d+; "
    r"ReceivedMessages=(\d+)$",
    re.MULTILINE,
)
_ENDED = re.compile(r"^sockperf: ---> <MIN> observation = +\d+\.\d+$", re.MULTILINE)
_ERROR = re.compile(r"sockperf: ERROR: (.+)|sockperf: ('-.*)|(No messages .+)")


@dataclass(frozen=True)
class RoundTrips:
    """Round trips of a message: microseconds by percentile, and how many a second."""

    microseconds: Mapping[float, float]
    per_second: float


def server(address: str, port: int) -> list[str]:
    """Send back what comes. It prints LISTENS when it can."""
    return ["sockperf", "server", "--tcp", "--uc-reuseaddr", "-i", address, "-p", str(port)]


def client(address: str, port: int, *, message_bytes: int, seconds: int) -> list[str]:
    """One message at a time, there and back."""
    what = ("-m", str(message_bytes), "-t", str(seconds), "--full-rtt")
    return ["sockperf", "ping-pong", "--tcp", "-i", address, "-p", str(port), *what]


def read_round_trips(output: str, errors: str = "") -> RoundTrips:
    """What a client printed. Raises ToolFailed on an error, which it exits with 0 on, or a part of it."""
    text, said = _COLOURS.sub("", output), _COLOURS.sub("", errors)
    measured = {float(rank): float(value) for rank, value in _PERCENTILE.findall(text)}
    totals = _COUNTED.search(text)
    if totals is None or not _ENDED.search(text) or not set(LATENCY_PERCENTILES) <= set(measured):
        raise ToolError(f"sockperf: {_complaint(said) or _complaint(text) or 'no statistics'}")
    seconds, messages = float(totals[1]), int(totals[2])
    kept = {rank: measured[rank] for rank in LATENCY_PERCENTILES}
    if seconds <= 0 or messages <= 0 or min(kept.values()) <= 0:
        raise ToolError("sockperf: no message came back")
    return RoundTrips(kept, messages / seconds)


def _complaint(text: str) -> str:
    error = _ERROR.search(text)
    return next(filter(None, error.groups())).strip() if error else ""
