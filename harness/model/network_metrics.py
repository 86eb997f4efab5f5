"""The metrics that probes measure, by probe."""

from typing import NamedTuple

from harness.model.probe import HIGHER, LOWER, Metric


class EndMetrics(NamedTuple):
    """What one quantity is called at both ends of a transfer."""

    sender: Metric
    receiver: Metric


def _at_both_ends(probe: str, name: str, unit: str) -> EndMetrics:
    return EndMetrics(*(Metric(probe, f"{end}_{name}", unit, LOWER) for end in EndMetrics._fields))


GOODPUT_TOLERANCE = 0.1
"""Goodputs that differ by no more than this fraction count as equal. Repeated measurements of a healthy pair
differ by a few percent; a fault or an upgrade changes goodput by far more than a tenth."""

MESH = "mesh"
BOTH_WAYS = "both ways"
MESH_GOODPUT = Metric(MESH, "goodput_bit_s", "bit/s", HIGHER)
RETRANSMITS = Metric(MESH, "retransmits", "segments", LOWER)
IPERF_CPU = _at_both_ends(MESH, "iperf_cpu_percent", "%")
"""Of one processor, so that threads on several have more than 100."""
HOST_CPU = _at_both_ends(MESH, "cpu_percent", "%")
SOFTIRQ = _at_both_ends(MESH, "softirq_percent", "%")
STOLEN = _at_both_ends(MESH, "stolen_percent", "%")
BUSIEST = _at_both_ends(MESH, "busiest_processor_percent", "%")
MTU = "mtu"
PATH_MTU = Metric(MTU, "path_mtu_bytes", "bytes", HIGHER)
VANISHED_PACKET = Metric(MTU, "vanished_bytes", "bytes", LOWER)
"""The size of packets that neither arrive nor are refused: a black hole."""
PACKET_GOODPUT = Metric(MTU, "goodput_bit_s", "bit/s", HIGHER)
PACKET_CPU = _at_both_ends(MTU, "cpu_percent", "%")
"""Of all processors of the host."""
RACKS = "racks"
WITHIN_RACK = Metric(RACKS, "within_bit_s_per_host", "bit/s", HIGHER)
ACROSS_RACKS = Metric(RACKS, "across_bit_s", "bit/s", HIGHER)
OVERSUBSCRIPTION = Metric(RACKS, "oversubscription", "to 1", LOWER)
RACK_STOLEN = Metric(RACKS, "stolen_percent", "%", LOWER)
RACK_BUSIEST = Metric(RACKS, "busiest_processor_percent", "%", LOWER)
LATENCY_PERCENTILES = (50.0, 90.0, 99.0, 99.9)
LATENCY = "latency"
IDLE, LOADED = "idle", "under load"
ROUND_TRIP = {
    rank: Metric(LATENCY, f"round_trip_p{rank:g}_us", "µs", LOWER) for rank in LATENCY_PERCENTILES
}
ROUND_TRIPS_PER_S = Metric(LATENCY, "round_trips_per_s", "1/s", HIGHER)
RDMA = "rdma"
RDMA_DEVICES = Metric(RDMA, "devices", "devices", HIGHER)
RDMA_PROGRAM = Metric(RDMA, "programs", "programs", HIGHER)
"""0 where a host with a device lacks the program that is the case. Elsewhere it is not recorded."""
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


def packet_case(packet_bytes: int, *, both_ways: bool = False, mtu_is_set: bool = False) -> str:
    """Return the case of a transfer with packets of this size, headers included.

    `mtu_is_set`: it is the MTU of the interfaces. Otherwise TCP's maximum segment size limits the packets.
    """
    subject = "an MTU" if mtu_is_set else "packets"
    return f"{subject} of {packet_bytes} bytes{f', {BOTH_WAYS}' if both_ways else ''}"
