"""What faster links would bring: the times to expect, from a baseline and how long it waits for its links."""

import math
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist, fmean, stdev

from harness import __version__
from harness.analysis.explain.profile import profiled_time
from harness.analysis.explain.timeline import run_shares, silent_nodes, trial_links
from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    caveats,
    probe_measurements,
)
from harness.analysis.observed.environment import (
    as_text,
    dataset_facts,
    facts_without_nodes,
    parameter_facts,
)
from harness.analysis.observed.sample import measured_trials, table_model
from harness.analysis.predict.saturation import EFFECT, WHOLE, enough, log_ratio
from harness.analysis.predict.target import TypicalLink, typical_link
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.model.link import goodput_bit_s, rate_text, throughput_text
from harness.model.prediction import Bounds, PredictedTime, Prediction, Target
from harness.model.run import Run, timestamp
from harness.statistics.run_table import NORMAL_DF, PRIOR_RUN_SD, Estimate, RunTable
from harness.words import join_names, percent

MODEL = f"network waits, version 4 (effect of a full link: {EFFECT.mean:.2f} ± {EFFECT.stdev:.2f})"
MIN_EFFICIENCY = 0.9
"""A link whose goodput is below this part of what TCP can carry over it is limited by something else."""
MAX_EFFICIENCY = 1.05
"""A link that carries a larger part is not of the rate that the runs say."""
NORMAL_95 = NormalDist().inv_cdf(0.975)
SHARE_SD = 0.03
"""How much the full share of a workload is taken to differ between runs where none was repeated."""
BY_PROFILE = "how long tasks waited for the network, by profiles"
BY_FULL_LINKS = (
    f"how long a link was full; on earlier clusters, {percent(EFFECT.mean)} of that was waited for"
)
NO_BYTES = "the bytes on the nodes' links were not recorded"
_NOT_CONDITIONS = frozenset({"measured by", "warm-up rounds", "files in the dataset"})
"""Facts that may differ after the upgrade, because they hardly affect times."""


@dataclass(frozen=True)
class NetworkTime:
    """The part of a workload's time in which tasks wait for the network, or in which a link is full.

    `effect` is the part of that time that depends on the links' rate; `basis` says how the share is known.
    """

    share: NormalDist
    effect: NormalDist
    basis: str


CONTROL = NetworkTime(NormalDist(0, 0), WHOLE, "control: no link affects it")


def network_times(column: ConfigurationRuns) -> dict[str, NetworkTime]:
    """Return the network time of each workload: by its profile if it has one, else by full links.

    A workload is missing if it has no profile, and nothing is known of the bytes on the nodes' links or of
    their goodput.
    """
    links = trial_links(column, probe_measurements(column))
    found = {}
    for name in column.workloads:
        profile = profiled_time(column.runs, name)
        if profile and profile.bound:
            gain = profile.bound.network
            share = NormalDist(gain.share, gain.interval.max_distance(gain.share) / NORMAL_95)
            found[name] = NetworkTime(share, WHOLE, BY_PROFILE)
        elif shares := run_shares(link for link in links if link.trial.workload == name):
            sd = max(stdev(shares), SHARE_SD / 2) if len(shares) > 1 else SHARE_SD
            share = NormalDist(fmean(shares), sd / math.sqrt(len(shares)))
            found[name] = NetworkTime(share, EFFECT, BY_FULL_LINKS)
    return found


def unpredictable(baseline: ConfigurationRuns) -> str | None:
    """Return why no faster link can be predicted from a baseline; None if it can."""
    try:
        typical_link(baseline)
    except BadInput as error:
        return str(error)
    return None if network_times(baseline).keys() - baseline.controls else NO_BYTES


@dataclass(frozen=True)
class Predictor:
    """A baseline from which times over faster links are predicted."""

    baseline: ConfigurationRuns

    @cached_property
    def link(self) -> TypicalLink:
        """The typical link of the baseline."""
        return typical_link(self.baseline)

    @cached_property
    def _model(self) -> RunTable:
        return table_model([self.baseline.runs], self.baseline.workloads)

    @cached_property
    def _network_times(self) -> dict[str, NetworkTime]:
        return network_times(self.baseline) | dict.fromkeys(self.baseline.controls, CONTROL)

    def predict(self, target: Target) -> Prediction:
        """Return the times to expect over the links of the target.

        Raises BadInput if no workload can be predicted.
        """
        baseline = self.baseline
        times, reasons = [], {}
        for name in baseline.workloads:
            if not self._model.runs(0, name):
                reasons[name] = "it has no measured trial that counts"
            elif network := self._network_times.get(name):
                times.append(self._predicted(name, network, target))
            else:
                reasons[name] = NO_BYTES
        if all(time.is_control for time in times):
            which = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            raise BadInput(
                f"{baseline.name!r}: nothing can be predicted: {which or 'it has controls alone'}"
            )
        return Prediction(
            made_at=timestamp(),
            written_by=f"clusterlift {__version__}",
            model=MODEL,
            baseline=baseline.name,
            baseline_goodput_bit_s=self.link.goodput_bit_s,
            target=target,
            times=tuple(times),
            conditions=conditions(recorded.run for recorded in baseline.runs),
            not_predicted=reasons,
            notes=tuple(self._notes()),
        )

    def _predicted(self, name: str, network: NetworkTime, target: Target) -> PredictedTime:
        present = self._model.time(0, name)
        slowness = self.link.goodput_bit_s / target.goodput_bit_s
        expected = _after(present, log_ratio(network.share, slowness, network.effect))
        limit = log_ratio(network.share, 0.0, network.effect).mean
        useful = enough(network.share.mean, network.effect.mean)
        rate_bit_s = self.link.rate_bit_s or self.link.goodput_bit_s
        return PredictedTime(
            workload=name,
            is_control=network is CONTROL,
            baseline_s=present.value,
            expected_s=expected.value,
            interval_80=Bounds(*expected.interval_at(0.8)),
            interval_95=Bounds(*expected.interval_at(0.95)),
            limit_s=present.value * math.exp(limit),
            useful_up_to_bit_s=rate_bit_s / useful if useful and useful < 1 else None,
            network_share=network.share.mean,
            basis=network.basis,
        )

    def _notes(self) -> Iterator[str]:
        """Yield what a reader of the prediction has to know."""
        name, link = self.baseline.name, self.link
        if self.baseline.counted_runs < MIN_RUNS:
            yield (
                f"one run alone does not show how much runs differ: {percent(PRIOR_RUN_SD)} is assumed, "
                "which makes the intervals wide"
            )
        if link.rate_bit_s:
            carried, rate = throughput_text(link.goodput_bit_s), rate_text(link.rate_bit_s)
            efficiency = link.goodput_bit_s / goodput_bit_s(link.rate_bit_s, link.mtu)
            if efficiency < MIN_EFFICIENCY:
                yield (
                    f"the links of {name} carry {carried}, {percent(efficiency)} of what {rate} allows: find "
                    "out why before you buy; as little is expected of the new ones"
                )
            if efficiency > MAX_EFFICIENCY:
                yield (
                    f"the links of {name} carry {carried}, which is more than {rate} allows: their rate is "
                    "not what the runs say"
                )
        if not link.is_measured:
            yield (
                f"no probe measured what the links of {name} carry: what their rate allows in theory is "
                f"taken (clusterlift probe mesh --configuration {shlex.quote(name)})"
            )
        timelines = [trial.timeline for trial in measured_trials(self.baseline.runs)]
        silent = {host for timeline in timelines if timeline for host in silent_nodes(timeline)}
        if silent:
            yield (
                f"the bytes on the links of {join_names(sorted(silent))} were not recorded: if one of these "
                "is the busiest, a faster link gains more than predicted"
            )
        yield from caveats(self.baseline.runs)
        if not self.baseline.controls:
            yield "no control was measured: nothing will show whether the machines have changed"


def _after(present: Estimate, change: NormalDist) -> Estimate:
    """Return the time after a change that as many runs, equally noisy, will measure."""
    both_noisy = replace(present, variance=2 * present.variance)
    return both_noisy - Estimate(-change.mean, change.variance, NORMAL_DF)


def conditions(runs: Iterable[Run]) -> dict[str, str]:
    """Return the facts on which times depend and which all of these runs have in common, by name."""
    first, *others = (
        {
            name: text
            for group in (parameter_facts(run), dataset_facts(run), facts_without_nodes(run))
            for name, value in group.items()
            if name not in _NOT_CONDITIONS and (text := as_text(value)) is not None
        }
        for run in runs
    )
    return {
        name: text
        for name, text in first.items()
        if all(facts.get(name) == text for facts in others)
    }
