"""Hosts that a model answers for: what flows between them carry, and how long that would have taken."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.probe import ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.probes import mesh as mesh_module
from harness.probes.mesh import Mesh
from harness.probes.plan import run_steps
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Outcomes, Transfer

TYPICAL_BIT_S = 940e6


def names(count: int) -> list[str]:
    return [f"node{number:05}" for number in range(1, count + 1)]


def simulated(count: int) -> list[Host]:
    return [by_local(name, f"10.0.0.{number % 256}") for number, name in enumerate(names(count))]


@dataclass
class SimulatedNetwork:
    """Every flow carries what the slowest of its sender, its receiver and its path does, and some noise.

    - `sends`, `receives`: the fraction of the typical goodput of hosts that have less.
    - `paths`: the same for ordered pairs.
    - `down`: hosts with which every transfer fails.
    - `deviation`: of normal noise, relative.
    - `disturbed`: the fraction of transfers that something else slows down, to 30 to 90 %.
    """

    sends: Mapping[str, float] = field(default_factory=dict)
    receives: Mapping[str, float] = field(default_factory=dict)
    paths: Mapping[tuple[str, str], float] = field(default_factory=dict)
    down: Collection[str] = ()
    deviation: float = 0.0
    disturbed: float = 0.0
    seed: int = 1
    seconds: float = 0.0
    batches: list[int] = field(default_factory=list)
    measured: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = random.Random(self.seed)  # noqa: S311  noise, not a secret

    def run_flows(self, flows: Sequence[Flow], load: Load) -> Outcomes:
        """Answer like `harness.probes.traffic.run_flows`, at once, and count the seconds."""
        hosts = [host.name for flow in flows for host in (flow.sender, flow.receiver)]
        assert len(hosts) == len(set(hosts)), "a host is in two pairs at the same time"
        self.seconds += load.total_s
        self.batches.append(len(flows))
        return {flow: self._outcome(flow, load) for flow in flows}

    def _outcome(self, flow: Flow, load: Load) -> Transfer | HostError:
        pair = (flow.sender.name, flow.receiver.name)
        self.measured.add(pair)
        if not {*pair}.isdisjoint(self.down):
            return HostError(f"{flow}: iperf3: unable to connect to server")
        fraction = min(
            self.sends.get(pair[0], 1.0), self.receives.get(pair[1], 1.0), self.paths.get(pair, 1.0)
        )
        fraction *= max(0.01, self._rng.gauss(1.0, self.deviation))
        if self._rng.random() < self.disturbed:
            fraction *= self._rng.uniform(0.3, 0.9)
        report = Report(TYPICAL_BIT_S * fraction, load.seconds, 0, 10.0, 12.0)
        return Transfer(report, (None, None))


def measured(network: SimulatedNetwork, count: int, rounds: int) -> RecordedProbes:
    """Measure some rounds of a mesh of simulated hosts."""
    mesh = Mesh(rounds, pairs_at_once=1000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mesh_module, "run_flows", network.run_flows)
        events = tuple(run_steps(mesh.steps(simulated(count), Load())))
    return RecordedProbes(ProbeRun("many", tuple(names(count))), events, Ending.COMPLETED)


class NoThread:
    """In place of the thread that renews leases: simulated guards wait as long as they are reached."""

    def __init__(self, **_: object) -> None:
        pass

    def start(self) -> None:
        pass

    def join(self) -> None:
        pass
