"""The seconds in which all flows ran: before and after them, a flow may have a shared link for itself."""

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from harness.hosts.transports.host import HostError
from harness.model.probe import Measurement, Metric
from harness.probes.tools.iperf3 import TransferInterval
from harness.probes.traffic import Transfer

MIN_COMMON_FRACTION = 0.5
"""How much of the requested time all flows must have in common. The clients start within a fraction of a
second; if there is less, some flow began late or stopped early, and the window represents nothing."""
NOT_TOGETHER = "its flows did not run in the same seconds"


@dataclass(frozen=True)
class Window:
    """The time in which all flows ran, on one clock, and what they carried in it.

    `flows_bit_s` has the rate of each flow, in their order. `retransmits` are the segments of all flows
    together; None if one of them did not count them.
    """

    start_s: float
    end_s: float
    flows_bit_s: tuple[float, ...]
    retransmits: float | None = None

    @property
    def seconds(self) -> float:
        """The length of the window."""
        return self.end_s - self.start_s

    @property
    def bit_s(self) -> float:
        """The rate of all flows together."""
        return sum(self.flows_bit_s)


def window_of(transfers: Iterable[Transfer], seconds: float) -> Window | None:
    """Return the window of transfers that were to run for `seconds`; None if they hardly ran together."""
    window = common_window([timeline(transfer) for transfer in transfers])
    if window is None or window.seconds < MIN_COMMON_FRACTION * seconds:
        return None
    return window


def measured_window(
    metric: Metric,
    subject: str,
    outcomes: Sequence[Transfer | HostError],
    seconds: float,
    case: str = "",
    *,
    needs_all: bool = False,
) -> Generator[Measurement, None, Window | None]:
    """Return the window of the transfers; yield which failed, or that they hardly ran together.

    There is none if all transfers failed, or any if it `needs_all`.
    """
    carried = [outcome for outcome in outcomes if isinstance(outcome, Transfer)]
    for outcome in outcomes:
        if isinstance(outcome, HostError):
            yield metric.failed(subject, outcome, case)
    if not carried or (needs_all and len(carried) < len(outcomes)):
        return None
    window = window_of(carried, seconds)
    if window is None:
        name = f"{subject}, {case}" if case else subject
        yield metric.failed(subject, f"{name}: {NOT_TOGETHER}", case)
    return window


def timeline(transfer: Transfer) -> list[TransferInterval]:
    """Return a transfer's intervals on this machine's clock.

    The sender reports what it passed to its kernel; the bits are scaled so that their sum is what arrived.
    """
    report, began_s = transfer.report, transfer.began_s
    sent = sum(interval.bits for interval in report.intervals)
    arrived = report.goodput_bit_s * report.seconds / sent if sent else 0.0
    return [
        TransferInterval(
            interval.start_s + began_s,
            interval.end_s + began_s,
            arrived * interval.bits,
            interval.retransmits,
        )
        for interval in report.intervals
    ]


def common_window(timelines: Sequence[Sequence[TransferInterval]]) -> Window | None:
    """Return the window of flows whose intervals are on one clock; None if they have no time in common.

    An interval that is partly in the window counts in proportion.
    """
    if not timelines or not all(timelines):
        return None
    start = max(min(interval.start_s for interval in flow) for flow in timelines)
    end = min(max(interval.end_s for interval in flow) for flow in timelines)
    if end <= start:
        return None
    flows_bit_s = tuple(
        sum(interval.bits * _fraction_within(interval, start, end) for interval in flow)
        / (end - start)
        for flow in timelines
    )
    return Window(start, end, flows_bit_s, _retransmits(timelines, start, end))


def _retransmits(
    timelines: Sequence[Sequence[TransferInterval]], start: float, end: float
) -> float | None:
    total = 0.0
    for flow in timelines:
        for interval in flow:
            if interval.retransmits is None:
                return None
            total += interval.retransmits * _fraction_within(interval, start, end)
    return total


def _fraction_within(interval: TransferInterval, start: float, end: float) -> float:
    length = interval.end_s - interval.start_s
    within = min(interval.end_s, end) - max(interval.start_s, start)
    return max(0.0, within) / length if length > 0 else 0.0
