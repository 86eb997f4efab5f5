"""How much the trials of a configuration were disturbed, and whether another one was so differently.

Disturbed trials do not count. But what disturbs every trial of a run alike is usual there, and marks none
of them: it shows only beside another run.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.observed.sample import disturbed_trials, measured_trials
from harness.model.interference import NodeInterference
from harness.model.run import RecordedRun
from harness.words import count_of, join_names, percent

MAX_REASONS = 3
"""Reasons in a line; a run on a busy machine has many."""


@dataclass(frozen=True)
class Disturbance:
    """A mean over all nodes and all trials that count.

    - `parts`: what a node adds to the quantity and to what it is a share of.
    - `text`: writes a mean as people read it.
    - `margin`: the difference between two configurations from which on it may explain their times;
      with `is_factor`, the factor.
    - `busy`: the mean from which on trials ran on a busy machine; None if no mean says so.
    """

    name: str
    parts: Callable[[NodeInterference], tuple[float | None, float | None]]
    margin: float
    text: Callable[[float], str]
    is_factor: bool = False
    busy: float | None = None

    def mean(self, runs: Iterable[RecordedRun]) -> float | None:
        """Return the mean, None if no trial has the quantity."""
        trials = measured_trials(runs)
        nodes = (node for trial in trials for node in trial.interference or ())
        known = [
            (part, whole)
            for part, whole in map(self.parts, nodes)
            if part is not None and whole is not None
        ]
        whole = math.fsum(whole for _, whole in known)
        return math.fsum(part for part, _ in known) / whole if whole else None

    def differs(self, before: float, after: float) -> bool:
        """Whether two means differ by the margin or more."""
        if self.is_factor:
            return max(before, after) >= min(before, after) * self.margin
        return abs(after - before) >= self.margin


def _loops(node: NodeInterference) -> tuple[float | None, float | None]:
    if node.loops is None or node.loop_s is None:
        return None, None
    return 1e3 * node.loop_s * node.loops, node.loops


def _stolen(node: NodeInterference) -> tuple[float | None, float | None]:
    if node.stolen_s is None or node.busy_s is None:
        return None, None
    return node.stolen_s, node.stolen_s + node.busy_s


DISTURBANCES = (
    # A trial that computes is longer by the same factor. The means of quiet runs differ by less.
    Disturbance(
        "processor speed (time of a fixed loop)", _loops, 1.05, "{:.3f} ms".format, is_factor=True
    ),
    # What is taken away is missing: each percent of it is a percent of time, or nearly so.
    Disturbance("processor time that the hypervisor took", _stolen, 0.02, percent, busy=0.05),
    Disturbance(
        "processor time of other processes",
        lambda node: (node.others_s, node.duration_s * node.processors),
        0.05,  # the file system's daemons are among them, and work more on faster links
        percent,
        busy=0.25,
    ),
    Disturbance(
        "time in which processes waited for memory",
        lambda node: (node.memory_wait_s, node.duration_s),
        0.02,
        percent,
    ),
)
"""What may differ between two configurations, with the reasons of the margins."""


def interference_facts(runs: Sequence[RecordedRun]) -> Mapping[str, str]:
    """Return each mean that is known, by the name of its disturbance."""
    means = {kind: kind.mean(runs) for kind in DISTURBANCES}
    return {kind.name: kind.text(mean) for kind, mean in means.items() if mean is not None}


def different_interference(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, mean before and mean after of what differs by its margin or more."""
    for kind in DISTURBANCES:
        before, after = kind.mean(baseline), kind.mean(other)
        if before is not None and after is not None and kind.differs(before, after):
            yield kind.name, kind.text(before), kind.text(after)


def busy_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return what took much of the processors in the trials that count; None if nothing did."""
    found = [
        f"{kind.name} was {kind.text(mean)}"
        for kind in DISTURBANCES
        if kind.busy is not None and (mean := kind.mean(runs) or 0.0) >= kind.busy
    ]
    return f"measured on a busy machine: {', '.join(found)}" if found else None


def disturbed_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return how many measured trials do not count, and why; None if all do.

    For example: `3 of 54 measured trials were disturbed and do not count: n1, n2: it swapped (3)`. The
    commonest reasons come first.
    """
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for trial in disturbed_trials(runs):
        # The numbers that follow a reason in brackets differ in every trial.
        node, _, reason = str(trial.disturbed).partition(" (")[0].rpartition(": ")
        nodes[reason].append(node)
    if not nodes:
        return None
    disturbed = sum(map(len, nodes.values()))
    commonest = sorted(nodes.items(), key=lambda item: -len(item[1]))[:MAX_REASONS]
    listed = [
        ": ".join(
            filter(None, [join_names(sorted(filter(None, set(of)))), f"{reason} ({len(of)})"])
        )
        for reason, of in commonest
    ]
    if more := disturbed - sum(len(of) for _, of in commonest):
        listed.append(f"others ({more})")
    trials = count_of(disturbed + sum(1 for _ in measured_trials(runs)), "measured trial")
    verbs = ("was", "does") if disturbed == 1 else ("were", "do")
    effect = f"{verbs[0]} disturbed and {verbs[1]} not count"
    return f"{disturbed} of {trials} {effect}: {'; '.join(listed)}"


def throughout_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return the workloads that count although all their trials in a run were disturbed; None if none."""
    found = {
        workload: reason.partition(" (")[0]
        for recorded in runs
        for workload, reason in recorded.disturbed_throughout.items()
    }
    if not found:
        return None
    listed = "; ".join(f"{workload} ({reason})" for workload, reason in found.items())
    return f"all measured trials of a workload in a run were disturbed, and so they count: {listed}"
