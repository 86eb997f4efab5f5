"""iperf3: TCP transfers and UDP streams, and their JSON reports. Versions from 3.2 on can be read."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from harness.model.errors import ToolError

T = TypeVar("T")

LISTENING = "Server listening"
CONNECT_TIMEOUT_MS = 5000
_REPORT_BYTES, _INTERVAL_BYTES = 2**20, 4096
"""Several times what a report has without intervals, and of a stream's second, which are 30 lines."""


@dataclass(frozen=True)
class TransferInterval:
    """What was sent between two moments, which are in seconds since the start of the transfer.

    `retransmits` are TCP segments that were sent again; None if iperf3 did not count them.
    """

    start_s: float
    end_s: float
    bits: float
    retransmits: int | None = None


@dataclass(frozen=True)
class Report:
    """The outcome of one transfer, without the seconds that were omitted.

    `goodput_bit_s` counts the payload that arrived. The processor times are those of iperf3 itself, in
    percent of one processor. `sent_bytes` are those of the payload, without those that were sent again;
    `mss_bytes` is the payload of a full segment. `mean_rtt_us` is the mean of the round trip times that the
    sender's kernel estimated during the transfer, over all streams. What an iperf3 version does not report
    is None.
    """

    goodput_bit_s: float
    seconds: float
    retransmits: int | None
    sender_cpu_percent: float | None
    receiver_cpu_percent: float | None
    intervals: tuple[TransferInterval, ...]
    sent_bytes: int | None = None
    mss_bytes: int | None = None
    mean_rtt_us: float | None = None


@dataclass(frozen=True)
class DatagramReport:
    """The outcome of one UDP stream.

    Rates count the payload. `jitter_us` is the mean deviation of the packets' spacing (RFC 3550, 6.4.1);
    None if nothing arrived. Packets still on their way at the end count as neither received nor lost.
    """

    sent_bit_s: float
    received_bit_s: float
    loss_percent: float
    jitter_us: float | None


def server(address: str, port: int) -> list[str]:
    """Return the command that serves one transfer; it prints LISTENING when clients can connect.

    It serves on the network under test alone.
    """
    return ["iperf3", "-s", "-1", "-B", address, "-p", str(port), "--forceflush"]


def client(
    address: str, port: int, *, seconds: int, omitted_s: int, streams: int, mss_bytes: int | None
) -> list[str]:
    """Return the command that sends to a server for `omitted_s` seconds and `seconds` measured ones."""
    command = ["iperf3", "-c", address, "-p", str(port), "-J", "-t", str(seconds)]
    command += ["-O", str(omitted_s), "-P", str(streams)]
    command += ["--connect-timeout", str(CONNECT_TIMEOUT_MS)]
    return command + ([] if mss_bytes is None else ["-M", str(mss_bytes)])


def datagram_client(
    address: str, port: int, *, seconds: int, payload_bit_s: int, payload_bytes: int
) -> list[str]:
    """Return the command that sends UDP packets of `payload_bytes` at a rate that counts these alone."""
    command = ["iperf3", "-c", address, "-p", str(port), "-J", "-t", str(seconds)]
    command += ["--udp", "-b", str(payload_bit_s), "-l", str(payload_bytes)]
    return [*command, "--connect-timeout", str(CONNECT_TIMEOUT_MS)]


def report_bytes(seconds: int, streams: int = 1) -> int:
    """Return how much a client may print in this time."""
    return _REPORT_BYTES + _INTERVAL_BYTES * seconds * streams


def read_report(text: str) -> Report:
    """Read the report that a TCP client printed.

    Raise ToolError with the error in the report, which iperf3 may exit with 0 in spite of; also if nothing
    arrived, or if the report is incomplete.
    """
    return _read(text, _report)


def read_datagram_report(text: str) -> DatagramReport:
    """Read the report that a UDP client printed. Raise ToolError as `read_report`; all may be lost."""
    return _read(text, _datagram_report)


def _read(text: str, parse: Callable[[Mapping[str, Any]], T]) -> T:
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError("iperf3 printed no report") from error
    if isinstance(report, dict) and report.get("error"):
        raise ToolError(f"iperf3: {report['error']}")
    try:
        return parse(report)
    except (KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"iperf3's report is incomplete: {error}") from error


def _report(report: Mapping[str, Any]) -> Report:
    end = report["end"]
    received = end["sum_received"]
    goodput = _number(received, "bits_per_second")
    if goodput <= 0:
        raise ToolError(
            "iperf3: connected, but nothing arrived (are packets larger than the path MTU?)"
        )
    cpu = end.get("cpu_utilization_percent", {})
    return Report(
        goodput_bit_s=goodput,
        seconds=_number(received, "seconds"),
        retransmits=_count_or_none(end["sum_sent"], "retransmits"),
        sender_cpu_percent=_number_or_none(cpu, "host_total"),
        receiver_cpu_percent=_number_or_none(cpu, "remote_total"),
        intervals=tuple(
            _interval(interval["sum"])
            for interval in report["intervals"]
            if not interval["sum"].get("omitted")
        ),
        sent_bytes=_count_or_none(end["sum_sent"], "bytes"),
        mss_bytes=_count_or_none(report.get("start", {}), "tcp_mss_default"),
        mean_rtt_us=_mean_rtt_us(end.get("streams", ())),
    )


def _mean_rtt_us(streams: Sequence[Mapping[str, Any]]) -> float | None:
    found = [_number_or_none(stream["sender"], "mean_rtt") for stream in streams]
    times = [time for time in found if time]
    return sum(times) / len(times) if times else None


def _datagram_report(report: Mapping[str, Any]) -> DatagramReport:
    """Older versions have no `sum_received`; newer ones count no loss in `sum` if nothing arrived at all."""
    total = report["end"]["sum"]
    sent = _number(total, "bits_per_second")
    if sent <= 0:
        raise ToolError("iperf3: connected, but nothing was sent")
    seen = report["end"].get("sum_received", total)
    packets, lost = _number(seen, "packets"), _number(seen, "lost_packets")
    arrived = packets - lost
    if arrived <= 0:
        return DatagramReport(sent, 0.0, 100.0, None)
    received = sent * arrived / packets if seen is total else _number(seen, "bits_per_second")
    return DatagramReport(sent, received, 100 * lost / packets, 1000 * _number(seen, "jitter_ms"))


def _interval(total: Mapping[str, Any]) -> TransferInterval:
    bits = 8 * _number(total, "bytes")
    return TransferInterval(
        _number(total, "start"), _number(total, "end"), bits, _count_or_none(total, "retransmits")
    )


def _count_or_none(values: Mapping[str, Any], key: str) -> int | None:
    count = _number_or_none(values, key)
    return None if count is None else int(count)


def _number_or_none(values: Mapping[str, Any], key: str) -> float | None:
    return None if values.get(key) is None else _number(values, key)


def _number(values: Mapping[str, Any], key: str) -> float:
    value = values[key]
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise TypeError(f"{key} is {value!r}")
    return float(value)
