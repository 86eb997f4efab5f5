"""What the tasks of a trial spent its wall time on, how long slots were idle, and what explains a change."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from statistics import fmean, median
from typing import NamedTuple

from harness.analysis.compare.comparison import Cell, Comparison, Row
from harness.analysis.explain.profile import ProfiledTime, profiled_time
from harness.analysis.network.measured import known_median
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.executors import executors_in_pods
from harness.base.errors import BadInput
from harness.base.words import percent
from harness.model.run import RecordedRun, Trial
from harness.model.task_metrics import TaskMetrics, TaskTime
from harness.statistics.change import Verdict

PYTHON = "python_worker_s"
UNATTRIBUTED = "unattributed_s"
IDLE = "idle_s"
PARTS = (*(field.name for field in fields(TaskTime)), IDLE)
"""The fields of TaskTime, and IDLE: slots without a task, as while the driver works or a stage ends."""

NODE_LOCAL = "NODE_LOCAL"
NO_PREFERENCE = "PROCESS_LOCAL"
"""Locality levels of input; input at any other level is remote."""

MIN_THROTTLED = 0.01
"""The least fraction of a quota's periods that explains lost time."""

Parts = Mapping[str, float]
"""Seconds by the names of PARTS; if PYTHON is missing, UNATTRIBUTED includes it."""


def wall_parts(trial: Trial) -> Parts | None:
    """Divide a trial's wall time into parts that sum up to it; None if task metrics are missing.

    A second of a task occupies one slot, so it accounts for 1 / slots of a second of wall time.
    """
    if trial.wall_s is None or trial.tasks is None or not trial.tasks.slots:
        return None
    parts: dict[str, float] = {}
    for name, seconds in vars(trial.tasks.time).items():
        if seconds is not None:
            parts[name] = seconds / trial.tasks.slots
    parts[IDLE] = trial.wall_s - math.fsum(parts.values())
    return parts


def without_python_time(parts: Parts) -> Parts:
    """Return the parts with the time of Python workers added to UNATTRIBUTED."""
    kept = dict(parts)
    kept[UNATTRIBUTED] += kept.pop(PYTHON, 0.0)
    return kept


@dataclass(frozen=True)
class Attribution:
    """What the time of one workload in one configuration was spent on.

    - `parts_s`: the median of each part over the `n` of the `trials` that have task metrics.
    - `straggler_ratio`: the duration of the longest task divided by the duration of the median task.
    - `input_bytes`: the mean over the trials.
    - `node_local`: of all input with a preferred node, the fraction that tasks read on the node where it is
      stored. None if no input has a preferred node, because it is in a mounted directory, or was cached.
    - `received_bytes`: what the interfaces of all nodes received in a trial, but for the `unread`;
      `shuffle_bytes`: what tasks fetched from other nodes. Medians; None if no counters could be read.
    - `unread`: nodes whose counters could not be read; empty if a trial has the counters of all nodes.
    - `writes`: whether tasks wrote files.
    - `is_place_unknown`: whether it is not known which input was on a task's node: an executor was in a pod,
      whose address is not that of its node. Then `node_local` is None.
    - `notes`: lines on failed and speculative tasks, spilling and incomplete event logs.
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
    is_place_unknown: bool = False

    @property
    def received_per_input_byte(self) -> float | None:
        """What nodes received for each byte of input, without the shuffle.

        It is None if the counters of a node are unknown, or if there is no input. A workload that writes has
        none, either: its nodes also receive copies and parity.
        """
        if self.writes or self.unread or self.input_bytes == 0:
            return None
        if self.received_bytes is None or self.shuffle_bytes is None:
            return None
        return max(0.0, self.received_bytes - self.shuffle_bytes) / self.input_bytes


def attribute(runs: Iterable[RecordedRun], workload: str) -> Attribution | None:
    """Attribute the time of a workload's measured trials; None if no trial has task metrics."""
    timed: list[Trial] = []
    are_in_pods = False
    for recorded in runs:
        are_in_pods = are_in_pods or executors_in_pods(recorded.run.environment)
        timed += recorded.timed.get(workload, ())
    parts: list[Parts] = []
    trials: list[Trial] = []
    metrics: list[TaskMetrics] = []
    for trial in timed:
        divided = wall_parts(trial)
        if divided is not None and trial.tasks is not None:
            parts.append(divided)
            trials.append(trial)
            metrics.append(trial.tasks)
    if not trials:
        return None
    traffic = _traffic(trials)
    node_local = _node_local(metrics)
    # A task finds its input on its own node by the node's address, which a pod does not have.
    is_place_unknown = are_in_pods and node_local is not None
    return Attribution(
        trials=len(timed),
        n=len(trials),
        parts_s=_median_parts(parts),
        straggler_ratio=_straggler_ratio(metrics),
        input_bytes=fmean(tasks.input_bytes for tasks in metrics),
        node_local=None if is_place_unknown else node_local,
        received_bytes=traffic.received_bytes,
        shuffle_bytes=traffic.shuffle_bytes,
        writes=any(tasks.output_bytes for tasks in metrics),
        unread=traffic.unread,
        notes=tuple(chain(_notes(metrics), _throttled(trials))),
        is_place_unknown=is_place_unknown,
    )


class _Traffic(NamedTuple):
    """The fields of Attribution with these names."""

    received_bytes: float | None
    shuffle_bytes: float | None
    unread: tuple[str, ...]


def _traffic(trials: Iterable[Trial]) -> _Traffic:
    """Return the traffic of the trials in which the counters of all nodes could be read, or else of some."""
    read = [trial for trial in trials if trial.tasks and trial.wire and trial.wire.nodes]
    whole = [trial for trial in read if trial.wire and not trial.wire.unread]
    received: list[int] = []
    shuffled: list[int] = []
    unread: set[str] = set()
    for trial in whole or read:
        if trial.tasks and trial.wire:
            received.append(sum(node.received_bytes for node in trial.wire.nodes))
            shuffled.append(trial.tasks.shuffle_remote_bytes)
            unread.update(trial.wire.unread)
    return _Traffic(known_median(received), known_median(shuffled), tuple(sorted(unread)))


def _median_parts(divided: Sequence[Parts]) -> Parts:
    if any(PYTHON not in parts for parts in divided):
        divided = list(map(without_python_time, divided))
    medians: dict[str, float] = {}
    for name in PARTS:
        if name in divided[0]:
            medians[name] = median(parts[name] for parts in divided)
    return medians


def _straggler_ratio(metrics: Iterable[TaskMetrics]) -> float | None:
    ratios: list[float] = []
    for tasks in metrics:
        found = tasks.stragglers
        if found and found.median_s:
            ratios.append(found.longest_s / found.median_s)
    return known_median(ratios)


def _node_local(metrics: Sequence[TaskMetrics]) -> float | None:
    by_locality: Counter[str] = Counter()
    for tasks in metrics:
        by_locality.update(tasks.input_bytes_by_locality)
    placed = by_locality.total() - by_locality[NO_PREFERENCE]
    if not placed:
        return None
    return by_locality[NODE_LOCAL] / placed


def _notes(metrics: Sequence[TaskMetrics]) -> Iterator[str]:
    """Yield a line for each kind of event that may explain a time."""
    yield from _count(metrics, "failed tasks", "failed_tasks")
    yield from _count(metrics, "speculative tasks", "speculative_tasks")
    yield from _count(metrics, "bytes spilled to disk", "disk_spilled_bytes")
    incomplete = [tasks.incomplete for tasks in metrics if tasks.incomplete]
    if incomplete:
        yield (
            f"the event log of {len(incomplete)} of {len(metrics)} trials is incomplete; its complete "
            f"part was used ({incomplete[0]})"
        )


def _count(metrics: Sequence[TaskMetrics], event: str, field: str) -> Iterator[str]:
    """Yield how often something happened, and in how many trials, if it did."""
    counts = [getattr(tasks, field) for tasks in metrics]
    happened = sum(map(bool, counts))
    if happened:
        yield f"{event}: {sum(counts):,} in {happened} of {len(metrics)} trials"


def _throttled(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield which node its CPU limit throttled most, if it did so in MIN_THROTTLED of the periods."""
    periods: Counter[str] = Counter()
    throttles: Counter[str] = Counter()
    throttled_s: defaultdict[str, list[float]] = defaultdict(list)
    for trial in trials:
        for node in trial.interference or ():
            if node.quota_periods and node.quota_throttles is not None:
                periods[node.host] += node.quota_periods
                throttles[node.host] += node.quota_throttles
                throttled_s[node.host].append(node.throttled_s or 0.0)
    shares = {host: throttles[host] / periods[host] for host in periods}
    host = max(shares, key=shares.__getitem__, default="")
    if host and shares[host] >= MIN_THROTTLED:
        yield (
            f"{host} was throttled by its CPU limit in {percent(shares[host])} of the periods: "
            f"{fmean(throttled_s[host]):.2f} s of processor time a trial that no part above contains"
        )


@dataclass(frozen=True)
class ExplainedRow:
    """The change of one workload's time, divided into parts.

    - `cells`: the comparison's cells, before and after.
    - `change_s`: the difference of their times in seconds, None if a side has none.
    - `before`, `after`: None if no trial of that side has task metrics.
    - `parts_s`: the difference of the medians of each part; empty unless both attributions are known.
    - `rest_s`: the remainder of the change. Medians do not add up as times do, and trials without task
      metrics contribute to the change alone.
    - `profiles`: what the tasks did on both sides; None where a side has no profile.
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
    """A comparison of two configurations, with the explained changes of all workloads."""

    comparison: Comparison
    rows: tuple[ExplainedRow, ...]


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
    return Explanation(comparison, rows)


def _explained(row: Row, before: ConfigurationRuns, after: ConfigurationRuns) -> ExplainedRow:
    """Divide the change of one workload into the parts of its time."""
    name = row.workload
    cell_before, cell_after = row.cells
    attribution_before = attribute(before.runs, name)
    attribution_after = attribute(after.runs, name)
    parts_s = _differences(attribution_before, attribution_after)
    change_s = None
    rest_s = None
    if cell_before.summary and cell_after.summary:
        change_s = cell_after.summary.time_s - cell_before.summary.time_s
        if parts_s:
            rest_s = change_s - math.fsum(parts_s.values())
    return ExplainedRow(
        workload=name,
        cells=(cell_before, cell_after),
        change_s=change_s,
        before=attribution_before,
        after=attribution_after,
        parts_s=parts_s,
        rest_s=rest_s,
        profiles=(profiled_time(before.runs, name), profiled_time(after.runs, name)),
    )


def _differences(before: Attribution | None, after: Attribution | None) -> Parts:
    if before is None or after is None:
        return {}
    before_s = before.parts_s
    after_s = after.parts_s
    if PYTHON not in before_s or PYTHON not in after_s:
        before_s = without_python_time(before_s)
        after_s = without_python_time(after_s)
    differences: dict[str, float] = {}
    for name in PARTS:
        if name in after_s:
            differences[name] = after_s[name] - before_s[name]
    return differences
