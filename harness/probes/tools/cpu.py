"""How busy a host's processors are in a number of seconds, from two readings of /proc/stat."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.model.errors import ToolError

# The first eight fields; the time of guests, which follows, is also contained in `user`.
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_TOTAL_LINE = re.compile(r"cpu +(\d+(?: \d+)*)")
_PROCESSOR_LINE = re.compile(r"cpu\d+ ")
_SCRIPT = 'sleep "$0"; grep ^cpu /proc/stat; sleep "$1"; grep ^cpu /proc/stat'


@dataclass(frozen=True)
class Cpu:
    """Percent of all processors' time that was busy, and that went into soft interrupts (the network's)."""

    busy_percent: float
    softirq_percent: float
    processors: int


def meter(after_s: int, seconds: int) -> list[str]:
    """Return the command that reads /proc/stat after `after_s`, and again `seconds` later."""
    return ["sh", "-c", _SCRIPT, str(after_s), str(seconds)]


def read_meter(text: str) -> Cpu:
    """Return the difference of the two readings. Raise ToolError if they are incomplete."""
    lines = text.splitlines()
    readings = [match[1].split() for line in lines if (match := _TOTAL_LINE.fullmatch(line))]
    processors, odd = divmod(sum(bool(_PROCESSOR_LINE.match(line)) for line in lines), 2)
    if len(readings) != 2 or processors == 0 or odd:  # noqa: PLR2004  before and after
        raise ToolError("/proc/stat was not read twice")
    before, after = readings
    if min(len(before), len(after)) < len(_FIELDS):
        raise ToolError("/proc/stat has too few columns")
    ticks = {
        name: int(late) - int(early)
        for name, early, late in zip(_FIELDS, before, after, strict=False)
    }
    total = sum(ticks.values())
    busy = total - ticks["idle"] - ticks["iowait"]
    if total <= 0 or not 0 <= busy <= total or not 0 <= ticks["softirq"] <= total:
        raise ToolError("/proc/stat went backwards")
    return Cpu(100 * busy / total, 100 * ticks["softirq"] / total, processors)
