"""Run an experiment in the lab. Its results say what is done, so it can be interrupted and resumed."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.experiments.experiment import Configuration, Data, Experiment
from harness.lab.cluster import Lab, running_lab
from harness.lab.lifecycle import up
from harness.lab.links import set_links, to_link
from harness.lab.submit import BENCHMARK, GENERATE, facts, spark_submit, with_facts
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link
from harness.model.probe import ProbeRun
from harness.model.run import Ending, RecordedRun, Status
from harness.probes.all_probes import all_probes
from harness.probes.plan import run_probes
from harness.probes.traffic import Load
from harness.records.directories import configuration_directory, probes_directory, results_files
from harness.records.reader import load, load_probes
from harness.runtime.clock import duration_text
from harness.terminal import say, shorten

INTERRUPTED, REFUSED = 130, 2


@dataclass(frozen=True)
class PlannedRun:
    """One run of a configuration; each configuration has one in each round."""

    configuration: Configuration
    round: int

    def __str__(self) -> str:
        return f"{self.configuration.name}, round {self.round}"


@dataclass(frozen=True)
class ExperimentOutcome:
    """What the results contain, which an exit code of a script does not prove.

    `measured` names the configurations that have a completed run, `undone` are the runs that were not
    completed, and `failed` is whether a trial failed.
    """

    measured: tuple[str, ...]
    undone: tuple[PlannedRun, ...]
    failed: bool


def run_experiment(experiment: Experiment, results: Path) -> ExperimentOutcome:
    """Do the runs that are not done yet.

    `results` is the experiment's own directory, in the directory that the lab's master mounts. Raises
    BadInput if it contains results of another experiment, ClusterliftError if a dataset cannot be
    generated or a run is refused, KeyboardInterrupt if a script was interrupted.
    """
    planned = list(planned_runs(experiment))
    done, probed = completed_runs(experiment, results), probed_runs(experiment, results)
    remaining = [run for run in planned if run not in done or run not in probed]
    if done:
        say(f"{len(done)} of {len(planned)} runs are done already")
    if remaining:
        up(experiment.shape, experiment.data_bytes)
        _generate(experiment, running_lab(), [run for run in remaining if run not in done])
        for run, lab in _prepared(experiment, remaining):
            if run not in probed:
                _probe(experiment, lab, run, results)
            if run not in done:
                _benchmark(experiment, lab, run, results)
    return _outcome(experiment, results)


def planned_runs(experiment: Experiment) -> Iterator[PlannedRun]:
    """Yield all runs in order. Rounds alternate, so that drift affects all configurations alike."""
    for round_ in range(1, experiment.rounds + 1):
        for configuration in experiment.order(round_):
            yield PlannedRun(configuration, round_)


def completed_runs(experiment: Experiment, results: Path) -> dict[PlannedRun, RecordedRun]:
    """Return the completed runs. Raises BadInput if a results file is of another experiment."""
    completed = {}
    for configuration in experiment.configurations:
        for file in results_files(configuration_directory(results, configuration.name)):
            recorded = load(file)
            recorded_facts = recorded.run.facts
            if recorded_facts.get("experiment") != experiment.id:
                raise BadInput(
                    f"{file} is not of this experiment as it is now; move {results} away, or give "
                    "the experiment another name"
                )
            if recorded.ending is Ending.COMPLETED:
                completed[PlannedRun(configuration, _round(recorded_facts, file))] = recorded
    return completed


def probed_runs(experiment: Experiment, results: Path) -> set[PlannedRun]:
    """Return the runs whose network was probed completely, or need not be probed."""
    if experiment.probe_seconds is None:
        return set(planned_runs(experiment))
    return {
        PlannedRun(configuration, _round(probed.run.facts, file))
        for configuration in experiment.configurations
        for file in results_files(probes_directory(results, configuration.name))
        if (probed := load_probes(file)).ending is Ending.COMPLETED
        and probed.run.facts.get("experiment") == experiment.id
    }


def _round(facts: Mapping[str, str], file: Path) -> int:
    """Return the round that a run declares. Raises BadInput if it declares none."""
    text = facts.get("round", "")
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise BadInput(
            f"{file} is of this experiment, but its round is {shorten(text, 40)!r}; move it elsewhere"
        )
    return int(text)


def _outcome(experiment: Experiment, results: Path) -> ExperimentOutcome:
    completed = completed_runs(experiment, results)
    measured = {run.configuration for run in completed}
    trials = (trial for recorded in completed.values() for trial in recorded.trials)
    return ExperimentOutcome(
        tuple(c.name for c in experiment.configurations if c in measured),
        tuple(run for run in planned_runs(experiment) if run not in completed),
        any(trial.status is Status.FAILED for trial in trials),
    )


def _generate(experiment: Experiment, lab: Lab, runs: Sequence[PlannedRun]) -> None:
    """Generate and verify each dataset of these runs once, over links without a limit."""
    set_links(lab.linked, lambda link: Link(None, link.mtu))
    for data in dict.fromkeys(run.configuration.data for run in runs):
        say(f"data {data.name}: {data.rows:,} rows, layout {data.layout or 'of the file system'}")
        layout = ["--layout", data.layout] if data.layout else []
        arguments = [
            *(_uri(experiment, lab, data), "--rows", str(data.rows), "--format", data.format),
            *("--reuse", *layout),
        ]
        if code := _submit(lab, GENERATE, arguments):
            raise ClusterliftError(
                f"data {data.name} was not generated: generate.py ended with {code}"
            )


def _prepared(
    experiment: Experiment, runs: Sequence[PlannedRun]
) -> Iterator[tuple[PlannedRun, Lab]]:
    """Yield each run when its turn has come, with all nodes running and the links set."""
    started = time.monotonic()
    for number, run in enumerate(runs):
        link = run.configuration.link
        left = (time.monotonic() - started) / number * (len(runs) - number) if number else None
        say(
            f"run {number + 1} of {len(runs)}: {run}, {link}"
            + (f"; about {duration_text(left)} left" if left else "")
        )
        up(experiment.shape)  # restarts a node that died in an earlier run
        lab = running_lab()
        set_links(lab.linked, to_link(link))
        yield run, lab


def _probe(experiment: Experiment, lab: Lab, run: PlannedRun, results: Path) -> None:
    assert experiment.probe_seconds is not None  # noqa: S101  or the run would count as probed
    hosts = [node.host for node in lab.workers if node.is_running]
    probe_run = ProbeRun(
        configuration=run.configuration.name,
        hosts=tuple(host.name for host in hosts),
        parameters={"probe": "all", "seconds": str(experiment.probe_seconds)},
        facts=_run_facts(experiment, lab, run),
    )
    probed = run_probes(all_probes(hosts, Load(experiment.probe_seconds)), probe_run, results)
    if probed.ending is Ending.INTERRUPTED:
        raise _interrupted()


def _benchmark(experiment: Experiment, lab: Lab, run: PlannedRun, results: Path) -> None:
    arguments = _arguments(experiment, lab, run, results)
    code = _submit(lab, BENCHMARK, with_facts(arguments, _run_facts(experiment, lab, run)))
    if code == REFUSED:
        raise ClusterliftError(f"{run}: benchmark.py refused to run; its error is above")
    if code:
        say(f"{run}: benchmark.py ended with {code}")


def _submit(lab: Lab, script: str, arguments: Sequence[str]) -> int:
    code = spark_submit(lab, script, arguments)
    if code == INTERRUPTED:
        raise _interrupted()
    return code


def _interrupted() -> KeyboardInterrupt:
    say("the same command resumes the experiment")
    return KeyboardInterrupt()


def _run_facts(experiment: Experiment, lab: Lab, run: PlannedRun) -> dict[str, str]:
    """Return the facts to record with a run; `layout` is the requested one, if the file names one."""
    layout = run.configuration.data.layout
    return {
        **facts(lab),
        **({"layout": layout} if layout else {}),
        "experiment": experiment.id,
        "round": str(run.round),
    }


def _arguments(experiment: Experiment, lab: Lab, run: PlannedRun, results: Path) -> list[str]:
    arguments = {
        "--dataset": _uri(experiment, lab, run.configuration.data),
        "--configuration": run.configuration.name,
        "--trials": str(experiment.trials),
        "--warmup": str(experiment.warmup),
        "--results": f"results/{results.name}",
        "--workloads": ",".join(experiment.workloads),
        "--sink": experiment.sink or "",
        "--repartition": str(experiment.repartition or ""),
        "--pi-samples": str(experiment.pi_samples or ""),
    }
    return [part for name, value in arguments.items() if value for part in (name, value)]


def _uri(experiment: Experiment, lab: Lab, data: Data) -> str:
    return f"{lab.uri}/{experiment.name}/{data.name}"
