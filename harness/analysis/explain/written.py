"""What a workload that writes stored, sent and wrote to disks for each byte of its data."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.observed.sample import measured_trials
from harness.model.layout import Layout
from harness.model.run import RecordedRun, Trial


@dataclass(frozen=True)
class PerWrittenByte:
    """Bytes for each byte of the files that a workload wrote: medians of its trials, None if unknown.

    - `layouts`: of the files; `promised`: what the layout takes of files that are not short.
    - `stored`: on all nodes together; `sent`: by all nodes, without shuffled rows; `to_disks`: by disks of
      all nodes while the trial ran.
    """

    layouts: str
    promised: float | None
    stored: float | None
    sent: float | None
    to_disks: float | None


def per_written_byte(runs: Iterable[RecordedRun], workload: str) -> PerWrittenByte | None:
    """Return the bytes for each that a workload wrote; None if no trial that counts wrote any."""
    trials = [
        trial
        for trial in measured_trials(runs)
        if trial.workload == workload and trial.written and trial.written.data_bytes
    ]
    layouts = list(dict.fromkeys(trial.written.layout for trial in trials if trial.written))
    if not trials:
        return None
    return PerWrittenByte(
        ", ".join(layouts),
        Layout.recorded(layouts[0]).stored_per_byte if len(layouts) == 1 else None,
        _median_ratio(trials, _stored),
        _median_ratio(trials, _sent),
        _median_ratio(trials, _to_disks),
    )


def _median_ratio(trials: Sequence[Trial], read: Callable[[Trial], int | None]) -> float | None:
    ratios = [
        count / trial.written.data_bytes
        for trial in trials
        if trial.written and (count := read(trial)) is not None
    ]
    return median(ratios) if ratios else None


def _stored(trial: Trial) -> int | None:
    return trial.written.stored_bytes if trial.written else None


def _sent(trial: Trial) -> int | None:
    if not trial.wire or not trial.wire.nodes or trial.wire.unread or not trial.tasks:
        return None
    sent = sum(node.sent_bytes for node in trial.wire.nodes)
    return max(0, sent - trial.tasks.shuffle_remote_bytes)


def _to_disks(trial: Trial) -> int | None:
    return trial.disk.written_bytes if trial.disk and trial.input_read_by else None
