"""Whether the processors of a host, not the link, bounded a transfer.

A slow transfer says nothing about its link if a hypervisor took the sender's or the receiver's processors
away, or if one processor was busy all the time: a connection is served by one at each end.
"""

from collections.abc import Collection, Iterable, Sequence
from statistics import median

from harness.analysis.network.mesh import pair_matrix
from harness.model.network_metrics import (
    BUSIEST,
    IPERF_CPU,
    RACK_BUSIEST,
    RACK_STOLEN,
    STOLEN,
    Sided,
)
from harness.model.probe import Measurement, Pair, ProbeSample

MAX_STOLEN_PERCENT = 10.0
"""Of the time of all processors. A hypervisor that took 45 % left 26 of 150 Mbit/s of a sound link."""
MAX_BUSY_PERCENT = 95.0
"""Of one processor: what is missing from 100 % are the ticks at either end of a reading."""


def processor_limits(
    measurements: Iterable[Measurement], slow: Collection[Pair], case: str = ""
) -> dict[Pair, str]:
    """Return why the processors bounded transfers, by pair, for those that are slow.

    A busy processor explains nothing where most transfers with one are fast: hosts that share a machine are
    always busy.
    """
    found = list(measurements)
    stolen = _above(found, [STOLEN], MAX_STOLEN_PERCENT, case)
    busy = _above(found, [BUSIEST, IPERF_CPU], MAX_BUSY_PERCENT, case)
    limits = {
        pair: f"a hypervisor took {percent:.0f} % of {pair[end]}'s processors"
        for pair, (end, percent) in stolen.items()
        if pair in slow
    }
    if 2 * len(busy.keys() & set(slow)) >= len(busy):
        for pair, (end, _) in busy.items():
            if pair in slow:
                limits.setdefault(pair, f"a processor of {pair[end]} was busy all the time")
    return limits


def _above(
    measurements: Sequence[Measurement], metrics: Iterable[Sided], limit: float, case: str
) -> dict[Pair, tuple[int, float]]:
    """Return at which end, and how far, a metric is above the limit, by pair."""
    found: dict[Pair, tuple[int, float]] = {}
    for end, metric in (place for sided in metrics for place in enumerate(sided)):
        for pair, value in pair_matrix(measurements, metric, case).values.items():
            if value >= limit:
                found.setdefault(pair, (end, value))
    return found


def doubt(limit: str | None) -> str:
    """Return the end of a sentence that says that this may have been the limit; empty without one."""
    return f"; {limit}, which may have been the limit" if limit else ""


def shared_limit(measured: Iterable[ProbeSample], host: str = "a host") -> str | None:
    """Return why the processors of a host may have bounded many flows in most draws, else None.

    `measured` are the samples of one subject and case, with the metrics of racks.
    """
    for sample in measured:
        value = median(sample.values) if sample.values else 0.0
        if sample.metric == RACK_STOLEN.name and value >= MAX_STOLEN_PERCENT:
            return f"a hypervisor took {value:.0f} % of {host}'s processors"
        if sample.metric == RACK_BUSIEST.name and value >= MAX_BUSY_PERCENT:
            return f"a processor of {host} was busy all the time"
    return None
