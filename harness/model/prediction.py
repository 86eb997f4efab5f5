"""A prediction, made before an upgrade: the times to expect after it, and what they rest on."""

from __future__ import annotations  # for Python 3.8

from dataclasses import dataclass, field
from typing import Mapping

from harness.model.bounds import (
    MAX_MTU_BYTES,
    MAX_QUANTITY,
    MIN_MTU_BYTES,
    Annotated,
    Meta,
    Share,
)
from harness.model.link import MAX_BIT_S, rate_text

Seconds = Annotated[float, Meta(ge=1e-40, le=1e18)]
"""From the shortest time of a unit of work, with room to spare."""
BitPerS = Annotated[float, Meta(ge=1, le=MAX_QUANTITY)]
MAX_FACTOR = 1000


@dataclass(frozen=True)
class Target:
    """What is to be bought: links, or disks that are `disk` times as fast as the present ones.

    Links have a rate in bit/s, which is None if it stays and is unknown, an MTU in bytes, and the payload
    `goodput_bit_s` that they are expected to carry. All three are None if disks are bought.
    """

    link_bit_s: Annotated[int, Meta(ge=1, le=MAX_BIT_S)] | None = None
    mtu: Annotated[int, Meta(ge=MIN_MTU_BYTES, le=MAX_MTU_BYTES)] | None = None
    goodput_bit_s: BitPerS | None = None
    disk: Annotated[float, Meta(ge=1, le=MAX_FACTOR)] | None = None

    def __post_init__(self) -> None:
        if (self.goodput_bit_s is None) == (self.disk is None):
            raise ValueError("a target is either links or disks")

    def slowness(self, present_bit_s: float | None) -> float:
        """Return the time for the same bytes, relative to the present; links carry `present_bit_s` now."""
        if self.goodput_bit_s and present_bit_s:
            return present_bit_s / self.goodput_bit_s
        return 1 / (self.disk or 1)

    def __str__(self) -> str:
        if self.disk is None:
            return f"{self.name}, MTU {self.mtu}"
        return f"disks {self.name} as fast"

    @property
    def name(self) -> str:
        """The rate of the links, or how much faster disks are, as an option has it: `2.5gbit`, `2x`."""
        if self.disk is not None:
            return f"{self.disk:g}x"
        if self.link_bit_s is None:
            return "the present links"
        return rate_text(self.link_bit_s)


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

    - `interval_80`, `interval_95`: for what the same number of runs will measure after the upgrade.
    - `limit_s`: the time to expect over an infinitely fast network, or with infinitely fast disks.
    - `network_share` or `disk_share`, whichever is to become faster: the part of the present time in which
      tasks wait for it, or in which a link is full. `basis` says which.
    - `useful_up_to_bit_s`: the rate of links from which on the time is within 5 % of `limit_s`. None if the
      time is within it already.
    """

    workload: str
    is_control: bool
    baseline_s: Seconds
    expected_s: Seconds
    interval_80: Bounds
    interval_95: Bounds
    limit_s: Seconds
    useful_up_to_bit_s: Annotated[float, Meta(ge=1, le=1e18)] | None
    network_share: Share | None
    basis: str
    disk_share: Share | None = None


@dataclass(frozen=True)
class Prediction:
    """The times to expect of a baseline's workloads.

    - `made_at`: ISO 8601 in UTC.
    - `baseline`: the name of the configuration.
    - `baseline_goodput_bit_s`: the payload that a link of the baseline carries; None if disks are bought.
    - `model`: the name, version and numbers of the model.
    - `conditions`: facts that have to be the same after the upgrade, by name.
    - `not_predicted`: the reason by workload.
    - `notes`: lines that a reader has to know.
    """

    made_at: str
    written_by: str
    model: str
    baseline: str
    baseline_goodput_bit_s: BitPerS | None
    target: Target
    times: Annotated[tuple[PredictedTime, ...], Meta(min_length=1)]
    conditions: Mapping[str, str] = field(default_factory=dict)
    not_predicted: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> list[PredictedTime]:
        """The times of all workloads but the controls."""
        return [time for time in self.times if not time.is_control]
