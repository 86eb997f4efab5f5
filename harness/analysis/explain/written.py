"""What a workload that writes stored, sent and wrote to disks for each byte of its data."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.analysis.network.measured import known_median
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
    layouts: dict[str, None] = {}
    stored: list[float] = []
    sent: list[float] = []
    to_disks: list[float] = []
    for trial in measured_trials(runs):
        written = trial.written
        if trial.workload != workload or written is None or not written.data_bytes:
            continue
        layouts[written.layout] = None
        if written.stored_bytes is not None:
            stored.append(written.stored_bytes / written.data_bytes)
        sent_bytes = _sent(trial)
        if sent_bytes is not None:
            sent.append(sent_bytes / written.data_bytes)
        if trial.disk and trial.input_read_by:
            to_disks.append(trial.disk.written_bytes / written.data_bytes)
    if not layouts:
        return None
    promised = None
    if len(layouts) == 1:
        promised = Layout.recorded(next(iter(layouts))).stored_per_byte
    return PerWrittenByte(
        layouts=", ".join(layouts),
        promised=promised,
        stored=known_median(stored),
        sent=known_median(sent),
        to_disks=known_median(to_disks),
    )


def _sent(trial: Trial) -> int | None:
    """Return the bytes that all nodes sent in a trial, without shuffled rows; None if unknown."""
    if not trial.wire or not trial.wire.nodes or trial.wire.unread or not trial.tasks:
        return None
    sent = sum(node.sent_bytes for node in trial.wire.nodes)
    return max(0, sent - trial.tasks.shuffle_remote_bytes)
