"""ping: whether a packet of some size arrives unfragmented."""

import re
from dataclasses import dataclass

from harness.base.errors import ToolError
from harness.base.failure_reason import failure_reason
from harness.model.run import Word
from harness.probes.tools.numbers import ip_header_bytes

_ICMP_BYTES = 8
"""The header of ICMP in front of ping's data (RFC 792, 4443)."""
_TRIES = 3
_SUMMARY = re.compile(r"\b(\d{1,9}) packets transmitted, (\d{1,9})(?: packets)? received")
_TOO_LONG = re.compile(r"message too long|frag(?:mentation)? needed|packet too big", re.IGNORECASE)
_MTU = re.compile(r"mtu ?[=:] ?(\d{1,9})\b", re.IGNORECASE)
_LOCAL = re.compile("message too long", re.IGNORECASE)
_FROM_ROUTER = re.compile(
    r"^From .*(?:frag(?:mentation)? needed|packet too big)", re.IGNORECASE | re.MULTILINE
)


class Echo(Word):
    """The fate of a packet. REFUSED: the sender itself or a router reported that it is too long."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    LOST = "lost"


@dataclass(frozen=True)
class PingReply:
    """`mtu_bytes` is the MTU that a refusal names, None if it names none.

    `is_from_sender` says that the sender itself refused the packet, before a router did.
    """

    echo: Echo
    mtu_bytes: int | None = None
    is_from_sender: bool = False


def command(address: str, packet_bytes: int, *, past_memory: bool = False) -> list[str]:
    """Return the command that sends packets of this size, headers included.

    With `past_memory`, packets are sent whatever the kernel remembers of the path. Versions of ping from
    before 2024 cannot do that.
    """
    size = packet_bytes - ip_header_bytes(address) - _ICMP_BYTES
    options = ("-c", str(_TRIES), "-i", "0.2", "-W", "1")
    strategy = "probe" if past_memory else "do"
    return ["ping", "-n", "-M", strategy, *options, "-s", str(size), address]


def read_answer(output: str, errors: str) -> PingReply:
    """Read what ping printed. One packet that arrives is enough: others can be lost for other reasons.

    Raise ToolError with ping's own error if it could not send.
    """
    counts = _SUMMARY.search(output)
    if counts is None or not 0 < int(counts[1]) <= 10 * _TRIES or int(counts[2]) > int(counts[1]):
        raise ToolError(failure_reason(errors) or "ping printed no summary")
    if int(counts[2]):
        return PingReply(Echo.ARRIVED)
    text = f"{output}\n{errors}"
    if _TOO_LONG.search(text):
        mtu = _MTU.search(text)
        is_from_sender = bool(_LOCAL.search(text)) and not _FROM_ROUTER.search(text)
        return PingReply(Echo.REFUSED, int(mtu[1]) if mtu else None, is_from_sender)
    return PingReply(Echo.LOST)
