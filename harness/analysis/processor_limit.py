"""Whether the processors of a host, not the link, bounded a transfer.

A slow transfer says nothing about its link if a hypervisor took the sender's or the receiver's processors
away, or if one processor was busy all the time: a connection is served by one at each end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from statistics import median

from harness.analysis.mesh import Pair, PairMatrix, pair_matrix, slow_pairs
from harness.model.link import throughput_text
from harness.model.network_metrics import (
    RACK_BUSIEST,
    RACK_STOLEN,
    RECEIVER_BUSIEST,
    RECEIVER_IPERF_CPU,
    RECEIVER_STOLEN,
    SENDER_BUSIEST,
    SENDER_IPERF_CPU,
    SENDER_STOLEN,
)
from harness.model.probe import ARROW, Measurement, Metric, ProbeSample

MAX_STOLEN_PERCENT = 10.0
"""Of the time of all processors. A hypervisor that took 45 % left 26 of 150 Mbit/s of a sound link."""
MAX_BUSY_PERCENT = 95.0
"""Of one processor: what is missing from 100 % are the ticks at either end of a reading."""

_SENDER, _RECEIVER = 0, 1
_STOLEN: Mapping[Metric, int] = {SENDER_STOLEN: _SENDER, RECEIVER_STOLEN: _RECEIVER}
_BUSY: Mapping[Metric, int] = {
    SENDER_BUSIEST: _SENDER,
    RECEIVER_BUSIEST: _RECEIVER,
    SENDER_IPERF_CPU: _SENDER,
    RECEIVER_IPERF_CPU: _RECEIVER,
}


def processor_limits(measurements: Iterable[Measurement], case: str = "") -> dict[Pair, str]:
    """Return why the processors bounded a transfer, by pair; pairs that they did not bound are missing."""
    found = list(measurements)
    limits: dict[Pair, str] = {}
    for metrics, limit, reason in (
        (_STOLEN, MAX_STOLEN_PERCENT, "a hypervisor took {1:.0f} % of {0}'s processors"),
        (_BUSY, MAX_BUSY_PERCENT, "a processor of {0} was busy all the time"),
    ):
        for metric, end in metrics.items():
            for pair, value in _above(pair_matrix(found, metric, case), limit):
                limits.setdefault(pair, reason.format(pair[end], value))
    return limits


def without_limited(
    goodput: PairMatrix, limits: Mapping[Pair, str]
) -> tuple[PairMatrix, list[str]]:
    """Return the goodputs without slow pairs that the processors bounded, and a line for each of these."""
    limited = sorted(slow_pairs(goodput) & limits.keys())
    values = {pair: value for pair, value in goodput.values.items() if pair not in limited}
    lines = [
        f"{ARROW.join(pair)}: {throughput_text(goodput.values[pair])}, but {limits[pair]}: the link is not "
        "judged; measure again when that has ended"
        for pair in limited
    ]
    return (replace(goodput, values=values) if limited else goodput), lines


def rack_limit(subject: str, measured: Iterable[ProbeSample]) -> str | None:
    """Return why the processors of a host may have bounded what racks carried in most draws, else None."""
    for sample in measured:
        if sample.subject != subject or not sample.values:
            continue
        value = median(sample.values)
        if sample.metric == RACK_STOLEN.name and value >= MAX_STOLEN_PERCENT:
            return f"a hypervisor took {value:.0f} % of a host's processors"
        if sample.metric == RACK_BUSIEST.name and value >= MAX_BUSY_PERCENT:
            return "a processor of a host was busy all the time"
    return None


def _above(percent: PairMatrix, limit: float) -> Iterator[tuple[Pair, float]]:
    yield from ((pair, value) for pair, value in percent.values.items() if value >= limit)
