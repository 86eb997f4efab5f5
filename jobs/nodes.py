"""The network interfaces of all nodes: the driver's node, and each executor's through a task on it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from pyspark.sql import SparkSession

from datagen.spark.session import executor_hosts, is_local
from harness.model.errors import ToolError
from harness.model.interface import HostLink
from harness.node.interface import link_command, parse_link
from harness.node.node_links import NodeLinks
from harness.node.traffic import (
    NodeTraffic,
    TrafficSnapshot,
    interface_traffic,
    node_identity,
)
from jobs.executors import run_on_executors

T = TypeVar("T")

LINK_TIMEOUT_S = 30


def traffic_snapshot(spark: SparkSession) -> TrafficSnapshot:
    """Return the interface counters of every node that answers. No trial may run meanwhile."""
    answers = run_on_nodes(spark, interface_traffic)
    nodes = {id_: NodeTraffic(id_, host, traffic) for id_, (host, traffic) in answers.nodes.items()}
    return TrafficSnapshot(nodes, answers.executors)


def node_links(spark: SparkSession) -> NodeLinks:
    """Return the interfaces that lead to other machines, of every node that answers."""
    answers = run_on_nodes(spark, _describe_links)
    return {host: _links(host, texts) for host, texts in sorted(answers.nodes.values())}


@dataclass(frozen=True)
class NodeAnswers(Generic[T]):
    """The results of a function on all nodes.

    `nodes` has each node's host and result, by the node's identity. `executors` has each executor's
    host and the identity of its node, None if the executor did not answer.
    """

    nodes: Mapping[str, tuple[str, T]]
    executors: Mapping[str, tuple[str, str | None]]


def run_on_nodes(spark: SparkSession, function: Callable[[], T]) -> NodeAnswers[T]:
    """Run a function on the driver's node and on each executor's node."""
    hosts = {} if is_local(spark) else executor_hosts(spark)
    results = run_on_executors(spark, hosts, partial(_identified, function))
    answers = {executor: answer for executor, answer in results.items() if answer is not None}
    nodes = {identity: (hosts[executor], value) for executor, (identity, value) in answers.items()}
    if own := _identified(function):
        identity, value = own
        # A node that also has an executor keeps the name that the cluster gives it.
        nodes.setdefault(identity, (platform.node(), value))
    executors = {
        executor: (host, answers[executor][0] if executor in answers else None)
        for executor, host in hosts.items()
    }
    return NodeAnswers(nodes, executors)


def _identified(function: Callable[[], T]) -> tuple[str, T] | None:
    """Return the identity of this node and the result; None on a node without Linux or a shell."""
    try:
        return node_identity(), function()
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None


def _describe_links() -> dict[str, str]:
    """Return what this node reports about each of its interfaces, as text."""
    return {device: _describe_link(device) for device in interface_traffic()}


def _describe_link(device: str) -> str:
    done = subprocess.run(  # noqa: S603  an argument vector of our own
        link_command(device),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LINK_TIMEOUT_S,
        check=False,
    )
    return done.stdout


def _links(host: str, texts: Mapping[str, str]) -> dict[str, HostLink]:
    links = {}
    for device, text in texts.items():
        try:
            links[device] = parse_link(host, device, text)
        except ToolError:  # the interface has disappeared meanwhile
            continue
    return links
