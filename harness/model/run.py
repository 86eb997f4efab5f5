"""Runs and trials, as they are recorded.

Durations are wall-clock seconds. Timestamps are ISO 8601 in UTC, to the second or finer.
"""

from __future__ import annotations  # for Python 3.8

import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from enum import Enum
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import Any, Mapping

from harness.base.items import grouped, known
from harness.model.answer import RowsDigest, distinct
from harness.model.bounds import MAX_SECONDS, Annotated, Count, Meta, Name, Number
from harness.model.executors import TrialExecutors
from harness.model.interference import ClusterInterference
from harness.model.plan import Plan
from harness.model.planning import Planning
from harness.model.profile import Profile
from harness.model.task_metrics import (
    MIN_SECONDS,
    DiskBytes,
    PackedInput,
    TaskMetrics,
    WireBytes,
    WrittenBytes,
)
from harness.model.timeline import Timeline
from harness.model.work import Work

Facts = Mapping[str, Any]
"""Observed or declared facts by name. The values are of JSON's types; None means unknown."""

LinkErrors = Mapping[str, Mapping[str, Count]]
"""By `host interface`, the number of packets with `errors` and of `drops` during a run."""

COMMAND = "command"
"""The parameter of a run that says how it was started, without credentials. Older runs have none."""

PROGRAM = "program"
"""The parameter of a run that names its external program. Runs of Spark have none."""

QUERIES = "queries"
"""The parameter of a run that has the digest of each query's text."""
TABLES = "tables"
"""The parameter of a run that has the facts of each table."""

SILENT = "silent"
"""What an environment calls the nodes that could not be described, by host, with the reason."""

EMULATED = "emulated"
"""The fact of an emulated cluster, of a run as of a probe run: what is not as on a real one."""

MIN_WALL_S = MIN_SECONDS
MAX_WALL_S = MAX_SECONDS
"""A clock's resolution, and 30 years: no recorded trial is shorter or longer."""
Seconds = Annotated[float, Meta(ge=MIN_WALL_S, le=MAX_WALL_S)]


class Word(str, Enum):
    """A value that is recorded, or printed, as a word."""

    def __str__(self) -> str:
        return str(self.value)


class Phase(Word):
    """Whether a trial counts: only measured trials are compared.

    In trials of profile rounds, tasks are asked for their stacks. Trials of a proof round look at every row.
    Both take time.
    """

    WARM_UP = "warm-up"
    MEASURED = "measured"
    PROFILE = "profile"
    PROOF = "proof"


class Proof(Word):
    """What a trial has proven of its answer, the most first."""

    EVERY_ROW = "every row"
    ITS_RESULT = "its result"
    ROW_COUNT = "row count"
    NOTHING = "nothing"


def weakest(proofs: Iterable[Proof]) -> Proof:
    """Return the proof of the least; nothing without any."""
    order = list(Proof)
    return max(proofs, key=order.index, default=Proof.NOTHING)


class Status(Word):
    """How a trial ended. A wrong answer is FAILED."""

    OK = "ok"
    FAILED = "failed"


class Ending(Word):
    """How a run ended. A killed run has no ending."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    SPARK_LOST = "spark-lost"


class InputReader(Word):
    """Who reads files from disks: the application itself, or the daemons of a file system."""

    APPLICATION = "application"
    STORAGE = "storage"


@dataclass(frozen=True)
class Trial:
    """One execution of one workload, or several if one would be too short to time well.

    - `round`: counts from 1, within the phase if the number of warm-up rounds was fixed, or else within the
      run.
    - `wall_s`: duration of the sink's action in seconds; None if, and only if, the trial failed.
    - `executions`: how many times the trial executed the workload, one after the other. `wall_s`, `tasks`,
      `wire`, `disk` and `written` are averages over them.
    - `error`: why the trial failed, in one line.
    - `note`: an event that may explain the duration, in one line. Older results have lost executors here.
    - `tasks`, `wire`: where the time went, and what the nodes' links carried; None if unknown.
    - `disk`: what the disks of all nodes read and wrote meanwhile; None if unknown.
    - `written`: the files that the workload wrote, which are proven; None if it writes none.
    - `input_read_by`: who reads the trial's input from these disks; None if nothing does.
    - `proof`: what was proven of its answer; None if it failed, if its program checks itself, and in older
      results, whose trials of Spark all proved every row.
    - `packed_input`: its input files, if they may take fewer bytes on disks than they have; None if they take
      all.
    - `to_be_cold`: whether its input was put out of the page cache before.
    - `answers`: what its executions of a user's query answered, each different answer once.
    - `interference`: what else happened on each node meanwhile; None if unknown.
    - `plan`: the operators by which Spark executed it; None if that is unknown.
    - `properties`: Spark's properties that the session had set for it, in addition to the run's; None if that
      is unknown.
    - `silent`: why nothing is known about a node during the trial, by its host. Older results do not have it.
    - `disturbed`: why the trial does not count, in one line, such as
      `n2: processors slower than usual (by 31 %)`; None if it counts.
    - `timeline`: what the nodes did over the time of all executions; None if unknown.
    - `work`: what one execution does; None if only its time is of interest.
    - `profile`: where the tasks of all executions were; None if they were not asked.
    - `executors`: how many there were, and which came and went; None in local mode, and in older results.
    - `planning`: what parsing, analysis and planning took; None if unknown.
    """

    workload: Name
    phase: Phase
    round: Number
    status: Status
    started_at: str
    wall_s: Seconds | None = None
    error: str | None = None
    job_group: str | None = None
    note: str | None = None
    tasks: TaskMetrics | None = None
    wire: WireBytes | None = None
    interference: ClusterInterference | None = None
    disturbed: str | None = None
    executions: Number = 1
    timeline: Timeline | None = None
    work: Work | None = None
    profile: Profile | None = None
    disk: DiskBytes | None = None
    written: WrittenBytes | None = None
    input_read_by: InputReader | None = None
    to_be_cold: bool = False
    answers: tuple[RowsDigest, ...] = ()
    packed_input: PackedInput | None = None
    silent: Mapping[Name, str] = field(default_factory=dict)
    executors: TrialExecutors | None = None
    plan: Plan | None = None
    proof: Proof | None = None
    properties: Mapping[str, str] | None = None
    planning: Planning | None = None

    def __post_init__(self) -> None:
        if (self.status is Status.OK) != (self.wall_s is not None):
            raise ValueError("a trial has a time if, and only if, it is ok")
        if (self.status is Status.FAILED) != (self.error is not None):
            raise ValueError("a trial has an error if, and only if, it failed")
        if self.executions < 1:
            raise ValueError("a trial executes its workload once or more")

    @property
    def counts(self) -> bool:
        """Whether comparisons use the trial, as a time or a failure: it was measured, and not disturbed."""
        return self.phase is Phase.MEASURED and not self.disturbed

    @property
    def undisturbed_s(self) -> float | None:
        """The time, in whatever phase; None if the trial failed, or if something disturbed it."""
        return None if self.disturbed else self.wall_s

    @property
    def unit_s(self) -> float | None:
        """The seconds of one unit of work, or of the whole trial if it counts none; None if it failed."""
        if self.wall_s is None or self.work is None:
            return self.wall_s
        return self.wall_s / self.work.amount


@dataclass(frozen=True)
class Run:
    """One application: what was declared, requested and observed when it started.

    - `configuration`: the declared name of the set-up under test.
    - `workloads`: the workloads to run. If there are several streams, all of them together are the first.
    - `omitted`: workloads that cannot run, and why.
    - `parameters`: the options of the benchmark, and what follows from them.
    - `facts`: what the user declared, by name.
    - `environment`: machines, links and software as observed.
    - `dataset`: the manifest and the observed layout; None if no workload reads data.
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
class RunEnd:
    """How a run ended.

    - `stopped`: why there were no more rounds, if the run itself chose their number.
    - `link_errors`: None if the counters were not read.
    """

    ending: Ending
    stopped: str | None = None
    link_errors: LinkErrors | None = None


@dataclass(frozen=True)
class RecordedRun:
    """A run as its file records it.

    - `trials`: in the order in which they ended.
    - `ending`: None if the run was killed, or is still running; then nothing is known of its end.
    - `source`: the path of the file; `warnings`: what is odd about it, one line each.
    - `disturbed_throughout`: workloads whose measured trials were all disturbed or failed, and so all
      count, with a reason.
    - `stopped`, `link_errors`: as in RunEnd.
    """

    run: Run
    trials: tuple[Trial, ...]
    ending: Ending | None = None
    source: str = ""
    warnings: tuple[str, ...] = ()
    disturbed_throughout: Mapping[str, str] = field(default_factory=dict)
    stopped: str | None = None
    link_errors: LinkErrors | None = None

    @cached_property
    def under_way(self) -> tuple[datetime, datetime]:
        """When the run started, and when it was last seen to be under way."""
        start = end = moment_of(self.run.started_at)
        for trial in self.trials:
            lasted_s = (trial.wall_s or 0.0) * trial.executions
            end = max(end, moment_of(trial.started_at) + timedelta(seconds=lasted_s))
        return start, end

    @cached_property
    def application(self) -> str | None:
        """What identifies the Spark application of the run, on its master; None if that is unknown."""
        master = self.run.environment.get("master")
        application = self.run.environment.get("application")
        if master and application:
            return f"{master} {application}"
        return None

    @cached_property
    def plans(self) -> Mapping[str, Plan]:
        """The plans of the run by their digests. Each is recorded with its operators once."""
        found: dict[str, Plan] = {}
        for trial in self.trials:
            if trial.plan and trial.plan.operators:
                found[trial.plan.digest] = trial.plan
        return found

    @cached_property
    def counted(self) -> tuple[Trial, ...]:
        """The trials that comparisons use, in their order."""
        return tuple(trial for trial in self.trials if trial.counts)

    @cached_property
    def timed(self) -> Mapping[str, Sequence[Trial]]:
        """The trials of each workload whose times count, in their order."""
        timed = (trial for trial in self.counted if trial.wall_s is not None)
        return grouped(timed, attrgetter("workload"))

    @cached_property
    def by_workload(self) -> Mapping[str, Sequence[Trial]]:
        """The trials of each workload, in their order."""
        return grouped(self.trials, attrgetter("workload"))

    @cached_property
    def times_s(self) -> Mapping[str, Sequence[float]]:
        """The times of each workload that count, in the order of their trials.

        They are seconds of a trial, or of one unit of work if trials count their work.
        """
        return {name: known(trial.unit_s for trial in own) for name, own in self.timed.items()}


def answers_of(trials: Iterable[Trial]) -> tuple[RowsDigest, ...]:
    """Return the different answers that the trials of a user's query gave; several if it varies."""
    return distinct(chain.from_iterable(trial.answers for trial in trials))


def timestamp(moment: datetime | None = None) -> str:
    """Return a time in UTC, by default the current one, to the millisecond: `2026-11-21T13:42:13.123Z`."""
    return (
        (moment or datetime.now(timezone.utc))
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


def moment_of(text: str) -> datetime:
    """Return a recorded time, in UTC unless it names another time zone. Raise ValueError if it is none."""
    moment = datetime.fromisoformat(re.sub("Z$", "+00:00", text))
    if moment.tzinfo:
        return moment
    return moment.replace(tzinfo=timezone.utc)


def new_run_id() -> str:
    """Return an identifier that sorts by time and differs between runs that start at the same time."""
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
