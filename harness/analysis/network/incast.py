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
from harness.terminal import count_of, join_names, percent

COLLAPSE_FRACTION, FALL_FRACTION = 0.5, 0.9
"""Goodput below these fractions of the best at fewer flows is a collapse, or a fall. Queues that overflow
again and again take most of the goodput (Phanishayee et al., FAST'08: a tenth is left); a processor that more
programs share takes some percent, so a fall is no fault."""
DELAY_FACTOR = 10
"""A p99 round trip that is longer than the idle one by this factor is worth a remark."""
_INCAST, _OUTCAST = "incast", "outcast"
_FLOWS_CASE = re.compile(r"(from|to) (\d+) hosts?")
_SHUFFLE_CASE = re.compile(rf"{ALL_TO_ALL}|each to (\d+)")


@dataclass(frozen=True)
class FlowStep:
    """What a number of simultaneous flows carried; `flows` is None if the case does not tell it.

    `of_best` is the goodput relative to the best at fewer flows in the same direction, None for the first.
    """

    measured: MeasuredCase
    flows: int | None
    of_best: float | None = None

    @property
    def case(self) -> str:
        """The case, such as `from 4 hosts`."""
        return self.measured.case

    @property
    def errors(self) -> tuple[str, ...]:
        """Why it was not measured, one line each."""
        return self.measured.errors

    @property
    def goodput_bit_s(self) -> float | None:
        """What all flows carried together."""
        return self.measured.median(INCAST_GOODPUT)

    @property
    def p99_us(self) -> float | None:
        """The p99 round trip of the small message."""
        return self.measured.median(INCAST_ROUND_TRIP[99.0])

    @property
    def slowest_of_share(self) -> float | None:
        """The slowest flow relative to an equal share of the goodput: 1 is fair."""
        slowest = self.measured.median(SLOWEST_FLOW)
        if not self.flows or not self.goodput_bit_s or slowest is None:
            return None
        return slowest * self.flows / self.goodput_bit_s

    @property
    def limit(self) -> str | None:
        """Why the processors of a host may have been the limit; None if they were not."""
        host = self.measured.subject if _FLOWS_CASE.fullmatch(self.case) else "a host"
        return shared_limit(self.measured.samples.values(), host)


@dataclass(frozen=True)
class Bisection:
    """What the slower of two halves' directions carried, while both sent: `pairs` of hosts each way."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    bit_s: float
    limit: str | None = None

    @property
    def pairs(self) -> int:
        """The number of pairs of hosts that sent to each other."""
        return min(len(self.first), len(self.second))


@dataclass(frozen=True)
class IncastResult:
    """All that a probe of incast found; None what was not measured.

    `idle` is the small message alone; `incast` and `outcast` are by rising number of flows.
    """

    idle: FlowStep | None
    incast: tuple[FlowStep, ...]
    outcast: tuple[FlowStep, ...]
    shuffle: FlowStep | None
    bisection: Bisection | None

    @property
    def steps(self) -> list[FlowStep]:
        """All steps, in the order in which a table has them."""
        shuffle, idle = ([] if each is None else [each] for each in (self.shuffle, self.idle))
        return [*idle, *self.incast, *self.outcast, *shuffle]

    @property
    def hub(self) -> str:
        """The one host; empty if nothing was measured."""
        return next((step.measured.subject for step in (*self.incast, *self.outcast)), "")

    @property
    def single_bit_s(self) -> float | None:
        """What one flow alone carries, at best; None if it is not known."""
        alone = (_goodput(step) for step in (*self.incast, *self.outcast) if step.flows == 1)
        return max(filter(None, alone), default=None)


def incast_result(measurements: Iterable[Measurement]) -> IncastResult:
    """Return what the measurements of a probe of incast show."""
    cases = measured_cases(measurements, INCAST)
    steps = [FlowStep(case, _flows(case)) for case in cases]
    return IncastResult(
        idle=next(
            (step for step in steps if step.case == IDLE and ARROW not in step.measured.subject),
            None,
        ),
        incast=_by_flows(steps, "from"),
        outcast=_by_flows(steps, "to"),
        shuffle=next((step for step in steps if _SHUFFLE_CASE.fullmatch(step.case)), None),
        bisection=_bisection(cases),
    )


def _flows(case: MeasuredCase) -> int | None:
    """Return the number of flows of a case; all to all, its subject is the number of hosts."""
    if one_host := _FLOWS_CASE.fullmatch(case.case):
        return int(one_host[2])
    shuffle, hosts = _SHUFFLE_CASE.fullmatch(case.case), re.match(r"\d+", case.subject)
    if shuffle and hosts:
        return int(hosts[0]) * (int(shuffle[1]) if shuffle[1] else int(hosts[0]) - 1)
    return None


def _by_flows(steps: Iterable[FlowStep], direction: str) -> tuple[FlowStep, ...]:
    """Return the steps of a direction by rising flows, each relative to the best of those before it."""
    own = [
        step
        for step in steps
        if (match := _FLOWS_CASE.fullmatch(step.case)) and match[1] == direction
    ]
    ordered: list[FlowStep] = []
    for step in sorted(own, key=lambda step: step.flows or 0):
        best = max(map(_goodput, ordered), default=0.0)
        relative = step.goodput_bit_s / best if step.goodput_bit_s is not None and best else None
        ordered.append(replace(step, of_best=relative))
    return tuple(ordered)


def _bisection(cases: Iterable[MeasuredCase]) -> Bisection | None:
    slowest = min(
        ((min(values), case.subject) for case in cases if (values := case.values(HALF_TO_HALF))),
        default=None,
    )
    if slowest is None:
        return None
    bit_s, subject = slowest
    first, _, second = subject.partition(ARROW)
    limit = shared_limit(
        sample for case in cases if case.subject == subject for sample in case.samples.values()
    )
    return Bisection(tuple(first.split(",")), tuple(second.split(",")), bit_s, limit)


def incast_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a collapse, or that there is none, a slow direction, delay, the shuffle and the bisection."""
    result = incast_result(probed.measurements)
    directions = {_INCAST: result.incast, _OUTCAST: result.outcast}
    for name, steps in directions.items():
        yield from _collapse(result.hub, name, steps)
    if result.incast and result.outcast:
        yield from _slow_direction(
            result.hub, {name: max(steps, key=_goodput) for name, steps in directions.items()}
        )
    for name, steps in directions.items():
        yield from _delay(result, name, steps)
    if result.shuffle is not None and result.shuffle.goodput_bit_s is not None:
        total = throughput_text(result.shuffle.goodput_bit_s)
        share = _share_text(result.shuffle.slowest_of_share)
        text = (
            f"{result.shuffle.case} carries {total} together; a shuffle ends with its slowest flow, which "
            f"has {share} of an equal share"
        )
        yield Finding(result.shuffle.measured.subject, text, is_fault=False)
    if result.bisection is not None:
        text = _bisection_text(result.bisection, result.single_bit_s)
        yield Finding("", f"bisection: {text}", is_fault=False)


def _collapse(hub: str, name: str, steps: Sequence[FlowStep]) -> Iterator[Finding]:
    """Yield where goodput collapses or falls first, and where it is least; or that it does not."""
    judged = [(step.of_best, step) for step in steps if step.of_best is not None]
    low = [(share, step) for share, step in judged if share < FALL_FRACTION]
    if judged and not low:
        share, most = judged[-1]
        text = (
            f"{name}: no collapse; {throughput_text(_goodput(most))} {most.case}, {percent(share)} of the "
            "best at fewer"
        )
        yield Finding(hub, text, is_fault=False)
    if low:
        share, worst = min(low, key=lambda found: found[0])
        collapses = share < COLLAPSE_FRACTION
        since = (
            ""
            if worst is low[0][1]
            else f" (below {percent(FALL_FRACTION)} already {low[0][1].case})"
        )
        yield Finding(
            hub,
            f"{name}: goodput {'collapses' if collapses else 'falls'} to {throughput_text(_goodput(worst))} "
            f"{worst.case}, {percent(share)} of the best at fewer{since}{doubt(worst.limit)}",
            is_fault=collapses and worst.limit is None,
        )


def _slow_direction(hub: str, best: dict[str, FlowStep]) -> Iterator[Finding]:
    """Yield that one direction of the hub is slow at every number of flows, if it is."""
    slow, fast = sorted(best, key=lambda name: _goodput(best[name]))
    if 0 < _goodput(best[slow]) < FALL_FRACTION * _goodput(best[fast]):
        yield Finding(
            hub,
            f"{slow} is slow at any number of flows: {throughput_text(_goodput(best[slow]))} at best, "
            f"{fast} {throughput_text(_goodput(best[fast]))}{doubt(best[slow].limit)}",
            is_fault=best[slow].limit is None,
        )


def _goodput(step: FlowStep) -> float:
    return step.goodput_bit_s or 0.0


def _delay(result: IncastResult, name: str, steps: Iterable[FlowStep]) -> Iterator[Finding]:
    idle_us = (result.idle.p99_us if result.idle else None) or 0.0
    delays = [(step.p99_us, step.case) for step in steps if step.p99_us is not None]
    longest_us, case = max(delays, default=(0.0, ""))
    if idle_us and longest_us >= DELAY_FACTOR * idle_us:
        text = (
            f"{name}: one in a hundred small messages takes {longest_us / 1000:,.1f} ms or more {case}; on "
            f"the idle network {idle_us / 1000:,.1f} ms"
        )
        yield Finding(result.hub, text, is_fault=False)


def _bisection_text(bisection: Bisection, single_bit_s: float | None) -> str:
    """Return the bisection, and how it compares to what as many pairs could carry one by one."""
    halves = f"{join_names(bisection.first)} to {join_names(bisection.second)}"
    text = f"{throughput_text(bisection.bit_s)} each way, {halves}"
    if single_bit_s is None:
        return f"{text}; unknown what one flow carries alone"
    full = bisection.pairs * single_bit_s
    share = f"{percent(bisection.bit_s / full)} of the {throughput_text(full)}"
    ratio = full / bisection.bit_s
    verdict = (
        "full"
        if ratio <= ONE_TO_ONE_LIMIT
        else f"as behind an uplink oversubscribed about {ratio_text(ratio)}:1{doubt(bisection.limit)}"
    )
    return f"{text}; {share} that {count_of(bisection.pairs, 'pair')} alone would carry: {verdict}"


def _share_text(fraction: float | None) -> str:
    return "?" if fraction is None else percent(fraction)
