"""With which load probes measured, such as how many streams. Values of different loads are no repeats."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from harness.base.items import unique
from harness.model.probe import Measurement, ProbeRun, RecordedProbes

_PARAMETERS: Mapping[str, str | None] = {"streams": "1", "pairs_at_once": None, "file_mb": None}
"""The parameters of a probe that change what it measures, and their values where it recorded none (None:
unknown). Over a bond, four streams carry more than one. Pairs at the same time share what lies between them.
A file that fits into a cache is written faster.
"""
LoadSeries = tuple[str, str, str]
"""Probe, metric and case."""


def load_differences(before: ProbeRun, after: ProbeRun) -> dict[str, tuple[str, str]]:
    """Return the parameters in which the loads of two probes are known to differ, with both values."""
    found: dict[str, tuple[str, str]] = {}
    for name, default in _PARAMETERS.items():
        old = before.parameters.get(name, default)
        new = after.parameters.get(name, default)
        if old is not None and new is not None and old != new:
            found[name] = (old, new)
    return found


def _series_of(measurement: Measurement) -> LoadSeries:
    """Return what was measured, whatever the hosts are."""
    return measurement.probe, measurement.metric, measurement.case


def runs_by_series(probes: Iterable[RecordedProbes]) -> dict[LoadSeries, list[ProbeRun]]:
    """Return the probe runs that have a value of each metric in each case, in the order of their start."""
    found: dict[LoadSeries, list[ProbeRun]] = {}
    for probed in sorted(probes, key=lambda each: each.run.started_at):
        measured = [each for each in probed.measurements if each.value is not None]
        for series in unique(map(_series_of, measured)):
            found.setdefault(series, []).append(probed.run)
    return found


def pooled_measurements(probes: Sequence[RecordedProbes]) -> list[Measurement]:
    """Return what all probes `measured_alike`."""
    return list(chain.from_iterable(measured_alike(probes, runs_by_series(probes))))


def measured_alike(
    probes: Sequence[RecordedProbes], runs_of: Mapping[LoadSeries, Sequence[ProbeRun]]
) -> list[list[Measurement]]:
    """Return what each probe measured with the same load as the newest one that has the metric and case.

    A median over values of one stream and of four would be the goodput of neither. `runs_of` is what
    `runs_by_series` returns for these probes.
    """
    found: list[list[Measurement]] = []
    for probed in probes:
        unlike: set[LoadSeries] = set()
        for series, runs in runs_of.items():
            if load_differences(probed.run, runs[-1]):
                unlike.add(series)
        own = probed.measurements
        found.append([each for each in own if _series_of(each) not in unlike])
    return found
