"""Whether trials read their input from disks or from memory: measured, whatever was asked for.

The share of the input that disks read during a trial decides. Disks also read ahead, so they count for no
more than the input. Several stages of a workload can read the same data, and only the first of them reads it
from disks: so the input of the stage that reads most counts. The share is unknown below 16 MiB of input, and
where the disks of a storage also read for others.

Disks read fewer bytes than the input has if its files are compressed or have holes. There, what was in memory
when the trial began bounds the share from both sides. The state is known if both bounds mean the same state.
"""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Sequence
from enum import Enum

from harness.base.items import grouped
from harness.base.words import percent
from harness.model.run import InputReader, Trial

COLD = "cold"
WARM = "warm"
"""The states that a run can ask for: each trial's input is put out of the page cache before, or stays."""
MIN_INPUT = 16 * 2**20
"""Bytes. A machine reads a megabyte within a trial by itself, which is no sign of this much input."""
_FROM_DISKS = 0.9
_FROM_MEMORY = 0.1
_MAX_READ = 2
"""Times its input that a storage's disks read for a trial: in the lab, 0.98 to 1.7 times."""


class CacheState(Enum):
    """Where the input of trials came from: from disks, from memory, or from both."""

    COLD = COLD
    MIXED = "mixed"
    WARM = WARM

    @classmethod
    def of(cls, share: float) -> CacheState:
        """Return the state of trials if disks read this share of their input."""
        if share >= _FROM_DISKS:
            return cls.COLD
        return cls.MIXED if share > _FROM_MEMORY else cls.WARM


def disk_share(trials: Iterable[Trial]) -> float | None:
    """Return the share of their input that disks read; None if that is known of no trial."""
    from_disks = 0
    whole = 0
    for trial in trials:
        input_bytes = _input_bytes(trial)
        read_bytes = _bytes_from_disks(trial, input_bytes)
        if input_bytes >= MIN_INPUT and read_bytes is not None:
            from_disks += read_bytes
            whole += input_bytes
    if not whole:
        return None
    return from_disks / whole


def disk_shares(trials: Iterable[Trial]) -> dict[str, float]:
    """Return the share of each workload, without workloads whose share is unknown."""
    found: dict[str, float] = {}
    for workload, own in grouped(trials, lambda trial: trial.workload).items():
        share = disk_share(own)
        if share is not None:
            found[workload] = share
    return found


def why_unknown(trials: Sequence[Trial]) -> str:
    """Return why it is not known whether trials were cold."""
    if any(trial.packed_input for trial in trials):
        return "disks may have fewer bytes of their input than it has (compressed, or with holes)"
    return "they read too little, or what the disks that store their input read for them cannot be told"


def _input_bytes(trial: Trial) -> int:
    """Return the input of the stage that reads most; 0 if it is unknown."""
    if not trial.tasks or trial.tasks.incomplete:
        return 0
    return trial.tasks.largest_scan_bytes or trial.tasks.input_bytes


def _bytes_from_disks(trial: Trial, input_bytes: int) -> int | None:
    """Return how much of its input a trial had from disks; None if that is unknown."""
    counted = _read_bytes(trial)
    if counted is None or not input_bytes:
        return None
    counted = min(counted, input_bytes)
    packed = trial.packed_input
    if packed is None:
        return counted
    least = counted
    most = input_bytes
    if packed.in_memory_bytes is not None and packed.other_bytes is not None:
        # Later executions may have found in memory what the first one read. Disks also read other files.
        most = min(most, packed.other_bytes)
        least = max(least, (input_bytes - packed.in_memory_bytes) // trial.executions)
        least = min(least, most)
    if CacheState.of(least / input_bytes) is not CacheState.of(most / input_bytes):
        return None
    return least


def _read_bytes(trial: Trial) -> int | None:
    """Return what disks read for the trial; None if that cannot be told from what they read for others."""
    if not trial.disk or not trial.tasks or not trial.input_read_by:
        return None
    if trial.input_read_by is InputReader.APPLICATION:
        return trial.disk.own_read_bytes
    if trial.disk.read_bytes > _MAX_READ * trial.tasks.input_bytes:
        return None
    return trial.disk.read_bytes


def cache_text(share: float) -> str:
    """Return `cold (98 % from disks)`."""
    return f"{CacheState.of(share).value} ({percent(share)} from disks)"


def why_not_cold(trial: Trial) -> str | None:
    """Return in one line why a trial was not as cold as it had to be; None if it was, or if it is unknown."""
    if not trial.to_be_cold:
        return None
    share = disk_share([trial])
    if share is None or CacheState.of(share) is CacheState.COLD:
        return None
    return f"was to be cold, and was read from memory ({percent(1 - share)})"
