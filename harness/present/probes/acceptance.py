"""The gate's verdict: what is wrong, line by line, or what was found right."""

from __future__ import annotations

from collections.abc import Sequence

from harness.analysis.mesh import matrix
from harness.model.link import throughput_text
from harness.model.network_metrics import MESH_GOODPUT, PATH_MTU
from harness.model.probe import RecordedProbes
from harness.terminal import visible


def render(wrong: Sequence[str], probed: RecordedProbes) -> str:
    """A line for each that is wrong, or one on what was judged."""
    return "".join(f"{visible(line)}\n" for line in (*emulation(probed), *_verdict(wrong, probed)))


def emulation(probed: RecordedProbes) -> list[str]:
    """A line that says so of a network that is emulated."""
    said = probed.run.facts.get("emulated")
    return [f"emulated: {said}"] if said else []


def _verdict(wrong: Sequence[str], probed: RecordedProbes) -> list[str]:
    if wrong:
        things = "thing is" if len(wrong) == 1 else "things are"
        return [f"{len(wrong)} {things} wrong", *(f"- {line}" for line in wrong)]
    goodput = matrix(probed.measurements, MESH_GOODPUT).values.values()
    paths = matrix(probed.measurements, PATH_MTU).values
    least = f", {throughput_text(min(goodput))} or more between every two hosts" if goodput else ""
    return [f"nothing is wrong: {len(probed.links())} links, {len(paths)} paths{least}"]
