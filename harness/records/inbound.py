"""Undoes a double count of former versions: of what a limited link received.

While we limit a link in both directions, what a host receives passes through a second device. In containers
and network namespaces, former versions recorded that device among the links that lead to other machines, and
added its bytes, once received and once sent, to those of the link: the received bytes were doubled, and the
sent ones were too many by as much. So the right numbers follow from the recorded ones.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from harness.model.interface import INBOUND_DEVICE
from harness.model.run import Run, Trial
from harness.model.task_metrics import NodeBytes
from harness.model.timeline import NodeTimeline, Timeline, packed


def count_inbound_once(run: Run, trials: Iterable[Trial]) -> tuple[Run, tuple[Trial, ...]]:
    """Return a run without the device, and its trials without the bytes that were counted twice."""
    driver, nodes = run.environment.get("links") or {}, run.environment.get("nodes") or {}
    by_host = nodes or {run.environment.get("host"): driver}
    limited = frozenset(host for host, links in by_host.items() if INBOUND_DEVICE in links)
    if not limited:
        return run, tuple(trials)
    links = {"links": _real(driver), "nodes": {host: _real(nodes[host]) for host in nodes}}
    environment = {key: links.get(key, value) for key, value in run.environment.items()}
    return replace(run, environment=environment), tuple(_trial(trial, limited) for trial in trials)


def _real(links: Mapping[str, Any]) -> dict[str, Any]:
    return {name: link for name, link in links.items() if name != INBOUND_DEVICE}


def _trial(trial: Trial, limited: frozenset[str]) -> Trial:
    wire = trial.wire and replace(
        trial.wire,
        nodes=tuple(_node(node) if node.host in limited else node for node in trial.wire.nodes),
    )
    timeline = trial.timeline and _CountedTwice(**vars(trial.timeline), limited=limited)
    return replace(trial, wire=wire, timeline=timeline)


def _node(node: NodeBytes) -> NodeBytes:
    received = node.received_bytes // 2
    return NodeBytes(node.host, received, max(0, node.sent_bytes - received))


@dataclass(frozen=True)
class _CountedTwice(Timeline):
    """A timeline whose nodes are corrected when somebody reads them: most readers compare times alone."""

    limited: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """It was checked when it was read."""

    @cached_property
    def nodes(self) -> tuple[NodeTimeline, ...]:
        """The nodes as they are right."""
        return tuple(
            self._once(node) if node.host in self.limited else node for node in super().nodes
        )

    def _once(self, node: NodeTimeline) -> NodeTimeline:
        """Return a node right. What it sent is unknown where nobody knows what it received."""
        received, sent = node.received_bytes, node.sent_bytes
        halved = received and _halved(received)
        if sent:
            pairs = zip(self.series(sent), self.series(halved), strict=True)
            sent = packed(
                [
                    None if all_s is None or half is None else max(0, all_s - half)
                    for all_s, half in pairs
                ]
            )
        return replace(node, received_bytes=halved, sent_bytes=sent)


def _halved(series: str) -> str:
    """Return a packed series with half of each number: the first is the largest, of which all are parts."""
    largest, space, levels = series.partition(" ")
    return f"{int(largest) // 2}{space}{levels}"
