"""What disks did in each workload and configuration: what they read and wrote, how long one was full."""

from collections.abc import Iterator
from functools import partial
from statistics import median

from harness.analysis.compare.comparison import Comparison
from harness.analysis.explain.timeline import FullTime, disk_uses, trial_disks
from harness.analysis.observed.sample import measured_trials
from harness.model.cache import cache_text, disk_share
from harness.present.blocks import table_of
from harness.present.quantities import if_known, size_text
from harness.present.report.figure import Evidence, Figure, Section
from harness.present.use_table import DISK_IS_FULL, use_cells

LEGEND = "Read and written: by the disks of all nodes, for any process; medians of the trials."


@partial(Section, 55, "disks", "What disks did")
def figure(evidence: Evidence) -> Figure | None:
    """Return the figure; None if no trial has what disks read and wrote."""
    rows = list(_rows(evidence.comparison))
    if not rows:
        return None
    return Figure(table_of(rows), remarks=(LEGEND, DISK_IS_FULL))


def _rows(comparison: Comparison) -> Iterator[dict[str, str]]:
    """Yield a row for each workload and configuration, in the order of the table, without controls."""
    controls = comparison.controls
    uses = {column.name: disk_uses(trial_disks(column, controls)) for column in comparison.columns}
    for row in comparison.rows:
        if row.workload in controls:
            continue
        for column in comparison.columns:
            trials = []
            moved = []
            for trial in measured_trials(column.runs):
                if trial.workload == row.workload:
                    trials.append(trial)
                    if trial.disk:
                        moved.append(trial.disk)
            if moved:
                yield {
                    "workload": row.workload,
                    "configuration": column.name,
                    "read": size_text(median(disk.read_bytes for disk in moved)),
                    "written": size_text(median(disk.written_bytes for disk in moved)),
                    "input": if_known(disk_share(trials), cache_text),
                    **_use(uses[column.name].get(row.workload)),
                }


def _use(use: FullTime | None) -> dict[str, str]:
    busiest, stage, full, share = use_cells(use)
    return {
        "busiest disk": busiest,
        "disk full": full,
        "of the time": share,
        "mostly during stage": stage,
    }
