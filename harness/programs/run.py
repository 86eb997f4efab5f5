"""A run of an external program: its trials, one after the other, each recorded as soon as it ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import __version__
from harness.base.command_line import given_command
from harness.base.errors import BadInput, ToolError
from harness.base.interrupt import interruptible
from harness.base.terminal import say
from harness.base.words import join_names
from harness.hosts.links import LINK_PROGRAMS, read_links
from harness.hosts.preflight import preflight
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.interference import EarlierTrials
from harness.model.run import (
    COMMAND,
    PROGRAM,
    Ending,
    Phase,
    RecordedRun,
    Run,
    Status,
    Trial,
    new_run_id,
    timestamp,
)
from harness.model.work import DECLARED_PEAK, Work
from harness.node.interference import interference
from harness.node.machine import machine_groups
from harness.node.node_links import NodeLinks, link_errors, node_facts
from harness.node.snapshot import NodeReading
from harness.programs.hosts import RDMA_PORTS, describe_hosts, exchanged_bytes, read_counters
from harness.programs.mpi import RDMA, TCP, MpiJob, Placement, run_mpi
from harness.programs.program import Achieved, Outcomes, Problem, Program
from harness.records.reader import load
from harness.records.run_lock import RUN, configuration_lock
from harness.records.writer import Recording
from harness.trials.disturbances import judged
from harness.trials.rounds import Rounds

MIN_EXCHANGED_BYTES = 100_000
"""A program that computes on several hosts exchanges more than this; Open MPI's start alone does not."""

NO_COUNTERS = "its counters could not be read"


@dataclass(frozen=True)
class ProgramRun:
    """A planned run: a program with its options, hosts, numbers of trials, and what to record.

    - `growing`: whether the problem is so large for each host, or for all of them together.
    - `timeout_s`: how long a trial may take.
    - `network`: by which the processes exchange messages, TCP or RDMA.
    - `host_peak`: the operations per second that the user declares a host to be capable of; None for nothing.
    """

    program: Program
    placement: Placement
    configuration: str
    growing: bool = False
    trials: int = 3
    warmup: int = 1
    timeout_s: float = 600
    host_peak: float | None = None
    network: str = TCP
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def problem(self) -> Problem:
        """The problem to compute. Raise BadInput if it does not suit the hosts."""
        return self.program.problem(self.placement, growing=self.growing)


def ready_hosts(program: Program, hosts: Sequence[Host], network: str = TCP) -> tuple[Host, ...]:
    """Return the hosts with their addresses. Raise the error of the first that cannot run the program."""
    checked = preflight(hosts, (*program.executables, *LINK_PROGRAMS))
    for error in checked.excluded_hosts.values():
        raise error
    if network == RDMA:
        for host, counters in read_counters(checked.hosts).items():
            if RDMA_PORTS not in counters.traffic:
                raise BadInput(
                    f"{host}: --network rdma needs an RDMA device, and /sys/class/infiniband has none"
                )
    return checked.hosts


def run_program(planned: ProgramRun, results: Path, series: str = "") -> RecordedRun:
    """Make a run and record it; return it as its file has it. `series` is recorded, so that it can be found.

    A trial that fails is recorded as failed, and the next one follows. Ctrl-C and SIGTERM end the run. Raise
    BadInput if the problem does not suit the hosts, and HostError if one cannot be reached at first.
    """
    with configuration_lock(results, planned.configuration, RUN):
        return _run_program(planned, results, series)


def _run_program(planned: ProgramRun, results: Path, series: str) -> RecordedRun:
    hosts = planned.placement.hosts
    problem = planned.problem
    links = _links(hosts)
    run = _describe(planned, problem, links, series)
    with Recording(results, run) as recording:
        ending = _Trials(planned, problem, links, recording).run()
        recording.end(ending, link_errors=link_errors(links, _by_host(read_links(hosts))))
    return load(recording.path)


class _Trials:
    """The trials of a run."""

    def __init__(
        self, planned: ProgramRun, problem: Problem, links: NodeLinks, recording: Recording
    ) -> None:
        self._planned, self._problem, self._links = planned, problem, links
        self._recording = recording
        self._earlier = EarlierTrials()
        name = planned.program.name
        self._rounds = Rounds([name], planned.warmup, planned.trials)

    def run(self) -> Ending:
        """Run all trials, and return how the run ended."""
        try:
            with interruptible(once=True):
                reference = self._reference()
                for phase, number in self._rounds.rounds():
                    self._run_one(phase, number, reference)
        except KeyboardInterrupt:
            return Ending.INTERRUPTED
        return Ending.COMPLETED

    def _reference(self) -> str | None:
        """Return the output that tells whether answers are right."""
        job = self._planned.program.reference(self._problem, self._planned.placement)
        if job is None:
            return None
        say(
            f"{self._planned.program.name}: one process on {job.placement} computes the reference first"
        )
        return self._compute(job)

    def _compute(self, job: MpiJob) -> str:
        return run_mpi(replace(job, network=self._planned.network), self._planned.timeout_s)

    def _run_one(self, phase: Phase, number: int, reference: str | None) -> None:
        program, placement = self._planned.program, self._planned.placement
        started_at = timestamp()
        before: Mapping[str, NodeReading] = {}
        after: Mapping[str, NodeReading] = {}
        omitted = program.omitted(placement)
        able = [name for name in program.workloads if name not in omitted]
        try:
            before = read_counters(placement.hosts)
            output = self._compute(program.job(self._problem, placement))
            after = read_counters(placement.hosts)
            self._require_traffic(before, after)
            outcomes = dict.fromkeys(able, f"{program.name} did not report it") | dict(
                program.outcomes(output, self._problem, placement.processes, reference)
            )
        except (HostError, ToolError, ValueError) as error:  # or work of an impossible amount
            outcomes = dict.fromkeys(able, str(error))
        nodes, disturbed = interference(before, after), None
        answering = before.keys() & after.keys()
        hosts = [host.name for host in placement.hosts]
        silent = {host: NO_COUNTERS for host in hosts if host not in answering}
        for workload in able:
            trial = _trial(workload, phase, number, started_at, outcomes[workload])
            if trial.status is Status.OK:
                work = self._with_peak(trial.work)
                trial = replace(trial, interference=nodes, work=work, silent=silent)
            self._recording.trial(trial)
            disturbed = disturbed or judged(trial, self._earlier).disturbed
        self._rounds.finished(_trial(program.name, phase, number, started_at, Achieved(1.0)))
        self._say(phase, number, outcomes, disturbed)

    def _require_traffic(
        self, before: Mapping[str, NodeReading], after: Mapping[str, NodeReading]
    ) -> None:
        """Raise ToolError if the messages did not take the links that are recorded."""
        if len(self._planned.placement.hosts) == 1:
            return
        for host, links in self._links.items():
            for device in (RDMA_PORTS,) if self._planned.network == RDMA else links:
                count = exchanged_bytes(before, after, host, device)
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
        host_peak = self._planned.host_peak
        if work is None or host_peak is None or not work.peaks:
            return work
        peak = host_peak * len(self._planned.placement.hosts)
        return replace(work, peaks={DECLARED_PEAK: peak, **work.peaks})

    def _say(self, phase: Phase, number: int, outcomes: Outcomes, disturbed: str | None) -> None:
        planned = self._planned
        total = planned.warmup if phase is Phase.WARM_UP else planned.trials
        hosts = join_names([host.name for host in self._planned.placement.hosts])
        errors = list(dict.fromkeys(each for each in outcomes.values() if isinstance(each, str)))
        result = f"FAILED: {'; '.join(errors)}" if errors else "ok"
        doubt = f"; disturbed ({disturbed})" if disturbed else ""
        say(
            f"{self._planned.program.name} on {hosts}, {phase} {number}/{total}: {result}{doubt}   "
            f"{self._rounds.outlook()}"
        )


def _describe(planned: ProgramRun, problem: Problem, links: NodeLinks, series: str) -> Run:
    program, placement = planned.program, planned.placement
    omitted = program.omitted(placement)
    machines = describe_hosts(placement.hosts)
    return Run(
        id=new_run_id(),
        configuration=planned.configuration,
        started_at=timestamp(),
        workloads=tuple(name for name in program.workloads if name not in omitted),
        omitted=omitted,
        written_by=f"clusterlift {__version__}",
        parameters={
            PROGRAM: program.name,
            COMMAND: given_command("clusterlift"),
            "problem": dict(problem),
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
            **({"series": series} if series else {}),
        },
        facts={**planned.facts, "nodes": str(len(placement.hosts))},
        environment={
            "mpi": machines.mpi,
            "machines": {"groups": machine_groups(machines.facts)},
            "shared_processors": machines.shared_processors(placement.per_host),
            "host": placement.hosts[0].name,
            "nodes": node_facts(links),
        },
    )


def _trial(
    workload: str, phase: Phase, number: int, started_at: str, outcome: Achieved | str
) -> Trial:
    if isinstance(outcome, str):
        return Trial(workload, phase, number, Status.FAILED, started_at, error=outcome)
    return Trial(
        workload, phase, number, Status.OK, started_at, wall_s=outcome.wall_s, work=outcome.work
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
