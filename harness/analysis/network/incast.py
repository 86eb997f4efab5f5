"""What a fan of flows shows: whether goodput collapses at many flows, and the bisection of the network."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from harness.analysis.network.mesh import ONE_TO_ONE_LIMIT, ratio_text
from harness.analysis.network.processor_limit import doubt, shared_limit
from harness.model.link import throughput_text
from harness.model.network_metrics import (
    ALL_TO_ALL,
    BISECTION_PAIRS,
    FAN_GOODPUT,
    FAN_RETRANSMITS,
    FAN_ROUND_TRIP,
    HALF_TO_HALF,
    IDLE,
    INCAST,
    SLOWEST_FLOW,
)
from harness.model.probe import ARROW, Measurement, ProbeSample, samples
from harness.terminal import count_of, join_names, percent

COLLAPSE_FRACTION, FALL_FRACTION = 0.5, 0.9
"""Goodput below these fractions of the best at fewer flows is a collapse, or a fall. Queues that overflow
again and again take most of the goodput (Phanishayee et al., FAST'08: a tenth is left); a processor that more
programs share takes some percent."""
DELAY_FACTOR = 10
"""A p99 round trip that is so many times the idle one is worth a sentence."""
_FAN_CASE = re.compile(r"(from|to) (\d+) hosts?")
_SHUFFLE_CASE = re.compile(rf"{ALL_TO_ALL}|each to (\d+)")


@dataclass(frozen=True)
class Rung:
    """The medians of one case over its repeats; None what was not measured.

    `flows` is the number of flows; None if the case does not tell. `of_best` is the goodput relative to the
    best at fewer flows in the same direction, None for the first. `limit` says why the processors of a host
    may have been the limit. `errors` are one line each.
    """

    subject: str
    case: str
    flows: int | None = None
    goodput_bit_s: float | None = None
    slowest_bit_s: float | None = None
    retransmits: float | None = None
    p50_us: float | None = None
    p99_us: float | None = None
    of_best: float | None = None
    limit: str | None = None
    errors: tuple[str, ...] = ()

    @property
    def slowest_of_share(self) -> float | None:
        """The slowest flow relative to an equal share of the goodput: 1 is fair."""
        if not self.flows or not self.goodput_bit_s or self.slowest_bit_s is None:
            return None
        return self.slowest_bit_s * self.flows / self.goodput_bit_s


@dataclass(frozen=True)
class Fan:
    """All that a probe of incast found.

    - `idle`: the small message alone, and why hosts were left out.
    - `incast`, `outcast`: by rising number of flows.
    - `shuffle`: all to all; None if it was not measured.
    - `bisection`: None if it was not measured.
    """

    idle: Rung | None
    incast: tuple[Rung, ...]
    outcast: tuple[Rung, ...]
    shuffle: Rung | None
    bisection: "Bisection | None"
    left_out: tuple[str, ...] = ()
    bisection_errors: tuple[str, ...] = ()

    @property
    def single_bit_s(self) -> float | None:
        """What one flow alone carries, at best; None if it is not known."""
        alone = [
            rung.goodput_bit_s
            for rung in (*self.incast, *self.outcast)
            if rung.flows == 1 and rung.goodput_bit_s is not None
        ]
        return max(alone, default=None)


@dataclass(frozen=True)
class Bisection:
    """What the slower of two halves' directions carried, while both sent: `hosts` pairs of hosts."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    bit_s: float
    limit: str | None = None

    @property
    def hosts(self) -> int:
        """The number of pairs of hosts that sent to each other."""
        return min(len(self.first), len(self.second))


def fan_of(measurements: Sequence[Measurement]) -> Fan:
    """Return what the measurements of a probe of incast show."""
    found = samples(each for each in measurements if each.probe == INCAST)
    rungs = [
        _rung(subject, case, found)
        for subject, case in dict.fromkeys((each.subject, each.case) for each in found)
    ]
    idle = [rung for rung in rungs if rung.case == IDLE]
    return Fan(
        idle=next((rung for rung in idle if ARROW not in rung.subject), None),
        incast=_ladder(rungs, "from"),
        outcast=_ladder(rungs, "to"),
        shuffle=next((rung for rung in rungs if _SHUFFLE_CASE.fullmatch(rung.case)), None),
        bisection=_bisection(found),
        left_out=tuple(error for rung in idle if ARROW in rung.subject for error in rung.errors),
        bisection_errors=tuple(
            error for rung in rungs if rung.case == BISECTION_PAIRS for error in rung.errors
        ),
    )


def _rung(subject: str, case: str, found: Sequence[ProbeSample]) -> Rung:
    own = [each for each in found if (each.subject, each.case) == (subject, case)]
    value = {each.metric: median(each.values) for each in own if each.values}
    return Rung(
        subject,
        case,
        flows=_flows(subject, case),
        goodput_bit_s=value.get(FAN_GOODPUT.name),
        slowest_bit_s=value.get(SLOWEST_FLOW.name),
        retransmits=value.get(FAN_RETRANSMITS.name),
        p50_us=value.get(FAN_ROUND_TRIP[50.0].name),
        p99_us=value.get(FAN_ROUND_TRIP[99.0].name),
        limit=shared_limit(own, subject if _FAN_CASE.fullmatch(case) else "a host"),
        errors=tuple(dict.fromkeys(error for each in own for error in each.errors)),
    )


def _flows(subject: str, case: str) -> int | None:
    """Return the number of flows of a case; all to all, its subject is the number of hosts."""
    if fan := _FAN_CASE.fullmatch(case):
        return int(fan[2])
    shuffle, hosts = _SHUFFLE_CASE.fullmatch(case), re.match(r"\d+", subject)
    if shuffle and hosts:
        return int(hosts[0]) * (int(shuffle[1]) if shuffle[1] else int(hosts[0]) - 1)
    return None


def _ladder(rungs: Sequence[Rung], direction: str) -> tuple[Rung, ...]:
    """Return the rungs of a direction by rising flows, each relative to the best below it."""
    own = [
        rung
        for rung in rungs
        if (match := _FAN_CASE.fullmatch(rung.case)) and match[1] == direction
    ]
    ladder: list[Rung] = []
    for rung in sorted(own, key=lambda rung: rung.flows or 0):
        best = max(map(_goodput, ladder), default=0.0)
        relative = rung.goodput_bit_s / best if rung.goodput_bit_s is not None and best else None
        ladder.append(replace(rung, of_best=relative))
    return tuple(ladder)


def _bisection(found: Sequence[ProbeSample]) -> Bisection | None:
    slowest = min(
        (
            (min(each.values), each.subject)
            for each in found
            if each.metric == HALF_TO_HALF.name and each.values
        ),
        default=None,
    )
    if slowest is None:
        return None
    bit_s, subject = slowest
    first, _, second = subject.partition(ARROW)
    limit = shared_limit(each for each in found if each.subject == subject)
    return Bisection(tuple(first.split(",")), tuple(second.split(",")), bit_s, limit)


def fan_sentences(fan: Fan) -> Iterator[str]:
    """Yield what a reader must know: collapse or none, delay, the shuffle and the bisection."""
    yield from _collapse("incast", fan.incast)
    yield from _collapse("outcast", fan.outcast)
    yield from _one_way(fan)
    yield from _delay(fan)
    single = fan.single_bit_s
    if fan.shuffle is not None and fan.shuffle.goodput_bit_s is not None:
        total = throughput_text(fan.shuffle.goodput_bit_s)
        share = _percent(fan.shuffle.slowest_of_share)
        yield (
            f"{fan.shuffle.case}: {fan.shuffle.subject} carry {total} together; a shuffle ends with its "
            f"slowest flow, which has {share} of an equal share"
        )
    if fan.bisection is not None:
        yield _bisection_text(fan.bisection, single)


def _collapse(name: str, ladder: Sequence[Rung]) -> Iterator[str]:
    """Yield where goodput collapses or falls first, and where it is least; or that it does not."""
    judged = [rung for rung in ladder if rung.of_best is not None]
    if not judged:
        return
    low = [rung for rung in judged if rung.of_best is not None and rung.of_best < FALL_FRACTION]
    if not low:
        most = judged[-1]
        yield (
            f"{name}: no collapse; {throughput_text(_goodput(most))} {most.case}, "
            f"{_percent(most.of_best)} of the best at fewer"
        )
        return
    worst = min(low, key=lambda rung: rung.of_best or 0)
    verb = "collapses" if (worst.of_best or 0) < COLLAPSE_FRACTION else "falls"
    since = "" if worst is low[0] else f" (below {percent(FALL_FRACTION)} already {low[0].case})"
    yield (
        f"{name}: goodput {verb} to {throughput_text(_goodput(worst))} {worst.case}, "
        f"{_percent(worst.of_best)} of the best at fewer{since}{doubt(worst.limit)}"
    )


def _one_way(fan: Fan) -> Iterator[str]:
    """Yield that one direction of the hub is slow at every number of flows, if it is."""
    if not fan.incast or not fan.outcast:
        return
    best = {
        name: max(ladder, key=_goodput)
        for name, ladder in (("incast", fan.incast), ("outcast", fan.outcast))
    }
    slow, fast = sorted(best, key=lambda name: _goodput(best[name]))
    if 0 < _goodput(best[slow]) < FALL_FRACTION * _goodput(best[fast]):
        yield (
            f"{slow} is slow at any number of flows: {throughput_text(_goodput(best[slow]))} at best, "
            f"{fast} {throughput_text(_goodput(best[fast]))}{doubt(best[slow].limit)}"
        )


def _goodput(rung: Rung) -> float:
    return rung.goodput_bit_s or 0.0


def _delay(fan: Fan) -> Iterator[str]:
    if fan.idle is None or not fan.idle.p99_us:
        return
    for name, ladder in (("incast", fan.incast), ("outcast", fan.outcast)):
        delays = [(rung.p99_us, rung.case) for rung in ladder if rung.p99_us is not None]
        if not delays:
            continue
        longest, case = max(delays)
        factor = longest / fan.idle.p99_us
        if factor >= DELAY_FACTOR:
            yield (
                f"{name}: one in a hundred small messages takes {longest / 1000:.1f} ms or more "
                f"{case}; on the idle network {fan.idle.p99_us / 1000:.1f} ms"
            )


def _bisection_text(bisection: Bisection, single_bit_s: float | None) -> str:
    """Return the bisection, and how it compares to what as many pairs could carry one by one."""
    halves = f"{join_names(bisection.first)} to {join_names(bisection.second)}"
    text = f"bisection: {throughput_text(bisection.bit_s)} each way, {halves}"
    if single_bit_s is None:
        return f"{text}; unknown what one flow carries alone"
    full = bisection.hosts * single_bit_s
    share = f"{_percent(bisection.bit_s / full)} of the {throughput_text(full)}"
    ratio = full / bisection.bit_s
    verdict = (
        "full"
        if ratio <= ONE_TO_ONE_LIMIT
        else f"as behind an uplink oversubscribed about {ratio_text(ratio)}:1{doubt(bisection.limit)}"
    )
    return f"{text}; {share} that {count_of(bisection.hosts, 'pair')} alone would carry: {verdict}"


def _percent(fraction: float | None) -> str:
    return "?" if fraction is None else f"{percent(fraction)}"
