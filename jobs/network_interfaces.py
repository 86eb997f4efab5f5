"""A look at the network interfaces of all nodes: the driver's, and each executor's by a task on it."""

from __future__ import annotations

from pyspark.sql import SparkSession

from harness.record.network import Look, Node, interface_traffic
from jobs.executors import ask_nodes


def look(spark: SparkSession) -> Look:
    """The counters of every node that can be asked. No trial may run meanwhile."""
    found = ask_nodes(spark, interface_traffic)
    nodes = {id_: Node(id_, host, traffic) for id_, (host, traffic) in found.seen.items()}
    return Look(nodes, found.executors)
