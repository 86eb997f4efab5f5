"""Speed-up and efficiency by the number of nodes, for each workload and configuration."""

from functools import partial

from harness.analysis.compare.scaling import scaling_of
from harness.present import quantities
from harness.present.data_table import DataTable
from harness.present.report.figure import Evidence, Figure, Section


@partial(Section, 60, "scaling", "How performance grows with the number of nodes")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no configuration was measured on several numbers of nodes."""
    found = scaling_of(evidence.comparison.columns)
    if found is None:
        return None
    return Figure(
        numbers=DataTable.of(
            {
                "workload": workload,
                "configuration": base,
                "nodes": str(point.nodes),
                "speed-up": f"{point.speed_up.value:.2f}",
                "efficiency": quantities.share(point.efficiency, 1),
            }
            for workload, base, point in found.points()
            if point.speed_up and point.efficiency
        ),
        remarks=(
            "Speed-up is performance relative to that on the fewest nodes.",
            "Efficiency is the speed-up relative to how many times as many nodes there are.",
        ),
    )
