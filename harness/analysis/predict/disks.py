"""Disks that are to be bought, and whether those of a later configuration are as fast."""

import re
from collections.abc import Iterator

from harness.analysis.network.disks import disk_cases, typical
from harness.analysis.observed.configuration import ConfigurationRuns, probe_measurements
from harness.analysis.observed.declared import declared_disk_rate
from harness.base.errors import BadInput
from harness.model.network_metrics import DISK_READ, DISK_WRITE, GOODPUT_TOLERANCE
from harness.model.prediction import MAX_FACTOR, Target

DECLARED = "the fact `disk`"


def disk_target(text: str) -> Target:
    """Return the target of `2x`: disks that are twice as fast. Raises BadInput that names the option."""
    match = re.fullmatch(r"([0-9]{1,4}(?:\.[0-9]{1,3})?)x", text.strip().lower())
    if match is None or not 1 <= float(match[1]) <= MAX_FACTOR:
        raise BadInput(
            f"--disk {text!r} does not say how many times as fast disks are; write for example 2x, and at "
            f"most {MAX_FACTOR}x"
        )
    return Target(disk=float(match[1]))


def disk_factors(before: ConfigurationRuns, after: ConfigurationRuns) -> dict[str, float]:
    """Return how many times as fast the disks are after, by what says so; nothing if it is unknown.

    That is what probes of both measured, reading and writing, or without them the fact `disk` of both.
    """
    then, now = dict(_rates(before)), dict(_rates(after))
    factors = {source: now[source] / then[source] for source in then if source in now}
    return {source: each for source, each in factors.items() if source != DECLARED} or factors


def are_as_fast(factors: dict[str, float], factor: float) -> bool:
    """Return whether disks became faster by this factor, as far as measurements are equal."""
    return bool(factors) and all(
        abs(each - factor) <= GOODPUT_TOLERANCE * factor for each in factors.values()
    )


def _rates(column: ConfigurationRuns) -> Iterator[tuple[str, float]]:
    cases = disk_cases(probe_measurements(column))
    for metric, source in ((DISK_READ, "reading"), (DISK_WRITE, "writing")):
        if rate := typical(cases, metric):
            yield source, rate
    declared = {declared_disk_rate(recorded.run) for recorded in column.runs}
    if len(declared) == 1 and (rate := declared.pop()):
        yield DECLARED, rate
