"""The soak probe: every host sends and receives as fast as it can, and each second of every link is recorded.

The soak is a sequence of rounds. In each, every host sends to one other host and receives from one, drawn at
random, so that a bad link shows with all its partners. Each round reaches the hosts anew: one that vanished
is left out while it does not answer, and takes part again in the round after its return.
"""

import random
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import fmean

from harness.analysis.network.soak import judge_soak
from harness.hosts.host_process import ANSWER_S, MAX_ANSWER_BYTES
from harness.hosts.parallelism import allow_hosts
from harness.hosts.remote_process import (
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
    run_all,
)
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput
from harness.model.link import COUNTED_BYTES, HEADERS_BYTES, TYPICAL_MTU
from harness.model.soak import LinkEvent, LinkEventKind, LinkSeconds, SoakEvent, SoakFlow
from harness.node.link_monitor import (
    KERNEL_LOG,
    MAX_KERNEL_LOG_BYTES,
    READING_BYTES,
    LinkReading,
    kernel_trouble,
    link_events,
    link_seconds,
    monitor_command,
    read_monitor,
)
from harness.present.probes.soak import soak_sections
from harness.probes.kind import ProbeKind
from harness.probes.options import port_option, seed_option, streams_option, time_option
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.site import Site
from harness.probes.traffic import OMITTED_S, Flow, Load, Transfer, open_flows
from harness.runtime.clock import Clock
from harness.terminal import say
from harness.words import count_of

SOAK_PROGRAMS = ("ip", "iperf3", "grep")
SET_UP_S = 2.0
_LATE_S = 10.0
"""How much longer than its load a transfer may take until it is ended."""
_SILENT_S = 10.0
"""A host that reports nothing for this long is lost: each reports once a second."""
_KERNEL_LOG_S = 5.0
SETTLE_S = 1.5
"""After the transfers, so that a last reading covers their end."""
MIN_HOSTS = 2
MIN_ROUND_S, MAX_ROUND_S, MAX_SOAK_S = 5, 3600, 30 * 24 * 3600
MIN_LOAD_S = 2
"""Of a round that began late, or whose hosts answered late; with less, nothing is sent in it."""


@dataclass
class Soak:
    """The state of a soak: when it began, the rounds until now, and what was read last of every host."""

    hosts: Sequence[Host]
    links: Links
    load: Load
    rng: random.Random
    clock: Clock = time.monotonic
    began_s: float = 0.0
    number: int = 0
    last: dict[str, LinkReading] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    offset_s: dict[str, float] = field(default_factory=dict)
    log_until_s: dict[str, float] = field(default_factory=dict)

    @property
    def round_s(self) -> float:
        """How long a round takes with all that belongs to it."""
        return self.load.total_s + SET_UP_S + SETTLE_S

    def steps(self, rounds: int) -> list[ProbeStep]:
        """Return a step for each round."""
        step = ProbeStep(
            f"soak: {count_of(len(self.hosts), 'host')} send and receive, {self.load.seconds} s",
            self.round_s,
            self._round,
        )
        return [step] * rounds

    def _round(self) -> Iterator[SoakEvent]:
        self.began_s = self.began_s or self.clock()
        self.number += 1
        with RemoteProcesses() as remotes:
            monitors = {
                host.name: remotes.add(
                    host,
                    monitor_command(self.links[host.name].device),
                    max_bytes=MAX_ANSWER_BYTES + READING_BYTES * self.load.total_s,
                )
                for host in self.hosts
                if host.name in self.links
            }
            yield from self._await_hosts(monitors)
            absent = [monitors[name] for name in self.lost]
            present = [host for host in self.hosts if host.name not in self.lost]
            load = self._load_in_time()
            if load is not None:
                yield from self._transfers(remotes, present, monitors, load)
            yield from self._returned(absent)
        yield from self._kernel_logs(present)

    def _await_hosts(self, monitors: Mapping[str, RemoteProcess]) -> Iterator[SoakEvent]:
        """Wait until the hosts answer, except for those that are lost, and yield which do not."""
        until_s = self.clock() + min(ANSWER_S, self.load.total_s)
        for name, monitor in monitors.items():
            if name not in self.lost:
                try:
                    monitor.await_ready(max(0.0, until_s - self.clock()))
                except HostError as error:
                    self.lost.add(name)
                    yield self._event(name, self.clock(), LinkEventKind.LOST, str(error))

    def _load_in_time(self) -> Load | None:
        """Return the load with as many seconds as this round still has; None if those are too few.

        Rounds take longer when hosts die. Because each ends in its own time, the soak does, too.
        """
        left_s = self.began_s + self.number * self.round_s - self.clock()
        seconds = min(self.load.seconds, int(left_s - OMITTED_S - SETTLE_S))
        return replace(self.load, seconds=seconds) if seconds >= MIN_LOAD_S else None

    def _transfers(
        self,
        remotes: RemoteProcesses,
        hosts: Sequence[Host],
        monitors: Mapping[str, RemoteProcess],
        load: Load,
    ) -> Iterator[SoakEvent]:
        """Yield the transfers between the hosts, then what their monitors report, also if interrupted."""
        flows = ring(hosts, self.rng) if len(hosts) >= MIN_HOSTS else []
        runs = open_flows(remotes, flows, load, _LATE_S)
        reporting = {host.name: monitors[host.name] for host in hosts if host.name in monitors}
        for monitor in reporting.values():
            monitor.start()
        for run in runs:
            run.start()
        start_s = self.clock() - self.began_s + OMITTED_S
        running = deque(zip(flows, runs, strict=True))
        try:
            if not running:
                time.sleep(load.total_s)
            while running:
                flow, run = running[0]
                outcome = run.finish()
                running.popleft()
                yield self._flow(flow, start_s, load, outcome)
            time.sleep(SETTLE_S)
        except KeyboardInterrupt:
            reported = list(self._read(reporting))
            yield from reported
            for flow, _ in running:
                yield from self._cut_off(flow, start_s, reported)
            raise
        yield from self._read(reporting)

    def _flow(
        self, flow: Flow, start_s: float, load: Load, outcome: Transfer | HostError
    ) -> SoakFlow:
        names = (self.number, flow.sender.name, flow.receiver.name, round(start_s, 1))
        if isinstance(outcome, HostError):
            return SoakFlow(*names, float(load.seconds), error=str(outcome))
        report = outcome.report
        return SoakFlow(*names, report.seconds, report.goodput_bit_s, report.retransmits)

    def _cut_off(
        self, flow: Flow, start_s: float, reported: Iterable[SoakEvent]
    ) -> Iterator[SoakFlow]:
        """Yield a transfer that was stopped after a second or more, by what the interface counted."""
        receiver = flow.receiver.name
        for event in reported:
            if isinstance(event, LinkSeconds) and event.host == receiver:
                pairs = zip(event.at_s, event.received_bit_s, strict=True)
                rates = [rate for at_s, rate in pairs if at_s >= start_s + 1]
                if rates:
                    mtu = self.links[receiver].mtu_bytes or TYPICAL_MTU
                    goodput = fmean(rates) * (mtu - HEADERS_BYTES) / (mtu + COUNTED_BYTES)
                    names = (self.number, flow.sender.name, receiver, round(start_s, 1))
                    took_s = round(event.at_s[-1] - start_s, 1)
                    error = None if goodput else "nothing arrived until the soak was stopped"
                    yield SoakFlow(*names, took_s, goodput or None, error=error)

    def _read(self, monitors: Mapping[str, RemoteProcess]) -> Iterator[SoakEvent]:
        """Yield what the monitors reported, and which of them went away or fell silent."""
        for name, monitor in monitors.items():
            ended_s = monitor.ended_s
            lines = monitor.printed()
            heard_s = max([monitor.started_s, *(moment for moment, _ in lines)])
            yield from self._seconds(name, lines)
            if ended_s is not None:
                text = "it went away, or its connection broke"
                yield self._event(name, ended_s, LinkEventKind.LOST, text)
                self.lost.add(name)
            elif self.clock() - heard_s > _SILENT_S:
                yield self._event(name, heard_s, LinkEventKind.LOST, "it does not answer any more")
                self.lost.add(name)

    def _returned(self, absent: Iterable[RemoteProcess]) -> Iterator[SoakEvent]:
        """Yield which of the hosts that were lost before this round answer again."""
        for monitor in absent:
            if monitor.is_ready and not monitor.has_ended:
                self.lost.remove(monitor.host.name)
                yield self._event(
                    monitor.host.name, self.clock(), LinkEventKind.BACK, "it answers again"
                )
            monitor.close(0.0)

    def _seconds(self, name: str, lines: Sequence[tuple[float, str]]) -> Iterator[SoakEvent]:
        """Yield what a host's readings of a round say, on this machine's clock."""
        reported = list(read_monitor(self.links[name].device, lines))
        vanished_s = [moment for moment, reading in reported if reading is None]
        if vanished_s:
            text = "its interface vanished"
            yield self._event(name, vanished_s[0], LinkEventKind.REPLUGGED, text)
        known = [(moment, reading) for moment, reading in reported if reading is not None]
        if not known:
            return
        # A slow link delays what a host says, so the quickest reading tells how far the clocks are apart.
        offset_s = min(moment - reading.clock_s for moment, reading in known)
        readings = [reading for _, reading in known]
        last = [self.last[name]] if name in self.last else []
        for before, after in pairwise([*last, *readings]):
            for happening, text, count in link_events(before, after):
                yield self._event(name, after.clock_s + offset_s, happening, text, count)
        self.last[name], self.offset_s[name] = readings[-1], offset_s
        if len(readings) > 1:
            yield link_seconds(name, readings, offset_s - self.began_s)

    def _kernel_logs(self, hosts: Sequence[Host]) -> Iterator[SoakEvent]:
        """Yield what the kernels said of links; nothing from a host whose log cannot be read."""
        read = [host for host in hosts if host.name in self.last]
        commands = [(host, KERNEL_LOG) for host in read]
        answers = run_all(commands, _KERNEL_LOG_S, max_bytes=MAX_KERNEL_LOG_BYTES)
        for host, answer in zip(read, answers, strict=True):
            until_s = self.last[host.name].clock_s
            after_s = self.log_until_s.get(host.name, until_s - self.load.total_s - SET_UP_S)
            self.log_until_s[host.name] = until_s
            if isinstance(answer, CompletedCommand) and not answer.code:
                for clock_s, line in kernel_trouble(answer.output, after_s, until_s):
                    moment_s = clock_s + self.offset_s[host.name]
                    yield self._event(host.name, moment_s, LinkEventKind.KERNEL, line)

    def _event(
        self, host: str, moment_s: float, happening: LinkEventKind, text: str, count: int = 1
    ) -> LinkEvent:
        at_s = max(0.0, round(moment_s - self.began_s, 1))
        text = text.removeprefix(f"{host}: ")
        if happening not in {LinkEventKind.DROPS, LinkEventKind.PAUSE}:
            say(f"{host}: {text}")
        return LinkEvent(host, at_s, happening, text, count)


def ring(hosts: Sequence[Host], rng: random.Random) -> list[Flow]:
    """Draw who sends to whom: every host sends to one other and receives from one."""
    drawn = rng.sample(hosts, len(hosts))
    return [Flow(a, b) for a, b in pairwise([*drawn, drawn[0]])]


def _plan(
    site: Site, *, total_s: float, round_s: float, streams: int, seed: int, port: int
) -> ProbePlan:
    if not MIN_ROUND_S <= round_s <= MAX_ROUND_S:
        raise BadInput(f"--round: give from {MIN_ROUND_S} s to {MAX_ROUND_S // 60} min")
    if not round_s <= total_s <= MAX_SOAK_S:
        raise BadInput(f"--for: give from one --round to {MAX_SOAK_S // 3600} h")
    load = Load(int(round_s), streams, first_port=port)

    def make_steps(hosts: Sequence[Host], links: Links) -> list[ProbeStep]:
        allow_hosts(len(hosts))
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


KIND = ProbeKind(
    "soak",
    """Load all links in both directions for a long time, and name every host whose link fails.

    Every host sends to one other and receives from one, as fast as TCP can: stop other jobs first. Each
    second, every host's throughput, retransmits, errors, drops, carrier, speed, duplex mode, pause frames and
    temperature are recorded; after each round, the kernel's messages about links. The page also says what
    a soak without a fault proves.
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
    sections=soak_sections,
    judge=lambda probed: judge_soak(probed).findings,
)
