"""iperf3: a TCP transfer, and its report. Any version from 3.2 on will do."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.model.errors import ToolError

LISTENS = "Server listening"
CONNECT_S = 5


@dataclass(frozen=True)
class TransferInterval:
    """What was sent between two moments, in seconds from the transfer's start."""

    start_s: float
    end_s: float
    bits: float


@dataclass(frozen=True)
class Report:
    """What one transfer came to, without the seconds that were omitted.

    `goodput_bit_s` is payload that arrived. The processor times are those of iperf3 itself, in
    percent of one processor. What a version does not report is None.
    """

    goodput_bit_s: float
    seconds: float
    retransmits: int | None
    sender_cpu_percent: float | None
    receiver_cpu_percent: float | None
    intervals: tuple[TransferInterval, ...]


def server(port: int) -> list[str]:
    """Take one transfer. It prints LISTENS when it can."""
    return ["iperf3", "-s", "-1", "-p", str(port), "--forceflush"]


def client(
    address: str, port: int, *, seconds: int, omitted_s: int, streams: int, mss_bytes: int | None
) -> list[str]:
    """Send to a server for so many seconds, after `omitted_s` that do not count."""
    command = ["iperf3", "-c", address, "-p", str(port), "-J", "-t", str(seconds)]
    command += ["-O", str(omitted_s), "-P", str(streams), "--connect-timeout", f"{CONNECT_S}000"]
    return command + ([] if mss_bytes is None else ["-M", str(mss_bytes)])


def read_report(text: str) -> Report:
    """The report of a client's `-J`.

    Raises ToolFailed with what iperf3 says of an error, which it exits with 0 on; and where nothing
    arrived, or the report is not whole.
    """
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError("iperf3 printed no report") from error
    if isinstance(report, dict) and report.get("error"):
        raise ToolError(f"iperf3: {report['error']}")
    try:
        return _report(report)
    except (KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"iperf3's report is not whole: {error}") from error


def _report(report: Mapping[str, Any]) -> Report:
    end = report["end"]
    received = end["sum_received"]
    goodput = _number(received, "bits_per_second")
    if goodput <= 0:
        raise ToolError("iperf3: connected, and nothing arrived (a path MTU that is not carried?)")
    retransmits = end["sum_sent"].get("retransmits")
    cpu = end.get("cpu_utilization_percent", {})
    return Report(
        goodput_bit_s=goodput,
        seconds=_number(received, "seconds"),
        retransmits=None if retransmits is None else int(_number(end["sum_sent"], "retransmits")),
        sender_cpu_percent=_known(cpu, "host_total"),
        receiver_cpu_percent=_known(cpu, "remote_total"),
        intervals=tuple(
            _interval(one["sum"]) for one in report["intervals"] if not one["sum"].get("omitted")
        ),
    )


def _interval(total: Mapping[str, Any]) -> TransferInterval:
    bits = 8 * _number(total, "bytes")
    return TransferInterval(_number(total, "start"), _number(total, "end"), bits)


def _known(of: Mapping[str, Any], key: str) -> float | None:
    return None if of.get(key) is None else _number(of, key)


def _number(of: Mapping[str, Any], key: str) -> float:
    value = of[key]
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise TypeError(f"{key} is {value!r}")
    return float(value)
