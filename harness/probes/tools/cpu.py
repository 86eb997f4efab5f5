"""How busy a host's processors are in a number of seconds, from two readings of /proc/stat."""

from dataclasses import dataclass

from harness.base.errors import ToolError
from harness.node.processor_ticks import (
    ProcessorTicks,
    ticks_of_all_processors,
    ticks_of_each_processor,
)

_SCRIPT = 'sleep "$0"; grep ^cpu /proc/stat; sleep "$1"; grep ^cpu /proc/stat'

_READINGS = 2
"""Of _SCRIPT."""


@dataclass(frozen=True)
class Cpu:
    """Percent of all processors' time that was busy, and that went into soft interrupts (the network's).

    `stolen_percent` is the part that a hypervisor took away, which also counts as busy. `busiest_percent` is
    the load of the busiest processor.
    """

    busy_percent: float
    softirq_percent: float
    stolen_percent: float
    busiest_percent: float


def meter(after_s: int, seconds: int) -> list[str]:
    """Return the command that reads /proc/stat after `after_s`, and again `seconds` later."""
    return ["sh", "-c", _SCRIPT, str(after_s), str(seconds)]


def read_meter(text: str) -> Cpu:
    """Return the difference of the two readings. Raise ToolError if they are incomplete."""
    lines = text.splitlines()
    readings = ticks_of_all_processors(lines)
    processors = ticks_of_each_processor(lines)
    if len(readings) != _READINGS or not processors or len(processors) % _READINGS:
        raise ToolError("/proc/stat was not read twice")
    total = _difference(*readings)
    if not total.total:
        raise ToolError("/proc/stat did not change")
    busiest = 0.0
    half = len(processors) // _READINGS
    for before, after in zip(processors[:half], processors[half:], strict=True):
        own = _difference(before, after)
        busiest = max(busiest, _percent(own, own.busy + own.stolen))
    return Cpu(
        busy_percent=_percent(total, total.busy + total.stolen),
        softirq_percent=_percent(total, total.softirq),
        stolen_percent=_percent(total, total.stolen),
        busiest_percent=busiest,
    )


def _difference(before: ProcessorTicks, after: ProcessorTicks) -> ProcessorTicks:
    ticks = after.since(before)
    if ticks.busy + ticks.stolen < 0 or not 0 <= ticks.softirq <= ticks.total:
        raise ToolError("/proc/stat went backwards")
    return ticks


def _percent(ticks: ProcessorTicks, part: int) -> float:
    if not ticks.total:
        return 0.0
    return 100 * max(0, part) / ticks.total
