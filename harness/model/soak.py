"""The records of a soak: its transfers, and the events of links.

Moments are in seconds since the soak's start.
"""

from __future__ import annotations  # for Python 3.8

from dataclasses import dataclass
from enum import Enum
from typing import Union

from harness.model.bounds import MAX_QUANTITY, Annotated, Count, Meta, Name, Number, Quantity
from harness.model.run import MAX_WALL_S

Moment = Annotated[float, Meta(ge=0, le=MAX_WALL_S)]
Goodput = Annotated[float, Meta(gt=0, le=MAX_QUANTITY)]


class LinkEventKind(str, Enum):
    """The kinds of events of a link under load."""

    CARRIER = "carrier"
    SPEED = "speed"
    ERRORS = "errors"
    DROPS = "drops"
    PAUSE = "pause"
    REPLUGGED = "replugged"
    KERNEL = "kernel"
    LOST = "lost"
    BACK = "back"
    UNREAD = "unread"

    def __str__(self) -> str:
        return self.value


READ_EVERY_ROUND = {
    LinkEventKind.KERNEL: "kernel log",
    LinkEventKind.CARRIER: "carrier changes",
    LinkEventKind.ERRORS: "packet errors and drops",
    LinkEventKind.PAUSE: "pause frames",
}
"""The sources that are read in every round, by the kind of events that each shows."""


@dataclass(frozen=True)
class LinkEvent:
    """Something that happened to a host's link up to the end of a round, in words.

    `count` is how often, or how many packets. `unread` is a kind of events that the host does not show. Then
    `text` is the reason.
    """

    host: Name
    round: Count
    at_s: Moment
    event: LinkEventKind
    text: str
    count: Count = 1
    unread: LinkEventKind | None = None

    def __post_init__(self) -> None:
        if (self.event is LinkEventKind.UNREAD) != (self.unread in READ_EVERY_ROUND):
            raise ValueError("only kinds of READ_EVERY_ROUND can be unread")


@dataclass(frozen=True)
class SoakFlow:
    """A transfer of a round, from `start_s` for `seconds`, or why it failed.

    `goodput_bit_s` is the payload that arrived. `retransmits` are None if iperf3 did not report them.
    `stolen_percent` is the share of processor time that a hypervisor took, and `busiest_percent` the load of
    the busiest processor, each on the worse of both hosts; None if neither host showed it. Rounds begin at 1.
    """

    round: Number
    sender: str
    receiver: str
    start_s: Moment
    seconds: Moment
    goodput_bit_s: Goodput | None = None
    retransmits: Count | None = None
    error: str | None = None
    stolen_percent: Quantity | None = None
    busiest_percent: Quantity | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The sender and the receiver."""
        return self.sender, self.receiver

    def __post_init__(self) -> None:
        if (self.goodput_bit_s is None) == (self.error is None):
            raise ValueError("a transfer has either a goodput or an error")


SoakEvent = Union[LinkEvent, SoakFlow]
"""The events of a probe run that only a soak has."""
