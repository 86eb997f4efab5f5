"""A snapshot of what the nodes of a run have counted: a reading of each node that answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Mapping, Tuple

from harness.node.sampler import Sample

Traffic = Tuple[int, int]
"""Bytes that an interface has received and sent since it exists."""

Counters = Mapping[str, Any]
"""Numbers by name. A counter whose growth is a field of NodeInterference has the name of that field.

Only `own` is no number: it is the ProcessorTimes of the application."""


@dataclass(frozen=True)
class NodeReading:
    """The counts of one node since it booted. Each container on a machine is a node of its own.

    - `namespace`: of the processes whose usage counts as the application's.
    - `traffic`: by interface; `samples`: of the node's sampler, none unless they were asked for.
    - `busiest_disk`: the one that was busy for longest while they were taken; None if none was.
    """

    host: str
    namespace: str = ""
    counters: Counters = field(default_factory=dict)
    traffic: Mapping[str, Traffic] = field(default_factory=dict)
    samples: Sequence[Sample] = ()
    busiest_disk: str | None = None


@dataclass(frozen=True)
class NodesSnapshot:
    """The readings of all nodes that answered to one job, by the nodes' identities.

    - `executors`: host and node identity of each executor, by the executor's id. The identity is None if
      the executor did not answer.
    - `asked_s`, `answered_s`: when the driver asked, and when it had all answers, by its own monotonic clock.
    - `boot`: the boot of the driver's machine. The identities of all nodes there begin with it.
    - `silent`: why a node did not answer, by its host.
    """

    nodes: Mapping[str, NodeReading]
    executors: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    asked_s: float = 0.0
    answered_s: float = 0.0
    boot: str = ""
    silent: Mapping[str, str] = field(default_factory=dict)


CAME = "its executor came during the trial"
WENT = "its executor ended during the trial"
CHANGED = "it restarted during the trial, or another node took its name"


def growth(before: NodeReading, after: NodeReading, name: str) -> Any:
    """Return the growth of a counter; None if it is unknown, or was reset in between."""
    if name not in before.counters or name not in after.counters:
        return None
    first = before.counters[name]
    then = after.counters[name]
    if then >= first:
        return then - first
    return None


def pairs(
    before: NodesSnapshot, after: NodesSnapshot
) -> dict[str, tuple[NodeReading, NodeReading]]:
    """Return both readings of each node that answered twice, by its identity."""
    return {
        identity: (node, after.nodes[identity])
        for identity, node in before.nodes.items()
        if identity in after.nodes
    }


def unread_hosts(
    before: NodesSnapshot, after: NodesSnapshot, is_read: Callable[[str], bool]
) -> set[str]:
    """Return the hosts of executors without a node that was read, as `is_read` says of its identity."""
    executors = [*before.executors.values(), *after.executors.values()]
    read = {host for host, identity in executors if identity and is_read(identity)}
    return {host for host, _ in executors} - read


def silent_hosts(before: NodesSnapshot, after: NodesSnapshot) -> dict[str, str]:
    """Return why nothing is known of a node between two snapshots, by its host; empty if all answered."""
    same = set()
    hosts = {*before.silent, *after.silent}
    for identity, (node, later) in pairs(before, after).items():
        if node.namespace == later.namespace:
            same.add(identity)
        else:
            hosts.add(node.host)
    hosts |= unread_hosts(before, after, same.__contains__)
    return {host: _why_silent(host, before, after) for host in sorted(hosts)}


def _why_silent(host: str, before: NodesSnapshot, after: NodesSnapshot) -> str:
    for snapshot in (before, after):
        if host in snapshot.silent:
            return snapshot.silent[host]
    number_before = _executors_on(host, before)
    number_after = _executors_on(host, after)
    if number_before == number_after:
        return CHANGED
    if number_before > number_after:
        return WENT
    return CAME


def _executors_on(host: str, snapshot: NodesSnapshot) -> int:
    return sum(known == host for known, _ in snapshot.executors.values())
