"""How busy a host's processors are in a number of seconds, from two readings of /proc/stat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.model.errors import ToolError

# The first eight fields; the time of guests, which follows, is also contained in `user`.
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_TOTAL_LINE = re.compile(r"cpu +(\d+(?: \d+)*)")
_PROCESSOR_LINE = re.compile(r"cpu\d+ +(\d+(?: \d+)*)")
_SCRIPT = 'sleep "$0"; grep ^cpu /proc/stat; sleep "$1"; grep ^cpu /proc/stat'


@dataclass(frozen=True)
class Cpu:
    """Percent of all processors' time that was busy, and that went into soft interrupts (the network's).

    `stolen_percent` is what a hypervisor took away, which also counts as busy; `busiest_percent` is how busy
    the busiest of the processors was.
    """

    busy_percent: float
    softirq_percent: float
    processors: int
    stolen_percent: float = 0.0
    busiest_percent: float = 0.0


def meter(after_s: int, seconds: int) -> list[str]:
    """Return the command that reads /proc/stat after `after_s`, and again `seconds` later."""
    return ["sh", "-c", _SCRIPT, str(after_s), str(seconds)]


def read_meter(text: str) -> Cpu:
    """Return the difference of the two readings. Raise ToolError if they are incomplete."""
    lines = text.splitlines()
    readings = [_counts(match[1]) for line in lines if (match := _TOTAL_LINE.fullmatch(line))]
    processors = [_counts(match[1]) for line in lines if (match := _PROCESSOR_LINE.fullmatch(line))]
    count, odd = divmod(len(processors), 2)
    if len(readings) != 2 or count == 0 or odd:  # noqa: PLR2004  before and after
        raise ToolError("/proc/stat was not read twice")
    total = _Usage.between(*readings)
    if not total.ticks["total"]:
        raise ToolError("/proc/stat did not change")
    each = [
        _Usage.between(before, after)
        for before, after in zip(processors[:count], processors[count:], strict=True)
    ]
    return Cpu(
        total.percent("busy"),
        total.percent("softirq"),
        count,
        total.percent("steal"),
        max(usage.percent("busy") for usage in each),
    )


def _counts(text: str) -> list[int]:
    counts = [int(each) for each in text.split()]
    if len(counts) < len(_FIELDS):
        raise ToolError("/proc/stat has too few columns")
    return counts


@dataclass(frozen=True)
class _Usage:
    """Ticks between two readings, by field, with `busy` and `total`."""

    ticks: dict[str, int]

    @classmethod
    def between(cls, before: list[int], after: list[int]) -> _Usage:
        ticks = {
            name: late - early for name, early, late in zip(_FIELDS, before, after, strict=False)
        }
        total = sum(ticks.values())
        busy = total - ticks["idle"] - ticks["iowait"]
        if total < 0 or not 0 <= busy <= total or not 0 <= ticks["softirq"] <= total:
            raise ToolError("/proc/stat went backwards")
        return cls({**ticks, "busy": busy, "total": total})

    def percent(self, name: str) -> float:
        """Return a field in percent of the time; 0 of a processor that was offline."""
        total = self.ticks["total"]
        return 100 * max(0, self.ticks[name]) / total if total else 0.0
