"""Whether the trials or runs of a workload become slower, and what was observed to become so beside them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from harness.base.words import percent
from harness.model.interference import IO_WAIT, MEMORY_WAIT, OTHERS, STEAL
from harness.model.run import Trial
from harness.statistics.steadiness import rise

SPEED = "processors became slower"

LEVEL = 0.004
"""The chance that a configuration without any trend has a workload that is said to become slower.

So it is one in twenty for a table of twelve configurations, whatever the number of workloads.
"""


def slow_down(runs: Iterable[Sequence[Trial]], workloads: int) -> str | None:
    """Return by how much a workload's trials become slower within its runs, or its runs one after the other.

    With the reason; None if they do not. `workloads` is how many are looked at in this way.
    """
    found = [[t for t in trials if t.counts and t.unit_s is not None] for trials in runs]
    within = [trials for trials in found if trials]
    together = [trial for trials in within for trial in trials]
    times_s = [[t.unit_s or 0.0 for t in trials] for trials in within]
    for what, in_order_s, trials in (
        ("trials", times_s, within),
        ("runs", [list(map(median, times_s))], [together]),
    ):
        if by := rise(in_order_s, LEVEL / 2 / max(1, workloads)):
            return f"its {what} became slower, by {percent(by)} ({_reason(trials)})"
    return None


def _reason(runs: Sequence[Sequence[Trial]]) -> str:
    """Return what took at least half of the seconds by which the later halves are longer."""
    nodes = [node for trials in runs for trial in trials for node in trial.interference or ()]
    best_loop_s = min((node.loop_s for node in nodes if node.loop_s), default=0.0)
    longer_s = 0.0
    grown_s: dict[str, float] = defaultdict(float)
    for trials in runs:
        half = len(trials) // 2
        later = [(1 / half, trial) for trial in trials[-half:]] if half else []
        earlier = [(-1 / half, trial) for trial in trials[:half]]
        for weight, trial in later + earlier:
            longer_s += weight * (trial.wall_s or 0.0) * trial.executions
            for name, seconds in _seconds(trial, best_loop_s).items():
                grown_s[name] += weight * seconds
    name = max(grown_s, key=lambda name: grown_s[name])
    if grown_s[name] < longer_s / 2:
        return "the reason is not known"
    is_hot = name == SPEED and any(node.heat_throttles for node in nodes)
    return f"{name}: they were too hot" if is_hot else name


def _seconds(trial: Trial, best_loop_s: float) -> Mapping[str, float]:
    """Return how many seconds of a trial each cause took, on the node where it took most of them."""
    gc_share = (trial.tasks and trial.tasks.gc_share) or 0.0
    found = {"more garbage collection": gc_share * (trial.wall_s or 0.0) * trial.executions}
    for node in trial.interference or ():
        for name, seconds in (
            (SPEED, node.loop_s and node.duration_s * (1 - best_loop_s / node.loop_s)),
            (STEAL, node.stolen_s and node.stolen_s / node.processors),
            (OTHERS, node.others_s and node.others_s / node.processors),
            (MEMORY_WAIT, node.memory_wait_s),
            (IO_WAIT, node.io_wait_s),
        ):
            found[name] = max(found.get(name, 0.0), seconds or 0.0)
    return found
