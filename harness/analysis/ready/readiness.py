"""Whether a baseline is fit for a later comparison, and the smallest change that it can reveal.

The checks have to be made while the network that the baseline was measured on still exists.
"""

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed import declared, environment
from harness.analysis.observed.configuration import ConfigurationRuns, model_of
from harness.analysis.observed.executors import executor_lines, executors_in_pods
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
)
from harness.analysis.observed.silence import silent_in, silent_lines
from harness.base.items import union, unique
from harness.base.words import count_of, join_names
from harness.model.finding import EVERYTHING, Finding, Gravity, note, unknown
from harness.model.layout import UNKNOWN_LAYOUT
from harness.model.limits import MIN_RUNS
from harness.model.link import rate_text
from harness.model.run import PROGRAM, SILENT, Ending, Run, Status, Trial
from harness.node.node_links import links_by_host
from harness.statistics.power import detectable_change, runs_needed
from harness.statistics.run_model import RunModel, variance_within

DEFAULT_CHANGE = 0.05
"""The relative change to detect if the user gives none."""
_MAX_FORMER = 50
"""A run is compared with this number of runs before it at most: every two of 1000 runs would take minutes."""


@dataclass(frozen=True)
class DetectableChange:
    """The smallest change of a workload that a comparison will detect.

    It holds if the other configuration gets the same number of runs.

    - `noise`: the relative standard deviation of the trials of a run, None if no run repeated one.
    - `run_sd`: the relative standard deviation of the runs' medians, None for a single run.
    - `min_change`: the smallest relative change that is detected with the usual power, None if the runs are
      too few.
    - `runs_needed`: how many runs on either side find the change that was asked about, None if that takes
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
    """A baseline with the finding of each check, and the changes that a comparison of each workload detects.

    A check finds a fault if a comparison needs something that cannot be had after the upgrade. `change` is
    the relative change that the user wants to detect.
    """

    baseline: ConfigurationRuns
    checks: Mapping[str, Finding]
    detectable: tuple[DetectableChange, ...]
    change: float

    @property
    def failed_checks(self) -> list[str]:
        """The names of the checks that found a fault. The baseline is ready if there are none."""
        return [name for name, found in self.checks.items() if found.is_fault]


def readiness(
    baseline: ConfigurationRuns, network: Finding | None = None, *, change: float = DEFAULT_CHANGE
) -> Readiness:
    """Check a baseline that will be compared with one other configuration, in all its workloads.

    `network` is the check of its probes; None leaves it out.
    """
    measured = _run_counts(baseline)
    model = model_of([baseline])
    checks = {name: check(baseline) for name, check in _CHECKS.items()}
    if network is not None:
        checks["network"] = network
    detectable = []
    for name in measured:
        sample = baseline.samples[name]
        detectable.append(_detectable(sample, model, len(measured), change))
    return Readiness(baseline, checks, tuple(detectable), change)


def network_check(
    baseline: ConfigurationRuns,
    findings: Sequence[Finding] | str | None,
    *,
    allow_no_probes: bool = False,
) -> Finding:
    """Check the newest probes: their findings, why they cannot be read, or None without a probe."""
    name = shlex.quote(baseline.name)
    probe = f"clusterlift probe all --configuration {name}"
    if isinstance(findings, str):
        return _fault(f"the probes cannot be read: {findings}", f"or run {probe}")
    if findings is None:
        gravity = Gravity.NOTE if allow_no_probes else Gravity.FAULT
        seen = f"no probe measured it, and after the upgrade it is too late: {probe}"
        return Finding(EVERYTHING, seen, gravity)
    found = [finding for finding in findings if finding.is_open]
    if not found:
        return _ok("probes found no fault")
    faults = sum(finding.is_fault for finding in found)
    numbers = count_of(faults, "fault")
    if faults < len(found):
        numbers += f", {len(found) - faults} not judged"
    where = _listed(str(finding.subject) or finding.seen for finding in found)
    return note(f"{numbers}: {where}", f"clusterlift gate {name} lists them")


def _detectable(
    sample: Sample, model: RunModel, comparisons: int, change: float
) -> DetectableChange:
    """Return the smallest change of a workload that a table with this number of comparisons detects."""
    runs = len(sample.runs_s)
    sd = model.run_sd(sample.workload)
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
    logarithms = [list(map(math.log, times_s)) for times_s in sample.runs_s]
    variance, degrees_of_freedom = variance_within(logarithms)
    if not degrees_of_freedom:
        return None
    return math.sqrt(variance)


def _ok(seen: str) -> Finding:
    return Finding(EVERYTHING, seen, Gravity.OK)


def _fault(seen: str, remedy: str = "run the benchmark again") -> Finding:
    return Finding(EVERYTHING, seen, remedy=remedy)


_NOT_MEASURED = "there is no measured trial that counts"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(unique(names))


def _run_counts(baseline: ConfigurationRuns) -> dict[str, int]:
    """Return in how many runs each workload has a time that counts, without workloads that have none."""
    found: dict[str, int] = {}
    for name, sample in baseline.samples.items():
        if sample.runs_s:
            found[name] = len(sample.runs_s)
    return found


def _all_completed(baseline: ConfigurationRuns) -> Finding:
    unfinished = [r.run.id for r in baseline.runs if r.ending is not Ending.COMPLETED]
    if unfinished:
        return note(f"{_listed(unfinished)} did not finish", "trials until then count")
    return _ok(f"{count_of(len(baseline.runs), 'run')} finished")


def _enough_runs(baseline: ConfigurationRuns) -> Finding:
    numbers = _run_counts(baseline)
    if not numbers:
        return _fault("no measured trial is ok", "run jobs/benchmark.py")
    few = [name for name, runs in numbers.items() if runs < MIN_RUNS]
    if few:
        which = "every workload"
        if len(few) < len(numbers):
            which = _listed(few)
        return _fault(
            f"one run of {which}: times differ from run to run, so with fewer than {MIN_RUNS} no change "
            "can be significant"
        )
    runs = unique([min(numbers.values()), max(numbers.values())])
    return _ok(f"{' to '.join(map(str, runs))} of every workload")


def _no_failures(baseline: ConfigurationRuns) -> Finding:
    trials = list(measured_trials(baseline.runs))
    if not trials:
        return unknown(_NOT_MEASURED)
    failed = [trial for trial in trials if trial.status is Status.FAILED]
    if failed:
        first = failed[0]
        return _fault(
            f"{count_of(len(failed), 'trial')} failed, the first of {first.workload} with: {first.error}",
            "find the cause and run the benchmark again",
        )
    return _ok("no trial failed")


def _undisturbed(baseline: ConfigurationRuns) -> Finding:
    trials = list(measured_trials(baseline.runs))
    if not trials and not any(disturbed_trials(baseline.runs)):
        return unknown(_NOT_MEASURED)
    lines = [disturbed_line(baseline.runs), throughout_line(baseline.runs)]
    lines += overlap_lines(baseline.runs)
    text = "; ".join(filter(None, lines))
    if text:
        return note(text)
    if not interference_facts(baseline.runs):
        return unknown(
            "what disturbed the trials is not recorded: an older version measured them, or they were imported"
        )
    lacking = _how_many(baseline, lambda trial: not trial.interference)
    if lacking:
        return unknown(f"what disturbed {lacking} is not recorded; no other trial was disturbed")
    silent = sorted(union(map(silent_in, trials)))
    if silent:
        return unknown(f"on {join_names(silent)}; no other node was disturbed")
    return _ok("no measured trial was disturbed")


def _all_nodes_answered(baseline: ConfigurationRuns) -> Finding:
    lines = list(silent_lines(baseline.runs))
    if not lines:
        return _nodes_known(baseline)
    found = "; ".join(lines)
    if any(run.environment.get(SILENT) for run in baseline.descriptions):
        return _fault(found, "mend that, and run the benchmark again")
    return note(found)


def _nodes_known(baseline: ConfigurationRuns) -> Finding:
    """Check a baseline without a silent node: it may be that none was asked."""
    if not _ok_trials(baseline):
        return unknown(_NOT_MEASURED)
    lacking = _how_many(baseline, lambda trial: not (trial.wire or trial.interference))
    if lacking:
        return unknown(f"nothing is recorded of the nodes in {lacking}")
    return _ok("every node answered in every measured trial")


def _ok_trials(baseline: ConfigurationRuns) -> list[Trial]:
    return [trial for trial in measured_trials(baseline.runs) if trial.status is Status.OK]


def _how_many(baseline: ConfigurationRuns, condition: Callable[[Trial], bool]) -> str:
    """Return how many trials that are ok meet a condition: `4 of 28 trials`, `any trial`, or nothing."""
    trials = _ok_trials(baseline)
    met = sum(map(condition, trials))
    if not met:
        return ""
    if met == len(trials):
        return "any trial"
    return f"{met} of {count_of(len(trials), 'trial')}"


def _all_workloads(baseline: ConfigurationRuns) -> Finding:
    measured = _run_counts(baseline)
    known = list(baseline.workloads)
    for run in baseline.descriptions:
        known += run.parameters.get("not_requested") or ()
    absent = [name for name in known if name not in measured]
    if absent:
        return note(f"not measured: {_listed(absent)}", "after the upgrade it is too late")
    return _ok(f"all {len(measured)} were measured")


def _has_controls(baseline: ConfigurationRuns) -> Finding:
    measured = [name for name in _run_counts(baseline) if name in baseline.controls]
    if measured:
        return _ok(_listed(measured))
    return _fault(
        "none: a change of the machines would look like a change of the network",
        "run the Pi workloads too",
    )


def _has_task_metrics(baseline: ConfigurationRuns) -> Finding:
    of_spark = [each for each in baseline.runs if not each.run.parameters.get(PROGRAM)]
    if not of_spark:
        return _ok("programs of MPI have none")
    trials = measured_trials(of_spark)
    metrics = [trial.tasks for trial in trials if trial.status is Status.OK]
    if not any(metrics):
        return _fault("no trial has them: nothing could explain where the time went")
    total = count_of(len(metrics), "trial")
    lacking = sum(tasks is None or bool(tasks.incomplete) for tasks in metrics)
    if lacking:
        return note(f"{lacking} of {total} that count have none, or incomplete ones")
    return _ok(f"complete for {total} that count")


def _no_contradictions(baseline: ConfigurationRuns) -> Finding:
    lines = declared.contradictions(baseline.runs)
    if lines:
        return _fault(lines[0], "correct whichever is wrong and run the benchmark again")
    return _ok("no declared fact contradicts what was observed")


def _links_known(baseline: ConfigurationRuns) -> Finding:
    runs = baseline.descriptions
    if any("link" not in run.facts and executors_in_pods(run.environment) for run in runs):
        return unknown(
            "executors are in pods with a network of their own, so the links of their nodes were not seen; "
            "with the network of the hosts (hostNetwork: true in the pod template) they are"
        )
    missing: list[str] = []
    for name, fact, observed in _LINK_FACTS:
        hosts: list[str] = []
        for run in runs:
            if fact not in run.facts:
                hosts += _without(run, observed(run))
        if hosts:
            where = join_names(unique(filter(None, hosts)))
            missing.append(f"{name} on {where}" if where else name)
    if missing:
        return _fault(
            f"unknown {' and '.join(missing)}",
            "declare the rate and MTU of the links and run the benchmark again, for example "
            "--fact link=1gbit --fact mtu=1500",
        )
    described: list[str] = []
    for run in runs:
        described += _links(run)
    return _ok(_listed(described))


def _without(run: Run, found: Mapping[str, object]) -> list[str]:
    """Return the hosts of executors without a link that has a value; an empty name if no host has any.

    A value of the driver's link says nothing of theirs. Nodes that did not answer have a check of their own.
    """
    described = links_by_host(run.environment)
    executors = [host for host in run.environment.get("executors") or () if host in described]
    if not executors:
        return [] if found else [""]
    without = [host for host in executors if host not in found]
    if len(without) == len(executors) and not found:
        return [""]
    return without


_LINK_FACTS: Sequence[tuple[str, str, Callable[[Run], Mapping[str, object]]]] = (
    ("speed", "link", environment.link_rates),
    ("MTU", "mtu", environment.link_mtus),
)
"""What has to be known of links: its name, the fact that declares it, and what was observed, by host."""


def _links(run: Run) -> Iterator[str]:
    """Describe the declared facts and the observed links."""
    for fact in ("link", "mtu"):
        if fact in run.facts:
            yield f"{fact}={run.facts[fact]}"
    rates = environment.link_rates(run)
    for node, links in environment.link_mtus(run).items():
        for name, mtu in links.items():
            rate = rates.get(node, {}).get(name)
            if rate:
                yield f"{name} with MTU {mtu} at {rate_text(rate)}"
            else:
                yield f"{name} with MTU {mtu}"


def _no_confounders(baseline: ConfigurationRuns) -> Finding:
    alone = [replace(baseline, runs=(recorded,)) for recorded in baseline.runs]
    facts: list[str] = []
    # Any two runs may differ in something that the others do not know.
    for number, latter in enumerate(alone):
        for former in alone[max(0, number - _MAX_FORMER) : number]:
            facts += [found.fact for found in confounders(Sides(former, latter))]
    lines = list(executor_lines(baseline.runs))
    if facts:
        lines.append(f"its runs differ in {_listed(facts)}")
    for run in baseline.descriptions:
        lines += unlike_peers(run)
    if lines:
        return note("; ".join(unique(lines)))
    if len(alone) == 1:
        return _ok("none, as there is a single run")
    if not any(run.environment for run in baseline.descriptions):
        return unknown("nothing is recorded about the machines of its runs")
    return _ok("none between its runs")


def _layout_verified(baseline: ConfigurationRuns) -> Finding:
    """Check how the data was stored. Tables of queries have no manifest: their layout is observed."""
    runs = baseline.descriptions
    drifts = list(filter(None, map(environment.drift, runs)))
    if drifts:
        return _fault(
            f"not as in the manifest: {drifts[0]}",
            "write the data again and run the benchmark again",
        )
    found = list(_reported_layouts(runs))
    unreported = unique(_storages_without_layout(runs))
    if unreported:
        return unknown("; ".join([f"{join_names(unreported)} did not report it", *found]))
    if found:
        return _ok("; ".join(found))
    if any(map(environment.query_facts, runs)):
        return unknown("how the tables of the queries are stored is not recorded")
    return note("no run recorded that it read data")


def _reported_layouts(runs: Iterable[Run]) -> Iterator[str]:
    """Yield the known layouts of all datasets, and those of all tables."""
    of_datasets: list[str] = []
    of_tables: list[str] = []
    for run in runs:
        of_datasets += environment.dataset_layouts(run)
        for layouts in environment.table_layouts(run).values():
            of_tables += layouts
    in_datasets = _listed(layout for layout in of_datasets if layout != UNKNOWN_LAYOUT)
    if in_datasets:
        yield f"{in_datasets}, as in the manifest"
    in_tables = _listed(layout for layout in of_tables if layout != UNKNOWN_LAYOUT)
    if in_tables:
        yield f"tables: {in_tables}"


def _storages_without_layout(runs: Iterable[Run]) -> Iterator[str]:
    """Yield the storages that did not say how all of their files are stored."""
    for run in runs:
        if UNKNOWN_LAYOUT in environment.dataset_layouts(run):
            yield f"{environment.storage(run)} storage"
        for name, layouts in environment.table_layouts(run).items():
            if UNKNOWN_LAYOUT in layouts:
                yield f"the storage of table {name}"


_CHECKS: Mapping[str, Callable[[ConfigurationRuns], Finding]] = {
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
