"""A prediction compared with what was measured later: its errors, its intervals, and what makes it void."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.compare.comparison import compare
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import table_model
from harness.analysis.predict.prediction import conditions
from harness.analysis.predict.target import known_link
from harness.model.errors import BadInput
from harness.model.link import throughput_text
from harness.model.network_metrics import GOODPUT_TOLERANCE
from harness.model.prediction import PredictedTime, Prediction
from harness.words import count_of, percent


@dataclass(frozen=True)
class ScoredTime:
    """A predicted time, and the time in seconds that was measured later."""

    predicted: PredictedTime
    actual_s: float

    @property
    def error(self) -> float:
        """By which part of the measured time the prediction was too long; negative if it was too short."""
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
    """A scored prediction.

    `void` says why it is not to be judged by its errors: a condition did not hold. `missing` are workloads
    that were predicted and not measured. `notes` are lines that a reader has to know.
    """

    prediction: Prediction
    after: ConfigurationRuns
    times: tuple[ScoredTime, ...]
    void: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> tuple[ScoredTime, ...]:
        """The times of the workloads that are no controls."""
        return tuple(time for time in self.times if not time.predicted.is_control)

    @property
    def slowness(self) -> float:
        """The seconds that the new link takes for a bit, as a fraction of those of the old one."""
        return self.prediction.baseline_goodput_bit_s / self.prediction.target.goodput_bit_s


def score(prediction: Prediction, baseline: ConfigurationRuns, after: ConfigurationRuns) -> Score:
    """Compare a prediction with the configuration that was measured after the upgrade.

    Raises BadInput if no predicted workload was measured.
    """
    times = scored_times(prediction, after)
    measured = {time.predicted.workload for time in times}
    return Score(
        prediction,
        after,
        times,
        void=tuple(_void(prediction, baseline, after)),
        missing=tuple(time.workload for time in prediction.times if time.workload not in measured),
        notes=(*_unverified(after), *_fewer_runs(baseline, after)),
    )


def scored_times(prediction: Prediction, after: ConfigurationRuns) -> tuple[ScoredTime, ...]:
    """Return the predicted times that were measured. Raises BadInput if none was."""
    names = [time.workload for time in prediction.times]
    model = table_model([after.runs], names)
    times = tuple(
        ScoredTime(time, model.time(0, time.workload).value)
        for time in prediction.times
        if model.runs(0, time.workload)
    )
    if not times:
        raise BadInput(
            f"{after.name!r} has no measured trial of a predicted workload: {', '.join(names)}"
        )
    return times


def started_at(column: ConfigurationRuns) -> str:
    """Return when the first run of a configuration began: ISO 8601 in UTC."""
    return min(recorded.run.started_at for recorded in column.runs)


def is_in_time(prediction: Prediction, after: ConfigurationRuns) -> bool:
    """Whether a prediction was made before a configuration was measured."""
    return prediction.made_at < started_at(after)


def _void(
    prediction: Prediction, baseline: ConfigurationRuns, after: ConfigurationRuns
) -> Iterator[str]:
    if not is_in_time(prediction, after):
        yield (
            f"it was made at {prediction.made_at}, and the first run of {after.name} began at "
            f"{started_at(after)}"
        )
    now = conditions(recorded.run for recorded in after.runs)
    for name, value in prediction.conditions.items():
        if name not in now:
            yield f"{name}: {value} was the condition, and it is unknown of {after.name}, or its runs differ"
        elif now[name] != value:
            yield f"{name}: {now[name]} now, {value} was the condition"
    for name in sorted(now.keys() - prediction.conditions.keys()):
        if name.startswith("spark."):
            yield f"{name}: {now[name]} now, and it was not set for the baseline"
    wanted, found = prediction.target.layout, after.layouts
    if wanted and found and found != {wanted}:
        yield f"layout: {', '.join(sorted(found))} now, {wanted} was predicted"
    yield from _wrong_link(prediction, after)
    yield from _moved_controls(baseline, after)


def _wrong_link(prediction: Prediction, after: ConfigurationRuns) -> Iterator[str]:
    link = known_link(after)
    if link is None:
        return
    if link.mtu != prediction.target.mtu:
        yield f"MTU: {link.mtu} now, {prediction.target.mtu} was predicted"
    carried, expected = link.goodput_bit_s, prediction.target.goodput_bit_s
    if link.is_measured and abs(carried - expected) > GOODPUT_TOLERANCE * expected:
        yield (
            f"the links of {after.name} carry {throughput_text(carried)}; of {prediction.target}, "
            f"{throughput_text(expected)} were expected"
        )


def _unverified(after: ConfigurationRuns) -> Iterator[str]:
    link = known_link(after)
    if link is None or not link.is_measured:
        yield f"no probe verified that {after.name} has the link that was predicted for"


def _fewer_runs(baseline: ConfigurationRuns, after: ConfigurationRuns) -> Iterator[str]:
    before, now = len(baseline.runs), len(after.runs)
    if now < before:
        yield (
            f"{after.name} has {count_of(now, 'run')}, and {baseline.name} {before}: intervals are for as "
            "many, and too narrow for fewer"
        )


def _moved_controls(baseline: ConfigurationRuns, after: ConfigurationRuns) -> Iterator[str]:
    comparison = compare([baseline, after], allow_different_data=True)
    shift = comparison.control_shifts[1]
    if shift and shift.moved:
        change = percent(shift.ratio - 1, 1, signed=True)
        yield f"the controls changed by {change}: something else than the network has changed"


@dataclass(frozen=True)
class Summary:
    """The errors of scored times together, as fractions.

    `unchanged` and `proportional` are the median errors of two guesses: that nothing changes, and that every
    time shrinks as the seconds for a bit do. `inside_80` and `inside_95` count the times that were measured
    inside their intervals.
    """

    count: int
    median_error: float
    worst_error: float
    inside_80: int
    inside_95: int
    unchanged: float
    proportional: float

    @property
    def skill(self) -> float:
        """By which part the median error is smaller than that of the better of the two guesses."""
        best = min(self.unchanged, self.proportional)
        return 1 - self.median_error / best if best else 0.0


def summarise(scores: Sequence[Score]) -> Summary | None:
    """Return the errors of all workloads but the controls; None if there are none."""
    judged = [(score, time) for score in scores for time in score.judged]
    if not judged:
        return None
    errors = [abs(time.error) for _, time in judged]
    return Summary(
        count=len(judged),
        median_error=median(errors),
        worst_error=max(errors),
        inside_80=sum(time.within_80 for _, time in judged),
        inside_95=sum(time.within_95 for _, time in judged),
        unchanged=median(abs(t.predicted.baseline_s / t.actual_s - 1) for _, t in judged),
        proportional=median(
            abs(t.predicted.baseline_s * s.slowness / t.actual_s - 1) for s, t in judged
        ),
    )
