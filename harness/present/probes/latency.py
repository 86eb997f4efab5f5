"""How long small messages take, alone and under load; and by RDMA."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from harness.present.escape import visible
from harness.present.footnotes import Footnotes
from harness.present.probes.grid import UNKNOWN, footnotes, table
from harness.probes import rdma
from harness.probes.latency import PER_SECOND, PROBE, ROUND_TRIP
from harness.probes.record import Probed, ProbeSample, samples

_HEADERS = ("round trips", "", *(f"p{rank:g} µs" for rank in ROUND_TRIP), "per second")


def render(probed: Probed) -> str:
    """A line a pair and case, the medians of the repeats; then what RDMA does, if anything."""
    notes = Footnotes()
    held = samples(one for one in probed.measurements if one.probe == PROBE)
    cases = dict.fromkeys((sample.subject, sample.case) for sample in held)
    rows = [
        [visible(subject), visible(case), *_row(_of(held, subject, case), notes)]
        for subject, case in cases
    ]
    parts = [table(_HEADERS, rows)] if rows else []
    parts += _rdma(samples(one for one in probed.measurements if one.probe == rdma.PROBE), notes)
    return "\n\n".join([*parts, *footnotes(notes)]) + "\n"


def _of(held: Sequence[ProbeSample], subject: str, case: str) -> dict[str, ProbeSample]:
    return {one.metric: one for one in held if (one.subject, one.case) == (subject, case)}


def _row(by_metric: dict[str, ProbeSample], notes: Footnotes) -> Iterator[str]:
    errors = [error for sample in by_metric.values() for error in sample.errors]
    mark = notes.mark(errors[:1])
    for metric in ROUND_TRIP.values():
        yield _median(by_metric.get(metric.name), ".1f") or f"failed{mark}"
    yield _median(by_metric.get(PER_SECOND.name), ",.0f") or f"failed{mark}"


def _median(sample: ProbeSample | None, form: str) -> str:
    return format(median(sample.values), form) if sample and sample.values else ""


def _rdma(held: Sequence[ProbeSample], notes: Footnotes) -> Iterator[str]:
    if not held:
        return
    devices = [one for one in held if one.metric == rdma.DEVICES.name]
    if not any(value for one in devices for value in one.values):
        yield "RDMA: no device on any host"
        return
    metrics = (rdma.TYPICAL, rdma.P99, rdma.P999)
    pairs = dict.fromkeys(one.subject for one in held if one not in devices)
    rows = []
    for pair in pairs:
        by_metric = _of(held, pair, "")
        errors = [error for sample in by_metric.values() for error in sample.errors]
        mark = notes.mark(errors[:1])
        values = [_median(by_metric.get(metric.name), ".2f") for metric in metrics]
        rows.append([visible(pair), *(value or f"{UNKNOWN}{mark}" for value in values)])
    yield table(["RDMA, one way", "typical µs", "p99 µs", "p99.9 µs"], rows)
