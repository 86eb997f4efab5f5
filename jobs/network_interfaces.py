"""A look at the network interfaces of all nodes: the driver's, and each executor's by a task on it."""

from __future__ import annotations

import platform

from pyspark.sql import SparkSession

from datagen.session import executor_hosts, is_local
from harness.record.network import Look, Node, Traffic, interface_traffic, node_identity
from jobs.executors import ask_each

Seen = tuple[str, dict[str, Traffic]]


def look(spark: SparkSession) -> Look:
    """The counters of every node that can be asked. No trial may run meanwhile."""
    hosts = {} if is_local(spark) else executor_hosts(spark)
    answers = ask_each(spark, hosts, _seen_here)
    seen = {executor: one for executor, one in answers.items() if one is not None}
    nodes = {
        identity: Node(identity, hosts[executor], traffic)
        for executor, (identity, traffic) in seen.items()
    }
    if own := _seen_here():
        identity, traffic = own
        # If an executor shares it, its name is the cluster's.
        nodes.setdefault(identity, Node(identity, platform.node(), traffic))
    executors = {id_: (host, seen[id_][0] if id_ in seen else None) for id_, host in hosts.items()}
    return Look(nodes, executors)


def _seen_here() -> Seen | None:
    try:
        return node_identity(), interface_traffic()
    except (OSError, ValueError, IndexError):  # no Linux
        return None
