"""Decides from the counters of the nodes which trials of a run were disturbed.

A run does so to repeat disturbed trials. Whoever reads its file does so again, by the rules of today:
otherwise a table could mix verdicts by old rules and by new ones.
"""

from collections.abc import Iterable
from dataclasses import replace

from harness.model.interference import EarlierTrials
from harness.model.run import Trial


def with_disturbances(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials, which are in the order of their time, each with a new verdict on what disturbed it.

    A trial without counters keeps the verdict that its run recorded.
    """
    earlier = EarlierTrials()
    return tuple(judged(trial, earlier) for trial in trials)


def judged(trial: Trial, earlier: EarlierTrials) -> Trial:
    """Return a trial with the verdict on what disturbed it, by the earlier ones of its run."""
    if not trial.interference:
        return trial
    disturbed = earlier.judge_next(trial.workload, trial.interference)
    return trial if disturbed == trial.disturbed else replace(trial, disturbed=disturbed)
