"""The links of all nodes: what the link probe asks, asked here and by a task on each executor."""

from __future__ import annotations

import platform
import subprocess

from pyspark.sql import SparkSession

from datagen.session import executor_hosts, is_local
from harness.probes.link import HostLink, link_of, questions
from harness.probes.node_links import NodeLinks
from harness.probes.tools import ToolFailed
from harness.record.network import interface_traffic, node_identity
from jobs.executors import ask_each

ANSWER_S = 30

Told = tuple[str, dict[str, str]]
"""A node's identity, and what it says of each of its interfaces."""


def node_links(spark: SparkSession) -> NodeLinks:
    """Every interface that leads to other machines, of every node that can be asked."""
    hosts = {} if is_local(spark) else executor_hosts(spark)
    named = {"": platform.node(), **hosts}
    told = {**ask_each(spark, hosts, _told_here), "": _told_here()}
    # If an executor is on the driver's node, its name is the cluster's.
    by_node = {one[0]: (named[executor], one[1]) for executor, one in reversed(told.items()) if one}
    return {host: _links(host, texts) for host, texts in sorted(by_node.values())}


def _told_here() -> Told | None:
    try:
        return node_identity(), {name: _answer(name) for name in interface_traffic()}
    except (OSError, ValueError, IndexError, subprocess.TimeoutExpired):  # no Linux, or no shell
        return None


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
        except ToolFailed:  # it has gone meanwhile
            continue
    return links
