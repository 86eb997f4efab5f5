"""The path MTU of every pair, the largest frames, and what packets of each size carry and cost."""

from collections.abc import Iterator, Sequence

from harness.analysis.network.cases import MeasuredCase, measured_cases
from harness.analysis.network.mesh import pair_matrix
from harness.model.link import COUNTED_BYTES
from harness.model.network_metrics import MTU, PACKET_CPU, PACKET_GOODPUT, PATH_MTU
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.present.probes.mesh import pair_table

_FRAME = f"the frame is {COUNTED_BYTES} bytes larger: it has the Ethernet header"


def _sizes(probed: RecordedProbes) -> list[MeasuredCase]:
    cases = measured_cases(probed.measurements, MTU)
    return [case for case in cases if PACKET_GOODPUT.name in case.samples]


PACKET_SIZES = ProbeTable(
    _sizes,
    (
        Column[MeasuredCase]("transfer", lambda row: row.subject),
        Column[MeasuredCase]("", lambda row: row.case),
        Column("goodput Mbit/s", of_metric(PACKET_GOODPUT), ".1f", 1e-6),
        Column("sender CPU", of_metric(PACKET_CPU.sender), ".1f", unit="%"),
        Column("receiver CPU", of_metric(PACKET_CPU.receiver), ".1f", unit="%"),
    ),
    title="goodput of packet sizes; processor time in percent of all processors of a host",
)


def path_sections(probed: RecordedProbes) -> Iterator[str]:
    """Yield the path MTUs and the largest frames."""
    measurements = [measured for measured in probed.measurements if measured.probe == MTU]
    paths = pair_matrix(measurements, PATH_MTU)
    if paths.hosts:
        table = pair_table(paths, "{:.0f}".format)
        yield f"path MTU in bytes; rows send, columns receive\n{table}\n{_FRAME}"
    yield from _largest_frames(measurements)


def _largest_frames(measurements: Sequence[Measurement]) -> Iterator[str]:
    """Yield a table for each MTU that was set to look for the largest frame."""
    cases = dict.fromkeys(m.case for m in measurements if m.metric == PATH_MTU.name)
    for case in filter(None, cases):
        paths = pair_matrix(measurements, PATH_MTU, case)
        table = pair_table(paths, lambda value: f"{value + COUNTED_BYTES:.0f}")
        title = f"largest frame in bytes, Ethernet header included, with {case}"
        yield f"{title}; rows send, columns receive\n{table}"
