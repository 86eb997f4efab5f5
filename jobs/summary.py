"""The table that a run prints at its end: a line for each workload."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from statistics import median

from harness.base.items import grouped, known
from harness.model.answer import VARIES
from harness.model.run import Phase, Status, Trial, answers_of
from harness.trials.counting import UNPROVEN, counted_trials, doubts

_HEADINGS = ("median", "min", "max")


def summary(
    workloads: Iterable[str],
    trials: Sequence[Trial],
    steady_trials: int | None,
    *,
    to_be_proven: bool = False,
) -> Iterator[str]:
    """Yield the headings, then the median, minimum and maximum of each workload's measured trials in seconds.

    A note says what does not count. `steady_trials` is how many steady trials were wanted of each workload,
    None if the number of warm-up rounds was fixed. `to_be_proven`: whether unproven trials do not count.
    """
    counted, throughout = counted_trials(trials, steady_trials, to_be_proven=to_be_proven)
    by_name = grouped(counted, attrgetter("workload"))
    yield _line("workload", _HEADINGS, "n", "warm-up", "")
    for name in workloads:
        own = by_name.get(name, ())
        warm_up = sum(trial.phase is Phase.WARM_UP for trial in own)
        measured = [trial for trial in own if trial.phase is Phase.MEASURED]
        times_s = known(trial.undisturbed_s for trial in measured)
        cells = ["-"] * len(_HEADINGS)
        if times_s:
            cells = [f"{time_s:.3f} s" for time_s in (median(times_s), min(times_s), max(times_s))]
        notes = ["all disturbed"] if name in throughout else []
        notes += _left_out(measured)
        doubt = next(doubts([own], [steady_trials], len(by_name)), None)
        if doubt:
            notes.append(f"not known to be steady: {doubt}")
        if len(answers_of(own)) > 1:
            notes.append(VARIES)
        yield _line(name, cells, f"{len(times_s)}", f"{warm_up}", "; ".join(notes))


def _line(name: str, cells: Iterable[str], n: str, warm_up: str, notes: str) -> str:
    times = " ".join(cell.rjust(10) for cell in cells)
    return f"{name:22} {times} {n:>4} {warm_up:>8}   {notes}".rstrip()


def _left_out(measured: Sequence[Trial]) -> Iterator[str]:
    failed = sum(trial.status is Status.FAILED for trial in measured)
    unproven = sum(trial.disturbed == UNPROVEN for trial in measured)
    disturbed = sum(trial.disturbed is not None for trial in measured) - unproven
    if failed:
        yield f"{failed} of {len(measured)} failed"
    if disturbed:
        yield f"{disturbed} of {len(measured)} disturbed"
    if unproven:
        yield UNPROVEN
