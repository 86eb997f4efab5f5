"""When links and disks of a trial's nodes were full, in which direction, and during which stage."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import compress, groupby
from statistics import fmean, geometric_mean, median, mode
from typing import NamedTuple, TypeVar

from harness.analysis.network.goodput import Goodput, goodput
from harness.analysis.network.measured import RECEIVES, SENDS, pair_matrix
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
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
        return None if carried is None else 8 * carried / self.length_s


def link_slices(timeline: Timeline, node: NodeTimeline) -> tuple[LinkSlice, ...]:
    """Return all slices of a node, in their order; together they cover all executions of the trial."""
    series = map(timeline.series, (node.received_bytes, node.sent_bytes))
    return tuple(LinkSlice(timeline.interval_s, *carried) for carried in zip(*series, strict=True))


def stage_of(timeline: Timeline, number: int) -> int | None:
    """Return the index of the stage that takes most of a slice, None between stages."""
    start_s, end_s = number * timeline.interval_s, (number + 1) * timeline.interval_s
    overlaps_s = [
        min(end_s, stage.end_s) - max(start_s, stage.start_s) for stage in timeline.stages
    ]
    longest_s = max(overlaps_s, default=0)
    return overlaps_s.index(longest_s) if longest_s > 0 else None


def stage_name(timeline: Timeline, index: int) -> str:
    """Return `2: reads shuffle`; the number is that in the order of start."""
    return f"{index + 1}: {timeline.stages[index].work}"


def busiest_node(timeline: Timeline) -> NodeTimeline | None:
    """Return the node that received most, or sent most, whichever is more; None if no bytes are known."""
    carried = [(_carried_bytes(timeline, node), node) for node in timeline.nodes]
    known = [(total, node) for total, node in carried if total is not None]
    return max(known, key=lambda found: found[0])[1] if known else None


def silent_nodes(timeline: Timeline) -> list[str]:
    """Return the hosts of the nodes for whose links no bytes are known."""
    return [node.host for node in timeline.nodes if _carried_bytes(timeline, node) is None]


def _carried_bytes(timeline: Timeline, node: NodeTimeline) -> int | None:
    """Return what a node received or what it sent, whichever is more; None if neither is known."""
    totals = []
    for series in (node.received_bytes, node.sent_bytes):
        known = [value for value in timeline.series(series) if value is not None]
        if known:
            totals.append(sum(known))
    return max(totals, default=None)


def _link_levels(part: LinkSlice, limit: Goodput) -> list[float | None]:
    """Return what a link carries in either direction, as a part of what makes it full: beyond 1, it is."""
    rates = ((part.bit_s(way), FULL * limit.bit_s(way)) for way in _WAYS)
    return [rate and rate / most for rate, most in rates]


@dataclass(frozen=True)
class TrialUse:
    """A trial that counts, and its `timeline`.

    `full` has for each slice what was full: directions of links, or hosts of disks. It is None if unknown.
    """

    run: Run
    trial: Trial
    timeline: Timeline
    full: tuple[set[str], ...] | None

    @property
    def full_share(self) -> float | None:
        """The part of the time in which the link, or a disk, of some node was full; None if unknown."""
        return None if self.full is None else sum(map(bool, self.full)) / len(self.full)

    def stages_while_full(self) -> list[str]:
        """Return the name of the stage of each slice in which something was full, or `between stages`."""
        full = compress(range(self.timeline.slices), self.full or ())
        indexes = (stage_of(self.timeline, number) for number in full)
        return [BETWEEN_STAGES if n is None else stage_name(self.timeline, n) for n in indexes]


@dataclass(frozen=True)
class TrialLink(TrialUse):
    """The links of a trial. `goodput` is that of the busiest node's link, None if it is unknown.

    `full` is None if no node's goodput is known.
    """

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
    """

    busiest: str
    busy_share: float


UseT = TypeVar("UseT", bound=TrialUse)


def trial_links(
    column: ConfigurationRuns,
    measurements: Iterable[Measurement] = (),
    without: Collection[str] = (),
) -> tuple[TrialLink, ...]:
    """Return the trials of a configuration that count and for whose links enough bytes are known.

    `measurements` come from the configuration's probes; `without` names workloads to leave out.
    """
    mesh = pair_matrix(measurements, MESH_GOODPUT)
    links = (
        _trial_link(recorded.run, trial, timeline, goodput_of)
        for recorded in column.runs
        for goodput_of in [cache(partial(goodput, recorded.run, mesh))]
        for trial, timeline in _timed_trials(recorded, without)
    )
    return tuple(filter(None, links))


def trial_disks(column: ConfigurationRuns, without: Collection[str] = ()) -> tuple[TrialDisks, ...]:
    """Return the trials of a configuration that count and for whose disks enough is known.

    What a control group holds back does not make a disk busy: then nothing is known.
    """
    disks = (
        _trial_disks(recorded.run, trial, timeline)
        for recorded in column.runs
        if "disk_limited" not in recorded.run.facts
        for trial, timeline in _timed_trials(recorded, without)
    )
    return tuple(filter(None, disks))


def _timed_trials(
    recorded: RecordedRun, without: Collection[str]
) -> Iterator[tuple[Trial, Timeline]]:
    for trial in measured_trials([recorded]):
        if trial.wall_s is not None and trial.workload not in without and trial.timeline:
            yield trial, trial.timeline


def _trial_link(
    run: Run, trial: Trial, timeline: Timeline, goodput_of: Callable[[str], Goodput | None]
) -> TrialLink | None:
    """Return the links of a trial; None if no node's bytes are known, or too few slices of one.

    Nodes without any bytes do not count: see `silent_nodes`.
    """
    busiest = busiest_node(timeline)
    silent = silent_nodes(timeline)
    nodes = [node for node in timeline.nodes if node.host not in silent]
    slices = [link_slices(timeline, node) for node in nodes]
    known = ([None not in part for part in of_node] for of_node in slices)
    if busiest is None or not all(map(_are_enough, known)):
        return None
    by_node = [
        [_full(_WAYS, _link_levels(part, limit)) for part in of_node]
        for node, of_node in zip(nodes, slices, strict=True)
        if (limit := goodput_of(node.host))
    ]
    full = tuple(set().union(*ways) for ways in zip(*by_node, strict=True)) if by_node else None
    return TrialLink(run, trial, timeline, full, busiest, goodput_of(busiest.host))


def _trial_disks(run: Run, trial: Trial, timeline: Timeline) -> TrialDisks | None:
    """Return the disks of a trial; None if nothing is known of any, or too few slices of one."""
    nodes = [node for node in timeline.nodes if node.disk_busy_percent]
    series = [
        [busy and busy / (100 * DISK_FULL) for busy in timeline.series(node.disk_busy_percent)]
        for node in nodes
    ]
    known = ([level is not None for level in of_node] for of_node in series)
    if not nodes or not all(map(_are_enough, known)):
        return None
    slices = list(zip(*series, strict=True))
    hosts = [node.host for node in nodes]
    full = tuple(_full(hosts, every) for every in slices)
    totals = [sum(filter(None, of_node)) for of_node in series]
    busiest = nodes[totals.index(max(totals))]
    name = f"{busiest.host}: {busiest.busiest_disk}" if busiest.busiest_disk else busiest.host
    highest = [max(own) for every in slices if (own := [n for n in every if n is not None])]
    return TrialDisks(run, trial, timeline, full, name, DISK_FULL * fmean(highest))


def _full(names: Iterable[str], levels: Iterable[float | None]) -> set[str]:
    return {name for name, level in zip(names, levels, strict=True) if (level or 0) > 1}


def _are_enough(known: Sequence[bool]) -> bool:
    """Whether so few slices are unknown that the others tell for how long something was full."""
    return known.count(False) <= _MAX_UNKNOWN * len(known)


@dataclass(frozen=True)
class FullTime:
    """For how long the link, or a disk, of some node was full in a workload's trials that count.

    `full_share` is the mean of the runs' means, and `full_s` the same part of the time that tables have;
    None if unknown. `stage` is the one in which it was full for longest, None if it never was. `busiest` is
    the node, or the disk (`n1: sda`), that was the busiest most often.
    """

    busiest: str
    full_s: float | None
    full_share: float | None
    stage: str | None


@dataclass(frozen=True)
class LinkUse(FullTime):
    """The full time of links. It is unknown if the goodput of all links is.

    `direction` is the one in which a link was full for longest, None if none ever was. `typical` is the trial
    whose time is the nearest to the median.
    """

    typical: TrialLink
    goodput: Goodput | None
    direction: str | None


def link_uses(links: Sequence[TrialLink]) -> dict[str, LinkUse]:
    """Return the use of the busiest links by workload, without workloads that have no timeline."""
    return {name: _link_use(own) for name, own in _by_workload(links).items()}


def disk_uses(disks: Sequence[TrialDisks]) -> dict[str, FullTime]:
    """Return the use of the busiest disks by workload, without workloads of whose disks nothing is known."""
    return {
        name: _full_time(own, mode(each.busiest for each in own))
        for name, own in _by_workload(disks).items()
    }


def _by_workload(uses: Sequence[UseT]) -> dict[str, list[UseT]]:
    workloads = dict.fromkeys(use.trial.workload for use in uses)
    return {name: [use for use in uses if use.trial.workload == name] for name in workloads}


def run_shares(uses: Iterable[TrialUse]) -> list[float]:
    """Return for each run the mean part of the time in which something was full, where it is known."""
    return list(map(fmean, _by_run(uses, lambda use: use.full_share)))


def busy_shares(disks: Iterable[TrialDisks]) -> list[float]:
    """Return for each run the mean part of the time in which the busiest disk was busy."""
    return list(map(fmean, _by_run(disks, lambda each: each.busy_share)))


def _by_run(uses: Iterable[UseT], read: Callable[[UseT], float | None]) -> Iterator[list[float]]:
    for _, of_run in groupby(uses, lambda use: use.run.id):
        if known := [value for use in of_run if (value := read(use)) is not None]:
            yield known


def _full_time(uses: Sequence[TrialUse], busiest: str) -> FullTime:
    shares = run_shares(uses)
    share = fmean(shares) if shares else None
    time_s = geometric_mean(map(median, _by_run(uses, lambda use: use.trial.wall_s)))
    stages = [stage for use in uses for stage in use.stages_while_full()]
    return FullTime(
        busiest=busiest,
        full_s=None if share is None else share * time_s,
        full_share=share,
        stage=mode(stages) if stages else None,
    )


def _link_use(links: Sequence[TrialLink]) -> LinkUse:
    known = [link for link in links if link.full is not None] or links
    host = mode(link.node.host for link in links)
    full = _full_time(known, host)
    return LinkUse(
        **vars(full),
        typical=typical_trial(known),
        goodput=next((link.goodput for link in known if link.node.host == host), known[0].goodput),
        direction=_direction(known) if full.stage else None,
    )


def _direction(links: Sequence[TrialLink]) -> str:
    full = {way: sum(way in ways for link in links for ways in link.full or ()) for way in _WAYS}
    less, more = sorted(full.values())
    return BOTH_WAYS if less >= _MIN_OTHER_WAY * more else max(full, key=full.__getitem__)


def typical_trial(uses: Sequence[UseT]) -> UseT:
    """Return the trial whose time is the nearest to the median of these, one or more."""
    middle_s = median(use.trial.wall_s or 0 for use in uses)
    return min(uses, key=lambda use: abs((use.trial.wall_s or 0) - middle_s))
