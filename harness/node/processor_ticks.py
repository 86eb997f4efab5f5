"""Processor time as /proc/stat counts it, in clock ticks (proc_stat(5))."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import NamedTuple

TICKS_PER_S = os.sysconf("SC_CLK_TCK")

# Eight columns; two of guests may follow.
_ALL = re.compile(r"cpu +(\d+(?: \d+){7})\b.*")
_EACH = re.compile(r"cpu\d+ +(\d+(?: \d+){7})\b.*")


class ProcessorTicks(NamedTuple):
    """The time of one processor, or of all, since the host booted or between two readings.

    `user` and `nice` include the time of guests, which /proc/stat also counts separately.
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
        """All ticks, idle and stolen ones included. If idle ones decreased, as they may, there were none."""
        return self.busy + self.stolen + max(0, self.idle + self.iowait)

    @property
    def used_by_processes(self) -> int:
        """The ticks of processes and of the kernel's threads, without interrupts."""
        return self.user + self.nice + self.system

    @property
    def busy(self) -> int:
        """The ticks in which processors worked, interrupts included, without what a hypervisor took."""
        return self.used_by_processes + self.irq + self.softirq

    def since(self, before: ProcessorTicks) -> ProcessorTicks:
        """Return the ticks from an earlier reading to this one."""
        return ProcessorTicks(*(late - early for early, late in zip(before, self)))


def ticks_of_all_processors(lines: Iterable[str]) -> list[ProcessorTicks]:
    """Return the sums over all processors, one for each reading. Lines that lack a column are skipped."""
    return _read(_ALL, lines)


def ticks_of_each_processor(lines: Iterable[str]) -> list[ProcessorTicks]:
    """Return the ticks of each processor, in the order of lines. Lines that lack a column are skipped."""
    return _read(_EACH, lines)


def _read(pattern: re.Pattern[str], lines: Iterable[str]) -> list[ProcessorTicks]:
    found = []
    for line in lines:
        match = pattern.fullmatch(line)
        if match:
            found.append(ProcessorTicks(*(int(column) for column in match[1].split())))
    return found
