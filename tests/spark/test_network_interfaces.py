"""Looking at the interfaces and links of all nodes; in local mode that is one."""

from __future__ import annotations

import platform

from pyspark.sql import SparkSession

from harness.node.traffic import interface_traffic, node_identity
from jobs.nodes import node_links, traffic_snapshot


def test_in_local_mode_the_drivers_node_is_all_there_is(spark: SparkSession) -> None:
    found = traffic_snapshot(spark)
    assert list(found.nodes) == [node_identity()]
    assert found.executors == {}


def test_its_links_are_those_whose_bytes_are_counted(spark: SparkSession) -> None:
    [(host, links)] = node_links(spark).items()
    assert host == platform.node()
    assert list(links) == list(interface_traffic())
    for name, link in links.items():
        assert (link.host, link.device) == (host, name)
        assert link.mtu_bytes
        assert link.counters
        assert link.sysctls["net.ipv4.tcp_congestion_control"]
