"""The gate's verdict: what is wrong, line by line, or what was found right."""

from __future__ import annotations

from collections.abc import Sequence

from harness.present.escape import visible
from harness.probes import mesh, mtu
from harness.probes.matrix import matrix
from harness.probes.record import Probed
from harness.rate import carried_text


def render(wrong: Sequence[str], probed: Probed) -> str:
    """A line for each that is wrong, or one on what was judged."""
    return "".join(f"{visible(line)}\n" for line in (*emulation(probed), *_verdict(wrong, probed)))


def emulation(probed: Probed) -> list[str]:
    """A line that says so of a network that is emulated."""
    said = probed.run.facts.get("emulated")
    return [f"emulated: {said}"] if said else []


def _verdict(wrong: Sequence[str], probed: Probed) -> list[str]:
    if wrong:
        things = "thing is" if len(wrong) == 1 else "things are"
        return [f"{len(wrong)} {things} wrong", *(f"- {line}" for line in wrong)]
    goodput = matrix(probed.measurements, mesh.GOODPUT).values.values()
    paths = matrix(probed.measurements, mtu.PATH_MTU).values
    least = f", {carried_text(min(goodput))} or more between every two hosts" if goodput else ""
    return [f"nothing is wrong: {len(probed.links())} links, {len(paths)} paths{least}"]
