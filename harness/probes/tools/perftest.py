"""perftest's ib_send_lat: the time that a small message takes by RDMA, in one direction."""

import re
from dataclasses import dataclass

from harness.base.errors import ToolError

_PROGRAM = "ib_send_lat"
_LINE_BY_LINE = "stdbuf"
PROGRAMS = {_PROGRAM: "perftest", _LINE_BY_LINE: "coreutils"}
"""The programs that a host needs, with the packages that have them."""
LISTENING = "Waiting for client"
_COLUMNS = (
    r"#bytes +#iterations +t_min\[usec\] +t_max\[usec\] +t_typical\[usec\] +t_avg\[usec\] +"
    r"t_stdev\[usec\] +99% percentile\[usec\] +99\.9% percentile\[usec\]"
)
_ROW = re.compile(rf"^ *{_COLUMNS} *\n((?:[ \t]+\d+(?:\.\d+)?){{9}})[ \t]*\n-+$", re.MULTILINE)


@dataclass(frozen=True)
class RdmaLatency:
    """Microseconds that a message takes in one direction, by percentile."""

    typical_us: float
    p99_us: float
    p999_us: float


def server(message_bytes: int) -> list[str]:
    """Return the command that answers one client. It prints LISTENING when clients can connect."""
    return [_LINE_BY_LINE, "-oL", _PROGRAM, "-s", str(message_bytes)]


def client(address: str, message_bytes: int) -> list[str]:
    """Return the command that measures the latency to a server."""
    return [_PROGRAM, "-s", str(message_bytes), address]


def read_latency(text: str) -> RdmaLatency:
    """Read the table that a client printed. Raise ToolError if it is incomplete."""
    row = _ROW.search(text)
    if row is None:
        raise ToolError("ib_send_lat printed no latencies")
    numbers = [float(number) for number in row[1].split()]
    latency = RdmaLatency(typical_us=numbers[4], p99_us=numbers[7], p999_us=numbers[8])
    if not 0 < latency.typical_us <= latency.p99_us <= latency.p999_us:
        raise ToolError("ib_send_lat's latencies are not in order")
    return latency
