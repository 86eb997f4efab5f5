"""Where the wall time of trials went: their tasks' parts, spread over the slots, and idle slots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.model.run import Phase, RecordedRun, Trial
from harness.model.task_metrics import TaskMetrics, WireBytes

PYTHON, UNATTRIBUTED, IDLE = "python_worker_s", "unattributed_s", "idle_s"
PARTS = (
    "fetch_wait_s",
    "cpu_s",
    "shuffle_write_s",
    PYTHON,
    UNATTRIBUTED,
    "deserialization_s",
    "result_s",
    "scheduler_delay_s",
    IDLE,
)
"""The fields of TaskTime, and what no task used: the driver at work, and the ends of stages."""

NEAR, UNPLACED = "NODE_LOCAL", "PROCESS_LOCAL"
"""Levels of locality of a task's input; every other one is elsewhere."""

Parts = Mapping[str, float]
"""Seconds by the names of PARTS; without PYTHON where it is in UNATTRIBUTED."""


def wall_parts(trial: Trial) -> Parts | None:
    """The parts of a trial's wall time, which they sum up to; None if they are not known.

    Each second of a task is one of its slot, so that it makes 1 / slots of wall time.
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


def without_python(parts: Parts) -> Parts:
    """The same where the time of Python workers is not told from the rest."""
    kept = {name: seconds for name, seconds in parts.items() if name != PYTHON}
    return {**kept, UNATTRIBUTED: parts[UNATTRIBUTED] + parts.get(PYTHON, 0)}


@dataclass(frozen=True)
class Input:
    """The input of all trials together: bytes that tasks read near to them, elsewhere, or unplaced.

    Unplaced is what has no preferred node, as on a mounted directory, or was cached.
    """

    near_bytes: int
    elsewhere_bytes: int
    unplaced_bytes: int

    @property
    def near_share(self) -> float | None:
        """Of the input that has a preferred node; None if none has."""
        placed = self.near_bytes + self.elsewhere_bytes
        return self.near_bytes / placed if placed else None


@dataclass(frozen=True)
class Wire:
    """What the interfaces of all nodes received in a trial, in bytes, against what tasks explain.

    `shuffle` is what tasks fetched from other nodes, `remote_input` what they read at a level of
    locality that is not their own node's. `unexplained` is what is left: headers, broadcasts, results,
    replication, what a local task reads remotely, and everything else that used the network; less
    than 0 where nodes are `unread`. The medians are each their own, so they need not add up.
    """

    received: float
    shuffle: float
    remote_input: float
    unexplained: float
    nodes: int
    unread: tuple[str, ...]


@dataclass(frozen=True)
class SpeedUpBound:
    """What a workload would gain at most, as shares of its wall time (blocked-time analysis).

    `network` if nothing waited for shuffle blocks any more; `network_and_rest` if what is not
    attributed, which holds the file system's time, were gone as well.
    """

    network: float
    network_and_rest: float


@dataclass(frozen=True)
class Attribution:
    """Where the time of one workload went in one configuration.

    `parts_s` has the median of each part over the `n` trials of which it is known, of `trials` that
    are ok. `straggling` is the longest task over the median one. `notes` are what befell tasks.
    """

    trials: int
    n: int
    parts_s: Parts
    gain: SpeedUpBound | None
    straggling: float | None
    input: Input
    wire: Wire | None
    notes: tuple[str, ...]


def attributed(runs: Iterable[RecordedRun], workload: str) -> Attribution | None:
    """Of a workload's measured trials; None if of none it is known where its time went."""
    trials = [
        trial
        for recorded in runs
        for trial in recorded.trials
        if trial.workload == workload and trial.phase is Phase.MEASURED and trial.wall_s is not None
    ]
    divided = [(trial, parts) for trial in trials if (parts := wall_parts(trial))]
    if not divided:
        return None
    told = [trial.tasks for trial, _ in divided if trial.tasks]
    return Attribution(
        trials=len(trials),
        n=len(divided),
        parts_s=_median_parts([parts for _, parts in divided]),
        gain=_gain([trial for trial, _ in divided]),
        straggling=_straggling(told),
        input=_input(told),
        wire=_wire([(trial.tasks, trial.wire) for trial, _ in divided]),
        notes=tuple(_notes(told)),
    )


def _median_parts(divided: Sequence[Parts]) -> Parts:
    if any(PYTHON not in parts for parts in divided):
        divided = [without_python(parts) for parts in divided]
    return {name: median(parts[name] for parts in divided) for name in PARTS if name in divided[0]}


def _gain(trials: Iterable[Trial]) -> SpeedUpBound | None:
    shares = []
    for trial in trials:
        simulation = trial.tasks.simulation if trial.tasks else None
        if simulation is None or not trial.wall_s:
            continue
        without = (simulation.without_fetch_wait_s, simulation.without_unattributed_s)
        shares.append([min(1.0, (simulation.unchanged_s - one) / trial.wall_s) for one in without])
    return SpeedUpBound(*(median(each) for each in zip(*shares, strict=True))) if shares else None


def _straggling(told: Iterable[TaskMetrics]) -> float | None:
    ratios = [
        one.stragglers.longest_s / one.stragglers.median_s
        for one in told
        if one.stragglers and one.stragglers.median_s
    ]
    return median(ratios) if ratios else None


def _input(told: Iterable[TaskMetrics]) -> Input:
    near = elsewhere = unplaced = 0
    for one in told:
        near += one.input_bytes_by_locality.get(NEAR, 0)
        unplaced += one.input_bytes_by_locality.get(UNPLACED, 0)
        elsewhere += _remote_input(one)
    return Input(near, elsewhere, unplaced)


def _remote_input(one: TaskMetrics) -> int:
    read = one.input_bytes_by_locality
    return sum(count for level, count in read.items() if level not in {NEAR, UNPLACED})


def _wire(trials: Iterable[tuple[TaskMetrics | None, WireBytes | None]]) -> Wire | None:
    known = [(tasks, wire) for tasks, wire in trials if tasks and wire and wire.nodes]
    if not known:
        return None
    received, shuffle, remote_input, unexplained = (
        median(each) for each in zip(*(_flows(*one) for one in known), strict=True)
    )
    return Wire(
        received=received,
        shuffle=shuffle,
        remote_input=remote_input,
        unexplained=unexplained,
        nodes=max(len(wire.nodes) for _, wire in known),
        unread=tuple(sorted({host for _, wire in known for host in wire.unread})),
    )


def _flows(tasks: TaskMetrics, wire: WireBytes) -> tuple[int, int, int, int]:
    received = sum(node.received_bytes for node in wire.nodes)
    shuffle, remote_input = tasks.shuffle_remote_bytes, _remote_input(tasks)
    return received, shuffle, remote_input, received - shuffle - remote_input


def _notes(told: Sequence[TaskMetrics]) -> Iterable[str]:
    """What befell tasks and may explain a time, in lines of one kind each."""
    for what, counts in (
        ("failed tasks", [one.failed_tasks for one in told]),
        ("speculative tasks", [one.speculative_tasks for one in told]),
        ("bytes spilled to disk", [one.disk_spilled_bytes for one in told]),
    ):
        if any(counts):
            trials = sum(1 for count in counts if count)
            yield f"{what}: {sum(counts):,} in {trials} of {len(told)} trials"
    missing = [one.incomplete for one in told if one.incomplete]
    if missing:
        yield (
            f"the event log of {len(missing)} of {len(told)} trials is not whole, and was used as far "
            f"as it goes ({missing[0]})"
        )
