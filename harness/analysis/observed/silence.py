"""Nodes that did not answer: what is unknown of them, and in how many trials."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

from harness.analysis.observed.sample import measured_trials
from harness.base.items import unique
from harness.base.words import count_of, join_names, names_by_text
from harness.model.interference import NodeInterference
from harness.model.run import PROGRAM, SILENT, RecordedRun, Trial
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
    """Yield the nodes that did not answer in some measured trials, and in how many."""
    trials = list(measured_trials(runs))
    reasons: dict[str, list[str]] = {}
    for trial in trials:
        for host, reason in silent_in(trial).items():
            reasons.setdefault(host, []).append(reason)
    every = count_of(len(trials), "measured trial")
    texts: dict[str, str] = {}
    for host, own in reasons.items():
        texts[host] = f"in {len(own)} of {every} ({'; '.join(unique(own))})"
    for text, hosts in names_by_text(texts).items():
        names = join_names(sorted(hosts))
        who = "it" if len(hosts) == 1 else "they"
        yield f"what {names} sent and received, and what else {who} did, is unknown {text}"


def _without_samples(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield the nodes whose sampler gave nothing in any trial of a run."""
    found: set[str] = set()
    for recorded in runs:
        hosts: set[str] = set()
        sampled: set[str] = set()
        for trial in recorded.counted:
            if trial.timeline:
                hosts.update(trial.timeline.hosts)
                sampled.update(_sampled(trial.timeline))
            elif not recorded.run.parameters.get(PROGRAM):  # programs have no sampler
                hosts.update(node.host for node in trial.interference or ())
                sampled.update(_looped(trial.interference or ()))
        found |= hosts - sampled
    if found:
        yield (
            f"the sampler of {join_names(sorted(found))} gave no samples: how fast its processors were, and "
            "how busy its links and disks were over time, is unknown"
        )


def _sampled(timeline: Timeline) -> Iterator[str]:
    """Yield the hosts with a series."""
    for column in (timeline.received_bytes, timeline.sent_bytes, timeline.disk_busy_percent):
        yield from compress(timeline.hosts, column)


def _looped(nodes: Iterable[NodeInterference]) -> Iterator[str]:
    """Yield the hosts whose sampler ran its loop. Tables have no timelines, but know this."""
    for node in nodes:
        if node.loops is not None:
            yield node.host


def _without_link_errors(runs: Sequence[RecordedRun]) -> Iterator[str]:
    """Yield the links whose errors are unknown, of runs that came to their end."""
    found: list[str] = []
    for recorded in runs:
        known = recorded.link_errors
        if known is None:
            continue
        for host, links in (recorded.run.environment.get("nodes") or {}).items():
            for name in links:
                link = f"{host} {name}"
                if "errors" not in known.get(link, {}):
                    found.append(link)
    if found:
        yield (
            "unknown whether these links counted errors, because their counters were not read at the end, "
            f"or were reset: {join_names(unique(found))}"
        )
