"""Which trials count.

A trial counts if all of this is true:

- Its workload was warm. The warm-up has a fixed number of rounds, or lasts until the workload is steady.
- Nothing disturbed it, by the counters of the nodes. If every measured trial of a workload that has a time
  was disturbed, they all count: what disturbs all of them is usual there, and a short run on a busy machine
  has an answer.
- It was cold, if it had to be: its input came from disks.
- It kept its executors: none came, was lost or was replaced during its time.
- A trial of its workload in the run proved every row of the answer, before it or after it. If that trial
  found a wrong answer, all trials of the workload in the run have failed.

A failed trial counts as a failure, and never as a time. `doubts` says what is not certain about the trials
that count.

A run decides by these rules when to stop. The reader of its file decides again, by the rules of today:
otherwise a table could mix verdicts by old rules and by new ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.base.errors import WrongAnswer
from harness.base.items import grouped
from harness.base.words import count_of
from harness.model.cache import why_not_cold
from harness.model.interference import EarlierTrials
from harness.model.run import Phase, Proof, Run, Status, Trial
from harness.statistics.steadiness import warm_from
from harness.trials.slow_down import slow_down

AUTO = "auto"
"""The value of the parameter `warmup` if the warm-up ends where the workload is steady."""

DEFAULT_TRIALS = 6
"""How many trials of each workload have to count unless another number is given."""


IN_ROUNDS, IN_TRIALS = "rounds", "trials"
"""The values of the parameter `proof`: whether answers are proven in rounds that do not count, or in all."""

UNPROVEN = "no round proved every row of its answer"
"""Why a trial does not count, in the place of what disturbed it."""


def needed_trials(run: Run) -> int | None:
    """Return how many steady trials of each workload the run wanted.

    None if the number of its warm-up rounds was fixed.
    """
    if run.parameters.get("warmup") != AUTO:
        return None
    trials = run.parameters.get("trials")
    if isinstance(trials, int) and trials > 0:
        return trials
    return DEFAULT_TRIALS


def counted_trials(
    trials: Sequence[Trial], needed: int | None, *, to_be_proven: bool = False
) -> tuple[tuple[Trial, ...], dict[str, str]]:
    """Return the trials with verdicts and phases, and the workloads disturbed throughout, with a reason.

    The trials are in the order of their time. `needed` is what `needed_trials` returns for their run. If they
    are `to_be_proven`, the trials of a workload count only if one trial proved every row of its answer.
    """
    counted = list(trials)
    throughout: dict[str, str] = {}
    places = grouped(range(len(trials)), lambda place: trials[place].workload)
    for workload, own in places.items():
        found, reason = _counted(
            [trials[place] for place in own], needed, to_be_proven=to_be_proven
        )
        if reason:
            throughout[workload] = reason
        for place, trial in zip(own, found):
            counted[place] = trial
    return tuple(counted), throughout


def _counted(
    trials: Sequence[Trial], needed: int | None, *, to_be_proven: bool
) -> tuple[Sequence[Trial], str | None]:
    """Return the trials of one workload with verdicts and phases, and why they count though disturbed."""
    if to_be_proven:
        trials = _failed_if_wrong(trials)
    earlier = EarlierTrials()
    found = with_phases([judged(trial, earlier) for trial in trials], needed)
    reason = _disturbed_throughout(found)
    if reason:
        cleared = [
            trial if _never_counts(trial) else replace(trial, disturbed=None) for trial in found
        ]
        found = with_phases(cleared, needed)
    if to_be_proven and not proven_workloads(found):
        reason = None
        found = [
            trial if trial.wall_s is None else replace(trial, disturbed=UNPROVEN) for trial in found
        ]
    return found, reason


def is_to_be_proven(run: Run) -> bool:
    """Return whether a run proves answers in rounds that do not count."""
    return run.parameters.get("proof") == IN_ROUNDS


def proven_workloads(trials: Iterable[Trial]) -> frozenset[str]:
    """Return the workloads for which a trial proved every row of the answer."""
    return frozenset(trial.workload for trial in trials if trial.proof is Proof.EVERY_ROW)


def _failed_if_wrong(trials: Sequence[Trial]) -> Sequence[Trial]:
    """Return the trials of one workload. If a proof round found its answer to be wrong, all have failed."""
    error = None
    for trial in trials:
        if trial.phase is Phase.PROOF and (trial.error or "").startswith(WrongAnswer.__name__):
            error = trial.error
    if error is None:
        return trials
    return [
        replace(trial, status=Status.FAILED, wall_s=None, error=error)
        if trial.status is Status.OK
        else trial
        for trial in trials
    ]


def judged(trial: Trial, earlier: EarlierTrials) -> Trial:
    """Return a trial with the verdict on what disturbed it, by the earlier ones of its run."""
    by_itself = _never_counts(trial)
    if not trial.interference and not by_itself:
        return trial
    by_nodes = earlier.judge_next(trial.workload, trial.interference or ())
    disturbed = by_itself or by_nodes
    if disturbed == trial.disturbed:
        return trial
    return replace(trial, disturbed=disturbed)


def _never_counts(trial: Trial) -> str | None:
    """Return in one line why a trial does not count, whatever became of the others; None if it may."""
    if trial.executors and trial.executors.change:
        return trial.executors.change
    return why_not_cold(trial)


def _disturbed_throughout(trials: Iterable[Trial]) -> str | None:
    """Return why the first measured trial of a workload was disturbed; None if one with a time was not.

    A trial that had to be cold, and was not, never counts, and none that lost or gained an executor.
    """
    reasons: list[str] = []
    for trial in trials:
        if trial.phase is not Phase.MEASURED:
            continue
        if trial.undisturbed_s is not None:
            return None
        if trial.disturbed and _never_counts(trial) is None:
            reasons.append(trial.disturbed)
    return next(iter(reasons), None)


@dataclass(frozen=True)
class WarmUp:
    """The warm-up of one workload: it ends before the round `ends_before`.

    `unsteady` is the reason why the workload is not known to be steady from then on; None if it is.
    `usable` counts the trials after the first round that neither failed nor were disturbed.
    """

    ends_before: int
    unsteady: str | None = None
    usable: int = 0


def find_warm_up(trials: Iterable[Trial], needed: int = DEFAULT_TRIALS) -> WarmUp:
    """Return the warm-up of one workload, which leaves a sample of at least `needed` trials.

    The first round is always warm-up. Failed and disturbed trials do not count. If the workload never
    became steady, its last `needed` trials are the sample.
    """
    rounds: list[int] = []
    times_s: list[float] = []
    for trial in trials:
        if trial.round > 1 and trial.undisturbed_s is not None:
            rounds.append(trial.round)
            times_s.append(trial.undisturbed_s)
    usable = len(times_s)
    if usable < needed:
        return WarmUp(2, f"fewer than {count_of(needed, 'trial')} count", usable)
    unsteady = None
    start = warm_from(times_s, needed)
    if start is None:
        start = usable - needed
        unsteady = f"its last {needed} trials still became faster"
    return WarmUp(rounds[start] if start else 2, unsteady, usable)


def with_phases(trials: Sequence[Trial], needed: int | None) -> Sequence[Trial]:
    """Return the trials of one workload in a run with their phases: warm-up until the end of its warm-up.

    Trials of profile and proof rounds stay as they are, and so do all if the number of warm-up rounds was
    fixed.
    """
    if needed is None:
        return trials
    ends_before = find_warm_up(filter(_is_timed, trials), needed).ends_before
    found: list[Trial] = []
    for trial in trials:
        phase = trial.phase
        if _is_timed(trial):
            phase = Phase.WARM_UP if trial.round < ends_before else Phase.MEASURED
        # A copy takes time, and files have many trials.
        found.append(trial if trial.phase is phase else replace(trial, phase=phase))
    return found


def _is_timed(trial: Trial) -> bool:
    """Return whether the trial is of a round that can count."""
    return trial.phase not in (Phase.PROFILE, Phase.PROOF)


def doubts(
    runs: Sequence[Sequence[Trial]], needed: Sequence[int | None], workloads: int
) -> Iterator[str]:
    """Yield why it is not certain that a workload was steady: in each of its runs, and from run to run.

    `runs` has its trials in each run, and `needed` what `needed_trials` returns for each. `workloads` is how
    many workloads are looked at in this way. Nothing is said of a run in which no trial could count.
    """
    for trials, number in zip(runs, needed):
        if number is None:
            continue
        warm_up = find_warm_up(filter(_is_timed, trials), number)
        if warm_up.usable and warm_up.unsteady:
            yield warm_up.unsteady
    slower = slow_down(runs, workloads)
    if slower:
        yield slower
