"""The measured trials of one workload in one configuration, and their summary."""

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from statistics import median

from harness.base.errors import BadInput
from harness.model.answer import RowsDigest
from harness.model.run import PROGRAM, Phase, RecordedRun, Trial, answers_of
from harness.records.published import IMPORTED_DIGEST
from harness.statistics.interval import Interval
from harness.statistics.run_table import CLOCK_S, RunMedian, RunTable, run_median
from harness.trials.counting import doubts, needed_trials


class Outcome(StrEnum):
    """Whether a sample has times, or why it has none."""

    MEASURED = "measured"
    FAILED = "failed"
    OMITTED = "omitted"
    MISSING = "missing"


@dataclass(frozen=True)
class Sample:
    """The measured trials of one workload in one configuration, without warm-up trials.

    `runs_s` has the wall-clock seconds of the trials that are ok, by run: a tuple for each run that has
    such trials, in the order of measurement. If trials count their work in a `unit`, these are the seconds of
    one unit, and `peaks` has the median of the trials' peaks, by source.
    `errors` has one line for each failed trial; `omissions` are the reasons why runs omitted the workload;
    `unsteady` are the reasons why it is not known that the workload was steady in its runs.
    `answers` are the different ones of a user's query, in all phases.
    """

    workload: str
    runs_s: tuple[tuple[float, ...], ...] = ()
    errors: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    unit: str | None = None
    peaks: Mapping[str, float] = field(default_factory=dict)
    answers: tuple[RowsDigest, ...] = ()

    @property
    def times_s(self) -> tuple[float, ...]:
        """The seconds of all trials."""
        return tuple(itertools.chain.from_iterable(self.runs_s))

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

    `time_s` is the seconds of one unit of work if the sample has a unit; `interval_s` is its 95 %
    confidence interval, None for a single run. `runs` and `trials` count what is ok.
    """

    time_s: float
    interval_s: Interval | None
    runs: int
    trials: int

    @property
    def uncertainty(self) -> float | None:
        """Distance from the time to the farther end of the interval, as a fraction of the time."""
        return self.interval_s and self.interval_s.relative_distance(self.time_s)


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
        return self.interval and self.interval.relative_distance(self.value)


def measured_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the trials of all runs that count: neither warm-up trials nor disturbed ones."""
    for recorded in runs:
        yield from recorded.counted


def disturbed_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the measured trials of all runs that do not count, because something disturbed them."""
    for recorded in runs:
        yield from (t for t in recorded.trials if t.phase is Phase.MEASURED and t.disturbed)


def units(runs: Iterable[RecordedRun]) -> dict[str, str]:
    """Return the unit of each workload that has times, by its first trial: `no work` if it counts none."""
    found: dict[str, str] = {}
    for trial in measured_trials(runs):
        if trial.wall_s is not None and trial.workload not in found:
            found[trial.workload] = trial.work.unit if trial.work else "no work"
    return found


def take_sample(workload: str, runs: Iterable[RecordedRun]) -> Sample:
    """Return the sample of a workload from the runs of one configuration.

    Raise BadInput if its trials count their work in several units, or declare several peaks.
    """
    runs = tuple(runs)
    own = [trial for run in runs for trial in run.by_workload.get(workload, ())]
    trials = [trial for trial in own if trial.counts]
    work = [trial.work for trial in trials if trial.work]
    if work:
        _require_one_unit(workload, runs)
    doubtful = doubts(
        [run.by_workload.get(workload, ()) for run in runs],
        [needed_trials(run.run) for run in runs],
        max((len(run.by_workload) for run in runs), default=0),
    )
    sources = sorted({source for done in work for source in done.peaks})
    return Sample(
        workload=workload,
        runs_s=tuple(times_s for run in runs if (times_s := _times_of_run(workload, run))),
        errors=tuple(trial.error for trial in trials if trial.error is not None),
        omissions=tuple(run.run.omitted[workload] for run in runs if workload in run.run.omitted),
        unsteady=tuple(doubtful),
        unit=work[0].unit if work else None,
        peaks={
            source: median(done.peaks[source] for done in work if source in done.peaks)
            for source in sources
        },
        answers=answers_of(own),
    )


def _require_one_unit(workload: str, runs: Sequence[RecordedRun]) -> None:
    """Raise BadInput unless the mean of these trials' performances is a performance, too."""
    sources: dict[str, str] = {}
    for recorded in runs:
        for trial in recorded.by_workload.get(workload, ()):
            if trial.counts and trial.wall_s is not None:
                counted = trial.work.counted if trial.work else "no work"
                sources.setdefault(counted, recorded.source)
    if len(sources) > 1:
        [(one, source), (other, other_source), *_] = sources.items()
        raise BadInput(
            f"{workload} counts {one} in {source} and {other} in {other_source}: these trials have no mean; "
            "give the tests different names, or keep the files in different configurations"
        )


def _times_of_run(workload: str, run: RecordedRun) -> tuple[float, ...]:
    """Return the seconds of the trials of a run that are ok, in the order of measurement."""
    return tuple(
        trial.unit_s
        for trial in run.by_workload.get(workload, ())
        if trial.counts and trial.unit_s is not None
    )


def _clock_s(workload: str, run: RecordedRun) -> float:
    """Return what clock and scheduler cause of an execution; 0 of a time that others measured."""
    own = [t.executions for t in run.by_workload[workload] if t.counts and not t.work]
    if not own or {PROGRAM, IMPORTED_DIGEST} & run.run.parameters.keys():
        return 0.0
    return CLOCK_S / median(own)


def _rounded_to_s(run: RecordedRun) -> float:
    """Return to what an imported table rounded its times, by their digits; 0 for times that we measured."""
    if IMPORTED_DIGEST not in run.run.parameters:
        return 0.0
    times = [Decimal(str(t.wall_s)).normalize() for t in run.trials if t.wall_s and not t.work]
    steps = [float(Decimal(1).scaleb(int(time.as_tuple().exponent))) for time in times]
    return min(1.0, *steps) if steps else 0.0


def _run_medians(run: RecordedRun, workloads: Collection[str]) -> dict[str, RunMedian]:
    rounded_to_s = _rounded_to_s(run)
    return {
        name: run_median(times_s, _clock_s(name, run), rounded_to_s)
        for name in workloads
        if (times_s := _times_of_run(name, run))
    }


def table_model(columns: Iterable[Iterable[RecordedRun]], workloads: Collection[str]) -> RunTable:
    """Return the model of a table's times, from the runs of each of its configurations."""
    by_column = [tuple(runs) for runs in columns]
    return RunTable(
        [[_run_medians(recorded, workloads) for recorded in runs] for runs in by_column],
        [[recorded.application for recorded in runs] for runs in by_column],
    )
