"""The interfaces of all nodes; in local mode, there is one node."""

from __future__ import annotations

import platform

from pyspark.sql import SparkSession

from harness.node.traffic import interface_traffic, node_identity
from jobs.executors import node_links, traffic_snapshot


def test_in_local_mode_only_the_drivers_node_is_read(spark: SparkSession) -> None:
    snapshot = traffic_snapshot(spark)
    assert list(snapshot.nodes) == [node_identity()]
    assert snapshot.executors == {}


def test_links_are_described_for_the_interfaces_whose_bytes_are_counted(
    spark: SparkSession,
) -> None:
    [(host, links)] = node_links(spark).items()
    assert host == platform.node()
    assert list(links) == list(interface_traffic())
    for name, link in links.items():
        assert (link.host, link.device) == (host, name)
        assert link.mtu_bytes
        assert link.counters
        assert link.sysctls["net.ipv4.tcp_congestion_control"]
