"""A probe plan, and how it is run: check the hosts, read their links, run the steps, read the links again.

Steps can be repeated, and before each a user sees how much time is left. A probe that measures pairs of
hosts does so in rounds, so that no host is in two pairs at the same time.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from harness.base.clock import Clock, duration_text
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import count_of
from harness.hosts.links import read_links
from harness.hosts.preflight import preflight
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.probe import (
    AFTER,
    BEFORE,
    ExcludedHost,
    LinkSnapshot,
    Measurement,
    ProbeRun,
    RecordedProbes,
    SeriesKey,
)
from harness.model.run import Ending
from harness.model.soak import SoakEvent, SoakFlow
from harness.records.writer import ProbeRecording

T = TypeVar("T")

Pairs = list[tuple[T, T]]
Pairing = Callable[[Sequence[Host]], list[Pairs[Host]]]
"""Returns rounds of disjoint pairs of these hosts, such as `round_robin`."""
Links = Mapping[str, HostLink]
"""Links by the names of their hosts."""


@dataclass(frozen=True)
class ProbeStep:
    """One step: its name in words, how long it takes at least, and a function that measures."""

    description: str
    expected_s: float
    measure: Callable[[], Iterable[Measurement | SoakEvent]]


@dataclass(frozen=True)
class ProbePlan:
    """How to probe. `programs` must be installed on every host.

    `make_steps` gets the hosts that can be used, at least `min_hosts`, and their links. `parameters` go into
    the record. The caller enters `context` before.
    """

    hosts: Sequence[Host]
    programs: Sequence[str]
    make_steps: Callable[[Sequence[Host], Links], list[ProbeStep]]
    min_hosts: int = 2
    repeats: int = 1
    parameters: Mapping[str, object] = field(default_factory=dict)
    context: AbstractContextManager[object] = field(default_factory=nullcontext)


def run_probes(plan: ProbePlan, run: ProbeRun, results: Path | None) -> RecordedProbes:
    """Run a plan, and return its measurements; record them below `results`, if that is given.

    Hosts that cannot be used are excluded, with a line on standard error. Ctrl-C and SIGTERM end the run and
    keep the measurements until then. Raise BadInput if too few hosts are left, or if nothing can be recorded.
    """
    checked = preflight(plan.hosts, plan.programs)
    for error in checked.excluded_hosts.values():
        say(f"left out: {error}")
    if len(checked.hosts) < plan.min_hosts:
        raise BadInput(
            f"{len(checked.hosts)} of {count_of(len(plan.hosts), 'host')} can be used; "
            f"this probe needs {plan.min_hosts} or more"
        )
    with ProbeRecording(run, results) as recording:
        for host, error in checked.excluded_hosts.items():
            recording.event(ExcludedHost(host, str(error)))
        try:
            _measure(plan, checked.hosts, recording)
        except KeyboardInterrupt:
            recording.end(Ending.INTERRUPTED)
        else:
            recording.end(Ending.COMPLETED)
        return recording.probed


def run_steps(
    steps: Sequence[ProbeStep],
    repeats: int = 1,
    clock: Clock = time.perf_counter,
    before_step: Callable[[], None] = lambda: None,
) -> Iterator[Measurement | SoakEvent]:
    """Run all steps `repeats` times; before each step, print its name and the time left.

    Measurements of the same metric, hosts and case are numbered: each has the number of its round, from 1.
    """
    all_steps = list(steps) * repeats
    total_s = sum(step.expected_s for step in all_steps)
    started = clock()
    done_s = 0.0
    measured: Counter[SeriesKey] = Counter()
    for number, step in enumerate(all_steps, 1):
        # Steps take no less than expected; finished ones show by which factor they take more.
        factor = max(1.0, (clock() - started) / done_s) if done_s else 1.0
        left = duration_text((total_s - done_s) * factor)
        before_step()
        say(f"[{number}/{len(all_steps)}] {step.description}; {left} left")
        for event in step.measure():
            if isinstance(event, Measurement):
                measured[event.series] += 1
                yield replace(event, round=measured[event.series])
            else:
                yield event
        done_s += step.expected_s


def round_robin(hosts: Sequence[T]) -> list[Pairs[T]]:
    """Pair all hosts with each other, by the circle method: the first stays, the others move on by one.

    Return N - 1 rounds of N / 2 disjoint pairs; for an odd N, N rounds, and each leaves out one host.
    """
    return [round_robin_round(hosts, number) for number in range(count_rounds(len(hosts)))]


def count_rounds(hosts: int) -> int:
    """Return the number of rounds in which all pairs of this number of hosts meet."""
    return max(0, hosts - 1 + hosts % 2)


def round_robin_round(hosts: Sequence[T], number: int) -> Pairs[T]:
    """Return one round of `round_robin`, from 0, without making the others."""
    places: list[T | None] = list(hosts)
    if len(hosts) % 2:
        places.append(None)
    first, *others = places
    cut = len(others) - number % len(others)
    circle = [first, *others[cut:], *others[:cut]]
    half = len(circle) // 2
    facing = zip(circle[:half], reversed(circle[half:]), strict=True)
    return [(a, b) for a, b in facing if a is not None and b is not None]


def _measure(plan: ProbePlan, hosts: Sequence[Host], recording: ProbeRecording) -> None:
    unknown: set[str] = set()
    links = _record_links(hosts, BEFORE, recording, unknown)
    try:
        steps = plan.make_steps(hosts, links)
    except BadInput:  # these hosts cannot be measured as the user wants it
        recording.discard()
        raise
    failed: set[str] = set()

    def before_step() -> None:
        recording.sync()
        failed.clear()

    for event in run_steps(steps, plan.repeats, before_step=before_step):
        if isinstance(event, Measurement | SoakFlow) and event.error is not None:
            _say_once(f"failed: {event.error}", failed)  # all that a transfer would have shown
        recording.event(event, durable=False)
    _record_links(hosts, AFTER, recording, unknown)


def _say_once(line: str, said: set[str]) -> None:
    if line not in said:
        say(line)
    said.add(line)


def _record_links(
    hosts: Sequence[Host], moment: str, recording: ProbeRecording, unknown: set[str]
) -> dict[str, HostLink]:
    links = {}
    for host, link in zip(hosts, read_links(hosts), strict=True):
        if isinstance(link, HostError):
            _say_once(f"link unknown: {link}", unknown)
            recording.event(ExcludedHost(host.name, str(link)))
        else:
            links[host.name] = link
            recording.event(LinkSnapshot(moment, link))
    return links
