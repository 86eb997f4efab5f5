"""iperf3: TCP transfers and their JSON reports. Versions from 3.2 on can be read."""

from dataclasses import dataclass

from harness.base.errors import ToolError
from harness.node.printed_json import printed_json
from harness.probes.tools.numbers import number, number_or_none

LISTENING = "Server listening"
CONNECT_TIMEOUT_MS = 5000
_REPORT_BYTES = 2**20
"""Several times the size of a report without intervals."""
_INTERVAL_BYTES = 4096
"""Several times the size of an interval, which a report has for each stream and second: 30 lines."""


@dataclass(frozen=True)
class Report:
    """The outcome of one transfer, without the seconds that were omitted.

    `goodput_bit_s` counts the payload that arrived. The processor times are iperf3's own, in
    percent of one processor. A value that this version of iperf3 does not report is None.
    """

    goodput_bit_s: float
    seconds: float
    retransmits: int | None
    sender_cpu_percent: float | None
    receiver_cpu_percent: float | None


def server(address: str, port: int) -> list[str]:
    """Return the command that serves one transfer. It prints LISTENING when clients can connect.

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
    if mss_bytes is not None:
        command += ["-M", str(mss_bytes)]
    return command


def report_bytes(seconds: int, streams: int = 1) -> int:
    """Return how many bytes a client may print in this time."""
    return _REPORT_BYTES + _INTERVAL_BYTES * seconds * streams


def read_report(text: str) -> Report:
    """Read the report that a TCP client printed.

    Raise ToolError with the error in the report, with which iperf3 may exit with 0. Raise ToolError, too, if
    nothing arrived, or if the report is incomplete.
    """
    reports = list(printed_json(text, "{"))
    if not reports:
        raise ToolError("iperf3 printed no report")
    for report in reports:
        if report.get("error"):
            raise ToolError(f"iperf3: {report['error']}")
    complete = next((report for report in reports if "end" in report), reports[0])
    try:
        end = complete["end"]
        received = end["sum_received"]
        seconds = received["seconds"]
        if isinstance(seconds, int | float) and seconds < 0:
            raise ToolError(f"iperf3: the clock was set back while it ran: {seconds:g} s passed")
        goodput = number(received, "bits_per_second")
        if goodput <= 0:
            raise ToolError(
                "iperf3: connected, but nothing arrived (are packets larger than the path MTU?)"
            )
        cpu = end.get("cpu_utilization_percent", {})
        lost = number_or_none(end["sum_sent"], "retransmits")
        return Report(
            goodput_bit_s=goodput,
            seconds=number(received, "seconds"),
            retransmits=None if lost is None else int(lost),
            sender_cpu_percent=number_or_none(cpu, "host_total"),
            receiver_cpu_percent=number_or_none(cpu, "remote_total"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ToolError(f"iperf3's report is incomplete: {error}") from error
