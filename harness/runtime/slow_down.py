"""Whether the trials of a workload become slower, and what was observed to become so beside them."""

from collections.abc import Callable, Iterable, Sequence
from statistics import fmean

from harness.model.interference import IO_WAIT, MEMORY_WAIT, OTHERS, STEAL, NodeInterference
from harness.model.run import Trial
from harness.statistics.steadiness import rise
from harness.words import percent

LEVEL = 0.004
"""The chance that a configuration without any trend has a workload that is said to become slower.

So it is one in twenty for a table of twelve configurations, whatever the number of workloads.
"""

_CAUSES: dict[str, Callable[[NodeInterference], float | None]] = {
    STEAL: lambda node: node.stolen_s and node.stolen_s / node.processors,
    OTHERS: lambda node: node.others_s and node.others_s / node.processors,
    MEMORY_WAIT: lambda node: node.memory_wait_s,
    IO_WAIT: lambda node: node.io_wait_s,
}
"""How many seconds of a trial each takes on a node; None if that is unknown."""


def slow_down(runs: Iterable[Sequence[Trial]], workloads: int) -> str | None:
    """Return by how much a workload's trials become slower within its runs, and why; None if they do not.

    `workloads` is how many are looked at in this way.
    """
    counting = [[t for t in trials if t.counts and t.unit_s is not None] for trials in runs]
    counting = [trials for trials in counting if trials]
    by = rise([[t.unit_s or 0.0 for t in trials] for trials in counting], LEVEL / max(1, workloads))
    return f"its trials became slower, by {percent(by)} ({_reason(counting)})" if by else None


def _reason(runs: Sequence[Sequence[Trial]]) -> str:
    """Return what grew by at least half of the seconds by which trials became longer."""
    longer_s = _growth_s(runs, lambda trial: (trial.wall_s or 0.0) * trial.executions)
    grown = {
        "processors became slower": _growth_s(runs, _slow_processors_s(runs)),
        "more garbage collection": _growth_s(runs, _collecting_s),
        **{name: _growth_s(runs, _most(read)) for name, read in _CAUSES.items()},
    }
    name = max(grown, key=lambda name: grown[name])
    return name if grown[name] >= longer_s / 2 else "the reason is not known"


def _growth_s(runs: Sequence[Sequence[Trial]], seconds: Callable[[Trial], float]) -> float:
    """Return by how many seconds the later half of the trials of a run exceeds the earlier one on average."""
    halves = [(trials[: len(trials) // 2], trials[-(len(trials) // 2) :]) for trials in runs]
    return fmean(
        fmean(map(seconds, later)) - fmean(map(seconds, earlier))
        for earlier, later in halves
        if earlier
    )


def _most(read: Callable[[NodeInterference], float | None]) -> Callable[[Trial], float]:
    """Return a function of a trial: the seconds on the node that has most of them."""
    return lambda trial: max((read(node) or 0.0 for node in trial.interference or ()), default=0.0)


def _slow_processors_s(runs: Sequence[Sequence[Trial]]) -> Callable[[Trial], float]:
    """Return a function of a trial: the seconds that it would not have taken at the best speed."""
    nodes = [node for trials in runs for trial in trials for node in trial.interference or ()]
    best = min((node.loop_s for node in nodes if node.loop_s), default=0.0)
    return _most(lambda node: node.loop_s and node.duration_s * (1 - best / node.loop_s))


def _collecting_s(trial: Trial) -> float:
    return (
        ((trial.tasks and trial.tasks.gc_share) or 0.0) * (trial.wall_s or 0.0) * trial.executions
    )
