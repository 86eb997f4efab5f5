"""When the links of a trial's nodes were full, in which direction, and during which stage."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import compress, groupby
from statistics import fmean, geometric_mean, median, mode
from typing import NamedTuple

from harness.analysis.network.goodput import Goodput, goodput
from harness.analysis.network.mesh import RECEIVES, SENDS, pair_matrix
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import Run, Trial
from harness.model.timeline import NodeTimeline, Timeline

FULL = 0.7
"""A link is full in a slice in which it carries more than this part of its goodput."""
BOTH_WAYS = "both ways"
BETWEEN_STAGES = "between stages"
_MAX_UNKNOWN = 0.1
"""The largest unknown fraction of a node's slices; with more, the time of its full link is unknown."""
_WAYS = (RECEIVES, SENDS)
_MIN_OTHER_WAY = 0.5
"""A link is full both ways if one direction is full for at least this part of the other's time."""


class LinkSlice(NamedTuple):
    """What the links of a node carried in a slice of a trial, with headers; None is unknown."""

    start_s: float
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
    return tuple(
        LinkSlice(number * timeline.interval_s, timeline.interval_s, received, sent)
        for number, (received, sent) in enumerate(zip(*series, strict=True))
    )


def stage_of(timeline: Timeline, part: LinkSlice) -> int | None:
    """Return the index of the stage that takes most of a slice, None between stages."""
    start_s, end_s = part.start_s, part.start_s + part.length_s
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


def full_ways(part: LinkSlice, limit: Goodput) -> set[str]:
    """Return the directions in which a link is full in a slice."""
    return {way for way in _WAYS if (part.bit_s(way) or 0) > FULL * limit.bit_s(way)}


@dataclass(frozen=True)
class TrialLink:
    """A trial that counts, with its busiest node.

    `goodput` is that of the busiest node's link, None if it is unknown. `full` has for each slice the
    directions in which the link of some node was full; it is None if no node's goodput is known.
    """

    run: Run
    trial: Trial
    timeline: Timeline
    node: NodeTimeline
    goodput: Goodput | None
    full: tuple[set[str], ...] | None

    @cached_property
    def slices(self) -> tuple[LinkSlice, ...]:
        """The slices of the busiest node."""
        return link_slices(self.timeline, self.node)

    @property
    def full_share(self) -> float | None:
        """The part of the trial's time in which the link of some node was full; None if unknown."""
        return None if self.full is None else sum(map(bool, self.full)) / len(self.full)

    def stages_while_full(self) -> list[str]:
        """Return the name of the stage of each slice in which a link was full, or `between stages`."""
        full = compress(self.slices, self.full or ())
        indexes = (stage_of(self.timeline, part) for part in full)
        return [BETWEEN_STAGES if n is None else stage_name(self.timeline, n) for n in indexes]


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
        _trial_link(recorded.run, trial, trial.timeline, goodput_of)
        for recorded in column.runs
        for goodput_of in [cache(partial(goodput, recorded.run, mesh))]
        for trial in measured_trials([recorded])
        if trial.wall_s is not None and trial.workload not in without and trial.timeline
    )
    return tuple(filter(None, links))


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
    if busiest is None or not all(map(_are_known, slices)):
        return None
    by_node = [
        [full_ways(part, limit) for part in of_node]
        for node, of_node in zip(nodes, slices, strict=True)
        if (limit := goodput_of(node.host))
    ]
    full = tuple(set().union(*ways) for ways in zip(*by_node, strict=True)) if by_node else None
    return TrialLink(run, trial, timeline, busiest, goodput_of(busiest.host), full)


def _are_known(slices: Sequence[LinkSlice]) -> bool:
    """Whether so few slices are unknown that the others tell for how long the link was full."""
    unknown = sum(part.received_bytes is None or part.sent_bytes is None for part in slices)
    return unknown <= _MAX_UNKNOWN * len(slices)


@dataclass(frozen=True)
class LinkUse:
    """For how long the link of some node was full in a workload's trials that count.

    `full_share` is the mean of the runs' means, and `full_s` the same part of the time that tables have;
    None if the goodput of all links is unknown. `host` is the node that was the busiest most often;
    `direction` and `stage` are those in which a link was full for longest, None if none ever was. `typical`
    is the trial whose time is the nearest to the median.
    """

    trials: int
    typical: TrialLink
    host: str
    goodput: Goodput | None
    full_s: float | None
    full_share: float | None
    direction: str | None
    stage: str | None


def link_uses(links: Sequence[TrialLink]) -> dict[str, LinkUse]:
    """Return the use of the busiest links by workload, without workloads that have no timeline."""
    workloads = dict.fromkeys(link.trial.workload for link in links)
    return {
        name: _link_use([link for link in links if link.trial.workload == name])
        for name in workloads
    }


def run_shares(links: Iterable[TrialLink]) -> list[float]:
    """Return for each run the mean part of the time in which a link was full, where it is known."""
    return list(map(fmean, _by_run(links, lambda link: link.full_share)))


def _by_run(
    links: Iterable[TrialLink], read: Callable[[TrialLink], float | None]
) -> Iterator[list[float]]:
    """Yield for each run what `read` knows of its trials."""
    for _, of_run in groupby(links, lambda link: link.run.id):
        if known := [value for link in of_run if (value := read(link)) is not None]:
            yield known


def _link_use(links: Sequence[TrialLink]) -> LinkUse:
    known = [link for link in links if link.full is not None] or links
    typical, host = typical_trial(known), mode(link.node.host for link in links)
    shares = run_shares(known)
    share = fmean(shares) if shares else None
    time_s = geometric_mean(map(median, _by_run(known, lambda link: link.trial.wall_s)))
    stages = [stage for link in known for stage in link.stages_while_full()]
    return LinkUse(
        trials=len(known),
        typical=typical,
        host=host,
        goodput=next((link.goodput for link in known if link.node.host == host), known[0].goodput),
        full_s=None if share is None else share * time_s,
        full_share=share,
        direction=_direction(known) if stages else None,
        stage=mode(stages) if stages else None,
    )


def _direction(links: Sequence[TrialLink]) -> str:
    full = {way: sum(way in ways for link in links for ways in link.full or ()) for way in _WAYS}
    less, more = sorted(full.values())
    return BOTH_WAYS if less >= _MIN_OTHER_WAY * more else max(full, key=full.__getitem__)


def typical_trial(links: Sequence[TrialLink]) -> TrialLink:
    """Return the trial whose time is the nearest to the median of these, one or more."""
    middle_s = median(link.trial.wall_s or 0 for link in links)
    return min(links, key=lambda link: abs((link.trial.wall_s or 0) - middle_s))
