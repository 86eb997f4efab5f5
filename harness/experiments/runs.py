"""Runs an experiment in the lab: what is done is found in its results, so it can be cut off anywhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.experiments.experiment import Configuration, Data, Experiment
from harness.lab import status
from harness.lab.cluster import Lab, running_lab
from harness.lab.lifecycle import up
from harness.lab.links import set_links
from harness.lab.submit import spark_submit, with_facts
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import Link
from harness.model.probe import ProbeRun
from harness.model.run import Ending, RecordedRun, Status
from harness.probes.all_probes import all_probes
from harness.probes.runner import run_probes
from harness.probes.traffic import Load
from harness.records.directories import configuration_directory, probes_directory, results_files
from harness.records.reader import load, load_probes
from harness.runtime.progress import duration
from harness.terminal import say

INTERRUPTED, REFUSED = 130, 2


@dataclass(frozen=True)
class PlannedRun:
    """A configuration's turn in a round."""

    configuration: Configuration
    round: int

    def __str__(self) -> str:
        return f"{self.configuration.name}, round {self.round}"


@dataclass(frozen=True)
class ExperimentOutcome:
    """What the results say of an experiment: how a script ended does not tell whether it did its work.

    `measured` are the configurations that have a run, `undone` the runs that did not come to their end.
    """

    measured: tuple[str, ...]
    undone: tuple[PlannedRun, ...]
    failed: bool


def run_experiment(experiment: Experiment, results: Path) -> ExperimentOutcome:
    """Run what is not done yet.

    `results` is the experiment's own directory, below the one that the lab's master mounts. Raises
    BadInput if it holds another experiment's, ClusterliftError if data cannot be made or a run is
    refused, KeyboardInterrupt if it was interrupted.
    """
    every = list(steps(experiment))
    run, probed = steps_done(experiment, results), steps_probed(experiment, results)
    todo = [step for step in every if step not in run or step not in probed]
    if run:
        say(f"{len(run)} of {len(every)} runs are done already")
    if todo:
        up(experiment.shape, experiment.data_bytes)
        _generate(experiment, running_lab(), [step for step in todo if step not in run])
        for step, lab in _turns(experiment, todo):
            if step not in probed:
                _probe(experiment, lab, step, results)
            if step not in run:
                _run(experiment, lab, step, results)
    return _outcome(experiment, results)


def steps(experiment: Experiment) -> Iterator[PlannedRun]:
    """All of them in order: interleaved, so that what drifts hits every configuration alike."""
    for round_ in range(1, experiment.rounds + 1):
        for configuration in experiment.order(round_):
            yield PlannedRun(configuration, round_)


def steps_done(experiment: Experiment, results: Path) -> dict[PlannedRun, RecordedRun]:
    """Those with a run that came to its end. Raises BadInput if there are runs of something else."""
    done = {}
    for configuration in experiment.configurations:
        for file in results_files(configuration_directory(results, configuration.name)):
            recorded = load(file)
            facts = recorded.run.facts
            if facts.get("experiment") != experiment.digest:
                raise BadInput(
                    f"{file} is not of this experiment as it is now; move {results} away, or give "
                    "the experiment another name"
                )
            if recorded.ending is Ending.COMPLETED:
                done[PlannedRun(configuration, int(facts["round"]))] = recorded
    return done


def steps_probed(experiment: Experiment, results: Path) -> set[PlannedRun]:
    """Those whose network was probed to the end, or does not have to be."""
    if experiment.probe_seconds is None:
        return set(steps(experiment))
    return {
        PlannedRun(configuration, int(probed.run.facts["round"]))
        for configuration in experiment.configurations
        for file in results_files(probes_directory(results, configuration.name))
        if (probed := load_probes(file)).ending is Ending.COMPLETED
        and probed.run.facts.get("experiment") == experiment.digest
    }


def _outcome(experiment: Experiment, results: Path) -> ExperimentOutcome:
    done = steps_done(experiment, results)
    measured = {step.configuration for step in done}
    trials = (trial for recorded in done.values() for trial in recorded.trials)
    return ExperimentOutcome(
        tuple(one.name for one in experiment.configurations if one in measured),
        tuple(step for step in steps(experiment) if step not in done),
        any(trial.status is Status.FAILED for trial in trials),
    )


def _generate(experiment: Experiment, lab: Lab, todo: Sequence[PlannedRun]) -> None:
    """Every dataset once, over links without a limit; generating proves how it lies."""
    set_links(lab.linked, lambda link: Link(None, link.mtu))
    for data in dict.fromkeys(step.configuration.data for step in todo):
        say(f"data {data.name}: {data.rows:,} rows, layout {data.layout or 'as the storage likes'}")
        layout = ["--layout", data.layout] if data.layout else []
        arguments = [
            *(_uri(experiment, lab, data), "--rows", str(data.rows), "--format", data.format),
            *("--reuse", *layout),
        ]
        if code := _submit(lab, "datagen/generate.py", arguments):
            raise ClusterliftError(f"data {data.name} was not made: generate.py ended with {code}")


def _turns(experiment: Experiment, todo: Sequence[PlannedRun]) -> Iterator[tuple[PlannedRun, Lab]]:
    """Each step when its turn has come: the lab whole, and the links as they have to be."""
    started = time.monotonic()
    for number, step in enumerate(todo):
        link = step.configuration.link
        left = (time.monotonic() - started) / number * (len(todo) - number) if number else None
        say(
            f"turn {number + 1} of {len(todo)}: {step}, {link}"
            + (f"; about {duration_text(left)} left" if left else "")
        )
        up(experiment.shape)  # what died in the run before comes back
        lab = running_lab()
        set_links(lab.linked, partial(_replaced, link))
        yield step, lab


def _probe(experiment: Experiment, lab: Lab, step: PlannedRun, results: Path) -> None:
    assert experiment.probe_seconds is not None  # noqa: S101  else nothing lacks
    hosts = [node.host for node in lab.workers if node.is_running]
    run = ProbeRun(
        configuration=step.configuration.name,
        hosts=tuple(host.name for host in hosts),
        parameters={"probe": "all", "seconds": str(experiment.probe_seconds)},
        facts=_facts(experiment, lab, step),
    )
    probed = run_probes(all_probes(hosts, Load(experiment.probe_seconds)), run, results)
    if probed.ending is Ending.INTERRUPTED:
        raise _interrupted()


def _run(experiment: Experiment, lab: Lab, step: PlannedRun, results: Path) -> None:
    arguments = _arguments(experiment, lab, step, results)
    code = _submit(lab, "jobs/benchmark.py", with_facts(arguments, _facts(experiment, lab, step)))
    if code == REFUSED:
        raise ClusterliftError(f"{step}: benchmark.py refused to run, for the reason told above")
    if code:
        say(f"{step}: benchmark.py ended with {code}")


def _submit(lab: Lab, script: str, arguments: Sequence[str]) -> int:
    code = spark_submit(lab, script, arguments)
    if code == INTERRUPTED:
        raise _interrupted()
    return code


def _interrupted() -> KeyboardInterrupt:
    say("the same command goes on from here")
    return KeyboardInterrupt()


def _facts(experiment: Experiment, lab: Lab, step: PlannedRun) -> dict[str, str]:
    """What a run has to say of itself; its layout is the requested one, if any was."""
    layout = step.configuration.data.layout
    return {
        **status.facts(lab),
        **({"layout": layout} if layout else {}),
        "experiment": experiment.digest,
        "round": str(step.round),
    }


def _replaced(link: Link, _: Link) -> Link:
    return link


def _arguments(experiment: Experiment, lab: Lab, step: PlannedRun, results: Path) -> list[str]:
    arguments = {
        "--dataset": _uri(experiment, lab, step.configuration.data),
        "--configuration": step.configuration.name,
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
    return f"{status.uri(lab)}/{experiment.name}/{data.name}"
