"""What racks carry within and across, and how far the uplink is oversubscribed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness.present.escape import visible
from harness.present.footnotes import Footnotes
from harness.present.probes.grid import footnotes, table
from harness.probes.link import HostLink
from harness.probes.racks import ACROSS, RATIO, WITHIN, verdict
from harness.probes.record import Probed, ProbeSample, samples
from harness.rate import USUAL_MTU, carried_text

_WHAT = {WITHIN.name: "within, each host", ACROSS.name: "across, all hosts"}


def render(probed: Probed) -> str:
    """A line for each rack and each direction between them, then the verdict in words."""
    notes = Footnotes()
    held = samples(one for one in probed.measurements if one.probe == WITHIN.probe)
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
    return [name, what, *map(carried_text, values), str(len(sample.values))]


def _verdicts(held: Sequence[ProbeSample], links: Mapping[str, HostLink]) -> Iterator[str]:
    mtus = [link.mtu_bytes for link in links.values() if link.mtu_bytes is not None]
    across = {one.subject: one.values for one in held if one.metric == ACROSS.name}
    ratios = {one.subject: one.values for one in held if one.metric == RATIO.name}
    for subject, values in across.items():
        if ratios.get(subject):
            yield visible(verdict(subject, ratios[subject], values, min(mtus, default=USUAL_MTU)))
        else:
            yield visible(f"{subject}: nothing to hold it against")
