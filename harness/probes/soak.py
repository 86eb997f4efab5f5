"""The soak probe: a mesh in a loop. After each round, the counters of links and the logs of kernels are read.

In each round, every host sends to one other host and receives from one, drawn at random, so that a bad link
shows with all its partners. A host that no longer answers is left out until it answers again.
"""

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from harness.analysis.network.measured import known_median
from harness.analysis.network.soak import SoakedHost, soak_findings, soaked_hosts
from harness.base.clock import Clock
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import count_of
from harness.hosts.parallelism import COMMANDS_PER_PAIR, allow_commands
from harness.hosts.remote_process import ask
from harness.hosts.transports.host import Host, HostError
from harness.model.link import throughput_text
from harness.model.soak import READ_EVERY_ROUND, LinkEvent, LinkEventKind, SoakEvent, SoakFlow
from harness.node.link_reading import LinkReading, link_events, read_link, reading_command
from harness.present.probes.columns import Column, MeasurementTable
from harness.probes.kind import ProbeKind
from harness.probes.options import (
    NamedHosts,
    port_option,
    seed_option,
    streams_option,
    time_option,
)
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.traffic import OMITTED_S, Flow, Load, Transfer, run_flows

SOAK_PROGRAMS = ("ip", "iperf3", "grep")
SET_UP_S = 3.0
MIN_HOSTS = 2
MIN_ROUND_S = 5
MAX_ROUND_S = 3600
MAX_SOAK_S = 30 * 24 * 3600


@dataclass
class Soak:
    """The state of a soak: when it began, its rounds until now, and the last reading of every link."""

    hosts: Sequence[Host]
    links: Links
    load: Load
    rng: random.Random
    clock: Clock = time.monotonic
    began_s: float = 0.0
    number: int = 0
    last: dict[str, LinkReading] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    unread: set[tuple[str, LinkEventKind]] = field(default_factory=set)

    @property
    def round_s(self) -> float:
        """How long a round takes, from the readings of links before it to those after it."""
        return self.load.total_s + SET_UP_S

    def steps(self, rounds: int) -> list[ProbeStep]:
        """Return a step for each round. A step does nothing if no time is left."""
        text = f"soak: {count_of(len(self.hosts), 'host')} send and receive, {self.load.seconds} s"

        def measure() -> Iterator[SoakEvent]:
            if not self.number:
                self.began_s = self.clock()
                yield from self._read_links()
            if self._elapsed_s() < rounds * self.round_s:
                self.number += 1
                yield from self._transfers()
                yield from self._read_links()

        return [ProbeStep(text, self.round_s, measure)] * rounds

    def _elapsed_s(self) -> float:
        return round(self.clock() - self.began_s, 1)

    def _transfers(self) -> Iterator[SoakFlow]:
        present = [host for host in self.hosts if host.name not in self.lost]
        if len(present) < MIN_HOSTS:
            time.sleep(self.load.total_s)
            return
        flows = ring(present, self.rng)
        start_s = self._elapsed_s() + OMITTED_S
        for flow, outcome in run_flows(flows, self.load).items():
            yield self._flow(flow, start_s, outcome)

    def _flow(self, flow: Flow, start_s: float, outcome: Transfer | HostError) -> SoakFlow:
        sender, receiver = flow.pair
        if isinstance(outcome, HostError):
            seconds = float(self.load.seconds)
            return SoakFlow(self.number, sender, receiver, start_s, seconds, error=str(outcome))
        report = outcome.report
        cpus = outcome.known_cpus
        return SoakFlow(
            self.number,
            sender,
            receiver,
            start_s,
            report.seconds,
            report.goodput_bit_s,
            report.retransmits,
            stolen_percent=max((cpu.stolen_percent for cpu in cpus), default=None),
            busiest_percent=max((cpu.busiest_percent for cpu in cpus), default=None),
        )

    def _read_links(self) -> Iterator[LinkEvent]:
        """Yield the events since the last reading, among them that a host no longer or again answers."""
        devices = {}
        commands = {}
        for host in self.hosts:
            if host.name in self.links:
                devices[host] = self.links[host.name].device
                commands[host] = (host, reading_command(devices[host]))
        readings = ask(commands, lambda host, done: read_link(devices[host], done.output))
        for host, reading in readings.items():
            name = host.name
            if isinstance(reading, HostError):
                if name not in self.lost:
                    self.lost.add(name)
                    text = str(reading).removeprefix(f"{name}: ")
                    yield self._event(name, LinkEventKind.LOST, text)
                continue
            if name in self.lost:
                self.lost.remove(name)
                yield self._event(name, LinkEventKind.BACK, "it answers again")
            if reading is None:
                yield self._event(name, LinkEventKind.REPLUGGED, "its interface vanished")
                continue
            yield from self._unread(name, reading)
            yield from self._changes(name, reading)

    def _changes(self, host: str, reading: LinkReading) -> Iterator[LinkEvent]:
        """Yield the events of a host's link since it was read last."""
        before = self.last.get(host)
        self.last[host] = reading
        if before is None:
            return
        for kind, text, count in link_events(before, reading):
            yield self._event(host, kind, text, count)
        if reading.log is None:  # the last log that was read shows later which lines are new
            self.last[host] = replace(reading, log=before.log)

    def _unread(self, host: str, reading: LinkReading) -> Iterator[LinkEvent]:
        """Yield an event for each source that a host hides, once."""
        for kind, reason in reading.unread.items():
            if (host, kind) in self.unread:
                continue
            self.unread.add((host, kind))
            say(f"{host}: its {READ_EVERY_ROUND[kind]} cannot be read ({reason})")
            unread = LinkEventKind.UNREAD
            yield LinkEvent(host, self.number, self._elapsed_s(), unread, reason, unread=kind)

    def _event(self, host: str, kind: LinkEventKind, text: str, count: int = 1) -> LinkEvent:
        if kind not in {LinkEventKind.DROPS, LinkEventKind.PAUSE}:
            say(f"{host}: {text}")
        return LinkEvent(host, self.number, self._elapsed_s(), kind, text, count)


def ring(hosts: Sequence[Host], rng: random.Random) -> list[Flow]:
    """Draw who sends to whom: every host sends to one other and receives from one."""
    drawn = rng.sample(hosts, len(hosts))
    return [Flow(a, b) for a, b in pairwise([*drawn, drawn[0]])]


def _plan(
    site: NamedHosts, *, total_s: float, round_s: float, streams: int, seed: int, port: int
) -> ProbePlan:
    if not MIN_ROUND_S <= round_s <= MAX_ROUND_S:
        raise BadInput(f"--round: give from {MIN_ROUND_S} s to {MAX_ROUND_S // 60} min")
    if not round_s <= total_s <= MAX_SOAK_S:
        raise BadInput(f"--for: give from one --round to {MAX_SOAK_S // 3600} h")
    load = Load(int(round_s), streams, first_port=port)

    def make_steps(hosts: Sequence[Host], links: Links) -> list[ProbeStep]:
        allow_commands(COMMANDS_PER_PAIR * len(hosts))
        rng = random.Random(seed)  # noqa: S311  chance that can be repeated
        return Soak(hosts, links, load, rng).steps(round(total_s / round_s))

    return ProbePlan(
        site.hosts(),
        SOAK_PROGRAMS,
        make_steps,
        parameters={
            "total_s": round(total_s),
            "seconds": load.seconds,
            "streams": streams,
            "seed": seed,
        },
    )


def _rate(bit_s: float | None) -> str | None:
    if bit_s is None:
        return None
    return throughput_text(bit_s)


def _count_of(heading: str, kind: LinkEventKind) -> Column[SoakedHost]:
    return Column(heading, lambda row: row.count(kind), ",.0f")


SOAKED_HOSTS = MeasurementTable(
    soaked_hosts,
    (
        Column[SoakedHost]("host", lambda row: row.host),
        Column[SoakedHost]("rounds", lambda row: len(row.rounds), ",.0f"),
        Column[SoakedHost]("sends", lambda row: _rate(known_median(row.sent))),
        Column[SoakedHost]("receives", lambda row: _rate(known_median(row.received))),
        Column[SoakedHost](
            "slowest", lambda row: _rate(min(row.sent + row.received, default=None))
        ),
        Column[SoakedHost]("retransmits", lambda row: row.retransmits, ",.0f"),
        _count_of("errors", LinkEventKind.ERRORS),
        _count_of("carrier changes", LinkEventKind.CARRIER),
    ),
)


KIND = ProbeKind(
    "soak",
    """Load all links in both directions for a long time, and name every host whose link fails.

    Stop other jobs first: every host sends to one host and receives from one, as fast as TCP can. After each
    round, the probe reads the errors, drops, carrier, speed, duplex mode and pause frames of every link and
    of the cards below a bridge or bond, and the kernels' messages about links. The page also says what a soak
    without a fault proves, and what could not be read.
    """,
    _plan,
    options=(
        time_option("--for", "total_s", "1h", "How long, such as 30min or 12h."),
        time_option(
            "--round", "round_s", "1min", "Length of a round; then the hosts are paired anew."
        ),
        streams_option,
        seed_option,
        port_option,
    ),
    measures=("soak",),
    tables=(SOAKED_HOSTS,),
    judge=soak_findings,
)
