"""Which trials of a run were disturbed, by what their nodes counted.

A run decides by these rules when to repeat a trial. Whoever reads its file decides by the same rules, as they
are now: otherwise a table could count some trials of an older run by rules that have changed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.model.interference import Nodes, disturbance
from harness.model.run import Trial


def with_disturbances(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials of a run, in their order, with what disturbed them.

    Where nothing is known of the nodes, what the run itself recorded stays.
    """
    earlier: dict[str, list[Nodes]] = {}
    judged = []
    for trial in trials:
        if trial.interference:
            own = earlier.setdefault(trial.workload, [])
            judged.append(replace(trial, disturbed=disturbance(trial.interference, own)))
            own.append(trial.interference)
        else:
            judged.append(trial)
    return tuple(judged)
