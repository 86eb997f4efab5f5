"""perftest's ib_send_lat: how long a small message takes by RDMA, one way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.probes.tools import ToolFailed

LISTENS = "Waiting for client"
_COLUMNS = (
    r"#bytes +#iterations +t_min\[usec\] +t_max\[usec\] +t_typical\[usec\] +t_avg\[usec\] +"
    r"t_stdev\[usec\] +99% percentile\[usec\] +99\.9% percentile\[usec\]"
)
_ROW = re.compile(rf"^ *{_COLUMNS} *\n((?:[ \t]+\d+(?:\.\d+)?){{9}})[ \t]*\n-+$", re.MULTILINE)


@dataclass(frozen=True)
class RdmaLatency:
    """Microseconds that a message takes one way, by percentile."""

    typical_us: float
    p99_us: float
    p999_us: float


def server(message_bytes: int) -> list[str]:
    """Answer one client. It prints LISTENS when it can."""
    return ["stdbuf", "-oL", "ib_send_lat", "-s", str(message_bytes)]


def client(address: str, message_bytes: int) -> list[str]:
    """Measure against a server."""
    return ["ib_send_lat", "-s", str(message_bytes), address]


def read_latency(text: str) -> RdmaLatency:
    """The table that a client prints. Raises ToolFailed if it is not whole."""
    row = _ROW.search(text)
    if row is None:
        raise ToolFailed("ib_send_lat printed no latencies")
    numbers = [float(number) for number in row[1].split()]
    typical, p99, p999 = numbers[4], numbers[7], numbers[8]
    if not 0 < typical <= p99 <= p999:
        raise ToolFailed("ib_send_lat's latencies are not in order")
    return RdmaLatency(typical, p99, p999)
