"""Runs that ran at the same time as others: each may have disturbed the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from harness.model.run import RecordedRun, moment_of
from harness.records.published import IMPORTED_DIGEST
from harness.runtime.clock import duration_text
from harness.words import join_names

MIN_OVERLAP_S = 1.0
"""Clocks of two hosts may differ by less than this, and one run begins when the one before it ends."""


@dataclass(frozen=True)
class _Span:
    """When a run was under way, as far as it recorded that."""

    recorded: RecordedRun
    start: datetime
    end: datetime

    @property
    def nodes(self) -> frozenset[str]:
        return _nodes(self.recorded)

    @property
    def application(self) -> tuple[object, ...] | None:
        """What identifies the application on its master: configurations in turns share one."""
        environment = self.recorded.run.environment
        found = environment.get("master"), environment.get("application")
        return found if all(found) else None


def overlap_lines(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield a line on those of these runs that ran at the same time as another of them."""
    yield from _line(list(_overlapping(runs)))


def overlaps_with(runs: Sequence[RecordedRun], others: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield a line on those of these runs that ran at the same time as one of the others."""
    own = {recorded.run.id for recorded in runs}
    yield from _line(
        [
            (first, second)
            for first, second in _overlapping([*runs, *others])
            if (first.recorded.run.id in own) != (second.recorded.run.id in own)
        ]
    )


def _line(pairs: Sequence[tuple[_Span, _Span]]) -> Iterator[str]:
    if pairs:
        texts = [_text(first, second) for first, second in pairs]
        yield (
            "runs at the same time, each of which may have disturbed the other: "
            + join_names(texts)
        )


def _overlapping(runs: Sequence[RecordedRun]) -> Iterator[tuple[_Span, _Span]]:
    """Yield the pairs of runs that overlap, but for configurations that took turns in one application."""
    spans = sorted((span for each in runs if (span := _span(each))), key=lambda span: span.start)
    active: list[_Span] = []
    for span in spans:
        least = span.start + timedelta(seconds=MIN_OVERLAP_S)
        active = [earlier for earlier in active if earlier.end >= least]
        for earlier in active:
            in_turns = span.application is not None and span.application == earlier.application
            if not in_turns and _overlap_s(earlier, span) >= MIN_OVERLAP_S:
                yield earlier, span
        active.append(span)


def _span(recorded: RecordedRun) -> _Span | None:
    """Return when a run was under way; None if its times were imported, or its nodes are unknown."""
    if IMPORTED_DIGEST in recorded.run.parameters or not _nodes(recorded):
        return None
    start = moment_of(recorded.run.started_at)
    ends = [
        moment_of(trial.started_at) + timedelta(seconds=(trial.wall_s or 0.0) * trial.executions)
        for trial in recorded.trials
    ]
    return _Span(recorded, start, max([start, *ends]))


def _nodes(recorded: RecordedRun) -> frozenset[str]:
    """Return the hosts of the executors, or of a run without any its own; none if that is unknown."""
    environment = recorded.run.environment
    hosts = environment.get("executors") or [environment.get("host")]
    return frozenset(filter(None, hosts))


def _overlap_s(first: _Span, second: _Span) -> float:
    return (min(first.end, second.end) - max(first.start, second.start)).total_seconds()


def _text(first: _Span, second: _Span) -> str:
    where = "on the same nodes" if first.nodes & second.nodes else "on other nodes"
    names = f"{first.recorded.run.id} and {second.recorded.run.id}"
    return f"{names} ({duration_text(_overlap_s(first, second))} {where})"
