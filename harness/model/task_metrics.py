"""What a trial's tasks did with their time, and what the links of its nodes carried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


class Measured:
    """A record of quantities: each is finite and not negative, unless it is unknown: None."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if any(not 0 <= number < math.inf for number in _numbers(value)):
                raise ValueError(f"{name} is {value!r}, not a finite number of 0 or more")


def _numbers(value: Any) -> Iterator[float]:
    match value:
        case int() | float():
            yield value
        case Mapping():
            yield from value.values()


@dataclass(frozen=True)
class TaskTime(Measured):
    """The time of tasks from launch to finish, summed, in parts that do not overlap; seconds.

    Spark's metrics do overlap: writing a shuffle takes CPU time, and a task computes while its Python
    worker does. Of what they count twice, the part that stands first below has it. An overlap that
    cannot be seen, because the sum still fits into the task's run time, is missing from
    `unattributed_s`, which is the rest: a file system's time has no metric.

    - `fetch_wait_s`: blocked, waiting for shuffle blocks; each wait is rounded down to whole
      milliseconds, and the disk of the node that sends them is in it.
    - `cpu_s`: on the CPU, the task's own thread in the JVM; neither Python workers nor the threads
      of netty and of file systems' clients are in it.
    - `shuffle_write_s`: writing shuffle files, as far as it was not on the CPU.
    - `python_worker_s`: while a Python worker had been asked for and was not done, as far as the task
      did none of the above meanwhile. None where a stage ran Python and no metric says how long, as
      under Spark 3.5 and for functions over RDDs: then it is in `unattributed_s`.
    - `unattributed_s`: file system and unattributed: the rest of the run time. Never "network".
    - `deserialization_s`, `result_s`: of the task itself; of its result, with the driver's fetching it.
    - `scheduler_delay_s`: launched, and neither of these: messages between driver and executor.
    """

    fetch_wait_s: float
    cpu_s: float
    shuffle_write_s: float
    python_worker_s: float | None
    unattributed_s: float
    deserialization_s: float
    result_s: float
    scheduler_delay_s: float

    @property
    def total_s(self) -> float:
        """All parts together."""
        return math.fsum(part for part in vars(self).values() if part is not None)


@dataclass(frozen=True)
class Stragglers(Measured):
    """The longest and the median successful task of one stage, in seconds.

    It is the stage whose longest task lasted the most seconds longer than its median one.
    """

    longest_s: float
    median_s: float


@dataclass(frozen=True)
class ScheduleSimulation(Measured):
    """The stages one after the other, their tasks put onto the slots again in their order; seconds.

    First with the tasks as long as they were, then without what blocked them: the fetch wait, and
    the fetch wait and all that is unattributed. This is the simulation of blocked-time analysis
    (Ousterhout et al., NSDI 2015).
    """

    unchanged_s: float
    without_fetch_wait_s: float
    without_unattributed_s: float


@dataclass(frozen=True)
class TaskMetrics(Measured):
    """What Spark's event log says of a trial's tasks, every attempt of them.

    `slots` is how many could run at once, on average from the first job's start to the last one's
    end: the executors' cores over `spark.task.cpus`; None, and `simulation` with it, where the executors
    are not known. `gc_share` is the share of their run time in which their JVM collected garbage;
    it lies within the parts of `time`, beside which it stands.

    Locality is Spark's level of each task: `PROCESS_LOCAL` is also what a task without any preference
    gets, and under Reed-Solomon a `NODE_LOCAL` task, too, reads most of its bytes from other nodes.
    Input is what Hadoop's file systems count on the task's thread. Memory is in bytes, of the task
    that needed the most. `incomplete` says what the log lacks, None if nothing.
    """

    tasks: int
    failed_tasks: int
    killed_tasks: int
    speculative_tasks: int
    time: TaskTime
    slots: float | None
    gc_share: float | None
    stragglers: Stragglers | None
    simulation: ScheduleSimulation | None
    tasks_by_locality: Mapping[str, int]
    input_bytes_by_locality: Mapping[str, int]
    output_bytes: int
    shuffle_local_bytes: int
    shuffle_remote_bytes: int
    shuffle_written_bytes: int
    memory_spilled_bytes: int
    disk_spilled_bytes: int
    peak_execution_memory_bytes: int
    incomplete: str | None = None

    @property
    def input_bytes(self) -> int:
        """Of all tasks, wherever they ran."""
        return sum(self.input_bytes_by_locality.values())


@dataclass(frozen=True)
class NodeBytes(Measured):
    """What a node's network interfaces counted during a trial; headers are in it, loopback is not."""

    host: str
    received_bytes: int
    sent_bytes: int


@dataclass(frozen=True)
class WireBytes:
    """The nodes whose counters could be read, each once, and the hosts where they could not."""

    nodes: tuple[NodeBytes, ...]
    unread: tuple[str, ...] = ()
