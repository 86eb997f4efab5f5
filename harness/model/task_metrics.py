"""How a trial's tasks spent their time, and what the links of its nodes carried."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import fsum
from operator import attrgetter
from typing import Any

MIN_SECONDS = 1e-9
"""A clock's resolution: nothing that is recorded is shorter."""
MIN_QUANTITY = 1e-30
MAX_QUANTITY = 1e18
"""Results of computing with 0 and with numbers between these two stay finite."""

_NUMBERS = frozenset({int, float})
_READERS: dict[type, Callable[[object], tuple[Any, ...]]] = {}
"""Functions that read all fields of an instance, by its class."""


class Quantities:
    """A dataclass whose numbers are 0, or from MIN_QUANTITY to MAX_QUANTITY; None means unknown."""

    def __post_init__(self) -> None:
        # A file has a hundred thousand of them, and most are plain numbers.
        read = _READERS.get(type(self))
        if read is None:
            read = attrgetter(*(field.name for field in fields(self)))  # type: ignore[arg-type]
            _READERS[type(self)] = read
        for value in read(self):
            is_right = True
            if type(value) in _NUMBERS:
                is_right = not value or MIN_QUANTITY <= value <= MAX_QUANTITY
            elif value is not None and type(value) is not str and isinstance(value, Mapping):
                numbers = filter(None, value.values())
                is_right = all(MIN_QUANTITY <= number <= MAX_QUANTITY for number in numbers)
            if not is_right:
                self._refuse(value)

    def _refuse(self, value: object) -> None:
        name = next(name for name, own in vars(self).items() if own is value)
        raise ValueError(
            f"{name} is {value!r}, and must be 0, or {MIN_QUANTITY:g} to {MAX_QUANTITY:g}"
        )


@dataclass(frozen=True)
class TaskTime(Quantities):
    """The seconds from launch to finish of all tasks together, in parts that do not overlap.

    Spark's metrics do overlap: writing a shuffle takes CPU time, and a task computes while its Python
    worker does. Time that Spark counts twice belongs to the part that is listed first. An overlap is
    invisible if the sum still fits into the task's run time. It is then missing from `unattributed_s`,
    which is what remains, because Spark has no metric for the time of a file system.

    - `fetch_wait_s`: blocked, waiting for shuffle blocks, the disk of the sending node included. Spark
      rounds each wait down to whole milliseconds.
    - `cpu_s`: CPU time of the task's own thread in the JVM; without Python workers and without the
      threads of netty and of file system clients.
    - `shuffle_write_s`: writing shuffle files, except for the CPU time.
    - `python_worker_s`: waiting for a Python worker while doing none of the above. None if a stage ran
      Python and no metric says how long, as with Spark 3.5 and with functions over RDDs. The time is
      then part of `unattributed_s`.
    - `unattributed_s`: the rest of the run time: file systems, and all that Spark does not measure. It
      must never be called "network".
    - `deserialization_s`: deserializing the task.
    - `result_s`: serializing the task's result, and the driver's fetching it.
    - `scheduler_delay_s`: the rest between launch and finish: messages between driver and executor.
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
    def thread_s(self) -> float:
        """The seconds in which tasks had a thread: without results and the scheduler."""
        return fsum(
            [
                self.fetch_wait_s,
                self.cpu_s,
                self.shuffle_write_s,
                self.python_worker_s or 0.0,
                self.unattributed_s,
                self.deserialization_s,
            ]
        )


@dataclass(frozen=True)
class Stragglers(Quantities):
    """The longest and the median successful task of a stage, in seconds.

    The stage is the one with the greatest difference between the two.
    """

    longest_s: float
    median_s: float


_NO_SUMS = "slots", "gc_share", "largest_scan_bytes"


@dataclass(frozen=True)
class TaskMetrics(Quantities):
    """What Spark's event log reports of a trial's tasks. Every attempt counts.

    - `slots`: how many tasks could run in parallel when the trial began: the executors' cores divided by
      `spark.task.cpus`. Where executors came and went, by the mean of the cores over the time that had any.
      None if the executors are not known.
    - `gc_share`: the fraction of the tasks' run time in which their JVM collected garbage. This time is
      also part of `time`.
    - `input_bytes_by_locality`: by Spark's locality level. A task without any preference is
      `PROCESS_LOCAL`, too. On Reed-Solomon data even a `NODE_LOCAL` task reads most of its bytes from other
      nodes. Input is what Hadoop's file systems count on the task's thread: vectored reads of Parquet, from
      local files and S3A, are not in it.
    - `largest_scan_bytes`: the input of the stage that reads most. Others can read the same data once more.
      None in older results.
    - `incomplete`: what is missing from the log, in one line; None if nothing is.
    - `input_rows`, `output_rows`: the rows that tasks read from and wrote to files; None in older results.
    - `input_files`, `input_file_bytes`: how many files the scans of the plan read, and their size; None if
      they did not count them.
    """

    tasks: int
    failed_tasks: int
    speculative_tasks: int
    time: TaskTime
    slots: float | None
    gc_share: float | None
    stragglers: Stragglers | None
    input_bytes_by_locality: Mapping[str, int]
    output_bytes: int
    shuffle_local_bytes: int
    shuffle_remote_bytes: int
    shuffle_written_bytes: int
    disk_spilled_bytes: int
    incomplete: str | None = None
    largest_scan_bytes: int | None = None
    input_rows: int | None = None
    output_rows: int | None = None
    input_files: int | None = None
    input_file_bytes: int | None = None

    @property
    def input_bytes(self) -> int:
        """The input of all tasks, at every locality."""
        return sum(self.input_bytes_by_locality.values())

    def with_files(self, counts: Mapping[str, int]) -> TaskMetrics:
        """Return the metrics with what scans counted of the files that they read, by field."""
        fields: dict[str, Any] = {**counts}
        return replace(self, **fields)

    def per_execution(self, executions: int) -> TaskMetrics:
        """Return the average over equal executions that these metrics are the sum of.

        Counts are rounded up, so that none disappears. Slots, fractions, the largest scan and
        stragglers, which are no sums, stay as they are.
        """
        if executions == 1:
            return self
        found: dict[str, Any] = {}
        for name, value in vars(self).items():
            if isinstance(value, int) and name not in _NO_SUMS:
                found[name] = _ceil_divide(value, executions)
        by_locality = self.input_bytes_by_locality.items()
        inputs = {locality: _ceil_divide(count, executions) for locality, count in by_locality}
        parts: dict[str, Any] = {name: s and s / executions for name, s in vars(self.time).items()}
        return replace(self, time=TaskTime(**parts), input_bytes_by_locality=inputs, **found)


def _ceil_divide(count: int, divisor: int) -> int:
    """Return a count divided and rounded up."""
    return -(-count // divisor)


@dataclass(frozen=True)
class NodeBytes(Quantities):
    """What a node's network interfaces counted during a trial, with headers and without loopback."""

    host: str
    received_bytes: int
    sent_bytes: int


@dataclass(frozen=True)
class DiskBytes(Quantities):
    """What the disks of all nodes read and wrote during a trial, for any process.

    `own_read_bytes` is what the application's own processes made them read; None if it is unknown.
    """

    read_bytes: int
    written_bytes: int
    own_read_bytes: int | None = None

    def per_execution(self, executions: int) -> DiskBytes:
        """Return the average over equal executions, rounded up."""
        counts = {name: n and _ceil_divide(n, executions) for name, n in vars(self).items()}
        return replace(self, **counts)


@dataclass(frozen=True)
class PackedInput(Quantities):
    """Files that take fewer bytes on disks than they have: they are compressed, or have holes.

    `in_memory_bytes` are what the page caches of all nodes had of them when the trial began, and
    `other_bytes` the rest. Both are None if that is unknown.
    """

    in_memory_bytes: int | None = None
    other_bytes: int | None = None


@dataclass(frozen=True)
class WireBytes:
    """The nodes whose counters could be read, each once, and the hosts whose counters could not."""

    nodes: tuple[NodeBytes, ...]
    unread: tuple[str, ...] = ()

    def per_execution(self, executions: int) -> WireBytes:
        """Return the average over equal executions, rounded up."""
        nodes = []
        for node in self.nodes:
            received_bytes = _ceil_divide(node.received_bytes, executions)
            sent_bytes = _ceil_divide(node.sent_bytes, executions)
            nodes.append(replace(node, received_bytes=received_bytes, sent_bytes=sent_bytes))
        return replace(self, nodes=tuple(nodes))


@dataclass(frozen=True)
class WrittenBytes(Quantities):
    """The files that a workload wrote: their bytes, and the bytes that they take on all nodes together.

    `layout` is as the file system reports it. `stored_bytes` is None if the file system does not report them.
    """

    layout: str
    data_bytes: int
    stored_bytes: int | None

    @classmethod
    def average(cls, executions: Sequence[WrittenBytes]) -> WrittenBytes:
        """Return the average over one or more executions, rounded up."""
        number = len(executions)
        layouts = dict.fromkeys(each.layout for each in executions)
        data_bytes = sum(each.data_bytes for each in executions)
        known = [each.stored_bytes for each in executions if each.stored_bytes is not None]
        stored_bytes = _ceil_divide(sum(known), number) if len(known) == number else None
        return cls(", ".join(layouts), _ceil_divide(data_bytes, number), stored_bytes)
