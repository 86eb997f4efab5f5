"""The vocabulary: what is recorded, as immutable values.

Times are wall-clock seconds, timestamps are ISO 8601 in UTC with second resolution or finer.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from harness.model.task_metrics import TaskMetrics, WireBytes

Facts = Mapping[str, Any]
"""Observed or declared facts by name. The values are those that JSON has; None means unknown."""

LinkErrors = Mapping[str, Mapping[str, int]]
"""By `host interface`, the number of packets with `errors` and of `drops` during a run."""


class Phase(StrEnum):
    """Whether a trial counts: warm-up trials are recorded and never compared."""

    WARM_UP = "warm-up"
    MEASURED = "measured"


class Status(StrEnum):
    """How a trial ended. A wrong answer is FAILED."""

    OK = "ok"
    FAILED = "failed"


class Ending(StrEnum):
    """How a run ended. A run that was killed has no ending."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    SPARK_LOST = "spark-lost"


@dataclass(frozen=True)
class Trial:
    """One execution of one workload.

    `wall_s` is the time of the sink's action in seconds, None exactly if the trial failed;
    `round` counts from 1 within its phase; `error` is one line. `note` is one on what was odd while
    it ran and may explain its time, such as the loss of an executor. `tasks` is where the time went
    and `wire` what went over the nodes' links, None where that is not known.
    """

    workload: str
    phase: Phase
    round: int
    status: Status
    started_at: str
    wall_s: float | None = None
    error: str | None = None
    job_group: str | None = None
    note: str | None = None
    tasks: TaskMetrics | None = None
    wire: WireBytes | None = None

    def __post_init__(self) -> None:
        if (self.status is Status.OK) != (self.wall_s is not None):
            raise ValueError("a trial has a time exactly if it is ok")
        if self.wall_s is not None and not 0 <= self.wall_s < float("inf"):
            raise ValueError("a time is a finite number of seconds, 0 or more")
        if (self.status is Status.FAILED) != (self.error is not None):
            raise ValueError("a trial has an error exactly if it failed")


@dataclass(frozen=True)
class Run:
    """One `spark-submit`: what was declared, what was observed, and what was asked for.

    `configuration` is the declared name of the set-up under test, `facts` what the user declared
    with it, `environment` what was observed, `dataset` the manifest (None where no workload reads
    data), `parameters` the options of the benchmark, `omitted` the workloads left out and why.
    """

    id: str
    configuration: str
    started_at: str
    workloads: tuple[str, ...]
    written_by: str
    parameters: Facts = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    environment: Facts = field(default_factory=dict)
    dataset: Facts | None = None
    omitted: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RecordedRun:
    """A run as its file holds it: its trials in order, how it ended, and what was odd about the file.

    `ending` is None if the run was killed before it could say. `stopped` says why no more rounds came,
    where their number was left to the run itself. `link_errors` are the packets in error and dropped while
    it ran, by `host interface`; None where nobody looked.
    """

    run: Run
    trials: tuple[Trial, ...]
    ending: Ending | None = None
    source: str = ""
    warnings: tuple[str, ...] = ()
    stopped: str | None = None
    link_errors: LinkErrors | None = None


def timestamp() -> str:
    """Now, in UTC, to the millisecond: `2026-11-21T13:42:13.123Z`."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_run_id() -> str:
    """An identifier that sorts by time and that two runs started at once do not share."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
