"""Several streams: several users who run all workloads at the same time, in one application."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from statistics import geometric_mean
from threading import Event

from pyspark import InheritableThread
from pyspark.sql import DataFrame

from datagen.spark import cancel_jobs_on_error
from harness.base.errors import BadInput, ClusterliftError, WrongAnswer
from harness.base.words import join_names
from harness.model.answer import distinct
from harness.model.plan import Plan
from harness.model.run import Status, Trial, weakest
from harness.trials.loop import error_line
from harness.trials.order import shuffled
from jobs.proofs import Proofs
from jobs.sinks import Checked, CountsByDescription, Executions, new_sink
from jobs.workload import Context, Selection, Workload


def in_streams(selection: Selection, streams: int) -> Selection:
    """Return the selection in this number of streams, without the workloads that write.

    Raise BadInput if the user named these, or if only controls are left, which run alone.
    """
    if streams == 1:
        return selection
    found = selection.without_writing("several streams would write to the same place")
    found = replace(found, streams=streams)
    if not found.in_streams:
        raise BadInput("--streams: there are only controls, which run alone")
    if len(set(found.names)) < len(found.names):
        raise BadInput(f"--sql: {found.names[0]} is the name of all streams; rename the query")
    return found


class Streams:
    """The workloads of all streams, which run in one trial.

    Each stream has them in another order, and in another one in each trial, which the seed decides.
    """

    def __init__(self, selection: Selection, seed: str) -> None:
        self.name = selection.names[0]
        self.workloads = selection.in_streams
        self.reads_data = any(each.reads_data for each in self.workloads)
        self.reads_tables = any(each.reads_tables for each in self.workloads)
        self._names = [f"stream {number}" for number in range(1, selection.streams + 1)]
        self._seed = seed
        self._trials = count(1)

    def prewarm(self, context: Context) -> DataFrame | None:
        """Start no Python workers.

        They may end before their workload's turn, so its time has their start anyway.
        """
        return None

    def next_orders(self) -> Mapping[str, Sequence[Workload]]:
        """Return the workloads of each stream, by its name, in the order of its next trial."""
        trial = next(self._trials)
        return {
            name: shuffled(self.workloads, f"{self._seed} {name}", trial) for name in self._names
        }


@dataclass
class _Part:
    """A workload in a stream: how many seconds an execution took, and its answers, or why one failed.

    `wrong` is what is wrong with its answer, if that is why it failed.
    """

    workload: Workload
    stream: str
    group: str
    ready: Executions | None = None
    wall_s: float = 0.0
    checked: Checked | None = None
    error: str | None = None
    wrong: str | None = None


class StreamsExecutions(Executions):
    """Executions of all workloads of all streams, by a sink of SINKS; a failed one stops no other.

    Workloads whose answers are known by `proofs` to be wrong are not executed.
    """

    def __init__(
        self,
        streams: Streams,
        sink: str,
        context: Context,
        executions: int,
        *,
        proving: bool,
        proofs: Proofs,
    ) -> None:
        self._spark = context.spark
        self._executions = executions
        self._workloads = streams.workloads
        self._interrupted = Event()
        group = self._spark.sparkContext.getLocalProperty("spark.jobGroup.id")
        self._streams: list[list[_Part]] = []
        for stream, order in streams.next_orders().items():
            parts = [_Part(each, stream, f"{group}, {stream}: {each.name}") for each in order]
            self._streams.append(parts)

        def prepare_part(part: _Part) -> None:
            proofs.require_not_wrong(part.workload.name)
            part.ready = new_sink(sink, part.workload, context, executions, proving=proving)

        self._each(self._parts(), prepare_part)

    def _parts(self) -> Iterator[_Part]:
        for parts in self._streams:
            yield from parts

    def _each(self, parts: Iterable[_Part], step: Callable[[_Part], object]) -> None:
        """Do a step of each part that has not failed, with its jobs in a group of their own."""
        for part in parts:
            if part.error or self._interrupted.is_set():
                continue
            try:
                self._spark.sparkContext.setJobGroup(part.group, part.group)
                step(part)
            except Exception as error:  # noqa: BLE001  any error of a workload is its outcome
                part.error = error_line(error)
                if isinstance(error, WrongAnswer):
                    part.wrong = str(error)

    def run(self) -> None:
        """Run all streams until the last one ends. An interrupt cancels their jobs."""
        threads = []
        for parts in self._streams:
            arguments = (parts, self._run_part)
            threads.append(InheritableThread(self._each, args=arguments, daemon=True))
        with cancel_jobs_on_error(self._spark):
            try:
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
            except BaseException:
                self._interrupted.set()
                raise

    def _run_part(self, part: _Part) -> None:
        assert part.ready is not None  # noqa: S101  else it has failed
        self._spark.sparkContext.setLocalProperty("spark.scheduler.pool", part.stream)
        start = time.perf_counter()
        part.ready.run()
        part.wall_s = (time.perf_counter() - start) / self._executions

    def trials(
        self, trial: Trial, counts: CountsByDescription, plans: Mapping[str, Plan]
    ) -> list[Trial]:
        """Return the trial of all streams, and the trial of each workload.

        The trial of all streams has no plan, and fails if a workload's trial does.

        The time of a workload is the geometric mean over the streams: so a change counts by its ratio in each
        stream, however long a stream waits for the others.
        """
        whole = self.check(counts)
        trials = []
        for workload in self._workloads:
            of_workload = self._trial_of(workload, trial)
            trials.append(replace(of_workload, plan=self._plan_of(workload, plans)))
        failed = sorted(each.workload for each in trials if each.error)
        if failed:
            error = error_line(ClusterliftError(f"{join_names(failed)} failed"))
            return [_failed(trial, trial.workload, error), *trials]
        return [replace(trial, proof=whole.proof), *trials]

    def check(self, counts: CountsByDescription) -> Checked:
        """Check the answers of each part.

        The part keeps those that no oracle knows, or why its answer is wrong.
        """

        def check_part(part: _Part) -> None:
            assert part.ready is not None  # noqa: S101  else it has failed
            part.checked = part.ready.check(counts)

        self._each(self._parts(), check_part)
        return Checked(weakest(part.checked.proof for part in self._parts() if part.checked))

    def wrong_answers(self) -> Mapping[str, str]:
        return {each.workload.name: each.wrong for each in self._parts() if each.wrong}

    def _plan_of(self, workload: Workload, plans: Mapping[str, Plan]) -> Plan | None:
        """Return the plan of a workload in the first stream that has one."""
        for part in self._parts():
            if part.workload is workload and part.group in plans:
                return plans[part.group]
        return None

    def _trial_of(self, workload: Workload, whole: Trial) -> Trial:
        """Return the trial of a workload within the trial of all streams, which alone has all readings."""
        checked: list[Checked] = []
        times_s: list[float] = []
        for part in self._parts():
            if part.workload is not workload:
                continue
            if part.error:
                return _failed(whole, workload.name, part.error)
            assert part.checked is not None  # noqa: S101  it has not failed
            checked.append(part.checked)
            times_s.append(part.wall_s)
        return replace(
            _unobserved(whole, workload.name),
            wall_s=geometric_mean(times_s),
            interference=whole.interference,
            executors=whole.executors,
            answers=distinct(chain.from_iterable(each.answers for each in checked)),
            proof=weakest(each.proof for each in checked),
        )


def _failed(whole: Trial, workload: str, error: str) -> Trial:
    return replace(_unobserved(whole, workload), status=Status.FAILED, wall_s=None, error=error)


def _unobserved(whole: Trial, workload: str) -> Trial:
    """Return a trial of one workload at the time of all streams, without what was observed of all of them."""
    return Trial(
        workload,
        whole.phase,
        whole.round,
        whole.status,
        whole.started_at,
        whole.wall_s,
        job_group=whole.job_group,
        executions=whole.executions,
    )
