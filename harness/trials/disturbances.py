"""Which trials of a run were disturbed, by the counters of the nodes, and which of them count nevertheless.

A trial that was to be cold, and was not, counts as disturbed.

A run decides so to repeat disturbed trials. The reader of its file decides again, by the rules of today:
otherwise a table could mix verdicts by old rules and by new ones.
"""

from collections.abc import Iterable
from dataclasses import replace

from harness.model.cache import was_not_cold, why_not_cold
from harness.model.interference import EarlierTrials
from harness.model.run import Phase, Trial
from harness.trials.warm_up import with_phases


def with_disturbances(trials: Iterable[Trial]) -> tuple[Trial, ...]:
    """Return the trials, which are in the order of their time, each with a verdict on what disturbed it."""
    earlier = EarlierTrials()
    return tuple(judged(trial, earlier) for trial in trials)


def judged(trial: Trial, earlier: EarlierTrials) -> Trial:
    """Return a trial with the verdict on what disturbed it, by the earlier ones of its run."""
    if not trial.interference and not trial.to_be_cold:
        return trial
    found = earlier.judge_next(trial.workload, trial.interference or ())
    disturbed = why_not_cold(trial) or found
    return trial if disturbed == trial.disturbed else replace(trial, disturbed=disturbed)


def counted_trials(
    trials: Iterable[Trial], needed: int | None
) -> tuple[tuple[Trial, ...], dict[str, str]]:
    """Return the trials with verdicts and phases, and the workloads disturbed throughout, with a reason.

    The trials are in the order of their time. A disturbed trial does not count. But if every measured trial
    of a workload was disturbed, they all do: what disturbs all of them is usual there, and a short run on a
    busy machine has an answer. A trial that was to be cold and was not never counts. `needed` is how many
    trials of a steady workload the run wanted; None if the number of warm-up rounds was fixed.
    """
    trials = with_disturbances(trials)
    trials = trials if needed is None else with_phases(trials, needed)
    measured = [trial for trial in trials if trial.phase is Phase.MEASURED]
    timed = {trial.workload for trial in measured if trial.undisturbed_s is not None}
    throughout: dict[str, str] = {}
    for trial in measured:
        if trial.disturbed and trial.workload not in timed and not was_not_cold(trial):
            throughout.setdefault(trial.workload, trial.disturbed)
    if throughout:
        trials = tuple(
            replace(trial, disturbed=None)
            if trial.workload in throughout and not was_not_cold(trial)
            else trial
            for trial in trials
        )
        trials = trials if needed is None else with_phases(trials, needed)
    return trials, throughout
