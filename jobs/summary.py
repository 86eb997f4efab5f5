"""What a run found, for the terminal that it ran in. Comparing is `clusterlift compare`'s business."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

from harness.model.run import Phase, Status, Trial


def summary(workloads: Iterable[str], trials: Sequence[Trial]) -> str:
    """A line a workload over its measured trials: median, least and most seconds, n, failures."""
    lines = [f"{'workload':22} {'median':>10} {'min':>10} {'max':>10} {'n':>4}"]
    for name in workloads:
        measured = [t for t in trials if t.workload == name and t.phase is Phase.MEASURED]
        times = [t.wall_s for t in measured if t.wall_s is not None]
        failed = sum(t.status is Status.FAILED for t in measured)
        cells = [f"{f(times):8.3f} s" for f in (median, min, max)] if times else ["-".rjust(10)] * 3
        note = f"   {failed} of {len(measured)} failed" if failed else ""
        lines.append(f"{name:22} {' '.join(cells)} {len(times):4}{note}")
    return "\n".join(lines)
