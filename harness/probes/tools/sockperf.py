"""sockperf: the round trip times of a small message."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason, stated_error
from harness.model.network_metrics import LATENCY_PERCENTILES

LISTENING = "block on socket"
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PERCENTILE = re.compile(r"^sockperf: ---> percentile (\d+\.\d+) = +(\d+\.\d+)$", re.MULTILINE)
_TOTALS = re.compile(
    r"^sockperf: \[Valid Duration\] RunTime=(\d+\.\d+) sec; SentMessages=\d+; "
    r"ReceivedMessages=(\d+)$",
    re.MULTILINE,
)
_LAST_LINE = re.compile(r"^sockperf: ---> <MIN> observation = +\d+\.\d+$", re.MULTILINE)


@dataclass(frozen=True)
class RoundTrips:
    """Round trip times in microseconds by percentile, and the number of round trips a second."""

    microseconds: Mapping[float, float]
    per_second: float


def server(address: str, port: int) -> list[str]:
    """Return the command that sends messages back. It prints LISTENING when clients can connect."""
    return ["sockperf", "server", "--tcp", "--uc-reuseaddr", "-i", address, "-p", str(port)]


def client(address: str, port: int, *, message_bytes: int, seconds: int) -> list[str]:
    """Return the command that sends one message at a time, and waits until it has come back.

    The next one follows at once.
    """
    options = ["-m", str(message_bytes), "-t", str(seconds), "--full-rtt"]
    return ["sockperf", "ping-pong", "--tcp", "-i", address, "-p", str(port), *options]


def read_round_trips(output: str, errors: str = "") -> RoundTrips:
    """Read the output of a client. Raise ToolError if it is an error or incomplete.

    The exit code does not show an error: sockperf exits with 0.
    """
    output = _COLOURS.sub("", output)
    errors = _COLOURS.sub("", errors)
    measured = {float(rank): float(value) for rank, value in _PERCENTILE.findall(output)}
    totals = _TOTALS.search(output)
    complete = _LAST_LINE.search(output) and measured.keys() >= set(LATENCY_PERCENTILES)
    if totals is None or not complete:
        reason = failure_reason(errors, stated_error(output))
        raise ToolError(reason or "sockperf printed no statistics (is its server reachable?)")
    seconds = float(totals[1])
    messages = int(totals[2])
    microseconds = {rank: measured[rank] for rank in LATENCY_PERCENTILES}
    if seconds <= 0 or messages <= 0 or min(microseconds.values()) <= 0:
        raise ToolError("sockperf: no message came back")
    return RoundTrips(microseconds, messages / seconds)
