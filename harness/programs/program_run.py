"""A run of an external program: a runner of the loop of trials, and what the run records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness import __version__
from harness.base.command_line import given_command
from harness.base.errors import ToolError
from harness.base.interrupt import interruptible
from harness.base.terminal import say
from harness.hosts.links import read_links
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.run import (
    COMMAND,
    PROGRAM,
    RecordedRun,
    Run,
    Status,
    Trial,
    new_run_id,
    timestamp,
)
from harness.model.work import DECLARED_PEAK, Work
from harness.node.counters import RDMA_PORTS
from harness.node.interference import interference
from harness.node.machine import machine_groups
from harness.node.node_links import NodeLinks, link_errors, node_facts
from harness.node.snapshot import NodeReading
from harness.programs.hosts import describe_hosts, exchanged_bytes, read_counters
from harness.programs.mpi import RDMA, MpiJob, run_mpi
from harness.programs.planned_program import ProgramRun
from harness.records.reader import load
from harness.records.run_lock import RUN, configuration_lock
from harness.records.writer import Recording
from harness.trials.loop import run_trials
from harness.trials.progress import TrialProgress
from harness.trials.rounds import Rounds

MIN_EXCHANGED_BYTES = 100_000
"""A program that computes on several hosts exchanges more than this; Open MPI's start alone does not."""

NO_COUNTERS = "its counters could not be read"


def run_program(planned: ProgramRun, results: Path, series: str = "") -> RecordedRun:
    """Make a run and record it; return it as its file has it. `series` is recorded, so that it can be found.

    A trial that fails is recorded as failed, and the next one follows. Ctrl-C and SIGTERM end the run. Raise
    BadInput if the problem does not suit the hosts, and HostError if one cannot be reached at first.
    """
    with configuration_lock(results, planned.configuration, RUN):
        runner = ProgramRunner(planned)
        run = _describe(runner, series)
        rounds = Rounds(runner.workloads, planned.warmup, planned.trials)
        progress = TrialProgress(runner.workloads, rounds)
        with Recording(results, run) as recording, interruptible(once=True):
            ending = run_trials([_Side(runner, recording)], rounds, run.id, progress.finished)
            links = _by_host(read_links(planned.placement.hosts))
            recording.end(ending, link_errors=link_errors(runner.links, links))
    return load(recording.path)


@dataclass(frozen=True)
class _Side:
    """The only side of a program's run: a run has one configuration."""

    runner: ProgramRunner
    recording: Recording
    label: str = ""

    @property
    def runners(self) -> Sequence[ProgramRunner]:
        return (self.runner,)

    def begin(self) -> None:
        self.runner.compute_reference()

    def finished(self, trial: Trial) -> None:
        self.recording.trial(trial)


class ProgramRunner:
    """Runs a program on its hosts: an execution is a trial of each of its workloads."""

    max_executions = 1

    def __init__(self, planned: ProgramRun) -> None:
        """Raise BadInput if the problem does not suit the hosts, and HostError if a link is unknown."""
        self.planned = planned
        self.problem = planned.problem
        self.links = _links(planned.placement.hosts)
        self.omitted = planned.program.omitted(planned.placement)
        self.workloads = [name for name in planned.program.workloads if name not in self.omitted]
        self.reference: str | None = None

    def compute_reference(self) -> None:
        """Compute the output that tells whether answers are right, if the program needs one."""
        program = self.planned.program
        job = program.reference(self.problem, self.planned.placement)
        if job is not None:
            say(f"{program.name}: one process on {job.placement} computes the reference first")
            self.reference = self.compute(job)

    def compute(self, job: MpiJob) -> str:
        """Return the output of a job."""
        return run_mpi(replace(job, network=self.planned.network), self.planned.timeout_s)

    @property
    def unproven(self) -> Sequence[str]:
        """None: an answer is checked after each execution."""
        return ()

    def prepare(
        self, job_group: str, executions: int, *, profiled: bool, proving: bool
    ) -> _Execution:
        """Read the counters of the hosts before the execution."""
        before = read_counters(self.planned.placement.hosts)
        job = self.planned.program.job(self.problem, self.planned.placement)
        return _Execution(self, job, before)


@dataclass
class _Execution:
    """A program that is ready to be executed once. `before` are the counters of its hosts."""

    runner: ProgramRunner
    job: MpiJob
    before: Mapping[str, NodeReading]
    output: str = ""

    def __enter__(self) -> None:
        """Nothing is left to be prepared."""

    def __exit__(self, *_: object) -> None:
        """A program leaves nothing."""

    def run(self) -> None:
        self.output = self.runner.compute(self.job)

    def trials(self, trial: Trial) -> Sequence[Trial]:
        """Return a trial of each workload, with the time that the program reports."""
        runner = self.runner
        planned = runner.planned
        hosts = planned.placement.hosts
        after = read_counters(hosts)
        self._require_traffic(after)
        reported = planned.program.outcomes(
            self.output, runner.problem, planned.placement.processes, runner.reference
        )
        nodes = interference(self.before, after)
        answering = self.before.keys() & after.keys()
        silent = {host.name: NO_COUNTERS for host in hosts if host.name not in answering}
        trials = []
        for workload in runner.workloads:
            outcome = reported.get(workload, f"{planned.program.name} did not report it")
            own = replace(trial, workload=workload)
            if isinstance(outcome, str):
                own = replace(own, status=Status.FAILED, wall_s=None, error=outcome)
            else:
                work = self._with_peak(outcome.work)
                own = replace(
                    own, wall_s=outcome.wall_s, work=work, interference=nodes, silent=silent
                )
            trials.append(own)
        return trials

    def _require_traffic(self, after: Mapping[str, NodeReading]) -> None:
        """Raise ToolError if the messages did not take the links that are recorded."""
        planned = self.runner.planned
        if len(planned.placement.hosts) == 1:
            return
        for host, links in self.runner.links.items():
            for device in [RDMA_PORTS] if planned.network == RDMA else links:
                count = exchanged_bytes(self.before, after, host, device)
                if count is None:
                    raise ToolError(
                        f"{host}: the counters of {device} cannot be read, so nothing shows that the "
                        "messages went there"
                    )
                if count < MIN_EXCHANGED_BYTES:
                    raise ToolError(
                        f"{host} exchanged only {count:,} bytes over {device}: the messages took another "
                        "network; name the hosts with their addresses on this one"
                    )

    def _with_peak(self, work: Work | None) -> Work | None:
        """Add the declared peak to work that has a measured one: to arithmetic."""
        planned = self.runner.planned
        if work is None or planned.host_peak is None or not work.peaks:
            return work
        peak = planned.host_peak * len(planned.placement.hosts)
        return replace(work, peaks={DECLARED_PEAK: peak, **work.peaks})


def _describe(runner: ProgramRunner, series: str) -> Run:
    planned = runner.planned
    program = planned.program
    placement = planned.placement
    machines = describe_hosts(placement.hosts)
    parameters: dict[str, Any] = {
        PROGRAM: program.name,
        COMMAND: given_command("clusterlift"),
        "problem": dict(runner.problem),
        "options": {
            option.name: f"{getattr(program, option.name)}{option.unit}"
            for option in program.options
        },
        "growing": planned.growing,
        "hosts": [host.name for host in placement.hosts],
        "processes_per_host": placement.per_host,
        "network": planned.network,
        "trials": planned.trials,
        "warmup": planned.warmup,
        "controls": list(program.controls),
        "per_process": list(program.per_process),
        "data_workloads": [],
    }
    if series:
        parameters["series"] = series
    return Run(
        id=new_run_id(),
        configuration=planned.configuration,
        started_at=timestamp(),
        workloads=tuple(runner.workloads),
        omitted=runner.omitted,
        written_by=f"clusterlift {__version__}",
        parameters=parameters,
        facts={**planned.facts, "nodes": str(len(placement.hosts))},
        environment={
            "mpi": machines.mpi,
            "machines": {"groups": machine_groups(machines.facts)},
            "shared_processors": machines.shared_processors(placement.per_host),
            "host": placement.hosts[0].name,
            "nodes": node_facts(runner.links),
        },
    )


def _links(hosts: Sequence[Host]) -> NodeLinks:
    """Return the link of every host. Raise HostError if one is unknown.

    A single host needs none, and may have none that leads anywhere.
    """
    links = read_links(hosts)
    for link in links:
        if isinstance(link, HostError) and len(hosts) > 1:
            raise link
    return _by_host(links)


def _by_host(links: Sequence[HostLink | HostError]) -> NodeLinks:
    return {link.host: {link.device: link} for link in links if isinstance(link, HostLink)}
