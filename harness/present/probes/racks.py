"""Goodput within racks and between them, and the oversubscription of the uplinks."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from harness.analysis.network.mesh import oversubscription_text
from harness.analysis.network.processor_limit import doubt, shared_limit
from harness.model.interface import HostLink
from harness.model.link import TYPICAL_MTU, throughput_text
from harness.model.network_metrics import ACROSS_RACKS, OVERSUBSCRIPTION, WITHIN_RACK
from harness.model.probe import ProbeSample, RecordedProbes, samples
from harness.present.probes import page
from harness.present.table import Footnotes
from harness.present.text import simple_table
from harness.terminal import visible

_METRIC_NAMES = {WITHIN_RACK.name: "within, each host", ACROSS_RACKS.name: "across, all hosts"}
_HEADINGS = ("racks", "", "median", "min", "max", "draws")


def render(probed: RecordedProbes) -> str:
    """Return a line for each rack and each direction between two racks, then the verdicts."""
    notes = Footnotes()
    measured = samples(item for item in probed.measurements if item.probe == WITHIN_RACK.probe)
    rows = [_row(sample, notes) for sample in measured if sample.metric in _METRIC_NAMES]
    return page(
        (simple_table(_HEADINGS, rows), "\n".join(_verdicts(measured, probed.links()))), notes
    )


def _row(sample: ProbeSample, notes: Footnotes) -> list[str]:
    mark = notes.mark(sample.errors[:1])
    name, metric = visible(sample.subject), f"{_METRIC_NAMES[sample.metric]}{mark}"
    if not sample.values:
        return [name, metric, "failed", "", "", ""]
    values = (median(sample.values), min(sample.values), max(sample.values))
    return [name, metric, *map(throughput_text, values), str(len(sample.values))]


def _verdicts(measured: Sequence[ProbeSample], links: Mapping[str, HostLink]) -> Iterator[str]:
    mtus = [link.mtu_bytes for link in links.values() if link.mtu_bytes is not None]
    min_mtu = min(mtus, default=TYPICAL_MTU)
    across, ratios = (
        {sample.subject: sample.values for sample in measured if sample.metric == metric.name}
        for metric in (ACROSS_RACKS, OVERSUBSCRIPTION)
    )
    for subject, values in across.items():
        limit = shared_limit(each for each in measured if each.subject == subject)
        if ratios.get(subject):
            found = oversubscription_text(subject, ratios[subject], values, min_mtu)
            yield visible(f"{found}{doubt(limit)}")
        else:
            yield visible(f"{subject}: unknown, because no goodput within a rack was measured")
