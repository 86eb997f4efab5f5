"""Which steps of rate each path passes."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from harness.analysis.network.cases import measured_cases
from harness.model.finding import Finding
from harness.model.network_metrics import (
    PATH,
    STEP_HOST_DROPS,
    STEP_JITTER,
    STEP_LOSS,
    STEP_RECEIVED,
    STEP_ROUND_TRIP,
    STEP_SENT,
)
from harness.model.probe import Measurement, RecordedProbes
from harness.terminal import count_of, percent, significant

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
            yield Fault(
                "loss", f"loss {significant(self.loss_percent, 2)} %{self._dropped_by_host()}"
            )
        if limits.round_trip_ms is not None and self.p99_us is None:
            yield Fault("delay", "the round trip was not measured")
        elif limits.round_trip_ms is not None and (self.p99_us or 0) > 1000 * limits.round_trip_ms:
            yield Fault("delay", f"p99 round trip {significant((self.p99_us or 0) / 1000, 3)} ms")

    def _dropped_by_host(self) -> str:
        if not self.host_drops:
            return ""
        return (
            f"; {count_of(round(self.host_drops), 'packet')} arrived and the host did not read them"
        )


@dataclass(frozen=True)
class JudgedStep:
    """A step, and why it does not pass; None if it passes."""

    step: Step
    fault: Fault | None

    @property
    def errors(self) -> tuple[str, ...]:
        """Why the step was not measured in full."""
        return self.step.errors


def steps_of(measurements: Iterable[Measurement]) -> list[Step]:
    """Return the steps of each path, by rising rate."""
    steps = [
        Step(
            case.subject,
            int(match[1]),
            sent_bit_s=case.median(STEP_SENT),
            received_bit_s=case.median(STEP_RECEIVED),
            loss_percent=max(case.values(STEP_LOSS), default=None),
            host_drops=max(case.values(STEP_HOST_DROPS), default=None),
            jitter_us=case.median(STEP_JITTER),
            p50_us=case.median(STEP_ROUND_TRIP[50.0]),
            p99_us=case.median(STEP_ROUND_TRIP[99.0]),
            errors=case.errors,
        )
        for case in measured_cases(measurements, PATH)
        if (match := _STEP_CASE.fullmatch(case.case))
    ]
    order = {
        subject: index for index, subject in enumerate(dict.fromkeys(s.subject for s in steps))
    }
    return sorted(steps, key=lambda step: (order[step.subject], step.percent))


def expectation_of(probed: RecordedProbes) -> tuple[float, Limits]:
    """Return the rate in bit/s and the limits with which a probe was called; 0 without a rate."""
    given = probed.run.parameters
    delay = given.get("max_delay_ms")
    return (
        float(given.get("rate_bit_s") or 0),
        Limits(float(given.get("max_loss_percent") or 0), float(delay) if delay else None),
    )


def path_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a fault for each path that fails a step, or a remark that all pass all."""
    rate_bit_s, limits = expectation_of(probed)
    by_path: dict[str, list[Step]] = {}
    for step in steps_of(probed.measurements):
        by_path.setdefault(step.subject, []).append(step)
    failed = 0
    for subject, own in by_path.items():
        faults = {step.percent: fault for step in own if (fault := step.fault(rate_bit_s, limits))}
        if not faults:
            continue
        failed += 1
        first = min(faults)
        passed = max((step.percent for step in own if step.percent < first), default=None)
        until = f"passes up to {passed} % of the rate, " if passed else ""
        yield Finding(subject, f"{until}fails at {first} %: {faults[first].text}")
    if by_path and not failed:
        yield Finding("", "every path passes every step", is_fault=False)
