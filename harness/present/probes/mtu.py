"""The path MTU of every pair, the faults of paths, and the goodput and cost of packet sizes."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from harness.analysis.acceptance import path_mtu_faults
from harness.analysis.mesh import pair_matrix
from harness.model.network_metrics import (
    MTU,
    PACKET_GOODPUT,
    PATH_MTU,
    RECEIVER_PACKET_COST,
    SENDER_PACKET_COST,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes import UNKNOWN, page
from harness.present.probes.mesh import pair_table
from harness.present.table import Footnotes
from harness.present.text import simple_table
from harness.terminal import visible

_HEADINGS = ("packets", "goodput Mbit/s", "sender", "receiver", "failed")


def render(probed: RecordedProbes) -> str:
    """Return the path MTUs, a line for each path below its ends' MTUs, and the table of sizes."""
    notes = Footnotes()
    measurements = [measured for measured in probed.measurements if measured.probe == MTU]
    paths = pair_matrix(measurements, PATH_MTU)
    sections = []
    if paths.hosts:
        faults = path_mtu_faults(measurements, probed.links()).values()
        table = pair_table(paths, "{:.0f}".format, notes)
        sections += [
            f"path MTU in bytes; rows send, columns receive\n{table}",
            "\n".join(map(visible, faults)) or "every path has the MTU of its sender's link",
        ]
    if any(measured.metric == PACKET_GOODPUT.name for measured in measurements):
        sections.append(_packet_sizes(measurements))
    return page(sections, notes)


def _packet_sizes(measurements: Sequence[Measurement]) -> str:
    """Return a line for each packet size: medians over pairs and repeats."""
    cases = dict.fromkeys(
        measured.case for measured in measurements if measured.metric == PACKET_GOODPUT.name
    )
    rows = []
    for case in cases:
        goodput, sender_cost, receiver_cost = (
            [
                measured.value
                for measured in measurements
                if (measured.case, measured.metric) == (case, metric.name)
            ]
            for metric in (PACKET_GOODPUT, SENDER_PACKET_COST, RECEIVER_PACKET_COST)
        )
        failed = goodput.count(None)
        mbit_s = [value / 1e6 for value in goodput if value is not None]
        rows.append(
            [
                visible(case),
                f"{median(mbit_s):.1f}" if mbit_s else UNKNOWN,
                *(_median_cost(cost) for cost in (sender_cost, receiver_cost)),
                str(failed or ""),
            ]
        )
    title = "goodput of packet sizes, and the number of processors that 1 Gbit/s keeps busy"
    return f"{title}\n{simple_table(_HEADINGS, rows)}"


def _median_cost(processors: Sequence[float | None]) -> str:
    known = [value for value in processors if value is not None]
    return f"{median(known):.2f}" if known else UNKNOWN
