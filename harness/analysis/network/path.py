"""RFC 6349's figures of each path, and which steps of rate it passes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from harness.model.network_metrics import (
    BASELINE_ROUND_TRIP,
    BUFFER_DELAY,
    PATH,
    PATH_GOODPUT,
    STEP_HOST_DROPS,
    STEP_JITTER,
    STEP_LOSS,
    STEP_RECEIVED,
    STEP_ROUND_TRIP,
    STEP_SENT,
    TCP_EFFICIENCY,
    TRANSFER_ROUND_TRIP,
    TRANSFER_TIME_RATIO,
)
from harness.model.probe import Measurement, ProbeSample, samples
from harness.terminal import count_of, percent

MIN_SENT_FRACTION = 0.99
"""A step whose sender offered less than this of its rate says nothing about the path."""
_STEP_CASE = re.compile(r"at (\d+)%")


@dataclass(frozen=True)
class Limits:
    """What a step may lose, in percent, and its p99 round trip in ms, None if any will do."""

    loss_percent: float
    round_trip_ms: float | None = None

    def __str__(self) -> str:
        delay = "" if self.round_trip_ms is None else f", p99 round trip {self.round_trip_ms:g} ms"
        return f"loss {self.loss_percent:g} %{delay}"


class Fault(NamedTuple):
    """Why a step does not pass: in a word or two, and in a clause."""

    name: str
    text: str


@dataclass(frozen=True)
class PathFigures:
    """The medians over the repeats; None what was not measured. `errors` are one line each.

    `time_ratio` is the actual to the ideal transfer time, `efficiency` and `buffer_delay` are in percent.
    """

    subject: str
    goodput_bit_s: float | None
    time_ratio: float | None
    efficiency: float | None
    baseline_us: float | None
    transfer_us: float | None
    buffer_delay: float | None
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """A step of rate: medians over the repeats, of what was lost the worst. Rates are on the wire.

    `host_drops` are packets that the path carried, and that the receiving host dropped.
    """

    subject: str
    percent: int
    sent_bit_s: float | None
    received_bit_s: float | None
    loss_percent: float | None
    host_drops: float | None
    jitter_us: float | None
    p50_us: float | None
    p99_us: float | None
    errors: tuple[str, ...]

    def fault(self, rate_bit_s: float, limits: Limits) -> Fault | None:
        """Return why the step does not pass; None if it passes."""
        return next(self._faults(rate_bit_s * self.percent / 100, limits), None)

    def _faults(self, offered_bit_s: float, limits: Limits) -> Iterator[Fault]:
        if self.loss_percent is None or self.sent_bit_s is None:
            yield Fault("failed", "it was not measured")
            return
        if self.sent_bit_s < MIN_SENT_FRACTION * offered_bit_s:
            share = f"{percent(self.sent_bit_s / offered_bit_s)}"
            yield Fault("not sent", f"the sender offered only {share} of this step's rate")
        if self.loss_percent > limits.loss_percent:
            yield Fault("loss", f"loss {self.loss_percent:.2g} %{self._dropped_by_host()}")
        if limits.round_trip_ms is not None and self.p99_us is None:
            yield Fault("delay", "the round trip was not measured")
        elif limits.round_trip_ms is not None and (self.p99_us or 0) > 1000 * limits.round_trip_ms:
            yield Fault("delay", f"p99 round trip {(self.p99_us or 0) / 1000:.3g} ms")

    def _dropped_by_host(self) -> str:
        if not self.host_drops:
            return ""
        return (
            f"; {count_of(round(self.host_drops), 'packet')} arrived and the host did not read them"
        )


def figures_of(measurements: Sequence[Measurement]) -> list[PathFigures]:
    """Return the figures of each path, in the order of measurement."""
    return [
        PathFigures(
            subject,
            goodput_bit_s=_median(by_metric, PATH_GOODPUT.name),
            time_ratio=_median(by_metric, TRANSFER_TIME_RATIO.name),
            efficiency=_median(by_metric, TCP_EFFICIENCY.name),
            baseline_us=_median(by_metric, BASELINE_ROUND_TRIP.name),
            transfer_us=_median(by_metric, TRANSFER_ROUND_TRIP.name),
            buffer_delay=_median(by_metric, BUFFER_DELAY.name),
            errors=_errors(by_metric),
        )
        for (subject, case), by_metric in _cases(measurements).items()
        if not case
    ]


def steps_of(measurements: Sequence[Measurement]) -> list[Step]:
    """Return the steps of each path, by rising rate."""
    steps = [
        Step(
            subject,
            int(match[1]),
            sent_bit_s=_median(by_metric, STEP_SENT.name),
            received_bit_s=_median(by_metric, STEP_RECEIVED.name),
            loss_percent=max(_values(by_metric, STEP_LOSS.name), default=None),
            host_drops=max(_values(by_metric, STEP_HOST_DROPS.name), default=None),
            jitter_us=_median(by_metric, STEP_JITTER.name),
            p50_us=_median(by_metric, STEP_ROUND_TRIP[50.0].name),
            p99_us=_median(by_metric, STEP_ROUND_TRIP[99.0].name),
            errors=_errors(by_metric),
        )
        for (subject, case), by_metric in _cases(measurements).items()
        if (match := _STEP_CASE.fullmatch(case))
    ]
    order = {
        subject: index for index, subject in enumerate(dict.fromkeys(s.subject for s in steps))
    }
    return sorted(steps, key=lambda step: (order[step.subject], step.percent))


def step_sentences(steps: Sequence[Step], rate_bit_s: float, limits: Limits) -> Iterator[str]:
    """Yield a line for each path that fails a step, or one line that all pass all."""
    by_path: dict[str, list[Step]] = {}
    for step in steps:
        by_path.setdefault(step.subject, []).append(step)
    failed = 0
    for subject, own in by_path.items():
        faults = {step.percent: fault for step in own if (fault := step.fault(rate_bit_s, limits))}
        if not faults:
            continue
        failed += 1
        first = min(faults)
        passed = max((step.percent for step in own if step.percent < first), default=None)
        until = f"passes up to {passed}% of the rate, " if passed else ""
        yield f"{subject}: {until}fails at {first}%: {faults[first].text}"
    if by_path and not failed:
        yield "every path passes every step"


def _cases(
    measurements: Sequence[Measurement],
) -> dict[tuple[str, str], dict[str, ProbeSample]]:
    """Return the samples by metric, by subject and case."""
    cases: dict[tuple[str, str], dict[str, ProbeSample]] = {}
    for sample in samples(each for each in measurements if each.probe == PATH):
        cases.setdefault((sample.subject, sample.case), {})[sample.metric] = sample
    return cases


def _values(by_metric: Mapping[str, ProbeSample], metric: str) -> tuple[float, ...]:
    return by_metric[metric].values if metric in by_metric else ()


def _median(by_metric: Mapping[str, ProbeSample], metric: str) -> float | None:
    values = _values(by_metric, metric)
    return median(values) if values else None


def _errors(by_metric: Mapping[str, ProbeSample]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(error for each in by_metric.values() for error in each.errors))
