"""Progress on standard error: which trial or task of how many, and how much time is left."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harness.base.clock import duration_text
from harness.base.terminal import say
from harness.model.run import Phase, Trial
from harness.trials.rounds import Rounds


class TrialProgress:
    """Prints a line for each trial that ended: which it was, how long it took, what follows."""

    def __init__(self, workloads: Sequence[str], rounds: Rounds) -> None:
        self._rounds = rounds
        self._width = max(map(len, workloads), default=0)
        self._number = 0

    def finished(self, trial: Trial) -> None:
        """Print the trial; the rounds, which say what follows, know it already."""
        self._number += 1
        total = self._rounds.total
        number = f"{self._number:{len(str(total or 100))}}"
        if total:
            number = f"{number}/{total}"
        phase = trial.phase.value
        # If the run itself finds out how long the warm-up is, no trial is known to be measured yet.
        if not self._rounds.is_fixed and trial.phase in (Phase.WARM_UP, Phase.MEASURED):
            phase = "round"
        say(
            f"[{number}] {trial.workload:{self._width}}  {phase} {trial.round}   {_outcome(trial)}   "
            f"{self._rounds.outlook()}"
        )


def _outcome(trial: Trial) -> str:
    if trial.wall_s is None:
        return f"FAILED: {trial.error}"
    text = f"{trial.wall_s:8.3f} s"
    if trial.executions > 1:
        text += f" x{trial.executions}"
    if trial.disturbed:
        text += f"   disturbed ({trial.disturbed})"
    return text


@contextmanager
def task_progress(what: str, total: int, done: Callable[[], int]) -> Iterator[None]:
    """Print a line for every tenth of `total` tasks that is `done` inside the `with` block."""
    started = time.perf_counter()
    ended = threading.Event()

    def show() -> None:
        shown_tenths = 0
        while not ended.wait(1.0):
            count = done()
            tenths = 10 * count // max(1, total)
            if count and tenths != shown_tenths:
                took_s = time.perf_counter() - started
                left = duration_text(took_s / count * (total - count))
                say(f"{what}: {count} of {total} tasks, {left} left")
                shown_tenths = tenths

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
