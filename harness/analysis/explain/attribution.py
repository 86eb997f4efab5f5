"""What the tasks of a trial spent its wall time on, how long slots were idle, and what explains a change."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean, median

from harness.analysis.compare.comparison import Cell, Comparison, Row
from harness.analysis.explain.profile import ProfiledTime, profiled_time
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.base.errors import BadInput
from harness.base.words import percent
from harness.model.interference import NodeInterference
from harness.model.run import RecordedRun, Trial
from harness.model.task_metrics import TaskMetrics, TaskTime
from harness.statistics.change import Verdict

PYTHON, UNATTRIBUTED, IDLE = "python_worker_s", "unattributed_s", "idle_s"
PARTS = (*(field.name for field in fields(TaskTime)), IDLE)
"""The fields of TaskTime, and IDLE: slots without a task, as while the driver works or a stage ends."""

NODE_LOCAL, NO_PREFERENCE = "NODE_LOCAL", "PROCESS_LOCAL"
"""Locality levels of input; input at any other level is remote."""

MIN_STOPPED = 0.01
"""The least fraction of a quota's periods that explains lost time."""

Parts = Mapping[str, float]
"""Seconds by the names of PARTS; if PYTHON is missing, UNATTRIBUTED includes it."""


def wall_parts(trial: Trial) -> Parts | None:
    """Divide a trial's wall time into parts that sum up to it; None if task metrics are missing.

    A second of a task occupies one slot, so it accounts for 1 / slots of a second of wall time.
    """
    if trial.wall_s is None or trial.tasks is None or not trial.tasks.slots:
        return None
    slots = trial.tasks.slots
    parts = {
        name: seconds / slots
        for name, seconds in vars(trial.tasks.time).items()
        if seconds is not None
    }
    return {**parts, IDLE: trial.wall_s - math.fsum(parts.values())}


def without_python_time(parts: Parts) -> Parts:
    """Return the parts with the time of Python workers added to UNATTRIBUTED."""
    kept = {name: seconds for name, seconds in parts.items() if name != PYTHON}
    return {**kept, UNATTRIBUTED: parts[UNATTRIBUTED] + parts.get(PYTHON, 0)}


@dataclass(frozen=True)
class Attribution:
    """What the time of one workload in one configuration was spent on.

    `parts_s` has the median of each part over the `n` of the `trials` that have task metrics.
    `straggler_ratio` is the duration of the longest task divided by that of the median task. `notes`
    are lines on failed and speculative tasks, spilling and incomplete event logs.

    - `input_bytes` is the mean of a trial, and `node_local` the fraction that tasks read on the node where
      it is stored, of all input with a preferred node; None if none has one: it is in a mounted directory,
      or was cached.
    - `received_bytes` is what the interfaces of all nodes received in a trial, and `shuffle_bytes` what tasks
      fetched from other nodes: medians, None if no counters could be read. Those of `unread` nodes could not.
    - `writes` is whether tasks wrote files.
    """

    trials: int
    n: int
    parts_s: Parts
    straggler_ratio: float | None
    input_bytes: float
    node_local: float | None
    received_bytes: float | None
    shuffle_bytes: float | None
    writes: bool
    unread: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def received_per_input_byte(self) -> float | None:
        """What nodes received for each byte of input, without the shuffle; None if either is unknown.

        None, too, of a workload that writes: copies and parity are no input.
        """
        has_input = self.input_bytes and not self.writes
        if self.received_bytes is None or self.shuffle_bytes is None or not has_input:
            return None
        return max(0.0, self.received_bytes - self.shuffle_bytes) / self.input_bytes


def attribute(runs: Iterable[RecordedRun], workload: str) -> Attribution | None:
    """Attribute the time of a workload's measured trials; None if no trial has task metrics."""
    trials = [
        trial
        for trial in measured_trials(runs)
        if trial.workload == workload and trial.wall_s is not None
    ]
    divided = [(trial, parts) for trial in trials if (parts := wall_parts(trial))]
    if not divided:
        return None
    metrics = [trial.tasks for trial, _ in divided if trial.tasks]
    wires = [
        (trial.tasks, trial.wire)
        for trial, _ in divided
        if trial.tasks and trial.wire and trial.wire.nodes
    ]
    received = [sum(node.received_bytes for node in wire.nodes) for _, wire in wires]
    return Attribution(
        trials=len(trials),
        n=len(divided),
        parts_s=_median_parts([parts for _, parts in divided]),
        straggler_ratio=_straggler_ratio(metrics),
        input_bytes=fmean(tasks.input_bytes for tasks in metrics),
        node_local=_node_local(metrics),
        received_bytes=median(received) if received else None,
        shuffle_bytes=median(tasks.shuffle_remote_bytes for tasks, _ in wires) if wires else None,
        writes=any(tasks.output_bytes for tasks in metrics),
        unread=tuple(sorted({host for _, wire in wires for host in wire.unread})),
        notes=(*_notes(metrics), *_stopped([trial for trial, _ in divided])),
    )


def _median_parts(divided: Sequence[Parts]) -> Parts:
    if any(PYTHON not in parts for parts in divided):
        divided = [without_python_time(parts) for parts in divided]
    return {name: median(parts[name] for parts in divided) for name in PARTS if name in divided[0]}


def _straggler_ratio(metrics: Iterable[TaskMetrics]) -> float | None:
    ratios = [
        tasks.stragglers.longest_s / tasks.stragglers.median_s
        for tasks in metrics
        if tasks.stragglers and tasks.stragglers.median_s
    ]
    return median(ratios) if ratios else None


def _node_local(metrics: Sequence[TaskMetrics]) -> float | None:
    by_locality: Counter[str] = Counter()
    for tasks in metrics:
        by_locality.update(tasks.input_bytes_by_locality)
    placed = by_locality.total() - by_locality[NO_PREFERENCE]
    return by_locality[NODE_LOCAL] / placed if placed else None


def _notes(metrics: Sequence[TaskMetrics]) -> Iterator[str]:
    """Yield a line for each kind of event that may explain a time."""
    for event, counts in (
        ("failed tasks", [tasks.failed_tasks for tasks in metrics]),
        ("speculative tasks", [tasks.speculative_tasks for tasks in metrics]),
        ("bytes spilled to disk", [tasks.disk_spilled_bytes for tasks in metrics]),
    ):
        if any(counts):
            yield f"{event}: {sum(counts):,} in {sum(map(bool, counts))} of {len(metrics)} trials"
    incomplete = [tasks.incomplete for tasks in metrics if tasks.incomplete]
    if incomplete:
        yield (
            f"the event log of {len(incomplete)} of {len(metrics)} trials is incomplete; its complete "
            f"part was used ({incomplete[0]})"
        )


def _stopped(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield on which node a CPU limit stopped processes most, if it did in MIN_STOPPED of the periods."""
    of_node: defaultdict[str, list[NodeInterference]] = defaultdict(list)
    for trial in trials:
        for node in trial.interference or ():
            if node.quota_periods and node.quota_throttles is not None:
                of_node[node.host].append(node)
    shares = {
        host: sum(node.quota_throttles or 0 for node in nodes)
        / sum(node.quota_periods or 0 for node in nodes)
        for host, nodes in of_node.items()
    }
    host = max(shares, key=shares.__getitem__, default="")
    if host and shares[host] >= MIN_STOPPED:
        stopped_s = fmean(node.throttled_s or 0.0 for node in of_node[host])
        yield (
            f"the CPU limit of {host} stopped it in {percent(shares[host])} of the periods, for "
            f"{stopped_s:.2f} s of processor time a trial, which no part shows"
        )


@dataclass(frozen=True)
class ExplainedRow:
    """The change of one workload's time, divided into parts.

    `cells` are the comparison's cells, before and after. `change_s` is the difference of their
    times in seconds, None if a side has none. `before` and `after` are None if no trial of that
    side has task metrics. `parts_s` is the difference of the medians of each part, and empty unless
    both attributions are known. `rest_s` is the remainder of the change: medians do not add up as
    times do, and trials without task metrics contribute to the change alone. `profiles` are what the tasks
    did on both sides, None of a side without a profile.
    """

    workload: str
    cells: tuple[Cell, Cell]
    change_s: float | None
    before: Attribution | None
    after: Attribution | None
    parts_s: Parts
    rest_s: float | None
    profiles: tuple[ProfiledTime | None, ProfiledTime | None] = (None, None)

    @property
    def verdict(self) -> Verdict | None:
        """What the change proves; None without one."""
        change = self.cells[1].change
        return change.verdict if change else None


@dataclass(frozen=True)
class Explanation:
    """The explained changes of all workloads between two configurations; some may be `controls`."""

    before: ConfigurationRuns
    after: ConfigurationRuns
    rows: tuple[ExplainedRow, ...]
    controls: frozenset[str]


def explain(comparison: Comparison) -> Explanation:
    """Explain the changes of a comparison of two configurations.

    Raises BadInput if no workload has task metrics in both configurations.
    """
    before, after = comparison.columns
    rows = tuple(_explained(row, before, after) for row in comparison.rows)
    if not any(row.parts_s for row in rows):
        raise BadInput(
            f"no workload has task metrics in both {before.name!r} and {after.name!r}, so nothing "
            "explains the changes; runs that clusterlift made have them, published tables have none"
        )
    return Explanation(before, after, rows, comparison.common_controls)


def _explained(row: Row, before: ConfigurationRuns, after: ConfigurationRuns) -> ExplainedRow:
    cells = row.cells[0], row.cells[1]
    sides = attribute(before.runs, row.workload), attribute(after.runs, row.workload)
    times_s = [cell.summary.time_s for cell in cells if cell.summary]
    change_s = times_s[1] - times_s[0] if len(times_s) == len(cells) else None
    parts_s = _differences(*sides)
    rest_s = change_s - math.fsum(parts_s.values()) if parts_s and change_s is not None else None
    profiles = profiled_time(before.runs, row.workload), profiled_time(after.runs, row.workload)
    return ExplainedRow(row.workload, cells, change_s, *sides, parts_s, rest_s, profiles)


def _differences(before: Attribution | None, after: Attribution | None) -> Parts:
    if before is None or after is None:
        return {}
    before_s, after_s = before.parts_s, after.parts_s
    if not (PYTHON in before_s and PYTHON in after_s):
        before_s, after_s = without_python_time(before_s), without_python_time(after_s)
    return {name: after_s[name] - before_s[name] for name in PARTS if name in after_s}
