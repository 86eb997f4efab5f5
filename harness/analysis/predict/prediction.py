"""What an upgrade would buy: the times to expect, from a baseline and the use of its links."""

import hashlib
import math
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from statistics import NormalDist, fmean, stdev

from harness import __version__
from harness.analysis.compare.confounders import different_data
from harness.analysis.explain.attribution import attribute
from harness.analysis.explain.profile import profiled_time
from harness.analysis.explain.timeline import full_share, silent_nodes
from harness.analysis.network.goodput import goodput
from harness.analysis.network.mesh import pair_matrix
from harness.analysis.observed.configuration import ConfigurationRuns, probe_measurements
from harness.analysis.observed.environment import (
    LAYOUT,
    as_text,
    dataset_facts,
    facts_without_nodes,
    parameter_facts,
    storage,
)
from harness.analysis.observed.interference import disturbed_line
from harness.analysis.observed.sample import measured_trials, table_model
from harness.analysis.predict.target import TypicalLink, typical_link
from harness.model.errors import BadInput
from harness.model.layout import Layout, LayoutKind
from harness.model.link import goodput_bit_s, rate_text, throughput_text
from harness.model.network_metrics import GOODPUT_TOLERANCE, MESH_GOODPUT
from harness.model.prediction import Bounds, PredictedTime, Prediction, Source, Target
from harness.model.run import Run, timestamp
from harness.records.lookup import check_no_run_twice
from harness.statistics.mixed_model import NORMAL_DF, PRIOR_RUN_SD, Estimate, MixedModel
from harness.statistics.saturation import EFFECT, WHOLE, Belief, enough, log_ratio
from harness.words import join_names, percent

MODEL = f"network waits, version 4 (effect of a full link: {EFFECT.mean:.2f} ± {EFFECT.sd:.2f})"
MIN_EFFICIENCY = 0.9
"""A link whose goodput is below this part of what TCP can carry over it is limited by something else."""
MAX_EFFICIENCY = 1.05
"""A link that carries a larger part is not of the rate that the runs say."""
NORMAL_95 = NormalDist().inv_cdf(0.975)
SHARE_SD = 0.03
"""How much the full share of a workload is taken to differ between runs where none was repeated."""
LAYOUT_EFFECT = Belief(0.5, 0.3)
"""Which part of the time is saved in which a link is full of what another layout would not send."""
REMOTE_PART = 0.1
"""Of input that has whole copies: tasks read it from other nodes where no slot is free beside it."""
BY_PROFILE = "how long tasks waited for the network, by profiles"
BY_FULL_LINKS = (
    f"how long a link was full; on earlier clusters, {percent(EFFECT.mean)} of that was waited for"
)
NO_BYTES = "the bytes on the nodes' links were not recorded"
_NOT_CONDITIONS = frozenset({"measured by", "warm-up rounds", "files in the dataset"})
"""Facts that may differ after the upgrade, because they hardly affect times."""


def unpredictable(baseline: ConfigurationRuns) -> str | None:
    """Return why no faster link can be predicted from a baseline; None if it can."""
    try:
        typical_link(baseline)
    except BadInput as error:
        return str(error)
    known = {**full_shares(baseline), **network_waits(baseline)}
    return None if known.keys() - baseline.controls else NO_BYTES


@dataclass(frozen=True)
class Predictor:
    """A baseline, and perhaps a copy: the same work over the same links, on data in another layout.

    Raises BadInput if the baseline has no measured trial, or if the copy differs by more than the layout.
    """

    baseline: ConfigurationRuns
    copy: ConfigurationRuns | None = None

    def __post_init__(self) -> None:
        check_no_run_twice(recorded for column in self._columns for recorded in column.runs)
        baseline = self.baseline
        if not any(self._model.runs(0, name) for name in baseline.workloads):
            reason = disturbed_line(baseline.runs) or "run jobs/benchmark.py"
            raise BadInput(f"{baseline.name!r} has no measured trial that counts: {reason}")
        usual, carried = self.link.goodput_bit_s, self._start_link.goodput_bit_s
        if abs(carried - usual) > GOODPUT_TOLERANCE * usual:
            raise BadInput(
                f"--copy {self._start.name}: its links carry {throughput_text(carried)}, and those of "
                f"{baseline.name!r} {throughput_text(usual)}: measure the copy over the present links"
            )
        if found := different_data(baseline.runs, self._start.runs):
            raise BadInput(
                f"{baseline.name!r} and {self._start.name!r} read different data: {found}: name "
                "configurations that differ by their layout alone"
            )

    @cached_property
    def link(self) -> TypicalLink:
        """The typical link of the baseline."""
        return typical_link(self.baseline)

    @property
    def _columns(self) -> tuple[ConfigurationRuns, ...]:
        return (self.baseline, self.copy) if self.copy else (self.baseline,)

    @property
    def _start(self) -> ConfigurationRuns:
        """The configuration whose times a faster link changes: the one in the target's layout."""
        return self.copy or self.baseline

    @cached_property
    def _start_link(self) -> TypicalLink:
        return typical_link(self.copy) if self.copy else self.link

    @cached_property
    def _model(self) -> MixedModel:
        return table_model([column.runs for column in self._columns], self.baseline.workloads)

    @cached_property
    def _full_shares(self) -> dict[str, Belief]:
        return full_shares(self._start)

    @cached_property
    def _network_waits(self) -> dict[str, Belief]:
        return network_waits(self._start)

    @cached_property
    def _inputs_from_others(self) -> dict[str, float | None]:
        """Of each workload, the part of the bytes on the links that is input from other nodes."""
        return {name: _input_from_others(self.baseline, name) for name in self.baseline.workloads}

    def predict(self, target: Target) -> Prediction:
        """Return the times to expect over the links of the target, with the data in its layout.

        Without a copy in that layout, its effect is estimated from what was read from other nodes. Raises
        BadInput if no workload can be predicted, or if the copy is in another layout.
        """
        baseline = self.baseline
        _require_layout(self.copy, baseline, target)
        times, reasons = self.times(target)
        if all(time.is_control for time in times):
            which = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
            raise BadInput(
                f"{baseline.name!r}: nothing can be predicted: {which or 'it has controls alone'}"
            )
        return Prediction(
            made_at=timestamp(),
            written_by=f"clusterlift {__version__}",
            model=MODEL,
            baseline=_source(baseline),
            baseline_goodput_bit_s=self.link.goodput_bit_s,
            target=target,
            times=tuple(times),
            learned_from=(_source(self.copy),) if self.copy else (),
            conditions={
                name: value
                for name, value in conditions(recorded.run for recorded in baseline.runs).items()
                if not (name == LAYOUT and target.layout)
            },
            not_predicted=reasons,
            notes=tuple(self._notes(target)),
        )

    def times(self, target: Target) -> tuple[list[PredictedTime], dict[str, str]]:
        """Return the predicted times, and for each workload that has none the reason."""
        times, reasons = [], {}
        for name in self.baseline.workloads:
            unmeasured = [
                column.name
                for number, column in enumerate(self._columns)
                if not self._model.runs(number, name)
            ]
            if unmeasured:
                reasons[name] = f"{unmeasured[0]} has no measured trial of it"
            elif name in self.baseline.controls:
                times.append(self._predicted(name, None))
            elif change := self._change(name, target):
                times.append(self._predicted(name, change))
            else:
                reasons[name] = NO_BYTES
        return times, reasons

    def _change(self, name: str, target: Target) -> "_Change | None":
        """Return what the target does to a workload; None if neither its waits nor its bytes are recorded."""
        is_measured = not target.layout or self.copy or self.baseline.layouts == {target.layout}
        wait, full = self._network_waits.get(name), self._full_shares.get(name)
        if is_measured and wait:
            return _Change(wait, self._start_link, target, effect=WHOLE, basis=BY_PROFILE)
        if full is None:
            return None
        change = _Change(full, self._start_link, target)
        if is_measured:
            return change
        removed = self._inputs_from_others[name]
        if removed is None:
            basis = f"{change.basis}; the effect of the layout is unknown and left out"
            return replace(change, basis=basis)
        basis = f"{change.basis}; of the layout: {percent(removed)} of the bytes are input from other nodes"
        return replace(change, removed=removed, basis=basis)

    def _predicted(self, name: str, change: "_Change | None") -> PredictedTime:
        """Return the prediction of a workload; of a control if there is no change."""
        present = self._model.time(len(self._columns) - 1, name)
        full = None if change is None else self._full_shares.get(name)
        expected = _after(present, change.log_ratio if change else Belief(0.0, 0.0))
        return PredictedTime(
            workload=name,
            is_control=change is None,
            baseline_s=self._model.time(0, name).value,
            expected_s=expected.value,
            interval_80=Bounds(*expected.interval_at(0.8)),
            interval_95=Bounds(*expected.interval_at(0.95)),
            limit_s=present.value * math.exp(change.limit if change else 0.0),
            useful_up_to_bit_s=change.useful_up_to_bit_s if change else None,
            full_share=full.mean if full else None,
            basis=change.basis if change else "control: no link affects it",
        )

    def _notes(self, target: Target) -> Iterator[str]:
        """Yield what a reader of the prediction has to know."""
        name, link = self.baseline.name, self.link
        if not self._model.has_repeated_runs:
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
        if not self.baseline.controls:
            yield "no control was measured: nobody can tell later whether the machines have changed"
        if target.layout and all(column.layouts != {target.layout} for column in self._columns):
            yield (
                "the effect of the layout is estimated from what was read from other nodes, which is weak: "
                "measure a second copy of the data in that layout over the present links (--copy)"
            )


def _require_layout(
    copy: ConfigurationRuns | None, baseline: ConfigurationRuns, target: Target
) -> None:
    if copy and copy.layouts != {target.layout}:
        raise BadInput(
            f"the data of {copy.name!r} is {', '.join(copy.layouts) or 'of unknown layout'}, "
            f"not {target.layout}: name a configuration that was measured on such a copy"
        )
    if target.layout and not copy and baseline.layouts != {target.layout}:
        if any(storage(recorded.run) == "s3a" for recorded in baseline.runs):
            raise BadInput(
                f"--layout {target.layout}: every byte of an object store comes from a server, whatever the "
                "layout: measure a copy of the data in it over the present links, and name it: --copy"
            )
        present = [Layout.recorded(layout).kind for layout in baseline.layouts]
        if (
            LayoutKind.REPLICATED in present
            or Layout.parse(target.layout).kind is not LayoutKind.REPLICATED
        ):
            raise BadInput(
                f"--layout {target.layout}: only what whole copies gain over Reed-Solomon can be estimated: "
                "measure a copy of the data in that layout over the present links, and name it: --copy"
            )


def full_shares(column: ConfigurationRuns) -> dict[str, Belief]:
    """Return for each workload the part of its time in which a link was full; runs are the unit.

    A workload is missing if the bytes on the nodes' links were not recorded, or no goodput is known.
    """
    mesh = pair_matrix(probe_measurements(column), MESH_GOODPUT)
    by_run: dict[str, dict[str, list[float]]] = {}
    for recorded in column.runs:
        goodputs = cache(partial(goodput, recorded.run, mesh))
        for trial in measured_trials([recorded]):
            if trial.timeline and (share := full_share(trial.timeline, goodputs)) is not None:
                runs = by_run.setdefault(trial.workload, {})
                runs.setdefault(recorded.run.id, []).append(share)
    return {name: _mean_of_runs(list(map(fmean, runs.values()))) for name, runs in by_run.items()}


def network_waits(column: ConfigurationRuns) -> dict[str, Belief]:
    """Return for each workload that has a profile the part of its time that waits for the network cost."""
    found = {}
    for name in column.workloads:
        profile = profiled_time(column.runs, name)
        if profile and profile.bound:
            gain = profile.bound.network
            sd = gain.interval.max_distance(gain.share) / NORMAL_95
            found[name] = Belief(gain.share, sd)
    return found


def _mean_of_runs(values: Sequence[float]) -> Belief:
    sd = stdev(values) if len(values) > 1 else SHARE_SD
    return Belief(fmean(values), max(sd, SHARE_SD / 2) / math.sqrt(len(values)))


@dataclass(frozen=True)
class _Change:
    """What happens to a workload during a share of whose time a link is full, or tasks wait for one.

    `effect` is the part of that time that depends on the link's rate, and `removed` the part of the bits that
    need no link in the new layout.
    """

    share: Belief
    link: TypicalLink
    target: Target
    effect: Belief = EFFECT
    removed: float = 0.0
    basis: str = BY_FULL_LINKS

    @property
    def log_ratio(self) -> Belief:
        """The logarithm of the time to expect, divided by the present one."""
        return self._log_ratio(self.link.goodput_bit_s / self.target.goodput_bit_s)

    @property
    def limit(self) -> float:
        """That over an infinitely fast network."""
        return self._log_ratio(0.0).mean

    @property
    def useful_up_to_bit_s(self) -> float | None:
        """The rate from which on the time is near its limit; None if it is already."""
        slowness = enough(self.share.mean * (1 - self.removed), self.effect)
        present = self.link.rate_bit_s or self.link.goodput_bit_s
        return None if slowness is None or slowness >= 1 else present / slowness

    def _log_ratio(self, slowness: float) -> Belief:
        share, kept = self.share, 1 - self.removed
        saved = LAYOUT_EFFECT.mean * share.mean * self.removed
        smaller = Belief(share.mean * kept / (1 - saved), share.sd)
        error = LAYOUT_EFFECT.sd * share.mean * self.removed / (1 - saved)
        change = log_ratio(smaller, slowness, self.effect).widened(error)
        return replace(change, mean=change.mean + math.log1p(-saved))


def _after(present: Estimate, change: Belief) -> Estimate:
    """Return the time after a change, as many runs will measure it that vary as much as the present ones.

    Their noise and the present noise add up. The degrees of freedom are Welch's and Satterthwaite's.
    """
    noise, error = 2 * present.variance, change.sd**2
    df = (noise + error) ** 2 / (noise**2 / present.df) if noise else NORMAL_DF
    return Estimate(present.log + change.mean, noise + error, min(df, NORMAL_DF))


def _input_from_others(column: ConfigurationRuns, workload: str) -> float | None:
    """Return the part of the bytes on the links that is input which copies on the nodes would spare.

    It is what was received, without what the shuffle fetched and without REMOTE_PART of the input.
    """
    found = attribute(column.runs, workload)
    if found is None or found.wire is None or not found.wire.received_bytes:
        return None
    wire, whole = found.wire, found.input.total_bytes / max(1, found.n)
    from_others = wire.received_bytes - wire.shuffle_bytes - REMOTE_PART * whole
    return min(1.0, max(0.0, from_others / wire.received_bytes))


def _source(column: ConfigurationRuns) -> Source:
    files = [Path(recorded.source) for recorded in column.runs]
    return Source(
        column.name,
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    )


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
