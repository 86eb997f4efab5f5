"""A look at the network interfaces of all nodes: the driver's, and each executor's by a task on it."""

from __future__ import annotations

import subprocess

from pyspark.sql import SparkSession

from harness.model.errors import ToolError
from harness.model.interface import HostLink
from harness.node.interface import NodeLinks, link_of, questions
from harness.node.traffic import NodeTraffic, TrafficSnapshot, interface_traffic
from jobs.executors import run_on_nodes


def traffic_snapshot(spark: SparkSession) -> TrafficSnapshot:
    """The counters of every node that can be asked. No trial may run meanwhile."""
    found = run_on_nodes(spark, interface_traffic)
    nodes = {id_: NodeTraffic(id_, host, traffic) for id_, (host, traffic) in found.seen.items()}
    return TrafficSnapshot(nodes, found.executors)


# MERGED from jobs.node_links: 'The links of all nodes: what the link probe asks, asked here and by a task on each executor.'
ANSWER_S = 30


def node_links(spark: SparkSession) -> NodeLinks:
    """Every interface that leads to other machines, of every node that can be asked."""
    return {
        host: _links(host, texts) for host, texts in sorted(run_on_nodes(spark, _told).seen.values())
    }


def _told() -> dict[str, str]:
    """What this node says of each of its interfaces."""
    return {name: _answer(name) for name in interface_traffic()}


def _answer(device: str) -> str:
    asked = subprocess.run(  # noqa: S603  an argument vector, no shell of ours
        questions(device),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=ANSWER_S,
        check=False,
    )
    return asked.stdout


def _links(host: str, texts: dict[str, str]) -> dict[str, HostLink]:
    links = {}
    for device, text in texts.items():
        try:
            links[device] = link_of(host, device, text)
        except ToolError:  # it has gone meanwhile
            continue
    return links
