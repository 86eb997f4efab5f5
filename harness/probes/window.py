"""What flows carried together: in the seconds in which all of them ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.probes.tools.iperf3 import Interval
from harness.probes.traffic import Transfer


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


def timeline(transfer: Transfer) -> list[Interval]:
    """A transfer's intervals on our clock.

    iperf3 counts in them what was handed to the kernel; in sum they are made what arrived.
    """
    report, began_s = transfer.report, transfer.began_s
    sent = sum(one.bits for one in report.intervals)
    arrived = report.goodput_bit_s * report.seconds / sent if sent else 0.0
    return [
        Interval(one.start_s + began_s, one.end_s + began_s, arrived * one.bits)
        for one in report.intervals
    ]


def common_window(timelines: Sequence[Sequence[Interval]]) -> Window | None:
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


def _share(interval: Interval, start: float, end: float) -> float:
    """Which part of an interval is between two moments."""
    length = interval.end_s - interval.start_s
    within = min(interval.end_s, end) - max(interval.start_s, start)
    return max(0.0, within) / length if length > 0 else 0.0
