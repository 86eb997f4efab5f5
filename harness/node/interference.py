"""What disturbed a trial on each node: the difference of the nodes' counters before and after it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Callable, Mapping, Tuple

from harness.base.items import known
from harness.model.interference import ClusterInterference, NodeInterference
from harness.node.disks import disk_growth
from harness.node.namespaces import boot_of
from harness.node.processes import processor_time_between
from harness.node.snapshot import NodeReading, growth

_Pair = Tuple[NodeReading, NodeReading]
_Machine = Mapping[str, _Pair]
"""The nodes of one machine, by their namespaces of processes."""
_Growth = Callable[[NodeReading, NodeReading], Any]


def interference(
    before: Mapping[str, NodeReading], after: Mapping[str, NodeReading]
) -> ClusterInterference | None:
    """Return what each node counted between two readings, sorted by host; None if no node answered twice.

    The readings are by the nodes' identities.
    """
    pairs = []
    for identity, node in before.items():
        later = after.get(identity)
        if later and later.namespace == node.namespace and growth(node, later, "clock_s"):
            pairs.append((node, later))
    machines: dict[str, dict[str, _Pair]] = {}
    for pair in pairs:
        namespace = pair[0].namespace
        machines.setdefault(boot_of(namespace), {})[namespace] = pair
    found = [_interference(pair, machines[boot_of(pair[0].namespace)]) for pair in pairs]
    return tuple(sorted(found, key=lambda node: node.host)) or None


def _interference(pair: _Pair, machine: _Machine) -> NodeInterference:
    before, after = pair
    loops, loop_ns = _loops(before, after)
    computed: dict[str, Any] = {
        "host": before.host,
        "duration_s": growth(before, after, "clock_s"),
        "processors": int(after.counters["processors"]),
        "loops": loops,
        "loop_s": loop_ns / loops / 1e9 if loops and loop_ns else None,
        "others_s": _beyond_own(growth(before, after, "busy_s"), pair, machine, _own_time),
        "others_disk_bytes": _beyond_own(
            _disk_bytes(before, after), pair, machine, _own_disk_bytes
        ),
        "quota_processors": _least_quota(before, after),
    }
    # Every other field is the growth of the counter with its name.
    growing = [field.name for field in fields(NodeInterference) if field.name not in computed]
    return NodeInterference(**computed, **{name: growth(before, after, name) for name in growing})


def _beyond_own(whole: Any, pair: _Pair, machine: _Machine, own_growth: _Growth) -> Any:
    """Return the part of a node's growth that is not our own; 0 if less was seen than we used.

    The kernel writes to disks later than a process does, so our own part may be larger.
    """
    part = _sum_on_machine(pair, machine, own_growth)
    if whole is None or part is None:
        return None
    return max(whole - part, type(whole)())


def _disk_bytes(before: NodeReading, after: NodeReading) -> int | None:
    """Return what the disks read and wrote; None if it is unknown."""
    found = disk_growth(before, after)
    if found:
        return found.read_bytes + found.written_bytes
    return None


def _own_disk_bytes(before: NodeReading, after: NodeReading) -> int | None:
    """Return what the application's processes read and wrote; None if it is unknown."""
    found: int | None = growth(before, after, "own_disk_bytes")
    return found


def _own_time(before: NodeReading, after: NodeReading) -> float | None:
    """Return the processor time of the application's processes; None if it is unknown."""
    if "own" not in before.counters or "own" not in after.counters:
        return None
    return processor_time_between(before.counters["own"], after.counters["own"])


def _least_quota(before: NodeReading, after: NodeReading) -> float | None:
    quotas = [side.counters.get("quota_processors") for side in (before, after)]
    return min(known(quotas), default=None)


def _sum_on_machine(pair: _Pair, machine: _Machine, growth_of: _Growth) -> Any:
    """Return the growth over all nodes that share the node's machine; None if one is unknown.

    They are containers, each with a namespace of its own. Nodes with a common namespace, such as network
    namespaces, all count the same processes, but not at the same moments. So where nodes share a namespace,
    each uses its own pair of readings for it.
    """
    namespace = pair[0].namespace
    shared = {**machine, namespace: pair}
    parts = [growth_of(*each) for each in shared.values()]
    if None in parts:
        return None
    return sum(parts)


def _loops(before: NodeReading, after: NodeReading) -> tuple[Any, Any]:
    """Return the number of the sampler's loops, and their sum; None if it was another sampler."""
    if before.counters.get("started_ns") != after.counters.get("started_ns"):
        return None, None
    return growth(before, after, "loops"), growth(before, after, "loop_ns")
