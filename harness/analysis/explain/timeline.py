"""When links and disks of a trial's nodes were full, in which direction, and during which stage."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import chain
from statistics import fmean, geometric_mean, median, mode
from typing import NamedTuple, TypeVar

from harness.analysis.network.goodput import Goodput, goodput
from harness.analysis.network.measured import RECEIVES, SENDS, pair_matrix
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.executors import has_own_network
from harness.base.items import grouped, known, union
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import RecordedRun, Run, Trial
from harness.model.timeline import NodeTimeline, Timeline

FULL = 0.7
"""A link is full in a slice in which it carries more than this part of its goodput."""
DISK_FULL = 0.9
"""A disk is full in a slice in which it has something to do for more than this part of the time."""
BOTH_WAYS = "both ways"
BETWEEN_STAGES = "between stages"
_MAX_UNKNOWN = 0.1
"""The largest unknown fraction of a node's slices; with more, it is unknown when it was full."""
_WAYS = (RECEIVES, SENDS)
_MIN_OTHER_WAY = 0.5
"""A link is full both ways if one direction is full for at least this part of the other's time."""


class LinkSlice(NamedTuple):
    """What the links of a node carried in a slice of a trial, with headers; None is unknown."""

    length_s: float
    received_bytes: int | None
    sent_bytes: int | None

    def bit_s(self, direction: str) -> float | None:
        """Return the rate in one direction, RECEIVES or SENDS."""
        carried = self.received_bytes if direction == RECEIVES else self.sent_bytes
        if carried is None:
            return None
        return 8 * carried / self.length_s


def link_slices(timeline: Timeline, node: NodeTimeline) -> tuple[LinkSlice, ...]:
    """Return all slices of a node, in their order; together they cover all executions of the trial."""
    received = timeline.series(node.received_bytes)
    sent = timeline.series(node.sent_bytes)
    return tuple(map(partial(LinkSlice, timeline.interval_s), received, sent))


def stage_of(timeline: Timeline, number: int) -> int | None:
    """Return the index of the stage that takes most of a slice, None between stages."""
    start_s = number * timeline.interval_s
    end_s = start_s + timeline.interval_s
    found = None
    longest_s = 0.0
    for index, stage in enumerate(timeline.stages):
        overlap_s = min(end_s, stage.end_s) - max(start_s, stage.start_s)
        if overlap_s > longest_s:
            found = index
            longest_s = overlap_s
    return found


def stage_name(timeline: Timeline, index: int) -> str:
    """Return `2: reads shuffle`. The number is that in the order of start."""
    return f"{index + 1}: {timeline.stages[index].work}"


def busiest_node(timeline: Timeline) -> NodeTimeline | None:
    """Return the node that received most, or sent most, whichever is more; None if no bytes are known."""
    carried = _carried_bytes(timeline)
    return max(carried, key=carried.__getitem__, default=None)


def silent_nodes(timeline: Timeline) -> list[str]:
    """Return the hosts of the nodes for whose links no bytes are known."""
    carried = _carried_bytes(timeline)
    return [node.host for node in timeline.nodes if node not in carried]


def _carried_bytes(timeline: Timeline) -> dict[NodeTimeline, int]:
    """Return what nodes received or what they sent, whichever is more, where either is known."""
    found: dict[NodeTimeline, int] = {}
    for node in timeline.nodes:
        for packed in (node.received_bytes, node.sent_bytes):
            series = known(timeline.series(packed))
            if series:
                found[node] = max(sum(series), found.get(node, 0))
    return found


def _full_ways(part: LinkSlice, full_bit_s: Mapping[str, float]) -> set[str]:
    """Return the directions in which a link is full: in which it carries more than the rate given here."""
    ways: set[str] = set()
    for way, least_bit_s in full_bit_s.items():
        bit_s = part.bit_s(way)
        if bit_s is not None and bit_s > least_bit_s:
            ways.add(way)
    return ways


class LinkWay(NamedTuple):
    """The link of a node in one direction, RECEIVES or SENDS."""

    host: str
    direction: str

    @property
    def other(self) -> "LinkWay":
        """The same link in its other direction."""
        return LinkWay(self.host, SENDS if self.direction == RECEIVES else RECEIVES)


@dataclass(frozen=True)
class TrialUse:
    """A trial that counts, and its `timeline`.

    `full` has for each slice what was full, such as the hosts of disks. It is None if unknown.
    """

    run: Run
    trial: Trial
    timeline: Timeline
    full: tuple[AbstractSet[object], ...] | None

    @property
    def full_share(self) -> float | None:
        """The part of the time in which the link, or a disk, of some node was full; None if unknown."""
        if self.full is None:
            return None
        return sum(map(bool, self.full)) / len(self.full)

    def stages_while_full(self) -> list[str]:
        """Return the name of the stage of each slice in which something was full, or `between stages`."""
        names: list[str] = []
        for number, full in enumerate(self.full or ()):
            if full:
                index = stage_of(self.timeline, number)
                name = BETWEEN_STAGES if index is None else stage_name(self.timeline, index)
                names.append(name)
        return names


@dataclass(frozen=True)
class TrialLink(TrialUse):
    """The links of a trial. `goodput` is the goodput of the busiest node's link, None if it is unknown.

    `full` is None if no node's goodput is known, or not that of an executor's node, or if a node is a pod
    whose interface is no link.
    """

    full: tuple[AbstractSet[LinkWay], ...] | None
    node: NodeTimeline
    goodput: Goodput | None

    @cached_property
    def slices(self) -> tuple[LinkSlice, ...]:
        """The slices of the busiest node."""
        return link_slices(self.timeline, self.node)


@dataclass(frozen=True)
class TrialDisks(TrialUse):
    """The disks of a trial: `busiest` is the one that was busy for longest, such as `n1: sda`.

    `busy_share` is the part of the trial's time in which the busiest disk of any node was busy.
    `unseen` are the executors' nodes whose disks are unknown.
    """

    busiest: str
    busy_share: float
    unseen: tuple[str, ...]


UseT = TypeVar("UseT", bound=TrialUse)


def trial_links(
    column: ConfigurationRuns,
    measurements: Iterable[Measurement] = (),
    without: Collection[str] = (),
) -> tuple[TrialLink, ...]:
    """Return the trials of a configuration that count and for whose links enough bytes are known.

    `measurements` come from the configuration's probes. `without` names workloads to leave out.
    """
    mesh = pair_matrix(measurements, MESH_GOODPUT)
    links: list[TrialLink] = []
    for recorded in column.runs:
        goodput_of = cache(partial(goodput, recorded.run, mesh))
        for trial, timeline in _timed_trials(recorded, without):
            link = _trial_link(recorded.run, trial, timeline, goodput_of)
            if link:
                links.append(link)
    return tuple(links)


def trial_disks(column: ConfigurationRuns, without: Collection[str] = ()) -> tuple[TrialDisks, ...]:
    """Return the trials of a configuration that count and for whose disks enough is known.

    Requests that a control group holds back do not make a disk busy. With such a limit, nothing is known.
    """
    found: list[TrialDisks] = []
    for recorded in column.runs:
        if "disk_limited" in recorded.run.facts:
            continue
        for trial, timeline in _timed_trials(recorded, without):
            disks = _trial_disks(recorded.run, trial, timeline)
            if disks:
                found.append(disks)
    return tuple(found)


def _timed_trials(
    recorded: RecordedRun, without: Collection[str]
) -> Iterator[tuple[Trial, Timeline]]:
    for trial in recorded.counted:
        if trial.wall_s is not None and trial.workload not in without and trial.timeline:
            yield trial, trial.timeline


def _trial_link(
    run: Run, trial: Trial, timeline: Timeline, goodput_of: Callable[[str], Goodput | None]
) -> TrialLink | None:
    """Return the links of a trial; None if no node's bytes are known, or too few slices of one.

    Nodes without any bytes do not count: see `silent_nodes`.
    """
    busiest = busiest_node(timeline)
    if busiest is None:
        return None
    full: list[set[LinkWay]] = [set() for _ in range(timeline.slices)]
    executors = run.environment.get("executors") or ()
    is_any_known = False
    is_one_unknown = False
    for node in _carried_bytes(timeline):
        slices = link_slices(timeline, node)
        unknown = sum(None in part for part in slices)
        if unknown > _MAX_UNKNOWN * timeline.slices:
            return None
        limit = goodput_of(node.host)
        computes = node.host in executors or has_own_network(run.environment, node.host)
        if limit is None and computes:
            is_one_unknown = True
        if limit:
            is_any_known = True
            full_bit_s = {way: FULL * limit.bit_s(way) for way in _WAYS}
            for ways, part in zip(full, slices, strict=True):
                ways.update(LinkWay(node.host, way) for way in _full_ways(part, full_bit_s))
    when_full = tuple(full) if is_any_known and not is_one_unknown else None
    return TrialLink(run, trial, timeline, when_full, busiest, goodput_of(busiest.host))


def _trial_disks(run: Run, trial: Trial, timeline: Timeline) -> TrialDisks | None:
    """Return the disks of a trial; None if nothing is known of any, or too few slices of one."""
    nodes = [node for node in timeline.nodes if node.disk_busy_percent]
    if not nodes:
        return None
    full: list[set[str]] = [set() for _ in range(timeline.slices)]
    highest: list[int | None] = [None] * timeline.slices
    totals: list[int] = []
    for node in nodes:
        series = timeline.series(node.disk_busy_percent)
        if series.count(None) > _MAX_UNKNOWN * timeline.slices:
            return None
        for number, percent in enumerate(series):
            if percent is None:
                continue
            highest[number] = max(percent, highest[number] or 0)
            if percent > 100 * DISK_FULL:
                full[number].add(node.host)
        totals.append(sum(known(series)))
    busiest = nodes[totals.index(max(totals))]
    name = f"{busiest.host}: {busiest.busiest_disk}" if busiest.busiest_disk else busiest.host
    executors = run.environment.get("executors") or ()
    seen = {node.host for node in nodes}
    unseen = tuple(host for host in timeline.hosts if host in executors and host not in seen)
    busy_share = fmean(known(highest)) / 100
    return TrialDisks(run, trial, timeline, tuple(full), name, busy_share, unseen)


@dataclass(frozen=True)
class FullTime:
    """For how long the link, or a disk, of some node was full in a workload's trials that count.

    - `busiest`: the node, or the disk (`n1: sda`), that was the busiest most often.
    - `full_share`: the mean of the runs' means; `full_s`: the same part of the time that tables have. None if
      unknown.
    - `stage`: the one in which it was full for longest, None if it never was.
    """

    busiest: str
    full_s: float | None
    full_share: float | None
    stage: str | None


@dataclass(frozen=True)
class DiskUse(FullTime):
    """The full time of disks. `unseen` are the executors' nodes whose disks are unknown."""

    unseen: tuple[str, ...]


@dataclass(frozen=True)
class LinkUse(FullTime):
    """The full time of links. It is unknown if the goodput of all links is.

    `direction` is the one in which a link was full for longest, BOTH_WAYS if the same link was full for long
    in the other one, too, and None if no link ever was full. `typical` is the trial whose time is the nearest
    to the median.
    """

    typical: TrialLink
    goodput: Goodput | None
    direction: str | None


def link_uses(links: Sequence[TrialLink]) -> dict[str, LinkUse]:
    """Return the use of the busiest links by workload, without workloads that have no timeline."""
    return {name: _link_use(own) for name, own in uses_by_workload(links).items()}


def disk_uses(disks: Sequence[TrialDisks]) -> dict[str, DiskUse]:
    """Return the use of the busiest disks by workload, without workloads of whose disks nothing is known."""
    found: dict[str, DiskUse] = {}
    for name, own in uses_by_workload(disks).items():
        busiest = mode(each.busiest for each in own)
        unseen = union(each.unseen for each in own)
        found[name] = DiskUse(**vars(_full_time(own, busiest)), unseen=tuple(unseen))
    return found


def uses_by_workload(uses: Iterable[UseT]) -> dict[str, list[UseT]]:
    """Return the trials of each workload, in their order."""
    return grouped(uses, lambda use: use.trial.workload)


def full_shares(uses: Iterable[TrialUse]) -> list[float]:
    """Return for each run the mean part of the time in which something was full, where it is known."""
    return list(map(fmean, _by_run(uses, lambda use: use.full_share)))


def busy_shares(disks: Iterable[TrialDisks]) -> list[float]:
    """Return for each run the mean part of the time in which the busiest disk was busy."""
    return list(map(fmean, _by_run(disks, lambda disk: disk.busy_share)))


def _by_run(
    uses: Iterable[UseT], value_of: Callable[[UseT], float | None]
) -> Iterable[list[float]]:
    """Return the known values of the trials of each run that has some."""
    found: dict[str, list[float]] = {}
    for use in uses:
        value = value_of(use)
        if value is not None:
            found.setdefault(use.run.id, []).append(value)
    return found.values()


def _full_time(uses: Sequence[TrialUse], busiest: str) -> FullTime:
    shares = full_shares(uses)
    share = None
    full_s = None
    if shares:
        times_s = _by_run(uses, lambda use: use.trial.wall_s)
        share = fmean(shares)
        full_s = share * geometric_mean(map(median, times_s))
    stages = list(chain.from_iterable(use.stages_while_full() for use in uses))
    return FullTime(busiest, full_s, share, mode(stages) if stages else None)


def _link_use(links: Sequence[TrialLink]) -> LinkUse:
    """Return the use of links by the trials of one workload."""
    judged = [link for link in links if link.full is not None] or links
    host = mode(link.node.host for link in links)
    by_host = grouped(judged, lambda link: link.node.host)
    of_host = by_host.get(host, judged)[0]
    full = _full_time(judged, host)
    return LinkUse(
        **vars(full),
        typical=typical_trial(judged),
        goodput=of_host.goodput,
        direction=_direction(judged) if full.stage else None,
    )


def _direction(links: Iterable[TrialLink]) -> str:
    """Return the direction of the link that was full for longest in one, or BOTH_WAYS.

    A node that receives what another sends does not make either link full both ways.
    """
    slices: Counter[LinkWay] = Counter()
    for link in links:
        for ways in link.full or ():
            slices.update(ways)
    longest = max(sorted(slices), key=slices.__getitem__)
    if slices[longest.other] >= _MIN_OTHER_WAY * slices[longest]:
        return BOTH_WAYS
    return longest.direction


def typical_trial(uses: Sequence[UseT]) -> UseT:
    """Return the trial whose time is the nearest to the median of these, one or more."""
    middle_s = median(use.trial.wall_s or 0 for use in uses)
    return min(uses, key=lambda use: abs((use.trial.wall_s or 0) - middle_s))
