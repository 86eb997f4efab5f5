"""What an upgrade would buy: the times to expect, from a baseline and the use of its links."""

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Self

from harness import __version__
from harness.analysis.compare.confounders import different_data
from harness.analysis.explain.attribution import attribute
from harness.analysis.explain.timeline import silent_nodes, trial_links
from harness.analysis.observed.configuration import ConfigurationRuns, probe_measurements
from harness.analysis.observed.environment import (
    LAYOUT,
    as_text,
    dataset_facts,
    environment_facts,
    parameter_facts,
)
from harness.analysis.observed.interference import disturbed_line
from harness.analysis.observed.sample import measured_trials, table_model
from harness.analysis.predict.target import TypicalLink, typical_link
from harness.model.errors import BadInput
from harness.model.layout import Layout, LayoutKind
from harness.model.link import (
    goodput_bit_s,
    is_same_rate,
    rate_text,
    throughput_text,
)
from harness.model.network_metrics import GOODPUT_TOLERANCE
from harness.model.prediction import Bounds, PredictedTime, Prediction, Source, Target
from harness.model.run import Run, timestamp
from harness.records.lookup import check_no_run_twice
from harness.statistics.mixed_model import MANY, PRIOR_RUN_SD, Estimate, MixedModel
from harness.statistics.saturation import (
    NOTHING,
    Belief,
    Fitted,
    Sensitivity,
    Throttled,
    fit,
    learn,
)
from harness.terminal import join_names, percent

MODEL = "full-links, version 2"
LEVELS = (0.8, 0.95)
MIN_EFFICIENCY = 0.9
"""A link whose goodput is below this part of what TCP can carry over it is limited by something else."""
MAX_EFFICIENCY = 1.05
"""A link that carries a larger part is not of the rate that the runs say."""
SHARE_SD = 0.03
"""How much the full share of a workload is taken to differ between runs where none was repeated."""
LAYOUT_EFFECT = Belief(0.5, 0.3)
"""Which part of the time is saved in which a link is full of what another layout would not send."""
REMOTE_PART = 0.1
"""Of input that has whole copies: tasks read it from other nodes where no slot is free beside it."""
NO_BYTES = "the bytes on the nodes' links were not recorded"
_NOT_CONDITIONS = frozenset({"measured by", "warm-up rounds", "files in the dataset"})
"""Facts that may differ after the upgrade, because they hardly affect times."""


def is_outcome_of(column: ConfigurationRuns, prediction: Prediction) -> bool:
    """Return whether a configuration has the links and the layout that a prediction is for."""
    try:
        link = typical_link(column)
    except BadInput:
        return False
    target = prediction.target
    if link.rate_bit_s is None or target.link_bit_s is None:
        is_link = link.rate_bit_s == target.link_bit_s
    else:
        is_link = is_same_rate(link.rate_bit_s, target.link_bit_s)
    layout = target.layout or prediction.conditions.get(LAYOUT)
    return is_link and link.mtu == target.mtu and (layout is None or column.layouts == {layout})


def unpredictable(baseline: ConfigurationRuns) -> str | None:
    """Return why no faster link can be predicted from a baseline; None if it can."""
    try:
        typical_link(baseline)
    except BadInput as error:
        return str(error)
    return None if full_shares(baseline).keys() - baseline.controls else NO_BYTES


@dataclass(frozen=True)
class _Measured:
    """A configuration, its link, and for each workload the part of its time in which a link was full."""

    column: ConfigurationRuns
    link: TypicalLink
    full_shares: Mapping[str, Belief]

    @classmethod
    def of(cls, column: ConfigurationRuns) -> Self:
        return cls(column, typical_link(column), full_shares(column))


@dataclass(frozen=True)
class Predictor:
    """A baseline, and what is known of how long its workloads wait for a full link.

    `copy` was measured over the same links on data in another layout; None if there is none. The columns
    of `model` are the baseline, the copy and `slower`. `throttled` is what slower links show of workloads
    in common, and `beside` the same of each workload, beside the baseline or the copy.
    """

    baseline: _Measured
    copy: _Measured | None
    slower: tuple[_Measured, ...]
    model: MixedModel
    throttled: tuple[Throttled, ...]
    beside: tuple[Throttled, ...]

    @classmethod
    def of(
        cls,
        baseline: ConfigurationRuns,
        throttled: Sequence[ConfigurationRuns] = (),
        copy: ConfigurationRuns | None = None,
    ) -> Self:
        """Learn from a baseline, and from configurations that differ from it by slower links alone.

        They may also differ from the copy in this way. Raises BadInput if the baseline has no measured
        trial, or if the links of one of the others are not slower.
        """
        columns = [baseline, *([copy] if copy else []), *throttled]
        check_no_run_twice(recorded for column in columns for recorded in column.runs)
        model = table_model([column.runs for column in columns], baseline.workloads)
        if not any(model.runs(0, name) for name in baseline.workloads):
            reason = disturbed_line(baseline.runs) or "run jobs/benchmark.py"
            raise BadInput(f"{baseline.name!r} has no measured trial that counts: {reason}")
        first, *others = measured = list(map(_Measured.of, columns))
        slower = others[1:] if copy else others
        if copy:
            _require_same_links(others[0], first)
        for each in others:
            _require_same_data(each.column, baseline)
        for each in slower:
            _require_slower(each, first)
        families = _families(measured)
        neighbours = [
            (slower, faster)
            for family in families
            for slower, faster in pairwise(family)
            if slower[1].link.is_slower_than(faster[1].link)
        ]
        present = (1, measured[1]) if copy else (0, first)
        family = next(family for family in families if present in family)
        beside = [
            (each, present) for each in family if each[1].link.is_slower_than(present[1].link)
        ]
        throttled_, beside_ = (
            tuple(_throttled(model, pairs, baseline.controls)) for pairs in (neighbours, beside)
        )
        return cls(first, others[0] if copy else None, tuple(slower), model, throttled_, beside_)

    def predict(self, target: Target) -> Prediction:
        """Return the times to expect over the links of the target, with the data in its layout.

        Without a copy in that layout, its effect is estimated from what was read from other nodes. Raises
        BadInput if no workload can be predicted, or if the copy is in another layout.
        """
        _require_layout(self.copy, self.baseline.column, target)
        times, reasons = self.times(target)
        baseline = self.baseline.column
        _require_workloads(baseline, times, reasons)
        others = [each.column for each in (self.copy, *self.slower) if each]
        return Prediction(
            made_at=timestamp(),
            written_by=f"clusterlift {__version__}",
            model=_model_text(learn(self.throttled)),
            baseline=_source(baseline),
            baseline_goodput_bit_s=self.baseline.link.goodput_bit_s,
            target=target,
            times=tuple(times),
            learned_from=tuple(map(_source, others)),
            conditions={
                name: value
                for name, value in conditions(recorded.run for recorded in baseline.runs).items()
                if not (name == LAYOUT and target.layout)
            },
            not_predicted=reasons,
            notes=tuple(_notes(baseline, self.model, self.baseline.link, target, others)),
        )

    @cached_property
    def _fitted(self) -> dict[str, Fitted]:
        """What is known of each workload: from all others, and from itself. No target changes it."""
        return {
            name: fit(
                learn([each for each in self.throttled if each.workload != name]),
                [each for each in self.beside if each.workload == name],
            )
            for name in self.baseline.column.workloads
        }

    @cached_property
    def _inputs_from_others(self) -> dict[str, float | None]:
        """Of each workload, the part of the bytes on the links that is input from other nodes."""
        baseline = self.baseline.column
        return {name: _input_from_others(baseline, name) for name in baseline.workloads}

    def times(self, target: Target) -> tuple[list[PredictedTime], dict[str, str]]:
        """Return the predicted times, and for each workload that has none the reason."""
        baseline, model = self.baseline.column, self.model
        start, present = (1, self.copy) if self.copy else (0, self.baseline)
        times, reasons = [], {}
        for name in baseline.workloads:
            if not model.runs(start, name) or not model.runs(0, name):
                unmeasured = present.column if model.runs(0, name) else baseline
                reasons[name] = f"{unmeasured.name} has no measured trial of it"
            elif name in baseline.controls:
                times.append(_predicted(name, model, start, None))
            elif share := present.full_shares.get(name):
                change = _Change(self._fitted[name], share, present.link, target)
                if target.layout and not self.copy and baseline.layouts != {target.layout}:
                    change = change.in_layout(self._inputs_from_others[name])
                times.append(_predicted(name, model, start, change))
            else:
                reasons[name] = NO_BYTES
        return times, reasons


def _require_workloads(
    baseline: ConfigurationRuns, times: Sequence[PredictedTime], reasons: Mapping[str, str]
) -> None:
    if all(time.is_control for time in times):
        which = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise BadInput(
            f"{baseline.name!r}: nothing can be predicted: {which or 'it has controls alone'}"
        )


def _require_layout(copy: _Measured | None, baseline: ConfigurationRuns, target: Target) -> None:
    if copy and copy.column.layouts != {target.layout}:
        raise BadInput(
            f"the data of {copy.column.name!r} is {', '.join(copy.column.layouts) or 'of unknown layout'}, "
            f"not {target.layout}: name a configuration that was measured on such a copy"
        )
    if target.layout and not copy and baseline.layouts != {target.layout}:
        present = [Layout.parse(layout).kind for layout in baseline.layouts]
        if (
            LayoutKind.REPLICATED in present
            or Layout.parse(target.layout).kind is not LayoutKind.REPLICATED
        ):
            raise BadInput(
                f"--layout {target.layout}: only what whole copies gain over Reed-Solomon can be estimated: "
                "measure a copy of the data in that layout over the present links, and name it: --copy"
            )


def _require_same_links(copy: _Measured, baseline: _Measured) -> None:
    carried, usual = (each.link.goodput_bit_s for each in (copy, baseline))
    if abs(carried - usual) > GOODPUT_TOLERANCE * usual:
        raise BadInput(
            f"--copy {copy.column.name}: its links carry {throughput_text(carried)}, and those of "
            f"{baseline.column.name!r} {throughput_text(usual)}: measure the copy over the present links"
        )


def _require_same_data(other: ConfigurationRuns, baseline: ConfigurationRuns) -> None:
    if found := different_data(baseline.runs, other.runs):
        raise BadInput(
            f"{baseline.name!r} and {other.name!r} read different data: {found}: name configurations that "
            "differ by their links or their layout alone"
        )


def _require_slower(throttled: _Measured, baseline: _Measured) -> None:
    carried, usual = (each.link.goodput_bit_s for each in (throttled, baseline))
    if not throttled.link.is_slower_than(baseline.link):
        raise BadInput(
            f"--throttled {throttled.column.name}: its links carry {throughput_text(carried)}, and those of "
            f"{baseline.column.name!r} {throughput_text(usual)}: name a configuration with slower links"
        )


def full_shares(column: ConfigurationRuns) -> dict[str, Belief]:
    """Return for each workload the part of its time in which a link was full; runs are the unit.

    A workload is missing if the bytes on the nodes' links were not recorded, or no goodput is known.
    """
    by_run: dict[str, dict[str, list[float]]] = {}
    for link in trial_links(column, probe_measurements(column)):
        if link.goodput:
            runs = by_run.setdefault(link.trial.workload, {})
            runs.setdefault(link.run.id, []).append(link.full_share)
    return {name: _mean_of_runs(list(map(fmean, runs.values()))) for name, runs in by_run.items()}


def _silent_nodes(column: ConfigurationRuns) -> list[str]:
    """Return the nodes whose bytes are unknown in some trial that has a timeline."""
    timelines = (
        trial.timeline for recorded in column.runs for trial in measured_trials([recorded])
    )
    return sorted({host for timeline in timelines if timeline for host in silent_nodes(timeline)})


def _mean_of_runs(values: Sequence[float]) -> Belief:
    sd = stdev(values) if len(values) > 1 else SHARE_SD
    return Belief(fmean(values), max(sd, SHARE_SD / 2) / math.sqrt(len(values)))


_Numbered = tuple[int, "_Measured"]
"""A configuration and its number in the model."""


def _families(measured: Sequence[_Measured]) -> list[list[_Numbered]]:
    """Return the configurations of each layout, those with the slowest links first."""
    order = sorted(enumerate(measured), key=lambda each: each[1].link.goodput_bit_s)
    families: dict[frozenset[str], list[_Numbered]] = {}
    for each in order:
        families.setdefault(each[1].column.layouts, []).append(each)
    return list(families.values())


def _throttled(
    model: MixedModel, pairs: Iterable[tuple[_Numbered, _Numbered]], controls: Collection[str]
) -> Iterator[Throttled]:
    """Yield what each pair, the slower one first, shows of each workload but the controls."""
    for (slower, one), (faster, other) in pairs:
        for name in one.full_shares.keys() & other.full_shares.keys() - controls:
            if model.runs_of_either(slower, faster, name):
                ratio = model.differences.ratio(slower, faster, name)
                yield Throttled(
                    name,
                    one.full_shares[name],
                    other.full_shares[name],
                    Belief(ratio.log, math.sqrt(ratio.variance)),
                    one.link.goodput_bit_s / other.link.goodput_bit_s,
                    model.runs(slower, name)
                    / (model.runs(slower, name) + model.runs(faster, name)),
                )


@dataclass(frozen=True)
class _Change:
    """What happens to a workload that keeps a link full for a share of its time.

    `removed` is the part of the bits that need no link in the new layout.
    """

    fitted: Fitted
    full_share: Belief
    link: TypicalLink
    target: Target
    removed: float = 0.0
    basis: str = "full links, slice by slice"

    def in_layout(self, removed: float | None) -> "_Change":
        """Return the change if the data has another layout as well; None: nobody knows what is removed."""
        if removed is None:
            return replace(
                self, basis=f"{self.basis}; the effect of the layout is unknown and left out"
            )
        basis = f"{self.basis}; of the layout: {percent(removed)} of the bytes are input from other nodes"
        return replace(self, removed=removed, basis=basis)

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
        slowness = self.fitted.sensitivity.enough(self.full_share.mean * (1 - self.removed))
        present = self.link.rate_bit_s or self.link.goodput_bit_s
        return None if slowness is None or slowness >= 1 else present / slowness

    def _log_ratio(self, slowness: float) -> Belief:
        share, kept = self.full_share, 1 - self.removed
        saved = LAYOUT_EFFECT.mean * share.mean * self.removed
        smaller = Belief(share.mean * kept / (1 - saved), share.sd)
        error = LAYOUT_EFFECT.sd * share.mean * self.removed / (1 - saved)
        change = self.fitted.log_ratio(smaller, slowness).widened(error)
        return replace(change, mean=change.mean + math.log1p(-saved))


def _predicted(name: str, model: MixedModel, start: int, change: _Change | None) -> PredictedTime:
    """Return the prediction of a workload; of a control if there is no change.

    `start` is the number of the configuration whose time is changed.
    """
    present = model.time(start, name)
    # As many runs will be measured after the upgrade, and vary as much.
    noise, error, moved = 2 * present.variance, 0.0, NOTHING
    if change:
        moved, shift = change.log_ratio, change.fitted.shift
        noise += shift.sd**2 - change.fitted.noise
        error = moved.sd**2 - shift.sd**2
    expected = _sum(present, moved.mean, max(noise, present.variance), max(error, 0.0))
    bounds = [Bounds(*expected.interval_at(level)) for level in LEVELS]
    return PredictedTime(
        workload=name,
        is_control=change is None,
        baseline_s=model.time(0, name).value,
        expected_s=expected.value,
        interval_80=bounds[0],
        interval_95=bounds[1],
        limit_s=present.value * math.exp(change.limit if change else 0.0),
        useful_up_to_bit_s=change.useful_up_to_bit_s if change else None,
        full_share=change.full_share.mean if change else None,
        basis=change.basis if change else "control: no link affects it",
    )


def _sum(present: Estimate, change: float, noise: float, error: float) -> Estimate:
    """Return the logarithm of a time after a change; Welch's and Satterthwaite's degrees of freedom.

    `noise` is the variance between runs, before and after, and `error` the rest of the change's variance.
    """
    df = (noise + error) ** 2 / (noise**2 / present.df) if noise else MANY
    return Estimate(present.log + change, noise + error, min(df, MANY))


def _input_from_others(column: ConfigurationRuns, workload: str) -> float | None:
    """Return the part of the bytes on the links that is input which copies on the nodes would spare.

    It is what was received, without what the shuffle fetched and without REMOTE_PART of the input.
    """
    found = attribute(column.runs, workload)
    if found is None or found.wire is None or not found.wire.received_bytes:
        return None
    wire, data = found.wire, found.input
    whole = (data.node_local_bytes + data.remote_bytes + data.unplaced_bytes) / max(1, found.n)
    from_others = wire.received_bytes - wire.shuffle_bytes - REMOTE_PART * whole
    return min(1.0, max(0.0, from_others / wire.received_bytes))


def _model_text(common: Sensitivity) -> str:
    effect, fading = common.effect, common.fading
    return f"{MODEL}: effect {effect.mean:.2f} ± {effect.sd:.2f}, fading {fading.mean:.2f} ± {fading.sd:.2f}"


def _source(column: ConfigurationRuns) -> Source:
    files = [Path(recorded.source) for recorded in column.runs]
    return Source(
        column.name,
        {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
    )


def conditions(runs: Iterable[Run]) -> dict[str, str]:
    """Return the facts on which times depend and which all of these runs have in common, by name."""
    facts = [
        {
            name: text
            for group in (parameter_facts(run), dataset_facts(run), environment_facts(run))
            for name, value in group.items()
            if name not in _NOT_CONDITIONS and (text := as_text(value)) is not None
        }
        for run in runs
    ]
    first, *others = facts
    return {
        name: text for name, text in first.items() if all(each.get(name) == text for each in others)
    }


def _notes(
    baseline: ConfigurationRuns,
    model: MixedModel,
    link: TypicalLink,
    target: Target,
    others: Sequence[ConfigurationRuns],
) -> Iterator[str]:
    if not model.has_repeated_runs:
        yield (
            f"one run alone does not show how much runs differ: {percent(PRIOR_RUN_SD)} is assumed, which "
            "makes the intervals wide"
        )
    if link.rate_bit_s:
        carried, rate = throughput_text(link.goodput_bit_s), rate_text(link.rate_bit_s)
        efficiency = link.goodput_bit_s / goodput_bit_s(link.rate_bit_s, link.mtu)
        if efficiency < MIN_EFFICIENCY:
            yield (
                f"the links of {baseline.name} carry {carried}, {percent(efficiency)} of what {rate} allows: "
                "find out why before you buy; as little is expected of the new ones"
            )
        if efficiency > MAX_EFFICIENCY:
            yield (
                f"the links of {baseline.name} carry {carried}, which is more than {rate} allows: their rate "
                "is not what the runs say"
            )
    if not link.is_measured:
        yield (
            f"no probe measured what the links of {baseline.name} carry: what their rate allows in theory is "
            f"taken (clusterlift probe mesh --configuration {baseline.name})"
        )
    if silent := _silent_nodes(baseline):
        yield (
            f"the bytes on the links of {join_names(silent)} were not recorded: if one of these is the "
            "busiest, a faster link gains more than predicted"
        )
    if not baseline.controls:
        yield "no control was measured: nobody can tell later whether the machines have changed"
    if target.layout and all(other.layouts != {target.layout} for other in (baseline, *others)):
        yield (
            "the effect of the layout is estimated from what was read from other nodes, which is weak: "
            "measure a second copy of the data in that layout over the present links (--copy)"
        )
    if not others:
        yield (
            "the part of the time of a full link that workloads wait for is taken from other clusters: to "
            "learn it from this one, measure slower links, too (--learn, --throttled)"
        )
