"""A prediction, made before an upgrade: the times to expect after it, and what they rest on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from harness.model.bounds import MAX_MTU_BYTES, MAX_QUANTITY, MIN_MTU_BYTES, Meta, Share
from harness.model.link import MAX_BIT_S, rate_text

Seconds = Annotated[float, Meta(ge=1e-40, le=1e18)]
"""From the shortest time of a unit of work, with room to spare."""
BitPerS = Annotated[float, Meta(ge=1, le=MAX_QUANTITY)]


@dataclass(frozen=True)
class Target:
    """What is to be bought: the links' rate in bit/s and their MTU in bytes.

    The rate is None if it stays and is unknown. `goodput_bit_s` is the payload that such a link is expected
    to carry.
    """

    link_bit_s: Annotated[int, Meta(ge=1, le=MAX_BIT_S)] | None
    mtu: Annotated[int, Meta(ge=MIN_MTU_BYTES, le=MAX_MTU_BYTES)]
    goodput_bit_s: BitPerS

    def __str__(self) -> str:
        return f"{self.link}, MTU {self.mtu}"

    @property
    def link(self) -> str:
        """The rate of the links: `2.5gbit`."""
        return "the present links" if self.link_bit_s is None else rate_text(self.link_bit_s)


@dataclass(frozen=True)
class Bounds:
    """An interval of times in seconds."""

    low_s: Annotated[float, Meta(ge=1e-40, le=1e40)]
    high_s: Annotated[float, Meta(ge=1e-40, le=1e40)]

    def __post_init__(self) -> None:
        if self.low_s > self.high_s:
            raise ValueError(f"an interval is from {self.low_s!r} to {self.high_s!r} s")

    def __contains__(self, time_s: float) -> bool:
        return self.low_s <= time_s <= self.high_s


@dataclass(frozen=True)
class PredictedTime:
    """One workload: its time in seconds now, the time to expect, and the intervals of 80 and of 95 %.

    The intervals are for what as many runs will measure after the upgrade. `limit_s` is the time to
    expect over an infinitely fast network, `network_share` the part of the present time in which tasks wait
    for the network or a link is full, whichever `basis` names. From the rate `useful_up_to_bit_s` on, the
    time is within 5 % of `limit_s`; None if it is already.
    """

    workload: str
    is_control: bool
    baseline_s: Seconds
    expected_s: Seconds
    interval_80: Bounds
    interval_95: Bounds
    limit_s: Seconds
    useful_up_to_bit_s: Annotated[float, Meta(ge=1, le=1e18)] | None
    network_share: Share
    basis: str


@dataclass(frozen=True)
class Prediction:
    """The times to expect of a baseline's workloads.

    - `made_at`: ISO 8601 in UTC.
    - `baseline`: the name of the configuration.
    - `baseline_goodput_bit_s`: the payload that a link of the baseline carries.
    - `model`: the name, version and numbers of the model.
    - `conditions`: facts that have to be the same after the upgrade, by name.
    - `not_predicted`: the reason by workload.
    - `notes`: lines that a reader has to know.
    """

    made_at: str
    written_by: str
    model: str
    baseline: str
    baseline_goodput_bit_s: BitPerS
    target: Target
    times: Annotated[tuple[PredictedTime, ...], Meta(min_length=1)]
    conditions: Mapping[str, str] = field(default_factory=dict)
    not_predicted: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
