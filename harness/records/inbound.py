"""Undoes a double count of former versions: of what a limited link received.

While we limit a link in both directions, what a host receives passes through a second device. In containers
and network namespaces, former versions recorded that device among the links that lead to other machines, and
added its bytes, once received and once sent, to those of the link: the received bytes were doubled, and the
sent ones were too many by as much. So the right numbers follow from the recorded ones.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from harness.model.interface import INBOUND_DEVICE
from harness.model.run import Run, Trial
from harness.model.task_metrics import NodeBytes
from harness.model.timeline import Timeline, packed


def count_inbound_once(run: Run, trials: Iterable[Trial]) -> tuple[Run, tuple[Trial, ...]]:
    """Return a run without the device, and its trials without the bytes that were counted twice."""
    driver, nodes = run.environment.get("links") or {}, run.environment.get("nodes") or {}
    by_host = nodes or {run.environment.get("host"): driver}
    limited = {host for host, links in by_host.items() if INBOUND_DEVICE in links}
    if not limited:
        return run, tuple(trials)
    links = {"links": _real(driver), "nodes": {host: _real(nodes[host]) for host in nodes}}
    environment = {key: links.get(key, value) for key, value in run.environment.items()}
    return replace(run, environment=environment), tuple(_trial(trial, limited) for trial in trials)


def _real(links: Mapping[str, Any]) -> dict[str, Any]:
    return {name: link for name, link in links.items() if name != INBOUND_DEVICE}


def _trial(trial: Trial, limited: Collection[str]) -> Trial:
    wire = trial.wire and replace(
        trial.wire,
        nodes=tuple(_node(node) if node.host in limited else node for node in trial.wire.nodes),
    )
    return replace(trial, wire=wire, timeline=trial.timeline and _timeline(trial.timeline, limited))


def _node(node: NodeBytes) -> NodeBytes:
    received = node.received_bytes // 2
    return NodeBytes(node.host, received, max(0, node.sent_bytes - received))


def _timeline(timeline: Timeline, limited: Collection[str]) -> Timeline:
    received, sent = list(timeline.received_bytes), list(timeline.sent_bytes)
    for place, host in enumerate(timeline.hosts):
        if host in limited:
            received[place], sent[place] = _series(timeline, received[place], sent[place])
    return replace(timeline, received_bytes=tuple(received), sent_bytes=tuple(sent))


def _series(
    timeline: Timeline, received: str | None, sent: str | None
) -> tuple[str | None, str | None]:
    """Return both series of a node. What was sent is unknown where nobody knows what was received."""
    halved = received and _halved(received)
    halves = timeline.series(halved)
    rest = [
        None if all_s is None or half is None else max(0, all_s - half)
        for all_s, half in zip(timeline.series(sent), halves, strict=True)
    ]
    return halved, (sent and packed(rest))


def _halved(series: str) -> str:
    """Return a packed series with half of each number: the first is the largest, of which all are parts."""
    largest, space, levels = series.partition(" ")
    return f"{int(largest) // 2}{space}{levels}"
