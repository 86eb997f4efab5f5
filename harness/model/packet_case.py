"""What one step of a sweep of packet sizes sends: packets of which size, one way or both ways."""

import re
from dataclasses import dataclass
from typing import Self

from harness.model.network_metrics import BOTH_WAYS

_LIMITED, _SET = "packets", "an MTU"
_FORM = re.compile(rf"({_LIMITED}|{_SET}) of ([1-9][0-9]{{0,8}}) bytes(, {BOTH_WAYS})?")


@dataclass(frozen=True, order=True)
class PacketCase:
    """The largest IP packet of a transfer, in bytes, headers included.

    `mtu_is_set`: it is the MTU of the interfaces. Otherwise TCP's maximum segment size limits the packets,
    and the interfaces keep their MTU. With `both_ways`, both hosts send at the same time.
    """

    packet_bytes: int
    both_ways: bool = False
    mtu_is_set: bool = False

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the case of a measurement; None if it is of something else."""
        form = _FORM.fullmatch(text)
        return form and cls(int(form[2]), form[3] is not None, form[1] == _SET)

    def __str__(self) -> str:
        subject = _SET if self.mtu_is_set else _LIMITED
        return f"{subject} of {self.packet_bytes} bytes{f', {BOTH_WAYS}' if self.both_ways else ''}"
