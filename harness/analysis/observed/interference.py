"""How much the trials of a configuration were disturbed, and whether another one was so differently.

Disturbed trials do not count. But a disturbance that is the same in every trial of a run counts as usual and
marks no trial: it shows only in a comparison with another run.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.analysis.observed.sample import disturbed_trials, measured_trials
from harness.base.items import unique
from harness.base.words import count_of, join_names, names_by_text, percent
from harness.model.interference import DISTURBANCES, Disturbance, NodeInterference
from harness.model.run import RecordedRun
from harness.trials.counting import UNPROVEN

MAX_REASONS = 3
"""Reasons in a line. A run on a busy machine has many."""
_COMPARED = tuple(kind for kind in DISTURBANCES if kind.compared_as)


def mean_disturbances(runs: Iterable[RecordedRun]) -> dict[Disturbance, float]:
    """Return the mean of each disturbance over all nodes and all trials that count, where it is known.

    It is a part of a whole, such as 0.05 of the processors' time, or seconds if the kind `is_factor`.
    """
    nodes: list[NodeInterference] = []
    for trial in measured_trials(runs):
        nodes += trial.interference or ()
    found: dict[Disturbance, float] = {}
    for kind in _COMPARED:
        mean = _mean(kind, nodes)
        if mean is not None:
            found[kind] = mean
    return found


def _mean(kind: Disturbance, nodes: Iterable[NodeInterference]) -> float | None:
    """Return the sum of the parts divided by that of the wholes; None if nothing is known of either."""
    parts: list[float] = []
    wholes: list[float] = []
    for part, whole in map(kind.parts, nodes):
        if part is not None and whole is not None:
            parts.append(part)
            wholes.append(whole)
    total = math.fsum(wholes)
    if not total:
        return None
    return math.fsum(parts) / total


def _text(kind: Disturbance, mean: float) -> str:
    if kind.is_factor:
        return f"{1e3 * mean:.3f} ms"
    return percent(mean)


def _differ(kind: Disturbance, before: float, after: float) -> bool:
    if kind.is_factor:
        return max(before, after) >= min(before, after) * kind.may_explain
    return abs(after - before) >= kind.may_explain


def interference_facts(runs: Sequence[RecordedRun]) -> Mapping[str, str]:
    """Return each mean that is known, by what it is called."""
    return {kind.compared_as: _text(kind, mean) for kind, mean in mean_disturbances(runs).items()}


def different_interference(
    means_before: Mapping[Disturbance, float], means_after: Mapping[Disturbance, float]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, mean before and mean after of what differs by its margin or more."""
    for kind, after in means_after.items():
        before = means_before.get(kind)
        if before is not None and _differ(kind, before, after):
            yield kind.compared_as, _text(kind, before), _text(kind, after)


def busy_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return what took much of the processors in the trials that count; None if nothing did."""
    found: list[str] = []
    for kind, mean in mean_disturbances(runs).items():
        if kind.busy is not None and mean >= kind.busy:
            found.append(f"{kind.compared_as} was {_text(kind, mean)}")
    if not found:
        return None
    return f"measured on a busy machine: {', '.join(found)}"


def disturbed_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return how many measured trials do not count, and why; None if all do.

    For example: `3 of 54 measured trials were disturbed and do not count: n1, n2: it swapped (3)`. The
    commonest reasons come first.
    """
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for trial in disturbed_trials(runs):
        if trial.disturbed == UNPROVEN:
            continue
        # The numbers that follow a reason in brackets differ in every trial.
        node, _, reason = str(trial.disturbed).partition(" (")[0].rpartition(": ")
        nodes[reason].append(node)
    if not nodes:
        return None
    disturbed = sum(map(len, nodes.values()))
    others = disturbed
    listed: list[str] = []
    for reason, hosts in sorted(nodes.items(), key=lambda item: -len(item[1]))[:MAX_REASONS]:
        names = join_names(sorted(set(hosts) - {""}))
        where = f"{names}: " if names else ""
        listed.append(f"{where}{reason} ({len(hosts)})")
        others -= len(hosts)
    if others:
        listed.append(f"others ({others})")
    trials = count_of(disturbed + len(list(measured_trials(runs))), "measured trial")
    effect = "was disturbed and does" if disturbed == 1 else "were disturbed and do"
    return f"{disturbed} of {trials} {effect} not count: {'; '.join(listed)}"


def unproven_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return how many measured trials do not count because nothing proved their answers; None if none."""
    workloads = [trial.workload for trial in disturbed_trials(runs) if trial.disturbed == UNPROVEN]
    if not workloads:
        return None
    trials = count_of(len(workloads), "measured trial")
    verb = "does" if len(workloads) == 1 else "do"
    return f"{trials} of {join_names(unique(workloads))} {verb} not count: {UNPROVEN}"


def throughout_line(runs: Sequence[RecordedRun]) -> str | None:
    """Return the workloads that count although all their trials in a run were disturbed; None if none."""
    found: dict[str, str] = {}
    were = "disturbed"
    for recorded in runs:
        for workload, reason in recorded.disturbed_throughout.items():
            found[workload] = reason.partition(" (")[0]
            counted = [trial for trial in recorded.counted if trial.workload == workload]
            if any(trial.wall_s is None for trial in counted):
                were = "disturbed or failed"
    if not found:
        return None
    listed: list[str] = []
    in_order = dict(sorted(found.items()))  # alike on two sides: one note
    for reason, names in names_by_text(in_order).items():
        listed.append(f"{', '.join(names)} ({reason})")
    return (
        f"all measured trials of a workload in a run were {were}, and so they count: "
        + "; ".join(listed)
    )
