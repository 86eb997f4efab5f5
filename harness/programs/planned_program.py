"""A planned run of a program: what it computes, on which hosts, and which runs can stand for it."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base.errors import BadInput
from harness.hosts.links import LINK_PROGRAMS
from harness.hosts.preflight import preflight
from harness.hosts.transports.host import Host
from harness.model.run import PROGRAM
from harness.model.scaling import scaled_name
from harness.node.counters import RDMA_PORTS
from harness.programs.hosts import read_counters
from harness.programs.mpi import RDMA, TCP, Placement
from harness.programs.program import Problem, Program
from harness.records.series import Series
from harness.work.same_work import require_work_of_runs


@dataclass(frozen=True)
class ProgramRun:
    """A planned run: a program with its options, hosts, numbers of trials, and what to record.

    - `growing`: whether the size of the problem is that for each host, and not the total.
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


def on_first_hosts(planned: ProgramRun, nodes: Sequence[int]) -> list[ProgramRun]:
    """Return what to run on the first 1, 2, ... of the hosts that `nodes` lists."""
    whole = planned.placement
    every = []
    for number in nodes:
        placement = replace(whole, hosts=whole.hosts[:number])
        name = scaled_name(planned.configuration, number)
        every.append(replace(planned, placement=placement, configuration=name))
    return every


def series_of(planned: ProgramRun, results: Path) -> Series:
    """Return the series of a run. Raise BadInput if its configuration has runs of another problem.

    Raise it, too, if the problem does not suit the hosts.
    """
    placement = planned.placement
    values = [
        planned.program.name,
        dict(planned.problem),
        [f"{host}={host.address}" for host in placement.hosts],
        placement.per_host,
        planned.trials,
        planned.warmup,
        planned.host_peak,
        planned.network,
    ]
    digest = hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]
    series = Series(results, planned.configuration, digest)
    of_program = [
        recorded
        for recorded in series.of_configuration()
        if recorded.run.parameters.get(PROGRAM) == planned.program.name
    ]
    wanted = {"problem": dict(planned.problem)}
    require_work_of_runs(planned.configuration, wanted, of_program)
    return series
