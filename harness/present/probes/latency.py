"""How long small messages take, alone and under load; and by RDMA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from harness.present.probes.grid import UNKNOWN, footnotes, table
from harness.present.table import Footnotes
from harness.terminal import visible

_HEADERS = ("round trips", "", *(f"p{rank:g} µs" for rank in ROUND_TRIP), "per second")


def render(probed: RecordedProbes) -> str:
    """A line a pair and case, the medians of the repeats; then what RDMA does, if anything."""
    notes = Footnotes()
    held = samples(one for one in probed.measurements if one.probe == LATENCY)
    cases = dict.fromkeys((sample.subject, sample.case) for sample in held)
    rows = [
        [visible(subject), visible(case), *_row(_of(held, subject, case), notes)]
        for subject, case in cases
    ]
    parts = [table(_HEADERS, rows)] if rows else []
    parts += _rdma(samples(one for one in probed.measurements if one.probe == RDMA), notes)
    return "\n\n".join([*parts, *footnotes(notes)]) + "\n"


def _of(held: Sequence[ProbeSample], subject: str, case: str) -> dict[str, ProbeSample]:
    return {one.metric: one for one in held if (one.subject, one.case) == (subject, case)}


def _row(by_metric: dict[str, ProbeSample], notes: Footnotes) -> Iterator[str]:
    errors = [error for sample in by_metric.values() for error in sample.errors]
    mark = notes.mark(errors[:1])
    for metric in ROUND_TRIP.values():
        yield _median(by_metric.get(metric.name), ".1f") or f"failed{mark}"
    yield _median(by_metric.get(ROUND_TRIPS_PER_S.name), ",.0f") or f"failed{mark}"


def _median(sample: ProbeSample | None, form: str) -> str:
    return format(median(sample.values), form) if sample and sample.values else ""


def _rdma(held: Sequence[ProbeSample], notes: Footnotes) -> Iterator[str]:
    if not held:
        return
    devices = [one for one in held if one.metric == RDMA_DEVICES.name]
    if not any(value for one in devices for value in one.values):
        yield "RDMA: no device on any host"
        return
    metrics = (RDMA_TYPICAL, RDMA_P99, RDMA_P999)
    pairs = dict.fromkeys(one.subject for one in held if one not in devices)
    rows = []
    for pair in pairs:
        by_metric = _of(held, pair, "")
        errors = [error for sample in by_metric.values() for error in sample.errors]
        mark = notes.mark(errors[:1])
        values = [_median(by_metric.get(metric.name), ".2f") for metric in metrics]
        rows.append([visible(pair), *(value or f"{UNKNOWN}{mark}" for value in values)])
    yield table(["RDMA, one way", "typical µs", "p99 µs", "p99.9 µs"], rows)
