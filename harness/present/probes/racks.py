"""What racks carry within and across, and how far the uplink is oversubscribed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness.analysis.mesh import oversubscription_text
from harness.model.interface import HostLink
from harness.model.link import TYPICAL_MTU, throughput_text
from harness.model.network_metrics import ACROSS_RACKS, OVERSUBSCRIPTION, WITHIN_RACK
from harness.model.probe import ProbeSample, RecordedProbes, samples
from harness.present.probes.grid import footnotes, table
from harness.present.table import Footnotes
from harness.terminal import visible

_WHAT = {WITHIN_RACK.name: "within, each host", ACROSS_RACKS.name: "across, all hosts"}


def render(probed: RecordedProbes) -> str:
    """A line for each rack and each direction between them, then the verdict in words."""
    notes = Footnotes()
    held = samples(one for one in probed.measurements if one.probe == WITHIN_RACK.probe)
    rows = [_row(sample, notes) for sample in held if sample.metric in _WHAT]
    shown = table(["racks", "", "median", "least", "most", "draws"], rows)
    return (
        "\n\n".join([shown, "\n".join(_verdicts(held, probed.links())), *footnotes(notes)]) + "\n"
    )


def _row(sample: ProbeSample, notes: Footnotes) -> list[str]:
    mark = notes.mark(sample.errors[:1])
    name, what = visible(sample.subject), f"{_WHAT[sample.metric]}{mark}"
    if not sample.values:
        return [name, what, "failed", "", "", ""]
    values = (median(sample.values), min(sample.values), max(sample.values))
    return [name, what, *map(throughput_text, values), str(len(sample.values))]


def _verdicts(held: Sequence[ProbeSample], links: Mapping[str, HostLink]) -> Iterator[str]:
    mtus = [link.mtu_bytes for link in links.values() if link.mtu_bytes is not None]
    across = {one.subject: one.values for one in held if one.metric == ACROSS_RACKS.name}
    ratios = {one.subject: one.values for one in held if one.metric == OVERSUBSCRIPTION.name}
    for subject, values in across.items():
        if ratios.get(subject):
            yield visible(
                oversubscription_text(
                    subject, ratios[subject], values, min(mtus, default=TYPICAL_MTU)
                )
            )
        else:
            yield visible(f"{subject}: nothing to hold it against")
