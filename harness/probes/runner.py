"""Run a probe plan: check the hosts, read their links, run the steps, read the links again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.model.errors import BadInput
from harness.model.interface import HostLink
from harness.model.probe import (
    AFTER,
    BEFORE,
    ExcludedHost,
    LinkSnapshot,
    Measurement,
    ProbeRun,
    RecordedProbes,
)
from harness.model.run import Ending
from harness.probes.link import read_links
from harness.probes.plan import ProbePlan, ProbeStep
from harness.probes.preflight import preflight
from harness.probes.transports.host import Host, HostError
from harness.records.probes import ProbeRecording
from harness.runtime.progress import duration
from harness.runtime.trials import Clock
from harness.terminal import count_of, say


def run_probes(plan: ProbePlan, run: ProbeRun, results: Path | None) -> RecordedProbes:
    """Run a plan, and return what it found; record it below `results`, if that is given.

    Hosts that cannot be used are excluded, with a line on standard error. Ctrl-C and SIGTERM end the run and
    keep what was measured. Raise BadInput if too few hosts are left, or if nothing can be recorded.
    """
    checked = preflight(plan.hosts, plan.programs)
    for error in checked.excluded_hosts.values():
        say(f"left out: {error}")
    if len(checked.hosts) < plan.min_hosts:
        raise BadInput(
            f"{len(checked.hosts)} of {count_of(len(plan.hosts), 'host')} can be used; "
            f"this probe needs {plan.min_hosts} or more"
        )
    with ProbeRecording(run, results) as recording:
        for host, error in checked.excluded_hosts.items():
            recording.note(ExcludedHost(host, str(error)))
        try:
            _measure(plan, checked.hosts, recording)
        except KeyboardInterrupt:
            recording.end(Ending.INTERRUPTED)
        else:
            recording.end(Ending.COMPLETED)
        return recording.probed


def repeated(steps: Sequence[ProbeStep], times: int) -> list[ProbeStep]:
    """Return all steps `times` times; their measurements have the number of the round, from 1."""
    return [
        replace(step, measure=partial(_measure_in_round, step, round_))
        for round_ in range(1, times + 1)
        for step in steps
    ]


def run_steps(
    steps: Sequence[ProbeStep], clock: Clock = time.perf_counter
) -> Iterator[Measurement]:
    """Run the steps one after the other; before each, print its name and the time left."""
    total_s = sum(step.expected_s for step in steps)
    started, done_s = clock(), 0.0
    for number, step in enumerate(steps, 1):
        # Steps take no less than expected; those that are done show by which factor they take more.
        factor = max(1.0, (clock() - started) / done_s) if done_s else 1.0
        left = duration((total_s - done_s) * factor)
        say(f"[{number}/{len(steps)}] {step.description}; {left} left")
        yield from step.measure()
        done_s += step.expected_s


def _measure(plan: ProbePlan, hosts: Sequence[Host], recording: ProbeRecording) -> None:
    links = _record_links(hosts, BEFORE, recording)
    for measurement in run_steps(repeated(plan.make_steps(hosts, links), plan.repeats)):
        if measurement.error is not None:
            say(f"failed: {measurement.error}")
        recording.note(measurement)
    _record_links(hosts, AFTER, recording)


def _measure_in_round(step: ProbeStep, round_: int) -> Iterator[Measurement]:
    for measurement in step.measure():
        yield replace(measurement, round=round_)


def _record_links(
    hosts: Sequence[Host], moment: str, recording: ProbeRecording
) -> dict[str, HostLink]:
    links = {}
    for host, link in zip(hosts, read_links(hosts), strict=True):
        if isinstance(link, HostError):
            say(f"link unknown: {link}")
            recording.note(ExcludedHost(host.name, str(link)))
        else:
            links[host.name] = link
            recording.note(LinkSnapshot(moment, link))
    return links
