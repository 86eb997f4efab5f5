"""Path MTUs, the black holes among them, and what packets of some size carry and cost."""

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
from harness.present.probes.grid import UNKNOWN, footnotes, grid, table
from harness.present.table import Footnotes
from harness.terminal import visible

_COSTS = ("packets", "goodput Mbit/s", "sender", "receiver", "failed")


def render(probed: RecordedProbes) -> str:
    """What each path carries, each that carries less than its ends think, and what sizes cost."""
    notes = Footnotes()
    held = [one for one in probed.measurements if one.probe == MTU]
    paths = pair_matrix(held, PATH_MTU)
    remarks = path_mtu_faults(held, probed.links()).values()
    sections = []
    if paths.hosts:
        whole = "every path carries what its sender's link does"
        sections += [
            f"path MTU in bytes; rows send, columns receive\n{grid(paths, _bytes, notes)}",
            "\n".join(map(visible, remarks)) or whole,
        ]
    if any(one.metric == PACKET_GOODPUT.name for one in held):
        sections.append(_sizes(held))
    return "\n\n".join([*sections, *footnotes(notes)]) + "\n"


def _sizes(measurements: Sequence[Measurement]) -> str:
    """A line a size: the medians over pairs and repeats."""
    cases = dict.fromkeys(one.case for one in measurements if one.metric == PACKET_GOODPUT.name)
    rows = []
    for case in cases:
        goodput, sender, receiver = (
            [one.value for one in measurements if (one.case, one.metric) == (case, metric.name)]
            for metric in (PACKET_GOODPUT, SENDER_PACKET_COST, RECEIVER_PACKET_COST)
        )
        failed = sum(value is None for value in goodput)
        carried = [value / 1e6 for value in goodput if value is not None]
        costs = [[value for value in cost if value is not None] for cost in (sender, receiver)]
        rows.append(
            [
                visible(case),
                f"{median(carried):.1f}" if carried else UNKNOWN,
                *(f"{median(cost):.2f}" if cost else UNKNOWN for cost in costs),
                str(failed or ""),
            ]
        )
    title = "what sizes of packets carry, and how many processors are busy for each Gbit/s"
    return f"{title}\n{table(_COSTS, rows)}"


def _bytes(value: float) -> str:
    return f"{value:.0f}"
