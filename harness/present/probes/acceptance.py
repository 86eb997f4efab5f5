"""The verdict of the gate: the network's faults, or what was checked without finding any."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.mesh import pair_matrix
from harness.model.link import throughput_text
from harness.model.network_metrics import MESH_GOODPUT, PATH_MTU
from harness.model.probe import RecordedProbes
from harness.terminal import count_of, visible


def render(faults: Sequence[str], probed: RecordedProbes) -> str:
    """Return a line for each fault, or one line on what was checked."""
    lines = (*emulation(probed), *(_fault_lines(faults) if faults else [_all_well(probed)]))
    return "".join(f"{visible(line)}\n" for line in lines)


def emulation(probed: RecordedProbes) -> list[str]:
    """Return the line that marks an emulated network; none for a real one."""
    description = probed.run.facts.get("emulated")
    return [f"emulated: {description}"] if description else []


def _fault_lines(faults: Sequence[str]) -> list[str]:
    return [f"{count_of(len(faults), 'fault')} found", *(f"- {fault}" for fault in faults)]


def _all_well(probed: RecordedProbes) -> str:
    goodput = pair_matrix(probed.measurements, MESH_GOODPUT).values.values()
    paths = pair_matrix(probed.measurements, PATH_MTU).values
    checked = [count_of(len(probed.links()), "link"), count_of(len(paths), "path")]
    if goodput:
        checked.append(f"{throughput_text(min(goodput))} or more between every two hosts")
    return f"no fault found: {', '.join(checked)}"
