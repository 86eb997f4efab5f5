"""Round-trip times of small messages on an idle and a loaded network, and latencies of RDMA."""

from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

from harness.model.network_metrics import (
    LATENCY,
    RDMA,
    RDMA_DEVICES,
    RDMA_P99,
    RDMA_P999,
    RDMA_TYPICAL,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
)
from harness.model.probe import ProbeSample, RecordedProbes, samples
from harness.present.probes import UNKNOWN, page
from harness.present.table import Footnotes
from harness.present.text import simple_table
from harness.terminal import count_of, visible

_MAX_PAIRS, _WORST = 100, 20
"""Of more pairs than anybody reads, only the slowest are listed."""
_HEADINGS = ("round trips", "", *(f"p{rank:g} µs" for rank in ROUND_TRIP), "per second")
_RDMA_METRICS = (RDMA_TYPICAL, RDMA_P99, RDMA_P999)


def render(probed: RecordedProbes) -> str:
    """Return a line for each pair and case with medians over the repeats; then those of RDMA."""
    notes = Footnotes()
    round_trips, rdma = (
        samples(measured for measured in probed.measurements if measured.probe == probe)
        for probe in (LATENCY, RDMA)
    )
    sections = (
        _round_trips(round_trips, notes) if round_trips else "",
        _rdma(rdma, notes) if rdma else "",
    )
    return page(sections, notes)


def _round_trips(measured: Sequence[ProbeSample], notes: Footnotes) -> str:
    shown = _worst(measured)
    left_out = len({sample.subject for sample in measured}) - len(shown)
    some = [sample for sample in measured if sample.subject in shown]
    cases = dict.fromkeys((sample.subject, sample.case) for sample in some)
    rows = []
    for subject, case in cases:
        by_metric = _by_metric(some, subject, case)
        failed = f"failed{_error_mark(by_metric, notes)}"
        values = [
            *(_median(by_metric.get(metric.name), ".1f") for metric in ROUND_TRIP.values()),
            _median(by_metric.get(ROUND_TRIPS_PER_S.name), ",.0f"),
        ]
        rows.append([visible(subject), visible(case), *(value or failed for value in values)])
    more = [f"and {count_of(left_out, 'pair')} with a shorter p99"] if left_out else []
    return "\n".join([simple_table(_HEADINGS, rows), *more])


def _worst(measured: Sequence[ProbeSample]) -> dict[str, float]:
    """Return the pairs that have lines, with their longest p99 in µs; a failure is the longest of all."""
    longest: dict[str, float] = {}
    for sample in measured:
        if sample.errors or sample.metric == ROUND_TRIP[99.0].name:
            value = median(sample.values) if sample.values else inf
            longest[sample.subject] = max(value, longest.get(sample.subject, 0.0))
        longest.setdefault(sample.subject, 0.0)
    if len(longest) <= _MAX_PAIRS:
        return longest
    return dict(sorted(longest.items(), key=lambda item: -item[1])[:_WORST])


def _rdma(measured: Sequence[ProbeSample], notes: Footnotes) -> str:
    devices = [sample for sample in measured if sample.metric == RDMA_DEVICES.name]
    if not any(value for sample in devices for value in sample.values):
        return "RDMA: no device on any host"
    rows = []
    for pair in dict.fromkeys(sample.subject for sample in measured if sample not in devices):
        by_metric = _by_metric(measured, pair, "")
        unknown = f"{UNKNOWN}{_error_mark(by_metric, notes)}"
        values = [_median(by_metric.get(metric.name), ".2f") for metric in _RDMA_METRICS]
        rows.append([visible(pair), *(value or unknown for value in values)])
    return simple_table(["RDMA, one way", "typical µs", "p99 µs", "p99.9 µs"], rows)


def _by_metric(measured: Sequence[ProbeSample], subject: str, case: str) -> dict[str, ProbeSample]:
    return {
        sample.metric: sample
        for sample in measured
        if (sample.subject, sample.case) == (subject, case)
    }


def _error_mark(by_metric: Mapping[str, ProbeSample], notes: Footnotes) -> str:
    errors = [error for sample in by_metric.values() for error in sample.errors]
    return notes.mark(errors[:1])


def _median(sample: ProbeSample | None, form: str) -> str:
    return format(median(sample.values), form) if sample and sample.values else ""
