"""TCP throughput between the hosts of each configuration: the typical one, and the slowest pair."""

from functools import partial

from harness.analysis.network.measured import PairMatrix, pair_matrix, typical_bit_s
from harness.model.link import throughput_text
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ARROW
from harness.present.blocks import table_of
from harness.present.quantities import UNKNOWN, if_known
from harness.present.report.figure import Evidence, Figure, Section

LEGEND = "TCP throughput between pairs of hosts; typical is the median over hosts of their best."


@partial(Section, 70, "mesh", "Throughput between hosts")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure of measurements by configuration; None without pairs."""
    every = {name: pair_matrix(some, MESH_GOODPUT) for name, some in evidence.measured.items()}
    rows = [_row(name, mesh) for name, mesh in every.items() if mesh.hosts]
    if not rows:
        return None
    return Figure(table_of(rows), remarks=(LEGEND,))


def _row(name: str, mesh: PairMatrix) -> dict[str, str]:
    row = {
        "configuration": name,
        "hosts": str(len(mesh.hosts)),
        "typical": if_known(typical_bit_s(mesh), throughput_text),
        "slowest": UNKNOWN,
        "from and to": UNKNOWN,
        "failed pairs": str(len(mesh.errors)),
    }
    if mesh.values:
        slowest = min(mesh.values, key=mesh.values.__getitem__)
        row["slowest"] = throughput_text(mesh.values[slowest])
        row["from and to"] = ARROW.join(slowest)
    return row
