"""The racks probe: everybody of one rack sends to somebody of the other, all at once.

Held against what the same hosts carry within their racks, that tells how far the uplink is
oversubscribed.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from statistics import median

from harness.probes.matrix import ARROW
from harness.probes.measurement import HIGHER, LOWER, Measurement, Metric
from harness.probes.reach import Host, HostTrouble
from harness.probes.step import Step
from harness.probes.traffic import Flow, Load, Transfer, carry
from harness.probes.window import common_window, timeline
from harness.rate import USUAL_MTU, rate_of_goodput, rate_text

PROBE = "racks"
WITHIN = Metric(PROBE, "within_bit_s_per_host", "bit/s", HIGHER)
ACROSS = Metric(PROBE, "across_bit_s", "bit/s", HIGHER)
RATIO = Metric(PROBE, "oversubscription", "to 1", LOWER)
SETTING_UP_S = 3.0
LEAST_COMMON = 0.5
"""Share of the seconds asked for that all flows have to have in common."""
WHOLE = 0.05
NOT_HELD_BACK = 1.15
"""A ratio up to this is 1:1, measured on a network that others use too."""


@dataclass(frozen=True)
class Rack:
    """Hosts that reach each other without the uplink."""

    name: str
    hosts: tuple[Host, ...]


def racks(first: Rack, second: Rack, load: Load, draws: int, seed: int) -> list[Step]:
    """So many draws of who sends to whom, each within the racks, across, and back."""
    dice = random.Random(seed)  # noqa: S311  chance that can be repeated
    return [
        Step(
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
        bit_s = yield from _together(WITHIN, name, arrived, load)
        if bit_s is not None:
            per_host[name] = bit_s / len(_transfers(arrived))
            yield WITHIN.of(name, per_host[name])
    for senders, receivers in ((first, second), (second, first)):
        subject = f"{senders.name}{ARROW}{receivers.name}"
        arrived = _carried(strangers(senders, receivers, dice), load)
        bit_s = yield from _together(ACROSS, subject, arrived, load)
        if bit_s is not None:
            yield ACROSS.of(subject, bit_s)
            if per_host:
                could = _could(_transfers(arrived), senders, receivers, per_host)
                yield RATIO.of(subject, could / bit_s)


def _carried(flows: Sequence[Flow], load: Load) -> dict[Flow, Transfer | HostTrouble]:
    return dict(zip(flows, carry(flows, load), strict=True))


def _transfers(carried: Mapping[Flow, Transfer | HostTrouble]) -> dict[Flow, Transfer]:
    return {flow: one for flow, one in carried.items() if isinstance(one, Transfer)}


def _together(
    metric: Metric, subject: str, carried: Mapping[Flow, Transfer | HostTrouble], load: Load
) -> Generator[Measurement, None, float | None]:
    """What the flows that worked carried together, in bit/s; yields why others did not."""
    for outcome in carried.values():
        if isinstance(outcome, HostTrouble):
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


def verdict(
    subject: str, ratios: Sequence[float], across_bit_s: Sequence[float], mtu: int = USUAL_MTU
) -> str:
    """How far the uplink is oversubscribed, in words, with the range of the draws.

    `across_bit_s` is goodput; the uplink's own rate has the frames' headers besides.
    """
    ratio, near = median(ratios), _near(rate_of_goodput(median(across_bit_s), mtu))
    draws = f"{min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} draws"
    if len(ratios) == 1:
        draws = "in a single draw"
    if ratio <= NOT_HELD_BACK:
        return f"{subject}: 1:1 ({draws}), the uplink carries {near} or more"
    return f"{subject}: about {_ratio(ratio)}:1 ({draws}), uplink near {near}"


def _ratio(value: float) -> str:
    """To a tenth, and whole where a tenth would be more than is known."""
    whole = round(value)
    return str(whole) if abs(value - whole) <= WHOLE * whole else f"{value:.1f}"


def _near(bit_s: float) -> str:
    """To two digits, which is what is known of it."""
    return rate_text(int(float(f"{bit_s:.2g}")))
