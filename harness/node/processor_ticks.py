"""What /proc/stat counted of the processors' time, in ticks of the kernel's clock (proc_stat(5))."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# Eight columns; those of guests may follow.
_ALL = re.compile(r"cpu +(\d+(?: \d+){7})\b.*")
_EACH = re.compile(r"cpu\d+ +(\d+(?: \d+){7})\b.*")


class ProcessorTicks(NamedTuple):
    """The time of one processor, or of all, since the host booted or between two readings.

    The time of guests, which /proc/stat also has, is contained in `user`.
    """

    user: int
    nice: int
    system: int
    idle: int
    iowait: int
    irq: int
    softirq: int
    stolen: int

    @property
    def total(self) -> int:
        """All ticks."""
        return sum(self)

    @property
    def processes(self) -> int:
        """What processes and threads of the kernel used, without interrupts."""
        return self.user + self.nice + self.system

    @property
    def busy(self) -> int:
        """What was used in any way, interrupts included; without what a hypervisor took."""
        return self.total - self.idle - self.iowait - self.stolen

    def since(self, before: ProcessorTicks) -> ProcessorTicks:
        """Return the ticks from an earlier reading to this one."""
        return ProcessorTicks(*(late - early for early, late in zip(before, self, strict=True)))


def ticks_of_all(lines: Iterable[str]) -> list[ProcessorTicks]:
    """Return the sums over all processors, one of each reading; none of a line that lacks a column."""
    return _read(_ALL, lines)


def ticks_of_each(lines: Iterable[str]) -> list[ProcessorTicks]:
    """Return the ticks of every single processor, in their order; none of a line that lacks a column."""
    return _read(_EACH, lines)


def _read(pattern: re.Pattern[str], lines: Iterable[str]) -> list[ProcessorTicks]:
    found = [match[1].split() for line in lines if (match := pattern.fullmatch(line))]
    return [ProcessorTicks(*map(int, columns)) for columns in found]
