"""Disks that are to be bought, and whether the disks of a later configuration are as fast."""

import re

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
    """Return how many times as fast the disks are after, by the source that tells: `reading`, `writing`.

    These are of the probes of both sides. Without them, the source is the fact `disk` of both sides:
    DECLARED. Empty if neither tells.
    """
    then = _rates(before)
    now = _rates(after)
    factors = {source: now[source] / then[source] for source in then if source in now}
    measured = {source: factor for source, factor in factors.items() if source != DECLARED}
    return measured or factors


def are_as_fast(factors: dict[str, float], factor: float) -> bool:
    """Return whether all sources tell this factor, up to GOODPUT_TOLERANCE; False if none tells."""
    differences = [abs(each - factor) for each in factors.values()]
    return bool(differences) and max(differences) <= GOODPUT_TOLERANCE * factor


def _rates(column: ConfigurationRuns) -> dict[str, float]:
    """Return the speeds of disks by their names: two that a probe measured, and the declared one."""
    cases = disk_cases(probe_measurements(column))
    rates = {"reading": typical(cases, DISK_READ), "writing": typical(cases, DISK_WRITE)}
    declared = set(map(declared_disk_rate, column.descriptions))
    if len(declared) == 1:
        rates[DECLARED] = declared.pop()
    return {source: rate for source, rate in rates.items() if rate}
