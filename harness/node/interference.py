"""What disturbed a trial on each node: the difference of the nodes' counters before and after it."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

from harness.model.interference import ClusterInterference, NodeInterference
from harness.node.disks import disk_growth
from harness.node.namespaces import boot_of
from harness.node.processes import processor_time_between
from harness.node.snapshot import NodeReading, both, growth


def interference(
    before: Mapping[str, NodeReading], after: Mapping[str, NodeReading]
) -> ClusterInterference | None:
    """Return what each node counted between two readings, sorted by host; None if no node answered twice.

    The readings are by the nodes' identities.
    """
    pairs = [(node, after[identity]) for identity, node in before.items() if identity in after]
    pairs = [
        (first, then)
        for first, then in pairs
        if first.namespace == then.namespace and growth(first, then, "clock_s")
    ]
    found = [_interference(first, then, pairs) for first, then in pairs]
    return tuple(sorted(found, key=lambda node: node.host)) or None


_Pair = tuple[NodeReading, NodeReading]
_Pairs = list[_Pair]
_Growth = Callable[[NodeReading, NodeReading], Any]


def _interference(before: NodeReading, after: NodeReading, pairs: _Pairs) -> NodeInterference:
    def beyond_own(of_all: _Growth, own: _Growth) -> Any:
        """Return what is not our own; the kernel writes later what a process wrote."""
        whole, part = of_all(before, after), _on_machine((before, after), pairs, own)
        return None if whole is None or part is None else max(whole - part, type(whole)())

    loops, loop_ns = _loops(before, after)
    computed: dict[str, Any] = {
        "host": before.host,
        "duration_s": growth(before, after, "clock_s"),
        "processors": int(after.counters["processors"]),
        "loops": loops,
        "loop_s": loop_ns / loops / 1e9 if loops and loop_ns else None,
        "others_s": beyond_own(partial(growth, name="busy_s"), _own_time),
        "others_disk_bytes": beyond_own(_disk_bytes, partial(growth, name="own_disk_bytes")),
        "quota_processors": min(both(before, after, "quota_processors"), default=None),
    }
    # Every other field is the growth of the counter with its name.
    growing = [field.name for field in fields(NodeInterference) if field.name not in computed]
    return NodeInterference(**computed, **{name: growth(before, after, name) for name in growing})


def _disk_bytes(before: NodeReading, after: NodeReading) -> int | None:
    """Return what the disks read and wrote; None if it is unknown."""
    found = disk_growth(before, after)
    return found.read_bytes + found.written_bytes if found else None


def _own_time(before: NodeReading, after: NodeReading) -> float | None:
    """Return the processor time of the application's processes; None if it is unknown."""
    times = list(both(before, after, "own"))
    return processor_time_between(*times) if len(times) > 1 else None


def _on_machine(node: _Pair, pairs: _Pairs, growth: _Growth) -> Any:
    """Return the growth over all nodes that share the node's machine; None if one is unknown.

    They are containers, each with a namespace of its own. Nodes with a common one, such as network
    namespaces, all count the same processes, but not at the same moments: of its own namespace, the node's
    own readings count, as they do of what the whole machine used.
    """
    boot = boot_of(node[0].namespace)
    shared = {pair[0].namespace: pair for pair in pairs if boot_of(pair[0].namespace) == boot}
    shared[node[0].namespace] = node
    grown = [growth(*pair) for pair in shared.values()]
    return None if None in grown else sum(grown)


def _loops(before: NodeReading, after: NodeReading) -> tuple[Any, Any]:
    """Return the number of the sampler's loops, and their sum; None if it was another sampler."""
    started_ns = list(both(before, after, "started_ns"))
    if started_ns != started_ns[:1] * 2:
        return None, None
    return growth(before, after, "loops"), growth(before, after, "loop_ns")
