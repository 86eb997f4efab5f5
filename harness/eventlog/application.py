"""A user's application as a run, by Spark's event log of it: executions of SQL, jobs, and their tasks.

The workloads of the run are the whole application, by its name, and its executions, by the description
or else the call site that Spark recorded. Executions that Spark describes alike and plans differently
are numbered, in the order of their first jobs.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from harness.base.failure_reason import cause_or_first_line
from harness.base.redaction import without_credentials
from harness.eventlog.core_times import CoreTimes
from harness.eventlog.events import (
    Decode,
    Event,
    JobEnded,
    JobStarted,
    Reader,
    as_ms,
    as_number,
    decoded,
    parse,
)
from harness.eventlog.executed_plans import (
    DRIVER_COUNTED,
    EXECUTION_ENDED,
    EXECUTION_STARTED,
    PLAN_CHANGED,
    ExecutedPlans,
    NumberedPlans,
)
from harness.eventlog.names import Described, cut, execution_names, name_steps
from harness.eventlog.plans import fingerprint, tables
from harness.eventlog.trial import TrialAggregator
from harness.model.plan import Plan
from harness.model.run import (
    MAX_WALL_S,
    Ending,
    Phase,
    RecordedRun,
    Run,
    Status,
    Trial,
    timestamp,
)
from harness.model.spark_properties import recorded_properties
from harness.model.task_metrics import TaskMetrics

WRITTEN_BY = "Spark's event log"
APPLICATION = "application"
"""The parameter with the name of the workload that is the whole application."""
NOT_LOGGED = (
    "event logs of Spark do not tell links, layouts, other load, or whether answers were right"
)
MAX_ERROR = 200
"""Characters."""
MAX_PLANS = 16
"""Different plans of a workload in an application whose operators are kept."""


@dataclass(eq=False)
class _Execution:
    """Something that becomes a trial: the application, an execution of SQL, or a job outside SQL.

    `fingerprint` tells it from others with the same description. It has a `workload` since its first job, and
    `tasks` until its end. `error` is the error of a job that failed. `plans` are its plans until its end.
    """

    description: str
    started_ms: int
    fingerprint: int = 0
    tables: frozenset[str] = frozenset()
    is_job: bool = False
    workload: str = ""
    tasks: TrialAggregator | None = None
    error: str = ""
    plans: ExecutedPlans = field(default_factory=ExecutedPlans)


class Application:
    """An application, from the lines of its event log, which are added one by one in their order.

    `described` has its executions by their names. `decode` reads JSON. `full_name` is not shortened.
    `differing` is what a user says differs each time in names. `plans` are known plans by their digests,
    which several applications may share.
    """

    def __init__(
        self,
        decode: Decode = decoded,
        differing: re.Pattern[str] | None = None,
        plans: dict[str, Plan] | None = None,
    ) -> None:
        self.version: str | None = None
        self.id = ""
        self.attempt = ""
        self.ended_ms: int | None = None
        self.full_name = ""
        self.described: dict[str, Described] = {}
        self._decode = decode
        self._differing = differing
        self._whole = _Execution("", 0)
        self._environment: dict[str, Any] = {}
        self._task_cpus = 1
        self._executors: dict[str, tuple[str, int]] = {}
        self._most_executors: list[tuple[str, int]] = []
        self._core_times = CoreTimes()
        self._sql: dict[int, _Execution] = {}
        self._of_executions = NumberedPlans()
        self._jobs: dict[int, _Execution | None] = {}
        self._stages: dict[int, _Execution | None] = {}
        self._trials: list[Trial] = []
        self._rounds: Counter[str] = Counter()
        self._files: Counter[str] | None = Counter()  # None if an execution does not tell its own
        self._without_tasks = 0
        self._with_impossible_times = 0
        self._numbers: dict[str, dict[int, int]] = {}
        self._in_batch: dict[str, tuple[str, int]] = {}
        self._plans: dict[str, Plan] = {} if plans is None else plans
        self._digests: dict[str, set[str]] = {}
        self._readers: Mapping[bytes, Reader] = {
            b"SparkListenerLogStart": self._log_started,
            b"SparkListenerApplicationStart": self._started,
            b"SparkListenerApplicationEnd": self._ended,
            b"SparkListenerEnvironmentUpdate": self._environment_known,
            b"SparkListenerExecutorAdded": self._executor_added,
            b"SparkListenerExecutorRemoved": self._executor_removed,
            b"SparkListenerJobStart": self._job_started,
            b"SparkListenerJobEnd": self._job_ended,
            EXECUTION_STARTED: self._sql_started,
            PLAN_CHANGED: self._of_executions.planned,
            DRIVER_COUNTED: self._of_executions.counted,
            EXECUTION_ENDED: self._sql_ended,
        }

    def add(self, line: bytes) -> None:
        """Add a line. Raise ValueError if it is cut off, or not as Spark 3 or 4 writes it."""
        event = parse(line, self._readers, self._decode)
        if event is not None and not isinstance(event, (JobStarted, JobEnded)):
            self._give(self._stages.get(event.key.stage), event)

    @property
    def name(self) -> str:
        """The application's name; empty if its start was not in the log."""
        return self._whole.workload

    @property
    def has_ended(self) -> bool:
        """Whether the log has the application's end."""
        return self.ended_ms is not None

    @property
    def started_ms(self) -> int:
        """The start of the application in milliseconds since 1970."""
        return self._whole.started_ms

    @property
    def about(self) -> Described:
        """The application's name in steps, and the tables that it read until its end."""
        read: set[str] = set()
        if self.has_ended:
            for each in self.described.values():
                read |= each.tables
        return Described(name_steps(self.full_name, self._differing), frozenset(read))

    @property
    def executions(self) -> int:
        """How many executions have ended."""
        return len(self._trials)

    def recorded(
        self, configuration: str, source: str, shown: Mapping[str, str] | None = None
    ) -> RecordedRun:
        """Return an application that has a name as a run. `shown` has other names for its workloads."""
        own = list(dict.fromkeys([self.name, *self._rounds]))
        names = {name: name for name in own}
        names.update(shown or {})
        environment = {
            **self._environment,
            "executors": [host for host, _ in self._most_executors] or None,
            "parallelism": sum(cores for _, cores in self._most_executors) or None,
            "spark": self.version,
        }
        run = Run(
            id="_".join(each for each in [self.id, self.attempt] if each),
            configuration=configuration,
            started_at=_moment(self._whole.started_ms),
            workloads=tuple(dict.fromkeys(names[name] for name in own)),
            written_by=WRITTEN_BY,
            parameters={APPLICATION: names[self.name]},
            environment=environment,
        )
        ending = Ending.COMPLETED if self.has_ended else None
        trials: list[Trial] = []
        rounds: Counter[str] = Counter()  # several may have the same name now
        for trial in self._trials:
            workload = names[trial.workload]
            rounds[workload] += 1
            trials.append(replace(trial, workload=workload, round=rounds[workload]))
        return RecordedRun(run, tuple(trials), ending, source, (NOT_LOGGED, *self._left_out()))

    def _left_out(self) -> Iterator[str]:
        unended = {id(work) for work in [*self._sql.values(), *self._jobs.values()] if work}
        left_out = {
            "that ran no task": self._without_tasks,
            "without an end": len(unended),
            "that end before they start, or take 30 years,": self._with_impossible_times,
        }
        for what, number in left_out.items():
            if number:
                yield f"executions {what} are left out: {number:,} in an application"

    def _log_started(self, event: Any) -> None:
        self.version = str(event["Spark Version"])

    def _started(self, event: Any) -> None:
        self.full_name = without_credentials(str(event["App Name"]))
        name = cut(self.full_name) or "application"
        self.id = str(event["App ID"])
        self.attempt = str(event.get("App Attempt ID") or "")
        self._whole = _Execution(name, as_ms(event["Timestamp"]), workload=name)
        self._numbers[name] = {0: 1}  # so no execution has the same name

    def _ended(self, event: Any) -> None:
        self.ended_ms = as_ms(event["Timestamp"])
        error = ""
        if event.get("ExitCode"):
            error = f"the application ended with exit code {event['ExitCode']}"
        self._end(self._whole, self.ended_ms, error)

    def _environment_known(self, event: Any) -> None:
        java = event["JVM Information"]
        system = event["System Properties"]
        conf = {str(name): str(value) for name, value in event["Spark Properties"].items()}
        self._task_cpus = max(1, int(conf.get("spark.task.cpus", 1)))
        self._environment = {
            "java": java.get("Java Version"),
            "scala": java.get("Scala Version"),
            "kernel": system.get("os.version"),
            "architecture": system.get("os.arch"),
            "master": conf.get("spark.master"),
            "spark_conf": recorded_properties(conf),
        }

    def _executor_added(self, event: Any) -> None:
        about = event["Executor Info"]
        host = str(about["Host"])
        self._executors[str(event["Executor ID"])] = (host, as_number(about["Total Cores"]))
        self._executors_changed(event)
        if len(self._executors) > len(self._most_executors):
            self._most_executors = list(self._executors.values())

    def _executor_removed(self, event: Any) -> None:
        self._executors.pop(str(event["Executor ID"]), None)
        self._executors_changed(event)

    def _executors_changed(self, event: Any) -> None:
        cores = sum(cores for _, cores in self._executors.values())
        self._core_times.changed(as_ms(event["Timestamp"]), cores)

    def _sql_started(self, event: Any) -> None:
        number = as_number(event["executionId"])
        root = event.get("rootExecutionId")
        if root != number and root in self._sql:
            work = self._sql[root]
        else:
            about = str(event.get("description") or "")
            plan = event["sparkPlanInfo"]
            work = _Execution(about, as_ms(event["time"]), fingerprint(plan), tables(plan))
        self._of_executions.started(event, work.plans)
        self._sql[number] = work

    def _sql_ended(self, event: Any) -> None:
        work = self._sql.pop(as_number(event["executionId"]), None)
        self._of_executions.ended(event)
        error = event.get("errorMessage")
        if work is not None and work not in self._sql.values():  # else it is within another
            # Before Spark 3.4, only its jobs say whether an execution failed.
            self._end(work, as_ms(event["time"]), work.error if error is None else str(error))

    def _job_started(self, event: Any) -> None:
        job = as_number(event["Job ID"])
        stages = event["Stage Infos"]
        properties = event.get("Properties") or {}
        execution = properties.get("spark.sql.execution.id")
        work = self._sql.get(int(execution)) if execution else _job(event, stages, properties)
        self._jobs[job] = work
        for stage in stages:
            number = as_number(stage["Stage ID"])
            owner = self._stages.get(number)
            # One that a later job needs, too, is the earlier's as long as that runs.
            if owner is None or owner.tasks is None:
                self._stages[number] = work
        for each in self._counting(work):
            self._name(each)
            each.tasks = each.tasks or TrialAggregator(None, each.started_ms)
        self._give(work, JobStarted(job))

    def _job_ended(self, event: Any) -> None:
        job = as_number(event["Job ID"])
        result = event["Job Result"]
        work = self._jobs.pop(job, None)
        self._give(work, JobEnded(job))
        if work is None:
            return
        if result["Result"] != "JobSucceeded":
            work.error = str(result.get("Exception", {}).get("Message") or "it failed")
        if work.is_job:
            self._end(work, as_ms(event["Completion Time"]), work.error)

    def _give(self, work: _Execution | None, event: Event) -> None:
        for each in self._counting(work):
            if each.tasks is not None:
                each.tasks.add(event)

    def _counting(self, work: _Execution | None) -> list[_Execution]:
        """Return what counts the jobs of `work`: the application, and `work` itself if it is known."""
        if work is None:
            return [self._whole]
        return [self._whole, work]

    def _end(self, work: _Execution, at_ms: int, error: str) -> None:
        tasks = work.tasks
        work.tasks = None
        if tasks is None and not error and work is not self._whole:
            self._without_tasks += 1
            return
        wall_ms = at_ms - work.started_ms
        if not error and not 0 <= wall_ms <= MAX_WALL_S * 1e3:
            self._with_impossible_times += 1
            return
        self._name(work)
        self._rounds[work.workload] += 1
        trial = Trial(
            work.workload,
            Phase.MEASURED,
            self._rounds[work.workload],
            Status.OK,
            _moment(work.started_ms),
            max(1, wall_ms) / 1e3,
            tasks=self._metrics(work, tasks, at_ms) if tasks else None,
            properties=work.plans.properties(),
            plan=self._plan(work),
        )
        if error:
            trial = replace(trial, status=Status.FAILED, wall_s=None, error=_reason(error))
        self._trials.append(trial)

    def _metrics(self, work: _Execution, tasks: TrialAggregator, at_ms: int) -> TaskMetrics:
        """Return what the tasks of an execution did until it ended at this time.

        The application's files are the files of its executions.
        """
        cores = self._core_times.mean(work.started_ms, at_ms)
        slots = cores / self._task_cpus if cores else None
        metrics = replace(tasks.metrics(), slots=slots)
        if work is self._whole:
            return metrics.with_files(self._files or {})
        files = work.plans.files()
        if metrics.input_bytes and not files:
            self._files = None
        elif self._files is not None:
            self._files.update(files)
        return metrics.with_files(files)

    def _plan(self, work: _Execution) -> Plan | None:
        """Return the plan of an execution that has ended, without operators if its workload has many."""
        plan = work.plans.plan()
        work.plans = ExecutedPlans()
        if plan is None:
            return None
        of_workload = self._digests.setdefault(work.workload, set())
        if plan.digest not in of_workload and len(of_workload) >= MAX_PLANS:
            return Plan(plan.digest)
        of_workload.add(plan.digest)
        return self._plans.setdefault(plan.digest, plan)

    def _name(self, work: _Execution) -> None:
        """Name a workload by its description; numbered if another plan has been described like this."""
        if work.workload or work is self._whole:
            return
        names = execution_names(work.description, work.tables, self._differing)
        alike = work.fingerprint
        if names.batch:  # batches have the same executions in the same order, with other plans
            batch, before = self._in_batch.get(names.name, ("", 0))
            alike = before + 1 if batch == names.batch else 1
            self._in_batch[names.name] = (names.batch, alike)
        numbers = self._numbers.setdefault(names.name, {})
        numbered = names.numbered(numbers.setdefault(alike, len(numbers) + 1))
        work.workload = numbered.name
        self.described[numbered.name] = Described(numbered.steps, work.tables)


def is_from_event_log(run: Run) -> bool:
    """Return whether nothing but Spark's event log describes the run."""
    return run.written_by == WRITTEN_BY


def application_of(run: Run) -> str | None:
    """Return the workload of a run that is the whole application; None if no event log describes the run.

    The run may no longer have it among its workloads.
    """
    if not is_from_event_log(run):
        return None
    return str(run.parameters.get(APPLICATION))


def _job(event: Any, stages: Any, properties: Any) -> _Execution:
    """Return a job outside SQL, which is called like its last stage, after its description if it has one.

    So what Spark does before it executes a query, such as reading a schema, is told from the query.
    """
    stage_names = {as_number(stage["Stage ID"]): str(stage["Stage Name"]) for stage in stages}
    about = "job"
    if stage_names:
        about = stage_names[max(stage_names)]
    described = properties.get("spark.job.description")
    if described:
        about = f"{described}: {about}"
    of_stages = hash(tuple(sorted(stage_names.values())))
    return _Execution(about, as_ms(event["Submission Time"]), of_stages, is_job=True)


def _reason(error: str) -> str:
    """Return why an execution failed, in one line."""
    return cut(without_credentials(cause_or_first_line(error, "it failed")), MAX_ERROR)


def _moment(at_ms: int) -> str:
    return timestamp(datetime.fromtimestamp(at_ms / 1e3, timezone.utc))
