"""Runs that ran at the same time as others: each may have disturbed the other."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import heappop, heappush
from itertools import chain

from harness.base.clock import duration_text
from harness.base.words import MAX_LISTED, join_names
from harness.model.run import RecordedRun
from harness.records.published import IMPORTED_DIGEST

MIN_OVERLAP_S = 1.0
"""Clocks of two hosts may differ by less than this, and one run begins when the one before it ends."""


@dataclass(frozen=True)
class _Span:
    """When a run was under way, as far as it recorded that.

    `side` says on which side it is compared, and `other` on which side the runs are that it may overlap.
    """

    recorded: RecordedRun
    side: int
    other: int

    @property
    def start(self) -> datetime:
        return self.recorded.under_way[0]

    @property
    def end(self) -> datetime:
        return self.recorded.under_way[1]


def overlap_lines(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield a line that names the runs that ran at the same time as another one of `runs`."""
    yield from _line(_spans(runs, side=0, other=0))


def overlaps_with(runs: Sequence[RecordedRun], others: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield a line that names the runs that ran at the same time as one of `others`."""
    yield from _line(chain(_spans(runs, side=0, other=1), _spans(others, side=1, other=0)))


def _line(spans: Iterable[_Span]) -> Iterator[str]:
    """Yield a line that names the first pairs of runs that overlap, and counts all."""
    number = 0
    texts: list[str] = []
    for earlier, span in _overlapping(spans):
        number += len(earlier)
        if len(texts) < MAX_LISTED:
            texts += [_text(each, span) for each in earlier[:MAX_LISTED]]
    if texts:
        yield (
            "runs at the same time, which may have disturbed each other: "
            + join_names(texts, number)
        )


def _overlapping(spans: Iterable[_Span]) -> Iterator[tuple[list[_Span], _Span]]:
    """Yield each run, after the earlier runs of its other side that were still under way when it began.

    Configurations that took turns in one application do not overlap.
    """
    least_overlap = timedelta(seconds=MIN_OVERLAP_S)
    in_order = sorted(spans, key=lambda span: span.start)
    ends: list[tuple[datetime, int]] = []
    # By side, application and place in the order, because thousands may be of the same application.
    active: defaultdict[int, dict[str | None, dict[int, _Span]]] = defaultdict(dict)
    for place, span in enumerate(in_order):
        least_end = span.start + least_overlap
        while ends and ends[0][0] < least_end:
            _, ended = heappop(ends)
            _remove(active[in_order[ended].side], in_order[ended].recorded.application, ended)
        if span.end < least_end:
            continue
        own = span.recorded.application
        earlier: list[tuple[int, _Span]] = []
        for application, group in active[span.other].items():
            if application is None or application != own:
                earlier += group.items()
        earlier.sort()
        yield [each for _, each in earlier], span
        active[span.side].setdefault(own, {})[place] = span
        heappush(ends, (span.end, place))


def _remove(
    groups: dict[str | None, dict[int, _Span]], application: str | None, place: int
) -> None:
    """Remove the run with this place from its application's group, and an empty group."""
    del groups[application][place]
    if not groups[application]:
        del groups[application]


def _spans(runs: Iterable[RecordedRun], *, side: int, other: int) -> Iterator[_Span]:
    """Yield when runs were under way, without imported times, and without runs on unknown nodes."""
    for recorded in runs:
        if IMPORTED_DIGEST not in recorded.run.parameters and _nodes(recorded):
            yield _Span(recorded, side, other)


def _nodes(recorded: RecordedRun) -> frozenset[str]:
    """Return the hosts of the executors, or of a run without any its own; none if that is unknown."""
    environment = recorded.run.environment
    hosts = environment.get("executors") or [environment.get("host")]
    return frozenset(filter(None, hosts))


def _overlap_s(first: _Span, second: _Span) -> float:
    return (min(first.end, second.end) - max(first.start, second.start)).total_seconds()


def _text(first: _Span, second: _Span) -> str:
    where = (
        "on the same nodes"
        if _nodes(first.recorded) & _nodes(second.recorded)
        else "on other nodes"
    )
    names = f"{first.recorded.run.id} and {second.recorded.run.id}"
    return f"{names} ({duration_text(_overlap_s(first, second))} {where})"
