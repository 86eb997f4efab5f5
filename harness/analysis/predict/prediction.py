"""What faster links or disks would bring: the times to expect, by how long a baseline waits for them."""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist

from harness import __version__
from harness.analysis.explain.timeline import silent_nodes
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.configuration import ConfigurationRuns, model_of
from harness.analysis.observed.sample import measured_trials
from harness.analysis.predict.saturation import EFFECT, log_ratio, sufficient_slowness
from harness.analysis.predict.target import TypicalLink, typical_link
from harness.analysis.predict.waits import CONTROL, WaitTime, disk_times, network_times
from harness.base.errors import BadInput
from harness.base.words import join_names, percent
from harness.model.limits import MIN_RUNS
from harness.model.link import rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction, Target
from harness.model.run import timestamp
from harness.statistics.run_model import NORMAL_DF, PRIOR_RUN_SD, Estimate, RunModel
from harness.work.options import REPETITIONS

MODEL = f"network waits, version 4 (effect of a full link: {EFFECT.mean:.2f} ± {EFFECT.stdev:.2f})"
DISK_MODEL = "disk waits, version 1"
MIN_EFFICIENCY = 0.9
"""A link whose goodput is below this part of what TCP can carry over it is limited by something else."""
MAX_EFFICIENCY = 1.05
"""A link that carries a larger part is not of the rate that the runs say."""
NO_BYTES = "the bytes on the nodes' links were not recorded"
NO_DISK_TIMES = "it has no profile, and how busy disks were is not known"
ONLY_OWN_DISKS = (
    "only the disks of machines that run Spark were looked at; what was read from memory stays so"
)
_NOT_CONDITIONS = frozenset({"measured by", "files in the dataset", "clock synchronised"}).union(
    option.fact for option in REPETITIONS
)
"""Facts that may differ after the upgrade, because they hardly affect times."""


@dataclass(frozen=True)
class Predictor:
    """A baseline from which times with faster links or disks are predicted."""

    baseline: ConfigurationRuns

    @cached_property
    def link(self) -> TypicalLink:
        """The typical link of the baseline."""
        return typical_link(self.baseline)

    @cached_property
    def _model(self) -> RunModel:
        return model_of([self.baseline])

    @cached_property
    def _network_times(self) -> dict[str, WaitTime]:
        return network_times(self.baseline)

    @cached_property
    def _disk_times(self) -> dict[str, WaitTime]:
        return disk_times(self.baseline)

    def predict(self, target: Target) -> Prediction:
        """Return the times to expect with the links or the disks of the target.

        Raises BadInput if no workload can be predicted.
        """
        baseline = self.baseline
        waits = self._disk_times if target.disk else self._network_times
        waits = waits | dict.fromkeys(baseline.controls, CONTROL)
        times: list[PredictedTime] = []
        reasons: dict[str, str] = {}
        for name in baseline.workloads:
            if not self._model.run_count(0, name):
                reasons[name] = "it has no measured trial that counts"
            elif name in waits:
                times.append(self._predicted(name, waits[name], target))
            else:
                reasons[name] = NO_DISK_TIMES if target.disk else NO_BYTES
        if all(time.is_control for time in times):
            which = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            raise BadInput(
                f"{baseline.name!r}: nothing can be predicted: {which or 'it has controls alone'}"
            )
        return Prediction(
            made_at=timestamp(),
            written_by=f"clusterlift {__version__}",
            model=DISK_MODEL if target.disk else MODEL,
            baseline=baseline.name,
            baseline_goodput_bit_s=None if target.disk else self.link.goodput_bit_s,
            target=target,
            times=tuple(times),
            conditions=conditions(baseline),
            not_predicted=reasons,
            notes=tuple(self._notes(of_disks=target.disk is not None)),
        )

    def _predicted(self, name: str, wait: WaitTime, target: Target) -> PredictedTime:
        """Return the time to expect of one workload. `wait` is the part of its time that gets shorter."""
        present = self._model.time(0, name)
        share = wait.share.mean
        network_share = None
        disk_share = None
        useful_up_to_bit_s = None
        if target.disk:
            slowness = target.slowness(None)
            disk_share = min(1.0, share)
        else:
            slowness = target.slowness(self.link.goodput_bit_s)
            network_share = share
            sufficient = sufficient_slowness(share, wait.effect.mean)
            if sufficient and sufficient < 1:
                present_bit_s = self.link.rate_bit_s or self.link.goodput_bit_s
                useful_up_to_bit_s = present_bit_s / sufficient
        expected = _after(present, log_ratio(wait.share, slowness, wait.effect))
        return PredictedTime(
            workload=name,
            is_control=wait is CONTROL,
            baseline_s=present.value,
            expected_s=expected.value,
            interval_80=Bounds(*expected.interval_at(0.8)),
            interval_95=Bounds(*expected.interval_at(0.95)),
            limit_s=present.value * math.exp(log_ratio(wait.share, 0.0, wait.effect).mean),
            useful_up_to_bit_s=useful_up_to_bit_s,
            network_share=network_share,
            disk_share=disk_share,
            basis=wait.basis,
        )

    def _notes(self, *, of_disks: bool) -> Iterator[str]:
        """Yield what a reader of the prediction has to know."""
        if self.baseline.counted_runs < MIN_RUNS:
            yield (
                f"one run alone does not show how much runs differ: {percent(PRIOR_RUN_SD)} is assumed, "
                "which makes the intervals wide"
            )
        if of_disks:
            yield ONLY_OWN_DISKS
        else:
            yield from self._notes_on_links()
        yield from caveats(self.baseline.runs)
        if not self.baseline.controls:
            yield "no control was measured: nothing will show whether the machines have changed"

    def _notes_on_links(self) -> Iterator[str]:
        name = self.baseline.name
        link = self.link
        if link.rate_bit_s:
            carried = throughput_text(link.goodput_bit_s)
            rate = rate_text(link.rate_bit_s)
            if link.efficiency < MIN_EFFICIENCY:
                yield (
                    f"the links of {name} carry {carried}, {percent(link.efficiency)} of what {rate} allows: "
                    "find out why before you buy; as little is expected of the new ones"
                )
            if link.efficiency > MAX_EFFICIENCY:
                yield (
                    f"the links of {name} carry {carried}, which is more than {rate} allows: their rate is "
                    "not what the runs say"
                )
        if not link.is_measured:
            yield (
                f"no probe measured what the links of {name} carry: what their rate allows in theory is "
                f"taken (clusterlift probe mesh --configuration {shlex.quote(name)})"
            )
        silent: set[str] = set()
        for trial in measured_trials(self.baseline.runs):
            if trial.timeline:
                silent.update(silent_nodes(trial.timeline))
        if silent:
            yield (
                f"the bytes on the links of {join_names(sorted(silent))} were not recorded: if one of these "
                "is the busiest, a faster link gains more than predicted"
            )


def _after(present: Estimate, change: NormalDist) -> Estimate:
    """Return the time after a change, as the same number of equally noisy runs will measure it."""
    both_noisy = replace(present, variance=2 * present.variance)
    return both_noisy - Estimate(-change.mean, change.variance, NORMAL_DF)


def conditions(column: ConfigurationRuns) -> dict[str, str]:
    """Return the facts on which times depend and which all runs of a configuration have in common."""
    common: dict[str, str | None] = {}
    for number, facts in enumerate(column.facts):
        own: dict[str, str | None] = {}
        for group in ("parameters", "dataset", "environment"):
            own.update(facts.get(group, {}))
        if number == 0:
            common = own
        common = {name: text for name, text in common.items() if own.get(name) == text}
    return {
        name: text
        for name, text in common.items()
        if text is not None and name not in _NOT_CONDITIONS
    }
