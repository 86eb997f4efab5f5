"""The trials of a workload on Spark: prepare under a job group, force with a sink, check the answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import TracebackType

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import java_packages, scala_context
from harness.base.errors import ClusterliftError, SparkLost, WrongAnswer
from harness.base.interrupt import deferred_signals
from harness.eventlog.trial import TrialLog
from harness.model.plan import Plan
from harness.model.planning import Planning, planning_of_executions
from harness.model.profile import TaskSpan
from harness.model.run import Trial
from harness.model.task_metrics import PackedInput
from harness.model.timeline import Stage
from harness.node.disks import disk_bytes_between
from harness.node.interference import interference
from harness.node.samples import trial_timeline
from harness.node.snapshot import NodesSnapshot, silent_hosts
from harness.node.traffic import wire_bytes
from harness.trials.loop import MAX_EXECUTIONS
from jobs.cold_reads import ColdReads, InputSource
from jobs.executors import nodes_snapshot, outside_trials
from jobs.garbage import collect_garbage
from jobs.proofs import Proofs
from jobs.sinks import CountsByDescription, Executions, new_sink
from jobs.spark_event_log import EventLog
from jobs.stack_profiler import StackProfiler
from jobs.streams import Streams, StreamsExecutions
from jobs.workload import Context, Workload

PENDING_INTERRUPT_S = 1.0


@dataclass(frozen=True)
class SparkTrialRunner:
    """A workload or streams, what it runs on, the name of its sink, and the event log of its trials.

    `cold_reads` puts its input out of memory before each trial, None to leave it there. `source` is where the
    input comes from. A proving trial looks at every row of the answer, and if `proves_always`, each one does.
    `require_same_input` raises WrongAnswer if files of the dataset are others than before the first trial.
    """

    workload: Workload | Streams
    context: Context
    sink: str
    log: EventLog
    cold_reads: ColdReads | None = None
    source: InputSource = field(default_factory=InputSource)
    proves_always: bool = False
    require_same_input: Callable[[], None] = lambda: None

    @property
    def workloads(self) -> Sequence[str]:
        return (self.workload.name,)

    @cached_property
    def proofs(self) -> Proofs:
        """What proving trials have found."""
        if isinstance(self.workload, Streams):
            return Proofs([each.name for each in self.workload.workloads])
        return Proofs(self.workloads)

    @property
    def unproven(self) -> Collection[str]:
        if self.proves_always:
            return ()
        return self.proofs.missing

    @property
    def max_executions(self) -> int:
        """1 for a cold trial: a second execution would find in memory what the first one read."""
        return 1 if self.cold_reads else MAX_EXECUTIONS

    def _ready(self, executions: int, *, proving: bool) -> Executions:
        """Return the planned executions of the workload, or of all streams."""
        if isinstance(self.workload, Streams):
            return StreamsExecutions(
                self.workload,
                self.sink,
                self.context,
                executions,
                proving=proving,
                proofs=self.proofs,
            )
        return new_sink(self.sink, self.workload, self.context, executions, proving=proving)

    def prepare(
        self, job_group: str, executions: int, *, profiled: bool, proving: bool
    ) -> PreparedSparkTrial:
        """Build all frames anew, because a frame that was forced keeps its shuffle files."""
        self.proofs.require_not_wrong(self.workload.name)
        spark = self.context.spark
        with _spark_loss_detected(spark):
            self.log.executors.start()
            collect_garbage(spark)
            prewarming = self.workload.prewarm(self.context)
            if prewarming is not None:
                with outside_trials(spark):
                    prewarming.collect()
            if self.cold_reads:
                self.cold_reads.drop()
            spark.sparkContext.setJobGroup(job_group, job_group)
            sink = self._ready(executions, proving=proving or self.proves_always)
            # A frame that lists files may have described its own jobs, as Hudi's does.
            spark.sparkContext.setJobGroup(job_group, job_group)
            packed = self.source.packed_input(spark)
            nodes = nodes_snapshot(spark, with_samples=False)
            profiler = StackProfiler(spark) if profiled else None
            self.log.begin()
        start_s = time.monotonic()
        is_proof_of_all = proving and not self.proves_always
        return PreparedSparkTrial(
            self, spark, sink, executions, is_proof_of_all, packed, nodes, start_s, profiler
        )


@dataclass(frozen=True)
class PreparedSparkTrial:
    """A trial that is ready to run.

    `nodes_before` has the counters of the nodes just before the trial, and `packed_input` what was in
    memory then. `start_s` is the monotonic clock then. `profiler` asks for stacks, if any does. If it
    proves the answer for all trials (`is_proof_of_all`), a wrong answer fails the later ones, too.
    """

    runner: SparkTrialRunner
    spark: SparkSession
    sink: Executions
    executions: int
    is_proof_of_all: bool
    packed_input: PackedInput | None
    nodes_before: NodesSnapshot
    start_s: float
    profiler: StackProfiler | None

    def __enter__(self) -> None:
        """Nothing is left to be prepared."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            with _spark_loss_detected(self.spark), deferred_signals():
                self.sink.close()
        except ClusterliftError:
            if kind is None:  # else the trial has failed already, and its own error says more
                raise

    def run(self) -> None:
        with _spark_loss_detected(self.spark):
            try:
                self.sink.run()
            except Exception:
                if self.profiler:
                    self.profiler.stop()
                raise

    def trials(self, trial: Trial) -> Sequence[Trial]:
        observed, read = self._finish(trial)
        counts: CountsByDescription = {}
        plans: Mapping[str, Plan] = {}
        if read is not None:
            counts = read.rows
            plans = read.plans
        proofs = self.runner.proofs
        with _spark_loss_detected(self.spark):
            self.runner.require_same_input()
            try:
                found = self.sink.trials(observed, counts, plans)
            except WrongAnswer as error:
                if self.is_proof_of_all:
                    proofs.wrong[self.runner.workload.name] = str(error)
                raise
        if self.is_proof_of_all:
            proofs.wrong.update(self.sink.wrong_answers())
        proofs.add(found)
        return found

    def _finish(self, trial: Trial) -> tuple[Trial, TrialLog | None]:
        """Return the trial with what was observed of it, and what Spark logged meanwhile.

        The log ends before the job that reads the nodes' counters, and is read afterwards. Quantities are
        averages over the executions of the trial; timeline and profile are of all of them.
        """
        end_s = time.monotonic()
        log = self.runner.log
        before = self.nodes_before
        with _spark_loss_detected(self.spark):
            log.end()
            if self.profiler:
                self.profiler.stop()
            after = nodes_snapshot(self.spark, with_samples=True)
            executors = log.executors.trial_executors()
        read = log.read()
        with _spark_loss_detected(self.spark):
            written = self.sink.written()
        disk = disk_bytes_between(before, after)
        stages: Sequence[Stage] = ()
        spans: Sequence[TaskSpan] = ()
        planning = None
        tasks = None
        if read is not None:
            stages = read.stages
            spans = read.spans
            planning = self._planning(trial, read)
            tasks = read.metrics.per_execution(self.executions)
        profile = self.profiler.profile(spans) if self.profiler else None
        observed = replace(
            trial,
            planning=planning,
            tasks=tasks,
            profile=profile,
            wire=wire_bytes(before, after).per_execution(self.executions),
            disk=disk and disk.per_execution(self.executions),
            input_read_by=self.runner.source.reader,
            packed_input=self.packed_input,
            to_be_cold=self.runner.cold_reads is not None,
            interference=interference(before.nodes, after.nodes),
            timeline=trial_timeline(before, after, self.start_s, end_s, stages),
            written=written,
            silent=silent_hosts(before, after),
            executors=executors,
        )
        return observed, read

    def _planning(self, trial: Trial, read: TrialLog) -> Planning | None:
        """Return what parsing, analysis and planning took; None for streams, whose queries run at once."""
        workload = self.runner.workload
        if isinstance(workload, Streams):
            return None
        planning_s = None
        executed_s = read.executed_s.get(str(trial.job_group), ())
        if trial.wall_s is not None and len(executed_s) == self.executions:
            planning_s = planning_of_executions(trial.wall_s, executed_s)
        return replace(workload.planning(), planning_s=planning_s)


@contextmanager
def _spark_loss_detected(spark: SparkSession) -> Iterator[None]:
    """Raise SparkLost instead of any error if the driver's JVM or its context has ended."""
    try:
        yield
    except Exception as error:
        # A JVM that is about to end still answers for a moment, with strange errors. And Ctrl-C reaches it,
        # too: if it ends first, our own interrupt is about to come.
        time.sleep(PENDING_INTERRUPT_S)
        if _has_ended(spark):
            raise SparkLost(f"the Spark application ended: {error}") from error
        raise


def _has_ended(spark: SparkSession) -> bool:
    try:
        # On a busy machine, a JVM that got SIGTERM needs seconds until its hooks stop the context.
        hooks = java_packages(spark).org.apache.spark.util.ShutdownHookManager
        return bool(scala_context(spark).isStopped()) or bool(hooks.inShutdown())
    except (Py4JError, OSError, AttributeError):
        return True
