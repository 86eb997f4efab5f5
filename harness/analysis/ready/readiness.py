"""Whether a baseline is fit for a later comparison, and the smallest change that it can reveal.

The checks have to be made while the network that the baseline was measured on still exists.
"""

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from harness.analysis.compare.confounders import confounders
from harness.analysis.observed import declared, environment
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.interference import (
    disturbed_line,
    interference_facts,
    throughout_line,
)
from harness.analysis.observed.machines import unlike_peers
from harness.analysis.observed.overlaps import overlap_lines
from harness.analysis.observed.sample import (
    Sample,
    disturbed_trials,
    measured_trials,
    table_model,
    take_sample,
)
from harness.analysis.observed.silence import silent_in, silent_lines
from harness.base.words import count_of, join_names
from harness.model.finding import Finding
from harness.model.limits import MIN_RUNS
from harness.model.link import rate_text
from harness.model.run import PROGRAM, SILENT, Ending, Run, Status
from harness.statistics.power import detectable_change, runs_needed
from harness.statistics.run_table import RunTable, variance_within

DEFAULT_CHANGE = 0.05
"""The relative change to detect if the user gives none."""


class CheckStatus(StrEnum):
    """The result of a check. MISSING: a comparison needs it, and it cannot be had after the upgrade."""

    OK = "ok"
    ADVICE = "advice"
    MISSING = "MISSING"


@dataclass(frozen=True)
class Check:
    """A status, and a line on what was found, or on what is missing and how to fix it."""

    status: CheckStatus
    message: str


@dataclass(frozen=True)
class DetectableChange:
    """The smallest change of a workload that a comparison will detect.

    It holds if the other configuration gets as many `runs`. `noise` is the relative standard deviation of
    the trials of a run, None if no run repeated one; `run_sd` is that of the runs' medians, None of a single
    run. `min_change` is the smallest relative change that is detected with the usual power, None if the
    runs are too few. `runs_needed` on either side find the change that was asked about, None if that takes
    more than MAX_RUNS.
    """

    workload: str
    runs: int
    noise: float | None
    run_sd: float | None
    min_change: float | None
    runs_needed: int | None


@dataclass(frozen=True)
class Readiness:
    """A baseline with its checks by name, and what a comparison of each workload detects.

    `change` is the relative change that the user wants to detect.
    """

    baseline: ConfigurationRuns
    checks: Mapping[str, Check]
    detectable: tuple[DetectableChange, ...]
    change: float

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the checks that failed. The baseline is ready if there are none."""
        return tuple(
            name for name, check in self.checks.items() if check.status is CheckStatus.MISSING
        )


def readiness(
    baseline: ConfigurationRuns, network: Check | None = None, *, change: float = DEFAULT_CHANGE
) -> Readiness:
    """Check a baseline that will be compared with one other configuration, in all its workloads.

    `network` is the check of what probes found in it; None leaves it out.
    """
    workloads = _measured_workloads(baseline)
    model = table_model([baseline.runs], baseline.workloads)
    return Readiness(
        baseline,
        {
            **{name: check(baseline) for name, check in _CHECKS.items()},
            **({} if network is None else {"network": network}),
        },
        tuple(
            _detectable(take_sample(name, baseline.runs), model, len(workloads), change)
            for name in workloads
        ),
        change,
    )


def network_check(
    baseline: ConfigurationRuns,
    findings: Sequence[Finding] | str | None,
    *,
    allow_no_probes: bool = False,
) -> Check:
    """Check what the newest probes found: findings, why they cannot be read, or None without one."""
    probe = f"clusterlift probe all --configuration {shlex.quote(baseline.name)}"
    if isinstance(findings, str):
        return _missing(f"the probes cannot be read: {findings}; or run {probe}")
    if findings is None:
        check = _advice if allow_no_probes else _missing
        return check(f"no probe measured it, and after the upgrade it is too late: {probe}")
    faults = [finding for finding in findings if finding.is_fault]
    if faults:
        where = _listed(finding.subject or finding.text for finding in faults)
        return _advice(
            f"{count_of(len(faults), 'fault')}: {where}; clusterlift gate {shlex.quote(baseline.name)} "
            "lists them"
        )
    return _ok("probes found no fault")


def _detectable(
    sample: Sample, model: RunTable, comparisons: int, change: float
) -> DetectableChange:
    runs, sd = len(sample.runs_s), model.run_sd(sample.workload)
    return DetectableChange(
        sample.workload,
        runs,
        _trial_sd(sample),
        sd if runs > 1 else None,
        detectable_change(sd, runs, comparisons),
        runs_needed(change, sd, comparisons),
    )


def _trial_sd(sample: Sample) -> float | None:
    """Return the standard deviation of the trials of a run, as a fraction; None if none was repeated."""
    variance, df = variance_within([[*map(math.log, times_s)] for times_s in sample.runs_s])
    return math.sqrt(variance) if df else None


_ok, _advice, _missing = (partial(Check, status) for status in CheckStatus)

_NOT_MEASURED = "unknown: there is no measured trial that counts"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _runs(baseline: ConfigurationRuns) -> list[Run]:
    return [recorded.run for recorded in baseline.runs]


def _measured_workloads(baseline: ConfigurationRuns) -> tuple[str, ...]:
    return tuple(name for name in baseline.workloads if take_sample(name, baseline.runs).times_s)


def _all_completed(baseline: ConfigurationRuns) -> Check:
    unfinished = [r.run.id for r in baseline.runs if r.ending is not Ending.COMPLETED]
    if unfinished:
        return _advice(f"{_listed(unfinished)} did not finish; trials until then count")
    return _ok(f"{count_of(len(baseline.runs), 'run')} finished")


def _enough_runs(baseline: ConfigurationRuns) -> Check:
    numbers = {
        name: len(take_sample(name, baseline.runs).runs_s) for name in _measured_workloads(baseline)
    }
    if not numbers:
        return _missing("no measured trial is ok; run jobs/benchmark.py")
    few = [name for name, runs in numbers.items() if runs < MIN_RUNS]
    if few:
        which = _listed(few) if len(few) < len(numbers) else "every workload"
        return _missing(
            f"one run of {which}: times differ from run to run, so with fewer than {MIN_RUNS} no change "
            "can be significant; run the benchmark again"
        )
    low, high = min(numbers.values()), max(numbers.values())
    return _ok(f"{low if low == high else f'{low} to {high}'} of every workload")


def _no_failures(baseline: ConfigurationRuns) -> Check:
    if not any(measured_trials(baseline.runs)):
        return _advice(_NOT_MEASURED)
    failed = [trial for trial in measured_trials(baseline.runs) if trial.status is Status.FAILED]
    if failed:
        first = failed[0]
        return _missing(
            f"{count_of(len(failed), 'trial')} failed, the first of {first.workload} with: "
            f"{first.error}; find the cause and run the benchmark again"
        )
    return _ok("no trial failed")


def _undisturbed(baseline: ConfigurationRuns) -> Check:
    if not any(measured_trials(baseline.runs)) and not any(disturbed_trials(baseline.runs)):
        return _advice(_NOT_MEASURED)
    lines = (
        disturbed_line(baseline.runs),
        throughout_line(baseline.runs),
        *overlap_lines(baseline.runs),
    )
    if text := "; ".join(filter(None, lines)):
        return _advice(text)
    if not interference_facts(baseline.runs):
        return _advice(
            "what disturbed the trials is not recorded: an older version measured them, or they were imported"
        )
    silent = {host for trial in measured_trials(baseline.runs) for host in silent_in(trial)}
    if silent:
        return _advice(f"unknown on {join_names(sorted(silent))}; no other node was disturbed")
    return _ok("no measured trial was disturbed")


def _all_nodes_answered(baseline: ConfigurationRuns) -> Check:
    lines = list(silent_lines(baseline.runs))
    if not lines:
        return _nodes_known(baseline)
    undescribed = any(run.environment.get(SILENT) for run in _runs(baseline))
    found = "; ".join(lines)
    if undescribed:
        return _missing(f"{found}; mend that, and run the benchmark again")
    return _advice(found)


def _nodes_known(baseline: ConfigurationRuns) -> Check:
    """Check a baseline without a silent node: it may be that none was asked."""
    trials = list(measured_trials(baseline.runs))
    if not trials:
        return _advice(_NOT_MEASURED)
    if not any(trial.wire or trial.interference for trial in trials):
        return _advice("unknown: nothing is recorded of the nodes in any trial")
    return _ok("every node answered in every measured trial")


def _all_workloads(baseline: ConfigurationRuns) -> Check:
    measured = _measured_workloads(baseline)
    known = [
        *baseline.workloads,
        *(name for run in _runs(baseline) for name in run.parameters.get("not_requested") or ()),
    ]
    absent = [name for name in known if name not in measured]
    if absent:
        return _advice(f"not measured: {_listed(absent)}; after the upgrade it is too late")
    return _ok(f"all {len(measured)} were measured")


def _has_controls(baseline: ConfigurationRuns) -> Check:
    measured = [name for name in _measured_workloads(baseline) if name in baseline.controls]
    if measured:
        return _ok(_listed(measured))
    return _missing(
        "none: a change of the machines would look like a change of the network; run the Pi "
        "workloads too"
    )


def _has_task_metrics(baseline: ConfigurationRuns) -> Check:
    of_spark = [each for each in baseline.runs if not each.run.parameters.get(PROGRAM)]
    if not of_spark:
        return _ok("programs of MPI have none")
    trials = [trial for trial in measured_trials(of_spark) if trial.status is Status.OK]
    if all(trial.tasks is None for trial in trials):
        return _missing(
            "no trial has them: nothing could explain where the time went; run the benchmark again"
        )
    partial = [trial for trial in trials if trial.tasks is None or trial.tasks.incomplete]
    if partial:
        return _advice(
            f"{len(partial)} of {count_of(len(trials), 'trial')} that count have none, or incomplete ones"
        )
    return _ok(f"complete for {count_of(len(trials), 'trial')} that count")


def _no_contradictions(baseline: ConfigurationRuns) -> Check:
    lines = declared.contradictions(baseline.runs)
    if lines:
        return _missing(f"{lines[0]}; correct whichever is wrong and run the benchmark again")
    return _ok("what is declared agrees with what was observed")


def _links_known(baseline: ConfigurationRuns) -> Check:
    runs = _runs(baseline)
    is_known = {
        "speed": all("link" in run.facts or environment.link_rates(run) for run in runs),
        "MTU": all("mtu" in run.facts or environment.link_mtus(run) for run in runs),
    }
    unknown = [name for name, known in is_known.items() if not known]
    if unknown:
        return _missing(
            f"unknown {' and '.join(unknown)}; declare what the links are and run the benchmark again, "
            "for example --fact link=1gbit --fact mtu=1500"
        )
    return _ok(_listed(link for run in runs for link in _links(run)))


def _links(run: Run) -> Iterator[str]:
    """Describe the declared facts and the observed links."""
    yield from (f"{fact}={run.facts[fact]}" for fact in ("link", "mtu") if fact in run.facts)
    rates = environment.link_rates(run)
    for node, links in environment.link_mtus(run).items():
        for name, mtu in links.items():
            rate = rates.get(node, {}).get(name)
            yield f"{name} with MTU {mtu}" + (f" at {rate_text(rate)}" if rate else "")


def _no_confounders(baseline: ConfigurationRuns) -> Check:
    first, *others = baseline.runs
    facts = [found.fact for other in others for found in confounders([first], [other])]
    advice = [f"its runs differ in {_listed(facts)}"] if facts else []
    advice += dict.fromkeys(line for run in _runs(baseline) for line in unlike_peers(run))
    if advice:
        return _advice("; ".join(advice))
    return _ok("none between its runs" if others else "none, as there is a single run")


def _layout_verified(baseline: ConfigurationRuns) -> Check:
    datasets = [run.dataset for run in _runs(baseline) if run.dataset]
    if not datasets:
        return _advice("no run recorded that it read data")
    drifts = [layout["drift"] for data in datasets if (layout := data["layout"]).get("drift")]
    if drifts:
        return _missing(
            f"not as in the manifest: {drifts[0]}; write the data again and run the benchmark again"
        )
    layouts = [name for run in _runs(baseline) for name in environment.layouts(run)]
    if layouts:
        return _ok(f"{_listed(layouts)}, as in the manifest")
    storages = sorted({str(environment.storage(run)) for run in _runs(baseline) if run.dataset})
    return _advice(f"unknown, because {_listed(storages)} storage did not report it")


_CHECKS: Mapping[str, Callable[[ConfigurationRuns], Check]] = {
    "endings": _all_completed,
    "runs": _enough_runs,
    "failures": _no_failures,
    "disturbances": _undisturbed,
    "nodes": _all_nodes_answered,
    "workloads": _all_workloads,
    "controls": _has_controls,
    "task metrics": _has_task_metrics,
    "facts": _no_contradictions,
    "links": _links_known,
    "confounders": _no_confounders,
    "layout": _layout_verified,
}
