"""The metrics that probes measure, by probe."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from harness.model.bounds import Range
from harness.model.probe import HIGHER, LOWER, Metric


class Sided(NamedTuple):
    """What one quantity is called at both ends of a transfer."""

    sender: Metric
    receiver: Metric


def _sided(probe: str, name: str, unit: str, limits: Range | None = None) -> Sided:
    return Sided(*(Metric(probe, f"{end}_{name}", unit, LOWER, limits) for end in Sided._fields))


_OF_MANY_HOSTS = Range(ge=0, le=1e15)
"""Bits per second of all hosts together."""


GOODPUT_TOLERANCE = 0.1
"""Goodputs that differ by no more than this fraction count as equal. Repeated measurements of a healthy pair
differ by a few percent; a fault or an upgrade changes goodput by far more than a tenth."""
PAIRS, SAMPLED = "pairs", "sampled"
"""A parameter of a probe run, and its value if random pairs were measured instead of all."""
ROUNDS = "rounds"
"""A parameter of a probe run: how many rounds of random pairs were measured."""

MESH = "mesh"
BOTH_WAYS = "both ways"
MESH_GOODPUT = Metric(MESH, "goodput_bit_s", "bit/s", HIGHER)
RETRANSMITS = Metric(MESH, "retransmits", "segments", LOWER)
IPERF_CPU = _sided(MESH, "iperf_cpu_percent", "%", Range(ge=0, le=1e6))
"""Of one processor, so that threads on several have more than 100."""
HOST_CPU = _sided(MESH, "cpu_percent", "%")
SOFTIRQ = _sided(MESH, "softirq_percent", "%")
STOLEN = _sided(MESH, "stolen_percent", "%")
BUSIEST = _sided(MESH, "busiest_processor_percent", "%")
MTU = "mtu"
PATH_MTU = Metric(MTU, "path_mtu_bytes", "bytes", HIGHER)
VANISHED_PACKET = Metric(MTU, "vanished_bytes", "bytes", LOWER)
"""The size of packets that neither arrive nor are refused: a black hole."""
PACKET_GOODPUT = Metric(MTU, "goodput_bit_s", "bit/s", HIGHER, Range(ge=1, le=1e13))
"""Costs are divided by it."""
PACKET_CPU = _sided(MTU, "cpu_percent", "%")
"""Of all processors of the host."""
PACKET_COST = _sided(MTU, "processors_per_gbit_s", "processors per Gbit/s")
INSTRUCTIONS = _sided(MTU, "instructions_per_byte", "instructions/byte")
CYCLES = _sided(MTU, "cycles_per_byte", "cycles/byte")
HARDWARE_COUNTERS = Metric(MTU, "hardware_counters", "counters", HIGHER)
"""Fails for a host whose processors count neither instructions nor cycles for us: the error says why."""
RACKS = "racks"
WITHIN_RACK = Metric(RACKS, "within_bit_s_per_host", "bit/s", HIGHER)
ACROSS_RACKS = Metric(RACKS, "across_bit_s", "bit/s", HIGHER, _OF_MANY_HOSTS)
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
RDMA_TYPICAL = Metric(RDMA, "one_way_typical_us", "µs", LOWER)
RDMA_P99 = Metric(RDMA, "one_way_p99_us", "µs", LOWER)
RDMA_P999 = Metric(RDMA, "one_way_p99.9_us", "µs", LOWER)
INCAST = "incast"
ALL_TO_ALL, BISECTION_PAIRS = "all to all", "bisection"
INCAST_GOODPUT = Metric(INCAST, "goodput_bit_s", "bit/s", HIGHER, _OF_MANY_HOSTS)
"""All flows together, in the seconds in which all of them ran."""
SLOWEST_FLOW = Metric(INCAST, "slowest_flow_bit_s", "bit/s", HIGHER)
INCAST_RETRANSMITS = Metric(INCAST, "retransmits", "segments", LOWER)
INCAST_ROUND_TRIP = {
    rank: Metric(INCAST, f"round_trip_p{rank:g}_us", "µs", LOWER) for rank in (50.0, 99.0)
}
INCAST_STOLEN = Metric(INCAST, "stolen_percent", "%", LOWER)
INCAST_BUSIEST = Metric(INCAST, "busiest_processor_percent", "%", LOWER)
"""Of the host with the greatest value, of all that send or receive."""
HALF_TO_HALF = Metric(INCAST, "half_to_half_bit_s", "bit/s", HIGHER, _OF_MANY_HOSTS)
"""What one half of the hosts sends to the other, while that sends as much back."""
BISECTION = Metric(INCAST, "bisection_bit_s", "bit/s", HIGHER, _OF_MANY_HOSTS)
"""The slower of both ways. Its subject does not name the halves, which may differ from probe to probe."""
PATH = "path"
PATH_GOODPUT = Metric(PATH, "goodput_bit_s", "bit/s", HIGHER)
TRANSFER_TIME_RATIO = Metric(PATH, "tcp_transfer_time_ratio", "to 1", LOWER)
TCP_EFFICIENCY = Metric(PATH, "tcp_efficiency_percent", "%", HIGHER)
BUFFER_DELAY = Metric(PATH, "buffer_delay_percent", "%", LOWER, Range(ge=0, le=1e9))
"""Of the round trip of an idle path."""
BASELINE_ROUND_TRIP = Metric(PATH, "baseline_round_trip_us", "µs", LOWER)
TRANSFER_ROUND_TRIP = Metric(PATH, "transfer_round_trip_us", "µs", LOWER)
STEP_SENT = Metric(PATH, "step_sent_bit_s", "bit/s", HIGHER)
STEP_RECEIVED = Metric(PATH, "step_received_bit_s", "bit/s", HIGHER)
"""Rates of the steps count everything on the wire."""
STEP_LOSS = Metric(PATH, "step_loss_percent", "%", LOWER)
STEP_HOST_DROPS = Metric(PATH, "step_receiver_drops", "packets", LOWER)
"""Packets that crossed the path, and that the receiving host did not read in time."""
STEP_JITTER = Metric(PATH, "step_jitter_us", "µs", LOWER)
STEP_ROUND_TRIP = {
    rank: Metric(PATH, f"step_round_trip_p{rank:g}_us", "µs", LOWER) for rank in (50.0, 99.0)
}


def _declared() -> Iterator[Metric]:
    for value in list(globals().values()):
        if isinstance(value, Metric):
            yield value
        elif isinstance(value, Sided):
            yield from value
        elif isinstance(value, dict):
            yield from (each for each in value.values() if isinstance(each, Metric))


METRICS: Mapping[tuple[str, str], Metric] = {
    (metric.probe, metric.name): metric for metric in _declared()
}
"""All of these, by probe and name."""


def incast_case(senders: int) -> str:
    """Return the case of so many hosts that send to one: `from 4 hosts`."""
    return f"from {_hosts(senders)}"


def outcast_case(receivers: int) -> str:
    """Return the case of one host that sends to so many: `to 4 hosts`."""
    return f"to {_hosts(receivers)}"


def _hosts(number: int) -> str:
    return "1 host" if number == 1 else f"{number} hosts"


def step_case(percent: int) -> str:
    """Return the case of a step of rate: `at 25%`."""
    return f"at {percent}%"
