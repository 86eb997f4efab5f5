"""Whether the processors of a host, not the link, bounded a transfer.

A slow transfer says nothing about its link if a hypervisor took the sender's or the receiver's processors
away, or if one processor was busy all the time: a connection is served by one at each end.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

from harness.analysis.network.cases import MeasuredCase
from harness.analysis.network.mesh import pair_matrix
from harness.model.network_metrics import (
    BUSIEST,
    IPERF_CPU,
    RACK_BUSIEST,
    RACK_STOLEN,
    STOLEN,
    EndMetrics,
)
from harness.model.probe import Measurement, Pair

T = TypeVar("T")
MAX_STOLEN_PERCENT = 10.0
"""Part of all processors' time. A hypervisor that took 45 % left 26 of 150 Mbit/s of a sound link."""
MAX_BUSY_PERCENT = 95.0
"""Part of one processor's time; a reading may miss the ticks at its ends, so 100 % would be too much."""


def processor_limits(
    measurements: Iterable[Measurement], slow: Collection[Pair], case: str = ""
) -> dict[Pair, str]:
    """Return why the processors bounded slow transfers, by pair."""
    found = list(measurements)
    stolen = _above(found, [STOLEN], MAX_STOLEN_PERCENT, case)
    busy = _above(found, [BUSIEST, IPERF_CPU], MAX_BUSY_PERCENT, case)
    limits = {
        pair: f"a hypervisor took {percent:.0f} % of {pair[end]}'s processors"
        for pair, (end, percent) in stolen.items()
        if pair in slow
    }
    for pair in slowed_by_busy_processors(slow, busy):
        limits.setdefault(pair, f"a processor of {pair[busy[pair][0]]} was busy all the time")
    return limits


def slowed_by_busy_processors(slow: Collection[T], busy: Collection[T]) -> set[T]:
    """Return the slow transfers with a busy processor, which explains nothing where most of these are fast.

    Hosts that share a machine are always busy.
    """
    both = set(slow) & set(busy)
    return both if 2 * len(both) >= len(busy) else set()


def _above(
    measurements: Sequence[Measurement], metrics: Iterable[EndMetrics], limit: float, case: str
) -> dict[Pair, tuple[int, float]]:
    """Return at which end, and how far, a metric is above the limit, by pair."""
    found: dict[Pair, tuple[int, float]] = {}
    for end, metric in (place for ends in metrics for place in enumerate(ends)):
        for pair, value in pair_matrix(measurements, metric, case).values.items():
            if value >= limit:
                found.setdefault(pair, (end, value))
    return found


def rack_limit_text(case: MeasuredCase) -> str:
    """Return the end of a sentence on why processors may have bounded most draws; empty if they did not."""
    stolen = case.median(RACK_STOLEN)
    busiest = case.median(RACK_BUSIEST)
    if stolen is not None and stolen >= MAX_STOLEN_PERCENT:
        limit = f"a hypervisor took {stolen:.0f} % of a host's processors"
    elif busiest is not None and busiest >= MAX_BUSY_PERCENT:
        limit = "a processor of a host was busy all the time"
    elif stolen is None or busiest is None:
        return "; whether processors were the limit is unknown"
    else:
        return ""
    return f"; {limit}, which may have been the limit"
