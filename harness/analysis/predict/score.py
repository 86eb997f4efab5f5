"""A prediction compared with what was measured later: its errors, its intervals, and what makes it void."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.configuration import ConfigurationRuns, model_of
from harness.analysis.observed.environment import LAYOUT, as_text
from harness.analysis.predict.disks import DECLARED, are_as_fast, disk_factors
from harness.analysis.predict.prediction import conditions
from harness.analysis.predict.target import known_link
from harness.base.words import count_of, percent
from harness.model.link import is_same_rate, throughput_text
from harness.model.network_metrics import GOODPUT_TOLERANCE
from harness.model.prediction import PredictedTime, Prediction, Target
from harness.node.machine import NAMES_OF_DISK_FACTS
from harness.records.predictions import FrozenPrediction, frozen_predictions
from harness.work.options import SAME_WORK


@dataclass(frozen=True)
class ScoredTime:
    """A predicted time, and the time in seconds that was measured later."""

    predicted: PredictedTime
    actual_s: float

    @property
    def error(self) -> float:
        """The predicted time relative to the measured time, minus 1; negative if it was too short."""
        return self.predicted.expected_s / self.actual_s - 1

    @property
    def within_80(self) -> bool:
        """Whether the measured time is in the interval of 80 %."""
        return self.actual_s in self.predicted.interval_80

    @property
    def within_95(self) -> bool:
        """Whether the measured time is in the interval of 95 %."""
        return self.actual_s in self.predicted.interval_95


@dataclass(frozen=True)
class Score:
    """A scored prediction, and its id in the ledger.

    `void` says why it is not to be judged by its errors: a condition did not hold. `missing` are workloads
    that were predicted and not measured. `notes` are lines that a reader has to know.
    """

    prediction: Prediction
    after: ConfigurationRuns
    times: tuple[ScoredTime, ...]
    id: str = ""
    void: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[ScoredTime, ...]:
        """The times of the workloads that are no controls."""
        return tuple(time for time in self.times if not time.predicted.is_control)

    @property
    def slowness(self) -> float:
        """The time that the new link or disk takes for the same bytes, as a part of the old one's time."""
        return self.prediction.target.slowness(self.prediction.baseline_goodput_bit_s)


def ledger_of(column: ConfigurationRuns) -> Path:
    """Return the directory of a configuration's results, which has its ledger."""
    return Path(column.runs[0].source).parent


def score(baseline: ConfigurationRuns, after: ConfigurationRuns) -> Score | None:
    """Return the score of a configuration, by the latest prediction for its links or disks, and its layout.

    None if it was not predicted before it was measured.
    """
    started_at = min(run.started_at for run in after.descriptions)
    latest: FrozenPrediction | None = None
    for frozen in frozen_predictions(ledger_of(baseline)):
        is_in_time = frozen.prediction.made_at < started_at
        if is_in_time and is_outcome(frozen.prediction, baseline, after):
            latest = frozen
    if latest is None:
        return None
    prediction = latest.prediction
    times = scored_times(prediction, after)
    if not times:
        return None
    measured = {time.predicted.workload for time in times}
    missing = [time.workload for time in prediction.times if time.workload not in measured]
    return Score(
        prediction=prediction,
        after=after,
        times=times,
        id=latest.id,
        void=tuple(_void(prediction, baseline, after)),
        missing=tuple(missing),
        notes=tuple(_notes(prediction, baseline, after)),
    )


def is_outcome(
    prediction: Prediction, baseline: ConfigurationRuns, after: ConfigurationRuns
) -> bool:
    """Return whether a configuration has the links or disks that a prediction is for, and its layout."""
    target = prediction.target
    layout = prediction.conditions.get(LAYOUT)
    if layout and after.layouts != {layout}:
        return False
    if target.disk:
        return are_as_fast(disk_factors(baseline, after), target.disk)
    link = known_link(after)
    if link is None or link.mtu != target.mtu:
        return False
    if link.rate_bit_s is None or target.link_bit_s is None:
        return link.rate_bit_s == target.link_bit_s
    return is_same_rate(link.rate_bit_s, target.link_bit_s)


def scored_times(prediction: Prediction, after: ConfigurationRuns) -> tuple[ScoredTime, ...]:
    """Return the predicted times that were measured."""
    model = model_of([after])
    return tuple(
        ScoredTime(time, model.time(0, time.workload).value)
        for time in prediction.times
        if model.run_count(0, time.workload)
    )


def _void(
    prediction: Prediction, baseline: ConfigurationRuns, after: ConfigurationRuns
) -> Iterator[str]:
    """Yield each condition of a prediction that does not hold in the configuration measured later."""
    now = conditions(after)
    for name, value in prediction.conditions.items():
        if prediction.target.disk and name in NAMES_OF_DISK_FACTS:
            continue
        if name not in now:
            yield f"{name}: {value} was the condition, and it is unknown of {after.name}, or its runs differ"
        elif now[name] != value:
            yield f"{name}: {now[name]} now, {value} was the condition"
    for name in sorted(now.keys() - prediction.conditions.keys()):
        if name.startswith("spark."):
            yield f"{name}: {now[name]} now, and it was not set for the baseline"
    yield from _newer_options(prediction.conditions, now)
    yield from _unlike_links(prediction.target, baseline, after)
    shift = compare([baseline, after], allow_different_data=True).control_shifts[1]
    if shift and shift.moved:
        change = percent(shift.change.relative_change, 1, signed=True)
        yield f"the controls changed by {change}: something else has changed, too"


def _newer_options(then: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the options of work that are newer than a prediction, and have another value than then."""
    for option in SAME_WORK:
        if option.before is None or option.fact in then or option.fact not in now:
            continue
        value = as_text(option.before)
        if now[option.fact] != value:
            yield f"{option.fact}: {now[option.fact]} now, {value} was the condition"


def _unlike_links(
    target: Target, baseline: ConfigurationRuns, after: ConfigurationRuns
) -> Iterator[str]:
    """Yield what links carry if it is not what was expected: if disks were bought, what the old ones did."""
    link = known_link(after)
    expected = target.goodput_bit_s
    of = str(target)
    is_measured = True
    before = known_link(baseline) if target.disk else None
    if before:
        expected = before.goodput_bit_s
        of = baseline.name
        is_measured = before.is_measured
    if not link or not expected or link.is_measured != is_measured:
        return
    if abs(link.goodput_bit_s - expected) > GOODPUT_TOLERANCE * expected:
        yield (
            f"the links of {after.name} carry {throughput_text(link.goodput_bit_s)}; of {of}, "
            f"{throughput_text(expected)} were expected"
        )


def _notes(
    prediction: Prediction, baseline: ConfigurationRuns, after: ConfigurationRuns
) -> Iterator[str]:
    if prediction.target.disk:
        if DECLARED in disk_factors(baseline, after):
            yield f"no probe verified that the disks of {after.name} are as fast as its fact `disk` says"
    else:
        link = known_link(after)
        if link is None or not link.is_measured:
            yield f"no probe verified that {after.name} has the link that was predicted for"
    now = after.counted_runs
    before = _runs_until(prediction.made_at, baseline)
    if now < before:
        yield (
            f"{after.name} has {count_of(now, 'run')}, and {baseline.name} had {before}: the intervals were "
            f"predicted for {before} runs, and are too narrow"
        )
    for column in (baseline, after):
        for line in caveats(column.runs):
            yield f"{column.name}: {line}"


def _runs_until(moment: str, column: ConfigurationRuns) -> int:
    """Return how many runs with a time had started before a moment."""
    count = 0
    for recorded, medians in zip(column.runs, column.medians, strict=True):
        if medians and recorded.run.started_at < moment:
            count += 1
    return count


@dataclass(frozen=True)
class ErrorSummary:
    """The errors of scored times together, as fractions.

    - `inside_80`, `inside_95`: how many times were measured inside their intervals.
    - `unchanged`: the median error of the guess that no time changes.
    - `proportional`: the median error of the guess that every time shrinks as the seconds for a bit do.
    """

    count: int
    median_error: float
    worst_error: float
    inside_80: int
    inside_95: int
    unchanged: float
    proportional: float


def summarise(scores: Sequence[Score]) -> ErrorSummary | None:
    """Return the errors of all workloads but the controls; None if there are none."""
    judged: list[ScoredTime] = []
    unchanged: list[float] = []
    proportional: list[float] = []
    for score in scores:
        for time in score.judged:
            ratio = time.predicted.baseline_s / time.actual_s
            judged.append(time)
            unchanged.append(abs(ratio - 1))
            proportional.append(abs(ratio * score.slowness - 1))
    if not judged:
        return None
    errors = [abs(time.error) for time in judged]
    return ErrorSummary(
        count=len(judged),
        median_error=median(errors),
        worst_error=max(errors),
        inside_80=sum(time.within_80 for time in judged),
        inside_95=sum(time.within_95 for time in judged),
        unchanged=median(unchanged),
        proportional=median(proportional),
    )
