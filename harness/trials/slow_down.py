"""Whether the trials or runs of a workload become slower, and what was observed to become so beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import median

from harness.base.words import percent
from harness.model.interference import IO_WAIT, MEMORY_WAIT, OTHERS, STEAL, NodeInterference
from harness.model.run import Trial
from harness.statistics.steadiness import rise

SPEED = "processors became slower"

LEVEL = 0.004
"""The chance that a configuration without any trend has a workload that is said to become slower.

So it is one in twenty for a table of twelve configurations, whatever the number of workloads.
"""


def slow_down(runs: Sequence[Sequence[Trial]], workloads: int) -> str | None:
    """Return by how much a workload's trials become slower within its runs, or its runs one after the other.

    With the reason; None if they do not. `workloads` is how many are looked at in this way.
    """
    level = LEVEL / 2 / max(1, workloads)
    within: list[list[Trial]] = []
    times_s: list[list[float]] = []
    together: list[Trial] = []
    for trials in runs:
        timed = [trial for trial in trials if trial.counts and trial.unit_s is not None]
        if timed:
            within.append(timed)
            times_s.append([trial.unit_s or 0.0 for trial in timed])
            together += timed
    by = rise(times_s, level)
    if by:
        return f"its trials became slower, by {percent(by)} ({_reason(within)})"
    by = rise([[median(each) for each in times_s]], level)
    if by:
        return f"its runs became slower, by {percent(by)} ({_reason([together])})"
    return None


def _reason(runs: Sequence[Sequence[Trial]]) -> str:
    """Return what took at least half of the time by which a unit of work takes longer in the later halves."""
    nodes: list[NodeInterference] = []
    for trials in runs:
        for trial in trials:
            nodes += trial.interference or ()
    best_loop_s = min((node.loop_s for node in nodes if node.loop_s), default=0.0)
    longer_s = 0.0
    grown_s: dict[str, float] = defaultdict(float)
    for trials in runs:
        for weight, trial in _halves(trials):
            unit_s = trial.unit_s or 0.0
            longer_s += weight * unit_s
            for name, share in _shares(trial, best_loop_s).items():
                grown_s[name] += weight * unit_s * share
    name = max(grown_s, key=grown_s.__getitem__)
    if longer_s <= 0 or grown_s[name] < longer_s / 2:
        return "the reason is not known"
    if name == SPEED and any(node.heat_throttles for node in nodes):
        return f"{name}: they were too hot"
    return name


def _halves(trials: Sequence[Trial]) -> Iterator[tuple[float, Trial]]:
    """Yield the trials of the first and the last half. Their weights make the difference of two means."""
    half = len(trials) // 2
    for trial in trials[:half]:
        yield -1 / half, trial
    for trial in trials[len(trials) - half :]:
        yield 1 / half, trial


def _shares(trial: Trial, best_loop_s: float) -> dict[str, float]:
    """Return which part of a trial's time each cause took, on the node where it took most of it.

    A node counts for longer than the trial of a program with several workloads, or of one in streams.
    """
    gc_share = (trial.tasks and trial.tasks.gc_share) or 0.0
    found = {"more garbage collection": gc_share}
    for node in trial.interference or ():
        causes = {
            SPEED: node.loop_s and node.duration_s * (1 - best_loop_s / node.loop_s),
            STEAL: (node.stolen_s or 0.0) / node.processors,
            OTHERS: (node.others_s or 0.0) / node.processors,
            MEMORY_WAIT: node.memory_wait_s,
            IO_WAIT: node.io_wait_s,
        }
        for name, seconds in causes.items():
            found[name] = max(found.get(name, 0.0), (seconds or 0.0) / node.duration_s)
    return found
