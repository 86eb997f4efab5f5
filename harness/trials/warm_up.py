"""Finds the warm-up of a run with `--warmup auto`: the trials before a workload is steady.

A run decides by this when to stop, and the reader of its file decides by it which trials count.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.base.words import count_of
from harness.model.run import Phase, Run, Trial, by_workload
from harness.statistics.steadiness import warm_from

AUTO = "auto"
"""The value of the parameter `warmup` if the warm-up ends where the workload is steady."""

DEFAULT_TRIALS = 6
"""How many trials of each workload have to count unless another number is given."""


@dataclass(frozen=True)
class WarmUp:
    """The warm-up of one workload: it ends before the round `ends_before`.

    `unsteady` is the reason why the workload is not known to be steady from then on; None if it is.
    `usable` counts the trials after the first round that neither failed nor were disturbed.
    """

    ends_before: int
    unsteady: str | None = None
    usable: int = 0


def needed_trials(run: Run) -> int:
    """Return how many trials of each workload the run wanted to count."""
    trials = run.parameters.get("trials")
    return trials if isinstance(trials, int) and trials > 0 else DEFAULT_TRIALS


def find_warm_up(trials: Sequence[Trial], needed: int = DEFAULT_TRIALS) -> WarmUp:
    """Return the warm-up of one workload, which leaves a sample of at least `needed` trials.

    The first round is always warm-up. Failed and disturbed trials do not count. If the
    workload never became steady, its last `needed` trials are the sample.
    """
    later = [
        (trial.round, time_s)
        for trial in trials
        if trial.round > 1 and (time_s := trial.undisturbed_s) is not None
    ]
    start = warm_from([time_s for _, time_s in later], needed)
    if start is None and len(later) < needed:
        return WarmUp(2, f"fewer than {count_of(needed, 'trial')} count", len(later))
    unsteady = None if start is not None else f"its last {needed} trials still became faster"
    first = len(later) - needed if start is None else start
    return WarmUp(later[first][0] if first else 2, unsteady, len(later))


def with_phases(trials: Sequence[Trial], needed: int) -> tuple[Trial, ...]:
    """Return the trials of a run with their phases: warm-up until the end of their workload's warm-up.

    Trials of profile rounds stay as they are.
    """
    ends = {name: found.ends_before for name, found in _warm_ups(trials, needed).items()}
    return tuple(_with_phase(trial, ends) for trial in trials)


def _with_phase(trial: Trial, ends: Mapping[str, int]) -> Trial:
    if trial.phase is Phase.PROFILE:
        return trial
    phase = Phase.WARM_UP if trial.round < ends[trial.workload] else Phase.MEASURED
    return trial if trial.phase is phase else replace(trial, phase=phase)


def unsteady_workloads(trials: Sequence[Trial], needed: int) -> dict[str, str]:
    """Return the workloads that are not known to have become steady, with the reasons.

    Workloads without a sample, which no trial after the first round gives, are left out.
    """
    return {
        name: warm_up.unsteady
        for name, warm_up in _warm_ups(trials, needed).items()
        if warm_up.usable and warm_up.unsteady
    }


def _warm_ups(trials: Sequence[Trial], needed: int) -> Mapping[str, WarmUp]:
    shown = by_workload(trial for trial in trials if trial.phase is not Phase.PROFILE)
    return {name: find_warm_up(own, needed) for name, own in shown.items()}
