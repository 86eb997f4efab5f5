"""Whether trials read their input from disks or from memory: measured, whatever was asked for.

What counts is the share of the input that disks read during a trial. Disks also read ahead, so they count
for no more than the input. What a workload reads in several stages can be the same data, which only the first
of them reads from disks: its input is what the stage that reads most has read. Of little input nothing is
said, nor where a storage's disks read for others, too.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from harness.model.run import InputReader, Trial
from harness.words import percent

COLD, WARM = "cold", "warm"
"""What a run can ask for: the input of each trial is put out of the page cache before, or stays in it."""
MIN_INPUT = 16 * 2**20
"""Bytes. A machine reads a megabyte within a trial by itself, which is no sign of this much input."""
_FROM_DISKS, _FROM_MEMORY = 0.9, 0.1
_MAX_READ = 2
"""Times its input that a storage's disks read for a trial: in the lab, 0.98 to 1.7 times."""
_NOT_COLD = "was to be cold, and was read from memory"


class CacheState(StrEnum):
    """Where the input of trials came from: from disks, from memory, or from both."""

    COLD = COLD
    MIXED = "mixed"
    WARM = WARM

    @classmethod
    def of(cls, share: float) -> Self:
        """Return the state of trials of whose input disks read this share."""
        if _FROM_MEMORY < share < _FROM_DISKS:
            return cls.MIXED
        return cls.COLD if share >= _FROM_DISKS else cls.WARM


def disk_share(trials: Iterable[Trial]) -> float | None:
    """Return the share of their input that disks read; None if that is known of no trial."""
    known = [
        (min(read_bytes, input_bytes), input_bytes)
        for trial in trials
        if trial.tasks and not trial.tasks.incomplete
        if (input_bytes := trial.tasks.largest_scan_bytes or trial.tasks.input_bytes) >= MIN_INPUT
        if (read_bytes := _read_bytes(trial)) is not None
    ]
    return sum(read for read, _ in known) / sum(whole for _, whole in known) if known else None


def _read_bytes(trial: Trial) -> int | None:
    """Return what disks read for the trial; None if that cannot be told from what they read for others."""
    if not trial.disk or not trial.tasks or not trial.input_read_by:
        return None
    if trial.input_read_by is InputReader.APPLICATION:
        return trial.disk.own_read_bytes
    read_bytes = trial.disk.read_bytes
    return read_bytes if read_bytes <= _MAX_READ * trial.tasks.input_bytes else None


def cache_text(share: float) -> str:
    """Return `cold (98 % from disks)`."""
    return f"{CacheState.of(share)} ({percent(share)} from disks)"


def why_not_cold(trial: Trial) -> str | None:
    """Return in one line why a trial was not as cold as it had to be; None if it was, or if it is unknown."""
    share = disk_share([trial]) if trial.to_be_cold else None
    if share is None or CacheState.of(share) is CacheState.COLD:
        return None
    return f"{_NOT_COLD} ({percent(1 - share)})"


def was_not_cold(trial: Trial) -> bool:
    """Whether a trial does not count because it was not as cold as it had to be."""
    return (trial.disturbed or "").startswith(_NOT_COLD)
