"""What a soak records: transfers, the seconds of every link, and what happened to it.

Moments are in seconds since the soak's start.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from harness.model.bounds import BY_UNIT, BitRate, Count, Name, Number, Percent, Range
from harness.model.run import MAX_WALL_S

Moment = Annotated[float, Range(ge=0, le=MAX_WALL_S)]
Goodput = Annotated[float, Range(gt=0, le=BY_UNIT["bit/s"].le)]
Degrees = Annotated[float, Range(ge=-300, le=10_000)]


class LinkEventKind(StrEnum):
    """What may happen to a link under load."""

    CARRIER = "carrier"
    SPEED = "speed"
    ERRORS = "errors"
    DROPS = "drops"
    PAUSE = "pause"
    REPLUGGED = "replugged"
    KERNEL = "kernel"
    LOST = "lost"
    BACK = "back"


@dataclass(frozen=True)
class LinkEvent:
    """Something of a kind that happened to a host's link, in words.

    `happening` is the kind, by the name that records have; `count` is how often, or how many packets.
    """

    host: Name
    at_s: Moment
    happening: LinkEventKind
    text: str
    count: Count = 1


@dataclass(frozen=True)
class LinkSeconds:
    """What a host counted, about once a second; every series has an item for each moment.

    - `at_s`: when each second ended.
    - `received_bit_s`, `sent_bit_s`: on the interface, with headers.
    - `retransmits`: TCP segments that the host sent again.
    - `stolen_percent`: the share of all processors' time that a hypervisor took.
    - `busiest_percent`: how busy the busiest processor was, interrupts included.
    - `temperature_c`: the hottest of the card's or else the host's sensors; empty if there is none.
    """

    host: Name
    at_s: tuple[Moment, ...]
    received_bit_s: tuple[BitRate, ...]
    sent_bit_s: tuple[BitRate, ...]
    retransmits: tuple[Count, ...]
    stolen_percent: tuple[Percent, ...]
    busiest_percent: tuple[Percent, ...]
    temperature_c: tuple[Degrees, ...] = ()

    def __post_init__(self) -> None:
        series = (
            *(self.received_bit_s, self.sent_bit_s, self.retransmits),
            *(self.stolen_percent, self.busiest_percent),
        )
        lengths = {len(values) for values in series} | {len(self.temperature_c or self.at_s)}
        if lengths != {len(self.at_s)}:
            raise ValueError("the series of a link's seconds differ in length")
        if list(self.at_s) != sorted(self.at_s):
            raise ValueError("the seconds of a link are not in order")


@dataclass(frozen=True)
class SoakFlow:
    """A transfer of a round, from `start_s` for `seconds`, or why it failed.

    `goodput_bit_s` is the payload that arrived; `retransmits` are None if iperf3 did not report them. The
    first round is 1.
    """

    round: Number
    sender: str
    receiver: str
    start_s: Moment
    seconds: Moment
    goodput_bit_s: Goodput | None = None
    retransmits: Count | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        if (self.goodput_bit_s is None) == (self.error is None):
            raise ValueError("a transfer has either a goodput or an error")


SoakEvent = LinkEvent | LinkSeconds | SoakFlow
"""What a soak adds to the events of a probe run."""
