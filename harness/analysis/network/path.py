"""Which steps of rate each path passes."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from harness.analysis.network.cases import MeasuredCase, measured_cases
from harness.model.finding import Finding
from harness.model.network_metrics import (
    PATH,
    STEP_HOST_DROPS,
    STEP_LOSS,
    STEP_ROUND_TRIP,
    STEP_SENT,
)
from harness.model.probe import Metric, RecordedProbes
from harness.words import count_of, percent, significant

MIN_SENT_FRACTION = 0.99
"""A step whose sender offered less than this of its rate says nothing about the path."""
_STEP_CASE = re.compile(r"at (\d{1,3})%")


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
class Step(MeasuredCase):
    """A step of rate, in percent of the expected rate; `fault` is why it does not pass, None if it passes."""

    percent: int
    fault: Fault | None

    @property
    def loss_percent(self) -> float | None:
        """What was lost in the worst of the repeats."""
        return worst(self, STEP_LOSS)


def worst(case: MeasuredCase, metric: Metric) -> float | None:
    """Return the largest value of the repeats; None without one."""
    return max(case.values(metric), default=None)


def steps_of(probed: RecordedProbes) -> list[Step]:
    """Return the steps of each path, by rising rate."""
    rate_bit_s, limits = expectation_of(probed)
    by_path: dict[str, list[Step]] = {}
    for case in measured_cases(probed.measurements, PATH):
        if match := _STEP_CASE.fullmatch(case.case):
            share = int(match[1])
            fault = next(_faults(case, rate_bit_s * share / 100, limits), None)
            step = Step(case.subject, case.case, case.samples, share, fault)
            by_path.setdefault(case.subject, []).append(step)
    return [step for own in by_path.values() for step in sorted(own, key=lambda step: step.percent)]


def _faults(case: MeasuredCase, offered_bit_s: float, limits: Limits) -> Iterator[Fault]:
    """Yield why a step does not pass, the first reason first."""
    loss_percent, sent_bit_s = worst(case, STEP_LOSS), case.median(STEP_SENT)
    if loss_percent is None or sent_bit_s is None:
        yield Fault("failed", "it was not measured")
        return
    if sent_bit_s < MIN_SENT_FRACTION * offered_bit_s:
        share = percent(sent_bit_s / offered_bit_s)
        yield Fault("not sent", f"the sender offered only {share} of this step's rate")
    if loss_percent > limits.loss_percent:
        dropped = ""
        if drops := worst(case, STEP_HOST_DROPS):
            dropped = f"; {count_of(round(drops), 'packet')} arrived and the host did not read them"
        yield Fault("loss", f"loss {significant(loss_percent, 2)} %{dropped}")
    if limits.round_trip_ms is not None:
        p99_us = case.median(STEP_ROUND_TRIP[99.0])
        if p99_us is None:
            yield Fault("delay", "the round trip was not measured")
        elif p99_us > 1000 * limits.round_trip_ms:
            yield Fault("delay", f"p99 round trip {significant(p99_us / 1000, 3)} ms")


def expectation_of(probed: RecordedProbes) -> tuple[float, Limits]:
    """Return the rate in bit/s and the limits with which a probe was called; 0 without a rate."""
    rate_bit_s, loss_percent, delay_ms = (
        _number(probed.run.parameters.get(name))
        for name in ("rate_bit_s", "max_loss_percent", "max_delay_ms")
    )
    return rate_bit_s, Limits(loss_percent, delay_ms or None)


def _number(recorded: object) -> float:
    """Return a recorded number that is finite and not negative; 0 without one."""
    try:
        number = float(str(recorded))
    except ValueError:
        return 0.0
    return number if 0 <= number < math.inf else 0.0


def path_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield a fault for each path that fails a step, or a remark that all pass all."""
    steps = steps_of(probed)
    failed = set[str]()
    for step in steps:
        if step.fault is None or step.subject in failed:
            continue
        failed.add(step.subject)
        lower = [s.percent for s in steps if s.subject == step.subject and s.percent < step.percent]
        until = f"passes up to {max(lower)} % of the rate, " if lower else ""
        yield Finding(step.subject, f"{until}fails at {step.percent} %: {step.fault.text}")
    if steps and not failed:
        yield Finding("", "every path passes every step", is_fault=False)
