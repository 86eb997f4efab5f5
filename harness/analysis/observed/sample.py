"""The measured trials of one workload in one configuration, and their summary."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from statistics import median

from harness.analysis.observed.plans import PlanUse
from harness.analysis.observed.scanned_names import names_by_place, with_names
from harness.base.errors import BadInput
from harness.base.items import known
from harness.model.answer import RowsDigest, distinct
from harness.model.plan import Plan
from harness.model.planning import Planning, median_planning
from harness.model.run import PROGRAM, Phase, RecordedRun, Trial, Word, answers_of
from harness.model.task_metrics import TaskMetrics
from harness.model.work import Work
from harness.records.published import IMPORTED_DIGEST
from harness.statistics.interval import Interval
from harness.statistics.run_model import CLOCK_S, RunMedian, run_median
from harness.trials.counting import doubts, needed_trials


class Outcome(Word):
    """Whether a sample has times, or why it has none."""

    MEASURED = "measured"
    FAILED = "failed"
    OMITTED = "omitted"
    MISSING = "missing"


@dataclass(frozen=True)
class Sample:
    """The measured trials of one workload in one configuration, without warm-up trials.

    - `runs_s`: the times of the trials that are ok, as in `RecordedRun.times_s`, by run. Runs without such a
      trial are left out.
    - `errors`: one line for each failed trial.
    - `omissions`: the reasons why runs omitted the workload.
    - `unsteady`: the reasons why the workload is not known to have been steady in its runs.
    - `unit`: what trials count their work in; None if they count none.
    - `peaks`: the median of the trials' peaks, by source.
    - `planning`: the medians of what parsing, analysis and planning took.
    - `answers_of_runs`: the different answers of a user's query, in all phases, by run.
    - `plans`: the plans of the trials that are ok, without unknown ones.
    - `task_metrics`: the metrics of the trials that are ok, without unknown ones.
    - `properties`: Spark's properties that the session had set for each trial that is ok.
    """

    workload: str
    runs_s: tuple[tuple[float, ...], ...] = ()
    errors: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    unit: str | None = None
    peaks: Mapping[str, float] = field(default_factory=dict)
    answers_of_runs: tuple[tuple[RowsDigest, ...], ...] = ()
    planning: Planning = field(default_factory=Planning)
    plans: tuple[PlanUse, ...] = ()
    task_metrics: tuple[TaskMetrics, ...] = ()
    properties: tuple[Mapping[str, str] | None, ...] = ()

    @property
    def answers(self) -> tuple[RowsDigest, ...]:
        """The different answers in all runs; several if the answer varies."""
        return distinct(chain.from_iterable(self.answers_of_runs))

    @property
    def times_s(self) -> tuple[float, ...]:
        """The seconds of all trials."""
        return tuple(chain.from_iterable(self.runs_s))

    @property
    def outcome(self) -> Outcome:
        """MEASURED if at least one trial counts; MISSING if nothing at all is recorded."""
        if self.runs_s:
            return Outcome.MEASURED
        if self.errors:
            return Outcome.FAILED
        return Outcome.OMITTED if self.omissions else Outcome.MISSING


@dataclass(frozen=True)
class Summary:
    """The time of a workload in a configuration: the geometric mean of the medians of its runs.

    `time_s` is the seconds of one unit of work if the sample has a unit. `interval_s` is its 95 % confidence
    interval, None for a single run. `runs` and `trials` count what is ok.
    """

    time_s: float
    interval_s: Interval | None
    runs: int
    trials: int

    @property
    def uncertainty(self) -> float | None:
        """Distance from the time to the farther end of the interval, as a fraction of the time."""
        if self.interval_s is None:
            return None
        return self.interval_s.relative_distance(self.time_s)


@dataclass(frozen=True)
class Performance:
    """How much work is done in a second: `value` in `unit`s, with its 95 % confidence interval.

    `efficiencies` are the fractions of the peaks, by their source.
    """

    value: float
    unit: str
    interval: Interval | None
    efficiencies: Mapping[str, float]

    @property
    def uncertainty(self) -> float | None:
        """Distance from the value to the farther end of the interval, as a fraction of the value."""
        if self.interval is None:
            return None
        return self.interval.relative_distance(self.value)


def measured_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the trials of all runs that count: neither warm-up trials nor disturbed ones."""
    for recorded in runs:
        yield from recorded.counted


def disturbed_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the measured trials of all runs that do not count, because something disturbed them."""
    for recorded in runs:
        for trial in recorded.trials:
            if trial.phase is Phase.MEASURED and trial.disturbed:
                yield trial


def take_sample(workload: str, runs: Sequence[RecordedRun]) -> Sample:
    """Return the sample of a workload from the runs of one configuration.

    Raise BadInput if its trials count their work in several units, or declare several peaks.
    """
    of_runs: list[Sequence[Trial]] = []
    timed: list[Trial] = []
    runs_s: list[tuple[float, ...]] = []
    omissions: list[str] = []
    needed: list[int | None] = []
    workloads = 0
    for recorded in runs:
        needed.append(needed_trials(recorded.run))
        workloads = max(workloads, len(recorded.by_workload))
        of_runs.append(recorded.by_workload.get(workload, ()))
        if workload in recorded.times_s:
            runs_s.append(tuple(recorded.times_s[workload]))
            timed += recorded.timed[workload]
        if workload in recorded.run.omitted:
            omissions.append(recorded.run.omitted[workload])
    counted = [trial for trial in chain.from_iterable(of_runs) if trial.counts]
    work = [trial.work for trial in counted if trial.work]
    if work:
        _require_one_unit(workload, runs)
    return Sample(
        workload=workload,
        runs_s=tuple(runs_s),
        errors=tuple(known(trial.error for trial in counted)),
        omissions=tuple(omissions),
        unsteady=tuple(doubts(of_runs, needed, workloads)),
        unit=work[0].unit if work else None,
        peaks=_median_peaks(work),
        planning=median_planning(trial.planning for trial in counted if trial.planning),
        answers_of_runs=tuple(filter(None, map(answers_of, of_runs))),
        plans=_plans(workload, runs),
        task_metrics=tuple(trial.tasks for trial in timed if trial.tasks),
        properties=tuple(trial.properties for trial in timed),
    )


def _plans(workload: str, runs: Sequence[RecordedRun]) -> tuple[PlanUse, ...]:
    plans: dict[str, Plan] = {}
    trials: Counter[str] = Counter()
    for recorded in runs:
        for trial in recorded.timed.get(workload, ()):
            if trial.plan and trial.plan.digest in recorded.plans:
                digest = trial.plan.digest
                trials[digest] += 1
                if digest not in plans:
                    plans[digest] = with_names(recorded.plans[digest], names_by_place(recorded.run))
    return tuple(PlanUse(plans[digest], number) for digest, number in trials.items())


def _median_peaks(work: Iterable[Work]) -> dict[str, float]:
    peaks: dict[str, list[float]] = {}
    for done in work:
        for source, peak in done.peaks.items():
            peaks.setdefault(source, []).append(peak)
    return {source: median(peaks[source]) for source in sorted(peaks)}


def _require_one_unit(workload: str, runs: Iterable[RecordedRun]) -> None:
    """Raise BadInput unless the mean of these trials' performances is a performance, too."""
    sources: dict[str, str] = {}
    for recorded in runs:
        for trial in recorded.timed.get(workload, ()):
            counted = trial.work.counted if trial.work else "no work"
            sources.setdefault(counted, recorded.source)
    if len(sources) > 1:
        (one, source), (other, other_source), *_ = sources.items()
        raise BadInput(
            f"{workload} counts {one} in {source} and {other} in {other_source}: these trials have no mean; "
            "give the tests different names, or keep the files in different configurations"
        )


def run_medians(recorded: RecordedRun) -> dict[str, RunMedian]:
    """Return the median time of each workload of a run, with how well it can be known at best."""
    rounded_to_s = _rounded_to_s(recorded)
    found: dict[str, RunMedian] = {}
    for workload, times_s in recorded.times_s.items():
        clock_s = _clock_s(workload, recorded)
        found[workload] = run_median(times_s, clock_s, rounded_to_s)
    return found


def _clock_s(workload: str, recorded: RecordedRun) -> float:
    """Return the error that clock and scheduler cause in an execution's time; 0 if others measured it."""
    if {PROGRAM, IMPORTED_DIGEST} & recorded.run.parameters.keys():
        return 0.0
    counted = (trial for trial in recorded.by_workload[workload] if trial.counts)
    executions = [trial.executions for trial in counted if not trial.work]
    if not executions:
        return 0.0
    return CLOCK_S / median(executions)


def _rounded_to_s(recorded: RecordedRun) -> float:
    """Return to what an imported table rounded its times, by their digits; 0 for times that we measured."""
    if IMPORTED_DIGEST not in recorded.run.parameters:
        return 0.0
    steps = [1.0]
    for trial in recorded.trials:
        if trial.wall_s and not trial.work:
            digits = Decimal(str(trial.wall_s)).normalize().as_tuple()
            steps.append(float(Decimal(1).scaleb(int(digits.exponent))))
    if len(steps) > 1:
        return min(steps)
    return 0.0
