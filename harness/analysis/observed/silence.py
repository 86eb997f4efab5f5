"""Nodes that did not answer: what is unknown of them, and in how many trials."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress

from harness.analysis.observed.sample import measured_trials
from harness.base.words import count_of, join_names, names_by_text
from harness.model.run import SILENT, RecordedRun, Trial
from harness.model.timeline import Timeline


def silent_lines(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield a line for each kind of reading that nodes did not give; none if all is known."""
    yield from _undescribed(runs)
    yield from _silent_in_trials(runs)
    yield from _without_samples(runs)
    yield from _without_link_errors(runs)


def silent_in(trial: Trial) -> dict[str, str]:
    """Return the reason why nothing is known about a node in a trial, by host.

    Older results have no reasons; there, a node is silent if its interfaces were not read.
    """
    if trial.silent or not trial.wire:
        return dict(trial.silent)
    return dict.fromkeys(trial.wire.unread, "it did not answer")


def _undescribed(runs: Sequence[RecordedRun]) -> Iterator[str]:
    reasons: dict[str, str] = {}
    for recorded in runs:
        reasons |= recorded.run.environment.get(SILENT) or {}
    for reason, hosts in names_by_text(reasons).items():
        yield f"machine and links of {join_names(sorted(hosts))} are unknown, or not all known: {reason}"


def _silent_in_trials(runs: Sequence[RecordedRun]) -> Iterator[str]:
    trials = list(measured_trials(runs))
    reasons: dict[str, list[str]] = {}
    for trial in trials:
        for host, reason in silent_in(trial).items():
            reasons.setdefault(host, []).append(reason)
    every = count_of(len(trials), "measured trial")
    texts: dict[str, str] = {}
    for host, own in reasons.items():
        texts[host] = f"in {len(own)} of {every} ({'; '.join(dict.fromkeys(own))})"
    for text, hosts in names_by_text(texts).items():
        yield f"unknown what {join_names(sorted(hosts))} sent, received and did besides {text}"


def _without_samples(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield the nodes whose sampler gave nothing in any trial of a run."""
    found: set[str] = set()
    for recorded in runs:
        timelines = [trial.timeline for trial in recorded.counted if trial.timeline]
        hosts = chain.from_iterable(timeline.hosts for timeline in timelines)
        found |= set(hosts) - _sampled(timelines)
    if found:
        yield (
            f"the sampler of {join_names(sorted(found))} gave no samples: how fast its processors were, and "
            "how busy its links and disks were over time, is unknown"
        )


def _sampled(timelines: Iterable[Timeline]) -> set[str]:
    """Return the hosts with a series in one of these timelines."""
    found: set[str] = set()
    for timeline in timelines:
        for column in (timeline.received_bytes, timeline.sent_bytes, timeline.disk_busy_percent):
            found.update(compress(timeline.hosts, column))
    return found


def _without_link_errors(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield the links whose errors are unknown, of runs that came to their end."""
    found: dict[str, None] = {}
    for recorded in runs:
        known = recorded.link_errors
        if known is None:
            continue
        for host, links in (recorded.run.environment.get("nodes") or {}).items():
            unknown = [f"{host} {name}" for name in links if f"{host} {name}" not in known]
            found |= dict.fromkeys(unknown)
    if found:
        yield (
            f"unknown whether these links counted errors, because they were not read at the end: "
            f"{join_names(list(found))}"
        )
