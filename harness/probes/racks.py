"""What flows carried together: in the seconds in which all of them ran."""

from __future__ import annotations

import random
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle

from harness.model.network_metrics import ACROSS_RACKS, OVERSUBSCRIPTION, WITHIN_RACK
from harness.model.probe import ARROW, Measurement, Metric
from harness.probes.plan import ProbeStep
from harness.probes.tools.iperf3 import TransferInterval
from harness.probes.traffic import Flow, Load, Transfer, carry
from harness.probes.transports.host import Host, HostError


@dataclass(frozen=True)
class Window:
    """The seconds that all flows have in common, on one clock, and the sum of what they carried then."""

    start_s: float
    end_s: float
    bit_s: float

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end_s - self.start_s


def timeline(transfer: Transfer) -> list[TransferInterval]:
    """A transfer's intervals on our clock.

    iperf3 counts in them what was handed to the kernel; in sum they are made what arrived.
    """
    report, began_s = transfer.report, transfer.began_s
    sent = sum(one.bits for one in report.intervals)
    arrived = report.goodput_bit_s * report.seconds / sent if sent else 0.0
    return [
        TransferInterval(one.start_s + began_s, one.end_s + began_s, arrived * one.bits)
        for one in report.intervals
    ]


def common_window(timelines: Sequence[Sequence[TransferInterval]]) -> Window | None:
    """The window of flows whose intervals are on one clock; None where they have nothing in common.

    An interval that the window cuts counts by the part that is within.
    """
    if not timelines or not all(timelines):
        return None
    start = max(min(one.start_s for one in flow) for flow in timelines)
    end = min(max(one.end_s for one in flow) for flow in timelines)
    if end <= start:
        return None
    bits = sum(one.bits * _share(one, start, end) for flow in timelines for one in flow)
    return Window(start, end, bits / (end - start))


def _share(interval: TransferInterval, start: float, end: float) -> float:
    """Which part of an interval is between two moments."""
    length = interval.end_s - interval.start_s
    within = min(interval.end_s, end) - max(interval.start_s, start)
    return max(0.0, within) / length if length > 0 else 0.0


SETTING_UP_S = 3.0
LEAST_COMMON = 0.5
"""Share of the seconds asked for that all flows have to have in common."""


@dataclass(frozen=True)
class Rack:
    """Hosts that reach each other without the uplink."""

    name: str
    hosts: tuple[Host, ...]


def racks(first: Rack, second: Rack, load: Load, draws: int, seed: int) -> list[ProbeStep]:
    """So many draws of who sends to whom, each within the racks, across, and back."""
    dice = random.Random(seed)  # noqa: S311  chance that can be repeated
    return [
        ProbeStep(
            f"racks: {first.name} and {second.name}, draw {draw}",
            3 * (load.total_s + SETTING_UP_S),
            partial(_draw, first, second, load, dice.randrange(2**32)),
        )
        for draw in range(1, draws + 1)
    ]


def neighbours(rack: Rack, dice: random.Random) -> list[Flow]:
    """Disjoint pairs of one rack; of an odd number one host is left out."""
    hosts = dice.sample(rack.hosts, len(rack.hosts))
    return [Flow(a, b) for a, b in zip(hosts[::2], hosts[1::2], strict=False)]


def strangers(senders: Rack, receivers: Rack, dice: random.Random) -> list[Flow]:
    """Everybody of one rack to somebody of the other, who are all drawn equally often.

    Drawn independently, several would be sent to by two and be the bottleneck themselves.
    """
    drawn = cycle(dice.sample(receivers.hosts, len(receivers.hosts)))
    return [Flow(sender, receiver) for sender, receiver in zip(senders.hosts, drawn, strict=False)]


def _draw(first: Rack, second: Rack, load: Load, seed: int) -> Generator[Measurement, None, None]:
    dice = random.Random(seed)  # noqa: S311  chance that can be repeated
    near = {rack.name: neighbours(rack, dice) for rack in (first, second)}
    carried = _carried([flow for flows in near.values() for flow in flows], load)
    per_host = {}
    for name, flows in near.items():
        arrived = {flow: carried[flow] for flow in flows}
        bit_s = yield from _together(WITHIN_RACK, name, arrived, load)
        if bit_s is not None:
            per_host[name] = bit_s / len(_transfers(arrived))
            yield WITHIN_RACK.of(name, per_host[name])
    for senders, receivers in ((first, second), (second, first)):
        subject = f"{senders.name}{ARROW}{receivers.name}"
        arrived = _carried(strangers(senders, receivers, dice), load)
        bit_s = yield from _together(ACROSS_RACKS, subject, arrived, load)
        if bit_s is not None:
            yield ACROSS_RACKS.of(subject, bit_s)
            if per_host:
                could = _could(_transfers(arrived), senders, receivers, per_host)
                yield OVERSUBSCRIPTION.of(subject, could / bit_s)


def _carried(flows: Sequence[Flow], load: Load) -> dict[Flow, Transfer | HostError]:
    return dict(zip(flows, carry(flows, load), strict=True))


def _transfers(carried: Mapping[Flow, Transfer | HostError]) -> dict[Flow, Transfer]:
    return {flow: one for flow, one in carried.items() if isinstance(one, Transfer)}


def _together(
    metric: Metric, subject: str, carried: Mapping[Flow, Transfer | HostError], load: Load
) -> Generator[Measurement, None, float | None]:
    """What the flows that worked carried together, in bit/s; yields why others did not."""
    for outcome in carried.values():
        if isinstance(outcome, HostError):
            yield metric.failed(subject, outcome)
    worked = _transfers(carried)
    if not worked:
        return None
    window = common_window([timeline(transfer) for transfer in worked.values()])
    if window is None or window.seconds < LEAST_COMMON * load.seconds:
        yield metric.failed(subject, f"{subject}: its flows did not run in the same seconds")
        return None
    return window.bit_s


def _could(
    flows: Collection[Flow], senders: Rack, receivers: Rack, per_host: Mapping[str, float]
) -> float:
    """What these hosts would carry if nothing but themselves held them back.

    A rack of one host cannot tell what that carries within; it is taken for one of the other's.
    """
    usual = min(per_host.values())
    sent = len({flow.sender for flow in flows}) * per_host.get(senders.name, usual)
    received = len({flow.receiver for flow in flows}) * per_host.get(receivers.name, usual)
    return min(sent, received)
