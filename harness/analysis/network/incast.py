"""What flows from and to one host show: whether goodput collapses at many flows, and the bisection."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.analysis.network.cases import MeasuredCase, measured_cases
from harness.analysis.network.mesh import ONE_TO_ONE_LIMIT, ratio_text
from harness.analysis.network.processor_limit import doubt, shared_limit
from harness.model.finding import Finding
from harness.model.link import throughput_text
from harness.model.network_metrics import (
    ALL_TO_ALL,
    HALF_TO_HALF,
    IDLE,
    INCAST,
    INCAST_GOODPUT,
    INCAST_ROUND_TRIP,
    SLOWEST_FLOW,
)
from harness.model.probe import ARROW, Measurement, RecordedProbes
from harness.words import count_of, join_names, percent

COLLAPSE_FRACTION, FALL_FRACTION = 0.5, 0.9
"""Goodput below these fractions of the best at fewer flows is a collapse, or a fall. Queues that overflow
again and again take most of the goodput (Phanishayee et al., FAST'08: a tenth is left); a processor that more
programs share takes some percent, so a fall is no fault."""
DELAY_FACTOR = 10
"""A p99 round trip that is longer than the idle one by this factor is worth a remark."""
_INCAST, _OUTCAST = "incast", "outcast"
_ORDER = (IDLE, _INCAST, _OUTCAST, ALL_TO_ALL)
_ONE_HOST_CASE = re.compile(r"(from|to) (\d{1,6}) hosts?")
_SHUFFLE_CASE = re.compile(rf"{ALL_TO_ALL}|each to (\d{{1,6}})")
_NUMBER_OF_HOSTS = re.compile(r"\d{1,6}(?!\d)")


@dataclass(frozen=True)
class FlowStep(MeasuredCase):
    """What a number of simultaneous flows carried; `flows` is None if the case does not tell it.

    `way` is one of the _ORDER: with none, into one host, out of it, or between all. `of_best` is the goodput
    relative to the best at fewer flows in the same direction, None for the first.
    """

    way: str
    flows: int | None
    of_best: float | None = None

    @property
    def name(self) -> str:
        """The name in a table: `incast from 4 hosts`."""
        return f"{self.way} {self.case}" if self.is_of_one_host else self.case

    @property
    def is_of_one_host(self) -> bool:
        """Whether all flows meet at one host."""
        return self.way in {_INCAST, _OUTCAST}

    @property
    def is_measured(self) -> bool:
        """Whether it is known what the flows carried; that may be nothing."""
        return bool(self.values(INCAST_GOODPUT))

    @property
    def goodput_bit_s(self) -> float:
        """What all flows carried together; 0 if it was not measured."""
        return self.median(INCAST_GOODPUT) or 0.0

    @property
    def p99_us(self) -> float | None:
        """The p99 round trip of the small message."""
        return self.median(INCAST_ROUND_TRIP[99.0])

    @property
    def slowest_of_share(self) -> float | None:
        """The slowest flow relative to an equal share of the goodput: 1 is fair."""
        slowest = self.median(SLOWEST_FLOW)
        if not self.flows or not self.goodput_bit_s or slowest is None:
            return None
        return slowest * self.flows / self.goodput_bit_s

    @property
    def limit(self) -> str | None:
        """Why the processors of a host may have been the limit; None if they were not."""
        return shared_limit(
            self.samples.values(), self.subject if self.is_of_one_host else "a host"
        )


def flow_steps(measurements: Iterable[Measurement]) -> list[FlowStep]:
    """Return the steps of a probe of incast, in the order in which a table has them: by rising flows."""
    found = [
        FlowStep(case.subject, case.case, case.samples, *kind)
        for case in measured_cases(measurements, INCAST)
        if (kind := _way_and_flows(case))
    ]
    steps: list[FlowStep] = []
    for step in sorted(found, key=lambda step: (_ORDER.index(step.way), step.flows or 0)):
        fewer = [earlier.goodput_bit_s for earlier in steps if earlier.way == step.way]
        best = max(fewer, default=0.0) if step.is_of_one_host else 0.0
        is_known = best and step.is_measured
        steps.append(replace(step, of_best=step.goodput_bit_s / best) if is_known else step)
    return steps


def _way_and_flows(case: MeasuredCase) -> tuple[str, int | None] | None:
    """Return where the flows of a case go, and how many they are; None if it is no step."""
    if one_host := _ONE_HOST_CASE.fullmatch(case.case):
        return _INCAST if one_host[1] == "from" else _OUTCAST, int(one_host[2])
    if shuffle := _SHUFFLE_CASE.fullmatch(case.case):
        # Its subject is the number of hosts.
        match = _NUMBER_OF_HOSTS.match(case.subject)
        hosts = int(match[0]) if match else 0
        return ALL_TO_ALL, hosts * int(shuffle[1] or hosts - 1) or None
    return (IDLE, None) if case.case == IDLE and ARROW not in case.subject else None


def hub_of(steps: Iterable[FlowStep]) -> str:
    """Return the one host; empty if nothing was measured."""
    return next((step.subject for step in steps if step.is_of_one_host), "")


def incast_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a collapse, or that there is none, a slow direction, delay, the shuffle and the bisection."""
    steps = flow_steps(probed.measurements)
    idle, into, out_of, shuffles = (
        [step for step in steps if step.way == way and (step.is_measured or way == IDLE)]
        for way in _ORDER
    )
    yield from _collapse(into)
    yield from _collapse(out_of)
    if into and out_of:
        yield from _slow_direction(into, out_of)
    for own in (into, out_of):
        yield from _delay(own, (idle[0].p99_us if idle else None) or 0.0)
    for shuffle in shuffles:
        share = shuffle.slowest_of_share
        text = (
            f"{shuffle.case} carries {throughput_text(shuffle.goodput_bit_s)} together; a shuffle ends "
            f"with its slowest flow, which has {'?' if share is None else percent(share)} of an equal "
            "share"
        )
        yield Finding(shuffle.subject, text, is_fault=False)
    alone = [step.goodput_bit_s for step in (*into, *out_of) if step.flows == 1]
    yield from _bisection(measured_cases(probed.measurements, INCAST), max(alone, default=0.0))


def _collapse(steps: Sequence[FlowStep]) -> Iterator[Finding]:
    """Yield where goodput collapses or falls first, and where it is least; or that it does not."""
    judged = [(step.of_best, step) for step in steps if step.of_best is not None]
    low = [(share, step) for share, step in judged if share < FALL_FRACTION]
    if judged and not low:
        share, most = judged[-1]
        text = (
            f"{most.way}: no collapse; {throughput_text(most.goodput_bit_s)} {most.case}, {percent(share)} "
            "of the best at fewer"
        )
        yield Finding(most.subject, text, is_fault=False)
    if low:
        share, worst = min(low, key=lambda found: found[0])
        collapses = share < COLLAPSE_FRACTION
        first = low[0][1]
        since = "" if worst is first else f" (below {percent(FALL_FRACTION)} already {first.case})"
        yield Finding(
            worst.subject,
            f"{worst.way}: goodput {'collapses' if collapses else 'falls'} to "
            f"{throughput_text(worst.goodput_bit_s)} {worst.case}, {percent(share)} of the best at "
            f"fewer{since}{doubt(worst.limit)}",
            is_fault=collapses and worst.limit is None,
        )


def _slow_direction(into: Sequence[FlowStep], out_of: Sequence[FlowStep]) -> Iterator[Finding]:
    """Yield that one direction of the hub is slow at every number of flows, if it is."""
    best = (max(steps, key=lambda step: step.goodput_bit_s) for steps in (into, out_of))
    slow, fast = sorted(best, key=lambda step: step.goodput_bit_s)
    if slow.goodput_bit_s < FALL_FRACTION * fast.goodput_bit_s:
        yield Finding(
            slow.subject,
            f"{slow.way} is slow at any number of flows: {throughput_text(slow.goodput_bit_s)} at best, "
            f"{fast.way} {throughput_text(fast.goodput_bit_s)}{doubt(slow.limit)}",
            is_fault=slow.limit is None,
        )


def _delay(steps: Iterable[FlowStep], idle_us: float) -> Iterator[Finding]:
    delays = [(step.p99_us, step) for step in steps if step.p99_us is not None]
    if not idle_us or not delays:
        return
    longest_us, step = max(delays, key=lambda delay: delay[0])
    if longest_us >= DELAY_FACTOR * idle_us:
        text = (
            f"{step.way}: one in a hundred small messages takes {longest_us / 1000:,.1f} ms or more "
            f"{step.case}; on the idle network {idle_us / 1000:,.1f} ms"
        )
        yield Finding(step.subject, text, is_fault=False)


def _bisection(cases: Sequence[MeasuredCase], alone_bit_s: float) -> Iterator[Finding]:
    """Yield what the slower half carried, and how that compares to as many flows, each alone."""
    halves = [
        (min(values), case)
        for case in cases
        if case.subject.count(ARROW) == 1 and (values := case.values(HALF_TO_HALF))
    ]
    if not halves:
        return
    bit_s, slowest = min(halves, key=lambda half: half[0])
    first, second = (half.split(",") for half in slowest.subject.split(ARROW))
    text = f"{throughput_text(bit_s)} each way, {join_names(first)} to {join_names(second)}"
    pairs = min(len(first), len(second))
    full = pairs * alone_bit_s
    if not full:
        verdict = "unknown what one flow carries alone"
    elif not bit_s:
        verdict = f"nothing arrived of what {count_of(pairs, 'pair')} alone would carry"
    else:
        ratio = full / bit_s
        limit = shared_limit(slowest.samples.values())
        kind = (
            "full"
            if ratio <= ONE_TO_ONE_LIMIT
            else f"as behind an uplink oversubscribed about {ratio_text(ratio)}:1{doubt(limit)}"
        )
        share = f"{percent(bit_s / full)} of the {throughput_text(full)}"
        verdict = f"{share} that {count_of(pairs, 'pair')} alone would carry: {kind}"
    yield Finding("", f"bisection: {text}; {verdict}", is_fault=False)
