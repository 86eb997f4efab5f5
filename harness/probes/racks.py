"""The racks probe: the throughput within and between two racks, with all hosts sending together.

All flows start together, and a flow lasts far longer than the moments by which their starts differ.
"""

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from statistics import mean, median

import click

from harness.analysis.network.measured import MeasuredCase, measured_cases
from harness.analysis.network.obstacles import MAX_BUSY_PERCENT, MAX_STOLEN_PERCENT
from harness.base.errors import BadInput
from harness.base.items import known
from harness.base.option_types import WholeNumber
from harness.hosts.parallelism import COMMANDS_PER_PAIR, allow_commands
from harness.hosts.transports.host import Host, HostError, parse_hosts
from harness.model.finding import Finding, Subject, note
from harness.model.link import TYPICAL_MTU, rate_of_goodput, rate_text, throughput_text
from harness.model.network_metrics import (
    ACROSS_RACKS,
    OVERSUBSCRIPTION,
    RACK_BUSIEST,
    RACK_STOLEN,
    RACKS,
    WITHIN_RACK,
)
from harness.model.probe import Measurement, Metric, Pair, ProbeSample, RecordedProbes, samples
from harness.present.probes.columns import Column, MeasurementTable
from harness.probes.kind import ProbeKind
from harness.probes.mesh import PAIR_PROGRAMS
from harness.probes.options import (
    NamedHosts,
    integer_option,
    port_option,
    seconds_option,
    seed_option,
    streams_option,
)
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.traffic import Flow, Load, Outcomes, Transfer, run_flows

RACKS_OF_A_PROBE = 2
SET_UP_S = 3.0
ONE_TO_ONE_LIMIT = 1.15
"""A measured ratio up to this counts as 1:1, because other traffic on the uplink lowers the goodput across
racks a little. Uplinks that are oversubscribed by design have clearly larger ratios, such as 2:1 or 4:1."""
_WHOLE_NUMBER_TOLERANCE = 0.05
"""A ratio within this fraction of a whole number is written as that number: the draws are not more exact."""


@dataclass(frozen=True)
class Rack:
    """Hosts that reach each other without the uplink."""

    name: str
    hosts: tuple[Host, ...]


def two_racks(site: NamedHosts, options: Sequence[str]) -> list[Rack]:
    """Return the racks of `--rack NAME=HOSTS`. Raise BadInput if these are not two."""
    if site.names is not None:
        raise BadInput("--hosts: name them by --rack, because a host is in one of two racks")
    racks = []
    for text in options:
        name, equals, names = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--rack {text!r} has no name: write --rack a=node[1-20]")
        hosts = parse_hosts("--rack", names, site.transport)
        racks.append(Rack(name.strip(), tuple(hosts)))
    if len(racks) != RACKS_OF_A_PROBE or racks[0].name == racks[1].name:
        raise BadInput("name two racks: --rack a=node[1-20] --rack b=node[21-40]")
    in_both = {host.name for host in racks[0].hosts} & {host.name for host in racks[1].hosts}
    if in_both:
        raise BadInput(f"--rack: {', '.join(sorted(in_both))} cannot be in both racks")
    return racks


def rack_steps(first: Rack, second: Rack, load: Load, draws: int, seed: int) -> list[ProbeStep]:
    """Measure `draws` random choices of who sends to whom: within the racks, across, and back."""
    rng = random.Random(seed)  # noqa: S311  chance that can be repeated
    expected_s = 3 * (load.total_s + SET_UP_S)
    steps = []
    for draw in range(1, draws + 1):
        measure = partial(_measure, first, second, load, rng.randrange(2**32))
        name = f"racks: {first.name} and {second.name}, draw {draw}"
        steps.append(ProbeStep(name, expected_s, measure))
    return steps


def flows_within(rack: Rack, rng: random.Random) -> list[Flow]:
    """Draw disjoint pairs of hosts of a rack; one host is left out if their number is odd."""
    hosts = rng.sample(rack.hosts, len(rack.hosts))
    return [Flow(a, b) for a, b in zip(hosts[::2], hosts[1::2], strict=False)]


def flows_across(senders: Rack, receivers: Rack, rng: random.Random) -> list[Flow]:
    """Draw a receiver for each sender: no receiver is drawn twice before each was drawn once.

    Independent draws would choose some receivers twice, which would then be the bottleneck themselves.
    """
    drawn = cycle(rng.sample(receivers.hosts, len(receivers.hosts)))
    return [Flow(sender, receiver) for sender, receiver in zip(senders.hosts, drawn, strict=False)]


def _measure(first: Rack, second: Rack, load: Load, seed: int) -> Iterator[Measurement]:
    rng = random.Random(seed)  # noqa: S311  chance that can be repeated
    within = {rack.name: flows_within(rack, rng) for rack in (first, second)}
    outcomes = run_flows(within[first.name] + within[second.name], load)
    per_host = {}
    for name, flows in within.items():
        own = {flow: outcomes[flow] for flow in flows}
        yield from _failures_and_processors(WITHIN_RACK, name, own.values())
        carried = _carried_bit_s(own)
        if carried:
            per_host[name] = mean(carried.values())
            yield WITHIN_RACK.of(name, per_host[name])
    for senders, receivers in ((first, second), (second, first)):
        pair = (senders.name, receivers.name)
        outcomes = run_flows(flows_across(senders, receivers, rng), load)
        yield from _failures_and_processors(ACROSS_RACKS, pair, outcomes.values())
        carried = _carried_bit_s(outcomes)
        if not carried:
            continue
        across_bit_s = sum(carried.values())
        yield ACROSS_RACKS.of(pair, across_bit_s)
        if per_host:
            unlimited = _unlimited_bit_s(carried, senders, receivers, per_host)
            yield OVERSUBSCRIPTION.of(pair, unlimited / across_bit_s)


def _failures_and_processors(
    metric: Metric, hosts: str | Pair, outcomes: Collection[Transfer | HostError]
) -> Iterator[Measurement]:
    """Yield which flows failed, and how busy the processors of the other hosts were at most."""
    cpus = []
    for outcome in outcomes:
        if isinstance(outcome, HostError):
            yield metric.failed(hosts, outcome)
        else:
            cpus += outcome.known_cpus
    if cpus:
        yield RACK_STOLEN.of(hosts, max(cpu.stolen_percent for cpu in cpus))
        yield RACK_BUSIEST.of(hosts, max(cpu.busiest_percent for cpu in cpus))


def _carried_bit_s(outcomes: Outcomes) -> dict[Flow, float]:
    return {
        flow: outcome.report.goodput_bit_s
        for flow, outcome in outcomes.items()
        if isinstance(outcome, Transfer)
    }


def _unlimited_bit_s(
    flows: Collection[Flow], senders: Rack, receivers: Rack, per_host: Mapping[str, float]
) -> float:
    """Return how much the hosts of these flows would carry without an uplink between them.

    A rack of one host has no rate within. Then the rate of the other rack counts.
    """
    default = min(per_host.values())
    sent = len({flow.sender for flow in flows}) * per_host.get(senders.name, default)
    received = len({flow.receiver for flow in flows}) * per_host.get(receivers.name, default)
    return min(sent, received)


def _plan(
    site: NamedHosts,
    *,
    racks: Sequence[str],
    seconds: int,
    streams: int,
    port: int,
    draws: int,
    seed: int,
) -> ProbePlan:
    first, second = two_racks(site, racks)
    load = Load(seconds, streams, first_port=port)

    def make_steps(hosts: Sequence[Host], _links: Links) -> list[ProbeStep]:
        allow_commands(COMMANDS_PER_PAIR * len(hosts))
        return rack_steps(_usable(first, hosts), _usable(second, hosts), load, draws, seed)

    return ProbePlan(
        first.hosts + second.hosts,
        PAIR_PROGRAMS,
        make_steps,
        parameters={"seconds": seconds, "streams": streams, "draws": draws, "seed": seed},
    )


def _usable(rack: Rack, hosts: Sequence[Host]) -> Rack:
    """Return the rack with only the hosts that can be used. These have addresses."""
    names = {host.name for host in rack.hosts}
    usable = tuple(host for host in hosts if host.name in names)
    if not usable:
        raise BadInput(f"--rack {rack.name}: none of its hosts can be used")
    return replace(rack, hosts=usable)


_NAMES = {WITHIN_RACK.name: "within, each host", ACROSS_RACKS.name: "across, all hosts"}


def _rows(probed: RecordedProbes) -> list[ProbeSample]:
    """Return a sample for each rack, and for each direction between racks, with the values of all draws."""
    own = samples(measured for measured in probed.measurements if measured.probe == RACKS)
    return [sample for sample in own if sample.metric in _NAMES]


def _rate(summary: Callable[[Sequence[float]], float]) -> Callable[[ProbeSample], str | None]:
    return lambda row: throughput_text(summary(row.values)) if row.values else None


def rack_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield how far the uplinks are oversubscribed, which may be by design."""
    mtus = known(link.mtu_bytes for link in probed.links().values())
    for case in measured_cases(probed.measurements, RACKS):
        values = case.values(ACROSS_RACKS)
        ratios = case.values(OVERSUBSCRIPTION)
        if not values:
            continue
        text = "unknown oversubscription, because no goodput within a rack was measured"
        if ratios:
            text = oversubscription_text(ratios, values, min(mtus, default=TYPICAL_MTU))
            text += processor_limit_text(case)
        yield note(text, subject=Subject(case.hosts))


def processor_limit_text(case: MeasuredCase) -> str:
    """Return the end of a sentence: whether processors may have been the limit of most draws."""
    stolen = case.median(RACK_STOLEN)
    busiest = case.median(RACK_BUSIEST)
    if stolen is not None and stolen >= MAX_STOLEN_PERCENT:
        limit = f"a hypervisor took {stolen:.0f} % of a host's processors"
    elif busiest is not None and busiest >= MAX_BUSY_PERCENT:
        limit = "a processor of a host was busy all the time"
    elif stolen is None or busiest is None:
        return "; unknown whether processors were the limit"
    else:
        return ""
    return f"; {limit}, which may have been the limit"


def oversubscription_text(
    ratios: Sequence[float], across_bit_s: Sequence[float], mtu: int = TYPICAL_MTU
) -> str:
    """Return how far a rack's uplink is oversubscribed, with the range of the draws.

    `ratios` and `across_bit_s`, the goodput across racks, have a value for each draw. The goodput shows the
    uplink's rate on the wire.
    """
    ratio = median(ratios)
    rate = rate_text(rate_of_goodput(median(across_bit_s), mtu), 2)  # as exact as the estimate
    draws = f"{min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} draws"
    if len(ratios) == 1:
        draws = "in a single draw"
    if ratio <= ONE_TO_ONE_LIMIT:
        return f"1:1 ({draws}), the uplink carries {rate} or more"
    return f"about {ratio_text(ratio)}:1 ({draws}), uplink near {rate}"


def ratio_text(ratio: float) -> str:
    """Return a ratio as exactly as it is known: `4`, `3.4`."""
    whole = round(ratio)
    if abs(ratio - whole) <= _WHOLE_NUMBER_TOLERANCE * whole:
        return str(whole)
    return f"{ratio:.1f}"


KIND = ProbeKind(
    "racks",
    "Measure the throughput within and between two racks, with all hosts sending at the same time.",
    _plan,
    options=(
        click.option(
            "--rack",
            "racks",
            multiple=True,
            metavar="NAME=HOSTS",
            help="One of the two racks, such as a='node[1-20]'. Give it twice.",
        ),
        seconds_option,
        streams_option,
        integer_option(
            "--draws", WholeNumber(1, 100), 3, "Number of random choices of who sends to whom."
        ),
        seed_option,
        port_option,
    ),
    measures=(RACKS,),
    tables=(
        MeasurementTable(
            _rows,
            (
                Column[ProbeSample]("racks", lambda row: row.subject),
                Column[ProbeSample]("", lambda row: _NAMES[row.metric]),
                Column("median", _rate(median)),
                Column("min", _rate(min)),
                Column("max", _rate(max)),
                Column[ProbeSample]("draws", lambda row: str(len(row.values) or "")),
            ),
        ),
    ),
    judge=rack_findings,
)
