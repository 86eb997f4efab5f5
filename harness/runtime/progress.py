"""Progress on standard error: which trial or task of how many, and how much time is left."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from harness.model.run import Phase, Trial
from harness.runtime.clock import duration_text
from harness.runtime.rounds import Observer, Rounds
from harness.terminal import begin_line, continue_line, end_line, is_terminal, replace_lines, say


class TrialProgress(Observer):
    """An observer that prints a line for each trial: which it is, how long it took, what follows.

    The plan of the rounds says what follows: it has to observe each trial before. On a terminal, the lines
    of a `table` of all trials until then stand above the line of the trial that runs, in place of a line
    for each trial.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        plan: Rounds,
        table: Callable[[], Sequence[str]] | None = None,
    ) -> None:
        rounds = plan.totals
        self._plan = plan
        self._total = len(workloads) * sum(rounds.values()) if Phase.MEASURED in rounds else None
        self._width = max(map(len, workloads), default=0)
        self._number = 0
        self._table = table if is_terminal() else None

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Print which trial starts."""
        self._number += 1
        number = f"{self._number:{len(str(self._total or 100))}}"
        # A profile round for which time was left is one more than there were to be.
        total = self._total if self._number <= (self._total or 0) else None
        # If the run itself finds out how long the warm-up is, no trial is known to be measured yet.
        kind = phase if self._plan.totals or phase is Phase.PROFILE else "round"
        line = (
            f"[{_of_total(number, total)}] {workload:{self._width}}  "
            f"{kind} {_of_total(round_, self._plan.totals.get(phase))}  "
        )
        if self._table:
            replace_lines([*self._table(), f"{line} {self._plan.outlook()}"])
        else:
            begin_line(line)

    def finished(self, trial: Trial) -> None:
        """Print the time or the error, and the outlook."""
        if self._table:
            if trial.error is not None:
                say(f"{trial.workload}, round {trial.round}: {_outcome(trial)}")
            return
        continue_line(f"{_outcome(trial)}   {self._plan.outlook()}")


def _outcome(trial: Trial) -> str:
    if trial.wall_s is None:
        return f"FAILED: {trial.error}"
    executions = f" x{trial.executions}" if trial.executions > 1 else ""
    disturbed = f"   disturbed ({trial.disturbed})" if trial.disturbed else ""
    return f"{trial.wall_s:8.3f} s{executions}{disturbed}"


def _of_total(number: object, total: int | None) -> str:
    return f"{number}/{total}" if total else str(number)


def show_status(line: str, *, is_news: bool) -> None:
    """Show a line that `end_line` erases; where lines cannot be replaced, only if it is news."""
    if is_terminal():
        replace_lines([line])
    elif is_news:
        say(line)


@contextmanager
def task_progress(what: str, total: int, done: Callable[[], int]) -> Iterator[None]:
    """Print how many of `total` tasks are `done`, every second inside the `with` block.

    On a terminal the line is rewritten in place; elsewhere a line is printed for every tenth of the
    tasks.
    """
    started = time.perf_counter()
    ended = threading.Event()

    def show() -> None:
        shown_tenths = 0
        while not ended.wait(1.0):
            count = done()
            tenths = 10 * count // max(1, total)
            if count:
                took_s = time.perf_counter() - started
                left = duration_text(took_s / count * (total - count))
                line = f"{what}: {count} of {total} tasks, {left} left"
                show_status(line, is_news=tenths != shown_tenths)
                shown_tenths = tenths

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        end_line()
