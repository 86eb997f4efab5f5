"""What a host's processors did meanwhile, from /proc/stat: all programs, the kernel, and interrupts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.model.errors import ToolError

# The first eight; what guests take is within user.
_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_ALL = re.compile(r"cpu +(\d+(?: \d+)*)")
_ONE = re.compile(r"cpu\d+ ")
_SAMPLES = 'sleep "$0"; grep ^cpu /proc/stat; sleep "$1"; grep ^cpu /proc/stat'


@dataclass(frozen=True)
class Cpu:
    """Percent of all processors that were busy, and that were busy with packets; how many there are."""

    busy_percent: float
    softirq_percent: float
    processors: int


def meter(after_s: int, seconds: int) -> list[str]:
    """Look twice, so many seconds apart, for the first time after `after_s`."""
    return ["sh", "-c", _SAMPLES, str(after_s), str(seconds)]


def read_meter(text: str) -> Cpu:
    """What was between the two looks. Raises ToolFailed where they are not both there."""
    lines = text.splitlines()
    looks = [match[1].split() for line in lines if (match := _ALL.fullmatch(line))]
    processors, uneven = divmod(sum(bool(_ONE.match(line)) for line in lines), 2)
    if len(looks) != 2 or processors == 0 or uneven:  # noqa: PLR2004  before and after
        raise ToolError("/proc/stat was not read twice")
    before, after = looks
    return _between(before, after, processors)


def _between(before: list[str], after: list[str], processors: int) -> Cpu:
    if min(len(before), len(after)) < len(_FIELDS):
        raise ToolError("/proc/stat has too few columns")
    passed = {
        name: int(late) - int(early)
        for name, early, late in zip(_FIELDS, before, after, strict=False)
    }
    total = sum(passed.values())
    busy = total - passed["idle"] - passed["iowait"]
    if total <= 0 or not 0 <= busy <= total or not 0 <= passed["softirq"] <= total:
        raise ToolError("/proc/stat went backwards")
    return Cpu(100 * busy / total, 100 * passed["softirq"] / total, processors)
