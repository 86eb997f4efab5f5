"""UDP packets that reached a host and were dropped there, because the program did not read them in time."""

from harness.model.errors import ToolError
from harness.node.kernel import count

COMMAND = ("cat", "/proc/net/snmp")
_COUNTER = "RcvbufErrors"


def read_drops(text: str) -> int:
    """Return how many packets the kernel has dropped so far. Raise ToolError if it does not tell.

    /proc/net/snmp has two lines for UDP: the names of the counters, and their values.
    """
    lines = [line.split() for line in text.splitlines() if line.startswith("Udp: ")]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):  # noqa: PLR2004  names and values
        raise ToolError("/proc/net/snmp has no counters of UDP")
    drops = count(dict(zip(*lines, strict=True)).get(_COUNTER))
    if drops is None:
        raise ToolError(f"/proc/net/snmp has no {_COUNTER}")
    return drops
