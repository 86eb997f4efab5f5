"""The metrics that probes measure, by probe."""

from __future__ import annotations  # for Python 3.8

from typing import NamedTuple

from harness.model.probe import HIGHER, LOWER, Metric


class EndMetrics(NamedTuple):
    """The metrics of one quantity at both ends of a transfer."""

    sender: Metric
    receiver: Metric


def _percent_at_both_ends(probe: str, name: str) -> EndMetrics:
    sender = Metric(probe, f"sender_{name}", "%", LOWER)
    receiver = Metric(probe, f"receiver_{name}", "%", LOWER)
    return EndMetrics(sender, receiver)


GOODPUT_TOLERANCE = 0.1
"""Goodputs that differ by no more than this fraction count as equal. Repeated measurements of a healthy pair
differ by a few percent. A fault or an upgrade changes goodput by far more than a tenth."""

MESH = "mesh"
BOTH_WAYS = "both ways"
MESH_GOODPUT = Metric(MESH, "goodput_bit_s", "bit/s", HIGHER)
RETRANSMITS = Metric(MESH, "retransmits", "segments", LOWER)
IPERF_CPU = _percent_at_both_ends(MESH, "iperf_cpu_percent")
"""In percent of one processor: threads on several have more than 100."""
HOST_CPU = _percent_at_both_ends(MESH, "cpu_percent")
SOFTIRQ = _percent_at_both_ends(MESH, "softirq_percent")
STOLEN = _percent_at_both_ends(MESH, "stolen_percent")
BUSIEST = _percent_at_both_ends(MESH, "busiest_processor_percent")
MTU = "mtu"
PATH_MTU = Metric(MTU, "path_mtu_bytes", "bytes", HIGHER)
VANISHED_PACKET = Metric(MTU, "vanished_bytes", "bytes", LOWER)
"""The size of packets that neither arrive nor are refused: a black hole."""
PACKET_GOODPUT = Metric(MTU, "goodput_bit_s", "bit/s", HIGHER)
PACKET_CPU = _percent_at_both_ends(MTU, "cpu_percent")
"""In percent of all processors of the host."""
RACKS = "racks"
WITHIN_RACK = Metric(RACKS, "within_bit_s_per_host", "bit/s", HIGHER)
ACROSS_RACKS = Metric(RACKS, "across_bit_s", "bit/s", HIGHER)
OVERSUBSCRIPTION = Metric(RACKS, "oversubscription", "to 1", LOWER)
RACK_STOLEN = Metric(RACKS, "stolen_percent", "%", LOWER)
RACK_BUSIEST = Metric(RACKS, "busiest_processor_percent", "%", LOWER)
LATENCY_PERCENTILES = (50.0, 90.0, 99.0, 99.9)
LATENCY = "latency"
IDLE = "idle"
LOADED = "under load"
ROUND_TRIP = {
    rank: Metric(LATENCY, f"round_trip_p{rank:g}_us", "µs", LOWER) for rank in LATENCY_PERCENTILES
}
ROUND_TRIPS_PER_S = Metric(LATENCY, "round_trips_per_s", "1/s", HIGHER)
RDMA = "rdma"
RDMA_DEVICES = Metric(RDMA, "devices", "devices", HIGHER)
RDMA_PROGRAM = Metric(RDMA, "programs", "programs", HIGHER)
"""0 if a host with a device lacks the program that the case names. Otherwise it is not recorded."""
RDMA_TYPICAL = Metric(RDMA, "one_way_typical_us", "µs", LOWER)
RDMA_P99 = Metric(RDMA, "one_way_p99_us", "µs", LOWER)
RDMA_P999 = Metric(RDMA, "one_way_p99.9_us", "µs", LOWER)
DISK = "disk"
DISK_WRITE = Metric(DISK, "write_bytes_s", "bytes/s", HIGHER)
DISK_READ = Metric(DISK, "read_bytes_s", "bytes/s", HIGHER)
RANDOM_WRITES = Metric(DISK, "random_writes_per_s", "1/s", HIGHER)
RANDOM_WRITE_P99 = Metric(DISK, "random_write_p99_us", "µs", LOWER)
RANDOM_READS = Metric(DISK, "random_reads_per_s", "1/s", HIGHER)
RANDOM_READ_P99 = Metric(DISK, "random_read_p99_us", "µs", LOWER)
SYNC_MEDIAN = Metric(DISK, "sync_p50_us", "µs", LOWER)
SYNC_P99 = Metric(DISK, "sync_p99_us", "µs", LOWER)
DISK_BELOW = Metric(DISK, "seen_below", "directories", HIGHER)
"""0 if nothing showed what is below a directory: a disk, memory or a cache. Otherwise it is not recorded."""


def packet_case(packet_bytes: int, *, both_ways: bool = False, mtu_is_set: bool = False) -> str:
    """Return the case of a transfer with packets of this size, headers included.

    `mtu_is_set`: it is the MTU of the interfaces. Otherwise TCP's maximum segment size limits the packets.
    """
    case = f"packets of {packet_bytes} bytes"
    if mtu_is_set:
        case = f"an MTU of {packet_bytes} bytes"
    if both_ways:
        case += f", {BOTH_WAYS}"
    return case
