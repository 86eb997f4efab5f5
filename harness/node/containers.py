"""The reading of a node on which executors run in containers that share its network.

Each of them counts the whole machine, but sees the processes and the quota of its own container alone.
"""

from __future__ import annotations  # for Python 3.8

from collections.abc import Mapping, Sequence
from typing import Any

from harness.base.items import without
from harness.node.disks import OWN_READ
from harness.node.namespaces import boot_of
from harness.node.processes import ProcessorTimes

_OWN_BYTES = ("own_disk_bytes", OWN_READ)
_OF_QUOTA = ("quota_periods", "quota_throttles", "throttled_s")


def reading_of_node(readings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the fields of a node's NodeReading, by those that its executors read, in their order.

    Executors in one namespace of processes count the same, and the last of them counts.
    """
    last = dict(readings[-1])
    by_namespace = {each["namespace"]: each["counters"] for each in readings}
    if len(by_namespace) > 1:
        last["namespace"] = _common_name(sorted(by_namespace))
        last["counters"] = _counters(last["counters"], by_namespace)
    return last


def _common_name(namespaces: Sequence[str]) -> str:
    """Return the name of several namespaces of one machine."""
    inodes = [namespace.partition(" ")[2] for namespace in namespaces]
    return " ".join([boot_of(namespaces[0]), *inodes])


def _counters(
    last: Mapping[str, Any], by_namespace: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the last counters. What a container counts of itself is taken over all containers."""
    containers = by_namespace.values()
    found = without(last, {*_OWN_BYTES, *_OF_QUOTA})
    found["own"] = {}
    for namespace, counters in by_namespace.items():
        found["own"].update(_with_namespace(namespace, counters["own"]))
    found["quota_processors"] = min(each["quota_processors"] for each in containers)
    for name in _OWN_BYTES:
        if all(name in each for each in containers):
            found[name] = sum(each[name] for each in containers)
    for name in _OF_QUOTA:
        counted = [each[name] for each in containers if name in each]
        if counted:  # else no container has a quota
            found[name] = sum(counted)
    return found


def _with_namespace(namespace: str, own: ProcessorTimes) -> ProcessorTimes:
    """Return the times of processes by names that no process of another container has."""
    found = {}
    for key, (own_s, waited_s, parent) in own.items():
        found[f"{namespace} {key}"] = (own_s, waited_s, f"{namespace} {parent}")
    return found
